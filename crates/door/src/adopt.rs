//! Changes that somebody else makes: commands that run in the project as it is. Nothing is planned, asked or
//! gated, because nobody could be; the project is secured before, and what changed is recorded afterwards.

use std::ffi::OsString;

use relaycode_durable::name_text;
use relaycode_exec::{ExitReason, JobOutcome};
use relaycode_ledger::recording::Omission;
use relaycode_ledger::transaction::group::Group;
use relaycode_ledger::{
    CommandScope, CommittedTransaction, LedgerRestoreOutcome, Recording, RecordingEnd, SecureProgress,
    SecureReport, TransactionHeader, TxId,
};
use relaycode_project::git::{head::GitHead, snapshot::GitSnapshot};
use relaycode_project::permissions::{LineLosses, LineReading};
use relaycode_text::redact::redact;

use crate::door::Door;
use crate::set_aside::{SetAsideReport, SetAsideRun, moved_file};
use crate::submit::outcome::DoorError;

/// Characters of a command line in a record.
const LINE_CHARS: usize = 500;

/// A command that is going to be recorded.
#[derive(Debug, Clone)]
pub struct RecordedCommand<'a> {
    /// The program and its arguments.
    pub argv: &'a [OsString],
    /// What the user calls it.
    pub message: Option<&'a str>,
    /// The time now, ISO 8601 in UTC.
    pub now: String,
    /// Where it comes from, in records: `record`, `agent`.
    pub origin: &'a str,
    /// Which rules let it run; `None`: the user.
    pub decided_by: Option<&'a str>,
    /// It runs in a fence: what it makes or changes at protected names is set aside.
    pub is_fenced: bool,
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
pub fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Commands that run one after the other, such as those of an agent's turn: what was secured for one is there for the next.
pub struct CommandWatch<'d> {
    door: &'d Door,
    /// What was secured and where, and what the command's keeper is to hold.
    pub recording: Recording<'d>,
    /// The commands and the edits between them, as the log shows them; `None`: each command stands for itself.
    group: Option<Group<'d>>,
    /// What git had before the command that runs.
    git: GitSnapshot,
    /// What git goes by beside the project's files when it ignores something.
    ignored_by: GitSnapshot,
    /// Whether the command that runs is in a fence.
    is_fenced: bool,
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
    /// What else of git's own changed, each as it stands in the record: branches, tags, the index.
    pub git_changes: Vec<String>,
    /// What it made or changed at protected names.
    pub set_aside: SetAsideReport,
}

/// How a command ended.
pub struct CommandEnd<'e> {
    /// `None`: it never began.
    pub finished: Option<&'e JobOutcome>,
    /// The time now, ISO 8601 in UTC.
    pub now: &'e str,
}

impl Door {
    /// Watches the commands of a turn. With a group, they and the edits that name it are one entry of the log.
    ///
    /// # Errors
    /// If the group is open in another process.
    pub fn watch_commands(&self, group: Option<&str>) -> Result<CommandWatch<'_>, DoorError> {
        let group = group.map(|id| self.ledger.open_group(id)).transpose()?;
        let (git, ignored_by) = (GitSnapshot::default(), GitSnapshot::default());
        let recording = self.ledger.open_recording();
        Ok(CommandWatch { door: self, recording, group, git, ignored_by, is_fenced: false })
    }

    /// What a command is going to destroy, for [`CommandWatch::begin`]. Where git cannot say what it lacks, that is left out.
    pub fn expected_losses(&self, reading: &LineReading) -> Vec<String> {
        let LineLosses { paths, uncommitted } = reading.losses(&self.root);
        let lacking = if uncommitted { self.git().uncommitted().unwrap_or_default() } else { Vec::new() };
        paths.into_iter().chain(lacking).collect()
    }

    /// What git ignores, as records have it; nothing where git cannot say.
    fn ignored_paths(&self) -> Vec<String> {
        let names = self.git().ignored().unwrap_or_default();
        names.iter().map(|name| name_text(name).into_owned()).collect()
    }
}

