//! `relay keys`: where the keys of providers come from, and storing them.

use std::io::Read;

use clap::Subcommand;
use relaycode_llm::keys::{Key, KeyError, Source};
use relaycode_llm::models::Registered;
use relaycode_tui::outcome;
use serde_json::json;

use crate::ask;
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::providers::Providers;
use crate::show;
use crate::show::keys::Row;

/// Bytes of stdin that may be a key.
const STDIN: u64 = 64 << 10;

/// List, store or remove keys of model providers
///
/// A key is stored in a file of its own in your directory of relay that only you can read. It is asked for on the
/// terminal without being shown, or read from stdin; it is never an argument, and never printed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Clone, Subcommand)]
enum What {
    /// Which providers have a key, and where it comes from (the default)
    List {
        /// Also providers without one
        #[arg(short, long)]
        all: bool,
    },
    /// Store the key of a provider
    Set {
        /// The provider, for example anthropic
        #[arg(value_name = "PROVIDER")]
        provider: String,
        /// Read the key from stdin instead of asking for it
        #[arg(long)]
        stdin: bool,
    },
    /// Remove the stored key of a provider
    Remove {
        /// The provider
        #[arg(value_name = "PROVIDER")]
        provider: String,
    },
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "keys"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let providers = Providers::open(context)?;
        match &self.what {
            None => list(&providers, false, context),
            Some(What::List { all }) => list(&providers, *all, context),
            Some(What::Set { provider, stdin }) => set(&providers, provider, *stdin, context),
            Some(What::Remove { provider }) => remove(&providers, provider, context),
        }
    }
}

fn list(providers: &Providers, all: bool, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let keyring = providers.keyring(None);
    let row = |provider: &Registered| {
        let (source, tail, trouble) = match keyring.source(provider) {
            Ok(source) => {
                // Commands are not run for a list.
                let known = !matches!(source, Some(Source::Command { .. }) | None);
                let auth = known.then(|| keyring.key(provider).ok().flatten()).flatten();
                (source, auth.and_then(|key| key.tail().map(str::to_string)), None)
            }
            Err(error) => (None, None, Some(error.to_string())),
        };
        Row { provider: provider.id.clone(), name: provider.name.clone(), source, tail, trouble }
    };
    let mut rows: Vec<Row> = providers.registry.providers.iter().map(row).collect();
    // A key of a provider that nobody knows any more is still a key on the disk.
    for id in providers.store.list().map_err(failure)? {
        if providers.registry.provider(&id).is_none() {
            let name = "not known; `relay keys remove` removes it".to_string();
            rows.push(Row { provider: id, name, source: Some(Source::Stored), tail: None, trouble: None });
        }
    }
    rows.retain(|row| all || row.trouble.is_some() || !matches!(row.source, None | Some(Source::NotNeeded)));
    context.object(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "keys",
        "keys": rows.iter().map(Row::object).collect::<Vec<_>>(),
        "trouble": providers.registry.trouble.as_ref().map(show::models::trouble_object),
        "ignored": providers.ignored.iter().map(show::models::ignored_object).collect::<Vec<_>>(),
    }));
    if !context.json() {
        let text = show::keys::table(&rows, &context.console.out_look());
        context.console.out(&text);
    }
    providers.remark(context);
    Ok(Exit::Done)
}

fn set(providers: &Providers, name: &str, stdin: bool, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let provider = known(providers, name)?;
    let typed = if stdin { from_stdin()? } else { from_terminal(provider)? };
    let key = Key::new(&typed);
    let key =
        key.map_err(|why| Failure::usage(format!("what was given {why}")).hint("nothing was stored"))?;
    let replaced = matches!(providers.store.get(&provider.id), Ok(Some(_)));
    providers.store.set(&provider.id, &key).map_err(failure)?;
    context.object(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "keys", "provider": provider.id, "replaced": replaced,
        "tail": key.tail(),
    }));
    let look = context.look();
    let what = if replaced { "replaced the key" } else { "stored the key" };
    let tail = key.tail().map(|tail| format!(" (…{tail})")).unwrap_or_default();
    let said = format!("{what} of {}{}", provider.id, look.safe(&tail));
    context.say(&outcome::done(&look, &said));
    context.say(&outcome::aside(&look, &format!("`relay models test {}/…` tries it", provider.id)));
    providers.remark(context);
    Ok(Exit::Done)
}

fn remove(providers: &Providers, name: &str, context: &mut Context<'_>) -> Result<Exit, Failure> {
    // What is stored can go, whoever it was for.
    let stored = providers.store.list().map_err(failure)?.iter().any(|stored| stored == name);
    let id = if stored { name.to_string() } else { known(providers, name)?.id.clone() };
    let was = providers.store.remove(&id).map_err(failure)?;
    context.object(&json!({
        "ok": true, "code": Exit::Done as u8, "command": "keys", "provider": id, "removed": was,
    }));
    let look = context.look();
    let said = if was { format!("removed the key of {id}") } else { format!("no key of {id} was stored") };
    context.say(&outcome::done(&look, &said));
    // It may still be used from elsewhere.
    let elsewhere = providers.registry.provider(&id);
    let elsewhere = elsewhere.and_then(|provider| providers.keyring(None).source(provider).ok().flatten());
    if let Some(source) = elsewhere.filter(|source| *source != Source::NotNeeded) {
        let said = format!("{id} still has one: {}", show::models::source(&source));
        context.say(&outcome::aside(&look, &look.safe(&said)));
    }
    Ok(Exit::Done)
}

/// The provider of that name, which relay or `models.yml` knows.
fn known<'p>(providers: &'p Providers, name: &str) -> Result<&'p Registered, Failure> {
    if let Some(provider) = providers.registry.provider(name) {
        return Ok(provider);
    }
    providers.usable()?;
    let near = providers.registry.near_providers(name);
    let hint = match near.is_empty() {
        true => "`relay keys list --all` lists them; models.yml can name others".to_string(),
        false => format!("did you mean {}?", near.join(", ")),
    };
    Err(Failure::usage(format!("there is no provider `{name}`")).hint(hint))
}

fn from_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(STDIN + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::unexpected(format!("stdin cannot be read: {error}")))?;
    if bytes.len() as u64 > STDIN {
        return Err(Failure::usage(format!("stdin has more than {STDIN} bytes")).hint("nothing was stored"));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::usage("what was given is no text").hint("nothing was stored"))
}

fn from_terminal(provider: &Registered) -> Result<String, Failure> {
    let Some(terminal) = ask::terminal() else {
        return Err(ask::nobody(
            "there is no terminal to ask for the key on",
            &format!("`relay keys set {} --stdin` reads it from stdin", provider.id),
        ));
    };
    if !provider.docs.is_empty() {
        terminal.say(&format!("  get one at {}\n", provider.docs));
    }
    ask::secret(&terminal, &format!("  key of {} (it is not shown): ", provider.name))
}

fn failure(error: KeyError) -> Failure {
    Failure::new(Exit::Usage, "key", error)
}
