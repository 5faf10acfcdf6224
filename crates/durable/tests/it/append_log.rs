//! The log: framing, reading from the end, torn tails, damage, crashes.

use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use relaycode_durable::Fs;
use relaycode_durable::append_log::{AppendLog, AppendLogTail, LogError, PAYLOAD_MOST};
use relaycode_proof_crashfs::{CrashBounds, ModelFs};

fn logged(model: &ModelFs) -> Result<(Vec<String>, AppendLogTail), LogError> {
    let dir = model.open_root(Path::new("/"))?;
    let mut seen = Vec::new();
    let tail = AppendLog::new(model, &dir, "log").read_backwards(&mut |payload| {
        seen.push(String::from_utf8(payload.to_vec()).unwrap());
        ControlFlow::Continue(())
    })?;
    seen.reverse();
    Ok((seen, tail))
}

fn append(model: &ModelFs, payloads: &[&str], durable: bool) {
    let dir = model.open_root(Path::new("/")).unwrap();
    for payload in payloads {
        AppendLog::new(model, &dir, "log").append(payload.as_bytes(), durable).unwrap();
    }
}

#[test]
fn an_entry_is_a_line_of_checksum_length_and_payload() {
    let model = ModelFs::new();
    append(&model, &["{\"a\":1}", ""], false);
    let (bytes, mode) = model.file("log").unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "561bacaf 7 {\"a\":1}\n00000000 0 \n");
    assert_eq!(mode, 0o600);
    assert_eq!(logged(&model).unwrap().0, ["{\"a\":1}", ""]);
}

#[test]
fn no_file_and_an_empty_file_are_empty_logs() {
    let model = ModelFs::new();
    assert_eq!(logged(&model).unwrap(), (vec![], AppendLogTail::default()));
    model.put("log", b"", 0o600).unwrap();
    assert_eq!(logged(&model).unwrap(), (vec![], AppendLogTail::default()));
}

#[test]
fn payloads_that_would_break_the_framing_are_refused() {
    let model = ModelFs::new();
    let dir = model.open_root(Path::new("/")).unwrap();
    let log = AppendLog::new(&model, &dir, "log");
    assert!(matches!(log.append(b"a\nb", false), Err(LogError::InvalidPayload)));
    assert!(matches!(log.append(&vec![b'x'; PAYLOAD_MOST + 1], false), Err(LogError::InvalidPayload)));
    assert!(model.file("log").is_none());
    log.append(&vec![b'x'; PAYLOAD_MOST], false).unwrap();
    log.append(b"next", false).unwrap();
    let (seen, tail) = logged(&model).unwrap();
    assert_eq!((seen[0].len(), seen[1].as_str(), tail.torn_at), (PAYLOAD_MOST, "next", None));
}

#[test]
fn a_torn_tail_does_not_count_and_is_cut_off_by_the_next_append() {
    let whole = ModelFs::new();
    append(&whole, &["one", "two"], false);
    let (bytes, _) = whole.file("log").unwrap();
    let second = bytes.len() / 2;
    for cut in second..bytes.len() {
        let model = ModelFs::new();
        model.put("log", &bytes[..cut], 0o600).unwrap();
        let (seen, tail) = logged(&model).unwrap();
        assert_eq!(seen, ["one"], "cut at {cut}");
        assert_eq!(tail.torn_at, (cut > second).then_some(second as u64), "cut at {cut}");
        append(&model, &["three"], false);
        assert_eq!(logged(&model).unwrap(), (vec!["one".into(), "three".into()], AppendLogTail::default()));
    }
}

#[test]
fn a_wrong_last_line_is_a_torn_tail_too() {
    let model = ModelFs::new();
    append(&model, &["one", "two"], false);
    let (mut bytes, _) = model.file("log").unwrap();
    let at = bytes.len() - 2;
    bytes[at] = b'x';
    model.put("log", &bytes, 0o600).unwrap();
    assert_eq!(logged(&model).unwrap().0, ["one"]);
    append(&model, &["three"], false);
    assert_eq!(logged(&model).unwrap().0, ["one", "three"]);
}

