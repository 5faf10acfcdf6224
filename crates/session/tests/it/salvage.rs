//! Whatever happened to a file, everything whole in it is there, and the conversation continues.

use relaycode_session::file::load_report::LoadIssueKind;
use relaycode_session::format::entry::EntryBody;
use relaycode_session::{OpenMode, Session, SessionError};
use relaycode_testkit::random::Random;
use serde_json::json;

use crate::fixture::{NAME, bytes, ids, open, path, rich, rich_file, rich_ids, try_open, user, with_file};

#[test]
fn a_session_cut_off_at_every_byte_opens_with_all_whole_entries_and_goes_on() {
    let (file, names) = (rich_file(), rich_ids());
    let mut ends = Vec::new();
    let mut end = 0;
    for line in rich() {
        end += line.len() + 1;
        // A whole line counts without its line end, too.
        ends.push(end - 1);
    }
    for cut in 0..=file.len() {
        let (model, _) = with_file(&file[..cut]);
        let whole = ends[1..].iter().filter(|end| **end <= cut).count();
        let reader = open(&model, OpenMode::Read);
        assert_eq!(ids(&reader), names[..whole], "cut at {cut}");
        assert_eq!(reader.entries().filter(Result::is_ok).count(), whole, "cut at {cut}");
        let mut writer = open(&model, OpenMode::Write);
        let before = bytes(&model);
        assert_eq!(before, &file[..cut], "opening changes nothing");
        let new = writer.append_message(&user("on")).unwrap();
        drop(writer);
        let again = open(&model, OpenMode::Read);
        let mut expected = names[..whole].to_vec();
        expected.push(new);
        assert_eq!(ids(&again), expected, "cut at {cut}");
        assert!(again.report().is_empty(), "cut at {cut}: {:?}", again.report());
        let torn = cut > 0 && !ends.contains(&cut) && !file[..cut].ends_with(b"\n");
        assert_eq!(model.file(&path("20260216_abc.damaged")).is_some(), torn, "cut at {cut}");
        assert_eq!(
            reader.report().issues.iter().any(|odd| odd.kind == LoadIssueKind::TornTail),
            torn,
            "cut at {cut}"
        );
    }
}

#[test]
fn what_was_cut_off_is_kept_beside_the_file() {
    let (model, _) = with_file(&rich_file()[..500]);
    open(&model, OpenMode::Write).append_message(&user("on")).unwrap();
    let kept = model.file(&path("20260216_abc.damaged")).unwrap().0;
    let torn = rich_file()[..500].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    assert!(String::from_utf8(kept).unwrap().contains(std::str::from_utf8(&rich_file()[torn..500]).unwrap()));
}

/// Opens, reads everything, appends, and opens again: never worse than before.
fn survives(file: &[u8], least: usize, what: &str) -> usize {
    let (model, _) = with_file(file);
    let reader = open(&model, OpenMode::Read);
    let count = reader.len();
    assert!(count >= least, "{what}: {count} of {least}, {:?}", reader.report());
    let _ = reader.context();
    assert_eq!(reader.tree().nodes.len(), count, "{what}");
    assert!(reader.path(None).len() <= count, "{what}");
    let listed: Vec<String> = ids(&reader);
    match try_open(&model, OpenMode::Write) {
        Ok(mut writer) => {
            let before = ids(&writer);
            assert_eq!(before.len(), count, "{what}");
            let new = writer.append_message(&user("on")).unwrap();
            drop(writer);
            let mut expected = before;
            expected.push(new);
            assert_eq!(ids(&open(&model, OpenMode::Read)), expected, "{what}");
        }
        Err(SessionError::Newer { .. }) => return count,
        Err(error) => panic!("{what}: {error}"),
    }
    let repaired = Session::repair(model.clone(), crate::fixture::at(&model), NAME).unwrap();
    let whole = open(&model, OpenMode::Read);
    assert!(whole.report().is_empty(), "{what}: {:?}", whole.report());
    assert_eq!((repaired.entries, whole.len()), (count + 1, count + 1), "{what}");
    assert_eq!(&ids(&whole)[..count], &listed[..], "{what}");
    let again = Session::repair(model.clone(), crate::fixture::at(&model), NAME).unwrap();
    assert_eq!(again.original, None, "{what}: repairing twice is repairing once");
    count
}

#[test]
fn a_byte_that_changed_costs_the_entries_of_its_line_at_most() {
    let (file, all) = (rich_file(), rich_ids().len());
    let mut random = Random::new(11);
    for number in 0..800 {
        let mut changed = file.clone();
        let at = random.below(file.len());
        changed[at] = u8::try_from(random.below(256)).unwrap();
        survives(&changed, all - 2, &format!("case {number}: byte {at} is {}", changed[at]));
    }
}

