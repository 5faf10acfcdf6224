//! Why nobody was asked, as every command says it.

use relaycode_friend::AskError;

use crate::{CommandFailure, Exit, FailureDetail};

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
                CommandFailure::refused("tooLarge", message).hint("give it less; nothing was sent to anybody")
            }
            AskError::Context(_) => usage("context").hint("nothing was sent to anybody"),
            AskError::Schema(_) => usage("schema").hint("nothing was sent to anybody"),
            AskError::Limit(mut over) => {
                let largest = std::mem::take(&mut over.largest);
                let detail = |(path, bytes)| FailureDetail::new(path, format!("{bytes} bytes"));
                let files: Vec<FailureDetail> = largest.into_iter().map(detail).collect();
                let hint = match files.is_empty() {
                    true => "give it less; nothing was sent to anybody",
                    false => {
                        "`relay review` takes the paths that matter, `.gitignore` leaves new files out; nothing was sent to anybody"
                    }
                };
                CommandFailure::refused("tooLarge", over).with_files(files).hint(hint)
            }
            AskError::Depth(_) => CommandFailure::refused("depth", message),
            AskError::Git(error) => error.into(),
            AskError::NothingToReview { .. } => CommandFailure::refused("nothing", message)
                .hint("`--base REF` compares with something else; nothing was sent to anybody"),
            AskError::Friend(failure) => failure.into(),
        }
    }
}
