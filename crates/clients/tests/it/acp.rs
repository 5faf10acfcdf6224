//! Agents played by a shell script: what they may send, and what they must not get.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_clients::acp::{
    AcpAgent, AcpClientCapabilities, AcpError, AcpHandler, AcpPermissionDecision, AcpPermissionRequest,
    AcpRefusal, AcpSession, AcpSessionUpdate, AcpStopReason, AcpWaitLimits, ConfinedDir,
};
use relaycode_exec::{Job, JobInput};
use serde_json::Value;
use tempfile::TempDir;

use crate::keeper::runner;

const LONG: Duration = Duration::from_secs(60);

/// Allows what it is told to, reads and writes beneath a directory, and keeps what it receives.
struct Witness {
    beneath: ConfinedDir,
    verdict: AcpPermissionDecision,
    heard: Vec<AcpSessionUpdate>,
    asked: Vec<AcpPermissionRequest>,
    errors: String,
    enough: bool,
}

impl AcpHandler for Witness {
    fn on_update(&mut self, _session: &str, update: AcpSessionUpdate) {
        self.heard.push(update);
    }

    fn decide_permission(&mut self, asked: &AcpPermissionRequest) -> AcpPermissionDecision {
        self.asked.push(asked.clone());
        self.verdict
    }

    fn read_file(&mut self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, AcpRefusal> {
        self.beneath.read(path, line, limit)
    }

    fn write_file(&mut self, path: &str, content: &str) -> Result<(), AcpRefusal> {
        self.beneath.write(path, content)
    }

    fn on_stderr(&mut self, bytes: &[u8]) {
        self.errors.push_str(&String::from_utf8_lossy(bytes));
    }

    fn should_abort(&self) -> bool {
        self.enough
    }
}

/// A project with one file, and an agent that follows a script: `$A` is where it may write down what it
/// received.
struct Play {
    folder: TempDir,
    witness: Witness,
}

/// The agent's answers up to the beginning of a session.
const HELLO: &str = r#"
say() { printf '%s\n' "$1"; }
hear() { IFS= read -r heard && printf '%s\n' "$heard" >>"$A"; }
hear; say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"authMethods":[{"id":"key"}]}}'
hear; say '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s","modes":{"currentModeId":"default"}}}'
hear
"#;

