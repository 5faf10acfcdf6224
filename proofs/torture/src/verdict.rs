//! What must hold after a crash: with one `relay recover` the tree is exactly as before or as after,
//! nothing stray is left, the ledger agrees, and a second recovery changes nothing.

use std::path::Path;

use anyhow::{Context, bail, ensure};

use super::prepared::Prepared;
use super::relay::{self, Do};
use super::snapshot::Snapshot;

/// Which of the two states a project is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// Which side the tree in `room` is on; an error if it is a mixture.
pub(super) fn side(room: &Path, prepared: &Prepared) -> anyhow::Result<Side> {
    let now = Snapshot::of(&room.join("project"))?;
    if now == prepared.before {
        return Ok(Side::Before);
    }
    if now == prepared.after {
        return Ok(Side::After);
    }
    let (before, after) = (now.differences(&prepared.before), now.differences(&prepared.after));
    if before.len() < after.len() {
        bail!("the tree is mixed; nearly before, but {before}");
    }
    bail!("the tree is mixed; nearly after, but {after}")
}

/// Which side tree and ledger are on together, once nothing is open.
pub(super) fn settled(room: &Path, prepared: &Prepared) -> anyhow::Result<Side> {
    let side = side(room, prepared)?;
    let ledger = Snapshot::of_ledger(&room.join("project"))?;
    let open = ledger.journals();
    ensure!(open.is_empty(), "the tree is as {side:?}, but a journal is left: {open:?}");
    let wanted = match side {
        Side::Before => prepared.records_before,
        Side::After => prepared.records_after,
    };
    ensure!(
        ledger.records() == wanted,
        "the tree is as {side:?}, but the ledger has {} records instead of {wanted}",
        ledger.records()
    );
    Ok(side)
}

/// Recovers twice and judges: the first decides, the second changes nothing.
pub(super) fn recovered(relay: &Path, room: &Path, prepared: &Prepared) -> anyhow::Result<Side> {
    let first = relay::run(relay, room, &Do::Recover)?;
    ensure!(first.code == Some(0), "recover ended with {}", first.told());
    let side = settled(room, prepared).context("after recover")?;
    let project = room.join("project");
    let ledger = Snapshot::of_ledger(&project)?;
    let second = relay::run(relay, room, &Do::Recover)?;
    ensure!(second.code == Some(0), "the second recover ended with {}", second.told());
    ensure!(
        settled(room, prepared).context("after a second recover")? == side,
        "a second recover changed sides"
    );
    let now = Snapshot::of_ledger(&project)?;
    ensure!(now == ledger, "a second recover changed the ledger: {}", now.differences(&ledger));
    Ok(side)
}

/// From either side the command's purpose can still be reached: what was put back can be done again, and
/// what was done can be reverted.
pub(super) fn goes_on(relay: &Path, room: &Path, prepared: &Prepared, now: Side) -> anyhow::Result<()> {
    let (what, wanted) = match now {
        Side::Before => (prepared.what.clone(), Side::After),
        Side::After if prepared.what == Do::Undo => (Do::Redo, Side::Before),
        Side::After => (Do::Undo, Side::Before),
    };
    let ran = relay::run(relay, room, &what)?;
    ensure!(ran.code == Some(0), "after recovery, {what:?} ended with {}", ran.told());
    let wanted = match wanted {
        Side::Before => prepared.before.plain(),
        Side::After => prepared.after.plain(),
    };
    let tree = Snapshot::of(&room.join("project"))?.plain();
    ensure!(
        tree == wanted,
        "after recovery, {what:?} did not lead to the other side: {}",
        tree.differences(&wanted)
    );
    Ok(())
}
