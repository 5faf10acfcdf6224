//! git's configuration files, as far as it has to be known what they name and whether they are plain.

use std::path::{Path, PathBuf};

/// Keys by which nothing runs. `*` stands for any name in the middle.
const PLAIN_KEYS: &[&str] = &[
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.safecrlf",
    "core.eol",
    "core.quotepath",
    "extensions.objectformat",
    "extensions.refstorage",
    "user.name",
    "user.email",
    "init.defaultbranch",
    "gc.auto",
    "pull.rebase",
    "commit.gpgsign",
    "tag.gpgsign",
    "branch.*.remote",
    "branch.*.merge",
    "remote.*.url",
    "remote.*.fetch",
];

/// A key in lower case, but for its middle, and its value.
type GitConfigEntry = (String, String);

/// Whether nothing runs by what a configuration says. What is not understood may be anything.
pub(super) fn is_plain(text: &str) -> bool {
    let Some(entries) = read(text) else { return false };
    entries.iter().all(|(key, value)| {
        let (section, rest) = key.split_once('.').unwrap_or((key, ""));
        let general = match rest.rsplit_once('.') {
            Some((_, name)) => format!("{section}.*.{name}"),
            None => key.clone(),
        };
        // `ext::sh -c …` is a program, also with quotes within, and what begins with a hyphen an option of one.
        let is_address = !value.contains("::") && !value.starts_with('-') && !value.contains(['"', '\\']);
        PLAIN_KEYS.contains(&general.as_str()) && (!general.ends_with(".url") || is_address)
    })
}

/// What a configuration names beside itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GitConfigTargets {
    /// Directories of hooks.
    pub(super) hooks: Vec<PathBuf>,
    /// Files that are read as if they stood in it.
    pub(super) included: Vec<PathBuf>,
}

/// What the configuration at `path` names. `top` is where the repository's files are.
pub(super) fn targets(text: &str, path: &Path, top: &Path, user_home: Option<&Path>) -> GitConfigTargets {
    let mut found = GitConfigTargets::default();
    let resolve = |value: &str, base: &Path| match (value.strip_prefix("~/"), user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => base.join(value),
    };
    let folder = path.parent().unwrap_or(Path::new("/"));
    for (key, value) in lines(text).filter_map(|line| line.entry) {
        let is_include = key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path"));
        if key == "core.hookspath" {
            found.hooks.push(resolve(&value, top));
        } else if is_include {
            found.included.push(resolve(&value, folder));
        }
    }
    found
}

/// Every entry; `None` if a line is anything else than a section, an entry, or a remark of its own.
fn read(text: &str) -> Option<Vec<GitConfigEntry>> {
    let mut entries = Vec::new();
    for line in lines(text) {
        if !line.is_plain {
            return None;
        }
        entries.extend(line.entry);
    }
    Some(entries)
}

struct ConfigLine {
    entry: Option<GitConfigEntry>,
    is_plain: bool,
}

fn lines(text: &str) -> impl Iterator<Item = ConfigLine> + '_ {
    let mut section = String::new();
    text.split('\n').map(move |line| {
        let mut line = line.trim();
        let mut is_plain = !line.ends_with('\\');
        if line.is_empty() || line.starts_with(['#', ';']) {
            return ConfigLine { entry: None, is_plain };
        }
        if line.starts_with('[') {
            let Some(end) = line.rfind(']') else { return ConfigLine { entry: None, is_plain: false } };
            section = section_name(&line[1..end]);
            is_plain &= !section.is_empty() && !line[1..end].contains(['[', ']', '\\']);
            line = line[end + 1..].trim();
            if line.is_empty() {
                return ConfigLine { entry: None, is_plain };
            }
            // An entry on the line of its section.
            is_plain = false;
        }
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let name = name.trim().to_ascii_lowercase();
        is_plain &= !section.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let value = value.trim().trim_matches('"').to_string();
        ConfigLine { entry: Some((format!("{section}.{name}"), value)), is_plain }
    })
}

/// `remote "origin"` as `remote.origin`; empty if it is none.
fn section_name(text: &str) -> String {
    let (name, middle) = match text.split_once('"') {
        Some((name, middle)) => (name.trim(), middle.strip_suffix('"').unwrap_or_default()),
        None => (text.trim(), ""),
    };
    let name = name.to_ascii_lowercase();
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b)) {
        return String::new();
    }
    if middle.is_empty() { name } else { format!("{name}.{middle}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_writes_by_itself_is_plain_and_what_runs_something_is_not() {
        let usual = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";
        let cloned = "[remote \"origin\"]\n\turl = ../there\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";
        for plain in ["", usual, cloned, "# mine\r\n[user]\r\n\tname = \"A B\"\r\n"] {
            assert!(is_plain(plain), "{plain}");
        }
        for running in [
            "[core]\n\tfsmonitor = ./x\n",
            "[core] fsmonitor = ./x\n",
            "[core]\n\tbare = false\\\nx\n",
            "[include]\n\tpath = x\n",
            "[remote \"o\"]\n\turl = ext::sh -c x\n",
            "[remote \"o\"]\n\turl = e\"xt:\":sh -c x\n",
            "[remote \"o\"]\n\tuploadpack = x\n",
            "[filter \"a\"]\n\tclean = x\n",
            "[core]\n\thooksPath = x\n",
            "[core.fsmonitor]\n\tbare = x\n",
            "core]\n",
            "\u{feff}[core]\n",
        ] {
            assert!(!is_plain(running), "{running}");
        }
    }

    #[test]
    fn what_a_configuration_names_is_found_from_where_git_looks() {
        let text = "[core]\n\thooksPath = tools/hooks\n[include] path = ../shared\n[includeIf \"gitdir:~/x\"]\n\tpath = ~/y\n";
        let found = targets(text, Path::new("/p/.git/config"), Path::new("/p"), Some(Path::new("/home/u")));
        assert_eq!(found.hooks, [PathBuf::from("/p/tools/hooks")]);
        assert_eq!(found.included, [PathBuf::from("/p/.git/../shared"), PathBuf::from("/home/u/y")]);
    }
}
