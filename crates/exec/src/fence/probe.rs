//! Which level this machine allows, found out by building the fence around nothing.
//!
//! A list of versions and settings would be a guess: containers, security modules and distributions switch parts of it off
//! in ways of their own.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use super::{FenceAccess, FenceChannel, FenceLevel, FenceReport, FenceSpec, JobFence};
use crate::PrivateDir;
use crate::keeper::own_children;

/// What the machine allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FenceProbe {
    /// The best level that could be built.
    pub level: FenceLevel,
    /// Why each better one could not, in words.
    pub reasons: Vec<(FenceLevel, String)>,
}

/// Tries the levels, from the strongest, with `program`, which is to call [`super::run_fence`]. `temp` is any directory that
/// can be written; nothing is left in it. What was found out once of a program holds for this process.
pub fn probe_fence(program: &Path, temp: &Path) -> FenceProbe {
    static FOUND: Mutex<BTreeMap<PathBuf, FenceProbe>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.entry(program.to_path_buf()).or_insert_with(|| try_levels(program, temp)).clone()
}

fn try_levels(program: &Path, temp: &Path) -> FenceProbe {
    // A directory of its own: where `/tmp` is replaced, a fence makes places in it for what lies beneath `/tmp`.
    match PrivateDir::new(temp) {
        Ok(own) => try_levels_in(program, own.path()),
        Err(error) => {
            let said = format!("no directory can be made in {}: {error}", temp.display());
            let reasons = [FenceLevel::Namespaces, FenceLevel::Rules].map(|level| (level, said.clone()));
            FenceProbe { level: FenceLevel::Open, reasons: reasons.into() }
        }
    }
}

fn try_levels_in(program: &Path, temp: &Path) -> FenceProbe {
    let mut reasons = Vec::new();
    for level in [FenceLevel::Namespaces, FenceLevel::Rules] {
        match try_level(program, temp, level) {
            Ok(FenceReport::Entered { .. }) => return FenceProbe { level, reasons },
            Ok(FenceReport::Failed { step, said }) => reasons.push((level, format!("{step}: {said}"))),
            Err(error) => reasons.push((level, error.to_string())),
        }
    }
    FenceProbe { level: FenceLevel::Open, reasons }
}

fn try_level(program: &Path, temp: &Path, level: FenceLevel) -> io::Result<FenceReport> {
    let fence = JobFence {
        level,
        access: FenceAccess::ReadOnly,
        directories: Vec::new(),
        visible: Vec::new(),
        layers: Vec::new(),
        read_only: Vec::new(),
        masked: Vec::new(),
        temp: temp.into(),
        network: false,
        sockets: Vec::new(),
    };
    let spec = FenceSpec { fence, directory: "/".into(), words: Vec::new(), environment: Vec::new() };
    let mut channel = FenceChannel::new(&spec)?;
    let mut command = channel.command(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // On the list of own children, or the loss of a keeper meanwhile would end it.
    let mut child = own_children::spawn_keeper(&mut command)?;
    own_children::wait_for_keeper(&mut child);
    channel.report()
}
