//! The fence through the real binary: programs that try to get out of `relay record --access workspace`, as this user and as one
//! without rights at level 1, and as this user where the machine allows no namespaces. What came of it is seen from outside.
//!
//! A case is `LEVEL USER ATTEMPT`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, ensure};
use relaycode_exec::FenceLevel;
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

/// Both binaries where every user can run them.
pub(super) struct FenceSetup {
    base: PathBuf,
    numbers: AtomicU32,
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
        let setup = FenceSetup { base, numbers: AtomicU32::new(0) };
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
    const ABOUT: &'static str = "attempts to get out of the fence of a recorded command, at levels 1 and 2";
    const QUICK_SECONDS: u64 = 30;

    fn missing(_: &World) -> Option<String> {
        (!rustix::process::geteuid().is_root()).then(|| "root, to be two users".to_owned())
    }

    fn cases(world: &World, _: &FenceSetup) -> anyhow::Result<Vec<String>> {
        let names: Vec<&str> = ALL.iter().copied().flatten().map(|attempt| attempt.name).collect();
        let ways = ["1 own", "1 nobody", "2 own"];
        let all = ways.iter().flat_map(|way| names.iter().map(move |name| format!("{way} {name}")));
        Ok(shuffled(all.collect(), world.seed))
    }

    fn check(_: &World, setup: &FenceSetup, _: &Path, case: &String) -> anyhow::Result<u64> {
        let [level, user, name] = words(case, "LEVEL USER ATTEMPT")?;
        let attempt: &Attempt =
            ALL.iter().copied().flatten().find(|attempt| attempt.name == name).context("no such attempt")?;
        let user = if user == "nobody" { WorldUser::Nobody } else { WorldUser::Own };
        let without_namespaces = level == "2";
        let number = setup.numbers.fetch_add(1, Ordering::Relaxed);
        let mut world = FenceWorld::new(&setup.base, number, user, &setup.program())?;
        let outcome = run_attempt_with_relay(
            attempt,
            &mut world,
            &setup.relay(),
            &setup.program(),
            without_namespaces,
        )?;
        let level = if without_namespaces { FenceLevel::Rules } else { FenceLevel::Namespaces };
        let known = NEEDS_A_RULE.contains(&name) || (without_namespaces && KNOWN_AT_LEVEL_2.contains(&name));
        match attempt.kind {
            AttemptKind::Allowed => ensure!(outcome.through, "does not work: {}", outcome.details),
            AttemptKind::AllowedInNamespaces if level == FenceLevel::Namespaces => {
                ensure!(outcome.through, "does not work: {}", outcome.details);
            }
            AttemptKind::AllowedInNamespaces => {}
            _ => ensure!(!outcome.through || known, "got through: {}", outcome.details),
        }
        Ok(1)
    }
}
