//! `cargo xtask docs`: writes the reference pages that come from the code.
//!
//! A page is one function that returns its text, and one line in [`pages`]; the command line's own help
//! comes from the binary, which is built for it. With `--check`, which `cargo xtask test` runs, the pages
//! on disk are compared with the code, so they cannot fall behind.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: printing is its output")]

mod rpc;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use clap::Parser;
use relaycode_change::dialect;
use relaycode_change::matching::rungs;
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::{COMPONENT_BYTES, PATH_BYTES};
use relaycode_door::{RuleConsent, rules};
use relaycode_project::config;
use relaycode_project::config::keys::{
    ConfigKey, ConfigScope, ConfigTextRule, ConfigValueKind, KEYS, SECTIONS, TrustNeed,
};
use relaycode_testkit::checkout;

/// Write the pages of docs/reference and docs/man from the code
#[derive(Parser)]
#[command(name = "cargo xtask docs", bin_name = "cargo xtask docs")]
struct Args {
    /// Write nothing; fail if a page is out of date
    #[arg(long)]
    check: bool,
    /// Ask this binary about its commands instead of building one
    #[arg(long, value_name = "PATH")]
    relay: Option<PathBuf>,
}

/// A generated page.
struct Page {
    /// Relative to the root.
    path: String,
    text: String,
}

impl Page {
    fn new(path: &'static str, title: &str, body: &str) -> Page {
        let text = format!(
            "# {title}\n\n<!-- Written by `cargo xtask docs` from the code; change the code instead. -->\n\n{body}"
        );
        Page { path: path.to_owned(), text }
    }

    /// Whether the page on disk is up to date.
    fn is_fresh(&self, root: &Path) -> bool {
        // A checkout may have changed the line endings.
        fs::read_to_string(root.join(&self.path))
            .is_ok_and(|on_disk| on_disk.replace("\r\n", "\n") == self.text)
    }
}

/// Where the man pages are; nothing else is there.
const MAN: &str = "docs/man";

fn pages(relay: &Path) -> anyhow::Result<Vec<Page>> {
    let mut pages =
        vec![dialects(), ladder(), limits(), approval_rules(), configuration()?, commands(relay)?];
    pages.append(&mut man(relay)?);
    pages.append(&mut rpc::pages());
    Ok(pages)
}

/// Man pages of commands that are gone, relative to the root.
fn strays(root: &Path, pages: &[Page]) -> Vec<String> {
    let entries = fs::read_dir(root.join(MAN)).into_iter().flatten().flatten();
    let mut strays: Vec<String> = entries
        .map(|entry| format!("{MAN}/{}", entry.file_name().to_string_lossy()))
        .filter(|path| pages.iter().all(|page| page.path != *path))
        .collect();
    strays.sort();
    strays
}

/// Writes every page that is out of date, and removes man pages of commands that are gone; with `--check`
/// only names them.
fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let root = checkout::root();
    let relay = args.relay.map_or_else(checkout::built_relay, Ok)?;
    let pages = pages(&relay)?;
    let strays = strays(&root, &pages);
    let stale: Vec<&Page> = pages.iter().filter(|page| !page.is_fresh(&root)).collect();
    println!("  pages generated from the code: {}, out of date: {}", pages.len(), stale.len() + strays.len());
    if args.check {
        stale.iter().for_each(|page| println!("  {} is out of date", page.path));
        strays.iter().for_each(|stray| println!("  {stray} is about nothing"));
        ensure!(stale.is_empty() && strays.is_empty(), "`cargo xtask docs` writes the pages again");
        return Ok(());
    }
    for stray in strays {
        fs::remove_file(root.join(&stray)).with_context(|| format!("removing {stray}"))?;
        println!("  {stray} removed");
    }
    for page in stale {
        let path = root.join(&page.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        fs::write(&path, &page.text).with_context(|| format!("writing {}", path.display()))?;
        println!("  {} written", page.path);
    }
    Ok(())
}

fn approval_rules() -> Page {
    let rows: String = rules::all()
        .iter()
        .map(|rule| {
            let rule = rule.text();
            let beforehand = match rule.consent {
                RuleConsent::Yes => code("-y"),
                RuleConsent::YesIfHandedOver => "`-y`, if you hand the text over yourself".to_owned(),
                RuleConsent::Allow => code(&format!("--allow {}", rule.name)),
                RuleConsent::Person => "nothing".to_owned(),
            };
            row(&[&code(rule.name), rule.description, &beforehand])
        })
        .collect();
    let body = format!(
        "What makes relay ask before it applies a change, or after the project's commands judged it. `w` at the question \
         says which of these it was, `relay why` afterwards which decided.\n\n| rule | about | answered beforehand \
         by |\n|---|---|---|\n{rows}"
    );
    Page::new("docs/reference/rules.md", "What makes relay ask", &body)
}

