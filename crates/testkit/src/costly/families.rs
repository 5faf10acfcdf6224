//! The families, one function each; what makes it costly is in its name.

use super::CostlyShape;
use crate::fuzz::FuzzCase;

type CostlyFamily = fn(&CostlyShape) -> FuzzCase;

/// With their names.
pub const FAMILIES: &[(&str, CostlyFamily)] = &[
    ("ambiguous after a creation", created_and_ambiguous),
    ("ambiguous diff", ambiguous_diff),
    ("ambiguous search", ambiguous_search),
    ("the same search again and again", repeated_search),
    ("ambiguous scope", ambiguous_scope),
    ("places settled one by one", settled_backwards),
    ("not found, similar words", similar_words),
    ("one letter differs", one_letter),
    ("one line of several differs", one_line_differs),
    ("blank lines differ", blank_lines),
    ("indentation differs", other_indentation),
    ("tabs for blanks", tabs_for_blanks),
    ("typographic quotes", typography),
    ("escapes", escapes),
    ("elisions", elisions),
    ("wrong outer context", wrong_outer_context),
    ("result elsewhere", result_elsewhere),
    ("result twice around", result_around),
    ("one on top of the other", chained),
    ("overlapping", overlapping),
    ("lines in another order", reordered),
    ("the whole file in another order", whole_reordered),
    ("one huge line", huge_line),
    ("many huge lines shown as nearest", huge_nearest),
    ("many tiny blocks", tiny_blocks),
    ("nested fences", nested_fences),
    ("open markers", open_markers),
    ("many files", many_files),
    ("hostile source", hostile_source),
    ("comments of many words", comments),
];

fn case(response: String, text: String) -> FuzzCase {
    FuzzCase { response, files: vec![("a.txt".to_owned(), text.into_bytes())] }
}

/// A block of search/replace pairs for `a.txt`.
fn searches(pairs: impl Iterator<Item = (String, String)>) -> String {
    let mut text = "```txt // a.txt search-replace\n".to_owned();
    for (old, new) in pairs {
        text += &format!("<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n");
    }
    text + "```\n"
}

/// A unified diff of `a.txt`; each hunk is its claimed line and its lines with their signs.
fn diff(hunks: impl Iterator<Item = (usize, String)>) -> String {
    let mut text = "```diff\n--- a/a.txt\n+++ b/a.txt\n".to_owned();
    for (line, body) in hunks {
        let count = |sign| body.lines().filter(|line| !line.starts_with(sign)).count();
        text += &format!("@@ -{line},{} +{line},{} @@\n{body}", count('+'), count('-'));
    }
    text + "```\n"
}

fn signed(sign: &str, text: &str) -> String {
    text.lines().map(|line| format!("{sign}{line}\n")).collect()
}

/// Where hunk number `hunk` stands in the file.
fn place(shape: &CostlyShape, hunk: usize) -> usize {
    hunk * (shape.lines / shape.hunks).max(1) % shape.lines
}

/// One edit per hunk: the lines at its place, changed by `old` and `new`.
fn edits(
    shape: &CostlyShape,
    old: impl Fn(&str, usize) -> String,
    new: impl Fn(&str, usize) -> String,
) -> FuzzCase {
    let pair = |hunk: usize| {
        let text = shape.text(place(shape, hunk), shape.depth);
        (old(&text, hunk), new(&text, hunk))
    };
    case(searches((0..shape.hunks).map(pair)), shape.file())
}

fn created_and_ambiguous(shape: &CostlyShape) -> FuzzCase {
    let made = format!(
        "```txt // a.txt\n{}```\n\n```yaml\nprojectId: p\nuuid: 0f8fad5b-d9cb-469f-a165-70867728950e\n```\n\n",
        shape.file()
    );
    let edits = ambiguous_search(shape).response;
    FuzzCase {
        response: made
            + &edits
            + "\n```yaml\nprojectId: p\nuuid: 7c9e6679-7425-40de-944b-e07fc1f90ae7\n```\n",
        files: Vec::new(),
    }
}

