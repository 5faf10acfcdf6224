//! Taking up a text: whom each answer in it is meant for, the way through the door, and what became of it.

use relaycode_change::plan::{Change, Plan};
use relaycode_door::Outcome;
use relaycode_project::config::LogLevel;
use relaycode_tui::look::Sign;
use relaycode_tui::notify::Notice;
use relaycode_tui::{clock, number, outcome};
use relaycode_watch::inbox::How;
use relaycode_watch::seen::{Became, Verdict};
use relaycode_watch::sieve::{self, Meant};
use serde_json::Value;

use super::Session;
use super::offer::{self, Last};
use super::telling::Telling;
use crate::answer::{Answer, Source};
use crate::approver::{Setup, TerminalApprover};
use crate::commands::config_name;
use crate::failure::Failure;
use crate::input::Origin;
use crate::outcome::Teller;
use crate::programs::Programs;

impl Session<'_, '_> {
    /// Takes up a text. `again`: the user wants it taken up although it was before.
    pub(super) fn take(&mut self, text: String, how: How, again: bool) -> Result<(), Failure> {
        self.status.clear();
        let verdict = if again { Verdict::New } else { self.seen.judge(&text) };
        let retry = match verdict {
            Verdict::Hush => return Ok(()),
            Verdict::Tell(became) => {
                self.same_again(became);
                return Ok(());
            }
            Verdict::Retry => true,
            Verdict::New => false,
        };
        let origin = match how {
            How::Copied => Origin::Clipboard,
            How::Pasted => Origin::Paste,
        };
        let source = Source::watched(
            self.given,
            self.door.root.clone(),
            origin,
            text,
            self.terminal.is_some(),
            self.context,
        );
        let answers = match source.answers() {
            Ok(answers) => answers,
            Err(failure) => {
                self.live.erase();
                self.status.refused += 1;
                self.context.console.failure(&failure, "watch", self.context.options.json);
                return Ok(());
            }
        };
        let became = self.take_all(&answers, retry)?;
        drop(answers);
        let Some(became) = became else { return Ok(()) };
        let text = source.into_text();
        self.seen.remember(&text, became);
        if became != Became::In {
            self.last.text = Some((text, how));
        }
        Ok(())
    }

