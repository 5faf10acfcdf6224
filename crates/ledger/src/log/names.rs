//! Finding a change by the name that a person gives it, and the shortest name that is its own.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use super::index::{IndexResult, LedgerIndex};
use super::{LogEntry, LogTarget, PROMPT_GROUP};
use crate::record::RecordStore;
use crate::{Ledger, LedgerError, LedgerResult, TxId};

/// Digits that a prefix of an id needs.
const PREFIX: usize = 4;
/// So many transactions are named when a prefix is not unique.
const CANDIDATES: usize = 20;

impl Ledger {
    /// What a name stands for: `1` is the newest entry of the log, then there are ids, their
    /// beginnings (at least four digits), and groups; of a prompt's the digits alone, or their beginning, will do.
    ///
    /// # Errors
    /// `UnknownTransaction`, `Ambiguous`; the system's.
    pub fn find_target(&self, name: &str) -> LedgerResult<LogTarget> {
        let name = name.trim();
        let unknown = || LedgerError::UnknownTransaction { name: name.chars().take(100).collect() };
        if name.len() < PREFIX
            && let Some(target) = self.nth_target(name)?
        {
            return Ok(target);
        }
        let lower = Some(name.to_ascii_lowercase()).filter(|name| name.len() >= PREFIX);
        let found = self.with_index(|index| match_names(index, name, lower.as_deref()))?;
        if !found.group.is_empty() {
            return Ok(LogTarget::Group { id: name.to_string(), members: found.group });
        }
        let candidates = || found.ids.iter().copied().chain(found.prompts.values().flatten().copied());
        let mut prompts = found.prompts.iter();
        match (found.ids.is_empty(), prompts.next(), prompts.next()) {
            (true, Some((id, members)), None) => {
                return Ok(LogTarget::Group { id: id.clone(), members: members.clone() });
            }
            (_, None, _) => {}
            _ => {
                let candidates = candidates().take(CANDIDATES).collect();
                return Err(LedgerError::Ambiguous { name: name.to_string(), candidates });
            }
        }
        match found.ids.as_slice() {
            [] => self.nth_target(name)?.ok_or_else(unknown),
            [only] => Ok(LogTarget::Transaction(*only)),
            _ => Err(LedgerError::Ambiguous { name: name.to_string(), candidates: found.ids }),
        }
    }

    /// The entry of that number, counted from the newest.
    fn nth_target(&self, name: &str) -> LedgerResult<Option<LogTarget>> {
        let number = name.parse::<usize>().ok().filter(|_| name.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(skip) = number.and_then(|number| number.checked_sub(1)) else { return Ok(None) };
        Ok(self.log_page(skip, 1)?.entries.first().and_then(LogEntry::target))
    }

    /// What people call these transactions: the first eight digits, and as many more as tell each from every other
    /// transaction of the ledger.
    ///
    /// # Errors
    /// The system's.
    pub fn short_ids(&self, ids: &[TxId]) -> LedgerResult<HashMap<TxId, String>> {
        let mut short: HashMap<TxId, usize> = ids.iter().map(|id| (*id, id.short().len())).collect();
        let by_beginning: HashMap<String, Vec<TxId>> = ids.iter().fold(HashMap::new(), |mut all, id| {
            all.entry(id.short()).or_insert_with(Vec::new).push(*id);
            all
        });
        RecordStore::open(self)?.for_each_location(&mut |place| {
            let Some(other) = place.id() else { return };
            for id in by_beginning.get(&other.short()).into_iter().flatten().filter(|id| **id != other) {
                let needed = common_digits(&id.to_string(), &other.to_string()) + 1;
                short.entry(*id).and_modify(|digits| *digits = needed.max(*digits));
            }
        })?;
        Ok(short.into_iter().map(|(id, digits)| (id, id.to_string()[..digits].to_string())).collect())
    }

    /// What people call this transaction.
    ///
    /// # Errors
    /// The system's.
    pub fn short_id(&self, id: TxId) -> LedgerResult<String> {
        Ok(self.short_ids(&[id])?.remove(&id).unwrap_or_else(|| id.short()))
    }
}

/// Whether a group is a prompt whose digits begin so, with or without what stands before them.
fn is_prompt_called(group: &str, prefix: &str) -> bool {
    let digits = prefix.strip_prefix(PROMPT_GROUP).unwrap_or(prefix);
    !digits.is_empty() && group.strip_prefix(PROMPT_GROUP).is_some_and(|group| group.starts_with(digits))
}

/// How many characters two ids begin with alike.
fn common_digits(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// What a name was found to stand for.
#[derive(Default)]
struct LogNameMatches {
    ids: Vec<TxId>,
    group: Vec<TxId>,
    /// The prompts that begin so, each with its members, newest first.
    prompts: BTreeMap<String, Vec<TxId>>,
}

fn match_names(index: &LedgerIndex<'_>, name: &str, prefix: Option<&str>) -> IndexResult<LogNameMatches> {
    let mut found = LogNameMatches::default();
    index.for_each_newest_first(&mut |line| {
        if let Some(id) = line.uuid {
            if line.group.as_deref() == Some(name) {
                found.group.push(id);
            }
            if let (Some(prefix), Some(group)) = (prefix, &line.group)
                && is_prompt_called(group, prefix)
            {
                found.prompts.entry(group.clone()).or_default().push(id);
            }
            let begins = prefix.is_some_and(|prefix| id.to_string().starts_with(prefix));
            if begins && found.ids.len() < CANDIDATES && !found.ids.contains(&id) {
                found.ids.push(id);
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
