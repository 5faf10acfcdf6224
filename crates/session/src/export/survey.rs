//! The first pass: what is on the active path, what branches off, and the totals at the top.
//!
//! Kept are a few bytes per entry and a bounded outline. Parents that are missing, point forward or form a
//! cycle, and duplicate ids only cause a remark: every entry has its place in the file.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use serde_json::Value;

use super::entry_view::{EntryClass, EntryView};
use super::human_format::number_at;
use super::{ExportError, ExportSource, MAX_OUTLINE, entry_view};
use crate::{EntryBody, SessionEntry};

/// Most characters of a line of the outline, of a label, and of a title taken from a message.
const LINE: usize = 90;

/// Most models named at the top.
const MAX_MODELS: usize = 32;

/// No such entry.
const NONE: u32 = u32::MAX;

/// What the first pass found.
#[derive(Debug, Default)]
pub(super) struct ExportSurvey {
    /// The parent of each entry, by position.
    parents: Vec<u32>,
    active: Vec<bool>,
    labels: HashMap<u32, String>,
    /// For finding one's way through the conversation.
    pub(super) outline: Vec<SurveyLine>,
    /// Lines for which there was no room.
    pub(super) skipped_outline_lines: usize,
    /// Entries whose parent is not in the file.
    pub(super) orphans: usize,
    /// Every model that answered, in order.
    pub(super) models: Vec<String>,
    pub(super) last_time: String,
    pub(super) first_prompt: String,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cached_tokens: u64,
    pub(super) cost: f64,
    pub(super) messages: usize,
}

