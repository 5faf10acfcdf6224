//! Text that begins and ends inside of lines, as tool calls give it.

use super::*;
use crate::proposal::TextSpan;
use crate::proposal::work_budget::WorkBudget;

fn span(old: &str, new: &str) -> Hunk {
    TextSpan { old: old.into(), new: new.into(), every: false }.into_hunk(1)
}

fn every(old: &str, new: &str) -> Hunk {
    TextSpan { old: old.into(), new: new.into(), every: true }.into_hunk(1)
}

fn insertion(below: usize, text: &str) -> Hunk {
    Hunk { before: Vec::new(), claimed: Some(below + 1), ..span("", text) }
}

/// The new text, or how the last hunk that does not fit fails.
fn result(file: &str, hunks: &[Hunk]) -> Result<String, String> {
    let source = TextFile::decode_candidates(file.as_bytes()).unwrap().remove(0);
    let matched =
        match_hunks(&source, hunks, &[], &WorkBudget::new(&crate::proposal::limits::PlanLimits::default()));
    match matched.pieces {
        Some(pieces) => Ok(String::from_utf8(source.rebuild(&pieces, None).unwrap()).unwrap()),
        None => Err(format!(
            "{:?}",
            matched.outcomes.iter().rfind(|it| !matches!(it, HunkOutcome::Fits(_))).unwrap()
        )),
    }
}

#[test]
fn exactly_the_characters_are_replaced() {
    for (file, old, new, wanted) in [
        ("let a = f(1);\nlet b = 2;\n", "f(1)", "g(1)", "let a = g(1);\nlet b = 2;\n"),
        ("a\nb\nc\n", "a\nb", "x", "x\nc\n"),
        ("a\nb\nc\n", "b\n", "", "a\nc\n"),
        ("a\nb\nc\n", "c\n", "", "a\nb\n"),
        ("a\nb\nc\n", "b", "", "a\n\nc\n"),
        ("a\nb\nc\n", "a\n", "", "b\nc\n"),
        ("a\nb\nc", "c", "d\ne", "a\nb\nd\ne"),
        ("f(a,\n  b)\n", "a,\n  b", "b", "f(b)\n"),
        ("a b\r\nc\r\n", "b\nc", "d\ne", "a d\r\ne\r\n"),
        ("    x\n  x = 1\n", "x = 1", "x = 2", "    x\n  x = 2\n"),
        ("é = 1\n", "é", "è", "è = 1\n"),
    ] {
        assert_eq!(result(file, &[span(old, new)]).as_deref(), Ok(wanted), "{file:?} {old:?}");
    }
}

#[test]
fn what_stands_more_than_once_is_refused_also_within_a_line() {
    for (file, old) in [("a a\n", "a"), ("foo()\nx = foo()\n", "foo()"), ("aaa\n", "aa"), ("b a\na\n", "a")] {
        assert!(result(file, &[span(old, "b")]).unwrap_err().starts_with("Ambiguous"), "{file:?}");
    }
    assert!(result("abc\n", &[span("x", "b")]).unwrap_err().starts_with("NotFound"));
    let many = result(&"a".repeat(1_000), &[span("a", "b")]).unwrap_err();
    assert!(many.contains("count: 1000"), "{many}");
}

#[test]
fn every_occurrence_means_every_one_and_nothing_near() {
    assert_eq!(result("a b a\nc\nxax\n", &[every("a", "z\n")]).as_deref(), Ok("z\n b z\n\nc\nxz\nx\n"));
    assert_eq!(result("ab\na\nac\na\n", &[every("a\n", "b\n")]).as_deref(), Ok("ab\nb\nac\nb\n"));
    assert!(result("  a b\n", &[every("a  b", "c")]).unwrap_err().starts_with("NotFound"));
    let huge = result(&"a".repeat(5_000), &[every("a", &"b".repeat(5_000))]).unwrap_err();
    assert!(huge.contains("would write more than"), "{huge}");
}

/// Each keeps the text of every line that it changes.
#[test]
fn many_replacements_of_every_occurrence_stay_within_the_budget() {
    let file = "abc abd\n".repeat(20_000);
    let source = TextFile::decode_candidates(file.as_bytes()).unwrap().remove(0);
    let hunks: Vec<Hunk> =
        (0..400).map(|at| if at % 2 == 0 { every("abc", "abq") } else { every("abq", "abc") }).collect();
    let budget = WorkBudget::new(&crate::proposal::limits::PlanLimits::default());
    assert!(match_hunks(&source, &hunks, &[], &budget).pieces.is_none());
    assert!(budget.refusal().is_some());
    let budget = WorkBudget::new(&crate::proposal::limits::PlanLimits::default());
    assert!(match_hunks(&source, &hunks[..2], &[], &budget).pieces.is_some() && budget.refusal().is_none());
}

