//! The ladder at work on whole files: what each rung forgives, what settles a doubt, and what is refused.

use super::*;
use crate::proposal::Hunk;
use crate::proposal::limits::PlanLimits;

pub(super) fn lines(text: &str) -> Vec<String> {
    text.lines().map(ToString::to_string).collect()
}

/// A search/replace hunk.
pub(super) fn swap(before: &str, after: &str) -> Hunk {
    Hunk { before: lines(before), after: lines(after), ..Hunk::default() }
}

/// A diff hunk from lines with their marks.
pub(super) fn diff(text: &str) -> Hunk {
    let mut hunk = Hunk { kept: Some(Vec::new()), ..Hunk::default() };
    for line in text.lines() {
        let (mark, rest) = line.split_at(1);
        match mark {
            "-" => hunk.before.push(rest.to_string()),
            "+" => hunk.after.push(rest.to_string()),
            _ => {
                hunk.kept.as_mut().unwrap().push((hunk.before.len(), hunk.after.len()));
                hunk.before.push(rest.to_string());
                hunk.after.push(rest.to_string());
            }
        }
    }
    hunk
}

pub(super) fn at(line: usize, hunk: Hunk) -> Hunk {
    Hunk { claimed: Some(line), ..hunk }
}

pub(super) fn source(file: &str) -> TextFile {
    TextFile::decode_candidates(file.as_bytes()).unwrap().remove(0)
}

/// The new file and the rung of the first hunk, or the outcome of the first hunk that fails.
pub(super) fn apply(file: &str, hunks: &[Hunk]) -> Result<(String, &'static str), String> {
    apply_seen(file, hunks, &[])
}

fn apply_seen(file: &str, hunks: &[Hunk], seen: &[String]) -> Result<(String, &'static str), String> {
    let source = source(file);
    let FileMatch { outcomes, pieces } =
        match_hunks(&source, hunks, seen, &WorkBudget::new(&PlanLimits::default()));
    for outcome in &outcomes {
        match outcome {
            HunkOutcome::Fits(_) => {}
            HunkOutcome::NotFound(nearest) => {
                return Err(format!("not found, nearest {:?}", nearest.as_ref().map(|nearest| nearest.line)));
            }
            HunkOutcome::Ambiguous { places, .. } => return Err(format!("places {places:?}")),
            HunkOutcome::Failed(text) => return Err(text.clone()),
        }
    }
    let bytes = source.rebuild(&pieces.expect("every hunk fits"), None).unwrap();
    let HunkOutcome::Fits(report) = &outcomes[0] else { unreachable!() };
    Ok((String::from_utf8(bytes).unwrap(), report.rung))
}

fn applied(file: &str, hunk: Hunk) -> (String, &'static str) {
    apply(file, &[hunk]).unwrap()
}

#[test]
fn each_rung_forgives_what_it_says() {
    let cases = [
        ("a\nb\nc\n", swap("b", "B"), "a\nB\nc\n", "exact"),
        ("a\r\nb\r\nc\r\n", swap("b", "B\nBB"), "a\r\nB\r\nBB\r\nc\r\n", "line endings"),
        ("a\nb  \nc\n", swap("a\nb\nc", "a\nb\nC"), "a\nb  \nC\n", "trailing blanks"),
        (
            "x = \"1\"\ny\n",
            swap("x = \u{201C}1\u{201D}", "x = \u{201C}2\u{201D}"),
            "x = \"2\"\ny\n",
            "punctuation",
        ),
        ("  if a:\n    b\n", swap("if a:\n  b", "if a:\n  b\n  c"), "  if a:\n    b\n    c\n", "indent"),
        (
            "f {\n\tg {\n\t\th\n\t}\n}\n",
            swap("    g {\n        h\n    }", "    g {\n        h\n        i\n    }"),
            "f {\n\tg {\n\t\th\n\t\ti\n\t}\n}\n",
            "tab unit",
        ),
        (
            "first\n\nsecond\nthird\n",
            swap("first\nsecond", "first\nSECOND"),
            "first\n\nSECOND\nthird\n",
            "blank lines",
        ),
        ("if a < b:\n    go()\n", swap("if a &lt; b:", "if a &gt; b:"), "if a > b:\n    go()\n", "escapes"),
        (
            "def f():\n    a = 1\n    b = 2\n    return a\n",
            swap("def f():\n    ...\n    return a", "def g():\n    ...\n    return b"),
            "def g():\n    a = 1\n    b = 2\n    return b\n",
            "elision",
        ),
        (
            "one\nsubtree_only = 1\n",
            swap("one\nsutree_only = 1", "one\nsubtree_only = 2"),
            "one\nsubtree_only = 2\n",
            "near",
        ),
    ];
    for (file, hunk, wanted, rung) in cases {
        assert_eq!(applied(file, hunk), (wanted.to_string(), rung), "{rung}");
    }
}

