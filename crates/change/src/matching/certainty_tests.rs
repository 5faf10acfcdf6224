//! What is certain, what is asked about, and what is refused: the smallest forms of edits that once went to a
//! wrong place, or did nothing, without a word.

use super::tests::{apply, at, diff, lines, source, swap};
use super::*;
use crate::proposal::limits::PlanLimits;

/// The doubt of each hunk and the new text, or `None` where the file is refused.
pub(super) fn doubts(file: &str, hunks: &[Hunk]) -> Option<(Vec<Option<HunkDoubt>>, String)> {
    let source = source(file);
    let FileMatch { outcomes, pieces } =
        match_hunks(&source, hunks, &[], &WorkBudget::new(&PlanLimits::default()));
    let text = String::from_utf8(source.rebuild(&pieces?, None).unwrap()).unwrap();
    let doubt = |outcome: &HunkOutcome| match outcome {
        HunkOutcome::Fits(report) => report.doubt,
        _ => None,
    };
    Some((outcomes.iter().map(doubt).collect(), text))
}

fn doubt(file: &str, hunk: Hunk) -> Option<(Option<HunkDoubt>, String)> {
    doubts(file, &[hunk]).map(|(doubts, text)| (doubts[0], text))
}

const TWO_FUNCTIONS: &str = "def a():\n    return None\n\ndef b(x):\n    y = slow(x)\n    return y\n";

#[test]
fn a_result_that_stands_elsewhere_is_not_taken_for_the_edit() {
    let edit = || swap("    y = old(x)\n    return y", "    return None");
    let perhaps = Some((Some(HunkDoubt::PerhapsIn), TWO_FUNCTIONS.to_string()));
    assert_eq!(doubt(TWO_FUNCTIONS, edit()), perhaps);
    let scoped = Hunk { scope: lines("def b(x):"), ..edit() };
    assert_eq!(doubt(TWO_FUNCTIONS, scoped), perhaps, "the scope says that it is not in");
    let brace = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n";
    let edit = swap("    three();\n}", "}");
    assert!(doubt(brace, edit).is_none_or(|(doubt, text)| doubt.is_some() && text == brace));
    let both = [swap("def a():", "def c():"), edit_of_b()];
    let (doubts, text) = doubts(TWO_FUNCTIONS, &both).unwrap();
    assert_eq!(doubts, [None, Some(HunkDoubt::PerhapsIn)]);
    assert!(text.starts_with("def c():"));
}

fn edit_of_b() -> Hunk {
    swap("    y = old(x)\n    return y", "    return None")
}

#[test]
fn a_result_is_in_where_its_place_is_proved() {
    let file =
        "def total(cart):\n    \"\"\"The sum of all prices.\"\"\"\n    return round(sum(cart.prices), 2)\n";
    let old = "def total(cart):\n    \"\"\"The sum of all prices.\"\"\"\n    return sum(cart.prices)";
    let same = |hunk: Hunk| assert_eq!(doubt(file, hunk), Some((None, file.to_string())));
    same(swap(old, file.trim_end()));
    same(at(3, diff("-    return sum(cart.prices)\n+    return round(sum(cart.prices), 2)")));
    same(Hunk {
        scope: lines("def total(cart):"),
        ..swap("    return sum(cart.prices)", "    return round(sum(cart.prices), 2)")
    });
    // Without any of these somebody is asked, and nothing happens twice.
    let bare = doubt(file, swap("    return sum(cart.prices)", "    return round(sum(cart.prices), 2)"));
    assert_eq!(bare, Some((Some(HunkDoubt::PerhapsIn), file.to_string())));
}

