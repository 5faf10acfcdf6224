//! A block for a whole file that seems to be only a part of it: it begins indented, or it has neither the beginning nor
//! the end of the file, nothing but names that the file has, and mostly its lines. Written to disk, it has replaced the
//! rest. A real rewrite keeps an end of the file, grows, or brings names of its own.

use std::collections::{BTreeSet, HashSet};

use super::placeholder::is_remark;
use super::{CheckedFile, PlanCheck, WHOLE_FILE, text_lines};
use crate::matching::evidence::TELLING;
use crate::plan::{FileChangeKind, FindingKind, PlanFinding};
use crate::response::file_names;
use crate::response::markers::{is_end, is_start};

/// A file with fewer telling lines has no beginning and end to miss.
const FILE_LINES: usize = 3;
/// Shorter words (`if`, `fn`) are everywhere.
const WORD_BYTES: usize = 3;
/// A file with fewer lines is easily rewritten.
const LONG_FILE_LINES: usize = 10;
/// How deep a file is looked at.
const DEPTHS: usize = 3;
/// Fewer lines at an end of a file are easily meant to go.
const END_LINES: usize = 2;
/// A block with more lines has more than a remark.
const REMARK_LINES: usize = 3;

pub(super) struct FragmentCheck;

impl PlanCheck for FragmentCheck {
    fn kind(&self) -> FindingKind {
        FindingKind::Fragment
    }

    fn check(&self, file: &CheckedFile<'_>, out: &mut Vec<PlanFinding>) {
        let (Some(before), Some(after)) = (file.before, file.after) else { return };
        let whole = file.file.dialect == Some(WHOLE_FILE) && file.file.change == FileChangeKind::Modified;
        if whole && let Some(text) = find_loss(file.file.path.as_str(), before, after) {
            out.push(file.finding(self.kind(), None, text.to_owned()));
        }
    }
}

/// What a whole text lacks that its author may not have meant to remove.
fn find_loss(path: &str, before: &str, after: &str) -> Option<&'static str> {
    let solid = |text| text_lines(text).filter(|line| !line.trim().is_empty());
    let (mut old, mut new) = (solid(before), solid(after));
    let only_remarks = || {
        solid(after).count() <= REMARK_LINES
            && solid(after).all(|line| is_remark(path, line))
            && !solid(before).all(|line| is_remark(path, line))
    };
    if new.next().is_none() {
        return old.next().map(|_| "the answer has no text for this file; all of it would be gone");
    }
    if only_remarks() {
        return Some("the answer has only a remark for this file; all of its text would be gone");
    }
    let has_frame = |text| {
        let is_any = |is: fn(&str) -> bool| solid(text).any(|line| is(line.trim()));
        is_any(is_start) && is_any(is_end)
    };
    if has_frame(before) && !solid(after).any(|line| is_start(line.trim()) || is_end(line.trim())) {
        return Some("the file's own START and END would be gone; they were taken for marks of the answer");
    }
    if names_itself(path, before) && !names_itself(path, after) {
        return Some(
            "the file's own first line, which names it, would be gone; it was taken for the name of the block",
        );
    }
    is_fragment(before, after)
        .then_some("the answer seems to have only a part of this file; the rest would be gone")
}