fn ambiguous_diff(shape: &CostlyShape) -> FuzzCase {
    let hunk = |hunk: usize| {
        let at = place(shape, hunk);
        let context = signed(" ", &shape.text(at, shape.depth));
        (at + 3, format!("{context}-{}\n+changed {hunk}\n{context}", shape.line(at + shape.depth)))
    };
    case(diff((0..shape.hunks).map(hunk)), shape.file())
}

fn ambiguous_search(shape: &CostlyShape) -> FuzzCase {
    edits(shape, |text, _| text.to_owned(), |_, hunk| format!("changed {hunk}\n"))
}

fn repeated_search(shape: &CostlyShape) -> FuzzCase {
    let old = shape.text(0, shape.depth);
    edits(shape, |_, _| old.clone(), |text, hunk| format!("{text}changed {hunk}\n"))
}

fn ambiguous_scope(shape: &CostlyShape) -> FuzzCase {
    let mut text = "```\n*** Begin Patch\n*** Update File: a.txt\n".to_owned();
    for hunk in 0..shape.hunks {
        let at = place(shape, hunk);
        text += &format!(
            "@@ {}\n@@ {}\n-{}\n+changed {hunk}\n",
            shape.line(at),
            shape.line(at + 1),
            shape.line(at + 2)
        );
    }
    case(text + "*** End Patch\n```\n", shape.file())
}

/// Only the last hunk has a certain place, and each settles the one above it.
fn settled_backwards(shape: &CostlyShape) -> FuzzCase {
    let hunk = |hunk: usize| {
        let last = hunk + 1 == shape.hunks;
        let line = if last { "the end".to_owned() } else { shape.line(hunk) };
        (place(shape, hunk) + 40, format!("-{line}\n+changed {hunk}\n"))
    };
    case(diff((0..shape.hunks).map(hunk)), shape.file() + "the end\n")
}

fn similar_words(shape: &CostlyShape) -> FuzzCase {
    edits(
        shape,
        |text, hunk| text.replace("word", "word other").replace('\n', &format!(" x{hunk}\n")),
        |_, hunk| format!("new {hunk}\n"),
    )
}

fn one_letter(shape: &CostlyShape) -> FuzzCase {
    let name = |at: usize| format!("configuration{}", (b'a' + u8::try_from(at % 26).unwrap_or(0)) as char);
    let file: String =
        (0..shape.lines.min(40_000)).map(|at| format!("{} = {}\n", name(at), at % shape.variety)).collect();
    let pair = |hunk: usize| {
        (
            format!(
                "configurption{} = {}\n",
                char::from(b'a' + u8::try_from(hunk % 26).unwrap_or(0)),
                hunk % shape.variety
            ),
            format!("x{hunk}\n"),
        )
    };
    case(searches((0..shape.hunks).map(pair)), file)
}

fn one_line_differs(shape: &CostlyShape) -> FuzzCase {
    edits(
        shape,
        |text, hunk| format!("{text}configuration{hunk}\n"),
        |text, hunk| format!("{text}configuration{hunk}x\n"),
    )
}

fn blank_lines(shape: &CostlyShape) -> FuzzCase {
    edits(shape, |text, _| text.replace('\n', "\n\n"), |text, hunk| format!("{text}\n\nchanged {hunk}\n"))
}

fn other_indentation(shape: &CostlyShape) -> FuzzCase {
    edits(
        shape,
        |text, hunk| signed(&" ".repeat(hunk % 40 + 1), text),
        |text, hunk| signed("      ", text) + &format!("changed {hunk}\n"),
    )
}

fn tabs_for_blanks(shape: &CostlyShape) -> FuzzCase {
    let mut made = other_indentation(shape);
    made.files[0].1 = signed("\t\t", &shape.file()).into_bytes();
    made.files[0].1.truncate(super::FILE_BYTES);
    made
}

