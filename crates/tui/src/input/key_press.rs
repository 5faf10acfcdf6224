//! A key as a person presses it, with its modifiers, and how key files write it: `ctrl+o`, `shift+enter`, `alt+up`.

use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyPress {
    pub code: KeyCode,
    pub ctrl: bool,
    pub alt: bool,
    /// Only told for keys that are no characters, and together with `ctrl`; `Char('A')` is an upper-case letter by itself.
    pub shift: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyCode {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Escape,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Insert,
    F(u8),
}

/// Not a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no key; write it like `ctrl+o`, `shift+enter`, `alt+up`, `f5` or `x`")]
pub struct KeyPressError(String);

const NAMED: [(&str, KeyCode); 16] = [
    ("enter", KeyCode::Enter),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("escape", KeyCode::Escape),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("insert", KeyCode::Insert),
    ("space", KeyCode::Char(' ')),
    ("plus", KeyCode::Char('+')),
];

impl KeyPress {
    pub const fn plain(code: KeyCode) -> KeyPress {
        KeyPress { code, ctrl: false, alt: false, shift: false }
    }

    pub const fn char(c: char) -> KeyPress {
        KeyPress::plain(KeyCode::Char(c))
    }

    pub const fn ctrl(c: char) -> KeyPress {
        KeyPress { ctrl: true, ..KeyPress::char(c) }
    }

    pub const fn alt(code: KeyCode) -> KeyPress {
        KeyPress { alt: true, ..KeyPress::plain(code) }
    }

    pub const fn shift(code: KeyCode) -> KeyPress {
        KeyPress { shift: true, ..KeyPress::plain(code) }
    }

    /// The character that it types, if it types one.
    pub fn typed_char(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

impl fmt::Display for KeyPress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (is_held, name) in [(self.ctrl, "ctrl+"), (self.alt, "alt+"), (self.shift, "shift+")] {
            if is_held {
                f.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::F(number) => write!(f, "f{number}"),
            code => match (NAMED.iter().find(|(_, named)| *named == code), code) {
                (Some((name, _)), _) => f.write_str(name),
                (None, KeyCode::Char(c)) => write!(f, "{c}"),
                (None, _) => Ok(()),
            },
        }
    }
}

impl FromStr for KeyPress {
    type Err = KeyPressError;

    fn from_str(text: &str) -> Result<KeyPress, KeyPressError> {
        let failed = || KeyPressError(text.to_string());
        let mut key = KeyPress::char(' ');
        let mut parts: Vec<&str> = text.split('+').map(str::trim).collect();
        let name = parts.pop().filter(|name| !name.is_empty()).ok_or_else(failed)?;
        for part in parts {
            match part.to_ascii_lowercase().as_str() {
                "ctrl" => key.ctrl = true,
                "alt" => key.alt = true,
                "shift" => key.shift = true,
                _ => return Err(failed()),
            }
        }
        let lower = name.to_ascii_lowercase();
        let function_key =
            || lower.strip_prefix('f')?.parse().ok().filter(|number| (1..=12).contains(number));
        let mut letters = name.chars();
        key.code = match (NAMED.iter().find(|(named, _)| *named == lower), letters.next(), letters.next()) {
            (Some((_, code)), ..) => *code,
            // Control and letter are the same in both cases, and so are Shift and letter.
            (None, Some(c), None) if key.ctrl || key.alt => KeyCode::Char(c.to_ascii_lowercase()),
            (None, Some(c), None) if key.shift => {
                key.shift = false;
                KeyCode::Char(c.to_ascii_uppercase())
            }
            (None, Some(c), None) => KeyCode::Char(c),
            (None, ..) => KeyCode::F(function_key().ok_or_else(failed)?),
        };
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_written_as_it_is_read() {
        for text in
            ["ctrl+o", "ctrl+shift+o", "alt+up", "shift+enter", "f5", "x", "X", "space", "plus", "pageup"]
        {
            assert_eq!(text.parse::<KeyPress>().map(|key| key.to_string()), Ok(text.to_string()), "{text}");
        }
        assert_eq!("Shift+L".parse::<KeyPress>(), Ok(KeyPress::char('L')));
        assert_eq!("Ctrl+O".parse::<KeyPress>(), Ok(KeyPress::ctrl('o')));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "ctrl+", "hyper+x", "f13", "f0", "xy", "++"] {
            assert!(text.parse::<KeyPress>().is_err(), "{text}");
        }
    }
}
