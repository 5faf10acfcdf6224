//! What a friend may do in a turn, and what is heard of it.
//!
//! Read-only: nothing that asks is allowed, nothing is written. Workspace: files beneath the directory of the turn
//! may be changed, never through a link, never in `.git` or `.relaycode`; commands are not run, because nothing confines them,
//! but for the project's check where the user wants that.

use relaycode_change::proposal::path::is_sealed;
use relaycode_clients::acp::{
    AcpHandler, AcpPermissionDecision, AcpPermissionRequest, AcpRefusal, AcpSessionUpdate, AcpToolCall,
    ConfinedDir,
};
use relaycode_project::access::Access;

use crate::driver::StderrTail;
use crate::{DeclinedAction, DeclinedActionKind, EventSink, FriendEvent};

/// Bytes of an answer at most.
pub(crate) const MOST_ANSWER: usize = 16 << 20;

const MOST_DECLINED: usize = 500;

/// Attempts to reach a model that may fail one after the other; a friend may go on for ever.
const MOST_ATTEMPTS: usize = 3;

pub(super) struct AcpDecider<'h> {
    access: Access,
    beneath: ConfinedDir,
    denials: &'static [&'static str],
    /// The command that it may run.
    pub(super) check: Option<String>,
    hear: &'h mut EventSink<'h>,
    /// The prompt was sent: what is heard now belongs to this turn.
    prompt_sent: bool,
    pub(super) text: String,
    pub(super) declined: Vec<DeclinedAction>,
    /// What it printed to standard error last.
    pub(super) stderr: StderrTail,
    pub(super) too_large: bool,
    /// Attempts that failed, one after the other, and what the last of them said.
    failed_attempts: usize,
    last_attempt_error: String,
}

impl<'h> AcpDecider<'h> {
    pub(super) fn new(
        access: Access,
        beneath: ConfinedDir,
        denials: &'static [&'static str],
        hear: &'h mut EventSink<'h>,
    ) -> AcpDecider<'h> {
        AcpDecider {
            access,
            beneath,
            denials,
            check: None,
            hear,
            prompt_sent: false,
            text: String::new(),
            declined: Vec::new(),
            stderr: StderrTail::default(),
            too_large: false,
            failed_attempts: 0,
            last_attempt_error: String::new(),
        }
    }
    /// What is heard from now on belongs to this turn; before, it was what a session remembers.
    pub(super) fn start_turn(&mut self) {
        self.prompt_sent = true;
        (self.hear)(FriendEvent::Ready { transport: "acp" });
    }

    /// What the last attempt failed with, if so many failed that more are of no use.
    pub(super) fn retry_error(&self) -> Option<&str> {
        (self.failed_attempts >= MOST_ATTEMPTS).then_some(self.last_attempt_error.as_str())
    }

    /// The last line of standard error that says something.
    pub(super) fn error_excerpt(&self) -> String {
        super::classify::error_excerpt(&self.stderr.text())
    }

    /// What was written so far was a remark on the way.
    fn restart_answer(&mut self) {
        if !self.text.is_empty() {
            self.text.clear();
            (self.hear)(FriendEvent::AnswerRestarted);
        }
    }

    fn record_decline(&mut self, kind: DeclinedActionKind, what: &str) {
        let what = what.chars().take(2000).collect();
        let declined = DeclinedAction { kind, what };
        (self.hear)(FriendEvent::Declined(declined.clone()));
        if self.declined.len() < MOST_DECLINED {
            self.declined.push(declined);
        }
    }

    /// Whether a file may be changed: beneath the directory, and not what git or relay keeps there.
    fn may_change(&self, path: &str) -> bool {
        let Ok(parts) = self.beneath.split_path(path) else { return false };
        self.beneath.contains(path) && !parts.iter().any(|part| is_sealed(part))
    }

    fn is_check(&self, call: &AcpToolCall) -> bool {
        let runs = call.kind.as_deref() == Some("execute");
        runs && self
            .check
            .as_deref()
            .is_some_and(|check| call.command.as_deref().map(str::trim) == Some(check))
    }

    fn allows(&self, call: &AcpToolCall) -> bool {
        match self.access {
            Access::Full => true,
            Access::Workspace => {
                let changes = matches!(call.kind.as_deref(), Some("edit" | "delete" | "move"));
                let known = call.paths_complete && !call.paths.is_empty();
                let writes = changes && known && call.paths.iter().all(|path| self.may_change(path));
                writes || self.is_check(call)
            }
            Access::ReadOnly | Access::Ask => false,
        }
    }
}

