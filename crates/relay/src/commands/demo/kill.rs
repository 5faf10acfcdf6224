//! relay is really started, and really killed in the middle of a change, while the project's linter runs.
//!
//! The process runs under a keeper like any other: when it is killed, its linter goes with it, and if the
//! tour itself is ended meanwhile, both go.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::time::Duration;

use relaycode_door::gate::GATE_VARIABLE;
use relaycode_exec::{Deadlines, ExitReason, Job, JobEnvironment};
use rustix::process::{Pid, Signal, kill_process};

use super::stage::DemoStage;
use crate::{CommandFailure, CommandResult, project};

/// Long enough for a slow machine to come to the linter; far shorter than the linter takes.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs relay with these words until its linter runs, and kills it then. Its process id.
pub(super) fn run_and_kill(stage: &mut DemoStage<'_>, words: &[&str]) -> CommandResult<u32> {
    let own = std::env::current_exe().map_err(CommandFailure::unexpected)?;
    let scratch = stage.scratch;
    let mut argv = vec![own.into_os_string()];
    argv.extend(words.iter().map(Into::into));
    let job = Job {
        environment: JobEnvironment {
            remove: vec![GATE_VARIABLE.into()],
            set: vec![
                ("RELAY_HOME".into(), scratch.home.clone().into_os_string()),
                ("RELAY_CEILING_DIRECTORIES".into(), scratch.ceiling().as_os_str().to_os_string()),
            ],
            ..JobEnvironment::default()
        },
        deadlines: Deadlines { total: Some(KILL_TIMEOUT), ..Deadlines::default() },
        ..Job::argv(argv, &scratch.project)
    };
    let killed = Cell::new(None);
    // It is asked every few milliseconds.
    let stop = || {
        if killed.get().is_none()
            && let Some(pid) = gate_running_pid(&scratch.project)
            && let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw)
            && kill_process(process, Signal::KILL).is_ok()
        {
            killed.set(Some(pid));
        }
        stage.signals.stop_requested()
    };
    let finished =
        project::process_runner()?.run(&job, &stop, &mut |_| {}).map_err(CommandFailure::unexpected)?;
    let said = finished.stdout.text() + &finished.stderr.text();
    stage.record_command(words, None, &said);
    stage.check_interrupt()?;
    match (finished.reason, killed.get()) {
        (ExitReason::Signalled(signal), Some(pid))
            if signal == Signal::KILL.as_raw() && finished.escaped == 0 =>
        {
            Ok(pid)
        }
        (end, _) => Err(CommandFailure::unexpected(format!(
            "relay should have been killed, and it ended with {end:?}: {said}"
        ))),
    }
}

/// The process whose change is on disk while the project's commands judge it, as its journal says.
fn gate_running_pid(project: &Path) -> Option<u32> {
    let entries = fs::read_dir(project.join(".relaycode")).ok()?;
    let open = |name: &str| name.ends_with(".pending.yml");
    let journal = entries.flatten().find(|entry| entry.file_name().to_str().is_some_and(open))?;
    let text = fs::read_to_string(journal.path()).ok()?;
    // What is above is the answer, which may say anything.
    let (_, transaction) = text.rsplit_once("\ntransaction:\n")?;
    let value = |key: &str| transaction.lines().find_map(|line| line.trim().strip_prefix(key));
    value("stage: ").filter(|stage| *stage == "gateRunning")?;
    value("pid: ")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_that_is_being_judged_is_at_the_gate() {
        let project = std::env::temp_dir().join(format!("relay-at-the-gate-{}", std::process::id()));
        let state = project.join(".relaycode");
        fs::create_dir_all(&state).unwrap();
        assert_eq!(gate_running_pid(&project), None);
        let journal = |stage: &str| {
            let answer = "operations:\n  - content: |\n      transaction:\n        stage: gateRunning\n        pid: 1\n";
            let text = format!("{answer}transaction:\n  stage: {stage}\n  pid: 77\nchecksum: x\n");
            fs::write(state.join("a.pending.yml"), text).unwrap();
        };
        journal("applying");
        assert_eq!(gate_running_pid(&project), None);
        journal("gateRunning");
        assert_eq!(gate_running_pid(&project), Some(77));
        fs::remove_dir_all(&project).unwrap();
    }
}
