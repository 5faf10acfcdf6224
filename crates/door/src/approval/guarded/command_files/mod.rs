//! Files that the gate's command lines name or may run: scripts, modules, `package.json` for `npm run`. The lines are
//! read as the shell reads them ([`relaycode_project::command_line`]); what a program makes of its words is a row of
//! `programs`.
//!
//! Holds: rather too many files than too few. What cannot be known before the line runs stands for everything that
//! it could mean, in the worst case the whole project. The order of commands does not matter: every directory that a
//! line goes to and every value that it gives a variable counts for all of it.

mod path_pattern;
mod programs;
#[cfg(test)]
mod tests;
mod variables;

use std::path::Path;

use relaycode_project::command_line::{
    self, CommandConnector, CommandList, CommandRedirect, CommandWord, CompoundKind, ShellCommand,
    SimpleCommand, WordPart,
};

use path_pattern::{ANYTHING, PathPattern, PatternSet};
use programs::{Program, ProgramRole};
use variables::CommandVariables;

/// Command lines in command lines (`sh -c "sh -c …"`) that are looked into.
const MAX_NESTING: usize = 8;

/// What the commands name.
pub(super) struct CommandFiles {
    patterns: PatternSet,
    /// A script of `package.json` is run.
    scripts: bool,
}

impl CommandFiles {
    /// What the lines name in the project at `root`.
    pub(super) fn parse(commands: &[String], root: &Path) -> CommandFiles {
        let mut named = CommandFiles { patterns: PatternSet::default(), scripts: false };
        for command in commands {
            named.add_line(command, root);
            // Written for another system: `scripts\lint.cmd`.
            let separates = |pair: &[u8]| pair[0] == b'\\' && pair[1].is_ascii_alphanumeric();
            if command.as_bytes().windows(2).any(separates) {
                named.add_line(&command.replace('\\', "/"), root);
            }
        }
        named
    }

    fn add_line(&mut self, line: &str, root: &Path) {
        let mut walk = CommandWalk {
            variables: CommandVariables::new(root),
            directories: vec![String::new()],
            found: CommandFiles { patterns: PatternSet::default(), scripts: false },
            nesting: 0,
        };
        // The second time every directory and every value is known.
        walk.visit_line(line);
        walk.visit_line(line);
        self.scripts |= walk.found.scripts;
        self.patterns.extend(walk.found.patterns);
    }

    /// Whether a path, in plain components, is named.
    pub(super) fn names_path(&self, path: &[String]) -> bool {
        let manifest = |name: &String| relaycode_project::protected::matches_component("package.json", name);
        (self.scripts && path.last().is_some_and(manifest)) || self.patterns.matches(path)
    }
}

/// Goes through a command line and collects what it names.
struct CommandWalk {
    variables: CommandVariables,
    /// Where commands may run, below the root.
    directories: Vec<String>,
    found: CommandFiles,
    nesting: usize,
}

impl CommandWalk {
    fn visit_line(&mut self, line: &str) {
        if self.nesting >= MAX_NESTING {
            return self.found.patterns.add(PathPattern::new(ANYTHING));
        }
        self.nesting += 1;
        match command_line::parse(line) {
            Ok(list) => self.visit_list(&list, false),
            Err(_) => self.found.patterns.add(PathPattern::new(ANYTHING)),
        }
        self.nesting -= 1;
    }

    /// `piped`: the input of its first command is what another one printed.
    fn visit_list(&mut self, list: &CommandList, mut piped: bool) {
        for entry in &list.entries {
            match &entry.command {
                ShellCommand::Simple(command) => self.visit_simple(command, piped),
                ShellCommand::Compound(compound) => {
                    compound.words.iter().for_each(|word| self.visit_substitutions(word));
                    if let CompoundKind::For { variable } = &compound.kind {
                        for word in &compound.words {
                            self.variables.assign(variable, word);
                        }
                    }
                    self.visit_redirects(&compound.redirects);
                    compound.bodies.iter().for_each(|body| self.visit_list(body, piped));
                }
            }
            piped = entry.then == CommandConnector::Pipe;
        }
    }

    fn visit_simple(&mut self, command: &SimpleCommand, piped: bool) {
        for (name, value) in &command.assignments {
            self.visit_substitutions(value);
            self.variables.assign(name, value);
            for value in self.variables.resolve(value) {
                self.add_assigned(name, &value);
            }
        }
        command.words.iter().for_each(|word| self.visit_substitutions(word));
        self.visit_redirects(&command.redirects);
        let words: Vec<Vec<String>> = command.words.iter().map(|word| self.variables.resolve(word)).collect();
        let input = command.redirects.iter().find(|redirect| redirect.operator.starts_with('<'));
        self.visit_words(&words, CommandInput { piped, redirect: input });
    }

