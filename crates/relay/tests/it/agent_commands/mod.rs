//! `relay run` with a scripted model that runs commands: permissions, the fence, what is recorded and undone, what the shell
//! remembers, jobs in the background, and that nothing is left.

mod cost;
mod jobs;
mod permissions;
mod processes;
mod settings;
mod shell;
mod undo;

use std::fs;
use std::time::{Duration, Instant};

use relaycode_testkit::model::{ScriptedServer, ScriptedTurn};
use serde_json::{Value, json};

use crate::agent_run::{WIRES, serving};
use crate::fixture::scratch_project::{Project, Ran};

/// A model that runs these commands, one after the other, and then says "Done."; what it was told of each.
struct ShellRun {
    server: ScriptedServer,
    project: Project,
}

impl ShellRun {
    fn of(calls: impl IntoIterator<Item = Value>) -> ShellRun {
        let turns = calls.into_iter().map(|arguments| ScriptedTurn::call("bash", arguments));
        ShellRun::turns(turns)
    }

    fn turns(turns: impl IntoIterator<Item = ScriptedTurn>) -> ShellRun {
        let turns: Vec<_> = turns.into_iter().chain([ScriptedTurn::text("Done.")]).collect();
        let (server, project) = serving(WIRES[0], turns);
        ShellRun { server, project }
    }

    fn configure(self, config: &str) -> ShellRun {
        fs::write(self.project.home().join("config.yml"), config).unwrap();
        self
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let ran = self.project.relay(&[&["run", "Go"], arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{ran:?}");
        ran
    }

    /// The results of all calls, in order, as the model got them.
    fn results(&self) -> Vec<String> {
        let requests = self.server.requests();
        let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
        let pieces = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
        let results = pieces.filter(|piece| piece["type"] == "tool_result");
        results.map(|result| text_of(&result["content"])).collect()
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => pieces.iter().filter_map(|piece| piece["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Runs these commands with `--access workspace`; the results.
fn commands(calls: &[Value]) -> Vec<String> {
    let run = ShellRun::of(calls.to_vec());
    run.run(&["--access", "workspace"]);
    run.results()
}

fn command(line: &str) -> Value {
    json!({ "command": line })
}

/// The result of one command.
fn result(line: &str) -> String {
    commands(&[command(line)]).remove(0)
}

/// Whether a process runs that has this word on its command line.
fn is_running(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|process| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    })
}

/// Waits until it is so.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::yield_now();
    }
}
