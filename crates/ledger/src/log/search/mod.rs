//! Searching the log: the entries of which a transaction fits, newest first.
//!
//! The index is walked twice: once to know which entries fit, once for the lines of the page. What the
//! index does not know of a transaction with many files is asked of its record.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use crate::log::{
    IndexLine, IndexResult, IndexedPath, LedgerIndex, LogEntryLines, LogMember, LogPage, RevertedIds,
    UndoState, timestamp,
};
use crate::record::RecordLocation;
use crate::{Ledger, LedgerResult};

/// What a transaction must be to be found. The empty filter finds everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
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

impl LogFilter {
    /// Whether it finds everything.
    pub fn is_empty(&self) -> bool {
        *self == LogFilter::default()
    }
}

impl Ledger {
    /// A page of what a filter finds, newest first. A group is found as a whole if one of its
    /// transactions is. `total` is how many entries are found.
    ///
    /// # Errors
    /// The system's. A record that cannot be read is found only where the filter asks for nothing that
    /// it would have to say.
    pub fn search_log(&self, filter: &LogFilter, skip: usize, count: usize) -> LedgerResult<LogPage> {
        if filter.is_empty() {
            return self.log_page(skip, count);
        }
        self.with_index(|index| {
            let found = find_matches(index, filter)?;
            let page: Vec<&LogMatch> = found.iter().skip(skip).take(count).collect();
            let (entries, lines) = load_lines(index, &page)?;
            let entries = self.build_entries(index, entries, &lines, &|at| page[at].place)?;
            Ok(LogPage { entries, total: found.len() })
        })
    }
}

/// An entry that fits.
struct LogMatch {
    group: Option<String>,
    /// Its lines, newest first.
    lines: Vec<u64>,
    /// Its place in the whole log.
    place: usize,
    is_match: bool,
}

fn find_matches(index: &LedgerIndex<'_>, filter: &LogFilter) -> IndexResult<Vec<LogMatch>> {
    let mut found: Vec<LogMatch> = Vec::new();
    let mut groups = HashMap::new();
    let mut taken_back = RevertedIds::default();
    let mut names = filter.file.as_deref().map(PathHistory::new);
    index.for_each_newest_first(&mut |line| {
        let undone = taken_back.observe_line(&line) == UndoState::Undone;
        if line.pending {
            return ControlFlow::Continue(());
        }
        // Also if the rest does not fit: older names of the file are learnt from it.
        let about_it = names.as_mut().is_none_or(|names| names.observe_line(index, &line));
        let fits = about_it
            && filter.since.as_deref().is_none_or(|since| timestamp::is_not_before(&line.created_at, since))
            && filter.origin.as_ref().is_none_or(|origin| *origin == line.origin)
            && filter.undone.is_none_or(|wanted| wanted == undone);
        let at = match &line.group {
            Some(group) => *groups.entry(group.clone()).or_insert(found.len()),
            None => found.len(),
        };
        if at == found.len() {
            let place = found.len() + 1;
            found.push(LogMatch { group: line.group.clone(), lines: Vec::new(), place, is_match: false });
        }
        found[at].lines.push(line.at);
        found[at].is_match |= fits;
        ControlFlow::Continue(())
    })?;
    found.retain(|entry| entry.is_match);
    Ok(found)
}

/// The lines of the entries of a page.
fn load_lines(index: &LedgerIndex<'_>, page: &[&LogMatch]) -> IndexResult<(LogEntryLines, Vec<IndexLine>)> {
    let mut entries: LogEntryLines = page.iter().map(|entry| (entry.group.clone(), Vec::new())).collect();
    let mut lines: Vec<IndexLine> = Vec::new();
    let mut taken_back = RevertedIds::default();
    let wanted =
        page.iter().enumerate().flat_map(|(at, entry)| entry.lines.iter().map(move |line| (*line, at)));
    let wanted: HashMap<u64, usize> = wanted.collect();
    let Some(last) = wanted.keys().min().copied() else { return Ok((entries, lines)) };
    index.for_each_newest_first(&mut |line| {
        let (at, undo_state) = (line.at, taken_back.observe_line(&line));
        if let Some(entry) = wanted.get(&at) {
            entries[*entry].1.push(LogMember { line: lines.len(), undo_state });
            lines.push(line);
        }
        if at <= last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok((entries, lines))
}

/// The names that a file, or the files in a directory, have and had, going back in time.
pub(crate) struct PathHistory {
    /// Without a `/` at their end; the empty one is the project.
    known: HashSet<String>,
}

impl PathHistory {
    pub(crate) fn new(name: &str) -> PathHistory {
        let name = name.trim_start_matches("./").trim_end_matches('/');
        PathHistory { known: HashSet::from([if name == "." { String::new() } else { name.to_string() }]) }
    }

    /// Takes in the next older line; says whether it is about one of the files.
    pub(crate) fn observe_line(&mut self, index: &LedgerIndex<'_>, line: &IndexLine) -> bool {
        let mut about_it = false;
        let mut older = Vec::new();
        let mut see = |name: &IndexedPath| {
            let (new, old) = name.new_and_old();
            let is_new = self.contains(new);
            about_it |= is_new || old.is_some_and(|old| self.contains(old));
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
    fn contains(&self, path: &str) -> bool {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        self.known.contains("")
            || self.known.contains(path)
            || above.into_iter().any(|dir| self.known.contains(dir))
    }
}

/// The names of all files of a record that has more than its line knows; `None` if it cannot be read.
fn all_names(index: &LedgerIndex<'_>, line: &IndexLine) -> Option<Vec<IndexedPath>> {
    let place = match &line.foreign {
        Some(name) => RecordLocation::Foreign(name.clone()),
        None => index.records.locate(line.uuid?).ok()??,
    };
    let record = index.records.find(&place).ok()??;
    Some(record.result.iter().map(IndexedPath::from_record).collect())
}

#[cfg(test)]
mod tests;
