//! What came of asking friends, told to people and to machines, and the exit code that says so to a script.
//!
//! No answer is never a pass: whoever did not answer decides the exit code, unless somebody who did found what
//! blocks.

use std::time::Duration;

use relaycode_friend::ask::verdict::ReviewVerdict;
use relaycode_friend::prompt::diff::SentSummary;
use relaycode_friend::tree_check::TreeCheckReport;
use relaycode_friend::{AskError, AskRequest, FriendAnswer, FriendFailure, FriendResult};
use serde_json::{Value, json};

use super::group::GroupResult;
use super::tree_report;
use crate::report::render::answers::AnswerPart;
use crate::{CommandContext, CommandFailure, Exit, LogLevel, ProjectState, answers, json, render};

pub(crate) fn report_answers(
    request: &AskRequest,
    GroupResult { results, text_shown, tree_check: seen }: GroupResult,
    ctx: &mut CommandContext<'_>,
) -> Exit {
    // Nobody claims what nobody looked at.
    let state = (request.check_tree && seen.is_unchanged()).then_some(ProjectState::Unchanged);
    let mut objects = Vec::new();
    let mut parts = Vec::new();
    let mut failures: Vec<CommandFailure> = Vec::new();
    let (mut blocked, mut judged) = (false, false);
    let alone = results.len() == 1;
    let look = ctx.style();
    for FriendResult { friend: name, answer, sent, took, mut remarks, .. } in results {
        if let Ok(answer) = &answer {
            remarks.extend(answer.remarks.iter().cloned());
        }
        for remark in &remarks {
            ctx.eprint_remark(LogLevel::Warn, remark);
        }
        let mut object = json!({"friend": name});
        match answer {
            Ok(answer) => {
                let verdict = answer.verdict.as_ref();
                blocked |= verdict.is_some_and(ReviewVerdict::blocks);
                judged |= verdict.is_some();
                add_answer(&mut object, &answer, took);
                let text = match verdict {
                    Some(verdict) => render::verdict::verdict_text(verdict, &look),
                    None => answers::answer_text(&answer.text, &look),
                };
                let title = answers::answer_title(&name, answer.model.as_deref(), took.as_secs(), &look);
                parts.push(AnswerPart { title, text });
            }
            Err(error) => {
                let answer = unusable_answer(&error).map(str::to_string);
                let state = state.filter(|_| error.failure().is_some());
                let failure = CommandFailure::from(error);
                let failure = CommandFailure { state: state.or(failure.state), ..failure };
                object["ok"] = json!(false);
                object["code"] = json!(failure.exit as u8);
                object["error"] = json::to_value(&failure);
                object["text"] = json!(answer);
                parts.push(AnswerPart {
                    title: look.safe(&name).into_owned(),
                    text: format!("{}\n", look.safe(&failure.message)),
                });
                if let (true, Some(answer)) = (alone, answer) {
                    eprint_unusable_answer(&answer, ctx);
                }
                failures.push(failure);
            }
        }
        object["sent"] = json!(sent.as_ref().map(sent_json));
        object["remarks"] = json!(remarks);
        objects.push(object);
    }
    let exit = exit_for(blocked, &failures, &seen);
    ctx.print_result(
        exit,
        json!({
            "error": failures.first().map(json::to_value), "answers": objects,
            "changed": json::to_value(&seen.changes), "unchecked": seen.gap_message(),
        }),
    );
    // What came in pieces stands there already; of a verdict that was its JSON.
    if !ctx.is_json() && (judged || !text_shown) {
        if alone && failures.is_empty() {
            parts.iter().for_each(|part| ctx.console.print(&part.text));
        } else if !alone {
            ctx.console.print(&answers::answers_text(&parts, &ctx.console.out_style()));
        }
    }
    tree_report::report_tree_check(&seen, "it was not allowed to", ctx);
    for failure in &failures {
        ctx.console.report_failure(failure, ctx.command, false);
    }
    exit
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

fn add_answer(object: &mut Value, answer: &FriendAnswer, took: Duration) {
    let verdict = answer.verdict.as_ref();
    json::merge(
        object,
        json!({
            "ok": true, "code": Exit::Done as u8, "text": answer.text, "value": answer.value,
            "verdict": verdict.map(json::to_value), "blocks": verdict.map(ReviewVerdict::blocks),
            "model": answer.model, "way": answer.transport, "session": answer.session,
            "declined": json::to_value(&answer.declined), "usage": answer.usage.as_ref().map(json::to_value),
            "ms": json::millis(took),
        }),
    );
}

fn sent_json(sent: &SentSummary) -> Value {
    let left_out = sent.left_out.iter().map(|file| json!({"path": file.path, "why": file.why}));
    json!({
        "difference": sent.summary_line(), "bytes": sent.bytes, "files": sent.files, "untracked": sent.untracked,
        "leftOut": left_out.collect::<Vec<_>>(), "workLeftOut": sent.uncommitted_left_out,
        "prompt": sent.prompt.as_ref().map_or(0, String::len), "context": sent.context,
    })
}

fn unusable_answer(error: &AskError) -> Option<&str> {
    match error.failure()? {
        FriendFailure::SchemaMismatch { text, .. } | FriendFailure::Abstained { text, .. } => Some(text),
        _ => None,
    }
}

fn eprint_unusable_answer(answer: &str, ctx: &mut CommandContext<'_>) {
    let look = ctx.console.err_style();
    let text = format!(
        "  what it said, which is no answer to what was asked:\n{}",
        answers::answer_text(answer, &look)
    );
    ctx.eprint_at(LogLevel::Error, &text);
}
