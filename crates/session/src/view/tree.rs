//! The entries of a session as a flat tree, parents before children, so that no depth is too deep.

use std::collections::HashMap;

use crate::EntryRow;

/// Parents before children, siblings oldest first. Entries whose parents are missing are roots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTree<'s> {
    pub nodes: Vec<SessionNode<'s>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionNode<'s> {
    pub row: &'s EntryRow,
    pub label: Option<&'s str>,
    /// How many ancestors it has.
    pub depth: usize,
    /// On the active path.
    pub on_path: bool,
    /// The conversation continues after it.
    pub is_leaf: bool,
    /// Index in [`SessionTree::nodes`].
    pub parent: Option<usize>,
    /// Indices in [`SessionTree::nodes`].
    pub children: Vec<usize>,
}

impl<'s> SessionTree<'s> {
    pub(crate) fn new(
        rows: &'s [EntryRow],
        labels: &'s HashMap<String, String>,
        leaf: Option<u32>,
    ) -> SessionTree<'s> {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); rows.len()];
        let mut roots = Vec::new();
        for (number, row) in (0..).zip(rows) {
            match row.parent.and_then(|parent| children.get_mut(parent as usize)) {
                Some(siblings) => siblings.push(number),
                None => roots.push(number),
            }
        }
        let age = |number: &u32| rows.get(*number as usize).map_or(0, |row| row.timestamp);
        children.iter_mut().for_each(|siblings| siblings.sort_by_key(age));
        roots.sort_by_key(age);

        let mut on_path = vec![false; rows.len()];
        let mut at = leaf;
        while let Some((number, row)) = at.and_then(|number| Some((number, rows.get(number as usize)?))) {
            on_path[number as usize] = true;
            at = row.parent;
        }

        let mut nodes: Vec<SessionNode<'s>> = Vec::with_capacity(rows.len());
        let mut waiting: Vec<(u32, Option<usize>, usize)> =
            roots.into_iter().rev().map(|root| (root, None, 0)).collect();
        while let Some((number, parent, depth)) = waiting.pop() {
            let place = nodes.len();
            if let Some(parent) = parent {
                nodes[parent].children.push(place);
            }
            let row = &rows[number as usize];
            nodes.push(SessionNode {
                row,
                label: labels.get(&*row.id).map(String::as_str),
                depth,
                on_path: on_path[number as usize],
                is_leaf: leaf == Some(number),
                parent,
                children: Vec::new(),
            });
            let following = &children[number as usize];
            waiting.extend(following.iter().rev().map(|child| (*child, Some(place), depth + 1)));
        }
        SessionTree { nodes }
    }

    pub fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().enumerate().filter(|(_, node)| node.parent.is_none()).map(|(place, _)| place)
    }
}
