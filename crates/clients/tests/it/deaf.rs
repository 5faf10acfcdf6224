//! Programs that ask and never read what they are answered: relay does not keep it for them.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_clients::acp::{
    Agent, Beneath, Broken, Capabilities, Decide, Patience, Permission, Refused, Update, Verdict,
};
use relaycode_clients::claude_stdio::{ClaudeStdio, Heard};
use relaycode_clients::lines::MOST_UNREAD;
use relaycode_exec::{Input, Job};

use crate::stage::runner;

const LONG: Duration = Duration::from_secs(60);

/// Lets read whatever is beneath a directory, and counts.
struct Reader {
    beneath: Beneath,
    read: usize,
}

impl Decide for Reader {
    fn hear(&mut self, _session: &str, _update: Update) {}

    fn may(&mut self, _asked: &Permission) -> Verdict {
        Verdict::Reject
    }

    fn read(&mut self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, Refused> {
        let content = self.beneath.read(path, line, limit)?;
        self.read += content.len();
        Ok(content)
    }

    fn write(&mut self, path: &str, _content: &str) -> Result<(), Refused> {
        Err(Refused::not_allowed(path))
    }

    fn errors(&mut self, _bytes: &[u8]) {}
}

fn job(script: &str, directory: &Path) -> Job {
    let mut job = Job::argv(["sh", "-c", script], directory);
    job.input = Input::Open;
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
    let mut reader = Reader { beneath: Beneath::new(&project).unwrap(), read: 0 };
    let patience = Patience { until: Instant::now() + LONG, idle: LONG, stop: &|| false };
    let mut agent = Agent::start(&runner(), &job(&script, &project)).unwrap();
    agent.initialize(Capabilities { read: true, write: false }, &mut reader, &patience).unwrap();
    let broken = agent.new_session(&project, &mut reader, &patience).unwrap_err();
    assert!(matches!(broken, Broken::Deaf), "{broken}");
    assert!(reader.read <= MOST_UNREAD + 3 * size, "{} bytes were read for it", reader.read);
    agent.end().unwrap();
}

#[test]
fn a_claude_that_does_not_read_is_told_as_deaf() {
    let folder = tempfile::tempdir().unwrap();
    // What is allowed is handed back whole.
    let script = r#"x=$(head -c 1000000 /dev/zero | tr '\0' x)
        while :; do echo '{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Read","input":"'$x'"}}'; done"#;
    let mut claude = ClaudeStdio::start(&runner(), &job(script, folder.path())).unwrap();
    let (began, mut allowed) = (Instant::now(), 0);
    loop {
        assert!(began.elapsed() < LONG, "{allowed} questions and no end");
        match claude.next(&|| false, Duration::from_millis(50)).unwrap() {
            Heard::Asked(question) => {
                allowed += 1;
                claude.allow(&question);
            }
            Heard::Deaf => break,
            Heard::Nothing => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(allowed * 1_000_000 <= MOST_UNREAD + 3_000_000, "{allowed}");
    claude.end().unwrap();
}
