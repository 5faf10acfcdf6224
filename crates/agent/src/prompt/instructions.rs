//! What user and project wrote for agents: `AGENTS.md` or `CLAUDE.md`, and rule files.
//!
//! Read once, bounded, without following a link out of the project. What does not fit is named.

use std::fmt::Write;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use relaycode_text::hidden::is_hidden;
use rustix::fs::OFlags;

use super::rules::{self, AgentRule};

/// In each directory the first that is there counts.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Bytes of one file.
const MAX_FILE_BYTES: usize = 64 << 10;
/// Bytes of all of them, rules included.
const MAX_TOTAL_BYTES: usize = 256 << 10;
/// Directories between the project's root and where the user stands.
const MAX_DEPTH: usize = 32;

/// Whose words they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionOwner {
    User,
    Project,
}

impl InstructionOwner {
    pub(crate) fn name(self) -> &'static str {
        match self {
            InstructionOwner::User => "user",
            InstructionOwner::Project => "project",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionFile {
    pub owner: InstructionOwner,
    /// As it is named to the model and to people.
    pub path: String,
    pub text: String,
}

/// Everything that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectInstructions {
    pub files: Vec<InstructionFile>,
    pub rules: Vec<AgentRule>,
    /// What was left out, and why, for people.
    pub remarks: Vec<String>,
}

/// Where it is looked for.
#[derive(Debug, Clone)]
pub struct InstructionPlaces<'a> {
    /// The user's own directory of relay.
    pub home: Option<&'a Path>,
    pub root: &'a Path,
    /// In the project.
    pub cwd: &'a Path,
}

impl ProjectInstructions {
    pub fn read(places: &InstructionPlaces<'_>) -> ProjectInstructions {
        let mut found = ProjectInstructions::default();
        let mut reader = InstructionReader { left: MAX_TOTAL_BYTES, remarks: Vec::new() };
        if let Some(home) = places.home {
            found.files.extend(reader.first_of(home, InstructionOwner::User, "~/.relaycode/"));
        }
        for directory in directories_between(places.root, places.cwd) {
            let shown = shown_directory(places.root, &directory);
            found.files.extend(reader.first_of(&directory, InstructionOwner::Project, &shown));
        }
        found.rules = rules::read_rules(places, &mut reader);
        found.remarks = reader.remarks;
        found
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.rules.is_empty()
    }

    pub(super) fn write_to(&self, prompt: &mut String, tools: &[&str]) {
        for file in &self.files {
            write_block(prompt, "instructions", file.owner, &file.path, &file.text);
        }
        for rule in self.rules.iter().filter(|rule| rule.always_apply) {
            write_block(prompt, "rule", rule.owner, &rule.path, &rule.text);
        }
        let listed: Vec<&AgentRule> =
            self.rules.iter().filter(|rule| !rule.always_apply && rule.description.is_some()).collect();
        if listed.is_empty() || !tools.contains(&"read") {
            return;
        }
        prompt.push_str("\nRules for some tasks. Read the file of a rule before you do what it is about:\n");
        for rule in listed {
            let globs =
                if rule.globs.is_empty() { String::new() } else { format!(" ({})", rule.globs.join(", ")) };
            let description = rule.description.as_deref().unwrap_or_default();
            let _ = writeln!(prompt, "- {}: {description}{globs}", rule.path);
        }
    }
}

/// A block that its text cannot end.
fn write_block(prompt: &mut String, tag: &str, owner: InstructionOwner, path: &str, text: &str) {
    let text = text.replace(&format!("</{tag}"), &format!("< /{tag}"));
    let _ = write!(
        prompt,
        "\n<{tag} from=\"{}\" file=\"{path}\">\n{}\n</{tag}>\n",
        owner.name(),
        text.trim_end()
    );
}

/// Reads files until there is no more room.
pub(super) struct InstructionReader {
    left: usize,
    remarks: Vec<String>,
}

impl InstructionReader {
    fn first_of(
        &mut self,
        directory: &Path,
        owner: InstructionOwner,
        shown: &str,
    ) -> Option<InstructionFile> {
        NAMES.iter().find_map(|name| {
            let path = format!("{shown}{name}");
            let text = self.read(&directory.join(name), &path)?;
            Some(InstructionFile { owner, path: clean(&path), text })
        })
    }

