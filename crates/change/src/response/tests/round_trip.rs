//! Whatever is printed reads back as the same proposal.

use proptest::prelude::*;

use super::super::{print, read};
use crate::dialect::{self, DialectBlock};
use crate::proposal::limits::PlanLimits;
use crate::proposal::path::RelPath;
use crate::proposal::{
    ControlBlock, EditBody, FileAction, FileEdit, GitFileMode, Hunk, Operation, Proposal, SummaryItem,
};

/// Significant lines, and lines that mean nothing.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ -~]{0,20}",
        2 => "\\PC{0,12}",
        1 => prop::sample::select(vec![
            "```", "```ts", "```ts // b.ts", "~~~", "````", "  ```", "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE",
            "*** Begin Patch", "*** End Patch", "// START", "// END", "# START", "@@ x", "--- a/x", "+++ b/x", "diff --git a/x b/x",
            "<source>", "</source>", "projectId: x", "uuid: y", "//TODO: delete this file", "// src/a.ts", "<!-- -->", "", " ", "\t",
            "{\"command\": \"str_replace\", \"path\": \"b.ts\", \"old_str\": \"x\", \"new_str\": \"y\"}", "{", "[",
            "<edit path=\"b.ts\">", "<search>x</search>", "<replace>y</replace>", "</edit>", "<write_to_file>", "<path>b.ts</path>",
            "<content>", "</content>", "</write_to_file>", "cat > b.ts <<'EOF'", "cat >> b.ts <<EOF", "git apply <<'EOF'",
            "From 0123456789abcdef0123456789abcdef01234567 Mon", "Subject: [PATCH] x", "-- ", "2.43.0",
            "\\", "-------", ":start_line:1", "*** Update File: x", "+", "-", "EOF", "```yaml",
        ]).prop_map(str::to_owned),
    ]
}

fn path() -> impl Strategy<Value = RelPath> {
    prop_oneof![
        "[a-z]{1,8}(/[a-z]{1,8}){0,2}\\.(ts|md|py|txt|yml|diff)",
        "[A-Za-z`'() é#=,;{}-]{1,12}",
        Just("Makefile".to_owned()),
        Just("rename-file".to_owned()),
        Just("src/My File.ts".to_owned()),
        Just("src/a.ts unified".to_owned()),
    ]
    .prop_filter_map("not every text is a path", |text| RelPath::parse(&text).ok())
}

fn whole() -> impl Strategy<Value = EditBody> {
    prop::collection::vec(line(), 0..8).prop_map(|lines| EditBody::Whole {
        text: lines.into_iter().map(|line| line + "\n").collect(),
        must_be_new: false,
    })
}

fn hunk() -> impl Strategy<Value = Hunk> {
    (
        prop::collection::vec(line(), 0..5),
        prop::collection::vec(line(), 0..5),
        prop::collection::vec(line(), 0..3),
        prop::option::of(1..99_usize),
    )
        .prop_map(|(old, new, context, claimed)| {
            let kept = (0..context.len()).map(|at| (at, at)).collect();
            Hunk {
                before: context.iter().cloned().chain(old).collect(),
                after: context.into_iter().chain(new).collect(),
                kept: Some(kept),
                claimed,
                ..Hunk::default()
            }
        })
}

fn edit() -> impl Strategy<Value = (FileEdit, Option<GitFileMode>)> {
    let edit = |dialect, body| FileEdit { dialect, body, seen: None };
    let mode = prop::option::of(prop::sample::select(vec![GitFileMode::Regular, GitFileMode::Executable]));
    let hunks = || prop::collection::vec(hunk(), 1..3);
    let searches = prop::collection::vec(hunk(), 1..3).prop_map(|mut hunks| {
        for hunk in &mut hunks {
            hunk.kept = None;
        }
        EditBody::Hunks(hunks)
    });
    prop_oneof![
        whole().prop_map(move |body| (edit("replace", body), None)),
        searches.prop_map(move |body| (edit("multi-search-replace", body), None)),
        hunks().prop_map(move |hunks| (edit("new-unified", EditBody::Hunks(hunks)), None)),
        (hunks(), mode).prop_map(move |(hunks, mode)| (edit("unified", EditBody::Hunks(hunks)), mode)),
        hunks().prop_map(move |hunks| (edit("apply-patch", EditBody::Hunks(hunks)), None)),
    ]
}

