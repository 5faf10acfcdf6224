//! The trees that a power cut can leave behind.
//!
//! For one crash point, in this order: everything pending is there; none of it; every file's bytes in
//! each state that a lost or torn write leaves; every entry or attribute change lost alone, and there
//! alone; every two lost together; then random mixtures. Where there are more than [`CrashBounds`] allow,
//! they are sampled. Invariant: the same trace and bounds give the same images, and any one can be
//! built again from its [`CrashChoice`].

use std::collections::HashSet;
use std::fmt;

use crate::pending::{PendingOp, TraceProgress, apply_durable};
use crate::state::{ModelEffect, ModelEntryCall, ModelState};
use crate::{ModelFs, ModelOp, lock_inner};
use relaycode_durable::RenameMode;

/// What a disk writes whole.
const SECTOR: u64 = 512;

/// How far to go at one crash point. At most `2 + 3 + 7 * writes + 4 * changes + 2 * pairs + random` images
/// are built there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashBounds {
    /// At most so many writes are lost, torn and zeroed one by one; beyond, so many are sampled.
    pub writes: usize,
    /// At most so many changes of entries and attributes are lost, and kept, one by one; beyond, so many are
    /// sampled.
    pub changes: usize,
    /// At most so many pairs of lost changes; beyond, so many are sampled.
    pub pairs: usize,
    /// So many random mixtures of what is lost, torn and kept.
    pub random: usize,
    /// Where samples and mixtures come from.
    pub seed: u64,
}

impl Default for CrashBounds {
    fn default() -> CrashBounds {
        CrashBounds { writes: 200, changes: 200, pairs: 200, random: 16, seed: 1 }
    }
}

/// What became of a pending operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CrashFate {
    /// It reached the disk.
    Kept,
    /// It did not.
    Lost,
    /// The first bytes of a write did.
    Torn(u64),
    /// The file grew, but its new bytes are zeros.
    Zeroed,
}

/// Which image: when the power was cut, and what was not kept, by operation number. [`ModelFs::image`]
/// builds it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CrashChoice {
    /// So many operations were done.
    pub operations: usize,
    /// What was not kept, by operation number, in order.
    pub not_kept: Vec<(usize, CrashFate)>,
}

/// What was lost in an image. It prints the operations that were not kept, and the [`CrashChoice`].
#[derive(Debug)]
pub struct CrashDescription<'a> {
    state: &'a ModelState,
    trace: &'a [ModelOp],
    choice: CrashChoice,
    fingerprint: u64,
}

/// How many images there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CrashCoverage {
    /// Crash points.
    pub points: usize,
    /// Images that were built.
    pub built: usize,
    /// Images that were shown: at each point, those that differ.
    pub shown: usize,
}

/// Sees an image and what was lost in it.
type CrashVisitor<'a> = &'a mut dyn FnMut(ModelFs, &CrashDescription<'_>);

impl CrashDescription<'_> {
    /// How many operations were done before the power was cut.
    pub fn operations(&self) -> usize {
        self.choice.operations
    }

    /// What builds the same image again from the same trace.
    pub fn choice(&self) -> &CrashChoice {
        &self.choice
    }

    /// The image's [`ModelFs::fingerprint`].
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl fmt::Display for CrashDescription<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "power cut after operation {} of {}", self.choice.operations, self.trace.len())?;
        for (number, fate) in &self.choice.not_kept {
            let index = number.saturating_sub(1);
            let Some(op) = self.trace.get(index) else { continue };
            let line = describe_op(self.state, index, op);
            match fate {
                CrashFate::Torn(bytes) => writeln!(f, "  only {bytes} bytes of {line}")?,
                CrashFate::Zeroed => writeln!(f, "  zeros instead of {line}")?,
                CrashFate::Lost | CrashFate::Kept => writeln!(f, "  lost {line}")?,
            }
        }
        write!(f, "  again: {:?}", self.choice)
    }
}

impl ModelFs {
    /// Shows every image that a power cut right now could leave, each different one once.
    pub fn crash_images(&self, bounds: &CrashBounds, see: CrashVisitor<'_>) -> CrashCoverage {
        let from = self.operations();
        self.explore(from, bounds, see)
    }

    /// Shows every image that a power cut before the first operation or after any one of them could leave;
    /// at each of these points, each different one once.
    pub fn all_crash_images(&self, bounds: &CrashBounds, see: CrashVisitor<'_>) -> CrashCoverage {
        self.explore(0, bounds, see)
    }

