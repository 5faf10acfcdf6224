//! Building the index from the records: those of the original tool first, by their dates, then
//! ours, by their numbers. A record that cannot be read gets a line that says so.

use std::collections::{HashMap, HashSet};

use crate::log::IndexLine;
use crate::record::{LoadedRecord, RecordLocation, RecordNames, RecordStore, file};
use crate::{LedgerError, LedgerResult, TxId};

/// What was built.
pub(super) struct RebuiltIndex {
    /// The lines of all records, oldest first.
    pub(super) lines: Vec<IndexLine>,
    /// Every record was seen as it is: the system did not fail on one, which it may not do again.
    pub(super) is_complete: bool,
}

/// Builds the lines of all records.
pub(super) fn build(shelf: &RecordStore<'_>) -> LedgerResult<RebuiltIndex> {
    let mut places = Vec::new();
    shelf.for_each_location(&mut |place| places.push(place))?;
    let mut lines: Vec<IndexLine> = Vec::with_capacity(places.len());
    let mut lasting = true;
    for place in places {
        let line = line_for(shelf, &place, &mut lasting);
        lines.push(IndexLine { sum: RecordNames::default().with(&place).sum, ..line });
    }
    lines.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    let reverted: HashSet<TxId> = lines.iter().flat_map(|line| line.revert_of.iter().copied()).collect();
    let mut groups: HashMap<String, u64> = HashMap::new();
    let mut entries = 0;
    let mut sum = 0u64;
    for (line, at) in lines.iter_mut().zip(1..) {
        line.at = at;
        sum = sum.wrapping_add(line.sum);
        line.sum = sum;
        // What we took back is ours to tell: our own revert may be taken back later.
        line.undone &= !line.uuid.is_some_and(|id| reverted.contains(&id));
        let known = line.group.as_ref().and_then(|group| groups.get(group).copied());
        if let Some(group) = &line.group {
            line.group_from = Some(known.unwrap_or(at));
            groups.entry(group.clone()).or_insert(at);
        }
        if known.is_none() && !line.pending {
            entries += 1;
        }
        line.entries = entries;
    }
    Ok(RebuiltIndex { lines, is_complete: lasting })
}

/// Records that one ledger has in a lifetime, and more.
const FOREIGN_NUMBERS: u64 = 1 << 32;

/// The number of a record that nobody vouches for; one that no relay gives is none.
fn foreign_number(number: u64) -> u64 {
    if number < FOREIGN_NUMBERS { number } else { 0 }
}

fn sort_key(line: &IndexLine) -> (u64, &str, Option<TxId>, Option<&str>) {
    (line.number, &line.created_at, line.uuid, line.foreign.as_deref())
}

fn line_for(shelf: &RecordStore<'_>, place: &RecordLocation, lasting: &mut bool) -> IndexLine {
    let foreign = match place {
        RecordLocation::Foreign(name) => Some(name.clone()),
        RecordLocation::Own(_) | RecordLocation::Undone(_) => None,
    };
    let damage = match shelf.load(place) {
        Ok(Some(LoadedRecord::Record { mut record, undone, own })) => {
            // What anybody may have written must not decide about the numbers to come.
            record.number = if own { record.number } else { foreign_number(record.number) };
            return IndexLine { unsealed: !own, ..IndexLine::from_record(&record, undone, foreign) };
        }
        Ok(Some(LoadedRecord::Pending)) => {
            return IndexLine { pending: true, foreign, ..IndexLine::default() };
        }
        Ok(None) => format!("{} is gone", place.path()),
        Err(error) => {
            *lasting &= !matches!(error, LedgerError::Io { .. });
            error.to_string()
        }
    };
    let bytes = shelf.read_bytes(place).ok().flatten();
    let number = foreign_number(bytes.and_then(|bytes| file::record_number(&bytes)).unwrap_or(0));
    IndexLine {
        number,
        uuid: place.id(),
        foreign,
        unsealed: true,
        damage: Some(damage),
        ..IndexLine::default()
    }
}
