//! Line numbers, headings and the order of hunks against each other: where they disagree somebody is asked, and an
//! answer that is sent again changes no other place.

use super::certainty_tests::doubts;
use super::tests::{at, diff, lines, swap};
use super::*;
use crate::proposal::TextSpan;

/// The places settled without a question, as the new text.
fn certain(file: &str, hunks: &[Hunk]) -> Option<String> {
    let (doubts, text) = doubts(file, hunks)?;
    doubts.iter().all(Option::is_none).then_some(text)
}

fn own_block(hunk: Hunk) -> Hunk {
    Hunk { begins_block: true, ..hunk }
}

#[test]
fn an_exact_line_number_counts_more_than_order() {
    let file = "T\nb\nZ\nc\nT\n";
    let wanted = Some("t\nb\nz\nc\nT\n".to_owned());
    let (first, second) = (at(3, diff("-Z\n+z")), at(1, diff("-T\n+t")));
    assert_eq!(certain(file, &[first.clone(), own_block(second.clone())]), wanted);
    assert_eq!(certain(file, &[first, second]), wanted);
    let between = [at(1, swap("a", "A")), at(5, swap("T", "t")), at(3, swap("b", "B"))];
    assert_eq!(certain("a\nT\nb\nc\nT\n", &between), Some("A\nT\nB\nc\nt\n".to_owned()));
}

#[test]
fn a_number_that_contradicts_its_neighbours_is_asked_about() {
    let hunks = [at(4, diff("-Q\n+q")), at(5, diff("-T\n+t"))];
    assert_eq!(certain("Q\nT\nx\nx2\nT\n", &hunks), None);
    // The whole file has moved by two lines.
    let hunks = [at(1, diff("-Q\n+q")), at(3, diff("-T\n+t"))];
    assert_eq!(certain("0\n0\nQ\nx\nT\ny\nT\n", &hunks), Some("0\n0\nq\nx\nt\ny\nT\n".to_owned()));
}

#[test]
fn a_number_that_misses_every_place_is_asked_about() {
    let hunks = [at(2, diff("-Z\n+z")), at(4, diff("-T\n+t"))];
    assert_eq!(certain("T\nZ\nc\ngone\nd\nT\n", &hunks), None);
}

#[test]
fn the_order_of_separate_blocks_says_nothing() {
    let file = "def a():\n    go(1)\n\ndef b():\n    hop(2)\n\ndef c():\n    go(1)\n";
    let hop = diff("-    hop(2)\n+    hop(3)");
    let go = diff("-    go(1)\n+    go(2)");
    assert_eq!(certain(file, &[hop.clone(), own_block(go.clone())]), None);
    assert_eq!(
        certain(file, &[hop, go]),
        Some(file.replace("hop(2)", "hop(3)").replace("c():\n    go(1)", "c():\n    go(2)"))
    );
}

#[test]
fn order_does_not_overrule_a_heading() {
    let file = "x()\nz = 1\n\nq = 2\nw = 9\nx()\n";
    let scoped = |scope: &str| Hunk { scope: lines(scope), ..diff("-x()\n+y()") };
    let other = diff("-z = 1\n+z = 3");
    let wanted = "x()\nz = 3\n\nq = 2\nw = 9\ny()\n";
    assert_eq!(certain(file, &[other.clone(), scoped("q = 2")]), Some(wanted.to_owned()));
    let (found, text) = doubts(file, &[scoped("q = 2"), other.clone()]).unwrap();
    assert_eq!((found[0], text.as_str()), (Some(HunkDoubt::ByOrder), wanted), "asked, and below the heading");
    assert_eq!(certain(file, &[scoped("zzz = 1"), other]), None);
}

const CALLS: &str = "def alpha(connection):\n    result = connection.execute(1)\n    return result\n\ndef beta(configuration):\n    first_value = configuration.lookup(\"first\")\n    second_value = configuration.lookup(\"second\")\n\ndef gamma(connection):\n    result = connection.execute(1)\n    return result\n";

#[test]
fn an_answer_that_is_sent_again_changes_no_other_place() {
    let beta = " def beta(configuration):\n     first_value = configuration.lookup(\"first\")\n-    second_value = configuration.lookup(\"second\")\n+    second_value = configuration.lookup(\"second\", default=None)\n ";
    let gamma = "-    result = connection.execute(1)\n+    result = connection.execute_with_retries(2)\n     return result";
    let hunks = [diff(beta), diff(gamma)];
    let once = certain(CALLS, &hunks).unwrap();
    assert!(once.contains("def alpha(connection):\n    result = connection.execute(1)\n"), "{once}");
    assert!(certain(&once, &hunks).is_none_or(|text| text == once));

    let delta = "\ndef delta(configuration):\n    third_value = configuration.lookup(\"third\")\n    fourth_value = configuration.lookup(\"fourth\")\n";
    let file = format!("{CALLS}{delta}");
    let old_beta = "def beta(configuration):\n    first_value = configuration.lookup(\"first\")\n    second_value = configuration.lookup(\"second\")";
    let blocks = [
        swap(old_beta, &old_beta.replace("\"second\"", "\"second\", default=None")),
        swap("    result = connection.execute(1)", "    result = connection.execute(2)"),
        swap(delta.trim(), &delta.trim().replace("\"fourth\"", "\"fourth\", default=None")),
    ];
    let (_, once) = doubts(&file, &blocks).unwrap();
    assert!(certain(&once, &blocks).is_none_or(|text| text == once));
}