impl Play {
    fn new() -> Play {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        fs::write(project.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        let witness = Witness {
            beneath: ConfinedDir::new(&project).unwrap(),
            verdict: AcpPermissionDecision::Reject,
            heard: Vec::new(),
            asked: Vec::new(),
            errors: String::new(),
            enough: false,
        };
        Play { folder, witness }
    }

    fn project(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    fn start(&self, script: &str) -> AcpAgent {
        self.start_with(script, Duration::from_millis(300))
    }

    /// With this much time between the end of its input and its own.
    fn start_with(&self, script: &str, grace: Duration) -> AcpAgent {
        let mut job = Job::argv(["sh", "-c", script], self.project());
        job.input = JobInput::Piped;
        job.deadlines.grace = grace;
        job.environment.set.push(("A".into(), self.folder.path().join("heard").into()));
        AcpAgent::start(&runner(), &job).unwrap()
    }

    /// Everything up to the end of a prompt.
    fn prompt(&mut self, script: &str) -> Result<AcpStopReason, AcpError> {
        let mut agent = self.start(&format!("{HELLO}{script}"));
        let done = self.talk(&mut agent, &patience(LONG, LONG));
        agent.end().unwrap();
        done
    }

    fn talk(
        &mut self,
        agent: &mut AcpAgent,
        patience: &AcpWaitLimits<'_>,
    ) -> Result<AcpStopReason, AcpError> {
        self.begin(agent, patience)?;
        self.ask(agent, patience)
    }

    /// Everything before the prompt.
    fn begin(&mut self, agent: &mut AcpAgent, patience: &AcpWaitLimits<'_>) -> Result<(), AcpError> {
        let project = self.project();
        let can = AcpClientCapabilities { read: true, write: true };
        let introduced = agent.initialize(can, &mut self.witness, patience)?;
        assert!(introduced.can_load_session);
        let session: AcpSession = agent.open_session(None, &project, &mut self.witness, patience)?;
        assert_eq!((session.id.as_str(), session.mode.as_deref()), ("s", Some("default")));
        Ok(())
    }

    fn ask(&mut self, agent: &mut AcpAgent, patience: &AcpWaitLimits<'_>) -> Result<AcpStopReason, AcpError> {
        agent.prompt("s", "Which bird is it?", &mut self.witness, patience).map(|ended| ended.stop_reason)
    }

    /// The messages the agent received.
    fn heard(&self) -> Vec<Value> {
        let heard = fs::read_to_string(self.folder.path().join("heard")).unwrap_or_default();
        heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The answer the agent got under one of its ids.
    fn answered(&self, id: u64) -> Value {
        self.heard().into_iter().find(|message| message["id"] == id && message["method"].is_null()).unwrap()
    }
}

fn patience(total: Duration, idle: Duration) -> AcpWaitLimits<'static> {
    AcpWaitLimits { deadline: Instant::now() + total, idle, should_stop: &|| false }
}

const DONE: &str = "say '{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}'";

#[test]
fn a_prompt_is_told_and_its_updates_are_heard_in_order() {
    let mut play = Play::new();
    let update = |update: &str| {
        format!(
            "say '{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{update}}}}}'\n"
        )
    };
    let script = [
        update(r#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}"#),
        update(r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"read"}"#),
        update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}"#),
        update(r#"{"sessionUpdate":"plan","entries":[]}"#),
        update(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"A heron."}}"#),
        update(r#"{"sessionUpdate":"current_mode_update","currentModeId":"plan"}"#),
        DONE.to_string(),
    ];
    assert_eq!(play.prompt(&script.concat()).unwrap(), AcpStopReason::EndTurn);
    let heard = &play.witness.heard;
    assert_eq!(heard[0], AcpSessionUpdate::Thought("hm".into()));
    assert!(matches!(
        (&heard[1], &heard[2]),
        (AcpSessionUpdate::ToolCall(_), AcpSessionUpdate::ToolCallUpdate(_))
    ));
    assert_eq!(heard[3], AcpSessionUpdate::Other("plan".into()));
    assert_eq!(heard[4], AcpSessionUpdate::Text("A heron.".into()));
    assert_eq!(heard[5], AcpSessionUpdate::Mode("plan".into()));
    let told = play.heard();
    assert_eq!(told[0]["params"]["clientCapabilities"]["terminal"], false);
    assert_eq!(told[2]["params"]["prompt"][0]["text"], "Which bird is it?");
}

#[test]
fn every_reason_to_stop_is_told_from_the_others() {
    let reasons = [
        ("max_tokens", AcpStopReason::MaxTokens),
        ("max_turn_requests", AcpStopReason::MaxRequests),
        ("refusal", AcpStopReason::Refusal),
        ("cancelled", AcpStopReason::Cancelled),
        ("tired", AcpStopReason::Other("tired".into())),
    ];
    for (word, stop) in reasons {
        let script = format!("say '{{\"id\":3,\"result\":{{\"stopReason\":\"{word}\"}}}}'");
        assert_eq!(Play::new().prompt(&script).unwrap(), stop);
    }
}

/// Pairs of a request and whether the agent gets it.
#[test]
fn files_are_read_and_written_beneath_the_project_and_nowhere_else() {
    let mut play = Play::new();
    let outside = play.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret\n").unwrap();
    symlink(&outside, play.project().join("link")).unwrap();
    symlink(outside.join("secret"), play.project().join("file")).unwrap();
    let project = play.project().to_str().unwrap().to_string();
    let secret = outside.join("secret").to_str().unwrap().to_string();
    let paths = [
        ("a.txt", true),
        (&*format!("{project}/a.txt"), true),
        (&*secret, false),
        ("../outside/secret", false),
        (&*format!("{project}/../outside/secret"), false),
        ("link/secret", false),
        ("file", false),
        (&*format!("{project}-not/a.txt"), false),
        ("", false),
        (".", false),
        ("missing.txt", false),
    ];
    let mut script = String::new();
    for (id, (path, _)) in paths.iter().enumerate() {
        script.push_str(&format!(
            "say '{{\"id\":{},\"method\":\"fs/read_text_file\",\"params\":{{\"sessionId\":\"s\",\"path\":\"{path}\"}}}}'; hear\n",
            100 + id
        ));
        script.push_str(&format!(
            "say '{{\"id\":{},\"method\":\"fs/write_text_file\",\"params\":{{\"sessionId\":\"s\",\"path\":\"{path}\",\"content\":\"one\\ntwo\\nthree\\n\"}}}}'; hear\n",
            200 + id
        ));
    }
    script.push_str("say '{\"id\":300,\"method\":\"fs/read_text_file\",\"params\":{\"path\":\"a.txt\",\"line\":2,\"limit\":1}}'; hear\n");
    script.push_str("say '{\"id\":301,\"method\":\"fs/write_text_file\",\"params\":{\"path\":\"new/b.txt\",\"content\":\"b\"}}'; hear\n");
    script.push_str(DONE);
    assert_eq!(play.prompt(&script).unwrap(), AcpStopReason::EndTurn);
    for (id, (path, gets)) in paths.iter().enumerate() {
        let id = id as u64;
        assert_eq!(
            play.answered(100 + id)["error"].is_null(),
            *gets,
            "read {path}: {}",
            play.answered(100 + id)
        );
        let may_be_made = *path == "missing.txt";
        assert_eq!(play.answered(200 + id)["error"].is_null(), *gets || may_be_made, "write {path}");
    }
    assert_eq!(play.answered(110)["error"]["code"], -32002, "what is missing is not found");
    assert_eq!(play.answered(300)["result"]["content"], "two\n");
    assert_eq!(fs::read_to_string(play.project().join("new/b.txt")).unwrap(), "b");
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "secret\n");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert!(play.witness.beneath.contains("new/c/d.txt") && !play.witness.beneath.contains("link/secret"));
}

#[test]
fn what_is_written_keeps_its_permissions_and_a_special_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let play = Play::new();
    let file = play.project().join("run.sh");
    fs::write(&file, "a").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    play.witness.beneath.write("run.sh", "b").unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o755);
    fs::create_dir(play.project().join("folder")).unwrap();
    assert!(play.witness.beneath.write("folder", "b").is_err());
    let large = "x".repeat((16 << 20) + 1);
    assert!(play.witness.beneath.write("large", &large).is_err());
    fs::write(play.project().join("large"), large).unwrap();
    assert!(play.witness.beneath.read("large", None, Some(1)).is_err());
    fs::write(play.project().join("bytes"), [0xff]).unwrap();
    assert!(play.witness.beneath.read("bytes", None, None).is_err());
    assert_eq!(names(&play.project()), ["a.txt", "bytes", "folder", "large", "run.sh"]);
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_permission_is_answered_by_what_was_decided_and_never_with_always() {
    let ask = |id: u64, options: &str| {
        format!(
            "say '{{\"id\":{id},\"method\":\"session/request_permission\",\"params\":{{\"sessionId\":\"s\",\"toolCall\":{{\"toolCallId\":\"c\",\"kind\":\"edit\"}},\"options\":{options}}}}}'; hear\n"
        )
    };
    let all = r#"[{"optionId":"a","kind":"allow_always"},{"optionId":"b","kind":"allow_once"},{"optionId":"c","kind":"reject_once"}]"#;
    let script = format!(
        "{}{}{}{DONE}",
        ask(10, all),
        ask(11, "[]"),
        ask(12, r#"[{"optionId":"a","kind":"allow_always"}]"#)
    );
    for (verdict, option) in [(AcpPermissionDecision::Reject, "c"), (AcpPermissionDecision::Allow, "b")] {
        let mut play = Play::new();
        play.witness.verdict = verdict;
        play.prompt(&script).unwrap();
        assert_eq!(play.answered(10)["result"]["outcome"]["optionId"], option);
        for id in [11, 12] {
            assert_eq!(play.answered(id)["result"]["outcome"]["outcome"], "cancelled");
        }
        assert_eq!(play.witness.asked.len(), 3);
    }
}

#[test]
fn what_is_not_known_or_not_whole_is_refused_and_the_conversation_goes_on() {
    let mut play = Play::new();
    let script = format!(
        r#"
echo 'a banner'; echo; echo '[1,2]'; echo 'on its error output' >&2
say '{{"id":20,"method":"terminal/create","params":{{"command":"sh"}}}}'; hear
say '{{"id":21,"method":"fs/read_text_file","params":{{}}}}'; hear
say '{{"id":22,"method":"fs/write_text_file","params":{{"path":"b"}}}}'; hear
say '{{"id":23,"method":"session/request_permission"}}'; hear
say '{{"method":"session/update"}}'
say '{{"method":"something/else","params":7}}'
say '{{"id":99,"result":"to a question that nobody asked"}}'
{DONE}"#
    );
    assert_eq!(play.prompt(&script).unwrap(), AcpStopReason::EndTurn);
    assert_eq!(play.answered(20)["error"]["code"], -32601);
    assert_eq!(play.answered(21)["error"]["code"], -32602);
    assert_eq!(play.answered(22)["error"]["code"], -32602);
    assert_eq!(play.answered(23)["result"]["outcome"]["outcome"], "cancelled");
    assert!(play.witness.errors.contains("on its error output"));
}

#[test]
fn an_agent_that_dies_at_any_point_is_told_as_dead() {
    for script in ["exit 3", "read -r x; kill -9 $$", &format!("{HELLO} exit 0")] {
        let mut play = Play::new();
        let mut agent = play.start(script);
        let done = play.talk(&mut agent, &patience(LONG, LONG));
        assert!(matches!(done, Err(AcpError::Exited(_))), "{done:?}");
        agent.end().unwrap();
    }
}

#[test]
fn an_agent_that_says_nothing_or_only_rubbish_is_not_waited_for() {
    let short = Duration::from_millis(300);
    let mut play = Play::new();
    let mut agent = play.start("sleep 1000");
    assert!(matches!(play.talk(&mut agent, &patience(LONG, short)), Err(AcpError::TimedOut { idle: true })));
    agent.end().unwrap();
    let mut agent = play.start("while :; do echo rubbish; sleep 0.01; done");
    assert!(matches!(play.talk(&mut agent, &patience(LONG, short)), Err(AcpError::TimedOut { idle: true })));
    agent.end().unwrap();
    let mut agent = play.start("sleep 1000");
    assert!(matches!(play.talk(&mut agent, &patience(short, LONG)), Err(AcpError::TimedOut { idle: false })));
    agent.end().unwrap();
    let mut agent = play.start("yes rubbish");
    assert!(matches!(play.talk(&mut agent, &patience(LONG, LONG)), Err(AcpError::Protocol(_))));
    agent.end().unwrap();
}

#[test]
fn another_version_and_a_session_without_an_id_are_refused() {
    let mut play = Play::new();
    let mut agent = play.start("read -r x; echo '{\"id\":1,\"result\":{\"protocolVersion\":2}}'; sleep 1000");
    let Err(AcpError::Protocol(said)) = play.talk(&mut agent, &patience(LONG, LONG)) else {
        panic!("it is another")
    };
    assert!(said.contains("version 2"), "{said}");
    agent.end().unwrap();
    let script = "read -r x; echo '{\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true}}}'
        read -r x; echo '{\"id\":2,\"result\":{}}'; sleep 1000";
    let mut agent = play.start(script);
    assert!(matches!(play.talk(&mut agent, &patience(LONG, LONG)), Err(AcpError::Protocol(_))));
    agent.end().unwrap();
}

#[test]
fn an_error_is_told_with_its_words() {
    let said =
        Play::new().prompt("say '{\"id\":3,\"error\":{\"code\":429,\"message\":\"too often\"}}'; sleep 1000");
    let Err(AcpError::Rpc(error)) = said else { panic!("{said:?}") };
    assert_eq!((error.code, error.message.as_str()), (429, "too often"));
}

#[test]
fn a_prompt_that_is_broken_off_is_told_to_the_agent() {
    let mut play = Play::new();
    // However it is ended, it has the time to learn why.
    let script = format!("trap '' TERM INT HUP\n{HELLO} hear; say '{{\"id\":3,\"result\":{{}}}}'; exit 0");
    let mut agent = play.start_with(&script, LONG);
    play.begin(&mut agent, &patience(LONG, LONG)).unwrap();
    let limited = patience(LONG, Duration::from_millis(400));
    assert!(matches!(play.ask(&mut agent, &limited), Err(AcpError::TimedOut { idle: true })));
    agent.end().unwrap();
    assert_eq!(play.heard().last().unwrap()["method"], "session/cancel");
    assert!(play.heard().last().unwrap()["id"].is_null());
}

#[test]
fn who_decides_can_give_up() {
    let mut play = Play::new();
    play.witness.enough = true;
    let mut agent = play.start("sleep 1000");
    assert!(matches!(play.talk(&mut agent, &patience(LONG, LONG)), Err(AcpError::Abandoned)));
    agent.end().unwrap();
}
