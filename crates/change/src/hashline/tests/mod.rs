//! Each sentence of the language, each of its errors, and the law (`random`): an edit lands on the line that was shown.

mod random;

use super::*;

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// A file all of whose lines were shown.
fn shown(text: &str) -> ShownFile {
    let mut file = ShownFile::new(text.as_bytes(), lines(text));
    file.show(0..text.lines().count());
    file
}

/// The anchor of a line (from 1) of a text.
fn anchor(text: &str, line: usize) -> String {
    LineAnchor::of(line, text.lines().nth(line - 1).unwrap()).to_string()
}

/// An input about `a.txt` in which `{N}` is the anchor of line N.
fn input(text: &str, edits: &str) -> String {
    let mut input = format!("§a.txt\n{edits}");
    for line in 1..=text.lines().count() {
        input = input.replace(&format!("{{{line}}}"), &anchor(text, line));
    }
    input
}

fn edit(text: &str, edits: &str) -> Result<String, HashlineError> {
    let read = read_sections(&input(text, edits)).unwrap();
    let result = edit_text(&read.sections[0].edits, Some(&shown(text)), text.as_bytes())?;
    Ok(String::from_utf8(result.bytes).unwrap())
}

fn syntax_error(input: &str) -> String {
    read_sections(input).unwrap_err().to_string()
}

const TEXT: &str = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n";

#[test]
fn anchors_are_stable_and_forgive_blanks_at_the_end() {
    assert_eq!(format_line(41, "def alpha():"), format_line(41, "def alpha():  \t").trim_end());
    assert_eq!(LineHash::of(1, "x = 1"), LineHash::of(9, "x = 1 \t"));
    assert_ne!(LineHash::of(1, "}"), LineHash::of(2, "}"));
    assert_ne!(LineHash::of(1, ""), LineHash::of(2, ""));
    // Written down in sessions: it must not change.
    assert_eq!(format_line(1, "fn main() {"), "1gq|fn main() {");
    let all: std::collections::BTreeSet<LineHash> = (1..20_000).map(|line| LineHash::of(line, "")).collect();
    assert_eq!(all.len() as u64, HASH_COUNT);
}

#[test]
fn an_anchor_is_read_only_whole() {
    assert_eq!(LineAnchor::parse("41th").unwrap().to_string(), "41th");
    for odd in
        ["", "41", "th", "41t", "41tha", "41TH", "0th", "-1th", "41 th", "41th|x", "4é", "9999999999th"]
    {
        assert_eq!(LineAnchor::parse(odd), None, "{odd}");
    }
}

#[test]
fn anchors_are_taken_off_copied_text_only_if_every_line_has_one() {
    assert_eq!(strip_anchors("1ab|one\n2cd|two|three\n").as_deref(), Some("one\ntwo|three\n"));
    assert_eq!(strip_anchors("1ab|one\ntwo\n"), None);
    assert_eq!(strip_anchors("one\n"), None);
    assert_eq!(strip_anchors("1ab|one\n\n2cd|").as_deref(), Some("one\n\n"));
}

#[test]
fn insert_below_and_above() {
    assert_eq!(edit("a\nb\n", "»{1}\nx\ny\n").unwrap(), "a\nx\ny\nb\n");
    assert_eq!(edit("a\nb\n", "«{1}\nx\n").unwrap(), "x\na\nb\n");
    assert_eq!(edit("a\nb\n", "»{2}\nx\n").unwrap(), "a\nb\nx\n");
}

#[test]
fn insert_at_the_ends() {
    assert_eq!(edit("a\n", "»BOF\nx\n»EOF\ny\n").unwrap(), "x\na\ny\n");
    assert_eq!(edit("a\n", "«BOF\nx\n«EOF\ny\n").unwrap(), "x\na\ny\n");
    assert_eq!(edit("a", "»EOF\ny\n").unwrap(), "a\ny");
}

#[test]
fn replace_a_range_and_a_line() {
    assert_eq!(edit(TEXT, "≔{1}..{3}\nfn c() {}\n").unwrap(), "fn c() {}\n\nfn b() {\n    two();\n}\n");
    assert_eq!(edit("a\nb\nc\n", "≔{2}\nx\ny\n").unwrap(), "a\nx\ny\nc\n");
}

#[test]
fn delete_and_blank_differ_by_an_empty_line() {
    assert_eq!(edit("a\nb\nc\n", "≔{2}").unwrap(), "a\nc\n");
    assert_eq!(edit("a\nb\nc\n", "≔{2}\n").unwrap(), "a\nc\n");
    assert_eq!(edit("a\nb\nc\n", "≔{2}\n\n»EOF\nz\n").unwrap(), "a\n\nc\nz\n");
    assert_eq!(edit("a\nb\nc\n", "≔{1}..{3}").unwrap(), "");
}

