//! Which transaction wrote each line of a file.
//!
//! The text is followed backwards through the records of the file: from what stands there now to what
//! the newest record left, to what it found, and so on, under whatever name it had. A line that a record
//! left and did not find was written by it. A line that a record did not leave, though a newer text has
//! it, was written by somebody else. What a revert brought back is followed on from the text before the
//! transaction that it takes back, so that it belongs to whoever wrote it first.
//!
//! Nothing is guessed: where a record or its contents cannot be read, the lines that lead there stay
//! without an owner, and a note says so.

use std::ops::ControlFlow;

use relaycode_change::lines::align::equal_runs;
use relaycode_change::proposal::path::RelPath;

use crate::disk::tree::{find_obstacle, is_not_a_file};
use crate::log::PathHistory;
use crate::record::{FileRecord, Record};
use crate::{IoContext, Ledger, LedgerError, LedgerRefusal, LedgerResult, LedgerRule, TxId, io_error};

#[cfg(test)]
mod tests;

/// Records of one file that are looked at.
pub const RECORDS: usize = 1_000;
/// A longer file has no owners.
pub const FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Lines that are compared in all, over all records.
const LINES: usize = 20_000_000;

/// Who wrote a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blame {
    /// Its lines as they are now.
    pub lines: Vec<BlameLine>,
    /// Why not everything could be followed to its end, as a sentence; `None` if it could.
    pub note: Option<String>,
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameLine {
    /// The line without its ending; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// The transaction that wrote it; `None`: not relay, or it is not known.
    pub written_by: Option<TxId>,
}

impl Ledger {
    /// Says which transaction wrote each line of the file at `path`.
    ///
    /// # Errors
    /// `Refused` if there is no such file; the system's.
    pub fn blame(&self, path: &str) -> LedgerResult<Blame> {
        let bytes = self.read_for_blame(path)?;
        let (records, more) = self.records_of(path)?;
        let mut walk = BlameWalk {
            ledger: self,
            records: &records,
            more,
            owners: vec![None; lines(&bytes).len()],
            note: None,
            looked_at: 0,
            compared: 0,
        };
        let all = (0..walk.owners.len()).map(|line| (line, line)).collect();
        let mut trails =
            vec![BlameTrail { name: path.to_string(), text: bytes.clone(), lines: all, from: 0 }];
        while let Some(trail) = trails.pop() {
            walk.follow(trail, &mut trails);
        }
        let text = |line: &[u8]| String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_string();
        let owned = lines(&bytes).into_iter().zip(walk.owners);
        let lines = owned.map(|(line, by)| BlameLine { text: text(line), written_by: by }).collect();
        Ok(Blame { lines, note: walk.note })
    }

    fn read_for_blame(&self, path: &str) -> LedgerResult<Vec<u8>> {
        let refused = |rule| {
            Err(LedgerError::Refused(vec![LedgerRefusal { path: path.chars().take(200).collect(), rule }]))
        };
        if RelPath::of_existing(path).is_err() {
            return refused(LedgerRule::NotAFile("no path in this project"));
        }
        let places = self.root.resolver();
        match places.read(path, FILE_BYTES) {
            Ok(Some((bytes, _))) => Ok(bytes),
            Ok(None) => refused(LedgerRule::Gone),
            Err(error) if is_not_a_file(&error) => {
                match find_obstacle(&places, path).context("look at", path)? {
                    Some(what) => refused(LedgerRule::NotAFile(what)),
                    None => Err(io_error("read", path)(error)),
                }
            }
            Err(error) => Err(io_error("read", path)(error)),
        }
    }

