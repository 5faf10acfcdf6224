//! Answers that end too early, and deletions of files that are no longer what the author saw.

use relaycode_change::plan::{self, NoSeenTexts};
use relaycode_change::{dialect, response};

use super::edits::{Region, regions};
use super::{RealEdit, SET};
use crate::engine;
use crate::judged::{Judged, Outcome};
use relaycode_proof_corpus::rows::Files;

/// Most cuts of one answer: in its first and last lines, which are the interesting ones.
const CUTS: usize = 24;

/// Every cut of the edit as an answer of each kind, and the deletions.
pub(super) fn all(edit: &RealEdit) -> Vec<Judged> {
    let mut judged = Vec::new();
    let path = &edit.path;
    let whole = format!("Here it is.\n\n````text // {path}\n{}````\n\nThat is all.\n", edit.after);
    cuts("cut off in a whole file", edit, &whole, &mut judged);
    let blocks: String = regions(edit).iter().filter(|region| !region.old.is_empty()).map(block).collect();
    if !blocks.is_empty() {
        let text =
            format!("Here it is.\n\n````text // {path} search-replace\n{blocks}````\n\nThat is all.\n");
        cuts("cut off in search/replace", edit, &text, &mut judged);
    }
    let deletion = |old: &str| {
        let lines: String = old.lines().map(|line| format!("-{line}\n")).collect();
        let count = old.lines().count();
        format!(
            "````diff\ndiff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n@@ -1,{count} +0,0 @@\n{lines}````\n"
        )
    };
    for (kind, old, goes) in
        [("deletion", &edit.before, true), ("deletion of a changed file", &edit.after, false)]
    {
        let mut case = Judged::new(SET, kind, &edit.id);
        let gone = changes(edit, &deletion(old), &mut case);
        judged.push(match (gone, goes) {
            (true, true) => case.good(Outcome::Correct),
            (false, false) => case.good(Outcome::Refused),
            (false, true) => case.bad(Outcome::Refused),
            (true, false) => case.bad(Outcome::Wrong),
        });
    }
    judged
}

fn block(region: &Region) -> String {
    let lines = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    format!("<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n", lines(&region.old), lines(&region.new))
}

/// `answer` cut below every line between its fences must not change anything.
fn cuts(kind: &str, edit: &RealEdit, answer: &str, judged: &mut Vec<Judged>) {
    // A text that holds such fences or markers itself says nothing about cutting.
    let own = |text: &str| {
        text.contains("````") || text.contains("<<<<<<<") || dialect::detect(text).name() != "replace"
    };
    if own(&edit.before) || own(&edit.after) {
        return;
    }
    let lines: Vec<&str> = answer.split_inclusive('\n').collect();
    let inside = 3..lines.len() - 3;
    let chosen = inside.clone().filter(|end| end - inside.start < CUTS / 2 || inside.end - end <= CUTS / 2);
    for end in chosen {
        let id = format!("{}@{end}", edit.id);
        let mut case = Judged::new(SET, kind, &id);
        let changed = changes(edit, &lines[..end].concat(), &mut case);
        judged.push(if changed { case.bad(Outcome::Wrong) } else { case.good(Outcome::Refused) });
    }
}

/// Whether the answer changes the old file.
fn changes(edit: &RealEdit, answer: &str, case: &mut Judged) -> bool {
    let Ok(proposal) = response::read(answer, &engine::generous()) else { return false };
    let files = Files::from([(edit.path.to_string(), Some(edit.before.clone()))]);
    match plan::plan(&proposal, &engine::tree(&files), &NoSeenTexts, &engine::generous()) {
        Ok(plan) => plan.files.iter().any(|file| file.before != file.after),
        Err(refused) => {
            refused.refusals.iter().take(1).for_each(|refusal| case.note(engine::describe(refusal)));
            false
        }
    }
}
