//! Rules that watch an answer while it comes: one that matches stops it, and the model is told the rule and answers again; or,
//! if it is not to be stopped, is told behind the answer or with the result of the call.
//!
//! Invariant: which rules trigger, and where, follows from the answer's text alone, not from the pieces in which it came. Time
//! is linear in the text, work and memory are bounded, and no rule keeps another from being matched.

mod argument_text;
mod pattern;
mod rule;
mod rule_text;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use relaycode_project::config::{RuleContextMode, RuleRepeatMode, TtsrConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use argument_text::ArgumentText;
use pattern::PatternScan;
pub use rule::StreamRule;
use rule::StreamSource;

use crate::prompt::rules::AgentRule;

/// Rules that are watched for: the user's come before the project's.
const MAX_RULES: usize = 50;
/// Bytes of one part of an answer that are looked at.
const MAX_PART_BYTES: usize = 4 << 20;
/// Rules that are matched at the same time, counted once for each part of the answer that has not ended.
const MAX_SCANS: usize = 1_000;
/// What people are told about rule files.
const MAX_REMARKS: usize = 20;

/// A rule, as people and programs are told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TriggeredRule {
    pub name: String,
    pub path: String,
}

/// The rules of a conversation, and when the model was told each.
#[derive(Debug, Default)]
pub struct StreamRules {
    rules: Vec<StreamRule>,
    settings: TtsrConfig,
    /// The project's root, with a slash at the end.
    root: String,
    /// By rule: after how many turns.
    told: HashMap<usize, u64>,
    turns: u64,
    /// Rules that took too much work.
    left_out: BTreeSet<usize>,
}

/// One answer that is watched.
#[derive(Default)]
pub(crate) struct AnswerWatch {
    parts: BTreeMap<usize, WatchedPart>,
    /// Rules that matched in prose without stopping it.
    after_answer: Vec<usize>,
    /// Rules that matched in calls, by the call's place in the answer.
    with_result: BTreeMap<usize, Vec<usize>>,
    too_costly: Vec<usize>,
}

/// Text, thinking, or the arguments of a call.
struct WatchedPart {
    kind: PartKind,
    /// Of a call.
    arguments: Option<ArgumentText>,
    scans: Vec<(usize, PatternScan)>,
    bytes: usize,
}

/// What a part of an answer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PartKind {
    Text,
    Thinking,
    /// With the tool's name.
    Tool(String),
}

/// Rules that stop an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleInterrupt {
    pub(crate) rules: Vec<usize>,
    /// The part of the answer, and how many of its bytes came before.
    pub(crate) part: usize,
    pub(crate) at: usize,
}

impl PartKind {
    fn source(&self) -> StreamSource<'_> {
        match self {
            PartKind::Text => StreamSource::Text,
            PartKind::Thinking => StreamSource::Thinking,
            PartKind::Tool(name) => StreamSource::Tool(name),
        }
    }
}

