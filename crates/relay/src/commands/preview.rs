//! `relay preview`: what an answer would do, without doing it.

use relaycode_change::plan::Refused;
use relaycode_change::repair;
use relaycode_change::tree::Overlay;
use relaycode_door::{Consent, Door, Preview};
use relaycode_project::config::LogLevel;
use relaycode_tui as view;
use relaycode_tui::diff::Layout;
use serde_json::{Value, json};

use crate::answer::{Answer, Given, Source};
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::terminal::ChosenLayout;

/// Show what an answer would change, without changing anything
///
/// Reads the answer of a model (fenced files, search/replace blocks, diffs, `*** Begin Patch` envelopes),
/// finds the place of every edit in the project, and shows the plan: the files, how each edit
/// matched, what deserves a look, and the diff. Where a place is not certain the answer is refused
/// as a whole (exit code 3), with the reasons.
#[derive(Debug, Clone, clap::Args)]
#[command(alias = "plan")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) given: Given,

    /// With --json: include each file's resulting text (base64 if it is not UTF-8)
    #[arg(long, requires = "json")]
    text: bool,

    /// If the answer is refused, print a prompt to paste back to the model on stdout (with --json it
    /// is always part of the object)
    #[arg(long)]
    repair: bool,

    #[command(flatten)]
    layout: ChosenLayout,

    /// Leave out the diff
    #[arg(long, overrides_with = "diff")]
    no_diff: bool,

    /// Show the diff (the default, except with --json and --repair)
    #[arg(long, overrides_with = "no_diff")]
    diff: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "preview"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        let source = Source::read(&self.given, project.root.clone(), "preview", context)?;
        let answers = source.answers()?;
        let door = project.door(context)?;
        // stdout is for the object or the prompt alone, where one was asked for.
        let aside = context.json() || self.repair;
        let shown = Shown {
            diff: self.diff || self.layout.side_by_side || !(aside || self.no_diff),
            layout: self.layout.chosen(),
            text: self.text,
            repair: self.repair,
        };
        Ok(planned(&door, &answers, &shown, context))
    }
}

/// What is shown of a plan.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    /// Its diff.
    pub(crate) diff: bool,
    /// … laid out like this.
    pub(crate) layout: Layout,
    /// With `--json`: each file's resulting text.
    pub(crate) text: bool,
    /// Of a refusal: the prompt for the model.
    pub(crate) repair: bool,
}

/// Plans the answers, one on top of the other, and shows what comes out.
pub(crate) fn planned(door: &Door, answers: &[Answer<'_>], shown: &Shown, context: &mut Context<'_>) -> Exit {
    let mut objects = Vec::new();
    let mut exit = Exit::Done;
    let tree = door.tree(&answers[0].source.limits);
    let mut tree = Overlay::new(&tree);
    for (at, answer) in answers.iter().enumerate() {
        if at > 0 && !shown.repair {
            context.say("\n");
        }
        match door.preview(&answer.submission(Consent::default()), &tree) {
            Ok(preview) => {
                show_plan(answer, &preview, shown, context);
                // Nobody reads it otherwise, and it holds the whole answer and every diff.
                objects.push(if context.json() { plan_object(answer, &preview, shown) } else { Value::Null });
                tree.carry_out(&preview.plan);
            }
            Err(refused) => {
                exit = Exit::Refused;
                objects.push(answer.refusal_json(&refused));
                refuse(answer, &refused, shown, context);
                break;
            }
        }
    }
    context.object(&super::apply::one_or_several("preview", exit, answers.len(), objects));
    exit
}

fn show_plan(answer: &Answer<'_>, preview: &Preview, shown: &Shown, context: &mut Context<'_>) {
    let aside = context.json() || shown.repair;
    let look = if aside { context.console.err_look() } else { context.console.out_look() };
    let mut text = answer.card(&preview.plan, "", &look);
    text += &view::why::would_ask(&preview.rules, &look);
    if shown.diff {
        text += &view::diff::text_in(&preview.plan, shown.layout, &look);
    }
    if context.quiet() {
        return;
    }
    if aside {
        context.beside(LogLevel::Info, &text);
    } else {
        context.console.out(&text);
    }
}

fn refuse(answer: &Answer<'_>, refused: &Refused, shown: &Shown, context: &mut Context<'_>) {
    if !(context.quiet() && (context.json() || shown.repair)) {
        let text = answer.refusal(refused, shown.repair, &context.console.err_look());
        context.beside(LogLevel::Error, &text);
    }
    if shown.repair && !context.json() {
        let text = context.console.out_look().block(&repair::prompt(refused)).into_owned();
        context.console.out(&text);
    }
}

/// What `--json` prints for a plan.
fn plan_object(answer: &Answer<'_>, preview: &Preview, shown: &Shown) -> Value {
    json!({
        "ok": true,
        "code": Exit::Done as u8,
        "command": "preview",
        "project": answer.source.root.to_string_lossy(),
        "proposal": answer.proposal_json(),
        "plan": Answer::plan_json(&preview.plan, shown.text),
        "digest": preview.digest.to_string(),
        "rules": preview.rules,
    })
}
