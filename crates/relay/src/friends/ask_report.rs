//! What came of asking friends, told to people and to machines, and the exit code that says so to a script.
//!
//! No answer is never a pass: whoever did not answer decides the exit code, unless somebody who did found what
//! blocks.

use relaycode_friend::ask::verdict::ReviewVerdict;
use relaycode_friend::ask::{AskError, AskOutcome};
use relaycode_friend::prompt::diff::SentSummary;
use relaycode_friend::tree_check::TreeCheckReport;
use relaycode_project::config::LogLevel;
use serde_json::{Value, json};

use super::group::{FriendResult, GroupResult, HasAskOutcome};
use super::tree_report;
use crate::report::failure::{CommandFailure, Exit, ProjectState};
use crate::report::json;
use crate::report::render;
use crate::report::render::answers;
use crate::report::render::answers::AnswerPart;
use crate::wiring::context::CommandContext;

/// An answer with what is told of it.
pub(crate) struct AnswerView<'a> {
    pub(crate) asked: &'a AskOutcome,
    pub(crate) verdict: Option<&'a ReviewVerdict>,
}

/// Tells it, and says how relay ends. `check`: the project was to be compared with how it was before.
pub(crate) fn report_answers<T: HasAskOutcome>(
    command: &'static str,
    check: bool,
    mut round: GroupResult<T>,
    told: impl for<'t> Fn(&'t T) -> AnswerView<'t>,
    context: &mut CommandContext<'_>,
) -> Exit {
    let seen = merge_tree_checks(&mut round);
    // Nobody claims what nobody looked at.
    let state = (check && seen.is_unchanged()).then_some(ProjectState::Unchanged);
    let mut objects = Vec::new();
    let mut parts = Vec::new();
    let mut failures: Vec<CommandFailure> = Vec::new();
    let (mut blocked, mut judged) = (false, false);
    let alone = round.results.len() == 1;
    let look = context.style();
    for FriendResult { friend_name: name, result, remarks } in round.results {
        for remark in &remarks {
            tree_report::eprint_remark(remark, LogLevel::Warn, context);
        }
        match result {
            Ok(answered) => {
                let AnswerView { asked, verdict } = told(&answered);
                asked
                    .answer
                    .remarks
                    .iter()
                    .for_each(|remark| tree_report::eprint_remark(remark, LogLevel::Warn, context));
                blocked |= verdict.is_some_and(ReviewVerdict::blocks);
                judged |= verdict.is_some();
                objects.push(answer_json(&name, asked, verdict, &remarks));
                let text = match verdict {
                    Some(verdict) => render::verdict::verdict_text(verdict, &look),
                    None => answers::answer_text(&asked.answer.text, &look),
                };
                let model = asked.answer.model.as_deref();
                parts.push(AnswerPart {
                    title: answers::answer_title(&name, model, asked.took.as_secs(), &look),
                    text,
                });
            }
            Err(error) => {
                let answer = unusable_answer(&error).map(str::to_string);
                let sent = sent_request(&error).map(sent_json);
                let state = state.filter(|_| friend_was_started(&error));
                let failure = CommandFailure::from(error);
                let failure = CommandFailure { state: state.or(failure.state), ..failure };
                objects.push(json!({
                    "friend": name, "ok": false, "code": failure.exit as u8, "error": json::to_value(&failure),
                    "text": answer, "sent": sent, "remarks": remarks,
                }));
                parts.push(AnswerPart {
                    title: look.safe(&name).into_owned(),
                    text: format!("{}\n", look.safe(&failure.message)),
                });
                if let (true, Some(answer)) = (alone, answer) {
                    eprint_unusable_answer(&answer, context);
                }
                failures.push(failure);
            }
        }
    }
    let exit = exit_for(blocked, &failures, &seen);
    context.print_json(&json!({
        "ok": exit == Exit::Done, "code": exit as u8, "command": command,
        "error": failures.first().map(json::to_value),
        "answers": objects, "changed": json::to_value(&seen.changes), "unchecked": seen.gap_message(),
    }));
    // What came in pieces stands there already; of a verdict that was its JSON.
    if !context.is_json() && (judged || !round.text_shown) {
        if alone && failures.is_empty() {
            parts.iter().for_each(|part| context.console.print(&part.text));
        } else if !alone {
            let text = answers::answers_text(&parts, &context.console.out_style());
            context.console.print(&text);
        }
    }
    tree_report::report_tree_check(&seen, "it was not allowed to", context);
    for failure in &failures {
        context.console.report_failure(failure, command, false);
    }
    exit
}

