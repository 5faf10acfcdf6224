use std::fs;

use super::*;
use crate::log::LogTarget;
use crate::log::tests::{Scratch, scratch, scratch_with_home};
use crate::revert::RevertOptions;
use crate::transaction::{AfterContent, CommitVerdict, FileChange, NewMode, TransactionHeader};

impl Scratch {
    fn commit_changes(&self, changes: &[FileChange], about: TransactionHeader) -> TxId {
        let open = self.ledger.begin(changes, about, &|| false).unwrap();
        open.commit(CommitVerdict::default()).unwrap().record.uuid
    }

    /// Writes `text` to `new`, which is `old` now or nothing at all.
    fn write(&self, old: &str, new: &str, text: Option<&str>) -> TxId {
        let path = |text: &str| RelPath::parse(text).unwrap();
        let change = FileChange {
            path: path(new),
            renamed_from: (old != new).then(|| path(old)),
            before: fs::read(self.path(old)).ok().map(Into::into),
            after: text.map(|text| AfterContent { bytes: text.as_bytes().into(), mode: NewMode::Keep }),
            added: 0,
            removed: 0,
        };
        self.commit_changes(&[change], about("file"))
    }

    fn revert(&self, id: TxId) -> TxId {
        let reversal =
            self.ledger.plan_revert(&LogTarget::Transaction(id), &RevertOptions::default()).unwrap();
        let about = TransactionHeader { revert_of: reversal.reverts, ..about("revert") };
        self.commit_changes(&reversal.changes, about)
    }

    fn by_hand(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn owners(&self, name: &str) -> Vec<Option<TxId>> {
        let blame = self.ledger.blame(name).unwrap();
        assert_eq!(blame.note, None);
        blame.lines.into_iter().map(|line| line.written_by).collect()
    }
}

fn about(origin: &str) -> TransactionHeader {
    TransactionHeader::new(TxId::random(), "test", "2026-01-02T03:04:05.000Z", origin)
}

#[test]
fn every_line_belongs_to_who_wrote_it() {
    let scratch = scratch();
    scratch.by_hand("a", "mine 1\nmine 2\n");
    assert_eq!(scratch.owners("a"), [None, None]);
    let one = scratch.write("a", "a", Some("mine 1\none\nmine 2\n"));
    let two = scratch.write("a", "a", Some("two\nmine 1\none\nmine 2\n"));
    scratch.by_hand("a", "two\nmine 1\nby hand\none\nmine 2\n");
    assert_eq!(scratch.owners("a"), [Some(two), None, None, Some(one), None]);
    let moved = scratch.write("a", "d/b", Some("two\nmine 1\nby hand\nmoved\none\nmine 2"));
    assert_eq!(scratch.owners("d/b"), [Some(two), None, None, Some(moved), Some(one), Some(moved)]);
    let blame = scratch.ledger.blame("d/b").unwrap();
    assert_eq!(blame.lines[3].text, "moved");
    let other = scratch.write("a", "a", Some("one\n"));
    assert_eq!(scratch.owners("a"), [Some(other)], "another file of an old name");
    scratch.write("a", "a", None);
    scratch.by_hand("a", "one\n");
    assert_eq!(scratch.owners("a"), [None], "it was gone in between");
}

#[test]
fn what_a_revert_brings_back_belongs_to_who_wrote_it_first() {
    let scratch = scratch();
    let made = scratch.write("a", "a", Some("1\n2\n3\n4\n5\n6\n7\n8\n"));
    let changed = scratch.write("a", "a", Some("1\n2\nthree\n4\n5\n6\nseven\n8\n"));
    let later = scratch.write("a", "a", Some("1\n2\nthree\n4\n5\n6\nseven\n8\nnine\n"));
    let back = scratch.revert(changed);
    let mut expected = vec![Some(made); 8];
    expected.push(Some(later));
    assert_eq!(scratch.owners("a"), expected);
    scratch.revert(back);
    (expected[2], expected[6]) = (Some(changed), Some(changed));
    assert_eq!(scratch.owners("a"), expected);
    let gone = scratch.write("a", "a", None);
    scratch.revert(gone);
    assert_eq!(scratch.owners("a"), expected, "a file that was deleted and came back");
    let moved = scratch.write("a", "b", Some("1\n2\nthree\nfour\n5\n6\nseven\n8\nnine\n"));
    scratch.revert(moved);
    assert_eq!(scratch.owners("a"), expected, "a file that was renamed and came back");
}

#[test]
fn what_cannot_be_followed_is_said_and_not_guessed() {
    let scratch = scratch();
    let long = "long\n".repeat(20_000);
    scratch.write("a", "a", Some(&long));
    let two = scratch.write("a", "a", Some(&format!("{long}two\n")));
    for blob in fs::read_dir(scratch.path(".relaycode/blobs")).unwrap() {
        let blob = blob.unwrap();
        if blob.metadata().unwrap().len() == long.len() as u64 {
            fs::remove_file(blob.path()).unwrap();
        }
    }
    let blame = scratch.ledger.blame("a").unwrap();
    assert!(blame.note.is_some_and(|note| note.contains("not kept any more")));
    assert!(blame.lines.iter().all(|line| line.written_by.is_none()), "not even the newest can be told");
    assert!(scratch.ledger.record(two).is_ok());
    let scratch = scratch_with_home();
    scratch.by_hand("b", "1\n");
    let damaged = scratch.write("b", "b", Some("1\n2\n"));
    let three = scratch.write("b", "b", Some("1\n2\n3\n"));
    fs::write(scratch.path(&format!(".relaycode/{damaged}.yml")), "damaged").unwrap();
    let blame = scratch.ledger.blame("b").unwrap();
    let owners: Vec<Option<TxId>> = blame.lines.iter().map(|line| line.written_by).collect();
    assert_eq!(owners, [None, None, Some(three)]);
    assert!(blame.note.is_some());
    fs::create_dir(scratch.path("dir")).unwrap();
    std::os::unix::fs::symlink("b", scratch.path("link")).unwrap();
    for path in ["none", "../b", "dir", "link", "dir/../b", ".relaycode/index", ""] {
        assert!(matches!(scratch.ledger.blame(path), Err(LedgerError::Refused(_))), "{path}");
    }
}
