//! Ask a friend: everything is checked before anything is sent, and what comes back is checked before it counts.
//!
//! The order of the checks is fixed, cheapest first: prompt, time, project, access, schema, context, difference,
//! size of the whole, depth. A friend that failed never reads as an answer. With read-only access the project is
//! compared afterwards ([`crate::tree`]), also after a failure; a difference is told, and does not take the answer
//! away.

mod error;
pub(crate) mod session;

use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_project::access::Access;
use relaycode_project::git::{Diff, Git};
use serde_json::Value;

pub use error::{AskError, Failed};

use crate::answer::Answer;
use crate::depth;
use crate::diff::{self, Sent, Which};
use crate::envelope::Envelope;
use crate::event::Event;
use crate::friend::Friend;
use crate::limits::{NAMED, What};
use crate::schema::Schema;
use crate::tree::Difference;
use crate::turn::{Limits, Memory, Task};
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
    /// The project.
    pub root: PathBuf,
    /// What the friend may do there.
    pub access: Access,
    /// The model, as the friend names it; `None`: as it is configured.
    pub model: Option<String>,
    /// The JSON schema that the answer has to follow.
    pub schema: Option<Value>,
    /// What the friend remembers.
    pub memory: Memory,
    /// How long it may take in all.
    pub total: Duration,
    /// How long it may show no sign of life.
    pub idle: Duration,
    /// Whether the project is compared afterwards. Only with read-only access; whoever asks several friends at once
    /// compares once, around all of them.
    pub check_tree: bool,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The answer; with a schema, it follows it.
    pub answer: Answer,
    /// What was sent.
    pub sent: Sent,
    /// What was changed in the project while it ran: by the friend, or by somebody else.
    pub changed: Vec<Difference>,
    /// Why that could not be found out; `None`: it was, or nobody wanted to know.
    pub unchecked: Option<String>,
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
    let limits = limits(asking.total, asking.idle)?;
    let root = directory(&asking.root)?;
    allowed(friend, asking.access)?;
    let schema = asking.schema.clone().map(Schema::new).transpose()?;
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
    let session = Session {
        friend,
        world,
        root: &root,
        access: asking.access,
        model: asking.model.as_deref(),
        schema: schema.as_ref(),
        memory: &asking.memory,
        limits,
    };
    let watch = session.watch(asking.check_tree, &git);
    let answer = match &watch {
        Ok(_) => session.turn(Task::Prompt(prompt), hear),
        Err(_) => Err(session.cancelled()),
    };
    session.end(answer, watch, sent)
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
        let sent = Sent { context: self.context.map_or(0, str::len), prompt: prompt.len(), ..sent };
        Ok((prompt, sent))
    }
}

/// From now on, if there is any time at all.
pub(crate) fn limits(total: Duration, idle: Duration) -> Result<Limits, AskError> {
    if total.is_zero() || idle.is_zero() {
        return Err(AskError::NoTime);
    }
    Ok(Limits::new(total, idle))
}

/// The project's directory, without links.
pub(crate) fn directory(root: &Path) -> Result<PathBuf, AskError> {
    let real = root.canonicalize().ok().filter(|real| real.is_dir());
    real.ok_or_else(|| AskError::NotADirectory { path: root.to_path_buf() })
}

/// Whether a friend may be given this access.
pub(crate) fn allowed(friend: &dyn Friend, access: Access) -> Result<(), AskError> {
    let can = friend.abilities().access;
    if can.contains(&access) {
        return Ok(());
    }
    Err(AskError::Access { friend: friend.name().to_string(), access, can })
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
