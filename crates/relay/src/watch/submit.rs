//! Taking up a text: whom each answer in it is meant for, the way through the door, and what became of it.

use relaycode_change::plan::{FileChangeKind, Plan};
use relaycode_door::SubmitOutcome;
use relaycode_project::config::LogLevel;
use relaycode_tui::layout::clock;
use relaycode_tui::layout::style::Glyph;
use relaycode_tui::notify::Notification;
use relaycode_tui::pluralize;
use relaycode_tui::views::outcome;
use relaycode_watch::filter::{self, Addressee};
use relaycode_watch::inbox::InboxSource;
use relaycode_watch::seen_texts::{PastOutcome, RepeatVerdict};
use serde_json::Value;

use super::WatchSession;
use super::last_answer::{self, LastAnswer};
use super::notifying_approver::NotifyingApprover;
use crate::answer::origin::AnswerOrigin;
use crate::answer::{AnswerSource, SourceAnswer};
use crate::approver::{ApproverSetup, TerminalApprover};
use crate::commands::config_file_name;
use crate::report::failure::CommandFailure;
use crate::report::outcome::OutcomeReporter;
use crate::wiring::programs::UserPrograms;

impl WatchSession<'_, '_> {
    /// Takes up a text. `again`: the user wants it taken up although it was before.
    pub(super) fn process_text(
        &mut self,
        text: String,
        how: InboxSource,
        again: bool,
    ) -> Result<(), CommandFailure> {
        self.status.clear_remark();
        let verdict = if again { RepeatVerdict::New } else { self.seen_texts.judge(&text) };
        let retry = match verdict {
            RepeatVerdict::Ignore => return Ok(()),
            RepeatVerdict::Report(became) => {
                self.report_repeat(became);
                return Ok(());
            }
            RepeatVerdict::Retry => true,
            RepeatVerdict::New => false,
        };
        let origin = match how {
            InboxSource::Copied => AnswerOrigin::Clipboard,
            InboxSource::Pasted => AnswerOrigin::Paste,
        };
        let source = AnswerSource::from_watch(
            self.answer_args,
            self.door.root.clone(),
            origin,
            text,
            self.terminal.is_some(),
            self.context,
        );
        let answers = match source.parse_answers() {
            Ok(answers) => answers,
            Err(failure) => {
                self.live.erase();
                self.status.refused += 1;
                self.context.console.report_failure(&failure, "watch", self.context.options.json);
                return Ok(());
            }
        };
        let became = self.process_answers(&answers, retry)?;
        drop(answers);
        let Some(became) = became else { return Ok(()) };
        let text = source.into_text();
        self.seen_texts.remember(&text, became);
        if became != PastOutcome::Applied {
            self.last_answer.text = Some((text, how));
        }
        Ok(())
    }

