//! Changes that somebody else makes: a command that the user runs in the project as it is. Nothing is planned, asked or
//! gated, because nobody could be; the project is secured before, and what changed is recorded afterwards.

use std::ffi::OsString;
use std::os::fd::OwnedFd;

use relaycode_exec::{End, Finished};
use relaycode_ledger::recording::Left;
use relaycode_ledger::{About, Committed, Ended, History, Recording, Secured, TxId};
use relaycode_project::head::Head;
use relaycode_text::redact::redact;

use crate::door::Door;
use crate::outcome::DoorError;

/// Characters of a command line in a record.
const LINE_CHARS: usize = 500;

/// Where such changes come from, in records.
const ORIGIN: &str = "record";

/// A command that is going to be recorded.
#[derive(Debug, Clone)]
pub struct Recordable<'a> {
    /// The program and its arguments.
    pub words: &'a [OsString],
    /// What the user calls it.
    pub message: Option<&'a str>,
    /// The time now, ISO 8601 in UTC.
    pub now: String,
}

impl Recordable<'_> {
    /// The command as one line, secrets blacked out, and not too long.
    pub fn line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quoted(&word.to_string_lossy())).collect();
        let line = redact(&words.join(" ")).into_owned();
        match line.char_indices().nth(LINE_CHARS) {
            Some((cut, _)) => format!("{}…", &line[..cut]),
            None => line,
        }
    }
}

/// A word as a shell would have to be given it, for people.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A project that is secured: the command may run.
pub struct Watched<'d> {
    recording: Recording<'d>,
    head: Head,
}

/// What a command changed.
#[derive(Debug, Clone)]
pub struct Adoption {
    /// The record; `None`: nothing changed that could be recorded.
    pub committed: Option<Committed>,
    /// What changed and cannot be undone.
    pub left: Vec<Left>,
    /// What became of the records of earlier changes.
    pub history: History,
    /// What was checked out before and is now, if that is not the same.
    pub moved: Option<(Head, Head)>,
}

impl Watched<'_> {
    /// The transaction that it is going to be.
    pub fn id(&self) -> TxId {
        self.recording.id()
    }

    /// What was secured, and what was not.
    pub fn secured(&self) -> &Secured {
        self.recording.secured()
    }

    /// Where it is secured, and whether that is outside of the project.
    pub fn secured_at(&self) -> (String, bool) {
        self.recording.secured_at()
    }

    /// What the keeper of the command is to hold: see [`Recording::sign_of_life`].
    pub fn sign_of_life(&self) -> Option<OwnedFd> {
        self.recording.sign_of_life()
    }
}

impl Door {
    /// Secures the project before a command runs in it. `see` is told how many files are secured, and of how many.
    ///
    /// # Errors
    /// If another command is being recorded here, or the project cannot be secured: nothing should run then.
    pub fn secure(
        &self,
        what: &Recordable<'_>,
        see: &mut dyn FnMut(usize, usize),
        stop: &dyn Fn() -> bool,
    ) -> Result<Watched<'_>, DoorError> {
        let head = self.head();
        let about = About {
            git_commit_msg: what.message.map(|message| redact(message).into_owned()),
            prompt_summary: Some(what.line()),
            branch: head.branch.clone(),
            head: head.commit.clone(),
            ..About::new(TxId::random(), &redact(&self.project_id()), &what.now, ORIGIN)
        };
        let recording = self.ledger.secure(&about, &self.ignored(), see, stop)?;
        Ok(Watched { recording, head })
    }

    /// Records what changed since; `finished` is how the command ended, `None` if it never began.
    ///
    /// # Errors
    /// The ledger's. What was secured is still there then: `relay recover` tries again.
    pub fn adopt(&self, watched: Watched<'_>, finished: Option<&Finished>) -> Result<Adoption, DoorError> {
        let Watched { recording, head: before } = watched;
        let now = self.head();
        let moved = (before != now).then(|| (before, now.clone()));
        let mut notes: Vec<String> = finished.map(ending).into_iter().collect();
        if moved.is_some() {
            notes.push(
                "it moved what git has checked out: reverting takes files back, not commits".to_string(),
            );
        }
        let ended = Ended { notes, branch: now.branch, head: now.commit };
        let adopted = recording.adopt(ended, &self.ignored())?;
        Ok(Adoption { committed: adopted.committed, left: adopted.left, history: adopted.history, moved })
    }

    /// What git ignores; nothing where git cannot say. Names that are no text have no place in a record.
    fn ignored(&self) -> Vec<String> {
        let names = self.git().ignored().unwrap_or_default();
        names.into_iter().filter_map(|name| String::from_utf8(name).ok()).collect()
    }
}

/// How a command ended, for its record.
fn ending(finished: &Finished) -> String {
    let how = match finished.end {
        End::Exited(code) => format!("it ended with exit code {code}"),
        End::Signalled(signal) => format!("it was ended by signal {signal}"),
        End::Stopped => "relay was told to end, and ended it".to_string(),
        End::DeadlinePassed | End::Idle => "it took too long, and was ended".to_string(),
        End::KeeperLost => "the process that watched it was ended, and it with that".to_string(),
    };
    let left = match finished.left_behind {
        0 => String::new(),
        1 => "; 1 process that it left behind was ended".to_string(),
        several => format!("; {several} processes that it left behind were ended"),
    };
    format!("{how} after {:.1} s{left}", finished.took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_reads_as_it_was_typed_without_its_secrets() {
        let words: Vec<OsString> =
            ["sh", "-c", "echo it's", "", "a b"].into_iter().map(OsString::from).collect();
        let line = |words: &[OsString]| Recordable { words, message: None, now: String::new() }.line();
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
