//! Characters that a reader cannot see: zero-width, bidirectional controls, tags, fillers.
//!
//! [`is_hidden`] is strict and meant for names. In running text some of these characters are needed (to
//! join emoji, to shape Arabic or Devanagari); [`suspicious_chars`] leaves those out one by one, judged by
//! their neighbours, so that a long run of them never passes for an emoji.

/// Whether `c` is invisible or reorders what stands around it. Control characters are another
/// matter (see [`crate::escape`]); tab and line feed are neither.
pub fn is_hidden(c: char) -> bool {
    !c.is_ascii() && HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// What has no shape of its own, by the Unicode Character Database (version 16): Default_Ignorable_Code_Point
/// (`DerivedCoreProperties.txt`); the categories Cf, Zl and Zp (`DerivedGeneralCategory.txt`), but not those marks of Cf that are
/// seen (Prepended_Concatenation_Mark in `PropList.txt`); and characters whose chart shows nothing although their
/// category is that of letters or symbols (BLANK, FILLER, NULL in `UnicodeData.txt`). Blanks (Zs) are seen as blanks.
#[rustfmt::skip]
const HIDDEN: &[(char, char)] = &[
    ('\u{00AD}', '\u{00AD}'), ('\u{034F}', '\u{034F}'), ('\u{061C}', '\u{061C}'), ('\u{115F}', '\u{1160}'),
    ('\u{17B4}', '\u{17B5}'), ('\u{180B}', '\u{180F}'), ('\u{200B}', '\u{200F}'), ('\u{2028}', '\u{202E}'),
    ('\u{2060}', '\u{206F}'),
    // BRAILLE PATTERN BLANK
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'), ('\u{FE00}', '\u{FE0F}'), ('\u{FEFF}', '\u{FEFF}'), ('\u{FFA0}', '\u{FFA0}'),
    ('\u{FFF0}', '\u{FFFB}'),
    // EGYPTIAN HIEROGLYPH VERTICAL JOINER to HALF BLANK
    ('\u{13430}', '\u{13442}'),
    // KHITAN SMALL SCRIPT FILLER
    ('\u{16FE4}', '\u{16FE4}'),
    ('\u{1BCA0}', '\u{1BCA3}'),
    // MUSICAL SYMBOL NULL NOTEHEAD
    ('\u{1D159}', '\u{1D159}'),
    ('\u{1D173}', '\u{1D17A}'), ('\u{E0000}', '\u{E0FFF}'),
];

/// The hidden characters of a line that no script or emoji needs, with their byte offsets.
///
/// ```
/// use relaycode_text::hidden::suspicious_chars;
///
/// let found: Vec<_> = suspicious_chars("if user\u{200B} { // ❤\u{FE0F}").collect();
/// assert_eq!(found, [(7, '\u{200B}')]);
/// ```
pub fn suspicious_chars(line: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut before = HiddenCharContext::default();
    line.char_indices().filter(move |&(at, c)| {
        let hidden = !c.is_ascii() && is_hidden(c);
        let bad = is_stray_control(c) || (hidden && !before.allows(c, &line[at + c.len_utf8()..]));
        before.advance(c, bad);
        bad
    })
}

/// A control character that no text needs: not a tab, the end of a line or a form feed.
fn is_stray_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}')
}

