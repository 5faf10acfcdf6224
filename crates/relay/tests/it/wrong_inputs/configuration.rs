//! A configuration that cannot be read or says what makes no sense, and checks that cannot run.

use serde_json::json;

use super::project;
use crate::fixture::configured_project::{configured, keyed, trusted};
use crate::fixture::scratch_project::{edit, run};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

#[test]
fn configurations_that_cannot_be_read() {
    let mut transcript = Transcript::default();
    for text in [
        "",
        "{\"projectId\": \"shop\",\n",
        "{\n  \"projectId\": \"shop\",\n  \"patch\": {\"linter\": 7}\n}\n",
        "{\"projectId\": \"shop\", \"patch\": {\"lintr\": \"tsc\"}}\n",
        "{\"projectId\": \"shop\", \"patch\": {\"approvalMode\": \"sometimes\"}}\n",
        "[1, 2]\n",
        "{\"projectId\": \"\"}\n",
        "projectId: shop\n",
        "{\"projectId\": \"a\", \"projectId\": \"b\"}\n",
    ] {
        let project = project();
        project.put("relaycode.config.json", text.as_bytes());
        transcript.add(
            &format!("{text:?}"),
            &project.pipe(&["apply", "-", "-y"], edit("a.txt", "one", "1").as_bytes()),
        );
    }
    relay_snapshot!(transcript, @r#"
    # ""
    exit 2
    ----- stderr -----
    ✗ the file ends where a value is expected
      in relaycode.config.json:1
      fix the file; `relay config check` checks it again

    # "{\"projectId\": \"shop\",\n"
    exit 2
    ----- stderr -----
    ✗ the file ends inside an object: `}` is missing
      in relaycode.config.json:2
      fix the file; `relay config check` checks it again

    # "{\n  \"projectId\": \"shop\",\n  \"patch\": {\"linter\": 7}\n}\n"
    exit 2
    ----- stderr -----
    ✗ `patch.linter` is 7; it must be a command line in quotes, or "" for none
      in relaycode.config.json:3

    # "{\"projectId\": \"shop\", \"patch\": {\"lintr\": \"tsc\"}}\n"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · `relay undo` undoes it

    # "{\"projectId\": \"shop\", \"patch\": {\"approvalMode\": \"sometimes\"}}\n"
    exit 2
    ----- stderr -----
    ✗ `patch.approvalMode` is "sometimes"; it must be "auto" or "manual"
      in relaycode.config.json:1

    # "[1, 2]\n"
    exit 2
    ----- stderr -----
    ✗ the configuration is a list, not an object
      in relaycode.config.json:1
      it must begin with `{`

    # "{\"projectId\": \"\"}\n"
    exit 2
    ----- stderr -----
    ✗ `projectId` is empty
      in relaycode.config.json:1
      it must be a text of 1 to 100 visible characters

    # "projectId: shop\n"
    exit 2
    ----- stderr -----
    ✗ `projectId` is a name, not a value
      in relaycode.config.json:1
      fix the file; `relay config check` checks it again

    # "{\"projectId\": \"a\", \"projectId\": \"b\"}\n"
    exit 2
    ----- stderr -----
    ✗ the key `projectId` appears twice in this object
      in relaycode.config.json:1
      fix the file; `relay config check` checks it again
    "#);
}

#[test]
fn configurations_that_are_no_text_or_no_file() {
    let mut transcript = Transcript::default();
    let binary = project();
    binary.put("relaycode.config.json", b"\xff\xfe{\0}\0");
    transcript.add("UTF-16", &binary.relay(&["config"]));
    let folder = project();
    folder.put("relaycode.config.json/x", b"");
    transcript.add("a directory", &folder.relay(&["config"]));
    let two = project();
    two.put("relaycode.config.json", b"{\"projectId\": \"a\"}");
    two.put("relaycode.config.ts", b"export default { projectId: 'b' };\n");
    transcript.add("two of them", &two.relay(&["config", "check"]));
    let odd = configured(&[], json!({"patch": {"lintr": "tsc"}, "gti": {}}));
    transcript.add("keys with typos", &odd.relay(&["config", "check"]));
    relay_snapshot!(transcript, @"
    # UTF-16
    exit 2
    ----- stderr -----
    ✗ it is UTF-16 text, not UTF-8
      in relaycode.config.json
      save it as UTF-8

    # a directory
    exit 2
    ----- stderr -----
    ✗ it is not a regular file
      in relaycode.config.json
      remove it, or put a file there

    # two of them
    exit 0
    ----- stdout -----
    ✓ relaycode.config.json can be read, with 1 remark
    ! relaycode.config.json: relay reads relaycode.config.json and ignores relaycode.config.ts; keep one of them

    # keys with typos
    exit 0
    ----- stdout -----
    ✓ relaycode.config.json can be read, with 2 remarks
    ! relaycode.config.json:1: `patch.lintr` is not a key that relay knows, so it does nothing; did you mean `patch.linter`?
    ! relaycode.config.json:1: `gti` is not a key that relay knows, so it does nothing
    ");
}

#[test]
fn checks_that_cannot_run() {
    let mut transcript = Transcript::default();
    let files = [("a.txt", "one\ntwo\n")];
    for (what, patch) in [
        ("a program that is not there", json!({"linter": "no-such-linter --strict"})),
        ("a linter that takes too long", json!({"linter": "sleep 60", "commandTimeout": 1})),
        ("a preCommand that fails", json!({"preCommand": "echo no network; exit 3"})),
        ("a postCommand that is not there", json!({"postCommand": "no-such-formatter"})),
    ] {
        let project = trusted(&files, json!({"patch": patch}));
        let answer =
            keyed(&project, &edit("a.txt", "one", "1"), "aaaa1111-0000-4000-8000-000000000001", "number");
        let mut command = project.command(&["apply", "answer.md", "-y"]);
        project.put("answer.md", answer.as_bytes());
        command.env("PATH", "/usr/bin:/bin");
        transcript.add(what, &run(&mut command));
    }
    relay_snapshot!(transcript, @"
    # a program that is not there
    exit 5
    ----- stdout -----
    ▸ number                                                                   1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ----- stderr -----
    ✗ not applied: linter `no-such-linter` not found in PATH; nothing was changed
      install it, or change the command in the configuration

    # a linter that takes too long
    exit 5
    ----- stdout -----
    ▸ number                                                                   1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ----- stderr -----
    ✗ not applied: linter `sleep 60` was ended after 1 s; nothing was changed
      `patch.commandTimeout` says how many seconds it may take

    # a preCommand that fails
    exit 5
    ----- stdout -----
    ▸ number                                                                   1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ----- stderr -----
        no network
    ✗ not applied: preCommand `echo no network; exit 3` ended with code 3; nothing was changed
      fix what it reports, or change the command in the configuration

    # a postCommand that is not there
    exit 5
    ----- stdout -----
    ▸ number                                                                   1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ----- stderr -----
    ✗ not kept: no-such-formatter ended with code 127                everything was put back
        /bin/sh: 1: no-such-formatter: not found
      keep it anyway: `relay apply answer.md --allow gate`
    ");
}

#[test]
fn commands_that_are_not_trusted() {
    let project = configured(&[("a.txt", "one\n")], json!({"patch": {"linter": "tsc --noEmit"}}));
    relay_snapshot!(project.apply(&edit("a.txt", "one", "1")), @"
    exit 7
    ----- stderr -----
    ✗ this project wants to run 1 command, which you have not trusted yet; nothing was changed
      `relay trust` shows what it wants to run, and asks
    ");
    relay_snapshot!(project.relay(&["trust"]), @"
    exit 13
    ----- stdout -----
    this project wants to run 1 command
        linter   tsc --noEmit
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on; nothing was changed
      `relay trust -y` accepts what it shows
    ");
}
