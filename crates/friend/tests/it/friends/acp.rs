//! Friends that speak the Agent Client Protocol, played by a shell: what relay does when they are not what they
//! should be.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use relaycode_friend::friend::request::TurnLimits;
use relaycode_friend::{
    AskRequest, FriendAnswer, FriendContext, FriendEvent, FriendFailure, TurnMemory, friends,
};
use relaycode_project::access::Access;
use tempfile::TempDir;

use crate::fake_friends::{send, since};
use crate::keeper_fixture::runner;

/// A friend of this name that a script plays: `$1` is its first argument, `$LOG` a file for it.
struct Play {
    folder: TempDir,
    name: &'static str,
}

/// How a friend begins, with a version and a mode.
fn hello(version: &str, mode: &str) -> String {
    format!(
        r#"
say() {{ printf '%s\n' "$1"; }}
hear() {{ IFS= read -r heard; printf '%s\n' "$heard" >>"$LOG"; }}
hear; say '{{"id":1,"result":{{"protocolVersion":1,"agentInfo":{{"version":"{version}"}},"agentCapabilities":{{"loadSession":true}}}}}}'
hear; say '{{"id":2,"result":{{"sessionId":"s","modes":{{"currentModeId":"{mode}"}}}}}}'
hear
"#
    )
}

fn text(text: &str) -> String {
    format!(
        "say '{{\"method\":\"session/update\",\"params\":{{\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"text\":\"{text}\"}}}}}}}}'\n"
    )
}

const DONE: &str = "say '{\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}'\n";

