//! `job`: looks at commands in the background, waits for them, cancels them.

use std::time::Duration;

use relaycode_llm::message::UserContent;
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
#[serde(deny_unknown_fields)]
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
        let is_known = |id: &&String| known.iter().any(|job| job.id == **id);
        let missing: Vec<&str> = input.poll.iter().filter(|id| !is_known(id)).map(String::as_str).collect();
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
        let mut output = report(call, &shown, &cancelled);
        if let (false, Some(UserContent::Text(first))) = (missing.is_empty(), output.content.first_mut()) {
            let said = format!("No matching jobs found for IDs: {}\n\n", missing.join(", "));
            first.text.insert_str(0, &said);
        }
        Ok(output)
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
        false => CardBody::text(lines.join("\n")),
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
    ToolOutput::text(text, ToolCard::new("job", summary, body)).with_details(details)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use relaycode_llm::CancelToken;
    use serde_json::Value;

    use crate::fixture::{TestProject, text_of};
    use serde_json::json;

    fn with_jobs(count: usize) -> TestProject {
        let project = TestProject::new(&[]);
        for _ in 0..count {
            let cancel = CancelToken::default();
            project.workspace.jobs.register("bash", "make", Instant::now(), cancel).unwrap();
        }
        project
    }

    fn details(project: &TestProject, arguments: Value) -> Value {
        project.call("job", arguments).unwrap().details.unwrap()
    }

    #[test]
    fn the_details_have_what_is_known_of_each_job() {
        let project = with_jobs(2);
        project.workspace.jobs.complete("bash-1", Err("no such target".into()));
        let jobs = details(&project, json!({ "list": true }))["jobs"].clone();
        assert_eq!(jobs[0]["duration_ms"], Value::Null, "fields are in camel case");
        assert!(jobs[0]["durationMs"].is_u64());
        let known = |job: &Value| {
            [&job["id"], &job["type"], &job["status"], &job["label"]]
                .map(|value| value.as_str().unwrap().to_string())
        };
        assert_eq!(known(&jobs[0]), ["bash-1", "bash", "failed", "make"]);
        assert_eq!(known(&jobs[1]), ["bash-2", "bash", "running", "make"]);
        assert_eq!((&jobs[0]["errorText"], jobs[0].get("resultText")), (&json!("no such target"), None));
        let cancelled =
            details(&project, json!({ "cancel": ["bash-2", "bash-1", "x"] }))["cancelled"].clone();
        let expected = json!([{ "id": "bash-2", "status": "cancelled" }, { "id": "bash-1", "status": "already_completed" }, { "id": "x", "status": "not_found" }]);
        assert_eq!(cancelled, expected);
    }

    #[test]
    fn a_call_that_is_stopped_shows_how_far_they_are_and_cancels_none() {
        let project = with_jobs(1);
        project.cancel.cancel();
        let text = project.text("job", json!({}));
        assert!(text.starts_with("## Still Running (1)\n- bash-1: running, "), "{text}");
    }

    #[test]
    fn it_waits_for_the_first_and_no_longer_than_is_set() {
        let mut project = with_jobs(2);
        project.workspace.settings.poll_wait = std::time::Duration::ZERO;
        assert!(project.text("job", json!({})).starts_with("## Still Running (2)"));
        project.workspace.settings.poll_wait = std::time::Duration::from_secs(600);
        project.workspace.jobs.complete("bash-2", Ok("built".into()));
        let text = text_of(&project.call("job", json!({ "poll": ["bash-1", "bash-2"] })).unwrap());
        assert!(
            text.starts_with("## Completed (1)\n### bash-2: completed, ") && text.contains("\nbuilt\n"),
            "{text}"
        );
        assert!(text.contains("## Still Running (1)\n- bash-1: running"), "{text}");
    }

    #[test]
    fn ids_that_nobody_has_are_named_beside_the_others() {
        let project = with_jobs(1);
        project.workspace.jobs.complete("bash-1", Ok("built".into()));
        let text = project.text("job", json!({ "poll": ["bash-1", "bash-7"] }));
        assert!(text.starts_with("No matching jobs found for IDs: bash-7\n\n## Completed (1)"), "{text}");
    }

    #[test]
    fn limit_200_ids() {
        let many: Vec<String> = (0..201).map(|at| format!("bash-{at}")).collect();
        let said = with_jobs(0).refusal("job", json!({ "poll": many }));
        assert_eq!(said, "more than 200 ids in one call");
        assert!(with_jobs(0).text("job", json!({ "poll": many[1..] })).starts_with("No matching jobs"));
    }
}