fn action() -> impl Strategy<Value = FileAction> {
    prop_oneof![
        5 => (path(), edit()).prop_map(|(path, (edit, mode))| FileAction::Write { path, edit, mode }),
        1 => path().prop_map(|path| FileAction::Delete { path, old: None }),
        1 => (path(), path()).prop_map(|(from, to)| FileAction::Rename { from, to }),
    ]
    .prop_filter("only what a dialect can write and read back", is_expressible)
}

/// Whether the action's own dialect reads back what it prints: it alone decides which hunks it can yield
/// (no empty ones, none without a change), and has tests for that. A file whose only line is the delete
/// marker is a deletion.
fn is_expressible(action: &FileAction) -> bool {
    let FileAction::Write { path, edit, .. } = action else {
        return true;
    };
    if let EditBody::Whole { text, .. } = &edit.body {
        return !super::super::markers::is_delete(text);
    }
    let dialect = dialect::by_name(edit.dialect).unwrap();
    let block = DialectBlock { path: Some(path.clone()), text: &dialect.print(action), line: 1 };
    let again = dialect.read(&block).unwrap_or_default();
    let plain = |operations: Vec<Operation>| {
        let proposal = Proposal { operations, ..Proposal::default() };
        proposal.without_positions().operations
    };
    plain(again) == plain(vec![operation(action.clone())])
}

fn operation(action: FileAction) -> Operation {
    Operation { line: 0, action }
}

fn text() -> impl Strategy<Value = Option<String>> {
    let text = prop_oneof!["[ -~]{1,20}", "\\PC{1,10}", "[a-z:]{1,5}\n[a-z# -]{0,9}"];
    prop::option::of(
        text.prop_map(|text| text.trim().to_owned()).prop_filter("a value", |text| !text.is_empty()),
    )
}

fn control() -> impl Strategy<Value = ControlBlock> {
    let rows = prop::collection::vec(("(new|edit|delete) ?", " ?[a-z]{1,6}\\.ts ?"), 0..3);
    (any::<bool>(), text(), any::<bool>(), text(), text(), rows).prop_map(
        |(present, id, uuid, message, summary, rows)| {
            if !present {
                return ControlBlock::default();
            }
            ControlBlock {
                present,
                project_id: id,
                uuid: uuid.then(|| "0b9b6d2e-7a55-4c8c-8f5e-1c2d3e4f5a6b".to_owned()),
                git_commit_msg: message,
                prompt_summary: summary,
                change_summary: rows.into_iter().map(|(verb, path)| SummaryItem { verb, path }).collect(),
            }
        },
    )
}

fn proposal() -> impl Strategy<Value = Proposal> {
    // Paragraphs of plain prose: significant lines would not be left as reasoning.
    let reasoning = prop::collection::vec("[A-Z][a-z ,]{0,20}\\.", 0..4);
    (control(), prop::collection::vec(action(), 0..4), reasoning).prop_map(|(control, actions, reasoning)| {
        let mut seen = std::collections::HashSet::new();
        Proposal {
            control,
            // Two operations for one file may be joined; that has its own test.
            operations: actions
                .into_iter()
                .filter(|action| seen.insert(action.path().clone()))
                .map(operation)
                .collect(),
            reasoning: reasoning.into_iter().map(|text| text.trim().to_owned()).collect(),
            ..Proposal::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn printing_and_reading_gives_the_same(proposal in proposal()) {
        let text = print(&proposal);
        let mut again = read(&text, &PlanLimits::default()).unwrap().without_positions();
        // A summary that does not match the operations is told, each time.
        again.notes.retain(|note| !note.text.contains("changeSummary"));
        again.unread.retain(|unread| !unread.reason.contains("changeSummary"));
        prop_assert_eq!(again, proposal, "{}", text);
    }

    #[test]
    fn reading_is_total_and_a_fixed_point(lines in prop::collection::vec(line(), 0..40)) {
        let first = read(&lines.join("\n"), &PlanLimits::default()).unwrap();
        // Damage is reported, not printed, and the rest of the text may read differently.
        prop_assume!(first.unread.is_empty() && first.notes.is_empty());
        let again = read(&print(&first), &PlanLimits::default()).unwrap();
        prop_assert_eq!(again.without_positions().operations, first.without_positions().operations);
    }
}
