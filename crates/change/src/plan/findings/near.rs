//! Hunks that match the file only nearly (the file's text and the answer's), hunks that would add lines a
//! second time, and changes that were merged with somebody else's.

use super::{CheckedFile, PlanCheck, clip_line};
use crate::plan::{FindingKind, HunkDoubt, HunkReport, MERGED_RUNG, PlanFinding};

/// Matches on these rungs are always reported.
const ASKING_RUNGS: [&str; 2] = ["near", "outer context"];

pub(super) struct NearCheck;

impl PlanCheck for NearCheck {
    fn kind(&self) -> FindingKind {
        FindingKind::Near
    }

    fn check(&self, file: &CheckedFile<'_>, out: &mut Vec<PlanFinding>) {
        for hunk in &file.file.hunks {
            if let Some(doubt) = hunk.doubt {
                out.push(file.finding(self.kind(), Some(hunk.used), doubt_sentence(doubt, hunk.used)));
            }
            if hunk.rung == MERGED_RUNG {
                let text = "the file changed after it was copied, and both changes were put together";
                out.push(file.finding(self.kind(), Some(hunk.used), text.to_string()));
            }
            if ASKING_RUNGS.contains(&hunk.rung) || !hunk.differences.is_empty() {
                let line = hunk.differences.first().map_or(hunk.used, |first| first.line);
                out.push(file.finding(self.kind(), Some(line), sentence(hunk)));
            }
        }
    }
}

fn doubt_sentence(doubt: HunkDoubt, line: usize) -> String {
    match doubt {
        HunkDoubt::Repeats => {
            format!("what the edit adds at line {line} already stands there; it would stand there twice")
        }
        HunkDoubt::LittleText => {
            format!(
                "the edit fits line {line} but for its layout, and is too short to tell whether that line is meant"
            )
        }
        HunkDoubt::OtherDepth => {
            format!(
                "the edit fits line {line} only with another indentation; it may be meant for another place"
            )
        }
        HunkDoubt::MixedIndentation => {
            format!(
                "the edit at line {line} mixes tabs and blanks: its new lines are not indented like the file"
            )
        }
        HunkDoubt::OnlyAdds => {
            format!("the edit adds lines at line {line}, with no line around them to confirm the place")
        }
        HunkDoubt::OutsideScope => {
            format!("the edit fits line {line}, but that is not where the answer says it belongs")
        }
        HunkDoubt::NearestLine => {
            format!(
                "the edit fits several places; line {line} is only the nearest to the line that the answer names"
            )
        }
        HunkDoubt::ByOrder => {
            format!(
                "the edit fits several places; only the order of the edits in the answer says line {line}"
            )
        }
        HunkDoubt::ResultStandsAt(result) => {
            format!(
                "the edit fits line {line} but for its layout or its line number, and its result already stands on line {result}"
            )
        }
        HunkDoubt::OldTextElsewhere => {
            format!(
                "the new text of the edit already stands on line {line}, but the old text stands elsewhere"
            )
        }
        HunkDoubt::AlsoFits(other) => {
            format!("the edit fits line {line}, but also line {other} except for blanks at the ends of lines")
        }
        HunkDoubt::JoinsLines => {
            format!("the edit at line {line} would put two lines of the file together into one")
        }
        HunkDoubt::PerhapsIn => {
            format!(
                "the old text of the edit is not in the file; the new text stands on line {line}, but may belong to something else"
            )
        }
    }
}

fn sentence(hunk: &HunkReport) -> String {
    let Some(first) = hunk.differences.first() else {
        return format!("the edit matches line {} only nearly", hunk.used);
    };
    let (line, file, answer) = (first.line, clip_line(&first.file), clip_line(&first.answer));
    let mut text = match (file.is_empty(), answer.is_empty()) {
        (false, true) => format!("line {line} says `{file}`, the answer leaves it out"),
        (true, false) => format!("line {line} is not there, the answer says `{answer}`"),
        _ => format!("line {line} says `{file}`, the answer says `{answer}`"),
    };
    match hunk.differences.len() - 1 {
        0 => {}
        1 => text.push_str(" (and 1 more line differs)"),
        more => text.push_str(&format!(" (and {more} more lines differ)")),
    }
    text
}
