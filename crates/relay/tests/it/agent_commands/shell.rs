//! What the shell remembers, and what the model reads of a command.

use std::fs;

use relaycode_testkit::model::ScriptedTurn;
use serde_json::{Value, json};

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
        json!({"timeout": 5}),
        json!({"cmd": "echo y", "description": "Say y"}),
        json!({"command": "touch x", "commnad": "y"}),
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
        "y",
        "(did you mean `command`?)",
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

#[test]
fn aliases_and_options_stay_but_for_what_ends_a_shell() {
    let results = commands(&[
        command(
            "alias ll='echo listed'\nshopt -s globstar extglob; set -o pipefail; set -ex\nf() { case $1 in @(a|b)) echo ab ;; esac; }",
        ),
        command("ll; f b; shopt globstar; set -o | grep -E 'pipefail|errexit|xtrace'; false; echo went on"),
        command("unalias ll; shopt -u globstar; set +o pipefail; alias '[=echo' exit='echo no'"),
        command("ll; shopt globstar; false | true && echo fine; test x = x && echo yes"),
        command("exec echo replaced"),
        command("shopt extglob"),
    ]);
    let options = ["errexit        \toff", "pipefail       \ton", "xtrace         \toff"].join("\n");
    assert_eq!(results[1], format!("listed\nab\nglobstar       \ton\n{options}\nwent on"));
    assert_eq!(results[2], "(no output)");
    assert!(results[3].contains("ll: command not found"), "{}", results[3]);
    assert!(results[3].ends_with("globstar       \toff\nfine\nyes"), "{}", results[3]);
    assert_eq!(results[4..], ["replaced", "extglob        \ton"]);
}

#[test]
fn aliases_and_functions_of_the_users_own_bash_are_there_where_that_is_set() {
    let calls = || {
        [
            json!({"command": "hello; greet you; echo [$NOISE]; ls", "pty": true}),
            command("unalias hello; unset -f greet"),
            command("type -t hello greet"),
        ]
    };
    let bashrc = "case $- in *i*) ;; *) return ;; esac\necho touch a-file-of-noise\nNOISE=loud\nalias hello='echo hello there'\ngreet() { echo \"hi $1\"; }\n";
    let run_with = |config: &str| {
        let run = ShellRun::of(calls()).configure(config);
        // Where a command in a fence can look.
        let home = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::write(home.path().join(".bashrc"), bashrc).unwrap();
        let mut relay = run.project.command(&["run", "Go", "--access", "workspace"]);
        let ran = relay.env("HOME", home.path()).env("PATH", "/usr/bin:/bin").output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        run.results()
    };
    let off = run_with("");
    assert!(off[0].contains("hello: command not found"), "{off:?}");
    let on = run_with("agent: {bashStartup: true}\n");
    assert_eq!(on[0], "hello there\nhi you\n[]\na.txt", "{on:?}");
    assert!(
        on[2].starts_with("(no output)") && on[2].contains("code 1"),
        "what was taken away stays away: {on:?}"
    );
}

#[test]
fn an_address_in_a_command_is_a_file_that_it_can_read() {
    let run = ShellRun::of([
        command("seq 1 3000"),
        command("wc -l < artifact://0; tail -1 \"artifact://0\"; head -1 'artifact://0'"),
        json!({"command": "tail -n 1 \"$LOG\"; echo $OTHER", "env": {"LOG": "artifact://0", "OTHER": "artifact://77"}}),
        command("cat artifact://9; echo my-artifact://0 artifact://0x"),
        json!({"command": "pwd", "cwd": "artifact://0"}),
        json!({"command": "pwd", "cwd": "artifact://9"}),
        command("rm artifact://0; ln -s \"$PWD/a.txt\" artifact://0; true"),
        command("tail -1 artifact://0; cat a.txt"),
    ])
    .configure("agent: {bashOutputBytes: 2048}\n");
    run.run(&["--access", "workspace"]);
    let results = run.results();
    assert!(results[1].starts_with("3000\n3000\n1\n[artifact://0 stands for a copy: /"), "{}", results[1]);
    assert!(results[2].starts_with("3000\nartifact://77\n["), "{}", results[2]);
    assert!(results[3].contains("artifact://9': No such file"), "{}", results[3]);
    assert!(results[3].ends_with("my-artifact://0 artifact://0x"), "{}", results[3]);
    assert_eq!(results[4], "`artifact://0` is a file, not a directory; name it in the command");
    assert_eq!(results[5], "there is no artifact `9`; there are artifact://0");
    assert!(
        results[7].starts_with("3000\none\ntwo"),
        "a link that a command left is not written through: {}",
        results[7]
    );
}