fn typography(shape: &CostlyShape) -> FuzzCase {
    let quoted = |text: &str| text.replace(' ', "\u{a0}").replace('w', "\u{201C}w").replace('0', "\u{2013}");
    let mut made =
        edits(shape, |text, _| quoted(text), |text, hunk| quoted(text) + &format!("\u{201D}{hunk}\n"));
    made.files[0].1 = shape.file().replace('w', "\"w").into_bytes();
    made.files[0].1.truncate(super::FILE_BYTES);
    made
}

fn escapes(shape: &CostlyShape) -> FuzzCase {
    edits(shape, |text, _| text.replace('w', "\\\"&lt;&amp;w"), |text, hunk| format!("{text}\\\"{hunk}\n"))
}

fn elisions(shape: &CostlyShape) -> FuzzCase {
    let gaps = |text: &str| text.replace('\n', "\n...\n") + "the end\n";
    edits(shape, |text, _| gaps(text), |text, hunk| gaps(text).replace("the end", &format!("the end {hunk}")))
}

fn wrong_outer_context(shape: &CostlyShape) -> FuzzCase {
    let hunk = |hunk: usize| {
        let at = place(shape, hunk);
        let wrong = format!(" wrong {hunk}\n wrong {hunk}\n");
        (at + 1, format!("{wrong}{}+changed\n{wrong}", signed(" ", &shape.text(at, shape.depth))))
    };
    case(diff((0..shape.hunks).map(hunk)), shape.file())
}

fn result_elsewhere(shape: &CostlyShape) -> FuzzCase {
    edits(shape, |_, hunk| format!("gone {hunk}\n"), |text, _| text.to_owned())
}

fn result_around(shape: &CostlyShape) -> FuzzCase {
    edits(shape, |text, _| format!("{text}no\n"), |text, _| format!("{text}{text}{text}"))
}

fn chained(shape: &CostlyShape) -> FuzzCase {
    let pair = |hunk: usize| {
        let old = if hunk == 0 { shape.line(0) } else { format!("changed {hunk}") };
        (format!("{old}\n"), format!("changed {}\n", hunk + 1))
    };
    let file = shape.text(0, shape.lines.min(20_000_000 / shape.hunks));
    case(searches((0..shape.hunks).map(pair)), format!("first\n{file}").replacen("first", &shape.line(0), 1))
}

fn overlapping(shape: &CostlyShape) -> FuzzCase {
    let lines = shape.lines.min(20_000_000 / shape.hunks);
    let file: String = (0..lines).map(|at| format!("{at}\n")).collect();
    let two = |at: usize| format!("{at}\n{}\n", at + 1);
    let pair = |hunk: usize| (two(hunk % lines.max(3)), two(hunk % lines.max(3)) + "x\n");
    case(searches((0..shape.hunks).map(pair)), file)
}

/// In an order that has no long common part.
fn shuffled(shape: &CostlyShape, from: usize, count: usize) -> String {
    (0..count).map(|at| shape.line(from + at * 7_919 % count.max(1)) + "\n").collect()
}

fn reordered(shape: &CostlyShape) -> FuzzCase {
    let pair = |hunk: usize| {
        let at = place(shape, hunk);
        (shape.text(at, shape.depth), shuffled(shape, at, shape.depth))
    };
    case(searches((0..shape.hunks).map(pair)), shape.file())
}

fn whole_reordered(shape: &CostlyShape) -> FuzzCase {
    let files = shape.hunks.min(190);
    let lines = shape.lines.min(super::TEXT_BYTES / files / (shape.width + 1)).max(1);
    let mut made = FuzzCase { response: String::new(), files: Vec::new() };
    for file in 0..files {
        made.response += &format!("```txt // {file}.txt\n{}```\n", shuffled(shape, 0, lines));
        made.files.push((format!("{file}.txt"), shape.text(0, lines).into_bytes()));
    }
    made
}

