//! What came of a friend's work, told to people and to machines, apart from the change itself, which the door tells.
//!
//! What changed in the project while the friend worked is named, and whoever reads it is never told that nothing was
//! changed; what does not go in is in a file, or it is said that it is not.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use relaycode_change::limits::Limits;
use relaycode_door::InstructionsError;
use relaycode_friend::Answer;
use relaycode_friend::scratch::{Progress, ScratchError};
use relaycode_friend::tree::Looked;
use relaycode_friend::work::keep::{Kept, NotKept};
use relaycode_friend::work::{WorkError, Worked};
use relaycode_project::config::LogLevel;
use relaycode_tui::{number, outcome};
use serde_json::{Value, json};

use super::seen::{self, remark};
use crate::context::Context;
use crate::failure::{Exit, Failure, State};
use crate::json;
use crate::show::answers;

/// The object of `--json`: what became of the change, and what the friend said.
pub(crate) fn object(worked: &Worked, exit: Exit, became: Value, kept: Option<&Kept>) -> Value {
    let mut object = json!({"ok": true, "code": 0, "command": "do"});
    if let (Some(object), Value::Object(became)) = (object.as_object_mut(), became) {
        object.extend(became);
    }
    object["ok"] = json!(exit == Exit::Done);
    object["code"] = json!(exit as u8);
    let mut friend = said(&worked.friend, &worked.answer);
    friend["ms"] = json!(json::ms(worked.took));
    object["friend"] = friend;
    object["leftOut"] = json!(worked.left_out);
    object["kept"] = json!(kept.and_then(|kept| kept.path.as_ref()).map(|path| path.to_string_lossy()));
    object["changed"] = json::value(&worked.looked.changed);
    object["unchecked"] = json!(worked.looked.unchecked());
    // What the door says of the change is not true of the project then.
    if !worked.looked.changed.is_empty()
        && let Some(error) = object.get_mut("error").and_then(Value::as_object_mut)
    {
        error.remove("state");
    }
    object
}

fn said(name: &str, answer: &Answer) -> Value {
    json!({
        "name": name, "text": answer.text, "model": answer.model, "way": answer.way,
        "declined": json::value(&answer.declined), "usage": answer.usage.as_ref().map(json::value),
        "remarks": answer.remarks,
    })
}

/// Tells why nothing came of it, with what the friend said, unless that was `shown`, and what changed meanwhile.
pub(crate) fn failed(name: &str, error: WorkError, shown: bool, context: &mut Context<'_>) -> Exit {
    let (error, looked) = match error {
        WorkError::Changed { error, looked } => (*error, looked),
        error => (error, Looked::default()),
    };
    let answer = match &error {
        WorkError::Unreadable { answer, .. } => Some(said(name, answer)),
        _ => None,
    };
    if let (WorkError::Unreadable { answer, .. }, false) = (&error, shown) {
        let look = context.look();
        context.say(&answers::one(&answer.text, &look));
    }
    let mut failure = Failure::from(error);
    if !looked.is_unchanged() {
        failure.state = None;
    }
    context.object(&json!({
        "ok": false, "code": failure.exit as u8, "command": "do", "error": json::value(&failure),
        "friend": answer, "changed": json::value(&looked.changed), "unchecked": looked.unchecked(),
    }));
    say_changed(name, &looked, context);
    context.console.failure(&failure, "do", false);
    failure.exit
}

/// Names what changed in the project itself.
pub(crate) fn say_changed(name: &str, looked: &Looked, context: &mut Context<'_>) {
    seen::say(looked, &format!("{name} was to work in its copy"), context);
}

/// What is in the copy, and what is not.
pub(crate) fn say_copied(name: &str, files: usize, left_out: &[String], context: &mut Context<'_>) {
    let look = context.console.err_look();
    let text = outcome::aside(&look, &format!("{name} works in a copy of {}", number(files, "file")));
    context.beside(LogLevel::Info, &text);
    for said in left_out {
        context.beside(LogLevel::Info, &outcome::aside(&look, &look.safe(&format!("not in it: {said}"))));
    }
}

/// What of its work is not in the change; what of the project was not in the copy is told already.
pub(crate) fn say_left_out(worked: &Worked, told: &[String], context: &mut Context<'_>) {
    for said in worked.left_out.iter().filter(|said| !told.contains(said)) {
        remark(said, LogLevel::Warn, context);
    }
}

