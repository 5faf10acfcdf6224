//! A project with a configuration, trusted or not, and answers that carry its key; and the same on a
//! terminal. What every test about gates, trust and commits begins with.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use relaycode_testkit::process_table::find_processes;
use serde_json::{Value, json};

use crate::scratch_project::{Project, Ran, run};
use crate::terminal_questions::Session;

/// Far more than anything here takes.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A project called `shop`.
pub(crate) struct Scene {
    pub(crate) project: Project,
}

impl Scene {
    /// The files, and a configuration with these keys under `patch`. Nothing is trusted.
    pub(crate) fn untrusted(files: &[(&str, &str)], patch: &Value) -> Scene {
        let scene = Scene { project: Project::new(files) };
        scene.configure(&json!({"projectId": "shop", "patch": patch}));
        scene
    }

    /// The same, trusted.
    pub(crate) fn trusted(files: &[(&str, &str)], patch: &Value) -> Scene {
        let scene = Scene::untrusted(files, patch);
        scene.trust();
        scene
    }

    pub(crate) fn configure(&self, config: &Value) {
        self.project.put("relaycode.config.json", config.to_string().as_bytes());
    }

    pub(crate) fn trust(&self) {
        let ran = self.relay(&["trust", "-y"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// The file's text.
    pub(crate) fn text(&self, path: &str) -> String {
        self.project.text(path)
    }

    /// `relay` in the project; nobody is there to ask.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        surround(&mut command);
        command
    }

    pub(crate) fn relay(&self, args: &[&str]) -> Ran {
        run(&mut self.command(args))
    }

    /// `relay apply` of this answer with these flags.
    pub(crate) fn apply(&self, answer: &str, flags: &[&str]) -> Ran {
        let args = self.answer(answer, flags);
        self.relay(&args)
    }

    /// The same for a machine: the exit code and the object.
    pub(crate) fn json(&self, answer: &str, flags: &[&str]) -> (i32, Value) {
        let mut flags = flags.to_vec();
        flags.extend(["--json", "-q"]);
        let ran = self.apply(answer, &flags);
        (ran.code, ran.json())
    }

    /// The same, in the background.
    pub(crate) fn begin(&self, answer: &str, flags: &[&str]) -> Child {
        let args = self.answer(answer, flags);
        self.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The same, on a terminal.
    pub(crate) fn session(&self, answer: &str, flags: &[&str]) -> Session {
        let args = self.answer(answer, flags);
        self.at_terminal(&args)
    }

    /// `relay` on a terminal.
    pub(crate) fn at_terminal(&self, args: &[&str]) -> Session {
        Session::start_with(&self.project, args, "", &surround)
    }

    /// Puts the answer into a file; the arguments that apply it.
    pub(crate) fn answer<'a>(&self, answer: &str, flags: &[&'a str]) -> Vec<&'a str> {
        fs::write(self.project.home().join("answer.md"), answer).unwrap();
        // Outside of the project, where no linter trips over it.
        let path = self.project.home().join("answer.md").to_str().unwrap().to_string();
        let path: &'static str = Box::leak(path.into_boxed_str());
        let mut args = vec!["apply", path];
        args.extend(flags);
        args
    }

    /// The control block that a model writes which was given this project's prompt.
    pub(crate) fn keyed(&self, message: &str) -> String {
        let prompt = self.relay(&["prompt"]);
        let id = prompt.out.lines().find_map(|line| line.strip_prefix("projectId: ")).unwrap();
        format!("\n```yaml\nprojectId: {id}\ngitCommitMsg: {message:?}\n```\n")
    }

    /// What `relay show --json` has of the latest change.
    pub(crate) fn latest(&self) -> Value {
        self.relay(&["show", "1", "--json"]).json()["records"][0].clone()
    }

    /// Nothing of a transaction is left open.
    pub(crate) fn assert_settled(&self) {
        let state = self.project.path(".relaycode");
        let Ok(entries) = fs::read_dir(&state) else { return };
        for entry in entries {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.ends_with(".pending.yml"), "{name} is left");
        }
        let Ok(open) = fs::read_dir(state.join("tx")) else { return };
        for entry in open {
            let name = entry.unwrap().file_name().into_string().unwrap();
            // What a committed one displaced, and what somebody else wrote in the place of a file.
            assert!(name.ends_with(".done") || name.ends_with(".kept"), "tx/{name} is left");
        }
    }
}

/// The environment of every run: programs are found as in the test's own.
pub(crate) fn surround(command: &mut Command) {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    command.env("PATH", path);
}

pub(crate) fn executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Waits until it is so.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The processes whose environment or arguments hold this text, but for the test's own.
pub(crate) fn processes_with(marker: &str) -> Vec<u32> {
    let found = find_processes(|given| given.contains_text(marker));
    found.into_iter().map(|pid| pid.as_raw_nonzero().get().cast_unsigned()).collect()
}
