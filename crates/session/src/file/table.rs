//! The rows of a session, and the lookup from an id to its row.
//!
//! Invariant: ids are unique, and no chain of parents is a cycle.

use std::collections::HashMap;

use crate::EntryRow;

/// In the order of the file.
#[derive(Debug, Default)]
pub(crate) struct EntryTable {
    rows: Vec<EntryRow>,
    by_id: HashMap<Box<str>, u32>,
}

impl EntryTable {
    pub(crate) fn rows(&self) -> &[EntryRow] {
        &self.rows
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn row(&self, number: u32) -> Option<&EntryRow> {
        self.rows.get(number as usize)
    }

    pub(crate) fn find(&self, id: &str) -> Option<u32> {
        self.by_id.get(id).copied()
    }

    pub(crate) fn last(&self) -> Option<u32> {
        u32::try_from(self.rows.len()).ok()?.checked_sub(1)
    }

    pub(crate) fn push(&mut self, row: EntryRow) -> u32 {
        let number = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.by_id.insert(row.id.clone(), number);
        self.rows.push(row);
        number
    }

    pub(crate) fn set_parent(&mut self, number: u32, parent: Option<u32>) {
        if let Some(row) = self.rows.get_mut(number as usize) {
            row.parent = parent;
        }
    }

    pub(crate) fn parent_id(&self, row: &EntryRow) -> Option<&str> {
        row.parent.and_then(|parent| self.row(parent)).map(|parent| &*parent.id)
    }

    /// After the header changed its length.
    pub(crate) fn shift_offsets(&mut self, by: i64) {
        for row in &mut self.rows {
            row.offset = row.offset.saturating_add_signed(by);
        }
    }

    /// The rows from the root to `leaf`.
    pub(crate) fn path(&self, leaf: Option<u32>) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = leaf;
        while let Some(number) = at {
            path.push(number);
            at = self.row(number).and_then(|row| row.parent);
        }
        path.reverse();
        path
    }

    /// Cuts every cycle of parents; reports where.
    pub(crate) fn cut_cycles(&mut self, cut: &mut dyn FnMut(&EntryRow)) {
        // Walks go up until they meet a row of an earlier walk (fine) or of this one (a cycle).
        let mut walked = vec![0_u32; self.rows.len()];
        for start in 0..self.rows.len() {
            let stamp = u32::try_from(start + 1).unwrap_or(u32::MAX);
            let mut at = start;
            while walked[at] == 0 {
                walked[at] = stamp;
                let Some(parent) = self.rows[at].parent.map(|parent| parent as usize) else { break };
                if parent >= self.rows.len() || walked[parent] == stamp {
                    self.rows[at].parent = None;
                    cut(&self.rows[at]);
                    break;
                }
                at = parent;
            }
        }
    }
}
