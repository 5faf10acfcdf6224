//! What `relay show` says of one change.

use crate::fixture::scratch_project::{Project, control, edit, whole};

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn project() -> Project {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let answer = "Two is better as a number.\n\n".to_string()
        + &edit("a.txt", "two", "2")
        + &whole("b.txt", "b\n")
        + &control(UUID, "feat: two\\n\\nBecause it is short.");
    project.applied(&answer);
    project
}

#[test]
fn a_change_is_shown_by_number_by_id_and_by_its_beginning() {
    let project = project();
    for name in ["1", UUID, "0f8f", "0f8fad5b"] {
        let out = project.done(&["show", name]);
        for part in [
            "0f8fad5b  feat: two",
            "2 files  +2 −1\n",
            "    M  a.txt  +1 −1\n",
            "    A  b.txt  +1\n",
            UUID,
            ", now\n",
            "stdin",
            "Two is better as a number.",
            "Because it is short.",
        ] {
            assert!(out.contains(part), "{name}: {part:?} is missing in\n{out}");
        }
        assert!(!out.contains("@@"), "{out}");
    }
}

#[test]
fn the_diff_is_shown_on_request_and_for_one_file() {
    let project = project();
    let out = project.done(&["show", "1", "--diff"]);
    assert!(out.contains("-two\n+2\n") && out.contains("+++ b/b.txt\n"), "{out}");
    let out = project.done(&["show", "1", "--diff", "--file", "b.txt", "-q"]);
    assert_eq!(out, "\n--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1,1 @@\n+b\n");
    let ran = project.relay(&["show", "1", "--file", "c.txt"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("c.txt is not among the files"), "{}", ran.err);
}

#[test]
fn json_has_the_record_without_the_contents() {
    let project = project();
    let ran = project.relay(&["show", "1", "--json", "--diff"]);
    let value = ran.json();
    assert_eq!((ran.code, &value["command"]), (0, &"show".into()));
    let record = &value["records"][0];
    assert_eq!((&record["id"], &record["projectId"]), (&UUID.into(), &"shop".into()));
    assert_eq!((&record["decidedBy"], &record["undone"]), (&"-y".into(), &false.into()));
    assert_eq!(record["operations"][0]["patchStrategy"], "multi-search-replace");
    assert_eq!(record["files"][0]["change"], "modified");
    assert_eq!(record["files"][0]["diff"]["content"], "text");
    assert!(record.get("snapshot").is_none());
    project.done(&["revert"]);
    let value = project.relay(&["show", "2", "--json"]).json();
    assert_eq!(value["records"][0]["undone"], true);
    let by = project.log()[0]["id"].as_str().unwrap()[..8].to_string();
    assert!(project.done(&["show", "2"]).contains(&format!("reverted by {by}")));
}

#[test]
fn what_is_not_there_is_wrong_usage() {
    let project = project();
    for name in ["7", "ffff", "x"] {
        let ran = project.relay(&["show", name]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}: {ran:?}");
        assert!(ran.err.contains("relay log"), "{}", ran.err);
    }
    let ran = project.relay(&["show", "7", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["kind"]), (2, &"unknown".into()));
}
