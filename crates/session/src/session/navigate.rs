//! Moving in the tree. A move changes where the next entry goes, never the entries.

use std::collections::HashSet;

use serde_json::Value;

use super::ReadWindow;
use crate::view::context::content_text;
use crate::{ContextChange, EntryBody, EntryType, Session, SessionEntry, SessionError};

/// Where choosing an entry in the tree leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeNavigation {
    /// False if the conversation is there already.
    pub moved: bool,
    /// `None` for the very beginning.
    pub leaf: Option<String>,
    /// The text of the chosen prompt, to be edited and sent again.
    pub prefill: Option<String>,
}

impl Session {
    /// Makes `id` the parent of the next entry.
    pub fn move_to(&mut self, id: &str) -> Result<(), SessionError> {
        self.leaf = Some(self.row_number(id)?);
        Ok(())
    }

    /// Makes the next entry a new root.
    pub fn move_to_start(&mut self) {
        self.leaf = None;
    }

    /// Moves to `from` (`None`: the beginning) and records there what was left behind. Returns the new
    /// entry's id.
    ///
    /// # Errors
    /// If there is no such entry; else as for [`Session::append`]. Without a new entry, nothing is moved.
    pub fn branch_with_summary(
        &mut self,
        from: Option<&str>,
        summary: &str,
        details: Option<Value>,
        from_extension: Option<bool>,
    ) -> Result<String, SessionError> {
        self.check_writable()?;
        let before = self.leaf;
        self.leaf = from.map(|id| self.row_number(id)).transpose()?;
        let appended = self.append(EntryBody::BranchSummary {
            from_id: from.unwrap_or("root").to_string(),
            summary: summary.to_string(),
            details,
            from_extension,
        });
        if appended.as_ref().is_err_and(|error| !error.is_entry_kept()) {
            self.leaf = before;
        }
        appended
    }

    /// Where choosing `target` in the tree leads: a prompt is to be sent again (its parent becomes the
    /// leaf); after anything else the conversation continues.
    ///
    /// # Errors
    /// If there is no such entry, or it cannot be read.
    pub fn destination(&self, target: &str) -> Result<TreeNavigation, SessionError> {
        let number = self.row_number(target)?;
        if self.leaf == Some(number) {
            return Ok(TreeNavigation { moved: false, leaf: Some(target.to_string()), prefill: None });
        }
        let entry = self.read_entry(number, &mut ReadWindow::for_one_line())?;
        let said = match &entry.body {
            EntryBody::Message { message } if message.get("role").and_then(Value::as_str) == Some("user") => {
                Some(message.get("content").map(content_text).unwrap_or_default())
            }
            EntryBody::CustomMessage { content, .. } => Some(content_text(content)),
            _ => None,
        };
        let leaf = if said.is_some() { entry.parent_id } else { Some(entry.id) };
        Ok(TreeNavigation { moved: true, leaf, prefill: said })
    }

    /// Moves to the [`Session::destination`] of `target`.
    pub fn navigate(&mut self, target: &str) -> Result<TreeNavigation, SessionError> {
        let there = self.destination(target)?;
        if there.moved {
            self.leaf = there.leaf.as_deref().map(|id| self.row_number(id)).transpose()?;
        }
        Ok(there)
    }

    /// The latest compaction, or cut of outputs, on the way to the leaf that was not undone, and whether one was undone after it.
    ///
    /// # Errors
    /// If an entry cannot be read.
    pub fn latest_context_change(&self) -> Result<(Option<String>, bool), SessionError> {
        let (mut undone, mut window) = (HashSet::new(), ReadWindow::default());
        for number in self.table.path(self.leaf).into_iter().rev() {
            let Some(row) = self.table.row(number) else { continue };
            let counts = match row.kind {
                EntryType::Compaction => true,
                EntryType::Custom => match ContextChange::from_body(&self.read_row(row, &mut window)?.body) {
                    Some(ContextChange::Undone(id)) => {
                        undone.insert(id);
                        false
                    }
                    Some(ContextChange::CutOutputs(_)) => true,
                    None => false,
                },
                _ => false,
            };
            if counts && !undone.contains(&*row.id) {
                return Ok((Some(row.id.to_string()), !undone.is_empty()));
            }
        }
        Ok((None, !undone.is_empty()))
    }

    /// What moving to `target` leaves behind: the entries from the fork to the leaf, for a summary.
    ///
    /// # Errors
    /// If there is no such entry, or one cannot be read.
    pub fn abandoned_entries(&self, target: &str) -> Result<Vec<SessionEntry>, SessionError> {
        let target = self.table.path(Some(self.row_number(target)?));
        let here = self.table.path(self.leaf);
        let shared = here.iter().zip(&target).take_while(|(here, there)| here == there).count();
        let mut window = ReadWindow::default();
        let rows = here[shared..].iter().filter_map(|number| self.table.row(*number));
        rows.map(|row| self.read_row(row, &mut window)).collect()
    }
}
