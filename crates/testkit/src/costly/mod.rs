//! Texts built to cost: ambiguous, repetitive, nested, nearly right, many edits on large files. Each must be planned
//! or refused within [`PROCESSOR_TIME`] and [`PEAK_MEMORY`].
//!
//! A family is a function of a [`CostlyShape`]; [`known`] are the shapes that were once the worst, [`mutate`] makes
//! others for a search. The same shape always gives the same text.

mod families;

pub use families::FAMILIES;

use std::time::Duration;

use crate::fuzz::FuzzCase;
use crate::random::Random;

/// For reading, planning and showing one text, in a release build.
pub const PROCESSOR_TIME: Duration = Duration::from_secs(1);
/// Bytes.
pub const PEAK_MEMORY: u64 = 150 << 20;

/// Files are kept below the limit of relay.
const FILE_BYTES: usize = 1_000_000;
/// And so are texts.
const TEXT_BYTES: usize = 3_900_000;

/// What a family makes its text from. Whatever is too large for relay's limits is cut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostlyShape {
    /// Index into [`FAMILIES`].
    pub family: usize,
    /// Edits.
    pub hunks: usize,
    /// Lines of one edit.
    pub depth: usize,
    /// Lines of the file.
    pub lines: usize,
    /// Characters of a line.
    pub width: usize,
    /// Different lines, after which they repeat.
    pub variety: usize,
}

impl CostlyShape {
    pub fn name(&self) -> String {
        let CostlyShape { hunks, depth, lines, width, variety, .. } = self;
        format!("{} {hunks}×{depth} on {lines}×{width}/{variety}", FAMILIES[self.family].0)
    }

    pub fn case(&self) -> FuzzCase {
        let mut shape = self.fitted();
        loop {
            let case = FAMILIES[self.family].1(&shape);
            if case.response.len() <= TEXT_BYTES {
                return case;
            }
            (shape.hunks, shape.lines) = (shape.hunks / 2, shape.lines / 2);
        }
    }

    /// Within the limits of relay.
    fn fitted(&self) -> CostlyShape {
        let width = self.width.clamp(1, FILE_BYTES / 2);
        let depth = self.depth.clamp(1, 200_000);
        let text = self.hunks.clamp(1, 1_990).min(TEXT_BYTES / (2 * depth * (width + 1) + 60));
        CostlyShape {
            hunks: text.max(1),
            depth,
            lines: self.lines.clamp(1, FILE_BYTES / (width + 1)),
            width,
            variety: self.variety.max(1),
            ..*self
        }
    }

    /// The line number `at` of the file: one of `variety` different ones, filled up to the width.
    fn line(&self, at: usize) -> String {
        let mut line = format!("{}", at % self.variety);
        while line.len() < self.width {
            line.push_str(" word");
        }
        line.truncate(self.width);
        line
    }

    /// `count` lines of the file from `at` on, each with a line feed.
    fn text(&self, at: usize, count: usize) -> String {
        (at..at + count).flat_map(|at| [self.line(at), "\n".to_owned()]).collect()
    }

    fn file(&self) -> String {
        self.text(0, self.lines)
    }
}

/// Hunks, depth, lines, width and variety of a shape.
type ShapeSizes = (usize, usize, usize, usize, usize);

/// So many shapes of each family are known.
const SIZES: [ShapeSizes; 3] =
    [(1_990, 1, 500_000, 1, 2), (1_990, 12, 60_000, 16, 1_000), (40, 2_000, 20_000, 48, 7)];

/// What the search found to be worse, by time or by memory.
const FOUND: [(&str, ShapeSizes); 4] = [
    ("one letter differs", (200, 200, 60_000, 16, 1_000)),
    ("the same search again and again", (1_990, 200, 60_000, 5, 1_000)),
    ("the whole file in another order", (1_990, 200, 8_000, 3, 500_000)),
    ("wrong outer context", (1_990, 200, 8_000, 3, 8_000)),
];

/// The shapes to try: each family at its worst sizes, and what was found.
pub fn known() -> Vec<CostlyShape> {
    let shape = |family, (hunks, depth, lines, width, variety)| {
        Some(CostlyShape { family, hunks, depth, lines, width, variety })
    };
    let named = |name: &str| FAMILIES.iter().position(|(family, _)| *family == name);
    let found = FOUND.iter().filter_map(|(name, sizes)| shape(named(name)?, *sizes));
    let of = |family| SIZES.into_iter().filter_map(move |sizes| shape(family, sizes));
    (0..FAMILIES.len()).flat_map(of).chain(found).collect()
}

/// A shape that differs in one or two sizes, for a search that keeps the costliest.
#[must_use]
pub fn mutate(shape: &CostlyShape, random: &mut Random) -> CostlyShape {
    let mut shape = *shape;
    for _ in 0..=random.below(2) {
        let sizes = [1, 2, 3, 5, 12, 50, 200, 1_990, 8_000, 60_000, 500_000];
        let size = *random.pick(&sizes);
        match random.below(6) {
            0 => shape.family = random.below(FAMILIES.len()),
            1 => shape.hunks = size,
            2 => shape.depth = size,
            3 => shape.lines = size.max(50),
            4 => shape.width = size.min(4_000),
            _ => shape.variety = size,
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_and_each_stays_within_the_limits() {
        let known = known();
        assert!(known.len() >= 60, "{}", known.len());
        for shape in known.iter().step_by(4) {
            let case = shape.case();
            assert!(case.response.len() <= TEXT_BYTES, "{}", shape.name());
            assert!(case.files.iter().all(|(_, bytes)| bytes.len() <= 1 << 20), "{}", shape.name());
        }
    }
}
