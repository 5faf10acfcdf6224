use relaycode_testkit::random::Random;

use super::*;
use crate::diff::{DiffContent, diff_file};
use crate::plan::tree::MemoryTree;
use crate::plan::{self, FindingKind};
use crate::proposal::GitFileMode;
use crate::proposal::limits::PlanLimits;
use crate::response;

fn path(name: &str) -> RelPath {
    RelPath::parse(name).unwrap()
}

fn file(name: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> FilePlan {
    let mode = |bytes: Option<&[u8]>| bytes.map(|_| GitFileMode::Regular);
    let (added, removed) = diff::count_changed_lines(before.unwrap_or_default(), after.unwrap_or_default());
    FilePlan {
        path: path(name),
        renamed_from: None,
        change: match (before, after) {
            (None, _) => FileChangeKind::Added,
            (_, None) => FileChangeKind::Deleted,
            (before, after) if before == after => FileChangeKind::Unchanged,
            _ => FileChangeKind::Modified,
        },
        before: before.map(<[u8]>::to_vec),
        after: after.map(<[u8]>::to_vec),
        mode_before: mode(before),
        mode_after: mode(after),
        added,
        removed,
        dialect: Some("replace"),
        hunks: Vec::new(),
    }
}

fn plan_of(files: Vec<FilePlan>) -> Plan {
    Plan { files, ..Plan::default() }
}

fn hunks(file: &FilePlan) -> usize {
    match diff_file(file).content {
        DiffContent::Text { hunks, .. } => hunks.len(),
        _ => 0,
    }
}

fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn a_file_is_left_out_whole() {
    let mut renamed = file("new", Some(b"a\n"), Some(b"b\n"));
    renamed.renamed_from = Some(path("old"));
    renamed.change = FileChangeKind::Renamed;
    let plan = plan_of(vec![renamed, file("gone", Some(b"x\n"), None), file("made", None, Some(b"y\n"))]);
    for name in ["new", "gone", "made"] {
        let left = exclude_file(&plan, &path(name)).unwrap();
        assert_eq!(left.files.len(), 2);
        assert!(left.files.iter().all(|file| file.path.as_str() != name));
        assert!(left.notes[0].text.contains(name));
        let none = keep_hunks(&plan, &path(name), &[]).unwrap();
        assert_eq!(none.files.len(), 2, "no hunk is no file");
    }
    assert!(matches!(exclude_file(&plan, &path("old")), Err(ReviseError::NoSuchFile { .. })));
}

#[test]
fn the_hunks_that_are_picked_are_carried_out_and_counted() {
    let before = numbered(30);
    let mut after = before.clone();
    after[2] = "two\n".into();
    after[15] = "// ... rest of the code unchanged ...\n".into();
    after.push("the end".into());
    let plan = plan_of(vec![file("a.rs", Some(before.concat().as_bytes()), Some(after.concat().as_bytes()))]);
    assert_eq!(hunks(&plan.files[0]), 3);
    let picked = keep_hunks(&plan, &path("a.rs"), &[2, 0, 0]).unwrap();
    let mut wanted = after.clone();
    wanted[15].clone_from(&before[15]);
    assert_eq!(picked.files[0].after.as_deref(), Some(wanted.concat().as_bytes()));
    assert_eq!((picked.files[0].added, picked.files[0].removed), (2, 1));
    assert_eq!(picked.findings, []);
    assert!(picked.notes[0].text.contains("2 of 3 hunks"), "{:?}", picked.notes);
    let placeholder = keep_hunks(&plan, &path("a.rs"), &[1]).unwrap();
    assert_eq!(placeholder.findings.first().map(|finding| finding.kind), Some(FindingKind::Placeholder));
    let error = keep_hunks(&plan, &path("a.rs"), &[3]).unwrap_err();
    assert_eq!(error.to_string(), "a.rs has 3 hunks, and no hunk 4");
}

#[test]
fn reports_stay_with_the_edits_of_which_something_stays() {
    let mut tree = MemoryTree::default();
    let text = numbered(40).concat();
    tree.insert(path("a.txt"), text.as_str());
    let block = |old: &str, new: &str| format!("<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n");
    let answer = format!(
        "```txt // a.txt search-replace\n{}{}```\n",
        block("line 3", "three"),
        block("line 30 and", "thirty")
    );
    let answer = answer.replace("line 30 and", "line 30");
    let proposal = response::read(&answer, &PlanLimits::default()).unwrap();
    let plan = plan::plan(&proposal, &tree, &plan::NoSeenTexts, &PlanLimits::default()).unwrap();
    assert_eq!(plan.files[0].hunks.len(), 2);
    for (pick, used) in [(0, 4), (1, 31)] {
        let picked = keep_hunks(&plan, &path("a.txt"), &[pick]).unwrap();
        let places: Vec<usize> = picked.files[0].hunks.iter().map(|report| report.used).collect();
        assert_eq!(places, [used]);
    }
    assert_eq!(keep_hunks(&plan, &path("a.txt"), &[0, 1]).unwrap().files[0].hunks.len(), 2);
}

#[test]
fn a_persons_own_text_takes_the_place_of_the_plans() {
    let plan = plan_of(vec![
        file("m", Some(b"1\n"), Some(b"2\n")),
        file("gone", Some(b"x\n"), None),
        file("made", None, Some(b"y\n")),
        file("bin", Some(b"\0\x01\x02"), Some(b"text\n")),
    ]);
    let edited = |name: &str, text: &str| {
        let plan = replace_text(&plan, &path(name), text.into())?;
        Ok::<_, ReviseError>(plan.files.into_iter().find(|file| file.path.as_str() == name).unwrap())
    };
    let mine = edited("m", "3\r\nno newline").unwrap();
    assert_eq!(mine.after.as_deref(), Some(&b"3\r\nno newline"[..]));
    assert_eq!((mine.change, mine.added, mine.removed, mine.dialect), (FileChangeKind::Modified, 2, 1, None));
    assert_eq!(edited("m", "1\n").unwrap().change, FileChangeKind::Unchanged);
    assert_eq!(edited("gone", "x\n").unwrap().change, FileChangeKind::Unchanged);
    assert_eq!(edited("gone", "z\n").unwrap().mode_after, Some(GitFileMode::Regular));
    assert_eq!(edited("made", "").unwrap().change, FileChangeKind::Added);
    assert!(matches!(edited("bin", "x"), Err(ReviseError::Binary { .. })));
    assert!(matches!(edited("m", "\0\u{1}"), Err(ReviseError::Binary { .. })));
    assert!(matches!(edited("other", ""), Err(ReviseError::NoSuchFile { .. })));
    assert!(edited("m", &"a".repeat(FILE_BYTES)).is_ok());
    assert!(matches!(edited("m", &"a".repeat(FILE_BYTES + 1)), Err(ReviseError::TooLong { .. })));
}

#[test]
fn what_has_no_lines_in_common_is_taken_whole_or_not_at_all() {
    let plan = plan_of(vec![file("bin", Some(b"\0\x01\x02"), Some(b"\0\x01\x03"))]);
    assert!(matches!(keep_hunks(&plan, &path("bin"), &[0]), Err(ReviseError::Binary { .. })));
    let before = numbered(30).concat();
    let wide: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain(before.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let after = before.replace("line 3\n", "three\n").replace("line 25\n", "twenty-five\n");
    let plan = plan_of(vec![file("a", Some(&wide), Some(after.as_bytes()))]);
    assert_eq!(hunks(&plan.files[0]), 2);
    assert!(matches!(keep_hunks(&plan, &path("a"), &[0]), Err(ReviseError::Encoding { .. })));
    let all = keep_hunks(&plan, &path("a"), &[0, 1]).unwrap();
    assert_eq!(all.files[0].after.as_deref(), Some(after.as_bytes()));
}

/// A text in some encoding, with some line endings.
fn encode(lines: &[String], how: usize) -> Vec<u8> {
    let text = lines.concat();
    match how {
        0 => text.into_bytes(),
        1 => [&b"\xEF\xBB\xBF"[..], text.as_bytes()].concat(),
        2 => [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect(),
        3 => [0xFE, 0xFF].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect(),
        _ => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect(),
    }
}

fn any_lines(random: &mut Random, base: &[String]) -> Vec<String> {
    let line = |random: &mut Random| {
        let ending = random.pick(&["\n", "\n", "\r\n"]);
        format!("{} caf\u{e9}{ending}", random.below(6))
    };
    let mut lines = Vec::new();
    for old in base {
        if random.once_in(12) {
            lines.push(line(random));
        }
        if !random.once_in(12) {
            lines.push(old.clone());
        }
    }
    if base.is_empty() {
        lines = (0..random.below(60)).map(|_| line(random)).collect();
    }
    if random.once_in(3)
        && let Some(last) = lines.last_mut()
    {
        *last = last.trim_end().to_string();
    }
    lines
}

#[test]
fn all_hunks_are_the_plan_none_is_the_file_and_the_rest_can_follow() {
    let mut picked_some = 0;
    for case in 0..1_000 {
        let mut random = Random::of_case(11, case);
        let how = random.below(5);
        let old = any_lines(&mut random, &[]);
        let new = any_lines(&mut random, &old);
        // A last line without an ending may now stand before others.
        let whole = |lines: Vec<String>| -> Vec<String> {
            let last = lines.len().saturating_sub(1);
            let ends = |(at, line): (usize, String)| {
                if at < last && !line.ends_with('\n') { line + "\n" } else { line }
            };
            lines.into_iter().enumerate().map(ends).collect()
        };
        let (before, after) = (encode(&whole(old), how), encode(&whole(new), how));
        let plan = plan_of(vec![file("a", Some(&before), Some(&after))]);
        let count = hunks(&plan.files[0]);
        if count == 0 {
            continue;
        }
        let all: Vec<usize> = (0..count).collect();
        let taken = keep_hunks(&plan, &path("a"), &all).unwrap();
        assert_eq!(taken.files[0].after.as_deref(), Some(&after[..]), "case {case}");
        assert!(keep_hunks(&plan, &path("a"), &[]).unwrap().files.is_empty());
        let some: Vec<usize> = all.iter().copied().filter(|_| random.once_in(2)).collect();
        if some.is_empty() || some.len() == count {
            continue;
        }
        let rest: Vec<usize> = all.iter().copied().filter(|at| !some.contains(at)).collect();
        let Ok(first) = keep_hunks(&plan, &path("a"), &some) else {
            assert!(how > 1, "case {case}: UTF-8 can always be picked from");
            continue;
        };
        picked_some += 1;
        let middle = first.files[0].after.clone().unwrap();
        assert!(middle != before || before == after, "case {case}");
        // The other hunks on top of that: they are what is left to do.
        let next = plan_of(vec![file("a", Some(&middle), Some(&after))]);
        let on_top: Vec<usize> = (0..hunks(&next.files[0])).collect();
        let both = keep_hunks(&next, &path("a"), &on_top).unwrap();
        let done = both.files.first().and_then(|file| file.after.clone()).unwrap_or(middle);
        assert_eq!(done, after, "case {case}");
        // And the two halves complement each other.
        let second = keep_hunks(&plan, &path("a"), &rest).unwrap();
        let (one, two) = (&first.files[0], &second.files[0]);
        assert_eq!(one.added + two.added, plan.files[0].added, "case {case}");
        assert_eq!(one.removed + two.removed, plan.files[0].removed, "case {case}");
    }
    assert!(picked_some > 150, "{picked_some}");
}
