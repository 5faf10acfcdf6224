//! Goes through a parsed line: directories, variables, redirections, and every command in it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::words::VariableValue;
use super::{
    CommandArgument, CommandRole, DestructiveAct, LineReading, LineTarget, PathNamer, PathUse, PathUseKind,
    StartedCommand, environment, looking, programs,
};
use crate::command_line::{
    CommandConnector, CommandList, CommandRedirect, CommandWord, CompoundKind, MAX_BYTES, ShellCommand,
    ShellDialect, SimpleCommand, parse_strictly,
};
use crate::permissions::PermissionPlace;
use crate::permissions::path_pattern::{normalise, resolve_dots};

/// Lines within lines (`sh -c "eval …"`) that are looked into.
const MAX_NESTING: usize = 8;
/// Commands, files and reasons that one reading lists.
const MAX_ENTRIES: usize = 2_000;
/// Directories in which one command may run.
const MAX_DIRECTORIES: usize = 8;

/// What a line for bash would do.
pub fn read_line(line: &str, place: &PermissionPlace) -> LineReading {
    let mut reader = LineReader::new(place);
    reader.visit_text(line, ShellDialect::Bash);
    environment::check_exported(&mut reader);
    reader.reading
}

/// What a program with these arguments would do, without a shell.
pub fn read_arguments(words: &[String], place: &PermissionPlace) -> LineReading {
    let mut reader = LineReader::new(place);
    if words.iter().map(String::len).sum::<usize>() > MAX_BYTES {
        reader.unclear("the command is too long");
    } else {
        let words = words.iter().map(|word| CommandArgument::Exact(word.clone())).collect();
        reader.without_shell = true;
        programs::visit_command(&mut reader, words, None);
    }
    environment::check_exported(&mut reader);
    reader.reading
}

/// What is known while a line is read.
pub(super) struct LineReader<'a> {
    pub(super) place: &'a PermissionPlace,
    pub(super) reading: LineReading,
    /// Where commands run now; `None` among them: anywhere.
    pub(super) directories: Vec<Option<PathBuf>>,
    pub(super) variables: HashMap<String, Option<VariableValue>>,
    /// How often the line names each variable in front of a `=`, or sets it otherwise.
    pub(super) setters: HashMap<String, usize>,
    pub(super) dialect: ShellDialect,
    nesting: usize,
    /// Builtins of the shell are none.
    pub(super) without_shell: bool,
    /// The input of the command comes from another one.
    pub(super) is_piped: bool,
    /// Variables that programs get of which nobody knows what they make of them.
    pub(super) exported: Vec<String>,
}