    /// Builds one image again; operations that are not pending at that point have no say.
    pub fn image(&self, choice: &CrashChoice) -> ModelFs {
        let inner = lock_inner(&self.inner).clone();
        let mut progress = TraceProgress::new(&inner.start);
        for index in 0..choice.operations.min(inner.trace.len()) {
            progress.step(&inner.trace, index);
        }
        let fate = |pending: &PendingOp| {
            let found = choice.not_kept.iter().find(|(number, _)| *number == pending.op + 1);
            found.map_or(CrashFate::Kept, |(_, fate)| *fate)
        };
        let fates: Vec<CrashFate> = progress.pending.iter().map(fate).collect();
        let mut point = CrashPoint::new(&inner.trace, &progress);
        point.fates = fates;
        ModelFs::from_image(point.build(), inner.now, inner.free)
    }

    fn from_image(state: ModelState, now: i64, free: u64) -> ModelFs {
        let model = ModelFs::from_state(state);
        model.set_clock(now);
        model.set_free_bytes(free);
        model
    }

    fn explore(&self, from: usize, bounds: &CrashBounds, see: CrashVisitor<'_>) -> CrashCoverage {
        // A copy, so that what sees the images may use the model.
        let inner = lock_inner(&self.inner).clone();
        let mut explored = CrashCoverage::default();
        let mut progress = TraceProgress::new(&inner.start);
        for done in 0..=inner.trace.len() {
            if done > 0 {
                progress.step(&inner.trace, done - 1);
            }
            if done < from {
                continue;
            }
            explored.points += 1;
            let mut seen = HashSet::new();
            let mut point = CrashPoint::new(&inner.trace, &progress);
            point.for_each_image(bounds, &mut |point| {
                explored.built += 1;
                let state = point.build();
                let fingerprint = state.fingerprint();
                if !seen.insert(fingerprint) {
                    return;
                }
                explored.shown += 1;
                let choice = CrashChoice { operations: done, not_kept: point.not_kept() };
                let what = CrashDescription { state: &inner.state, trace: &inner.trace, choice, fingerprint };
                see(ModelFs::from_image(state, inner.now, inner.free), &what);
            });
        }
        explored
    }
}

/// One crash point: what is pending, and a fate for each.
struct CrashPoint<'a> {
    trace: &'a [ModelOp],
    durable: &'a ModelState,
    pending: &'a [PendingOp],
    /// For each pending operation, the places in `pending` of what it needs.
    needs: Vec<Vec<usize>>,
    /// Places in `pending` of writes, and of everything else.
    writes: Vec<usize>,
    changes: Vec<usize>,
    fates: Vec<CrashFate>,
}

