//! A change of links and directories that dies at any operation is put back whole, and leaves nothing behind.

use std::path::Path;
use std::sync::Arc;

use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::record::{DirectoryModeChange, LINK_MODE, RemovedDirectory};
use relaycode_ledger::transaction::change::{AfterContent, FileChange, NewMode};
use relaycode_ledger::{CommitVerdict, Ledger, LedgerSettings, RecoveryMode, TransactionHeader, TxId};
use relaycode_proof_crashfs::ModelFs;

fn change<'a>(path: &str, before: Option<&'a str>, after: Option<(&'a str, u32)>) -> FileChange<'a> {
    let after =
        after.map(|(text, mode)| AfterContent { bytes: text.as_bytes().into(), mode: NewMode::Exact(mode) });
    let before = before.map(|text| text.as_bytes().into());
    let path = RelPath::parse(path).unwrap();
    FileChange { path, renamed_from: None, before, after, added: 0, removed: 0 }
}

fn model() -> Arc<ModelFs> {
    let model = ModelFs::new();
    model.put("a", b"one\n", 0o644).unwrap();
    model.put("sub/b", b"two\n", 0o644).unwrap();
    model.link("link", "a").unwrap();
    model.link("turns", "b").unwrap();
    model.mkdir("empty/inner").unwrap();
    model.mark_all_durable();
    Arc::new(model)
}

fn run(model: &Arc<ModelFs>, id: TxId) -> bool {
    let ledger =
        Ledger::open(Arc::clone(model) as Arc<_>, Path::new("/"), LedgerSettings::default()).unwrap();
    let changes = [
        change("a", Some("one\n"), Some(("sub", LINK_MODE))),
        change("link", Some("a"), None),
        change("turns", Some("b"), Some(("text\n", 0o600))),
        change("new/made", None, Some(("../a", LINK_MODE))),
        change("sub/b", Some("two\n"), Some(("2\n", 0o644))),
    ];
    let about = TransactionHeader {
        links: vec!["link".into(), "turns".into()],
        directories_to_remove: vec!["empty/inner".into(), "empty".into()],
        directories_to_make: vec![RemovedDirectory { path: "again/deep".into(), mode: 0o555 }],
        directory_mode_changes: vec![DirectoryModeChange { path: "sub".into(), before: 0o755, after: 0o500 }],
        ..TransactionHeader::new(id, "shop", "2026-03-10T12:00:00.000Z", "revert")
    };
    let committed =
        ledger.begin(&changes, about, &|| false).and_then(|open| open.commit(CommitVerdict::default()));
    committed.is_ok()
}

#[test]
fn a_change_of_links_and_directories_is_whole_or_not_there_whenever_it_dies() {
    let id = TxId::random();
    let (before, whole) = (model().snapshot(), model());
    let start = whole.operations();
    assert!(run(&whole, id));
    let after = whole.snapshot();
    assert_eq!(after.links.get("a").map(String::as_str), Some("sub"));
    assert_eq!(after.dir_modes.get("again/deep"), Some(&0o555));
    let own = |path: &str| path.starts_with(".relaycode");
    for operation in start + 1..=whole.operations() {
        let model = model();
        model.crash_at(operation);
        run(&model, id);
        model.clear_faults();
        let ledger =
            Ledger::open(Arc::clone(&model) as Arc<_>, Path::new("/"), LedgerSettings::default()).unwrap();
        ledger.recover(RecoveryMode::Automatic).unwrap();
        let now = model.snapshot();
        let wanted = if ledger.record(id).is_ok() { &after } else { &before };
        let project = |modes: &std::collections::BTreeMap<String, u32>| {
            modes
                .iter()
                .filter(|(path, _)| !own(path))
                .map(|(path, mode)| (path.clone(), *mode))
                .collect::<Vec<_>>()
        };
        assert_eq!(project(&now.dir_modes), project(&wanted.dir_modes), "operation {operation}");
        let links = |links: &std::collections::BTreeMap<String, String>| {
            links
                .iter()
                .filter(|(path, _)| !own(path))
                .map(|(path, to)| format!("{path} {to}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(links(&now.links), links(&wanted.links), "operation {operation}");
        let file = |path: &str| (now.files.get(path).cloned(), wanted.files.get(path).cloned());
        for path in ["a", "sub/b", "turns"] {
            let (now, wanted) = file(path);
            assert_eq!(now, wanted, "{path}, operation {operation}");
        }
        let left = format!(".relaycode/tx/{id}");
        assert!(!now.dirs.contains(&left), "operation {operation} leaves {left}");
    }
}