impl Play {
    fn new(name: &'static str, script: &str) -> Play {
        let folder = tempfile::tempdir().unwrap();
        for below in ["bin", "project", "home"] {
            fs::create_dir(folder.path().join(below)).unwrap();
        }
        let log = folder.path().join("log");
        for (program, script) in [(name, script), ("node", "exit 0")] {
            let file = folder.path().join("bin").join(program);
            fs::write(
                &file,
                format!(
                    "#!/bin/sh\nLOG='{}'\n[ \"$1\" = --version ] && echo 9.9.9 && exit\n{script}\n",
                    log.display()
                ),
            )
            .unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Play { folder, name }
    }

    fn turn(&self) -> AskRequest {
        AskRequest::new(
            "Which bird is it?",
            fs::canonicalize(self.folder.path().join("project")).unwrap(),
            TurnLimits::new(Duration::from_secs(60), Duration::from_secs(60)),
        )
    }

    fn run(&self, turn: &AskRequest) -> (Result<FriendAnswer, FriendFailure>, Vec<FriendEvent>) {
        let variable = |name: &str| -> Option<OsString> {
            match name {
                "PATH" => Some(self.folder.path().join("bin").into()),
                "HOME" => Some(self.folder.path().join("home").into()),
                "GEMINI_API_KEY" => Some("k".into()),
                _ => None,
            }
        };
        let home = Some(self.folder.path().join("relay"));
        let world =
            FriendContext { runner: runner(), home, env_var: &variable, stop_requested: &|| false, depth: 0 };
        let mut events = Vec::new();
        let friend = friends::find_program_friend(self.name).unwrap();
        (send(friend, turn, &world, &mut |event| events.push(event)), events)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

/// The version and the mode that each has to name.
const FRIENDS: [(&str, &str, &str); 2] = [("gemini", "0.61.0", "default"), ("opencode", "1.18.33", "relay")];

#[test]
fn a_remark_before_a_tool_is_not_the_answer() {
    for (name, version, mode) in FRIENDS {
        let tool = "say '{\"method\":\"session/update\",\"params\":{\"update\":{\"sessionUpdate\":\"tool_call\",\"title\":\"look\",\"kind\":\"read\"}}}'\n";
        let script = [hello(version, mode), text("Let me look."), tool.into(), text("A heron."), DONE.into()];
        let (answer, events) = Play::new(name, &script.concat()).run_once();
        assert_eq!(answer.unwrap().text, "A heron.");
        let expected = [
            FriendEvent::Ready { transport: "acp" },
            FriendEvent::Text("Let me look.".into()),
            FriendEvent::AnswerRestarted,
            FriendEvent::Action("look".into()),
            FriendEvent::Text("A heron.".into()),
        ];
        assert_eq!(events, expected, "{name}");
    }
}

impl Play {
    fn run_once(&self) -> (Result<FriendAnswer, FriendFailure>, Vec<FriendEvent>) {
        self.run(&self.turn())
    }
}

#[test]
fn a_friend_that_works_otherwise_or_is_too_old_gets_no_prompt() {
    for (name, version, mode) in FRIENDS {
        let play = Play::new(name, &hello(version, "yolo"));
        let (answer, events) = play.run_once();
        assert!(matches!(answer, Err(FriendFailure::AccessMismatch { .. })), "{answer:?}");
        assert!(!play.log().contains("heron") && !play.log().contains("Which bird"), "{}", play.log());
        assert_eq!(events, []);

        let play = Play::new(name, &hello("0.1.0", mode));
        assert!(matches!(play.run_once().0, Err(FriendFailure::TooOld { .. })));
        assert!(!play.log().contains("Which bird"));
    }
}

#[test]
fn a_friend_that_does_not_speak_the_protocol_gets_no_prompt() {
    for (name, ..) in FRIENDS {
        let play = Play::new(
            name,
            "IFS= read -r heard; printf '%s' \"$heard\" >>\"$LOG\"; echo 'unknown option' >&2; exit 1",
        );
        let (answer, events) = play.run_once();
        assert!(
            matches!(&answer, Err(FriendFailure::Failed { said, .. }) if said.contains("unknown option")),
            "{answer:?}"
        );
        assert!(events.is_empty() && !play.log().contains("Which bird is it?"), "{events:?}");
    }
}

#[test]
fn without_words_or_with_too_many_there_is_no_answer() {
    for (name, version, mode) in FRIENDS {
        let play = Play::new(name, &[hello(version, mode), DONE.into()].concat());
        assert!(matches!(play.run_once().0, Err(FriendFailure::NoAnswer { .. })));
        let flood = format!("x=$(head -c 1000000 /dev/zero | tr '\\0' x)\nwhile :; do\n{}done", text("'$x'"));
        let play = Play::new(name, &[hello(version, mode), flood].concat());
        let answer = play.run_once().0;
        assert!(matches!(answer, Err(FriendFailure::AnswerTooLarge { .. })), "{answer:?}");
    }
}

#[test]
fn a_friend_that_dies_is_told_with_its_last_words() {
    for (name, version, mode) in FRIENDS {
        let script = format!("{} {} echo 'out of memory' >&2; exit 3", hello(version, mode), text("A her"));
        let (answer, _) = Play::new(name, &script).run_once();
        let Err(FriendFailure::Failed { said, .. }) = answer else { panic!("{answer:?}") };
        assert!(said.contains("out of memory"), "{said}");
    }
}

#[test]
fn a_friend_that_never_begins_runs_out_of_time() {
    for (name, _, _) in FRIENDS {
        let play = Play::new(name, "exec sleep 1000");
        let mut turn = play.turn();
        turn.limits = TurnLimits::new(Duration::from_millis(700), Duration::from_secs(60));
        let (answer, _) = play.run(&turn);
        assert!(matches!(answer, Err(FriendFailure::TimedOut { idle: false, .. })), "{answer:?}");
    }
}

#[test]
fn attempts_that_fail_one_after_the_other_are_given_up() {
    let opencode = "for n in 1 2 3; do echo 'level=ERROR message=\"stream error\" small=false error.error=\"AI_APICallError: Cannot connect to API\"' >&2; sleep 0.1; done; sleep 1000";
    let gemini = "for n in 1 2 3; do echo \"Attempt $n failed. Retrying with backoff... fetch failed\" >&2; sleep 0.1; done; sleep 1000";
    for ((name, version, mode), script) in FRIENDS.into_iter().zip([gemini, opencode]) {
        let (answer, events) = Play::new(name, &format!("{}{script}", hello(version, mode))).run_once();
        assert!(matches!(answer, Err(FriendFailure::Unreachable { .. })), "{answer:?}");
        assert_eq!(events.iter().filter(|event| matches!(event, FriendEvent::Retrying(_))).count(), 3);
    }
}

#[test]
fn what_is_no_id_of_a_session_is_not_even_asked_for() {
    for (name, version, mode) in FRIENDS {
        let play = Play::new(name, &hello(version, mode));
        let mut turn = play.turn();
        for id in ["../../x/yyyyyyyyyy", "short", "with a blank in it", ""] {
            turn.memory = TurnMemory::Resume(id.into());
            assert!(matches!(play.run(&turn).0, Err(FriendFailure::UnknownSession { .. })), "{id}");
        }
        assert_eq!(play.log(), "");
    }
}

#[test]
fn a_program_that_is_missing_and_access_that_is_not_tested_are_refused() {
    for (name, ..) in FRIENDS {
        let play = Play::new(name, "exit 0");
        let mut turn = play.turn();
        turn.access = Access::Ask;
        assert!(matches!(play.run(&turn).0, Err(FriendFailure::Unsupported { .. })));
        turn.access = Access::ReadOnly;
        turn.diff = since("main");
        assert!(matches!(play.run(&turn).0, Err(FriendFailure::Unsupported { .. })));
        fs::remove_file(play.folder.path().join("bin").join(name)).unwrap();
        assert!(matches!(play.run_once().0, Err(FriendFailure::NotInstalled { .. })));
    }
}