#[test]
fn edits_of_one_line_come_one_after_the_other() {
    assert_eq!(result("f(1, 2)\n", &[span("1", "a"), span("2", "b")]).as_deref(), Ok("f(a, b)\n"));
    assert_eq!(result("x\n", &[span("x", "y"), span("y", "z")]).as_deref(), Ok("z\n"));
}

#[test]
fn whole_lines_that_differ_in_layout_climb_the_ladder() {
    let old = "total = add(price, tax)\nreturn round(total, digits)\nprint(total, digits)\n";
    let new = old.replace("print", "log");
    let file = old.lines().map(|line| format!("    {line}\n")).collect::<String>();
    assert_eq!(result(&file, &[span(old, &new)]).unwrap(), file.replace("print", "log"));
}

#[test]
fn a_line_number_below_an_edit_that_moves_lines_means_two_places() {
    let file = "a\nb\nc\n";
    assert_eq!(result(file, &[insertion(2, "x\n")]).as_deref(), Ok("a\nb\nx\nc\n"));
    assert_eq!(result(file, &[insertion(0, "x\ny")]).as_deref(), Ok("x\ny\na\nb\nc\n"));
    assert_eq!(result(file, &[span("a", "z"), insertion(2, "x")]).as_deref(), Ok("z\nb\nx\nc\n"));
    for first in [span("a", "z\ny"), span("a\n", "z"), insertion(0, "z")] {
        let refused = result(file, &[first, span("c", "d"), insertion(2, "x")]).unwrap_err();
        assert!(refused.contains("two places"), "{refused}");
    }
    assert!(result(file, &[insertion(9, "x")]).is_err());
}

#[test]
fn text_that_grows_is_not_made_to_grow_again_unasked() {
    let doubt = |file: &str, hunks: &[Hunk]| {
        let source = TextFile::decode_candidates(file.as_bytes()).unwrap().remove(0);
        let limits = crate::proposal::limits::PlanLimits::default();
        let matched = match_hunks(&source, hunks, &[], &WorkBudget::new(&limits));
        match matched.outcomes.last() {
            Some(HunkOutcome::Fits(report)) => report.doubt,
            other => panic!("{other:?}"),
        }
    };
    for (file, old, new) in [
        ("x = 1\n", "x = 1", "x = 10"),
        ("import os\n\nx = 1\n", "import os\n", "import os\nimport re\n"),
        ("f(call(a))\n", "call(a", "call(a, b"),
    ] {
        let edited = result(file, &[span(old, new)]).unwrap();
        assert_eq!(doubt(file, &[span(old, new)]), None, "{file:?}");
        assert_eq!(doubt(&edited, &[span(old, new)]), Some(HunkDoubt::Repeats), "{edited:?}");
        assert_eq!(doubt(&edited, &[every(old, new)]), Some(HunkDoubt::Repeats), "{edited:?}");
    }
    assert_eq!(
        doubt("x = 1\n", &[span("x = 1", "x = 10"), span("x = 1", "x = 10")]),
        Some(HunkDoubt::Repeats)
    );
}

#[test]
fn text_that_fits_only_inside_of_other_lines_is_asked_about() {
    let doubt = |file: &str, old: &str, new: &str| {
        super::certainty_tests::doubts(file, &[span(old, new)]).map(|(doubts, _)| doubts[0])
    };
    let file = "fn f() {\n        }\n    x = y;\n}\n";
    assert_eq!(doubt(file, "    }", "z"), Some(Some(HunkDoubt::OtherDepth)));
    for certain in ["        }", "    x = y;", " = y", "x = y"] {
        assert_eq!(doubt(file, certain, "z"), Some(None), "{certain:?}");
    }
    let twins = "a()  \nb()\n\na()\nb()\n";
    assert_eq!(doubt(twins, "a()\nb()", "c()"), Some(Some(HunkDoubt::AlsoFits(1))));
    assert_eq!(doubt("a()\n\nb()\n", "\nb()", "b()"), Some(None));
    assert_eq!(doubt("a()\nb()\n", "\nb()", "b()"), Some(Some(HunkDoubt::JoinsLines)), "sent again");
    assert_eq!(doubt("a()\nb()\n", "a()\n", "c()"), Some(Some(HunkDoubt::JoinsLines)));
    assert_eq!(doubt("a()\nb()\n", "b()\n", "c()"), Some(None), "at the end of the file");
    assert_eq!(doubt("a()\nb()\n", "a()\n", ""), Some(None));
}
