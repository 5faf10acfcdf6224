//! Taking up a text: whom each answer in it is meant for, the way through the door, and what became of it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use relaycode_change::plan::{Plan, PlanRefusal};
use relaycode_change::proposal::work_budget::StopFlag;
use relaycode_door::{AnswerProposal, Door, SubmitOutcome};
use relaycode_tui::input::decode::InputKey;
use relaycode_tui::{Glyph, TerminalEvent, clock, pluralize};
use relaycode_watch::filter::{self, Addressee};
use relaycode_watch::inbox::{InboxSource, InboxText};
use relaycode_watch::seen_texts::{PastOutcome, RepeatVerdict};

use super::last_answer::{self, LastAnswer};
use super::notices::SessionNotices;
use super::{WatchFlow, WatchSession, wait_for_inbox};
use crate::approver::ApproverSession;
use crate::{AnswerOrigin, AnswerSource, CommandResult, LogLevel, Submitter};

/// Most plans are made before somebody could type.
const PLAN_SILENCE: Duration = Duration::from_millis(50);
/// How often it is looked whether a plan is made.
const KEY_INTERVAL: Duration = Duration::from_millis(10);

impl WatchSession<'_, '_> {
    /// Takes up a text. `again`: the user wants it taken up although it was before.
    pub(super) fn process_text(&mut self, text: InboxText, again: bool) -> CommandResult<()> {
        self.status.remark = None;
        let verdict = if again { RepeatVerdict::New } else { self.seen_texts.judge(&text.text) };
        let retry = match verdict {
            RepeatVerdict::Ignore => return Ok(()),
            RepeatVerdict::Report(became) => {
                self.report_repeat(became);
                return Ok(());
            }
            RepeatVerdict::Retry => true,
            RepeatVerdict::New => false,
        };
        let answers = match &text.answers {
            Ok(answers) => answers,
            Err(error) => {
                self.live.erase();
                self.status.refused += 1;
                let failure = error.clone().into();
                self.ctx.console.report_failure(&failure, "watch", self.ctx.options.json);
                return Ok(());
            }
        };
        let mut source = self.answer_source(text.source);
        source.share_work(answers);
        let Some(became) = self.process_answers(&source, answers, retry)? else { return Ok(()) };
        self.seen_texts.remember(&text.text, became);
        if became != PastOutcome::Applied {
            self.last_answer.text = Some(text);
        }
        Ok(())
    }

    fn answer_source(&self, how: InboxSource) -> AnswerSource {
        let origin = match how {
            InboxSource::Copied => AnswerOrigin::Clipboard,
            InboxSource::Pasted => AnswerOrigin::Paste,
        };
        AnswerSource {
            consent: self.consent.clone(),
            has_keys: self.terminal.is_some(),
            limits: self.door.limits(),
            ..AnswerSource::new(origin, self.ctx)
        }
    }

    /// One after the other, up to the first that is not applied. `None`: none of them is for this project, or
    /// nobody decided.
    fn process_answers(
        &mut self,
        source: &AnswerSource,
        answers: &[AnswerProposal],
        retry: bool,
    ) -> CommandResult<Option<PastOutcome>> {
        let mut whole = None;
        for answer in answers {
            let submission = source.submission(answer);
            let found = self.plan_beside(|door, stop| {
                let mut submission = submission.clone();
                submission.limits.stop = stop;
                match filter::find_addressee(door, &submission) {
                    Addressee::ThisProject => (Addressee::ThisProject, Some(door.plan(&submission))),
                    other => (other, None),
                }
            });
            let Some((addressee, planned)) = found else { return Ok(None) };
            let plan = match addressee {
                Addressee::ThisProject => planned,
                Addressee::MaybeThisProject(plan) => Some(Ok(plan)),
                Addressee::OtherCheckout => {
                    self.report_other_checkout();
                    continue;
                }
                Addressee::OtherProject => {
                    self.status.remark = Some("copied: an answer for another project");
                    continue;
                }
                Addressee::NoMatch => {
                    self.status.remark =
                        Some("copied: code that says no project and changes no file of this one");
                    continue;
                }
            };
            if retry && matches!(plan, Some(Err(_))) {
                self.status.remark = Some("the same answer again: it still does not fit");
                return Ok(Some(PastOutcome::DoesNotFit));
            }
            let is_batch = answers.len() > 1;
            let became = self.submit_answer(source, answer, plan, is_batch)?;
            whole = became.or(whole);
            if became != Some(PastOutcome::Applied) {
                break;
            }
        }
        Ok(whole)
    }

