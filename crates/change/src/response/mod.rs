//! Reading a response: text in, proposal out, in time linear in the text.
//!
//! ```text
//! lines ─► marker_events (the significant lines) ─► segments (which lines are a block)
//!       ─► block_reader (file and dialect; header, file_names, markers) ─► operations
//!       └► the rest is reasoning, and the control block at the end
//! ```
//!
//! Reading is forgiving about form and strict about meaning: every block ends up as an operation, as
//! the control block, or in [`Proposal::unread`] with its line and the reason.

mod answers;
mod block_reader;
mod block_shape;
mod block_walker;
mod control;
mod cut_off;
pub(crate) mod file_names;
mod header;
mod lines;
mod marker_events;
pub(crate) mod markers;
mod nesting;
mod print;
mod quotes;
mod remarks;
mod segments;
mod stray;
mod unfenced;

#[cfg(test)]
mod tests;
mod thoughts;

pub use answers::{ANSWERS, ParsedAnswer, read_all};
pub use print::{EXACT_DIALECT, print};
pub(crate) use print::{fence_language, quote};

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::dialect::mail::{self, MailHeaders};
use crate::proposal::limits::PlanLimits;
use crate::proposal::path::RelPath;
use crate::proposal::{EditBody, FileAction, FileEdit, Hunk, Operation, Proposal, ProposalNote, UnreadBlock};
use block_reader::BlockOutcome;
use block_walker::{BlockWalker, WalkedBlock};
use lines::ResponseLines;
use marker_events::MarkerEvents;
use stray::StrayFinder;

/// Most unread blocks listed; a note counts the rest.
pub const UNREAD_LISTED: usize = 1_000;

/// An answer with more blocks is not read.
pub const BLOCKS: usize = 100_000;

/// Edits with more lines to find and to put there are not read: each of them is kept by itself.
pub const EDIT_LINES: usize = 300_000;

/// Separates two paragraphs of reasoning that no block separates.
const DIVIDER: &str = "<!-- -->";

/// A response that cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// Over [`PlanLimits::text_bytes`].
    #[error("the answer has {bytes} bytes; the limit `text` is {most}")]
    TooLong { bytes: usize, most: usize },
    /// Over [`BLOCKS`].
    #[error("the answer has more than {BLOCKS} blocks")]
    TooManyBlocks,
    /// Over [`ANSWERS`].
    #[error("the text holds more than {ANSWERS} answers")]
    TooManyAnswers,
    /// Over [`EDIT_LINES`].
    #[error("the edits of the text have more than {EDIT_LINES} lines; send whole files instead")]
    TooManyLines,
    /// Over [`PlanLimits::files`].
    #[error("the answer changes more files than the limit `files` allows, which is {most}")]
    TooManyFiles { most: usize },
    /// Over [`PlanLimits::hunks`].
    #[error("the answer has more edits than the limit `hunks` allows, which is {most}")]
    TooManyHunks { most: usize },
}

/// ```
/// use relaycode_change::{proposal::limits::PlanLimits, response};
///
/// let text = "A greeting.\n\n```ts // src/hi.ts\nexport const hi = 'hi';\n```\n";
/// let proposal = response::read(text, &PlanLimits::default()).unwrap();
/// assert_eq!(proposal.operations[0].action.path().as_str(), "src/hi.ts");
/// assert_eq!(proposal.reasoning, ["A greeting."]);
/// ```
///
/// # Errors
/// [`ResponseError`] if it cannot be read at all; single blocks that cannot be read are listed in
/// [`Proposal::unread`].
pub fn read(text: &str, limits: &PlanLimits) -> Result<Proposal, ResponseError> {
    check_length(text, limits)?;
    let text = clean_text(text, limits);
    let lines = ResponseLines::new(&text);
    read_lines(&lines, &MarkerEvents::new(&lines), limits)
}

