//! `job`: looks at commands in the background, waits for them, cancels them.

use std::time::Duration;

use relaycode_llm::request;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::card::{CardBody, ToolCard};
use crate::host::ToolProgress;
use crate::jobs::{JobCancel, JobSnapshot, JobStatus};
use crate::schema::{self, one_or_many};
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput};
use crate::workspace::ToolWorkspace;

/// How often a wait shows how far the jobs are.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
/// Ids in one call.
const MAX_IDS: usize = 200;

pub(crate) struct JobTool;

#[derive(Debug, Deserialize, JsonSchema)]
struct JobInput {
    /// Jobs to wait for; all that run if neither this nor `cancel` is given.
    #[serde(default, deserialize_with = "one_or_many")]
    poll: Vec<String>,
    /// Jobs to cancel, before any wait.
    #[serde(default, deserialize_with = "one_or_many")]
    cancel: Vec<String>,
    /// Show all jobs at once, without waiting. Not together with `poll` or `cancel`.
    #[serde(default)]
    list: bool,
}

impl Tool for JobTool {
    fn name(&self) -> &'static str {
        "job"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<JobInput>(self.name(), include_str!("../../prompts/job.md"))
    }

    fn is_offered(&self, workspace: &ToolWorkspace) -> bool {
        workspace.settings.async_enabled || workspace.settings.auto_background.is_some()
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let input: JobInput = schema::read_input(call)?;
        if !self.is_offered(call.workspace) {
            let text = "Async execution is disabled; no background jobs are available.";
            return Ok(ToolOutput::text(text, ToolCard::line("job", "switched off")));
        }
        if input.list && !(input.poll.is_empty() && input.cancel.is_empty()) {
            return Err(ToolError::refused(
                "`list` goes neither with `poll` nor with `cancel`; call it by itself",
            ));
        }
        if input.poll.len() + input.cancel.len() > MAX_IDS {
            return Err(ToolError::refused(format!("more than {MAX_IDS} ids in one call")));
        }
        let jobs = &call.workspace.jobs;
        if input.list {
            let all = jobs.list();
            if all.is_empty() {
                return Ok(output("No background jobs.".to_string(), &all, &[]));
            }
            return Ok(report(call, &all, &[]));
        }
        let cancelled: Vec<(String, JobCancel)> =
            input.cancel.iter().map(|id| (id.clone(), jobs.cancel(id))).collect();
        let known = jobs.list();
        let watched: Vec<String> = match (&input.poll[..], &cancelled[..]) {
            ([], []) => known
                .iter()
                .filter(|job| job.status == JobStatus::Running)
                .map(|job| job.id.clone())
                .collect(),
            (wanted, _) => {
                known.iter().filter(|job| wanted.contains(&job.id)).map(|job| job.id.clone()).collect()
            }
        };
        if watched.is_empty() && cancelled.is_empty() {
            let text = match &input.poll[..] {
                [] => "No running background jobs to wait for.".to_string(),
                wanted => format!("No matching jobs found for IDs: {}", wanted.join(", ")),
            };
            return Ok(output(text, &[], &[]));
        }
        if !watched.is_empty() {
            let mut tick = || call.host.progress(call.id, &progress(&jobs.list(), &watched));
            let is_cancelled = || call.cancel.is_cancelled();
            jobs.wait_for_any(
                &watched,
                call.workspace.settings.poll_wait,
                &is_cancelled,
                (PROGRESS_INTERVAL, &mut tick),
            );
        }
        let named =
            |job: &JobSnapshot| watched.contains(&job.id) || cancelled.iter().any(|(id, _)| *id == job.id);
        let shown: Vec<JobSnapshot> = jobs.list().into_iter().filter(named).collect();
        Ok(report(call, &shown, &cancelled))
    }
}

fn progress(all: &[JobSnapshot], watched: &[String]) -> ToolProgress {
    let jobs = all.iter().filter(|job| watched.contains(&job.id));
    let lines: Vec<String> = jobs.map(line).collect();
    ToolProgress { status: format!("waiting for {}", watched.join(", ")), tail: lines.join("\n") }
}

fn line(job: &JobSnapshot) -> String {
    let seconds = Duration::from_millis(job.duration_ms).as_secs_f64();
    format!("{}: {}, {seconds:.1} s: {}", job.id, job.status.name(), job.label)
}

/// What is known of these jobs. The model knows from now on how those ended that did.
fn report(call: &ToolInvocation<'_>, jobs: &[JobSnapshot], cancelled: &[(String, JobCancel)]) -> ToolOutput {
    let (running, ended): (Vec<_>, Vec<_>) = jobs.iter().partition(|job| job.status == JobStatus::Running);
    let mut text = String::new();
    if !cancelled.is_empty() {
        text.push_str(&format!("## Cancelled ({})\n", cancelled.len()));
        for (id, outcome) in cancelled {
            text.push_str(&format!("- {id}: {}\n", outcome.name()));
        }
        text.push('\n');
    }
    if !ended.is_empty() {
        text.push_str(&format!("## Completed ({})\n", ended.len()));
        for job in &ended {
            text.push_str(&format!("### {}\n", line(job)));
            for said in [&job.result_text, &job.error_text].into_iter().flatten() {
                text.push_str(&format!("{said}\n"));
            }
        }
        text.push('\n');
    }
    if !running.is_empty() {
        text.push_str(&format!("## Still Running ({})\n", running.len()));
        for job in &running {
            text.push_str(&format!("- {}\n", line(job)));
        }
    }
    let told: Vec<String> = ended.iter().map(|job| job.id.clone()).collect();
    call.workspace.jobs.acknowledge(&told);
    output(text.trim_end().to_string(), jobs, cancelled)
}

fn output(text: String, jobs: &[JobSnapshot], cancelled: &[(String, JobCancel)]) -> ToolOutput {
    let running = jobs.iter().filter(|job| job.status == JobStatus::Running).count();
    let lines: Vec<String> = jobs.iter().map(line).collect();
    let body = match lines.is_empty() {
        true => CardBody::None,
        false => CardBody::Text { text: lines.join("\n"), first_line: None },
    };
    let summary = match (jobs.len() - running, running) {
        (0, 0) => "none".to_string(),
        (ended, running) => format!("{ended} ended, {running} running"),
    };
    let mut details = json!({ "jobs": jobs });
    if !cancelled.is_empty() {
        let outcomes = cancelled.iter().map(|(id, status)| json!({ "id": id, "status": status }));
        details["cancelled"] = outcomes.collect();
    }
    ToolOutput::text(text, ToolCard { title: "job".to_string(), summary, body }).with_details(details)
}
