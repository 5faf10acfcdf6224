//! The way in. A proposal from any source goes through [`Door::submit`] and comes out as a [`SubmitOutcome`]: it
//! is planned, judged, admitted, gated, put on disk by the ledger, accepted and recorded, or nothing changed.
//!
//! Two decisions are made here, both by policy where it may and by a person otherwise, and both say which
//! rule decided: *admit*, before anything is written, and *accept*, after the gate. This crate knows no
//! surface: whoever can ask a person brings an [`Approver`].
//!
//! | module | what it is for |
//! |---|---|
//! | `door` | [`Door`]: everything a submission needs, opened once; previews |
//! | `answer` | an answer as it was read |
//! | `submit` | the way through: `submission` goes in, `accept` decides once it is on disk, `outcome` comes out; `metadata` is what the record says beside the files |
//! | `approval` | who says yes (`approver`), by which rules (`rules`, one file each), and the files a person always looks at (`guarded`) |
//! | `gate` | running the project's commands, and the verdict on what they said; `repair_prompt` for the model |
//! | `linter` | errors out of a linter's output, one reader per tool; which of them are new |
//! | `adopt` | changes already made: secure the project before each command of a turn, record what it changed |
//! | `rewind` | going back to a mark inside a group of changes |
//! | `git_guard` | what a command changed of what steers git is put back |
//! | `set_aside` | what a command made at protected names is taken out again |
//! | `instructions` | what a model is told so that its answer can come in |
//! | `git` | which files a git commit takes, and a branch per change |
//! | `setup` | what `init` writes |

mod adopt;
mod answer;
pub mod approval;
pub mod door;
pub mod gate;
pub mod git;
mod git_guard;
mod instructions;
pub mod linter;
mod rewind;
mod set_aside;
pub mod setup;
mod submit;

pub use adopt::{Adoption, CommandEnd, CommandWatch, RecordedCommand, quote_word};
pub use answer::AnswerProposal;
pub use approval::approver::{ApprovalQuestion, ApprovalReply, Approver, DoorEvent, PlanRevision};
pub use approval::rules::{self, ApprovalReason, ApprovalRule, RuleConsent, RuleText};
pub use door::{Door, PlanPreview};
pub use gate::{GateFence, GateReport, ProjectCheck};
pub use git_guard::{GitGuardReport, GitGuardRun, GitPutBack};
pub use instructions::{InstructionsError, ModelInstructions};
pub use relaycode_ledger::{Digest, LedgerError, SecureProgress, TxId};
pub use rewind::{RewindMark, redacted_operations};
pub use set_aside::{ProtectedChange, ProtectedFile, SetAsideReport, SetAsideRun};
pub use submit::outcome::{AppliedChange, DoorError, SubmitOutcome};
pub use submit::plan_digest;
pub use submit::submission::{Consent, RESERVED_ORIGINS, Submission, SubmissionOrigin};
