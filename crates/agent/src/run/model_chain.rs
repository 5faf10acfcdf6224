//! The models of a run: the one that was chosen, and those that go on when it fails; and for each, which of its provider's
//! keys is used.
//!
//! Invariant: a session begins with the same key each time, so that the provider finds its cache again, and stays with one
//! until that is refused or used up. Which sessions begin with which key is even.

use std::time::{Duration, Instant};

use relaycode_llm::request::Auth;

use crate::settings::AgentModel;

/// How long a model or a key that failed is not asked, unless its provider says another time.
const COOLDOWN: Duration = Duration::from_secs(300);

pub(crate) struct ModelChain {
    models: Vec<AgentModel>,
    current: usize,
    /// The model that the user chose, while one with a larger window goes on for it.
    promoted_from: Option<String>,
    /// For each: when it may be asked again.
    blocked: Vec<Option<Instant>>,
    keys: Vec<KeyRotation>,
    /// Which key a session begins with.
    seed: usize,
}

/// The keys of a model's provider.
struct KeyRotation {
    keys: Vec<Auth>,
    current: usize,
    blocked: Vec<KeyState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyState {
    Free,
    /// It may be used again then.
    Blocked(Instant),
    /// The provider does not know it.
    Refused,
}

impl ModelChain {
    pub(crate) fn new(session_id: &str, first: AgentModel, fallbacks: Vec<AgentModel>) -> ModelChain {
        let mut models: Vec<AgentModel> = std::iter::once(first).chain(fallbacks).collect();
        let seed = seed_of(session_id);
        let keys = models.iter_mut().map(|model| KeyRotation::begin(model, seed)).collect();
        let blocked = vec![None; models.len()];
        ModelChain { models, current: 0, promoted_from: None, blocked, keys, seed }
    }

    pub(crate) fn current(&self) -> &AgentModel {
        &self.models[self.current]
    }

    /// Another model is chosen: it is the first from now on.
    pub(crate) fn set_first(&mut self, mut model: AgentModel) {
        self.keys[0] = KeyRotation::begin(&mut model, self.seed);
        (self.models[0], self.blocked[0], self.current) = (model, None, 0);
        self.promoted_from = None;
    }

    /// The model that the session goes on with.
    pub(crate) fn chosen_selector(&self) -> String {
        self.promoted_from.clone().unwrap_or_else(|| self.current().model.selector())
    }

    /// Another model stands in for the current one.
    pub(crate) fn promote(&mut self, mut model: AgentModel) {
        let from = self.chosen_selector();
        self.promoted_from = Some(from);
        self.keys[self.current] = KeyRotation::begin(&mut model, self.seed);
        (self.models[self.current], self.blocked[self.current]) = (model, None);
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

    /// How many keys the current model's provider has.
    pub(crate) fn key_count(&self) -> usize {
        self.keys[self.current].keys.len()
    }

    /// Whether another key could be used at once.
    pub(crate) fn has_other_key(&self) -> bool {
        self.keys[self.current].next_free(Instant::now()).is_some()
    }

    /// The current key failed: until the provider's time is over, or for good if there is none. The next one is used: which of
    /// how many.
    pub(crate) fn switch_key(&mut self, until: Option<Option<Duration>>) -> Option<(usize, usize)> {
        let now = Instant::now();
        let rotation = &mut self.keys[self.current];
        rotation.blocked[rotation.current] = match until {
            None => KeyState::Refused,
            Some(wait) => KeyState::Blocked(now + wait.unwrap_or(COOLDOWN)),
        };
        let next = rotation.next_free(now)?;
        rotation.current = next;
        self.models[self.current].auth = rotation.keys[next].clone();
        Some((next + 1, rotation.keys.len()))
    }
}

impl KeyRotation {
    /// Gives the model the key that the session begins with.
    fn begin(model: &mut AgentModel, seed: usize) -> KeyRotation {
        let keys: Vec<Auth> =
            std::iter::once(model.auth.clone()).chain(model.other_keys.iter().cloned()).collect();
        let current = seed % keys.len();
        model.auth = keys[current].clone();
        let blocked = vec![KeyState::Free; keys.len()];
        KeyRotation { keys, current, blocked }
    }

    /// Behind the current one, round and round.
    fn next_free(&self, now: Instant) -> Option<usize> {
        let count = self.keys.len();
        let is_free = |at: &usize| match self.blocked[*at] {
            KeyState::Free => true,
            KeyState::Blocked(until) => until <= now,
            KeyState::Refused => false,
        };
        (1..count).map(|step| (self.current + step) % count).find(is_free)
    }
}

/// FNV-1a, which stays the same in every version: the end of a session's id is random.
fn seed_of(session_id: &str) -> usize {
    let hash = session_id
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    usize::try_from(hash).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use relaycode_llm::Model;
    use relaycode_llm::request::ThinkingLevel;

    use super::*;

    fn model(keys: usize) -> AgentModel {
        let mut keys = (1..=keys).map(|key| Auth::Key(format!("sk-{key}")));
        let auth = keys.next().unwrap();
        AgentModel {
            model: Model::default(),
            auth,
            other_keys: keys.collect(),
            thinking: ThinkingLevel::Off,
            promotion: None,
        }
    }

    #[test]
    fn sessions_begin_with_every_key_alike_and_each_with_its_own() {
        let mut counts = [0; 4];
        for number in 0..4_000 {
            let id = format!("019a-session-{number:032x}");
            let chain = ModelChain::new(&id, model(4), Vec::new());
            assert_eq!(chain.current().auth, ModelChain::new(&id, model(4), Vec::new()).current().auth);
            let at = (1..=4).position(|key| chain.current().auth == Auth::Key(format!("sk-{key}"))).unwrap();
            counts[at] += 1;
        }
        assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
    }

    #[test]
    fn keys_go_round_until_none_is_free() {
        let mut chain = ModelChain::new("a", model(3), Vec::new());
        let first = chain.keys[0].current;
        assert!(chain.has_other_key());
        assert_eq!(chain.switch_key(Some(Some(Duration::from_secs(60)))), Some(((first + 1) % 3 + 1, 3)));
        assert_eq!(chain.switch_key(None), Some(((first + 2) % 3 + 1, 3)));
        assert!(!chain.has_other_key());
        assert_eq!(chain.switch_key(Some(None)), None);
        // Once its time is over the first one is there again, the one that was refused is not.
        chain.keys[0].blocked[first] = KeyState::Blocked(Instant::now());
        assert_eq!(chain.switch_key(None), Some((first + 1, 3)));
        assert_eq!(chain.switch_key(None), None);
        let mut alone = ModelChain::new("a", model(1), Vec::new());
        assert!(!alone.has_other_key() && alone.switch_key(None).is_none());
    }
}