fn huge_line(shape: &CostlyShape) -> FuzzCase {
    let quotes = "\u{201C}word\u{201D} ".repeat(90_000 / shape.hunks.min(20));
    let plain = "word ".repeat(190_000);
    let pair = |hunk: usize| (format!("{quotes}{hunk}\n"), format!("{quotes}\n"));
    case(
        searches((0..shape.hunks.min(20)).map(pair)),
        format!("{plain}\n{plain}\n").chars().take(super::FILE_BYTES).collect(),
    )
}

fn huge_nearest(shape: &CostlyShape) -> FuzzCase {
    let file = format!("start of it {}\n", "word ".repeat(190_000));
    let pair = |hunk: usize| (format!("start of it {hunk}\n"), format!("{hunk}\n"));
    case(searches((0..shape.hunks).map(pair)), file)
}

fn tiny_blocks(shape: &CostlyShape) -> FuzzCase {
    let block = |at: usize| format!("```txt // {}.txt\n{at}\n```\n", at % shape.variety);
    case((0..shape.lines.min(99_000)).map(block).collect(), shape.file())
}

fn nested_fences(shape: &CostlyShape) -> FuzzCase {
    let open =
        |at: usize| format!("{} // a{}.md\n<file path=\"b\">\n", "`".repeat(3 + at % 40), at % shape.variety);
    case((0..shape.lines.min(60_000)).map(open).collect(), String::new())
}

fn open_markers(shape: &CostlyShape) -> FuzzCase {
    let text: String = (0..shape.lines.min(200_000))
        .map(|at| {
            ["<<<<<<< SEARCH\n", "=======\n", "*** Update File: b\n", "@@\n"][at * 7 % shape.variety % 4]
        })
        .collect();
    case(format!("```txt // a.txt search-replace\n{text}```\n"), shape.file())
}

fn many_files(shape: &CostlyShape) -> FuzzCase {
    let mut made = FuzzCase { response: String::new(), files: Vec::new() };
    let files = shape.hunks.min(190);
    // A plan holds every file before and after.
    let text = shape.text(0, shape.lines.min(20_000_000 / files / (shape.width + 1))) + "the end\n";
    for file in 0..files {
        made.response += &format!(
            "```txt // {file}.txt search-replace\n<<<<<<< SEARCH\nthe end\n=======\nchanged\n>>>>>>> REPLACE\n```\n"
        );
        made.files.push((format!("{file}.txt"), text.clone().into_bytes()));
    }
    made
}

fn hostile_source(shape: &CostlyShape) -> FuzzCase {
    let files = shape.hunks.min(16);
    let pieces = ["(", "[{", "<a b=\"", "if x { (", "\"${", "fn f<T:(", "match x { (|", "a<b<c<"];
    let endings = ["ts", "rs", "cpp", "py", "js", "go", "java", "tsx"];
    let mut made = FuzzCase { response: String::new(), files: Vec::new() };
    for file in 0..files {
        let text = pieces[(file + shape.variety) % pieces.len()].repeat(230_000 / 8);
        made.response += &format!("```txt // f{file}.{}\n{text}\n```\n", endings[file % endings.len()]);
    }
    made
}

fn comments(shape: &CostlyShape) -> FuzzCase {
    let words = |from: usize| (from..from + 380).map(|at| format!(" w{}", at % 1_000)).collect::<String>();
    let file: String = (0..shape.lines.min(400)).map(|at| format!("//{}\n", words(at))).collect();
    let pair = |hunk: usize| {
        (
            (0..shape.depth.min(4)).map(|at| format!("//{} x\n", words(hunk + at))).collect(),
            format!("//{}\n", words(hunk + 400)),
        )
    };
    case(searches((0..shape.hunks.min(1_000)).map(pair)), file)
}
