//! `relay keys`: where the keys of providers come from, and storing them.

use std::io::Read;

use clap::Subcommand;
use relaycode_llm::models::RegisteredProvider;
use relaycode_llm::models::keys::{ApiKey, KeyError, KeySource};
use relaycode_text::plural::pluralize;
use relaycode_tui::outcome;
use serde_json::json;

use crate::report::render::keys::KeyRow;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, Providers, questions, render};

/// Bytes of stdin that may be a key.
const MAX_STDIN_BYTES: u64 = 64 << 10;

/// List, store or remove keys of model providers
///
/// A key is stored in a file of its own in your directory of relay that only you can read. It is asked for on the
/// terminal without being shown, or read from stdin; it is never an argument, and never printed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    command: Option<KeysCommand>,
}

#[derive(Debug, Clone, Subcommand)]
enum KeysCommand {
    /// Which providers have a key, and where it comes from (the default)
    List {
        /// Also providers without one
        #[arg(short, long)]
        all: bool,
    },
    /// Store the key of a provider, in place of those that are there
    Set {
        /// The provider, for example anthropic
        provider: String,
        /// Read the key from stdin instead of asking for it
        #[arg(long)]
        stdin: bool,
    },
    /// Store another key of a provider, beside those that are there
    ///
    /// A session begins with one of them, and goes on with the next where that one is refused or used up.
    Add {
        /// The provider, for example anthropic
        provider: String,
        /// Read the key from stdin instead of asking for it
        #[arg(long)]
        stdin: bool,
    },
    /// Remove the stored keys of a provider
    Remove {
        /// The provider
        provider: String,
    },
}

impl KeysArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let providers = Providers::open(ctx)?;
        match &self.command {
            None => list_keys(&providers, false, ctx),
            Some(KeysCommand::List { all }) => list_keys(&providers, *all, ctx),
            Some(KeysCommand::Set { provider, stdin }) => store_key(&providers, provider, *stdin, ctx),
            Some(KeysCommand::Add { provider, stdin }) => add_key(&providers, provider, *stdin, ctx),
            Some(KeysCommand::Remove { provider }) => remove_key(&providers, provider, ctx),
        }
    }
}

fn list_keys(providers: &Providers, all: bool, ctx: &mut CommandContext<'_>) -> CommandResult {
    let keyring = providers.keyring(None);
    let row = |provider: &RegisteredProvider| {
        let (source, tails, trouble) = match keyring.source(provider) {
            Ok(source) => {
                // Commands are not run for a list.
                let known = !matches!(source, Some(KeySource::Command { .. }) | None);
                let keys = if known { keyring.keys(provider).unwrap_or_default() } else { Vec::new() };
                (source, keys.iter().map(|key| key.tail().map(str::to_string)).collect(), None)
            }
            Err(error) => (None, Vec::new(), Some(error.to_string())),
        };
        KeyRow { provider: provider.id.clone(), name: provider.name.clone(), source, tails, trouble }
    };
    let mut rows: Vec<KeyRow> = providers.registry.providers.iter().map(row).collect();
    // A key of a provider that nobody knows any more is still a key on the disk.
    for id in providers.store.list().map_err(key_failure)? {
        if providers.registry.provider(&id).is_none() {
            let name = "not known; `relay keys remove` removes it".to_string();
            let source = Some(KeySource::Stored);
            rows.push(KeyRow { provider: id, name, source, tails: Vec::new(), trouble: None });
        }
    }
    rows.retain(|row| {
        all || row.trouble.is_some() || !matches!(row.source, None | Some(KeySource::NotNeeded))
    });
    let found = json!({
        "keys": rows.iter().map(KeyRow::to_json).collect::<Vec<_>>(),
        "trouble": providers.registry.file_error.as_ref().map(render::models::models_error_json),
        "ignored": providers.ignored.iter().map(render::models::ignored_json).collect::<Vec<_>>(),
    });
    let exit = ctx.print_either(Exit::Done, found, |look| render::keys::keys_table(&rows, look));
    providers.eprint_remarks(ctx);
    Ok(exit)
}