#[test]
fn several_edits_are_about_the_file_as_it_was() {
    assert_eq!(edit("a\nb\nc\n", "»{1}\nx\n≔{2}\nB\n«{3}\ny\n≔{3}\nC\n").unwrap(), "a\nx\nB\ny\nC\n");
    assert_eq!(edit("a\nb\n", "»{1}\n1\n»{1}\n2\n«{2}\n3\n").unwrap(), "a\n1\n2\n3\nb\n");
}

#[test]
fn text_is_verbatim() {
    let text = "a\nb\n";
    assert_eq!(edit(text, "»{1}\n  x |\n\n- y\n+ z\n").unwrap(), "a\n  x |\n\n- y\n+ z\nb\n");
}

#[test]
fn line_endings_and_the_mark_are_the_files_own() {
    let text = "\u{feff}a\r\nb\r\nc";
    let bare = "a\nb\nc";
    let mut file = ShownFile::new(text.as_bytes(), lines(bare));
    file.show(0..3);
    let read = read_sections(&input(bare, "≔{2}\nx\ny\n")).unwrap();
    let result = edit_text(&read.sections[0].edits, Some(&file), text.as_bytes()).unwrap();
    assert_eq!(result.bytes, "\u{feff}a\r\nx\r\ny\r\nc".as_bytes());
}

#[test]
fn an_input_with_returns_is_read_without_them() {
    let read = read_sections("§a.txt\r\n»BOF\r\nx\r\ny").unwrap();
    let HashlineAction::Insert { lines, .. } = &read.sections[0].edits[0].action else { panic!() };
    assert_eq!(lines, &["x", "y"]);
}

#[test]
fn sections_of_one_file_are_one_and_headers_are_forgiving() {
    let read = read_sections("\n\n§§§ a.txt\n»BOF\nx\n§b.txt\n»BOF\ny\n§a.txt\n»EOF\nz\n").unwrap();
    let named: Vec<(&str, usize)> = read.sections.iter().map(|s| (s.path.as_str(), s.edits.len())).collect();
    assert_eq!(named, [("a.txt", 2), ("b.txt", 1)]);
}

#[test]
fn the_envelope_is_ignored() {
    let read = read_sections("*** Begin Patch\n§a.txt\n»BOF\nx\n*** End Patch\nmore\n").unwrap();
    assert_eq!(read.sections[0].edits.len(), 1);
    assert!(read.warnings.is_empty());
    // Where nothing opened an envelope, such a line in the middle is text.
    let read = read_sections("§a.txt\n»BOF\n*** End Patch\ny\n").unwrap();
    let HashlineAction::Insert { lines, .. } = &read.sections[0].edits[0].action else { panic!() };
    assert_eq!(lines.len(), 2);
}

#[test]
fn abort_ends_the_input_with_a_warning() {
    let read = read_sections("§a.txt\n»BOF\nx\n*** Abort\n»EOF\ny\n").unwrap();
    assert_eq!(read.sections[0].edits.len(), 1);
    assert_eq!(read.warnings, ["line 4: `*** Abort` ends the input; what follows was not read"]);
}

#[test]
fn error_missing_header() {
    assert!(syntax_error("»4fb\nx\n").starts_with("the input has to begin with \"§PATH\""));
    assert!(syntax_error("").contains("\"§PATH\""));
    assert!(syntax_error("hello\n").contains("got: `hello`"));
}

#[test]
fn error_empty_header() {
    assert_eq!(
        syntax_error("§\n»BOF\nx\n"),
        "line 1: the header \"§\" names no file; write its path behind it"
    );
}

#[test]
fn error_bad_anchor() {
    let said = "line 2: expected a full anchor such as \"119sr\"; got \"4\"";
    assert_eq!(syntax_error("§a\n»4\nx\n"), said);
    assert!(syntax_error("§a\n»4fb|text\nx\n").contains("got \"4fb|text\""));
    assert!(syntax_error("§a\n≔4\nx\n").contains("got \"4\""));
}

#[test]
fn error_bad_range() {
    for odd in ["≔", "≔4fb-5dm", "≔4fb,5dm", "≔4fb 5dm"] {
        assert!(syntax_error(&format!("§a\n{odd}\nx\n")).contains("a replacement names its lines"), "{odd}");
    }
    for odd in ["≔4fb..", "≔..4fb", "≔4fb..5dm..6aa", "≔.."] {
        assert!(syntax_error(&format!("§a\n{odd}\nx\n")).contains("exactly two full anchors"), "{odd}");
    }
    assert!(syntax_error("§a\n≔5dm..4fb\n").contains("ends before it begins"));
    assert!(syntax_error("§a\n≔5dm..5fb\n").contains("two different hashes for one line"));
}

