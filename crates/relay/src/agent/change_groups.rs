//! The changes of each prompt as one group of the log; and what became of those of earlier prompts, which the model has
//! to know.

use std::collections::{BTreeMap, HashSet};

use relaycode_ledger::{Ledger, LogTransaction, TxId};
use relaycode_session::{EntryBody, EntryRow, EntryType, Session};
use relaycode_text::width::clip_for_message;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::CommandResult;

/// The kind of an entry that names a prompt's group.
pub(crate) const GROUP_ENTRY: &str = "change-group";
/// The kind of what the model is told.
pub(crate) const UNDONE_NOTE: &str = "changes-undone";
/// Entries of the log that are looked at together.
const PAGE: usize = 500;
/// Cells of a title.
const MAX_TITLE_CELLS: usize = 80;

/// A prompt's changes, and what the model knows of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangeGroup {
    pub(crate) group: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) undone: GroupState,
}

/// How much of a group was taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum GroupState {
    #[default]
    None,
    Partly,
    All,
}

impl ChangeGroup {
    /// For a prompt that begins now.
    pub(crate) fn new(prompt: &str) -> ChangeGroup {
        let mut name = uuid_text();
        name.truncate(12);
        let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(no words)");
        ChangeGroup {
            group: format!("prompt-{name}"),
            title: clip_for_message(line, MAX_TITLE_CELLS),
            undone: GroupState::None,
        }
    }

    pub(crate) fn to_entry(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// What the model is told.
    pub(crate) fn note(&self) -> String {
        let what = match self.undone {
            GroupState::None => "brought back the changes",
            GroupState::Partly => "took back a part of the changes",
            GroupState::All => "took back all changes",
        };
        format!(
            "(relay: meanwhile the user {what} that you made for the prompt \"{}\". Look at files again before you rely on \
             what you remember of them.)",
            self.title
        )
    }
}

/// Groups of this session that are in another state than the model knows, with the state of now.
pub(crate) fn find_changed_groups(session: &Session, ledger: &Ledger) -> CommandResult<Vec<ChangeGroup>> {
    let known = known_groups(session);
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let states = group_states(ledger, &known)?;
    let changed = known.into_values().filter_map(|group| {
        let now = *states.get(&group.group)?;
        (now != group.undone).then_some(ChangeGroup { undone: now, ..group })
    });
    Ok(changed.collect())
}

/// The names of the groups that this session's prompts have.
pub(crate) fn session_groups(session: &Session) -> Vec<String> {
    known_groups(session).into_keys().collect()
}

/// By their names, as the model knows them.
fn known_groups(session: &Session) -> BTreeMap<String, ChangeGroup> {
    let mut known: BTreeMap<String, ChangeGroup> = BTreeMap::new();
    let path: HashSet<&str> = session.path(None).into_iter().collect();
    // Only those: a long session is not read for them.
    let is_custom = |row: &&EntryRow| row.kind == EntryType::Custom && path.contains(&*row.id);
    for entry in session.rows().iter().filter(is_custom).filter_map(|row| session.entry(&row.id).ok()) {
        let EntryBody::Custom { custom_type, data: Some(data) } = entry.body else { continue };
        if custom_type == GROUP_ENTRY
            && let Ok(group) = serde_json::from_value::<ChangeGroup>(data)
        {
            known.insert(group.group.clone(), group);
        }
    }
    known
}

fn group_states(
    ledger: &Ledger,
    known: &BTreeMap<String, ChangeGroup>,
) -> CommandResult<BTreeMap<String, GroupState>> {
    let mut states = BTreeMap::new();
    for skip in (0..).step_by(PAGE) {
        let page = ledger.log_page(skip, PAGE)?;
        for entry in &page.entries {
            let Some(group) = entry.group.as_ref().filter(|group| known.contains_key(*group)) else {
                continue;
            };
            // What the model took back itself when it went back to a mark is no news to it.
            let within: HashSet<TxId> =
                entry.members.iter().flat_map(|member| member.revert_of.iter().copied()).collect();
            let is_own = |member: &&LogTransaction| {
                member.revert_of.is_empty() && !member.id.is_some_and(|id| within.contains(&id))
            };
            let members: Vec<&LogTransaction> = entry.members.iter().filter(is_own).collect();
            if members.is_empty() {
                continue;
            }
            let undone = members.iter().filter(|member| member.undone).count();
            let partly = members.iter().any(|member| member.partly_undone);
            let state = match undone {
                0 if !partly => GroupState::None,
                count if count == members.len() => GroupState::All,
                _ => GroupState::Partly,
            };
            states.insert(group.clone(), state);
        }
        if page.entries.len() < PAGE || states.len() == known.len() {
            return Ok(states);
        }
    }
    Ok(states)
}

/// Random digits.
fn uuid_text() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    format!("{:016x}", RandomState::new().build_hasher().finish())
}
