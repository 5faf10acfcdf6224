//! What a crash leaves is put back by the next command that writes, or by hand.
//!
//! Only dead transactions are touched: those whose own lock is free. A journal whose record exists is
//! committed, whatever else there is; any other is put back, by the same code as in a living
//! transaction, as often as it takes. A journal that cannot be understood stops everything: what it
//! speaks of is in the project, and guessing would be worse.

use std::collections::HashSet;
use std::io;

use relaycode_durable::fs::{DirMode, is_link, is_not_regular, is_too_long};
use relaycode_durable::{Dir, Kind, Rename, atomic};

use crate::blobs;
use crate::error::{LedgerError, Unfinished, cannot};
use crate::id::TxId;
use crate::journal::{Stage, Step, Transaction, is_directory_of, is_slot};
use crate::ledger::Ledger;
use crate::moves::{self, Touched};
use crate::paths::Places;
use crate::putback::{self, Others, PutBack};
use crate::record::{self, Content, Record};
use crate::seen;
use crate::state::{self, State, Sub};
use crate::transaction::{OwnDirectory, SLOTS};

/// Behind the name of a committed transaction's directory: it holds the files that were displaced.
pub(crate) const DONE: &str = ".done";
/// Behind the name of a directory with bytes that nobody may collect.
pub(crate) const KEPT: &str = ".kept";
/// Paths of slots that are not in the transaction's directory, one a line.
pub(crate) const ELSEWHERE: &str = "elsewhere";
/// What files beside the slots are called, behind the number of their step.
pub(crate) const ASIDES: [&str; 4] = ["before", "old-name", "new-name", "others"];
/// A journal that was set aside, in a directory that is kept.
const SET_ASIDE: &str = "journal.yml";

/// How to treat what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Put back what can be put back; leave alone, and name, what others changed.
    Automatic,
    /// Stay with the files as they are. The journal and everything displaced is kept.
    Keep,
    /// Put everything back as it was. Bytes of others are kept in `.relaycode/tx`.
    Restore,
}

/// A transaction that was found open and dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The transaction.
    pub id: TxId,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a dead transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It had been committed; only its traces were left.
    Committed,
    /// Everything is as before.
    PutBack {
        /// The files.
        restored: Vec<String>,
        /// Where bytes of others are kept, beneath the root.
        kept: Option<String>,
    },
    /// Files were left alone.
    NeedsYou(Unfinished),
    /// The files stay as they are, and the journal is set aside.
    Kept {
        /// Where it is kept, beneath the root.
        kept: String,
    },
    /// The original tool left it; it is not touched.
    Original,
}

/// A transaction that is open: alive in another process, or waiting for a person.
pub(crate) struct StillOpen {
    pub(crate) id: TxId,
    pub(crate) pid: Option<u32>,
    pub(crate) paths: Vec<String>,
}

impl Ledger {
    /// Deals with every dead transaction.
    ///
    /// # Errors
    /// `Newer` and `Damaged` for a journal that cannot be understood: nothing is touched then.
    pub fn recover(&self, how: Recovery) -> Result<Vec<Recovered>, LedgerError> {
        let Some(state) = self.state()? else {
            return Ok(Vec::new());
        };
        if journals(&state)?.is_empty() && orphans(&state, &HashSet::new())?.is_empty() {
            return Ok(Vec::new());
        }
        let state = State::create(&self.fs, &self.root).map_err(cannot("make", state::NAME))?;
        let _project = self.lock(&state)?;
        let recovered = sweep(self, &state, how)?.0;
        // What a crash kept from following the newest commit; the next command tries again.
        let _ = self.catch_up();
        Ok(recovered)
    }
}

/// Deals with dead transactions before a new one begins, and says which are still open.
pub(crate) fn dead(ledger: &Ledger, state: &State) -> Result<Vec<StillOpen>, LedgerError> {
    Ok(sweep(ledger, state, Recovery::Automatic)?.1)
}

