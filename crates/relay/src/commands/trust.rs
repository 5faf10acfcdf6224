//! `relay trust`: which commands this project may run.

use relaycode_door::Door;
use relaycode_project::trust::{TrustRequest, TrustState};
use relaycode_tui::{clock, views};
use serde_json::{Value, json};

use crate::{CommandContext, CommandFailure, CommandResult, Exit, Project, questions};

/// Show which commands the project wants to run, and trust them
///
/// A project's configuration can name commands (linter, preCommand, postCommand) and say when changes are
/// approved without you; its git repository can have hooks and filters that run on `relay git commit`.
/// None of it runs or counts before you said yes to exactly it. What changes later is asked about again, unless it
/// only takes something away or makes you be asked more often.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TrustArgs {
    /// Accept what is shown, without asking
    #[arg(short, long)]
    yes: bool,

    /// Take trust away
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
}

impl TrustArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let door = Project::open(ctx)?.into_door(ctx)?;
        if self.revoke {
            return revoke(&door, ctx);
        }
        let mut wants = door.wants();
        let trust = door.trust();
        let state = trust.state(&door.root, &wants);
        wants.git = door.git().commands_on_commit().unwrap_or_default();
        let git = trust.git_state(&door.root, &wants);
        if let (TrustState::Unavailable { why }, _) | (_, TrustState::Unavailable { why }) = (&state, &git) {
            return Err(CommandFailure::unexpected(why).unchanged());
        }
        let look = ctx.style();
        if state.allows() && git.allows() {
            ctx.print(&views::trust::text(&wants, None, &look));
            if !wants.is_empty() {
                ctx.print_success("all of it is trusted already");
            }
        } else {
            self.ask_trust(&wants, previous_wants(&wants, &state, &git).as_ref(), ctx)?;
            let now = clock::now_utc();
            if !state.allows() {
                trust.grant(&door.root, &wants, &now).map_err(CommandFailure::unexpected)?;
            }
            if !git.allows() {
                trust.grant_git(&door.root, &wants, &now).map_err(CommandFailure::unexpected)?;
            }
            ctx.print_success("trusted, until it changes");
        }
        Ok(print_trust(&door, &wants, true, ctx))
    }
}

impl TrustArgs {
    /// Shows what is wanted, and gets a yes for it.
    fn ask_trust(
        &self,
        wants: &TrustRequest,
        before: Option<&TrustRequest>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<()> {
        let asked = if self.yes { None } else { questions::open_terminal() };
        let Some(terminal) = asked else {
            ctx.print(&views::trust::text(wants, before, &ctx.style()));
            if self.yes {
                return Ok(());
            }
            return Err(questions::nobody_to_say_yes("`relay trust -y` accepts what it shows"));
        };
        // What is asked about stands above the question, wherever the output goes.
        let look = ctx.console.err_style().for_stream(terminal.file());
        terminal.write_text(&views::trust::text(wants, before, &look));
        let what = if wants.commands.is_empty() { "this" } else { "them" };
        questions::confirm(&terminal, &format!("  run {what} from now on? [y/N]  "), "not trusted")
    }
}

/// What the user trusted before, of both halves; of a half that was never asked about, or did not change, what is wanted
/// now. `None`: nothing changed, or nothing was trusted.
fn previous_wants(wants: &TrustRequest, state: &TrustState, git: &TrustState) -> Option<TrustRequest> {
    let before = |state: &TrustState| match state {
        TrustState::Changed { before } => Some(before.clone()),
        _ => None,
    };
    let (config, git) = (before(state), before(git));
    if config.is_none() && git.is_none() {
        return None;
    }
    let git = git.map_or_else(|| wants.git.clone(), |before| before.git);
    let config = config.unwrap_or_else(|| wants.clone());
    Some(TrustRequest { git, ..config })
}

fn revoke(door: &Door, ctx: &mut CommandContext<'_>) -> CommandResult {
    let was = door.trust().revoke(&door.root).map_err(CommandFailure::unexpected)?;
    ctx.print_success(match was {
        true => "nothing of this project is trusted any more",
        false => "nothing of this project was trusted",
    });
    Ok(print_trust(door, &door.wants(), false, ctx))
}

fn print_trust(door: &Door, wants: &TrustRequest, trusted: bool, ctx: &mut CommandContext<'_>) -> Exit {
    let rows = |rows: &[(String, String)]| -> Vec<Value> {
        rows.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    };
    ctx.print_result(
        Exit::Done,
        json!({
            "project": door.root.to_string_lossy(), "trusted": trusted, "commands": rows(&wants.commands),
            "settings": rows(&wants.settings), "git": rows(&wants.git),
        }),
    )
}
