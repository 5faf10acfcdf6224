use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::*;
use crate::log::tests::{Scratch, scratch};
use crate::record::RecordContent;
use crate::record::tests::{id, plain};
use crate::transaction::{TransactionJournal, TransactionStage};

fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

fn blob(scratch: &Scratch, bytes: &[u8], days_old: u64) -> PathBuf {
    let path = scratch.path(".relaycode/blobs").join(Digest::of(bytes).to_string());
    fs::write(&path, bytes).unwrap();
    let then = SystemTime::now() - Duration::from_secs(days_old * 24 * 60 * 60);
    fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
    path
}

#[test]
fn blobs_go_by_age_and_by_size_but_not_those_of_an_open_transaction() {
    let scratch = scratch();
    let (old, held) = (blob(&scratch, b"old", 91), blob(&scratch, b"held", 92));
    let (second, young) = (blob(&scratch, b"second", 20), blob(&scratch, b"young", 10));
    let mut journal = plain(1);
    journal.snapshot.insert("b".into(), Some(RecordContent::Blob { blob: Digest::of(b"held"), size: 4 }));
    let path = scratch.path(".relaycode").join(state_dir::journal_name(id(1)));
    fs::write(&path, record::write(&journal)).unwrap();
    let collected = scratch.ledger.collect(now(), &RetentionPolicy::default()).unwrap();
    assert_eq!((collected.blobs, collected.bytes), (1, 3));
    assert!(!old.exists() && held.exists() && second.exists() && young.exists());
    let tight = RetentionPolicy { blob_bytes: 10, ..RetentionPolicy::default() };
    // A journal that cannot be read may need any of them.
    fs::write(&path, "damaged").unwrap();
    assert_eq!(scratch.ledger.collect(now(), &tight).unwrap(), CollectionReport::default());
    fs::write(&path, record::write(&journal)).unwrap();
    assert_eq!(scratch.ledger.collect(now(), &tight).unwrap().blobs, 1);
    assert!(held.exists() && !second.exists() && young.exists());
    assert_eq!(scratch.ledger.collect(now(), &tight).unwrap(), CollectionReport::default());
}

#[test]
fn displaced_files_go_when_they_are_what_they_were() {
    let scratch = scratch();
    let later = now() + 15 * DAY;
    let slot = |number: u32, name: &str, bytes: &[u8]| {
        let dir = scratch.path(".relaycode/tx").join(format!("{}.done", id(number)));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(LOCK), "").unwrap();
        fs::write(dir.join(name), bytes).unwrap();
        dir
    };
    for number in [1, 2, 5] {
        scratch.commit(&plain(number));
    }
    let same = slot(1, "0", b"one\n");
    let written_into = slot(2, "0", b"somebody's bytes");
    let unknown = slot(3, "0", b"one\n");
    let open = slot(4, "0", b"one\n");
    let locked = slot(5, "0", b"one\n");
    let mut journal = plain(4);
    journal.transaction = Some(TransactionJournal {
        stage: TransactionStage::NeedsYou,
        pid: 1,
        directory: id(4).to_string(),
        steps: vec![],
        make_directories: vec![],
        remove_directories: vec![],
        directory_modes: Vec::new(),
    });
    fs::write(scratch.path(".relaycode").join(state_dir::journal_name(id(4))), record::write(&journal))
        .unwrap();
    let file_system = &*scratch.ledger.fs;
    let dir = file_system.open_root(&locked).unwrap();
    let held = file_system.try_lock(&dir, LOCK).unwrap().unwrap();
    assert_eq!(
        scratch.ledger.collect(now(), &RetentionPolicy::default()).unwrap(),
        CollectionReport::default()
    );
    let collected = scratch.ledger.collect(later, &RetentionPolicy::default()).unwrap();
    assert_eq!((collected.displaced, collected.directories, collected.bytes), (1, 1, 4));
    assert_eq!(collected.kept.len(), 2);
    assert!(!same.exists() && open.join("0").exists() && locked.join("0").exists());
    assert!(written_into.join("0").exists() && unknown.join("0").exists());
    drop(held);
    assert_eq!(scratch.ledger.collect(later, &RetentionPolicy::default()).unwrap().displaced, 1);
    assert!(!locked.exists());
}

#[test]
fn nothing_goes_while_another_relay_writes() {
    let scratch = scratch();
    let old = blob(&scratch, b"old", 91);
    let file_system = &*scratch.ledger.fs;
    let dir = file_system.open_root(&scratch.path(".relaycode")).unwrap();
    let held = file_system.try_lock(&dir, LOCK).unwrap().unwrap();
    assert_eq!(
        scratch.ledger.collect(now(), &RetentionPolicy::default()).unwrap(),
        CollectionReport::default()
    );
    drop(held);
    assert_eq!(scratch.ledger.collect(now(), &RetentionPolicy::default()).unwrap().blobs, 1);
    assert!(!old.exists());
}
