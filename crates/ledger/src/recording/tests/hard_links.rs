//! Files with several names: what they held is never dropped, and what comes back is said.

use super::*;

fn contents(project: &Project, path: &str) -> String {
    fs::read_to_string(project.path(path)).unwrap()
}

fn names(project: &Project, path: &str) -> u64 {
    fs::metadata(project.path(path)).unwrap().nlink()
}

#[test]
fn a_file_that_a_command_replaces_by_a_hard_link_comes_back() {
    let project = Project::new(&[("a", b"one\n", 0o644), ("b", b"two\n", 0o600), ("l", b"", 0o644)]);
    fs::remove_file(project.path("l")).unwrap();
    symlink("a", project.path("l")).unwrap();
    let was = project.tree();
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    for name in ["b", "l"] {
        fs::remove_file(project.path(name)).unwrap();
        fs::hard_link(project.path("a"), project.path(name)).unwrap();
    }
    let is = project.tree();
    let adopted = adopt(recording);
    assert_eq!(adopted.omissions, []);
    revert(&ledger, adopted.committed.unwrap().record.uuid);
    assert_eq!(project.tree(), was);
    assert_eq!((names(&project, "a"), names(&project, "b")), (1, 1));
    revert(&ledger, ledger.log_page(0, 1).unwrap().entries[0].members[0].id.unwrap());
    assert_eq!(project.tree(), is);
}

#[test]
fn a_file_that_got_another_name_and_was_changed_comes_back() {
    let project = Project::new(&[("a", b"one\n", 0o644)]);
    let was = project.tree();
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    fs::hard_link(project.path("a"), project.path("b")).unwrap();
    fs::write(project.path("a"), "two\n").unwrap();
    let adopted = adopt(recording);
    assert_eq!(adopted.omissions, []);
    revert(&ledger, adopted.committed.unwrap().record.uuid);
    assert_eq!(project.tree(), was);
}

#[test]
fn what_a_file_with_several_names_held_is_kept_and_its_place_is_said() {
    let project = Project::new(&[("src/a", b"one\n", 0o644), ("c", b"c\n", 0o644)]);
    fs::hard_link(project.path("src/a"), project.path("b")).unwrap();
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    fs::write(project.path("b"), "two\n").unwrap();
    fs::write(project.path("c"), "C\n").unwrap();
    let adopted = adopt(recording);
    for name in ["b", "src/a"] {
        let reason = why(&adopted.omissions, name);
        let place =
            reason.strip_prefix("was changed, and has 1 other name (hard links); what it held is in ");
        assert_eq!(contents(&project, place.unwrap()), "one\n", "{reason}");
    }
    let record = adopted.committed.unwrap().record;
    let plan = ledger.plan_revert(&LogTarget::Transaction(record.uuid), &RevertOptions::default()).unwrap();
    let left: Vec<&str> = plan.unrestored.iter().map(|left| left.path.as_str()).collect();
    assert_eq!(left, ["b", "src/a"]);
    revert(&ledger, record.uuid);
    assert_eq!((contents(&project, "b"), contents(&project, "c")), ("two\n".into(), "c\n".into()));
}

#[test]
fn a_name_of_a_file_that_comes_back_as_a_file_of_its_own_is_said() {
    let project = Project::new(&[("src/a", b"one\n", 0o644), ("d", b"d\n", 0o644)]);
    fs::hard_link(project.path("src/a"), project.path("b")).unwrap();
    let was = project.tree();
    let ledger = project.ledger();
    let recording = secure(&ledger, &[]);
    fs::remove_file(project.path("src/a")).unwrap();
    fs::remove_file(project.path("d")).unwrap();
    let record = adopt(recording).committed.unwrap().record;
    let plan = ledger.plan_revert(&LogTarget::Transaction(record.uuid), &RevertOptions::default()).unwrap();
    assert_eq!(plan.notes, ["src/a comes back as a file of its own: it had other names (hard links)"]);
    revert(&ledger, record.uuid);
    assert_eq!(project.tree(), was);
}

#[test]
fn what_no_change_of_two_commands_brings_back_is_named_once() {
    let project = Project::new(&[("a", b"one\n", 0o644)]);
    fs::hard_link(project.path("a"), project.path("b")).unwrap();
    let ledger = project.ledger();
    let mut members = Vec::new();
    for text in ["two\n", "three\n"] {
        let recording = secure(&ledger, &[]);
        fs::write(project.path("a"), text).unwrap();
        project.put("other", text.as_bytes());
        members.insert(0, adopt(recording).committed.unwrap().record.uuid);
    }
    let target = LogTarget::Group { id: "g".into(), members };
    let plan = ledger.plan_revert(&target, &RevertOptions::default()).unwrap();
    let left: Vec<&str> = plan.unrestored.iter().map(|left| left.path.as_str()).collect();
    assert_eq!(left, ["a", "b"]);
    let place = plan.unrestored[0].reason.rsplit(' ').next().unwrap();
    assert_eq!(contents(&project, place), "one\n", "what the first of them found");
}
