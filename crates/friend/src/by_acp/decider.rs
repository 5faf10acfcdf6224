//! What a friend may do in a turn, and what is heard of it.
//!
//! Read-only: nothing that asks is allowed, nothing is written. Workspace: files beneath the directory of the turn
//! may be changed, never through a link, never in `.git` or `.relaycode`; commands are not run, because nothing confines them.

use relaycode_change::path::is_sealed;
use relaycode_clients::acp::{Beneath, Decide, Permission, Refused, ToolCall, Update, Verdict};
use relaycode_project::access::Access;

use crate::answer::{Declined, DeclinedKind};
use crate::event::Event;
use crate::last_words::Tail;

/// Bytes of an answer at most.
pub(crate) const MOST_ANSWER: usize = 16 << 20;

/// Refusals that are kept.
const MOST_DECLINED: usize = 500;

/// Attempts to reach a model that may fail one after the other; a friend may go on for ever.
const MOST_ATTEMPTS: usize = 3;

/// Decides for one turn.
pub(super) struct Decider<'h> {
    access: Access,
    beneath: Beneath,
    denials: &'static [&'static str],
    hear: &'h mut dyn FnMut(Event),
    /// The prompt was sent: what is heard now belongs to this turn.
    begun: bool,
    text: String,
    declined: Vec<Declined>,
    errors: Tail,
    too_much: bool,
    /// Attempts that failed, one after the other, and what the last of them said.
    failed: usize,
    failed_with: String,
}

impl<'h> Decider<'h> {
    pub(super) fn new(
        access: Access,
        beneath: Beneath,
        denials: &'static [&'static str],
        hear: &'h mut dyn FnMut(Event),
    ) -> Decider<'h> {
        Decider {
            access,
            beneath,
            denials,
            hear,
            begun: false,
            text: String::new(),
            declined: Vec::new(),
            errors: Tail::default(),
            too_much: false,
            failed: 0,
            failed_with: String::new(),
        }
    }

    /// What is heard from now on belongs to this turn; before, it was what a session remembers.
    pub(super) fn begin(&mut self) {
        self.begun = true;
        (self.hear)(Event::Ready { way: "acp" });
    }

    pub(super) fn is_too_much(&self) -> bool {
        self.too_much
    }

    /// What the last attempt failed with, if so many failed that more are of no use.
    pub(super) fn gave_up(&self) -> Option<&str> {
        (self.failed >= MOST_ATTEMPTS).then_some(self.failed_with.as_str())
    }

    pub(super) fn into_parts(self) -> (String, Vec<Declined>) {
        (self.text, self.declined)
    }

    /// What it printed to standard error last.
    pub(super) fn errors(&self) -> String {
        self.errors.text()
    }

    /// The last line of it that says something.
    pub(super) fn last_words(&self) -> String {
        super::classify::last_words(&self.errors())
    }

    pub(super) fn remember(&mut self, bytes: &[u8]) {
        self.errors.add(bytes);
    }

    /// What was written so far was a remark on the way.
    fn anew(&mut self) {
        if !self.text.is_empty() {
            self.text.clear();
            (self.hear)(Event::Anew);
        }
    }

    fn decline(&mut self, kind: DeclinedKind, what: &str) {
        let what = what.chars().take(2000).collect();
        let declined = Declined { kind, what };
        (self.hear)(Event::Declined(declined.clone()));
        if self.declined.len() < MOST_DECLINED {
            self.declined.push(declined);
        }
    }

    /// Whether a file may be changed: beneath the directory, and not what git or relay keeps there.
    fn may_change(&self, path: &str) -> bool {
        let Ok(parts) = self.beneath.parts(path) else { return false };
        self.beneath.holds(path) && !parts.iter().any(|part| is_sealed(part))
    }

    fn allows(&self, call: &ToolCall) -> bool {
        match self.access {
            Access::Full => true,
            Access::Workspace => {
                let changes = matches!(call.kind.as_deref(), Some("edit" | "delete" | "move"));
                let known = call.paths_are_whole && !call.paths.is_empty();
                changes && known && call.paths.iter().all(|path| self.may_change(path))
            }
            Access::ReadOnly | Access::Ask => false,
        }
    }
}