fn store_key(providers: &Providers, name: &str, stdin: bool, ctx: &mut CommandContext<'_>) -> CommandResult {
    let provider = find_provider(providers, name)?;
    let key = read_key(provider, stdin)?;
    let replaced = matches!(providers.store.get(&provider.id), Ok(Some(_)));
    providers.store.set(&provider.id, &key).map_err(key_failure)?;
    let stored = json!({"provider": provider.id, "replaced": replaced, "tail": key.tail()});
    let exit = ctx.print_result(Exit::Done, stored);
    let what = if replaced { "replaced the key" } else { "stored the key" };
    let tail = key.tail().map(|tail| format!(" (…{tail})")).unwrap_or_default();
    ctx.print_success(&format!("{what} of {}{tail}", provider.id));
    let next =
        outcome::indented_line(&ctx.style(), &format!("`relay models test {}/…` tries it", provider.id));
    ctx.print_info(&next);
    providers.eprint_remarks(ctx);
    Ok(exit)
}

fn add_key(providers: &Providers, name: &str, stdin: bool, ctx: &mut CommandContext<'_>) -> CommandResult {
    let provider = find_provider(providers, name)?;
    let key = read_key(provider, stdin)?;
    let count = providers.store.add(&provider.id, &key).map_err(key_failure)?;
    let exit =
        ctx.print_result(Exit::Done, json!({"provider": provider.id, "count": count, "tail": key.tail()}));
    let tail = key.tail().map(|tail| format!(" (…{tail})")).unwrap_or_default();
    ctx.print_success(&format!("stored a key of {}{tail}; it has {}", provider.id, pluralize(count, "key")));
    providers.eprint_remarks(ctx);
    Ok(exit)
}

fn read_key(provider: &RegisteredProvider, stdin: bool) -> CommandResult<ApiKey> {
    let typed = if stdin { read_stdin()? } else { ask_key(provider)? };
    ApiKey::new(&typed)
        .map_err(|why| CommandFailure::usage(format!("what was given {why}")).hint("nothing was stored"))
}

fn remove_key(providers: &Providers, name: &str, ctx: &mut CommandContext<'_>) -> CommandResult {
    // What is stored can go, whoever it was for.
    let stored = providers.store.list().map_err(key_failure)?.iter().any(|stored| stored == name);
    let id = if stored { name.to_string() } else { find_provider(providers, name)?.id.clone() };
    let was = providers.store.remove(&id).map_err(key_failure)?;
    let exit = ctx.print_result(Exit::Done, json!({"provider": id, "removed": was}));
    let said = if was { format!("removed the key of {id}") } else { format!("no key of {id} was stored") };
    ctx.print_success(&said);
    // It may still be used from elsewhere.
    let elsewhere = providers.registry.provider(&id);
    let elsewhere = elsewhere.and_then(|provider| providers.keyring(None).source(provider).ok().flatten());
    if let Some(source) = elsewhere.filter(|source| *source != KeySource::NotNeeded) {
        ctx.print_detail(&format!("{id} still has one: {}", render::models::key_source_text(&source)));
    }
    Ok(exit)
}

/// The provider of that name, which relay or `models.yml` knows.
fn find_provider<'p>(providers: &'p Providers, name: &str) -> CommandResult<&'p RegisteredProvider> {
    if let Some(provider) = providers.registry.provider(name) {
        return Ok(provider);
    }
    providers.check_models_file()?;
    let near = providers.registry.near_providers(name);
    let hint = match near.is_empty() {
        true => "`relay keys list --all` lists them; models.yml can name others".to_string(),
        false => format!("did you mean {}?", near.join(", ")),
    };
    Err(CommandFailure::usage(format!("there is no provider `{name}`")).hint(hint))
}

fn read_stdin() -> CommandResult<String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_STDIN_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| CommandFailure::unexpected(format!("stdin cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_STDIN_BYTES {
        return Err(CommandFailure::usage(format!("stdin has more than {MAX_STDIN_BYTES} bytes"))
            .hint("nothing was stored"));
    }
    String::from_utf8(bytes)
        .map_err(|_| CommandFailure::usage("what was given is no text").hint("nothing was stored"))
}

fn ask_key(provider: &RegisteredProvider) -> CommandResult<String> {
    let Some(terminal) = questions::open_terminal() else {
        return Err(questions::nobody_to_ask(
            "there is no terminal to ask for the key on",
            &format!("`relay keys set {} --stdin` reads it from stdin", provider.id),
        ));
    };
    if !provider.docs.is_empty() {
        terminal.write_text(&format!("  get one at {}\n", provider.docs));
    }
    questions::ask_secret(&terminal, &format!("  key of {} (it is not shown): ", provider.name))
}

fn key_failure(error: KeyError) -> CommandFailure {
    CommandFailure::new(Exit::Usage, "key", error)
}