#[test]
fn an_edit_whose_result_stands_where_another_edit_was_made_is_asked_about() {
    let file = "if color:\n    style = first_style\nelse:\n    style = None\n\nif other:\n    pass\nelse:\n    style = None\n";
    let hunks = [
        diff(" if color:\n-    style = first_style\n+    style = first_style_of_all"),
        diff(" else:\n-    style = None\n+    style = default_style\n "),
    ];
    let once = certain(file, &hunks).unwrap();
    assert!(once.ends_with("else:\n    style = None\n"), "{once}");
    assert!(certain(&format!("{once}\n"), &hunks).is_none_or(|text| text == format!("{once}\n")));
}

#[test]
fn equal_old_texts_of_which_one_is_a_span_are_placed_without_a_panic() {
    let span = TextSpan { old: "x".into(), new: "y".into(), every: false };
    let hunks = [swap("x", "y"), Hunk { span: Some(Box::new(span)), ..swap("x", "y") }];
    assert_eq!(doubts("x\nx\n", &hunks), None);
}

#[test]
fn a_hunk_of_a_diff_that_fits_only_above_the_one_before_it_is_asked_about() {
    let hunks = [at(3, diff("-Z\n+z")), at(5, diff("-foo()\n+bar()"))];
    assert_eq!(certain("foo()\n\nZ\nq\nCHANGED\n", &hunks), None);
}

#[test]
fn a_place_above_the_heading_of_a_diff_is_asked_about() {
    let hunk = Hunk { scope: lines("def b():"), ..at(6, diff("-    return 1\n+    return 2")) };
    assert_eq!(certain("def a():\n    return 1\n\n\ndef b():\n    return 0\n", &[hunk]), None);
}

#[test]
fn what_begins_on_its_line_and_differs_there_is_not_put_elsewhere_with_blank_lines_forgiven() {
    let (alpha, delta) = ("import alpha_module_name", "import delta_module_name");
    let file = format!("{alpha}\n{alpha}\n\n{delta}\n\nx\n{alpha}\n{alpha}\nother\n");
    let hunk = at(7, diff(&format!(" {alpha}\n {alpha}\n-{delta}")));
    assert_eq!(certain(&file, &[hunk]), None);
}

#[test]
fn a_part_of_the_old_text_is_not_the_result() {
    let file =
        "s\n\nconst [viewOffset, setViewOffset] = useState(0);\n\nconst visibleItemPaths = useMemo(\ne\n";
    let hunk = at(
        4,
        diff(" \n-const [viewOffset, setViewOffset] = useState(0);\n-\n const visibleItemPaths = useMemo("),
    );
    let wanted = "s\n\nconst visibleItemPaths = useMemo(\ne\n".to_owned();
    assert_eq!(doubts(file, &[hunk]).map(|(_, text)| text), Some(wanted));
}

#[test]
fn a_line_to_delete_that_was_changed_is_not_taken_for_deleted() {
    let context = "def configure_everything(configuration, connection):\n    zeroth_value = configuration.lookup(\"zeroth\")\n    other_value = connection.lookup(\"other\")\n";
    let file = format!("{context}    first_value = configuration.lookup(\"first\", default=None)\nend()\n");
    let old = format!("{context}    first_value = configuration.lookup(\"first\")");
    assert_eq!(certain(&file, &[swap(&old, context.trim_end())]), None);
}

#[test]
fn an_edit_that_breaks_the_order_and_whose_result_stands_is_asked_about() {
    let rest = "\n\ndef save_all_settings(path):\n    write_everything(path)\n\n";
    let done = "    if wants_confirmation is True:\n        answer = True\n";
    let open = "    if wants_confirmation is True:\n        answer = \"yes\"\n";
    let file = format!("def one():\n{done}{rest}def two():\n{open}");
    let (answer, save) = (
        swap(open.trim_end(), done.trim_end()),
        swap("    write_everything(path)", "    write_everything(path, sync=True)"),
    );
    assert_eq!(certain(&file, &[answer.clone(), save.clone()]), None, "perhaps made already in one()");
    assert!(certain(&file, &[save.clone(), answer.clone()]).is_some());
    assert!(certain(&file.replace("answer = True", "pass"), &[answer, save]).is_some());
}
