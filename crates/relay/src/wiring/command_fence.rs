//! The fence around a command that the user names: what decides whether it may run, asking where that is needed, and the fence.
//! What the user's environment says of caches is read here.

use std::ffi::OsString;
use std::path::Path;

use relaycode_door::GateFence;
use relaycode_exec::{ExecError, ExitReason, Job, JobOutcome};
use relaycode_project::access::Access;
use relaycode_project::config::{Config, LoadedConfig};
use relaycode_project::fence::{CommandFence, FenceGrants, FenceNeed, FencePlace, missing_needs};
use relaycode_project::permissions::{
    CommandGrant, LineReading, PermissionDecision, PermissionEffect, PermissionEngine, PermissionLayer,
    PermissionPlace, PermissionRequest, PermissionRule, PermissionStore, read_arguments,
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
        let Some(access) = self.access.fence() else { return Ok(None) };
        let decision = self.decide(ctx)?;
        let line = self.line();
        if decision.effect == PermissionEffect::Deny {
            let rule = decision.rule.name();
            let said = format!("`{line}` may not run: {rule}");
            return Err(CommandFailure::refused("denied", said).unchanged());
        }
        let mut given = decision.grants.clone();
        let own: Vec<String> = self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        for need in missing_needs(&own, &decision) {
            let question = format!("`{}` {}", need.command, need.why);
            self.ask(&question, &need.rule(), ctx)?;
            given.push(match need.need {
                FenceNeed::Network => CommandGrant::Network,
                FenceNeed::Outside => CommandGrant::OutsideTheFence,
            });
        }
        // Whoever was asked about what it needs has been asked about the command.
        if decision.effect == PermissionEffect::Ask && given.len() == decision.grants.len() {
            let reason = decision.reasons.first().cloned().unwrap_or_else(|| decision.rule.name());
            let rule = decision.would_allow.first().cloned().unwrap_or_default();
            self.ask(&format!("`{line}`: {reason}"), &rule, ctx)?;
        }
        if given.contains(&CommandGrant::OutsideTheFence) {
            return Ok(None);
        }
        let grants = FenceGrants {
            network: given.contains(&CommandGrant::Network),
            sockets: given.iter().any(|grant| matches!(grant, CommandGrant::UnixSocket(_))),
            hidden: Vec::new(),
        };
        let scratch = UserPrograms::from_env().scratch_dir;
        let place = FencePlace {
            root: self.root,
            user_home: ctx.home.user_home.as_deref(),
            relay_home: ctx.home.path.as_deref(),
            temp: &scratch,
        };
        let fence = CommandFence::new(&place, access, &grants, &|name| std::env::var_os(name));
        let failed = |error| format!("no directory for temporary files can be made: {error}");
        fence.map(Some).map_err(|error| CommandFailure::unexpected(failed(error)).unchanged())
    }

    fn decide(&self, ctx: &CommandContext<'_>) -> CommandResult<PermissionDecision> {
        let store = PermissionStore::new(ctx.home.path.as_deref());
        let layers = store.load(self.root, self.config);
        let layers = layers.map_err(|error| CommandFailure::usage(error).unchanged())?;
        let request = PermissionRequest::Arguments(self.texts());
        Ok(PermissionEngine::new(layers, self.place(ctx)).decide(&request))
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

    fn line(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    /// Asks: once, always here, no. An answer for always is kept as a rule.
    fn ask(&self, question: &str, rule: &str, ctx: &CommandContext<'_>) -> CommandResult<()> {
        let Some(terminal) = questions::open_terminal() else {
            let outside = "`--access full` runs it without a fence";
            let hint = match rule {
                "" => outside.to_string(),
                rule => format!("`relay permissions add allow {}` allows it; {outside}", shell_quoted(rule)),
            };
            return Err(questions::nobody_to_ask(question, &hint));
        };
        let always = PermissionRule::parse(PermissionEffect::Allow, rule).ok();
        let keys = if always.is_some() { "y once · a always here · [n] no" } else { "[y/N]" };
        let answer = questions::ask_line(&terminal, &format!("{question}. Allow it?  {keys} "))?;
        match always {
            Some(rule) if answer.eq_ignore_ascii_case("a") => {
                let store = PermissionStore::new(ctx.home.path.as_deref());
                let kept = store.add(PermissionLayer::AlwaysHere, self.root, &rule, &clock::now_utc());
                kept.map(drop).map_err(|error| CommandFailure::unexpected(error).unchanged())
            }
            _ if questions::is_yes(&answer) => Ok(()),
            _ => Err(CommandFailure::declined("the command did not run")),
        }
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

/// There is no fence on this machine.
pub(crate) fn no_fence_failure(error: &ExecError) -> CommandFailure {
    CommandFailure::new(Exit::NobodyToAsk, "noFence", format!("this machine has no fence: {error}"))
        .hint("`relay doctor` says why; `--access full` runs the command without one")
        .unchanged()
}
