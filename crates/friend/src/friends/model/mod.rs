//! A friend that is a model server: Ollama and the like on this machine, or any provider that relay knows or `models.yml`
//! names. It has no hands: it reads no file and runs nothing, and is told so.
//!
//! A turn is one streamed request. Invariant: when a turn ends, however it ends, its connection is closed; an answer that
//! broke off is none.

mod chat;
mod config;
mod deadline;
mod failure;
mod model_choice;
mod probe;
mod unmask;

use std::fmt;
use std::sync::Arc;

use relaycode_llm::models::{AuthKind, RegisteredProvider};
use relaycode_project::access::Access;
use tokio::runtime::{Builder, Runtime};

use crate::{
    Friend, FriendAbilities, FriendContext, FriendFailure, FriendProbeReport, FriendSandbox, FriendTurn,
    SessionSupport, TurnMemory, TurnResult,
};

pub use config::ModelServerConfig;

/// It has no hands, so any of them would be harmless; with `workspace` it answers with a patch.
const ACCESS: &[Access] = &[Access::ReadOnly, Access::Workspace];

#[derive(Clone)]
pub struct ModelServer {
    provider: String,
    config: Arc<ModelServerConfig>,
}

impl ModelServer {
    pub fn new(provider: &str, servers: Arc<ModelServerConfig>) -> ModelServer {
        ModelServer { provider: provider.to_string(), config: servers }
    }

    /// Whether it is worth a look: it runs on this machine, or has a key.
    pub fn is_usable(&self, world: &FriendContext<'_>) -> bool {
        self.provider_entry().is_some_and(|provider| {
            let keyed = || self.config.with_keyring(world, |keyring| keyring.has_key(provider));
            provider.discovery.is_some() || keyed()
        })
    }

    fn provider_entry(&self) -> Option<&RegisteredProvider> {
        self.config.registry.provider(&self.provider)
    }

    fn failed(&self, said: impl Into<String>) -> FriendFailure {
        FriendFailure::Failed { friend: self.provider.clone(), said: said.into() }
    }

    fn runtime(&self) -> TurnResult<Runtime> {
        let built = Builder::new_current_thread().enable_all().build();
        built.map_err(|error| self.failed(format!("connections cannot be made: {error}")))
    }
}

impl Friend for ModelServer {
    fn name(&self) -> &str {
        &self.provider
    }

    fn abilities(&self) -> FriendAbilities {
        // The wires have no place for a schema in a request yet: the prompt asks.
        let (reads_files, writes_files, sessions) = (false, false, SessionSupport::Replayed);
        let sandbox = FriendSandbox::None;
        FriendAbilities {
            reads_files,
            writes_files,
            sessions,
            sandbox,
            access: ACCESS,
            ..FriendAbilities::PROGRAM
        }
    }

    fn probe(&self, world: &FriendContext<'_>) -> FriendProbeReport {
        let Some(provider) = self.provider_entry() else { return FriendProbeReport::default() };
        let mut presence = match provider.discovery {
            Some(_) => match self.runtime() {
                Ok(runtime) => {
                    let presence = runtime.block_on(probe::probe(provider, world));
                    // A name that is still being looked up is not waited for.
                    runtime.shutdown_background();
                    presence
                }
                Err(failure) => {
                    FriendProbeReport { trouble: Some(failure.to_string()), ..FriendProbeReport::default() }
                }
            },
            None => FriendProbeReport {
                found: Some(provider.base_url.clone()),
                models: Some(self.config.registry.models_of(&self.provider).count()).filter(|many| *many > 0),
                ..FriendProbeReport::default()
            },
        };
        let wants_key = provider.auth == AuthKind::ApiKey || !provider.api_keys.is_empty();
        let source = self.config.with_keyring(world, |keyring| keyring.source(provider));
        let without = format!("there is no key for {0}; `relay keys set {0}` stores one", self.provider);
        let (signed_in, trouble) = match source {
            Ok(_) if !wants_key => (None, None),
            Ok(Some(_)) => (Some(true), None),
            Ok(None) => (Some(false), Some(without)),
            Err(error) => (Some(false), Some(error.to_string())),
        };
        presence.signed_in = signed_in;
        presence.trouble = presence.trouble.or(trouble);
        presence
    }

    fn run_prompt(&self, prompt: &str, turn: &mut FriendTurn<'_>) -> TurnResult {
        let (request, world) = (turn.request, turn.world);
        let friend = self.provider.clone();
        if !ACCESS.contains(&request.access) {
            let what = format!("work with {} access", request.access);
            return Err(FriendFailure::Unsupported { friend, what });
        }
        let earlier = match &request.memory {
            TurnMemory::None | TurnMemory::Begin => &[][..],
            TurnMemory::Replay(exchanges) => exchanges,
            TurnMemory::Resume(id) => return Err(FriendFailure::UnknownSession { friend, id: id.clone() }),
        };
        let asking = chat::ModelServerTurn { server: self, request, world, prompt, earlier };
        let runtime = self.runtime()?;
        let outcome = runtime.block_on(asking.run(turn.hear));
        // A name that is still being looked up is not waited for.
        runtime.shutdown_background();
        outcome
    }
}

impl fmt::Debug for ModelServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelServer").field("provider", &self.provider).finish_non_exhaustive()
    }
}
