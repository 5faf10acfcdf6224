//! Why a friend did not answer, as every command says it: what happened, what to do next, and the exit code.

use relaycode_exec::ExecError;
use relaycode_friend::FriendFailure as Friends;

use crate::{CommandFailure, Exit};

impl From<Friends> for CommandFailure {
    fn from(failure: Friends) -> CommandFailure {
        let message = failure.to_string();
        let (exit, kind) = exit_and_kind(&failure);
        let said = CommandFailure::new(exit, kind, message);
        match failure {
            Friends::NotInstalled { hint, .. }
            | Friends::UnknownVersion { hint, .. }
            | Friends::NotSignedIn { hint, .. } => said.with_hint(hint),
            Friends::TooOld { .. } => {
                said.with_hint("bring it up to date; `relay friends` shows what is installed")
            }
            Friends::Unsupported { .. } => said.with_hint("`relay friends` shows what each of them can do"),
            Friends::AccessMismatch { .. } => {
                said.with_hint("its own configuration may say so; `relay friends --test` tries it")
            }
            Friends::UnknownSession { id, .. } => said.with_hint(format!(
                "`relay friends forget {id}` forgets it, and the next question begins it anew"
            )),
            Friends::NoAnswer { .. } => {
                said.with_hint("ask again; `relay friends --test` says whether it answers at all")
            }
            Friends::SchemaMismatch { .. } => said.with_hint("ask again, or with a simpler schema"),
            Friends::Abstained { .. } => said.with_hint("no verdict is no pass; ask another friend"),
            Friends::Failed { .. } | Friends::InputStalled { .. } | Friends::Exec { .. } => {
                said.with_hint("`relay friends --test` says whether it answers at all")
            }
            Friends::Unreachable { .. } => {
                said.with_hint("look at the network and at where its configuration points")
            }
            Friends::TimedOut { idle, .. } => said.with_hint(match idle {
                true => "give it longer with `--idle-timeout SECONDS`",
                false => "give it longer with `--timeout SECONDS`",
            }),
            Friends::AnswerTooLarge { .. } => said.with_hint("ask for less at once"),
            Friends::Cancelled { .. } => said,
        }
    }
}

fn exit_and_kind(failure: &Friends) -> (Exit, &'static str) {
    match failure {
        Friends::NotInstalled { .. } => (Exit::FriendFailed, "notInstalled"),
        Friends::TooOld { .. } => (Exit::FriendFailed, "tooOld"),
        Friends::UnknownVersion { .. } => (Exit::FriendFailed, "friendFailed"),
        Friends::NotSignedIn { .. } => (Exit::FriendFailed, "notSignedIn"),
        Friends::Unsupported { .. } => (Exit::Usage, "cannot"),
        Friends::AccessMismatch { .. } => (Exit::FriendFailed, "otherAccess"),
        Friends::UnknownSession { .. } => (Exit::Usage, "noSession"),
        Friends::NoAnswer { .. } => (Exit::NoAnswer, "noAnswer"),
        Friends::SchemaMismatch { .. } => (Exit::NoAnswer, "notByTheSchema"),
        Friends::Abstained { .. } => (Exit::NoAnswer, "abstained"),
        Friends::Failed { .. } => (Exit::FriendFailed, "friendFailed"),
        Friends::Unreachable { .. } => (Exit::FriendFailed, "unreachable"),
        Friends::TimedOut { .. } => (Exit::TimedOut, "timedOut"),
        Friends::AnswerTooLarge { .. } => (Exit::FriendFailed, "tooMuch"),
        Friends::InputStalled { .. } => (Exit::FriendFailed, "notReading"),
        Friends::Cancelled { .. } => (Exit::Interrupted, "interrupted"),
        Friends::Exec { source: ExecError::NotFound { .. }, .. } => (Exit::FriendFailed, "notInstalled"),
        Friends::Exec { .. } => (Exit::FriendFailed, "friendFailed"),
    }
}
