use super::*;
use crate::plan::{HunkDifference, HunkReport, HunkState};
use crate::proposal::path::RelPath;

fn file(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> FilePlan {
    let change = match (before, after) {
        (None, _) => FileChangeKind::Added,
        (_, None) => FileChangeKind::Deleted,
        _ => FileChangeKind::Modified,
    };
    let (added, removed) =
        crate::diff::count_changed_lines(before.unwrap_or_default(), after.unwrap_or_default());
    FilePlan {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        change,
        before: before.map(<[u8]>::to_vec),
        after: after.map(<[u8]>::to_vec),
        mode_before: None,
        mode_after: None,
        added,
        removed,
        dialect: None,
        hunks: Vec::new(),
    }
}

fn found(file: FilePlan) -> Vec<(FindingKind, Option<usize>)> {
    let findings = check_plan(&[file]);
    findings.iter().map(|finding| (finding.kind, finding.line)).collect()
}

#[test]
fn placeholders_that_were_there_before_do_not_count() {
    let text = "a\n// ... existing code ...\nb\n";
    assert_eq!(found(file("a.ts", Some(text.as_bytes()), Some(format!("x\n  {text}").as_bytes()))), []);
    let twice = format!("{text}{text}");
    assert_eq!(
        found(file("a.ts", Some(text.as_bytes()), Some(twice.as_bytes()))),
        [(FindingKind::Placeholder, Some(5))]
    );
    assert_eq!(found(file("a.ts", Some(twice.as_bytes()), Some(text.as_bytes()))), []);
}

#[test]
fn losing_more_than_half_of_a_large_file_is_found() {
    let kind = FindingKind::MassDeletion;
    for (before, after, expected) in [
        (41, 20, vec![(kind, None)]),
        (41, 21, vec![]),
        (40, 0, vec![]),
        (100, 50, vec![]),
        (100, 49, vec![(kind, None)]),
    ] {
        let text = |count: usize| "line\n".repeat(count).into_bytes();
        let file = file("a.txt", Some(&text(before)), Some(&text(after)));
        assert_eq!(found(file), expected, "{before} to {after}");
    }
}

#[test]
fn lines_that_are_moved_or_rewritten_are_not_lost() {
    let text = |name: &str, count: usize| (0..count).map(|i| format!("{name} {i}\n")).collect::<String>();
    let old = text("line", 100);
    let count = |files: &[(&str, Option<&str>, Option<&str>)]| {
        let files: Vec<FilePlan> = files
            .iter()
            .map(|(path, before, after)| file(path, before.map(str::as_bytes), after.map(str::as_bytes)))
            .collect();
        let found = check_plan(&files);
        found.iter().filter(|finding| finding.kind == FindingKind::MassDeletion).count()
    };
    let indented = old.replace("line", "    line");
    let grown = format!("{}{}", text("line", 40), text("new", 70));
    let other = format!("{}{}", text("line", 30), text("new", 40));
    assert_eq!(count(&[("a", Some(&old), Some("use b;\n")), ("b", None, Some(&indented))]), 0, "moved");
    assert_eq!(
        count(&[("a", Some(&old), Some("use b;\n")), ("b", Some(&old), Some(&indented))]),
        1,
        "a copy"
    );
    assert_eq!(count(&[("a", Some(&old), Some(&grown))]), 0, "rewritten");
    assert_eq!(count(&[("a", Some(&old), Some(&other))]), 1, "shorter, and mostly gone");
    assert_eq!(count(&[("a", Some(&old), Some(&text("new", 100)))]), 1, "another text");
    assert_eq!(count(&[("a", Some(&text("line", 1_000)), None)]), 0, "whoever deletes a file says so");
}

#[test]
fn deleting_many_files_is_found_once() {
    for (count, expected) in [(DELETED_FILES, 0), (DELETED_FILES + 1, 1)] {
        let files: Vec<_> = (0..count).map(|n| file(&format!("f{n}"), Some(b"x"), None)).collect();
        assert_eq!(check_plan(&files).len(), expected);
    }
}

#[test]
fn hidden_characters_count_only_when_they_come_in() {
    let kind = FindingKind::Hidden;
    let old = "\u{FEFF}a\u{200B}\nb\n";
    assert_eq!(found(file("a", Some(old.as_bytes()), Some("\u{FEFF}x\na\u{200B}\n".as_bytes()))), []);
    let new = "\u{FEFF}a\u{200B}\nb\u{202E}\nc\u{200B}\n";
    assert_eq!(
        found(file("a", Some(old.as_bytes()), Some(new.as_bytes()))),
        [(kind, Some(3)), (kind, Some(2))]
    );
    assert_eq!(found(file("a", Some(b"a\n"), Some("\u{FEFF}a\n".as_bytes()))), [(kind, Some(1))]);
    let wide: Vec<u8> = "\u{FEFF}a\u{202E}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(found(file("a", None, Some(&wide))), [(kind, Some(1))]);
}

#[test]
fn near_matches_say_what_differs() {
    let mut file = file("a.ts", Some(b"total\n"), Some(b"sum\n"));
    let difference =
        HunkDifference { line: 87, file: format!("  {}", "é".repeat(100)), answer: "sum".into() };
    file.hunks.push(HunkReport {
        line: 1,
        state: HunkState::Applied,
        rung: "near",
        chosen_by: None,
        claimed: None,
        used: 80,
        doubt: None,
        runner_up: None,
        differences: vec![difference.clone(), difference],
    });
    let findings = check_plan(&[file]);
    let expected =
        format!("line 87 says `{}…`, the answer says `sum` (and 1 more line differs)", "é".repeat(79));
    assert_eq!(findings[0].text, expected);
    assert_eq!(findings[0].line, Some(87));
}

#[test]
fn binary_files_are_not_looked_into() {
    assert_eq!(found(file("a.bin", Some(b"a\0"), Some(b"// ... existing code ...\0"))), []);
}

#[test]
fn a_name_with_a_lookalike_letter_is_found_in_code_and_nowhere_else() {
    let fake = "p\u{430}y";
    for (path, before, after, expected) in [
        ("a.ts", "let a;\n", format!("let a;\n{fake}();\n"), vec![(FindingKind::Hidden, Some(2))]),
        ("a.ts", "let a;\n", format!("let a;\nlog('{fake}'); // {fake}\n"), vec![]),
        ("a.md", "a\n", format!("{fake}\n"), vec![]),
        ("a.py", &format!("{fake} = 1\n")[..], format!("{fake} = 2\n"), vec![]),
        ("a.py", "a = 1\n", "имя = 1\nΔx = 2\n".to_string(), vec![]),
    ] {
        assert_eq!(
            found(file(path, Some(before.as_bytes()), Some(after.as_bytes()))),
            expected,
            "{path} {after}"
        );
    }
    let findings = check_plan(&[file("a.ts", None, Some(format!("{fake}();\n").as_bytes()))]);
    assert_eq!(
        findings[0].text,
        format!("the name `{fake}` looks Latin, but its `\u{430}` is Cyrillic (U+0430), not `a`")
    );
}

#[test]
fn a_start_or_end_that_was_taken_for_content_is_found() {
    let kind = FindingKind::Placeholder;
    for (before, after, expected) in [
        ("a\n", "// a.ts\n// START\nx\n", vec![(kind, Some(2))]),
        ("a\n", "x\n// END\n\n", vec![(kind, Some(2))]),
        ("a\n", "// START\nx\n// END\n", vec![(kind, Some(1)), (kind, Some(3))]),
        ("// START\na\n// END\n", "// START\nx\n// END\n", vec![]),
        ("a\n", "a\nb\nc\n// START\nx\n// END of it\n", vec![]),
    ] {
        assert_eq!(found(file("a.ts", Some(before.as_bytes()), Some(after.as_bytes()))), expected, "{after}");
    }
}
