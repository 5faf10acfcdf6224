//! Names that are ordinary on the disk where they stand, and not everywhere: they come back like any other.

use std::ffi::OsStr;

use relaycode_durable::name_bytes;

use super::*;

/// Names that some system cannot have, does not show, or takes for others.
const ODD: [&str; 17] = [
    "2026-01-01T10:00.log",
    "a:b",
    "q?",
    "back\\slash",
    "con",
    "aux.txt",
    "dot.",
    "blank ",
    " ",
    "line\nbreak",
    "hidden\u{200b}",
    "x\u{202e}y",
    "es\u{1b}[2Jc",
    "~",
    "caf\0e9",
    "d\0ff/in\0fe/e\0c3",
    "null\\x00/~/a*",
];

impl Project {
    fn odd(&self, name: &str) -> PathBuf {
        self.dir.path().join(OsStr::from_bytes(&name_bytes(name).unwrap()))
    }

    fn put_odd(&self, name: &str, bytes: &[u8]) {
        let path = self.odd(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn newest(ledger: &Ledger) -> TxId {
    ledger.log_page(0, 1).unwrap().entries[0].members[0].id.unwrap()
}

#[test]
fn files_with_names_that_are_not_portable_come_back_and_go_again() {
    let project = Project::new(&[("a", b"one\n", 0o644)]);
    ODD.iter().for_each(|name| project.put_odd(name, name.as_bytes()));
    let was = project.tree();
    let home = tempfile::tempdir().unwrap();
    let ledger = project.ledger_with(Some(home.path()));
    for step in ["removed", "overwritten", "moved"] {
        let recording = secure(&ledger, &[]);
        let secured = recording.secure_report().unwrap();
        assert_eq!((secured.files, &*secured.omissions), (ODD.len() + 1, &[][..]));
        for (number, name) in ODD.iter().enumerate() {
            match step {
                "removed" => fs::remove_file(project.odd(name)).unwrap(),
                "overwritten" => fs::write(project.odd(name), "other\n").unwrap(),
                _ => fs::rename(project.odd(name), project.path(&format!("plain{number}"))).unwrap(),
            }
        }
        if step == "removed" {
            fs::remove_dir_all(project.odd("d\0ff")).unwrap();
        }
        let is = project.tree();
        let adopted = adopt(recording);
        assert_eq!(adopted.omissions, [], "{step}");
        let record = adopted.committed.unwrap().record;
        assert_eq!(record.result.len(), ODD.len());
        assert_eq!(ledger.record(record.uuid).unwrap().result, record.result, "what was written is read");
        revert(&ledger, record.uuid);
        assert_eq!(project.tree(), was, "{step}");
        revert(&ledger, newest(&ledger));
        assert_eq!(project.tree(), is, "{step} again");
        revert(&ledger, newest(&ledger));
        assert_eq!(project.tree(), was);
    }
}

#[test]
fn what_was_made_under_such_names_goes_with_its_directories() {
    let project = Project::new(&[("a", b"one\n", 0o644)]);
    let was = project.tree();
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    ODD.iter().for_each(|name| project.put_odd(name, b"x"));
    fs::create_dir(project.odd("empty\0ff:")).unwrap();
    let record = adopt(recording).committed.unwrap().record;
    revert(&ledger, record.uuid);
    assert_eq!(project.tree(), was);
}

#[test]
fn one_file_of_such_a_name_is_taken_back_by_it() {
    let project =
        Project::new(&[("a", b"one\n", 0o644), ("x:y", b"x\n", 0o644), ("back/slash", b"other\n", 0o644)]);
    project.put("back\\slash", b"b\n");
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    for name in ["a", "x:y", "back/slash", "back\\slash"] {
        fs::write(project.path(name), "changed\n").unwrap();
    }
    let target = LogTarget::Transaction(adopt(recording).committed.unwrap().record.uuid);
    let options = RevertOptions {
        file: Some(relaycode_change::proposal::path::RelPath::of_existing("back\\slash").unwrap()),
        ..RevertOptions::default()
    };
    let plan = ledger.plan_revert(&target, &options).unwrap();
    let names: Vec<&str> = plan.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(names, ["back\\slash"]);
}

#[test]
fn names_that_are_equal_but_for_their_case_come_back_both() {
    let project =
        Project::new(&[("up.txt", b"small\n", 0o644), ("UP.txt", b"large\n", 0o644), ("d/x", b"x\n", 0o644)]);
    project.put("D/x", b"X\n");
    let was = project.tree();
    let ledger = project.ledger();
    for both in [true, false] {
        let recording = secure(&ledger, &[]);
        fs::remove_file(project.path("up.txt")).unwrap();
        fs::remove_dir_all(project.path("d")).unwrap();
        if both {
            fs::remove_file(project.path("UP.txt")).unwrap();
            fs::remove_dir_all(project.path("D")).unwrap();
        }
        let record = adopt(recording).committed.unwrap().record;
        revert(&ledger, record.uuid);
        assert_eq!(project.tree(), was);
    }
}