fn sweep(
    ledger: &Ledger,
    state: &State,
    how: Recovery,
) -> Result<(Vec<Recovered>, Vec<StillOpen>), LedgerError> {
    let mut recovered = Vec::new();
    let mut open = Vec::new();
    let mut in_use = HashSet::new();
    let mut journals = journals(state)?;
    journals.sort_unstable();
    // All are read before the first is touched: one from a newer relay refuses everything.
    let read: Vec<(TxId, Found)> =
        journals.into_iter().map(|id| Ok((id, find(state, id, how)?))).collect::<Result<_, LedgerError>>()?;
    for (id, found) in read {
        match found {
            Found::Original => recovered.push(Recovered { id, outcome: Outcome::Original }),
            Found::Damaged(own) => {
                let kept = set_aside(state, &own, id)?;
                // Which of them was the one is not known any more.
                for name in directories_of(state, id)? {
                    if take(state, &name)?.is_some() {
                        mark_kept(state, &name).map_err(cannot("keep", &format!("{SLOTS}/{name}")))?;
                    }
                }
                recovered.push(Recovered { id, outcome: Outcome::Kept { kept } });
            }
            Found::Alive { record, transaction } => {
                in_use.insert(transaction.directory.clone());
                open.push(still_open(&record, &transaction, true));
            }
            Found::Dead { record, transaction, own } => {
                in_use.insert(transaction.directory.clone());
                let outcome = bury(ledger, state, &record, &transaction, &own, how)?;
                if let Outcome::NeedsYou(_) = outcome {
                    open.push(still_open(&record, &transaction, false));
                }
                recovered.push(Recovered { id, outcome });
            }
        }
    }
    for orphan in orphans(state, &in_use)? {
        remove_orphan(ledger, state, &orphan)?;
    }
    Ok((recovered, open))
}

fn still_open(record: &Record, transaction: &Transaction, alive: bool) -> StillOpen {
    let mut paths = Vec::new();
    for step in &transaction.steps {
        match step {
            Step::Move { path, to, .. } => paths.extend([path.clone(), to.clone()]),
            Step::Replace { path, .. } | Step::Create { path, .. } | Step::Remove { path, .. } => {
                paths.push(path.clone());
            }
        }
    }
    StillOpen { id: record.uuid, pid: alive.then_some(transaction.pid), paths }
}

/// A journal, and whether somebody still works on it.
enum Found {
    /// It is not ours.
    Original,
    /// It cannot be understood, and the user wants it out of the way.
    Damaged(OwnDirectory),
    Alive {
        record: Box<Record>,
        transaction: Transaction,
    },
    Dead {
        record: Box<Record>,
        transaction: Transaction,
        own: OwnDirectory,
    },
}

fn find(state: &State, id: TxId, how: Recovery) -> Result<Found, LedgerError> {
    let name = state::journal_name(id);
    let path = format!("{}/{name}", state::NAME);
    let bytes = match state.fs().read(state.dir(), &name, record::RECORD_BYTES as u64) {
        Ok((bytes, _)) => bytes,
        Err(error) if is_too_long(&error) || is_not_regular(&error) || is_link(&error) => Vec::new(),
        Err(error) => return Err(cannot("read", &path)(error)),
    };
    let damage = match record::read(&bytes, &path, id) {
        Ok(mut record) => match record.transaction.take() {
            Some(transaction) => match transaction.check(id) {
                Ok(()) => return alive_or_dead(state, record, transaction),
                Err(reason) => LedgerError::Damaged { path, reason },
            },
            None => LedgerError::Damaged { path, reason: "it has no steps".to_string() },
        },
        Err(error @ LedgerError::Damaged { .. }) => error,
        Err(error) => return Err(error),
    };
    // A journal of ours says so, or has a directory; the original tool knew nothing of that.
    let directory = directories_of(state, id)?.pop();
    if directory.is_none() && !record::file::is_ours(&bytes) {
        return Ok(Found::Original);
    }
    if how != Recovery::Keep {
        return Err(damage);
    }
    match take(state, &directory.unwrap_or_else(|| id.to_string()))? {
        Some(own) => Ok(Found::Damaged(own)),
        None => Err(damage),
    }
}

fn alive_or_dead(state: &State, record: Record, transaction: Transaction) -> Result<Found, LedgerError> {
    let record = Box::new(record);
    Ok(match take(state, &transaction.directory)? {
        Some(own) => Found::Dead { record, transaction, own },
        None => Found::Alive { record, transaction },
    })
}

fn plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Takes over a transaction's directory; `None` if its owner is alive. One that is gone is made anew.
fn take(state: &State, name: &str) -> Result<Option<OwnDirectory>, LedgerError> {
    let path = format!("{SLOTS}/{name}");
    let taken = || -> io::Result<Option<OwnDirectory>> {
        let all = state.need(Sub::Transactions)?;
        let dir = match state.fs().open_dir(&all, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                state.fs().make_dir(&all, name, DirMode::Private)?;
                state.fs().open_dir(&all, name)?
            }
            other => other?,
        };
        let lock = match state.fs().stat(&dir, "lock") {
            Ok(_) => match state.fs().lock(&dir, "lock")? {
                Some(lock) => Some(lock),
                None => return Ok(None),
            },
            // Its owner died before it made one: it would have done so under the project's lock.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Some(OwnDirectory { name: name.to_string(), dir, lock }))
    };
    taken().map_err(cannot("open", &path))
}