#[test]
fn damage_in_the_middle_is_reported_with_its_place() {
    let model = ModelFs::new();
    append(&model, &["one", "two", "three"], false);
    let (mut bytes, _) = model.file("log").unwrap();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second + 12] ^= 1;
    model.put("log", &bytes, 0o600).unwrap();
    let error = logged(&model).unwrap_err();
    assert!(
        matches!(error, LogError::Damaged { offset } if offset == second as u64),
        "{error:?}, not at {second}"
    );
}

#[test]
fn a_tail_longer_than_any_entry_is_cut_where_it_begins() {
    let model = ModelFs::new();
    append(&model, &["one"], false);
    let (mut bytes, _) = model.file("log").unwrap();
    let end = bytes.len();
    bytes.resize(end + 3 * PAYLOAD_MOST, 0);
    model.put("log", &bytes, 0o600).unwrap();
    let expected = AppendLogTail { torn_at: Some(end as u64) };
    assert_eq!(logged(&model).unwrap(), (vec!["one".to_string()], expected));
    append(&model, &["two"], false);
    assert_eq!(logged(&model).unwrap().0, ["one", "two"]);
    // The same with nothing before it.
    model.put("log", &vec![0; 3 * PAYLOAD_MOST], 0o600).unwrap();
    assert_eq!(logged(&model).unwrap(), (vec![], AppendLogTail { torn_at: Some(0) }));
}

#[test]
fn the_newest_page_costs_the_same_however_long_the_log_is() {
    let model = ModelFs::new();
    let line = format!("{:08x} 5 {}\n", crc32fast::hash(b"entry"), "entry");
    model.put("log", line.repeat(200_000).as_bytes(), 0o600).unwrap();
    model.mark_all_durable();
    let dir = model.open_root(Path::new("/")).unwrap();
    let mut seen = 0;
    let stop_after_20 = &mut |_: &[u8]| {
        seen += 1;
        if seen == 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    AppendLog::new(&model, &dir, "log").read_backwards(stop_after_20).unwrap();
    assert_eq!(seen, 20);
    assert_eq!(model.calls(), 3, "the directory, the length, one piece");
}

#[test]
fn a_full_disk_leaves_a_tail_that_the_next_append_cuts() {
    let model = ModelFs::new();
    append(&model, &["one"], true);
    model.fail_at(model.operations() + 1, rustix::io::Errno::NOSPC);
    let dir = model.open_root(Path::new("/")).unwrap();
    let log = AppendLog::new(&model, &dir, "log");
    assert!(matches!(log.append(b"two", true), Err(LogError::Io(_))));
    assert!(logged(&model).unwrap().1.torn_at.is_some());
    log.append(b"three", true).unwrap();
    assert_eq!(logged(&model).unwrap().0, ["one", "three"]);
}

#[test]
fn durable_entries_survive_every_crash_and_others_are_never_shown_wrong() {
    let model = ModelFs::new();
    append(&model, &["a", "bb"], true);
    let durable = model.operations();
    append(&model, &["ccc", "dddd"], false);
    let mut images = 0;
    model.all_crash_images(&CrashBounds::default(), &mut |image, what| {
        images += 1;
        let seen = match logged(&image) {
            Ok((seen, _)) => seen,
            // Two appends that were not made durable may arrive in any order.
            Err(LogError::Damaged { .. }) if what.operations() > durable => return,
            Err(error) => panic!("{what}: {error}"),
        };
        assert!(["a", "bb", "ccc", "dddd"].starts_with(&seen.iter().map(String::as_str).collect::<Vec<_>>()));
        assert!(what.operations() < durable || seen.len() >= 2, "{what}: {seen:?}");
        append(&image, &["e"], true);
        assert_eq!(logged(&image).unwrap().0.last().unwrap(), "e", "{what}");
    });
    assert!(images > 20, "{images}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_bytes_make_reading_or_appending_fail_badly(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let model = ModelFs::new();
        model.put("log", &bytes, 0o600).unwrap();
        let _ = logged(&model);
        append(&model, &["entry"], false);
        let dir = model.open_root(Path::new("/")).unwrap();
        let mut newest = Vec::new();
        AppendLog::new(&model, &dir, "log").read_backwards(&mut |payload| {
            newest = payload.to_vec();
            ControlFlow::Break(())
        }).unwrap();
        prop_assert_eq!(newest, b"entry");
    }
}
