//! Settings in a project that relay ignores: addresses, keys and proxies.
//!
//! A repository that could redirect requests would get every conversation, and the key with it. So none of
//! this is ever used; it is only looked for, to tell somebody who counted on it. Reads are bounded, and no
//! link is followed.

use std::path::Path;

use relaycode_durable::{Fs, FsDir, FsKind, RealFs};
use serde_json::Value;

use crate::display_text;

/// Bytes read of a file.
const FILE_BYTES: usize = 256 << 10;
/// Most `.env…` files read.
const ENV_FILES: usize = 16;
/// Most names reported per file.
const NAMES: usize = 5;
/// How deep settings are searched.
const DEPTH: usize = 16;

/// A file of the project with settings that relay ignores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredSettings {
    /// Relative to the project.
    pub file: String,
    /// Safe to print.
    pub names: Vec<String>,
}

impl std::fmt::Display for IgnoredSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.names.as_slice() {
            [] => f.write_str(&self.file),
            what => write!(f, "{} names {}", self.file, what.join(", ")),
        }
    }
}

/// All of it in one sentence; `None` if there is nothing.
pub fn describe_ignored(ignored: &[IgnoredSettings]) -> Option<String> {
    let files: Vec<String> = ignored.iter().map(ToString::to_string).collect();
    (!files.is_empty()).then(|| {
        format!(
            "ignored: {}; addresses and keys come only from ~/.relaycode/models.yml, `relay keys` and your own environment",
            files.join("; ")
        )
    })
}

pub fn find_ignored(root: &Path) -> Vec<IgnoredSettings> {
    let fs = RealFs::default();
    let Ok(top) = fs.open_root(root) else { return Vec::new() };
    let looking = ProjectSettingsScan { fs: &fs, top: &top };
    let mut found = looking.env_files();
    for name in ["models.yml", ".relaycode/models.yml"] {
        if looking.text(name).is_some_and(|text| text.contains("providers")) {
            found.push(IgnoredSettings { file: name.to_string(), names: Vec::new() });
        }
    }
    for (name, see) in OTHERS {
        if let Some(text) = looking.text(name) {
            found.extend(ignored_in(name, see(&text)));
        }
    }
    found
}

/// Finds ignored settings in a text.
type SettingsScanFn = fn(&str) -> Vec<String>;

/// Settings of relay and of other agents that redirect requests.
const OTHERS: [(&str, SettingsScanFn); 7] = [
    ("relaycode.config.json", settings),
    (".claude/settings.json", settings),
    (".claude/settings.local.json", settings),
    (".codex/config.toml", toml),
    ("opencode.json", settings),
    ("opencode.jsonc", settings),
    (".opencode/opencode.json", settings),
];

struct ProjectSettingsScan<'a> {
    fs: &'a RealFs,
    top: &'a FsDir,
}

impl ProjectSettingsScan<'_> {
    fn env_files(&self) -> Vec<IgnoredSettings> {
        let mut names = Vec::new();
        let _ = self.fs.for_each_name(self.top, &mut |name, kind| {
            if kind == FsKind::File
                && (name == ".env" || name.starts_with(".env."))
                && names.len() < ENV_FILES
            {
                names.push(name.to_string());
            }
        });
        names.sort();
        let look = |name: &String| ignored_in(&display_text(name), assignments(&self.text(name)?));
        names.iter().filter_map(look).collect()
    }

    /// The beginning of a file of the project, if it exists.
    fn text(&self, name: &str) -> Option<String> {
        let opened;
        let (dir, last) = match name.rsplit_once('/') {
            Some((folder, last)) => {
                opened = self.fs.open_dir(self.top, folder).ok()?;
                (&opened, last)
            }
            None => (self.top, name),
        };
        let stat = self.fs.stat(dir, last).ok()?;
        if stat.kind != FsKind::File {
            return None;
        }
        let bytes = self.fs.read_range(dir, last, 0, FILE_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn ignored_in(file: &str, mut what: Vec<String>) -> Option<IgnoredSettings> {
    what.dedup();
    let more = what.len().saturating_sub(NAMES);
    what.truncate(NAMES);
    if more > 0 {
        what.push(format!("{more} more"));
    }
    (!what.is_empty()).then(|| IgnoredSettings { file: file.to_string(), names: what })
}

/// Whether a variable of this name would redirect requests, or pay for them.
fn redirects(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = ["_API_KEY", "_BASE_URL", "_API_BASE", "_AUTH_TOKEN", "_API_TOKEN"];
    let proxies = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    ends.iter().any(|end| name.ends_with(end)) || proxies.contains(&name.as_str())
}

/// The variables that lines such as `export NAME=value` set.
fn assignments(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        let name = line.split_once('=')?.0.trim_end();
        redirects(name).then(|| display_text(name))
    };
    text.lines().filter_map(name).collect()
}

/// Names in JSON for addresses, keys and proxies, at any depth.
fn settings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    match serde_json::from_str::<Value>(text) {
        Ok(value) => walk(&value, &mut found, 0),
        // JSON with comments: searched as text.
        Err(_) => {
            let named = |name: &&&str| text.contains(&format!("\"{name}\""));
            found.extend(ADDRESSES.iter().filter(named).map(|name| (*name).to_string()));
        }
    }
    found
}

