//! The `***` lines of a patch envelope in the spellings that models use: two to four asterisks, words in
//! any case, asterisks behind them, a path in backticks or quotes.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchMarker<'a> {
    /// `*** Begin Patch`
    Begin,
    /// `*** End Patch`
    End,
    /// `*** End of File`
    EndOfFile,
    /// `*** Add File: path`
    Add(&'a str),
    /// `*** Delete File: path`
    Delete(&'a str),
    /// `*** Update File: path`
    Update(&'a str),
    /// `*** Move to: path`
    Move(&'a str),
}

impl PatchMarker<'_> {
    /// Whether what a file becomes begins here.
    pub(crate) fn names_file(&self) -> bool {
        matches!(self, PatchMarker::Add(_) | PatchMarker::Delete(_) | PatchMarker::Update(_))
    }
}

/// `line` has no leading blanks.
pub(crate) fn parse(line: &str) -> Option<PatchMarker<'_>> {
    let stars = line.bytes().take_while(|byte| *byte == b'*').count();
    let rest = line.get(stars..).filter(|_| (2..=4).contains(&stars))?;
    // `**Update File:** x` is bold text.
    if stars == 2 && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let rest = rest.trim_start();
    let (words, path) = match rest.split_once(':') {
        Some((words, path)) if words.len() <= "update  file".len() => (words, Some(path)),
        _ => (rest.trim_end().trim_end_matches('*'), None),
    };
    let mut words = words.split_whitespace();
    let mut next = || words.next().unwrap_or_default().to_ascii_lowercase();
    let said = [next(), next(), next(), next()];
    let said = [said[0].as_str(), said[1].as_str(), said[2].as_str(), said[3].as_str()];
    let Some(path) = path else {
        return match said {
            ["begin", "patch", "", ""] => Some(PatchMarker::Begin),
            ["end", "patch", "", ""] => Some(PatchMarker::End),
            ["end", "of", "file", ""] => Some(PatchMarker::EndOfFile),
            _ => None,
        };
    };
    let path = without_quotes(path.trim());
    match said {
        ["add", "file", "", ""] => Some(PatchMarker::Add(path)),
        ["delete", "file", "", ""] => Some(PatchMarker::Delete(path)),
        ["update", "file", "", ""] => Some(PatchMarker::Update(path)),
        ["move", "to", "", ""] => Some(PatchMarker::Move(path)),
        _ => None,
    }
}

fn without_quotes(path: &str) -> &str {
    let path = path.strip_suffix("***").unwrap_or(path).trim_end();
    let inside = |quote| path.strip_prefix(quote)?.strip_suffix(quote).filter(|inside| !inside.is_empty());
    ['`', '"', '\''].into_iter().find_map(inside).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_known_in_the_spellings_that_models_use() {
        for (line, marker) in [
            ("*** Begin Patch", PatchMarker::Begin),
            ("***  Begin  Patch ***", PatchMarker::Begin),
            ("** begin patch", PatchMarker::Begin),
            ("***End Patch", PatchMarker::End),
            ("**** END PATCH ****", PatchMarker::End),
            ("*** end of file", PatchMarker::EndOfFile),
            ("*** Update File: a b.py ", PatchMarker::Update("a b.py")),
            ("** update file:a.py", PatchMarker::Update("a.py")),
            ("*** Add  File : `a.py`", PatchMarker::Add("a.py")),
            ("*** Delete File: \"a.py\" ***", PatchMarker::Delete("a.py")),
            ("*** Move To: b.py", PatchMarker::Move("b.py")),
        ] {
            assert_eq!(parse(line), Some(marker), "{line}");
        }
        for line in [
            "**Update File:** a",
            "* Update File: a",
            "***** Begin Patch",
            "*** Begin Patch now",
            "***",
            "*** x: y",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
