use proptest::prelude::*;

use super::*;
use crate::input::decode::{DecodedInput, ExpectedInput, InputDecoder};

/// What a terminal sends, and the key as key files write it.
const KEYS: [(&str, &str); 60] = [
    ("a", "a"),
    ("A", "A"),
    ("é", "é"),
    ("日", "日"),
    ("\r", "enter"),
    ("\n", "ctrl+j"),
    ("\t", "tab"),
    ("\x7f", "backspace"),
    ("\x08", "backspace"),
    ("\x00", "ctrl+space"),
    ("\x03", "ctrl+c"),
    ("\x1a", "ctrl+z"),
    ("\x1f", "ctrl+_"),
    ("\x1bb", "alt+b"),
    ("\x1bB", "alt+shift+b"),
    ("\x1bé", "alt+é"),
    ("\x1b\r", "alt+enter"),
    ("\x1b\x7f", "alt+backspace"),
    ("\x1b\x02", "ctrl+alt+b"),
    ("\x1b[A", "up"),
    ("\x1bOA", "up"),
    ("\x1b[1;2A", "shift+up"),
    ("\x1b[1;3B", "alt+down"),
    ("\x1b[1;5C", "ctrl+right"),
    ("\x1b[1;7D", "ctrl+alt+left"),
    ("\x1b\x1b[A", "alt+up"),
    ("\x1b[H", "home"),
    ("\x1bOF", "end"),
    ("\x1b[1~", "home"),
    ("\x1b[8~", "end"),
    ("\x1b[3~", "delete"),
    ("\x1b[3;5~", "ctrl+delete"),
    ("\x1b[5~", "pageup"),
    ("\x1b[6;2~", "shift+pagedown"),
    ("\x1b[2~", "insert"),
    ("\x1b[Z", "shift+tab"),
    ("\x1bOP", "f1"),
    ("\x1b[15~", "f5"),
    ("\x1b[24~", "f12"),
    ("\x1b[1;2P", "shift+f1"),
    ("\x1b[1;5R", "ctrl+f3"),
    // kitty
    ("\x1b[27u", "escape"),
    ("\x1b[13;2u", "shift+enter"),
    ("\x1b[13;5u", "ctrl+enter"),
    ("\x1b[9;2u", "shift+tab"),
    ("\x1b[97;5u", "ctrl+a"),
    ("\x1b[97;6u", "ctrl+shift+a"),
    ("\x1b[97:65;2u", "A"),
    ("\x1b[228;2u", "Ä"),
    ("\x1b[106;3u", "alt+j"),
    ("\x1b[97;5:1u", "ctrl+a"),
    ("\x1b[97;69u", "ctrl+a"),
    ("\x1b[57414u", "enter"),
    ("\x1b[57400u", "1"),
    ("\x1b[57419;3u", "alt+up"),
    // xterm's modifyOtherKeys
    ("\x1b[27;2;13~", "shift+enter"),
    ("\x1b[27;5;99~", "ctrl+c"),
    ("\x1b[27;2;65~", "A"),
    ("\x1bOM", "enter"),
    ("\x1bOq", "1"),
];

fn decoded(pieces: &[&[u8]]) -> Vec<DecodedInput> {
    let mut decoder = InputDecoder::default();
    let mut found: Vec<DecodedInput> =
        pieces.iter().flat_map(|piece| decoder.decode(piece, ExpectedInput::Conversation)).collect();
    found.extend(decoder.finish());
    found
}

