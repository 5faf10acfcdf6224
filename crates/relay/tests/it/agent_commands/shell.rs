//! What the shell remembers, and what the model reads of a command.

use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use super::{ShellRun, command, commands};

#[test]
fn directory_variables_and_functions_stay_and_processes_do_not() {
    let results = commands(&[
        command(
            "mkdir -p sub/deep; cd sub; plain='a b'; export EXPORTED=$'x\\ny'; list=(1 '2 3'); f() { echo \"f:$1\"; }; sleep 98761 &",
        ),
        command(
            "pwd | sed 's/.*\\///'; echo \"$plain|$EXPORTED|${list[1]}\"; bash -c 'echo $EXPORTED'; f hi; ps ax 2>/dev/null | grep -c '[9]8761'",
        ),
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
    assert!(
        results[3].starts_with("[][a b]") && results[3].ends_with("Command exited with code 3"),
        "{}",
        results[3]
    );
    assert!(results[4].starts_with("deep\n[]\n") && results[4].contains("code 1"), "{}", results[4]);
    assert_eq!(results[5], "sub");
    assert!(
        results[6].contains("bye") && results[6].contains("[It ended in /, outside of the project"),
        "{}",
        results[6]
    );
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
    assert!(
        results[2].contains("Command was ended by signal 11") || results[2].contains("code 139"),
        "{}",
        results[2]
    );
    assert!(
        results[3].starts_with("begun\n[The timeout was set to 1 seconds: 1 to 3600 are possible]"),
        "{}",
        results[3]
    );
    assert!(results[3].ends_with("Command timed out after 1 seconds"), "{}", results[3]);
    assert_eq!(results[4], "ok\n[The timeout was set to 3600 seconds: 1 to 3600 are possible]");
    assert!(
        results[5].contains("unexpected EOF") && results[5].contains("Command exited with code"),
        "{}",
        results[5]
    );
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
    assert!(
        results[0].ends_with("29999\n30000\n[Showing lines 29660-30000 of 30000; all of it: artifact://0]"),
        "{}",
        results[0]
    );
    assert!(results[1].contains('1') && results[1].contains('2'), "{}", results[1]);
    assert!(results[2].len() < 2_200 && results[2].contains("artifact://1"), "{}", results[2]);
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
fn the_interceptor_names_the_better_tool_where_it_is_on() {
    let calls = || [command("cat a.txt"), command("cat a.txt | wc -l"), command("sed -i s/one/1/ a.txt")];
    assert_eq!(commands(&calls())[0], "one\ntwo");
    let run = ShellRun::of(calls()).configure("agent: {bashInterceptor: true}\n");
    run.run(&[]);
    let results = run.results();
    assert!(
        results[0].starts_with("Blocked: `read` shows files")
            && results[0].ends_with("The command was: cat a.txt"),
        "{results:?}"
    );
    assert_eq!(results[1], "2");
    assert!(
        results[2].starts_with("Blocked: `edit`") && run.project.text("a.txt").starts_with("one"),
        "{results:?}"
    );
}
