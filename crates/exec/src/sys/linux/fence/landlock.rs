//! Rules on paths, signals and sockets, which the kernel checks whatever the command becomes.
//!
//! At level 1 they are the second line: they also cover what mounts do not, named pipes and files that are already open. At
//! level 2 they are the only line, and a rule can only grant. So what is masked is left out of what is granted, by granting
//! everything around it as it stands now; inside a directory that can be written nothing can be left out.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::termios::isatty;

use super::devices::{NODES, OWN};
use super::{Step, StepError};
use crate::fence::{FenceLevel, JobFence};

/// The newest that is known; what the kernel lacks of it is left out.
const NEWEST: ABI = ABI::V9;

/// What level 1 cannot do without.
const NEEDED_BESIDE_MOUNTS: ABI = ABI::V1;

/// What level 2 cannot do without: truncating is an access of its own.
const NEEDED_ALONE: ABI = ABI::V3;

/// Without this, a command at level 2 could end every process of its user.
const NEEDED_SCOPES: ABI = ABI::V6;

pub(super) fn restrict(fence: &JobFence) -> Result<(), StepError> {
    let ruleset = rules(fence).step("make Landlock rules (is the kernel older than 6.12?)")?;
    ruleset.restrict_self().step("enter Landlock")?;
    Ok(())
}

fn rules(fence: &JobFence) -> Result<RulesetCreated, RulesetError> {
    let alone = fence.level != FenceLevel::Namespaces;
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset =
        ruleset.handle_access(AccessFs::from_all(if alone { NEEDED_ALONE } else { NEEDED_BESIDE_MOUNTS }))?;
    if alone {
        ruleset = ruleset.scope(Scope::from_all(NEEDED_SCOPES))?;
    }
    ruleset = ruleset.set_compatibility(CompatLevel::BestEffort);
    ruleset = ruleset.handle_access(AccessFs::from_all(NEWEST))?.scope(Scope::from_all(NEWEST))?;
    if alone && !fence.network {
        // The filter of system calls refuses the sockets already.
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut created = ruleset.create()?;

    let read = AccessFs::ReadFile | AccessFs::Execute;
    created = grant(created, Path::new("/"), AccessFs::ReadDir.into())?;
    for path in if alone { readable_around(&fence.masked) } else { vec![PathBuf::from("/")] } {
        created = grant(created, &path, read)?;
    }
    for path in fence.writable() {
        created = grant(created, &path, AccessFs::from_all(NEWEST))?;
    }
    let devices = AccessFs::from_file(NEWEST);
    for node in NODES {
        created = grant(created, Path::new(node), devices)?;
    }
    // The machine's own are other programs' too.
    for own in OWN.into_iter().chain(["/tmp", "/var/tmp"]).filter(|_| !alone) {
        created = grant(created, Path::new(own), AccessFs::from_all(NEWEST))?;
    }
    for socket in &fence.sockets {
        created = grant(created, socket, AccessFs::ResolveUnix.into())?;
    }
    // A terminal that the command was given can be opened again by name, as shells do.
    for stream in [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()] {
        if isatty(stream) {
            created = created.add_rule(PathBeneath::new(stream.as_fd(), devices))?;
        }
    }
    Ok(created)
}

/// What is not there, or closed to this user, needs no rule.
fn grant(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(held) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(held, access))
}

/// The largest trees that hold nothing masked. `/dev` is masked here: its harmless nodes have rules of their own.
fn readable_around(masked: &[PathBuf]) -> Vec<PathBuf> {
    let mut closed: Vec<PathBuf> = masked.iter().filter_map(|path| path.canonicalize().ok()).collect();
    closed.push("/dev".into());
    let mut open = Vec::new();
    collect_around(Path::new("/"), &closed, &mut open);
    open
}

fn collect_around(path: &Path, closed: &[PathBuf], open: &mut Vec<PathBuf>) {
    if closed.iter().any(|closed| path.starts_with(closed)) {
        return;
    }
    if !closed.iter().any(|closed| closed.starts_with(path)) {
        open.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        // A rule on a link would be one on what it points to.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            collect_around(&entry.path(), closed, open);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_masked_is_left_out_and_its_neighbours_are_not() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for name in ["secret", "open", "open/deeper"] {
            std::fs::create_dir(home.join(name)).unwrap();
        }
        std::os::unix::fs::symlink("secret", home.join("link")).unwrap();
        let mut open = Vec::new();
        collect_around(&home, &[home.join("secret")], &mut open);
        assert_eq!(open, [home.join("open")]);
    }
}