#[test]
fn the_users_own_rules_for_commands_are_told_if_they_cannot_be_used() {
    let rules = "agent:\n  bashInterceptor: true\n  bashInterceptorRules:\n\
        \x20   - {pattern: '^npm (i|install)', tool: todo_write, message: 'Note it down first'}\n\
        \x20   - {pattern: '(', tool: read, message: m}\n\
        \x20   - {pattern: 'x', tool: reed, message: m}\n\
        \x20   - {pattern: '^make', tool: ask, message: 'Ask first'}\n";
    let calls = || {
        [
            command("npm install left-pad"),
            command("cat a.txt"),
            command("make --version >/dev/null; echo made"),
        ]
    };
    let run = ShellRun::of(calls()).configure(rules);
    let ran = run.run(&[]);
    let results = run.results();
    assert_eq!(results[0], "Blocked: Note it down first. The command was: npm install left-pad");
    assert!(results[1].starts_with("Blocked: `read` shows files"), "{results:?}");
    assert!(results[2].ends_with("made"), "nobody can be asked, so there is no `ask`: {results:?}");
    for said in ["`(` is no regular expression: unclosed group", "there is no tool `reed`"] {
        assert!(
            ran.err.contains(&format!("a rule of `agent.bashInterceptorRules` is left out: {said}")),
            "{ran:?}"
        );
    }
    let run = ShellRun::of(calls()).configure(&rules.replace("Interceptor: true", "Interceptor: false"));
    let ran = run.run(&[]);
    assert!(
        ran.err
            .contains("`agent.bashInterceptorRules` does nothing, because `agent.bashInterceptor` is false"),
        "{ran:?}"
    );
    assert_eq!(run.results()[1], "one\ntwo");
    let run = ShellRun::of([command("cat a.txt")]).configure(rules);
    run.run(&["--tools", "bash"]);
    assert_eq!(run.results(), ["one\ntwo"], "without `read` there is no better tool");
}

#[test]
fn what_a_command_prints_is_shown_while_it_runs() {
    let run = ShellRun::of([command("echo begun; sleep 0.5; echo over")]);
    let ran = run.project.relay(&["run", "Go", "--json"]);
    let events = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let updates: Vec<Value> = events.filter(|event| event["type"] == "tool_execution_update").collect();
    let tails: Vec<&str> = updates.iter().filter_map(|event| event["update"]["tail"].as_str()).collect();
    assert_eq!(tails.first(), Some(&"begun\n"), "{updates:?}");
}

#[test]
fn names_that_stand_for_words_of_the_shells_own_hold_nothing_up() {
    let results = commands(&[
        command(
            "[() { echo no; }; shift() { :; }; trap() { :; }; kept=1; EPOCHS=10; HISTORY=a; seen() { echo seen; }; export -f seen",
        ),
        json!({"command": "echo $kept $EPOCHS $HISTORY $ONCE; bash -c seen; unset -f '[' shift trap", "env": {"ONCE": "once"}}),
        command("alias builtin='echo no'; kept=2; set -v"),
        command("echo $kept; unalias builtin"),
        command("set -k; kept=3"),
        command("echo $kept"),
    ]);
    assert_eq!(results[1], "1 10 a once\nseen");
    assert_eq!((results[2].as_str(), results[3].as_str()), ("(no output)", "2"));
    assert_eq!(results[5], "3");
}