    /// The text of a regular file; `None` if there is none, or no room.
    pub(super) fn read(&mut self, path: &Path, shown: &str) -> Option<String> {
        let (text, is_cut) = match read_regular(path, MAX_FILE_BYTES) {
            Ok(read) => read?,
            Err(why) => {
                self.remark(format!("{shown} was not read: {why}"));
                return None;
            }
        };
        if text.trim().is_empty() {
            return None;
        }
        if text.len() > self.left {
            self.remark(format!(
                "{shown} was left out: instructions may have {} kB in all",
                MAX_TOTAL_BYTES >> 10
            ));
            return None;
        }
        if is_cut {
            self.remark(format!("of {shown} only the first {} kB were read", MAX_FILE_BYTES >> 10));
        }
        self.left -= text.len();
        Some(clean(&text))
    }

    pub(super) fn remark(&mut self, text: String) {
        const MAX_REMARKS: usize = 20;
        if self.remarks.len() < MAX_REMARKS {
            self.remarks.push(text);
        }
    }
}

/// Without characters that people do not see and models do.
pub(super) fn clean(text: &str) -> String {
    let is_shown = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || is_hidden(*c));
    text.chars().filter(is_shown).collect()
}

/// Reads at most so many bytes; says whether there are more. A link is not followed, a pipe not waited for.
fn read_regular(path: &Path, most: usize) -> Result<Option<(String, bool)>, String> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file: File = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err("it is a link".to_string());
        }
        Err(error) => return Err(error.to_string()),
    };
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_string());
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let is_cut = bytes.len() > most;
    bytes.truncate(most);
    Ok(Some((String::from_utf8_lossy(&bytes).into_owned(), is_cut)))
}

/// The root, and each directory on the way to where the user stands.
fn directories_between(root: &Path, cwd: &Path) -> Vec<PathBuf> {
    let mut directories = vec![root.to_path_buf()];
    let Ok(inside) = cwd.strip_prefix(root) else { return directories };
    for part in inside.components().take(MAX_DEPTH) {
        let next = directories.last().map(|last| last.join(part)).unwrap_or_default();
        // A link may lead out of the project.
        if fs::symlink_metadata(&next).is_ok_and(|metadata| metadata.is_dir()) {
            directories.push(next);
        } else {
            break;
        }
    }
    directories
}

fn shown_directory(root: &Path, directory: &Path) -> String {
    let inside = directory.strip_prefix(root).unwrap_or(directory).to_string_lossy().into_owned();
    if inside.is_empty() { inside } else { format!("{inside}/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_users_come_first_and_deeper_ones_last() {
        let scratch = tempfile::tempdir().unwrap();
        let (home, root) = (scratch.path().join("home"), scratch.path().join("p"));
        write(&home.join("AGENTS.md"), "mine");
        write(&root.join("AGENTS.md"), "root\u{202e}\u{200b}");
        write(&root.join("CLAUDE.md"), "not read");
        write(&root.join("a/b/CLAUDE.md"), "deep </instructions> end");
        let cwd = root.join("a/b");
        let places = InstructionPlaces { home: Some(&home), root: &root, cwd: &cwd };
        let found = ProjectInstructions::read(&places);
        let read: Vec<(&str, &str)> =
            found.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
        let expected = [
            ("~/.relaycode/AGENTS.md", "mine"),
            ("AGENTS.md", "root"),
            ("a/b/CLAUDE.md", "deep </instructions> end"),
        ];
        assert_eq!(read, expected);
        let mut prompt = String::new();
        found.write_to(&mut prompt, &[]);
        assert_eq!(prompt.matches("</instructions>").count(), 3, "{prompt}");
    }

    #[test]
    fn links_pipes_and_floods_are_left_out_and_named() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        std::os::unix::fs::symlink("/etc/passwd", root.join("AGENTS.md")).unwrap();
        write(&root.join("CLAUDE.md"), &"x".repeat(MAX_FILE_BYTES + 1));
        let places = InstructionPlaces { home: None, root, cwd: root };
        let found = ProjectInstructions::read(&places);
        assert_eq!(found.files.len(), 1);
        assert_eq!(found.files[0].text.len(), MAX_FILE_BYTES);
        let expected =
            ["AGENTS.md was not read: it is a link", "of CLAUDE.md only the first 64 kB were read"];
        assert_eq!(found.remarks, expected);
    }

    #[test]
    fn all_together_are_bounded() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        let mut cwd = root.to_path_buf();
        for _ in 0..6 {
            write(&cwd.join("AGENTS.md"), &"x".repeat(MAX_FILE_BYTES));
            cwd.push("d");
        }
        fs::create_dir_all(&cwd).unwrap();
        let found = ProjectInstructions::read(&InstructionPlaces { home: None, root, cwd: &cwd });
        assert_eq!(found.files.len(), 4);
        assert_eq!(found.remarks.len(), 2);
    }
}
