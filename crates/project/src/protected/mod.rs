//! Protected names: files that run, steer or betray something. One list ([`patterns`]), for whoever asks before it changes them
//! and for whoever keeps a command from them. Variables that hold secrets are a list of their own ([`variables`]).

mod home;
mod matching;
mod patterns;
mod variables;

use std::path::Path;

pub(crate) use home::{RUN_LATER_IN_HOME, SECRETS_IN_HOME};
pub use matching::{matches_component, matches_path};
pub use patterns::{ALWAYS_GUARDED, GATE_GUARDED};
use patterns::{ASKED_REASONS, FENCED_IN_GIT, FENCED_REASONS};
pub use variables::SECRET_VARIABLES;

/// What a command in a fence never writes in a project, by name.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProtectedPaths;

impl ProtectedPaths {
    /// Why the file at this path, from the project's root, is protected; `None` if it is not.
    ///
    /// ```
    /// use relaycode_project::protected::ProtectedPaths;
    ///
    /// assert!(ProtectedPaths.matching("sub/.vscode/tasks.json".as_ref()).is_some());
    /// assert!(ProtectedPaths.matching(".git/hooks/pre-commit".as_ref()).is_some());
    /// assert!(ProtectedPaths.matching("src/main.rs".as_ref()).is_none());
    /// ```
    pub fn matching(self, path: &Path) -> Option<&'static str> {
        let plain = plain_components(path);
        if let Some(at) = plain.iter().position(|part| part == ".git") {
            let inner = plain[at + 1..].join("/");
            let within = |name: &str| {
                inner.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            return FENCED_IN_GIT.iter().any(|name| within(name)).then_some("can make git run something");
        }
        matching_reason(&plain, FENCED_REASONS)
    }

    /// The name on the way to this path by which something runs because of it later, in lower case: writing it is asked about.
    pub(crate) fn name_of(self, path: &Path) -> Option<String> {
        let plain = plain_components(path);
        let is_protected = |end: &usize| {
            plain[end - 1] == ".git" || matching_reason(&plain[..*end], ASKED_REASONS).is_some()
        };
        (1..=plain.len()).find(is_protected).map(|end| plain[end - 1].clone())
    }

    /// Those of git's own directory, from there.
    pub fn in_git_directory(self) -> &'static [&'static str] {
        FENCED_IN_GIT
    }
}

/// Spelled in other cases, it is the same file on some disks.
fn plain_components(path: &Path) -> Vec<String> {
    path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect()
}

fn matching_reason(plain: &[String], reasons: &[&str]) -> Option<&'static str> {
    let fits = |patterns: &str| patterns.split(' ').any(|pattern| matches_path(pattern, plain));
    let rows = ALWAYS_GUARDED.iter().filter(|(reason, _)| reasons.contains(reason));
    rows.into_iter().find(|(_, patterns)| fits(patterns)).map(|(reason, _)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_run_later_is_protected_and_what_is_built_is_not() {
        let is = |path: &str| ProtectedPaths.matching(Path::new(path)).is_some();
        for (path, name) in [
            ("a/.VSCode/settings.json", Some(".vscode")),
            (".git/info/x", Some(".git")),
            (".npmrc", Some(".npmrc")),
            (".github/hooks/x", Some("hooks")),
            ("src/main.rs", None),
            (".env", None),
        ] {
            assert_eq!(ProtectedPaths.name_of(Path::new(path)).as_deref(), name, "{path}");
        }
        for path in [
            ".envrc",
            "a/.envrc",
            ".vscode/settings.json",
            ".VSCode/tasks.json",
            ".idea/x",
            "AGENTS.md",
            ".husky/pre-commit",
            ".git/config",
            "sub/.git/hooks/x",
            ".git/commondir",
            "relaycode.config.json",
            ".relaycode/lock",
            ".bashrc",
        ] {
            assert!(is(path), "{path}");
        }
        for path in [
            "src/a.rs",
            "Makefile",
            "package.json",
            ".env",
            ".gitattributes",
            ".git/index",
            ".git/HEAD",
            ".git/hooks2",
            ".npmrc",
            "hooks/x",
            "config",
            ".github/workflows/ci.yml",
        ] {
            assert!(!is(path), "{path}");
        }
    }
}
