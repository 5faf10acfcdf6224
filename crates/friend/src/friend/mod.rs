//! What every friend is: a name, a record of what it can do, a look at whether it is there, and the way to ask it.

pub mod answer;
pub mod depth;
pub mod event;
pub mod failure;
pub mod friend_context;
pub mod request;

use relaycode_project::access::Access;
use relaycode_project::fence::AgentPlaces;

use crate::work::fence::FriendFence;
use crate::{AskRequest, EventSink, FriendContext, FriendFailure, TurnResult};

pub trait Friend: Sync {
    /// What it is called after `--to`, and in every message.
    fn name(&self) -> &str;

    fn abilities(&self) -> FriendAbilities;

    /// Looks whether it is there: its program, its version, whether it is signed in. Asks no model, and takes
    /// seconds at most.
    fn probe(&self, world: &FriendContext<'_>) -> FriendProbeReport;

    /// Whether its program is on this machine at all, which costs nothing to find out: asked before anything is made
    /// ready for it. A server is asked itself.
    fn check_installed(&self, _world: &FriendContext<'_>) -> TurnResult<()> {
        Ok(())
    }

    /// What it keeps outside of the project and needs in relay's fence. Only of friends that have no sandbox of their own
    /// ([`FriendAbilities::sandbox`]).
    fn agent_places(&self, _world: &FriendContext<'_>) -> AgentPlaces {
        AgentPlaces::default()
    }

    /// Sends a prompt, whole: with the envelope, the context and the difference that go with the request. Whatever comes of
    /// it, nothing that was started is running afterwards.
    fn run_prompt(&self, prompt: &str, turn: &mut FriendTurn<'_>) -> TurnResult;

    /// Has it review what is on this branch and not in `base`, which exists, by means of its own. Only for friends that can
    /// ([`FriendAbilities::review`]).
    fn run_review(&self, _base: &str, _turn: &mut FriendTurn<'_>) -> TurnResult {
        let friend = self.name().to_string();
        Err(FriendFailure::Unsupported { friend, what: "review by itself".to_string() })
    }
}

/// One turn with a friend: what it is asked, the machine that it runs on, and who hears what it does.
pub struct FriendTurn<'a> {
    pub request: &'a AskRequest,
    pub world: &'a FriendContext<'a>,
    /// Around its program, where it works in a copy and has no sandbox of its own.
    pub fence: Option<&'a FriendFence>,
    pub hear: &'a mut EventSink<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FriendAbilities {
    pub reads_files: bool,
    /// It changes files by itself, in the directory it works in. One that cannot answers with a patch.
    pub writes_files: bool,
    pub streams: bool,
    pub review: bool,
    pub sessions: SessionSupport,
    /// It can be held to a JSON schema by its own means; else the prompt asks for it.
    pub schema: bool,
    /// What keeps it in its copy when it works.
    pub sandbox: FriendSandbox,
    /// What it may be given, by a tested recipe. Anything else is refused.
    #[serde(serialize_with = "names")]
    pub access: &'static [Access],
}

impl FriendAbilities {
    /// What every agent can do that is a program of its own.
    pub(crate) const PROGRAM: FriendAbilities = FriendAbilities {
        reads_files: true,
        writes_files: true,
        streams: true,
        review: false,
        sessions: SessionSupport::Own,
        schema: false,
        sandbox: FriendSandbox::Fence,
        access: &[Access::ReadOnly, Access::Workspace, Access::Full],
    };
}

/// What keeps a friend in the copy that it works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FriendSandbox {
    /// A sandbox of its own.
    Own,
    /// relay's fence.
    Fence,
    /// It needs none: it has no hands.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionSupport {
    Own,
    /// Not at all: relay keeps what was said, and says it again.
    Replayed,
}

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