impl AcpHandler for AcpDecider<'_> {
    fn on_update(&mut self, _session: &str, update: AcpSessionUpdate) {
        if !self.prompt_sent {
            return;
        }
        if !matches!(update, AcpSessionUpdate::Other(_)) {
            self.failed_attempts = 0;
        }
        match update {
            AcpSessionUpdate::Text(text) if !text.is_empty() => {
                if self.text.len() + text.len() > MOST_ANSWER {
                    self.too_large = true;
                    return;
                }
                self.text.push_str(&text);
                (self.hear)(FriendEvent::Text(text));
            }
            AcpSessionUpdate::Thought(text) if !text.is_empty() => (self.hear)(FriendEvent::Thinking(text)),
            AcpSessionUpdate::ToolCall(call) => {
                self.restart_answer();
                (self.hear)(FriendEvent::Action(describe_call(&call)));
            }
            AcpSessionUpdate::ToolCallUpdate(call) => {
                let said = call.output.as_deref().unwrap_or_default();
                let denied = self.denials.iter().any(|denial| said.contains(denial));
                if call.status.as_deref() == Some("failed") && denied {
                    self.restart_answer();
                    self.record_decline(declined_kind(&call), &describe_call(&call));
                }
            }
            _ => {}
        }
    }

    fn decide_permission(&mut self, asked: &AcpPermissionRequest) -> AcpPermissionDecision {
        self.restart_answer();
        if self.prompt_sent && asked.can_allow_once() && self.allows(&asked.call) {
            (self.hear)(FriendEvent::Action(describe_call(&asked.call)));
            return AcpPermissionDecision::Allow;
        }
        self.record_decline(declined_kind(&asked.call), &describe_call(&asked.call));
        AcpPermissionDecision::Reject
    }

    fn read_file(&mut self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, AcpRefusal> {
        self.beneath.read(path, line, limit)
    }

    fn write_file(&mut self, path: &str, content: &str) -> Result<(), AcpRefusal> {
        let may = matches!(self.access, Access::Workspace | Access::Full) && self.prompt_sent;
        let written = if may && self.may_change(path) {
            self.beneath.write(path, content)
        } else {
            Err(AcpRefusal::not_allowed(format!("{path} may not be written")))
        };
        if written.is_err() {
            self.record_decline(DeclinedActionKind::Write, path);
        }
        written
    }

    fn on_stderr(&mut self, bytes: &[u8]) {
        self.stderr.push(bytes);
        let said = String::from_utf8_lossy(bytes);
        for retry in said.lines().filter_map(super::classify::parse_retry).take(MOST_ATTEMPTS) {
            if self.prompt_sent {
                self.failed_attempts += 1;
                self.last_attempt_error.clone_from(&retry);
                (self.hear)(FriendEvent::Retrying(retry));
            }
        }
    }

    fn should_abort(&self) -> bool {
        self.too_large || self.failed_attempts >= MOST_ATTEMPTS
    }
}

fn declined_kind(call: &AcpToolCall) -> DeclinedActionKind {
    match call.kind.as_deref() {
        Some("edit" | "delete" | "move") => DeclinedActionKind::Write,
        Some("execute") => DeclinedActionKind::Command,
        _ => DeclinedActionKind::Other,
    }
}

/// What a call is about: the files that it changes, or its own words.
fn describe_call(call: &AcpToolCall) -> String {
    let title = call.title.clone().unwrap_or_default();
    match (declined_kind(call), call.paths.as_slice()) {
        (DeclinedActionKind::Write, paths) if !paths.is_empty() => paths.join(", "),
        _ if title.is_empty() => call.kind.clone().unwrap_or_else(|| "a tool".to_string()),
        _ => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_sealed_may_be_changed_in_whatever_spelling() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let beneath = ConfinedDir::new(&root).unwrap();
        let mut hear = |_| {};
        let decider = AcpDecider::new(Access::Workspace, beneath, &[], &mut hear);
        for sealed in [".git/config", ".GIT/x", ".relaycode/lock", "pkg/.RelayCode/x", "GIT~1/x", ".git./x"] {
            let path = root.join(sealed);
            assert!(!decider.may_change(path.to_str().unwrap()), "{sealed}");
        }
        assert!(decider.may_change(root.join("src/.gitignore").to_str().unwrap()));
    }

    #[test]
    fn of_commands_only_the_check_is_allowed_and_only_in_a_copy() {
        let place = tempfile::tempdir().unwrap();
        let allowed = |access, check: Option<&str>, kind: &str, command: Option<&str>| {
            let (mut hear, beneath) = (|_| {}, ConfinedDir::new(place.path()).unwrap());
            let mut decider = AcpDecider::new(access, beneath, &[], &mut hear);
            decider.check = check.map(str::to_string);
            let (kind, command) = (Some(kind.to_string()), command.map(str::to_string));
            decider.allows(&AcpToolCall { kind, command, ..AcpToolCall::default() })
        };
        let check = Some("make check");
        assert!(allowed(Access::Workspace, check, "execute", Some(" make check\n")));
        assert!(!allowed(Access::Workspace, check, "execute", Some("make check; rm -rf ~")));
        assert!(!allowed(Access::Workspace, check, "execute", None));
        assert!(!allowed(Access::Workspace, check, "other", check));
        assert!(!allowed(Access::Workspace, None, "execute", check));
        assert!(!allowed(Access::ReadOnly, check, "execute", check));
    }
}
