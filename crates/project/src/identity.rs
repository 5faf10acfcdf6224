//! What a project calls itself: the name that `init` gives it, found in the files that other tools keep
//! a name in.
//!
//! Small scanners, not parsers: what is odd is passed over, and the next file is asked. What comes out
//! always satisfies [`check_project_id`].

use std::path::Path;

use relaycode_text::escape::is_unsafe;
use serde::Deserialize;

use crate::config::text_file::{self, LinkPolicy};
use crate::config::{PROJECT_ID_CHARACTERS, check_project_id};

/// Bytes of a file that may hold a name.
const FILE_BYTES: u64 = 256 << 10;
/// The name of a project whose directory has none that can be used.
const NAMELESS: &str = "project";

/// A name for a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedProjectId {
    /// The name.
    pub id: String,
    /// The file it was found in; `None`: it is the directory's own.
    pub source: Option<&'static str>,
}

/// Finds the name in a file's text.
type ProjectNameScanner = fn(&str) -> Option<String>;

/// Where a name is looked for, in this order.
const SOURCES: [(&str, ProjectNameScanner); 4] = [
    ("package.json", package_json),
    ("Cargo.toml", |text| toml_name(text, &["package"])),
    ("pyproject.toml", |text| toml_name(text, &["project"]).or_else(|| toml_name(text, &["tool", "poetry"]))),
    ("go.mod", go_module),
];

/// A name for the project at `root`.
pub fn suggest_project_id(root: &Path) -> SuggestedProjectId {
    let found = SOURCES.iter().find_map(|(source, name)| {
        let text = text_file::read_text(root, source, FILE_BYTES, LinkPolicy::Inside).ok()??;
        let id = name(&text)?.trim().to_string();
        check_project_id(&id).ok()?;
        Some(SuggestedProjectId { id, source: Some(source) })
    });
    found.unwrap_or_else(|| {
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        SuggestedProjectId { id: sanitise_name(&name.unwrap_or_default()), source: None }
    })
}

fn package_json(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct PackageJson {
        name: String,
    }
    serde_json::from_str::<PackageJson>(text).ok().map(|package| package.name)
}

/// The value of `name` in the table of this path.
fn toml_name(text: &str, table: &[&str]) -> Option<String> {
    let mut inside = false;
    let mut long: Option<&str> = None;
    for line in text.lines() {
        // A text of several lines may look like anything.
        if let Some(quote) = long {
            if line.contains(quote) {
                long = None;
            }
            continue;
        }
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            inside = header.split_once(']').is_some_and(|(name, _)| is_table_path(name, table));
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim();
        long = ["\"\"\"", "'''"].into_iter().find(|quote| value.matches(quote).count() % 2 == 1);
        if inside && matches!(key.trim(), "name" | "\"name\"" | "'name'") {
            return toml_text(value);
        }
    }
    None
}

fn is_table_path(name: &str, table: &[&str]) -> bool {
    let parts = name.split('.').map(|part| part.trim().trim_matches(['"', '\'']));
    parts.eq(table.iter().copied())
}

/// A text in quotes on one line; `None` for one with escapes, which no honest name needs.
fn toml_text(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (text, rest) = value[1..].split_once(quote)?;
    let rest = rest.trim_start();
    let plain = !text.contains('\\') && (rest.is_empty() || rest.starts_with('#'));
    plain.then(|| text.to_string())
}

/// The last element of the module's path that is not its version.
fn go_module(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("module"))?;
    let blank = line.starts_with([' ', '\t']);
    let path = line.split("//").next().unwrap_or_default().trim().trim_matches(['"', '`']);
    let version = |part: &&str| {
        let digits = part.strip_prefix('v').unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let last = path.rsplit('/').find(|part| !version(part))?;
    (blank && !last.contains(char::is_whitespace)).then(|| last.to_string())
}

