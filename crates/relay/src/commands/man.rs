//! `relay __man`: one man page for each command, or all of them on one page of Markdown. Hidden: it is
//! for packaging, and for the project's own documentation.
//!
//! Everything comes from the command line's own data, and nothing of the machine it runs on: the same
//! binary writes the same bytes.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use relaycode_tui::pluralize;
use serde_json::json;

use crate::report::exit_codes;
use crate::{CommandContext, CommandFailure, CommandResult, Exit};

/// Write a man page for each command
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ManArgs {
    /// Where to; it is made if it is not there
    #[arg(value_name = "DIR")]
    to: PathBuf,

    /// Write `commands.md` instead, with the help of every command
    #[arg(long)]
    markdown: bool,
}

/// Columns of the help on the page.
const HELP_COLUMNS: usize = 100;

impl ManArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let written = render_pages(self.markdown).and_then(|pages| write_pages(&self.to, &pages));
        let files = written.map_err(|error| {
            CommandFailure::unexpected(format!("the pages cannot be written: {error}"))
                .place(self.to.display())
        })?;
        let shown = ctx.style().safe(&self.to.to_string_lossy()).into_owned();
        ctx.print_info(&format!("{} written to {shown}\n", pluralize(files.len(), "page")));
        Ok(ctx.print_result(Exit::Done, json!({"files": files})))
    }
}

/// A file to write: its name and its bytes.
type ManPage = (String, Vec<u8>);

fn write_pages(to: &Path, pages: &[ManPage]) -> io::Result<Vec<String>> {
    fs::create_dir_all(to)?;
    for (name, bytes) in pages {
        fs::write(to.join(name), bytes)?;
    }
    Ok(pages.iter().map(|(name, _)| name.clone()).collect())
}

fn render_pages(markdown: bool) -> io::Result<Vec<ManPage>> {
    let mut root = super::cli_definition().disable_help_subcommand(true).term_width(HELP_COLUMNS);
    // Gives every command its full name.
    root.build();
    let mut commands = Vec::new();
    collect_commands(&root, &[], &mut commands);
    if markdown {
        let bytes = markdown_page(&commands).into_bytes();
        return Ok(vec![("commands.md".to_owned(), bytes)]);
    }
    commands.iter().map(man_page).collect()
}

/// A command, and the pages to look at after its own.
struct ManEntry<'a> {
    command: &'a Command,
    see_also: Vec<String>,
}

/// The command and everything below it, without what is hidden.
fn collect_commands<'a>(command: &'a Command, around: &[String], all: &mut Vec<ManEntry<'a>>) {
    let own = full_name(command);
    let below: Vec<&Command> = command.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let below_names: Vec<String> = below.iter().map(|command| full_name(command)).collect();
    let see_also = below_names.iter().chain(around).filter(|name| **name != own).cloned().collect();
    all.push(ManEntry { command, see_also });
    // A command below another one belongs to the whole as well.
    let whole = around.first().filter(|name| **name != own).cloned();
    let around: Vec<String> = whole.into_iter().chain([own]).chain(below_names).collect();
    for command in below {
        collect_commands(command, &around, all);
    }
}

/// `relay-git-commit`
fn full_name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

fn man_page(described: &ManEntry<'_>) -> io::Result<ManPage> {
    let ManEntry { command, see_also } = described;
    let source = concat!("relay ", env!("CARGO_PKG_VERSION"));
    let mut command = (*command).clone();
    if command.get_subcommands().next().is_some() {
        // What stands below the list of commands are the exit codes, which the page has anyway.
        command = command.after_help(None);
    }
    // A date would be another one tomorrow; an empty one would give its place to the next argument.
    let man = Man::new(command).date(" ").source(source).manual("relay manual");
    let mut bytes = Vec::new();
    man.render(&mut bytes)?;
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (code, _, meaning) in exit_codes::ALL {
        roff.control("TP", []);
        roff.text([bold(code.to_string())]);
        roff.text([roman(*meaning)]);
    }
    roff.control("SH", ["SEE ALSO"]);
    // A name that is cut at the end of a line cannot be searched for.
    roff.control("nh", []);
    for (at, name) in see_also.iter().enumerate() {
        let end = if at + 1 < see_also.len() { "(1)," } else { "(1)" };
        roff.text([bold(name), roman(end)]);
    }
    roff.to_writer(&mut bytes)?;
    Ok((man.get_filename(), bytes))
}

/// The help of every command, one below the other.
fn markdown_page(commands: &[ManEntry<'_>]) -> String {
    let mut out = String::new();
    for ManEntry { command, .. } in commands {
        let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
        let help = (*command).clone().term_width(HELP_COLUMNS).render_long_help().to_string();
        let help: Vec<&str> = help.trim().lines().map(str::trim_end).collect();
        out.push_str(&format!("## {name}\n\n```text\n{}\n```\n\n", help.join("\n")));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}
