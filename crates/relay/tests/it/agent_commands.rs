//! `relay run` with a scripted model that runs commands: permissions, the fence, what is recorded and undone, what the shell
//! remembers, jobs in the background, and that nothing is left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use relaycode_testkit::model::{ScriptedServer, ScriptedTurn};
use rustix::process::{Pid, Signal, kill_process};
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

#[test]
fn what_a_command_changes_is_in_the_entry_of_the_prompt_and_undo_takes_it_back() {
    let run = ShellRun::turns([
        ScriptedTurn::call("write", json!({"path": "b.txt", "content": "new\n"})),
        ScriptedTurn::call("bash", command("echo three >> a.txt; chmod 755 a.txt; mkdir -p d/e; echo x > d/e/f; ls")),
        ScriptedTurn::call("bash", command("rm b.txt; mv d/e/f g")),
    ]);
    let before = run.project.tree();
    run.run(&["--access", "workspace"]);
    assert_eq!(run.results()[1], "a.txt\nb.txt\nd");
    assert_eq!(run.project.text("a.txt"), "one\ntwo\nthree\n");
    assert_eq!((run.project.text("g").as_str(), run.project.path("b.txt").exists()), ("x\n", false));
    let log = run.project.log();
    assert_eq!(log.len(), 1, "{log:?}");
    assert_eq!(log[0]["summary"], "Go", "{log:?}");
    run.project.done(&["undo"]);
    assert_eq!(run.project.tree(), before);
}

#[test]
fn a_rule_denies_a_command_by_its_name() {
    let run = ShellRun::of([command("true && rm a.txt")]).configure("permissions:\n  deny: [\"rm *\"]\n");
    run.run(&[]);
    let said = &run.results()[0];
    assert!(said.contains("may not run: the rule `deny rm *` denies it"), "{said}");
    assert!(run.project.path("a.txt").exists());
}

#[test]
fn with_nobody_to_ask_the_command_does_not_run_and_the_end_says_so() {
    let run = ShellRun::of([command("echo ran > ran.txt; curl http://example.com/")]);
    let ran = run.run(&[]);
    let said = &run.results()[0];
    assert!(said.starts_with("the command did not run: `curl` needs the network, and there is nobody to ask"), "{said}");
    assert!(!run.project.path("ran.txt").exists());
    assert!(ran.err.contains("not run, with nobody to ask: `curl` needs the network; the rule `curl * [network]`"), "{ran:?}");
    let run = ShellRun::of([command("touch x"), command("ls")]);
    let ran = run.run(&["--access", "ask"]);
    let results = run.results();
    assert!(results[0].contains("there is nobody to ask") && results[1] == "a.txt", "{results:?}");
    assert!(ran.err.contains("not run, with nobody to ask"), "{ran:?}");
}

#[test]
fn the_fence_holds_and_the_model_is_told() {
    let outside = tempfile::TempDir::new_in("/var/tmp").unwrap();
    let kept = outside.path().join("kept");
    fs::write(&kept, "mine").unwrap();
    let path = kept.display();
    let results = commands(&[
        command(&format!("echo x > {path}")),
        command("echo x >> /etc/passwd"),
        command("cat .relaycode/lock; ls .relaycode"),
        command("exec 3<>/dev/tcp/127.0.0.1/1 || exit 7"),
        command("echo evil > .envrc; echo fine > b.txt; cat .envrc"),
        command("ls -A"),
        command("touch /tmp/of-one; echo $TMPDIR"),
        command("ls /tmp/of-one"),
    ]);
    assert_eq!(fs::read_to_string(&kept).unwrap(), "mine");
    assert!(results[0].ends_with("Command exited with code 1"), "{}", results[0]);
    assert!(results[1].contains("Command exited with code 1"), "{}", results[1]);
    assert!(results[3].ends_with("Command exited with code 7"), "{}", results[3]);
    assert!(results[4].contains("[Put back as it was: .envrc"), "{}", results[4]);
    assert!(!results[5].contains(".envrc") && results[5].contains("b.txt"), "{}", results[5]);
    assert_eq!(results[7], "/tmp/of-one");
    let run = ShellRun::of([command("echo x > new.txt; cat a.txt")]);
    run.run(&["--access", "read-only"]);
    assert!(run.results()[0].contains("one\ntwo") && !run.project.path("new.txt").exists(), "{:?}", run.results());
}