impl Decide for Decider<'_> {
    fn hear(&mut self, _session: &str, update: Update) {
        if !self.begun {
            return;
        }
        if !matches!(update, Update::Other(_)) {
            self.failed = 0;
        }
        match update {
            Update::Text(text) if !text.is_empty() => {
                if self.text.len() + text.len() > MOST_ANSWER {
                    self.too_much = true;
                    return;
                }
                self.text.push_str(&text);
                (self.hear)(Event::Text(text));
            }
            Update::Thought(text) if !text.is_empty() => (self.hear)(Event::Thinking(text)),
            Update::Tool(call) => {
                self.anew();
                (self.hear)(Event::Doing(named(&call)));
            }
            Update::ToolChanged(call) => {
                let said = call.said.as_deref().unwrap_or_default();
                let denied = self.denials.iter().any(|denial| said.contains(denial));
                if call.status.as_deref() == Some("failed") && denied {
                    self.anew();
                    self.decline(kind_of(&call), &named(&call));
                }
            }
            Update::Text(_) | Update::Thought(_) | Update::Mode(_) | Update::Other(_) => {}
        }
    }

    fn may(&mut self, asked: &Permission) -> Verdict {
        self.anew();
        if self.begun && asked.can_be_allowed() && self.allows(&asked.call) {
            (self.hear)(Event::Doing(named(&asked.call)));
            return Verdict::Allow;
        }
        self.decline(kind_of(&asked.call), &named(&asked.call));
        Verdict::Reject
    }

    fn read(&mut self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, Refused> {
        self.beneath.read(path, line, limit)
    }

    fn write(&mut self, path: &str, content: &str) -> Result<(), Refused> {
        let may = matches!(self.access, Access::Workspace | Access::Full) && self.begun;
        let written = if may && self.may_change(path) {
            self.beneath.write(path, content)
        } else {
            Err(Refused::not_allowed(format!("{path} may not be written")))
        };
        if written.is_err() {
            self.decline(DeclinedKind::Write, path);
        }
        written
    }

    fn errors(&mut self, bytes: &[u8]) {
        self.remember(bytes);
        let said = String::from_utf8_lossy(bytes);
        for retry in said.lines().filter_map(super::classify::retry).take(MOST_ATTEMPTS) {
            if self.begun {
                self.failed += 1;
                self.failed_with.clone_from(&retry);
                (self.hear)(Event::Retrying(retry));
            }
        }
    }

    fn enough(&self) -> bool {
        self.too_much || self.failed >= MOST_ATTEMPTS
    }
}

fn kind_of(call: &ToolCall) -> DeclinedKind {
    match call.kind.as_deref() {
        Some("edit" | "delete" | "move") => DeclinedKind::Write,
        Some("execute") => DeclinedKind::Command,
        _ => DeclinedKind::Other,
    }
}

/// What a call is about: the files that it changes, or its own words.
fn named(call: &ToolCall) -> String {
    let title = call.title.clone().unwrap_or_default();
    match (kind_of(call), call.paths.as_slice()) {
        (DeclinedKind::Write, paths) if !paths.is_empty() => paths.join(", "),
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
        let beneath = Beneath::new(&root).unwrap();
        let mut hear = |_| {};
        let decider = Decider::new(Access::Workspace, beneath, &[], &mut hear);
        for sealed in [".git/config", ".GIT/x", ".relaycode/lock", "pkg/.RelayCode/x", "GIT~1/x", ".git./x"] {
            let path = root.join(sealed);
            assert!(!decider.may_change(path.to_str().unwrap()), "{sealed}");
        }
        assert!(decider.may_change(root.join("src/.gitignore").to_str().unwrap()));
    }
}
