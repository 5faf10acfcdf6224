//! The fence through the real binary: programs that try to get out of `relay record --access workspace`, as root and as a user
//! without rights, at level 1 and where the machine allows no namespaces. What came of it is seen from outside. At level 1
//! nothing gets through, at level 2 exactly what `KNOWN_AT_LEVEL_2` lists.
//!
//! A case is `LEVEL USER ATTEMPT`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, ensure};
use relaycode_exec::{FenceLevel, probe_fence};
use relaycode_proof_fence::{
    ALL, Attempt, AttemptKind, KNOWN_AT_LEVEL_2, World as FenceWorld, WorldUser, run_attempt_with_relay,
};

use super::{Layer, Setup, shuffled, words};
use crate::world::World;

pub(super) struct Fence;

/// Seen by everybody, and not a place for temporary files, which a fence replaces.
const BASE: &str = "/var/lib";

/// A rule of the user's hides it; without one a command may need it.
const NEEDS_A_RULE: &[&str] = &["read_env_in_project"];

/// What the attempts are made with.
const PROGRAMS: &[&str] = &["perl", "unshare"];

/// Levels and users.
const WAYS: [&str; 4] = ["1 own", "1 nobody", "2 own", "2 nobody"];

/// Both binaries where every user can run them.
pub(super) struct FenceSetup {
    base: PathBuf,
    numbers: AtomicU32,
    seen: Mutex<BTreeMap<String, WayTally>>,
}

/// What came of the hostile attempts of one way.
#[derive(Default)]
struct WayTally {
    hostile: usize,
    through: BTreeSet<String>,
}

impl FenceSetup {
    fn program(&self) -> PathBuf {
        self.base.join("proof")
    }

    fn relay(&self) -> PathBuf {
        self.base.join("relay")
    }
}

impl Setup for FenceSetup {
    fn new(world: &World, _: &Path) -> anyhow::Result<FenceSetup> {
        let base = Path::new(BASE).join(format!("relaycode-torture-fence-{}", std::process::id()));
        fs::create_dir_all(&base)?;
        fs::set_permissions(&base, fs::Permissions::from_mode(0o755))?;
        let setup = FenceSetup { base, numbers: AtomicU32::new(0), seen: Mutex::default() };
        fs::copy(std::env::current_exe()?, setup.program())?;
        fs::copy(&world.relay, setup.relay())?;
        Ok(setup)
    }
}

impl Drop for FenceSetup {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.base);
    }
}

impl Layer for Fence {
    type Case = String;
    type Setup = FenceSetup;
    const NAME: &'static str = "fence";
    const ABOUT: &'static str = "attempts to get out of the fence of a recorded command: level 1 stops all, level 2 all but those named";
    const QUICK_SECONDS: u64 = 25;

    fn missing(world: &World) -> Option<String> {
        if !rustix::process::geteuid().is_root() {
            return Some("root, to be two users".to_owned());
        }
        if let Some(program) = PROGRAMS.iter().find(|program| !Path::new("/usr/bin").join(program).exists()) {
            return Some((*program).to_owned());
        }
        let probe = probe_fence(&world.relay, &world.disk);
        let why = probe.reasons.first().map_or(String::new(), |(_, said)| format!(" ({said})"));
        (probe.level != FenceLevel::Namespaces).then(|| format!("a kernel that allows level 1{why}"))
    }

    fn cases(world: &World, _: &FenceSetup) -> anyhow::Result<Vec<String>> {
        let names: Vec<&str> = ALL.iter().copied().flatten().map(|attempt| attempt.name).collect();
        let all = WAYS.iter().flat_map(|way| names.iter().map(move |name| format!("{way} {name}")));
        Ok(shuffled(all.collect(), world.seed))
    }

    fn check(_: &World, setup: &FenceSetup, _: &Path, case: &String) -> anyhow::Result<u64> {
        let [level, user, name] = words(case, "LEVEL USER ATTEMPT")?;
        let attempt: &Attempt =
            ALL.iter().copied().flatten().find(|attempt| attempt.name == name).context("no such attempt")?;
        let number = setup.numbers.fetch_add(1, Ordering::Relaxed);
        let who = if user == "nobody" { WorldUser::Nobody } else { WorldUser::Own };
        let mut world = FenceWorld::new(&setup.base, number, who, &setup.program())?;
        let without_namespaces = level == "2";
        let (relay, program) = (setup.relay(), setup.program());
        let outcome = run_attempt_with_relay(attempt, &mut world, &relay, &program, without_namespaces)?;
        match attempt.kind {
            AttemptKind::AllowedInNamespaces if without_namespaces => {}
            AttemptKind::Allowed | AttemptKind::AllowedInNamespaces => {
                ensure!(outcome.through, "does not work: {}", outcome.details);
            }
            AttemptKind::SeenOutside | AttemptKind::SaysItself => {
                setup.count(&format!("{level} {user}"), name, outcome.through);
                let known =
                    NEEDS_A_RULE.contains(&name) || (without_namespaces && KNOWN_AT_LEVEL_2.contains(&name));
                ensure!(!outcome.through || known, "got through: {}", outcome.details);
                ensure!(outcome.through || !known, "is listed, and was stopped: {}", outcome.details);
            }
        }
        Ok(1)
    }

    fn note(_: &World, setup: &FenceSetup, _: &[String]) -> Option<String> {
        let seen = setup.seen.lock().ok()?;
        let line = |(way, tally): (&String, &WayTally)| {
            let through: Vec<&str> = tally.through.iter().map(String::as_str).collect();
            let names = if through.is_empty() { String::new() } else { format!(": {}", through.join(" ")) };
            format!("level {way}: {} attempts, {} through{names}", tally.hostile, through.len())
        };
        Some(seen.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

impl FenceSetup {
    fn count(&self, way: &str, name: &str, through: bool) {
        if let Ok(mut seen) = self.seen.lock() {
            let tally = seen.entry(way.to_owned()).or_default();
            tally.hostile += 1;
            if through {
                tally.through.insert(name.to_owned());
            }
        }
    }
}