#[test]
fn zeros_of_a_power_cut_cost_the_lines_that_they_touch_at_most() {
    let (file, all) = (rich_file(), rich_ids().len());
    let mut random = Random::new(12);
    for number in 0..400 {
        let mut changed = file.clone();
        let from = random.below(file.len());
        let to = (from + 1 + random.below(700)).min(file.len());
        changed[from..to].fill(0);
        let touched = file[from..to].iter().filter(|byte| **byte == b'\n').count() + 1;
        survives(&changed, all.saturating_sub(touched), &format!("case {number}: zeros from {from} to {to}"));
    }
}

#[test]
fn noise_of_any_kind_is_an_empty_session_at_worst() {
    let mut random = Random::new(13);
    for number in 0..300 {
        let len = random.below(2000);
        let noise: Vec<u8> = (0..len).map(|_| u8::try_from(random.below(256)).unwrap()).collect();
        survives(&noise, 0, &format!("noise {number}"));
    }
    for text in
        ["", "\n", "\n\n \r\n", "{}", "{}\n", "null\n", "[]\n[]\n", "\u{feff}", "{\"type\":\"session\"}\n"]
    {
        survives(text.as_bytes(), 0, &format!("{text:?}"));
    }
}

#[test]
fn a_damaged_line_leaves_the_conversation_whole() {
    let mut lines = rich();
    lines[5] = "{\"type\":\"mess\u{0}\u{0}\u{0}".into();
    let file = lines.join("\n") + "\n";
    let (model, _) = with_file(file.as_bytes());
    let session = open(&model, OpenMode::Read);
    assert_eq!(session.len(), rich_ids().len() - 1);
    assert_eq!(session.path(Some("00000006")), ["00000001", "00000002", "00000003", "00000004", "00000006"]);
    let report = session.report();
    assert!(matches!(report.issues[0].kind, LoadIssueKind::Unreadable(_)), "{report:?}");
    assert_eq!(report.issues[0].len, lines[5].len() as u64);
    assert!(
        matches!(&report.issues[1].kind, LoadIssueKind::Rejoined { id, parent } if id == "00000006" && parent == "00000005")
    );
    assert!(report.issues[1].to_string().contains("00000006"), "{}", report.issues[1]);
}

#[test]
fn an_entry_behind_half_a_line_counts() {
    let lines = rich();
    let file = format!("{}\n{}\n{}{}\n", lines[0], lines[1], &lines[2][..20], lines[3]);
    let (model, _) = with_file(file.as_bytes());
    let session = open(&model, OpenMode::Read);
    assert_eq!(ids(&session), ["00000001", "00000003"]);
    assert_eq!(session.path(None), ["00000001", "00000003"]);
    assert!(session.entry("00000003").is_ok());
    assert_eq!(session.report().issues[0].kind, LoadIssueKind::Prefix);
}

#[test]
fn orphans_cycles_and_namesakes_are_told_and_do_no_harm() {
    let entry = |id: &str, parent: &str, data: u32| {
        format!(
            r#"{{"type":"custom","id":"{id}","parentId":{parent},"timestamp":"","customType":"x","data":{data}}}"#
        )
    };
    let header = rich()[0].clone();
    let lines = [
        header,
        entry("a", "null", 1),
        entry("b", "\"nowhere\"", 2),
        entry("c", "\"c\"", 3),
        entry("d", "\"e\"", 4),
        entry("e", "\"d\"", 5),
        entry("a", "null", 1),
        entry("a", "\"a\"", 6),
        entry("f", "\"a\"", 7),
    ];
    let file = lines.join("\n") + "\n";
    let (model, _) = with_file(file.as_bytes());
    let mut session = open(&model, OpenMode::Write);
    assert_eq!(ids(&session), ["a", "b", "c", "d", "e", "a-2", "f"]);
    assert_eq!(session.path(Some("f")), ["a", "a-2", "f"]);
    assert!(
        matches!(session.entry("a-2").unwrap().body, EntryBody::Custom { data: Some(data), .. } if data == json!(6))
    );
    let whats: Vec<&LoadIssueKind> = session.report().issues.iter().map(|odd| &odd.kind).collect();
    assert!(
        whats.iter().any(|what| matches!(what, LoadIssueKind::Orphan { id, .. } if id == "b")),
        "{whats:?}"
    );
    assert!(whats.iter().any(|what| matches!(what, LoadIssueKind::Cycle { id } if id == "c")), "{whats:?}");
    assert!(
        whats.iter().any(|what| matches!(what, LoadIssueKind::Cycle { id } if id == "d" || id == "e")),
        "{whats:?}"
    );
    assert!(
        whats.iter().any(|what| matches!(what, LoadIssueKind::DuplicateLine { id } if id == "a")),
        "{whats:?}"
    );
    assert!(
        whats.iter().any(|what| matches!(what, LoadIssueKind::DuplicateId { new_id, .. } if new_id == "a-2")),
        "{whats:?}"
    );
    session.move_to("a-2").unwrap();
    let new = session.append_message(&user("behind a namesake")).unwrap();
    drop(session);
    assert_eq!(open(&model, OpenMode::Read).path(Some(&new)), ["a", "a-2", &new]);
}

