//! Why nobody was asked, or a friend did not answer, as every command says it: what happened, what to do next, and the exit code.

use relaycode_exec::ExecError;
use relaycode_friend::{AskError, FriendFailure as Friends};

use crate::{CommandFailure, Exit, FailureDetail};

impl From<Friends> for CommandFailure {
    fn from(failure: Friends) -> CommandFailure {
        const TRY_IT: &str = "`relay friends --test` says whether it answers at all";
        const ABILITIES: &str = "`relay friends` shows what each of them can do";
        let message = failure.to_string();
        let (exit, kind, hint) = match failure {
            Friends::NotInstalled { hint, .. } => (Exit::FriendFailed, "notInstalled", hint),
            Friends::UnknownVersion { hint, .. } => (Exit::FriendFailed, "friendFailed", hint),
            Friends::NotSignedIn { hint, .. } => (Exit::FriendFailed, "notSignedIn", hint),
            Friends::TooOld { .. } => {
                let hint = "bring it up to date; `relay friends` shows what is installed";
                (Exit::FriendFailed, "tooOld", hint.to_string())
            }
            Friends::Unsupported { .. } => (Exit::Usage, "cannot", ABILITIES.to_string()),
            Friends::AccessMismatch { .. } => {
                let hint = "its own configuration may say so; `relay friends --test` tries it";
                (Exit::FriendFailed, "otherAccess", hint.to_string())
            }
            Friends::UnknownSession { id, .. } => {
                let hint =
                    format!("`relay friends forget {id}` forgets it, and the next question begins it anew");
                (Exit::Usage, "noSession", hint)
            }
            Friends::NoAnswer { .. } => (Exit::NoAnswer, "noAnswer", format!("ask again; {TRY_IT}")),
            Friends::SchemaMismatch { .. } => {
                (Exit::NoAnswer, "notByTheSchema", "ask again, or with a simpler schema".to_string())
            }
            Friends::Abstained { .. } => {
                (Exit::NoAnswer, "abstained", "no verdict is no pass; ask another friend".to_string())
            }
            Friends::Failed { .. } => (Exit::FriendFailed, "friendFailed", TRY_IT.to_string()),
            Friends::InputStalled { .. } => (Exit::FriendFailed, "notReading", TRY_IT.to_string()),
            Friends::Exec { source: ExecError::NotFound { .. }, .. } => {
                (Exit::FriendFailed, "notInstalled", TRY_IT.to_string())
            }
            Friends::Exec { .. } => (Exit::FriendFailed, "friendFailed", TRY_IT.to_string()),
            Friends::Unreachable { .. } => {
                let hint = "look at the network and at where its configuration points";
                (Exit::FriendFailed, "unreachable", hint.to_string())
            }
            Friends::TimedOut { idle, .. } => {
                let option = if idle { "--idle-timeout" } else { "--timeout" };
                (Exit::TimedOut, "timedOut", format!("give it longer with `{option} SECONDS`"))
            }
            Friends::AnswerTooLarge { .. } => {
                (Exit::FriendFailed, "tooMuch", "ask for less at once".to_string())
            }
            Friends::Cancelled { .. } => {
                return CommandFailure { message, ..CommandFailure::interrupted() };
            }
        };
        CommandFailure::new(exit, kind, message).hint(hint)
    }
}

impl From<AskError> for CommandFailure {
    fn from(error: AskError) -> CommandFailure {
        let message = error.to_string();
        let usage = |kind| CommandFailure::new(Exit::Usage, kind, &message);
        match error {
            AskError::NoPrompt => {
                usage("prompt").hint("say what you want, for example `relay ask \"what does this do?\"`")
            }
            AskError::ZeroTimeout => usage("time").hint("`--timeout 600` gives it ten minutes"),
            AskError::NotADirectory { .. } => usage("directory").hint("give the project with `-C DIR`"),
            AskError::AccessNotSupported { .. } => {
                usage("access").hint("`relay friends` shows what each of them can do")
            }
            AskError::Context(relaycode_friend::prompt::user_context::ContextError::TooLarge(_)) => {
                CommandFailure::refused("tooLarge", message).hint("give it less; nothing was sent")
            }
            AskError::Context(_) => usage("context").hint("nothing was sent"),
            AskError::Schema(_) => usage("schema").hint("nothing was sent"),
            AskError::Limit(mut over) => {
                let largest = std::mem::take(&mut over.largest);
                let detail = |(path, bytes)| FailureDetail::new(path, format!("{bytes} bytes"));
                let files: Vec<FailureDetail> = largest.into_iter().map(detail).collect();
                let hint = match files.is_empty() {
                    true => "give it less; nothing was sent",
                    false => {
                        "`relay review` takes the paths that matter, `.gitignore` leaves new files out; nothing was sent"
                    }
                };
                CommandFailure::refused("tooLarge", over).with_files(files).hint(hint)
            }
            AskError::Depth(_) => CommandFailure::refused("depth", message),
            AskError::Git(error) => error.into(),
            AskError::EmptyRange { .. } => {
                CommandFailure::refused("nothing", message).hint("`--base REF` compares with something else")
            }
            AskError::NothingToReview { .. } => CommandFailure::refused("nothing", message)
                .hint("`--base REF` compares with something else; nothing was sent"),
            AskError::Friend(failure) => failure.into(),
        }
    }
}