    /// One after the other, up to the first that is not applied. `None`: none of them is for this project, or
    /// nobody decided.
    fn take_all(&mut self, answers: &[Answer<'_>], retry: bool) -> Result<Option<Became>, Failure> {
        let mut whole = None;
        for answer in answers {
            let submission = answer.submission(self.consent.clone());
            match sieve::meant(&self.door, &submission) {
                Meant::Here | Meant::Perhaps => {}
                Meant::OtherCheckout => {
                    self.other_checkout();
                    continue;
                }
                Meant::OtherProject => {
                    self.status.remark("copied: an answer for another project");
                    continue;
                }
                Meant::Nobody => {
                    self.status.remark("copied: code that says no project and changes no file of this one");
                    continue;
                }
            }
            if retry && self.door.preview(&submission, &self.door.tree(&submission.limits)).is_err() {
                self.status.remark("the same answer again: it still does not fit");
                return Ok(Some(Became::Unfit));
            }
            let became = self.submit(answer, answers.len() > 1)?;
            whole = became.or(whole);
            if became != Some(Became::In) {
                break;
            }
        }
        Ok(whole)
    }

    /// Takes one answer through the door.
    fn submit(&mut self, answer: &Answer<'_>, several: bool) -> Result<Option<Became>, Failure> {
        self.live.erase();
        self.context.say("\n");
        self.context.console.flush();
        let time = clock::time_of_day();
        let setup = Setup {
            name: answer.source.origin.name(),
            clock: Some(time.clone()),
            config: config_name(&self.door),
            diff: false,
            level: self.context.level(),
            json: self.context.json(),
            look: self.context.look(),
            programs: Programs::read(),
        };
        let terminal = self.terminal.clone();
        let open = Box::new(move || terminal.clone());
        let approver = TerminalApprover::at(setup, self.door.runner.clone(), open)?;
        let notices = self.door.config().core.enable_notifications.then(|| self.notifier.clone());
        let mut telling = Telling::new(approver, notices, &self.door.project_id(), self.terminal.as_ref());
        let became = self.door.submit(&answer.submission(self.consent.clone()), &mut telling);
        let (shown, asked) = (telling.shown(), telling.asked());
        // Somebody may have thought for long.
        self.measure();
        self.last = Last::of(&became);
        let remembered = offer::became(&became);
        self.count(&became);
        let notice = self.notice(&became).filter(|_| !asked);
        if let (Some(notice), true) = (notice, self.door.config().core.enable_notifications) {
            telling.tell(notice);
        }
        drop(telling);
        let json = self.context.json();
        let ledger = &self.door.ledger;
        let teller = Teller { answer, shown, diff: false, several, ledger, clock: time, json };
        let mut object = teller.tell(became, self.context).object;
        if let (true, Value::Object(object)) = (json, &mut object) {
            object.insert("event".to_string(), "outcome".into());
            self.context.object(object);
        }
        self.context.console.flush();
        self.settle();
        Ok(remembered)
    }

    /// Nothing that was typed meanwhile counts; what was pasted does.
    pub(super) fn settle(&mut self) {
        let Some(terminal) = self.terminal.clone() else { return };
        if let Some(listening) = &self.listening {
            listening.again();
        }
        terminal.forget();
        while let Some(paste) = terminal.pasted() {
            self.pasted(paste);
        }
    }

    fn count(&mut self, became: &Result<Outcome, relaycode_door::DoorError>) {
        /// Changes that can be undone one after the other.
        const UNDONE: usize = 1_000;
        match became {
            Ok(Outcome::Applied(applied)) => {
                self.status.applied += 1;
                if self.applied.len() >= UNDONE {
                    self.applied.remove(0);
                }
                self.applied.push(applied.record.uuid);
            }
            Ok(Outcome::Declined { .. }) => self.status.declined += 1,
            Ok(Outcome::AlreadyIn { .. }) => {}
            _ => self.status.refused += 1,
        }
    }

    /// What somebody who looks elsewhere is told.
    fn notice(&self, became: &Result<Outcome, relaycode_door::DoorError>) -> Option<Notice> {
        let project = self.door.project_id();
        let notice = |summary: String, body: String, urgent| Some(Notice { summary, body, urgent });
        match became {
            Ok(Outcome::Applied(applied)) => {
                notice(format!("{project}: applied"), files(&applied.plan), false)
            }
            Ok(Outcome::Refused(refused)) => {
                notice(format!("{project}: refused"), relaycode_tui::refusal::headline(refused), false)
            }
            Ok(Outcome::GateFailed { plan, .. }) => {
                notice(format!("{project}: not kept, everything was put back"), files(plan), false)
            }
            Ok(Outcome::NotBegun { plan, .. } | Outcome::NobodyToAsk { plan, .. }) => {
                notice(format!("{project}: not applied"), files(plan), true)
            }
            _ => None,
        }
    }

    /// The same text came once more.
    fn same_again(&mut self, became: Became) {
        let look = self.context.look();
        let dot = look.sign(Sign::Dot);
        let said = match became {
            Became::In => "the same answer again: it was taken up before".to_string(),
            _ if self.terminal.is_some() => {
                format!("the same answer again: not taken {dot} a takes it up again")
            }
            _ => "the same answer again: not taken".to_string(),
        };
        self.live.erase();
        let text = outcome::aside(&look, &said);
        self.context.beside(LogLevel::Info, &text);
    }

    /// An answer with the key of another checkout: said once, then only in the live line.
    fn other_checkout(&mut self) {
        let said = "copied: an answer for another checkout of this project";
        if !self.told_of_checkouts {
            self.told_of_checkouts = true;
            let project = self.context.look().safe(&self.door.project_id()).into_owned();
            self.remark(&format!(
                "an answer for another checkout of {project} was copied: left alone. If it was meant for this one, \
                 p copies this one's prompt"
            ));
        }
        self.status.remark(said);
    }
}

/// `src/cart.ts and 2 more files`
pub(super) fn files(plan: &Plan) -> String {
    let mut changing = plan.files.iter().filter(|file| file.change != Change::Unchanged);
    let Some(first) = changing.next() else { return String::new() };
    match changing.count() {
        0 => first.path.to_string(),
        more => format!("{} and {}", first.path, number(more, "more file")),
    }
}
