//! Programs that ask and never read the answers: relay does not keep them in memory.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_clients::acp::{
    AcpAgent, AcpClientCapabilities, AcpError, AcpHandler, AcpPermissionDecision, AcpPermissionRequest,
    AcpRefusal, AcpSessionUpdate, AcpWaitLimits, ConfinedDir,
};
use relaycode_clients::claude_stdio::{ClaudeStdio, ClaudeStdioEvent};
use relaycode_clients::line_process::MAX_UNREAD_BYTES;
use relaycode_exec::{Job, JobInput};

use crate::keeper::runner;

const LONG: Duration = Duration::from_secs(60);

/// Lets anything beneath a directory be read, and counts.
struct Reader {
    beneath: ConfinedDir,
    read: usize,
}

impl AcpHandler for Reader {
    fn on_update(&mut self, _session: &str, _update: AcpSessionUpdate) {}

    fn decide_permission(&mut self, _asked: &AcpPermissionRequest) -> AcpPermissionDecision {
        AcpPermissionDecision::Reject
    }

    fn read_file(&mut self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, AcpRefusal> {
        let content = self.beneath.read(path, line, limit)?;
        self.read += content.len();
        Ok(content)
    }

    fn write_file(&mut self, path: &str, _content: &str) -> Result<(), AcpRefusal> {
        Err(AcpRefusal::not_allowed(path))
    }

    fn on_stderr(&mut self, _bytes: &[u8]) {}
}

fn job(script: &str, directory: &Path) -> Job {
    let mut job = Job::argv(["sh", "-c", script], directory);
    job.input = JobInput::Piped;
    job.deadlines.grace = Duration::from_millis(300);
    job
}

#[test]
fn an_agent_that_does_not_read_is_given_up_before_much_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    let size = 4 << 20;
    fs::write(project.join("large.txt"), "x".repeat(size)).unwrap();
    let ask = r#"{"id":%s,"method":"fs/read_text_file","params":{"sessionId":"s","path":"PATH"}}\n"#
        .replace("PATH", &project.join("large.txt").display().to_string());
    let script = format!(
        "read -r hello; echo '{{\"id\":1,\"result\":{{\"protocolVersion\":1}}}}'
         n=0; while [ $n -lt 100 ]; do n=$((n + 1)); printf '{ask}' $n; done; exec sleep 1000"
    );
    let mut reader = Reader { beneath: ConfinedDir::new(&project).unwrap(), read: 0 };
    let patience = AcpWaitLimits { deadline: Instant::now() + LONG, idle: LONG, should_stop: &|| false };
    let mut agent = AcpAgent::start(&runner(), &job(&script, &project)).unwrap();
    agent.initialize(AcpClientCapabilities { read: true, write: false }, &mut reader, &patience).unwrap();
    let broken = agent.open_session(None, &project, &mut reader, &patience).unwrap_err();
    assert!(matches!(broken, AcpError::NotReading), "{broken}");
    assert!(reader.read <= MAX_UNREAD_BYTES + 3 * size, "{} bytes were read for it", reader.read);
    agent.end().unwrap();
}

#[test]
fn a_claude_that_does_not_read_is_told_as_deaf() {
    let folder = tempfile::tempdir().unwrap();
    // What is allowed is sent back whole.
    let script = r#"x=$(head -c 1000000 /dev/zero | tr '\0' x)
        while :; do echo '{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Read","input":"'$x'"}}'; done"#;
    let mut claude = ClaudeStdio::start(&runner(), &job(script, folder.path())).unwrap();
    let (began, mut allowed) = (Instant::now(), 0);
    loop {
        assert!(began.elapsed() < LONG, "{allowed} questions and no end");
        match claude.next(Duration::from_millis(50)).unwrap() {
            ClaudeStdioEvent::Request(question) => {
                allowed += 1;
                claude.allow(&question);
            }
            ClaudeStdioEvent::NotReading => break,
            ClaudeStdioEvent::Idle => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(allowed * 1_000_000 <= MAX_UNREAD_BYTES + 3_000_000, "{allowed}");
    claude.lines.end().unwrap();
}
