//! What `relay recover` says; what a crash leaves is the ledger's own tests.

use crate::relay::{Project, edit};

#[test]
fn a_clean_project_has_nothing_to_recover() {
    let project = Project::new(&[("a.txt", "one\n")]);
    for _ in 0..2 {
        assert_eq!(project.done(&["recover"]), "✓ nothing to recover: no run stopped in the middle\n");
        project.applied(&edit("a.txt", "one", "1"));
        project.done(&["revert"]);
    }
    assert_eq!(project.done(&["recover", "-q"]), "");
    let ran = project.relay(&["recover", "--json", "-q"]);
    let value = ran.json();
    assert_eq!((ran.code, &value["ok"], &value["command"]), (0, &true.into(), &"recover".into()));
    assert_eq!(value["transactions"].as_array().unwrap().len(), 0);
    assert_eq!(project.relay(&["recover", "--keep", "--restore"]).code, 2);
}
