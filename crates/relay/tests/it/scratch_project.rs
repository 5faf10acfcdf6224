//! A scratch project and the binary run in it.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use relaycode_testkit::directory_tree::{DirectoryTree, read_tree};
use serde_json::Value;
use tempfile::TempDir;

/// A project in a directory that goes with the test.
pub(crate) struct Project {
    dir: TempDir,
    /// The user's own directory.
    home: TempDir,
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Project {
        let project = Project { dir: TempDir::new().unwrap(), home: TempDir::new().unwrap() };
        for (path, text) in files {
            project.put(path, text.as_bytes());
        }
        project
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// The user's own directory.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Every file but relay's own with its permission bits and bytes, and every directory and link.
    pub(crate) fn tree(&self) -> DirectoryTree {
        read_tree(self.dir.path(), &[".relaycode"])
    }

    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, bytes).unwrap();
    }

    /// The file's bytes.
    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The file's text.
    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    /// Every file and directory but relay's own, as sorted relative paths.
    pub(crate) fn listing(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.dir.path().to_path_buf()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.dir.path()).unwrap().to_str().unwrap().to_string();
                if name == ".relaycode" {
                    continue;
                }
                found.push(name);
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }

    /// `relay` with these arguments, in the project, in a UTF-8 locale without colour, and with nobody
    /// to ask: it is not in the foreground of any terminal.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relay"));
        command.args(args).process_group(0).stdin(Stdio::null());
        self.surround(&mut command);
        command
    }

    /// Gives a command the directory and the environment of the project.
    pub(crate) fn surround(&self, command: &mut Command) {
        command
            .current_dir(self.dir.path())
            .env_clear()
            .env("LANG", "C.UTF-8")
            .env("TMPDIR", self.dir.path())
            .env("RELAY_HOME", self.home.path());
    }

    pub(crate) fn relay(&self, args: &[&str]) -> Ran {
        run(&mut self.command(args))
    }

    /// The same with something on stdin.
    pub(crate) fn pipe(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // relay may stop reading before everything is written.
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join().unwrap();
        Ran::from(output)
    }

    /// `relay preview` of this answer.
    pub(crate) fn preview(&self, answer: &str) -> Ran {
        self.pipe(&["preview", "-"], answer.as_bytes())
    }

    /// `relay apply -y` of this answer.
    pub(crate) fn apply(&self, answer: &str) -> Ran {
        self.pipe(&["apply", "-", "-y"], answer.as_bytes())
    }

    /// The same, which must work; the id that it got.
    pub(crate) fn applied(&self, answer: &str) -> String {
        let ran = self.pipe(&["apply", "-", "-y", "--json", "-q"], answer.as_bytes());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
        ran.json()["id"].as_str().unwrap().to_string()
    }

    /// A command, which must work; what it said on stdout.
    pub(crate) fn done(&self, args: &[&str]) -> String {
        let ran = self.relay(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}: {ran:?}");
        ran.out
    }

    /// The entries of `relay log --json`.
    pub(crate) fn log(&self) -> Vec<Value> {
        let ran = self.relay(&["log", "--json"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.json()["entries"].as_array().unwrap().clone()
    }

    /// `relay preview --json` of this answer: the exit code and the object.
    pub(crate) fn json(&self, answer: &str) -> (i32, Value) {
        let ran = self.pipe(&["preview", "-", "--json", "-q"], answer.as_bytes());
        assert_eq!(ran.err, "", "--json -q says nothing on stderr");
        (ran.code, ran.json())
    }
}

pub(crate) fn run(command: &mut Command) -> Ran {
    Ran::from(command.output().unwrap())
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "one object on one line: {self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A search/replace block.
pub(crate) fn edit(path: &str, before: &str, after: &str) -> String {
    format!(
        "```text // {path} search-replace\n<<<<<<< SEARCH\n{before}\n=======\n{after}\n>>>>>>> REPLACE\n```\n"
    )
}

/// A whole-file block.
pub(crate) fn whole(path: &str, text: &str) -> String {
    format!("```text // {path} replace\n{text}```\n")
}

/// A control block with this id and message.
pub(crate) fn control(uuid: &str, message: &str) -> String {
    format!("\n```yaml\nprojectId: shop.k3yk3yk3yk\nuuid: {uuid}\ngitCommitMsg: \"{message}\"\n```\n")
}
