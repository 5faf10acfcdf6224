//! What came of a friend's work, told to people and to machines, apart from the change itself, which the door tells.
//!
//! What changed in the project while the friend worked is named, and whoever reads it is never told that nothing was
//! changed; what does not go in is in a file, or it is said that it is not.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use relaycode_change::proposal::limits::PlanLimits;
use relaycode_door::InstructionsError;
use relaycode_exec::FenceLevel;
use relaycode_friend::tree_check::TreeCheckReport;
use relaycode_friend::work::WorkError;
use relaycode_friend::work::saved_patch::{SavePatchError, SavedPatch};
use relaycode_friend::work::scratch::{ScratchError, ScratchProgress};
use relaycode_friend::{CopySandbox, FriendAnswer, FriendFailure, WorkOutcome};
use relaycode_tui::pluralize;
use serde_json::{Value, json};

use super::tree_report;
use crate::json::ResultObject;
use crate::{CommandContext, CommandFailure, Exit, LogLevel, answers, json};

/// The object of `--json`: what became of the change, and what the friend said.
pub(crate) fn work_json(
    worked: &WorkOutcome,
    exit: Exit,
    mut object: ResultObject,
    kept: Option<&SavedPatch>,
) -> ResultObject {
    object.insert("ok", exit == Exit::Done);
    object.insert("code", exit as u8);
    let mut friend = friend_json(&worked.friend, &worked.answer);
    friend["ms"] = json!(json::millis(worked.took));
    object.insert("friend", friend);
    object.insert("sandbox", sandbox_json(&worked.sandbox));
    object.insert("leftOut", &worked.left_out);
    object.insert("kept", kept.and_then(|kept| kept.path.as_ref()).map(|path| path.to_string_lossy()));
    object.insert("changed", &worked.tree_check.changes);
    object.insert("unchecked", worked.tree_check.gap_message());
    // What the door says of the change is not true of the project then.
    if !worked.tree_check.changes.is_empty()
        && let Some(error) = object.fields.get_mut("error").and_then(Value::as_object_mut)
    {
        error.remove("state");
    }
    object
}

/// What kept it in its copy, and why nothing did.
fn sandbox_json(sandbox: &CopySandbox) -> Value {
    let (kind, level, why) = match sandbox {
        CopySandbox::None => ("none", None, None),
        CopySandbox::Own => ("own", None, None),
        CopySandbox::Fence(level) => ("fence", Some(level.number()), None),
        CopySandbox::NoFence(why) => ("none", None, Some(why)),
    };
    json!({"kind": kind, "level": level, "why": why})
}

fn friend_json(name: &str, answer: &FriendAnswer) -> Value {
    json!({
        "name": name, "text": answer.text, "model": answer.model, "way": answer.transport,
        "declined": json::to_value(&answer.declined), "usage": answer.usage.as_ref().map(json::to_value),
        "remarks": answer.remarks,
    })
}

/// What people have been told while the friend worked.
#[derive(Default)]
pub(crate) struct WorkNotices {
    /// What is not in the copy.
    pub(crate) left_out: Vec<String>,
    /// What keeps the friend in it.
    pub(crate) sandbox: CopySandbox,
    /// The words of its answer.
    pub(crate) answer_shown: bool,
}

/// Tells why nothing came of it, with what the friend said, unless that was shown, and what changed meanwhile.
pub(crate) fn report_error(
    name: &str,
    error: WorkError,
    told: &WorkNotices,
    ctx: &mut CommandContext<'_>,
) -> Exit {
    let (error, looked) = match error {
        WorkError::ProjectChanged { error, tree_check: looked } => (*error, looked),
        error => (error, TreeCheckReport::default()),
    };
    let mut said = None;
    if let WorkError::Unreadable { answer, .. } = &error {
        said = Some(friend_json(name, answer));
        if !told.answer_shown {
            ctx.print_info(&answers::answer_text(&answer.text, &ctx.style()));
        }
    }
    let fence_may_be_why = matches!(told.sandbox, CopySandbox::Fence(_)) && may_come_of_fence(&error);
    let mut failure = CommandFailure::from(error);
    if !looked.is_unchanged() {
        failure.state = None;
    }
    ctx.print_result(
        failure.exit,
        json!({
            "error": json::to_value(&failure), "friend": said, "changed": json::to_value(&looked.changes),
            "unchecked": looked.gap_message(), "sandbox": sandbox_json(&told.sandbox),
        }),
    );
    report_project_changes(name, &looked, ctx);
    ctx.console.report_failure(&failure, "do", false);
    if fence_may_be_why {
        let said = format!("{name} ran in a fence; if that stopped it, `--access full` runs it without one");
        ctx.eprint_detail(LogLevel::Error, &said);
    }
    failure.exit
}

/// Whether a program that lacks something of the machine fails so.
fn may_come_of_fence(error: &WorkError) -> bool {
    use FriendFailure::{Exec, Failed, NotSignedIn, Unreachable};
    let WorkError::Friend { failure, .. } = error else { return false };
    matches!(failure, Exec { .. } | Failed { .. } | NotSignedIn { .. } | Unreachable { .. })
}

pub(crate) fn report_project_changes(name: &str, looked: &TreeCheckReport, ctx: &mut CommandContext<'_>) {
    tree_report::report_tree_check(looked, &format!("{name} was to work in its copy"), ctx);
}

