//! What a key, or an escape sequence of a terminal, means: a key with its modifiers, a change of focus, or the reply to a query.
//!
//! Understood are xterm's sequences with modifiers, `modifyOtherKeys`, the kitty keyboard protocol at level 1, and Escape in
//! front of a key for Alt.

#[cfg(test)]
mod tests;

use crate::input::key_press::{KeyCode, KeyPress};
use crate::input::terminal_reply::TerminalReply;

/// The meaning of the bytes of one key or sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SequenceMeaning {
    Press(KeyPress),
    /// Escape, pressed twice.
    TwoEscapes,
    Focus(bool),
    Reply(TerminalReply),
    /// Nothing that relay knows.
    Unknown,
}

/// `bytes` are one whole key or sequence.
pub(super) fn meaning(bytes: &[u8]) -> SequenceMeaning {
    match bytes {
        [0x1b] => SequenceMeaning::Press(KeyPress::plain(KeyCode::Escape)),
        [0x1b, 0x1b] => SequenceMeaning::TwoEscapes,
        [0x1b, b'[', body @ .., last] => control_sequence(body, *last),
        [0x1b, b'O', body @ .., last] => press_or_unknown(application_key(body, *last)),
        [0x1b, b']', body @ ..] if !body.is_empty() => {
            SequenceMeaning::Reply(TerminalReply::from_system_command(string_body(body)))
        }
        [0x1b, b'_', body @ ..] if !body.is_empty() => {
            SequenceMeaning::Reply(TerminalReply::from_application_command(string_body(body)))
        }
        [0x1b, b'P' | b'^' | b'X', _, ..] => SequenceMeaning::Reply(TerminalReply::Other),
        // Alt and a key, or Alt and a sequence.
        [0x1b, rest @ ..] => match meaning(rest) {
            SequenceMeaning::Press(key) => SequenceMeaning::Press(with_alt(key)),
            other => other,
        },
        _ => press_or_unknown(single_key(bytes)),
    }
}

fn press_or_unknown(key: Option<KeyPress>) -> SequenceMeaning {
    key.map_or(SequenceMeaning::Unknown, SequenceMeaning::Press)
}

fn single_key(bytes: &[u8]) -> Option<KeyPress> {
    Some(match bytes {
        b"\r" => KeyPress::plain(KeyCode::Enter),
        b"\t" => KeyPress::plain(KeyCode::Tab),
        [0x7f | 0x08] => KeyPress::plain(KeyCode::Backspace),
        [0x00] => KeyPress::ctrl(' '),
        [code @ 0x01..=0x1a] => KeyPress::ctrl(char::from(code + b'a' - 1)),
        [code @ 0x1c..=0x1f] => KeyPress::ctrl(['\\', ']', '^', '_'][usize::from(code - 0x1c)]),
        _ => KeyPress::char(std::str::from_utf8(bytes).ok()?.chars().next().filter(|c| !c.is_control())?),
    })
}

