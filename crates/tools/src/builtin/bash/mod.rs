//! `bash`: a command in a shell that remembers where it is, its variables and its functions; each in a fresh process and in its
//! fence, and what it changes in the project is recorded with the turn's edits.

mod addresses;
mod environment;
mod interceptor;
mod permit;
mod report;
mod run;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use relaycode_exec::{CaptureLimits, Deadlines, FenceAccess, Job, JobOutput, SpillTarget};
use relaycode_llm::{CancelToken, request};
use relaycode_project::access::Access;
use relaycode_project::fence::{FencePlace, project_fence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::card::ToolCard;
use crate::command_recorder::RecorderStart;
use crate::host::ToolProgress;
use crate::internal_urls::route;
use crate::schema;
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput};
use crate::workspace::{CommandSurroundings, ToolWorkspace};
use addresses::PlacedAddresses;
pub use interceptor::{InterceptorRule, InterceptorRuleError};
use permit::BashPermit;
use report::{CommandAbout, ShellEnd, card_title, next_artifact};
use run::{CommandOrder, CommandRun, RunningCommand, bash_words};

/// Bytes of a command: more does not fit on a command line.
const MAX_COMMAND_BYTES: usize = 96 << 10;
/// Seconds that a command may take where the call does not say.
const DEFAULT_TIMEOUT: u64 = 300;
const MIN_TIMEOUT: u64 = 1;
const MAX_TIMEOUT: u64 = 3_600;
/// Between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes of an output that is kept beside the session.
const MAX_ARTIFACT_BYTES: u64 = 64 << 20;
/// The terminal of a command that wants one.
const PTY_ROWS: u16 = 40;
const PTY_COLUMNS: u16 = 120;
/// How often live output is looked at.
const TICK: Duration = Duration::from_millis(50);
/// A command goes to the background so long before it would time out.
const BACKGROUND_MARGIN: Duration = Duration::from_secs(1);

pub(crate) struct BashTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BashInput {
    /// The command, in bash.
    #[serde(alias = "cmd")]
    command: String,
    /// Variables for this command alone.
    #[serde(default)]
    env: Option<BTreeMap<String, String>>,
    /// Seconds that it may take: 1 to 3600, 300 if left out.
    #[serde(default)]
    timeout: Option<f64>,
    /// The directory it starts in; where the last command ended if left out.
    #[serde(default, alias = "workdir")]
    cwd: Option<String>,
    /// Give it a terminal, for programs that want one. Nobody types into it.
    #[serde(default)]
    pty: bool,
    /// Let it run in the background, and go on at once; `job` tells of it.
    #[serde(default, rename = "async", alias = "run_in_background")]
    is_async: bool,
    /// What the shells of other agents take: a few words for people. Not in the schema.
    #[serde(default, rename = "description")]
    #[schemars(skip)]
    _description: serde::de::IgnoredAny,
}

impl Tool for BashTool {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<BashInput>(self.name(), include_str!("../../../prompts/bash.md"))
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let input: BashInput = schema::read_input(call)?;
        let settings = &call.workspace.settings;
        check_command(&input.command)?;
        if input.is_async && !settings.async_enabled {
            return Err(ToolError::refused(
                "commands in the background are switched off (`agent.asyncEnabled`); call it without `async`",
            ));
        }
        if settings.bash_interceptor
            && let Some(said) =
                interceptor::better_tool(&input.command, &settings.interceptor_rules, &|name| {
                    call.workspace.offers(name)
                })
        {
            return Err(ToolError::refused(said));
        }
        if let Some(variables) = &input.env {
            environment::check_variables(variables)?;
        }
        let (timeout, timeout_note) = clamp_timeout(input.timeout)?;
        let directory = start_directory(call.workspace, input.cwd.as_deref())?;
        let surroundings = call.workspace.surroundings.as_ref();
        let surroundings =
            surroundings.ok_or_else(|| ToolError::refused("no commands can be run in this session"))?;
        call.check_cancelled()?;
        let started = start(call, surroundings, &input, (timeout, timeout_note), directory)?;
        follow(call, started, &input, timeout)
    }
}

fn check_command(command: &str) -> Result<(), ToolError> {
    let refused = |text: String| Err(ToolError::refused(text));
    if command.trim().is_empty() {
        return refused("the command is empty".to_string());
    }
    if command.contains('\0') {
        return refused("the command has a NUL byte".to_string());
    }
    if command.len() > MAX_COMMAND_BYTES {
        return refused(format!(
            "the command has more than {} kB; write a script with `write` and run that",
            MAX_COMMAND_BYTES >> 10
        ));
    }
    Ok(())
}

/// The timeout, and what to say if it is not the one that was asked for.
fn clamp_timeout(seconds: Option<f64>) -> Result<(Duration, Option<String>), ToolError> {
    let Some(wanted) = seconds else { return Ok((Duration::from_secs(DEFAULT_TIMEOUT), None)) };
    if wanted.is_nan() {
        return Err(ToolError::refused("`timeout` is no number"));
    }
    let clamped = wanted.clamp(MIN_TIMEOUT as f64, MAX_TIMEOUT as f64);
    let note = (clamped != wanted).then(|| {
        format!("The timeout was set to {clamped} seconds: {MIN_TIMEOUT} to {MAX_TIMEOUT} are possible")
    });
    Ok((Duration::from_secs_f64(clamped), note))
}

