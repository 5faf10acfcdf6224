//! Names that look like Latin ones and are not: `pаyment` with a Cyrillic `а`.
//!
//! Few false alarms: a name in one script is fine, and so is one that joins Latin with words of another script
//! (`getИмя`), because a reader sees that. Only a name counts that mixes Latin letters with letters of another script all of
//! which look like Latin ones. Parts of a name that `_` or digits separate are judged by themselves (`x_ο`).

/// Letters of other scripts that look like Latin ones, by `confusables.txt` of Unicode Technical Standard 39: only those
/// that most fonts draw alike.
#[rustfmt::skip]
const LOOKALIKES: &[(&str, &str, &str)] = &[
    ("Cyrillic", "аеорсухѕіјһԁԛԝѵӏгАВЕКМНОРСТУХЅІЈԚԜҮӀЬ", "aeopcyxsijhdqwvlrABEKMHOPCTYXSIJQWYIb"),
    ("Greek", "οϲϳνΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ocjvABEZHIKMNOPTYX"),
    ("Armenian", "օսոհցՕՍ", "ounhgOU"),
];

/// A name in disguise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfusableName<'a> {
    /// Where it begins, in bytes.
    pub at: usize,
    pub name: &'a str,
    /// The first letter that is not Latin, its script, and what it looks like.
    pub letter: char,
    pub script: &'static str,
    pub like: char,
}

/// The names in a line that mix Latin letters with look-alikes.
///
/// ```
/// use relaycode_text::confusable::confusable_names;
///
/// let found: Vec<_> = confusable_names("let p\u{430}yment = имя_x;").map(|found| found.name).collect();
/// assert_eq!(found, ["p\u{430}yment"]);
/// ```
pub fn confusable_names(line: &str) -> impl Iterator<Item = ConfusableName<'_>> {
    let is_part = |c: char| c == '_' || c == '$' || c.is_alphanumeric();
    let mut rest = if line.is_ascii() { "" } else { line };
    std::iter::from_fn(move || {
        let from = rest.find(is_part)?;
        let name = &rest[from..];
        let name = &name[..name.find(|c: char| !is_part(c)).unwrap_or(name.len())];
        rest = &rest[from + name.len()..];
        Some((line.len() - rest.len() - name.len(), name))
    })
    .filter_map(|(at, name)| {
        let parts = name.split(|c: char| !c.is_alphabetic());
        let (letter, script, like) = parts.filter_map(disguised_letter).next()?;
        Some(ConfusableName { at, name, letter, script, like })
    })
}

/// The first look-alike of a part that has Latin letters and otherwise only look-alikes.
fn disguised_letter(part: &str) -> Option<(char, &'static str, char)> {
    if part.is_ascii() {
        return None;
    }
    let mut latin = false;
    let mut first = None;
    for c in part.chars() {
        if is_latin(c) {
            latin = true;
        } else {
            first = first.or(Some(lookalike(c)?));
        }
    }
    first.filter(|_| latin)
}

fn lookalike(letter: char) -> Option<(char, &'static str, char)> {
    LOOKALIKES.iter().find_map(|(script, letters, latin)| {
        let at = letters.chars().position(|c| c == letter)?;
        Some((letter, *script, latin.chars().nth(at)?))
    })
}

fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, '\u{AA}' | '\u{BA}' | '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<&str> {
        confusable_names(line).map(|found| found.name).collect()
    }

    #[test]
    fn every_lookalike_has_its_letter() {
        for (script, letters, latin) in LOOKALIKES {
            assert_eq!(letters.chars().count(), latin.chars().count(), "{script}");
            assert!(letters.chars().all(|c| !is_latin(c)) && latin.is_ascii(), "{script}");
        }
    }

    #[test]
    fn a_name_that_only_looks_latin_is_found_with_its_place() {
        for (line, name) in [
            ("let p\u{430}yment = 1;", "p\u{430}yment"),
            ("\u{441}lass A", "\u{441}lass"),
            ("is_\u{430}dmin()", "is_\u{430}dmin"),
            ("a.t\u{3bf}ken", "t\u{3bf}ken"),
            ("\u{391}dmin", "\u{391}dmin"),
            ("é\u{435}x", "é\u{435}x"),
            ("us\u{585}r", "us\u{585}r"),
        ] {
            assert_eq!(found(line), [name], "{line}");
        }
        let first = confusable_names("x = \u{441}at").next().unwrap();
        assert_eq!((first.at, first.letter, first.script, first.like), (4, '\u{441}', "Cyrillic", 'c'));
    }

    #[test]
    fn names_of_one_script_and_honest_mixtures_are_fine() {
        for line in [
            "let имя = 'значение';",
            "сос = оса + рано",
            "getИмя() новыйUser",
            "Δx = x₁ - x₀; σ_x, αβ, x_ο, θ2",
            "naïve café größe łódź",
            "変数 = valueの値",
            "μs νₑ λ",
            "plain ascii",
        ] {
            assert_eq!(found(line), Vec::<&str>::new(), "{line}");
        }
    }
}