#[derive(Debug, Clone)]
pub(super) struct SurveyLine {
    pub(super) entry: usize,
    pub(super) class: EntryClass,
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryPosition {
    ActivePath,
    /// The first entry of an abandoned branch of this length, which follows the entry at `after`.
    BranchStart {
        after: Option<usize>,
        entries: usize,
    },
    /// In the same branch as the one before it.
    BranchContinues,
}

impl ExportSurvey {
    /// Reads every entry once.
    pub(super) fn read_source(conversation: &ExportSource<'_>) -> Result<ExportSurvey, ExportError> {
        let mut survey = ExportSurvey::default();
        let mut places = IdPositions::default();
        let mut labels = HashMap::new();
        conversation.entries.for_each_entry(&mut |entry| {
            survey.add_entry(entry, &mut places);
            if let EntryBody::Label { target_id, label } = &entry.body {
                let label = label.as_deref().map(|label| clip_line(label, LINE));
                let label = label.filter(|label| !label.is_empty());
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
        survey.mark_active_path(conversation.leaf.and_then(|leaf| places.find(leaf)));
        for (target, label) in labels {
            if let (Some(position), Some(label)) = (places.positions.get(&target), label) {
                survey.labels.insert(*position, label);
            }
        }
        survey.add_labelled_lines();
        Ok(survey)
    }

    pub(super) fn entries(&self) -> usize {
        self.parents.len()
    }

    /// Entries beside the active path.
    pub(super) fn off_path_count(&self) -> usize {
        self.active.iter().filter(|active| !**active).count()
    }

    pub(super) fn is_active(&self, entry: usize) -> bool {
        self.active.get(entry).copied().unwrap_or(true)
    }

    /// The name that somebody gave the entry.
    pub(super) fn label(&self, entry: usize) -> Option<&str> {
        self.labels.get(&u32::try_from(entry).ok()?).map(String::as_str)
    }

    pub(super) fn position(&self, entry: usize) -> EntryPosition {
        if self.is_active(entry) {
            return EntryPosition::ActivePath;
        }
        if self.continues_branch(entry) {
            return EntryPosition::BranchContinues;
        }
        let more = (entry + 1..self.entries()).take_while(|next| self.continues_branch(*next)).count();
        let parent = self.parents[entry];
        EntryPosition::BranchStart { after: (parent != NONE).then_some(parent as usize), entries: 1 + more }
    }

    /// Whether the entry is off the path and follows the one before it in the file.
    fn continues_branch(&self, entry: usize) -> bool {
        let Some(before) = entry.checked_sub(1) else { return false };
        !self.is_active(entry) && !self.is_active(before) && self.parents[entry] as usize == before
    }

    fn add_entry(&mut self, entry: &SessionEntry, places: &mut IdPositions) {
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
        let shown = EntryView::from_entry(entry);
        self.messages += usize::from(!matches!(shown.class, EntryClass::Summary | EntryClass::Note));
        if matches!(shown.class, EntryClass::User | EntryClass::Summary) {
            self.add_outline_line(position as usize, &shown);
        }
        if let EntryBody::Message { message } = &entry.body
            && shown.class == EntryClass::Assistant
        {
            self.add_usage(message);
        }
    }

    fn add_outline_line(&mut self, entry: usize, shown: &EntryView<'_>) {
        let words = clip_line(shown.first_words(), LINE);
        if shown.class == EntryClass::User && self.first_prompt.is_empty() {
            self.first_prompt.clone_from(&words);
        }
        if self.outline.len() == MAX_OUTLINE {
            self.skipped_outline_lines += 1;
            return;
        }
        let titled = shown.class == EntryClass::Summary || words.is_empty();
        let text = if titled { clip_line(&shown.title, LINE) } else { words };
        self.outline.push(SurveyLine { entry, class: shown.class, text });
    }

    fn add_usage(&mut self, message: &Value) {
        let model = clip_line(&entry_view::model_name(message), LINE);
        if self.models.len() < MAX_MODELS && !self.models.contains(&model) {
            self.models.push(model);
        }
        let Some(usage) = message.get("usage") else { return };
        let add = |sum: &mut u64, key: &str| *sum = sum.saturating_add(number_at(usage, key));
        add(&mut self.input_tokens, "input");
        add(&mut self.input_tokens, "cacheWrite");
        add(&mut self.cached_tokens, "cacheRead");
        add(&mut self.output_tokens, "output");
        self.cost += usage.pointer("/cost/total").and_then(Value::as_f64).unwrap_or(0.0);
    }

    /// Marks the path from the leaf to its root; without a leaf, from the last entry.
    fn mark_active_path(&mut self, leaf: Option<u32>) {
        self.active = vec![false; self.parents.len()];
        let mut at = leaf.or_else(|| u32::try_from(self.parents.len()).ok()?.checked_sub(1)).unwrap_or(NONE);
        while let Some(active) = self.active.get_mut(at as usize) {
            // A cycle ends where it began.
            if std::mem::replace(active, true) {
                return;
            }
            at = self.parents[at as usize];
        }
    }

    /// Labelled entries are in the outline too.
    fn add_labelled_lines(&mut self) {
        let there: HashSet<usize> = self.outline.iter().map(|line| line.entry).collect();
        let labelled = self.labels.keys().map(|entry| *entry as usize).filter(|entry| !there.contains(entry));
        let line = |entry| SurveyLine { entry, class: EntryClass::Other, text: String::new() };
        self.outline.extend(labelled.map(line));
        self.outline.sort_by_key(|line| line.entry);
        self.skipped_outline_lines += self.outline.len().saturating_sub(MAX_OUTLINE);
        self.outline.truncate(MAX_OUTLINE);
    }
}

/// The position of each id, by its hash: ids may be long, and there may be millions.
#[derive(Default)]
struct IdPositions {
    hasher: RandomState,
    positions: HashMap<u64, u32>,
    /// Entries whose parent had not come yet.
    forward: Vec<(u32, u64)>,
}

impl IdPositions {
    fn hash(&self, id: &str) -> u64 {
        self.hasher.hash_one(id)
    }

    fn find(&self, id: &str) -> Option<u32> {
        self.positions.get(&self.hash(id)).copied()
    }
}

/// Where another branch comes from, in words.
pub(super) fn branch_origin(after: Option<usize>) -> String {
    after.map_or_else(|| "a beginning of its own".to_owned(), |after| format!("after {}", after + 1))
}

/// The first line of a text, at most `most` characters.
pub(super) fn clip_line(text: &str, most: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::header::SessionHeader;

    fn entry(id: &str, parent: &str) -> SessionEntry {
        let line = format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"user","content":"{id}"}}}}"#
        );
        SessionEntry::from_line(line.as_bytes()).unwrap()
    }

    fn survey(pairs: &[(&str, &str)], leaf: Option<&str>) -> ExportSurvey {
        let entries: Vec<SessionEntry> = pairs.iter().map(|(id, parent)| entry(id, parent)).collect();
        let header: SessionHeader = serde_json::from_str(r#"{"type":"session","id":"s"}"#).unwrap();
        ExportSurvey::read_source(&ExportSource {
            header: &header,
            entries: &entries,
            leaf,
            load_issues: &[],
        })
        .unwrap()
    }

    #[test]
    fn branches_stand_where_they_were_left() {
        let found = survey(&[("a", ""), ("b", "a"), ("c", "b"), ("d", "a"), ("e", "a"), ("f", "e")], None);
        let places: Vec<EntryPosition> = (0..6).map(|at| found.position(at)).collect();
        let begins = |entries| EntryPosition::BranchStart { after: Some(0), entries };
        assert_eq!(
            places,
            [
                EntryPosition::ActivePath,
                begins(2),
                EntryPosition::BranchContinues,
                begins(1),
                EntryPosition::ActivePath,
                EntryPosition::ActivePath
            ]
        );
        assert_eq!((found.off_path_count(), found.orphans), (3, 1));
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
