//! What came of asking friends, told to people and to machines, and the exit code that says so to a script.
//!
//! No answer is never a pass: whoever did not answer decides the exit code, unless somebody who did found what
//! blocks.

use relaycode_friend::ask::{AskError, Asked};
use relaycode_friend::diff::Sent;
use relaycode_friend::tree::Looked;
use relaycode_friend::verdict::Verdict;
use relaycode_project::config::LogLevel;
use serde_json::{Value, json};

use super::circle::{Answered, Heard, Round};
use super::seen;
use crate::context::Context;
use crate::failure::{Exit, Failure, State};
use crate::json;
use crate::show;
use crate::show::answers::{self, Part};

/// An answer with what is told of it.
pub(crate) struct Told<'a> {
    pub(crate) asked: &'a Asked,
    pub(crate) verdict: Option<&'a Verdict>,
}

/// Tells it, and says how relay ends. `check`: the project was to be compared with how it was before.
pub(crate) fn tell<T: Answered>(
    command: &'static str,
    check: bool,
    mut round: Round<T>,
    told: impl for<'t> Fn(&'t T) -> Told<'t>,
    context: &mut Context<'_>,
) -> Exit {
    let seen = looked(&mut round);
    // Nobody claims what nobody looked at.
    let state = (check && seen.is_unchanged()).then_some(State::Unchanged);
    let mut objects = Vec::new();
    let mut parts = Vec::new();
    let mut failures: Vec<Failure> = Vec::new();
    let (mut blocked, mut judged) = (false, false);
    let alone = round.heard.len() == 1;
    let look = context.look();
    for Heard { name, result, remarks } in round.heard {
        for remark in &remarks {
            seen::remark(remark, LogLevel::Warn, context);
        }
        match result {
            Ok(answered) => {
                let Told { asked, verdict } = told(&answered);
                asked.answer.remarks.iter().for_each(|remark| seen::remark(remark, LogLevel::Warn, context));
                blocked |= verdict.is_some_and(Verdict::blocks);
                judged |= verdict.is_some();
                objects.push(object(&name, asked, verdict, &remarks));
                let text = match verdict {
                    Some(verdict) => show::verdict::text(verdict, &look),
                    None => answers::one(&asked.answer.text, &look),
                };
                let model = asked.answer.model.as_deref();
                parts.push(Part { title: answers::title(&name, model, asked.took.as_secs(), &look), text });
            }
            Err(error) => {
                let answer = raw_answer(&error).map(str::to_string);
                let sent = sent_of(&error).map(sent_object);
                let state = state.filter(|_| was_begun(&error));
                let failure = Failure::from(error);
                let failure = Failure { state: state.or(failure.state), ..failure };
                objects.push(json!({
                    "friend": name, "ok": false, "code": failure.exit as u8, "error": json::value(&failure),
                    "text": answer, "sent": sent, "remarks": remarks,
                }));
                parts.push(Part {
                    title: look.safe(&name).into_owned(),
                    text: format!("{}\n", look.safe(&failure.message)),
                });
                if let (true, Some(answer)) = (alone, answer) {
                    show_raw(&answer, context);
                }
                failures.push(failure);
            }
        }
    }
    let exit = exit(blocked, &failures, &seen);
    context.object(&json!({
        "ok": exit == Exit::Done, "code": exit as u8, "command": command,
        "error": failures.first().map(json::value),
        "answers": objects, "changed": json::value(&seen.changed), "unchecked": seen.unchecked(),
    }));
    // What came in pieces stands there already; of a verdict that was its JSON.
    if !context.json() && (judged || !round.shown) {
        if alone && failures.is_empty() {
            parts.iter().for_each(|part| context.console.out(&part.text));
        } else if !alone {
            let text = answers::several(&parts, &context.console.out_look());
            context.console.out(&text);
        }
    }
    seen::say(&seen, "it was not allowed to", context);
    for failure in &failures {
        context.console.failure(failure, command, false);
    }
    exit
}

/// What is known of the project after all of them.
fn looked<T: Answered>(round: &mut Round<T>) -> Looked {
    let mut seen = std::mem::take(&mut round.looked);
    for heard in &round.heard {
        let looked = match &heard.result {
            Ok(answered) => &answered.asked().looked,
            Err(AskError::Friend(failed)) => &failed.looked,
            Err(AskError::Abstained { asked, .. }) => &asked.looked,
            // Nothing was sent to anybody.
            Err(_) => continue,
        };
        seen.changed.extend(looked.changed.iter().cloned());
        seen.unseen = seen.unseen.take().or_else(|| looked.unseen.clone());
    }
    seen
}

/// What was sent in spite of the failure.
fn sent_of(error: &AskError) -> Option<&Sent> {
    match error {
        AskError::Friend(failed) if was_asked(&failed.failure) => Some(&failed.sent),
        AskError::Abstained { asked, .. } => Some(&asked.sent),
        _ => None,
    }
}

/// Whether a friend was turned to at all.
fn was_begun(error: &AskError) -> bool {
    matches!(error, AskError::Friend(_) | AskError::Abstained { .. })
}

/// Whether a friend that failed had heard the question.
fn was_asked(failure: &relaycode_friend::Failure) -> bool {
    use relaycode_friend::Failure as Friends;
    !matches!(
        failure,
        Friends::Missing { .. }
            | Friends::TooOld { .. }
            | Friends::OtherAccess { .. }
            | Friends::Cannot { .. }
    )
}

/// No answer is a pass that came while somebody changed the project, or while nobody could see whether.
fn exit(blocked: bool, failures: &[Failure], seen: &Looked) -> Exit {
    match (blocked, failures.first()) {
        (true, _) => Exit::Findings,
        (false, Some(failure)) => failure.exit,
        (false, None) if seen.needs_a_look() => Exit::NeedsYou,
        (false, None) => Exit::Done,
    }
}

fn object(name: &str, asked: &Asked, verdict: Option<&Verdict>, remarks: &[String]) -> Value {
    let answer = &asked.answer;
    let remarks: Vec<&String> = remarks.iter().chain(&answer.remarks).collect();
    json!({
        "friend": name, "ok": true, "code": Exit::Done as u8, "text": answer.text, "value": answer.value,
        "verdict": verdict.map(json::value), "blocks": verdict.map(Verdict::blocks),
        "model": answer.model, "way": answer.way, "session": answer.session,
        "declined": json::value(&answer.declined), "usage": answer.usage.as_ref().map(json::value),
        "sent": sent_object(&asked.sent), "ms": json::ms(asked.took), "remarks": remarks,
    })
}

fn sent_object(sent: &Sent) -> Value {
    let left_out = sent.left_out.iter().map(|file| json!({"path": file.path, "why": file.why}));
    json!({
        "difference": sent.line(), "bytes": sent.bytes, "files": sent.files, "untracked": sent.untracked,
        "leftOut": left_out.collect::<Vec<_>>(), "workLeftOut": sent.work_left_out,
        "prompt": sent.prompt.as_ref().map_or(0, String::len), "context": sent.context,
    })
}

/// What a friend wrote that could not be used.
fn raw_answer(error: &AskError) -> Option<&str> {
    match error {
        AskError::Abstained { asked, .. } => Some(&asked.answer.text),
        other => match other.failure() {
            Some(relaycode_friend::Failure::NotByTheSchema { text, .. }) => Some(text),
            _ => None,
        },
    }
}

fn show_raw(answer: &str, context: &mut Context<'_>) {
    let look = context.console.err_look();
    let text =
        format!("  what it said, which is no answer to what was asked:\n{}", answers::one(answer, &look));
    context.beside(LogLevel::Error, &text);
}