#[test]
fn a_forgiving_rung_with_little_text_asks() {
    let file = "def f():\n    try:\n        g()\n    except KeyError:\n        pass\n";
    let (doubt_of_line, _) =
        doubt(file, swap("        except KeyError:", "        except ValueError:")).unwrap();
    assert_eq!(doubt_of_line, Some(HunkDoubt::LittleText));
    let file = "def f():\n        x = 2\n\ndef g():\n    x = 1\n";
    let (doubt_of_result, _) = doubt(file, swap("        x = 1", "        x = 2")).unwrap();
    assert_eq!(doubt_of_result, Some(HunkDoubt::ResultStandsAt(2)));
    // The author's line says where, but not why the text has another depth there.
    let named = at(4, swap("        except KeyError:", "        except ValueError:"));
    let file = "def f():\n    try:\n        g()\n    except KeyError:\n        pass\n";
    assert_eq!(doubt(file, named).unwrap().0, Some(HunkDoubt::OtherDepth));
    let file = "one()\n\ntwo()\n";
    assert_eq!(doubt(file, swap("one()\ntwo()", "one()\nthree()")).unwrap().0, Some(HunkDoubt::LittleText));
    assert_eq!(doubt(file, at(1, swap("one()\ntwo()", "one()\nthree()"))).unwrap().0, None);
}

#[test]
fn naming_a_short_text_does_not_excuse_another_depth() {
    let file = "def b(y):\n    x = 1\n    for i in y:\n        print(i)\n    return x\n";
    let deep = || diff("-        x = 1\n+        x = 2");
    let scoped = Hunk { scope: lines("def b(y):"), ..deep() };
    for hunk in [scoped, at(2, deep())] {
        assert_eq!(doubt(file, hunk).unwrap().0, Some(HunkDoubt::OtherDepth));
    }
}

#[test]
fn an_edit_whose_old_text_ends_in_a_blank_line_is_not_made_twice() {
    let file = "import os\nimport sys\nfrom pathlib import Path\n\nprint(os.name, sys.path)\n";
    let old = "import os\nimport sys\n";
    let hunk = || Hunk {
        before: vec!["import os".into(), "import sys".into(), String::new()],
        after: lines("import os\nimport sys\nfrom pathlib import Path"),
        ..swap(old, "")
    };
    let (_, text) = doubt(file, hunk()).unwrap();
    assert_eq!(text, file);
    let fresh = "import os\nimport sys\n\nprint(os.name, sys.path)\n";
    let (text, rung) = apply(fresh, &[hunk()]).unwrap();
    assert_eq!(rung, "exact");
    assert_eq!(text, file.replace("\n\n", "\n"));
}

#[test]
fn text_outside_the_scope_that_the_author_named_is_asked_about() {
    let file = "def a():\n    x = 1\n    return x\n\n\ndef b():\n    x = 9\n    return x\n";
    let scoped = |scope: &str| Hunk { scope: lines(scope), ..swap("    x = 1", "    x = 9") };
    assert_eq!(doubt(file, scoped("def b():")).unwrap().0, Some(HunkDoubt::OutsideScope));
    assert_eq!(doubt(file, scoped("def a():")).unwrap().0, None);
    // Nobody knows where a section without indentation ends.
    let sections = "# one\ntext\n\n# two\nold words\n";
    let edit = Hunk { scope: lines("# one"), ..swap("old words", "new words") };
    assert_eq!(doubt(sections, edit).unwrap().0, None);
    // The head of a function may take several lines.
    let file = "def a(\n    x,\n):\n    y = 1\n\nint main()\n{\n    z = 1;\n}\n";
    for (scope, old) in [("def a(", "    y = 1"), ("int main()", "    z = 1;")] {
        let edit = Hunk { scope: lines(scope), ..swap(old, "    w = 2") };
        assert_eq!(doubt(file, edit).unwrap().0, None, "{scope}");
    }
}

#[test]
fn a_result_on_the_line_that_the_author_named_comes_before_old_text_elsewhere() {
    let file = "def a():\n    count = 1\n    return count\n\ndef b():\n    count = 9\n    return count\n";
    let hunk = |line| at(line, diff("-    count = 1\n+    count = 9\n     return count"));
    assert_eq!(doubt(file, hunk(6)), Some((None, file.to_string())));
    let (doubt, text) = doubt(file, hunk(2)).unwrap();
    assert!(doubt.is_none() && text.starts_with("def a():\n    count = 9"));
}

