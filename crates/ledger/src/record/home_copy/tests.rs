use std::fs;

use super::*;
use crate::disk::state_dir::record_name;
use crate::log::tests::{Scratch, scratch_with_home};
use crate::record::tests::{id, plain};
use crate::record::{Record, RecordContent};

const BYTES: &[u8] = b"\0binary";

fn with_blob(scratch: &Scratch, number: u32) -> Record {
    let digest = Digest::of(BYTES);
    fs::write(scratch.path(".relaycode/blobs").join(digest.to_string()), BYTES).unwrap();
    let mut record = plain(number);
    record.result[0].content = Some(RecordContent::Blob { blob: digest, size: BYTES.len() as u64 });
    record.result[0].after = Some(crate::record::FileImage::of(BYTES, 0o644));
    record
}

#[test]
fn what_a_cleaned_directory_lost_comes_back() {
    let scratch = scratch_with_home();
    let ledger = &scratch.ledger;
    assert_eq!(ledger.catch_up_copy().unwrap(), 0);
    let old = format!("uuid: {}\nsnapshot: {{}}\noperations: []\n", id(9));
    fs::write(scratch.path(".relaycode/undone").join(record_name(id(9))), &old).unwrap();
    scratch.commit(&plain(1));
    scratch.leave(&with_blob(&scratch, 2));
    scratch.leave(&Record { revert_of: vec![id(1)], ..plain(3) });
    assert_eq!(ledger.catch_up_copy().unwrap(), 2, "a crash came before they were copied");
    ledger.catch_up().unwrap();
    scratch.commit(&plain(4));
    assert_eq!(ledger.catch_up_copy().unwrap(), 0);
    assert_eq!(ledger.restore_from_copy().unwrap(), 0);
    let before = ledger.log_page(0, 9).unwrap();

    fs::remove_dir_all(scratch.path(".relaycode")).unwrap();
    assert_eq!(ledger.log_page(0, 9).unwrap().total, 0);
    assert_eq!(ledger.restore_from_copy().unwrap(), 5);
    assert_eq!(ledger.restore_from_copy().unwrap(), 0);
    assert_eq!(ledger.log_page(0, 9).unwrap(), before);
    assert!(scratch.path(".relaycode/undone").join(record_name(id(1))).exists());
    assert!(scratch.path(".relaycode/undone").join(record_name(id(9))).exists());
    let record = ledger.record(id(2)).unwrap();
    assert_eq!(ledger.after_bytes(&record, &record.result[0]).unwrap().as_deref(), Some(BYTES));
    assert_eq!(fs::read_dir(scratch.path(".relaycode/tx")).unwrap().count(), 0);

    // A crash in the middle of it is no end of it.
    fs::remove_file(scratch.path(".relaycode").join(record_name(id(2)))).unwrap();
    fs::write(scratch.path(".relaycode/restoring"), "").unwrap();
    assert_eq!(ledger.restore_from_copy().unwrap(), 5);
    assert_eq!(ledger.log_page(0, 9).unwrap(), before);
}

#[test]
fn the_copy_is_private_names_its_root_and_lends_its_blobs() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = scratch_with_home();
    let record = with_blob(&scratch, 1);
    scratch.commit(&record);
    scratch.ledger.catch_up_copy().unwrap();
    let ledgers = scratch.temp.path().join("home/ledgers");
    let dir = fs::read_dir(&ledgers).unwrap().next().unwrap().unwrap().path();
    assert_eq!(dir.file_name().unwrap().len(), KEY_DIGITS);
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(
        fs::read_to_string(dir.join("root")).unwrap(),
        scratch.path("").to_str().unwrap().trim_end_matches('/')
    );
    fs::remove_dir_all(scratch.path(".relaycode/blobs")).unwrap();
    let bytes = scratch.ledger.after_bytes(&record, &record.result[0]).unwrap();
    assert_eq!(bytes.as_deref(), Some(BYTES));
    fs::write(dir.join("root"), "/somewhere/else").unwrap();
    assert!(scratch.ledger.after_bytes(&record, &record.result[0]).is_err());
}
