//! What the model and people read of a command that ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use relaycode_door::GitPutBack;
use relaycode_exec::{CapturedOutput, ExecError, ExitReason, JobOutcome};
use relaycode_project::fence::find_fence_hit;
use relaycode_text::terminal_text::plain_terminal_text;
use serde_json::{Value, json};

use super::run::{CommandRun, CommandRunError};
use crate::card::{CardBody, CardExit, ToolCard};
use crate::tool::{ToolError, ToolOutput};
use crate::workspace::{ShellStateEnd, ToolWarnings};

/// Lines of the end of an output that people see.
const MAX_CARD_LINES: usize = 200;
/// Names of one kind that the person is told; the model is told all.
const MAX_WARNED: usize = 3;

/// What is known of a command beside how it ended.
pub(super) struct CommandAbout {
    pub line: String,
    pub timeout: Duration,
    pub is_pty: bool,
    /// Where its whole output would be, and the address of that.
    pub artifact: Option<(PathBuf, String)>,
    pub rule: String,
    /// Told before everything else: a timeout that was changed.
    pub notes: Vec<String>,
    pub warnings: Arc<ToolWarnings>,
}

/// The shell after the command.
pub(super) struct ShellEnd {
    pub state: ShellStateEnd,
    /// Where the next command starts, if that is told.
    pub directory_note: Option<String>,
}

impl ShellEnd {
    /// Of a command that leaves nothing for the next.
    pub(super) fn of_job() -> ShellEnd {
        ShellEnd { state: ShellStateEnd::Unchanged, directory_note: None }
    }
}

impl CommandAbout {
    /// Tells the person in one sentence what a model's words are no good for.
    pub(super) fn warn_person(&self, run: &CommandRun) {
        let mut parts = Vec::new();
        match &run.changes {
            Ok(changes) => {
                parts.extend(some_of("cannot be undone", &changes.irreversible));
                parts.extend(some_of("put back as it was", &changes.set_aside));
            }
            Err(error) => {
                parts.push(format!("what it changed is not recorded, so it cannot be undone: {error}"));
            }
        }
        let put_back: Vec<String> = run.git.files.iter().map(GitPutBack::sentence).collect();
        parts.extend(some_of("git could have run something", &put_back));
        if !parts.is_empty() {
            self.warnings.add(format!("{}: {}", card_title(&self.line), parts.join("; ")));
        }
    }

    pub(super) fn report(&self, run: &CommandRun, shell: &ShellEnd) -> Result<ToolOutput, ToolError> {
        let outcome = match &run.outcome {
            Ok(outcome) => outcome,
            Err(error) => return Err(ToolError::refused(not_begun(error))),
        };
        let (shown, is_cut) = shown_output(&outcome.stdout, self.is_pty);
        let mut text = if shown.trim().is_empty() { "(no output)".to_string() } else { shown.clone() };
        for note in self.all_notes(run, outcome, shell, (&shown, is_cut)) {
            text.push_str(&format!("\n[{note}]"));
        }
        let ended = match outcome.reason {
            ExitReason::Exited(0) => None,
            ExitReason::Exited(code) => Some(format!("Command exited with code {code}")),
            ExitReason::Signalled(signal) => Some(format!("Command was ended by signal {signal}")),
            ExitReason::DeadlinePassed | ExitReason::Idle => {
                Some(format!("Command timed out after {} seconds", self.timeout.as_secs()))
            }
            ExitReason::Stopped => Some("Command was stopped".to_string()),
            ExitReason::KeeperLost => Some(
                "Command ended without an exit code: the process that watches it was ended, and relay ended the rest"
                    .to_string(),
            ),
        };
        let card = self.card(outcome, &shown);
        let details = self.details(run, outcome, is_cut);
        match ended {
            None => Ok(ToolOutput::text(text, card).with_details(details)),
            Some(ended) => {
                let message = format!("{text}\n\n{ended}");
                Err(ToolError::Refused { message, card: Some(Box::new(card)), details: Some(details) })
            }
        }
    }

