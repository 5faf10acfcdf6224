//! What the prompt shows is what relay reads.

use proptest::prelude::{
    ProptestConfig, any, prop, prop_assert, prop_assert_eq, prop_assume, prop_oneof, proptest,
};
use proptest::strategy::Strategy as Values;

use super::*;
use crate::plan::tree::MemoryTree;
use crate::plan::{self, NoSeenTexts};
use crate::proposal::FileAction;
use crate::proposal::limits::PlanLimits;

const ALL: [PromptStrategy; 4] = [
    PromptStrategy::Auto,
    PromptStrategy::Replace,
    PromptStrategy::NewUnified,
    PromptStrategy::MultiSearchReplace,
];
const ID: &str = "0b9b6d2e-7a55-4c8c-8f5e-1c2d3e4f5a6b";

fn about(strategy: PromptStrategy) -> PromptOptions<'static> {
    PromptOptions { project_id: "my-app.k3yk3yk3yk", strategy, min_files: 0, max_files: None, files: &[] }
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

/// The answer that the prompt shows.
fn answer(prompt: &str) -> String {
    let (_, below) = prompt.split_once("\n````markdown\n").unwrap();
    let (answer, _) = below.split_once("\n````\n").unwrap();
    answer.replace(NEW_ID, ID)
}

fn tree() -> MemoryTree {
    let mut tree = MemoryTree::default();
    for (name, text) in [
        ("tools/check names.py", "import re\n\ndef check(name):\n    return len(name) < 40\n"),
        (
            "src/cart.ts",
            "export function total(prices: number[]): number {\n  return prices.reduce((sum, price) => sum + price);\n}\n",
        ),
        ("src/old.ts", "old\n"),
        ("src/util.ts", "util\n"),
    ] {
        tree.insert(path(name), text);
    }
    tree
}

#[test]
fn an_answer_that_follows_the_prompt_is_read_without_a_remark_and_planned() {
    for (strategy, edited) in [
        (PromptStrategy::Auto, &["tools/check names.py", "src/cart.ts"][..]),
        (PromptStrategy::Replace, &[]),
        (PromptStrategy::NewUnified, &["src/cart.ts"]),
        (PromptStrategy::MultiSearchReplace, &["tools/check names.py"]),
    ] {
        let text = answer(&render(&about(strategy)).unwrap());
        let proposal = response::read(&text, &PlanLimits::default()).unwrap();
        assert_eq!((&proposal.unread[..], &proposal.notes[..]), (&[][..], &[][..]), "{text}");
        let control = &proposal.control;
        assert_eq!(control.project_id.as_deref(), Some("my-app.k3yk3yk3yk"));
        assert_eq!(control.uuid.as_deref(), Some(ID));
        assert!(control.git_commit_msg.is_some() && control.prompt_summary.is_some());
        let paths: Vec<&str> = proposal.operations.iter().map(|one| one.action.path().as_str()).collect();
        let wanted = [edited, &["src/greet.ts", "src/old.ts", "src/text/util.ts"]].concat();
        assert_eq!(paths, wanted, "{text}");
        assert_eq!(control.change_summary.len(), wanted.len());
        let plan = plan::plan(&proposal, &tree(), &NoSeenTexts, &PlanLimits::default()).unwrap();
        assert_eq!((&plan.findings[..], &plan.notes[..]), (&[][..], &[][..]));
        assert_eq!(response::read_all(&text, &PlanLimits::default()).unwrap().len(), 1);
    }
}

#[test]
fn the_prompt_itself_is_no_answer() {
    for strategy in ALL {
        let prompt = render(&about(strategy)).unwrap();
        let proposal = response::read(&prompt, &PlanLimits::default()).unwrap();
        assert!(proposal.operations.is_empty() && !proposal.control.present, "{proposal:?}");
        assert!(proposal.unread.iter().all(|unread| !unread.broken), "{:?}", proposal.unread);
        assert!(is_prompt(&prompt) && is_prompt(&format!("\u{feff}\r\n{}", prompt.replace('\n', "\r\n"))));
        assert!(!is_prompt(&answer(&prompt)) && !is_prompt(&format!("You said:\n{prompt}")));
    }
}

#[test]
fn the_prompt_is_short_and_speaks_of_the_preferred_form_alone() {
    for strategy in ALL {
        let prompt = render(&about(strategy)).unwrap();
        let count = prompt.lines().count();
        assert!(count <= 70, "{count} lines");
        assert!(!prompt.contains("START") && !prompt.contains("// END"), "no markers");
        let searches = matches!(strategy, PromptStrategy::Auto | PromptStrategy::MultiSearchReplace);
        let diffs = matches!(strategy, PromptStrategy::Auto | PromptStrategy::NewUnified);
        assert_eq!(prompt.contains("multi-search-replace"), searches);
        assert_eq!(prompt.contains("SEARCH"), searches);
        assert_eq!(prompt.contains("new-unified"), diffs);
        assert_eq!(prompt.contains("only for a new file"), searches != diffs);
    }
}