/// How far the copying is, in a line.
pub(crate) fn copied_so_far(progress: Progress) -> String {
    format!("{} of {}\n", progress.files, number(progress.of, "file"))
}

/// Puts work that cannot be kept where it belongs among the temporary files, and says so.
pub(crate) fn keep_elsewhere(lost: NotKept, context: &mut Context<'_>) -> Kept {
    remark(&format!("if this change does not go in: {lost}"), LogLevel::Error, context);
    let path = std::env::temp_dir().join(format!("relay-{}", lost.name));
    // A new one, for the user alone: others write there, too.
    let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
    match file.and_then(|mut file| file.write_all(lost.answer.as_bytes())) {
        Ok(()) => Kept { path: Some(path), left_out: lost.left_out, needs: lost.needs },
        Err(error) => {
            let said = format!("nor can it be kept as {}: {error}", path.display());
            remark(&said, LogLevel::Error, context);
            Kept { path: None, left_out: lost.left_out, needs: lost.needs }
        }
    }
}

/// Where the work is that did not go in.
pub(crate) fn say_kept(kept: &Kept, context: &mut Context<'_>) {
    let look = context.console.err_look();
    let kept_in = |path: &PathBuf| {
        let limit = raised(&kept.needs);
        format!("it is kept: `relay apply {}{limit}` applies it later", path.display())
    };
    if let Some(path) = &kept.path {
        context.beside(LogLevel::Error, &outcome::aside(&look, &look.safe(&kept_in(path))));
    }
    if !kept.left_out.is_empty() {
        let names: Vec<&str> = kept.left_out.iter().map(|path| path.as_str()).collect();
        let said = format!("not in that file, because an answer cannot carry it: {}", names.join(", "));
        context.beside(LogLevel::Error, &outcome::aside(&look, &look.safe(&said)));
    }
}

/// The option that raises the limits as far as a large change needs it, with a blank in front.
fn raised(needs: &Limits) -> String {
    let usual = Limits::default();
    let over = [
        ("text", needs.text_bytes, usual.text_bytes),
        ("files", needs.files, usual.files),
        ("file", needs.file_bytes, usual.file_bytes),
        ("hunks", needs.hunks, usual.hunks),
    ];
    let over = over.iter().filter(|(_, needed, most)| needed > most);
    let parts: Vec<String> = over.map(|(name, needed, _)| format!("{name}={needed}")).collect();
    if parts.is_empty() { String::new() } else { format!(" --limit {}", parts.join(",")) }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Failure {
        let message = error.to_string();
        let failure = match error {
            WorkError::NoPrompt => Failure::new(Exit::Usage, "prompt", message)
                .hint("say what you want, for example `relay do \"rename total to sum in src/cart.ts\"`"),
            WorkError::File { .. } => Failure::new(Exit::Usage, "usage", message),
            WorkError::Access { .. } => Failure::new(Exit::Usage, "access", message)
                .hint("`--access workspace` lets it change its copy"),
            WorkError::Depth(_) => Failure::new(Exit::Refused, "depth", message),
            WorkError::Limit(_) | WorkError::Instructions(InstructionsError::TooMuch(_)) => {
                Failure::new(Exit::Refused, "tooLarge", message).hint("give it less")
            }
            WorkError::Scratch(ScratchError::Stopped) => {
                Failure::new(Exit::Interrupted, "interrupted", message)
            }
            WorkError::Scratch(ScratchError::Own(_)) => Failure::new(Exit::Refused, "copy", message).hint(
                "the copy is made in RELAY_HOME: a place that can be written to, outside of the project",
            ),
            WorkError::Scratch(_) => Failure::new(Exit::Refused, "copy", message),
            WorkError::Friend { failure, .. } => Failure { message, ..Failure::from(failure) },
            WorkError::Unreadable { source, .. } => {
                let hint = Failure::from(source).hint;
                Failure { hint, ..Failure::new(Exit::NoAnswer, "unreadable", message) }
            }
            WorkError::Instructions(_) => Failure::unexpected(message),
            WorkError::Changed { error, .. } => return Failure { state: None, ..Failure::from(*error) },
        };
        failure.left(State::Unchanged)
    }
}