/// As key files write it: the letter is a small one, and Shift is told.
fn with_alt(key: KeyPress) -> KeyPress {
    match key.code {
        KeyCode::Char(c) if c.is_uppercase() => {
            KeyPress { code: KeyCode::Char(lower(c)), alt: true, shift: true, ..key }
        }
        _ => KeyPress { alt: true, ..key },
    }
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// `ESC O`.
fn application_key(body: &[u8], last: u8) -> Option<KeyPress> {
    let modifiers = match body {
        [] => 1,
        [digit @ b'1'..=b'9'] => u32::from(digit - b'0'),
        _ => return None,
    };
    let code = match last {
        b'M' => KeyCode::Enter,
        b'p'..=b'y' => KeyCode::Char(char::from(last - b'p' + b'0')),
        b'j'..=b'o' => KeyCode::Char(['*', '+', ',', '-', '.', '/'][usize::from(last - b'j')]),
        b'X' => KeyCode::Char('='),
        b'I' => KeyCode::Tab,
        _ => letter_key(last)?,
    };
    Some(modified(code, modifiers))
}

/// `ESC [`.
fn control_sequence(body: &[u8], last: u8) -> SequenceMeaning {
    let text = std::str::from_utf8(body).unwrap_or_default();
    if text.starts_with(['?', '>', '=']) || text.ends_with('$') {
        return SequenceMeaning::Reply(TerminalReply::from_control_sequence(text, last));
    }
    if text.is_empty() && matches!(last, b'I' | b'O') {
        return SequenceMeaning::Focus(last == b'I');
    }
    let fields: Vec<Vec<u32>> = text
        .split(';')
        .map(|field| field.split(':').map(|number| number.parse().unwrap_or(0)).collect())
        .collect();
    let field = |at: usize, part: usize| fields.get(at).and_then(|parts| parts.get(part)).copied();
    // The kitty protocol also tells of keys that are let go, if it is asked to.
    if field(1, 1) == Some(3) {
        return SequenceMeaning::Unknown;
    }
    let modifiers = field(1, 0).unwrap_or(1).max(1);
    if last == b'R' && fields.len() == 2 && !(field(0, 0) == Some(1) && (2..=16).contains(&modifiers)) {
        let (row, column) = (field(0, 0).unwrap_or(1), field(1, 0).unwrap_or(1));
        return SequenceMeaning::Reply(TerminalReply::CursorPosition { row, column });
    }
    let key = match last {
        b'u' => unicode_key(field(0, 0).unwrap_or(0), field(0, 1), modifiers),
        b'~' if field(0, 0) == Some(27) => unicode_key(field(2, 0).unwrap_or(0), None, modifiers),
        b'~' => numbered_key(field(0, 0).unwrap_or(0)).map(|code| modified(code, modifiers)),
        b'Z' => Some(KeyPress::shift(KeyCode::Tab)),
        _ => letter_key(last).map(|code| modified(code, modifiers)),
    };
    press_or_unknown(key)
}

fn letter_key(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P'..=b'S' => KeyCode::F(last - b'P' + 1),
        _ => return None,
    })
}

fn numbered_key(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => function_key(number - 10)?,
        17..=21 => function_key(number - 11)?,
        23..=24 => function_key(number - 12)?,
        _ => return None,
    })
}

fn function_key(number: u32) -> Option<KeyCode> {
    u8::try_from(number).ok().map(KeyCode::F)
}

/// A key by the number of its character, as the kitty protocol and `modifyOtherKeys` give it.
fn unicode_key(number: u32, shifted: Option<u32>, modifiers: u32) -> Option<KeyPress> {
    let code = match number {
        13 | 57414 => KeyCode::Enter,
        9 => KeyCode::Tab,
        27 => KeyCode::Escape,
        8 | 127 => KeyCode::Backspace,
        57399..=57408 => KeyCode::Char(char::from_digit(number - 57399, 10)?),
        57409..=57413 => KeyCode::Char(['.', '/', '*', '-', '+'][(number - 57409) as usize]),
        57415 => KeyCode::Char('='),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        // Other keys of the keypad, locks, media keys, modifiers alone.
        57344..=63743 => return None,
        _ => KeyCode::Char(char::from_u32(number).filter(|c| !c.is_control())?),
    };
    let key = modified(code, modifiers);
    let KeyCode::Char(c) = key.code else { return Some(key) };
    if key.ctrl || key.alt {
        return Some(KeyPress { code: KeyCode::Char(lower(c)), shift: key.shift || c.is_uppercase(), ..key });
    }
    if !key.shift {
        return Some(key);
    }
    let upper = shifted.filter(|number| *number > 0).and_then(char::from_u32);
    let upper = upper.or_else(|| c.to_uppercase().next()).filter(|c| !c.is_control()).unwrap_or(c);
    Some(KeyPress::char(upper))
}

/// `modifiers` is a bit for each, plus one. Super and Meta count as Alt; locks do not count.
fn modified(code: KeyCode, modifiers: u32) -> KeyPress {
    let bits = modifiers.saturating_sub(1);
    KeyPress { code, shift: bits & 1 != 0, alt: bits & (2 | 8 | 32) != 0, ctrl: bits & 4 != 0 }
}

/// Without its end mark.
fn string_body(body: &[u8]) -> &str {
    let inner = body.strip_suffix(b"\x1b\\").or_else(|| body.strip_suffix(b"\x07")).unwrap_or(body);
    std::str::from_utf8(inner).unwrap_or_default()
}
