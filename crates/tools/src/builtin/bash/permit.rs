//! Whether a command may run, and with what: the user's rules decide, a person is asked where they do not.

use std::path::{Path, PathBuf};

use relaycode_exec::FenceAccess;
use relaycode_project::access::Access;
use relaycode_project::fence::{FenceGrants, FenceNeed, missing_needs};
use relaycode_project::permissions::{
    CommandGrant, PermissionDecision, PermissionEffect, PermissionEngine, PermissionLayer, PermissionPlace,
    PermissionRequest, PermissionRule, PermissionStore,
};

use crate::host::{HostAnswer, HostQuestion};
use crate::tool::{ToolError, ToolInvocation};
use crate::workspace::CommandSurroundings;

/// Characters of a command in a question.
const MAX_SHOWN: usize = 300;

const ONCE: &str = "once";
const ALWAYS: &str = "always here";
const NO: &str = "no";

/// What a command that may run is given.
#[derive(Debug)]
pub(super) struct CommandPermit {
    /// `None`: it runs outside of a fence.
    pub fence: Option<(FenceAccess, FenceGrants)>,
    /// It may do more than the others of this session: what they left behind must not run in it.
    pub is_widened: bool,
    /// The rule that decided.
    pub rule: String,
    /// What it is going to destroy, beneath the project.
    pub doomed: Vec<String>,
}

/// Decides about a line.
///
/// # Errors
/// If it may not run.
pub(super) fn permit(
    call: &ToolInvocation<'_>,
    surroundings: &CommandSurroundings,
    line: &str,
    (directory, temporary): (&Path, &Path),
) -> Result<CommandPermit, ToolError> {
    let workspace = call.workspace;
    let shown = relaycode_text::width::clip_for_message(line, MAX_SHOWN);
    let decision = decide(call, surroundings, line, (directory, temporary))?;
    if decision.effect == PermissionEffect::Deny {
        return Err(ToolError::refused(format!(
            "`{shown}` may not run: the rule `{}` denies it. Do it another way, or tell the user what is missing",
            decision.rule.name()
        )));
    }
    let mut grants = decision.grants.clone();
    if workspace.access != Access::Full {
        for need in missing_needs(&[], &decision) {
            ask(call, surroundings, &format!("`{}` {}", need.command, need.why), &need.rule())?;
            grants.push(match need.need {
                FenceNeed::Network => CommandGrant::Network,
                FenceNeed::Outside => CommandGrant::OutsideTheFence,
            });
        }
    }
    // Whoever was asked about what it needs has been asked about the command.
    if decision.effect == PermissionEffect::Ask && grants.len() == decision.grants.len() {
        let reason = decision.reasons.first().cloned().unwrap_or_else(|| decision.rule.name());
        let rule = decision.would_allow.first().cloned().unwrap_or_default();
        ask(call, surroundings, &format!("`{shown}`: {reason}"), &rule)?;
    }
    let access = workspace.access.fence();
    let is_outside = grants.contains(&CommandGrant::OutsideTheFence);
    let fence = access.filter(|_| !is_outside).map(|access| {
        let grants = FenceGrants {
            network: grants.contains(&CommandGrant::Network),
            sockets: grants.iter().any(|grant| matches!(grant, CommandGrant::UnixSocket(_))),
            hidden: Vec::new(),
        };
        (access, grants)
    });
    Ok(CommandPermit {
        // With access ask, a function of an earlier command could stand for what a rule allows.
        is_widened: access.is_some() && (!grants.is_empty() || workspace.access == Access::Ask),
        fence,
        rule: decision.rule.name(),
        doomed: decision
            .reading
            .as_ref()
            .map(|reading| workspace.door.expected_losses(reading))
            .unwrap_or_default(),
    })
}

fn decide(
    call: &ToolInvocation<'_>,
    surroundings: &CommandSurroundings,
    line: &str,
    (directory, temporary): (&Path, &Path),
) -> Result<PermissionDecision, ToolError> {
    let workspace = call.workspace;
    let store = PermissionStore::new(surroundings.relay_home.as_deref());
    let layers = store.load(workspace.root(), &workspace.door.loaded).map_err(|error| {
        ToolError::refused(format!("no command runs while the user's rules cannot be read: {error}"))
    })?;
    let is_fenced = workspace.access != Access::Full;
    let mut temporary = vec![temporary.to_path_buf()];
    if is_fenced {
        // These are the command's own in a fence, but for a project that lies there.
        let own = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter();
        temporary.extend(own.filter(|place| !workspace.root().starts_with(place)));
    }
    let place = PermissionPlace {
        root: workspace.root().to_path_buf(),
        directory: directory.to_path_buf(),
        home: workspace.user_home.clone(),
        temporary,
        access: workspace.access,
        is_fenced,
    };
    Ok(PermissionEngine::new(layers, place).decide(&PermissionRequest::Line(line.to_string())))
}

/// Asks: once, always here, no. An answer for always is kept as a rule.
fn ask(
    call: &ToolInvocation<'_>,
    surroundings: &CommandSurroundings,
    question: &str,
    rule: &str,
) -> Result<(), ToolError> {
    let workspace = call.workspace;
    let always = PermissionRule::parse(PermissionEffect::Allow, rule).ok();
    let options: &[&str] = if always.is_some() { &[ONCE, ALWAYS, NO] } else { &[ONCE, NO] };
    let answer = call.host.ask(&HostQuestion {
        call: call.id.to_string(),
        text: format!("{question}. Allow it?"),
        options: options.iter().map(ToString::to_string).collect(),
        several: false,
        default: Some(options.len() - 1),
        deadline: None,
    });
    let chosen = match answer {
        HostAnswer::Options { chosen } => {
            chosen.first().and_then(|at| options.get(*at)).copied().unwrap_or(NO)
        }
        HostAnswer::Stop => return Err(ToolError::Aborted),
        HostAnswer::Text { .. } | HostAnswer::TimedOut => NO,
        HostAnswer::Unavailable => {
            let allows = if always.is_some() {
                format!("the rule `{rule}` would allow it (`relay permissions add`)")
            } else {
                "`--access full` would run it".to_string()
            };
            workspace.note_unanswered(format!("{question}; {allows}"));
            return Err(ToolError::refused(format!(
                "the command did not run: {question}, and there is nobody to ask. Go on without it, and say at the end that it \
                 is missing; {allows}"
            )));
        }
    };
    match (chosen, always) {
        (NO, _) => Err(ToolError::refused(format!("the command did not run: the user said no ({question})"))),
        (ALWAYS, Some(rule)) => {
            let store = PermissionStore::new(surroundings.relay_home.as_deref());
            let now = format!("{:.3}", jiff::Timestamp::now());
            let kept = store.add(PermissionLayer::AlwaysHere, workspace.root(), &rule, &now);
            kept.map(drop).map_err(|error| ToolError::refused(format!("the rule cannot be kept: {error}")))
        }
        _ => Ok(()),
    }
}
