//! `relay do`: a friend works in a copy of the project; what it changed goes through the door.

use std::path::PathBuf;

use relaycode_door::{Consent, Door};
use relaycode_friend::scratch::{Caps, ScratchError};
use relaycode_friend::work::keep::{Kept, keep_patch};
use relaycode_friend::work::{Heard, WorkError, Worked, Working, work};
use relaycode_friend::{Friend, Memory};
use relaycode_project::access::Access;
use relaycode_project::config::LogLevel;
use relaycode_tui::{clock, number, outcome};
use serde_json::{Value, json};

use super::apply::{Allowed, Told, submit};
use crate::answer::{Answer, Given, Source};
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure, State};
use crate::friends::arguments::{Whom, With, access};
use crate::friends::circle::Circle;
use crate::friends::listen::Listener;
use crate::json;
use crate::outcome::Ending;
use crate::project::Project;
use crate::providers;
use crate::show::answers;
use crate::signals::Held;

/// Let another agent change the project, in a copy first
///
/// The friend works in a scratch copy of the project, with your uncommitted work in it; what is not in it is said. What
/// it changed becomes one change, which is shown, judged and asked about like any other (`relay apply`), recorded, and
/// undone with `relay revert`. If it does not go in, it is kept in a file for `relay apply`.
///
/// A model server, which has no hands, is shown the files that you name and answers with a patch.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// What to do
    #[arg(value_name = "PROMPT")]
    prompt: String,

    /// Files that it is about: paths, directories or globs
    #[arg(value_name = "FILES")]
    files: Vec<String>,

    #[command(flatten)]
    whom: Whom,

    #[command(flatten)]
    with: With,

    /// What the friend may do in its copy: workspace or full
    #[arg(long, value_name = "ACCESS", value_parser = access, default_value = "workspace", visible_alias = "sandbox")]
    access: Access,

    /// Say yes to ordinary questions; not to what --allow names, and not to trust
    #[arg(short, long)]
    yes: bool,

    /// Say yes to these, too
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    allow: Vec<Allowed>,

    /// Show the diff, too
    #[arg(long)]
    diff: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "do"
    }

    fn writes(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        if self.whom.session.is_some() {
            return Err(Failure::usage(
                "a friend that works begins anew each time; there is no --session for it",
            )
            .hint("`relay ask --session NAME` goes on with a conversation"));
        }
        let held = Held::begin()?;
        let stop = || held.asked();
        let project = Project::open(context)?;
        project.recover(context)?;
        let circle = Circle::gather(&self.whom, context, &stop)?;
        let Some((friend, model)) = circle.only() else {
            return Err(Failure::usage("one friend works at a time, and several are named")
                .hint("name one of them after --to"));
        };
        let files = crate::files::find(&project.root, &context.options.directory, &self.files)?;
        let given = self.with.read(circle.total, &stop, context)?;
        let door = project.door(context)?;
        let limits = Given::default().limit.limits();
        let working = Working {
            prompt: self.prompt.clone(),
            context: given,
            files,
            access: self.access,
            model,
            memory: Memory::None,
            total: circle.total,
            idle: circle.idle,
            caps: Caps::default(),
            limits,
        };
        let (worked, told) = self.work(friend, &working, &door, &circle, context)?;
        self.bring_in(friend, &worked, &told, &door, context)
    }
}

impl Args {
    /// Lets the friend work, and tells how it goes. Gives back what was told of things left out, too.
    fn work(
        &self,
        friend: &dyn Friend,
        working: &Working,
        door: &Door,
        circle: &Circle<'_>,
        context: &mut Context<'_>,
    ) -> Result<(Worked, Vec<String>), Failure> {
        let mut told = Vec::new();
        let mut copying = providers::spinner(context, "copying the project");
        let mut listener: Option<Listener> = None;
        let name = friend.name().to_string();
        let worked = work(friend, working, door, &circle.world, &mut |heard| match heard {
            Heard::Copying(_) => {}
            Heard::Copied { files, left_out } => {
                copying = None;
                say_copied(&name, files, &left_out, context);
                told = left_out;
            }
            Heard::Friend(event) => {
                copying = None;
                let listener = listener
                    .get_or_insert_with(|| Listener::begin(vec![name.clone()], self.whom.stream, context));
                listener.hear(0, &event, context);
            }
        });
        drop(copying);
        let shown = listener.as_ref().is_some_and(Listener::has_shown);
        if let Some(mut listener) = listener {
            listener.end(context);
        }
        let worked = worked?;
        // Of a friend without hands the answer is the patch itself, which is shown as a plan.
        if !shown && friend.abilities().writes_files {
            let look = context.look();
            context.say(&answers::one(&worked.answer.text, &look));
        }
        let look = context.console.err_look();
        for said in &worked.answer.remarks {
            context.beside(LogLevel::Warn, &outcome::remark(&look, &look.safe(said)));
        }
        Ok((worked, told))
    }