/// What of a directory's name can be a project's.
fn sanitise_name(name: &str) -> String {
    let visible = name.chars().map(|c| if is_unsafe(c) || c == '\u{FFFD}' { '-' } else { c });
    let short: String = visible.take(PROJECT_ID_CHARACTERS).collect();
    let id = short.trim();
    if check_project_id(id).is_ok() { id.to_string() } else { NAMELESS.to_string() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn suggested(files: &[(&str, &str)]) -> (String, Option<&'static str>) {
        let temp = TempDir::new().unwrap();
        let root = temp.path().join("my dir");
        fs::create_dir(&root).unwrap();
        for (name, text) in files {
            fs::write(root.join(name), text).unwrap();
        }
        let SuggestedProjectId { id, source } = suggest_project_id(&root);
        check_project_id(&id).unwrap();
        (id, source)
    }

    #[test]
    fn each_file_is_asked_in_its_turn() {
        let npm = ("package.json", "\u{feff}{\"version\": \"1\", \"name\": \"@scope/app\"}");
        let cargo = (
            "Cargo.toml",
            "[workspace]\nname = 'no'\n[ package ] # it\nversion = \"1\"\nname = \"crab\" # yes\n",
        );
        let python = ("pyproject.toml", "[tool.poetry]\nname = 'poem'\n[project]\nname = \"snake\"\n");
        let go = ("go.mod", "// a module\nmodule example.com/team/gopher/v2 // it\n\ngo 1.22\n");
        assert_eq!(suggested(&[go, python, cargo, npm]), ("@scope/app".into(), Some("package.json")));
        assert_eq!(suggested(&[go, python, cargo]), ("crab".into(), Some("Cargo.toml")));
        assert_eq!(suggested(&[go, python]), ("snake".into(), Some("pyproject.toml")));
        assert_eq!(suggested(&[go]), ("gopher".into(), Some("go.mod")));
        assert_eq!(suggested(&[]), ("my dir".into(), None));
        let poetry = ("pyproject.toml", "[tool.poetry]\nname = 'poem'\n");
        assert_eq!(suggested(&[poetry]), ("poem".into(), Some("pyproject.toml")));
    }

    #[test]
    fn odd_names_are_passed_over() {
        let long = format!("{{\"name\": \"{}\"}}", "x".repeat(101));
        let huge = format!("{{\"name\": \"app\", \"x\": \"{}\"}}", "x".repeat(300 << 10));
        for odd in
            ["{}", "[]", "{\"name\": 3}", "{\"name\": \"\"}", "{\"name\": \"a\\u0007b\"}", "{", &long, &huge]
        {
            let go = ("go.mod", "module x\n");
            assert_eq!(suggested(&[("package.json", odd), go]), ("x".into(), Some("go.mod")), "{odd:.40}");
        }
        for odd in [
            "[package]\nname = \"a\\u0062\"\n",
            "[package]\nname.workspace = true\n",
            "[package]\ndescription = \"\"\"\nname = \"no\"\n\"\"\"\n",
            "[package.metadata]\nname = \"no\"\n",
            "[[package]]\nname = \"no\"\n",
            "name = \"no\"\n",
        ] {
            assert_eq!(suggested(&[("Cargo.toml", odd)]), ("my dir".into(), None), "{odd}");
        }
        for odd in ["modulex y\n", "module\n", "module a b\n", "module v2\n"] {
            assert_eq!(suggested(&[("go.mod", odd)]), ("my dir".into(), None), "{odd}");
        }
    }

    #[test]
    fn a_directory_of_any_name_has_an_id() {
        for (name, id) in
            [("a\nb", "a-b"), ("  ", "project"), ("\u{202e}x", "-x"), (" x ", "x"), ("", "project")]
        {
            assert_eq!(sanitise_name(name), id);
        }
        assert_eq!(sanitise_name(&"ü".repeat(300)).chars().count(), 100);
        assert_eq!(suggest_project_id(Path::new("/")).id, "project");
    }
}