    fn all_notes(
        &self,
        run: &CommandRun,
        outcome: &JobOutcome,
        shell: &ShellEnd,
        (shown, is_cut): (&str, bool),
    ) -> Vec<String> {
        let mut notes = self.notes.clone();
        if is_cut {
            notes.push(self.cut_note(outcome, shown, run.lines));
        }
        notes.extend(shell.directory_note.clone());
        if shell.state == ShellStateEnd::TooLarge {
            notes.push(
                "The shell's variables and functions are too large to be kept for the next command"
                    .to_string(),
            );
        }
        match outcome.left_behind {
            0 => {}
            1 => notes.push(
                "1 process that it left running was ended; `async` keeps a command running".to_string(),
            ),
            count => notes.push(format!(
                "{count} processes that it left running were ended; `async` keeps a command running"
            )),
        }
        notes.extend(outcome.escaped_note());
        match &run.changes {
            Ok(changes) => {
                for path in &changes.set_aside {
                    notes.push(format!("Put back as it was: {path}. Only the user can change it"));
                }
                for left in &changes.irreversible {
                    notes.push(format!("Cannot be undone: {left}"));
                }
            }
            Err(error) => {
                notes.push(format!("What it changed is not recorded yet, so it cannot be undone: {error}"));
            }
        }
        notes.extend(
            run.git.files.iter().map(|file| format!("{}. Only the user can change it", file.sentence())),
        );
        if let Some(fence) = &run.fence
            && !outcome.reason.is_success()
            && let Some(hit) = find_fence_hit(shown, &fence.fence)
        {
            notes.push(format!("The fence may be why it failed: {}", hit.sentence()));
        }
        notes
    }

    fn cut_note(&self, outcome: &JobOutcome, shown: &str, lines: u64) -> String {
        let shown_lines = shown.lines().count() as u64;
        let total = lines.max(shown_lines);
        let whole = match (&outcome.stdout.spill_file, &self.artifact) {
            (Some(file), Some((_, address))) => {
                let kept = std::fs::metadata(file).map_or(0, |found| found.len());
                let printed =
                    outcome.stdout.dropped + (outcome.stdout.head.len() + outcome.stdout.tail.len()) as u64;
                if kept < printed {
                    format!("its first {kept} of {printed} bytes: {address}")
                } else {
                    format!("all of it: {address}")
                }
            }
            _ => "the rest is not kept".to_string(),
        };
        format!("Showing lines {}-{total} of {total}; {whole}", total - shown_lines + 1)
    }

    fn card(&self, outcome: &JobOutcome, shown: &str) -> ToolCard {
        let seconds = format!("{:.1} s", outcome.took.as_secs_f64());
        let summary = match outcome.reason {
            ExitReason::Exited(0) => seconds,
            ExitReason::Exited(code) => format!("exit {code}, {seconds}"),
            ExitReason::Signalled(signal) => format!("signal {signal}, {seconds}"),
            ExitReason::DeadlinePassed | ExitReason::Idle => format!("timed out, {seconds}"),
            ExitReason::Stopped | ExitReason::KeeperLost => format!("stopped, {seconds}"),
        };
        let lines: Vec<&str> = shown.lines().collect();
        let text = lines[lines.len().saturating_sub(MAX_CARD_LINES)..].join("\n");
        let body = match text.is_empty() {
            true => CardBody::None,
            false => CardBody::Text { text, first_line: None, is_tail: true },
        };
        let exit = match outcome.reason {
            ExitReason::Exited(code) => CardExit::Exited { code },
            ExitReason::Signalled(signal) => CardExit::Signalled { signal },
            ExitReason::DeadlinePassed | ExitReason::Idle => CardExit::TimedOut,
            ExitReason::Stopped | ExitReason::KeeperLost => CardExit::Stopped,
        };
        let duration_ms = u64::try_from(outcome.took.as_millis()).ok();
        ToolCard { exit: Some(exit), duration_ms, ..ToolCard::new(card_title(&self.line), summary, body) }
    }

