//! Notifying through the terminal, if there is no desktop or the person sits elsewhere.
//!
//! Which terminal understands what:
//!
//! | sequence | terminals |
//! |---|---|
//! | `OSC 9 ; text` | iTerm2, WezTerm, kitty, ghostty |
//! | `OSC 777 ; notify ; title ; text` | foot, rxvt with an extension, VTE (from 0.46; older ones print it) |
//! | bell | all others, the Linux console, `TERM=dumb` |
//!
//! VTE and rxvt may also swallow the sequence silently, so a bell follows there. Inside tmux and screen
//! only the bell is used: they show it themselves, and the environment there describes the terminal that
//! started them, not the one attached now.
//!
//! `OSC 9` followed by a digit means something else to some terminals: our text begins with our name. The
//! texts hold no `;`, and nothing that ends a sequence.

use super::environment::TerminalEnv;
use super::sanitize::sanitize_line;
use super::{BODY_CELLS, Notification, NotifyMethod, SUMMARY_CELLS};

const BELL: &str = "\x07";
/// The first version of VTE that does not print unknown sequences.
const VTE_QUIET: u32 = 4600;

/// What this terminal supports.
pub(super) fn detect_method(around: &TerminalEnv) -> NotifyMethod {
    let term = around.term.as_deref().unwrap_or_default();
    if !around.terminal {
        return NotifyMethod::Nothing;
    }
    if around.multiplexer().is_some() || matches!(term, "" | "dumb" | "linux") {
        return NotifyMethod::Bell;
    }
    // TERM first: it belongs to the terminal, while the others may be inherited from one that started it.
    if matches!(term, "xterm-kitty" | "xterm-ghostty" | "wezterm") {
        return NotifyMethod::Osc9;
    }
    if is_foot(around) || term.starts_with("rxvt") {
        return NotifyMethod::Osc777;
    }
    if matches!(around.term_program.as_deref(), Some("iTerm.app" | "WezTerm" | "ghostty" | "kitty"))
        || around.lc_terminal.as_deref() == Some("iTerm2")
        || around.kitty_window_id.is_some()
    {
        return NotifyMethod::Osc9;
    }
    let vte = around.vte_version.as_deref().and_then(|version| version.parse::<u32>().ok());
    if vte.is_some_and(|version| version >= VTE_QUIET) { NotifyMethod::Osc777 } else { NotifyMethod::Bell }
}

/// The bytes that show `notice` by method `reach`.
pub(super) fn sequence(reach: NotifyMethod, notice: &Notification, around: &TerminalEnv) -> String {
    let text = |text: &str, limit| sanitize_line(text, limit, around.utf8).replace(';', ",");
    let (summary, body) = (text(&notice.summary, SUMMARY_CELLS), text(&notice.body, BODY_CELLS));
    match reach {
        NotifyMethod::Desktop | NotifyMethod::Nothing => String::new(),
        NotifyMethod::Bell => BELL.to_owned(),
        NotifyMethod::Osc9 if body.is_empty() => format!("\x1b]9;relay: {summary}\x07"),
        NotifyMethod::Osc9 => format!("\x1b]9;relay: {summary}: {body}\x07"),
        NotifyMethod::Osc777 => {
            let bell = if is_foot(around) { "" } else { BELL };
            format!("\x1b]777;notify;relay: {summary};{body}\x07{bell}")
        }
    }
}

fn is_foot(around: &TerminalEnv) -> bool {
    around.term.as_deref().is_some_and(|term| term == "foot" || term.starts_with("foot-"))
}
