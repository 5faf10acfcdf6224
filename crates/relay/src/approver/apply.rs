//! "apply?": the card, why it is asked, and everything that can be done before saying yes.

use relaycode_change::diff::{self, FileDiff};
use relaycode_change::plan::{Change, FilePlan, Plan};
use relaycode_change::proposal::Proposal;
use relaycode_door::{Question, Reply, Rule};
use relaycode_ledger::Digest;
use relaycode_tui as view;
use relaycode_tui::look::Look;
use relaycode_tui::{card, question, why};

use super::{Asking, edit, pick};

/// What is offered.
pub(super) struct Offer<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) proposal: &'a Proposal,
    pub(super) plan: &'a Plan,
    pub(super) digest: Digest,
    pub(super) rules: &'a [Rule],
}

/// Asks whether to put the plan on disk; `shown`: the person saw this very plan before.
pub(super) fn ask(asking: &mut Asking<'_>, offer: &Offer<'_>, shown: bool) -> Result<Reply, Reply> {
    let files = Files::of(offer.plan);
    if !shown {
        let clock = asking.setup.clock.as_deref().unwrap_or_default();
        asking.say(&card::at(clock, offer.proposal, offer.plan, &asking.setup.name, &asking.look));
        asking.say(&question::reasons(offer.rules, offer.plan, &asking.look));
        if asking.setup.diff {
            asking.say(&view::diff::text(offer.plan, &asking.look));
        }
    }
    loop {
        let said = asking.hear(&question::apply(&asking.look))?;
        match said.word.as_str() {
            _ if said.is_yes() => return Ok(offer.question.yes()),
            "n" | "no" => return Ok(super::no_because(&said.rest)),
            "r" => return asking.reason(&said.rest),
            "d" => files.show(asking, &said.rest, false),
            "s" => files.show(asking, &said.rest, true),
            "f" => {
                if let Some(revisions) = pick::ask(asking, &files, &said.rest)? {
                    return Ok(Reply::Revise(revisions));
                }
            }
            "e" => {
                if let Some(revision) = edit::ask(asking, &files, &said.rest)? {
                    return Ok(Reply::Revise(vec![revision]));
                }
            }
            "w" => asking.say(&why::text(offer.rules, Some(offer.digest), &asking.look)),
            "?" => asking.show_keys(question::APPLY),
            _ => asking.explain(question::APPLY)?,
        }
    }
}

/// The files of a plan that change, in its order; people count them from 1.
pub(super) struct Files<'a> {
    pub(super) plans: Vec<&'a FilePlan>,
    pub(super) diffs: Vec<FileDiff>,
}

impl<'a> Files<'a> {
    pub(super) fn of(plan: &'a Plan) -> Files<'a> {
        let plans = plan.files.iter().filter(|file| file.change != Change::Unchanged).collect();
        Files { plans, diffs: diff::of_plan(plan) }
    }

    /// The list, numbered; `places`: with the places of each file.
    pub(super) fn list(&self, places: bool, look: &Look) -> String {
        let files: Vec<_> = self.plans.iter().copied().zip(&self.diffs).collect();
        question::files(&files, places, look)
    }

    /// The file that is called by its number, its path, or the end of its path if that is enough.
    pub(super) fn named(&self, word: &str) -> Option<usize> {
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
    pub(super) fn show(&self, asking: &mut Asking<'_>, what: &str, side: bool) {
        let layout = asking.layout(side);
        let whole = |look: &Look| {
            let files = self.plans.iter().zip(&self.diffs);
            files.map(|(file, diff)| view::diff::file_in(file, diff, layout, look)).collect()
        };
        if what.is_empty() {
            return asking.show(&whole);
        }
        let (file, place) = what.split_once('.').unwrap_or((what, ""));
        // A dot may also stand in a path.
        let place =
            place.parse::<usize>().ok().and_then(|place| place.checked_sub(1)).filter(|_| is_number(file));
        let Some(at) = self.named(if place.is_some() { file } else { what }) else {
            return self.unknown(asking, what);
        };
        let part = place.map(|place| pick::only(&self.diffs[at], place));
        match part {
            None => asking.show(&|look| view::diff::file_in(self.plans[at], &self.diffs[at], layout, look)),
            Some(Some(part)) => asking.show(&|look| view::diff::file_in(self.plans[at], &part, layout, look)),
            Some(None) => self.unknown(asking, what),
        }
    }

    fn unknown(&self, asking: &mut Asking<'_>, what: &str) {
        asking.remark(&format!("there is no `{what}` among these"));
        let list = self.list(true, &asking.look);
        asking.say(&list);
    }
}

fn is_number(word: &str) -> bool {
    word.parse::<usize>().is_ok()
}
