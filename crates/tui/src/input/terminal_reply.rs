//! What a terminal says of itself, asked or not.

/// Asks for the background colour, the keyboard protocol and, at last, what every terminal answers: so whatever has not
/// come by then will not come.
pub const TERMINAL_QUERIES: &str = "\x1b]11;?\x1b\\\x1b[?u\x1b[c";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalReply {
    /// Red, green, blue.
    Background(u8, u8, u8),
    /// Its user prefers dark colours, or light ones.
    ColorScheme { is_dark: bool },
    /// It knows the kitty keyboard protocol; the level that is on.
    KittyKeyboard(u32),
    /// It knows the kitty graphics protocol, or not.
    KittyGraphics { is_ok: bool },
    /// What it is able to; the last answer to [`TERMINAL_QUERIES`]. 4 is Sixel.
    DeviceAttributes(Vec<u32>),
    /// From 1.
    CursorPosition { row: u32, column: u32 },
    /// Whether it knows a private mode: state 0 is no.
    PrivateMode { mode: u32, state: u32 },
    /// Something nobody asked for.
    Other,
}

impl TerminalReply {
    /// Of `ESC [`: the parameters, which begin with a sign of their own, and the last byte.
    pub(super) fn from_control_sequence(text: &str, last: u8) -> TerminalReply {
        let body = text.trim_start_matches(['?', '>', '=']).trim_end_matches('$');
        let numbers: Vec<u32> = body.split(';').map(|number| number.parse().unwrap_or(0)).collect();
        let is_private = text.starts_with('?');
        match (last, numbers.as_slice()) {
            (b'c', _) if is_private => TerminalReply::DeviceAttributes(numbers),
            (b'u', [flags]) if is_private => TerminalReply::KittyKeyboard(*flags),
            (b'n', [997, scheme @ (1 | 2)]) if is_private => {
                TerminalReply::ColorScheme { is_dark: *scheme == 1 }
            }
            (b'y', [mode, state]) if is_private => TerminalReply::PrivateMode { mode: *mode, state: *state },
            _ => TerminalReply::Other,
        }
    }

    /// Of `ESC ]`.
    pub(super) fn from_system_command(text: &str) -> TerminalReply {
        let color = text.strip_prefix("11;").and_then(parse_color);
        color.map_or(TerminalReply::Other, |(red, green, blue)| TerminalReply::Background(red, green, blue))
    }

    /// Of `ESC _`.
    pub(super) fn from_application_command(text: &str) -> TerminalReply {
        match text.strip_prefix('G').and_then(|text| text.split_once(';')) {
            Some((_, answer)) => TerminalReply::KittyGraphics { is_ok: answer == "OK" },
            None => TerminalReply::Other,
        }
    }
}

/// `rgb:ff/ff/ff` with one to four digits each, `rgba:…`, `#ffffff`.
fn parse_color(text: &str) -> Option<(u8, u8, u8)> {
    let part = |digits: &str| {
        let most = match digits.len() {
            length @ 1..=4 => (1_u32 << (4 * length)) - 1,
            _ => return None,
        };
        let value = u32::from_str_radix(digits, 16).ok()?;
        u8::try_from(value * 255 / most).ok()
    };
    if let Some(digits) = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii()) {
        return Some((part(&digits[..2])?, part(&digits[2..4])?, part(&digits[4..])?));
    }
    let mut parts = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?.split('/');
    Some((part(parts.next()?)?, part(parts.next()?)?, part(parts.next()?)?))
}
