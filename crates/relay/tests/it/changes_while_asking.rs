//! P8 through the binary: on a real terminal, with files that change while the question stands there.

use std::fs;
use std::os::unix::fs::symlink;

use crate::fixture::scratch_project::{Project, edit, whole};
use crate::terminal_questions::Session;

fn project() -> Project {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "b\n")]);
    let answer = edit("a.txt", "two", "2") + &whole("b.txt", "changed\n") + &whole("new/c.txt", "fresh\n");
    project.put("a.md", answer.as_bytes());
    project
}

type Change = fn(&Project);

#[test]
fn p8_what_changes_while_the_question_stands_is_asked_about_again() {
    let changes: [(&str, Change); 6] = [
        ("content", |project| project.put("a.txt", b"zero\none\ntwo\nthree\n")),
        ("another file", |project| project.put("b.txt", b"mine\n")),
        ("a program", |project| {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(project.path("b.txt"), fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("deleted", |project| fs::remove_file(project.path("b.txt")).unwrap()),
        ("there first", |project| project.put("new/c.txt", b"mine\n")),
        ("a link", |project| {
            fs::rename(project.path("b.txt"), project.path("real.txt")).unwrap();
            symlink("real.txt", project.path("b.txt")).unwrap();
        }),
    ];
    for (name, change) in changes {
        let project = project();
        let mut session = Session::start(&project, &["apply", "a.md"], "");
        session.wait_for("apply? [y/N]");
        change(&project);
        let left = project.tree();
        session.type_in("y\n");
        if name != "a link" {
            session.wait_for("changed meanwhile");
            session.wait_for("apply? [y/N]");
            session.type_in("n\n");
        }
        let (code, seen) = session.end();
        assert!(matches!(code, Some(3 | 4)), "{name}: {code:?}\n{seen}");
        assert_eq!(project.tree(), left, "{name}\n{seen}");
        assert!(project.log().is_empty(), "{name}\n{seen}");
    }
}

#[test]
fn p8_what_a_pre_command_changes_is_asked_about_again() {
    let project = project();
    project.put(
        "relaycode.config.json",
        br#"{"projectId": "app", "patch": {"preCommand": "echo four >> a.txt", "approvalMode": "manual"}}"#,
    );
    let mut session = Session::start(&project, &["apply", "a.md"], "");
    session.wait_for("Run it from now on? [y/N]");
    session.type_in("y\n");
    session.wait_for("apply? [y/N]");
    session.type_in("y\n");
    session.wait_for("changed meanwhile");
    session.wait_for("apply? [y/N]");
    session.type_in("n\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(4), "{seen}");
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\nfour\n", "{seen}");
    assert_eq!(project.text("b.txt"), "b\n");
}

#[test]
fn p8_preview_apply_and_record_name_the_same_digest() {
    let project = project();
    let previewed = project.relay(&["preview", "a.md", "--json"]).json()["digest"].clone();
    let applied = project.relay(&["apply", "a.md", "-y", "--json"]).json()["digest"].clone();
    let recorded = project.relay(&["why", "--json"]).json()["decisions"][0]["digest"].clone();
    assert!(previewed.is_string());
    assert_eq!(previewed, applied);
    assert_eq!(applied, recorded);
}
