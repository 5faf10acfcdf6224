//! The blocks of a response in their order, each with what became of it. What a block says may
//! depend on the ones above it (where the last one ends, which file the last edit was about), and on
//! nothing else: whoever walks them gets the same.

use super::block::{Outcome, Reading};
use super::lines::Lines;
use super::scan::Events;
use super::segments::{Segment, Segments};
use super::{BLOCKS, ResponseError};
use crate::limits::Limits;
use crate::path::RelPath;
use crate::proposal::{Action, Body, Edit, Note, Operation};

/// Walks the blocks.
pub(super) struct Blocks<'a> {
    lines: &'a Lines<'a>,
    limits: &'a Limits,
    segments: Segments<'a>,
    /// How many were seen.
    count: usize,
    /// Where the last one ends.
    floor: usize,
    below_change: bool,
    /// The file of the last operation that wrote hunks.
    last_path: Option<RelPath>,
}

/// A block and what became of it.
pub(super) struct Told {
    /// Its lines.
    pub segment: Segment,
    /// What became of it.
    pub outcome: Outcome,
    /// Where the block above it ends.
    pub floor: usize,
    /// Where what is said above it ends: at the line that names its file, or at the block.
    pub said_to: usize,
    /// Remarks.
    pub notes: Vec<Note>,
}

impl<'a> Blocks<'a> {
    /// For the events of a response.
    pub(super) fn new(lines: &'a Lines<'a>, events: &'a Events, limits: &'a Limits) -> Blocks<'a> {
        Blocks {
            lines,
            limits,
            segments: Segments::new(lines, events),
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

    /// The next block; `explain` if the reason why it is an example will be shown to anybody.
    pub(super) fn next(&mut self, explain: bool) -> Result<Option<Told>, ResponseError> {
        let Some(segment) = self.segment()? else {
            return Ok(None);
        };
        let mut reading = Reading {
            lines: self.lines,
            segment: &segment,
            floor: self.floor,
            below_change: self.below_change,
            last_path: self.last_path.as_ref(),
            limits: self.limits,
            explain,
            notes: Vec::new(),
            named_by: None,
        };
        let outcome = reading.outcome();
        let said_to = reading.named_by.unwrap_or(segment.range.start);
        let notes = reading.notes;
        let floor = std::mem::replace(&mut self.floor, segment.range.end);
        self.below_change = matches!(outcome, Outcome::Operations(_));
        if let Outcome::Operations(operations) = &outcome
            && let Some(path) = operations.iter().rev().find_map(edited)
            && self.last_path.as_ref() != Some(path)
        {
            self.last_path = Some(path.clone());
        }
        Ok(Some(Told { segment, outcome, floor, said_to, notes }))
    }

    /// Passes over a block without reading it; whether there was one.
    pub(super) fn skip(&mut self) -> Result<bool, ResponseError> {
        self.segment().map(|segment| segment.is_some())
    }

    fn segment(&mut self) -> Result<Option<Segment>, ResponseError> {
        let segment = self.segments.next();
        if segment.is_some() {
            if self.count >= BLOCKS {
                return Err(ResponseError::TooManyBlocks);
            }
            self.count += 1;
        }
        Ok(segment)
    }
}

/// The file that an operation puts hunks into.
fn edited(operation: &Operation) -> Option<&RelPath> {
    match &operation.action {
        Action::Write { path, edit: Edit { body: Body::Hunks(_), .. }, .. } => Some(path),
        _ => None,
    }
}
