//! Tests that a page names: `it::module::name` is one of relay's own integration tests, `CRATE::it::module::name` one
//! of another crate's, and `CRATE::module::tests::name` one beside the code. Each is looked for in the source of its
//! module.

use crate::workspace::Source;

/// A workflow in this list is two tests, one for each desktop.
const DESKTOP_LIST: &str = "on_each_desktop!(";

/// What is wrong with a piece of code that may be the name of a test.
pub(super) fn problem(text: &str, sources: &[Source]) -> Option<String> {
    let path = test_path(text)?;
    let holds = |source: &Source| {
        let module = source.path.strip_suffix("/mod.rs").or_else(|| source.path.strip_suffix(".rs"));
        let inside = module.and_then(|module| path.module.strip_prefix(module));
        inside.is_some_and(|rest| ["", "/tests"].contains(&rest)) && has_test(&source.text, path.name)
    };
    (!sources.iter().any(holds)).then(|| format!("there is no test `{text}`"))
}

/// Where a test is.
struct TestPath<'t> {
    /// Its source without `.rs` or `/mod.rs`; a module within a source counts as one of its own.
    module: String,
    name: &'t str,
}

fn test_path(text: &str) -> Option<TestPath<'_>> {
    let parts: Vec<&str> = text.split("::").collect();
    let is_name = |part: &&str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    if !parts.iter().all(is_name) {
        return None;
    }
    let (package, folder, inner) = match parts[..] {
        ["it", ref inner @ ..] => ("relay", "tests/it", inner),
        [package, "it", ref inner @ ..] => (package, "tests/it", inner),
        [package, ref inner @ ..] if inner.iter().any(|part| part.ends_with("tests")) => {
            (package, "src", inner)
        }
        _ => return None,
    };
    let (name, modules) = inner.split_last()?;
    let folder = format!("crates/{package}/{folder}");
    Some(TestPath { module: [&[folder.as_str()], modules].concat().join("/"), name })
}

/// Whether a test of this name is in the source.
fn has_test(source: &str, name: &str) -> bool {
    let head = format!("fn {name}(");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let is_marked = |at: usize| {
        let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#["));
        above.into_iter().any(|line| *line == "#[test]")
    };
    let mut starts = lines.iter().enumerate().filter(|(_, line)| line.starts_with(&head));
    let lists = source.split(DESKTOP_LIST).skip(1).filter_map(|list| list.split(')').next());
    starts.any(|(at, _)| is_marked(at))
        || lists.flat_map(|list| list.split(',')).any(|listed| listed.trim() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> String {
        let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let sources = [
            source("crates/relay/tests/it/apply.rs", "#[test]\n#[ignore]\nfn works() {}\n\nfn helps() {}\n"),
            source("crates/relay/tests/it/watch/mod.rs", "on_each_desktop!(\n    copies,\n    pastes,\n);\n"),
            source("crates/door/tests/it/gate.rs", "#[test]\nfn judges() {}\n"),
            source("crates/text/src/width.rs", "mod tests {\n    #[test]\n    fn counts() {}\n}\n"),
            source("crates/text/src/clip/tests.rs", "#[test]\nfn cuts() {}\n"),
        ];
        problem(text, &sources).unwrap_or_default()
    }

    #[test]
    fn tests_are_found_where_their_names_say() {
        for text in [
            "it::apply::works",
            "it::watch::pastes",
            "door::it::gate::judges",
            "text::width::tests::counts",
            "text::clip::tests::cuts",
        ] {
            assert_eq!(found(text), "", "{text}");
        }
    }

    #[test]
    fn tests_that_are_not_there_are_named() {
        for text in [
            "it::apply::breaks",
            "it::apply::helps",
            "it::apply::work",
            "it::preview::works",
            "it::gate::judges",
            "text::width::tests::cuts",
        ] {
            assert_eq!(found(text), format!("there is no test `{text}`"));
        }
    }

    #[test]
    fn other_names_are_left_alone() {
        for text in ["change::plan", "Door::submit", "it", "it::Apply::works", "it::apply::…", "a: b"] {
            assert_eq!(found(text), "", "{text}");
        }
    }
}
