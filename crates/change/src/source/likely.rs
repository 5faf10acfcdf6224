//! How plausible a guessed decoding is. The score only orders candidates; correctness never
//! depends on it, because every candidate gives back the bytes it was read from.

/// Whether text would not contain `c`: control characters other than the usual blanks, escape,
/// backspace and the end mark of DOS, and the C1 range, which old encodings leave unused.
pub(super) fn is_binary_sign(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\x08' | '\x0B' | '\x0C' | '\x1A' | '\x1B' => false,
        _ => c.is_control(),
    }
}

/// Signs against a decoding, relative to its length; 0 is best.
///
/// Wrong decodings betray themselves: ideographs alone between Latin letters, accented letters in
/// long runs, capitals after small letters, half-width katakana, rare and private blocks.
pub(super) fn oddness(text: &str) -> i64 {
    let mut odd: i64 = 0;
    let mut foreign: i64 = 0;
    let mut before = Kind::Other;
    for c in text.chars() {
        let kind = kind(c);
        if !c.is_ascii() {
            foreign += 1;
        }
        odd += pair_oddness(before, kind);
        before = kind;
    }
    odd * 100 / foreign.max(1)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Other,
    Ascii,
    Accented,
    SmallCyrillic,
    BigCyrillic,
    Han,
    Kana,
    Hangul,
    Sign,
    Rare,
}

fn kind(c: char) -> Kind {
    match c {
        'a'..='z' | 'A'..='Z' => Kind::Ascii,
        '\0'..='\x7F' => Kind::Other,
        '\u{C0}'..='\u{24F}' if c != '\u{D7}' && c != '\u{F7}' => Kind::Accented,
        '\u{430}'..='\u{45F}' | '\u{491}' => Kind::SmallCyrillic,
        '\u{400}'..='\u{42F}' | '\u{490}' => Kind::BigCyrillic,
        '\u{3040}'..='\u{30FF}' => Kind::Kana,
        '\u{4E00}'..='\u{9FA5}' => Kind::Han,
        '\u{AC00}'..='\u{D7A3}' => Kind::Hangul,
        '\u{3000}'..='\u{303F}' | '\u{FF01}'..='\u{FF5E}' | '\u{2010}'..='\u{2027}' => Kind::Other,
        '\u{A0}' | '\u{A7}' | '\u{A9}' | '\u{AB}' | '\u{AE}' | '\u{B0}' | '\u{BB}' | '\u{20AC}' => {
            Kind::Other
        }
        '\u{80}'..='\u{2BFF}' => Kind::Sign,
        _ => Kind::Rare,
    }
}

fn pair_oddness(before: Kind, kind: Kind) -> i64 {
    use Kind::{Accented, Ascii, BigCyrillic, Han, Hangul, Kana, Rare, Sign, SmallCyrillic};
    match (before, kind) {
        (_, Rare) => 8,
        (Accented | Sign, Accented | Sign) => 5,
        (_, Sign) => 3,
        (SmallCyrillic, BigCyrillic) => 4,
        (Accented, SmallCyrillic | BigCyrillic) | (SmallCyrillic | BigCyrillic, Accented) => 4,
        (Ascii, SmallCyrillic | BigCyrillic) | (SmallCyrillic | BigCyrillic, Ascii) => 3,
        (Ascii, Han | Hangul | Kana) | (Han | Hangul | Kana, Ascii) => 2,
        (Han, Hangul) | (Hangul, Han) | (Kana, Hangul) | (Hangul, Kana) => 3,
        // An ideograph says less than a syllable: most double-byte garbage is ideographs.
        (_, Han) => 1,
        _ => 0,
    }
}
