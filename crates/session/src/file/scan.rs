//! Everything that can be saved of a session file, and a report of what cannot.
//!
//! A [`SessionScanner`] takes one line after the other and makes rows of them. A line that cannot be read
//! is skipped, and entries that followed it are attached to the entry before it, so that a conversation
//! stays whole. Invariant: the same bytes give the same rows, so that an id generated here is the same the
//! next time.

use std::collections::HashMap;
use std::io;

use super::lines::FileLine;
use super::load_report::LoadIssueKind;
use super::{EntryProbe, EntryTable, parse_millis};
use crate::format::header::VERSION;
use crate::format::migrate::generated_entry_id;
use crate::{EntryRole, EntryRow, EntryType, LoadReport, SessionHeader, SessionStats};

/// How every entry begins that we or another agent of the same format wrote.
const BEGINNING: &[u8] = b"{\"type\":\"";
/// Most positions in a damaged line where an entry is tried.
const TRIES_MOST: usize = 16;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Makes rows of lines.
#[derive(Default)]
pub(crate) struct SessionScanner {
    pub(crate) table: EntryTable,
    pub(crate) facts: SessionStats,
    pub(crate) report: LoadReport,
    pub(crate) header: Option<HeaderLine>,
    /// Known after the header or the first entry.
    version: Option<u64>,
    /// How the last line ends.
    pub(crate) tail: SessionTail,
    /// The entry before the latest unreadable line.
    damage: Option<Option<u32>>,
    /// Which row replaces an id lost with an unreadable line.
    joined: HashMap<String, Option<u32>>,
    /// For a duplicate id: the row that children mean, and how many entries have the id.
    latest: HashMap<String, (u32, u64)>,
    /// Rows whose parents were not there yet.
    pending_parents: Vec<PendingParent>,
}

#[derive(Debug, Clone)]
pub(crate) struct HeaderLine {
    pub(crate) header: SessionHeader,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    /// Where the next line begins.
    pub(crate) end: u64,
}

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SessionTail {
    /// With a line end, or empty.
    #[default]
    Whole,
    /// With an entry or a header without its line end.
    NoLineEnd,
    /// With something unreadable from here on.
    Torn { from: u64 },
}

struct PendingParent {
    row: u32,
    parent: String,
    damage: Option<Option<u32>>,
}

impl SessionScanner {
    /// Continues after what an index knew.
    pub(crate) fn resume(table: EntryTable, facts: SessionStats, header: HeaderLine) -> SessionScanner {
        let version = Some(header.header.version);
        SessionScanner { table, facts, header: Some(header), version, ..SessionScanner::default() }
    }

