//! Linux: `/proc` says what this process ignores; Wayland and X11 hold no text themselves.

pub(crate) const CLIPBOARD_NEEDS_DISPLAY: bool = true;
pub(crate) const CLIPBOARD_KEEPS_TEXT: bool = false;
pub(crate) const LIMITS: Option<&str> = None;

/// `false` also where `/proc` cannot be read.
pub(crate) fn is_signal_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use signal_hook::consts::{SIGPIPE, SIGTERM};

    use super::is_signal_ignored;

    #[test]
    fn what_relay_was_started_to_ignore_is_known() {
        let told = std::path::Path::new("/proc/self/status").exists();
        // Every Rust program ignores this one.
        assert_eq!(is_signal_ignored(SIGPIPE), told);
        assert!(!is_signal_ignored(SIGTERM));
    }
}