/// The text as it is read: with its lines ended by `\n`, without what a model wrote for itself, quoted blocks unquoted. It
/// keeps its number of lines.
fn clean_text<'a>(text: &'a str, limits: &PlanLimits) -> Cow<'a, str> {
    quotes::unquote(thoughts::without_thoughts(lines::normalize_newlines(text)), limits)
}

fn check_length(text: &str, limits: &PlanLimits) -> Result<(), ResponseError> {
    let most = limits.text_bytes.min(lines::MOST_BYTES);
    let bytes = text.len();
    if bytes > most { Err(ResponseError::TooLong { bytes, most }) } else { Ok(()) }
}

fn read_lines(
    lines: &ResponseLines<'_>,
    events: &MarkerEvents,
    limits: &PlanLimits,
) -> Result<Proposal, ResponseError> {
    let mut collector = ProposalBuilder::new(limits, events.named_block_count());
    let mut blocks = BlockWalker::new(lines, events, limits);
    let mut stray = StrayFinder::new(lines, limits);
    let mut said_from = lines.first();
    while let Some(told) = blocks.next_block(collector.listed[0] < UNREAD_LISTED)? {
        let WalkedBlock { segment, outcome, floor, prose_end: said_to, mut notes } = told;
        collector.add_stray(stray.find(floor..segment.range.start));
        if !matches!(outcome, BlockOutcome::Example(_)) {
            collector.add_reasoning(lines, said_from..said_to);
            said_from = segment.range.end;
        }
        if matches!(&outcome, BlockOutcome::Operations(operations) if operations.iter().all(is_diff)) {
            collector.add_mail_subject(lines, segment.content.clone());
        }
        match outcome {
            BlockOutcome::Operations(operations) => {
                collector.proposal.notes.append(&mut notes);
                collector.add_operations(operations)?;
            }
            BlockOutcome::Control => collector.add_control(segment.content.clone(), segment.indent),
            BlockOutcome::Example(_)
                if collector.changes_something() && cut_off::ends_inside(lines, &segment) =>
            {
                let reason = "the answer ends inside of this block; it may be cut off".to_owned();
                collector.add_unread(segment.range.start + 1, reason, true);
            }
            BlockOutcome::Example(reason) => collector.add_unread(segment.range.start + 1, reason, false),
            BlockOutcome::Broken(line, reason) => collector.add_unread(line, reason, true),
            BlockOutcome::TooMuch(error) => return Err(error),
        }
        while collector.is_hopeless() && blocks.skip_block()? {
            collector.unlisted += 1;
        }
    }
    collector.add_stray(stray.find(blocks.floor()..lines.end()));
    collector.add_ending(lines, said_from, blocks.floor());
    if collector.changes_something()
        && let Some((line, reason)) = cut_off::find_missing_block(lines, blocks.floor())
    {
        collector.add_unread(line + 1, reason.to_owned(), true);
    }
    Ok(collector.finish(lines))
}

/// Whether it may come from a diff; the text of a file that looks like a mail is none.
fn is_diff(operation: &Operation) -> bool {
    !matches!(&operation.action, FileAction::Write { edit, .. } if edit.dialect != EXACT_DIALECT)
}

fn line_count(hunk: &Hunk) -> usize {
    hunk.before.len() + hunk.after.len()
}

/// How many lines the edits of a proposal have.
fn edit_lines(proposal: &Proposal) -> usize {
    let lines = proposal.operations.iter().map(|operation| match &operation.action {
        FileAction::Write { edit: FileEdit { body: EditBody::Hunks(hunks), .. }, .. } => {
            hunks.iter().map(line_count).sum()
        }
        _ => 0,
    });
    lines.sum()
}

