//! Who can be asked, and whether they answer.

use relaycode_friend::ask::live_test::run_live_test;
use relaycode_friend::friend::depth;
use relaycode_friend::friends::program_friends;
use relaycode_friend::{AskError, Friend, FriendContext, run_parallel};
use serde_json::{Value, json};

use crate::friends::friend_context::{find_friends, known_friends, new_friend_context};
use crate::report::render::friends::FriendRow;
use crate::{
    CommandContext, CommandFailure, CommandResult, Exit, LogLevel, SignalGuard, json, providers, render,
};

/// relay's own agent as a friend.
const OWN_AGENT: &str = "self";

#[derive(Debug, Clone, clap::Args)]
pub(super) struct FriendsListArgs {
    /// Only these
    #[arg(value_name = "FRIEND")]
    names: Vec<String>,

    /// Ask each that is there for one word
    #[arg(long)]
    test: bool,
}

impl FriendsListArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let held = SignalGuard::acquire()?;
        let stop = || held.stop_requested();
        let world = new_friend_context(ctx, &stop)?;
        if self.test {
            depth::check_depth(world.depth).map_err(AskError::from)?;
        }
        let friends = known_friends(ctx);
        let named = find_friends(&friends, &self.names)?;
        let servers = if self.names.is_empty() { friends.usable_servers(&world) } else { Ok(Vec::new()) };
        let trouble = servers.as_ref().err().map(ToString::to_string);
        let servers = servers.unwrap_or_default();
        let all: Vec<(&dyn Friend, Option<&str>)> = if self.names.is_empty() {
            let programs = program_friends().map(|friend| (friend, None));
            programs.chain(servers.iter().map(|server| (server as &dyn Friend, None))).collect()
        } else {
            named.iter().map(|chosen| (chosen.friend(), chosen.model.as_deref())).collect()
        };
        let spinner =
            providers::start_spinner(ctx, if self.test { "asking each for one word" } else { "looking" });
        let rows =
            run_parallel(all.len(), |at, _| self.friend_row(all[at].0, all[at].1, &world), &mut |_, _| {})
                .map_err(CommandFailure::usage)?;
        drop(spinner);
        if held.stop_requested() {
            return Err(CommandFailure::interrupted());
        }
        Ok(report_friends(&rows, trouble.as_deref(), ctx))
    }

    fn friend_row(&self, friend: &dyn Friend, model: Option<&str>, world: &FriendContext<'_>) -> FriendRow {
        let presence = friend.probe(world);
        // One that was named and is not there has failed the test. relay itself is always there, and not without a model.
        let is_other = friend.name() != OWN_AGENT;
        let asked = (presence.found.is_some() && is_other) || !self.names.is_empty();
        let tested = (self.test && asked).then(|| {
            run_live_test(friend, model, &std::env::temp_dir(), world).map_err(CommandFailure::from)
        });
        FriendRow { name: friend.name().to_string(), can: friend.abilities(), presence, tested }
    }
}

fn report_friends(rows: &[FriendRow], trouble: Option<&str>, ctx: &mut CommandContext<'_>) -> Exit {
    let failed = rows.iter().filter_map(|row| row.tested.as_ref()?.as_ref().err()).next();
    let exit = failed.map_or(Exit::Done, |failure| failure.exit);
    let found = json!({"friends": rows.iter().map(row_json).collect::<Vec<_>>(), "trouble": trouble});
    ctx.print_either(exit, found, |look| render::friends::friends_table(rows, look));
    if let Some(trouble) = trouble {
        ctx.eprint_remark(LogLevel::Error, trouble);
    }
    exit
}

fn row_json(row: &FriendRow) -> Value {
    let mut object = json!({"name": row.name, "can": json::to_value(&row.can)});
    json::merge(&mut object, json::to_value(&row.presence));
    object["test"] = match &row.tested {
        None => Value::Null,
        Some(Ok(passed)) => json!({"ok": true, "passed": json::to_value(passed)}),
        Some(Err(failure)) => {
            json!({"ok": false, "code": failure.exit as u8, "error": json::to_value(failure)})
        }
    };
    object
}
