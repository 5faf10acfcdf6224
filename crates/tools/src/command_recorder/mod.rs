//! What the commands of a turn change, recorded with its edits: one recording over the turn, on a thread of its own, so that what
//! was secured for one command is there for the next, and commands in the background go on between calls.
//!
//! Commands that run at the same time are one record, which is written when the last of them has ended, or when the turn's group
//! changes: between the end of one record and the beginning of the next a command could change what is in neither. An edit that
//! is made meanwhile is in that record as well as in its own; an undo of both takes it back once.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use relaycode_door::{Adoption, CommandEnd, CommandWatch, Door, DoorError, RecordedCommand, SecureProgress};
use relaycode_exec::JobOutcome;
use relaycode_llm::CancelToken;

/// Names of each kind that are told.
const MAX_TOLD: usize = 20;

/// Shared by the calls of a session.
pub(crate) struct CommandRecorder {
    door: Arc<Door>,
    worker: Mutex<Option<RecorderWorker>>,
}

struct RecorderWorker {
    requests: Sender<RecorderRequest>,
    thread: JoinHandle<()>,
}

/// A command that is about to run.
#[derive(Clone)]
pub(crate) struct RecorderStart {
    /// By which its end is told.
    pub call: String,
    pub argv: Vec<OsString>,
    /// The group of the turn.
    pub group: Option<String>,
    /// What the log calls it.
    pub title: Option<String>,
    /// The rule that let it run; `None`: the user, who was asked.
    pub rule: Option<String>,
    pub is_fenced: bool,
    /// What it is going to destroy, beneath the project.
    pub doomed: Vec<String>,
    pub cancel: CancelToken,
}

/// What a command changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CommandChanges {
    /// The records, oldest first.
    pub records: Vec<String>,
    pub files: usize,
    /// Protected files that are as before again.
    pub set_aside: Vec<String>,
    /// What changed and cannot be undone.
    pub irreversible: Vec<String>,
}

enum RecorderRequest {
    Begin(Box<RecorderStart>, Sender<Result<Option<Arc<OwnedFd>>, String>>),
    End(Box<RecorderEnd>, Sender<Result<CommandChanges, String>>),
    SetGroup(Option<String>, Sender<()>),
    EndTurn(Sender<()>),
}

/// A command that ended.
struct RecorderEnd {
    call: String,
    outcome: Option<JobOutcome>,
    at_once: bool,
}

impl CommandRecorder {
    pub(crate) fn new(door: Arc<Door>) -> CommandRecorder {
        CommandRecorder { door, worker: Mutex::default() }
    }

    pub(crate) fn door(&self) -> &Arc<Door> {
        &self.door
    }

    /// Secures the project for a command. Returns what its keeper is to hold open.
    ///
    /// # Errors
    /// Why nothing should run now.
    pub(crate) fn begin(&self, start: RecorderStart) -> Result<Option<Arc<OwnedFd>>, String> {
        let (reply, answer) = channel();
        {
            let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
            let running = worker.get_or_insert_with(|| {
                let (requests, received) = channel();
                let door = self.door.clone();
                RecorderWorker { requests, thread: std::thread::spawn(move || serve(&door, &received)) }
            });
            let _ = running.requests.send(RecorderRequest::Begin(Box::new(start), reply));
        }
        answer.recv().map_err(|_| GONE.to_string())?
    }

    /// Records what a command changed, if no other runs or that has to be done `at_once`.
    ///
    /// # Errors
    /// Why it is not recorded; `relay recover` tries again.
    pub(crate) fn end(
        &self,
        call: &str,
        outcome: Option<&JobOutcome>,
        at_once: bool,
    ) -> Result<CommandChanges, String> {
        let end = RecorderEnd { call: call.to_string(), outcome: outcome.cloned(), at_once };
        self.request(|reply| RecorderRequest::End(Box::new(end), reply))
            .unwrap_or_else(|| Err(GONE.to_string()))
    }

    /// What commands in the background change from now on belongs to this group.
    pub(crate) fn set_group(&self, group: Option<String>) {
        self.request(|reply| RecorderRequest::SetGroup(group, reply));
    }

