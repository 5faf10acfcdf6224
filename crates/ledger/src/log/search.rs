//! Searching the log: the entries of which a transaction fits, newest first.
//!
//! The index is walked twice: once to know which entries fit, once for the lines of the page. What the
//! index does not know of a transaction with many files is asked of its record.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use super::{Entries, Member, Page, TakenBack, when};
use crate::error::LedgerError;
use crate::index::{Index, Line, Name, Trouble};
use crate::ledger::Ledger;
use crate::record::shelf::{Loaded, Place};

/// What a transaction must be to be found. The empty filter finds everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// It began then or later: ISO 8601, without an offset in UTC. One that is no time is compared as
    /// text.
    pub since: Option<String>,
    /// It is about this file, or a file in this directory: by its name before or after, and by the names
    /// that it had before it was renamed.
    pub file: Option<String>,
    /// It came from there.
    pub origin: Option<String>,
    /// It was taken back, or was not.
    pub undone: Option<bool>,
}

impl Filter {
    /// Whether it finds everything.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }
}

impl Ledger {
    /// A page of what a filter finds, newest first. A group is found as a whole if one of its
    /// transactions is. `total` is how many entries are found.
    ///
    /// # Errors
    /// The system's. A record that cannot be read is found only where the filter asks for nothing that
    /// it would have to say.
    pub fn search(&self, filter: &Filter, skip: usize, count: usize) -> Result<Page, LedgerError> {
        if filter.is_empty() {
            return self.page(skip, count);
        }
        self.with_index(|index| {
            let found = found(index, filter)?;
            let page: Vec<&Found> = found.iter().skip(skip).take(count).collect();
            let (entries, lines) = lines_of(index, &page)?;
            let entries = self.shown_entries(index, entries, &lines, &|at| page[at].place)?;
            Ok(Page { entries, total: found.len() })
        })
    }
}

/// An entry that fits.
struct Found {
    group: Option<String>,
    /// Its lines, newest first.
    lines: Vec<u64>,
    /// Its place in the whole log.
    place: usize,
    fits: bool,
}

fn found(index: &Index<'_>, filter: &Filter) -> Result<Vec<Found>, Trouble> {
    let mut found: Vec<Found> = Vec::new();
    let mut groups = HashMap::new();
    let mut taken_back = TakenBack::default();
    let mut names = filter.file.as_deref().map(Names::new);
    index.newest_first(&mut |line| {
        let undone = taken_back.see(&line);
        if line.pending {
            return ControlFlow::Continue(());
        }
        // Also if the rest does not fit: older names of the file are learnt from it.
        let about_it = names.as_mut().is_none_or(|names| names.see(index, &line));
        let fits = about_it
            && filter.since.as_deref().is_none_or(|since| when::not_before(&line.created_at, since))
            && filter.origin.as_ref().is_none_or(|origin| *origin == line.origin)
            && filter.undone.is_none_or(|wanted| wanted == undone);
        let at = match &line.group {
            Some(group) => *groups.entry(group.clone()).or_insert(found.len()),
            None => found.len(),
        };
        if at == found.len() {
            let place = found.len() + 1;
            found.push(Found { group: line.group.clone(), lines: Vec::new(), place, fits: false });
        }
        found[at].lines.push(line.at);
        found[at].fits |= fits;
        ControlFlow::Continue(())
    })?;
    found.retain(|entry| entry.fits);
    Ok(found)
}

/// The lines of the entries of a page.
fn lines_of(index: &Index<'_>, page: &[&Found]) -> Result<(Entries, Vec<Line>), Trouble> {
    let mut entries: Entries = page.iter().map(|entry| (entry.group.clone(), Vec::new())).collect();
    let mut lines: Vec<Line> = Vec::new();
    let mut taken_back = TakenBack::default();
    let wanted =
        page.iter().enumerate().flat_map(|(at, entry)| entry.lines.iter().map(move |line| (*line, at)));
    let wanted: HashMap<u64, usize> = wanted.collect();
    let Some(last) = wanted.keys().min().copied() else { return Ok((entries, lines)) };
    index.newest_first(&mut |line| {
        let (at, undone) = (line.at, taken_back.see(&line));
        if let Some(entry) = wanted.get(&at) {
            entries[*entry].1.push(Member { line: lines.len(), undone });
            lines.push(line);
        }
        if at <= last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok((entries, lines))
}

/// The names that a file, or the files in a directory, have and had, going back in time.
pub(crate) struct Names {
    /// Without a `/` at their end; the empty one is the project.
    known: HashSet<String>,
}

impl Names {
    pub(crate) fn new(name: &str) -> Names {
        let name = name.trim_start_matches("./").trim_end_matches('/');
        Names { known: HashSet::from([if name == "." { String::new() } else { name.to_string() }]) }
    }

    /// Takes in the next older line; says whether it is about one of the files.
    pub(crate) fn see(&mut self, index: &Index<'_>, line: &Line) -> bool {
        let mut about_it = false;
        let mut older = Vec::new();
        let mut see = |name: &Name| {
            let (new, old) = name.both();
            let is_new = self.has(new);
            about_it |= is_new || old.is_some_and(|old| self.has(old));
            older.extend(old.filter(|_| is_new).map(str::to_string));
        };
        match line.more_paths.then(|| all_names(index, line)).flatten() {
            Some(names) => names.iter().for_each(&mut see),
            None => line.paths.iter().for_each(&mut see),
        }
        self.known.extend(older);
        about_it
    }

    /// Whether it is one of the files, or lies in one of the directories.
    fn has(&self, path: &str) -> bool {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        self.known.contains("")
            || self.known.contains(path)
            || above.into_iter().any(|dir| self.known.contains(dir))
    }
}

/// The names of all files of a record that has more than its line knows; `None` if it cannot be read.
fn all_names(index: &Index<'_>, line: &Line) -> Option<Vec<Name>> {
    let place = match &line.foreign {
        Some(name) => Place::Foreign(name.clone()),
        None => index.shelf.place(line.uuid?).ok()??,
    };
    match index.shelf.load(&place) {
        Ok(Some(Loaded::Record { record, .. })) => Some(record.result.iter().map(Name::of).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