#[test]
fn directory_variables_and_functions_stay_and_processes_do_not() {
    let results = commands(&[
        command("mkdir -p sub/deep; cd sub; plain='a b'; export EXPORTED=$'x\\ny'; list=(1 '2 3'); f() { echo \"f:$1\"; }; sleep 98761 &"),
        command("pwd | sed 's/.*\\///'; echo \"$plain|$EXPORTED|${list[1]}\"; bash -c 'echo $EXPORTED'; f hi; ps ax 2>/dev/null | grep -c '[9]8761'"),
        json!({"command": "pwd | sed 's/.*\\///'; echo $plain$ONCE", "cwd": ".", "env": {"ONCE": "once", "plain": "other"}}),
        command("cd deep; echo \"[$ONCE][$plain]\"; unset -f f; unset plain; exit 3"),
        command("pwd | sed 's/.*\\///'; echo \"[$plain]\"; type -t f"),
        json!({"command": "pwd | sed 's/.*\\///'", "cwd": ".."}),
        command("cd /; trap 'echo bye' EXIT; set -e; readonly R=1"),
        command("pwd | sed 's/.*\\///' | cut -c1-8; echo $R"),
    ]);
    assert!(results[0].contains("1 process that it left running was ended"), "{}", results[0]);
    assert!(results[1].starts_with("sub\na b|x\ny|2 3\nx y\nf:hi\n0"), "{}", results[1]);
    assert_eq!(results[2], "sub\notheronce");
    assert!(results[3].starts_with("[][a b]") && results[3].ends_with("Command exited with code 3"), "{}", results[3]);
    assert!(results[4].starts_with("deep\n[]\n") && results[4].contains("code 1"), "{}", results[4]);
    assert_eq!(results[5], "sub");
    assert!(results[6].contains("bye") && results[6].contains("[It ended in /, outside of the project"), "{}", results[6]);
    assert_eq!(results[7], "project-\n1");
}

#[test]
fn errors_before_anything_runs() {
    let results = commands(&[
        json!({"command": " "}),
        json!({"command": "touch x", "env": {"1BAD": "x"}}),
        json!({"command": "touch x", "env": {"A=B": "x"}}),
        json!({"command": "touch x", "cwd": "missing"}),
        json!({"command": "touch x", "cwd": "a.txt"}),
        json!({"command": "touch x", "cwd": "/etc"}),
        json!({"command": format!("touch x; echo {}", "y".repeat(100 << 10))}),
        json!({"cmd": "touch x"}),
        command("ls"),
    ]);
    let wanted = [
        "the command is empty",
        "Invalid bash env name: 1BAD",
        "Invalid bash env name: A=B",
        "the directory `missing` does not exist",
        "`a.txt` is not a directory",
        "leads outside of the project",
        "the command has more than 96 kB",
        "the arguments are not valid: missing field `command`",
        "a.txt",
    ];
    for (said, wanted) in results.iter().zip(wanted) {
        assert!(said.contains(wanted), "{said}: {wanted}");
    }
}

#[test]
fn how_a_command_ended_is_told() {
    let results = commands(&[
        command("true"),
        command("echo out; echo err >&2; exit 42"),
        command("kill -SEGV $$"),
        json!({"command": "echo begun; sleep 1000", "timeout": 0.1}),
        json!({"command": "echo ok", "timeout": 99999}),
        command("echo 'unclosed"),
        command("printf 'a\\xffb'"),
        command("echo [$CI$PAGER$GIT_TERMINAL_PROMPT$TERM]; git --no-pager --version >/dev/null; cat"),
    ]);
    assert_eq!(results[0], "(no output)");
    assert_eq!(results[1], "out\nerr\n\nCommand exited with code 42");
    assert!(results[2].contains("Command was ended by signal 11") || results[2].contains("code 139"), "{}", results[2]);
    assert!(results[3].starts_with("begun\n[The timeout was set to 1 seconds: 1 to 3600 are possible]"), "{}", results[3]);
    assert!(results[3].ends_with("Command timed out after 1 seconds"), "{}", results[3]);
    assert_eq!(results[4], "ok\n[The timeout was set to 3600 seconds: 1 to 3600 are possible]");
    assert!(results[5].contains("unexpected EOF") && results[5].contains("Command exited with code"), "{}", results[5]);
    assert_eq!(results[6], "a\u{fffd}b");
    assert_eq!(results[7], "[1cat0dumb]");
}

#[test]
fn a_long_output_is_shown_from_its_end_and_kept_whole() {
    let run = ShellRun::turns([
        ScriptedTurn::call("bash", command("seq 1 30000")),
        ScriptedTurn::call("read", json!({"path": "artifact://0:1-2"})),
        ScriptedTurn::call("bash", command("seq 1 30001 | tr '\\n' ' '")),
    ])
    .configure("agent: {bashOutputBytes: 2048}\n");
    run.run(&[]);
    let results = run.results();
    assert!(results[0].starts_with("296"), "{}", results[0]);
    assert!(results[0].ends_with("29999\n30000\n[Showing lines 29660-30000 of 30000; all of it: artifact://0]"), "{}", results[0]);
    assert!(results[1].contains('1') && results[1].contains('2'), "{}", results[1]);
    assert!(results[2].len() < 2_200 && results[2].contains("artifact://1"), "{}", results[2]);
}

