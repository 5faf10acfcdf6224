//! Plans of whole proposals: operations that belong together, that contradict each other or the tree,
//! encodings, modes and limits.

use super::*;
use crate::plan::tree::MemoryTree;
use crate::proposal::{GitFileMode, Hunk};

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn tree(files: &[(&str, &[u8])]) -> MemoryTree {
    let mut tree = MemoryTree::default();
    for (name, bytes) in files {
        tree.insert(path(name), *bytes);
    }
    tree
}

fn write(name: &str, body: EditBody) -> FileAction {
    FileAction::Write { path: path(name), edit: FileEdit { dialect: "test", body, seen: None }, mode: None }
}

fn whole(name: &str, text: &str) -> FileAction {
    write(name, EditBody::Whole { text: text.into(), must_be_new: false })
}

fn swap(name: &str, before: &str, after: &str) -> FileAction {
    let lines = |text: &str| text.lines().map(ToString::to_string).collect();
    write(name, EditBody::Hunks(vec![Hunk { before: lines(before), after: lines(after), ..Hunk::default() }]))
}

fn delete(name: &str) -> FileAction {
    FileAction::Delete { path: path(name), old: None }
}

fn rename(from: &str, to: &str) -> FileAction {
    FileAction::Rename { from: path(from), to: path(to) }
}

fn planned(tree: &MemoryTree, actions: Vec<FileAction>) -> Result<Plan, Box<PlanRefusal>> {
    let operations =
        actions.into_iter().enumerate().map(|(at, action)| Operation { line: at + 1, action }).collect();
    let proposal = Proposal { operations, ..Proposal::default() };
    plan(&proposal, tree, &NoSeenTexts, &PlanLimits::default())
}