#[test]
fn blank_lines_of_the_file_stay_where_nothing_changes_around_them() {
    let hunk = swap("a()\nb()\nc()", "a()\nb()\nC()");
    assert_eq!(applied("a()\n\nb()\nc()\n", hunk).0, "a()\n\nb()\nC()\n");
}

#[test]
fn kept_lines_keep_their_own_bytes() {
    // Mixed endings and trailing blanks in lines that the author only quotes.
    let hunk = swap("one\ntwo\nthree", "one\nTWO\nthree");
    assert_eq!(applied("one \r\ntwo\nthree\t\r\n", hunk).0, "one \r\nTWO\nthree\t\r\n");
    let hunk = diff(" one\n-two\n+TWO\n three");
    assert_eq!(applied("one \ntwo\nthree\t\n", hunk).0, "one \nTWO\nthree\t\n");
}

#[test]
fn two_places_are_refused_and_listed() {
    assert_eq!(apply("x\ny\nx\n", &[swap("x", "z")]).unwrap_err(), "places [1, 3]");
    // A weaker rung must not choose where a stronger one found two.
    assert_eq!(apply("x\n  x\nx\n", &[swap("x", "z")]).unwrap_err(), "places [1, 3]");
    // CRLF on one of two twins hides neither.
    assert_eq!(apply("x\ny\nx\r\n", &[swap("x", "z")]).unwrap_err(), "places [1, 3]");
}

#[test]
fn a_line_hint_settles_only_a_clear_case() {
    let file = "x\n".to_string() + &"-\n".repeat(20) + "x\n";
    assert_eq!(
        apply(&file, &[at(20, swap("x", "z"))]).unwrap().0,
        "x\n".to_string() + &"-\n".repeat(20) + "z\n"
    );
    assert!(apply(&file, &[at(11, swap("x", "z"))]).is_err());
}

#[test]
fn a_range_of_lines_settles() {
    let hunk = Hunk { claimed: Some(3), claimed_end: Some(4), ..swap("x", "z") };
    assert_eq!(applied("x\n-\nx\n-\nx\n", hunk).0, "x\n-\nz\n-\nx\n");
}

#[test]
fn a_scope_settles() {
    let file =
        "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n";
    let hunk = Hunk { scope: vec!["class B:".into()], ..diff("-        return 1\n+        return 2") };
    let wanted =
        "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 2\n";
    assert_eq!(applied(file, hunk).0, wanted);
}

#[test]
fn neighbours_settle_by_their_order() {
    let file = "start\nx\nmiddle\nx\nend\n";
    let hunks = [diff(" middle_not"), diff("-x\n+y")];
    assert!(apply(file, &hunks).is_err());
    let hunks = [diff("-middle\n+MIDDLE"), diff("-x\n+y")];
    assert_eq!(apply(file, &hunks).unwrap().0, "start\nx\nMIDDLE\ny\nend\n");
    let hunks = [diff("-x\n+y"), diff("-middle\n+MIDDLE")];
    assert_eq!(apply(file, &hunks).unwrap().0, "start\ny\nMIDDLE\nx\nend\n");
}

#[test]
fn a_drift_of_line_numbers_is_learnt_from_neighbours() {
    let file = "a\n".to_string() + &"-\n".repeat(30) + "x\nq\nx\n";
    // Both numbers are 30 too low; the first hunk shows by how much.
    let hunks = [at(3, diff("-q\n+Q")), at(4, diff("-x\n+y"))];
    assert!(apply(&file, &hunks).unwrap().0.ends_with("x\nQ\ny\n"));
}

#[test]
fn the_same_text_as_often_as_it_stands_is_taken_in_order() {
    let hunks = [swap("x", "1"), swap("x", "2")];
    assert_eq!(apply("x\n-\nx\n", &hunks).unwrap().0, "1\n-\n2\n");
    assert!(apply("x\n-\nx\n-\nx\n", &hunks).is_err());
}

#[test]
fn a_hunk_that_is_already_in_does_nothing() {
    for (file, hunk) in [
        ("a\nNEW\nc\n", swap("a\nold\nc", "a\nNEW\nc")),
        (
            "head of it all\ntail of it all\n",
            swap("head of it all\ngone\ntail of it all", "head of it all\ntail of it all"),
        ),
        ("a\nb\nc\n", diff(" a\n b\n c")),
    ] {
        let (result, _) = applied(file, hunk);
        assert_eq!(result, file);
    }
    // Nothing is left to recognise a deletion by.
    assert!(apply("a\nc\n", &[swap("gone", "")]).is_err());
}

