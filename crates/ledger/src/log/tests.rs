use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use relaycode_durable::RealFs;

use super::*;
use crate::LedgerSettings;
use crate::disk::StateDir;
use crate::disk::state_dir::record_name;
use crate::record::tests::{id, plain};

pub(crate) struct Scratch {
    pub(crate) temp: tempfile::TempDir,
    pub(crate) ledger: Ledger,
}

/// A project without a copy.
pub(crate) fn scratch() -> Scratch {
    let temp = tempfile::tempdir().unwrap();
    in_directory(temp, LedgerSettings::default())
}

/// A project with a copy, and with an index that is kept.
pub(crate) fn scratch_with_home() -> Scratch {
    let temp = tempfile::tempdir().unwrap();
    let settings = LedgerSettings { home: Some(temp.path().join("home")), ..LedgerSettings::default() };
    in_directory(temp, settings)
}

fn in_directory(temp: tempfile::TempDir, settings: LedgerSettings) -> Scratch {
    let root = temp.path().join("project");
    fs::create_dir(&root).unwrap();
    let ledger = Ledger::open(Arc::new(RealFs::default()), &root, settings).unwrap();
    StateDir::create(&ledger.fs, &ledger.root).unwrap();
    Scratch { temp, ledger }
}

impl Scratch {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join("project").join(name)
    }

    /// Leaves a record, as a commit does before it tells the index.
    pub(crate) fn leave(&self, record: &Record) {
        let path = self.path(".relaycode").join(record_name(record.uuid));
        let mut bytes = Vec::new();
        let seal = self.ledger.seal_hasher(crate::seal::SealPurpose::Record);
        crate::record::write_to(record, seal, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn commit(&self, record: &Record) {
        self.leave(record);
        self.ledger.settle(record).unwrap();
        self.ledger.forget_fresh();
    }

    fn numbers(&self, skip: usize, count: usize) -> Vec<Vec<u64>> {
        let page = self.ledger.log_page(skip, count).unwrap();
        page.entries.iter().map(|entry| entry.members.iter().map(|item| item.number).collect()).collect()
    }

    fn undone(&self) -> Vec<u64> {
        let page = self.ledger.log_page(0, 100).unwrap();
        let items = page.entries.into_iter().flat_map(|entry| entry.members);
        items.filter(|item| item.undone).map(|item| item.number).collect()
    }

    /// Where the index is kept.
    pub(crate) fn index(&self) -> PathBuf {
        let all = fs::read_dir(self.temp.path().join("home/ledgers")).unwrap();
        all.map(|entry| entry.unwrap().path()).next().unwrap().join("index")
    }

    fn lines(&self) -> usize {
        fs::read_to_string(self.index()).unwrap().lines().count()
    }
}

fn member(number: u32, group: &str) -> Record {
    Record { group: Some(group.into()), ..plain(number) }
}

fn revert(number: u32, of: u32) -> Record {
    Record { revert_of: vec![id(of)], origin: "revert".into(), ..plain(number) }
}

#[test]
fn pages_come_newest_first_and_show_a_group_once() {
    let scratch = scratch_with_home();
    let ledger = &scratch.ledger;
    assert_eq!(ledger.log_page(0, 10).unwrap(), LogPage { entries: vec![], total: 0 });
    assert_eq!(ledger.next_number().unwrap(), 1);
    for record in [plain(1), member(2, "turn"), plain(3), member(4, "turn"), plain(5), member(6, "t6")] {
        scratch.commit(&record);
        assert_eq!(scratch.lines(), usize::try_from(record.number).unwrap(), "the index is kept as we go");
    }
    for rebuilt in [false, true] {
        if rebuilt {
            fs::remove_file(scratch.index()).unwrap();
        }
        assert_eq!(scratch.numbers(0, 10), [vec![6], vec![5], vec![4, 2], vec![3], vec![1]]);
        assert_eq!(scratch.numbers(0, 1), [[6]]);
        assert_eq!(scratch.numbers(2, 1), [[4, 2]]);
        assert_eq!(scratch.numbers(3, 1), [[3]]);
        assert_eq!(scratch.numbers(5, 1), Vec::<Vec<u64>>::new());
        assert_eq!(ledger.log_page(0, 1).unwrap().total, 5);
        assert_eq!(ledger.next_number().unwrap(), 7);
    }
    assert_eq!(ledger.find_target("1").unwrap(), LogTarget::Group { id: "t6".into(), members: vec![id(6)] });
    assert_eq!(ledger.find_target("t6").unwrap(), ledger.find_target("1").unwrap());
    assert_eq!(ledger.find_target("2").unwrap(), LogTarget::Transaction(id(5)));
    assert_eq!(
        ledger.find_target("turn").unwrap(),
        LogTarget::Group { id: "turn".into(), members: vec![id(4), id(2)] }
    );
    assert_eq!(ledger.find_target(&id(3).to_string()).unwrap(), LogTarget::Transaction(id(3)));
    assert_eq!(ledger.find_target("00000004").unwrap(), LogTarget::Transaction(id(4)));
    assert!(
        matches!(ledger.find_target("0000"), Err(LedgerError::Ambiguous { candidates, .. }) if candidates.len() == 6)
    );
    for name in ["", "0", "9", "abc", "abcd", "99999", "../x", "00000009"] {
        assert!(matches!(ledger.find_target(name), Err(LedgerError::UnknownTransaction { .. })), "{name}");
    }
    assert_eq!(ledger.record(id(3)).unwrap(), plain(3));
    assert!(matches!(ledger.record(id(9)), Err(LedgerError::UnknownTransaction { .. })));
}

#[test]
fn a_revert_that_is_reverted_does_not_count() {
    let scratch = scratch_with_home();
    for record in [plain(1), plain(2), revert(3, 1)] {
        scratch.commit(&record);
    }
    let undone = |number: u32| scratch.path(".relaycode/undone").join(record_name(id(number))).exists();
    assert_eq!(scratch.undone(), [1]);
    assert!(undone(1) && !undone(3));
    scratch.commit(&revert(4, 3));
    assert_eq!(scratch.undone(), [3]);
    assert!(!undone(1) && undone(3));
    scratch.commit(&revert(5, 4));
    assert_eq!(scratch.undone(), [4, 1]);
    assert!(undone(1) && !undone(3) && undone(4));
    scratch.ledger.settle(&revert(5, 4)).unwrap();
    assert!(undone(1) && !undone(3) && undone(4));
    fs::remove_file(scratch.index()).unwrap();
    assert_eq!(scratch.undone(), [4, 1]);
    // A crash after the commit: the next command moves what was left.
    scratch.leave(&revert(6, 5));
    scratch.ledger.catch_up().unwrap();
    assert!(!undone(1) && undone(3) && !undone(4) && undone(5));
    assert_eq!(scratch.ledger.record(id(5)).unwrap(), revert(5, 4));
}

#[test]
fn a_damaged_record_or_index_stops_nothing() {
    let scratch = scratch_with_home();
    for number in 1..=4 {
        scratch.commit(&plain(number));
    }
    let index = scratch.index();
    let whole = fs::read(&index).unwrap();
    for at in (0..whole.len()).step_by(11) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&index, &bytes).unwrap();
        assert_eq!(scratch.numbers(0, 9), [[4], [3], [2], [1]], "byte {at}");
        fs::write(&index, &whole[..at]).unwrap();
        assert_eq!(scratch.numbers(0, 9), [[4], [3], [2], [1]], "cut at {at}");
    }
    let damaged = scratch.path(".relaycode").join(record_name(id(2)));
    fs::write(&damaged, &crate::record::write(&plain(2))[..200]).unwrap();
    fs::remove_file(&index).unwrap();
    let page = scratch.ledger.log_page(0, 9).unwrap();
    let bad: Vec<_> = page.entries.iter().filter(|entry| entry.members[0].damage.is_some()).collect();
    assert_eq!(page.entries.len(), 4);
    assert_eq!(bad[0].members[0].id, Some(id(2)));
    assert!(!bad[0].members[0].revertible && bad.len() == 1);
    assert!(matches!(scratch.ledger.record(id(2)), Err(LedgerError::Damaged { .. })));
}

