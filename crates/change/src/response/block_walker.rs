//! The blocks of a response in order, each with its outcome. The meaning of a block may depend on the ones
//! above it (where the last one ends, which file the last edit was about), and on nothing else: every walk
//! gives the same.

use super::block_reader::{BlockOutcome, BlockReader};
use super::lines::ResponseLines;
use super::marker_events::MarkerEvents;
use super::segments::{BlockSegment, SegmentIter};
use super::{BLOCKS, ResponseError};
use crate::proposal::limits::PlanLimits;
use crate::proposal::path::RelPath;
use crate::proposal::{EditBody, FileAction, FileEdit, Operation, ProposalNote};

pub(super) struct BlockWalker<'a> {
    lines: &'a ResponseLines<'a>,
    limits: &'a PlanLimits,
    segments: SegmentIter<'a>,
    /// How many were seen.
    count: usize,
    /// Where the last one ends.
    floor: usize,
    below_change: bool,
    /// The file of the last operation that wrote hunks.
    last_path: Option<RelPath>,
}

pub(super) struct WalkedBlock {
    pub segment: BlockSegment,
    pub outcome: BlockOutcome,
    /// Where the block above it ends.
    pub floor: usize,
    /// Where the prose above it ends: at the line that names its file, or at the block.
    pub prose_end: usize,
    pub notes: Vec<ProposalNote>,
}

impl<'a> BlockWalker<'a> {
    pub(super) fn new(
        lines: &'a ResponseLines<'a>,
        events: &'a MarkerEvents,
        limits: &'a PlanLimits,
    ) -> BlockWalker<'a> {
        BlockWalker {
            lines,
            limits,
            segments: SegmentIter::new(lines, events),
            count: 0,
            floor: lines.first(),
            below_change: false,
            last_path: None,
        }
    }

    /// Where the last block ends.
    pub(super) fn floor(&self) -> usize {
        self.floor
    }

    /// `explain`: somebody will see the reason why it is an example.
    pub(super) fn next_block(&mut self, explain: bool) -> Result<Option<WalkedBlock>, ResponseError> {
        let Some(segment) = self.next_segment()? else { return Ok(None) };
        let mut reading = BlockReader {
            lines: self.lines,
            segment: &segment,
            floor: self.floor,
            below_change: self.below_change,
            last_path: self.last_path.as_ref(),
            limits: self.limits,
            explain,
            notes: Vec::new(),
            name_line: None,
        };
        let outcome = reading.read_block();
        let prose_end = reading.name_line.unwrap_or(segment.range.start);
        let notes = reading.notes;
        let floor = std::mem::replace(&mut self.floor, segment.range.end);
        self.below_change = matches!(outcome, BlockOutcome::Operations(_));
        if let BlockOutcome::Operations(operations) = &outcome
            && let Some(path) = operations.iter().rev().find_map(edited_path)
        {
            self.last_path = Some(path.clone());
        }
        Ok(Some(WalkedBlock { segment, outcome, floor, prose_end, notes }))
    }

    /// Skips a block without reading it; returns whether there was one.
    pub(super) fn skip_block(&mut self) -> Result<bool, ResponseError> {
        self.next_segment().map(|segment| segment.is_some())
    }

    fn next_segment(&mut self) -> Result<Option<BlockSegment>, ResponseError> {
        let segment = self.segments.next();
        if segment.is_some() && self.count >= BLOCKS {
            return Err(ResponseError::TooManyBlocks);
        }
        self.count += 1;
        Ok(segment)
    }
}

/// The file that an operation puts hunks into.
fn edited_path(operation: &Operation) -> Option<&RelPath> {
    match &operation.action {
        FileAction::Write { path, edit: FileEdit { body: EditBody::Hunks(_), .. }, .. } => Some(path),
        _ => None,
    }
}
