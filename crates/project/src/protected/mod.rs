//! Protected names: files that run, steer or betray something. One list ([`patterns`]), for whoever asks before it changes them
//! and for whoever keeps a command from them.

mod matching;
mod patterns;

use std::path::Path;

pub use matching::{matches_component, matches_path};
pub use patterns::{ALWAYS_GUARDED, GATE_GUARDED};
use patterns::{FENCED_IN_GIT, FENCED_REASONS};

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
        let plain: Vec<String> =
            path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
        if let Some(at) = plain.iter().position(|part| part == ".git") {
            let inner = plain[at + 1..].join("/");
            let within = |name: &str| {
                inner.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            return FENCED_IN_GIT.iter().any(|name| within(name)).then_some("can make git run something");
        }
        let fenced = ALWAYS_GUARDED.iter().filter(|(reason, _)| FENCED_REASONS.contains(reason));
        let fits = |patterns: &str| patterns.split(' ').any(|pattern| matches_path(pattern, &plain));
        fenced.into_iter().find(|(_, patterns)| fits(patterns)).map(|(reason, _)| *reason)
    }

    /// Those of git's own directory, from there.
    pub fn in_git_directory(self) -> &'static [&'static str] {
        FENCED_IN_GIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_run_later_is_protected_and_what_is_built_is_not() {
        let is = |path: &str| ProtectedPaths.matching(Path::new(path)).is_some();
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