#[test]
fn originals_of_both_layouts_come_before_ours() {
    let scratch = scratch();
    let original = |number: u32, day: u32, more: &str| {
        format!(
            "uuid: {}\nprojectId: p\ncreatedAt: '2025-01-{day:02}'\nsnapshot:\n  a.txt: null\noperations:\n  - \
             type: write\n    path: a.txt\n    content: x\n    patchStrategy: replace\napproved: true\n{more}",
            id(number)
        )
    };
    fs::create_dir_all(scratch.path(".relay/transactions")).unwrap();
    let write = |name: &str, text: String| fs::write(scratch.path(name), text).unwrap();
    write(&format!(".relaycode/{}.yml", id(101)), original(101, 1, ""));
    write(&format!(".relaycode/undone/{}.yml", id(102)), original(102, 2, ""));
    write(".relay/transactions/3.yaml", original(103, 3, "status: committed\n"));
    write(".relay/transactions/4.yaml", original(104, 4, "status: undone\n"));
    write(".relay/transactions/5.yaml", original(105, 5, "status: pending\n"));
    write(&format!(".relay/transactions/{}.pending.yml", id(106)), original(106, 6, ""));
    scratch.commit(&plain(1));
    scratch.commit(&revert(2, 103));
    let page = scratch.ledger.log_page(0, 20).unwrap();
    let shown: Vec<_> =
        page.entries.iter().map(|entry| (entry.members[0].id.unwrap(), entry.members[0].undone)).collect();
    let expected = [(2, false), (1, false), (104, true), (103, true), (102, true), (101, false)];
    assert_eq!(shown, expected.map(|(number, undone)| (id(number), undone)));
    assert_eq!(page.total, 6);
    assert!(page.entries.iter().all(|entry| entry.members[0].revertible));
    let record = scratch.ledger.record(id(103)).unwrap();
    assert_eq!(scratch.ledger.after_bytes(&record, &record.result[0]).unwrap().as_deref(), Some(&b"x"[..]));
    assert_eq!(scratch.ledger.before_bytes(&record, &record.result[0]).unwrap(), None);
}

