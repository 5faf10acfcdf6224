//! The script: its turns, and which request gets which.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use super::request::ServedBy;
use super::turn::ScriptedTurn;

/// Most turns of a script, repetitions included.
const MAX_TURNS: usize = 100_000;

/// What the server answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// One per request that takes one.
    pub turns: Vec<ScriptedTurn>,
    /// For a request that takes none: [`TurnSelection::Tools`].
    pub aux: ScriptedTurn,
    /// Which requests take a turn.
    pub consume: TurnSelection,
    /// The names in the lists of models.
    pub models: Vec<String>,
    /// Tokens that the model reads: a longer request is refused as that wire's providers do, and takes no turn.
    pub window: Option<u64>,
    /// Paths that do not exist, by their end: `/props` for a server that is not llama.cpp.
    pub absent: Vec<String>,
}

/// Which requests take the next turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TurnSelection {
    /// Those that offer tools; others (titles, probes) get [`Script::aux`]. A turn whose `expect` is not
    /// met is taken all the same, and marked as a miss.
    #[default]
    Tools,
    Any,
    /// Each takes the first remaining turn whose `expect` is in its body; a turn without `expect` fits all.
    Match,
}

/// A script in JSON that is more than a list of turns.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptObject {
    #[serde(default)]
    turns: Vec<ScriptedTurn>,
    aux: Option<ScriptedTurn>,
    consume: Option<TurnSelection>,
    models: Option<Vec<String>>,
    window: Option<u64>,
    #[serde(default)]
    absent: Vec<String>,
}

impl Default for Script {
    fn default() -> Script {
        Script {
            turns: Vec::new(),
            aux: ScriptedTurn::text("scripted-aux"),
            consume: TurnSelection::default(),
            models: vec!["scripted-model".to_owned()],
            window: None,
            absent: Vec::new(),
        }
    }
}

impl Script {
    /// For requests that offer tools.
    pub fn new(turns: impl IntoIterator<Item = ScriptedTurn>) -> Script {
        Script { turns: turns.into_iter().collect(), ..Script::default() }
    }

    /// One for every request.
    pub fn any(turns: impl IntoIterator<Item = ScriptedTurn>) -> Script {
        Script { consume: TurnSelection::Any, ..Script::new(turns) }
    }

    /// Each for the request that it expects.
    pub fn matching(turns: impl IntoIterator<Item = ScriptedTurn>) -> Script {
        Script { consume: TurnSelection::Match, ..Script::new(turns) }
    }

    /// Lists these models.
    #[must_use]
    pub fn models<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Script {
        self.models = names.into_iter().map(Into::into).collect();
        self
    }

    /// Reads no more than so many tokens.
    #[must_use]
    pub fn window(mut self, tokens: u64) -> Script {
        self.window = Some(tokens);
        self
    }

    /// Answers 404 for this path.
    #[must_use]
    pub fn without_path(mut self, path: &str) -> Script {
        self.absent.push(path.to_owned());
        self
    }

    /// A list of turns, or an object with `turns` and more.
    pub fn parse(json: &Value) -> Result<Script, String> {
        let mut script = Script::default();
        let wrong = |error| format!("the script is not understood: {error}");
        if json.is_array() {
            script.turns = Vec::<ScriptedTurn>::deserialize(json).map_err(wrong)?;
            return Ok(script);
        }
        let more = ScriptObject::deserialize(json).map_err(wrong)?;
        script.turns = more.turns;
        script.aux = more.aux.unwrap_or(script.aux);
        script.consume = more.consume.unwrap_or_default();
        script.models = more.models.unwrap_or(script.models);
        script.window = more.window;
        script.absent = more.absent;
        Ok(script)
    }
}

/// The remaining turns, and how many were taken.
#[derive(Debug)]
pub(super) struct TurnQueue {
    pub(super) consume: TurnSelection,
    aux: ScriptedTurn,
    left: VecDeque<(usize, ScriptedTurn)>,
    numbered: usize,
    pub(super) aux_requests: u64,
    pub(super) misses: u64,
}

impl TurnQueue {
    pub(super) fn new(script: &Script) -> TurnQueue {
        let mut queue = TurnQueue {
            consume: script.consume,
            aux: script.aux.clone(),
            left: VecDeque::new(),
            numbered: 0,
            aux_requests: 0,
            misses: 0,
        };
        script.turns.iter().for_each(|turn| queue.push(turn));
        queue
    }

    /// With its repetitions.
    pub(super) fn push(&mut self, turn: &ScriptedTurn) {
        for _ in 0..turn.repeat.unwrap_or(1) {
            if self.left.len() < MAX_TURNS {
                self.left.push_back((self.numbered, turn.clone()));
                self.numbered += 1;
            }
        }
    }

    pub(super) fn left(&self) -> usize {
        self.left.len()
    }

    pub(super) fn taken(&self) -> usize {
        self.numbered - self.left.len()
    }

    /// The turn for a request, and how it was chosen.
    pub(super) fn next(&mut self, has_tools: bool, body: &str) -> (ScriptedTurn, ServedBy) {
        let fits = |turn: &ScriptedTurn| turn.expect.as_ref().is_none_or(|part| body.contains(part.as_str()));
        let place = match self.consume {
            TurnSelection::Tools if !has_tools => {
                self.aux_requests += 1;
                return (self.aux.clone(), ServedBy::Aux);
            }
            TurnSelection::Tools | TurnSelection::Any => 0,
            TurnSelection::Match => self.left.iter().position(|(_, turn)| fits(turn)).unwrap_or(usize::MAX),
        };
        let Some((number, turn)) = self.left.remove(place) else {
            if self.consume == TurnSelection::Match {
                self.misses += 1;
            }
            return (ScriptedTurn::text("scripted-default"), ServedBy::Default);
        };
        let served = if fits(&turn) { ServedBy::Turn(number) } else { ServedBy::Miss(number) };
        if matches!(served, ServedBy::Miss(_)) {
            self.misses += 1;
        }
        (turn, served)
    }
}
