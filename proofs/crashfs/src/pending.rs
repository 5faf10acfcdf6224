//! Which operations of a trace are durable, which are pending, and what each pending one builds on.
//!
//! Invariant: the pending operations with everything they need, or any set of them that is closed under
//! "needs", can be applied in their order to the durable tree, and give a tree in which nothing
//! is lost that no order of the operations could lose.

use crate::ModelOp;
use crate::state::{Ino, ModelDirEntry, ModelEffect, ModelEntryChange, ModelState, ROOT};

/// A trace, followed up to some operation.
#[derive(Debug, Clone)]
pub(crate) struct TraceProgress {
    live: ModelState,
    pub(crate) durable: ModelState,
    pub(crate) pending: Vec<PendingOp>,
}

/// An operation that a crash may lose.
#[derive(Debug, Clone)]
pub(crate) struct PendingOp {
    /// Its place in the trace.
    pub(crate) op: usize,
    /// Places in the trace of what it cannot be durable without, if that is pending still.
    pub(crate) needs: Vec<usize>,
    /// A sync of it failed: no later one makes it durable.
    doubtful: bool,
}

impl TraceProgress {
    pub(crate) fn new(start: &ModelState) -> TraceProgress {
        TraceProgress { live: start.clone(), durable: start.clone(), pending: Vec::new() }
    }

    /// Follows the operation at `index` of the trace.
    pub(crate) fn step(&mut self, trace: &[ModelOp], index: usize) {
        let op = &trace[index];
        match &op.effect {
            ModelEffect::Nothing => {}
            ModelEffect::SyncFile(ino) => {
                self.make_durable(trace, |effect, pending| {
                    !pending.doubtful && changed_file(effect) == Some(*ino)
                });
            }
            ModelEffect::SyncDir(dir) => {
                self.make_durable(trace, |effect, pending| {
                    changed_entries(effect).iter().any(|slot| slot.dir == *dir)
                        || (!pending.doubtful && changed_file(effect) == Some(*dir))
                });
            }
            ModelEffect::SyncAll { dev } => {
                let live = self.live.clone();
                self.make_durable(trace, |effect, pending| {
                    let ino =
                        changed_file(effect).or_else(|| changed_entries(effect).first().map(|slot| slot.dir));
                    !pending.doubtful && ino.is_some_and(|ino| live.get(ino).dev == *dev)
                });
            }
            ModelEffect::FailedSync(which) => {
                for pending in &mut self.pending {
                    let ino = changed_file(&trace[pending.op].effect);
                    pending.doubtful |= ino.is_some() && (which.is_none() || *which == ino);
                }
            }
            effect => {
                let needs = self.find_needs(trace, effect);
                if let ModelEffect::Entries { new_inode: made, .. } = effect {
                    // The inode is there, without a name, whatever becomes of its entry.
                    self.durable.add_inode(made.as_ref());
                }
                self.pending.push(PendingOp { op: index, needs, doubtful: false });
            }
        }
        self.live.apply(&op.effect, op.now);
    }

    /// Makes the pending operations that `wanted` names durable, with what they need.
    fn make_durable(&mut self, trace: &[ModelOp], wanted: impl Fn(&ModelEffect, &PendingOp) -> bool) {
        let mut goes: Vec<bool> =
            self.pending.iter().map(|pending| wanted(&trace[pending.op].effect, pending)).collect();
        for index in (0..goes.len()).rev() {
            if goes[index] {
                for need in &self.pending[index].needs {
                    if let Ok(needed) = self.pending.binary_search_by_key(need, |pending| pending.op) {
                        goes[needed] = true;
                    }
                }
            }
        }
        for (pending, _) in self.pending.iter().zip(&goes).filter(|(_, goes)| **goes) {
            let op = &trace[pending.op];
            apply_durable(&mut self.durable, op);
        }
        let mut goes = goes.into_iter();
        self.pending.retain(|_| !goes.next().unwrap_or(false));
    }

    /// The pending operations that a new one builds on.
    fn find_needs(&self, trace: &[ModelOp], effect: &ModelEffect) -> Vec<usize> {
        let changed = changed_entries(effect);
        if changed.is_empty() {
            return Vec::new();
        }
        let live = &self.live;
        let put =
            |ino: Ino| changed.iter().any(|slot| slot.put.as_ref().is_some_and(|entry| entry.ino == ino));
        let replaced = |slot: &ModelEntryChange| -> Option<&ModelDirEntry> {
            live.entries(slot.dir).ok()?.get(&slot.key)
        };
        // A directory that goes: what was moved out of it must be durable elsewhere first.
        let gone: Vec<Ino> = changed
            .iter()
            .filter_map(replaced)
            .map(|entry| entry.ino)
            .filter(|ino| live.get(*ino).is_dir() && !put(*ino))
            .collect();
        // A move between directories: both must be where they are, all the way up, or the entry would be in
        // neither, or two directories inside each other.
        let between = changed.iter().any(|slot| slot.dir != changed[0].dir);
        let mut above = Vec::new();
        if between {
            for slot in changed {
                let mut at = slot.dir;
                while at != ROOT && !above.contains(&at) {
                    above.push(at);
                    at = live.get(at).parent;
                }
            }
        }
        let needed = |earlier: &ModelEffect| {
            changed_entries(earlier).iter().any(|slot| {
                changed.iter().any(|mine| mine.dir == slot.dir && mine.key == slot.key)
                    || gone.contains(&slot.dir)
                    || slot.put.as_ref().is_some_and(|entry| above.contains(&entry.ino))
            })
        };
        self.pending.iter().map(|pending| pending.op).filter(|op| needed(&trace[*op].effect)).collect()
    }
}

/// Makes an operation on a tree that has its new inode already.
pub(crate) fn apply_durable(durable: &mut ModelState, op: &ModelOp) {
    match &op.effect {
        ModelEffect::Entries { changes: slots, .. } => durable.apply_changes(slots, op.now),
        effect => durable.apply(effect, op.now),
    }
}

/// The file whose bytes or attributes an effect changes.
fn changed_file(effect: &ModelEffect) -> Option<Ino> {
    match effect {
        ModelEffect::Write { ino, .. }
        | ModelEffect::Truncate { ino, .. }
        | ModelEffect::Mode { ino, .. }
        | ModelEffect::Owner { ino, .. }
        | ModelEffect::Attribute { ino, .. } => Some(*ino),
        _ => None,
    }
}

fn changed_entries(effect: &ModelEffect) -> &[ModelEntryChange] {
    match effect {
        ModelEffect::Entries { changes: slots, .. } => slots,
        _ => &[],
    }
}
