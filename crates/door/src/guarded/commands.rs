//! Files that the gate's command lines name: scripts, modules, and `package.json` for `npm run`.

use relaycode_change::path::plain_spelling;

/// What the commands name.
pub(super) struct Named {
    files: Vec<File>,
    /// A script of `package.json` is run.
    scripts: bool,
}

struct File {
    components: Vec<String>,
    /// It was written as a path or with an ending, so it may also lie in a directory that the command goes to.
    anywhere: bool,
    /// The ending is left open: `node scripts/lint`, `python -m tools.lint`.
    open: bool,
}

impl Named {
    pub(super) fn read(commands: &[String]) -> Named {
        let mut named = Named { files: Vec::new(), scripts: false };
        for command in commands {
            let separators = |c: char| c.is_whitespace() || ";&|()<>\"'`=,".contains(c);
            let words: Vec<&str> = command.split(separators).filter(|word| !word.is_empty()).collect();
            for (at, word) in words.iter().enumerate() {
                named.word(word, at.checked_sub(1).map(|before| words[before]));
            }
        }
        named
    }

    fn word(&mut self, word: &str, before: Option<&str>) {
        let runner = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
        let runner = runner.trim_end_matches(".exe").trim_end_matches(".cmd");
        self.scripts |= matches!(
            runner,
            "npm" | "pnpm" | "yarn" | "bun" | "turbo" | "nx" | "lerna" | "wireit" | "npm-run-all"
        );
        if word.starts_with('-') {
            return;
        }
        if before == Some("-m") {
            let module: Vec<String> = word.split('.').map(plain_spelling).collect();
            self.files.push(File { components: module, anywhere: true, open: true });
            return;
        }
        let components: Vec<String> = word
            .split(['/', '\\'])
            .filter(|part| !matches!(*part, "" | "." | ".."))
            .map(plain_spelling)
            .collect();
        if components.is_empty() {
            return;
        }
        let path = word.contains(['/', '\\']);
        let anywhere = path || word.contains('.');
        self.files.push(File { components, anywhere, open: path });
    }

    /// Whether a path, in plain components, is named.
    pub(super) fn names(&self, path: &[String]) -> bool {
        if self.scripts
            && path.last().is_some_and(|name| super::pattern::component_fits("package.json", name))
        {
            return true;
        }
        self.files.iter().any(|file| file.is(path))
    }
}

impl File {
    fn is(&self, path: &[String]) -> bool {
        let ends = |path: &[String]| {
            if self.anywhere { path.ends_with(&self.components) } else { path == self.components }
        };
        if ends(path) {
            return true;
        }
        let Some((name, directories)) = path.split_last().filter(|_| self.open) else { return false };
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        if matches!(stem, "__main__" | "__init__" | "index") && ends(directories) {
            return true;
        }
        let mut without = directories.to_vec();
        without.push(stem.to_owned());
        ends(&without)
    }
}