    /// Commands in a word run as well.
    fn visit_substitutions(&mut self, word: &CommandWord) {
        for part in &word.parts {
            match part {
                WordPart::Substitution(list) => self.visit_list(list, false),
                WordPart::Expansion { rest, .. } | WordPart::Arithmetic(rest) => {
                    self.visit_substitutions(rest);
                }
                WordPart::Literal { .. } | WordPart::Parameter(_) => {}
            }
        }
    }

    fn visit_redirects(&mut self, redirects: &[CommandRedirect]) {
        for redirect in redirects {
            self.visit_substitutions(&redirect.target);
            if !redirect.operator.starts_with("<<") {
                for word in self.variables.resolve(&redirect.target) {
                    self.add_argument(&word, false);
                }
            }
        }
    }

    /// A program and its arguments, each with the values it may have.
    fn visit_words(&mut self, words: &[Vec<String>], input: CommandInput<'_>) {
        let Some((names, arguments)) = words.split_first() else { return };
        for name in names {
            self.add_file(name);
            let base = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
            let base = base.trim_end_matches(".exe").trim_end_matches(".cmd");
            let program = programs::find(base);
            self.visit_program(program, arguments, input);
        }
    }

    fn visit_program(&mut self, program: &Program, arguments: &[Vec<String>], input: CommandInput<'_>) {
        let role = program.role;
        if role == ProgramRole::Plain {
            return;
        }
        for word in program.directory_arguments(arguments) {
            self.enter(word);
        }
        for word in arguments.iter().flatten() {
            self.add_argument(word, program.only_looks());
        }
        match role {
            ProgramRole::Plain | ProgramRole::Checker | ProgramRole::Reader => {}
            ProgramRole::Assigner => {
                for (name, value) in arguments.iter().flatten().filter_map(|word| word.split_once('=')) {
                    self.variables.assign_text(name, value);
                    self.add_assigned(name, value);
                }
            }
            ProgramRole::ChangeDirectory => match arguments.iter().find(|word| !is_option(word)) {
                Some(words) => words.iter().for_each(|word| self.enter(word)),
                None => self.enter(ANYTHING),
            },
            ProgramRole::Evaluator => self.visit_code_words(arguments),
            ProgramRole::Shell | ProgramRole::Interpreter { .. } => {
                self.visit_interpreter(program, arguments, input);
            }
            ProgramRole::PackageRunner => {
                self.found.scripts = true;
                self.visit_wrapped(program, arguments, input);
            }
            ProgramRole::Wrapper | ProgramRole::Finder => self.visit_wrapped(program, arguments, input),
        }
    }

    /// The command that another one runs.
    fn visit_wrapped(&mut self, program: &Program, arguments: &[Vec<String>], input: CommandInput<'_>) {
        let mut inner = program.wrapped_command(arguments).to_vec();
        if inner.is_empty() {
            return;
        }
        if program.feeds_arguments() {
            inner.push(vec![ANYTHING.to_string()]);
        }
        self.visit_words(&inner, input);
    }

    /// An interpreter: the code it is given, the script it is told to run, or its input.
    fn visit_interpreter(&mut self, program: &Program, arguments: &[Vec<String>], input: CommandInput<'_>) {
        let shell = program.role == ProgramRole::Shell;
        let Some(arguments) = program.behind_subcommand(arguments) else { return };
        let mut at = 0;
        while let Some(words) = arguments.get(at) {
            at += 1;
            let [word] = words.as_slice() else {
                return words.iter().for_each(|word| self.add_script(program, word));
            };
            if word == "-" {
                continue;
            }
            if !is_option(words) && !program.takes_code(word) {
                return self.add_script(program, word);
            }
            if program.takes_code(word) {
                return match arguments.get(at) {
                    Some(code) if shell => self.visit_code_words(std::slice::from_ref(code)),
                    Some(code) => code.iter().for_each(|code| self.add_code(code)),
                    None => {}
                };
            }
            if program.takes_module(word) {
                // `-m tools.lint`, `-mtools.lint`
                let attached = word.get(2..).filter(|name| !name.is_empty() && !word.starts_with("--"));
                let names = attached.map(|name| vec![name.to_string()]);
                let names = names.or_else(|| arguments.get(at).cloned()).unwrap_or_default();
                return names.iter().for_each(|name| self.add_module(name));
            }
            at += usize::from(program.takes_value(word));
        }
        // Nothing to run was named: it comes from the input.
        match input.redirect.filter(|redirect| redirect.operator.starts_with("<<")) {
            Some(redirect) => {
                for code in self.variables.resolve(&redirect.target) {
                    if shell { self.visit_code(&code) } else { self.add_code(&code) }
                }
            }
            None if input.piped => self.found.patterns.add(PathPattern::new(ANYTHING)),
            None => {}
        }
    }

    /// Words that are a command line when they are put together.
    fn visit_code_words(&mut self, words: &[Vec<String>]) {
        if words.iter().any(|word| word.len() != 1) {
            return self.found.patterns.add(PathPattern::new(ANYTHING));
        }
        let code: Vec<&str> = words.iter().flatten().map(String::as_str).collect();
        self.visit_code(&code.join(" "));
    }