    /// Closes the turn's group, unless a command goes on.
    pub(crate) fn end_turn(&self) {
        self.request(RecorderRequest::EndTurn);
    }

    /// Ends the thread. What runs still is recorded as far as it is.
    pub(crate) fn close(&self) {
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(RecorderWorker { requests, thread }) = worker {
            drop(requests);
            let _ = thread.join();
        }
    }

    /// `None`: no command ran yet.
    fn request<T>(&self, request: impl FnOnce(Sender<T>) -> RecorderRequest) -> Option<T> {
        let (reply, answer) = channel();
        {
            let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
            worker.as_ref()?.requests.send(request(reply)).ok()?;
        }
        answer.recv().ok()
    }
}

const GONE: &str = "changes are not recorded any more: the recording ended unexpectedly";

fn serve(door: &Door, requests: &Receiver<RecorderRequest>) {
    let mut next = None;
    while let Some(request) = next.take().or_else(|| requests.recv().ok()) {
        match request {
            RecorderRequest::Begin(start, reply) => match door.watch_commands(start.group.as_deref()) {
                Ok(watch) => next = TurnRecorder::new(door, watch, &start).serve(*start, reply, requests),
                Err(error) => drop(reply.send(Err(error.to_string()))),
            },
            RecorderRequest::End(_, reply) => drop(reply.send(Err(GONE.to_string()))),
            RecorderRequest::SetGroup(_, reply) | RecorderRequest::EndTurn(reply) => {
                let _ = reply.send(());
            }
        }
    }
}

/// The commands of one turn.
struct TurnRecorder<'d> {
    door: &'d Door,
    watch: CommandWatch<'d>,
    group: Option<String>,
    running: Vec<RecorderStart>,
    is_recording: bool,
    /// What was recorded and is not told yet.
    untold: CommandChanges,
}

