//! The models of a run: the one that was chosen, and those that go on when it fails.

use std::time::{Duration, Instant};

use crate::settings::AgentModel;

/// How long a model that failed is not asked, unless its provider says another time.
const COOLDOWN: Duration = Duration::from_secs(300);

pub(crate) struct ModelChain {
    models: Vec<AgentModel>,
    current: usize,
    /// For each: when it may be asked again.
    blocked: Vec<Option<Instant>>,
}

impl ModelChain {
    pub(crate) fn new(first: AgentModel, fallbacks: Vec<AgentModel>) -> ModelChain {
        let models: Vec<AgentModel> = std::iter::once(first).chain(fallbacks).collect();
        let blocked = vec![None; models.len()];
        ModelChain { models, current: 0, blocked }
    }

    pub(crate) fn current(&self) -> &AgentModel {
        &self.models[self.current]
    }

    /// Another model is chosen: it is the first from now on.
    pub(crate) fn set_first(&mut self, model: AgentModel) {
        (self.models[0], self.blocked[0], self.current) = (model, None, 0);
    }

    /// The current one failed: the next that can be asked becomes the current one.
    pub(crate) fn switch(&mut self, wait: Option<Duration>) -> bool {
        let now = Instant::now();
        self.blocked[self.current] = Some(now + wait.unwrap_or(COOLDOWN));
        let is_free = |at: &usize| *at != self.current && self.blocked[*at].is_none_or(|until| until <= now);
        match (0..self.models.len()).find(is_free) {
            Some(next) => {
                self.current = next;
                true
            }
            None => false,
        }
    }

    /// Goes back to the first model once it may be asked again; whether that is another one.
    pub(crate) fn revert(&mut self) -> bool {
        let is_due = self.current != 0 && self.blocked[0].is_none_or(|until| until <= Instant::now());
        if is_due {
            self.current = 0;
        }
        is_due
    }
}