    fn visit_code(&mut self, code: &str) {
        if code.contains(ANYTHING) {
            self.found.patterns.add(PathPattern::new(ANYTHING));
        }
        self.visit_line(code);
    }

    fn enter(&mut self, directory: &str) {
        /// Directories that are told apart.
        const MOST: usize = 16;
        for from in self.directories.clone() {
            let joined = path_pattern::join(&from, directory);
            if self.directories.len() >= MOST {
                self.directories = vec![ANYTHING.to_string()];
            } else if !self.directories.contains(&joined) {
                self.directories.push(joined);
            }
        }
    }

    /// A value that a variable gets: what it names, and the directories that programs are looked for in.
    fn add_assigned(&mut self, name: &str, value: &str) {
        let below = match name {
            "PATH" => "*",
            "PYTHONPATH" | "NODE_PATH" | "PERL5LIB" | "RUBYLIB" | "LUA_PATH" | "CLASSPATH" | "GOPATH"
            | "LD_LIBRARY_PATH" => ANYTHING,
            _ => return self.add_argument(value, false),
        };
        for directory in value.split(':') {
            // Somewhere else: what the environment says.
            if directory == ANYTHING {
                continue;
            }
            for from in &self.directories {
                let inside = path_pattern::join(&path_pattern::join(from, directory), below);
                self.found.patterns.add(PathPattern::new(&inside));
            }
        }
    }

    /// A word that may name a file, or hold the name of one: `--config=a.json`, `-fRules`. Of a checker only names
    /// count: patterns are what it checks.
    fn add_argument(&mut self, word: &str, checked: bool) {
        let attached = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let attached = attached.and_then(|rest| rest.char_indices().nth(1).map(|(at, _)| &rest[at..]));
        let whole = (!word.starts_with('-')).then_some(word);
        let pieces = word.split(['=', ',', ':']).filter(|piece| *piece != word && !piece.starts_with('-'));
        for name in whole.into_iter().chain(attached).chain(pieces) {
            if !(checked && name.contains('*')) {
                self.add_file(name);
            }
        }
    }

    fn add_file(&mut self, name: &str) {
        self.found.patterns.add_name(name, &self.directories);
    }

    /// A script by the name that an interpreter is given: endings are left open, and a directory has a main file.
    fn add_script(&mut self, program: &Program, name: &str) {
        self.add_file(name);
        let ProgramRole::Interpreter { main_files, .. } = program.role else { return };
        let name = name.trim_end_matches('/');
        self.add_file(&format!("{name}.*"));
        for main in main_files.split(' ').filter(|main| !main.is_empty()) {
            // At the root itself: `node .`.
            for from in &self.directories {
                let inside = path_pattern::join(&path_pattern::join(from, name), main);
                self.found.patterns.add(PathPattern::new(&inside));
            }
            self.add_file(&format!("{name}/{main}"));
        }
    }

    /// `-m a.b`: the module, its packages, and what makes it run.
    fn add_module(&mut self, name: &str) {
        let path = name.replace('.', "/");
        self.found.patterns.add(PathPattern::anywhere(&format!("{path}.*")));
        self.found.patterns.add(PathPattern::anywhere(&format!("{path}/__main__.*")));
        let mut package = path.as_str();
        loop {
            self.found.patterns.add(PathPattern::anywhere(&format!("{package}/__init__.*")));
            match package.rsplit_once('/') {
                Some((outer, _)) => package = outer,
                None => break,
            }
        }
    }

    /// Code of another language: every name in it may be that of a file or module. What it looks for at run time may be
    /// any file.
    fn add_code(&mut self, code: &str) {
        let parts = code.split(|c: char| !(c.is_alphanumeric() || "_-./\\*".contains(c)));
        for part in parts.map(|part| part.trim_matches(['.', '\\'])).filter(|part| !part.is_empty()) {
            if part == ANYTHING || programs::DYNAMIC_CODE.split(' ').any(|word| part.contains(word)) {
                self.found.patterns.add(PathPattern::new(ANYTHING));
            }
            if part.contains('/') {
                self.add_file(part);
                self.add_file(&format!("{part}.*"));
            } else if part.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                self.add_file(part);
                self.found.patterns.add(PathPattern::new(&format!("{}.*", part.replace('.', "/"))));
                self.found.patterns.add(PathPattern::new(&format!("{}/__init__.*", part.replace('.', "/"))));
            }
        }
    }
}

#[derive(Clone, Copy)]
struct CommandInput<'a> {
    piped: bool,
    redirect: Option<&'a CommandRedirect>,
}

/// Whether a word is an option, by all of its values.
fn is_option(values: &[String]) -> bool {
    !values.is_empty() && values.iter().all(|value| value.starts_with('-'))
}