    /// `earlier` reads a line that was scanned before.
    pub(crate) fn scan_line(
        &mut self,
        line: FileLine<'_>,
        earlier: &mut dyn FnMut(&EntryRow) -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        let Some(bytes) = line.bytes else {
            self.report_damage(&line, "the line is too long");
            return Ok(());
        };
        let mut offset = line.offset;
        let mut bytes = bytes;
        if offset == 0
            && let Some(rest) = bytes.strip_prefix(BOM)
        {
            (offset, bytes) = (BOM.len() as u64, rest);
        }
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            if !line.ended && !bytes.is_empty() {
                self.tail = SessionTail::NoLineEnd;
            }
            return Ok(());
        }
        if let Some(probe) = probe_line(bytes) {
            return self.add_entry(&probe, offset, bytes, &line, earlier);
        }
        if line.ended
            && let Some((at, probe)) = find_entry_after_damage(bytes)
        {
            self.report.add(line.offset, at as u64, LoadIssueKind::Prefix);
            self.damage = Some(self.table.last());
            return self.add_entry(&probe, offset + at as u64, &bytes[at..], &line, earlier);
        }
        self.report_damage(&line, damage_reason(bytes));
        Ok(())
    }

    fn add_entry(
        &mut self,
        probe: &EntryProbe<'_>,
        offset: u64,
        bytes: &[u8],
        line: &FileLine<'_>,
        earlier: &mut dyn FnMut(&EntryRow) -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        let Some(kind) = probe.kind.as_deref() else {
            self.report_damage(line, "it has no type");
            return Ok(());
        };
        if kind == "session" {
            self.take_header(bytes, offset, line);
            return Ok(());
        }
        let version = *self.version.get_or_insert(if probe.id.is_some() { VERSION } else { 1 });
        let id = match probe.id.as_deref() {
            Some(id) => id.to_string(),
            None if version < 2 => generated_entry_id(self.table.len() as u64),
            None => {
                self.report_damage(line, "it has no id");
                return Ok(());
            }
        };
        if !line.ended {
            self.tail = SessionTail::NoLineEnd;
        }
        let (parent, waiting) = self.find_parent(probe, version);
        let mut name = id.clone();
        if let Some(known) = self.table.find(&id) {
            let (known, others) = self.latest.get(&id).copied().unwrap_or((known, 1));
            let same = match self.table.row(known) {
                Some(row) if row.len as usize == bytes.len() => earlier(row)? == bytes,
                _ => false,
            };
            if same {
                self.report.add(line.offset, line.len, LoadIssueKind::DuplicateLine { id });
                return Ok(());
            }
            let count;
            (name, count) = self.unique_name(&id, others);
            // The row is pushed below.
            self.latest.insert(id.clone(), (u32::try_from(self.table.len()).unwrap_or(u32::MAX), count));
            let what = LoadIssueKind::DuplicateId { id, new_id: name.clone() };
            self.report.add(line.offset, line.len, what);
        }
        let role = match (kind, probe.message.role.as_deref()) {
            ("message", Some(role)) => EntryRole::from_name(role),
            _ => EntryRole::None,
        };
        let row = EntryRow {
            offset,
            len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            parent,
            id: name.as_str().into(),
            timestamp: probe.timestamp.as_deref().map_or(0, parse_millis),
            kind: EntryType::from_name(kind),
            role,
            has_text: probe.message.has_text,
            failed: probe.message.failed,
        };
        self.facts.count_entry(&row, bytes);
        let number = self.table.push(row);
        if let Some(parent) = waiting {
            self.pending_parents.push(PendingParent { row: number, parent, damage: self.damage });
        }
        Ok(())
    }

    /// The row of the parent, or its id if that is not there yet.
    fn find_parent(&self, probe: &EntryProbe<'_>, version: u64) -> (Option<u32>, Option<String>) {
        match &probe.parent {
            Some(Some(parent)) => {
                let latest = self.latest.get(&**parent).map(|(row, _)| *row);
                let found = latest.or_else(|| self.table.find(parent));
                (found, found.is_none().then(|| parent.to_string()))
            }
            None if version < 2 => (self.table.last(), None),
            Some(None) | None => (None, None),
        }
    }

    /// A new id for one more entry called `id`, of which there are `others` so far; and how many there are
    /// with it.
    fn unique_name(&self, id: &str, others: u64) -> (String, u64) {
        let names = (others + 1..).map(|number| (format!("{id}-{number}"), number));
        let mut free = names.filter(|(name, _)| self.table.find(name).is_none());
        free.next().unwrap_or_default()
    }

    fn take_header(&mut self, bytes: &[u8], offset: u64, line: &FileLine<'_>) {
        if !line.ended {
            self.tail = SessionTail::NoLineEnd;
        }
        let first = self.header.is_none() && self.table.len() == 0 && self.report.is_empty();
        match serde_json::from_slice::<SessionHeader>(bytes) {
            Ok(header) if self.header.is_none() => {
                if !first {
                    self.report.add(line.offset, line.len, LoadIssueKind::LateHeader);
                }
                self.version.get_or_insert(header.version);
                let end = line.offset + line.len + 1;
                self.header = Some(HeaderLine { header, offset, len: bytes.len() as u64, end });
            }
            _ if first => {
                let what = LoadIssueKind::Unreadable("the header lacks its id");
                self.report.add(line.offset, line.len, what);
            }
            _ => self.report.add(line.offset, line.len, LoadIssueKind::LateHeader),
        }
    }

    fn report_damage(&mut self, line: &FileLine<'_>, why: &'static str) {
        if !line.ended {
            self.tail = SessionTail::Torn { from: line.offset };
            self.report.add(line.offset, line.len, LoadIssueKind::TornTail);
            return;
        }
        self.report.add(line.offset, line.len, LoadIssueKind::Unreadable(why));
        self.damage = Some(self.table.last());
    }

    /// After the last line: looks up missing parents once more.
    pub(crate) fn finish(&mut self) {
        let waiting = std::mem::take(&mut self.pending_parents);
        let mut forward = false;
        for PendingParent { row, parent, damage } in waiting {
            let Some(EntryRow { id, offset, len, .. }) = self.table.row(row) else { continue };
            let (id, offset, len) = (id.to_string(), *offset, u64::from(*len));
            if let Some(found) = self.table.find(&parent) {
                forward = true;
                self.table.set_parent(row, Some(found));
                if found != row {
                    self.report.add(offset, len, LoadIssueKind::BeforeParent { id });
                }
            } else if let Some(before) = damage {
                let joined = *self.joined.entry(parent.clone()).or_insert(before);
                self.table.set_parent(row, joined);
                self.report.add(offset, len, LoadIssueKind::Rejoined { id, parent });
            } else {
                self.report.add(offset, len, LoadIssueKind::Orphan { id, parent });
            }
        }
        if forward {
            let report = &mut self.report;
            self.table.cut_cycles(&mut |row| {
                report.add(row.offset, u64::from(row.len), LoadIssueKind::Cycle { id: row.id.to_string() });
            });
        }
        if self.header.is_none() && (self.table.len() > 0 || !self.report.is_empty()) {
            self.report.add(0, 0, LoadIssueKind::NoHeader);
        }
    }

    pub(crate) fn version(&self) -> u64 {
        self.version.unwrap_or(VERSION)
    }
}

fn probe_line(bytes: &[u8]) -> Option<EntryProbe<'_>> {
    EntryProbe::parse(std::str::from_utf8(bytes).ok()?)
}

/// A whole entry after half a line or the zeros of a power cut: somebody wrote on without a line end.
/// Pieces of content look similar, but have no parent and no time.
fn find_entry_after_damage(bytes: &[u8]) -> Option<(usize, EntryProbe<'_>)> {
    let places = memchr::memmem::find_iter(bytes, BEGINNING).filter(|at| *at > 0).take(TRIES_MOST);
    let mut entries = places.filter_map(|at| Some((at, probe_line(&bytes[at..])?)));
    entries.find(|(_, probe)| probe.id.is_some() && probe.parent.is_some() && probe.timestamp.is_some())
}

/// Why a line cannot be read.
fn damage_reason(bytes: &[u8]) -> &'static str {
    if bytes.iter().all(|byte| *byte == 0) {
        "only zeros, as after a power cut"
    } else if memchr::memchr(0, bytes).is_some() {
        "zeros in the middle, as after a power cut"
    } else if std::str::from_utf8(bytes).is_err() {
        "it is not UTF-8"
    } else {
        "it is not a JSON object"
    }
}
