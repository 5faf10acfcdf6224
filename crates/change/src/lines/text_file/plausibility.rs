//! How plausible a guessed decoding is. The score only orders candidates; correctness never
//! depends on it, because every candidate gives back the bytes it was read from.

/// Characters that text does not contain: control characters other than the usual blanks, escape, backspace
/// and the end mark of DOS, and the C1 range, which old encodings leave unused.
pub(super) fn is_binary_char(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\x08' | '\x0B' | '\x0C' | '\x1A' | '\x1B' => false,
        _ => c.is_control(),
    }
}

/// Evidence against `encoding`, in hundredths per non-ASCII character; 0 is best.
///
/// Wrong decodings betray themselves: ideographs alone between Latin letters, accented letters in
/// long runs, capitals after small letters, a script that the encoding is not used for, rare and
/// private blocks.
pub(super) fn oddness(encoding: &'static encoding_rs::Encoding, text: &str) -> i64 {
    let mut odd: i64 = 0;
    let mut foreign: i64 = 0;
    let mut syllables = false;
    let mut ideographs: i64 = 0;
    let mut before = ScriptKind::Other;
    for c in text.chars() {
        let kind = ScriptKind::of(c);
        foreign += i64::from(!c.is_ascii());
        ideographs += i64::from(kind == ScriptKind::Han);
        syllables |= matches!(kind, ScriptKind::Kana | ScriptKind::Hangul);
        odd += pair_oddness(before, kind);
        before = kind;
        odd += if is_expected_script(encoding, kind) { 0 } else { 2 };
    }
    // Most double-byte garbage is ideographs, so they say less than syllables do; next to hangul
    // they are rare.
    let weight = match encoding.name() {
        "EUC-KR" => 6,
        _ => i64::from(!syllables),
    };
    odd += ideographs * weight;
    odd * 100 / foreign.max(1)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScriptKind {
    /// Blanks, digits, and punctuation of any script.
    Other,
    Ascii,
    Accented,
    SmallCyrillic,
    BigCyrillic,
    Han,
    Kana,
    Hangul,
    /// Symbols that are rare in prose and code.
    Sign,
    Rare,
}

impl ScriptKind {
    fn of(c: char) -> ScriptKind {
        match c {
            'a'..='z' | 'A'..='Z' => ScriptKind::Ascii,
            '\0'..='\x7F' => ScriptKind::Other,
            '\u{A0}' | '\u{A7}' | '\u{A9}' | '\u{AB}' | '\u{AE}' | '\u{B0}' | '\u{BB}' => ScriptKind::Other,
            '\u{2010}'..='\u{2027}' | '\u{20AC}' | '\u{3000}'..='\u{303F}' => ScriptKind::Other,
            '\u{FF01}'..='\u{FF5E}' => ScriptKind::Other,
            '\u{D7}' | '\u{F7}' => ScriptKind::Sign,
            '\u{C0}'..='\u{24F}' => ScriptKind::Accented,
            '\u{400}'..='\u{42F}' | '\u{490}' => ScriptKind::BigCyrillic,
            '\u{430}'..='\u{45F}' | '\u{491}' => ScriptKind::SmallCyrillic,
            '\u{80}'..='\u{2BFF}' => ScriptKind::Sign,
            '\u{3040}'..='\u{30FF}' => ScriptKind::Kana,
            '\u{4E00}'..='\u{9FA5}' => ScriptKind::Han,
            '\u{AC00}'..='\u{D7A3}' => ScriptKind::Hangul,
            _ => ScriptKind::Rare,
        }
    }
}

/// Whether the encoding is used for this script. (The Chinese and Korean sets have kana too, but hardly
/// anybody writes Japanese in them.)
fn is_expected_script(encoding: &'static encoding_rs::Encoding, kind: ScriptKind) -> bool {
    let name = encoding.name();
    match kind {
        ScriptKind::Kana => matches!(name, "Shift_JIS" | "EUC-JP"),
        ScriptKind::Hangul => name == "EUC-KR",
        ScriptKind::SmallCyrillic | ScriptKind::BigCyrillic => matches!(name, "windows-1251" | "KOI8-R"),
        _ => true,
    }
}

fn pair_oddness(before: ScriptKind, kind: ScriptKind) -> i64 {
    use ScriptKind::{Accented, Ascii, BigCyrillic, Han, Hangul, Kana, Rare, Sign, SmallCyrillic};
    match (before, kind) {
        (_, Rare) => 8,
        (_, Sign) => 4,
        (Accented | Sign, Accented) => 3,
        (SmallCyrillic, BigCyrillic) => 4,
        (Ascii | Accented, SmallCyrillic | BigCyrillic) => 6,
        (SmallCyrillic | BigCyrillic, Ascii | Accented) => 6,
        (Ascii, Han | Hangul | Kana) | (Han | Hangul | Kana, Ascii) => 2,
        _ => 0,
    }
}