    /// Takes what the friend did through the door. If it does not go in, it stays in a file.
    fn bring_in(
        &self,
        friend: &dyn Friend,
        worked: &Worked,
        told: &[String],
        door: &Door,
        context: &mut Context<'_>,
    ) -> Result<Exit, Failure> {
        let Some(proposal) = &worked.proposal else {
            context.object(&object(worked, Exit::Done, json!({"applied": false, "id": null}), None));
            let look = context.look();
            context.say(&outcome::done(&look, &format!("{} changed nothing", friend.name())));
            say_left_out(worked, told, context);
            return Ok(Exit::Done);
        };
        let home = context.home.path.as_deref();
        let kept =
            home.map(|home| keep_patch(home, friend.name(), &door.project_id(), proposal, &clock::now()));
        let kept = kept.transpose().unwrap_or_default();
        let given = Given { file: kept.as_ref().and_then(|kept| kept.path.clone()), ..Given::default() };
        let source =
            Source::of_friend(&given, door.root.clone(), friend.name(), worked.answer.text.clone(), context);
        let answer = Answer { source: &source, text: &worked.answer.text, proposal: proposal.clone() };
        let ending = self.submit(worked, door, &answer, context)?;
        say_left_out(worked, told, context);
        let applied = ending.exit == Exit::Done || ending.exit == Exit::Doubt;
        let kept = if applied { discard(kept) } else { kept };
        if let Some(kept) = &kept {
            say_kept(kept, context);
        }
        context.object(&object(worked, ending.exit, ending.object, kept.as_ref()));
        Ok(ending.exit)
    }

    fn submit(
        &self,
        worked: &Worked,
        door: &Door,
        answer: &Answer<'_>,
        context: &mut Context<'_>,
    ) -> Result<Ending, Failure> {
        let consent =
            Consent { yes: self.yes, allow: self.allow.iter().map(|allowed| allowed.get()).collect() };
        let limits = answer.source.limits.clone();
        let Some(submission) = worked.submission(consent, limits, true, clock::now()) else {
            return Err(Failure::unexpected("there is nothing to submit"));
        };
        submit(door, &submission, answer, Told { diff: self.diff, several: false }, context)
    }
}

/// The object of `--json`: what became of the change, and what the friend said.
fn object(worked: &Worked, exit: Exit, became: Value, kept: Option<&Kept>) -> Value {
    let mut object = json!({"ok": exit == Exit::Done, "code": exit as u8, "command": "do"});
    if let (Some(object), Value::Object(became)) = (object.as_object_mut(), became) {
        object.extend(became);
    }
    let answer = &worked.answer;
    object["friend"] = json!({
        "name": worked.friend, "text": answer.text, "model": answer.model, "way": answer.way,
        "declined": json::value(&answer.declined), "usage": answer.usage.as_ref().map(json::value),
        "ms": json::ms(worked.took), "remarks": answer.remarks,
    });
    object["leftOut"] = json!(worked.left_out);
    object["kept"] = json!(kept.and_then(|kept| kept.path.as_ref()).map(|path| path.to_string_lossy()));
    object
}

/// The file is of no use once the change is in.
fn discard(kept: Option<Kept>) -> Option<Kept> {
    if let Some(path) = kept.and_then(|kept| kept.path) {
        // It is one among those that go by and by.
        let _ = std::fs::remove_file(path);
    }
    None
}

fn say_copied(name: &str, files: usize, left_out: &[String], context: &mut Context<'_>) {
    let look = context.console.err_look();
    let text = outcome::aside(&look, &format!("{name} works in a copy of {}", number(files, "file")));
    context.beside(LogLevel::Info, &text);
    for said in left_out {
        context.beside(LogLevel::Info, &outcome::aside(&look, &look.safe(&format!("not in it: {said}"))));
    }
}

/// What of its work is not in the change; what of the project was not in the copy is told already.
fn say_left_out(worked: &Worked, told: &[String], context: &mut Context<'_>) {
    let look = context.console.err_look();
    for said in worked.left_out.iter().filter(|said| !told.contains(said)) {
        context.beside(LogLevel::Warn, &outcome::remark(&look, &look.safe(said)));
    }
}

fn say_kept(kept: &Kept, context: &mut Context<'_>) {
    let look = context.console.err_look();
    let kept_in = |path: &PathBuf| format!("it is kept: `relay apply {}` applies it later", path.display());
    if let Some(path) = &kept.path {
        context.beside(LogLevel::Error, &outcome::aside(&look, &look.safe(&kept_in(path))));
    }
    if !kept.left_out.is_empty() {
        let names: Vec<&str> = kept.left_out.iter().map(|path| path.as_str()).collect();
        let said = format!("not in that file, because an answer cannot carry it: {}", names.join(", "));
        context.beside(LogLevel::Error, &outcome::aside(&look, &look.safe(&said)));
    }
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
            WorkError::Limit(_) | WorkError::Prompt(_) => {
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
            WorkError::Unreadable { .. } => Failure::new(Exit::NoAnswer, "unreadable", message),
            WorkError::Keep(_) => Failure::unexpected(message),
        };
        failure.left(State::Unchanged)
    }
}