impl StreamRules {
    /// The rules among these that watch answers; what cannot be watched for is told. The first rule of a name counts.
    pub fn new(
        rules: &[AgentRule],
        settings: TtsrConfig,
        root: &Path,
        remarks: &mut Vec<String>,
    ) -> StreamRules {
        let mut watching: Vec<StreamRule> = Vec::new();
        let mut found = Vec::new();
        let with_condition = rules.iter().filter(|rule| !rule.conditions.is_empty() && settings.enabled);
        for (at, rule) in with_condition.enumerate() {
            // Broken ones count: to find that out is work, too.
            if at >= MAX_RULES {
                found.insert(
                    0,
                    format!(
                        "of the rules with a condition the first {MAX_RULES} are watched for; {} is not",
                        rule.path
                    ),
                );
                break;
            }
            if !watching.iter().any(|known| known.name == rule.name) {
                watching.extend(StreamRule::new(rule, &mut found));
            }
        }
        remarks.extend(found.into_iter().take(MAX_REMARKS));
        let root = format!("{}/", root.to_string_lossy().trim_end_matches('/'));
        StreamRules { rules: watching, settings, root, ..StreamRules::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    pub(crate) fn context_mode(&self) -> RuleContextMode {
        self.settings.context_mode
    }

    /// The model was told these, and no others, in the conversation as it is now.
    pub(crate) fn restore(&mut self, names: &[String]) {
        let is_told = |at: &usize| names.contains(&self.rules[*at].name);
        let told: Vec<usize> = (0..self.rules.len()).filter(is_told).collect();
        let turns = self.turns;
        self.told = told.into_iter().map(|at| (at, self.told.get(&at).copied().unwrap_or(turns))).collect();
    }

    pub(crate) fn end_turn(&mut self) {
        self.turns += 1;
    }

    /// The model has been told.
    pub(crate) fn mark_told(&mut self, rules: &[usize]) {
        self.told.extend(rules.iter().map(|rule| (*rule, self.turns)));
    }

    pub(crate) fn names(&self, rules: &[usize]) -> Vec<String> {
        rules.iter().map(|rule| self.rules[*rule].name.clone()).collect()
    }

    pub(crate) fn describe(&self, rules: &[usize]) -> Vec<TriggeredRule> {
        let describe = |rule: &usize| {
            let rule = &self.rules[*rule];
            TriggeredRule { name: rule.name.clone(), path: rule.path.clone() }
        };
        rules.iter().map(describe).collect()
    }

    /// What the model reads after an answer that was stopped, or behind one that was not.
    pub(crate) fn interrupt_text(&self, rules: &[usize]) -> String {
        rule_text::interrupt(rules.iter().map(|rule| &self.rules[*rule]))
    }

    /// What it reads in front of the result of a call.
    pub(crate) fn reminder_text(&self, rules: &[usize]) -> String {
        rule_text::reminder(rules.iter().map(|rule| &self.rules[*rule]))
    }

    /// What the model was told, which it is not told again: it stays when the conversation is summed up.
    pub(crate) fn kept_text(&self) -> Option<String> {
        let told: BTreeSet<usize> = self.told.keys().copied().collect();
        (!told.is_empty()).then(|| rule_text::kept(told.into_iter().map(|rule| &self.rules[rule])))
    }

    /// No longer watches for the rules that took too much work in this answer; returns them.
    pub(crate) fn leave_out_costly(&mut self, watch: &AnswerWatch) -> Vec<TriggeredRule> {
        let costly: BTreeSet<usize> = watch.too_costly.iter().copied().collect();
        self.left_out.extend(&costly);
        self.describe(&costly.into_iter().collect::<Vec<_>>())
    }

    /// A part begins.
    pub(crate) fn open(&self, watch: &mut AnswerWatch, part: usize, kind: PartKind) {
        let source = kind.source();
        let is_watching = |(at, rule): &(usize, &StreamRule)| {
            rule.watches(source) && self.may_tell(*at) && !self.left_out.contains(at)
        };
        let scans = self.rules.iter().enumerate().filter(is_watching);
        let mut scans: Vec<_> = scans.map(|(at, rule)| (at, rule.pattern.scan())).collect();
        let open: usize = watch.parts.values().map(|part| part.scans.len()).sum();
        if open + scans.len() > MAX_SCANS {
            scans = Vec::new();
        }
        let arguments = match kind {
            PartKind::Tool(_) => Some(ArgumentText::below(&self.root)),
            PartKind::Text | PartKind::Thinking => None,
        };
        watch.parts.insert(part, WatchedPart { kind, arguments, scans, bytes: 0 });
    }

    /// Reads more of a part. Says which rules stop the answer, and where.
    pub(crate) fn push(&self, watch: &mut AnswerWatch, part: usize, delta: &str) -> Option<RuleInterrupt> {
        for c in delta.chars() {
            let watched = watch.parts.get_mut(&part).filter(|part| part.is_read())?;
            let at = watched.bytes;
            if watched.read(&self.rules, c)
                && let Some(rules) = self.settle(watch, part)
            {
                return Some(RuleInterrupt { rules, part, at });
            }
        }
        None
    }

    /// A part is whole.
    pub(crate) fn finish(&self, watch: &mut AnswerWatch, part: usize) -> Option<RuleInterrupt> {
        let watched = watch.parts.get_mut(&part)?;
        if watched.is_read() {
            for (rule, scan) in &mut watched.scans {
                scan.finish(&self.rules[*rule].pattern);
            }
        }
        let at = watched.bytes;
        let rules = self.settle(watch, part);
        watch.parts.remove(&part);
        rules.map(|rules| RuleInterrupt { rules, part, at })
    }

    /// Takes the rules that have matched: those that stop the answer are returned, with all that wait for its end.
    fn settle(&self, watch: &mut AnswerWatch, part: usize) -> Option<Vec<usize>> {
        let AnswerWatch { parts, after_answer, with_result, too_costly } = watch;
        let watched = parts.get_mut(&part)?;
        let source = watched.kind.source();
        let paths = watched.arguments.as_ref().map_or(&[][..], ArgumentText::paths);
        let mut matched: Vec<usize> = Vec::new();
        watched.scans.retain(|(rule, scan)| match scan {
            PatternScan::Running { .. } => true,
            // A match waits until it is known that the call is about such a file.
            PatternScan::Matched if !self.rules[*rule].covers(source, paths) => true,
            PatternScan::Matched => {
                matched.push(*rule);
                false
            }
            PatternScan::Dead => false,
            PatternScan::TooCostly => {
                too_costly.push(*rule);
                false
            }
        });
        // Each rule goes with one call, or behind the answer.
        let is_waiting = |rule: &usize| {
            after_answer.contains(rule) || with_result.values().any(|rules: &Vec<usize>| rules.contains(rule))
        };
        let stops = |rule: &usize| {
            let mode = self.rules[*rule].interrupt_mode.unwrap_or(self.settings.interrupt_mode);
            source.is_stopped_by(mode)
        };
        if matched.iter().any(stops) {
            let mut rules = std::mem::take(after_answer);
            matched.retain(|rule| !rules.contains(rule));
            rules.extend(matched);
            return Some(rules);
        }
        matched.retain(|rule| !is_waiting(rule));
        match source {
            StreamSource::Tool(_) if matched.is_empty() => {}
            StreamSource::Tool(_) => with_result.entry(part).or_default().extend(matched),
            StreamSource::Text | StreamSource::Thinking => after_answer.extend(matched),
        }
        None
    }

    fn may_tell(&self, rule: usize) -> bool {
        match (self.told.get(&rule), self.settings.repeat_mode) {
            (None, _) => true,
            (Some(_), RuleRepeatMode::Once) => false,
            // Never twice in a turn, so that an answer is not stopped for ever.
            (Some(turn), RuleRepeatMode::AfterGap) => self.turns - turn >= self.settings.repeat_gap.max(1),
        }
    }
}

impl WatchedPart {
    fn is_read(&self) -> bool {
        self.bytes < MAX_PART_BYTES && !self.scans.is_empty()
    }

    /// Reads a character; whether it decided anything.
    fn read(&mut self, rules: &[StreamRule], c: char) -> bool {
        self.bytes += c.len_utf8();
        let (mut is_decided, mut read) = (false, Some(c));
        if let Some(arguments) = &mut self.arguments {
            let known = arguments.paths().len();
            read = arguments.push(c);
            is_decided = arguments.paths().len() > known;
        }
        let mut bytes = [0; 4];
        let read = read.map_or(&b""[..], |c| c.encode_utf8(&mut bytes).as_bytes());
        for byte in read.iter().copied() {
            for (rule, scan) in &mut self.scans {
                is_decided |= scan.push(&rules[*rule].pattern, byte);
            }
        }
        is_decided
    }
}

impl AnswerWatch {
    /// Rules that the model is told behind the answer.
    pub(crate) fn take_after_answer(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.after_answer)
    }

    /// Rules that it is told with the result of the call at this place.
    pub(crate) fn take_with_result(&mut self, part: usize) -> Vec<usize> {
        self.with_result.remove(&part).unwrap_or_default()
    }
}