/// What is known of the project after all of them.
fn merge_tree_checks<T: HasAskOutcome>(round: &mut GroupResult<T>) -> TreeCheckReport {
    let mut seen = std::mem::take(&mut round.tree_check);
    for heard in &round.results {
        let looked = match &heard.result {
            Ok(answered) => &answered.ask_outcome().tree_check,
            Err(AskError::Friend(failed)) => &failed.tree_check,
            Err(AskError::Abstained { outcome: asked, .. }) => &asked.tree_check,
            // Nothing was sent to anybody.
            Err(_) => continue,
        };
        seen.changes.extend(looked.changes.iter().cloned());
        seen.gap = seen.gap.take().or_else(|| looked.gap.clone());
    }
    seen
}

/// What was sent in spite of the failure.
fn sent_request(error: &AskError) -> Option<&SentSummary> {
    match error {
        AskError::Friend(failed) if prompt_was_sent(&failed.failure) => Some(&failed.sent),
        AskError::Abstained { outcome: asked, .. } => Some(&asked.sent),
        _ => None,
    }
}

/// Whether a friend was turned to at all.
fn friend_was_started(error: &AskError) -> bool {
    matches!(error, AskError::Friend(_) | AskError::Abstained { .. })
}

/// Whether a friend that failed had heard the question.
fn prompt_was_sent(failure: &relaycode_friend::FriendFailure) -> bool {
    use relaycode_friend::FriendFailure as Friends;
    !matches!(
        failure,
        Friends::NotInstalled { .. }
            | Friends::TooOld { .. }
            | Friends::AccessMismatch { .. }
            | Friends::Unsupported { .. }
    )
}

/// No answer is a pass that came while somebody changed the project, or while nobody could see whether.
fn exit_for(blocked: bool, failures: &[CommandFailure], seen: &TreeCheckReport) -> Exit {
    match (blocked, failures.first()) {
        (true, _) => Exit::Findings,
        (false, Some(failure)) => failure.exit,
        (false, None) if seen.needs_attention() => Exit::NeedsYou,
        (false, None) => Exit::Done,
    }
}

fn answer_json(name: &str, asked: &AskOutcome, verdict: Option<&ReviewVerdict>, remarks: &[String]) -> Value {
    let answer = &asked.answer;
    let remarks: Vec<&String> = remarks.iter().chain(&answer.remarks).collect();
    json!({
        "friend": name, "ok": true, "code": Exit::Done as u8, "text": answer.text, "value": answer.value,
        "verdict": verdict.map(json::to_value), "blocks": verdict.map(ReviewVerdict::blocks),
        "model": answer.model, "way": answer.transport, "session": answer.session,
        "declined": json::to_value(&answer.declined), "usage": answer.usage.as_ref().map(json::to_value),
        "sent": sent_json(&asked.sent), "ms": json::millis(asked.took), "remarks": remarks,
    })
}

fn sent_json(sent: &SentSummary) -> Value {
    let left_out = sent.left_out.iter().map(|file| json!({"path": file.path, "why": file.why}));
    json!({
        "difference": sent.summary_line(), "bytes": sent.bytes, "files": sent.files, "untracked": sent.untracked,
        "leftOut": left_out.collect::<Vec<_>>(), "workLeftOut": sent.uncommitted_left_out,
        "prompt": sent.prompt.as_ref().map_or(0, String::len), "context": sent.context,
    })
}

/// What a friend wrote that could not be used.
fn unusable_answer(error: &AskError) -> Option<&str> {
    match error {
        AskError::Abstained { outcome: asked, .. } => Some(&asked.answer.text),
        other => match other.failure() {
            Some(relaycode_friend::FriendFailure::SchemaMismatch { text, .. }) => Some(text),
            _ => None,
        },
    }
}

fn eprint_unusable_answer(answer: &str, context: &mut CommandContext<'_>) {
    let look = context.console.err_style();
    let text = format!(
        "  what it said, which is no answer to what was asked:\n{}",
        answers::answer_text(answer, &look)
    );
    context.eprint_at(LogLevel::Error, &text);
}
