//! Who can be asked, and whether they answer.

use relaycode_friend::ask::AskError;
use relaycode_friend::depth;
use relaycode_friend::live_test::{NotPassed, live_test};
use relaycode_friend::several::several;
use relaycode_friend::{Friend, World};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::friends::world::{chosen, friends, world};
use crate::json;
use crate::providers;
use crate::show;
use crate::show::friends::Row;
use crate::signals::Held;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct List {
    /// Only these
    #[arg(value_name = "FRIEND")]
    names: Vec<String>,

    /// Ask each that is there for one word
    #[arg(long)]
    test: bool,
}

impl List {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let held = Held::begin()?;
        let stop = || held.asked();
        let world = world(context, &stop)?;
        if self.test {
            depth::check(world.depth).map_err(AskError::from)?;
        }
        let friends = friends(context);
        let named = chosen(&friends, &self.names)?;
        let servers = if self.names.is_empty() { friends.usable_servers(&world) } else { Ok(Vec::new()) };
        let trouble = servers.as_ref().err().map(ToString::to_string);
        let servers = servers.unwrap_or_default();
        let all: Vec<(&dyn Friend, Option<&str>)> = if self.names.is_empty() {
            let programs = relaycode_friend::friends::ALL.iter().map(|friend| (*friend, None));
            programs.chain(servers.iter().map(|server| (server as &dyn Friend, None))).collect()
        } else {
            named.iter().map(|chosen| (chosen.friend(), chosen.model.as_deref())).collect()
        };
        let spinner =
            providers::spinner(context, if self.test { "asking each for one word" } else { "looking" });
        let rows = several(all.len(), |at, _| self.row(all[at].0, all[at].1, &world), &mut |_, _| {})
            .map_err(Failure::usage)?;
        drop(spinner);
        if held.asked() {
            return Err(providers::interrupted());
        }
        Ok(tell(&rows, trouble.as_deref(), context))
    }

    fn row(&self, friend: &dyn Friend, model: Option<&str>, world: &World<'_>) -> Row {
        let presence = friend.look(world);
        // One that was named and is not there has failed the test.
        let asked = presence.found.is_some() || !self.names.is_empty();
        let tested = (self.test && asked)
            .then(|| live_test(friend, model, &std::env::temp_dir(), world).map_err(failure));
        Row { name: friend.name().to_string(), can: friend.abilities(), presence, tested }
    }
}

fn failure(why: NotPassed) -> Failure {
    match why {
        NotPassed::Depth(too_deep) => AskError::from(too_deep).into(),
        NotPassed::Friend(failure) => failure.into(),
    }
}

fn tell(rows: &[Row], trouble: Option<&str>, context: &mut Context<'_>) -> Exit {
    let failed = rows.iter().filter_map(|row| row.tested.as_ref()?.as_ref().err()).next();
    let exit = failed.map_or(Exit::Done, |failure| failure.exit);
    context.object(&json!({
        "ok": exit == Exit::Done, "code": exit as u8, "command": "friends",
        "friends": rows.iter().map(object).collect::<Vec<_>>(),
        "trouble": trouble,
    }));
    if !context.json() {
        let text = show::friends::table(rows, &context.console.out_look());
        context.console.out(&text);
    }
    if let Some(trouble) = trouble {
        let look = context.console.err_look();
        let text = relaycode_tui::outcome::remark(&look, &look.safe(trouble));
        context.beside(relaycode_project::config::LogLevel::Error, &text);
    }
    exit
}

fn object(row: &Row) -> Value {
    let mut object = json!({"name": row.name, "can": json::value(&row.can)});
    if let (Some(object), Value::Object(presence)) = (object.as_object_mut(), json::value(&row.presence)) {
        object.extend(presence);
    }
    object["test"] = match &row.tested {
        None => Value::Null,
        Some(Ok(passed)) => json!({"ok": true, "passed": json::value(passed)}),
        Some(Err(failure)) => json!({"ok": false, "code": failure.exit as u8, "error": json::value(failure)}),
    };
    object
}
