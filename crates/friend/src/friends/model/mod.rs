//! A friend that is a model server: Ollama and the like on this machine, or any provider that relay knows or `models.yml`
//! names. It has no hands: it reads no file and runs nothing, and is told so.
//!
//! A turn is one streamed request. Invariant: when a turn ends, however it ends, its connection is closed; an answer that
//! broke off is none.

mod ask;
mod choose;
mod clock;
mod failed;
mod reach;
mod servers;
mod veiled;

use std::fmt;
use std::sync::Arc;

use relaycode_llm::models::{AuthKind, Registered};
use relaycode_project::access::Access;
use tokio::runtime::{Builder, Runtime};

pub use servers::Servers;

use crate::answer::Answer;
use crate::event::Event;
use crate::failure::Failure;
use crate::friend::{Abilities, Friend, Presence, Sessions};
use crate::turn::{Memory, Task, Turn};
use crate::world::World;

/// It has no hands, so any of them would be harmless; with `workspace` it answers with a patch.
const ACCESS: &[Access] = &[Access::ReadOnly, Access::Workspace];

/// A model server.
#[derive(Clone)]
pub struct ModelServer {
    provider: String,
    servers: Arc<Servers>,
}

impl ModelServer {
    /// The server of this provider.
    pub fn new(provider: &str, servers: Arc<Servers>) -> ModelServer {
        ModelServer { provider: provider.to_string(), servers }
    }

    /// Whether it is worth a look: it runs on this machine, or has a key.
    pub fn is_usable(&self, world: &World<'_>) -> bool {
        self.registered().is_some_and(|provider| {
            let keyed = || self.servers.with_keyring(world, |keyring| keyring.has(provider));
            provider.discovery.is_some() || keyed()
        })
    }

    fn registered(&self) -> Option<&Registered> {
        self.servers.registry.provider(&self.provider)
    }

    fn failed(&self, said: impl Into<String>) -> Failure {
        Failure::Failed { friend: self.provider.clone(), said: said.into() }
    }

    fn runtime(&self) -> Result<Runtime, Failure> {
        let built = Builder::new_current_thread().enable_all().build();
        built.map_err(|error| self.failed(format!("connections cannot be made: {error}")))
    }
}

impl Friend for ModelServer {
    fn name(&self) -> &str {
        &self.provider
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            reads_files: false,
            writes_files: false,
            streams: true,
            review: false,
            sessions: Sessions::Replayed,
            // The wires have no place for one in a request yet: the prompt asks.
            schema: false,
            access: ACCESS,
        }
    }

    fn look(&self, world: &World<'_>) -> Presence {
        let Some(provider) = self.registered() else { return Presence::default() };
        let mut presence = match provider.discovery {
            Some(_) => match self.runtime() {
                Ok(runtime) => {
                    let presence = runtime.block_on(reach::look(provider, world));
                    // A name that is still being looked up is not waited for.
                    runtime.shutdown_background();
                    presence
                }
                Err(failure) => Presence { trouble: Some(failure.to_string()), ..Presence::default() },
            },
            None => Presence {
                found: Some(provider.base_url.clone()),
                models: Some(self.servers.registry.models_of(&self.provider).count())
                    .filter(|many| *many > 0),
                ..Presence::default()
            },
        };
        let wants_key = provider.auth == AuthKind::ApiKey || provider.api_key.is_some();
        let source = self.servers.with_keyring(world, |keyring| keyring.source(provider));
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

    fn turn(&self, turn: &Turn, world: &World<'_>, hear: &mut dyn FnMut(Event)) -> Result<Answer, Failure> {
        let friend = self.provider.clone();
        let Task::Prompt(prompt) = &turn.task else {
            return Err(Failure::Cannot {
                friend,
                what: "look at changes by itself: it reads no files".into(),
            });
        };
        if !ACCESS.contains(&turn.access) {
            return Err(Failure::Cannot { friend, what: format!("work with {} access", turn.access) });
        }
        let earlier = match &turn.memory {
            Memory::None | Memory::Begin => &[][..],
            Memory::Replay(exchanges) => exchanges,
            Memory::Resume(id) => return Err(Failure::NoSession { friend, id: id.clone() }),
        };
        let asking = ask::Asking { server: self, turn, world, prompt, earlier };
        let runtime = self.runtime()?;
        let outcome = runtime.block_on(asking.run(hear));
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