/// One line per file: letter, path, new content.
fn shown(plan: &Plan) -> Vec<String> {
    let content = |file: &FilePlan| {
        file.after.as_deref().map_or("-".to_string(), |bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    plan.files
        .iter()
        .map(|file| format!("{} {} {:?}", file.change.letter(), file.path, content(file)))
        .collect()
}

fn reasons(refused: &PlanRefusal) -> Vec<String> {
    let text = |refusal: &RefusalEntry| serde_json::to_value(&refusal.reason).unwrap();
    refused
        .refusals
        .iter()
        .map(|refusal| format!("{}: {}", refusal.line, text(refusal)["text"].as_str().unwrap_or_default()))
        .collect()
}

#[test]
fn every_operation_has_its_row() {
    let tree = tree(&[("a", b"1\n2\n"), ("b", b"b\n"), ("c", b"c\n"), ("d", b"d\n")]);
    let plan = planned(
        &tree,
        vec![swap("a", "2", "two"), delete("b"), rename("c", "x/c"), whole("n", "new\n"), whole("d", "d\n")],
    )
    .unwrap();
    assert_eq!(
        shown(&plan),
        ["M a \"1\\ntwo\\n\"", "D b \"-\"", "R x/c \"c\\n\"", "A n \"new\\n\"", "= d \"d\\n\""]
    );
    assert_eq!((plan.files[0].added, plan.files[0].removed), (1, 1));
    assert_eq!(plan.files[2].before.as_deref(), Some(&b"c\n"[..]));
}

#[test]
fn a_renamed_file_can_be_edited_under_its_new_name() {
    let tree = tree(&[("a", b"1\n2\n")]);
    let plan = planned(&tree, vec![rename("a", "b"), swap("b", "2", "two")]).unwrap();
    assert_eq!(shown(&plan), ["R b \"1\\ntwo\\n\""]);
    assert_eq!(plan.files[0].renamed_from.as_ref().map(RelPath::as_str), Some("a"));
}

#[test]
fn hunks_for_one_file_from_several_operations_belong_together() {
    let tree = tree(&[("a", b"1\n2\n3\n")]);
    let plan =
        planned(&tree, vec![swap("a", "1", "one"), whole("b", "b\n"), swap("a", "3", "three")]).unwrap();
    assert_eq!(shown(&plan), ["M a \"one\\n2\\nthree\\n\"", "A b \"b\\n\""]);
    assert_eq!(plan.files[0].hunks.len(), 2);
}

#[test]
fn contradictions_are_refused_by_name() {
    let tree = tree(&[("a", b"1\n"), ("b", b"2\n"), ("dir/x", b"3\n"), ("Case", b"4\n")]);
    for (actions, about) in [
        (vec![whole("a", "x\n"), whole("a", "y\n")], "already written"),
        (vec![swap("a", "1", "x"), whole("a", "y\n")], "already written"),
        (vec![whole("a", "x\n"), delete("a")], "already written"),
        (vec![delete("a"), swap("a", "1", "y")], "already deleted"),
        (vec![delete("a"), delete("a")], "already deleted"),
        (vec![delete("a"), rename("a", "c")], "already deleted"),
        (vec![rename("a", "c"), rename("a", "d")], "already renamed"),
        (vec![rename("a", "c"), rename("c", "d")], "already made by a rename"),
        (vec![rename("a", "c"), rename("b", "c")], "already made by a rename"),
        (vec![whole("c", "x\n"), rename("a", "c")], "already written"),
        (vec![rename("a", "c"), whole("a", "x\n")], "already renamed"),
        (vec![rename("a", "a")], "the name it has"),
        (vec![rename("none", "c")], "does not exist"),
        (vec![delete("none")], "does not exist"),
        (vec![swap("none", "1", "2")], "does not exist"),
        (vec![whole("dir", "x\n")], "this is a directory, not a file"),
        (vec![whole("a/b", "x\n")], "a file stands at a"),
        (vec![whole("new/x", "x\n"), whole("new", "y\n"), whole("new/x/y", "z\n")], "a file stands at new"),
        (vec![whole("case", "x\n")], "Case differs only in case"),
        (vec![whole("one", "x\n"), whole("ONE", "y\n")], "one differs only in case"),
    ] {
        let refused = planned(&tree, actions).unwrap_err();
        let reasons = reasons(&refused).join("\n");
        assert!(reasons.contains(about), "{about:?} not in {reasons:?}");
    }
    // Another case of a name that goes away is fine.
    assert!(planned(&tree, vec![rename("Case", "case")]).is_ok());
}

/// The findings of one kind, by path.
fn found(plan: &Plan, kind: FindingKind) -> Vec<&str> {
    plan.findings.iter().filter(|found| found.kind == kind).map(|found| found.path.as_str()).collect()
}

#[test]
fn operations_on_one_file_are_carried_out_in_order() {
    let diff = |name: &str, before: &str, after: &str| {
        let FileAction::Write { path, edit, mode } = swap(name, before, after) else { unreachable!() };
        FileAction::Write { path, edit: FileEdit { dialect: "other", ..edit }, mode }
    };
    let tree = tree(&[("a", b"1\n2\n3\n"), ("b", b"b\n")]);
    for (actions, rows) in [
        (vec![whole("n", "1\n2\n"), swap("n", "2", "two")], vec!["A n \"1\\ntwo\\n\""]),
        (vec![whole("a", "x\ny\n"), swap("a", "y", "z")], vec!["M a \"x\\nz\\n\""]),
        (vec![whole("a", "x\n"), whole("a", "x\n")], vec!["M a \"x\\n\""]),
        (vec![swap("a", "2", "two"), whole("a", "1\ntwo\n3\n")], vec!["M a \"1\\ntwo\\n3\\n\""]),
        (vec![swap("a", "1", "one"), diff("a", "3", "three")], vec!["M a \"one\\n2\\nthree\\n\""]),
        (vec![delete("a"), whole("a", "x\n")], vec!["M a \"x\\n\""]),
        (vec![swap("a", "2", "two"), rename("a", "c")], vec!["R c \"1\\ntwo\\n3\\n\""]),
        (vec![swap("a", "2", "two"), rename("a", "c"), swap("c", "3", "x")], vec!["R c \"1\\ntwo\\nx\\n\""]),
        (vec![whole("n", "n\n"), rename("n", "m")], vec!["A m \"n\\n\""]),
        (vec![delete("b"), rename("a", "b")], vec!["M b \"1\\n2\\n3\\n\"", "D a \"-\""]),
    ] {
        let plan = planned(&tree, actions).unwrap();
        assert_eq!(shown(&plan), rows);
        assert_eq!(found(&plan, FindingKind::Overwrite), [""; 0], "{rows:?}");
    }
    let plan = planned(
        &tree,
        vec![
            swap("a", "1", "x\ny\nz\n1"),
            rename("a", "c"),
            swap("c", "3", "three"),
            swap("c", "none", "more"),
        ],
    );
    let refused = plan.unwrap_err();
    let RefusalReason::NotFound { hunk, of, .. } = &refused.refusals[0].reason else { panic!("{refused:?}") };
    assert_eq!((*hunk, *of), (3, 3));
    assert_eq!(refused.fitting.iter().map(|fitting| fitting.hunk).collect::<Vec<_>>(), [2, 1]);
    let plan = planned(&tree, vec![swap("a", "1", "x\ny\nz\n1"), rename("a", "c"), swap("c", "3", "three")])
        .unwrap();
    let used: Vec<usize> = plan.files[0].hunks.iter().map(|hunk| hunk.used).collect();
    assert_eq!(used, [1, 3], "lines of the file as it is in the tree");
}

#[test]
fn a_file_that_would_be_replaced_unseen_is_asked_about() {
    let tree = tree(&[("a", b"1\n"), ("b", b"2\n"), ("c", b"1\n")]);
    let add = |name: &str, text: &str| write(name, EditBody::Whole { text: text.into(), must_be_new: true });
    let plan = planned(&tree, vec![add("a", "x\n")]).unwrap();
    assert_eq!(shown(&plan), ["M a \"x\\n\""]);
    assert_eq!(found(&plan, FindingKind::Overwrite), ["a"]);
    assert_eq!(found(&planned(&tree, vec![add("a", "1\n")]).unwrap(), FindingKind::Overwrite), [""; 0]);
    assert_eq!(
        found(&planned(&tree, vec![delete("a"), add("a", "x\n")]).unwrap(), FindingKind::Overwrite),
        [""; 0]
    );

    let plan = planned(&tree, vec![swap("a", "1", "one"), rename("a", "b")]).unwrap();
    assert_eq!(shown(&plan), ["D a \"-\"", "M b \"one\\n\""]);
    assert_eq!(plan.files[0].before.as_deref(), Some(&b"1\n"[..]));
    assert_eq!(plan.files[1].before.as_deref(), Some(&b"2\n"[..]));
    assert_eq!((plan.files[0].hunks.len(), plan.files[1].hunks.len()), (0, 1));
    assert_eq!(found(&plan, FindingKind::Overwrite), ["b"]);
    let same = planned(&tree, vec![rename("a", "c")]).unwrap();
    assert_eq!(
        (shown(&same).join(" "), found(&same, FindingKind::Overwrite).len()),
        ("D a \"-\" = c \"1\\n\"".to_owned(), 0)
    );
}

#[test]
fn a_word_behind_a_file_is_no_part_of_a_new_name() {
    let tree = tree(&[("src/a.ts", b"a\n"), ("src/b.ts word", b"b\n")]);
    let refused = planned(&tree, vec![whole("src/a.ts old", "b\n")]).unwrap_err();
    assert!(reasons(&refused)[0].contains("only `src/a.ts`"), "{refused:?}");
    assert_eq!(
        shown(&planned(&tree, vec![whole("src/b.ts word", "c\n"), whole("src/my file.ts", "d\n")]).unwrap()),
        ["M src/b.ts word \"c\\n\"", "A src/my file.ts \"d\\n\""]
    );
}

#[test]
fn every_reason_is_listed_with_the_hunks_that_fit() {
    let tree = tree(&[("a", b"1\n2\n"), ("b", b"x\nx\n")]);
    let refused =
        planned(&tree, vec![swap("a", "1", "one"), swap("a", "none", "y"), swap("b", "x", "y"), delete("c")])
            .unwrap_err();
    let kinds: Vec<String> = refused
        .refusals
        .iter()
        .map(|refusal| serde_json::to_value(&refusal.reason).unwrap()["kind"].to_string())
        .collect();
    assert_eq!(kinds, ["\"notFound\"", "\"ambiguous\"", "\"conflict\""]);
    assert_eq!(refused.fitting.len(), 1);
    assert_eq!((refused.fitting[0].path.as_str(), refused.fitting[0].hunk), ("a", 1));
}

#[test]
fn an_empty_search_creates_a_file_that_is_not_there() {
    let plan = planned(&tree(&[]), vec![swap("new", "", "one\ntwo")]).unwrap();
    assert_eq!(shown(&plan), ["A new \"one\\ntwo\\n\""]);
}

#[test]
fn a_damaged_block_stands_against_the_whole_answer() {
    let unread = crate::proposal::UnreadBlock { line: 7, reason: "cut off".into(), broken: true };
    let operations = vec![Operation { line: 1, action: whole("a", "x\n") }];
    let proposal = Proposal { operations, unread: vec![unread], ..Proposal::default() };
    let refused = plan(&proposal, &tree(&[]), &NoSeenTexts, &PlanLimits::default()).unwrap_err();
    assert_eq!(reasons(&refused), ["7: cut off"]);
}

#[test]
fn an_answer_without_a_change_is_refused() {
    let refused = planned(&tree(&[]), vec![]).unwrap_err();
    assert_eq!(reasons(&refused), ["0: no code block names a file"]);
}

#[test]
fn modes_follow_the_answer_and_stay_otherwise() {
    let mut tree = MemoryTree::default();
    tree.insert_with_mode(path("run"), "a\n", GitFileMode::Executable);
    let plan = planned(&tree, vec![swap("run", "a", "b")]).unwrap();
    assert_eq!(plan.files[0].mode_after, Some(GitFileMode::Executable));
    let action = FileAction::Write {
        path: path("run"),
        edit: FileEdit { dialect: "test", body: EditBody::Hunks(vec![]), seen: None },
        mode: Some(GitFileMode::Regular),
    };
    let plan = planned(&tree, vec![action]).unwrap();
    assert_eq!(
        (plan.files[0].change, plan.files[0].mode_after),
        (FileChangeKind::Modified, Some(GitFileMode::Regular))
    );
}

#[test]
fn encodings_are_kept_or_the_edit_is_refused() {
    let sjis = encoding_rs::SHIFT_JIS.encode("// \u{8AAD}\u{307F}\u{8FBC}\u{3080}\nload()\n").0.into_owned();
    let utf16: Vec<u8> = "\u{feff}one\r\ntwo\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let tree =
        tree(&[("s", &sjis), ("u", &utf16), ("bom", b"\xef\xbb\xbfone\ntwo\n"), ("bin", b"a\0b\n\xff")]);
    let plan =
        planned(&tree, vec![swap("s", "load()", "store()"), swap("u", "two", "2"), swap("bom", "one", "1")])
            .unwrap();
    assert!(plan.files[0].after.as_ref().unwrap().starts_with(&sjis[..sjis.len() - 7]));
    let wanted: Vec<u8> = "\u{feff}one\r\n2\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(plan.files[1].after.as_ref(), Some(&wanted));
    assert_eq!(plan.files[2].after.as_deref(), Some(&b"\xef\xbb\xbf1\ntwo\n"[..]));
    assert!(planned(&tree, vec![swap("bin", "a", "b")]).is_err());
    assert!(planned(&tree, vec![whole("bin", "text\n")]).is_ok());
    assert!(planned(&tree, vec![rename("bin", "bin2"), delete("bom")]).is_ok());
    // New text that is not ASCII needs an encoding that is proven by the old text.
    assert!(planned(&tree, vec![swap("s", "load()", "\u{8AAD}()")]).is_err());
    assert!(planned(&tree, vec![swap("s", "// \u{8AAD}\u{307F}\u{8FBC}\u{3080}", "// \u{8AAD}")]).is_ok());
}

#[test]
fn limits_are_named() {
    let many: Vec<FileAction> = (0..201).map(|i| whole(&format!("f{i}"), "x\n")).collect();
    assert!(reasons(&planned(&tree(&[]), many).unwrap_err())[0].contains("`files` is 200"));
    let large = "x".repeat(1024 * 1024 + 1);
    assert!(
        reasons(&planned(&tree(&[]), vec![whole("a", &large)]).unwrap_err())[0].contains("`file` is 1048576")
    );
    let hunks = vec![Hunk { before: vec!["a".into()], ..Hunk::default() }; 2001];
    assert!(
        reasons(&planned(&tree(&[("a", b"a\n")]), vec![write("a", EditBody::Hunks(hunks))]).unwrap_err())[0]
            .contains("`hunks` is 2000")
    );
}

#[test]
fn lines_that_end_in_a_return_keep_it() {
    for (old, edited, replaced) in [
        (&b"one\rtwo\rthree\r"[..], &b"one\r2\rmore\rthree\r"[..], &b"one\rtwo\r3\r"[..]),
        (b"one\rtwo\rthree\nfour\n", b"one\r2\rmore\rthree\nfour\n", b"one\rtwo\r3\n"),
        (b"one\rtwo\r\nthree\nfour\r", b"one\r2\r\nmore\r\nthree\nfour\r", b"one\rtwo\r\n3\n"),
    ] {
        let tree = tree(&[("a", old)]);
        let plan = planned(&tree, vec![swap("a", "two", "2\nmore")]).unwrap();
        assert_eq!(plan.files[0].after.as_deref(), Some(edited), "{:?}", String::from_utf8_lossy(old));
        assert_eq!((plan.files[0].added, plan.files[0].removed), (2, 1));
        let plan = planned(&tree, vec![whole("a", "one\ntwo\n3\n")]).unwrap();
        assert_eq!(plan.files[0].after.as_deref(), Some(replaced), "{:?}", String::from_utf8_lossy(old));
    }
    // A few are characters of their lines, and so are doubled ones.
    for old in [&b"a = 1\nb = 'x\ry'\nc\nd\ne\nf\n"[..], b"a\r\r\nb\r\r\nc = \r\r\n"] {
        let plan = planned(&tree(&[("a", old)]), vec![swap("a", "c", "d")]);
        assert!(plan.is_err() || plan.unwrap().files[0].removed == 1, "{:?}", String::from_utf8_lossy(old));
    }
}

#[test]
fn a_file_that_is_only_moved_or_deleted_may_be_larger_than_one_that_is_written() {
    let large = vec![b'x'; crate::proposal::limits::FILE_BYTES + 1];
    let tree = tree(&[("large", &large), ("other", &large)]);
    let plan = planned(&tree, vec![rename("large", "moved"), delete("other")]).unwrap();
    let letters: Vec<char> = plan.files.iter().map(|file| file.change.letter()).collect();
    assert_eq!(letters, ['R', 'D']);
    for actions in [
        vec![whole("large", "small\n")],
        vec![swap("large", "x", "y")],
        vec![rename("large", "moved"), swap("moved", "x", "y")],
    ] {
        let refused = planned(&tree, actions).unwrap_err();
        assert!(reasons(&refused).iter().all(|reason| reason.contains("the limit `file` is")), "{refused:?}");
    }
    let limits = PlanLimits { total_bytes: large.len(), ..PlanLimits::default() };
    let operations =
        [delete("large"), delete("other")].into_iter().map(|action| Operation { line: 1, action });
    let proposal = Proposal { operations: operations.collect(), ..Proposal::default() };
    assert!(super::plan(&proposal, &tree, &NoSeenTexts, &limits).is_err());
}

#[test]
fn edits_of_one_file_in_different_forms_are_carried_out_in_order() {
    let tree = tree(&[("a.txt", b"one\ntwo\nthree\n"), ("b.txt", b"old\n")]);
    let diff = "```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-one\n+1\n two\n three\n```\n";
    let search = "```txt // a.txt\n<<<<<<< SEARCH\n1\ntwo\n=======\n1\n2\n>>>>>>> REPLACE\n```\n";
    let moved = "```json // rename-file\n{\"from\": \"a.txt\", \"to\": \"c.txt\"}\n```\n";
    let gone = "```txt // b.txt\n//TODO: delete this file\n```\n";
    let anew = "```txt // b.txt\nnew\n```\n";
    for (answer, expected) in [
        (format!("{diff}\n{search}"), vec!["M a.txt \"1\\n2\\nthree\\n\""]),
        (format!("{diff}\n{moved}"), vec!["R c.txt \"1\\ntwo\\nthree\\n\""]),
        (format!("{gone}\n{anew}"), vec!["M b.txt \"new\\n\""]),
    ] {
        let proposal = crate::response::read(&answer, &PlanLimits::default()).unwrap();
        let plan = super::plan(&proposal, &tree, &NoSeenTexts, &PlanLimits::default());
        assert_eq!(plan.map(|plan| shown(&plan)).unwrap(), expected, "{answer}");
    }
}

/// Comparing the old file with the new one costs, too.
#[test]
fn many_whole_files_stay_within_the_budget() {
    let numbers = |count: usize, step: usize| -> String {
        (0..count).map(|at| format!("{}\n", at * step % 50_021)).collect()
    };
    let (old, new) = (numbers(100_000, 7_919), numbers(10_000, 104_729));
    let names: Vec<String> = (0..20).map(|at| format!("{at}.txt")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), old.as_bytes())).collect();
    let tree = tree(&files);
    let rewritten =
        |count: usize| planned(&tree, names[..count].iter().map(|name| whole(name, &new)).collect());
    assert!(rewritten(4).is_ok());
    let refused = rewritten(20).unwrap_err();
    assert!(reasons(&refused)[0].contains("the limit `work`"), "{refused:?}");
    let same: Vec<FileAction> = names.iter().map(|name| whole(name, &old)).collect();
    assert!(planned(&tree, same).is_ok());
}