#[test]
fn lines_that_would_come_in_twice_are_reported() {
    let source = source("a\nb\nc\n");
    let matched = match_hunks(&source, &[swap("a", "a\nb")], &[], &WorkBudget::new(&PlanLimits::default()));
    let HunkOutcome::Fits(report) = &matched.outcomes[0] else { panic!() };
    assert_eq!(report.doubt, Some(HunkDoubt::Repeats));
    // Beside a hunk that is in already, it is in as well.
    let hunks = [swap("a", "a\nb"), swap("x\nold", "c")];
    assert_eq!(apply("a\nb\nc\n", &hunks).unwrap().0, "a\nb\nc\n");
}

#[test]
fn hunks_may_build_on_each_other() {
    let hunks = [swap("one() {\n  1\n}", "two() {\n  2\n}"), swap("two() {", "two() { // renamed")];
    assert_eq!(apply("one() {\n  1\n}\n", &hunks).unwrap().0, "two() { // renamed\n  2\n}\n");
}

#[test]
fn context_may_overlap_but_changes_may_not() {
    let hunks = [diff(" a\n-b\n+B\n c"), diff(" c\n-d\n+D\n e")];
    assert_eq!(apply("a\nb\nc\nd\ne\n", &hunks).unwrap().0, "a\nB\nc\nD\ne\n");
    let hunks = [swap("a\nb", "1"), swap("b\nc", "2")];
    assert!(apply("a\nb\nc\n", &hunks).is_err());
}

#[test]
fn insertions_need_a_place() {
    assert!(apply("a\n", &[swap("", "b")]).is_err());
    assert_eq!(applied("a\nc\n", at(2, swap("", "b"))).0, "a\nb\nc\n");
    assert_eq!(applied("a\n", at(0, diff("+first"))).0, "first\na\n");
    assert_eq!(applied("", swap("", "b")).0, "b\n");
    assert!(apply("a\nb\n", &[at(1, diff("+x"))]).is_err());
}

#[test]
fn what_the_author_saw_is_merged_onto_what_is_there() {
    let seen = vec!["a\nb\nc\nd\ne\nf\ng\nh\n".to_string()];
    let live = "a\nB2\nc\nd\ne\nf\ng\nh\n";
    let hunk = swap("a\nb\nc\nd\ne\nf\ng", "a\nb\nc\nd\ne\nF\ng");
    assert_eq!(
        apply_seen(live, std::slice::from_ref(&hunk), &seen).unwrap(),
        ("a\nB2\nc\nd\ne\nF\ng\nh\n".into(), "three-way")
    );
    assert!(apply("a\nB2\nc\nd\ne\nf\ng\nh\n", &[hunk]).is_err());
    let hunk = swap("a\nb\nc", "a\nX\nc");
    assert!(apply_seen(live, &[hunk], &seen).is_err(), "both changed line 2");
}

#[test]
fn another_meaning_is_never_near_enough() {
    for (file, wanted) in [
        ("calculateSubtotal();\n", "calculateTotal();"),
        ("x = compute(10)\ny = 1\n", "x = compute(11)\ny = 1"),
        ("log.error(\"cannot connect\")\n", "log.error(\"cannot load\")"),
        ("test_results()\n", "test_result()"),
    ] {
        assert!(apply(file, &[swap(wanted, "z")]).is_err(), "{wanted}");
    }
}

#[test]
fn wrong_outer_context_is_a_near_match() {
    let file = "};\n\nconst repair = (file, error) => {\n    const prompt = generate(file, error);\n    show(prompt);\n}\n";
    let hunk = diff(
        " }\n \n const repair = (file, error) => {\n-    const prompt = generate(file, error);\n+    generate(file, error);\n     show(prompt);",
    );
    let (result, rung) = applied(file, hunk);
    assert_eq!(rung, "outer context");
    assert_eq!(result, file.replace("const prompt = ", ""));
}

#[test]
fn context_without_the_markers_column_is_understood() {
    let mut hunk = diff(" unction f() {\n-    return 1;\n+    return 2;\n }");
    hunk.before[0] = "  if (x) {".into();
    hunk.after[0] = "  if (x) {".into();
    hunk.before[2] = "  }".into();
    hunk.after[2] = "  }".into();
    assert_eq!(
        applied("   if (x) {\n    return 1;\n   }\n", hunk),
        ("   if (x) {\n    return 2;\n   }\n".into(), "indent")
    );
}

#[test]
fn a_refusal_names_the_nearest_place() {
    let file = "fn a() {\n    one();\n    two();\n}\n";
    assert_eq!(
        apply(file, &[swap("fn a() {\n    one();\n    three();", "x")]).unwrap_err(),
        "not found, nearest Some(1)"
    );
}
