//! An error says which state the project is in; that must be the state it is in.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use relaycode_change::proposal::path::RelPath;
use relaycode_durable::{Fs, FsLock, RealFs};
use relaycode_ledger::transaction::change::{AfterContent, FileChange, NewMode};
use relaycode_ledger::{
    CommitVerdict, Ledger, LedgerError, LedgerSettings, OpenTransaction, RecoveryMode, TransactionHeader,
    TxId,
};
use tempfile::TempDir;

fn ledger(dir: &TempDir) -> Ledger {
    let settings = LedgerSettings { lock_timeout: Duration::from_millis(5), ..LedgerSettings::default() };
    Ledger::open(Arc::new(RealFs::default()), dir.path(), settings).unwrap()
}

fn begin(ledger: &Ledger) -> Result<OpenTransaction<'_>, LedgerError> {
    let change = FileChange {
        path: RelPath::parse("a.txt").unwrap(),
        renamed_from: None,
        before: Some(b"one\n".into()),
        after: Some(AfterContent { bytes: b"1\n".into(), mode: NewMode::Keep }),
        added: 1,
        removed: 1,
    };
    ledger.begin(
        &[change],
        TransactionHeader::new(TxId::random(), "shop", "2026-03-10T12:00:00.000Z", "file"),
        &|| false,
    )
}

/// The project's lock, as another relay would hold it.
fn lock(dir: &TempDir) -> FsLock {
    let fs = RealFs::default();
    let state = fs.open_root(&dir.path().join(".relaycode")).unwrap();
    fs.try_lock(&state, "lock").unwrap().expect("nobody else has it")
}

#[test]
fn a_lock_that_does_not_come_leaves_everything_as_it_was() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.txt"), "one\n").unwrap();
    let text = || fs::read_to_string(dir.path().join("a.txt")).unwrap();
    for commit in [true, false] {
        let ledger = ledger(&dir);
        let open = begin(&ledger).unwrap();
        assert_eq!(text(), "1\n");
        let held = lock(&dir);
        assert!(matches!(begin(&ledger), Err(LedgerError::Busy)), "nothing is touched before");
        if commit {
            assert!(matches!(open.commit(CommitVerdict::default()), Err(LedgerError::Busy)));
        } else {
            open.put_back().unwrap();
        }
        assert_eq!(text(), "one\n");
        drop(held);
        assert_eq!(ledger.recover(RecoveryMode::Automatic).unwrap(), []);
        assert_eq!(ledger.log_page(0, 1).unwrap().total, 0);
    }
}

#[test]
fn a_stop_while_waiting_for_the_lock_touches_nothing() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.txt"), "one\n").unwrap();
    let ledger = Ledger::open(Arc::new(RealFs::default()), dir.path(), LedgerSettings::default()).unwrap();
    begin(&ledger).unwrap().put_back().unwrap();
    let held = lock(&dir);
    let about = TransactionHeader::new(TxId::random(), "shop", "2026-03-10T12:00:00.000Z", "file");
    let stopped = ledger.begin(&[], about, &|| true).map(drop);
    assert!(matches!(stopped, Err(LedgerError::Interrupted)), "{stopped:?}");
    drop(held);
    assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "one\n");
}
