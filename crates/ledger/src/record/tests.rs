use proptest::prelude::*;

use super::*;
use crate::LedgerError;
use crate::record::yaml::tests::nasty;
use crate::transaction::{TransactionStage, TransactionStep};

pub(crate) fn id(number: u32) -> TxId {
    format!("{number:08x}-0c4b-4c1d-9a53-0c2f5d1e7b66").parse().unwrap()
}

/// A record with nothing special about it.
pub(crate) fn plain(number: u32) -> Record {
    Record {
        uuid: id(number),
        project_id: "demo".into(),
        created_at: "2026-01-02T03:04:05Z".into(),
        git_commit_msg: Some(format!("feat: number {number}")),
        prompt_summary: None,
        reasoning: vec!["Because.".into()],
        operations: vec![RecordedOperation::Write {
            path: "a.txt".into(),
            content: "two\n".into(),
            patch_strategy: "replace".into(),
        }],
        snapshot: BTreeMap::from([("a.txt".into(), Some(RecordContent::Text("one\n".into())))]),
        approved: true,
        version: FORMAT,
        number: number.into(),
        origin: "file".into(),
        group: None,
        branch: None,
        head: None,
        answer: None,
        result: vec![FileRecord {
            path: "a.txt".into(),
            renamed_from: None,
            before: Some(FileImage::of(b"one\n", 0o644)),
            after: Some(FileImage::of(b"two\n", 0o644)),
            added: 1,
            removed: 1,
            content: Some(RecordContent::Text("two\n".into())),
            ..FileRecord::default()
        }],
        made_directories: vec![],
        removed_directories: vec![],
        directory_modes: Vec::new(),
        omissions: Vec::new(),
        matches: vec![],
        gate: None,
        decided_by: None,
        revert_of: vec![],
        revert_paths: vec![],
        title: None,
        notes: vec![],
        plan: None,
        rules: vec![],
        transaction: None,
    }
}

fn content() -> impl Strategy<Value = RecordContent> {
    prop_oneof![
        3 => nasty().prop_map(RecordContent::Text),
        1 => (any::<u64>(), any::<u8>())
            .prop_map(|(size, seed)| RecordContent::Blob { blob: Digest::of(&[seed]), size }),
    ]
}

fn operation() -> impl Strategy<Value = RecordedOperation> {
    prop_oneof![
        (nasty(), nasty(), nasty()).prop_map(|(path, content, patch_strategy)| RecordedOperation::Write {
            path,
            content,
            patch_strategy
        }),
        nasty().prop_map(|path| RecordedOperation::Delete { path }),
        (nasty(), nasty()).prop_map(|(from, to)| RecordedOperation::Rename { from, to }),
    ]
}

fn file() -> impl Strategy<Value = FileRecord> {
    let image = || {
        prop::option::of((any::<u8>(), 0..0o10000u32).prop_map(|(seed, mode)| FileImage::of(&[seed], mode)))
    };
    (nasty(), prop::option::of(nasty()), image(), image(), 0..9usize, prop::option::of(content())).prop_map(
        |(path, renamed_from, before, after, lines, content)| FileRecord {
            path,
            renamed_from,
            before,
            after,
            added: lines,
            removed: lines,
            content,
            other_names: lines as u64,
            is_linked: lines % 2 == 1,
        },
    )
}

fn transaction() -> impl Strategy<Value = TransactionJournal> {
    (nasty(), any::<u32>()).prop_map(|(text, pid)| TransactionJournal {
        stage: TransactionStage::GateRunning,
        pid,
        directory: text.clone(),
        steps: vec![
            TransactionStep::Create {
                path: text.clone(),
                slot: "1".into(),
                after: FileImage::of(b"x", 0o600),
            },
            TransactionStep::Move {
                path: text.clone(),
                to: text.clone(),
                slot: text.clone(),
                image: FileImage::of(b"x", 0),
            },
        ],
        make_directories: vec![text.clone()],
        remove_directories: vec![RemovedDirectory { path: text, mode: 0o700 }],
        directory_modes: Vec::new(),
    })
}