#[test]
fn error_missing_text() {
    assert_eq!(
        syntax_error("§a\n»4fb\n«5dm\nx\n"),
        "line 2: » and « need at least one line of text below them"
    );
}

#[test]
fn error_text_without_an_operation() {
    assert!(syntax_error("§a\nx = 1\n").starts_with("line 2: text without an operation"));
}

#[test]
fn error_unknown_operation() {
    assert!(syntax_error("§a\n@@ -1 +1 @@\n").starts_with("line 2: unrecognized operation"));
}

#[test]
fn error_no_edits() {
    assert_eq!(syntax_error("§a.txt\n"), "line 1: no edit follows `§a.txt`");
}

#[test]
fn error_no_such_line() {
    let read = read_sections("§a\n»9ab\nx\n").unwrap();
    let error = edit_text(&read.sections[0].edits, Some(&shown("a\nb\n")), b"a\nb\n").unwrap_err();
    assert_eq!(error.to_string(), "Line 9 does not exist (the file has 2 lines)");
}

#[test]
fn error_unchanged() {
    assert_eq!(edit("a\nb\n", "≔{1}\na\n"), Err(HashlineError::Unchanged));
}

#[test]
fn error_overlap() {
    assert_eq!(
        edit("a\nb\nc\n", "≔{1}..{2}\nx\n≔{2}\ny\n"),
        Err(HashlineError::Overlap { line: 4, other: 2 })
    );
    assert!(edit("a\nb\nc\n", "≔{1}..{3}\nx\n»{2}\ny\n").is_err());
    assert!(edit("a\nb\nc\n", "≔{2}\nx\n»{2}\ny\n").is_ok());
}

#[test]
fn error_stale_shows_what_stands_there() {
    let old = "a\nb\nc\nd\ne\nf\ng\n";
    let now = "a\nb\nc\nnew\nd\nE\nf\ng\n";
    let read = read_sections(&input(old, "≔{5}\nx\n")).unwrap();
    let Err(HashlineError::Stale(report)) =
        edit_text(&read.sections[0].edits, Some(&shown(old)), now.as_bytes())
    else {
        panic!()
    };
    assert!(report.text.starts_with("Nothing was edited. The file has changed since 5"), "{}", report.text);
    assert_eq!(report.shown, [2, 3, 4, 5, 6]);
    let marked = format!("*{}\n", format_line(5, "d"));
    assert!(report.text.contains(&marked), "{}", report.text);
}

#[test]
fn error_never_shown() {
    let text = "a\nb\n";
    let read = read_sections(&input(text, "≔{1}\nx\n")).unwrap();
    let error = edit_text(&read.sections[0].edits, None, text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("No line was shown as 1"), "{error}");
    assert!(error.contains(&format_line(2, "b")));
}

/// A file of ten lines of which these (from 1) were shown.
fn partly_shown(numbers: &[usize]) -> (String, ShownFile) {
    let text: String = (1..=10).map(|line| format!("line {line}\n")).collect();
    let mut file = ShownFile::new(text.as_bytes(), lines(&text));
    file.show(numbers.iter().map(|line| line - 1));
    (text, file)
}

