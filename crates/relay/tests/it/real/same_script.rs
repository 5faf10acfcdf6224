//! The same work through relay's own agent and through others: what lands on disk is the same, whoever's tools wrote it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use relaycode_change::hashline::LineAnchor;
use relaycode_testkit::agents::{self, AgentNotInstalled, AgentScratch};
use relaycode_testkit::directory_tree::{DirectoryTree, read_tree};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use serde_json::json;

use super::fixture::put;

/// Those whose own tools write files, and that the scripted server can be put behind.
const OTHERS: [&str; 3] = ["codex", "claude", "pi"];

/// Where the lines stand that are replaced, counted from 1.
const LINE: usize = 2;
const NEW: &str = "eins\n\tzwei\nGrüße, 大きい\n";
const BEFORE: &str = "two\n";
const AFTER: &str = "zwei\nzweieinhalb\n";
/// What shells do to a tree: new, changed, renamed and removed files, a mode, a link, a directory that goes.
const COMMANDS: [&str; 3] = [
    "mkdir -p made/deep && printf 'a\\nb' > made/deep/a.txt && echo more >> log.txt",
    "mv moved.txt made/moved.txt && rm -r going && chmod 755 run.sh && ln -sfn made/deep/a.txt link",
    "sed -i s/one/ONE/ old.txt && printf '\\000\\377' > made/bytes.bin && : > empty.txt",
];

/// How an agent's model says what is to be done.
struct Hands<'h> {
    write: &'h dyn Fn(&str, &str) -> ScriptedTurn,
    replace: &'h dyn Fn(&str, &str, &str) -> Vec<ScriptedTurn>,
    shell: &'h dyn Fn(&str) -> ScriptedTurn,
}

impl Hands<'_> {
    fn turns(&self) -> Vec<ScriptedTurn> {
        let mut turns = vec![(self.write)("src/new.txt", NEW), (self.write)("src/deep/er.txt", "er\n")];
        turns.extend((self.replace)("old.txt", BEFORE, AFTER));
        turns.extend(COMMANDS.map(|line| (self.shell)(line)));
        turns.extend((self.replace)("src/new.txt", "\tzwei\n", "\tdrei\n"));
        turns.push((self.write)("log.txt", "begun again\n"));
        turns.push(ScriptedTurn::text("It is done."));
        turns
    }
}

fn begin_project(project: &Path) {
    for (path, text) in [
        ("old.txt", "one\ntwo\nthree\n"),
        ("log.txt", "first\n"),
        ("moved.txt", "moved\n"),
        ("going/away.txt", "away\n"),
        ("run.sh", "#!/bin/sh\n"),
    ] {
        put(&project.join(path), text);
    }
    fs::set_permissions(project.join("run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    symlink("old.txt", project.join("link")).unwrap();
}

fn tree(scratch: &AgentScratch) -> DirectoryTree {
    read_tree(&scratch.project(), &[".relaycode"])
}

/// The project after relay's own agent did it; and undone again it is as before.
fn by_relay() -> DirectoryTree {
    let relay_hands = Hands {
        write: &|path, text| ScriptedTurn::call("write", json!({"path": path, "content": text})),
        replace: &|path, before, after| {
            let anchor = LineAnchor::of(LINE, before.trim_end_matches('\n'));
            let input = format!("§{path}\n≔{anchor}\n{after}");
            let read = ScriptedTurn::call("read", json!({ "path": path }));
            vec![read, ScriptedTurn::call("edit", json!({ "input": input }))]
        },
        shell: &|line| ScriptedTurn::call("bash", json!({ "command": line })),
    };
    let server = ScriptedServer::start(Script::new(relay_hands.turns()));
    let scratch = AgentScratch::new();
    begin_project(&scratch.project());
    let before = tree(&scratch);
    let models = format!(
        "providers:\n  work: {{baseUrl: \"{}\", api: anthropic-messages, apiKey: scripted, models: \
         [{{id: m1, contextWindow: 32000, maxTokens: 4000}}]}}\nroles: {{default: work/m1}}\n",
        server.url()
    );
    put(&scratch.home().join("relay/models.yml"), &models);
    let relay = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relay"));
        command.args(words).current_dir(scratch.project()).env("RELAY_HOME", scratch.home().join("relay"));
        let ran = scratch.run_command(&mut command, "");
        assert_eq!(ran.code, Some(0), "relay {words:?}: {ran:#?}");
    };
    relay(&["run", "Do it.", "--access", "workspace"]);
    assert_eq!(server.turns_left(), 0);
    let after = tree(&scratch);
    relay(&["undo"]);
    assert_eq!(tree(&scratch), before);
    after
}

#[test]
fn the_same_script_leaves_the_same_files_through_relay_and_through_others() {
    let wanted = by_relay();
    assert_eq!(wanted["src/new.txt"].1, "eins\n\tdrei\nGrüße, 大きい\n".as_bytes());
    assert_eq!(wanted["old.txt"].1, b"ONE\nzwei\nzweieinhalb\nthree\n");
    for name in OTHERS {
        let agent = agents::find_by_name(name).unwrap();
        let turn = || ScriptedTurn::text("I go on.");
        let hands = Hands {
            write: &|path, text| agent.write_file_turn(turn(), path, text),
            replace: &|path, before, after| agent.replace_turns(turn(), path, before, after),
            shell: &|line| agent.shell_call_turn(turn(), line),
        };
        let server = ScriptedServer::start(Script::new(hands.turns()));
        let scratch = AgentScratch::new();
        begin_project(&scratch.project());
        match scratch.run(agent, &server, "Do it.\n") {
            Err(absent) => AgentNotInstalled::skip(&absent),
            Ok(ran) => {
                assert_eq!(ran.code, Some(0), "{name}: {ran:#?}");
                assert_eq!(tree(&scratch), wanted, "{name}: {ran:#?}");
            }
        }
    }
}