/// The directories that a transaction may have, the one of its first attempt last.
fn directories_of(state: &State, id: TxId) -> Result<Vec<String>, LedgerError> {
    let mut names = Vec::new();
    let mut list = || -> io::Result<()> {
        let Some(all) = state.sub(Sub::Transactions)? else { return Ok(()) };
        state.fs().each(&all, &mut |name, kind| {
            if kind == Kind::Dir && is_directory_of(name, id) {
                names.push(name.to_string());
            }
        })
    };
    list().map_err(cannot("list", SLOTS))?;
    names.sort_unstable_by(|a, b| b.cmp(a));
    Ok(names)
}

/// Ends a dead transaction.
fn bury(
    ledger: &Ledger,
    state: &State,
    record: &Record,
    transaction: &Transaction,
    own: &OwnDirectory,
    how: Recovery,
) -> Result<Outcome, LedgerError> {
    let places = ledger.root.places();
    if committed(state, record.uuid)? {
        settle(state, &places, own, record.uuid, transaction)?;
        return Ok(Outcome::Committed);
    }
    let others = match how {
        Recovery::Keep if transaction.stage == Stage::NeedsYou => {
            return Ok(Outcome::Kept { kept: set_aside(state, own, record.uuid)? });
        }
        Recovery::Restore => Others::Keep,
        Recovery::Automatic | Recovery::Keep => others(transaction.stage),
    };
    let before = |path: &str| before_bytes(state, record, path);
    let half_way = |why| LedgerError::half_way(record.uuid, why);
    let back = match putback::put_back(&places, transaction, &before, others) {
        Ok(back) => back,
        // Whoever stays with what is there needs nothing of what cannot be had.
        Err(_) if how == Recovery::Keep => {
            return Ok(Outcome::Kept { kept: set_aside(state, own, record.uuid)? });
        }
        Err(error) => return Err(half_way(error)),
    };
    let kept = finish(state, &places, own, record, transaction, &back).map_err(half_way)?;
    if back.left.is_empty() {
        return Ok(Outcome::PutBack { restored: back.restored, kept });
    }
    if how == Recovery::Keep {
        return Ok(Outcome::Kept { kept: set_aside(state, own, record.uuid)? });
    }
    Ok(Outcome::NeedsYou(Unfinished { id: record.uuid, restored: back.restored, left: back.left }))
}

/// How files that are neither as before nor as after are treated at this stage: what the project's
/// commands changed is the transaction's to put back.
pub(crate) fn others(stage: Stage) -> Others {
    if stage == Stage::GateRunning { Others::Keep } else { Others::LeaveAlone }
}

/// After a put-back: clears the traces, or writes down that a person has to look. Says where bytes of
/// others are kept, if there are any.
pub(crate) fn finish(
    state: &State,
    places: &Places<'_>,
    own: &OwnDirectory,
    record: &Record,
    transaction: &Transaction,
    back: &PutBack,
) -> Result<Option<String>, LedgerError> {
    if !back.left.is_empty() {
        if transaction.stage != Stage::NeedsYou {
            let waiting = Transaction { stage: Stage::NeedsYou, ..transaction.clone() };
            write_journal(state, own, &Record { transaction: Some(waiting), ..record.clone() })?;
        }
        return Ok(None);
    }
    if holds_others_bytes(places, own, transaction)? {
        return set_aside(state, own, record.uuid).map(Some);
    }
    // The journal first: without it, what is left here is known to be relay's own.
    remove_journal(state, record.uuid)?;
    clear(state, places, own).map_err(cannot("tidy", &format!("{SLOTS}/{}", own.name)))?;
    Ok(None)
}

/// Writes a journal so that it is there or not, never in part.
pub(crate) fn write_journal(state: &State, own: &OwnDirectory, journal: &Record) -> Result<(), LedgerError> {
    let name = state::journal_name(journal.uuid);
    atomic::write(state.fs(), (&own.dir, "journal"), (state.dir(), &name), &record::write(journal))
        .map_err(|error| cannot("write", &format!("{}/{name}", state::NAME))(error.source))
}

