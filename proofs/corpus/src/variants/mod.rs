//! `--variants`: from every real edit of the cases, edits that have less to go by. Context is cut down, the target is
//! removed, moved or stands again elsewhere, the answer ends too early. Each has few outcomes that are right; what is
//! never right is to change another place, or to do nothing, without asking.

mod cut_off;
mod edits;
mod kinds;

use relaycode_change::plan::{self, FindingKind, NoSeenTexts, Plan};
use relaycode_change::proposal::Proposal;
use relaycode_change::proposal::path::RelPath;
use std::time::Instant;

use super::engine::{self, After};
use super::judged::{Judged, Outcome};
use relaycode_proof_corpus::rows::Files;

/// A real edit of one file, as the texts before and after it.
pub(crate) struct RealEdit {
    pub(crate) id: String,
    pub(crate) path: RelPath,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// The set that the variants form.
const SET: &str = "variants";

/// Makes and judges all variants of one edit.
pub(crate) fn judge(edit: &RealEdit, judged: &mut Vec<Judged>) {
    let text = |text: &str| !text.contains('\r') && text.lines().count() <= edits::FILE_LINES;
    if edit.before == edit.after || !text(&edit.before) || !text(&edit.after) {
        return;
    }
    for region in edits::regions(edit) {
        judged.extend(kinds::all(edit, &region).into_iter().map(|variant| variant.judge(edit)));
    }
    judged.extend(cut_off::all(edit));
}

/// One case: a file, a change, and what may come of it.
struct Variant {
    kind: String,
    region: usize,
    file: String,
    proposal: Proposal,
    /// The only text that may be written without asking; `None`: nothing may.
    right: Option<String>,
    /// Doing nothing without asking is right too.
    may_do_nothing: bool,
    /// The old text stands elsewhere to the letter: nobody can tell that this is not the place. Counted apart.
    has_twin: bool,
}

impl Variant {
    fn judge(&self, edit: &RealEdit) -> Judged {
        let id = format!("{}@{}", edit.id, self.region);
        let mut case = Judged::new(SET, &self.kind, &id);
        let files = Files::from([(edit.path.to_string(), Some(self.file.clone()))]);
        let start = Instant::now();
        let plan = plan::plan(&self.proposal, &engine::tree(&files), &NoSeenTexts, &engine::generous());
        case.micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        let Ok(plan) = plan else { return case.good(Outcome::Refused) };
        case.near = is_asked(&plan);
        for hunk in plan.files.iter().flat_map(|file| &file.hunks) {
            case.note(format!("  {}", super::show::report(hunk)));
        }
        let got = match engine::after(&plan, edit.path.as_str()) {
            After::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            After::Untouched => self.file.clone(),
            After::Gone => String::new(),
        };
        if self.right.as_ref() == Some(&got) && got != self.file {
            return case.good(Outcome::Correct);
        }
        if case.near {
            return case.good(Outcome::Review);
        }
        if got == self.file && self.may_do_nothing {
            return case.good(Outcome::NoOp);
        }
        if self.has_twin {
            return case.good(Outcome::Excepted);
        }
        let what = if got == self.file { "  does nothing" } else { "  changes another place" };
        case.note(what);
        case.account.extend(super::show::difference(
            self.right.as_ref().unwrap_or(&self.file).as_bytes(),
            got.as_bytes(),
        ));
        case.bad(Outcome::Wrong)
    }
}

fn is_asked(plan: &Plan) -> bool {
    plan.findings.iter().any(|finding| finding.kind == FindingKind::Near)
}
