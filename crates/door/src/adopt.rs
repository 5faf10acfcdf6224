//! Changes that somebody else makes: a command that the user runs in the project as it is. Nothing is planned, asked or
//! gated, because nobody could be; the project is secured before, and what changed is recorded afterwards.

use std::ffi::OsString;

use relaycode_exec::{ExitReason, JobOutcome};
use relaycode_ledger::recording::Omission;
use relaycode_ledger::{
    CommittedTransaction, LedgerRestoreOutcome, Recording, RecordingEnd, TransactionHeader, TxId,
};
use relaycode_project::git::head::GitHead;
use relaycode_text::redact::redact;

use crate::{door::Door, submit::outcome::DoorError};

/// Characters of a command line in a record.
const LINE_CHARS: usize = 500;

/// Where such changes come from, in records.
const ORIGIN: &str = "record";

/// A command that is going to be recorded.
#[derive(Debug, Clone)]
pub struct RecordedCommand<'a> {
    /// The program and its arguments.
    pub argv: &'a [OsString],
    /// What the user calls it.
    pub message: Option<&'a str>,
    /// The time now, ISO 8601 in UTC.
    pub now: String,
}

impl RecordedCommand<'_> {
    /// The command as one line, secrets blacked out, and not too long.
    pub fn command_line(&self) -> String {
        let words: Vec<String> = self.argv.iter().map(|word| quote_word(&word.to_string_lossy())).collect();
        let line = redact(&words.join(" ")).into_owned();
        match line.char_indices().nth(LINE_CHARS) {
            Some((cut, _)) => format!("{}…", &line[..cut]),
            None => line,
        }
    }
}

/// A word as a shell would have to be given it, for people.
fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A project that is secured: the command may run.
pub struct SecuredProject<'d> {
    /// What was secured and where, and what the command's keeper is to hold.
    pub recording: Recording<'d>,
    head: GitHead,
}

/// What a command changed.
#[derive(Debug, Clone)]
pub struct Adoption {
    /// The record; `None`: nothing changed that could be recorded.
    pub committed: Option<CommittedTransaction>,
    /// What changed and cannot be undone.
    pub irreversible: Vec<Omission>,
    /// What became of the records of earlier changes.
    pub history: LedgerRestoreOutcome,
    /// What was checked out before and is now, if that is not the same.
    pub head_change: Option<(GitHead, GitHead)>,
}

impl Door {
    /// Secures the project before a command runs in it. `see` is told how many files are secured, and of how many.
    ///
    /// # Errors
    /// If another command is being recorded here, or the project cannot be secured: nothing should run then.
    pub fn secure(
        &self,
        what: &RecordedCommand<'_>,
        see: &mut dyn FnMut(usize, usize),
        stop: &dyn Fn() -> bool,
    ) -> Result<SecuredProject<'_>, DoorError> {
        let head = self.head();
        let about = TransactionHeader {
            git_commit_msg: what.message.map(|message| redact(message).into_owned()),
            prompt_summary: Some(what.command_line()),
            branch: head.branch.clone(),
            head: head.commit.clone(),
            ..TransactionHeader::new(TxId::random(), &redact(&self.project_id()), &what.now, ORIGIN)
        };
        let recording = self.ledger.begin_recording(&about, &self.ignored_paths(), see, stop)?;
        Ok(SecuredProject { recording, head })
    }

    /// Records what changed since; `finished` is how the command ended, `None` if it never began.
    ///
    /// # Errors
    /// The ledger's. What was secured is still there then: `relay recover` tries again.
    pub fn adopt(
        &self,
        watched: SecuredProject<'_>,
        finished: Option<&JobOutcome>,
    ) -> Result<Adoption, DoorError> {
        let SecuredProject { recording, head: before } = watched;
        let now = self.head();
        let moved = (before != now).then(|| (before, now.clone()));
        let mut notes: Vec<String> = finished.map(ending_note).into_iter().collect();
        if moved.is_some() {
            let note = "it moved what git has checked out: reverting takes files back, not commits";
            notes.push(note.to_string());
        }
        let ended = RecordingEnd { notes, branch: now.branch, head: now.commit };
        let adopted = recording.adopt(ended, &self.ignored_paths())?;
        Ok(Adoption {
            committed: adopted.committed,
            irreversible: adopted.omissions,
            history: adopted.ledger_restore,
            head_change: moved,
        })
    }

    /// What git ignores; nothing where git cannot say. Names that are no text have no place in a record.
    fn ignored_paths(&self) -> Vec<String> {
        let names = self.git().ignored().unwrap_or_default();
        names.into_iter().filter_map(|name| String::from_utf8(name).ok()).collect()
    }
}

/// How a command ended, for its record.
fn ending_note(finished: &JobOutcome) -> String {
    let how = match finished.reason {
        ExitReason::Exited(code) => format!("it ended with exit code {code}"),
        ExitReason::Signalled(signal) => format!("it was ended by signal {signal}"),
        ExitReason::Stopped => "relay was told to end, and ended it".to_string(),
        ExitReason::DeadlinePassed | ExitReason::Idle => "it took too long, and was ended".to_string(),
        ExitReason::KeeperLost => {
            "the process that watched it was ended, and relay then ended it".to_string()
        }
    };
    let left = match finished.left_behind {
        0 => String::new(),
        1 => "; 1 process that it left behind was ended".to_string(),
        several => format!("; {several} processes that it left behind were ended"),
    };
    let escaped = finished.escaped_note().map(|note| format!("; {note}")).unwrap_or_default();
    format!("{how} after {:.1} s{left}{escaped}", finished.took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_reads_as_it_was_typed_without_its_secrets() {
        let words: Vec<OsString> =
            ["sh", "-c", "echo it's", "", "a b"].into_iter().map(OsString::from).collect();
        let line = |words: &[OsString]| {
            RecordedCommand { argv: words, message: None, now: String::new() }.command_line()
        };
        assert_eq!(line(&words), r"sh -c 'echo it'\''s' '' 'a b'");
        let secret: Vec<OsString> =
            ["curl", "-H", "Authorization: Bearer sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"]
                .into_iter()
                .map(OsString::from)
                .collect();
        assert!(!line(&secret).contains("abcdefghijklmnop"), "{}", line(&secret));
        let long = [OsString::from("x".repeat(2 * LINE_CHARS))];
        assert_eq!(line(&long).chars().count(), LINE_CHARS + 1);
    }
}
