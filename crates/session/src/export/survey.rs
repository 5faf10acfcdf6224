//! The first reading: what is on the active path, what branches off, and the sums at the top.
//!
//! Kept are a few bytes per entry and a bounded outline. Parents that are missing, point forward or form a circle, and ids that
//! stand twice, cost nothing but a word about it: every entry has its place in the file.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use serde_json::Value;

use super::number::at;
use super::shown::{self, Class, Shown};
use super::{Conversation, ExportError, MAX_OUTLINE};
use crate::entry::{Body, Entry};

/// Characters of a line of the outline, of a label, and of a title that is taken from a message.
const LINE: usize = 90;

/// Models that are named at the top at most.
const MAX_MODELS: usize = 32;

/// No such entry.
const NONE: u32 = u32::MAX;

/// What the first reading found.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The entry that each one follows, by position.
    parents: Vec<u32>,
    active: Vec<bool>,
    labels: HashMap<u32, String>,
    /// What leads through the conversation.
    pub(super) outline: Vec<Line>,
    /// Lines that found no place in it.
    pub(super) outline_left_out: usize,
    /// Entries that follow something that is not in the file.
    pub(super) orphans: usize,
    /// Every model that answered, in order.
    pub(super) models: Vec<String>,
    pub(super) last_time: String,
    pub(super) first_prompt: String,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) cached: u64,
    pub(super) cost: f64,
    pub(super) messages: usize,
}

/// A line of the outline.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// The entry's position.
    pub(super) entry: usize,
    pub(super) class: Class,
    pub(super) text: String,
}

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// On the active path.
    Path,
    /// The first of a branch that was left behind, `entries` long, that follows the entry at `after`.
    Begins { after: Option<usize>, entries: usize },
    /// In the same branch as the one before it.
    Continues,
}

impl Survey {
    /// Reads every entry once.
    pub(super) fn of(conversation: &Conversation<'_>) -> Result<Survey, ExportError> {
        let mut survey = Survey::default();
        let mut places = Places::default();
        let mut labels = HashMap::new();
        conversation.entries.each(&mut |entry| {
            survey.take(entry, &mut places);
            if let Body::Label { target_id, label } = &entry.body {
                let label = label.as_deref().map(|label| clip(label, LINE)).filter(|label| !label.is_empty());
                labels.insert(places.hash(target_id), label);
            }
            Ok(())
        })?;
        for (child, parent) in std::mem::take(&mut places.forward) {
            match places.positions.get(&parent) {
                Some(position) => survey.parents[child as usize] = *position,
                None => survey.orphans += 1,
            }
        }
        survey.walk(conversation.leaf.and_then(|leaf| places.find(leaf)));
        for (target, label) in labels {
            if let (Some(position), Some(label)) = (places.positions.get(&target), label) {
                survey.labels.insert(*position, label);
            }
        }
        survey.name_labels();
        Ok(survey)
    }

    /// How many entries there are.
    pub(super) fn entries(&self) -> usize {
        self.parents.len()
    }

    /// Entries beside the active path.
    pub(super) fn beside(&self) -> usize {
        self.active.iter().filter(|active| !**active).count()
    }

    /// Whether the entry is on the active path.
    pub(super) fn is_active(&self, entry: usize) -> bool {
        self.active.get(entry).copied().unwrap_or(true)
    }

    /// The name that somebody gave the entry.
    pub(super) fn label(&self, entry: usize) -> Option<&str> {
        self.labels.get(&u32::try_from(entry).ok()?).map(String::as_str)
    }

    /// Where the entry stands.
    pub(super) fn place(&self, entry: usize) -> Place {
        if self.is_active(entry) {
            return Place::Path;
        }
        if self.goes_on(entry) {
            return Place::Continues;
        }
        let more = (entry + 1..self.entries()).take_while(|next| self.goes_on(*next)).count();
        let parent = self.parents[entry];
        Place::Begins { after: (parent != NONE).then_some(parent as usize), entries: 1 + more }
    }

    /// Whether the entry is beside the path and follows the one before it in the file.
    fn goes_on(&self, entry: usize) -> bool {
        let Some(before) = entry.checked_sub(1) else { return false };
        !self.is_active(entry) && !self.is_active(before) && self.parents[entry] as usize == before
    }

    fn take(&mut self, entry: &Entry, places: &mut Places) {
        let position = u32::try_from(self.parents.len()).unwrap_or(NONE);
        let parent = match &entry.parent_id {
            None => NONE,
            Some(parent) => places.find(parent).unwrap_or_else(|| {
                let parent = places.hash(parent);
                places.forward.push((position, parent));
                NONE
            }),
        };
        self.parents.push(parent);
        let hash = places.hash(&entry.id);
        places.positions.insert(hash, position);
        if !entry.timestamp.is_empty() {
            self.last_time.clone_from(&entry.timestamp);
        }
        let shown = Shown::of(entry);
        if matches!(shown.class, Class::User | Class::Assistant | Class::Tool | Class::Other) {
            self.messages += 1;
        }
        if matches!(shown.class, Class::User | Class::Summary) {
            self.lead(position as usize, &shown);
        }
        if let Body::Message { message } = &entry.body
            && shown.class == Class::Assistant
        {
            self.add_up(message);
        }
    }

