//! `relay do`: a friend works in a copy of the project; what it changed goes through the door.

use relaycode_door::Door;
use relaycode_friend::scratch::Caps;
use relaycode_friend::work::keep::keep_patch;
use relaycode_friend::work::{Heard, WorkError, Worked, Working, work};
use relaycode_friend::{Friend, Memory};
use relaycode_project::access::Access;
use relaycode_project::config::LogLevel;
use relaycode_tui::{clock, outcome};
use serde_json::json;

use super::apply::{Beforehand, Told, submit};
use crate::answer::{Answer, Given, Source};
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure, State};
use crate::friends::arguments::{Whom, With, access};
use crate::friends::circle::Circle;
use crate::friends::listen::Listener;
use crate::friends::seen;
use crate::friends::worked::{self, object};
use crate::json;
use crate::limit;
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

    #[command(flatten)]
    beforehand: Beforehand,

    /// Change limits: text=8M,files=500,file=4M,hunks=5000
    #[arg(long, value_name = "NAME=N,...", value_parser = limit::Changed::parse, default_value = "", hide_default_value = true)]
    limit: limit::Changed,

    /// Do not compare the project with how it was before
    #[arg(long)]
    no_tree_check: bool,
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
        let limits = self.limit.limits();
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
            check_tree: !self.no_tree_check,
        };
        let (worked, heard) = self.work(friend, &working, &door, &circle, context);
        match worked {
            Ok(worked) => self.bring_in(friend, &worked, &heard, &door, context),
            Err(error) => Ok(worked::failed(friend.name(), error, heard.shown, context)),
        }
    }
}

/// What people have been told while the friend worked.
#[derive(Default)]
struct Already {
    /// What is not in the copy.
    left_out: Vec<String>,
    /// The words of its answer.
    shown: bool,
}

impl Args {
    /// Lets the friend work, and tells how it goes.
    fn work(
        &self,
        friend: &dyn Friend,
        working: &Working,
        door: &Door,
        circle: &Circle<'_>,
        context: &mut Context<'_>,
    ) -> (Result<Worked, WorkError>, Already) {
        let mut already = Already::default();
        let mut copying = providers::spinner(context, "copying the project");
        let mut listener: Option<Listener> = None;
        let name = friend.name().to_string();
        let worked = work(friend, working, door, &circle.world, &mut |heard| match heard {
            Heard::Copying(progress) => {
                if let Some(copying) = &copying {
                    copying.prints(worked::copied_so_far(progress).as_bytes());
                }
            }
            Heard::Copied { files, left_out } => {
                copying = None;
                worked::say_copied(&name, files, &left_out, context);
                already.left_out = left_out;
            }
            Heard::Friend(event) => {
                copying = None;
                let listener = listener
                    .get_or_insert_with(|| Listener::begin(vec![name.clone()], self.whom.stream, context));
                listener.hear(0, &event, context);
            }
        });
        drop(copying);
        already.shown = listener.as_ref().is_some_and(Listener::has_shown);
        if let Some(mut listener) = listener {
            listener.end(context);
        }
        (worked, already)
    }

    /// Tells what the friend said. Of one without hands the answer is the patch itself, which is shown as a plan.
    fn say_answer(&self, friend: &dyn Friend, worked: &Worked, already: &Already, context: &mut Context<'_>) {
        if !already.shown && friend.abilities().writes_files {
            let look = context.look();
            context.say(&answers::one(&worked.answer.text, &look));
        }
        for said in &worked.answer.remarks {
            seen::remark(said, LogLevel::Warn, context);
        }
        worked::say_changed(friend.name(), &worked.looked, context);
    }

    /// Takes what the friend did through the door. If it does not go in, it stays in a file.
    fn bring_in(
        &self,
        friend: &dyn Friend,
        worked: &Worked,
        already: &Already,
        door: &Door,
        context: &mut Context<'_>,
    ) -> Result<Exit, Failure> {
        self.say_answer(friend, worked, already, context);
        let Some(proposal) = &worked.proposal else {
            return Ok(nothing(friend, worked, already, context));
        };
        let home = context.home.path.as_deref();
        let kept = keep_patch(home, friend.name(), &door.project_id(), proposal, &clock::now())
            .unwrap_or_else(|lost| worked::keep_elsewhere(*lost, context));
        let given = Given { file: kept.path.clone(), limit: self.limit.clone(), ..Given::default() };
        let source =
            Source::of_friend(&given, door.root.clone(), friend.name(), worked.answer.text.clone(), context);
        let answer = Answer { source: &source, text: &worked.answer.text, proposal: proposal.clone() };
        let ending = self.submit(worked, door, &answer, context)?;
        worked::say_left_out(worked, &already.left_out, context);
        let applied = ending.exit == Exit::Done || ending.exit == Exit::Doubt;
        if !(applied || worked.looked.changed.is_empty()) {
            let said = "that is said of this change alone; what changed while it ran is named above";
            seen::remark(said, LogLevel::Error, context);
        }
        if let (true, Some(path)) = (applied, &kept.path) {
            // It is of no use any more; one that stays is among those that go by and by.
            let _ = std::fs::remove_file(path);
        }
        let kept = Some(kept).filter(|_| !applied);
        if let Some(kept) = &kept {
            worked::say_kept(kept, context);
        }
        let exit = ended(ending.exit, worked);
        context.object(&object(worked, exit, ending.object, kept.as_ref()));
        Ok(exit)
    }

    fn submit(
        &self,
        worked: &Worked,
        door: &Door,
        answer: &Answer<'_>,
        context: &mut Context<'_>,
    ) -> Result<Ending, Failure> {
        let consent = self.beforehand.consent();
        let limits = answer.source.limits.clone();
        let Some(submission) = worked.submission(consent, limits, true, clock::now()) else {
            return Err(Failure::unexpected("there is nothing to submit"));
        };
        submit(door, &submission, answer, Told { diff: self.beforehand.diff, several: false }, context)
    }
}

/// The friend wants nothing changed.
fn nothing(friend: &dyn Friend, worked: &Worked, already: &Already, context: &mut Context<'_>) -> Exit {
    if !friend.abilities().writes_files {
        return in_words(friend.name(), worked, already, context);
    }
    let exit = ended(Exit::Done, worked);
    context.object(&object(worked, exit, json!({"applied": false, "id": null}), None));
    let look = context.look();
    let said = match worked.looked.is_unchanged() {
        true => format!("{} changed nothing", friend.name()),
        false => format!("{} changed nothing in its copy", friend.name()),
    };
    context.say(&outcome::done(&look, &said));
    worked::say_left_out(worked, &already.left_out, context);
    exit
}

/// A friend without hands said something, and it is no patch.
fn in_words(name: &str, worked: &Worked, already: &Already, context: &mut Context<'_>) -> Exit {
    if !already.shown {
        let look = context.look();
        context.say(&answers::one(&worked.answer.text, &look));
    }
    let failure =
        Failure::new(Exit::NoAnswer, "noPatch", format!("{name} answered in words, without a patch"))
            .hint("name the files that it has to see, and say what to change; `relay ask` is for questions")
            .left(State::Unchanged);
    let became = json!({"applied": false, "id": null, "error": json::value(&failure)});
    context.object(&object(worked, failure.exit, became, None));
    context.console.failure(&failure, "do", false);
    failure.exit
}

/// How it ends: files that changed in the project itself are for somebody to look at.
fn ended(exit: Exit, worked: &Worked) -> Exit {
    if exit == Exit::Done && worked.looked.needs_a_look() { Exit::NeedsYou } else { exit }
}
