//! Files and hunks to measure with: code-like text whose lines repeat as in real code (braces, `return`,
//! blank lines), and for every rung of the ladder a hunk that needs exactly that rung.

use relaycode_change::proposal::Hunk;

/// A hunk to look for, and where.
pub(super) struct Sample {
    /// What it shows.
    pub name: &'static str,
    pub file: String,
    pub hunk: Hunk,
    /// The dialect it claims to be written in.
    pub dialect: &'static str,
}

/// About `bytes` of code, made of numbered functions that resemble each other.
pub(super) fn code(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 400);
    let mut number = 0;
    while text.len() < bytes {
        text += &format!(
            "export function handler{number}(input: Input, \"options {number}\": Options) {{\n    const value = input.get(\"key{number}\") ?? fallback;\n    if (value === undefined) {{\n        return null;\n    }}\n\n    for (const item of value.items) {{\n        process(item, {number});\n    }}\n\n    return value.total + {number};\n}}\n\n"
        );
        number += 1;
    }
    text
}

/// The lines of the function in the middle of `file`.
fn middle(file: &str) -> Vec<String> {
    let lines: Vec<&str> = file.lines().collect();
    let from = lines.len() / 2;
    let start = (from..lines.len()).find(|index| lines[*index].starts_with("export function")).unwrap_or(0);
    let end = (start + 12).min(lines.len());
    lines[start..end].iter().map(ToString::to_string).collect()
}

fn replacing(before: Vec<String>) -> Hunk {
    let mut after = before.clone();
    if let Some(line) = after.get_mut(1) {
        *line = "    const value = input.take();".to_owned();
    }
    Hunk { line: 1, before, after, ..Hunk::default() }
}

fn changed(before: &[String], change: impl Fn(usize, &str) -> String) -> Vec<String> {
    before.iter().enumerate().map(|(index, line)| change(index, line)).collect()
}

/// Every kind of hunk on a file of about `bytes`.
pub(super) fn hunks(bytes: usize) -> Vec<Sample> {
    let file = code(bytes);
    let place = middle(&file);
    let mut samples = Vec::new();
    let mut add = |name, file: &str, hunk| {
        samples.push(Sample { name, file: file.to_owned(), hunk, dialect: "multi-search-replace" });
    };
    let spoilt = |change: &dyn Fn(usize, &str) -> String| {
        let mut hunk = replacing(place.clone());
        hunk.before = changed(&hunk.before, change);
        hunk.after = changed(&hunk.after, change);
        hunk
    };
    add("exact", &file, replacing(place.clone()));
    add("CRLF file", &file.replace('\n', "\r\n"), replacing(place.clone()));
    add("trailing blanks", &file, spoilt(&|_, line| format!("{line}  ")));
    add("smart quotes", &file, spoilt(&|_, line| line.replace('"', "\u{201d}")));
    add("indent", &file, spoilt(&|_, line| format!("        {line}")));
    add("tabs", &file.replace("    ", "\t"), replacing(place.clone()));
    let mut no_blank = place.clone();
    no_blank.retain(|line| !line.is_empty());
    add("blank lines missing", &file, replacing(no_blank));
    add("escapes", &file, spoilt(&|_, line| line.replace('"', "\\\"")));
    add("entities", &file, spoilt(&|_, line| line.replace('"', "&quot;")));
    add("line numbers", &file, spoilt(&|index, line| format!("{} | {line}", index + 1)));
    let mut elided = place.clone();
    elided.splice(3..9, ["    // ...".to_owned()]);
    add("elision", &file, replacing(elided));
    let mut letter_missing = replacing(place.clone());
    letter_missing.before[1] = letter_missing.before[1].replacen('v', "", 1);
    add("near", &file, letter_missing);
    add("not found", &file, spoilt(&|index, line| format!("{index}{line} // other")));
    add("ambiguous", &file, replacing(place[2..6].to_vec()));
    let mut already = replacing(place.clone());
    std::mem::swap(&mut already.before, &mut already.after);
    add("already in", &file, already);
    add("500 lines, not found", &file, long_not_found(&file));
    add("500 lines, near", &file, long_near(&file));
    worst_cases(bytes, &mut add);
    let line = file.lines().count() / 2;
    samples.push(unified(&file, &place, line));
    samples
}

fn long_not_found(file: &str) -> Hunk {
    let lines = file.lines().rev().take(500);
    replacing(lines.map(|line| format!("{line} //")).collect())
}

fn long_near(file: &str) -> Hunk {
    let mut lines: Vec<String> = file.lines().skip(26).take(500).map(str::to_owned).collect();
    if let Some(line) = lines.get_mut(250) {
        line.push('x');
    }
    replacing(lines)
}

/// Files in which everything looks alike, so that every line is a candidate.
fn worst_cases(bytes: usize, add: &mut impl FnMut(&'static str, &str, Hunk)) {
    let same = "    return value;\n".repeat(bytes / 18);
    add("identical lines, not found", &same, replacing(vec!["    return value".to_owned(); 20]));
    add("identical lines, ambiguous", &same, replacing(vec!["    return value;".to_owned(); 20]));
    let mut ends = vec!["    return value;".to_owned(); 200];
    ends.push("    return values;".to_owned());
    add("identical lines, last differs", &same, replacing(ends));
    let braces = "    }\n}\n\n".repeat(bytes / 9);
    let brace_hunk: Vec<String> =
        ["    }", "}", ""].iter().cycle().take(60).map(ToString::to_string).collect();
    let mut brace_near = brace_hunk.clone();
    brace_near.push("    };".to_owned());
    add("braces only, ambiguous", &braces, replacing(brace_hunk));
    add("braces only, not found", &braces, replacing(brace_near));
    let one_line = "x".repeat(bytes);
    add("one long line, near", &one_line, replacing(vec!["x".repeat(bytes - 1)]));
    let blank = "\n".repeat(bytes);
    add("blank lines only", &blank, replacing(vec![String::new(), "x".to_owned(), String::new()]));
}

fn unified(file: &str, place: &[String], line: usize) -> Sample {
    let mut hunk = replacing(place.to_vec());
    hunk.kept = Some((0..place.len()).filter(|index| *index != 1).map(|i| (i, i)).collect());
    hunk.claimed = Some(line + 40);
    Sample { name: "unified diff", file: file.to_owned(), hunk, dialect: "unified" }
}
