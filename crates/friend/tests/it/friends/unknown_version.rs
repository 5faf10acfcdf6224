//! Programs of which relay does not know enough: too old, or silent about how old they are. They get no prompt,
//! whichever way they would be asked.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use relaycode_friend::friend::request::TurnLimits;
use relaycode_friend::{
    AskRequest, FriendAnswer, FriendContext, FriendEvent, FriendFailure, TurnMemory, friends,
};
use tempfile::TempDir;

use crate::fake_friends::send;
use crate::keeper_fixture::runner;

/// A friend that a script plays: `$LOG` is a file for it, and what is in place of VERSION it says of itself.
struct Play {
    folder: TempDir,
    name: &'static str,
}

/// Each as one that cannot be talked with; codex has another way.
const SILENT: [(&str, &str); 4] = [
    (
        "codex",
        r#"case "$1" in mcp) echo '[]'; exit;; exec) ;; *) exit 2;; esac
cat >>"$LOG"
echo '{"type":"item.completed","item":{"type":"agent_message","text":"A heron."}}'
echo '{"type":"turn.completed","usage":{}}'"#,
    ),
    ("claude", "exit 2"),
    ("gemini", "exit 2"),
    ("opencode", "exit 2"),
];

impl Play {
    fn new(name: &'static str, version: &str, script: &str) -> Play {
        let folder = tempfile::tempdir().unwrap();
        for below in ["bin", "project", "home"] {
            fs::create_dir(folder.path().join(below)).unwrap();
        }
        let log = folder.path().join("log");
        let version = format!("if [ \"$1\" = --version ]; then echo '{version}'; exit; fi");
        for (program, script) in [(name, script), ("node", "exit 0")] {
            let file = folder.path().join("bin").join(program);
            fs::write(&file, format!("#!/bin/sh\nLOG='{}'\n{version}\n{script}\n", log.display())).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Play { folder, name }
    }

    fn go(&self, memory: TurnMemory) -> (Result<FriendAnswer, FriendFailure>, Vec<FriendEvent>) {
        let bin = self.folder.path().join("bin");
        let variable = |name: &str| -> Option<OsString> {
            match name {
                "PATH" => Some(bin.clone().into()),
                "HOME" => Some(self.folder.path().join("home").into()),
                "GEMINI_API_KEY" => Some("k".into()),
                _ => None,
            }
        };
        let home = Some(self.folder.path().join("relay"));
        let world =
            FriendContext { runner: runner(), home, env_var: &variable, stop_requested: &|| false, depth: 0 };
        let project = fs::canonicalize(self.folder.path().join("project")).unwrap();
        let limits = TurnLimits::new(Duration::from_secs(60), Duration::from_secs(60));
        let turn = AskRequest { memory, ..AskRequest::new("Which bird is it?", project, limits) };
        let mut events = Vec::new();
        let hear = &mut |event| events.push(event);
        let result = match self.name {
            // Those in PATH are looked for in the PATH of the test.
            "codex" => send(&friends::codex::Codex::at(&bin.join("codex")), &turn, &world, hear),
            "claude" => send(&friends::claude::Claude::at(&bin.join("claude")), &turn, &world, hear),
            name => send(friends::find_program_friend(name).unwrap(), &turn, &world, hear),
        };
        (result, events)
    }

    fn heard_the_prompt(&self) -> bool {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.contains("Which bird is it?")
    }
}

#[test]
fn of_one_that_cannot_be_talked_with_the_version_is_looked_at() {
    for (name, script) in SILENT {
        let play = Play::new(name, "9.9.9", script);
        let (answer, events) = play.go(TurnMemory::None);
        let fell_back = events.iter().any(|event| matches!(event, FriendEvent::Fallback(_)));
        assert_eq!((play.heard_the_prompt(), fell_back), (name == "codex", name == "codex"), "{name}");
        match answer {
            Ok(answer) => assert_eq!((name, answer.text.as_str()), ("codex", "A heron.")),
            Err(failure) => assert!(matches!(failure, FriendFailure::Failed { .. }), "{name}: {failure}"),
        }

        let play = Play::new(name, "0.30.0", script);
        let (answer, events) = play.go(TurnMemory::None);
        assert!(
            matches!(&answer, Err(FriendFailure::TooOld { found, .. }) if found == "0.30.0"),
            "{answer:?}"
        );
        assert!(
            !play.heard_the_prompt() && !events.iter().any(|event| matches!(event, FriendEvent::Fallback(_)))
        );

        let play = Play::new(name, "a friend", script);
        let (answer, _) = play.go(TurnMemory::None);
        assert!(
            matches!(&answer, Err(FriendFailure::UnknownVersion { hint, .. }) if hint.contains("install")),
            "{name}: {answer:?}"
        );
        assert!(!play.heard_the_prompt(), "{name}");
    }
}

/// One that speaks the protocol, and says of itself what is given.
fn hello(says: &str, mode: &str) -> String {
    format!(
        r#"
hear() {{ IFS= read -r heard; printf '%s\n' "$heard" >>"$LOG"; }}
hear; echo '{{"id":1,"result":{{"protocolVersion":1{says}}}}}'
hear; echo '{{"id":2,"result":{{"sessionId":"s","modes":{{"currentModeId":"{mode}"}}}}}}'
hear; echo '{{"method":"session/update","params":{{"update":{{"sessionUpdate":"agent_message_chunk","content":{{"text":"A heron."}}}}}}}}'
echo '{{"id":3,"result":{{"stopReason":"end_turn"}}}}'
hear
"#
    )
}

#[test]
fn one_that_does_not_say_its_version_when_it_is_greeted_is_asked_for_it() {
    for (name, mode) in [("gemini", "default"), ("opencode", "relay")] {
        let play = Play::new(name, "9.9.9", &hello("", mode));
        let (answer, _) = play.go(TurnMemory::None);
        assert_eq!(answer.unwrap().text, "A heron.", "{name}");
        for (version, old) in [("0.1.0", true), ("dev", false)] {
            let play = Play::new(name, version, &hello("", mode));
            let (answer, _) = play.go(TurnMemory::None);
            match answer {
                Err(FriendFailure::TooOld { .. }) if old => {}
                Err(FriendFailure::UnknownVersion { .. }) if !old => {}
                other => panic!("{name} {version}: {other:?}"),
            }
            assert!(!play.heard_the_prompt(), "{name} {version}");
        }
    }
}

#[test]
fn one_that_cannot_take_up_a_session_is_not_asked_to() {
    let play = Play::new("opencode", "9.9.9", &hello("", "relay"));
    let (answer, _) = play.go(TurnMemory::Resume("ses_0123456789".to_string()));
    assert!(matches!(&answer, Err(FriendFailure::Unsupported { .. })), "{answer:?}");
    assert!(!play.heard_the_prompt());
}
