//! What a crash leaves is put back by the next command that writes, or by hand.
//!
//! Only dead transactions are touched: those whose own lock is free. A journal whose record exists is
//! committed, whatever else there is; any other is put back, by the same code as in a living
//! transaction, as often as it takes. A journal that cannot be understood stops everything: what it
//! speaks of is in the project, and guessing would be worse.

use std::collections::HashSet;
use std::io;

use relaycode_durable::Kind;
use relaycode_durable::fs::{DirMode, is_link, is_not_regular, is_too_long};

use crate::blobs;
use crate::error::{LedgerError, Unfinished, cannot};
use crate::id::TxId;
use crate::journal::{Stage, Step, Transaction, is_directory_of};
use crate::ledger::Ledger;
use crate::putback::{self, Others};
use crate::record::{self, Content, Record};
use crate::recording::{self, Left};
use crate::state::{self, State, Sub};
use crate::traces;
use crate::transaction::{OwnDirectory, SLOTS};

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
    /// It is a recording whose process died: what had changed is in the ledger now.
    Recorded {
        /// How many files that is; 0: nothing had changed, and nothing is recorded.
        files: usize,
        /// What changed and cannot be undone.
        left: Vec<Left>,
    },
}

/// A transaction that is open: alive in another process, or waiting for a person.
pub(crate) struct StillOpen {
    pub(crate) id: TxId,
    pub(crate) pid: Option<u32>,
    pub(crate) paths: Vec<String>,
    /// Directories that it makes.
    pub(crate) makes: Vec<String>,
}

impl Ledger {
    /// Deals with every dead transaction.
    ///
    /// # Errors
    /// `Newer` and `Damaged` for a journal that cannot be understood: nothing is touched then.
    pub fn recover(&self, how: Recovery) -> Result<Vec<Recovered>, LedgerError> {
        let state = self.state()?;
        let nothing = match &state {
            Some(state) => journals(state)?.is_empty() && orphans(state, &HashSet::new())?.is_empty(),
            None => true,
        };
        // A recording is there also if its command removed everything in the project.
        if nothing && !recording::any(self, state.as_ref())? {
            return Ok(Vec::new());
        }
        let state = State::create(&self.fs, &self.root).map_err(cannot("make", state::NAME))?;
        let _project = self.lock(&state)?;
        let recovered = sweep(self, &state, how)?.0;
        // What a crash kept from following the newest commit; the next command tries again.
        let _ = self.catch_up();
        Ok(recovered)
    }

    /// How many transactions are open, or stopped in the middle. Nothing is touched.
    ///
    /// # Errors
    /// The system's.
    pub fn unfinished(&self) -> Result<usize, LedgerError> {
        match self.state()? {
            Some(state) => Ok(journals(&state)?.len()),
            None => Ok(0),
        }
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
                let kept = traces::set_aside(state, &own, id)?;
                // Which of them was the one is not known any more.
                for name in directories_of(state, id)? {
                    if take(state, &name)?.is_some() {
                        traces::mark_kept(state, &name)
                            .map_err(cannot("keep", &format!("{SLOTS}/{name}")))?;
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
    recovered.extend(recording::bury(ledger, state)?);
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
    let makes = transaction.make_directories.clone();
    StillOpen { id: record.uuid, pid: alive.then_some(transaction.pid), paths, makes }
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
        traces::settle(state, &places, own, record.uuid, transaction)?;
        return Ok(Outcome::Committed);
    }
    let others = match how {
        Recovery::Keep if transaction.stage == Stage::NeedsYou => {
            return Ok(Outcome::Kept { kept: traces::set_aside(state, own, record.uuid)? });
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
            return Ok(Outcome::Kept { kept: traces::set_aside(state, own, record.uuid)? });
        }
        Err(error) => return Err(half_way(error)),
    };
    let kept = traces::finish(state, &places, own, record, transaction, &back).map_err(half_way)?;
    if back.left.is_empty() {
        return Ok(Outcome::PutBack { restored: back.restored, kept });
    }
    if how == Recovery::Keep {
        return Ok(Outcome::Kept { kept: traces::set_aside(state, own, record.uuid)? });
    }
    Ok(Outcome::NeedsYou(Unfinished { id: record.uuid, restored: back.restored, left: back.left }))
}

/// How files that are neither as before nor as after are treated at this stage: what the project's
/// commands changed is the transaction's to put back.
pub(crate) fn others(stage: Stage) -> Others {
    if stage == Stage::GateRunning { Others::Keep } else { Others::LeaveAlone }
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
        match state.fs().stat(&own.dir, traces::SET_ASIDE) {
            Ok(_) => return traces::mark_kept(state, name).map(|_| ()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let recorded = match id {
            Some(id) => exists(state, id)?,
            None => false,
        };
        if recorded {
            return traces::mark_done(state, &own);
        }
        traces::clear(state, &places, &own)
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