/// Whether a slot holds bytes that relay did not write.
fn holds_others_bytes(
    places: &Places<'_>,
    own: &OwnDirectory,
    transaction: &Transaction,
) -> Result<bool, LedgerError> {
    for (number, step) in transaction.steps.iter().enumerate() {
        let (slot, images) = match step {
            Step::Replace { slot, before, after, .. } => (Some(slot), vec![before, after]),
            Step::Create { slot, after, .. } => (Some(slot), vec![after]),
            Step::Remove { slot, before, .. } => (Some(slot), vec![before]),
            Step::Move { image, .. } => (None, vec![image]),
        };
        let asides = ASIDES.map(|what| format!("{SLOTS}/{}/{number}-{what}", own.name));
        for path in slot.into_iter().chain(&asides) {
            let found = seen::look(places, path, &images).map_err(cannot("read", path))?;
            if found != seen::Seen::Nothing && !images.iter().any(|image| found.has_bytes_of(image)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// After a commit: the journal goes, and the transaction's directory is marked as done. Repeated by
/// recovery if it is cut short.
pub(crate) fn settle(
    state: &State,
    places: &Places<'_>,
    own: &OwnDirectory,
    id: TxId,
    transaction: &Transaction,
) -> Result<(), LedgerError> {
    let mut displaced = false;
    let mut touched = Touched::default();
    for (number, step) in transaction.steps.iter().enumerate() {
        let (Step::Replace { slot, before, .. } | Step::Remove { slot, before, .. }) = step else { continue };
        displaced = true;
        if !slot.starts_with(SLOTS) {
            bring_home(state, places, own, number, slot, before)?;
            touched.entry(slot);
        }
    }
    touched.sync(places).map_err(cannot("write", "the changed directories"))?;
    remove_journal(state, id)?;
    let settled = || -> io::Result<()> {
        for name in ["journal", "record", "blob", ELSEWHERE] {
            remove_named(state, &own.dir, name)?;
        }
        if !displaced {
            return remove_own(state, own);
        }
        mark_done(state, own)
    };
    settled().map_err(cannot("tidy", &format!("{SLOTS}/{}", own.name)))
}

/// Marks a transaction's directory as done. If that was done before, and only the journal came back
/// after a power cut, then this directory is a new one without displaced files.
fn mark_done(state: &State, own: &OwnDirectory) -> io::Result<()> {
    let all = state.need(Sub::Transactions)?;
    match state.fs().rename(&all, &own.name, &all, &format!("{}{DONE}", own.name), Rename::NoReplace) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove_own(state, own),
        other => other,
    }
}

/// A displaced file on another device cannot stay there: if somebody wrote into it since, its bytes
/// move into the transaction's directory.
fn bring_home(
    state: &State,
    places: &Places<'_>,
    own: &OwnDirectory,
    number: usize,
    slot: &str,
    before: &record::Image,
) -> Result<(), LedgerError> {
    if !moves::holds(places, slot, before).map_err(cannot("read", slot))?
        && let Some((bytes, _)) = places.read(slot, u64::MAX).map_err(cannot("read", slot))?
    {
        atomic::stage(state.fs(), (&own.dir, &number.to_string()), &bytes).map_err(cannot("keep", slot))?;
    }
    moves::remove(places, slot).map_err(cannot("remove", slot))
}

/// Moves the journal into the transaction's directory, and marks that as kept. Says where.
fn set_aside(state: &State, own: &OwnDirectory, id: TxId) -> Result<String, LedgerError> {
    let moved = || -> io::Result<String> {
        let name = state::journal_name(id);
        match state.fs().rename(state.dir(), &name, &own.dir, SET_ASIDE, Rename::Replace) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        state.fs().sync_dir(state.dir())?;
        mark_kept(state, &own.name)
    };
    moved().map_err(cannot("keep", &format!("{SLOTS}/{}", own.name)))
}

fn mark_kept(state: &State, name: &str) -> io::Result<String> {
    let all = state.need(Sub::Transactions)?;
    let mut kept = format!("{name}{KEPT}");
    let mut attempt = 1;
    loop {
        match state.fs().rename(&all, name, &all, &kept, Rename::NoReplace) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                attempt += 1;
                kept = format!("{name}-{attempt}{KEPT}");
            }
            Err(error) => return Err(error),
            Ok(()) => return Ok(format!("{SLOTS}/{kept}")),
        }
    }
}

fn remove_journal(state: &State, id: TxId) -> Result<(), LedgerError> {
    let name = state::journal_name(id);
    let removed = || remove_named(state, state.dir(), &name).and_then(|()| state.fs().sync_dir(state.dir()));
    removed().map_err(cannot("remove", &format!("{}/{name}", state::NAME)))
}

fn remove_named(state: &State, dir: &Dir, name: &str) -> io::Result<()> {
    match state.fs().remove_file(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes a transaction's directory with what relay itself puts into one.
fn remove_own(state: &State, own: &OwnDirectory) -> io::Result<()> {
    for name in ["journal", "record", "blob", ELSEWHERE, "lock"] {
        remove_named(state, &own.dir, name)?;
    }
    let all = state.need(Sub::Transactions)?;
    match state.fs().remove_dir(&all, &own.name) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}

/// Removes what staging left behind when it failed: nothing of it is in the project yet.
pub(crate) fn clear(state: &State, places: &Places<'_>, own: &OwnDirectory) -> io::Result<()> {
    match state.fs().read(&own.dir, ELSEWHERE, record::RECORD_BYTES as u64) {
        Ok((bytes, _)) => {
            let mut touched = Touched::default();
            // Only names that relay gives are removed, whatever the list says.
            for slot in String::from_utf8_lossy(&bytes).lines().filter(|line| is_slot(line, &own.name)) {
                moves::remove(places, slot)?;
                touched.entry(slot);
            }
            // They must be gone for good before the list of them is.
            touched.sync(places)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    for (name, kind) in state.fs().list(&own.dir)? {
        let number = ASIDES.iter().find_map(|what| name.strip_suffix(what)?.strip_suffix('-'));
        let number = number.unwrap_or(&name);
        if kind == Kind::File && number.bytes().all(|byte| byte.is_ascii_digit()) {
            remove_named(state, &own.dir, &name)?;
        }
    }
    remove_own(state, own)
}

/// Directories of transactions that have no journal: staging was cut short, or a commit's last step.
fn orphans(state: &State, in_use: &HashSet<String>) -> Result<Vec<String>, LedgerError> {
    let Some(all) = state.sub(Sub::Transactions).map_err(cannot("open", SLOTS))? else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    let seen = state.fs().each(&all, &mut |name, kind| {
        if kind == Kind::Dir && plain_name(name) && !in_use.contains(name) {
            names.push(name.to_string());
        }
    });
    seen.map_err(cannot("list", SLOTS))?;
    Ok(names)
}

fn remove_orphan(ledger: &Ledger, state: &State, name: &str) -> Result<(), LedgerError> {
    let Some(own) = take(state, name)? else { return Ok(()) };
    let id = name.get(..36).and_then(|id| id.parse::<TxId>().ok());
    let places = ledger.root.places();
    let gone = || -> io::Result<()> {
        match state.fs().stat(&own.dir, SET_ASIDE) {
            Ok(_) => return mark_kept(state, name).map(|_| ()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let recorded = match id {
            Some(id) => exists(state, id)?,
            None => false,
        };
        if recorded {
            return mark_done(state, &own);
        }
        clear(state, &places, &own)
    };
    gone().map_err(cannot("tidy", &format!("{SLOTS}/{name}")))
}

/// The transactions that have a journal.
fn journals(state: &State) -> Result<Vec<TxId>, LedgerError> {
    let mut found = Vec::new();
    let seen = state.fs().each(state.dir(), &mut |name, _| found.extend(state::journal_id(name)));
    seen.map_err(cannot("list", state::NAME))?;
    Ok(found)
}

fn exists(state: &State, id: TxId) -> io::Result<bool> {
    let name = state::record_name(id);
    for dir in [Some(state.dir().clone()), state.sub(Sub::Undone)?].into_iter().flatten() {
        match state.fs().stat(&dir, &name) {
            Ok(_) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Whether a transaction is in the ledger.
pub(crate) fn committed(state: &State, id: TxId) -> Result<bool, LedgerError> {
    exists(state, id).map_err(cannot("look at", state::NAME))
}

/// The bytes that `path` had before the transaction, as the journal keeps them.
pub(crate) fn before_bytes(state: &State, record: &Record, path: &str) -> Result<Vec<u8>, LedgerError> {
    match record.snapshot.get(path) {
        Some(Some(Content::Text(text))) => Ok(text.clone().into_bytes()),
        Some(Some(Content::Blob { blob, .. })) => {
            let blobs = state.need(Sub::Blobs).map_err(cannot("open", "blobs"))?;
            let bytes = blobs::get(state.fs(), &blobs, *blob)?;
            bytes.ok_or_else(|| damaged(record.uuid, format!("the blob with the bytes of {path} is gone")))
        }
        _ => Err(damaged(record.uuid, format!("it does not say what {path} was"))),
    }
}

fn damaged(id: TxId, reason: String) -> LedgerError {
    LedgerError::Damaged { path: format!("{}/{}", state::NAME, state::journal_name(id)), reason }
}