fn start_directory(workspace: &ToolWorkspace, cwd: Option<&str>) -> Result<PathBuf, ToolError> {
    let Some(cwd) = cwd.filter(|cwd| !cwd.trim().is_empty()) else {
        let now = workspace.current_directory();
        // A command may have removed where it stood.
        return Ok(if now.is_dir() { now } else { workspace.root().to_path_buf() });
    };
    if let Some((urls, rest)) = route(cwd.trim()) {
        let said = match urls.file(rest, workspace) {
            Ok(_) => format!("`{cwd}` is a file, not a directory; name it in the command"),
            Err(said) => said,
        };
        return Err(ToolError::refused(said));
    }
    let found = workspace.resolve(cwd).map_err(|error| ToolError::refused(error.to_string()))?;
    if !found.exists {
        return Err(ToolError::refused(format!("the directory `{}` does not exist", found.shown)));
    }
    if !found.path.is_dir() {
        return Err(ToolError::refused(format!("`{}` is not a directory", found.shown)));
    }
    Ok(found.path)
}

/// Decides about the command, and starts it.
fn start(
    call: &ToolInvocation<'_>,
    surroundings: &CommandSurroundings,
    input: &BashInput,
    (timeout, timeout_note): (Duration, Option<String>),
    directory: PathBuf,
) -> Result<StartedShell, ToolError> {
    let workspace = call.workspace;
    let no_scratch = |error: std::io::Error| {
        ToolError::refused(format!("no directory for temporary files can be made: {error}"))
    };
    // What lies in the project would be recorded as the command's.
    let scratch = match surroundings.scratch_dir.starts_with(workspace.root()) {
        true => Path::new("/tmp"),
        false => &surroundings.scratch_dir,
    };
    let in_fence = workspace.command_access() != Access::Full;
    let temporary = workspace.shell().directory(in_fence, scratch).map_err(no_scratch)?.path().to_path_buf();
    let PlacedAddresses { command, variables, notes } = addresses::place(input, workspace, &temporary)?;
    let permit = permit::permit(call, surroundings, &command, (&directory, &temporary))?;
    let BashPermit { fence, is_widened, rule, is_asked, only_looks, doomed } = permit;
    let is_fenced = fence.is_some();
    let (number, temporary, own, is_plain) = {
        let mut shell = workspace.shell();
        let number = shell.next_command();
        let directory = shell.directory(is_fenced, scratch).map_err(no_scratch)?;
        let is_plain = directory.has_plain_names(workspace.settings.bash_startup);
        (number, directory.path().to_path_buf(), directory.prepare(number).map_err(no_scratch)?, is_plain)
    };
    // The kernel sees to it that the reading was right: then there is nothing to secure before it and to look for after it.
    let fence = fence.map(|(access, grants)| match only_looks && is_plain {
        true => (FenceAccess::ReadOnly, grants),
        false => (access, grants),
    });
    let may_write = fence.as_ref().is_none_or(|(access, _)| *access == FenceAccess::Workspace);
    let fence = fence.map(|(access, grants)| {
        let place = FencePlace {
            root: workspace.root(),
            user_home: workspace.user_home.as_deref(),
            relay_home: surroundings.relay_home.as_deref(),
            temp: &temporary,
            listings: Some(workspace.listings()),
        };
        project_fence(&place, access, &grants, &|name| {
            surroundings.variables.get(std::ffi::OsStr::new(name)).cloned()
        })
    });
    let mut more = fence.as_ref().map_or_else(Vec::new, |fence| fence.environment.clone());
    if is_fenced {
        more.push(("TMPDIR".into(), temporary.into()));
    }
    let artifact = workspace.artifacts.as_deref().map(|directory| {
        // Where it cannot be made, the rest of an output is not kept.
        let _ = DirBuilder::new().mode(0o700).recursive(true).create(directory);
        next_artifact(directory)
    });
    let cancel = CancelToken::default();
    // What goes on beside others leaves nothing for the next; what may do more runs nothing of what others left.
    let mode = match (is_widened, input.is_async) {
        (true, _) => "fresh",
        (false, true) => "read",
        (false, false) => "keep",
    };
    let words =
        bash_words(&own, (mode, number, workspace.settings.bash_startup), &command, variables.into_iter());
    let job = Job {
        environment: environment::command_environment(
            surroundings,
            &workspace.settings,
            (input.pty, is_fenced),
            more,
        ),
        output: match input.pty {
            true => JobOutput::Pty { rows: PTY_ROWS, columns: PTY_COLUMNS },
            false => JobOutput::Merged,
        },
        deadlines: Deadlines { total: Some(timeout), idle: None, grace: GRACE },
        capture: CaptureLimits {
            head: 0,
            tail: workspace.settings.bash_output_bytes,
            spill: artifact
                .as_ref()
                .map(|(file, _)| SpillTarget { file: file.clone(), max_bytes: MAX_ARTIFACT_BYTES }),
        },
        ..Job::argv(words, directory)
    };
    let record = may_write.then(|| RecorderStart {
        call: call.id.to_string(),
        argv: ["bash", "-c", &command].map(Into::into).to_vec(),
        group: workspace.group(),
        title: workspace.title(),
        rule: (!is_asked).then(|| rule.clone()),
        is_fenced,
        doomed,
        cancel: cancel.clone(),
    });
    let order = CommandOrder {
        runner: workspace.door.runner.clone(),
        scratch: scratch.to_path_buf(),
        job,
        fence,
        record,
        recorder: workspace.recorder().clone(),
        cancel,
    };
    let about = Arc::new(CommandAbout {
        line: input.command.clone(),
        timeout,
        is_pty: input.pty,
        rule,
        notes: timeout_note.into_iter().chain(notes).collect(),
        artifact,
        warnings: workspace.warnings.clone(),
    });
    let of_job = about.clone();
    let running = RunningCommand::start(order, workspace.jobs.clone(), &input.command, move |run| {
        of_job.warn_person(run);
        of_job.report(run, &ShellEnd::of_job())
    });
    Ok(StartedShell { running, about, number, is_fenced })
}

