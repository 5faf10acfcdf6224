//! Why a friend did not answer, as every command says it: what happened, what to do next, and the exit code.

use relaycode_exec::ExecError;
use relaycode_friend::Failure as Friends;

use crate::failure::{Exit, Failure};

impl From<Friends> for Failure {
    fn from(failure: Friends) -> Failure {
        let message = failure.to_string();
        let (exit, kind) = place(&failure);
        let said = Failure::new(exit, kind, message);
        match failure {
            Friends::Missing { hint, .. }
            | Friends::NoVersion { hint, .. }
            | Friends::NotSignedIn { hint, .. } => said.hint(hint),
            Friends::TooOld { .. } => {
                said.hint("bring it up to date; `relay friends` shows what is installed")
            }
            Friends::Cannot { .. } => said.hint("`relay friends` shows what each of them can do"),
            Friends::OtherAccess { .. } => {
                said.hint("its own configuration may say so; `relay friends --test` tries it")
            }
            Friends::NoSession { id, .. } => said.hint(format!(
                "`relay friends forget {id}` forgets it, and the next question begins it anew"
            )),
            Friends::NoAnswer { .. } => {
                said.hint("ask again; `relay friends --test` says whether it answers at all")
            }
            Friends::NotByTheSchema { .. } => said.hint("ask again, or with a simpler schema"),
            Friends::Failed { .. } | Friends::NotReading { .. } | Friends::Exec { .. } => {
                said.hint("`relay friends --test` says whether it answers at all")
            }
            Friends::Unreachable { .. } => {
                said.hint("look at the network and at where its configuration points")
            }
            Friends::TimedOut { idle, .. } => said.hint(match idle {
                true => "give it longer with `--idle-timeout SECONDS`",
                false => "give it longer with `--timeout SECONDS`",
            }),
            Friends::TooMuch { .. } => said.hint("ask for less at once"),
            Friends::Cancelled { .. } => said,
        }
    }
}

/// The exit code of a failure, and its stable name.
fn place(failure: &Friends) -> (Exit, &'static str) {
    match failure {
        Friends::Missing { .. } => (Exit::Friend, "notInstalled"),
        Friends::TooOld { .. } => (Exit::Friend, "tooOld"),
        Friends::NoVersion { .. } => (Exit::Friend, "friendFailed"),
        Friends::NotSignedIn { .. } => (Exit::Friend, "notSignedIn"),
        Friends::Cannot { .. } => (Exit::Usage, "cannot"),
        Friends::OtherAccess { .. } => (Exit::Friend, "otherAccess"),
        Friends::NoSession { .. } => (Exit::Usage, "noSession"),
        Friends::NoAnswer { .. } => (Exit::NoAnswer, "noAnswer"),
        Friends::NotByTheSchema { .. } => (Exit::NoAnswer, "notByTheSchema"),
        Friends::Failed { .. } => (Exit::Friend, "friendFailed"),
        Friends::Unreachable { .. } => (Exit::Friend, "unreachable"),
        Friends::TimedOut { .. } => (Exit::OutOfTime, "timedOut"),
        Friends::TooMuch { .. } => (Exit::Friend, "tooMuch"),
        Friends::NotReading { .. } => (Exit::Friend, "notReading"),
        Friends::Cancelled { .. } => (Exit::Interrupted, "interrupted"),
        Friends::Exec { source: ExecError::NotFound { .. }, .. } => (Exit::Friend, "notInstalled"),
        Friends::Exec { .. } => (Exit::Friend, "friendFailed"),
    }
}
