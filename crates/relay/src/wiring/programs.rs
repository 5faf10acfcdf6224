//! The programs that the user looks at and edits text with, and where private files for them go. What
//! the environment says about it is read here and nowhere else: `GIT_EDITOR`, `VISUAL`, `EDITOR`, `RELAY_PAGER`,
//! `PAGER`, `TMPDIR`.
//!
//! A value may hold arguments (`code --wait`). It is split into words as a shell does, but no shell ever
//! sees it: nothing in it is expanded or run.

use std::ffi::OsString;
use std::path::PathBuf;

/// The user's programs, each as words, the first that exists is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserPrograms {
    /// `VISUAL`, `EDITOR`, then what most machines have.
    pub(crate) editors: Vec<Vec<OsString>>,
    /// `RELAY_PAGER`, else `PAGER`, else `less`.
    pub(crate) pagers: Vec<Vec<OsString>>,
    /// Where private files are made.
    pub(crate) scratch_dir: PathBuf,
}

impl UserPrograms {
    /// Reads them from the process.
    pub(crate) fn from_env() -> UserPrograms {
        UserPrograms::from_lookup(|name| std::env::var_os(name))
    }

    /// For the message of a commit: the editor that git would start. `configured` is the user's `core.editor`.
    #[must_use]
    pub(crate) fn with_git_editor(self, configured: Option<String>) -> UserPrograms {
        let named = std::env::var_os("GIT_EDITOR").or(configured.map(OsString::from));
        let first = named.and_then(|value| split_words(&value));
        UserPrograms { editors: first.into_iter().chain(self.editors).collect(), ..self }
    }

    fn from_lookup(get: impl Fn(&str) -> Option<OsString>) -> UserPrograms {
        let words = |name: &str| get(name).and_then(|value| split_words(&value));
        let fixed = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let mut editors: Vec<_> = [words("VISUAL"), words("EDITOR")].into_iter().flatten().collect();
        editors.dedup();
        editors.extend([fixed("vi"), fixed("nano")]);
        let pagers = words("RELAY_PAGER").or_else(|| words("PAGER")).into_iter();
        let pagers = pagers.chain([fixed("less -FRX")]).collect();
        let scratch = get("TMPDIR").map(PathBuf::from).filter(|directory| directory.is_absolute());
        UserPrograms { editors, pagers, scratch_dir: scratch.unwrap_or_else(|| PathBuf::from("/tmp")) }
    }
}

/// The words of a command line; `None` if there are none, or a quote is not closed.
fn split_words(value: &OsString) -> Option<Vec<OsString>> {
    let Some(text) = value.to_str() else {
        // A path in another encoding: one word.
        return Some(vec![value.clone()]);
    };
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '\\') => word.get_or_insert_default().extend(rest.next()),
            (Some('"'), '\\') if matches!(rest.peek(), Some('"' | '\\' | '$' | '`')) => {
                word.get_or_insert_default().extend(rest.next());
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    let named = words.first().is_some_and(|program| !program.is_empty());
    (named && quote.is_none()).then(|| words.into_iter().map(OsString::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Option<Vec<String>> {
        let words = split_words(&text.into())?;
        Some(words.into_iter().map(|word| word.into_string().unwrap()).collect())
    }

    #[test]
    fn a_command_line_is_split_as_a_shell_does_and_nothing_in_it_is_run() {
        let cases: [(&str, &[&str]); 7] = [
            ("vim", &["vim"]),
            ("  code   --wait ", &["code", "--wait"]),
            ("'/Program Files/ed' -x", &["/Program Files/ed", "-x"]),
            (r#"emacs -e "a \"b\" \c" ''"#, &["emacs", "-e", r#"a "b" \c"#, ""]),
            (r"my\ editor", &["my editor"]),
            ("vi; rm -rf /", &["vi;", "rm", "-rf", "/"]),
            ("$(touch x) `y` $HOME *", &["$(touch", "x)", "`y`", "$HOME", "*"]),
        ];
        for (text, expected) in cases {
            assert_eq!(split(text).unwrap(), expected, "{text}");
        }
        for text in ["", "  ", "'vi", "vi \"", "''"] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_user_names_comes_before_what_most_machines_have() {
        let read = |set: &[(&str, &str)]| {
            UserPrograms::from_lookup(|name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into())
            })
        };
        let names = |list: &[Vec<OsString>]| -> Vec<String> {
            list.iter().map(|words| words[0].to_string_lossy().into_owned()).collect()
        };
        let programs =
            read(&[("EDITOR", "ed"), ("VISUAL", "code --wait"), ("PAGER", "most"), ("TMPDIR", "/t")]);
        assert_eq!(names(&programs.editors), ["code", "ed", "vi", "nano"]);
        assert_eq!(names(&programs.pagers), ["most", "less"]);
        assert_eq!(programs.scratch_dir, PathBuf::from("/t"));
        let programs = read(&[("RELAY_PAGER", "bat"), ("PAGER", "most"), ("TMPDIR", "t"), ("VISUAL", "")]);
        assert_eq!(names(&programs.pagers), ["bat", "less"]);
        assert_eq!(names(&programs.editors), ["vi", "nano"]);
        assert_eq!(programs.scratch_dir, PathBuf::from("/tmp"));
    }
}
