//! The machine: relay itself, its directory, processes, the terminal, programs it starts for you.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use relaycode_exec::{Deadlines, FenceLevel, Job, probe_fence};
use relaycode_friend::{FriendSandbox, friends};
use relaycode_tui::views;

use super::DoctorFinding;
use crate::sys::LIMITS;
use crate::{CommandContext, Project, UserPrograms, project, questions};

/// Which relay this is, and on what.
pub(super) fn relay() -> DoctorFinding {
    let (os, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    let said = format!("{} on {os} {machine}", env!("CARGO_PKG_VERSION"));
    let Some(next) = LIMITS else { return DoctorFinding::good("relay", said) };
    DoctorFinding::note("relay", format!("{said}, where it is not tested")).next_step(next)
}

/// The user's own directory.
pub(super) fn home(ctx: &CommandContext<'_>) -> DoctorFinding {
    const NAME: &str = "your directory";
    let Some(home) = &ctx.home.path else {
        let said = "neither RELAY_HOME nor HOME says where it is: nothing can be trusted or copied";
        return DoctorFinding::bad(NAME, said).next_step("set HOME, or RELAY_HOME to an absolute path");
    };
    let shown = home.display();
    let stat = match fs::metadata(home) {
        Ok(stat) => stat,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return DoctorFinding::good(NAME, format!("{shown}, which is made when it is needed"));
        }
        Err(error) => return DoctorFinding::bad(NAME, format!("{shown} cannot be used: {error}")),
    };
    if stat.mode() & 0o022 != 0 {
        let said = format!("others may write to {shown}, so nothing in it is believed");
        return DoctorFinding::bad(NAME, said).next_step(format!("chmod 700 {shown}"));
    }
    DoctorFinding::good(NAME, shown.to_string())
}

/// Whether processes can be started and watched over, tried out.
pub(super) fn processes(project: &Project) -> DoctorFinding {
    const NAME: &str = "processes";
    let deadlines = Deadlines { total: Some(Duration::from_secs(5)), ..Deadlines::default() };
    // relay itself: whatever else is called `true` here is not run for this.
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(error) => return DoctorFinding::bad(NAME, format!("relay cannot find itself: {error}")),
    };
    let job = Job { deadlines, ..Job::argv([own.as_os_str(), "--version".as_ref()], &project.root) };
    let started = Instant::now();
    let ran = project::process_runner().map(|runner| runner.run(&job, &|| false, &mut |_| {}));
    match ran {
        Ok(Ok(finished)) if finished.reason.is_success() => {
            let took = views::gate::human_duration(started.elapsed());
            DoctorFinding::good(NAME, format!("one ran under relay's watch in {took}"))
        }
        Ok(Ok(finished)) => DoctorFinding::bad(NAME, format!("one ended as {:?}", finished.reason)),
        Ok(Err(error)) => DoctorFinding::bad(NAME, error.to_string()),
        Err(failure) => DoctorFinding::bad(NAME, failure.message),
    }
}

/// Which fence commands can be put in, tried out.
pub(super) fn fence() -> DoctorFinding {
    const NAME: &str = "fence";
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(error) => return DoctorFinding::bad(NAME, format!("relay cannot find itself: {error}")),
    };
    let probe = probe_fence(&own, &UserPrograms::from_env().scratch_dir);
    let why: Vec<&str> = probe.reasons.iter().map(|(_, why)| why.as_str()).collect();
    let why = why.join("; ");
    let fenced = friends::ALL.iter().filter(|friend| friend.abilities().sandbox == FriendSandbox::Fence);
    let fenced: Vec<&str> = fenced.map(|friend| friend.name()).collect();
    let fenced = fenced.join(", ");
    match probe.level {
        FenceLevel::Namespaces => {
            let said = format!("level 1: commands with `--access workspace` stay in the project, and {fenced} in their copy");
            DoctorFinding::good(NAME, said)
        }
        FenceLevel::Rules => DoctorFinding::note(
            NAME,
            format!(
                "level 2: commands, and {fenced} in `relay do`, can change modes and times anywhere, and git hooks ({why})"
            ),
        )
        .next_step(
            "allow unprivileged user namespaces for level 1; docs/permissions.md says what each level stops",
        ),
        FenceLevel::Open => DoctorFinding::note(
            NAME,
            format!("level 3: there is none, so `--access workspace` runs nothing, and {fenced} do without in `relay do` ({why})"),
        )
        .next_step("docs/permissions.md says what a fence needs"),
    }
}

/// Whether somebody can be asked, and how things look to them.
pub(super) fn terminal(ctx: &CommandContext<'_>) -> DoctorFinding {
    const NAME: &str = "terminal";
    let look = ctx.console.out_style();
    let letters = if look.utf8 { "UTF-8" } else { "no UTF-8: signs are plain ASCII" };
    if questions::open_terminal().is_none() {
        let said = format!("there is nobody to ask ({letters})");
        return DoctorFinding::note(NAME, said).next_step("`-y` and `--allow` answer beforehand");
    }
    let width = look.width.map(|width| format!(", {width} columns")).unwrap_or_default();
    DoctorFinding::good(NAME, format!("somebody can be asked{width}, {letters}"))
}

/// The user's editor and pager.
pub(super) fn programs() -> [DoctorFinding; 2] {
    let programs = UserPrograms::from_env();
    [("editor", programs.editors), ("pager", programs.pagers)].map(|(name, all)| {
        let found = all.iter().filter_map(|words| words.first()).find_map(|word| find_on_path(word));
        match found {
            Some(path) => DoctorFinding::good(name, path.display().to_string()),
            None => {
                DoctorFinding::note(name, "none was found").next_step(format!("set {}", name.to_uppercase()))
            }
        }
    })
}

/// Where a program is, as the shell would find it.
pub(super) fn find_on_path(name: &OsStr) -> Option<PathBuf> {
    let runs = |path: &PathBuf| fs::metadata(path).is_ok_and(|s| s.is_file() && s.mode() & 0o111 != 0);
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(name.into()).filter(runs);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(runs)
}