fn shown(found: &[DecodedInput]) -> String {
    let show = |input: &DecodedInput| match input {
        DecodedInput::Key { press: Some(press), .. } => press.to_string(),
        other => format!("{other:?}"),
    };
    found.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[test]
fn keys_of_every_kind_of_terminal_are_known() {
    for (bytes, key) in KEYS {
        assert_eq!(shown(&decoded(&[bytes.as_bytes()])), key, "{bytes:?}");
        if key != "ctrl+j" {
            let parsed: KeyPress = key.parse().unwrap();
            assert_eq!(parsed.to_string(), key);
        }
    }
    assert_eq!(shown(&decoded(&[b"\x1b"])), "escape");
    assert_eq!(shown(&decoded(&[b"\x1b\x1b"])), "escape escape");
    // Keys that are let go, modifiers alone, keys nobody has a name for.
    for bytes in ["\x1b[97;1:3u", "\x1b[57441u", "\x1b[E", "\x1b[99~", "\x1b[0u"] {
        assert!(
            matches!(decoded(&[bytes.as_bytes()])[..], [DecodedInput::Key { press: None, .. }]),
            "{bytes:?}"
        );
    }
}

#[test]
fn replies_are_no_keys() {
    let cases: [(&str, TerminalReply); 11] = [
        ("\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", TerminalReply::Background(0x1e, 0x1e, 0x2e)),
        ("\x1b]11;rgb:f/8/0\x07", TerminalReply::Background(255, 136, 0)),
        ("\x1b]11;#102030\x07", TerminalReply::Background(16, 32, 48)),
        ("\x1b]11;nonsense\x07", TerminalReply::Other),
        ("\x1b[?62;4;22c", TerminalReply::DeviceAttributes(vec![62, 4, 22])),
        ("\x1b[?1u", TerminalReply::KittyKeyboard(1)),
        ("\x1b[?997;1n", TerminalReply::ColorScheme { is_dark: true }),
        ("\x1b[12;40R", TerminalReply::CursorPosition { row: 12, column: 40 }),
        ("\x1b[?2026;2$y", TerminalReply::PrivateMode { mode: 2026, state: 2 }),
        ("\x1b_Gi=31;OK\x1b\\", TerminalReply::KittyGraphics { is_ok: true }),
        ("\x1bP>|kitty(0.32)\x1b\\", TerminalReply::Other),
    ];
    for (bytes, reply) in cases {
        assert_eq!(decoded(&[bytes.as_bytes()]), [DecodedInput::Reply(reply)], "{bytes:?}");
    }
    assert_eq!(decoded(&[b"\x1b[I", b"\x1b[O"]), [DecodedInput::Focus(true), DecodedInput::Focus(false)]);
    // One that never ends is given up, and what follows are keys again.
    let mut decoder = InputDecoder::default();
    assert_eq!(decoder.decode(b"\x1b]11;rgb:", ExpectedInput::Conversation), []);
    assert!(matches!(decoder.finish()[..], [DecodedInput::Key { press: None, .. }]));
    assert_eq!(shown(&decoder.decode(b"x", ExpectedInput::Conversation)), "x");
}

#[test]
fn several_lines_at_once_are_a_paste_and_fast_typing_is_not() {
    assert_eq!(shown(&decoded(&[b"hello\r"])), "h e l l o enter");
    assert_eq!(shown(&decoded(&[b"\r\r\r"])), "enter enter enter");
    assert_eq!(shown(&decoded(&[b"\x1b[A\x1b[A\x1b[B"])), "up up down");
    assert!(
        matches!(&decoded(&[b"one\rtwo\r"])[..], [DecodedInput::Paste(paste)] if paste.bytes == b"one\ntwo\n")
    );
}

proptest! {
    #[test]
    fn keys_are_the_same_wherever_their_bytes_are_cut(picks in proptest::collection::vec(0_usize..60, 1..6), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        // A line end in the middle of a piece may be a paste: it depends on the pieces.
        let picks: Vec<usize> = picks.into_iter().filter(|pick| !KEYS[*pick].0.contains(['\r', '\n'])).collect();
        let bytes: Vec<u8> = picks.iter().flat_map(|pick| KEYS[*pick].0.bytes()).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).filter(|piece| !piece.is_empty()).collect();
        let keys: Vec<&str> = picks.iter().map(|pick| KEYS[*pick].1).collect();
        prop_assert_eq!(shown(&decoded(&pieces)), keys.join(" "));
    }

    #[test]
    fn no_bytes_break_the_decoder(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..6)) {
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        for input in decoded(&pieces) {
            if let DecodedInput::Key { press: Some(press), .. } = input {
                prop_assert!(press.typed_char().is_none_or(|c| !c.is_control()), "{press:?}");
            }
        }
    }
}
