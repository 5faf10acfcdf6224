//! Builtins of the shell: which of them change nothing, and what the others do to the line.

use super::reader::LineReader;
use super::{CommandArgument, CommandRole, StartedCommand, environment};
use crate::permissions::path_pattern::matches_glob;

/// They change nothing outside of the shell, whatever their words.
const HARMLESS: &[&str] =
    &["echo", ":", "pwd", "exit", "return", "break", "continue", "shift", "type", "times"];
const OTHERS: &[&str] =
    &["cd", "set", "read", "unset", "printf", "wait", "jobs", "test", "[", "alias", "history"];

pub(super) fn is_builtin(name: &str) -> bool {
    HARMLESS.contains(&name) || OTHERS.contains(&name)
}

/// Reads a builtin; `false`: it is none.
pub(super) fn read(
    reader: &mut LineReader<'_>,
    name: &str,
    arguments: &[CommandArgument],
    command: &mut StartedCommand,
) -> bool {
    // `time` in front is a word of the shell, which starts its own builtins.
    let timed = command.started_by.as_deref() == Some("time");
    if reader.without_shell || command.started_by.is_some() && !timed {
        return false;
    }
    if !is_builtin(name) {
        return false;
    }
    command.role = CommandRole::ReadsOnly;
    let exact: Option<Vec<&str>> = arguments.iter().map(CommandArgument::exact).collect();
    let exact = exact.as_deref();
    match name {
        // There may also be a program `time`, which would not change the directory.
        "cd" if timed => reader.change_directory(Some(&CommandArgument::Any)),
        "cd" => change_directory(reader, arguments),
        "printf" => read_printf(reader, arguments),
        "set" => {
            let plain = |text: &&str| {
                matches!(*text, "pipefail" | "errexit" | "nounset")
                    || text.len() > 1
                        && (text.starts_with('-') || text.starts_with('+'))
                        && text[1..].chars().all(|c| "euxo".contains(c))
            };
            if !exact.is_some_and(|texts| texts.iter().all(plain)) {
                reader.unclear("`set` with these words changes how the line is read");
            }
        }
        "read" | "unset" => {
            let plain =
                |text: &&str| environment::is_name(text) || matches!(*text, "-r" | "-f" | "-a" | "-n" | "-s");
            match exact {
                Some(texts) if texts.iter().all(plain) => {
                    for name in texts.iter().filter(|text| environment::is_name(text)) {
                        environment::check_assignment(reader, name, &CommandArgument::Any, false);
                    }
                }
                _ => reader.unclear(format!("`{name}` with these words may run something")),
            }
            reader.forget_variables();
        }
        "wait"
            if exact.is_none_or(|texts| texts.iter().any(|text| text.starts_with('-') && *text != "-n")) =>
        {
            reader.unclear("`wait -p` sets a variable");
        }
        "jobs"
            if !exact
                .is_some_and(|texts| texts.iter().all(|text| matches!(*text, "-l" | "-p" | "-r" | "-s"))) =>
        {
            reader.unclear("`jobs` with these words may run something");
        }
        // Without a name it lists them.
        "alias" if !arguments.is_empty() => reader.unclear("`alias` changes what other words mean"),
        "history"
            if !exact
                .is_some_and(|texts| texts.iter().all(|text| text.bytes().all(|b| b.is_ascii_digit()))) =>
        {
            reader.unclear("`history` with these words is not followed");
        }
        "test" | "[" if !test_is_plain(arguments) => reader.unclear("`test -v` may run something"),
        _ => {}
    }
    true
}

fn change_directory(reader: &mut LineReader<'_>, arguments: &[CommandArgument]) {
    let target: Vec<&CommandArgument> = arguments.iter().filter(|word| word.exact() != Some("--")).collect();
    match target.as_slice() {
        [] => reader.change_directory(None),
        [word] if word.exact().is_none_or(|text| !text.starts_with('-') || text == "-") => {
            reader.change_directory(Some(word));
        }
        _ => reader.change_directory(Some(&CommandArgument::Any)),
    }
}

/// `printf -v` and `%n` set variables.
fn read_printf(reader: &mut LineReader<'_>, arguments: &[CommandArgument]) {
    let skipped = usize::from(arguments.first().and_then(CommandArgument::exact) == Some("--"));
    let Some(format) = arguments.get(skipped) else { return };
    let sets = match format {
        CommandArgument::Exact(text) => sets_by_format(text) || skipped == 0 && text.starts_with('-'),
        // Without a name behind it there is nothing that it could set.
        CommandArgument::BeginsWith(text) => {
            arguments.len() > skipped + 1 || skipped == 0 && (text.is_empty() || text.starts_with('-'))
        }
        _ => true,
    };
    if sets {
        reader.unclear("`printf` may set a variable");
        reader.forget_variables();
    }
}

fn sets_by_format(format: &str) -> bool {
    format.replace("%%", "").split('%').skip(1).any(|directive| {
        directive.trim_start_matches(|c: char| "-+ #0123456789.*'hlLjtzq$".contains(c)).starts_with('n')
    })
}

/// `test -v 'a[$(command)]'` runs a command, and so may unknown words. Where its words can only be read in one way, they
/// may be anything.
fn test_is_plain(arguments: &[CommandArgument]) -> bool {
    const COMPARISONS: &[&str] =
        &["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];
    let mut words = arguments;
    if let [rest @ .., CommandArgument::Exact(last)] = words
        && last == "]"
    {
        words = rest;
    }
    if let [CommandArgument::Exact(first), rest @ ..] = words
        && first == "!"
    {
        words = rest;
    }
    let may_be = |text: &str| matches!(text, "-v" | "-R");
    let may_run = |word: &CommandArgument| match word {
        CommandArgument::Exact(text) => may_be(text),
        CommandArgument::OneOf(texts) => texts.iter().any(|text| may_be(text)),
        CommandArgument::BeginsWith(text) => {
            "-v".starts_with(text.as_str()) || "-R".starts_with(text.as_str())
        }
        CommandArgument::FileNames(pattern) => {
            pattern.contains('[') || matches_glob(pattern, "-v") || matches_glob(pattern, "-R")
        }
        CommandArgument::Any => true,
    };
    match words {
        [only] if only.is_one_word() => true,
        [CommandArgument::Exact(sign), word] if word.is_one_word() => !may_be(sign),
        [left, CommandArgument::Exact(sign), right] if left.is_one_word() && right.is_one_word() => {
            COMPARISONS.contains(&sign.as_str()) || !words.iter().any(may_run)
        }
        _ => !words.iter().any(may_run),
    }
}
