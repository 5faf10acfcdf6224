//! How much a text says about where it belongs. A short or common text stands in several places of most
//! files: finding it proves little, and even less if its layout had to be forgiven.

/// Fewer lines than this may stand anywhere …
const LINES: usize = 3;
/// … and so may fewer characters.
const CHARACTERS: usize = 60;
/// Shorter lines (a brace, `else:`, `pass`) are everywhere and say nothing.
pub(crate) const TELLING: usize = 8;

/// Whether chance is excluded: no other place has these lines unless it was copied from there.
pub(crate) fn excludes_chance<S: AsRef<str>>(lines: &[S]) -> bool {
    let solid = || lines.iter().map(|line| line.as_ref().trim()).filter(|line| has_words(line));
    solid().count() >= LINES && solid().map(str::len).sum::<usize>() >= CHARACTERS
}

/// Whether there is more in the line than braces and the like.
pub(super) fn has_words(line: &str) -> bool {
    line.chars().any(char::is_alphanumeric)
}

/// Whether at least one line is not one of those that are everywhere.
pub(super) fn is_telling<S: AsRef<str>>(lines: &[S]) -> bool {
    lines.iter().any(|line| line.as_ref().trim().len() >= TELLING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_longer_lines_exclude_chance() {
        let call = "    total = add(price, tax, shipping)";
        assert!(excludes_chance(&[call, "", call, call]));
        assert!(!excludes_chance(&[call, "", call]), "two lines are not enough");
        assert!(!excludes_chance(&["    }", "    return None", "}", "", "", "fn next() {"]));
        let long = "/// Whether this can be the name of a provider, and so a file name.";
        assert!(!excludes_chance(&["}", "}", long]), "braces say nothing");
        assert!(is_telling(&["}", "return None"]) && !is_telling(&["}", "  else {", ""]));
    }
}
