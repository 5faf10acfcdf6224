//! From one conversation to another: the program is asked first if it wants to be, then the run is ended, then the other agent is
//! opened; until it is, everything stays as it was.

use std::thread;

use relaycode_session::{EntryRole, EntryType};
use serde::Serialize;
use serde_json::{Value, json};

use super::{RpcServer, ServerEvent};
use crate::rpc::backend::{OpenedAgent, SessionTarget};
use crate::rpc::commands::CommandCall;
use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::frame::{HookAction, HookName, RpcFrame, SessionChangeReason};

/// Where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SessionMove {
    New,
    Switch {
        session: String,
    },
    /// Before this prompt, in a session of its own.
    Branch {
        entry_id: String,
    },
    /// To this entry, in the same session.
    Tree {
        entry_id: String,
    },
}

pub(super) struct PendingMove {
    call: CommandCall,
    to: SessionMove,
    /// The program has said yes, or was not asked.
    is_decided: bool,
}

/// Where the conversation is now.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionMoveData {
    #[serde(rename = "session_id")]
    pub(crate) session_id: String,
    /// The prompt that was chosen, to be edited and sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) messages: usize,
}

impl SessionMove {
    fn hook(&self) -> HookName {
        match self {
            SessionMove::New | SessionMove::Switch { .. } => HookName::SessionBeforeSwitch,
            SessionMove::Branch { .. } => HookName::SessionBeforeBranch,
            SessionMove::Tree { .. } => HookName::SessionBeforeTree,
        }
    }

    fn reason(&self) -> SessionChangeReason {
        match self {
            SessionMove::New => SessionChangeReason::New,
            SessionMove::Switch { .. } => SessionChangeReason::Resume,
            SessionMove::Branch { .. } => SessionChangeReason::Branch,
            SessionMove::Tree { .. } => SessionChangeReason::Tree,
        }
    }

    /// What a hook is told of it.
    fn to_data(&self) -> Value {
        let target = match self {
            SessionMove::New => Value::Null,
            SessionMove::Switch { session } => session.as_str().into(),
            SessionMove::Branch { entry_id } | SessionMove::Tree { entry_id } => entry_id.as_str().into(),
        };
        json!({ "reason": self.reason(), "target": target })
    }
}

