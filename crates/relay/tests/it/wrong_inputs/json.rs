//! The same for a machine: with `--json` each kind of failure is one object on stdout.

use serde_json::json;

use super::project;
use crate::fixture::configured_project::configured;
use crate::fixture::scratch_project::{Ran, edit};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

#[test]
fn each_kind_of_failure_is_one_object() {
    let project = project();
    let mut transcript = Transcript::default();
    let mut add = |what: &str, ran: Ran| transcript.add(what, &ran);
    add("an unknown command", project.relay(&["aply", "--json"]));
    add("an unknown change", project.relay(&["show", "zzz", "--json"]));
    add("no answer", project.relay(&["apply", "missing.md", "--json"]));
    add("no change in it", project.pipe(&["apply", "-", "--json"], b"Sure.\n"));
    add("no match", project.pipe(&["apply", "-", "--json"], edit("a.txt", "seven", "7").as_bytes()));
    add("nobody to ask", project.pipe(&["apply", "-", "--json"], edit("a.txt", "one", "1").as_bytes()));
    add("no directory", project.relay(&["-C", "missing", "log", "--json"]));
    add("a line that is not there", project.relay(&["blame", "a.txt:99", "--json"]));
    let broken = configured(&[], json!({"patch": {"linter": 7}}));
    add("a broken configuration", broken.relay(&["config", "--json"]));
    let untrusted = configured(&[("a.txt", "one\n")], json!({"patch": {"linter": "tsc"}}));
    add("not trusted", untrusted.pipe(&["apply", "-", "-y", "--json"], edit("a.txt", "one", "1").as_bytes()));
    relay_snapshot!(transcript, @r#"
    # an unknown command
    exit 2
    ----- stdout -----
    {"ok":false,"code":2,"command":"","error":{"kind":"usage","message":"unrecognized subcommand 'aply'","hint":"`relay --help` lists the commands, `relay COMMAND --help` the options of one","where":null}}
    ----- stderr -----
    error: unrecognized subcommand 'aply'

      tip: a similar subcommand exists: 'apply'

    Usage: relay [OPTIONS] [COMMAND]

    For more information, try '--help'.

    # an unknown change
    exit 2
    ----- stdout -----
    {"ok":false,"code":2,"command":"show","error":{"kind":"unknown","message":"nothing has been applied here yet","hint":"`relay apply answer.md` applies an answer","where":null}}
    ----- stderr -----
    ✗ nothing has been applied here yet
      `relay apply answer.md` applies an answer

    # no answer
    exit 2
    ----- stdout -----
    {"ok":false,"code":2,"command":"apply","error":{"kind":"usage","message":"there is no file missing.md","hint":"name the file that holds the answer, or `-` to read it from a pipe","where":"missing.md"}}
    ----- stderr -----
    ✗ there is no file missing.md
      name the file that holds the answer, or `-` to read it from a pipe

    # no change in it
    exit 3
    ----- stdout -----
    {"ok":false,"code":3,"command":"apply","project":"<project>","error":{"kind":"refused","message":"no file changes found in this text","hint":"paste `repair` back to the model","where":"stdin","state":"unchanged"},"refusals":[{"path":null,"line":0,"kind":"nothing","text":"no code block names a file"}],"fitting":[],"notes":[],"unread":[],"repair":"Your answer could not be applied, and nothing was changed. These parts of it do not work:\n\n## The whole answer\nNo code block names a file.\n\nAnswer in the same format as before, with the failing parts corrected. Copy what is to be replaced exactly from the file, without line numbers. The same uuid may be used again.\n","proposal":{"control":{"present":false,"projectId":null,"uuid":null,"gitCommitMsg":null,"promptSummary":null,"changeSummary":[]},"operations":[],"reasoning":["Sure."],"unread":[],"notes":[]}}
    ----- stderr -----
    ✗ no file changes found in this text                                 nothing was changed
      no code block names a file
      copy the model's whole answer, with its code blocks; `relay prompt` prints the instructions for it

    # no match
    exit 3
    ----- stdout -----
    {"ok":false,"code":3,"command":"apply","project":"<project>","error":{"kind":"refused","message":"the edit does not match","hint":"paste `repair` back to the model","where":"stdin:2","state":"unchanged"},"refusals":[{"path":"a.txt","line":2,"kind":"notFound","hunk":1,"of":1,"nearest":null}],"fitting":[],"notes":[],"unread":[],"repair":"Your answer could not be applied, and nothing was changed. These parts of it do not work:\n\n## a.txt, edit 1 of 1, line 2 of your answer\nNothing in the file looks like this text:\n```\nseven\n```\n\nAnswer in the same format as before, with the failing parts corrected. Copy what is to be replaced exactly from the file, without line numbers. The same uuid may be used again.\n","proposal":{"control":{"present":false,"projectId":null,"uuid":null,"gitCommitMsg":null,"promptSummary":null,"changeSummary":[]},"operations":[{"line":2,"type":"write","path":"a.txt","edit":{"dialect":"multi-search-replace","body":{"hunks":[{"line":2,"before":["seven"],"after":["7"],"kept":null,"claimed":null,"claimedEnd":null,"scope":[],"atEnd":false,"finalNewline":null}]},"seen":null},"mode":null}],"reasoning":[],"unread":[],"notes":[]}}
    ----- stderr -----
    ✗ refused: the edit does not match                                   nothing was changed
      a.txt, edit 1 (line 2 of the answer)
        looked for   seven
        nothing in the file looks like it
      next: `... | relay preview - --repair` writes a prompt for your model

    # nobody to ask
    exit 13
    ----- stdout -----
    {"ok":false,"code":13,"command":"apply","project":"<project>","unread":[],"rules":[{"rule":"no-config"}],"error":{"kind":"nobodyToAsk","message":"this needs a yes from you, and there is no terminal to ask on: the project has no configuration","hint":"`-y` applies it without asking","where":null,"state":"unchanged"},"plan":{"files":[{"path":"a.txt","renamedFrom":null,"change":"modified","modeBefore":"regular","modeAfter":"regular","added":1,"removed":1,"dialect":"multi-search-replace","hunks":[{"line":2,"state":"applied","rung":"exact","chosenBy":null,"claimed":null,"used":1,"doubt":null,"runnerUp":null,"differences":[]}],"diff":{"content":"text","hunks":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":[{"kind":"removed","text":"one","ending":"lf","old":1,"new":null},{"kind":"added","text":"1","ending":"lf","old":null,"new":1},{"kind":"context","text":"two","ending":"lf","old":2,"new":2}]}],"endings":null}}],"findings":[],"notes":[]}}
    ----- stderr -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✗ this needs a yes from you, and there is no terminal to ask on: the project has no configuration; nothing was changed
      `-y` applies it without asking

    # no directory
    exit 2
    ----- stdout -----
    {"ok":false,"code":2,"command":"log","error":{"kind":"usage","message":"the directory missing cannot be used: No such file or directory (os error 2)","hint":"give the project's directory with `-C DIR`","where":null}}
    ----- stderr -----
    ✗ the directory missing cannot be used: No such file or directory (os error 2)
      give the project's directory with `-C DIR`

    # a line that is not there
    exit 2
    ----- stdout -----
    {"ok":false,"code":2,"command":"blame","error":{"kind":"usage","message":"a.txt has no line 99","hint":"it has 2 lines","where":null}}
    ----- stderr -----
    ✗ a.txt has no line 99
      it has 2 lines

    # a broken configuration
    exit 2
    ----- stdout -----
    {"ok":false,"code":2,"command":"config","error":{"kind":"configValue","message":"`patch.linter` is 7; it must be a command line in quotes, or \"\" for none","hint":null,"where":"relaycode.config.json:1"}}
    ----- stderr -----
    ✗ `patch.linter` is 7; it must be a command line in quotes, or "" for none
      in relaycode.config.json:1

    # not trusted
    exit 7
    ----- stdout -----
    {"ok":false,"code":7,"command":"apply","project":"<project>","unread":[],"error":{"kind":"notTrusted","message":"this project wants to run 1 command, which you have not trusted yet","hint":"`relay trust` shows what it wants to run, and asks","where":null,"state":"unchanged"}}
    ----- stderr -----
    ✗ this project wants to run 1 command, which you have not trusted yet; nothing was changed
      `relay trust` shows what it wants to run, and asks
    "#);
}