fn dialects() -> Page {
    let rows: String = dialect::all()
        .iter()
        .map(|dialect| {
            let aliases: Vec<String> = dialect.aliases().iter().map(|name| code(name)).collect();
            row(&[&code(dialect.name()), &aliases.join(", "), dialect.description()])
        })
        .collect();
    let body = format!(
        "The ways to write an edit that relay reads. A block's header may name one; a block that names none is read \
         in the first that recognises it, in this order.\n\n| dialect | also called | how an edit is \
         written |\n|---|---|---|\n{rows}"
    );
    Page::new("docs/reference/dialects.md", "Dialects", &body)
}

fn ladder() -> Page {
    let rows: String = rungs::all()
        .iter()
        .zip(1..)
        .map(|(rung, step)| row(&[&format!("{step}"), &code(rung.name()), rung.description()]))
        .collect();
    let body = format!(
        "How an edit finds its place: from the strictest rung down, the first on which it fits anywhere decides. All \
         places on that rung count; more than one is settled by what the answer says about the place, or refused. Which \
         rung it was is part of every report.\n\n| step | rung | what it forgives |\n|---|---|---|\n{rows}"
    );
    Page::new("docs/reference/rungs.md", "Rungs of the matching ladder", &body)
}

fn limits() -> Page {
    // Destructured in full: a new limit does not compile until it has a row here.
    let PlanLimits { text_bytes, files, file_bytes, hunks, total_bytes, work, stop: _, meter: _ } =
        PlanLimits::default();
    let rows = [
        row(&["Bytes of one answer", &bytes(text_bytes)]),
        row(&["Files that one answer may touch", &files.to_string()]),
        row(&["Bytes of one file, before or after the change", &bytes(file_bytes)]),
        row(&["Hunks over all files", &hunks.to_string()]),
        row(&["Bytes of all files together, before and after the change", &bytes(total_bytes)]),
        row(&["Steps of work to find the places of all edits", &format!("{} million", work / 1_000_000)]),
        row(&["Bytes of a path", &bytes(PATH_BYTES)]),
        row(&["Bytes of one component of a path", &bytes(COMPONENT_BYTES)]),
    ];
    let body = format!(
        "What relay is willing to read and plan by default. Over a limit it refuses, names the limit, and changes \
         nothing.\n\n| limit | default |\n|---|---|\n{}",
        rows.concat()
    );
    Page::new("docs/reference/limits.md", "Limits", &body)
}

/// Every key of the configuration, the file that `init` writes, and the schema.
fn configuration() -> anyhow::Result<Page> {
    let mut body = String::from(
        "Every key of `relaycode.config.json`, and of your own `config.yml` except `projectId`. What the \
         files, the layers and the older forms are is on [its own page](../configuration.md).\n",
    );
    let top: Vec<&ConfigKey> = KEYS.iter().filter(|key| key.section_and_name().0.is_none()).collect();
    body += &keys(&top);
    for (section, about) in SECTIONS {
        let inner: Vec<&ConfigKey> =
            KEYS.iter().filter(|key| key.section_and_name().0 == Some(section)).collect();
        body += &format!("\n## `{section}`\n\n{about}\n{}", keys(&inner));
    }
    let schema = serde_json::to_string_pretty(&config::json_schema())?;
    body += &format!(
        "\n## What `relay init` writes\n\n```json\n{}```\n\n## The schema\n\nWhat `relay config schema` \
         prints.\n\n```json\n{schema}\n```\n",
        config::initial_file("my-app")
    );
    Ok(Page::new("docs/reference/configuration.md", "Keys of the configuration", &body))
}

/// The table of some keys.
fn keys(keys: &[&ConfigKey]) -> String {
    let rows: String = keys
        .iter()
        .map(|key| {
            let (default, values) = (key.default(), values(key.kind));
            let default = if default.is_null() { "none".to_owned() } else { code(&default.to_string()) };
            row(&[&code(key.name), key.meaning, &values, &default, acts(key), &older(key), trust(key)])
        })
        .collect();
    format!(
        "\n| key | meaning | values | default | acts in | older form | trust |\n|---|---|---|---|---|---|---|\n{rows}"
    )
}