    fn lead(&mut self, entry: usize, shown: &Shown<'_>) {
        let words = clip(shown.first_words(), LINE);
        if shown.class == Class::User && self.first_prompt.is_empty() {
            self.first_prompt.clone_from(&words);
        }
        if self.outline.len() == MAX_OUTLINE {
            self.outline_left_out += 1;
            return;
        }
        let text =
            if shown.class == Class::Summary || words.is_empty() { clip(&shown.title, LINE) } else { words };
        self.outline.push(Line { entry, class: shown.class, text });
    }

    fn add_up(&mut self, message: &Value) {
        let model = clip(&shown::model(message), LINE);
        if self.models.len() < MAX_MODELS && !self.models.contains(&model) {
            self.models.push(model);
        }
        let Some(usage) = message.get("usage") else { return };
        self.read = self.read.saturating_add(at(usage, "input")).saturating_add(at(usage, "cacheWrite"));
        self.cached = self.cached.saturating_add(at(usage, "cacheRead"));
        self.written = self.written.saturating_add(at(usage, "output"));
        self.cost += usage.pointer("/cost/total").and_then(Value::as_f64).unwrap_or(0.0);
    }

    /// Marks the path from the leaf to its root; without a leaf, from the last entry.
    fn walk(&mut self, leaf: Option<u32>) {
        self.active = vec![false; self.parents.len()];
        let mut at = leaf.or_else(|| u32::try_from(self.parents.len()).ok()?.checked_sub(1)).unwrap_or(NONE);
        while let Some(active) = self.active.get_mut(at as usize) {
            // A circle ends where it began.
            if std::mem::replace(active, true) {
                return;
            }
            at = self.parents[at as usize];
        }
    }

    /// Entries with a name are in the outline too.
    fn name_labels(&mut self) {
        let there: std::collections::HashSet<usize> = self.outline.iter().map(|line| line.entry).collect();
        for entry in self.labels.keys().map(|entry| *entry as usize).filter(|entry| !there.contains(entry)) {
            self.outline.push(Line { entry, class: Class::Other, text: String::new() });
        }
        self.outline.sort_by_key(|line| line.entry);
        self.outline_left_out += self.outline.len().saturating_sub(MAX_OUTLINE);
        self.outline.truncate(MAX_OUTLINE);
    }
}

/// Where each id stands, by its hash: ids may be long, and there may be millions.
#[derive(Default)]
struct Places {
    hasher: RandomState,
    positions: HashMap<u64, u32>,
    /// Entries whose parent had not come yet.
    forward: Vec<(u32, u64)>,
}

impl Places {
    fn hash(&self, id: &str) -> u64 {
        self.hasher.hash_one(id)
    }

    fn find(&self, id: &str) -> Option<u32> {
        self.positions.get(&self.hash(id)).copied()
    }
}

/// The first line of a text, not longer than `most` characters.
pub(super) fn clip(text: &str, most: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Header;

    fn entry(id: &str, parent: &str) -> Entry {
        let line = format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"user","content":"{id}"}}}}"#
        );
        Entry::read(line.as_bytes()).unwrap()
    }

    fn survey(pairs: &[(&str, &str)], leaf: Option<&str>) -> Survey {
        let entries: Vec<Entry> = pairs.iter().map(|(id, parent)| entry(id, parent)).collect();
        let header: Header = serde_json::from_str(r#"{"type":"session","id":"s"}"#).unwrap();
        Survey::of(&Conversation { header: &header, entries: &entries, leaf, odd: &[] }).unwrap()
    }

    #[test]
    fn branches_stand_where_they_were_left() {
        let found = survey(&[("a", ""), ("b", "a"), ("c", "b"), ("d", "a"), ("e", "a"), ("f", "e")], None);
        let places: Vec<Place> = (0..6).map(|at| found.place(at)).collect();
        let begins = |entries| Place::Begins { after: Some(0), entries };
        assert_eq!(places, [Place::Path, begins(2), Place::Continues, begins(1), Place::Path, Place::Path]);
        assert_eq!((found.beside(), found.orphans), (3, 1));
        assert_eq!(found.first_prompt, "a");
    }

    #[test]
    fn the_leaf_decides_which_path_is_active() {
        let found = survey(&[("a", ""), ("b", "a"), ("c", "a")], Some("b"));
        assert!(found.is_active(1) && !found.is_active(2));
    }

    #[test]
    fn circles_forward_parents_and_twins_end() {
        let found = survey(&[("a", "c"), ("b", "a"), ("c", "b"), ("c", "c"), ("x", "x")], Some("c"));
        assert_eq!(found.entries(), 5);
        assert!(found.is_active(3));
    }
}
