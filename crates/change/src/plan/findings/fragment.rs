//! A block for a whole file that seems to be only a part of it: it begins indented, or it has neither the beginning nor
//! the end of the file, nothing but names that the file has, and mostly its lines. Written to disk, it has replaced the
//! rest. A real rewrite keeps an end of the file, grows, or brings names of its own.

use std::collections::HashSet;

use super::{CheckedFile, PlanCheck, text_lines};
use crate::matching::evidence::TELLING;
use crate::plan::{FileChangeKind, FindingKind, PlanFinding};

/// A file with fewer telling lines has no beginning and end to miss.
const FILE_LINES: usize = 3;
/// Shorter words (`if`, `fn`) are everywhere.
const WORD_BYTES: usize = 3;
/// The dialect of whole files.
const WHOLE_FILE: &str = "replace";

pub(super) struct FragmentCheck;

impl PlanCheck for FragmentCheck {
    fn kind(&self) -> FindingKind {
        FindingKind::Fragment
    }

    fn check(&self, file: &CheckedFile<'_>, out: &mut Vec<PlanFinding>) {
        let (Some(before), Some(after)) = (file.before, file.after) else { return };
        let whole = file.file.dialect == Some(WHOLE_FILE) && file.file.change == FileChangeKind::Modified;
        if whole && is_fragment(before, after) {
            let text = "the answer seems to have only a part of this file; the rest would be gone".to_owned();
            out.push(file.finding(self.kind(), None, text));
        }
    }
}

fn is_fragment(before: &str, after: &str) -> bool {
    let solid = |text| text_lines(text).filter(|line| !line.trim().is_empty());
    let (old, new): (Vec<&str>, Vec<&str>) = (solid(before).collect(), solid(after).collect());
    let mut telling = old.iter().map(|line| line.trim()).filter(|line| line.len() >= TELLING);
    let (Some(&old_first), Some(&new_first)) = (old.first(), new.first()) else { return false };
    if new.len() >= old.len() || telling.clone().count() < FILE_LINES {
        return false;
    }
    if indentation(new_first) > 0 && indentation(old_first) == 0 {
        return true;
    }
    let (first, last) = (telling.next(), telling.next_back());
    let has = |wanted: Option<&str>| new.iter().any(|line| Some(line.trim()) == wanted);
    if has(first) || has(last) {
        return false;
    }
    let lines: HashSet<&str> = old.iter().map(|line| line.trim()).collect();
    let names: HashSet<&str> = words(before).collect();
    let margin = new.iter().map(|line| indentation(line)).min().unwrap_or(0);
    let mut top = new.iter().filter(|line| indentation(line) == margin);
    let kept = new.iter().filter(|line| lines.contains(line.trim())).count();
    kept * 2 >= new.len() && top.all(|line| words(line).all(|word| names.contains(word)))
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|word| word.len() >= WORD_BYTES && !word.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "import os\n\n\ndef load(path):\n    return open(path).read()\n\n\ndef store(path, text):\n    open(path).write(text)\n\n\ndef main():\n    store(\"a\", load(\"b\"))\n";

    #[test]
    fn a_part_of_a_file_is_recognised() {
        for part in [
            "def store(path, text):\n    with open(path) as file:\n        file.write(text)\n    open(path).write(text)\n",
            "def store(path, text):\n    open(path).write(text)\n",
            "    return open(path).read().strip()\n",
        ] {
            assert!(is_fragment(FILE, part), "{part}");
        }
    }

    #[test]
    fn a_rewrite_is_not_a_part() {
        for rewrite in [
            "import os\n\n\ndef main():\n    pass\n",
            "def load(path):\n    return open(path).read()\n\n\ndef main():\n    store(\"a\", load(\"b\"))\n",
            "import sys\n\n\nclass Storage:\n    pass\n",
            "print(\"hello\")\n",
            "",
        ] {
            assert!(!is_fragment(FILE, rewrite), "{rewrite}");
        }
        assert!(!is_fragment("a\nb\nc\n", "b\n"), "too little to tell");
    }
}