    /// One after the other, up to the first that is not applied. `None`: none of them is for this project, or
    /// nobody decided.
    fn process_answers(
        &mut self,
        answers: &[SourceAnswer<'_>],
        retry: bool,
    ) -> Result<Option<PastOutcome>, CommandFailure> {
        let mut whole = None;
        for answer in answers {
            let submission = answer.submission(self.consent.clone());
            match filter::find_addressee(&self.door, &submission) {
                Addressee::ThisProject | Addressee::MaybeThisProject => {}
                Addressee::OtherCheckout => {
                    self.report_other_checkout();
                    continue;
                }
                Addressee::OtherProject => {
                    self.status.set_remark("copied: an answer for another project");
                    continue;
                }
                Addressee::NoMatch => {
                    self.status
                        .set_remark("copied: code that says no project and changes no file of this one");
                    continue;
                }
            }
            if retry && self.door.preview(&submission, &self.door.tree(&submission.limits)).is_err() {
                self.status.set_remark("the same answer again: it still does not fit");
                return Ok(Some(PastOutcome::DoesNotFit));
            }
            let became = self.submit_answer(answer, answers.len() > 1)?;
            whole = became.or(whole);
            if became != Some(PastOutcome::Applied) {
                break;
            }
        }
        Ok(whole)
    }

    /// Takes one answer through the door.
    fn submit_answer(
        &mut self,
        answer: &SourceAnswer<'_>,
        several: bool,
    ) -> Result<Option<PastOutcome>, CommandFailure> {
        self.live.erase();
        self.context.print_info("\n");
        self.context.console.flush();
        let time = clock::time_of_day();
        let setup = ApproverSetup {
            name: answer.source.origin.name(),
            clock: Some(time.clone()),
            config: config_file_name(&self.door),
            diff: false,
            level: self.context.level(),
            json: self.context.is_json(),
            style: self.context.style(),
            programs: UserPrograms::from_env(),
        };
        let terminal = self.terminal.clone();
        let open = Box::new(move || terminal.clone());
        let approver = TerminalApprover::with_terminal(setup, self.door.runner.clone(), open)?;
        let notices = self.door.config().core.enable_notifications.then(|| self.notifier.clone());
        let mut telling =
            NotifyingApprover::new(approver, notices, &self.door.project_id(), self.terminal.as_ref());
        let became = self.door.submit(&answer.submission(self.consent.clone()), &mut telling);
        let (shown, asked) = (telling.shown_digest(), telling.was_answered());
        // Somebody may have thought for long.
        self.update_width();
        self.last_answer = LastAnswer::from_outcome(&became);
        let remembered = last_answer::past_outcome(&became);
        self.count_outcome(&became);
        let notice = self.outcome_notice(&became).filter(|_| !asked);
        if let (Some(notice), true) = (notice, self.door.config().core.enable_notifications) {
            telling.notify(notice);
        }
        drop(telling);
        let json = self.context.is_json();
        let ledger = &self.door.ledger;
        let teller = OutcomeReporter {
            answer,
            shown_digest: shown,
            diff: false,
            is_batch: several,
            ledger,
            clock: time,
            with_plan: json,
        };
        let mut object = teller.report_outcome(became, self.context).json;
        if let (true, Value::Object(object)) = (json, &mut object) {
            object.insert("event".to_string(), "outcome".into());
            self.context.print_json(object);
        }
        self.context.console.flush();
        self.discard_typed_input();
        Ok(remembered)
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

    fn count_outcome(&mut self, became: &Result<SubmitOutcome, relaycode_door::DoorError>) {
        /// Changes that can be undone one after the other.
        const UNDONE: usize = 1_000;
        match became {
            Ok(SubmitOutcome::Applied(applied)) => {
                self.status.applied += 1;
                if self.applied.len() >= UNDONE {
                    self.applied.remove(0);
                }
                self.applied.push(applied.record.uuid);
            }
            Ok(SubmitOutcome::Declined { .. }) => self.status.declined += 1,
            Ok(SubmitOutcome::AlreadyIn { .. }) => {}
            _ => self.status.refused += 1,
        }
    }

    /// What somebody who looks elsewhere is told.
    fn outcome_notice(
        &self,
        became: &Result<SubmitOutcome, relaycode_door::DoorError>,
    ) -> Option<Notification> {
        let project = self.door.project_id();
        let notice = |summary: String, body: String, urgent| Some(Notification { summary, body, urgent });
        match became {
            Ok(SubmitOutcome::Applied(applied)) => {
                notice(format!("{project}: applied"), files_summary(&applied.plan), false)
            }
            Ok(SubmitOutcome::Refused(refused)) => {
                notice(format!("{project}: refused"), relaycode_tui::views::refusal::headline(refused), false)
            }
            Ok(SubmitOutcome::GateFailed { plan, .. }) => {
                notice(format!("{project}: not kept, everything was put back"), files_summary(plan), false)
            }
            Ok(SubmitOutcome::PreCheckFailed { plan, .. } | SubmitOutcome::ApprovalRequired { plan, .. }) => {
                notice(format!("{project}: not applied"), files_summary(plan), true)
            }
            _ => None,
        }
    }

    /// The same text came once more.
    fn report_repeat(&mut self, became: PastOutcome) {
        let look = self.context.style();
        let dot = look.glyph(Glyph::Dot);
        let said = match became {
            PastOutcome::Applied => "the same answer again: it was taken up before".to_string(),
            _ if self.terminal.is_some() => {
                format!("the same answer again: not taken {dot} a takes it up again")
            }
            _ => "the same answer again: not taken".to_string(),
        };
        self.live.erase();
        let text = outcome::indented_line(&look, &said);
        self.context.eprint_at(LogLevel::Info, &text);
    }

    /// An answer with the key of another checkout: said once, then only in the live line.
    fn report_other_checkout(&mut self) {
        let said = "copied: an answer for another checkout of this project";
        if !self.checkouts_reported {
            self.checkouts_reported = true;
            let project = self.context.style().safe(&self.door.project_id()).into_owned();
            self.eprint_remark(&format!(
                "an answer for another checkout of {project} was copied: left alone. If it was meant for this one, \
                 p copies this one's prompt"
            ));
        }
        self.status.set_remark(said);
    }
}

/// `src/cart.ts and 2 more files`
pub(super) fn files_summary(plan: &Plan) -> String {
    let mut changing = plan.files.iter().filter(|file| file.change != FileChangeKind::Unchanged);
    let Some(first) = changing.next() else { return String::new() };
    match changing.count() {
        0 => first.path.to_string(),
        more => format!("{} and {}", first.path, pluralize(more, "more file")),
    }
}
