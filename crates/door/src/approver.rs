//! Who says yes. A surface (terminal, page, editor) implements [`Approver`]; the door asks it only when no
//! policy may decide, and a yes counts only for what was shown: it carries the digest of it.

use relaycode_change::path::RelPath;
use relaycode_change::plan::Plan;
use relaycode_change::proposal::Proposal;
use relaycode_ledger::{Digest, TxId};
use relaycode_project::trust::Wants;

use crate::gate::{GateReport, Step};
use crate::rule::Rule;

/// Somebody who can be asked, and who is told how it goes.
pub trait Approver {
    /// What it is called in records: `terminal`, `page` …
    fn name(&self) -> &'static str;

    /// Answers a question. A yes names the digest of what was shown ([`Question::yes`]).
    fn decide(&mut self, question: &Question<'_>) -> Reply;

    /// Hears how it goes, between questions.
    fn event(&mut self, event: &Event<'_>);

    /// Whether the user wants everything to stop. Asked often.
    fn stopped(&self) -> bool;
}

/// What a person has to decide.
#[derive(Debug, Clone, Copy)]
pub enum Question<'a> {
    /// Run these commands from now on? Asked before anything else is done.
    Trust {
        /// What the project wants.
        wants: &'a Wants,
        /// What it wanted when the user last said yes.
        before: Option<&'a Wants>,
    },
    /// The id of another answer that is in the ledger already: is this a new change?
    NewChange {
        /// The id.
        id: TxId,
        /// The digest of the answer.
        answer: Digest,
    },
    /// Put this on disk? Nothing was written yet.
    Apply {
        /// What was understood.
        proposal: &'a Proposal,
        /// What would be done.
        plan: &'a Plan,
        /// Its digest.
        digest: Digest,
        /// Why a person is asked.
        rules: &'a [Rule],
    },
    /// It is on disk, the gate has spoken: keep it?
    Keep {
        /// What was done.
        plan: &'a Plan,
        /// The digest of what is on disk now.
        digest: Digest,
        /// What the gate said.
        gate: &'a GateReport,
        /// Why a person is asked.
        rules: &'a [Rule],
    },
}

impl Question<'_> {
    /// The digest of what the question is about.
    pub fn digest(&self) -> Digest {
        match self {
            Question::Trust { wants, .. } => Digest::of(wants.text().as_bytes()),
            Question::NewChange { answer, .. } => *answer,
            Question::Apply { digest, .. } | Question::Keep { digest, .. } => *digest,
        }
    }

    /// A yes to exactly this.
    pub fn yes(&self) -> Reply {
        Reply::Yes { digest: self.digest() }
    }
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Yes, to what has this digest.
    Yes {
        /// The digest of what was shown.
        digest: Digest,
    },
    /// No.
    No {
        /// Why, in their words.
        reason: Option<String>,
    },
    /// Not like this: with these changes. What comes of it is asked about again. Only for `Apply`.
    Revise(Vec<Revision>),
    /// The user wants everything to stop.
    Stop,
    /// There is nobody to ask.
    Nobody,
}

/// What a person wants changed about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revision {
    /// Leave this file as it is.
    LeaveOut(RelPath),
    /// Of this file's diff, carry out only these hunks (0 is the first).
    OnlyHunks(RelPath, Vec<usize>),
    /// Let this file's text be this.
    Text(RelPath, Vec<u8>),
}

/// How it goes.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A plan was admitted without asking anybody: it is about to be carried out.
    Admitted {
        /// What was understood.
        proposal: &'a Proposal,
        /// What is going to be done.
        plan: &'a Plan,
        /// Its digest.
        digest: Digest,
    },
    /// A command of the project begins.
    Begins {
        /// Which.
        step: Step,
        /// Its command line.
        command: &'a str,
    },
    /// It printed this.
    Prints {
        /// Bytes as they came: not safe for a terminal.
        bytes: &'a [u8],
    },
    /// It ended.
    Ends {
        /// What came of it.
        report: &'a crate::gate::StepReport,
    },
    /// The files are on disk, not yet kept.
    OnDisk {
        /// How many.
        files: usize,
    },
    /// They are being put back.
    PuttingBack,
    /// Files changed since they were shown: it is planned again.
    PlannedAgain {
        /// Which.
        paths: &'a [RelPath],
    },
    /// Something worth a line that decides nothing.
    Remark {
        /// The line; it may quote foreign text.
        text: &'a str,
    },
}
