//! What `relay show` says of one change.

use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

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
    let shown = project.relay(&["show", "1"]);
    // The diff is shown only on request.
    relay_snapshot!(shown, @"
    exit 0
    ----- stdout -----
    0f8fad5b  feat: two                                                       2 files  +2 −1
        M  a.txt  +1 −1
        A  b.txt  +1
      id         0f8fad5b-d9cb-469f-a165-70867728950e
      when       <time>, now
      from       stdin
      yes by     -y
      message
        Because it is short.
      its author said
        Two is better as a number.
    ");
    for name in [UUID, "0f8f", "0f8fad5b"] {
        assert_eq!(project.done(&["show", name]), shown.out, "{name}");
    }
}

#[test]
fn the_diff_is_shown_on_request_and_for_one_file() {
    let project = project();
    relay_snapshot!(project.relay(&["show", "1", "--diff"]), @"
    exit 0
    ----- stdout -----
    0f8fad5b  feat: two                                                       2 files  +2 −1
        M  a.txt  +1 −1
        A  b.txt  +1
      id         0f8fad5b-d9cb-469f-a165-70867728950e
      when       <time>, now
      from       stdin
      yes by     -y
      message
        Because it is short.
      its author said
        Two is better as a number.

    --- a/a.txt
    +++ b/a.txt
    @@ -1,3 +1,3 @@
     one
    -two
    +2
     three

    --- /dev/null
    +++ b/b.txt
    @@ -0,0 +1,1 @@
    +b
    ");
    let out = project.done(&["show", "1", "--diff", "--file", "b.txt", "-q"]);
    assert_eq!(out, "\n--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1,1 @@\n+b\n");
    relay_snapshot!(project.relay(&["show", "1", "--file", "c.txt"]), @"
    exit 2
    ----- stderr -----
    ✗ c.txt is not one of the files of change 1
      `relay show 1` lists them
    ");
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
    assert!(project.done(&["show", "2"]).contains(&format!("undone by {by}")));
}

#[test]
fn what_is_not_there_is_wrong_usage() {
    let project = project();
    let mut transcript = Transcript::default();
    for name in ["7", "ffff", "x"] {
        transcript.add(name, &project.relay(&["show", name]));
    }
    relay_snapshot!(transcript, @"
    # 7
    exit 2
    ----- stderr -----
    ✗ no change matches `7`
      use a number or id from `relay log`; the first four characters of an id are enough

    # ffff
    exit 2
    ----- stderr -----
    ✗ no change matches `ffff`
      use a number or id from `relay log`; the first four characters of an id are enough

    # x
    exit 2
    ----- stderr -----
    ✗ no change matches `x`
      use a number or id from `relay log`; the first four characters of an id are enough
    ");
    let ran = project.relay(&["show", "7", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["kind"]), (2, &"unknown".into()));
}
