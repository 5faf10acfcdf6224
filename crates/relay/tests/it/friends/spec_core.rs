//! The specification of relay's core, where no other test shows a sentence of it: what reaches the friend, and whom and
//! which model is asked without a word about it. `docs/requirements-friends.md` has every sentence, with its test.

use std::fs;

use crate::friends::fixture::{Codex, Stage};

/// What stands before the request, in every prompt.
fn head(stage: &Stage) -> String {
    let root = stage.project.path("").canonicalize().unwrap();
    format!(
        "You are helping another coding agent by reviewing or advising on work in a local repository.\n\
         Repository path: {}\n\
         Use the repository files for context when needed.\n\
         Respond with concise, actionable feedback.\n\
         \n\
         Request:\n",
        root.display()
    )
}

/// Whether the friend was told exactly this, from the first word to the last.
fn was_told(stage: &Stage, prompt: &str) -> bool {
    let text = serde_json::to_string(prompt).unwrap();
    stage.log().lines().any(|line| line.contains("turn/start") && line.contains(&format!("\"text\":{text}")))
}

#[test]
fn a_question_reaches_the_friend_in_its_envelope() {
    let stage = Stage::answered();
    let head = head(&stage);
    stage.works(&["ask", "Is this right?"]);
    assert!(was_told(&stage, &format!("{head}Is this right?")), "{}", stage.log());
    let notes = stage.beside("notes");
    fs::write(&notes, "My notes.\n").unwrap();
    stage.project.put("a.txt", b"three\n");
    stage.works(&["ask", "And this?", "--context-file", notes.to_str().unwrap(), "--include-diff"]);
    let diff = stage.git(&["diff", "HEAD", "--"]);
    let whole = format!(
        "{head}And this?\n\nAdditional Context:\nMy notes.\n\nGit Diff:\n{}",
        diff.trim_end_matches('\n')
    );
    assert!(was_told(&stage, &whole), "{}", stage.log());
}

#[test]
fn a_review_without_words_asks_for_a_review_of_the_changes_since_main() {
    let stage = Stage::new().codex(&Codex::answering("Fine."));
    // In this form it is no review of codex's own.
    stage.works(&["review", "a.txt"]);
    let diff = stage.git(&["diff", "main...HEAD", "--"]);
    let whole = format!(
        "{}Review the following changes.\n\nGit Diff:\n{}",
        head(&stage),
        diff.trim_end_matches('\n')
    );
    assert!(was_told(&stage, &whole), "{}", stage.log());
}

#[test]
fn codex_is_asked_where_nobody_is_named_with_the_model_that_is() {
    let stage = Stage::answered();
    assert_eq!(stage.works(&["ask", "x"])["answers"][0]["friend"], "codex");
    assert!(!stage.log().contains(r#""model":"big""#), "its own model");
    for args in [&["ask", "x", "--model", "big"][..], &["ask", "x", "--to", "codex/big"]] {
        let before = stage.log().len();
        stage.works(args);
        let log = stage.log();
        assert!(log[before..].contains(r#""model":"big""#), "{args:?}: {log}");
    }
}

#[test]
fn a_directory_that_is_not_there_is_named_and_nobody_is_asked() {
    let stage = Stage::answered();
    for args in [&["ask", "x"][..], &["review"]] {
        for place in ["nowhere", "a.txt"] {
            let mut command = stage.json(&[&["-C", place], args].concat());
            let ran = stage.run(&mut command);
            assert_eq!((ran.code, &ran.json()["ok"]), (2, &false.into()), "{place}: {ran:?}");
            assert!(ran.err.contains(place), "{ran:?}");
        }
    }
    assert!(!stage.log().contains("thread/"), "{}", stage.log());
}
