//! Files that the gate's command lines name: scripts, modules, and `package.json` for `npm run`.

use relaycode_change::proposal::path::plain_spelling;

/// What the commands name.
pub(super) struct CommandFiles {
    files: Vec<CommandFile>,
    /// A script of `package.json` is run.
    scripts: bool,
}

struct CommandFile {
    components: Vec<String>,
    /// It was written as a path or with an ending, so it may also lie in a directory that the command goes to.
    any_directory: bool,
    /// The ending is left open: `node scripts/lint`, `python -m tools.lint`.
    any_extension: bool,
}

impl CommandFiles {
    pub(super) fn parse(commands: &[String]) -> CommandFiles {
        let mut named = CommandFiles { files: Vec::new(), scripts: false };
        for command in commands {
            let separators = |c: char| c.is_whitespace() || ";&|()<>\"'`=,".contains(c);
            let words: Vec<&str> = command.split(separators).filter(|word| !word.is_empty()).collect();
            for (at, word) in words.iter().enumerate() {
                named.add_word(word, at.checked_sub(1).map(|before| words[before]));
            }
        }
        named
    }

    fn add_word(&mut self, word: &str, before: Option<&str>) {
        let runner = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
        let runner = runner.trim_end_matches(".exe").trim_end_matches(".cmd");
        self.scripts |=
            "npm pnpm yarn bun turbo nx lerna wireit npm-run-all".split(' ').any(|name| name == runner);
        if word.starts_with('-') {
            return;
        }
        if before == Some("-m") {
            let module: Vec<String> = word.split('.').map(plain_spelling).collect();
            self.files.push(CommandFile { components: module, any_directory: true, any_extension: true });
            return;
        }
        let parts = word.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".."));
        let components: Vec<String> = parts.map(plain_spelling).collect();
        if components.is_empty() {
            return;
        }
        let path = word.contains(['/', '\\']);
        let anywhere = path || word.contains('.');
        self.files.push(CommandFile { components, any_directory: anywhere, any_extension: path });
    }

    /// Whether a path, in plain components, is named.
    pub(super) fn names_path(&self, path: &[String]) -> bool {
        let manifest = |name: &String| super::matching::matches_component("package.json", name);
        (self.scripts && path.last().is_some_and(manifest))
            || self.files.iter().any(|file| file.matches_path(path))
    }
}

impl CommandFile {
    fn matches_path(&self, path: &[String]) -> bool {
        let ends = |path: &[String]| {
            if self.any_directory { path.ends_with(&self.components) } else { path == self.components }
        };
        if ends(path) {
            return true;
        }
        let Some((name, directories)) = path.split_last().filter(|_| self.any_extension) else {
            return false;
        };
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        if matches!(stem, "__main__" | "__init__" | "index") && ends(directories) {
            return true;
        }
        let mut without = directories.to_vec();
        without.push(stem.to_owned());
        ends(&without)
    }
}
