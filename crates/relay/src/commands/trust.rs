//! `relay trust`: which commands this project may run.

use relaycode_door::Door;
use relaycode_project::trust::{State, Wants};
use relaycode_tui as view;
use relaycode_tui::clock;
use serde_json::{Value, json};

use crate::ask::{self, is_yes};
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure, State as Left};
use crate::project::Project;

/// Show which commands the project wants to run, and trust them
///
/// A project's configuration can name commands (linter, preCommand, postCommand) and say when changes are
/// approved without you; its git repository can have hooks and filters that run on `relay git commit`.
/// None of it runs or counts before you said yes to exactly it. What changes later is asked about again.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Accept what is shown, without asking
    #[arg(short, long)]
    yes: bool,

    /// Take trust away
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "trust"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let door = Project::open(context)?.door(context)?;
        if self.revoke {
            return revoke(&door, context);
        }
        let mut wants = door.wants();
        let trust = door.trust();
        let state = trust.state(&door.root, &wants);
        wants.git = door.git().what_would_run().unwrap_or_default();
        let git = trust.git_state(&door.root, &wants);
        if let (State::Unavailable { why }, _) | (_, State::Unavailable { why }) = (&state, &git) {
            return Err(Failure::unexpected(why).left(Left::Unchanged));
        }
        let look = context.look();
        if state.allows() && git.allows() {
            let said =
                if wants.is_empty() { "there is nothing to trust" } else { "all of it is trusted already" };
            context.tell(&view::trust::text(&wants, before(&state), &look));
            context.say(&view::outcome::done(&look, said));
        } else {
            self.ask(&wants, before(&state), context)?;
            let now = clock::now();
            if !state.allows() {
                trust.grant(&door.root, &wants, &now).map_err(Failure::unexpected)?;
            }
            if !git.allows() {
                trust.grant_git(&door.root, &wants, &now).map_err(Failure::unexpected)?;
            }
            context.say(&view::outcome::done(&look, "trusted, until it changes"));
        }
        context.object(&object(&door, &wants, true));
        Ok(Exit::Done)
    }
}

impl Args {
    /// Shows what is wanted, and gets a yes for it.
    fn ask(&self, wants: &Wants, before: Option<&Wants>, context: &mut Context<'_>) -> Result<(), Failure> {
        let asked = if self.yes { None } else { ask::terminal() };
        let Some(terminal) = asked else {
            context.tell(&view::trust::text(wants, before, &context.look()));
            if self.yes {
                return Ok(());
            }
            return Err(ask::nobody(
                "somebody has to say yes, and there is no terminal to ask on",
                "`relay trust -y` accepts what it shows",
            ));
        };
        // What is asked about stands above the question, wherever the output goes.
        terminal.say(&view::trust::text(wants, before, &context.console.err_look().on(terminal.file())));
        let what = if wants.commands.is_empty() { "this" } else { "them" };
        if is_yes(&ask::ask(&terminal, &format!("  run {what} from now on? [y/N]  "))?) {
            return Ok(());
        }
        Err(Failure::new(Exit::Declined, "declined", "not trusted").left(Left::Unchanged))
    }
}

fn before(state: &State) -> Option<&Wants> {
    match state {
        State::Changed { before } => Some(before),
        _ => None,
    }
}

fn revoke(door: &Door, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let was = door.trust().revoke(&door.root).map_err(Failure::unexpected)?;
    let look = context.look();
    let said = if was {
        "nothing of this project is trusted any more"
    } else {
        "nothing of this project was trusted"
    };
    context.say(&view::outcome::done(&look, said));
    context.object(&object(door, &door.wants(), false));
    Ok(Exit::Done)
}

fn object(door: &Door, wants: &Wants, trusted: bool) -> Value {
    let rows = |rows: &[(String, String)]| -> Vec<Value> {
        rows.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    };
    json!({
        "ok": true, "code": Exit::Done as u8, "command": "trust", "project": door.root.to_string_lossy(),
        "trusted": trusted, "commands": rows(&wants.commands), "settings": rows(&wants.settings), "git": rows(&wants.git),
    })
}
