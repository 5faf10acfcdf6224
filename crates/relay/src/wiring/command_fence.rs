//! The fence around a command that the user names: asking whether it may run, and the fence.
//! What the user's environment says of caches is read here.

use std::ffi::OsString;
use std::path::Path;

use relaycode_door::{GateFence, quote_word};
use relaycode_exec::{ExecError, ExitReason, FenceLevel, Job, JobOutcome, Runner};
use relaycode_project::access::Access;
use relaycode_project::config::{Config, LoadedConfig};
use relaycode_project::fence::{CommandFence, FencePlace};
use relaycode_project::permissions::{
    CommandRequest, LineReading, PermissionPlace, PermissionRequest, PermissionStore, PermitAnswer,
    PermitError, PermitQuestion, read_arguments,
};
use relaycode_tui::clock;

use crate::report::render::permissions::shell_quoted;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, UserPrograms, questions};

/// Where a command is to run, and with which access.
pub(crate) struct FencedCommand<'a> {
    pub(crate) root: &'a Path,
    pub(crate) config: &'a LoadedConfig,
    pub(crate) words: &'a [OsString],
    pub(crate) access: Access,
}

impl FencedCommand<'_> {
    /// The fence for the command; `None`: it runs without one. Somebody is asked where no rule says so.
    ///
    /// # Errors
    /// If it may not run.
    pub(crate) fn permit(&self, ctx: &CommandContext<'_>) -> CommandResult<Option<CommandFence>> {
        if self.access == Access::Full {
            return Ok(None);
        }
        let line: Vec<_> = self.words.iter().map(|word| quote_word(&word.to_string_lossy())).collect();
        let line = line.join(" ");
        let request = CommandRequest {
            request: PermissionRequest::Arguments(self.texts()),
            place: self.place(ctx),
            config: self.config,
            store: &PermissionStore::new(ctx.home.path.as_deref()),
            shown: &line,
            now: &clock::now_utc(),
        };
        let permit = request.permit(&mut ask).map_err(|error| match error {
            PermitError::Rules(error) => CommandFailure::usage(error).unchanged(),
            PermitError::Denied { rule } => {
                CommandFailure::refused("denied", format!("`{line}` may not run: {rule}")).unchanged()
            }
            PermitError::NotAllowed(failure) => failure,
            PermitError::NotKept(error) => CommandFailure::unexpected(error).unchanged(),
        })?;
        let Some((access, grants)) = permit.fence else { return Ok(None) };
        let scratch = UserPrograms::from_env().scratch_dir;
        let place = FencePlace {
            root: self.root,
            user_home: ctx.home.user_home.as_deref(),
            relay_home: ctx.home.path.as_deref(),
            temp: &scratch,
            listings: None,
        };
        let fence = CommandFence::new(&place, access, &grants, &|name| std::env::var_os(name));
        let failed = |error| format!("no directory for temporary files can be made: {error}");
        fence.map(Some).map_err(|error| CommandFailure::unexpected(failed(error)).unchanged())
    }

    /// What the command would start, write and destroy.
    pub(crate) fn reading(&self, ctx: &CommandContext<'_>) -> LineReading {
        read_arguments(&self.texts(), &self.place(ctx))
    }

    fn place(&self, ctx: &CommandContext<'_>) -> PermissionPlace {
        PermissionPlace {
            root: self.root.to_path_buf(),
            // As the root is: a rule for a command holds inside of it only.
            directory: ctx.options.directory.canonicalize().unwrap_or_else(|_| self.root.to_path_buf()),
            home: ctx.home.user_home.clone(),
            temporary: Vec::new(),
            access: self.access,
            is_fenced: true,
        }
    }

    fn texts(&self) -> Vec<String> {
        self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }
}

/// Asks: once, always here, no.
fn ask(question: &PermitQuestion) -> CommandResult<PermitAnswer> {
    let PermitQuestion { text, always, .. } = question;
    let Some(terminal) = questions::open_terminal() else {
        let outside = "`--access full` runs it without a fence";
        let hint = match always {
            None => outside.to_string(),
            Some(rule) => {
                let rule = shell_quoted(rule);
                format!("`relay permissions add allow {rule}` allows it; {outside}")
            }
        };
        return Err(questions::nobody_to_ask(text, &hint));
    };
    let keys = if always.is_some() { "y once · a always here · [n] no" } else { "[y/N]" };
    let answer = questions::ask_line(&terminal, &format!("{text}. Allow it?  {keys} "))?;
    match always {
        Some(_) if answer.eq_ignore_ascii_case("a") => Ok(PermitAnswer::AlwaysHere),
        _ if questions::is_yes(&answer) => Ok(PermitAnswer::Once),
        _ => Err(CommandFailure::declined("the command did not run")),
    }
}

/// What the project's commands need of the machine to run in a fence, if the user wants one around them.
pub(crate) fn gate_fence(config: &Config, ctx: &CommandContext<'_>) -> Option<GateFence> {
    let access = config.patch.command_access.fence()?;
    Some(GateFence {
        access,
        user_home: ctx.home.user_home.clone(),
        scratch: UserPrograms::from_env().scratch_dir,
        variable: |name| std::env::var_os(name),
    })
}

/// What to tell of a command that failed in a fence and whose output was not seen.
pub(crate) fn failure_hint(ran: &JobOutcome, job: &Job) -> Option<&'static str> {
    let fence = job.fence.as_ref()?;
    match ran.reason {
        ExitReason::Exited(0) => None,
        ExitReason::Exited(_) if fence.network => {
            Some("it ran in a fence; if that stopped it, `--access full` runs it without one")
        }
        ExitReason::Exited(_) => Some(
            "it ran in a fence, without the network; if that stopped it, `--access full` runs it without one",
        ),
        _ => None,
    }
}

/// The fence could not be built: because the machine has none, or because of this command.
pub(crate) fn no_fence_failure(error: &ExecError, runner: &Runner) -> CommandFailure {
    let scratch = UserPrograms::from_env().scratch_dir;
    let (said, hint) = match runner.probe_fence(&scratch).level {
        FenceLevel::Open => (
            format!("this machine has no fence: {error}"),
            "`relay doctor` says why; `--access full` runs the command without one",
        ),
        _ => (error.to_string(), "`--access full` runs the command without a fence"),
    };
    CommandFailure::new(Exit::NobodyToAsk, "noFence", said).hint(hint).unchanged()
}
