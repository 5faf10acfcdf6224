//! macOS: what a process ignores is only told by `sigaction`, which takes `unsafe` code.

pub(crate) const CLIPBOARD_NEEDS_DISPLAY: bool = false;
pub(crate) const CLIPBOARD_KEEPS_TEXT: bool = true;
pub(crate) const LIMITS: Option<&str> = Some(
    "processes that leave their group are not ended when relay dies, and `nohup` does not keep relay running; \
     everything else is the same",
);

/// Never known here: `nohup relay …` ends when the terminal goes.
pub(crate) fn is_signal_ignored(_: i32) -> bool {
    false
}