    /// The transactions that are about a file, newest first, and whether there are more of them.
    fn records_of(&self, path: &str) -> LedgerResult<(Vec<TxId>, bool)> {
        self.with_index(|index| {
            let mut names = PathHistory::new(path);
            let mut records = Vec::new();
            let mut more = false;
            index.for_each_newest_first(&mut |line| {
                if !line.pending && names.observe_line(index, &line) {
                    more = records.len() == RECORDS;
                    records.extend(line.uuid.filter(|_| !more));
                }
                if more { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            Ok((records, more))
        })
    }
}

/// A text on the way back, and the lines in it whose owner is not known yet.
struct BlameTrail {
    /// The file's name then.
    name: String,
    text: Vec<u8>,
    /// Where they stand in the text.
    lines: BlameLinePairs,
    /// The first of the records that may have made it.
    from: usize,
}

struct BlameWalk<'l> {
    ledger: &'l Ledger,
    /// The file's records, newest first.
    records: &'l [TxId],
    /// There are older ones.
    more: bool,
    owners: Vec<Option<TxId>>,
    note: Option<String>,
    looked_at: usize,
    compared: usize,
}

impl BlameWalk<'_> {
    /// Follows a text to the record that left it, and on to what that record found. What a revert
    /// brought back becomes a trail of its own.
    fn follow(&mut self, mut trail: BlameTrail, trails: &mut Vec<BlameTrail>) {
        while let Some(id) = self.records.get(trail.from).copied().filter(|_| !trail.lines.is_empty()) {
            trail.from += 1;
            self.looked_at += 1;
            if self.looked_at > RECORDS || self.compared > LINES {
                return self.note("it has too many changes to follow all of them".to_string());
            }
            let record = match self.ledger.record(id) {
                Ok(record) => record,
                Err(error) => return self.note(format!("older changes are not known: {error}")),
            };
            let named = |file: &&FileRecord| file.path == trail.name && file.after.is_some();
            let Some(file) = record.result.iter().find(named) else {
                let went = |file: &&FileRecord| file.path == trail.name || file.old_path() == trail.name;
                match record.result.iter().find(went) {
                    Some(file) if record.is_result_unknown(file) => {
                        return self.note(format!("what {} left in it is not known", id.short()));
                    }
                    // It was gone then: what stands there now came from somebody else.
                    Some(_) => return,
                    None => continue,
                }
            };
            if let Err(error) = self.step(&record, file, &mut trail, trails) {
                return self.note(format!("older changes are not known: {error}"));
            }
        }
        if self.more && !trail.lines.is_empty() {
            self.note(format!("only the newest {RECORDS} changes of this file were looked at"));
        }
    }

    fn step(
        &mut self,
        record: &Record,
        file: &FileRecord,
        trail: &mut BlameTrail,
        trails: &mut Vec<BlameTrail>,
    ) -> LedgerResult<()> {
        let left = self.ledger.after_bytes(record, file)?.unwrap_or_default();
        // What this record did not leave was written since, and not by relay.
        trail.lines = self.match_lines(&trail.text, &left, &trail.lines).0;
        let found = self.ledger.before_bytes(record, file)?.unwrap_or_default();
        let (kept, written) = self.match_lines(&left, &found, &trail.lines);
        let written = if record.revert_of.is_empty() {
            written
        } else {
            self.follow_revert(record, &trail.name, &left, written, trails)
        };
        for (line, _) in written {
            self.owners[line] = Some(record.uuid);
        }
        *trail = BlameTrail { name: file.old_path().to_string(), text: found, lines: kept, from: trail.from };
        Ok(())
    }

    /// Lines that a revert wrote: those that stood in the text before what it takes back are followed
    /// from there. The rest, markers for example, is the revert's own.
    fn follow_revert(
        &mut self,
        revert: &Record,
        name: &str,
        left: &[u8],
        mut written: BlameLinePairs,
        trails: &mut Vec<BlameTrail>,
    ) -> BlameLinePairs {
        // The oldest first: what was before it is what a revert of several brings back.
        for id in revert.revert_of.iter().rev() {
            let Some(at) = self.records.iter().position(|record| record == id) else { continue };
            if written.is_empty() || self.compared > LINES {
                break;
            }
            self.looked_at += 1;
            let Ok(taken_back) = self.ledger.record(*id) else { continue };
            for file in &taken_back.result {
                // The revert gave it its old name again, or left it at its new one.
                if file.old_path() != name && file.path != name {
                    continue;
                }
                let Ok(Some(text)) = self.ledger.before_bytes(&taken_back, file) else { continue };
                let (lines, rest) = self.match_lines(left, &text, &written);
                written = rest;
                if !lines.is_empty() {
                    trails.push(BlameTrail { name: file.old_path().to_string(), text, lines, from: at + 1 });
                }
            }
        }
        written
    }

    /// Where lines of `new` stand in `old`, and those that do not.
    fn match_lines(
        &mut self,
        new: &[u8],
        old: &[u8],
        wanted: &[(usize, usize)],
    ) -> (BlameLinePairs, BlameLinePairs) {
        if new == old {
            return (wanted.to_vec(), BlameLinePairs::new());
        }
        let (new, old) = (lines(new), lines(old));
        self.compared = self.compared.saturating_add(new.len() + old.len());
        let mut partners = vec![None; new.len()];
        for run in equal_runs(&old, &new) {
            for step in 0..run.len {
                partners[run.new + step] = Some(run.old + step);
            }
        }
        let (mut there, mut missing) = (BlameLinePairs::new(), BlameLinePairs::new());
        for (line, at) in wanted.iter().copied() {
            match partners.get(at).copied().flatten() {
                Some(partner) => there.push((line, partner)),
                None => missing.push((line, at)),
            }
        }
        (there, missing)
    }

    fn note(&mut self, text: String) {
        self.note.get_or_insert(text);
    }
}

/// Lines of the file now, and where they stand in some text.
type BlameLinePairs = Vec<(usize, usize)>;

/// Lines with their endings: up to a line feed, or in bytes without any, up to a carriage return.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let end = if !bytes.contains(&b'\n') && bytes.contains(&b'\r') { b'\r' } else { b'\n' };
    bytes.split_inclusive(|byte| *byte == end).collect()
}
