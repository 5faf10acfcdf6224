//! What known programs do with their words. A program that is not listed needs a rule.

use super::looking::{read_looking, row_for, takes_any_words};
use super::reader::LineReader;
use super::running::read_running;
use super::{CommandArgument, CommandRole, StartedCommand, builtins, git, wrappers, writing};

/// Programs that print their version or their usage and end.
#[rustfmt::skip]
const VERSIONED: &[&str] = &[
    "node", "npm", "npx", "yarn", "pnpm", "bun", "deno", "python", "python3", "pip", "pip3", "cargo", "rustc", "rustup", "rustfmt", "go", "java",
    "javac", "gcc", "g++", "clang", "make", "cmake", "ninja", "ruby", "perl", "php", "tsc", "uv", "ruff", "gh", "rg", "fd", "jq", "bash", "zsh", "curl",
    "wget", "tar", "sed", "awk", "gawk", "find", "pytest", "kubectl", "terraform", "helm", "mvn", "gradle", "swift", "zig", "ghc", "cabal", "dotnet", "git",
    "ls", "cat", "grep", "sort", "black", "mypy", "eslint", "prettier", "jest", "vim", "openssl", "gzip", "xz", "zip", "unzip", "rsync", "ssh", "clang++",
];
/// Of those, what says it for `-V`, too.
const SHORT_VERSION: &[&str] = &[
    "python", "python3", "pip", "pip3", "cargo", "rustc", "rustup", "rustfmt", "curl", "wget", "ssh", "grep",
    "rg", "fd", "jq", "gawk", "uv", "ruff", "pytest", "mypy", "deno", "gzip", "xz", "zip",
];
/// Of those, what has a command `version`.
const VERSION_COMMANDS: &[&str] = &["go", "cargo", "npm", "kubectl", "terraform", "helm", "zig", "openssl"];
/// Commands of programs that only look, with the options that they may have.
const LOOKING_COMMANDS: &[(&str, &str, &[&str])] = &[
    ("npm", "ls", &["--depth=", "--all", "-a", "--json", "--long", "-l", "--parseable", "-p"]),
    ("npm", "list", &["--depth=", "--all", "-a", "--json", "--long", "-l", "--parseable", "-p"]),
    ("pip", "list", &["--format=", "--not-required", "--user", "--local", "-l"]),
    ("pip3", "list", &["--format=", "--not-required", "--user", "--local", "-l"]),
    ("pip", "show", &["-f", "--files", "--verbose", "-v"]),
    ("pip3", "show", &["-f", "--files", "--verbose", "-v"]),
];

/// What one command with its words does; other commands in its words are visited, too.
pub(super) fn visit_command(
    reader: &mut LineReader<'_>,
    words: Vec<CommandArgument>,
    started_by: Option<&str>,
) {
    let name = match words.first() {
        Some(CommandArgument::Exact(name)) => name.clone(),
        Some(CommandArgument::OneOf(names)) => {
            for name in names.clone() {
                let mut words = words.clone();
                words[0] = CommandArgument::Exact(name);
                visit_command(reader, words, started_by);
            }
            return;
        }
        _ => {
            let command = reader.new_command(words, started_by);
            let text = command.text();
            reader.starts(command);
            return reader.unclear(format!("which program `{text}` starts is only known when it runs"));
        }
    };
    let plain =
        name.strip_prefix("/usr/bin/").or_else(|| name.strip_prefix("/bin/")).unwrap_or(&name).to_string();
    if wrappers::visit(reader, &plain, &words, started_by) {
        return;
    }
    let mut command = reader.new_command(words, started_by);
    read_program(reader, &plain, &mut command);
    reader.starts(command);
}

fn read_program(reader: &mut LineReader<'_>, name: &str, command: &mut StartedCommand) {
    let arguments: Vec<CommandArgument> = command.words[1..].to_vec();
    if builtins::read(reader, name, &arguments, command) {
        return;
    }
    if only_tells(name, &arguments) {
        command.role = CommandRole::ReadsOnly;
        return;
    }
    match name {
        name if takes_any_words(name) => command.role = CommandRole::ReadsOnly,
        "git" => git::read_git(reader, command),
        "sed" => writing::read_sed(reader, &arguments, command),
        "awk" | "gawk" | "mawk" => writing::read_awk(reader, &arguments, command),
        "mkdir" | "touch" | "tee" => writing::write_operands(reader, name, &arguments, command),
        "tar" if writing::read_tar_list(reader, &arguments) => command.role = CommandRole::ReadsOnly,
        "rm" | "rmdir" | "unlink" | "shred" | "truncate" | "mv" | "cp" | "ln" | "install" | "rsync"
        | "dd" | "patch" | "chmod" | "chown" => {
            writing::destroy_operands(reader, name, &arguments);
            read_running(reader, name, &arguments, command);
        }
        _ => match row_for(name, &arguments) {
            Some(row) => read_looking(reader, row, &arguments, command),
            None => read_running(reader, name, &arguments, command),
        },
    }
}

/// Whether it tells its version, how it is used, or what is installed, and ends.
fn only_tells(name: &str, arguments: &[CommandArgument]) -> bool {
    let Some(texts) = arguments.iter().map(CommandArgument::exact).collect::<Option<Vec<&str>>>() else {
        return false;
    };
    match (name, texts.as_slice()) {
        (_, ["--version" | "--help"]) => VERSIONED.contains(&name),
        (_, ["-V"]) => SHORT_VERSION.contains(&name),
        ("rustc", ["--version" | "-V", "--verbose" | "-v"] | ["-vV" | "-Vv"]) => true,
        ("node" | "npm" | "ruby" | "perl" | "php", ["-v"]) => true,
        (_, ["version"]) => VERSION_COMMANDS.contains(&name),
        ("openssl", ["version", "-a" | "-v" | "-d"]) => true,
        ("kill", ["-0", pids @ ..]) => pids.iter().all(|pid| pid.bytes().all(|byte| byte.is_ascii_digit())),
        ("kill", ["-l" | "-L"]) => true,
        (_, [verb, rest @ ..]) => LOOKING_COMMANDS.iter().any(|(program, command, options)| {
            *program == name && command == verb && rest.iter().all(|word| is_listed(options, word))
        }),
        _ => false,
    }
}

fn is_listed(options: &[&str], word: &str) -> bool {
    let fits = |option: &&str| *option == word || option.ends_with('=') && word.starts_with(*option);
    !word.starts_with('-') && !word.contains('/') || options.iter().any(fits)
}

impl CommandArgument {
    pub(in crate::permissions) fn exact(&self) -> Option<&str> {
        match self {
            CommandArgument::Exact(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn may_be_option(&self) -> bool {
        let begins = |text: &str| text.is_empty() || text.starts_with(['-', '*', '?', '[']);
        match self {
            CommandArgument::Exact(text) => text.starts_with('-'),
            CommandArgument::OneOf(texts) => texts.iter().any(|text| text.starts_with('-')),
            CommandArgument::FileNames(text) | CommandArgument::BeginsWith(text) => begins(text),
            CommandArgument::Any => true,
        }
    }

    pub(super) fn is_one_word(&self) -> bool {
        !matches!(self, CommandArgument::Any | CommandArgument::FileNames(_))
    }
}

impl StartedCommand {
    pub(super) fn add_risk(&mut self, why: &str, word: Option<String>) {
        self.risky.push(match &word {
            Some(word) => format!("`{word}`: {why}"),
            None => why.to_string(),
        });
        self.risky_words.push(word);
    }
}