#[test]
fn a_file_without_a_header_gets_one_and_a_later_version_is_only_read() {
    let lines = rich();
    let (model, _) = with_file((lines[1..].join("\n") + "\n").as_bytes());
    let mut session = open(&model, OpenMode::Write);
    assert_eq!((session.id(), session.len()), ("abc", rich_ids().len()));
    assert!(session.report().issues.iter().any(|odd| odd.kind == LoadIssueKind::NoHeader));
    session.set_title("found", relaycode_session::format::header::TitleSource::User).unwrap();
    drop(session);
    let session = open(&model, OpenMode::Read);
    assert_eq!((session.header().title.as_deref(), session.len()), (Some("found"), rich_ids().len()));
    assert!(session.report().is_empty(), "{:?}", session.report());

    let newer = lines.join("\n").replacen("\"version\":3", "\"version\":4", 1);
    let (model, _) = with_file(newer.as_bytes());
    assert_eq!(open(&model, OpenMode::Read).len(), rich_ids().len());
    let error = try_open(&model, OpenMode::Write).unwrap_err();
    assert!(matches!(error, SessionError::Newer { version: 4, .. }), "{error}");
    assert_eq!(bytes(&model), newer.as_bytes());
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark_are_taken() {
    let file = "\u{feff}".to_string() + &rich().join("\r\n") + "\r\n";
    let (model, _) = with_file(file.as_bytes());
    let mut session = open(&model, OpenMode::Write);
    assert_eq!(ids(&session), rich_ids());
    assert!(session.report().is_empty(), "{:?}", session.report());
    assert_eq!(session.entries().filter(Result::is_ok).count(), rich_ids().len());
    session.set_title("renamed", relaycode_session::format::header::TitleSource::User).unwrap();
    session.append_message(&user("on")).unwrap();
    assert_eq!(session.entries().filter(Result::is_ok).count(), rich_ids().len() + 1);
    drop(session);
    let session = open(&model, OpenMode::Read);
    assert_eq!((session.len(), session.report().is_empty()), (rich_ids().len() + 1, true));
    assert_eq!(session.header().title.as_deref(), Some("renamed"));
}

#[test]
fn fields_of_the_header_that_are_not_ours_stay() {
    let (model, _) = with_file(&rich_file());
    open(&model, OpenMode::Write)
        .set_title("other", relaycode_session::format::header::TitleSource::User)
        .unwrap();
    let first = String::from_utf8(bytes(&model)).unwrap().lines().next().unwrap().to_string();
    assert!(first.contains(r#""x":{"kept":1}"#) && first.contains(r#""title":"other""#), "{first}");
}

#[test]
fn a_line_of_a_hundred_megabytes_is_passed_over() {
    let lines = rich();
    let mut file =
        format!("{}\n{}\n{{\"type\":\"message\",\"id\":\"huge\",\"x\":\"", lines[0], lines[1]).into_bytes();
    file.resize(file.len() + (100 << 20), b'x');
    file.extend_from_slice(format!("\"}}\n{}\n", lines[2]).as_bytes());
    let (model, _) = with_file(&file);
    let session = open(&model, OpenMode::Read);
    assert_eq!(ids(&session), ["00000001", "00000002"]);
    assert_eq!(session.path(None).len(), 2);
    let lost = session.report().issues.iter().map(|issue| issue.len).max();
    assert!(lost > Some(100 << 20));
}

#[test]
fn a_chain_and_a_nesting_of_any_depth_do_no_harm() {
    let mut file = rich()[0].clone() + "\n";
    let deep = 50_000;
    for number in 0..deep {
        let parent = if number == 0 { "null".to_string() } else { format!("\"{}\"", number - 1) };
        file += &format!(
            "{{\"type\":\"custom\",\"id\":\"{number}\",\"parentId\":{parent},\"timestamp\":\"\",\"customType\":\"x\"}}\n"
        );
    }
    file += &format!(
        "{{\"type\":\"custom\",\"id\":\"deep\",\"parentId\":\"{}\",\"timestamp\":\"\",\"customType\":\"x\",\"data\":{}1{}}}\n",
        deep - 1,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let (model, _) = with_file(file.as_bytes());
    let mut session = open(&model, OpenMode::Write);
    assert_eq!(session.path(None).len(), deep + 1);
    assert_eq!(session.tree().nodes.last().unwrap().depth, deep);
    assert!(session.entry("deep").is_ok());
    session.append_message(&user("on")).unwrap();
    assert_eq!(session.context().unwrap().messages.len(), 1);
}
