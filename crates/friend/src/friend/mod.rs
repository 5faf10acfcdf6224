//! What every friend is: a name, a record of what it can do, a look at whether it is there, and a turn.

pub mod answer;
pub mod depth;
pub mod event;
pub mod failure;
pub mod friend_context;
pub mod turn;

use relaycode_project::access::Access;

use crate::friend::answer::FriendAnswer;
use crate::friend::event::FriendEvent;
use crate::friend::failure::FriendFailure;
use crate::friend::friend_context::FriendContext;
use crate::friend::turn::FriendTurn;

/// Another agent that relay delegates to.
pub trait Friend: Sync {
    /// What it is called after `--to`, and in every message.
    fn name(&self) -> &str;

    /// What it can do, as tested.
    fn abilities(&self) -> FriendAbilities;

    /// Looks whether it is there: its program, its version, whether it is signed in. Asks no model, and takes
    /// seconds at most.
    fn probe(&self, world: &FriendContext<'_>) -> FriendProbeReport;

    /// Whether its program is on this machine at all, which costs nothing to find out: asked before anything is made
    /// ready for it. A server is asked itself.
    ///
    /// # Errors
    /// That it is missing.
    fn check_installed(&self, _world: &FriendContext<'_>) -> Result<(), FriendFailure> {
        Ok(())
    }

    /// Does a turn. Whatever comes of it, nothing that was started is running afterwards.
    ///
    /// # Errors
    /// Why there is no answer.
    fn run_turn(
        &self,
        turn: &FriendTurn,
        world: &FriendContext<'_>,
        hear: &mut dyn FnMut(FriendEvent),
    ) -> Result<FriendAnswer, FriendFailure>;
}

/// What a friend can do, as tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FriendAbilities {
    /// It looks into files by itself.
    pub reads_files: bool,
    /// It changes files by itself, in the directory it works in. One that cannot answers with a patch.
    pub writes_files: bool,
    /// It writes its answer piece by piece.
    pub streams: bool,
    /// It has a review of its own.
    pub review: bool,
    /// What it keeps of earlier turns.
    pub sessions: SessionSupport,
    /// It can be held to a JSON schema by its own means; else the prompt asks for it.
    pub schema: bool,
    /// What it may be given, by a tested recipe. Anything else is refused.
    #[serde(serialize_with = "names")]
    pub access: &'static [Access],
}

/// How a friend remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionSupport {
    /// By itself, under an id of its own.
    Own,
    /// Not at all: relay keeps what was said, and says it again.
    Replayed,
}

/// Whether a friend is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FriendProbeReport {
    /// Where its program is, or the address of its server; `None`: it is not there.
    pub found: Option<String>,
    /// Its version, if it says.
    pub version: Option<String>,
    /// Whether it is signed in, as far as can be told without asking a model.
    pub signed_in: Option<bool>,
    /// How many models it has to choose from, where it is a model server and says so.
    pub models: Option<usize>,
    /// What is in the way of using it, and what to do: a sentence.
    pub trouble: Option<String>,
}

fn names<S: serde::Serializer>(access: &&'static [Access], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(access.iter().map(|access| access.name()))
}
