//! Apply, then revert: the original bytes. For random files with either line ending, with and without a
//! mark or a final newline, and random edits written in three ways.

use proptest::prelude::*;
use relaycode_change::plan::tree::MemoryTree;
use relaycode_change::plan::{NoSeenTexts, plan};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{EditBody, FileAction, FileEdit, Hunk, Operation, Proposal};
use relaycode_testkit::reverse_change;

/// How an edit is written.
#[derive(Debug, Clone, Copy)]
enum Way {
    SearchReplace,
    Unified,
    Whole,
}

/// A file and one change of it.
#[derive(Debug, Clone)]
struct Edited {
    lines: Vec<String>,
    eol: &'static str,
    mark: bool,
    final_newline: bool,
    at: usize,
    length: usize,
    new: Vec<String>,
    way: Way,
}

fn line() -> impl Strategy<Value = String> {
    // Few different lines, so that blocks repeat as they do in code.
    prop_oneof![
        Just(String::new()),
        Just("}".to_owned()),
        Just("    return value;".to_owned()),
        "[ \t]{0,4}[a-c\"é{}=;]{1,6}",
        "[a-z]{3,8} = [0-9]{1,3}",
    ]
}

fn edited() -> impl Strategy<Value = Edited> {
    let way = prop_oneof![Just(Way::SearchReplace), Just(Way::Unified), Just(Way::Whole)];
    (
        prop::collection::vec(line(), 1..40),
        prop_oneof![Just("\n"), Just("\r\n")],
        any::<bool>(),
        any::<bool>(),
        any::<prop::sample::Index>(),
        1_usize..6,
        prop::collection::vec(line(), 0..6),
        way,
    )
        .prop_map(|(mut lines, eol, mark, final_newline, at, length, mut new, way)| {
            let at = at.index(lines.len());
            let length = length.min(lines.len() - at);
            if !final_newline {
                // An empty last line would itself be the final newline.
                fill_last(&mut lines);
                if at + length == lines.len() {
                    fill_last(&mut new);
                }
            }
            // A single line without its ending does not say which ending the file would use.
            let eol = if lines.len() == 1 && !final_newline { "\n" } else { eol };
            Edited { lines, eol, mark, final_newline, at, length, new, way }
        })
}

fn fill_last(lines: &mut [String]) {
    if let Some(last) = lines.last_mut().filter(|last| last.is_empty()) {
        last.push_str("end");
    }
}

impl Edited {
    fn text(&self) -> String {
        let mut text = String::new();
        if self.mark {
            text.push('\u{feff}');
        }
        text += &self.lines.join(self.eol);
        if self.final_newline {
            text += self.eol;
        }
        text
    }

    fn body(&self) -> EditBody {
        let before = self.lines[self.at..self.at + self.length].to_vec();
        let mut hunk =
            Hunk { line: 1, before, after: self.new.clone(), claimed: Some(self.at + 1), ..Hunk::default() };
        match self.way {
            Way::SearchReplace => EditBody::Hunks(vec![hunk]),
            Way::Unified => {
                hunk.kept = Some(Vec::new());
                if let Some(above) = self.at.checked_sub(1) {
                    hunk.before.insert(0, self.lines[above].clone());
                    hunk.after.insert(0, self.lines[above].clone());
                    hunk.claimed = Some(self.at);
                    hunk.kept = Some(vec![(0, 0)]);
                }
                EditBody::Hunks(vec![hunk])
            }
            Way::Whole => {
                let mut lines = self.lines.clone();
                lines.splice(self.at..self.at + self.length, self.new.iter().cloned());
                let mut text = lines.join("\n");
                text.push('\n');
                EditBody::Whole { text, must_be_new: false }
            }
        }
    }

    fn proposal(&self, path: &RelPath) -> Proposal {
        let dialect = match self.way {
            Way::SearchReplace => "multi-search-replace",
            Way::Unified => "unified",
            Way::Whole => "replace",
        };
        let edit = FileEdit { dialect, body: self.body(), seen: None };
        let action = FileAction::Write { path: path.clone(), edit, mode: None };
        Proposal { operations: vec![Operation { line: 1, action }], ..Proposal::default() }
    }
}

fn planned(proposal: &Proposal, path: &RelPath, text: &str) -> Option<String> {
    let mut tree = MemoryTree::default();
    tree.insert(path.clone(), text.as_bytes());
    let plan = plan(proposal, &tree, &NoSeenTexts, &PlanLimits::default()).ok()?;
    let after = plan.files.into_iter().next()?.after?;
    String::from_utf8(after).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn take_back_gives_the_original_bytes(edited in edited()) {
        let path = RelPath::parse("src/a.txt").unwrap();
        let original = edited.text();
        let Some(changed) = planned(&edited.proposal(&path), &path, &original) else {
            return Ok(());
        };
        // An empty file does not remember its line endings.
        prop_assume!(edited.eol == "\n" || changed.contains('\n'));
        let back = reverse_change::reverse_proposal(&path, &changed, &original);
        let restored = if changed == original {
            Some(original.clone())
        } else {
            planned(&back, &path, &changed)
        };
        prop_assert_eq!(restored.as_deref(), Some(original.as_str()), "through {:?}", changed);
    }

    #[test]
    fn an_exact_hunk_at_its_line_changes_that_line(edited in edited()) {
        prop_assume!(!matches!(edited.way, Way::Whole));
        let path = RelPath::parse("src/a.txt").unwrap();
        let original = edited.text();
        let mut expected = edited.clone();
        expected.lines.splice(edited.at..edited.at + edited.length, edited.new.iter().cloned());
        prop_assume!(expected.lines.len() > 1);
        let changed = planned(&edited.proposal(&path), &path, &original);
        // Refusing is always allowed; anything other than the expected text is not.
        if let Some(changed) = changed {
            let wanted = expected.text();
            // Without its last line, which had no ending, the file ends with the line above it.
            let shorter = format!("{wanted}{}", edited.eol);
            prop_assert!(
                changed == wanted || changed == shorter,
                "got {:?}, wanted {:?}", changed, expected.text()
            );
        }
    }
}