impl RpcServer<'_> {
    /// Begins a move; it is answered when it is done.
    pub(crate) fn start_move(&mut self, call: &CommandCall, to: SessionMove) -> Result<(), RpcError> {
        if self.pending_move.is_some() {
            return Err(RpcError::busy("another move to a session is on its way"));
        }
        if let SessionMove::Branch { entry_id } | SessionMove::Tree { entry_id } = &to {
            let is_prompt = self.is_prompt(entry_id)?;
            if matches!(to, SessionMove::Branch { .. }) && !is_prompt {
                let said = "a branch begins at a prompt: `get_branch_messages` lists them";
                return Err(RpcError::new(RpcErrorCode::UnknownEntry, said));
            }
        }
        let (hook, data) = (to.hook(), to.to_data());
        self.pending_move = Some(PendingMove { call: call.clone(), to, is_decided: false });
        if self.link.hooks.is_wanted(hook) {
            return self.ask_hook(hook, data);
        }
        self.hook_decided(HookAction::Continue);
        Ok(())
    }

    /// Whether it is one of the user's; an error if there is no such entry.
    fn is_prompt(&self, entry_id: &str) -> Result<bool, RpcError> {
        self.handle.with_session(|session| {
            let row = session.row(entry_id);
            let row = row.ok_or_else(|| {
                let said = "there is no such entry in this session";
                RpcError::new(RpcErrorCode::UnknownEntry, said)
            })?;
            Ok(row.kind == EntryType::Message && row.role == EntryRole::User)
        })
    }

    /// The answer comes as an event, so that the program can give it.
    fn ask_hook(&mut self, hook: HookName, data: Value) -> Result<(), RpcError> {
        let (hooks, sender) = (self.link.hooks.clone(), self.sender.clone());
        let ask = move || {
            let action = hooks.ask(hook, &data, None).map_or(HookAction::Cancel, |result| result.action);
            let _ = sender.send(ServerEvent::HookDecided(action));
        };
        let spawned = thread::Builder::new().name("relay-rpc-hook".to_string()).spawn(ask);
        spawned.map(drop).map_err(|error| {
            self.pending_move = None;
            RpcError::failed(&error)
        })
    }

    /// The program said whether the move may go on.
    pub(super) fn hook_decided(&mut self, action: HookAction) {
        let Some(pending) = &mut self.pending_move else { return };
        if action == HookAction::Cancel {
            let call = pending.call.clone();
            self.pending_move = None;
            let error = RpcError::new(RpcErrorCode::Cancelled, "a hook of the program is against it");
            return self.respond_error(call.id, call.name, error);
        }
        pending.is_decided = true;
        self.handle.take_queued();
        if self.work().is_some() {
            self.abort();
        } else {
            self.agent_is_free();
        }
    }

    /// What waited for the end of the run goes on.
    pub(super) fn agent_is_free(&mut self) {
        let Some(pending) = self.pending_move.take_if(|pending| pending.is_decided) else { return };
        if let Some((call, _)) = self.next_prompt.take() {
            let said = "the conversation moved to another session before this prompt began";
            self.respond_error(call.id, call.name, RpcError::new(RpcErrorCode::Cancelled, said));
        }
        let before = self.session_id.clone();
        let moved = match &pending.to {
            SessionMove::New => self.open(&SessionTarget::New).map(|()| None),
            SessionMove::Switch { session } => self.open(&SessionTarget::Named(session)).map(|()| None),
            SessionMove::Branch { entry_id } => self.branch(entry_id).map(Some),
            SessionMove::Tree { entry_id } => self.navigate(entry_id),
        };
        let text = match moved {
            Ok(text) => text,
            Err(error) => return self.respond_error(pending.call.id, pending.call.name, error),
        };
        let messages =
            self.handle.with_session(|session| session.context().map(|context| context.messages.len()));
        let data = SessionMoveData {
            session_id: self.session_id.clone(),
            text,
            messages: messages.unwrap_or_default(),
        };
        self.respond(&pending.call, Ok(data));
        let (last_seq, reason) = (self.handle.last_seq(), pending.to.reason());
        let changed = RpcFrame::SessionChanged {
            reason,
            session_id: &self.session_id,
            previous_session_id: &before,
            last_seq,
        };
        if before == self.session_id {
            // The numbers go on.
            let _ = self.link.outbox.push(&changed);
        } else {
            self.link.pump.follow(self.event_source(last_seq, changed.to_line()));
        }
    }

    fn open(&mut self, target: &SessionTarget<'_>) -> Result<(), RpcError> {
        if let SessionTarget::Named(name) = target
            && *name == self.session_id
        {
            return Ok(());
        }
        let OpenedAgent { agent, model, tools } = self.backend.open(target, self.link.host())?;
        self.replace_agent(agent, model, tools);
        Ok(())
    }

    fn branch(&mut self, entry_id: &str) -> Result<String, RpcError> {
        let (text, parent) = self
            .handle
            .with_session(|session| {
                let entry = session.entry(entry_id)?;
                let place = session.destination(entry_id)?;
                Ok::<_, relaycode_session::SessionError>((place.prefill.unwrap_or_default(), entry.parent_id))
            })
            .map_err(|error| RpcError::failed(&error))?;
        let (handle, backend, host) = (self.handle.clone(), &mut *self.backend, self.link.host());
        let opened = handle.with_session(|from| {
            backend.open(&SessionTarget::Branch { from, leaf: parent.as_deref() }, host)
        })?;
        let OpenedAgent { agent, model, tools } = opened;
        self.replace_agent(agent, model, tools);
        Ok(text)
    }

    fn navigate(&mut self, entry_id: &str) -> Result<Option<String>, RpcError> {
        let mut agent = self.take_agent()?;
        let moved = agent.move_to(entry_id, false, None);
        self.seat(agent);
        moved.map(|moved| moved.navigation.prefill).map_err(|error| RpcError::failed(&error))
    }
}