impl<'a> CrashPoint<'a> {
    fn new(trace: &'a [ModelOp], progress: &'a TraceProgress) -> CrashPoint<'a> {
        let pending = &progress.pending;
        let place = |op: &usize| pending.binary_search_by_key(op, |pending| pending.op).ok();
        let needs = pending.iter().map(|one| one.needs.iter().filter_map(place).collect()).collect();
        let is_write = |index: &usize| matches!(trace[pending[*index].op].effect, ModelEffect::Write { .. });
        let (writes, changes) = (0..pending.len()).partition(is_write);
        let fates = vec![CrashFate::Kept; pending.len()];
        CrashPoint { trace, durable: &progress.durable, pending, needs, writes, changes, fates }
    }

    fn for_each_image(&mut self, bounds: &CrashBounds, see: &mut dyn FnMut(&CrashPoint<'_>)) {
        see(self);
        if self.pending.is_empty() {
            return;
        }
        self.fates.fill(CrashFate::Lost);
        see(self);
        let mut random =
            CrashRandom(bounds.seed ^ (self.pending.len() as u64) << 32 ^ self.trace.len() as u64);
        self.each_write(&random.sample(self.writes.len(), bounds.writes), see);
        for index in random.sample(self.changes.len(), bounds.changes) {
            let change = self.changes[index];
            self.with_and_without_bytes(&[change], CrashFate::Kept, see);
            self.with_and_without_bytes(&[change], CrashFate::Lost, see);
        }
        self.each_pair(bounds, &mut random, see);
        for _ in 0..bounds.random {
            self.randomize_fates(&mut random);
            see(self);
        }
    }

    /// Each of some writes lost, torn, zeroed and kept alone, then all of them, while all names are there.
    fn each_write(&mut self, some: &[usize], see: &mut dyn FnMut(&CrashPoint<'_>)) {
        for index in some {
            let write = self.writes[*index];
            for fate in self.possible_fates(write) {
                self.fates.fill(CrashFate::Kept);
                self.fates[write] = fate;
                see(self);
            }
            self.fates.fill(CrashFate::Kept);
            self.set_writes(CrashFate::Lost);
            self.fates[write] = CrashFate::Kept;
            see(self);
        }
        if self.writes.len() > 1 {
            self.fates.fill(CrashFate::Kept);
            self.set_writes(CrashFate::Lost);
            see(self);
            self.set_writes(CrashFate::Zeroed);
            see(self);
            for index in 0..self.writes.len() {
                let write = self.writes[index];
                if let Some(torn) =
                    self.possible_fates(write).into_iter().find(|fate| matches!(fate, CrashFate::Torn(_)))
                {
                    self.fates[write] = torn;
                }
            }
            see(self);
        }
    }

    fn each_pair(
        &mut self,
        bounds: &CrashBounds,
        random: &mut CrashRandom,
        see: &mut dyn FnMut(&CrashPoint<'_>),
    ) {
        let count = self.changes.len();
        let all = count * count.saturating_sub(1) / 2;
        if all > bounds.pairs {
            for _ in 0..bounds.pairs {
                let pair = [self.changes[random.below(count)], self.changes[random.below(count)]];
                self.with_and_without_bytes(&pair, CrashFate::Lost, see);
            }
            return;
        }
        for first in 0..count {
            for second in first + 1..count {
                let pair = [self.changes[first], self.changes[second]];
                self.with_and_without_bytes(&pair, CrashFate::Lost, see);
            }
        }
    }

    /// Gives these changes that fate (with what they need, or what needs them) and all others the
    /// opposite one; once with the bytes of every write, and once without any.
    fn with_and_without_bytes(
        &mut self,
        changes: &[usize],
        fate: CrashFate,
        see: &mut dyn FnMut(&CrashPoint<'_>),
    ) {
        let others = if fate == CrashFate::Kept { CrashFate::Lost } else { CrashFate::Kept };
        self.fates.fill(others);
        for change in changes {
            self.fates[*change] = fate;
        }
        self.close_over_needs(fate);
        self.set_writes(CrashFate::Kept);
        see(self);
        if !self.writes.is_empty() {
            self.set_writes(CrashFate::Lost);
            see(self);
        }
    }

    fn randomize_fates(&mut self, random: &mut CrashRandom) {
        // Each mixture has its own share of losses, so that few and many are tried.
        let share = 1 + random.below(7);
        for index in 0..self.fates.len() {
            self.fates[index] = if random.below(8) < share { CrashFate::Lost } else { CrashFate::Kept };
        }
        self.close_over_needs(CrashFate::Lost);
        for index in 0..self.writes.len() {
            let write = self.writes[index];
            let mut ways = self.possible_fates(write);
            ways.push(CrashFate::Kept);
            self.fates[write] = ways[random.below(ways.len())];
        }
    }

    /// Extends a fate: what is kept keeps what it needs, what is lost loses what needs it.
    fn close_over_needs(&mut self, fate: CrashFate) {
        if fate == CrashFate::Kept {
            for index in (0..self.fates.len()).rev() {
                if self.fates[index] == CrashFate::Kept {
                    for need in &self.needs[index] {
                        self.fates[*need] = CrashFate::Kept;
                    }
                }
            }
        } else {
            for index in 0..self.fates.len() {
                if self.needs[index].iter().any(|need| self.fates[*need] == CrashFate::Lost) {
                    self.fates[index] = CrashFate::Lost;
                }
            }
        }
    }

    fn set_writes(&mut self, fate: CrashFate) {
        for write in &self.writes {
            self.fates[*write] = fate;
        }
    }

    /// What can become of a write, other than being kept.
    fn possible_fates(&self, write: usize) -> Vec<CrashFate> {
        let mut ways = vec![CrashFate::Lost];
        let ModelEffect::Write { at, bytes, .. } = &self.trace[self.pending[write].op].effect else {
            return ways;
        };
        let len = bytes.len() as u64;
        let first = SECTOR - at % SECTOR;
        if first < len {
            let last = (at + len - 1) / SECTOR * SECTOR - at;
            let middle = ((at + len / 2) / SECTOR * SECTOR).saturating_sub(*at);
            ways.push(CrashFate::Torn(first));
            for torn in [middle, last] {
                if torn > first && torn < len && !ways.contains(&CrashFate::Torn(torn)) {
                    ways.push(CrashFate::Torn(torn));
                }
            }
        } else if len > 1 {
            ways.push(CrashFate::Torn(len / 2));
        }
        ways.push(CrashFate::Zeroed);
        ways
    }

    /// The tree in which everything pending met its fate.
    fn build(&self) -> ModelState {
        let mut state = self.durable.clone();
        for (pending, fate) in self.pending.iter().zip(&self.fates) {
            let op = &self.trace[pending.op];
            match (fate, &op.effect) {
                (CrashFate::Lost, _) => {}
                (CrashFate::Torn(kept), ModelEffect::Write { ino, at, bytes }) => {
                    let kept = usize::try_from(*kept).unwrap_or(usize::MAX).min(bytes.len());
                    state.write(*ino, *at, &bytes[..kept], op.now);
                }
                (CrashFate::Zeroed, ModelEffect::Write { ino, at, bytes }) => {
                    let end = at + bytes.len() as u64;
                    if end > state.stat(*ino).len {
                        state.apply(&ModelEffect::Truncate { ino: *ino, len: end }, op.now);
                    }
                }
                _ => apply_durable(&mut state, op),
            }
        }
        state
    }

    fn not_kept(&self) -> Vec<(usize, CrashFate)> {
        let fates = self.pending.iter().zip(&self.fates);
        fates.filter(|(_, fate)| **fate != CrashFate::Kept).map(|(one, fate)| (one.op + 1, *fate)).collect()
    }
}

/// One operation of a trace, for people.
pub(crate) fn describe_op(state: &ModelState, index: usize, op: &ModelOp) -> String {
    let number = index + 1;
    let file = |ino: &usize| format!("file {} in {}/", ino + 1, state.path(state.get(*ino).parent));
    match &op.effect {
        ModelEffect::Entries { call: what, changes: slots, .. } => {
            let mut places = slots.iter().map(|slot| {
                let path = state.path(slot.dir);
                if path.is_empty() { slot.key.to_string() } else { format!("{path}/{}", slot.key) }
            });
            let place = places.next().unwrap_or_default();
            let verb = match what {
                ModelEntryCall::MakeDir => "make directory",
                ModelEntryCall::MakeLink => "make link",
                ModelEntryCall::RemoveDir => "remove directory",
                ModelEntryCall::Create => "create",
                ModelEntryCall::RemoveFile => "remove",
                ModelEntryCall::Put => "put",
                ModelEntryCall::Rename(RenameMode::Exchange) => "exchange",
                ModelEntryCall::Rename(_) => "rename",
            };
            match places.next() {
                Some(to) => format!("#{number} {verb} {place} -> {to}"),
                None => format!("#{number} {verb} {place}"),
            }
        }
        ModelEffect::Write { ino, at, bytes } => {
            format!("#{number} write {} bytes at {at}: {}", bytes.len(), file(ino))
        }
        ModelEffect::Truncate { ino, len } => format!("#{number} cut to {len} bytes: {}", file(ino)),
        ModelEffect::Mode { ino, mode } => format!("#{number} set mode {mode:04o}: {}", file(ino)),
        ModelEffect::Owner { ino, uid, gid } => format!("#{number} set owner {uid}:{gid}: {}", file(ino)),
        ModelEffect::Attribute { ino, name, .. } => format!("#{number} set attribute {name}: {}", file(ino)),
        ModelEffect::SyncFile(ino) => format!("#{number} sync {}", file(ino)),
        ModelEffect::SyncDir(dir) => format!("#{number} sync directory {}/", state.path(*dir)),
        ModelEffect::SyncAll { .. } => format!("#{number} sync everything"),
        ModelEffect::FailedSync(_) => format!("#{number} a sync that failed"),
        ModelEffect::Nothing => format!("#{number} an operation that failed"),
    }
}

/// A small generator: good enough to choose, the same everywhere.
struct CrashRandom(u64);

impl CrashRandom {
    /// All numbers below `count`, or `most` of them.
    fn sample(&mut self, count: usize, most: usize) -> Vec<usize> {
        if count <= most {
            return (0..count).collect();
        }
        (0..most).map(|_| self.below(count)).collect()
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        let range = end.max(1) as u64;
        usize::try_from((mixed ^ mixed >> 31) % range).unwrap_or(0)
    }
}
