//! Telling through the terminal, where there is no desktop or it stands elsewhere.
//!
//! Which terminal understands what:
//!
//! | sequence | terminals |
//! |---|---|
//! | `OSC 9 ; text` | iTerm2, WezTerm, kitty, ghostty |
//! | `OSC 777 ; notify ; title ; text` | foot, rxvt with an extension, VTE (from 0.46; older ones print it) |
//! | bell | all others, the Linux console, `TERM=dumb` |
//!
//! VTE and rxvt may also swallow the sequence without a trace, so a bell follows there. Inside tmux
//! and screen it is the bell alone: they show it themselves, and what the environment says there is
//! about the terminal that started them, not the one that looks at them now.
//!
//! `OSC 9` followed by a digit means something else to some terminals: our text begins with our name.
//! The texts hold no `;`, and nothing that ends a sequence.

use super::plain::plain;
use super::surroundings::Surroundings;
use super::{BODY, Notice, Reach, SUMMARY};

const BELL: &str = "\x07";
/// The first version of VTE that does not print what it does not know.
const VTE_QUIET: u32 = 4600;

/// How this terminal can be used.
pub(super) fn reach(around: &Surroundings) -> Reach {
    let term = around.term.as_deref().unwrap_or_default();
    if !around.terminal {
        return Reach::Nothing;
    }
    if around.multiplexer().is_some() || matches!(term, "" | "dumb" | "linux") {
        return Reach::Bell;
    }
    // TERM first: it is the terminal's own, while the others may be inherited from one that started it.
    if matches!(term, "xterm-kitty" | "xterm-ghostty" | "wezterm") {
        return Reach::Osc9;
    }
    if is_foot(around) || term.starts_with("rxvt") {
        return Reach::Osc777;
    }
    if matches!(around.term_program.as_deref(), Some("iTerm.app" | "WezTerm" | "ghostty" | "kitty"))
        || around.lc_terminal.as_deref() == Some("iTerm2")
        || around.kitty_window_id.is_some()
    {
        return Reach::Osc9;
    }
    let vte = around.vte_version.as_deref().and_then(|version| version.parse::<u32>().ok());
    if vte.is_some_and(|version| version >= VTE_QUIET) { Reach::Osc777 } else { Reach::Bell }
}

/// The bytes that tell `notice` by `reach`.
pub(super) fn sequence(reach: Reach, notice: &Notice, around: &Surroundings) -> String {
    let text = |text: &str, limit| plain(text, limit, around.utf8).replace(';', ",");
    let (summary, body) = (text(&notice.summary, SUMMARY), text(&notice.body, BODY));
    match reach {
        Reach::Desktop | Reach::Nothing => String::new(),
        Reach::Bell => BELL.to_owned(),
        Reach::Osc9 if body.is_empty() => format!("\x1b]9;relay: {summary}\x07"),
        Reach::Osc9 => format!("\x1b]9;relay: {summary}: {body}\x07"),
        Reach::Osc777 => {
            let bell = if is_foot(around) { "" } else { BELL };
            format!("\x1b]777;notify;relay: {summary};{body}\x07{bell}")
        }
    }
}

fn is_foot(around: &Surroundings) -> bool {
    around.term.as_deref().is_some_and(|term| term == "foot" || term.starts_with("foot-"))
}
