//! "apply?": the card, why it is asked, and everything that can be done before saying yes.

use relaycode_change::diff::{self, FileDiff};
use relaycode_change::plan::{FileChangeKind, FilePlan, Plan};
use relaycode_change::proposal::Proposal;
use relaycode_door::{ApprovalQuestion, ApprovalReason, ApprovalReply};
use relaycode_ledger::Digest;
use relaycode_tui::OutputStyle;
use relaycode_tui::views::{self, question};

use super::{DialogResult, QuestionDialog, edit, pick};

pub(super) struct ApplyPrompt<'a> {
    pub(super) question: &'a ApprovalQuestion<'a>,
    pub(super) proposal: &'a Proposal,
    pub(super) plan: &'a Plan,
    pub(super) digest: Digest,
    pub(super) rules: &'a [ApprovalReason],
}

/// Asks whether to put the plan on disk; `seen`: the person saw this very plan before.
pub(super) fn ask_apply(
    asking: &mut QuestionDialog<'_>,
    offer: &ApplyPrompt<'_>,
    seen: bool,
) -> DialogResult {
    let files = ChangedFiles::from_plan(offer.plan);
    if !seen {
        asking.show_card(offer.proposal, offer.plan);
        asking.say(&question::reasons(offer.rules, offer.plan, &asking.style));
        if asking.setup.diff {
            asking.show(&|look: &OutputStyle| views::diff::text(offer.plan, look));
        }
    }
    loop {
        let said = asking.read_reply(&question::apply_prompt(&asking.style))?;
        match said.word.as_str() {
            _ if said.is_yes() => return Ok(offer.question.yes()),
            "n" | "no" => return Ok(super::decline(&said.rest)),
            "r" => return asking.decline_with_reason(&said.rest),
            "d" => files.show_diff(asking, &said.rest, false),
            "s" => files.show_diff(asking, &said.rest, true),
            "f" => {
                if let Some(revisions) = pick::ask_pick(asking, &files, &said.rest)? {
                    return Ok(ApprovalReply::Revise(revisions));
                }
            }
            "e" => {
                if let Some(revision) = edit::ask_edit(asking, &files, &said.rest)? {
                    return Ok(ApprovalReply::Revise(vec![revision]));
                }
            }
            "w" => asking.explain_rules(offer.rules, offer.digest),
            "?" => asking.show_keys(question::APPLY_KEYS),
            _ => asking.explain_keys(question::APPLY_KEYS)?,
        }
    }
}

/// The files of a plan that change, in its order; people count them from 1.
pub(super) struct ChangedFiles<'a> {
    pub(super) plans: Vec<&'a FilePlan>,
    pub(super) diffs: Vec<FileDiff>,
}

impl<'a> ChangedFiles<'a> {
    pub(super) fn from_plan(plan: &'a Plan) -> ChangedFiles<'a> {
        let plans = plan.files.iter().filter(|file| file.change != FileChangeKind::Unchanged).collect();
        ChangedFiles { plans, diffs: diff::diff_plan(plan) }
    }

    /// The list, numbered; `places`: with the places of each file.
    pub(super) fn list(&self, places: bool, look: &OutputStyle) -> String {
        let files: Vec<_> = self.plans.iter().copied().zip(&self.diffs).collect();
        question::numbered_files(&files, places, look)
    }

    /// The file that is called by its number, its path, or the end of its path if that is enough.
    pub(super) fn find_file(&self, word: &str) -> Option<usize> {
        if let Ok(number) = word.parse::<usize>() {
            return (1..=self.plans.len()).contains(&number).then(|| number - 1);
        }
        let path = |file: &&FilePlan| file.path.as_str() == word;
        self.plans.iter().position(path).or_else(|| {
            let end = format!("/{word}");
            let mut ending =
                self.plans.iter().enumerate().filter(|(_, file)| file.path.as_str().ends_with(&end));
            ending.next().map(|(index, _)| index).filter(|_| ending.next().is_none())
        })
    }

    /// Shows the diff: of everything, of one file (`2`, `src/a.ts`), or of one place (`2.1`).
    pub(super) fn show_diff(&self, asking: &mut QuestionDialog<'_>, what: &str, side: bool) {
        let layout = asking.layout(side);
        let whole = |look: &OutputStyle| {
            views::diff::files_text(self.plans.iter().copied().zip(&self.diffs), layout, look)
        };
        if what.is_empty() {
            return asking.show(&whole);
        }
        let (file, place) = what.split_once('.').unwrap_or((what, ""));
        // A dot may also stand in a path.
        let place = place.parse::<usize>().ok().and_then(|p| p.checked_sub(1)).filter(|_| is_number(file));
        let Some(at) = self.find_file(if place.is_some() { file } else { what }) else {
            return self.report_unknown(asking, what);
        };
        let part = match place {
            None => Some(self.diffs[at].clone()),
            Some(place) => pick::single_hunk(&self.diffs[at], place),
        };
        let Some(part) = part else { return self.report_unknown(asking, what) };
        asking.show(&|look| views::diff::file_text_with_layout(self.plans[at], &part, layout, look));
    }

    fn report_unknown(&self, asking: &mut QuestionDialog<'_>, what: &str) {
        asking.remark(&format!("`{what}` is none of these"));
        let list = self.list(true, &asking.style);
        asking.say(&list);
    }
}

fn is_number(word: &str) -> bool {
    word.parse::<usize>().is_ok()
}