fn record() -> impl Strategy<Value = Record> {
    let texts = || prop::collection::vec(nasty(), 0..3);
    (
        (any::<u32>(), nasty(), prop::option::of(nasty()), texts(), texts(), any::<u64>(), any::<bool>()),
        prop::collection::vec(operation(), 0..3),
        prop::collection::btree_map(nasty(), prop::option::of(content()), 0..3),
        prop::collection::vec(file(), 0..3),
        prop::option::of(transaction()),
    )
        .prop_map(|(basic, operations, snapshot, result, transaction)| {
            let (at, text, maybe, reasoning, notes, number, approved) = basic;
            Record {
                project_id: text.clone(),
                git_commit_msg: maybe.clone(),
                prompt_summary: maybe.clone(),
                group: maybe.clone(),
                gate: maybe,
                origin: text,
                reasoning,
                matches: notes.clone(),
                rules: notes.iter().rev().cloned().collect(),
                plan: (approved).then(|| Digest::of(b"plan")),
                notes,
                number,
                approved,
                operations,
                snapshot,
                result,
                answer: Some(Digest::of(b"answer")),
                revert_of: vec![id(1), id(2)],
                revert_paths: vec!["a.txt".into()],
                title: Some("undoes: feat: number 1".into()),
                transaction,
                ..plain(at)
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_record_is_read_back_as_it_was_written(record in record()) {
        let bytes = write(&record);
        prop_assert_eq!(&read(&bytes, "x.yml", record.uuid).unwrap(), &record);
        prop_assert!(file::is_relay_record(&bytes));
    }

    #[test]
    fn a_damaged_record_is_never_taken_for_another(record in record(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
        let mut bytes = write(&record);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(read) = read(&bytes, "x.yml", record.uuid) {
            prop_assert_eq!(&read, &record);
        }
        prop_assert!(file::is_relay_record(&bytes));
        prop_assert!(read_cut(&bytes[..at], record.uuid));
    }

    #[test]
    fn any_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read_cut(&bytes, id(1)));
    }
}

fn read_cut(bytes: &[u8], id: TxId) -> bool {
    read(bytes, "x.yml", id).is_err()
}

#[test]
fn every_byte_of_a_record_is_guarded() {
    let record = plain(7);
    let bytes = write(&record);
    for at in 0..bytes.len() {
        for flip in [1, 0x20, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            if let Ok(read) = read(&damaged, "x.yml", record.uuid) {
                assert_eq!(read, record, "byte {at} ^ {flip}");
            }
        }
    }
}

#[test]
fn a_newer_format_is_refused_before_it_is_understood() {
    let text = "uuid: ../../x\nmood: {{{\nversion: 2\nseal: something else\n";
    let error = read(text.as_bytes(), "x.yml", id(1)).unwrap_err();
    assert!(matches!(error, LedgerError::NewerFormat { version: 2, known: FORMAT, .. }), "{error}");
    let huge = b"version: 99999999999999999999\n";
    assert!(matches!(read(huge, "x.yml", id(1)), Err(LedgerError::NewerFormat { version: u32::MAX, .. })));
}

#[test]
fn a_record_belongs_to_the_name_of_its_file() {
    let bytes = write(&plain(1));
    let error = read(&bytes, ".relaycode/x.yml", id(2)).unwrap_err();
    assert!(error.to_string().contains(".relaycode/x.yml is damaged"), "{error}");
    let text = String::from_utf8(bytes).unwrap().replace(&id(1).to_string(), "../../../etc/passwd");
    let body = text.split("checksum: ").next().unwrap();
    let forged = format!("{body}checksum: {}\n", Digest::of(body.as_bytes()));
    assert!(matches!(read(forged.as_bytes(), "x.yml", id(1)), Err(LedgerError::Damaged { .. })));
}

#[test]
fn a_record_of_sixteen_megabytes_is_read() {
    let text = "    let value = compute(\"input\", 17); // a line of some length\n".repeat(128);
    let mut record = plain(1);
    for file in 0..700 {
        record.snapshot.insert(format!("src/file{file}.rs"), Some(RecordContent::Text(text.clone())));
        record.result.push(FileRecord {
            path: format!("src/file{file}.rs"),
            content: Some(RecordContent::Text(text.clone())),
            ..record.result[0].clone()
        });
        record.operations.push(RecordedOperation::Write {
            path: format!("src/file{file}.rs"),
            content: text.clone(),
            patch_strategy: "replace".into(),
        });
    }
    let bytes = write(&record);
    assert!(bytes.len() > 16_000_000, "{}", bytes.len());
    assert_eq!(read(&bytes, "x.yml", record.uuid).unwrap(), record);
}

/// A record of as many files as there can be, each with everything that can be said of one, as a journal.
fn largest() -> Record {
    let text = Some(RecordContent::Blob { blob: Digest::of(b"x"), size: u64::MAX });
    let image = Some(FileImage::of(b"x", 0o7777));
    let old = |n: usize| format!("some/usual/{n}");
    let new = |n: usize| format!("some/other/{n}");
    let mut record = plain(1);
    record.snapshot = (0..FILES).map(|n| (old(n), text.clone())).collect();
    record.snapshot.extend((0..FILES).map(|n| (new(n), None)));
    record.result = (0..FILES)
        .map(|n| FileRecord {
            path: new(n),
            renamed_from: Some(old(n)),
            before: image,
            after: image,
            added: n,
            removed: n,
            content: text.clone(),
            other_names: n as u64 + 1,
            is_linked: true,
        })
        .collect();
    record.made_directories = (0..FILES).map(|n| format!("made/{n}")).collect();
    record.removed_directories =
        (0..FILES).map(|n| RemovedDirectory { path: format!("went/{n}"), mode: 0o755 }).collect();
    record
}

#[test]
fn the_largest_record_and_the_journal_of_its_revert_can_be_read() {
    let image = FileImage::of(b"x", 0o7777);
    let mut record = largest();
    record.transaction = Some(TransactionJournal {
        stage: TransactionStage::Applying,
        pid: u32::MAX,
        directory: record.uuid.to_string(),
        steps: (0..FILES)
            .map(|n| TransactionStep::Replace {
                path: n.to_string(),
                slot: format!(".relaycode/tx/{}/{n}", record.uuid),
                before: image,
                after: image,
            })
            .collect(),
        make_directories: record.made_directories.clone(),
        remove_directories: record.removed_directories.clone(),
        directory_modes: Vec::new(),
    });
    let began = std::time::Instant::now();
    let bytes = write(&record);
    let wrote = began.elapsed();
    let again = read(&bytes, "x.yml", record.uuid).unwrap();
    println!("{FILES} files, {} bytes: written in {wrote:?}, both in {:?}", bytes.len(), began.elapsed());
    assert!(again == record);
}
