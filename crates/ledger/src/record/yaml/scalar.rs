//! How one text is written: plain, quoted, or as the lines that it consists of.
//!
//! The plainest form that no reader of YAML, old or new, could take for anything else.

/// What a text is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum YamlScalarStyle {
    /// As it is.
    Plain,
    /// Between apostrophes.
    Single,
    /// Between quotation marks, with escapes.
    Double,
    /// Line by line below its key.
    Literal {
        /// What becomes of the newlines at its end.
        chomp: YamlChomp,
        /// How far it is indented must be said, because it begins with a blank.
        indented: bool,
    },
}

/// What becomes of the newlines at the end of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum YamlChomp {
    /// There is none.
    Strip,
    /// There is one.
    Clip,
    /// There are several.
    Keep,
}

impl YamlChomp {
    /// The sign for it.
    pub(super) fn sign(self) -> &'static str {
        match self {
            YamlChomp::Strip => "-",
            YamlChomp::Clip => "",
            YamlChomp::Keep => "+",
        }
    }
}

/// Words that some reader takes for something else than a text.
const WORDS: &[&str] =
    &["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"];

/// The form of `text` where several lines may follow.
pub(super) fn scalar_style(text: &str) -> YamlScalarStyle {
    if !printable(text) {
        return YamlScalarStyle::Double;
    }
    if !text.contains('\n') {
        return single_line_style(text);
    }
    let trimmed = text.trim_end_matches('\n');
    let last = trimmed.rsplit('\n').next().unwrap_or(trimmed);
    // A last line of nothing but blanks is where readers differ on what belongs to the text.
    if last.bytes().all(|byte| byte == b' ' || byte == b'\t') {
        return YamlScalarStyle::Double;
    }
    let chomp = match text.len() - trimmed.len() {
        0 => YamlChomp::Strip,
        1 => YamlChomp::Clip,
        _ => YamlChomp::Keep,
    };
    YamlScalarStyle::Literal { chomp, indented: text.starts_with([' ', '\t', '\n']) }
}

/// The form of `text` where it must stay on its line, as a key does.
pub(super) fn key_style(text: &str) -> YamlScalarStyle {
    if text.contains('\n') || !printable(text) { YamlScalarStyle::Double } else { single_line_style(text) }
}

fn single_line_style(text: &str) -> YamlScalarStyle {
    if is_plain(text) {
        YamlScalarStyle::Plain
    } else if text.contains('\t') {
        YamlScalarStyle::Double
    } else {
        YamlScalarStyle::Single
    }
}

fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./@+-() ,".contains(byte);
    first.is_ascii_alphabetic()
        && *last != b' '
        && bytes.iter().all(inside)
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether every character may stand in a YAML file as it is, and stays what it is when lines are
/// split or marks are looked for.
fn printable(text: &str) -> bool {
    // In pieces without a way out in the middle, which is many bytes at once for the processor.
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.as_bytes().chunks(64).all(|piece| piece.iter().fold(true, |all, byte| all & plain(byte))) {
        return true;
    }
    text.chars().all(|c| match c {
        ' '..='~' | '\n' | '\t' => true,
        '\u{2028}' | '\u{2029}' | '\u{feff}' => false,
        '\u{a0}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}' => true,
        _ => false,
    })
}

/// Writes `text` between quotation marks.
pub(super) fn write_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            '\u{2028}' | '\u{2029}' | '\u{feff}' => escape(out, c),
            '\u{a0}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}' => out.push(c),
            _ => escape(out, c),
        }
    }
    out.push('"');
}

fn escape(out: &mut String, c: char) {
    use std::fmt::Write;
    let number = u32::from(c);
    // Writing into a string cannot fail.
    let _ = if number <= 0xff { write!(out, "\\x{number:02x}") } else { write!(out, "\\u{number:04x}") };
}

/// Writes `text` between apostrophes.
pub(super) fn write_single_quoted(out: &mut String, text: &str) {
    out.push('\'');
    for (at, piece) in text.split('\'').enumerate() {
        if at > 0 {
            out.push_str("''");
        }
        out.push_str(piece);
    }
    out.push('\'');
}
