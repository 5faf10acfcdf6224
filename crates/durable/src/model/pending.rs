//! Which operations of a trace are durable, which are pending, and what each pending one builds on.
//!
//! Invariant: the pending operations with everything they need, or any set of them that is closed under
//! "needs", can be applied in their order to the durable tree, and give a tree in which nothing
//! is lost that no order of the operations could lose.

use super::Op;
use super::state::{Effect, Entry, Ino, ROOT, Slot, State};

/// A trace, followed up to some operation.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    live: State,
    pub(super) durable: State,
    pub(super) pending: Vec<Pending>,
}

/// An operation that a crash may lose.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    /// Its place in the trace.
    pub(super) op: usize,
    /// Places in the trace of what it cannot be durable without, if that is pending still.
    pub(super) needs: Vec<usize>,
    /// A sync of it failed: no later one makes it durable.
    doubtful: bool,
}

impl Progress {
    pub(super) fn new(start: &State) -> Progress {
        Progress { live: start.clone(), durable: start.clone(), pending: Vec::new() }
    }

    /// Follows the operation at `index` of the trace.
    pub(super) fn step(&mut self, trace: &[Op], index: usize) {
        let op = &trace[index];
        match &op.effect {
            Effect::Nothing => {}
            Effect::SyncFile(ino) => {
                self.settle(trace, |effect, pending| !pending.doubtful && file(effect) == Some(*ino));
            }
            Effect::SyncDir(dir) => {
                self.settle(trace, |effect, pending| {
                    slots(effect).iter().any(|slot| slot.dir == *dir)
                        || (!pending.doubtful && file(effect) == Some(*dir))
                });
            }
            Effect::SyncAll { dev } => {
                let live = self.live.clone();
                self.settle(trace, |effect, pending| {
                    let ino = file(effect).or_else(|| slots(effect).first().map(|slot| slot.dir));
                    !pending.doubtful && ino.is_some_and(|ino| live.get(ino).dev == *dev)
                });
            }
            Effect::FailedSync(which) => {
                for pending in &mut self.pending {
                    let ino = file(&trace[pending.op].effect);
                    pending.doubtful |= ino.is_some() && (which.is_none() || *which == ino);
                }
            }
            effect => {
                let needs = self.needs(trace, effect);
                if let Effect::Entries { made, .. } = effect {
                    // The inode is there, without a name, whatever becomes of its entry.
                    self.durable.make(made.as_ref());
                }
                self.pending.push(Pending { op: index, needs, doubtful: false });
            }
        }
        self.live.apply(&op.effect, op.now);
    }

    /// Makes the pending operations that `wanted` names durable, with what they need.
    fn settle(&mut self, trace: &[Op], wanted: impl Fn(&Effect, &Pending) -> bool) {
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
            settle_one(&mut self.durable, op);
        }
        let mut goes = goes.into_iter();
        self.pending.retain(|_| !goes.next().unwrap_or(false));
    }

    /// The pending operations that a new one builds on.
    fn needs(&self, trace: &[Op], effect: &Effect) -> Vec<usize> {
        let changed = slots(effect);
        if changed.is_empty() {
            return Vec::new();
        }
        let live = &self.live;
        let put =
            |ino: Ino| changed.iter().any(|slot| slot.put.as_ref().is_some_and(|entry| entry.ino == ino));
        let replaced = |slot: &Slot| -> Option<&Entry> { live.entries(slot.dir).ok()?.get(&slot.key) };
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
        let needed = |earlier: &Effect| {
            slots(earlier).iter().any(|slot| {
                changed.iter().any(|mine| mine.dir == slot.dir && mine.key == slot.key)
                    || gone.contains(&slot.dir)
                    || slot.put.as_ref().is_some_and(|entry| above.contains(&entry.ino))
            })
        };
        self.pending.iter().map(|pending| pending.op).filter(|op| needed(&trace[*op].effect)).collect()
    }
}

/// Makes an operation on a tree that has its new inode already.
pub(super) fn settle_one(durable: &mut State, op: &Op) {
    match &op.effect {
        Effect::Entries { slots, .. } => durable.put(slots, op.now),
        effect => durable.apply(effect, op.now),
    }
}

/// The file whose bytes or attributes an effect changes.
fn file(effect: &Effect) -> Option<Ino> {
    match effect {
        Effect::Write { ino, .. }
        | Effect::Truncate { ino, .. }
        | Effect::Mode { ino, .. }
        | Effect::Owner { ino, .. }
        | Effect::Attribute { ino, .. } => Some(*ino),
        _ => None,
    }
}

fn slots(effect: &Effect) -> &[Slot] {
    match effect {
        Effect::Entries { slots, .. } => slots,
        _ => &[],
    }
}