#[test]
fn a_ledger_that_cannot_be_written_is_still_read() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = scratch();
    scratch.leave(&plain(1));
    let dir = scratch.path(".relaycode");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(scratch.numbers(0, 9), [[1]]);
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn what_a_blob_held_is_found_or_missed() {
    let scratch = scratch();
    let bytes = b"\xff\xfe binary";
    let mut record = plain(1);
    let digest = Digest::of(bytes);
    record
        .snapshot
        .insert("a.txt".into(), Some(RecordContent::Blob { blob: digest, size: bytes.len() as u64 }));
    record.result[0].before = Some(crate::record::FileImage::of(bytes, 0o644));
    let file = scratch.path(".relaycode/blobs").join(digest.to_string());
    fs::write(&file, bytes).unwrap();
    scratch.commit(&record);
    let revertible = || scratch.ledger.log_page(0, 1).unwrap().entries[0].members[0].revertible;
    let read = || scratch.ledger.before_bytes(&record, &record.result[0]);
    assert!(revertible());
    assert_eq!(read().unwrap().as_deref(), Some(&bytes[..]));
    fs::write(&file, b"something else").unwrap();
    assert!(matches!(read(), Err(LedgerError::Damaged { .. })));
    fs::remove_file(&file).unwrap();
    assert!(!revertible());
    assert!(matches!(read(), Err(LedgerError::NotRevertible { .. })));
}
