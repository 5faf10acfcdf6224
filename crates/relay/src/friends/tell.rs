//! What came of asking friends, told to people and to machines, and the exit code that says so to a script.
//!
//! No answer is never a pass: whoever did not answer decides the exit code, unless somebody who did found what
//! blocks.

use relaycode_friend::ask::{AskError, Asked};
use relaycode_friend::tree::Difference;
use relaycode_friend::verdict::Verdict;
use relaycode_project::config::LogLevel;
use relaycode_tui::{number, outcome};
use serde_json::{Value, json};

use super::circle::{Heard, Round};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::json;
use crate::show;
use crate::show::answers::{self, Part};

/// Files that are named one by one.
const NAMED: usize = 20;

/// An answer with what is told of it.
pub(crate) struct Told<'a> {
    pub(crate) asked: &'a Asked,
    pub(crate) verdict: Option<&'a Verdict>,
}

/// Tells it, and says how relay ends.
pub(crate) fn tell<T>(
    command: &'static str,
    round: Round<T>,
    told: impl for<'t> Fn(&'t T) -> Told<'t>,
    context: &mut Context<'_>,
) -> Exit {
    let mut objects = Vec::new();
    let mut parts = Vec::new();
    let mut failures: Vec<Failure> = Vec::new();
    let (mut blocked, mut judged) = (false, false);
    let mut changed = round.changed;
    let mut unchecked = round.unchecked;
    let alone = round.heard.len() == 1;
    let look = context.look();
    for Heard { name, result, remarks } in round.heard {
        for remark in &remarks {
            beside(remark, LogLevel::Warn, context);
        }
        match result {
            Ok(answered) => {
                let Told { asked, verdict } = told(&answered);
                say_sent(asked.sent.line(), asked.sent.work_left_out, context);
                asked.answer.remarks.iter().for_each(|remark| beside(remark, LogLevel::Warn, context));
                blocked |= verdict.is_some_and(Verdict::blocks);
                judged |= verdict.is_some();
                objects.push(object(&name, asked, verdict, &remarks));
                let text = match verdict {
                    Some(verdict) => show::verdict::text(verdict, &look),
                    None => answers::one(&asked.answer.text, &look),
                };
                let model = asked.answer.model.as_deref();
                parts.push(Part { title: answers::title(&name, model, asked.took.as_secs(), &look), text });
                changed.extend(asked.changed.iter().cloned());
                unchecked = unchecked.or_else(|| asked.unchecked.clone());
            }
            Err(mut error) => {
                if let AskError::Friend(failed) = &mut error {
                    if was_asked(&failed.failure) {
                        say_sent(failed.sent.line(), failed.sent.work_left_out, context);
                    }
                    changed.append(&mut failed.changed);
                    unchecked = unchecked.or_else(|| failed.unchecked.take());
                }
                let answer = raw_answer(&error).map(str::to_string);
                let failure = Failure::from(error);
                objects.push(json!({
                    "friend": name, "ok": false, "code": failure.exit as u8, "error": json::value(&failure),
                    "text": answer, "remarks": remarks,
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
    let exit = exit(blocked, &failures, &changed);
    context.object(&json!({
        "ok": exit == Exit::Done, "code": exit as u8, "command": command,
        "error": failures.first().map(json::value),
        "answers": objects, "changed": json::value(&changed), "unchecked": unchecked,
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
    say_changed(&changed, unchecked.as_deref(), context);
    for failure in &failures {
        context.console.failure(failure, command, false);
    }
    exit
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

fn exit(blocked: bool, failures: &[Failure], changed: &[Difference]) -> Exit {
    match (blocked, failures.first()) {
        (true, _) => Exit::Findings,
        (false, Some(failure)) => failure.exit,
        (false, None) if changed.is_empty() => Exit::Done,
        (false, None) => Exit::NeedsYou,
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
        "sent": {
            "difference": asked.sent.line(), "bytes": asked.sent.bytes, "files": asked.sent.files,
            "untracked": asked.sent.untracked, "prompt": asked.sent.prompt, "context": asked.sent.context,
        },
        "ms": json::ms(asked.took), "remarks": remarks,
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

fn say_sent(line: Option<String>, work_left_out: bool, context: &mut Context<'_>) {
    let Some(line) = line else { return };
    let look = context.console.err_look();
    let text = outcome::aside(&look, &look.safe(&format!("sent: {line}")));
    context.beside(LogLevel::Info, &text);
    if work_left_out {
        beside("uncommitted work is not in it; `--uncommitted` sends it, too", LogLevel::Warn, context);
    }
}

fn say_changed(changed: &[Difference], unchecked: Option<&str>, context: &mut Context<'_>) {
    if let Some(why) = unchecked {
        beside(
            &format!("whether anything was changed could not be found out: {why}"),
            LogLevel::Warn,
            context,
        );
    }
    if changed.is_empty() {
        return;
    }
    let said = format!(
        "{} changed while it ran; it was not allowed to, so this may be your own work:",
        number(changed.len(), "file")
    );
    beside(&said, LogLevel::Error, context);
    let look = context.console.err_look();
    for difference in changed.iter().take(NAMED) {
        let line = format!("{}  {}", look.safe(&difference.path), difference.kind.words());
        context.beside(LogLevel::Error, &outcome::aside(&look, &line));
    }
    if changed.len() > NAMED {
        context.beside(LogLevel::Error, &outcome::aside(&look, &format!("… {} more", changed.len() - NAMED)));
    }
}

fn beside(said: &str, level: LogLevel, context: &mut Context<'_>) {
    let look = context.console.err_look();
    context.beside(level, &outcome::remark(&look, &look.safe(said)));
}
