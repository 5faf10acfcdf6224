//! What decides whether a command runs, what holds it, and what it does not see.

use std::fs;

use super::{ShellRun, command, commands};

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
        said.starts_with("the command did not run: `curl` needs the network, and there is nobody to ask"),
        "{said}"
    );
    assert!(!run.project.path("ran.txt").exists());
    assert!(
        ran.err
            .contains("not run, with nobody to ask: `curl` needs the network; the rule `curl * [network]`"),
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
