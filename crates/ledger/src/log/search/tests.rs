use super::*;
use crate::log::tests::{Scratch, scratch, scratch_with_home};
use crate::record::tests::{id, plain};
use crate::record::{FileRecord, Record};

fn about(number: u32, files: &[(&str, Option<&str>)]) -> Record {
    let like = plain(number).result.remove(0);
    let file = |(path, from): &(&str, Option<&str>)| FileRecord {
        path: (*path).to_string(),
        renamed_from: from.map(str::to_string),
        ..like.clone()
    };
    Record { result: files.iter().map(file).collect(), ..plain(number) }
}

fn numbers(scratch: &Scratch, filter: &LogFilter) -> Vec<Vec<u64>> {
    let page = scratch.ledger.search_log(filter, 0, 100).unwrap();
    assert_eq!(page.total, page.entries.len());
    page.entries.iter().map(|entry| entry.members.iter().map(|item| item.number).collect()).collect()
}

fn of_file(name: &str) -> LogFilter {
    LogFilter { file: Some(name.into()), ..LogFilter::default() }
}

#[test]
fn files_are_found_by_every_name_and_directory_they_had() {
    let scratch = scratch_with_home();
    let many: Vec<String> = (0..100).map(|number| format!("many/file-{number}")).collect();
    let mut many: Vec<(&str, Option<&str>)> = many.iter().map(|name| (name.as_str(), None)).collect();
    many.push(("src/deep/z", None));
    scratch.commit(&about(1, &[("old/a", None)]));
    scratch.commit(&about(2, &[("src/b", None), ("x", None)]));
    scratch.commit(&about(3, &[("src/a", Some("old/a"))]));
    scratch.commit(&about(4, &many));
    scratch.commit(&about(5, &[("src/a", None)]));
    scratch.commit(&about(6, &[("srcs/a", None)]));
    for _ in 0..2 {
        assert_eq!(numbers(&scratch, &of_file("src/a")), [[5], [3], [1]]);
        assert_eq!(numbers(&scratch, &of_file("old/a")), [[3], [1]]);
        assert_eq!(numbers(&scratch, &of_file("./src/")), [[5], [4], [3], [2], [1]]);
        assert_eq!(numbers(&scratch, &of_file("src/deep/z")), [[4]]);
        assert_eq!(numbers(&scratch, &of_file("many/file-99")), [[4]]);
        assert_eq!(numbers(&scratch, &of_file(".")).len(), 6);
        assert!(numbers(&scratch, &of_file("a")).is_empty());
        // The same from an index of an older relay, which knew no paths.
        let index = scratch.index();
        std::fs::remove_file(&index).unwrap();
        let line = r#"{"at":6,"entries":6,"number":6}"#;
        std::fs::write(&index, relaycode_durable::append_log::encode_entry(line.as_bytes())).unwrap();
    }
}

#[test]
fn entries_are_found_by_time_origin_and_whether_they_are_undone() {
    let scratch = scratch();
    let at = |number: u32, day: u32, group: Option<&str>| Record {
        created_at: format!("2026-01-0{day}T00:00:00.000Z"),
        group: group.map(str::to_string),
        ..plain(number)
    };
    scratch.commit(&at(1, 1, None));
    scratch.commit(&at(2, 2, Some("turn")));
    scratch.commit(&Record { origin: "agent".into(), ..at(3, 3, Some("turn")) });
    scratch.commit(&Record { origin: "revert".into(), revert_of: vec![id(1)], ..at(4, 4, None) });
    let since = |text: &str| LogFilter { since: Some(text.into()), ..LogFilter::default() };
    assert_eq!(numbers(&scratch, &since("2026-01-03")), [vec![4], vec![3, 2]]);
    assert_eq!(numbers(&scratch, &since("2026-01-04T01:00:00+01:00")), [[4]]);
    let from = |text: &str| LogFilter { origin: Some(text.into()), ..LogFilter::default() };
    assert_eq!(numbers(&scratch, &from("agent")), [[3, 2]]);
    assert!(numbers(&scratch, &from("nobody")).is_empty());
    let undone = |wanted| LogFilter { undone: Some(wanted), ..LogFilter::default() };
    assert_eq!(numbers(&scratch, &undone(true)), [[1]]);
    assert_eq!(numbers(&scratch, &undone(false)), [vec![4], vec![3, 2]]);
    let all = scratch.ledger.search_log(&LogFilter::default(), 1, 1).unwrap();
    assert_eq!(all, scratch.ledger.log_page(1, 1).unwrap());
    let page = scratch.ledger.search_log(&undone(false), 1, 1).unwrap();
    assert_eq!((page.entries.len(), page.total), (1, 2));
    assert_eq!(page.entries[0].group.as_deref(), Some("turn"));
}