#[test]
fn an_addition_next_to_blank_lines_is_not_made_twice_unasked() {
    let again = |file: &str, before: &[&str], after: &[&str]| {
        let owned = |lines: &[&str]| lines.iter().map(ToString::to_string).collect();
        doubt(file, Hunk { before: owned(before), after: owned(after), ..Hunk::default() }).unwrap().0
    };
    let methods = ["  b() {}", "", "  c() {}", ""];
    let file = "class A {\n  b() {}\n\n  c() {}\n\n  d() {}\n}\n";
    assert_eq!(again(file, &methods[2..], &methods), Some(HunkDoubt::Repeats));
    let without_blank = file.replace("b() {}\n\n", "b() {}\n");
    assert_eq!(again(&without_blank, &methods[2..], &methods), Some(HunkDoubt::Repeats));
}

#[test]
fn lines_that_are_only_added_below_a_named_line_are_asked_about() {
    let file = "def f():\n    return 1\n";
    let hunk = Hunk { scope: lines("def f():"), ..diff("+    log()") };
    let expected = "def f():\n    log()\n    return 1\n".to_string();
    assert_eq!(doubt(file, hunk), Some((Some(HunkDoubt::OnlyAdds), expected)));
}

#[test]
fn lines_added_to_context_without_its_marker_column_keep_their_depth() {
    let file = "def f():\n    if a:\n        b()\n        c()\n";
    let hunk = at(3, diff("        b()\n+        new()\n        c()"));
    let expected = file.replace("        c()", "        new()\n        c()");
    assert_eq!(doubt(file, hunk), Some((Some(HunkDoubt::OtherDepth), expected)));
}

#[test]
fn an_addition_that_is_sent_twice_is_made_once() {
    let file = "import os\n\nx = 1\n";
    let expected = "import os\nimport re\n\nx = 1\n".to_string();
    let once = |hunk: Hunk| {
        let both = doubts(file, &[hunk.clone(), hunk]);
        assert_eq!(both, Some((vec![None, None], expected.clone())));
    };
    once(swap("import os", "import os\nimport re"));
    once(at(1, diff(" import os\n+import re\n ")));
    // Two edits may each want their own line.
    let differ = [swap("import os", "import os\nimport re"), swap("\nx = 1", "import re\n\nx = 1")];
    assert_eq!(doubts(file, &differ).unwrap().0, [None, Some(HunkDoubt::Repeats)]);
}

#[test]
fn a_diff_without_context_whose_result_is_on_its_line_does_not_go_to_a_twin() {
    let file = "class A {\nprotected:\n  A(const A &other) = delete;\n  int a;\n};\nclass B {\npublic:\n};\n";
    let hunk = at(2, diff("-public:\n+protected:\n+  A(const A &other) = delete;"));
    assert_eq!(doubt(file, hunk), Some((Some(HunkDoubt::OldTextElsewhere), file.to_string())));
    let short = "a: 2\nb: 1\na: 1\n";
    let hunk = at(1, diff("-a: 1\n+a: 2"));
    assert_eq!(doubt(short, hunk).unwrap().0, Some(HunkDoubt::ResultStandsAt(1)));
    // A brace may stand anywhere.
    let hunk = at(1, diff("-old\n+}"));
    assert_eq!(doubt("}\nold\n", hunk), Some((None, "}\n}\n".to_string())));
}

#[test]
fn lines_inserted_next_to_equal_ones_are_asked_about() {
    let insert = |line, text: &str| at(line, Hunk { after: vec![text.to_string()], ..Hunk::default() });
    let repeats = |text: &str| Some((Some(HunkDoubt::Repeats), text.to_string()));
    let file = "if (a) {\n  if (b) {\n    go();\n  }\n";
    assert_eq!(doubt(file, insert(4, "  }")), repeats(&format!("{file}  }}\n")));
    assert_eq!(doubt("a\n\nb\n", insert(2, "")), repeats("a\n\n\nb\n"));
    assert_eq!(doubt("row\n", insert(1, "row")), repeats("row\nrow\n"));
    assert_eq!(doubt("row\nb\n", at(0, diff("+row"))), repeats("row\nrow\nb\n"));
    let call = "    total = add(price, tax)\n";
    let file = format!("def f():\n{call}");
    assert_eq!(doubt(&file, insert(2, call.trim_end())), Some((Some(HunkDoubt::PerhapsIn), file)));
    let text = "def g(price, rates):\n    tax = rates.of(price) * price\n    return round(price + tax, 2)\n";
    let long = at(2, swap("", text));
    assert_eq!(doubt(&format!("import os\n{text}"), long), Some((None, format!("import os\n{text}"))));
}

