//! Have a friend review what a branch adds, or what is not committed yet.
//!
//! A friend's own review comes first where it has one and nothing is wanted that it cannot do: a prompt, some files,
//! a form, a verdict, uncommitted work. If it fails, the difference goes to the friend as a prompt, in what is left
//! of the same time, and that is told. A difference that is empty or that git cannot give is an error: a failed
//! review never reads as a pass.

use std::path::{Component, Path};

use relaycode_project::git::{Base, Diff, Git, GitError};
use serde_json::Value;

use crate::ask::session::{Session, Watch};
use crate::ask::{self, AskError, Asked, Failed, Letter, Terms};
use crate::depth;
use crate::diff::{self, Sent, Which};
use crate::event::Event;
use crate::failure::Failure;
use crate::friend::Friend;
use crate::schema::Schema;
use crate::turn::{Memory, Task};
use crate::verdict::{self, NoVerdict, Verdict};
use crate::world::World;

/// What is asked when nobody says.
pub const PROMPT: &str = "Review the following changes.";

/// What a friend shall review.
#[derive(Debug, Clone)]
pub struct Reviewing {
    /// What the branch is compared with; `None`: what is found ([`Git::default_base`]).
    pub base: Option<String>,
    /// Only these files and directories: relative to the project's root, or absolute. Empty: all.
    pub paths: Vec<String>,
    /// What is asked; `None`: [`PROMPT`].
    pub prompt: Option<String>,
    /// What goes with it ([`crate::context`]).
    pub context: Option<String>,
    /// Whether the uncommitted work is reviewed with what is committed.
    pub uncommitted: bool,
    /// Whether it has to come to a verdict.
    pub verdict: bool,
    /// On which terms.
    pub terms: Terms,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reviewed {
    /// The review in the friend's words, and what was sent.
    pub asked: Asked,
    /// What it was compared with.
    pub base: Base,
    /// What it comes to, if a verdict was wanted. There is none without one then.
    pub verdict: Option<Verdict>,
}

/// Has a friend review.
///
/// # Errors
/// Why there is no review, or no verdict.
pub fn review(
    friend: &dyn Friend,
    reviewing: &Reviewing,
    world: &World<'_>,
    hear: &mut dyn FnMut(Event),
) -> Result<Reviewed, AskError> {
    let terms = &reviewing.terms;
    let limits = terms.limits()?;
    let root = terms.directory()?;
    terms.allowed(friend)?;
    if reviewing.prompt.as_deref().is_some_and(ask::is_blank) {
        return Err(AskError::NoPrompt);
    }
    let schema = form(reviewing)?;
    let context = ask::checked(reviewing.context.as_deref())?;
    let git = Git::new(&world.runner, &root);
    let base = match &reviewing.base {
        Some(name) => git.base(name)?,
        None => git.default_base()?,
    };
    depth::check(world.depth)?;
    let paths = paths(&reviewing.paths, &root)?;
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let (diff, sent) = diff::for_review(&git, &base, &paths, reviewing.uncommitted)?;
    let could = has_own(friend, reviewing) && matches!(sent.which, Which::Branch { .. });
    let own = could && git.is_named(&base)?;
    let request = request(reviewing);
    let letter = Letter { root: &root, request: &request, context, diff: &diff, schema: schema.as_ref() };
    // Written before anything is sent, so that what is too large is known; a friend that looks for itself does
    // not need it.
    let letter = diff::fits(&diff).and_then(|()| letter.write(friend, sent.clone()));
    let letter = letter.map_err(|error| error.since(&base));
    let letter = if own { letter } else { Ok(letter?) };
    let none = Sent::new(Which::Own { base: base.clone() }, &Diff::default());
    let looked = Sent { work_left_out: sent.work_left_out, ..none };
    if could && !own {
        let why = format!("its own review compares with branches and tags, and {} is neither", base.name);
        hear(Event::OtherWay(why));
    }
    if own { &looked } else { &sent }.tell(hear);
    let session = ask::session(friend, world, terms, (&root, schema.as_ref(), limits));
    let watch = session.watch(terms.check_tree, &git);
    let asked = match (own, &watch) {
        (_, Err(_)) => session.end(Err(session.cancelled()), watch, sent),
        (true, Ok(_)) => by_itself(&session, (&base, looked), letter, watch, hear),
        (false, Ok(_)) => letter.and_then(|(prompt, sent)| {
            let answer = session.turn(Task::Prompt(prompt), hear);
            session.end(answer, watch, sent)
        }),
    }?;
    concluded(friend, reviewing, &root, base, asked)
}

/// The friend's own review; if that fails in a way that may be its own fault, the difference as a prompt.
fn by_itself(
    session: &Session<'_>,
    (base, looked): (&Base, Sent),
    letter: Result<(String, Sent), AskError>,
    watch: Result<Watch, Failure>,
    hear: &mut dyn FnMut(Event),
) -> Result<Asked, AskError> {
    // By its name, which was looked up: codex compares with branches and tags, and with no commit.
    let own = session.turn(Task::Review { base: base.name.clone() }, hear);
    let failure = match own {
        Err(failure) if may_go_another_way(&failure) => failure,
        ended => return session.end(ended, watch, looked),
    };
    hear(Event::Anew);
    match letter {
        Ok((prompt, sent)) => {
            hear(Event::OtherWay(format!("its own review failed ({failure}); the difference is sent to it")));
            sent.tell(hear);
            let answer = session.turn(Task::Prompt(prompt), hear);
            session.end(answer, watch, sent)
        }
        // Too large to be sent: what the friend said is why there is no review.
        Err(error) => {
            hear(Event::OtherWay(format!("the difference cannot be sent instead: {error}")));
            session.end(Err(failure), watch, looked)
        }
    }
}

/// Whether the same friend may do better when it is asked another way. Not after a refusal of ours, when its time
/// is over or somebody broke it off, nor where every way needs what is missing.
fn may_go_another_way(failure: &Failure) -> bool {
    match failure {
        Failure::Cannot { .. }
        | Failure::NoAnswer { .. }
        | Failure::NotByTheSchema { .. }
        | Failure::Failed { .. }
        | Failure::TooMuch { .. }
        | Failure::NotReading { .. }
        | Failure::Exec { .. } => true,
        Failure::Missing { .. }
        | Failure::TooOld { .. }
        | Failure::NoVersion { .. }
        | Failure::NotSignedIn { .. }
        | Failure::OtherAccess { .. }
        | Failure::NoSession { .. }
        | Failure::Unreachable { .. }
        | Failure::TimedOut { .. }
        | Failure::Cancelled { .. } => false,
    }
}

/// Whether the friend's own review does what is wanted.
fn has_own(friend: &dyn Friend, reviewing: &Reviewing) -> bool {
    friend.abilities().review
        && reviewing.prompt.is_none()
        && reviewing.context.is_none()
        && reviewing.paths.is_empty()
        && reviewing.terms.schema.is_none()
        && !reviewing.verdict
        && !reviewing.uncommitted
        && reviewing.terms.memory == Memory::None
}

/// The form that the answer has to have.
fn form(reviewing: &Reviewing) -> Result<Option<Schema>, AskError> {
    match (&reviewing.terms.schema, reviewing.verdict) {
        (Some(_), true) => Err(AskError::SchemaAndVerdict),
        (None, true) => Ok(Some(Schema::new(verdict::schema())?)),
        (schema, false) => Ok(schema.clone().map(Schema::new).transpose()?),
    }
}

fn request(reviewing: &Reviewing) -> String {
    let prompt = reviewing.prompt.as_deref().unwrap_or(PROMPT);
    if reviewing.verdict { format!("{}\n\n{}", prompt.trim(), verdict::REQUEST) } else { prompt.to_string() }
}

/// What the answer comes to.
fn concluded(
    friend: &dyn Friend,
    reviewing: &Reviewing,
    root: &Path,
    base: Base,
    mut asked: Asked,
) -> Result<Reviewed, AskError> {
    if !reviewing.verdict {
        return Ok(Reviewed { asked, base, verdict: None });
    }
    let friend = friend.name().to_string();
    match Verdict::read(asked.answer.value.as_ref().unwrap_or(&Value::Null), root) {
        Ok(verdict) => {
            asked.answer.remarks.extend(verdict.remarks.iter().cloned());
            Ok(Reviewed { asked, base, verdict: Some(verdict) })
        }
        Err(NoVerdict::Abstained(summary)) => {
            Err(AskError::Abstained { friend, summary, asked: Box::new(asked) })
        }
        Err(NoVerdict::Form(fault)) => {
            let Asked { answer, sent, looked, took } = asked;
            let failure = Failure::NotByTheSchema { friend, fault, text: answer.text };
            Err(AskError::Friend(Box::new(Failed { failure, sent, looked, took })))
        }
    }
}

/// Paths of the project as git takes them; the project itself is no limit.
fn paths(given: &[String], root: &Path) -> Result<Vec<String>, AskError> {
    let mut paths = Vec::new();
    for path in given {
        let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(path));
        let mut parts = Vec::new();
        for component in below.components() {
            match component {
                Component::Normal(part) => parts.extend(part.to_str()),
                Component::CurDir => {}
                _ => return Err(GitError::BadPath { path: path.clone() }.into()),
            }
        }
        if path.is_empty() {
            return Err(GitError::BadPath { path: path.clone() }.into());
        }
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        paths.push(parts.join("/"));
    }
    Ok(paths)
}