impl<'d> TurnRecorder<'d> {
    fn new(door: &'d Door, watch: CommandWatch<'d>, start: &RecorderStart) -> TurnRecorder<'d> {
        let group = start.group.clone();
        TurnRecorder {
            door,
            watch,
            group,
            running: Vec::new(),
            is_recording: false,
            untold: CommandChanges::default(),
        }
    }

    /// Until the turn is over. Returns the request that does not belong to it.
    fn serve(
        mut self,
        first: RecorderStart,
        reply: Sender<Result<Option<Arc<OwnedFd>>, String>>,
        requests: &Receiver<RecorderRequest>,
    ) -> Option<RecorderRequest> {
        let mut next = Some(RecorderRequest::Begin(Box::new(first), reply));
        let mut turn_end: Option<Sender<()>> = None;
        let other = loop {
            let Some(request) = next.take().or_else(|| requests.recv().ok()) else {
                let _ = self.record(None);
                break None;
            };
            match request {
                RecorderRequest::Begin(start, reply) if start.group != self.group => {
                    if self.running.is_empty() {
                        break Some(RecorderRequest::Begin(start, reply));
                    }
                    match self.change_group(start.group.as_deref()) {
                        Ok(()) => drop(reply.send(self.begin(*start))),
                        Err(error) => drop(reply.send(Err(error))),
                    }
                }
                RecorderRequest::Begin(start, reply) => drop(reply.send(self.begin(*start))),
                RecorderRequest::End(end, reply) => drop(reply.send(self.end(&end))),
                RecorderRequest::SetGroup(group, reply) => {
                    if !self.running.is_empty() && group != self.group {
                        // What cannot be done now, the end of a command tells.
                        let _ = self.change_group(group.as_deref());
                    }
                    let _ = reply.send(());
                }
                RecorderRequest::EndTurn(reply) => {
                    if self.running.is_empty() {
                        turn_end = Some(reply);
                        break None;
                    }
                    let _ = reply.send(());
                }
            }
        };
        // What is left is cleared by the next command.
        let _ = self.watch.close();
        if let Some(reply) = turn_end {
            let _ = reply.send(());
        }
        other
    }

    fn begin(&mut self, start: RecorderStart) -> Result<Option<Arc<OwnedFd>>, String> {
        let call = start.call.clone();
        // What is protected is set aside after commands in a fence alone, and a record says what let its commands run.
        let differs =
            |running: &RecorderStart| running.is_fenced != start.is_fenced || running.rule != start.rule;
        if self.running.iter().any(differs) {
            self.record(None)?;
        }
        self.running.push(start);
        if let Err(error) = self.resume() {
            self.running.retain(|running| running.call != call);
            let _ = self.resume();
            return Err(error);
        }
        Ok(self.watch.recording.liveness_fd().map(Arc::new))
    }

    fn end(&mut self, end: &RecorderEnd) -> Result<CommandChanges, String> {
        self.running.retain(|running| running.call != end.call);
        if !self.running.is_empty() && !end.at_once {
            return Ok(CommandChanges::default());
        }
        let recorded = self.record(end.outcome.as_ref());
        let _ = self.resume();
        recorded?;
        Ok(std::mem::take(&mut self.untold))
    }

    /// The turn is another one, and commands of the one before go on.
    fn change_group(&mut self, group: Option<&str>) -> Result<(), String> {
        let recorded = self.record(None);
        let watch = self.door.watch_commands(group).map_err(|error| error.to_string())?;
        let _ = std::mem::replace(&mut self.watch, watch).close();
        self.group = group.map(str::to_owned);
        for running in &mut self.running {
            running.group.clone_from(&self.group);
        }
        recorded.and(self.resume())
    }

    fn record(&mut self, outcome: Option<&JobOutcome>) -> Result<(), String> {
        if !std::mem::take(&mut self.is_recording) {
            return Ok(());
        }
        let end = CommandEnd { finished: outcome, now: &now() };
        let adoption = self.watch.finish(&end).map_err(|error: DoorError| error.to_string())?;
        self.untold.add(&adoption);
        Ok(())
    }

    /// The rules by which what runs now was let run; `None`: the user said yes to some of it.
    fn deciding_rules(&self) -> Option<String> {
        let rules: Option<Vec<&String>> = self.running.iter().map(|running| running.rule.as_ref()).collect();
        let mut rules: Vec<String> = rules?.into_iter().map(|rule| format!("the rule `{rule}`")).collect();
        rules.dedup();
        Some(rules.join(" and "))
    }

    /// Secures the project again, if a command runs.
    fn resume(&mut self) -> Result<(), String> {
        let Some(newest) = self.running.last() else { return Ok(()) };
        if self.is_recording {
            return Ok(());
        }
        let rules = self.deciding_rules();
        let what = RecordedCommand {
            argv: &newest.argv,
            message: newest.title.as_deref(),
            now: now(),
            origin: "agent",
            decided_by: rules.as_deref(),
            is_fenced: self.running.iter().all(|running| running.is_fenced),
        };
        let stop = || newest.cancel.is_cancelled();
        let mut progress = SecureProgress { see: &mut |_, _| {}, stop: &stop };
        self.watch.begin(&what, &newest.doomed, &mut progress).map_err(|error| error.to_string())?;
        self.is_recording = true;
        Ok(())
    }
}

impl CommandChanges {
    fn add(&mut self, adoption: &Adoption) {
        if let Some(committed) = &adoption.committed {
            self.records.push(committed.record.uuid.to_string());
            self.files += committed.record.result.len();
        }
        let aside = &adoption.set_aside;
        let mut tell = |list: fn(&mut CommandChanges) -> &mut Vec<String>, text: String| {
            let list = list(self);
            if list.len() < MAX_TOLD {
                list.push(text);
            }
        };
        for (file, _) in &aside.files {
            tell(|changes| &mut changes.set_aside, format!("{} ({})", file.path, file.why));
        }
        for (file, why) in &aside.failed {
            let text = format!("{}, which is protected, could not be put back: {why}", file.path);
            tell(|changes| &mut changes.irreversible, text);
        }
        for left in &adoption.irreversible {
            tell(|changes| &mut changes.irreversible, format!("{} {}", left.path, left.reason));
        }
    }
}

fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