/// Whether the first line of a text is a comment with the path of its file.
fn names_itself(path: &str, text: &str) -> bool {
    let first = text_lines(text).map(str::trim).find(|line| !line.is_empty() && !line.starts_with("#!"));
    first.and_then(file_names::comment_text).is_some_and(|said| said.trim() == path)
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
    if is_one_end(&old, &new) || loses_most(&old, &new) {
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
    // Little of a long file, with neither end of it, is a part also with something new in it.
    let is_little = old.len() >= LONG_FILE_LINES && new.len() * 2 <= old.len();
    kept * 2 >= new.len() && (is_little || top.all(|line| words(line).all(|word| names.contains(word))))
}

/// Whether the text is the beginning or the end of the old one, and nothing else.
fn is_one_end(old: &[&str], new: &[&str]) -> bool {
    let lost = old.len() - new.len();
    lost >= END_LINES && (old.starts_with(new) || old.ends_with(new))
}

/// Whether most of what stands at the margin of a file is gone, and little has come in its place: its other functions,
/// sections or rules. The same for the blocks and keys at the next two depths, such as the methods of a class.
fn loses_most(old: &[&str], new: &[&str]) -> bool {
    let depths: BTreeSet<usize> = old.iter().map(|line| indentation(line)).collect();
    depths.into_iter().take(DEPTHS).enumerate().any(|(nth, depth)| {
        let heads = |lines: &[&str]| -> HashSet<String> {
            let is_head = |line: &str| nth == 0 || line.ends_with(['{', '[', ':']) || line.starts_with('"');
            let lines = lines.iter().filter(|line| indentation(line) == depth).map(|line| line.trim());
            lines.filter(|line| words(line).next().is_some() && is_head(line)).map(str::to_owned).collect()
        };
        let (had, has) = (heads(old), heads(new));
        let (lost, come) = (had.difference(&has).count(), has.difference(&had).count());
        lost >= 2 && lost * 2 > had.len() && come * 2 < lost
    })
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
    fn one_function_of_many_beside_a_new_one_is_a_part() {
        let function = |n: usize| format!("export function f{n}(x: number) {{\n  return x + {n};\n}}\n\n");
        let file: String = (0..8).map(function).collect();
        let new = "export function made(y: number) {\n  return y * 2;\n}\n";
        assert!(is_fragment(&file, &(function(1) + new)));
        assert!(
            is_fragment(&file, &(function(0) + new)),
            "it begins like the file, and seven of eight are gone"
        );
        assert!(is_fragment(&file, new), "eight are gone, and one has come");
        let rewrite: String = (10..15).map(function).collect();
        assert!(!is_fragment(&file, &rewrite));
    }

    #[test]
    fn a_remark_or_nothing_in_place_of_a_file_is_asked_about() {
        for after in
            ["", "\n", "// delete this file\n", "// no changes needed\n", "(deleted)\n", "// unchanged\n"]
        {
            assert!(find_loss("a.ts", "let a = 1;\n", after).is_some(), "{after}");
        }
        for (before, after) in [
            ("", ""),
            ("// a\n", "// b\n"),
            ("let a = 1;\n", "let b = 2;\n"),
            ("let a = 1;\n", "// b\nlet b = 2;\n"),
        ] {
            assert_eq!(find_loss("a.ts", before, after), None, "{before}{after}");
        }
        assert_eq!(find_loss("a.md", "Text.\n", "# Title\n"), None);
    }

    #[test]
    fn start_and_end_of_the_file_itself_are_missed() {
        let file = "// START\nlet a = 1;\n// END\n";
        assert!(find_loss("a.ts", file, "let a = 2;\n").is_some());
        assert!(find_loss("a.ts", &format!("a\n{file}c\n"), "b2\n").is_some(), "also in the middle");
        assert_eq!(find_loss("a.ts", file, "// START\nlet a = 2;\n// END\n"), None);
    }

    #[test]
    fn an_end_of_a_file_or_little_in_place_of_much_is_a_part() {
        let functions = "import os\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n";
        let manifest =
            "[package]\nname = \"x\"\nversion = \"0.1.0\"\n\n[dependencies]\nserde = \"1\"\nlog = \"0.4\"\n";
        let schema =
            "CREATE TABLE users (id INT);\nCREATE TABLE orders (id INT);\nCREATE TABLE items (id INT);\n";
        for (file, part) in [
            (functions, "import os\n\n\ndef first():\n    return 1\n"),
            (functions, "def second():\n    return 2\n"),
            (FILE, "print(\"hello\")\n"),
            (manifest, "[dependencies]\nrand = \"0.8\"\n"),
            (schema, "ALTER TABLE users ADD name TEXT;\n"),
            (
                "class Account {\n  deposit() {\n    this.add(1);\n  }\n  withdraw() {\n    this.take(1);\n  }\n  close() {\n    this.end(1);\n  }\n}\n",
                "class Account {\n  withdraw() {\n    this.take(2);\n  }\n}\n",
            ),
        ] {
            assert!(is_fragment(file, part), "{part}");
        }
    }

    #[test]
    fn a_file_that_names_itself_keeps_its_first_line() {
        let file = "// src/a.ts\nconst one = 1;\nconst two = 2;\n";
        assert!(find_loss("src/a.ts", file, "const one = 1;\nconst two = 22;\n").is_some());
        assert_eq!(find_loss("src/a.ts", file, &file.replace("= 2", "= 22")), None);
    }

    #[test]
    fn a_rewrite_is_not_a_part() {
        for rewrite in [
            "import os\n\n\ndef main():\n    pass\n",
            "def load(path):\n    return open(path).read()\n\n\ndef main():\n    store(\"a\", load(\"b\"))\n",
            "import sys\n\n\nclass Storage:\n    pass\n",
            "",
        ] {
            assert!(!is_fragment(FILE, rewrite), "{rewrite}");
        }
        assert!(!is_fragment("a\nb\nc\n", "b\n"), "too little to tell");
    }
}