#[test]
fn how_many_files_an_answer_changes_is_said_where_the_project_has_a_rule() {
    let says = |min_files, max_files| {
        render(&PromptOptions { min_files, max_files, ..about(PromptStrategy::Auto) }).unwrap()
    };
    for (min, max) in [(0, None), (1, None)] {
        assert!(!says(min, max).contains("at least") && !says(min, max).contains("at most"));
    }
    assert!(says(3, None).contains("at least 3 files"));
    assert!(says(0, Some(1)).contains("at most 1 file in one answer"));
    assert!(says(2, Some(5)).contains("at most 5 files in one answer"));
}

#[test]
fn what_is_too_much_is_named() {
    let (a, b) = (path("a"), path("src/b.ts"));
    let long = "x".repeat(FILES_BYTES - 2);
    let files = [PromptFile { path: &a, text: &long }, PromptFile { path: &b, text: "yy" }];
    let just = [PromptFile { path: &a, text: &format!("{long}x") }];
    assert!(render(&PromptOptions { files: &just, ..about(PromptStrategy::Auto) }).is_ok());
    let error = render(&PromptOptions { files: &files, ..about(PromptStrategy::Auto) }).unwrap_err();
    assert_eq!(error, PromptError::TooMuch { path: b.clone(), bytes: 2 });
    assert!(error.to_string().starts_with("`src/b.ts` has 2 bytes"), "{error}");
}

#[test]
fn files_stand_below_as_they_are_and_change_nothing() {
    let (a, b, c) = (path("src/my file.ts"), path("Makefile"), path("empty.txt"));
    let hidden = "let a\u{200b} = '\u{202e}';\r\n\tb\u{feff}\r\n";
    let files = [
        PromptFile { path: &a, text: hidden },
        PromptFile { path: &b, text: "all:\n\ttrue" },
        PromptFile { path: &c, text: "" },
    ];
    let prompt = render(&PromptOptions { files: &files, ..about(PromptStrategy::Auto) }).unwrap();
    assert!(
        prompt.contains(&format!("\nThe file `src/my file.ts` is now:\n\n````ts\n{hidden}````\n")),
        "{prompt}"
    );
    let open =
        "The file `Makefile` is now, without a line ending at its end:\n\n````text\nall:\n\ttrue\n````\n";
    assert!(prompt.contains(open), "{prompt}");
    assert!(prompt.ends_with("````txt\n````\n"), "{prompt}");
    let proposal = response::read(&prompt, &PlanLimits::default()).unwrap();
    assert!(proposal.operations.is_empty() && !proposal.control.present, "{proposal:?}");
}

/// Lines that could confuse a fence.
fn line() -> impl Values<Value = String> {
    prop_oneof![
        "[ -~]{0,12}",
        "\\PC{0,8}",
        "[ \t>]{0,3}(`{3,7}|~{3,5})(ts|markdown| // a.ts)?",
        "\u{200b}\u{202e}`{4}\r",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_of_a_file_ends_its_fence(
        texts in prop::collection::vec((prop::collection::vec(line(), 0..8), any::<bool>()), 1..4),
    ) {
        let name = path("a.ts");
        let texts: Vec<String> = texts
            .into_iter()
            .map(|(lines, newline)| lines.join("\n") + if newline { "\n" } else { "" })
            .collect();
        let files: Vec<PromptFile<'_>> = texts.iter().map(|text| PromptFile { path: &name, text }).collect();
        let prompt = render(&PromptOptions { files: &files, ..about(PromptStrategy::Auto) }).unwrap();
        let (_, mut rest) = prompt.split_once("\n# The files as they are now\n").unwrap();
        for text in &texts {
            let (fence, below) = rest.split_once(":\n\n").unwrap().1.split_once("ts\n").unwrap();
            prop_assert!(fence.bytes().all(|byte| byte == b'`'));
            // By CommonMark's rule: the first line of at least as many marks, and nothing else.
            let closes = |line: &str| {
                let line = line.trim();
                line.len() >= fence.len() && line.bytes().all(|byte| byte == b'`')
            };
            let mut at = 0;
            for line in below.split_inclusive(['\n', '\r']) {
                if closes(line) {
                    break;
                }
                at += line.len();
            }
            let shown = &below[..at];
            prop_assert!(shown == text || shown.strip_suffix('\n') == Some(text), "{}", prompt);
            rest = &below[at..];
        }
    }

    #[test]
    fn every_name_comes_back_as_it_is(named in "[a-z]{1,8}(\\.[a-z0-9]{10})?|[!-~é]{1,12}|true|no|1\\.5|\\PC{1,8}") {
        prop_assume!(named.trim() == named);
        let prompt = render(&PromptOptions { project_id: &named, ..about(PromptStrategy::Replace) }).unwrap();
        let proposal = response::read(&answer(&prompt), &PlanLimits::default()).unwrap();
        prop_assert_eq!(proposal.control.project_id, Some(named));
        let deletes = proposal.operations.iter().any(|one| matches!(one.action, FileAction::Delete { .. }));
        prop_assert!(deletes);
    }
}
