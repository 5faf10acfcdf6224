//! Ask a friend: everything is checked before anything is sent, and what comes back is checked before it counts.
//!
//! The order of the checks is fixed, cheapest first: prompt, time, project, access, schema, context, difference,
//! size of the whole, depth. A friend that failed never reads as an answer. With read-only access the project is
//! compared afterwards ([`crate::tree`]), also after a failure; a difference is told, and does not take the answer
//! away.

mod error;
pub(crate) mod session;
mod terms;

use std::path::Path;
use std::time::Duration;

use relaycode_project::git::{Diff, Git};

pub use error::{AskError, Failed};
pub use terms::Terms;

use crate::answer::Answer;
use crate::depth;
use crate::diff::{self, Sent, Which};
use crate::envelope::Envelope;
use crate::event::Event;
use crate::friend::Friend;
use crate::limits::{NAMED, What};
use crate::schema::Schema;
use crate::tree::Looked;
use crate::turn::{Limits, Task};
use crate::world::World;
use session::Session;

/// What a friend is asked.
#[derive(Debug, Clone)]
pub struct Asking {
    /// The question.
    pub prompt: String,
    /// What goes with it ([`crate::context`]).
    pub context: Option<String>,
    /// Whether a difference goes with it.
    pub include_diff: bool,
    /// On which terms.
    pub terms: Terms,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The answer; with a schema, it follows it.
    pub answer: Answer,
    /// What was sent.
    pub sent: Sent,
    /// What was changed in the project while it ran: by the friend, or by somebody else. Nothing, if nobody wanted to
    /// know.
    pub looked: Looked,
    /// How long it took.
    pub took: Duration,
}

/// Asks a friend.
///
/// # Errors
/// Why there is no answer.
pub fn ask(
    friend: &dyn Friend,
    asking: &Asking,
    world: &World<'_>,
    hear: &mut dyn FnMut(Event),
) -> Result<Asked, AskError> {
    if is_blank(&asking.prompt) {
        return Err(AskError::NoPrompt);
    }
    let terms = &asking.terms;
    let limits = terms.limits()?;
    let root = terms.directory()?;
    terms.allowed(friend)?;
    let schema = terms.schema.clone().map(Schema::new).transpose()?;
    let context = checked(asking.context.as_deref())?;
    let git = Git::new(&world.runner, &root);
    let (diff, sent) = match asking.include_diff {
        true => diff::for_ask(&git)?,
        false => (Diff::default(), Sent::new(Which::NotWanted, &Diff::default())),
    };
    let letter =
        Letter { root: &root, request: &asking.prompt, context, diff: &diff, schema: schema.as_ref() };
    let (prompt, sent) = letter.write(friend, sent)?;
    depth::check(world.depth)?;
    sent.tell(hear);
    let session = session(friend, world, terms, (&root, schema.as_ref(), limits));
    let watch = session.watch(terms.check_tree, &git);
    let answer = match &watch {
        Ok(_) => session.turn(Task::Prompt(prompt), hear),
        Err(_) => Err(session.cancelled()),
    };
    session.end(answer, watch, sent)
}

/// One friend on these terms, with what was made of them.
pub(crate) fn session<'a>(
    friend: &'a dyn Friend,
    world: &'a World<'a>,
    terms: &'a Terms,
    (root, schema, limits): (&'a Path, Option<&'a Schema>, Limits),
) -> Session<'a> {
    let (access, model, memory) = (terms.access, terms.model.as_deref(), &terms.memory);
    Session { friend, world, root, access, model, schema, memory, limits }
}

/// A prompt and what goes with it.
pub(crate) struct Letter<'a> {
    pub(crate) root: &'a Path,
    pub(crate) request: &'a str,
    pub(crate) context: Option<&'a str>,
    pub(crate) diff: &'a Diff,
    pub(crate) schema: Option<&'a Schema>,
}

impl Letter<'_> {
    /// The whole prompt, and how large it is.
    ///
    /// # Errors
    /// If it is too large.
    pub(crate) fn write(&self, friend: &dyn Friend, sent: Sent) -> Result<(String, Sent), AskError> {
        let format = self.schema.filter(|_| !friend.abilities().schema).map(|schema| {
            format!(
                "Answer with one JSON value that follows this JSON schema, and with nothing else: no words before \
                 or after it, no code fence.\n{}",
                schema.value()
            )
        });
        let diff = (!self.diff.is_empty()).then_some(self.diff.text.as_str());
        let envelope = Envelope {
            root: self.root,
            request: self.request,
            context: self.context,
            diff,
            format: format.as_deref(),
        };
        let prompt = envelope.text();
        What::Prompt.check(prompt.len() as u64, || self.diff.largest(NAMED))?;
        let context = self.context.map_or(0, str::len);
        let sent = Sent { context, prompt: Some(prompt.clone()), ..sent };
        Ok((prompt, sent))
    }
}

/// The context, if it is not too large.
pub(crate) fn checked(context: Option<&str>) -> Result<Option<&str>, AskError> {
    if let Some(context) = context {
        What::Context.check(context.len() as u64, Vec::new)?;
    }
    Ok(context.filter(|context| !context.trim().is_empty()))
}

/// Whether a text says nothing: blanks, and characters that nobody sees.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || relaycode_text::hidden::is_hidden(c))
}
