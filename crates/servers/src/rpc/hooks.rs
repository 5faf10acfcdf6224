//! What the program may say no to before it happens: which of that it wants to be asked, and what it answers.
//!
//! Invariant: nobody waits longer than the program itself said, and where it says nothing, what it set as the default counts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use relaycode_llm::CancelToken;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::client_requests::{ClientRequests, RequestEnd, RequestWait};
use super::error::RpcError;
use super::frame::{HookAction, HookName, RpcFrame};
use super::outbox::Outbox;

/// The longest that a hook may take.
pub(crate) const MAX_HOOK_WAIT: Duration = Duration::from_secs(600);

/// How the program is asked before something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookSettings {
    pub(crate) wait: Duration,
    pub(crate) default: HookAction,
}

/// What the program answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookResult {
    pub(crate) action: HookAction,
    /// With `session_before_compact` and `continue`: stands for what is summed up. One that is empty or too long is not taken.
    #[serde(default)]
    pub(crate) summary: Option<String>,
}

pub(crate) struct HookBoard {
    outbox: Arc<Outbox>,
    requests: ClientRequests<HookResult, ()>,
    settings: Mutex<HashMap<HookName, HookSettings>>,
}

impl HookBoard {
    pub(crate) fn new(outbox: Arc<Outbox>) -> HookBoard {
        HookBoard { outbox, requests: ClientRequests::new('h'), settings: Mutex::default() }
    }

    /// From now on the program is asked before these, and no others.
    pub(crate) fn set(&self, hooks: impl IntoIterator<Item = HookName>, settings: HookSettings) {
        *self.settings() = hooks.into_iter().map(|hook| (hook, settings)).collect();
    }

    pub(crate) fn is_wanted(&self, hook: HookName) -> bool {
        self.settings().contains_key(&hook)
    }

    /// Asks if the program wants that, and waits. `None`: the run was ended meanwhile.
    pub(crate) fn ask(
        &self,
        hook: HookName,
        data: &Value,
        cancel: Option<&CancelToken>,
    ) -> Option<HookResult> {
        let settings = self.settings().get(&hook).copied();
        let Some(HookSettings { wait: most, default }) = settings else {
            return Some(HookResult { action: HookAction::Continue, summary: None });
        };
        let timeout_ms = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        let frame = |id: &str| RpcFrame::HookRequest { id, hook, data, timeout_ms, default }.to_line();
        let wait = RequestWait { most, cancel };
        match self.requests.ask(&self.outbox, &wait, &frame, None, &mut |()| ()) {
            Ok(result) => Some(result),
            Err(RequestEnd::Cancelled) => None,
            Err(RequestEnd::TimedOut | RequestEnd::Closed | RequestEnd::TooMany) => {
                Some(HookResult { action: default, summary: None })
            }
        }
    }

    /// # Errors
    /// If relay does not wait for this.
    pub(crate) fn answer(&self, id: &str, result: HookResult) -> Result<(), RpcError> {
        self.requests.answer(id, result)
    }

    /// The program is gone.
    pub(crate) fn close(&self) {
        self.requests.close();
    }

    fn settings(&self) -> MutexGuard<'_, HashMap<HookName, HookSettings>> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