#[test]
fn a_line_number_that_misses_every_place_is_asked_about() {
    let block = "begin\n  go();\nend\n";
    let file = format!("{}{block}{}{block}", "-\n".repeat(10), "-\n".repeat(50));
    let hunk = |line| at(line, diff(" begin\n-  go();\n+  stop();\n end"));
    let first = file.replacen("go", "stop", 1);
    assert_eq!(doubt(&file, hunk(11)), Some((None, first.clone())));
    assert_eq!(doubt(&file, hunk(27)), Some((Some(HunkDoubt::NearestLine), first)));
    // Also where the hunks are tried one after the other.
    let both = [hunk(27), swap("  stop();", "  halt();")];
    let (doubts, text) = doubts(&file, &both).unwrap();
    assert_eq!((doubts[0], text), (Some(HunkDoubt::NearestLine), file.replacen("go", "halt", 1)));
}

#[test]
fn blanks_in_a_file_of_tabs_are_asked_about() {
    let file = "def f(a):\n\ty = 2\n\treturn y\n";
    let doubt_of = |file: &str, new: &str| doubt(file, swap("def f(a):", new)).unwrap().0;
    let mixed = Some(HunkDoubt::MixedIndentation);
    assert_eq!(doubt_of(file, "def f(a):\n    log(a)"), mixed);
    assert_eq!(doubt_of(file, "def f(a):\n\tlog(a)"), None);
    assert_eq!(doubt_of(file, "/*\n * f\n */\ndef f(a):"), None, "the margin of a comment");
    let blanks = file.replace('\t', "    ");
    assert_eq!(doubt_of(&blanks, "def f(a):\n\tlog(a)"), mixed);
    assert_eq!(doubt_of(&blanks, "def f(a):\n  log(a)"), None);
    let both = file.replace("\treturn", "        return");
    assert_eq!(doubt_of(&both, "def f(a):\n    log(a)"), None, "the file itself mixes them");
    let insert = at(2, swap("", "    log(a)"));
    assert_eq!(doubt(file, insert).unwrap().0, mixed);
}

#[test]
fn two_braces_and_a_long_line_do_not_prove_a_result() {
    let file = "impl A {\n    fn f() {\n        x()\n    }\n}\n\
                /// Whether this can be the name of a provider, and so a file name.\nfn g() {}\n";
    let hunk = diff(
        " }\n-\n-fn check() {\n-    y()\n-}\n+}\n /// Whether this can be the name of a provider, and so a file name.",
    );
    assert!(doubt(file, at(5, hunk)).is_none_or(|(doubt, text)| doubt.is_some() && text == file));
}

#[test]
fn the_order_of_search_blocks_alone_does_not_settle_a_place() {
    let file = "a\nx\nb\nx\nc\n";
    let between = [swap("a", "A"), swap("x", "y"), swap("b", "B")];
    let (found, text) = doubts(file, &between).unwrap();
    assert_eq!((found[1], text.as_str()), (Some(HunkDoubt::ByOrder), "A\ny\nB\nx\nc\n"));
    let (found, _) = doubts(file, &[swap("x", "y"), swap("x", "z")]).unwrap();
    assert_eq!(found, [Some(HunkDoubt::ByOrder); 2]);
    // It does not matter which of them is which.
    assert_eq!(
        doubts(file, &[swap("x", "y"), swap("x", "y")]),
        Some((vec![None; 2], "a\ny\nb\ny\nc\n".into()))
    );
    // The hunks of a diff are in the order of the file.
    let in_a_diff = [diff("-a\n+A"), diff("-x\n+y"), diff("-b\n+B")];
    assert_eq!(doubts(file, &in_a_diff), Some((vec![None; 3], "A\ny\nB\nx\nc\n".into())));
}

