//! What a record says of how a change came in, and changes that do not come from an answer.

use std::fs;
use std::sync::Arc;

use relaycode_change::proposal::path::RelPath;
use relaycode_durable::RealFs;
use relaycode_ledger::disk::digest::digest_changes;
use relaycode_ledger::transaction::change::{AfterContent, FileChange, NewMode};
use relaycode_ledger::{
    CommitVerdict, Ledger, LedgerSettings, LogTarget, RevertOptions, TransactionHeader, TxId,
};
use tempfile::TempDir;

fn ledger(dir: &TempDir) -> Ledger {
    Ledger::open(Arc::new(RealFs::default()), dir.path(), LedgerSettings::default()).unwrap()
}

fn change<'a>(path: &str, before: Option<&'a str>, after: &'a str) -> FileChange<'a> {
    FileChange {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        before: before.map(|text| text.as_bytes().into()),
        after: Some(AfterContent { bytes: after.as_bytes().into(), mode: NewMode::Keep }),
        added: 1,
        removed: 0,
    }
}

fn about(origin: &str) -> TransactionHeader {
    TransactionHeader::new(TxId::random(), "shop", "2026-03-10T12:00:00.000Z", origin)
}

#[test]
fn a_record_says_what_was_approved_and_which_rules_decided_whatever_a_formatter_did() {
    let dir = TempDir::new().unwrap();
    let ledger = ledger(&dir);
    let changes = [change("a.txt", None, "one\n")];
    let plan = digest_changes(changes.clone());
    let mut open =
        ledger.begin(&changes, TransactionHeader { plan: Some(plan), ..about("file") }, &|| false).unwrap();
    open.begin_gate().unwrap();
    fs::write(dir.path().join("a.txt"), "one\n\n").unwrap();
    assert_eq!(open.finish_gate().unwrap(), ["a.txt"]);
    let verdict = CommitVerdict {
        decided_by: Some("auto".into()),
        rules: vec!["the key is right".into(), "errors: 2, before 2".into()],
        gate: Some("tsc: 2 errors".into()),
    };
    let committed = open.commit(verdict.clone()).unwrap().record;
    let record = ledger.record(committed.uuid).unwrap();
    assert_eq!(record, committed);
    assert_eq!(record.plan, Some(plan));
    let said = CommitVerdict {
        decided_by: record.decided_by.clone(),
        rules: record.rules.clone(),
        gate: record.gate.clone(),
    };
    assert_eq!(said, verdict);
    assert_eq!(ledger.after_bytes(&record, &record.result[0]).unwrap().as_deref(), Some(&b"one\n\n"[..]));
    assert_eq!((record.result[0].added, record.result[0].removed), (2, 0), "counted anew");
}

#[test]
fn the_first_files_of_a_project_can_be_made_and_taken_back() {
    for ignored in [None, Some("node_modules/\n")] {
        let dir = TempDir::new().unwrap();
        if let Some(text) = ignored {
            fs::write(dir.path().join(".gitignore"), text).unwrap();
        }
        let ledger = ledger(&dir);
        let text = format!("{}.relaycode/\n", ignored.unwrap_or_default());
        let changes = [
            change("relaycode.config.json", None, "{ \"projectId\": \"shop\" }\n"),
            change(".gitignore", ignored, &text),
        ];
        let open = ledger.begin(&changes, about("init"), &|| false).unwrap();
        let record = open.commit(CommitVerdict::default()).unwrap().record;
        assert_eq!(record.origin, "init");
        assert_eq!(fs::read_to_string(dir.path().join(".gitignore")).unwrap(), text);
        assert!(dir.path().join("relaycode.config.json").exists());
        let reversal =
            ledger.plan_revert(&LogTarget::Transaction(record.uuid), &RevertOptions::default()).unwrap();
        let about = TransactionHeader { revert_of: reversal.reverts, ..about("revert") };
        ledger.begin(&reversal.changes, about, &|| false).unwrap().commit(CommitVerdict::default()).unwrap();
        assert!(!dir.path().join("relaycode.config.json").exists());
        assert_eq!(fs::read_to_string(dir.path().join(".gitignore")).ok().as_deref(), ignored);
    }
}