/// A command of a call.
struct StartedShell {
    running: RunningCommand,
    about: Arc<CommandAbout>,
    number: u64,
    is_fenced: bool,
}

/// Waits for a command, or lets it go on in the background.
fn follow(
    call: &ToolInvocation<'_>,
    started: StartedShell,
    input: &BashInput,
    timeout: Duration,
) -> Result<ToolOutput, ToolError> {
    let StartedShell { mut running, about, number, is_fenced } = started;
    let settings = &call.workspace.settings;
    let began = Instant::now();
    // A terminal is for a program that somebody watches.
    let auto = settings.auto_background.filter(|_| settings.async_enabled && !input.pty);
    let mut background_after = match (input.is_async, auto) {
        (true, _) => Some(Duration::ZERO),
        (false, Some(threshold)) => Some(threshold.min(timeout.saturating_sub(BACKGROUND_MARGIN))),
        (false, None) => None,
    };
    loop {
        if background_after.is_some_and(|after| began.elapsed() >= after) && !call.cancel.is_cancelled() {
            background_after = None;
            running = match running.move_to_background() {
                Ok(Ok(id)) => return Ok(background_output(&input.command, &id)),
                Ok(Err(running)) => running,
                Err((error, running)) if input.is_async => {
                    running.cancel();
                    let _ = running.result.recv();
                    return Err(ToolError::refused(format!("the command was ended again: {error}")));
                }
                // It was not asked for: the call waits on.
                Err((_, running)) => running,
            };
        }
        match running.result.recv_timeout(TICK) {
            Ok(run) => {
                about.warn_person(&run);
                if call.cancel.is_cancelled() {
                    return Err(ToolError::Aborted);
                }
                let end = end_shell(call.workspace, &run, (number, is_fenced));
                return about.report(&run, &end);
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(ToolError::refused(
                    "the command's thread ended unexpectedly, which is a bug of relay's",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if call.cancel.is_cancelled() {
            running.cancel();
        }
        if let Some(tail) = running.live.news() {
            let status = format!("{} s", began.elapsed().as_secs());
            call.host.progress(call.id, &ToolProgress { status, tail });
        }
    }
}

fn background_output(command: &str, id: &str) -> ToolOutput {
    let text =
        format!("Background job {id} started. Its end will be told; `job` shows, waits for or cancels it.");
    let card = ToolCard::line(card_title(command), format!("in the background: {id}"));
    ToolOutput::text(text, card)
        .with_details(json!({ "async": { "state": "running", "jobId": id, "type": "bash" } }))
}

/// Takes what the shell left, and moves to where it was.
fn end_shell(workspace: &ToolWorkspace, run: &CommandRun, (number, is_fenced): (u64, bool)) -> ShellEnd {
    if run.outcome.is_err() {
        return ShellEnd::of_job();
    }
    let Some((directory, state)) = workspace.shell().take(is_fenced, number) else {
        return ShellEnd::of_job();
    };
    let Some(directory) = directory else { return ShellEnd { state, directory_note: None } };
    let shown = directory.to_string_lossy().into_owned();
    // `/` alone means something else to whoever resolves it.
    let wanted = if directory.parent().is_none() { "/." } else { shown.as_str() };
    let (next, directory_note) = match workspace.resolve(wanted) {
        Ok(found) if found.exists && found.path.is_dir() => (found.path, None),
        _ => {
            let root = workspace.root().to_path_buf();
            let note = format!(
                "It ended in {shown}, outside of the project; the next command starts in {}",
                root.display()
            );
            (root, Some(note))
        }
    };
    workspace.set_current_directory(next);
    ShellEnd { state, directory_note }
}