/// The code point and, for the common ones, what it is: `U+202E right-to-left override`.
pub fn describe_char(c: char) -> String {
    let name = match c {
        '\u{001B}' => "escape",
        '\u{00AD}' => "soft hyphen",
        '\u{200B}' => "zero-width space",
        '\u{200C}' => "zero-width non-joiner",
        '\u{200D}' => "zero-width joiner",
        '\u{200E}' => "left-to-right mark",
        '\u{200F}' => "right-to-left mark",
        '\u{061C}' => "Arabic letter mark",
        '\u{2028}' => "line separator",
        '\u{2029}' => "paragraph separator",
        '\u{202A}' => "left-to-right embedding",
        '\u{202B}' => "right-to-left embedding",
        '\u{202C}' => "end of bidirectional formatting",
        '\u{202D}' => "left-to-right override",
        '\u{202E}' => "right-to-left override",
        '\u{2060}' => "word joiner",
        '\u{2066}' => "left-to-right isolate",
        '\u{2067}' => "right-to-left isolate",
        '\u{2068}' => "first strong isolate",
        '\u{2069}' => "end of bidirectional isolate",
        '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' => "Hangul filler",
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => "variation selector",
        '\u{2800}' => "blank Braille pattern",
        '\u{13430}'..='\u{13442}' => "hieroglyph format control",
        '\u{16FE4}' => "Khitan filler",
        '\u{1D159}' => "null notehead",
        '\u{FEFF}' => "byte order mark",
        '\u{E0000}'..='\u{E007F}' => "tag character",
        _ => "invisible character",
    };
    format!("{} {name}", code_point(c))
}

/// `U+202E`
pub fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// What comes directly before a character.
#[derive(Default)]
struct HiddenCharContext {
    last: Option<char>,
    /// An emoji comes before, perhaps with its skin tone or variation selector.
    emoji: bool,
    /// We are inside the tags of a regional flag whose rest has been checked already.
    in_flag: bool,
}

impl HiddenCharContext {
    /// Whether hidden character `c` is legitimate between what came before and `rest`.
    fn allows(&self, c: char, rest: &str) -> bool {
        let Some(last) = self.last else { return false };
        let next = rest.chars().next();
        match c {
            '\u{FE0E}' | '\u{FE0F}' if matches!(last, '0'..='9' | '#' | '*') => next == Some('\u{20E3}'),
            '\u{FE00}'..='\u{FE0F}' => is_pictograph(last) || is_ideograph(last) || is_varied_symbol(last),
            '\u{E0100}'..='\u{E01EF}' => is_ideograph(last),
            '\u{180B}'..='\u{180F}' => matches!(last, '\u{1820}'..='\u{18AA}'),
            // A picture of dots has blank cells.
            '\u{2800}' => {
                [Some(last), next].into_iter().flatten().any(|c| matches!(c, '\u{2801}'..='\u{28FF}'))
            }
            '\u{13430}'..='\u{13442}' => {
                matches!(last, '\u{13000}'..='\u{1342F}' | '\u{13460}'..='\u{143FA}')
            }
            '\u{16FE4}' => matches!(last, '\u{18B00}'..='\u{18CFF}'),
            '\u{1D159}' => matches!(last, '\u{1D100}'..='\u{1D1FF}'),
            '\u{200D}' if self.emoji => next.is_some_and(is_pictograph),
            '\u{200C}' | '\u{200D}' => is_joining_script(last),
            '\u{E0020}'..='\u{E007F}' => self.in_flag || begins_flag(last, c, rest),
            _ => false,
        }
    }

    fn advance(&mut self, c: char, bad: bool) {
        self.in_flag = !bad && matches!(c, '\u{E0020}'..='\u{E007E}');
        let extends = matches!(c, '\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}');
        self.emoji = !bad && ((self.emoji && extends) || is_pictograph(c));
        self.last = Some(c);
    }
}

/// Whether `c` is the first tag of a regional flag: 🏴, three to six letters or digits as tags, and
/// the end mark.
fn begins_flag(last: char, c: char, rest: &str) -> bool {
    let is_letter = |c: &char| matches!(c, '\u{E0030}'..='\u{E0039}' | '\u{E0061}'..='\u{E007A}');
    let more = rest.chars().take(6).take_while(is_letter).count();
    last == '\u{1F3F4}'
        && is_letter(&c)
        && (2..=5).contains(&more)
        && rest.chars().nth(more) == Some('\u{E007F}')
}

fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{00A9}' | '\u{00AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{2460}'..='\u{24FF}'
        | '\u{25A0}'..='\u{27BF}' | '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}'
        | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Mathematical operators and Burmese letters have registered variants too.
fn is_varied_symbol(c: char) -> bool {
    matches!(c, '\u{2200}'..='\u{22FF}' | '\u{2A00}'..='\u{2AFF}' | '\u{1000}'..='\u{109F}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{3001}'..='\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{FF01}'..='\u{FF60}' | '\u{20000}'..='\u{323AF}')
}

/// Scripts whose letters join or stack: Arabic and its neighbours, Indic, Burmese, Khmer, Mongolian.
fn is_joining_script(c: char) -> bool {
    !is_hidden(c)
        && matches!(c,
            '\u{0600}'..='\u{07FF}' | '\u{0840}'..='\u{08FF}' | '\u{0900}'..='\u{0DFF}'
            | '\u{0F00}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{1820}'..='\u{18AA}'
            | '\u{A840}'..='\u{A877}' | '\u{A8E0}'..='\u{A8FF}' | '\u{A980}'..='\u{A9DF}'
            | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{11000}'..='\u{1183F}'
            | '\u{1E900}'..='\u{1E95F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<char> {
        suspicious_chars(line).map(|(_, c)| c).collect()
    }

    #[test]
    fn emoji_and_scripts_may_use_what_they_need() {
        for line in [
            "plain ascii\tand é 漢字",
            "❤\u{FE0F} ☀\u{FE0E} 1\u{FE0F}\u{20E3} ©\u{FE0F}",
            "👩\u{200D}💻 👨\u{1F3FD}\u{200D}🚀 🏳\u{FE0F}\u{200D}🌈 👩\u{200D}❤\u{FE0F}\u{200D}👩",
            "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} wins",
            "می\u{200C}خواهم",
            "क\u{094D}\u{200D}ष",
            "葛\u{E0100}飾",
            "ᠠ\u{180B}",
            "≨\u{FE00}",
            "⠋\u{2800}⠙ \u{2800}⠙",
            "𓀀\u{13430}𓀁",
        ] {
            assert_eq!(found(line), [], "{line:?}");
        }
    }

    #[test]
    fn everything_else_is_reported() {
        for (line, expected) in [
            ("user\u{200B}name", "\u{200B}"),
            ("\u{1b}[31mred\u{8}\u{9b}", "\u{1b}\u{8}\u{9b}"),
            ("a\u{202E}b\u{2066}c", "\u{202E}\u{2066}"),
            ("x\u{FE0F}", "\u{FE0F}"),
            ("1\u{FE0F} ", "\u{FE0F}"),
            ("❤\u{FE0F}\u{FE01}\u{FE02}", "\u{FE01}\u{FE02}"),
            ("a\u{200D}b 👩\u{200D}x", "\u{200D}\u{200D}"),
            ("id\u{200C}", "\u{200C}"),
            ("\u{FEFF}first", "\u{FEFF}"),
            ("\u{200D}", "\u{200D}"),
            ("\u{E0041}", "\u{E0041}"),
            ("🏴\u{E0041}\u{E0042}", "\u{E0041}\u{E0042}"),
            ("🏴\u{E0067}\u{E0062}", "\u{E0067}\u{E0062}"),
            ("می\u{200C}\u{200C}", "\u{200C}"),
            ("let \u{3164} = 1;", "\u{3164}"),
            ("let a\u{2800} = 1;", "\u{2800}"),
            ("a\u{16FE4}b", "\u{16FE4}"),
            ("a\u{13430}b\u{13441}", "\u{13430}\u{13441}"),
            ("a\u{1D159}", "\u{1D159}"),
        ] {
            let expected: Vec<char> = expected.chars().collect();
            assert_eq!(found(line), expected, "{line:?}");
        }
        let flag = "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}\u{E0041}";
        assert_eq!(found(flag), ['\u{E0041}']);
    }

    #[test]
    fn hidden_characters_have_names() {
        assert_eq!(describe_char('\u{202E}'), "U+202E right-to-left override");
        assert_eq!(describe_char('\u{E0042}'), "U+E0042 tag character");
    }
}
