//! What decides whether a command runs, what holds it, and what it does not see.

use std::fs;

use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use super::{ShellRun, command, commands};
use crate::agent_run::lines;

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
    assert!(
        said.starts_with(
            "the command did not run: `echo ran > ran.txt; curl http://example.com/` needs the network, and there is nobody to ask"
        ),
        "{said}"
    );
    assert!(!run.project.path("ran.txt").exists());
    assert!(
        ran.err.contains(
            "curl http://example.com/` needs the network; the rule `curl * [network]` would allow it"
        ),
        "{ran:?}"
    );
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
        command(
            "for n in .envrc b.txt; do echo \"echo made > $n; cat $n\"; done > made.sh; sh made.sh; rm made.sh",
        ),
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
    let run = ShellRun::of([command("echo x > new.txt"), command("cat a.txt; sh new.sh || ls")]);
    run.project.put("new.sh", b"echo x > new.txt");
    run.run(&["--access", "read-only"]);
    let results = run.results();
    assert!(results[0].contains("the rule `built-in:read-only-access` denies it"), "{results:?}");
    assert!(results[1].starts_with("one\ntwo\n") && results[1].ends_with("a.txt\nnew.sh"), "{results:?}");
}

#[test]
fn keys_of_providers_and_what_relay_goes_by_are_no_commands() {
    let run = ShellRun::of([command(
        "echo \"[$ANTHROPIC_API_KEY$OPENAI_API_KEY$RELAY_HOME$GEMINI_API_KEY][$MINE]\"",
    )]);
    let mut relay = run.project.command(&["run", "Go", "--access", "full"]);
    relay
        .env("ANTHROPIC_API_KEY", "sk-ant-1")
        .env("OPENAI_API_KEY", "sk-2")
        .env("GEMINI_API_KEY", "3")
        .env("MINE", "mine");
    assert!(relay.output().unwrap().status.success());
    assert_eq!(run.results(), ["[][mine]"]);
}

#[test]
fn what_a_rule_denies_is_not_offered_and_its_file_is_not_read() {
    let read = ScriptedTurn::call("read", json!({"path": "a.txt"}));
    let run = ShellRun::turns([read, ScriptedTurn::call("bash", command("cat a.txt"))])
        .configure("permissions:\n  deny: [\"tool bash\", \"read a.txt\"]\n  ask: [\"tool find\"]\n");
    let ran = run.run(&[]);
    assert!(ran.err.contains("the tool bash is left out: the rule `deny tool bash` denies it"), "{ran:?}");
    let tools = run.server.requests()[0].body["tools"].to_string();
    assert!(!tools.contains("\"bash\"") && tools.contains("\"find\""), "{tools}");
    let results = run.results();
    assert!(results[0].contains("the rule `deny read a.txt` denies reading `a.txt`"), "{results:?}");
    assert!(results[1].contains("there is no tool `bash`"), "{results:?}");
    let run = ShellRun::turns([ScriptedTurn::call("find", json!({"paths": "*"}))])
        .configure("permissions:\n  ask: [\"tool find\"]\n");
    let ran = run.run(&[]);
    assert!(run.results()[0].contains("there is nobody to ask"), "{ran:?}");
    let listed = "not run, with nobody to ask: the rule `ask tool find` asks about the tool `find`";
    assert!(ran.err.contains(listed), "{ran:?}");
}

#[test]
fn the_person_hears_at_once_and_at_the_end_what_was_put_back() {
    let made = "for n in .envrc b.txt; do echo \"echo made > $n\"; done > made.sh; sh made.sh; rm made.sh";
    let run = ShellRun::of([command(made)]);
    let ran = run.run(&["--access", "workspace"]);
    let said = "rm made.sh: put back as it was: .envrc";
    assert!(ran.err.contains(said) && ran.err.contains("! to look at: bash for n in"), "{ran:?}");
    let run = ShellRun::of([command(made)]);
    let ran = run.project.relay(&["run", "--json", "Go"]);
    let notice = lines(&ran.out).into_iter().find(|event| event["type"] == "notice").unwrap();
    assert!(notice["text"].as_str().unwrap().contains("put back as it was"), "{notice}");
}

#[test]
fn a_record_names_the_rule_that_let_the_command_run() {
    let allowed =
        ShellRun::of([command("touch made.txt")]).configure("permissions:\n  allow: [\"touch *\"]\n");
    allowed.run(&["--access", "ask"]);
    let held = ShellRun::of([command("touch made.txt")]);
    held.run(&["--access", "workspace"]);
    for (run, by) in [(&allowed, "the rule `allow touch *`"), (&held, "the rule `built-in:edits-project`")] {
        let shown = run.project.done(&["show", "1"]);
        assert!(shown.contains(&format!("yes by     {by}\n")), "{shown}");
        let why = run.project.done(&["why", "1"]);
        assert!(why.contains(&format!("decided   by {by}\n")), "{why}");
        let told = run.project.relay(&["why", "1", "--json"]).json();
        assert_eq!(told["decisions"][0]["decidedBy"], by, "{told}");
    }
}
