//! What is a verdict, what blocks, and where findings are.

use super::*;
use crate::prompt::schema::AnswerSchema;

fn written(verdict: &str, severities: &[&str]) -> Value {
    let findings: Vec<Value> = severities
        .iter()
        .map(|severity| json!({"severity": severity, "title": "t", "rationale": "r", "location": null}))
        .collect();
    json!({"schemaVersion": 1, "verdict": verdict, "summary": "s", "findings": findings})
}

fn read(value: &Value) -> Result<ReviewVerdict, VerdictError> {
    AnswerSchema::new(VERDICT_SCHEMA.clone()).unwrap().check(value).unwrap();
    ReviewVerdict::from_json(value, Path::new("/nowhere"))
}

#[test]
fn a_blocker_or_the_word_iterate_blocks() {
    for (word, severities, blocks, remarks) in [
        ("ship", &[][..], false, 0),
        ("ship", &["important", "nit"][..], false, 0),
        ("ship", &["nit", "blocker"][..], true, 1),
        ("iterate", &["nit"][..], true, 0),
        ("iterate", &[][..], true, 1),
        ("iterate", &["blocker"][..], true, 0),
    ] {
        let verdict = read(&written(word, severities)).unwrap();
        assert_eq!(verdict.blocks(), blocks, "{word} {severities:?}");
        assert_eq!(verdict.remarks.len(), remarks, "{word} {severities:?}");
    }
}

#[test]
fn an_abstention_and_another_form_are_no_verdict() {
    assert_eq!(read(&written("abstain", &[])), Err(VerdictError::Abstained("s".to_string())));
    let schema = AnswerSchema::new(VERDICT_SCHEMA.clone()).unwrap();
    assert!(schema.remarks().is_empty());
    let mut cases =
        vec![json!({}), json!("ship"), json!([]), json!({"verdict": "ship"}), written("SHIP", &[])];
    cases.push(written("ship", &["fatal"]));
    for (field, value) in [("schemaVersion", json!(2)), ("summary", json!(null)), ("extra", json!(1))] {
        let mut odd = written("ship", &[]);
        odd[field] = value;
        cases.push(odd);
    }
    for case in cases {
        assert!(schema.check(&case).is_err(), "{case}");
        assert!(ReviewVerdict::from_json(&case, Path::new("/")).is_err(), "{case}");
    }
}

#[test]
fn places_are_looked_for_in_the_project() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("app");
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::write(root.join("src/a.rs"), "").unwrap();
    std::fs::write(root.join("../secret"), "").unwrap();
    std::os::unix::fs::symlink("../secret", root.join("link")).unwrap();
    let absolute = root.join("src/a.rs").display().to_string();
    for (path, expected, file) in [
        ("src/a.rs", "src/a.rs", FindingFileState::Known),
        ("./src/../src/a.rs", "src/a.rs", FindingFileState::Known),
        (absolute.as_str(), "src/a.rs", FindingFileState::Known),
        ("src/gone.rs", "src/gone.rs", FindingFileState::Unknown),
        ("src", "src", FindingFileState::Unknown),
        ("", "", FindingFileState::Unknown),
        ("../secret", "../secret", FindingFileState::Outside),
        ("src/../../secret", "src/../../secret", FindingFileState::Outside),
        ("/etc/passwd", "/etc/passwd", FindingFileState::Outside),
        ("link", "link", FindingFileState::Outside),
    ] {
        assert_eq!(resolve_path(path, &root), (expected.to_string(), file), "{path}");
    }
    let location = |line: Value, end: Value| {
        let mut value = written("ship", &["nit"]);
        value["findings"][0]["location"] = json!({"path": "src/a.rs", "line": line, "endLine": end});
        let location = read(&value).unwrap().findings.remove(0).location.unwrap();
        (location.line, location.end_line)
    };
    assert_eq!(location(json!(3), json!(5)), (Some(3), Some(5)));
    assert_eq!(location(json!(3), json!(3)), (Some(3), None));
    assert_eq!(location(json!(0), json!(-1)), (None, None));
    assert_eq!(location(json!(5), json!(3)), (Some(5), None));
    assert_eq!(location(json!(null), json!(4)), (None, None));
}