/// What has been read so far.
struct ProposalBuilder<'a> {
    limits: &'a PlanLimits,
    proposal: Proposal,
    /// Every file of an operation, and the operation to which further hunks for it are added.
    files: HashMap<RelPath, Option<usize>>,
    hunks: usize,
    edit_lines: usize,
    /// The lines of the control block and their indentation, once there is one.
    control: Option<(Range<usize>, usize)>,
    several_controls: bool,
    /// Unread blocks that are not listed.
    unlisted: usize,
    /// Listed blocks that are examples, and that are broken.
    listed: [usize; 2],
    /// Of the first mail or commit.
    subject: Option<String>,
}

impl ProposalBuilder<'_> {
    /// `named`: how many blocks name a file.
    fn new(limits: &PlanLimits, named: usize) -> ProposalBuilder<'_> {
        let most = named.min(limits.files).min(BLOCKS);
        ProposalBuilder {
            limits,
            proposal: Proposal { operations: Vec::with_capacity(most), ..Proposal::default() },
            files: HashMap::with_capacity(most),
            hunks: 0,
            edit_lines: 0,
            control: None,
            several_controls: false,
            unlisted: 0,
            listed: [0; 2],
            subject: None,
        }
    }

    fn add_operations(&mut self, operations: Vec<Operation>) -> Result<(), ResponseError> {
        for operation in operations {
            self.add_operation(operation)?;
        }
        Ok(())
    }

    /// Notes an operation on a file, and that `open` is now the operation to which hunks for it are added;
    /// returns the previous one.
    fn track_file(&mut self, path: &RelPath, open: Option<usize>) -> Result<Option<usize>, ResponseError> {
        if let Some(earlier) = self.files.get_mut(path) {
            return Ok(std::mem::replace(earlier, open));
        }
        let most = self.limits.files;
        if self.files.len() >= most {
            return Err(ResponseError::TooManyFiles { most });
        }
        self.files.insert(path.clone(), open);
        Ok(None)
    }

    /// Counts edits: one without hunks counts too, so that no number of blocks is without limit.
    fn count_hunks(&mut self, hunks: usize) -> Result<(), ResponseError> {
        self.hunks += hunks.max(1);
        let most = self.limits.hunks;
        if self.hunks > most { Err(ResponseError::TooManyHunks { most }) } else { Ok(()) }
    }

    /// Adds an operation. Hunks for a file whose hunks are being collected join those, as long as nothing
    /// else happened to the file in between.
    fn add_operation(&mut self, mut operation: Operation) -> Result<(), ResponseError> {
        if let FileAction::Rename { from, .. } = &operation.action {
            self.track_file(from, None)?;
        }
        let FileAction::Write { path, edit: FileEdit { dialect, body: EditBody::Hunks(hunks), .. }, mode } =
            &mut operation.action
        else {
            self.track_file(operation.action.path(), None)?;
            self.count_hunks(1)?;
            self.proposal.operations.push(operation);
            return Ok(());
        };
        self.edit_lines += hunks.iter().map(line_count).sum::<usize>();
        if self.edit_lines > EDIT_LINES {
            return Err(ResponseError::TooManyLines);
        }
        let next = self.proposal.operations.len();
        let open = self.track_file(path, Some(next))?;
        self.count_hunks(hunks.len())?;
        let earlier = open.and_then(|at| self.proposal.operations.get_mut(at));
        if let Some(Operation { action: FileAction::Write { edit, mode: earlier_mode, .. }, .. }) = earlier
            && let EditBody::Hunks(earlier_hunks) = &mut edit.body
            && edit.dialect == *dialect
            && (mode.is_none() || earlier_mode.is_none() || mode == earlier_mode)
        {
            hunks.iter_mut().take(1).for_each(|hunk| hunk.begins_block = true);
            earlier_hunks.append(hunks);
            *earlier_mode = earlier_mode.or(*mode);
            self.track_file(path, open)?;
            return Ok(());
        }
        self.proposal.operations.push(operation);
        Ok(())
    }

    fn changes_something(&self) -> bool {
        !self.proposal.operations.is_empty() && self.control.is_none()
    }

    /// Whether so many blocks are damaged that reading on helps nobody.
    fn is_hopeless(&self) -> bool {
        self.listed[1] > UNREAD_LISTED
    }

    fn add_control(&mut self, lines: Range<usize>, indent: usize) {
        let line = lines.start + 1;
        let first = self.control.is_none();
        self.control = Some((lines, indent));
        if !first && !self.several_controls {
            self.several_controls = true;
            let text = "there is more than one control block; the last one counts".to_owned();
            self.proposal.notes.push(ProposalNote { line, text });
        }
    }

    /// The subject of a patch in a block.
    fn add_mail_subject(&mut self, lines: &ResponseLines<'_>, content: Range<usize>) {
        let first = lines.next_nonblank(content.start, content.end);
        if self.subject.is_none() && first.is_some_and(|first| mail::begins_mail(lines.get(first))) {
            self.subject = mail::read_headers(content.map(|line| lines.get(line))).subject;
        }
    }

    fn add_reasoning(&mut self, lines: &ResponseLines<'_>, range: Range<usize>) {
        if lines.next_nonblank(range.start, range.end).is_none() {
            return;
        }
        let said = || range.clone().map(|line| lines.get(line));
        let MailHeaders { subject, encoded } = mail::read_headers(said());
        self.subject = self.subject.take().or(subject);
        if let Some((at, reason)) = encoded {
            self.add_unread(range.start + at + 1, reason.to_owned(), true);
        }
        let mut add = |range: Range<usize>| {
            let text = lines.slice(range).trim();
            if !text.is_empty() {
                self.proposal.reasoning.push(text.to_owned());
            }
        };
        let mut from = range.start;
        let divided = lines.slice(range.clone()).contains(DIVIDER);
        for line in range.clone().filter(|_| divided) {
            if lines.get(line).trim() == DIVIDER {
                add(from..line);
                from = line + 1;
            }
        }
        add(from..range.end);
    }

    fn add_stray(&mut self, found: Option<(usize, &'static str)>) {
        if let Some((line, reason)) = found {
            self.add_unread(line + 1, reason.to_owned(), true);
        }
    }

    fn add_unread(&mut self, line: usize, reason: String, broken: bool) {
        let listed = &mut self.listed[usize::from(broken)];
        *listed += 1;
        if *listed > UNREAD_LISTED {
            self.unlisted += 1;
        } else {
            self.proposal.unread.push(UnreadBlock { line, reason, broken });
        }
    }

    /// What follows the last block: perhaps a control block without a fence.
    fn add_ending(&mut self, lines: &ResponseLines<'_>, said_from: usize, floor: usize) {
        let Some(control) = control::find_unfenced(lines, floor..lines.end()) else {
            return self.add_reasoning(lines, said_from..lines.end());
        };
        self.add_reasoning(lines, said_from..control.start);
        self.add_control(control.clone(), 0);
        self.add_reasoning(lines, control.end..lines.end());
    }

    fn finish(mut self, lines: &ResponseLines<'_>) -> Proposal {
        let proposal = &mut self.proposal;
        let mut line = 0;
        if let Some((range, indent)) = self.control.take() {
            line = range.start + 1;
            let (control, mut notes) = control::read(&lines.block_text(range, indent), line);
            proposal.control = control;
            proposal.notes.append(&mut notes);
        }
        if !proposal.operations.is_empty() && proposal.control.git_commit_msg.is_none() {
            proposal.control.git_commit_msg = self.subject.take();
        }
        let (mut differences, missing) =
            control::compare_summary(&proposal.control, &proposal.operations, line);
        for reason in missing {
            self.add_unread(line, reason, true);
        }
        let proposal = &mut self.proposal;
        if self.unlisted > 0 {
            let text = format!("{} more blocks were not read and are not listed", self.unlisted);
            proposal.notes.push(ProposalNote { line: 0, text });
        }
        proposal.notes.append(&mut differences);
        self.proposal
    }
}
