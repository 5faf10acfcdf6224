//! Copying through the terminal (`OSC 52`), for SSH and wherever there is no clipboard to reach.
//!
//! The text travels as base64, so nothing of it can be obeyed on the way. There is no reply: whether the
//! terminal accepted it cannot be known, so messages say "sent to the terminal", not "copied".
//!
//! What the user has to allow:
//! - xterm: `XTerm*disallowedWindowOps: 20,21,SetXprop` (or `allowWindowOps`); iTerm2: "Applications in
//!   terminal may access clipboard". kitty, WezTerm, ghostty, foot, Alacritty and Windows Terminal take
//!   it as they are; VTE only in its newest versions.
//! - tmux: `set -g set-clipboard on` (its default, `external`, ignores what programs inside copy), or
//!   `set -g allow-passthrough on` (off by default from 3.3 on). Both forms are sent, one after the
//!   other; tmux drops the one that it does not allow, and the same text set twice is set once.
//! - screen: nothing. It hands over what stands in a device control string, piece by piece.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::notify::{Multiplexer, TerminalEnv};

/// Most bytes of text. As base64 with its frame that is a sequence of just under 100 000 bytes, which
/// terminals are known to accept.
pub const LIMIT: usize = 74_994;

/// Bytes screen accepts in one string: 768 today, 256 in old versions.
const SCREEN_PIECE: usize = 240;

/// The text does not fit into one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not copied: the text has {bytes} bytes, and a terminal takes at most {LIMIT}. Write it to a file instead"
)]
pub struct CopyTooLong {
    pub bytes: usize,
}

/// The bytes that make the terminal put `text` on its clipboard.
///
/// ```
/// use relaycode_tui::{notify::TerminalEnv, osc52};
///
/// assert_eq!(osc52::copy_sequence("hello", &TerminalEnv::default()).unwrap(), "\x1b]52;c;aGVsbG8=\x07");
/// ```
pub fn copy_sequence(text: &str, around: &TerminalEnv) -> Result<String, CopyTooLong> {
    if text.len() > LIMIT {
        return Err(CopyTooLong { bytes: text.len() });
    }
    let plain = format!("\x1b]52;c;{}\x07", base64(text.as_bytes()));
    Ok(match around.multiplexer() {
        None => plain,
        Some(Multiplexer::Tmux) => format!("{plain}{}", through_tmux(&plain)),
        Some(Multiplexer::Screen) => through_screen(&plain),
    })
}

/// What the user may have to set so that [`copy_sequence`] works, in one line for `doctor`.
pub fn copy_advice(around: &TerminalEnv) -> Option<&'static str> {
    match around.multiplexer()? {
        Multiplexer::Tmux => {
            Some("tmux passes copies on only with `set -g set-clipboard on` in ~/.tmux.conf")
        }
        Multiplexer::Screen if around.screen.is_none() => Some(
            "TERM names screen; if it is tmux, use `set -g default-terminal tmux-256color` in ~/.tmux.conf",
        ),
        Multiplexer::Screen => None,
    }
}

/// tmux passes on what is in its own string, in which every escape is doubled.
fn through_tmux(sequence: &str) -> String {
    format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"))
}

/// screen passes on each string as it is, so the terminal sees the pieces as one. The sequence is ASCII and
/// contains no string terminator.
fn through_screen(sequence: &str) -> String {
    let mut out = String::with_capacity(sequence.len() + sequence.len() / SCREEN_PIECE * 4 + 4);
    for (at, c) in sequence.char_indices() {
        if at % SCREEN_PIECE == 0 {
            out.push_str(if at == 0 { "\x1bP" } else { "\x1b\\\x1bP" });
        }
        out.push(c);
    }
    out + "\x1b\\"
}

fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(term: &str) -> TerminalEnv {
        TerminalEnv { term: Some(term.into()), ..TerminalEnv::default() }
    }

    #[test]
    fn base64_is_padded_as_everybody_does() {
        for (text, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
        assert_eq!(base64(&[0xff, 0xef, 0xbe, 0xfb]), "/+++".to_owned() + "+w==");
    }

    #[test]
    fn the_longest_text_makes_a_sequence_under_100_000_bytes() {
        let longest = "x".repeat(LIMIT);
        assert_eq!(copy_sequence(&longest, &term("foot")).unwrap().len(), 100_000);
        assert_eq!(copy_sequence(&(longest + "x"), &term("foot")), Err(CopyTooLong { bytes: LIMIT + 1 }));
    }

    #[test]
    fn in_tmux_both_forms_are_sent() {
        let expected = "\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\";
        let tmux = TerminalEnv { tmux: Some("/tmp/tmux-0/default,1,0".into()), ..term("screen-256color") };
        assert_eq!(copy_sequence("hi", &tmux).unwrap(), expected);
        assert_eq!(copy_sequence("hi", &term("tmux-256color")).unwrap(), expected);
        assert!(copy_advice(&tmux).is_some_and(|line| line.contains("set-clipboard on")));
    }

    #[test]
    fn screen_gets_pieces_that_together_are_the_sequence() {
        let text = "long ".repeat(300);
        let out = copy_sequence(&text, &term("screen")).unwrap();
        let pieces: Vec<&str> =
            out.split("\x1b\\").map(|piece| piece.strip_prefix("\x1bP").unwrap_or(piece)).collect();
        assert!(pieces.len() > 8 && pieces.iter().all(|piece| piece.len() <= SCREEN_PIECE));
        assert_eq!(pieces.concat(), copy_sequence(&text, &term("xterm")).unwrap());
        assert!(copy_sequence(&"x".repeat(LIMIT), &term("screen")).unwrap().len() < 102_000);
    }

    #[test]
    fn hostile_text_stays_inside_the_base64() {
        for around in [term("foot"), term("tmux"), term("screen")] {
            let out = copy_sequence("\x1b]0;title\x07\u{9c}\x1b\\rm -rf", &around).unwrap();
            assert!(out.is_ascii() && !out.contains("title") && !out.contains("rm"));
        }
    }
}