#[test]
fn error_lines_between_two_anchors_that_were_never_shown() {
    let (text, file) = partly_shown(&[1, 2, 3, 6, 8]);
    let read = read_sections(&input(&text, "≔{3}..{6}\nx\n")).unwrap();
    let Err(HashlineError::Stale(report)) = edit_text(&read.sections[0].edits, Some(&file), text.as_bytes())
    else {
        panic!()
    };
    insta::assert_snapshot!(report.text, @"
    Nothing was edited. Of 3pe..6de you were never shown 2 lines. This is what stands there now; use these anchors, or read the file again:
     2mi|line 2
     3pe|line 3
    *4si|line 4
    *5mv|line 5
     6de|line 6
     7if|line 7
    ");
    assert_eq!(report.shown, [1, 2, 3, 4, 5, 6]);
    // What the report shows is seen.
    let mut file = file;
    file.show(report.shown);
    assert!(edit_text(&read.sections[0].edits, Some(&file), text.as_bytes()).is_ok());
    // Beside what was not shown a line can be put, and shown lines can be replaced.
    for edits in ["»{8}\nx\n", "≔{8}\nx\n", "≔{1}..{3}\nx\n"] {
        let read = read_sections(&input(&text, edits)).unwrap();
        assert!(edit_text(&read.sections[0].edits, Some(&file), text.as_bytes()).is_ok(), "{edits}");
    }
}

#[test]
fn lines_that_were_never_shown_are_told_from_ones_that_an_edit_wrote() {
    let (text, mut file) = partly_shown(&[1, 2, 3, 5, 6, 7]);
    let read = read_sections(&input(&text, "»{2}\nx\ny\n≔{6}")).unwrap();
    let first = edit_text(&read.sections[0].edits, Some(&file), text.as_bytes()).unwrap();
    let after = String::from_utf8(first.bytes.clone()).unwrap();
    file.advance(&first.splices, &first.bytes, lines(&after));
    let edited = |edits: &str| {
        let read = read_sections(&input(&text, edits)).unwrap();
        let result = edit_text(&read.sections[0].edits, Some(&file), &first.bytes);
        result.map(|result| String::from_utf8(result.bytes).unwrap())
    };
    assert_eq!(edited("≔{1}..{3}\n1\n").unwrap(), "1\nline 4\nline 5\nline 7\nline 8\nline 9\nline 10\n");
    assert!(edited("≔{5}..{7}").is_ok());
    let refused = edited("≔{1}..{5}").unwrap_err().to_string();
    assert!(refused.contains("you were never shown 1 line."), "{refused}");
}

#[test]
fn lines_that_were_never_shown_are_named_where_they_stand_in_a_file_that_somebody_else_changed() {
    let (text, file) = partly_shown(&[3, 4, 5, 7, 8]);
    let now = format!("top\n{text}");
    let read = read_sections(&input(&text, "≔{4}..{7}")).unwrap();
    let Err(HashlineError::Stale(report)) = edit_text(&read.sections[0].edits, Some(&file), now.as_bytes())
    else {
        panic!()
    };
    assert!(report.text.contains(&format!("*{}\n", format_line(7, "line 6"))), "{}", report.text);
}

#[test]
fn a_hash_that_is_not_the_lines_is_stale() {
    let read = read_sections("§a\n≔1zz\nx\n").unwrap();
    assert!(matches!(
        edit_text(&read.sections[0].edits, Some(&shown("a\n")), b"a\n"),
        Err(HashlineError::Stale(_))
    ));
}

#[test]
fn a_change_elsewhere_is_followed_with_a_warning() {
    let old = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
    let now = format!("top\n{old}");
    let read = read_sections(&input(old, "≔{5}\nFIVE\n»{6}\nhalf\n")).unwrap();
    let result = edit_text(&read.sections[0].edits, Some(&shown(old)), now.as_bytes()).unwrap();
    assert_eq!(
        String::from_utf8(result.bytes).unwrap(),
        "top\none\ntwo\nthree\nfour\nFIVE\nsix\nhalf\nseven\n"
    );
    assert_eq!(result.warnings.len(), 1);
}

#[test]
fn an_identical_line_that_moved_into_the_place_is_not_taken_for_it() {
    // Line 3 was and is `}` after an insertion, but it is another one.
    let old = "a {\n}\n}\n}\n";
    let now = "a {\n}\n}\n}\n}\n";
    let read = read_sections(&input(old, "≔{3}\nx\n")).unwrap();
    assert!(edit_text(&read.sections[0].edits, Some(&shown(old)), now.as_bytes()).is_err());
}

#[test]
fn old_anchors_are_followed_through_edits_of_our_own() {
    let old = "a\nb\nc\n";
    let mut file = shown(old);
    let read = read_sections(&input(old, "»{1}\nx\ny\n")).unwrap();
    let first = edit_text(&read.sections[0].edits, Some(&file), old.as_bytes()).unwrap();
    let text = String::from_utf8(first.bytes.clone()).unwrap();
    file.advance(&first.splices, &first.bytes, lines(&text));
    let read = read_sections(&input(old, "≔{3}\nC\n")).unwrap();
    let second = edit_text(&read.sections[0].edits, Some(&file), &first.bytes).unwrap();
    assert_eq!(second.bytes, b"a\nx\ny\nb\nC\n");
    // What an edit replaced is gone.
    file.advance(&second.splices, &second.bytes, lines("a\nx\ny\nb\nC\n"));
    assert!(edit_text(&read.sections[0].edits, Some(&file), &second.bytes).is_err());
}

#[test]
fn repeated_neighbours_are_named() {
    let text = "a\nb\nc\n";
    let read = read_sections(&input(text, "≔{2}\na\nB\n")).unwrap();
    let result = edit_text(&read.sections[0].edits, Some(&shown(text)), text.as_bytes()).unwrap();
    assert_eq!(result.bytes, b"a\na\nB\nc\n");
    assert_eq!(
        result.warnings,
        ["line 2: the new text repeats the line above it, which now stands there twice"]
    );
}

#[test]
fn binary_files_are_refused() {
    assert!(matches!(edit_text(&[], None, b"a\0b"), Err(HashlineError::Decode(_))));
}
