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
            AskError::Context(error) => {
                let over = matches!(error, relaycode_friend::context::ContextError::Over(_));
                let (exit, kind) = if over { (Exit::Refused, "tooLarge") } else { (Exit::Usage, "context") };
                let hint = if over {
                    "give it less; nothing was sent to anybody"
                } else {
                    "nothing was sent to anybody"
                };
                Failure::new(exit, kind, message).hint(hint)
            }
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
                Failure::new(Exit::Refused, "tooLarge", over).about(files).hint(hint)
            }
            AskError::Depth(_) => Failure::new(Exit::Refused, "depth", message),
            AskError::Git(error) => error.into(),
            AskError::NothingToReview { .. } => Failure::new(Exit::Refused, "nothing", message)
                .hint("`--base REF` compares with something else; nothing was sent to anybody"),
            AskError::Abstained { .. } => Failure::new(Exit::NoAnswer, "abstained", message)
                .hint("no verdict is no pass; ask another friend"),
            AskError::Friend(failed) => failed.failure.into(),
        }
    }
}