impl<'a> LineReader<'a> {
    fn new(place: &'a PermissionPlace) -> LineReader<'a> {
        LineReader {
            place,
            reading: LineReading::default(),
            directories: vec![Some(normalise(&place.directory))],
            variables: HashMap::new(),
            setters: HashMap::new(),
            dialect: ShellDialect::Bash,
            nesting: 0,
            without_shell: false,
            is_piped: false,
            exported: Vec::new(),
        }
    }

    pub(super) fn unclear(&mut self, why: impl Into<String>) {
        let why = why.into();
        if self.reading.unclear.len() < MAX_ENTRIES && !self.reading.unclear.contains(&why) {
            self.reading.unclear.push(why);
        }
    }

    pub(super) fn is_posix(&self) -> bool {
        self.dialect == ShellDialect::Posix
    }

    /// A line, also one in another.
    pub(super) fn visit_text(&mut self, text: &str, dialect: ShellDialect) {
        if self.nesting >= MAX_NESTING {
            return self.unclear("lines lie in each other too deeply");
        }
        // Blanks that are none for the shell, and what a terminal would not show.
        let odd =
            |c: char| (c.is_control() && c != '\n' && c != '\t') || (!c.is_ascii() && c.is_whitespace());
        if text.chars().any(|c| odd(c) || relaycode_text::hidden::is_hidden(c)) {
            return self.unclear("it holds a character that cannot be seen");
        }
        let before = (self.dialect, std::mem::take(&mut self.variables), std::mem::take(&mut self.setters));
        let without_shell = std::mem::replace(&mut self.without_shell, false);
        self.dialect = dialect;
        self.nesting += 1;
        match parse_strictly(text, dialect) {
            Ok(list) => {
                self.count_setters(&list);
                self.visit_list(&list);
            }
            Err(error) => self.unclear(error.to_string()),
        }
        self.nesting -= 1;
        (self.dialect, self.variables, self.setters) = before;
        self.without_shell = without_shell;
    }

    /// Commands of a list. Behind `cd` with `&&` the new directory holds, behind any other both may.
    pub(super) fn visit_list(&mut self, list: &CommandList) {
        let mut seen = self.directories.clone();
        let mut previous = CommandConnector::Sequence;
        for entry in &list.entries {
            let before = self.directories.clone();
            let in_pipe = previous == CommandConnector::Pipe;
            self.is_piped = in_pipe;
            let own_process =
                in_pipe || matches!(entry.then, CommandConnector::Pipe | CommandConnector::Background);
            let always = matches!(previous, CommandConnector::Sequence | CommandConnector::Background);
            self.visit_entry(&entry.command, always && !own_process);
            self.is_piped = false;
            if own_process {
                self.directories = before;
            }
            for directory in &self.directories {
                if !seen.contains(directory) {
                    seen.push(directory.clone());
                }
            }
            if entry.then != CommandConnector::And {
                self.directories.clone_from(&seen);
            }
            if self.directories.len() > MAX_DIRECTORIES {
                self.directories = vec![None];
            }
            previous = entry.then;
        }
        self.directories = seen;
    }

    fn visit_entry(&mut self, command: &ShellCommand, counts: bool) {
        match command {
            ShellCommand::Simple(simple) => self.visit_simple(simple, counts),
            ShellCommand::Compound(compound) => {
                let before = self.directories.clone();
                let words: Vec<Vec<CommandArgument>> = match &compound.kind {
                    CompoundKind::Arithmetic => {
                        compound.words.iter().for_each(|word| self.check_arithmetic(word));
                        Vec::new()
                    }
                    _ => compound.words.iter().map(|word| self.resolve(word)).collect(),
                };
                match &compound.kind {
                    CompoundKind::Test => self.check_test(&words.concat()),
                    CompoundKind::For { variable } => self.set_loop_variable(variable, &words.concat()),
                    CompoundKind::Function { .. } => self.unclear("it defines a function"),
                    _ => {}
                }
                self.visit_redirects(&compound.redirects);
                let known = self.variables.clone();
                // The next round begins where this one ends.
                let repeats = matches!(
                    compound.kind,
                    CompoundKind::Loop | CompoundKind::For { .. } | CompoundKind::Arithmetic
                );
                if repeats && compound.bodies.iter().any(may_change_directory) {
                    self.directories = vec![None];
                }
                for body in &compound.bodies {
                    self.visit_list(body);
                }
                // What is set in a branch may not have been set.
                if matches!(compound.kind, CompoundKind::Subshell) {
                    self.directories = before;
                }
                self.variables = known;
                if let CompoundKind::For { variable } = &compound.kind {
                    self.variables.insert(variable.clone(), None);
                }
            }
        }
    }

    /// A line that runs at some time, wherever the shell is then.
    pub(super) fn visit_later(&mut self, text: &str) {
        let before = std::mem::replace(&mut self.directories, vec![None]);
        self.visit_text(text, ShellDialect::Bash);
        // It may run before anything that follows.
        if self.directories == [None] {
            self.directories = before;
        } else {
            self.directories = vec![None];
        }
    }

    fn visit_simple(&mut self, command: &SimpleCommand, counts: bool) {
        for (name, value) in &command.assignments {
            let value = self.resolve_one(value);
            environment::check_assignment(self, name, &value, !command.words.is_empty());
            if command.words.is_empty() {
                self.set_variable(name, value, counts);
            }
        }
        let words: Vec<CommandArgument> = command.words.iter().flat_map(|word| self.resolve(word)).collect();
        // `{name}>file` opens a descriptor, and is no word.
        let is_descriptor = |word: &CommandWord| {
            word.bare().is_some_and(|text| text.len() > 2 && text.starts_with('{') && text.ends_with('}'))
        };
        if !command.redirects.is_empty() && command.words.iter().any(is_descriptor) {
            self.unclear("a word in braces beside a redirection");
        }
        self.visit_redirects(&command.redirects);
        if !words.is_empty() {
            programs::visit_command(self, words, None);
        }
    }

    fn visit_redirects(&mut self, redirects: &[CommandRedirect]) {
        for redirect in redirects {
            let target = self.resolve_one(&redirect.target);
            match redirect.operator {
                "<<" | "<<-" | "<<<" => continue,
                ">&" | "<&" => {
                    if matches!(&target, CommandArgument::Exact(text) if text.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
                    {
                        continue;
                    }
                }
                _ => {}
            }
            let kind = match redirect.operator {
                "<" | "<&" => PathUseKind::Read,
                ">>" | "&>>" => PathUseKind::Append,
                _ => PathUseKind::Write,
            };
            if may_be_connection(&target) {
                self.unclear("a redirection may open a connection");
                continue;
            }
            if kind == PathUseKind::Read {
                looking::reads(self, Some(&target), false);
                continue;
            }
            for target in self.targets(&target) {
                if kind == PathUseKind::Write {
                    self.destroys(redirect.operator, target.clone());
                }
                self.uses(kind, target, PathNamer::Line);
            }
        }
    }

    pub(super) fn visit_substitution(&mut self, list: &CommandList) {
        let before = (self.directories.clone(), self.variables.clone());
        let piped = self.is_piped;
        self.visit_list(list);
        (self.directories, self.variables) = before;
        self.is_piped = piped;
    }

    /// A command that runs, with what is known of it.
    pub(super) fn starts(&mut self, command: StartedCommand) {
        if self.reading.commands.len() >= MAX_ENTRIES {
            return self.unclear("it starts too many commands");
        }
        self.reading.commands.push(command);
    }

    /// The command that is being read, as the one that names a file.
    pub(super) fn next_writer(&self) -> PathNamer {
        PathNamer::Writer(self.reading.commands.len())
    }

    pub(super) fn new_command(
        &self,
        words: Vec<CommandArgument>,
        started_by: Option<&str>,
    ) -> StartedCommand {
        StartedCommand {
            words,
            started_by: started_by.map(ToString::to_string),
            role: CommandRole::Other,
            directories: self.directories.clone(),
            subcommand_words: None,
            risky: Vec::new(),
            risky_words: Vec::new(),
            unlisted: false,
        }
    }

    pub(super) fn uses(&mut self, kind: PathUseKind, target: LineTarget, named_by: PathNamer) {
        let used = PathUse { kind, target, named_by };
        if self.reading.paths.len() >= MAX_ENTRIES {
            return self.unclear("it uses too many files");
        }
        self.reading.paths.push(used);
    }

    pub(super) fn destroys(&mut self, act: &str, target: LineTarget) {
        self.adds_act(DestructiveAct { act: act.to_string(), target, spares_ignored: false });
    }

    /// An act somewhere in the project, by names that only the program knows.
    pub(super) fn destroys_uncommitted(&mut self, act: &str) {
        let target = LineTarget::Beneath(self.place.root.clone());
        self.adds_act(DestructiveAct { act: act.to_string(), target, spares_ignored: true });
    }

    fn adds_act(&mut self, act: DestructiveAct) {
        if self.reading.destructive.len() < MAX_ENTRIES {
            self.reading.destructive.push(act);
        }
    }

    /// The files that a word names, from every directory in which it may be read.
    pub(super) fn targets(&self, word: &CommandArgument) -> Vec<LineTarget> {
        let texts = match word {
            CommandArgument::Exact(text) => vec![(text, false)],
            CommandArgument::OneOf(texts) => texts.iter().map(|text| (text, false)).collect(),
            CommandArgument::FileNames(pattern) => vec![(pattern, true)],
            CommandArgument::BeginsWith(prefix) => return self.targets_beneath(prefix),
            CommandArgument::Any => return vec![LineTarget::Unknown],
        };
        let mut targets = Vec::new();
        for (text, is_pattern) in texts {
            for directory in &self.directories {
                let path = match (directory, text.starts_with('/')) {
                    (_, true) => resolve_dots(Path::new(text)),
                    (Some(directory), false) => resolve_dots(&directory.join(text)),
                    (None, false) => {
                        targets.push(LineTarget::Unknown);
                        continue;
                    }
                };
                targets.push(if is_pattern { LineTarget::Pattern(path) } else { LineTarget::Path(path) });
            }
        }
        targets
    }

    /// `src/…`: what follows may also go up again.
    fn targets_beneath(&self, _prefix: &str) -> Vec<LineTarget> {
        vec![LineTarget::Unknown]
    }

    pub(super) fn change_directory(&mut self, word: Option<&CommandArgument>) {
        let Some(CommandArgument::Exact(text)) = word else {
            self.directories = match word {
                None => vec![self.place.home.clone()],
                Some(_) => vec![None],
            };
            return;
        };
        if text == "-" {
            self.directories = vec![None];
            return;
        }
        let moved = self.directories.iter().map(|directory| match (directory, text.starts_with('/')) {
            (_, true) => Some(normalise(Path::new(text))),
            (Some(directory), false) => Some(normalise(&directory.join(text))),
            (None, false) => None,
        });
        self.directories = moved.collect();
    }

    /// Where a program works that is told to change to this directory, or to take this file: `..` is what the disk says.
    pub(super) fn directories_behind(&self, word: Option<&CommandArgument>) -> Vec<Option<PathBuf>> {
        let Some(CommandArgument::Exact(text)) = word else { return vec![None] };
        let moved = self.directories.iter().map(|directory| match (directory, text.starts_with('/')) {
            (_, true) => Some(resolve_dots(Path::new(text))),
            (Some(directory), false) => Some(resolve_dots(&directory.join(text))),
            (None, false) => None,
        });
        moved.collect()
    }
}

/// Whether a list may leave the shell in another directory.
fn may_change_directory(list: &CommandList) -> bool {
    list.entries.iter().any(|entry| match &entry.command {
        ShellCommand::Simple(simple) => match simple.words.first() {
            Some(word) => word.literal().is_none_or(|name| {
                matches!(
                    name.as_str(),
                    "cd" | "pushd"
                        | "popd"
                        | "eval"
                        | "source"
                        | "."
                        | "command"
                        | "builtin"
                        | "time"
                        | "trap"
                )
            }),
            None => false,
        },
        // It has a process of its own.
        ShellCommand::Compound(compound) if matches!(compound.kind, CompoundKind::Subshell) => false,
        ShellCommand::Compound(compound) => compound.bodies.iter().any(may_change_directory),
    })
}

/// Whether bash would open a connection for a redirection.
fn may_be_connection(target: &CommandArgument) -> bool {
    const CONNECTIONS: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];
    let begins = |text: &String| CONNECTIONS.iter().any(|connection| text.starts_with(connection));
    match target {
        CommandArgument::Exact(text) => begins(text),
        CommandArgument::OneOf(texts) => texts.iter().any(begins),
        CommandArgument::BeginsWith(text) => {
            begins(text) || CONNECTIONS.iter().any(|connection| connection.starts_with(text.as_str()))
        }
        // A pattern that matches no file stays what it is.
        CommandArgument::FileNames(text) => begins(text),
        CommandArgument::Any => true,
    }
}