pub(crate) fn report_copy(
    name: &str,
    files: usize,
    left_out: &[String],
    sandbox: &CopySandbox,
    ctx: &mut CommandContext<'_>,
) {
    let fence = match sandbox {
        CopySandbox::Fence(FenceLevel::Namespaces) => ", in a fence".to_string(),
        CopySandbox::Fence(level) => format!(", in a fence of level {}", level.number()),
        CopySandbox::None | CopySandbox::Own | CopySandbox::NoFence(_) => String::new(),
    };
    let said = format!("{name} works in a copy of {}{fence}", pluralize(files, "file"));
    ctx.eprint_detail(LogLevel::Info, &said);
    if let CopySandbox::NoFence(why) = sandbox {
        let said = format!("{name} has no sandbox of its own, and this machine has no fence: {why}");
        ctx.eprint_remark(LogLevel::Warn, &said);
    }
    for said in left_out {
        ctx.eprint_detail(LogLevel::Info, &format!("not in it: {said}"));
    }
}

/// What of its work is not in the change; what of the project was not in the copy is told already.
pub(crate) fn report_left_out(worked: &WorkOutcome, told: &[String], ctx: &mut CommandContext<'_>) {
    for said in worked.left_out.iter().filter(|said| !told.contains(said)) {
        ctx.eprint_remark(LogLevel::Warn, said);
    }
}

pub(crate) fn copy_progress_line(progress: ScratchProgress) -> String {
    format!("{} of {}\n", progress.files, pluralize(progress.total, "file"))
}

/// Puts work that cannot be kept where it belongs among the temporary files, and says so.
pub(crate) fn save_temp_file(lost: SavePatchError, ctx: &mut CommandContext<'_>) -> SavedPatch {
    ctx.eprint_remark(LogLevel::Error, &format!("if this change does not go in: {lost}"));
    let path = std::env::temp_dir().join(format!("relay-{}", lost.name));
    // A new one, for the user alone: others write there, too.
    let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
    let written = file.and_then(|mut file| file.write_all(lost.answer.as_bytes()));
    if let Err(error) = &written {
        ctx.eprint_remark(LogLevel::Error, &format!("nor can it be kept as {}: {error}", path.display()));
    }
    let path = written.is_ok().then_some(path);
    SavedPatch { path, left_out: lost.left_out, required_limits: lost.required_limits }
}

pub(crate) fn report_saved_patch(kept: &SavedPatch, ctx: &mut CommandContext<'_>) {
    if let Some(path) = &kept.path {
        let limit = limit_option(&kept.required_limits);
        let said = format!("it is kept: `relay apply {}{limit}` applies it later", path.display());
        ctx.eprint_detail(LogLevel::Error, &said);
    }
    if !kept.left_out.is_empty() {
        let names: Vec<&str> = kept.left_out.iter().map(|path| path.as_str()).collect();
        let said = format!("not in that file, because an answer cannot carry it: {}", names.join(", "));
        ctx.eprint_detail(LogLevel::Error, &said);
    }
}

/// The option that raises the limits as far as a large change needs it, with a blank in front.
fn limit_option(needs: &PlanLimits) -> String {
    let usual = PlanLimits::default();
    let over = [
        ("text", needs.text_bytes, usual.text_bytes),
        ("files", needs.files, usual.files),
        ("file", needs.file_bytes, usual.file_bytes),
        ("hunks", needs.hunks, usual.hunks),
        ("total", needs.total_bytes, usual.total_bytes),
    ];
    let over = over.iter().filter(|(_, needed, most)| needed > most);
    let parts: Vec<String> = over.map(|(name, needed, _)| format!("{name}={needed}")).collect();
    if parts.is_empty() { String::new() } else { format!(" --limit {}", parts.join(",")) }
}

impl From<WorkError> for CommandFailure {
    fn from(error: WorkError) -> CommandFailure {
        let message = error.to_string();
        let usage = |kind| CommandFailure::new(Exit::Usage, kind, &message);
        let failure = match error {
            WorkError::NoPrompt => usage("prompt")
                .hint("say what you want, for example `relay do \"rename total to sum in src/cart.ts\"`"),
            WorkError::File { .. } => usage("usage"),
            WorkError::Access { .. } => usage("access").hint("`--access workspace` lets it change its copy"),
            WorkError::Depth(_) => CommandFailure::refused("depth", message),
            WorkError::Limit(_) | WorkError::Instructions(InstructionsError::TooMuch(_)) => {
                CommandFailure::refused("tooLarge", message).hint("give it less")
            }
            WorkError::Scratch(ScratchError::Cancelled) => {
                CommandFailure { message, ..CommandFailure::interrupted() }
            }
            WorkError::Scratch(ScratchError::Own(_)) => CommandFailure::refused("copy", message).hint(
                "the copy is made in RELAY_HOME: a place that can be written to, outside of the project",
            ),
            WorkError::Scratch(_) => CommandFailure::refused("copy", message),
            WorkError::Friend { failure, .. } => CommandFailure { message, ..CommandFailure::from(failure) },
            WorkError::Unreadable { source, .. } => {
                let hint = CommandFailure::from(source).hint;
                CommandFailure { hint, ..CommandFailure::new(Exit::NoAnswer, "unreadable", message) }
            }
            WorkError::Instructions(_) => CommandFailure::unexpected(message),
            WorkError::ProjectChanged { error, .. } => {
                return CommandFailure { state: None, ..CommandFailure::from(*error) };
            }
        };
        failure.unchanged()
    }
}