fn values(kind: ConfigValueKind) -> String {
    match kind {
        ConfigValueKind::Text(ConfigTextRule::ProjectId) => {
            format!("1 to {} visible characters", config::PROJECT_ID_CHARACTERS)
        }
        ConfigValueKind::Text(ConfigTextRule::Command) => {
            "a command line for `sh -c`; empty: none".to_owned()
        }
        ConfigValueKind::Text(ConfigTextRule::BranchPrefix) => {
            "the beginning of a branch's name; may be empty".to_owned()
        }
        ConfigValueKind::Text(ConfigTextRule::Friends) => "whom to ask, as after `--to`".to_owned(),
        ConfigValueKind::Text(ConfigTextRule::Theme) => "the name of a theme".to_owned(),
        ConfigValueKind::Rules(_) => "a list of [rules](../permissions.md)".to_owned(),
        ConfigValueKind::CommandRules => "a list of `{pattern, tool, message}`".to_owned(),
        ConfigValueKind::Switch => "`true`, `false`".to_owned(),
        ConfigValueKind::Number { least, most, or_none } => {
            format!("{least} to {most}{}", if or_none { ", or `null`" } else { "" })
        }
        ConfigValueKind::Choice(choices) => {
            let names: Vec<String> = choices.iter().map(|choice| code(choice.name)).collect();
            names.join(", ")
        }
    }
}

fn acts(key: &ConfigKey) -> &'static str {
    if key.user_only {
        return "every command it concerns, from your own file only";
    }
    match key.scope {
        ConfigScope::AllCommands => "every command it concerns",
        ConfigScope::WatchOnly => "`watch`",
    }
}

/// Older names of the key and of its values.
fn older(key: &ConfigKey) -> String {
    let mut older: Vec<String> = key.legacy_name.iter().map(|name| code(name)).collect();
    if let ConfigValueKind::Choice(choices) = key.kind {
        for choice in choices {
            older.extend(choice.legacy_names.iter().map(|name| format!("`{name}` for `{}`", choice.name)));
        }
    }
    older.join(", ")
}

fn trust(key: &ConfigKey) -> &'static str {
    match key.trust_need {
        Some(TrustNeed::Command) => "a command: runs only if trusted",
        Some(TrustNeed::Approval) => "decides who approves",
        None => "",
    }
}

/// The help of every command.
fn commands(relay: &Path) -> anyhow::Result<Page> {
    let Some((_, help)) = described(relay, &["--markdown"])?.pop() else {
        bail!("relay describes no command");
    };
    let body = format!(
        "What `relay --help` and `relay COMMAND --help` say. The same is in the man pages under \
         [../man](../man/), which `man -l docs/man/relay.1` shows.\n\n{help}"
    );
    Ok(Page::new("docs/reference/commands.md", "Commands", &body))
}

/// One man page per command.
fn man(relay: &Path) -> anyhow::Result<Vec<Page>> {
    let pages = described(relay, &[])?.into_iter();
    Ok(pages.map(|(name, text)| Page { path: format!("{MAN}/{name}"), text }).collect())
}

/// What the binary writes about itself, sorted by file name.
fn described(relay: &Path, args: &[&str]) -> anyhow::Result<Vec<(String, String)>> {
    let folder = tempfile::tempdir().context("making a folder for the pages")?;
    let run = Command::new(relay).args(["--quiet", "__man"]).arg(folder.path()).args(args).status();
    if !run.context("running relay")?.success() {
        bail!("relay cannot describe itself");
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder.path())? {
        let entry = entry?;
        files.push((entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path())?));
    }
    files.sort();
    Ok(files)
}

/// One row of a table; escapes what would end a cell.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

fn bytes(count: usize) -> String {
    const MIB: usize = 1024 * 1024;
    const KIB: usize = 1024;
    match count {
        0 => "0".to_owned(),
        _ if count.is_multiple_of(MIB) => format!("{} MiB", count / MIB),
        _ if count.is_multiple_of(KIB) => format!("{} KiB", count / KIB),
        _ => format!("{count} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_in_their_largest_whole_unit() {
        assert_eq!(bytes(4 * 1024 * 1024), "4 MiB");
        assert_eq!(bytes(1024), "1 KiB");
        assert_eq!(bytes(1500), "1500 bytes");
    }

    #[test]
    fn a_cell_cannot_end_its_row() {
        assert_eq!(row(&["a|b", "c"]), "| a\\|b | c |\n");
    }
}