    /// Plans on a thread of its own, so that keys and signals are obeyed meanwhile. `None`: somebody wants to leave.
    fn plan_beside<T: Send>(&mut self, work: impl FnOnce(&Door, StopFlag) -> T + Send) -> Option<T> {
        let stop = Arc::new(AtomicBool::new(false));
        let (door, flag) = (&self.door, StopFlag::new(Arc::clone(&stop)));
        let (done, result) = mpsc::channel();
        let mut pastes = Vec::new();
        let planned = std::thread::scope(|scope| {
            scope.spawn(move || done.send(work(door, flag)));
            let mut wait = PLAN_SILENCE;
            loop {
                match result.recv_timeout(wait) {
                    Err(RecvTimeoutError::Timeout) => {}
                    ended => return ended.ok().filter(|_| !stop.load(Ordering::Relaxed)),
                }
                wait = Duration::ZERO;
                let until = Some(Instant::now() + KEY_INTERVAL);
                let event = match &self.terminal {
                    Some(terminal) => terminal.wait_event(self.inbox.bell(), until),
                    None => wait_for_inbox(&self.inbox, until),
                };
                let leave = match event {
                    TerminalEvent::Key(InputKey::Char('q' | 'Q')) => WatchFlow::Quit,
                    TerminalEvent::Disconnected(_) => WatchFlow::Stop,
                    _ if self.signals.stop_requested() => WatchFlow::Stop,
                    TerminalEvent::Paste(paste) => {
                        pastes.push(paste);
                        continue;
                    }
                    // It rings until somebody looks.
                    TerminalEvent::Wakeup => {
                        wait = KEY_INTERVAL;
                        continue;
                    }
                    TerminalEvent::Key(_) | TerminalEvent::Timeout => continue,
                };
                self.leaving.get_or_insert(leave);
                stop.store(true, Ordering::Relaxed);
                wait = KEY_INTERVAL;
            }
        });
        pastes.into_iter().for_each(|paste| self.handle_paste(paste));
        planned
    }

    /// Takes one answer through the door.
    fn submit_answer(
        &mut self,
        source: &AnswerSource,
        answer: &AnswerProposal,
        plan: Option<Result<Plan, Box<PlanRefusal>>>,
        is_batch: bool,
    ) -> CommandResult<Option<PastOutcome>> {
        self.live.erase();
        self.ctx.print_info("\n");
        let notices = SessionNotices {
            notifier: self.door.config().core.enable_notifications.then(|| self.notifier.clone()),
            project: self.door.project_id(),
            terminal: self.terminal.clone(),
        };
        let on_question = notices.clone();
        let session = ApproverSession {
            clock: clock::time_of_day(),
            terminal: self.terminal.clone(),
            on_question: Box::new(move |question| on_question.on_question(question)),
            news: self.arrival_news(),
        };
        let submitter = Submitter { door: &self.door, source, is_batch };
        let submitted = submitter.submit(answer, plan, Some(session), self.ctx)?;
        let mut object = submitted.result.json;
        object.insert("event", "outcome");
        self.ctx.print_json(&object);
        self.ctx.console.flush();
        self.count_outcome(submitted.outcome.as_ref());
        self.last_answer = submitted.outcome.as_ref().map(LastAnswer::from_outcome).unwrap_or_default();
        if let Some(outcome) = submitted.outcome.as_ref().filter(|_| !submitted.was_answered) {
            notices.on_outcome(outcome);
        }
        self.discard_typed_input();
        Ok(submitted.outcome.as_ref().and_then(last_answer::past_outcome))
    }

    /// Tells of answers that come in while a question is open: `2 answers waiting`.
    fn arrival_news(&self) -> Box<dyn Fn() -> Option<String>> {
        let inbox = self.inbox.clone();
        let told = Cell::new(inbox.waiting_texts());
        Box::new(move || {
            let waiting = inbox.waiting_texts();
            (told.replace(waiting) < waiting).then(|| format!("{} waiting", pluralize(waiting, "answer")))
        })
    }

    /// Nothing that was typed meanwhile counts; what was pasted does.
    pub(super) fn discard_typed_input(&mut self) {
        let Some(terminal) = self.terminal.clone() else { return };
        if let Some(listening) = &self.listening {
            listening.reapply();
        }
        terminal.discard_typed();
        while let Some(paste) = terminal.take_paste() {
            self.handle_paste(paste);
        }
    }

    fn count_outcome(&mut self, outcome: Option<&SubmitOutcome>) {
        /// Changes that can be undone without a question.
        const UNDONE: usize = 1_000;
        match outcome {
            Some(SubmitOutcome::Applied(applied)) => {
                self.status.applied += 1;
                if self.applied.len() >= UNDONE {
                    self.applied.remove(0);
                }
                self.applied.push(applied.record.uuid);
            }
            Some(SubmitOutcome::Declined { .. }) => self.status.declined += 1,
            Some(SubmitOutcome::AlreadyIn { .. }) => {}
            _ => self.status.refused += 1,
        }
    }

    /// The same text came once more.
    fn report_repeat(&mut self, became: PastOutcome) {
        let dot = self.ctx.style().glyph(Glyph::Dot);
        let said = match became {
            PastOutcome::Applied => "the same answer again: it was taken up before".to_string(),
            _ if self.terminal.is_some() => {
                format!("the same answer again: not taken {dot} a takes it up again")
            }
            _ => "the same answer again: not taken".to_string(),
        };
        self.live.erase();
        self.ctx.eprint_detail(LogLevel::Info, &said);
    }

    /// An answer with the key of another checkout: said once, then only in the live line.
    fn report_other_checkout(&mut self) {
        let said = "copied: an answer for another checkout of this project";
        if !self.checkouts_reported {
            self.checkouts_reported = true;
            let project = self.door.project_id();
            self.eprint_remark(&format!(
                "an answer for another checkout of {project} was copied: left alone. If it was meant for this one, \
                 p copies this one's prompt"
            ));
        }
        self.status.remark = Some(said);
    }
}