#[test]
fn an_insertion_that_repeats_another_one_at_the_same_place_is_asked_about() {
    let file = "import os\n\nrun()\n";
    let one = swap("import os", "import os\nimport re");
    let both = swap("import os", "import os\nimport re\nimport sys");
    for edits in [[one.clone(), both.clone()], [both, one]] {
        let (found, _) = doubts(file, &edits).unwrap();
        assert_eq!(found, [None, Some(HunkDoubt::Repeats)]);
    }
    let other = swap("import os", "import os\nimport sys");
    let (found, text) = doubts(file, &[swap("import os", "import os\nimport re"), other]).unwrap();
    assert_eq!((found, text.as_str()), (vec![None; 2], "import os\nimport re\nimport sys\n\nrun()\n"));
}

#[test]
fn two_versions_of_an_edit_in_separate_blocks_are_asked_about() {
    let file = "import os\n\nrun()\n";
    let better = Hunk { begins_block: true, ..swap("import os", "import os\nimport regex as re") };
    let (found, _) = doubts(file, &[swap("import os", "import os\nimport re"), better]).unwrap();
    assert_eq!(found, [None, Some(HunkDoubt::Repeats)]);
}

#[test]
fn what_a_deletion_leaves_does_not_prove_that_it_was_made() {
    let file = "def setup():\n    connect()\n    run()\n\n\ndef teardown():\n    connect()\n    log_everything()\n    run()\n";
    let deletion = at(2, diff("     connect()\n-    log_everything()\n     run()"));
    let (found, _) = doubt(file, deletion).unwrap();
    assert!(found.is_some(), "the old text stands once, elsewhere");
}

#[test]
fn a_diff_from_nothing_on_a_file_that_has_its_lines_is_asked_about() {
    let file = "import os_path\n\ndef first_function():\n    return 1\n";
    let new = at(0, diff("+import os_path\n+\n+def first_function():\n+    return 2"));
    assert_eq!(doubt(file, new).unwrap().0, Some(HunkDoubt::OnlyAdds));
    let (found, _) = doubt(file, at(0, diff("+# a comment on top of the file"))).unwrap();
    assert_eq!(found, None);
}

#[test]
fn a_heading_below_the_number_contradicts_it() {
    let file = "def a():\n    x = get()\n    return x\n\n\ndef b():\n    x = get()\n    return x\n";
    let hunk = |scope: &str| Hunk {
        scope: vec![scope.to_owned()],
        ..at(2, diff("     x = get()\n+    log(x)\n     return x"))
    };
    assert_eq!(doubt(file, hunk("def b():")).unwrap().0, Some(HunkDoubt::NearestLine));
    assert_eq!(doubt(file, hunk("def a():")).unwrap().0, None);
}

#[test]
fn blank_lines_are_not_forgiven_where_the_result_stands() {
    let file = "import delta_module_name\n\nimport delta_module_name\nimport gamma_module_name\n";
    let hunk = at(1, diff(" import delta_module_name\n-import delta_module_name\n-\n "));
    assert!(doubt(file, hunk).is_none_or(|(found, _)| found.is_some()));
}

#[test]
fn a_deletion_without_context_that_was_made_is_not_made_again_elsewhere() {
    let file = "a()\nstop()\nb()\nstop()\nc()\n";
    let deletion = || at(2, diff("-stop()"));
    let once = "a()\nb()\nstop()\nc()\n";
    assert_eq!(doubt(file, deletion()), Some((None, once.to_owned())));
    assert_eq!(doubt(once, deletion()).unwrap().0, Some(HunkDoubt::OutsideScope));
}

#[test]
fn a_place_that_differs_only_in_blanks_at_the_ends_of_lines_is_asked_about() {
    let file = "def a():\n    x = load(1)  \n    return x\n\ndef b():\n    x = load(1)\n    return x + 1\n";
    let edit = || swap("    x = load(1)", "    x = load(2)");
    let changed = file.replace("load(1)\n", "load(2)\n");
    assert_eq!(doubt(file, edit()), Some((Some(HunkDoubt::AlsoFits(2)), changed.clone())));
    let named = Hunk { scope: lines("def b():"), ..edit() };
    assert_eq!(doubt(file, named), Some((None, changed.clone())), "the scope says which one is meant");
    assert_eq!(doubt(file, at(6, edit())), Some((None, changed)), "the number says which one is meant");
}