impl CommandWatch<'_> {
    /// Secures the project before a command runs in it; `doomed` is what the command is going to destroy, as far as that is
    /// known, beneath the project: it is secured whatever it costs, or named in the report.
    ///
    /// # Errors
    /// If another command is being recorded here, or the project cannot be secured: nothing should run then.
    pub fn begin(
        &mut self,
        what: &RecordedCommand<'_>,
        doomed: &[String],
        progress: &mut SecureProgress<'_>,
    ) -> Result<&SecureReport, DoorError> {
        let door = self.door;
        self.git = GitSnapshot::take(&door.root);
        let about = TransactionHeader {
            git_commit_msg: what.message.map(|message| redact(message).into_owned()),
            prompt_summary: Some(what.command_line()),
            decided_by: what.decided_by.map(|rules| redact(rules).into_owned()),
            group: self.group.as_ref().map(|group| group.id().to_string()),
            branch: self.git.head.branch.clone(),
            head: self.git.head.commit.clone(),
            ..TransactionHeader::new(TxId::random(), &redact(&door.project_id()), &what.now, what.origin)
        };
        // What is in the index is not ignored, and lists of its own say what is.
        let is_ignored_stale = !self.git.ignores_as(&self.ignored_by);
        let ignored = || door.ignored_paths();
        let sets_aside = what.is_fenced;
        let scope = CommandScope { about: &about, ignored: &ignored, is_ignored_stale, doomed, sets_aside };
        self.is_fenced = what.is_fenced;
        let report = self.recording.begin(&scope, progress)?;
        self.ignored_by = self.git.clone();
        Ok(report)
    }

    /// Records what changed since, and sets aside what is protected.
    ///
    /// # Errors
    /// The ledger's. What was secured is still there then: `relay recover` tries again.
    pub fn finish(&mut self, end: &CommandEnd<'_>) -> Result<Adoption, DoorError> {
        let CommandEnd { finished, now: time } = *end;
        let door = self.door;
        let now = GitSnapshot::take(&door.root);
        let before = std::mem::take(&mut self.git);
        let git_changes = before.changes(&now);
        let moved = (before.head != now.head).then(|| (before.head, now.head.clone()));
        let mut notes: Vec<String> = finished.map(ending_note).into_iter().collect();
        if moved.is_some() {
            let note = "it moved what git has checked out: reverting takes files back, not commits";
            notes.push(note.to_string());
        }
        notes.extend(git_changes.iter().map(|change| format!("git: {change}")));
        let ended = RecordingEnd { notes, branch: now.head.branch, head: now.head.commit };
        let adopted = self.recording.finish(ended, &|| door.ignored_paths())?;
        let mut set_aside = SetAsideReport::default();
        if let Some(committed) = adopted.committed.as_ref().filter(|_| self.is_fenced) {
            let run = SetAsideRun { ledger: &door.ledger, root: &door.root, now: time };
            set_aside = run.set_aside(&committed.record);
            self.recording.settle();
        }
        set_aside.moved = adopted.moved_away.iter().filter_map(moved_file).collect();
        Ok(Adoption {
            set_aside,
            committed: adopted.committed,
            irreversible: adopted.omissions,
            history: adopted.ledger_restore,
            head_change: moved,
            git_changes,
        })
    }

    /// Ends it: the turn is over.
    ///
    /// # Errors
    /// The ledger's; the group counts as interrupted then, and what was secured is cleared away by the next command.
    pub fn close(self) -> Result<(), DoorError> {
        self.recording.close()?;
        Ok(self.group.map_or(Ok(()), Group::finish)?)
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
            RecordedCommand {
                argv: words,
                message: None,
                now: String::new(),
                origin: "record",
                decided_by: None,
                is_fenced: false,
            }
            .command_line()
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