const ADDRESSES: [&str; 7] =
    ["baseUrl", "baseURL", "base_url", "apiKey", "apiKeyHelper", "proxy", "ANTHROPIC_BASE_URL"];

fn walk(value: &Value, found: &mut Vec<String>, depth: usize) {
    if depth > DEPTH {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let models = depth == 0 && matches!(name.as_str(), "providers" | "modelProviders");
                if models || ADDRESSES.contains(&name.as_str()) || redirects(name) {
                    found.push(display_text(name));
                } else {
                    walk(value, found, depth + 1);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, found, depth + 1)),
        _ => {}
    }
}

/// Names in TOML for addresses and keys.
fn toml(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let name = line.split_once('=')?.0.trim().trim_matches('"');
        let last = name.rsplit('.').next()?;
        let known = matches!(last, "base_url" | "openai_base_url" | "chatgpt_base_url" | "env_key" | "proxy");
        (known || redirects(last)).then(|| display_text(last))
    };
    text.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn what_a_project_names_is_told_and_its_values_are_not() {
        let project = project(&[
            (".env", "FOO=1\nexport ANTHROPIC_BASE_URL=https://evil\nOPENAI_API_KEY=sekrit\n"),
            (".env.local", "https_proxy=http://sekrit\n"),
            ("models.yml", "providers: {}\n"),
            (".relaycode/models.yml", "providers: {}\n"),
            ("relaycode.config.json", r#"{"projectId":"x","providers":{"a":{"baseUrl":"sekrit"}}}"#),
            (".claude/settings.json", r#"{"env":{"ANTHROPIC_BASE_URL":"sekrit"}}"#),
            (".codex/config.toml", "[model_providers.x]\nbase_url = \"sekrit\"\n"),
            ("opencode.json", r#"{"provider":{"x":{"options":{"baseURL":"sekrit"}}}}"#),
            ("opencode.jsonc", "// a comment\n{\"provider\":{\"x\":{\"options\":{\"baseURL\":\"sekrit\"}}}}"),
        ]);
        let found = find_ignored(project.path());
        let said = describe_ignored(&found).unwrap();
        assert!(!said.contains("sekrit") && !said.contains("evil"), "{said}");
        for part in [
            ".env names ANTHROPIC_BASE_URL, OPENAI_API_KEY;",
            ".env.local names https_proxy;",
            " models.yml;",
            ".relaycode/models.yml;",
            "relaycode.config.json names providers;",
            ".claude/settings.json names ANTHROPIC_BASE_URL;",
            ".codex/config.toml names base_url;",
            "opencode.json names baseURL;",
            "opencode.jsonc names baseURL;",
            "addresses and keys come only from",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }

    #[test]
    fn an_ordinary_project_is_told_nothing_and_links_are_not_followed() {
        let outside = project(&[("env", "OPENAI_API_KEY=x\n")]);
        let project = project(&[(".env", "DEBUG=1\n"), ("relaycode.config.json", r#"{"projectId":"x"}"#)]);
        std::os::unix::fs::symlink(outside.path().join("env"), project.path().join(".env.local")).unwrap();
        std::os::unix::fs::symlink(outside.path(), project.path().join(".claude")).unwrap();
        std::fs::create_dir(project.path().join("opencode.json")).unwrap();
        assert_eq!(find_ignored(project.path()), []);
        assert_eq!(describe_ignored(&[]), None);
        assert_eq!(find_ignored(Path::new("/nowhere/at/all")), []);
    }

    #[test]
    fn hostile_files_are_bounded_and_escaped() {
        let deep = "[".repeat(100_000);
        let many: String = (0..10_000).map(|n| format!("\u{1b}[31mA{n}_API_KEY=x\n")).collect();
        let project = project(&[("opencode.json", &deep), (".env", &many)]);
        let found = find_ignored(project.path());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].names.len(), NAMES + 1);
        assert!(!found[0].to_string().contains('\u{1b}'));
    }
}