#[test]
fn a_flood_is_bounded_in_memory_and_on_disk() {
    let run = ShellRun::of([json!({"command": "yes flood", "timeout": 4})]);
    run.run(&[]);
    let said = &run.results()[0];
    assert!(said.len() < 52 << 10 && said.contains("artifact://0"), "{}", said.len());
    assert!(said.ends_with("Command timed out after 4 seconds"));
    let mut open = vec![run.project.home().join("sessions")];
    let mut sizes = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else if entry.file_name() == "0.bash.log" {
                sizes.push(entry.metadata().unwrap().len());
            }
        }
    }
    println!("kept of the flood: {sizes:?} bytes");
    assert!(sizes.len() == 1 && sizes[0] <= 64 << 20, "{sizes:?}");
}

#[test]
fn what_daemonises_closes_its_output_or_leaves_is_ended() {
    for (number, line) in [
        ("887001", "setsid sleep 887001 & disown"),
        ("887002", "(setsid nohup sleep 887002 >/dev/null 2>&1 &) ; exec >&- 2>&-"),
        ("887003", "cd /; for i in 1 2 3 4 5; do (sleep 887003 &) ; done"),
    ] {
        let said = result(line);
        assert!(said.contains("left running"), "{line}: {said}");
        assert!(!is_running(number), "{line}");
    }
}

#[test]
fn an_abort_ends_everything_that_runs() {
    for (number, signal) in [(887_011, Signal::INT), (887_012, Signal::TERM), (887_013, Signal::KILL)] {
        let number = number.to_string();
        let run = ShellRun::turns([
            ScriptedTurn::call("bash", json!({"command": format!("sleep {number}"), "async": true})),
            ScriptedTurn::call("bash", command(&format!("echo x > made.txt; trap '' TERM INT; setsid sleep {number}"))),
        ]);
        let mut child = run
            .project
            .command(&["run", "Go"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the command begins", || run.project.path("made.txt").exists());
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        if signal != Signal::KILL {
            assert_eq!(status.code(), Some(130), "{signal:?}");
        }
        wait_until("nothing is left", || !is_running(&number));
        // What it had changed is recorded, by the run itself or by whoever comes next.
        let undone = run.project.relay(&["undo", "-y"]);
        assert_eq!(undone.code, 0, "{signal:?}: {undone:?}");
        assert!(!run.project.path("made.txt").exists(), "{signal:?}");
    }
}

#[test]
fn a_terminal_is_there_when_it_is_wanted() {
    let results = commands(&[
        json!({"command": "test -t 1 && echo a terminal; stty size; echo $TERM; printf '\\033[1mbold\\033[0m\\n'", "pty": true}),
        command("test -t 1 || echo none"),
    ]);
    assert_eq!(results, ["a terminal\n40 120\nxterm-256color\nbold", "none"]);
}

#[test]
fn keys_of_providers_and_what_relay_goes_by_are_no_commands() {
    let run = ShellRun::of([command("echo \"[$ANTHROPIC_API_KEY$OPENAI_API_KEY$RELAY_HOME$GEMINI_API_KEY][$MINE]\"")]);
    let mut relay = run.project.command(&["run", "Go", "--access", "full"]);
    relay.env("ANTHROPIC_API_KEY", "sk-ant-1").env("OPENAI_API_KEY", "sk-2").env("GEMINI_API_KEY", "3").env("MINE", "mine");
    assert!(relay.output().unwrap().status.success());
    assert_eq!(run.results(), ["[][mine]"]);
}

#[test]
fn the_interceptor_names_the_better_tool_where_it_is_on() {
    let calls = || [command("cat a.txt"), command("cat a.txt | wc -l"), command("sed -i s/one/1/ a.txt")];
    assert_eq!(commands(&calls())[0], "one\ntwo");
    let run = ShellRun::of(calls()).configure("agent: {bashInterceptor: true}\n");
    run.run(&[]);
    let results = run.results();
    assert!(results[0].starts_with("Blocked: `read` shows files") && results[0].ends_with("The command was: cat a.txt"), "{results:?}");
    assert_eq!(results[1], "2");
    assert!(results[2].starts_with("Blocked: `edit`") && run.project.text("a.txt").starts_with("one"), "{results:?}");
}
