//! Several answers in one text: where one ends and the next begins. A control block ends an answer; what
//! follows it is another one if it changes something or has its own control block.
//!
//! Nothing is lost and nothing is counted twice: the texts of the answers, one after the other, are the
//! text. Each answer is read by itself, with the line numbers of the whole.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::block_reader::BlockOutcome;
use super::block_walker::{BlockWalker, WalkedBlock};
use super::control;
use super::lines::ResponseLines;
use super::marker_events::MarkerEvents;
use super::{EDIT_LINES, ResponseError, check_length, clean_text, edit_lines, read_lines};
use crate::proposal::Proposal;
use crate::proposal::limits::PlanLimits;

/// A text with more control blocks, and so with more answers, is not read.
pub const ANSWERS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedAnswer<'a> {
    /// Its part of the text, unchanged.
    pub text: &'a str,
    /// The line of the whole text where it begins, from 1.
    pub first_line: usize,
    /// With the line numbers of the whole text.
    pub proposal: Proposal,
}

/// Reads every answer of a text; there is always at least one.
///
/// Two control blocks in a row with the same `uuid` close the same answer, and so does the only one of a
/// text that stands above everything else. If all control blocks stand above what they belong to, each
/// begins an answer instead.
///
/// ```
/// use relaycode_change::{proposal::limits::PlanLimits, response};
///
/// let text = "```txt // a.txt\na\n```\n\n```yaml\nprojectId: p\n```\n\n```txt // b.txt\nb\n```\n";
/// let answers = response::read_all(text, &PlanLimits::default()).unwrap();
/// assert_eq!(answers.len(), 2);
/// assert_eq!((answers[1].first_line, answers[1].proposal.operations[0].line), (8, 10));
/// ```
///
/// # Errors
/// As [`read`](super::read), for the first answer that cannot be read at all; and for a text with more than
/// [`ANSWERS`].
pub fn read_all<'a>(text: &'a str, limits: &PlanLimits) -> Result<Vec<ParsedAnswer<'a>>, ResponseError> {
    check_length(text, limits)?;
    let clean = clean_text(text, limits);
    let lines = ResponseLines::new(&clean);
    let events = MarkerEvents::new(&lines);
    let mut begins = vec![lines.first()];
    if may_be_several(&lines, &events) {
        begins.append(&mut answer_starts(&find_marks(&lines, &events, limits)?));
    }
    if begins.len() == 1 {
        let proposal = read_lines(&lines, &events, limits)?;
        return Ok(vec![ParsedAnswer { text, first_line: 1, proposal }]);
    }
    let ends = begins.iter().skip(1).copied().chain([lines.end()]);
    let mut rest = text;
    let mut answers = Vec::with_capacity(begins.len());
    let mut lines_read = 0;
    for (&first, end) in begins.iter().zip(ends) {
        let part = ResponseLines::from_line(lines.slice(first..end), first);
        let proposal = read_lines(&part, &MarkerEvents::new(&part), limits)?;
        lines_read += edit_lines(&proposal);
        if lines_read > EDIT_LINES {
            return Err(ResponseError::TooManyLines);
        }
        // Cleaning removes no line, so counting them finds the same place in the original.
        let at = if end == lines.end() { rest.len() } else { past_lines(rest, end - first) };
        let (text, below) = rest.split_at(at);
        answers.push(ParsedAnswer { text, first_line: first + 1, proposal });
        rest = below;
    }
    Ok(answers)
}

/// How many bytes the first `count` lines have.
fn past_lines(text: &str, count: usize) -> usize {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    count.checked_sub(1).and_then(|last| ends.nth(last)).map_or(0, |at| at + 1)
}

/// The parts of a text that tell something about its answers.
#[derive(Debug, PartialEq, Eq)]
enum AnswerMark {
    Change,
    /// With its lines and its id.
    Control {
        range: Range<usize>,
        uuid: Option<String>,
    },
}

/// Whether anything stands below the first control block, so that a closer look is worth it.
fn may_be_several(lines: &ResponseLines<'_>, events: &MarkerEvents) -> bool {
    let all = lines.first()..lines.end();
    if !control::has_control_keys(lines.slice(all.clone())) {
        return false;
    }
    let Some(first) = all.clone().find(|line| control::has_control_keys(lines.get(*line))) else {
        return false;
    };
    let next = events.at_or_after(first, 0);
    let Some(event) = events.get(next) else { return false };
    let closes = events.fence(next).is_some_and(|fence| fence.is_bare);
    !closes || events.len() > next + 1 || control::has_control_keys(lines.slice(event.line()..all.end))
}

fn find_marks(
    lines: &ResponseLines<'_>,
    events: &MarkerEvents,
    limits: &PlanLimits,
) -> Result<Vec<AnswerMark>, ResponseError> {
    let mut marks = Vec::new();
    let mut controls = 0;
    let mut blocks = BlockWalker::new(lines, events, limits);
    while let Some(WalkedBlock { segment, outcome, floor, prose_end, .. }) = blocks.next_block(false)? {
        let without_fence = unfenced_control(lines, floor..prose_end);
        controls += usize::from(without_fence.is_some());
        marks.extend(without_fence);
        match outcome {
            // Too large a change is one all the same; reading its answer reports that.
            BlockOutcome::Operations(_) | BlockOutcome::TooMuch(_) => {
                if marks.last() != Some(&AnswerMark::Change) {
                    marks.push(AnswerMark::Change);
                }
            }
            BlockOutcome::Control => {
                controls += 1;
                let text = lines.block_text(segment.content.clone(), segment.indent);
                let (control, _) = control::read(&text, 0);
                marks.push(AnswerMark::Control { range: segment.range, uuid: control.uuid });
            }
            BlockOutcome::Example(_) | BlockOutcome::Broken(..) => {}
        }
        if controls > ANSWERS {
            return Err(ResponseError::TooManyAnswers);
        }
    }
    marks.extend(unfenced_control(lines, blocks.floor()..lines.end()));
    Ok(marks)
}

/// A control block without a fence. In the middle of a text it has to be complete: prose may well contain
/// `uuid: …`.
fn unfenced_control(lines: &ResponseLines<'_>, within: Range<usize>) -> Option<AnswerMark> {
    let run = control::find_unfenced(lines, within)?;
    let first = |wanted: &str| {
        run.clone().find(|line| control::leading_key(lines.get(*line)).is_some_and(|(key, _)| key == wanted))
    };
    let whole = first("projectId")?.max(first("uuid")?);
    // What stands below an empty line may be the name of the next answer's first file.
    let end = (whole..run.end).find(|line| lines.is_blank(*line)).unwrap_or(run.end);
    let range = run.start..end;
    let (control, _) = control::read(lines.slice(range.clone()), 0);
    let uuid = control.project_id.and(control.uuid)?;
    Some(AnswerMark::Control { range, uuid: Some(uuid) })
}

/// Where the second answer and all further ones begin.
fn answer_starts(marks: &[AnswerMark]) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut above: Option<(&Range<usize>, &Option<String>)> = None;
    let heads = matches!(marks, [AnswerMark::Control { .. }, .., AnswerMark::Change]);
    for mark in marks {
        let AnswerMark::Control { range, uuid } = mark else {
            continue;
        };
        if let Some((range_above, uuid_above)) = above
            && (uuid.is_none() || uuid != uuid_above)
        {
            cuts.push(if heads { range.start } else { range_above.end });
        }
        above = Some((range, uuid));
    }
    if let Some((range, _)) = above.filter(|_| !heads && marks.last() == Some(&AnswerMark::Change)) {
        cuts.push(range.end);
    }
    cuts
}
