//! `checkpoint` and `rewind`: a mark, and the way back to it. The files are taken back here, through the door; the conversation
//! is cut by the loop once the turn's calls are done, since it holds it.

use relaycode_door::{DoorError, LedgerError, RewindMark};
use relaycode_llm::request;
use relaycode_text::plural::pluralize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::card::{CardBody, ToolCard};
use crate::jobs::JobStatus;
use crate::schema;
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput};
use crate::workspace::{CheckpointState, ConversationMark, RewindRequest, ToolWorkspace};

/// Bytes of a goal or a report.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// Files that are named.
const MAX_LISTED: usize = 20;

pub(crate) struct CheckpointTool;

pub(crate) struct RewindTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckpointInput {
    /// What you want to find out.
    goal: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RewindInput {
    /// What is to be known of what came after the mark.
    report: String,
    /// Leave files as they are; only the conversation goes back.
    #[serde(default)]
    keep_files: bool,
}

impl Tool for CheckpointTool {
    fn name(&self) -> &'static str {
        "checkpoint"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<CheckpointInput>(self.name(), include_str!("../../../prompts/checkpoint.md"))
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let CheckpointInput { goal } = schema::read_input(call)?;
        check_text(&goal, "goal")?;
        if *call.workspace.checkpoint() != CheckpointState::None {
            return Err(ToolError::refused("Checkpoint already active. Call `rewind` with a report first."));
        }
        let group = call.workspace.group();
        let members = group.as_deref().map(|group| call.workspace.door.group_members(group));
        let members = members.transpose().map_err(|error| ToolError::refused(error.to_string()))?;
        let started_at = jiff::Timestamp::now().to_string();
        let mark = ConversationMark {
            call: call.id.to_string(),
            goal: goal.clone(),
            group,
            members: members.unwrap_or_default(),
            is_reminded: false,
        };
        *call.workspace.checkpoint() = CheckpointState::Active(mark);
        let text = format!(
            "Checkpoint created.\nGoal: {goal}\nRun your investigation, then call rewind with a concise report."
        );
        let card = ToolCard::line("checkpoint", goal.as_str());
        let details = json!({ "goal": goal, "startedAt": started_at });
        Ok(ToolOutput::text(text, card).with_details(details))
    }
}

impl Tool for RewindTool {
    fn name(&self) -> &'static str {
        "rewind"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<RewindInput>(self.name(), include_str!("../../../prompts/rewind.md"))
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let RewindInput { report, keep_files } = schema::read_input(call)?;
        check_text(&report, "report")?;
        let CheckpointState::Active(mark) = call.workspace.checkpoint().clone() else {
            return Err(ToolError::refused("No checkpoint is active. `checkpoint` sets one."));
        };
        if !keep_files {
            check_jobs(call)?;
        }
        let restored = if keep_files { Vec::new() } else { take_back_files(call, &mark)? };
        let files = pluralize(restored.len(), "file");
        let text = format!("Rewound: {files} as at the checkpoint. The conversation goes on from there.");
        let body = CardBody::text(report.clone());
        let card = ToolCard::new("rewind", format!("{files} taken back"), body);
        let details = json!({ "report": report, "files": restored });
        *call.workspace.checkpoint() =
            CheckpointState::Rewinding(RewindRequest { mark, report, files: restored });
        Ok(ToolOutput::text(text, card).with_details(details))
    }
}

/// What a command in the background changes is recorded when it ends, by comparison: before that nothing of it can be taken back,
/// and what is taken back meanwhile would be taken for its work.
fn check_jobs(call: &ToolInvocation<'_>) -> Result<(), ToolError> {
    let jobs = call.workspace.jobs.list();
    let running = jobs.iter().filter(|job| job.status == JobStatus::Running);
    let names: Vec<&str> = running.map(|job| job.id.as_str()).collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(ToolError::refused(format!(
        "nothing was changed: what commands in the background change can be taken back only when they have ended, and {} still \
         runs. Wait for it or cancel it with `job`, or call rewind with `keepFiles`",
        names.join(", ")
    )))
}

/// Takes back what was changed since the mark; the files' names.
fn take_back_files(call: &ToolInvocation<'_>, mark: &ConversationMark) -> Result<Vec<String>, ToolError> {
    call.workspace.check_not_planning("the project")?;
    let Some(group) = mark.group.as_deref() else { return Ok(Vec::new()) };
    let rewind = RewindMark {
        group,
        members: &mark.members,
        origin: "agent",
        now: format!("{:.3}", jiff::Timestamp::now()),
    };
    let plan = match call.workspace.door.rewind(&rewind, &|| call.cancel.is_cancelled()) {
        Ok(None) => return Ok(Vec::new()),
        Ok(Some(plan)) => plan,
        Err(DoorError::Ledger(LedgerError::RevertConflict(conflicts))) => {
            let paths: Vec<&str> =
                conflicts.iter().take(MAX_LISTED).map(|conflict| conflict.path.as_str()).collect();
            return Err(ToolError::refused(format!(
                "nothing was changed, because somebody has edited the same lines since: {}. Look at them; mend what has to be \
                 mended by `edit`, then call rewind with `keepFiles`",
                paths.join(", ")
            )));
        }
        Err(error) => return Err(ToolError::refused(format!("the files could not be taken back: {error}"))),
    };
    let mut paths = Vec::new();
    for change in &plan.changes {
        for name in [change.path.as_str(), change.old_path().as_str()] {
            call.workspace.shown().forget(&call.workspace.root().join(name));
        }
        paths.push(change.path.to_string());
    }
    Ok(paths)
}

fn check_text(text: &str, name: &str) -> Result<(), ToolError> {
    if text.trim().is_empty() {
        return Err(ToolError::refused(format!("`{name}` is empty")));
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(ToolError::refused(format!("`{name}` has more than {} kB", MAX_TEXT_BYTES >> 10)));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
