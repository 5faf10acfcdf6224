//! Every path, every command and every test that a page names exists. The pages are those at the root and in `docs/`;
//! decisions and the changelog speak of their day, and reference pages come from the code.
//!
//! Pages for users name files of the user's projects, so only what begins with a folder of this repository is looked
//! for there. In [`FOR_DEVELOPERS`] a shorter path counts, too: it is the end of a source of a crate that the same
//! paragraph names, or, where it names none, of any.

mod commands;
mod markdown;
mod test_names;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::Verdict;
use crate::workspace::Workspace;
use commands::Reference;
use markdown::{CodeSpan, code_spans};

/// Folders of this repository.
const FOLDERS: &[&str] = &["crates/", "proofs/", "xtask/", "docs/", ".ci/", ".config/", ".cargo/"];

/// Pages that speak of our own sources.
const FOR_DEVELOPERS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Sources that every crate has.
const EVERY_CRATE: &[&str] = &["lib.rs", "main.rs", "mod.rs"];

/// Pages that speak of their day.
const OF_THEIR_DAY: &[&str] = &["CHANGELOG.md"];

/// Where the help of every command is.
const REFERENCE: &str = "docs/reference/commands.md";

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let root = &workspace.root;
    let sources: Vec<&str> = workspace.sources.iter().map(|source| source.path.as_str()).collect();
    let reference = Reference::read(&fs::read_to_string(root.join(REFERENCE)).unwrap_or_default());
    let mut verdict = Verdict::default();
    let (mut pages, mut pieces) = (0, 0);
    for (name, path) in super::links::pages(root, &["", "docs"]) {
        if OF_THEIR_DAY.contains(&name.as_str()) {
            continue;
        }
        let spans = code_spans(&fs::read_to_string(path).unwrap_or_default());
        let place =
            Place { root, sources: &sources, for_developers: FOR_DEVELOPERS.contains(&name.as_str()) };
        for span in &spans {
            let problem = (reference.problem(&span.text))
                .or_else(|| place.problem(span, &spans))
                .or_else(|| test_names::problem(&span.text, &workspace.sources));
            verdict.problems.extend(problem.map(|problem| format!("{name}:{}: {problem}", span.line)));
        }
        pages += 1;
        pieces += spans.len();
    }
    verdict.looked_at = format!("{pieces} pieces of code on {pages} pages");
    verdict
}

/// Where the paths of a page may be.
struct Place<'w> {
    root: &'w Path,
    sources: &'w [&'w str],
    for_developers: bool,
}

impl Place<'_> {
    fn problem(&self, span: &CodeSpan, page: &[CodeSpan]) -> Option<String> {
        if span.is_typed {
            return None;
        }
        let path = path_of(&span.text)?;
        if FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            let missing =
                alternatives(path).into_iter().find(|one| !self.root.join(fixed_part(one)).exists())?;
            return Some(format!("`{missing}` is not there"));
        }
        let is_source = path.ends_with(".rs") || path.starts_with("src/") || path.starts_with("tests/");
        if !self.for_developers || !is_source || EVERY_CRATE.contains(&path) {
            return None;
        }
        let beside = page.iter().filter(|other| other.paragraph == span.paragraph);
        let crates: BTreeSet<String> = beside.filter_map(|other| crate_of(path_of(&other.text)?)).collect();
        let near =
            |source: &&&str| crates.is_empty() || crates.iter().any(|folder| source.starts_with(folder));
        let missing = alternatives(path).into_iter().find(|one| {
            let end = format!("/{}", fixed_part(one));
            !self
                .sources
                .iter()
                .filter(near)
                .any(|source| source.ends_with(&end) || (end.ends_with('/') && source.contains(&end)))
        })?;
        let crates =
            if crates.is_empty() { "any crate".to_owned() } else { Vec::from_iter(crates).join(" or ") };
        Some(format!("`{missing}` is no source in {crates}"))
    }
}

/// The path that a piece of code is, without a line number at its end.
fn path_of(text: &str) -> Option<&str> {
    let (path, number) = text.split_once(':').unwrap_or((text, ""));
    let is_path = !path.is_empty()
        && number.chars().all(|c| c.is_ascii_digit())
        && path.chars().all(|c| c.is_alphanumeric() || "/._-*<>{},…".contains(c))
        && (path.contains('/') || path.ends_with(".rs"));
    is_path.then_some(path)
}

/// `a/{b,c}.rs` is `a/b.rs` and `a/c.rs`.
fn alternatives(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (choices, after))) = parts else { return vec![path.to_owned()] };
    choices.split(',').flat_map(|choice| alternatives(&format!("{before}{choice}{after}"))).collect()
}

/// The folders before the first part that stands for any.
fn fixed_part(path: &str) -> &str {
    let Some(at) = path.find(['*', '<', '…']) else { return path };
    path[..at].rfind('/').map_or("", |slash| &path[..=slash])
}

/// The folder of the crate that a path is in.
fn crate_of(path: &str) -> Option<String> {
    let mut parts = path.split('/');
    match (parts.next()?, parts.next()) {
        (group @ ("crates" | "proofs"), Some(name)) if !name.is_empty() => Some(format!("{group}/{name}/")),
        ("xtask", Some(_)) => Some("xtask/".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(page: &str, for_developers: bool) -> Vec<String> {
        let sources = ["crates/a/src/b/c.rs", "crates/a/src/d.rs", "crates/e/src/f.rs"];
        let root = Path::new("/nowhere");
        let place = Place { root, sources: &sources, for_developers };
        let spans = code_spans(page);
        spans.iter().filter_map(|span| place.problem(span, &spans)).collect()
    }

    #[test]
    fn a_short_path_is_looked_for_in_the_crate_of_its_paragraph() {
        assert_eq!(
            problems("In `crates/a/`: `b/c.rs`, `{b/c,d}.rs` and `b/*.rs`.", true),
            ["`crates/a/` is not there"]
        );
        assert_eq!(problems("It is `f.rs`, `src/b/` and `d.rs:7`.", true), Vec::<String>::new());
        assert_eq!(
            problems("In `crates/a/src/…` see `f.rs`.", true)[1..],
            ["`f.rs` is no source in crates/a/"]
        );
        assert_eq!(problems("See `g.rs`.", true), ["`g.rs` is no source in any crate"]);
    }

    #[test]
    fn files_of_users_are_their_own() {
        assert_eq!(problems("It writes `src/main.rs` and `a/b.ts`.", false), Vec::<String>::new());
        assert_eq!(problems("See `docs/g.md`.", false), ["`docs/g.md` is not there"]);
    }

    #[test]
    fn what_is_no_path_is_left_alone() {
        for text in ["and/or else", "a::b", "https://x.example/y", "16/32", "src"] {
            assert!(path_of(text).is_none_or(|path| !path.ends_with(".rs")), "{text}");
        }
        assert_eq!(fixed_part("crates/*/src"), "crates/");
        assert_eq!(fixed_part("docs/<name>.md"), "docs/");
    }
}