    fn details(&self, run: &CommandRun, outcome: &JobOutcome, is_cut: bool) -> Value {
        let code = if let ExitReason::Exited(code) = outcome.reason { Some(code) } else { None };
        let changes = run.changes.as_ref().ok();
        json!({
            "exitCode": code,
            "durationMs": u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX),
            "truncated": is_cut,
            "artifact": self.artifact.as_ref().filter(|_| outcome.stdout.spill_file.is_some()).map(|(_, address)| address),
            "rule": self.rule,
            "fenced": run.fence.is_some(),
            "changes": changes.map(|changes| &changes.records),
            "changedFiles": changes.map(|changes| changes.files),
            "setAside": changes.map(|changes| &changes.set_aside),
            "gitPutBack": run.git.files.iter().map(|file| file.sentence()).collect::<Vec<_>>(),
            "leftBehind": outcome.left_behind,
        })
    }
}

/// The first of them, and how many there are.
fn some_of(what: &str, all: &[String]) -> Option<String> {
    let first = all.get(..all.len().min(MAX_WARNED)).filter(|first| !first.is_empty())?;
    let more = match all.len() - first.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("{what}: {}{more}", first.join(", ")))
}

/// The command on one line.
pub(super) fn card_title(line: &str) -> String {
    let first = line.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let more = if line.trim().lines().count() > 1 { " …" } else { "" };
    format!("bash {first}{more}")
}

fn not_begun(error: &CommandRunError) -> String {
    match error {
        CommandRunError::Exec(ExecError::NotFound { .. }) => {
            "the command did not run: bash is not installed on this computer".to_string()
        }
        CommandRunError::Exec(error @ ExecError::Fence { .. }) => format!(
            "the command did not run: {error}. Without a fence, commands run only with `--access full`, which the user chooses"
        ),
        CommandRunError::Exec(error) => format!("the command did not run: {error}"),
        CommandRunError::NotSecured(_) => error.to_string(),
    }
}

/// The end of an output from the beginning of a line, and whether something before it is missing.
fn shown_output(output: &CapturedOutput, is_pty: bool) -> (String, bool) {
    let bytes = if output.dropped > 0 { &output.tail } else { &output.head };
    let is_cut = output.dropped > 0;
    let start = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) if is_cut && at + 1 < bytes.len() => at + 1,
        // One endless line: from the beginning of a character.
        _ if is_cut => bytes.iter().position(|byte| byte & 0xc0 != 0x80).unwrap_or(0),
        _ => 0,
    };
    let text = String::from_utf8_lossy(&bytes[start..]);
    let text = if is_pty { plain_terminal_text(&text) } else { text.into_owned() };
    (text.trim_end_matches(['\n', '\r']).to_string(), is_cut)
}

/// The next free number for an output that is kept, and its address.
pub(super) fn next_artifact(directory: &Path) -> (PathBuf, String) {
    let names = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let numbers = names.filter_map(|entry| {
        let name = entry.file_name();
        name.to_str()?.split_once('.')?.0.parse::<u64>().ok()
    });
    let number = numbers.max().map_or(0, |last| last.saturating_add(1));
    (directory.join(format!("{number}.bash.log")), format!("artifact://{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shown_end_begins_with_a_line_or_a_character() {
        let output = |tail: &str, dropped| CapturedOutput {
            head: if dropped == 0 { tail.into() } else { Vec::new() },
            tail: if dropped == 0 { Vec::new() } else { tail.into() },
            dropped,
            spill_file: None,
        };
        assert_eq!(shown_output(&output("one\ntwo\n", 0), false), ("one\ntwo".into(), false));
        assert_eq!(shown_output(&output("ne\ntwo\n", 9), false), ("two".into(), true));
        let cut = CapturedOutput { tail: vec![0xa9, b'x', b'y'], dropped: 1, ..CapturedOutput::default() };
        assert_eq!(shown_output(&cut, false), ("xy".into(), true));
    }

    #[test]
    fn artifacts_are_numbered_on_also_in_a_session_that_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let next = || next_artifact(directory.path());
        assert_eq!(next(), (directory.path().join("0.bash.log"), "artifact://0".to_string()));
        for name in ["0.bash.log", "7.bash.log", "notes.txt"] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        assert_eq!(next(), (directory.path().join("8.bash.log"), "artifact://8".to_string()));
    }
}
