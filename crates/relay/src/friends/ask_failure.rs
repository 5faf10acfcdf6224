//! Why nobody was asked, as every command says it.

use relaycode_friend::ask::AskError;

use crate::failure::{Detail, Exit, Failure};

impl From<AskError> for Failure {
    fn from(error: AskError) -> Failure {
        let message = error.to_string();
        let usage = |kind| Failure::new(Exit::Usage, kind, &message);
        match error {
            AskError::NoPrompt => {
                usage("prompt").hint("say what you want, for example `relay ask \"what does this do?\"`")
            }
            AskError::NoTime => usage("time").hint("`--timeout 600` gives it ten minutes"),
            AskError::NotADirectory { .. } => usage("directory").hint("give the project with `-C DIR`"),
            AskError::Access { .. } => usage("access").hint("`relay friends` shows what each of them can do"),
            AskError::Context(relaycode_friend::context::ContextError::Over(_)) => {
                Failure::refused("tooLarge", message).hint("give it less; nothing was sent to anybody")
            }
            AskError::Context(_) => usage("context").hint("nothing was sent to anybody"),
            AskError::Schema(_) => usage("schema").hint("nothing was sent to anybody"),
            AskError::SchemaAndVerdict => usage("usage").hint("leave out --schema or --verdict"),
            AskError::Limit(mut over) => {
                let largest = std::mem::take(&mut over.largest);
                let detail = |(path, bytes): (String, u64)| Detail {
                    path,
                    message: format!("{bytes} bytes"),
                    ..Detail::default()
                };
                let files: Vec<Detail> = largest.into_iter().map(detail).collect();
                let hint = match files.is_empty() {
                    true => "give it less; nothing was sent to anybody",
                    false => {
                        "`relay review` takes the paths that matter, `.gitignore` leaves new files out; nothing was sent to anybody"
                    }
                };
                Failure::refused("tooLarge", over).about(files).hint(hint)
            }
            AskError::Depth(_) => Failure::refused("depth", message),
            AskError::Git(error) => error.into(),
            AskError::NothingToReview { .. } => Failure::refused("nothing", message)
                .hint("`--base REF` compares with something else; nothing was sent to anybody"),
            AskError::Abstained { .. } => Failure::new(Exit::NoAnswer, "abstained", message)
                .hint("no verdict is no pass; ask another friend"),
            AskError::Friend(failed) => failed.failure.into(),
        }
    }
}
