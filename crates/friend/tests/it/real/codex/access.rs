//! What codex may do, as the first time, resumed, in its own review and by the other way; and what it does without.

use std::fs;

use relaycode_friend::friend::answer::DeclinedActionKind;
use relaycode_friend::friend::event::FriendEvent;
use relaycode_friend::{AnswerFormat, FriendFailure, TurnMemory};
use relaycode_project::access::Access;
use relaycode_testkit::model;
use serde_json::json;

use super::fixture::{PATCH, escalated, patch, shell, stage};
use crate::fake_friends::since;

#[test]
fn writes_that_a_read_only_friend_asks_for_are_declined_and_the_tree_stays_as_it_is() {
    let stage = stage!([
        patch(PATCH),
        escalated("touch made.txt"),
        shell("touch made.txt; echo x >> .git/config; touch .git/hooks/post-commit"),
        model::ScriptedTurn::text("I could not."),
    ]);
    let before = stage.tree();
    let came = stage.go(&stage.turn("Change it."));
    assert_eq!(came.answer().text, "I could not.");
    assert_eq!(stage.tree(), before);
    let declined = &came.answer().declined;
    assert_eq!(*declined, came.declined());
    assert_eq!(declined.len(), 2, "{declined:?}");
    assert_eq!(declined[0].kind, DeclinedActionKind::Write);
    assert!(declined[0].what.ends_with("new.txt"), "{declined:?}");
    assert_eq!(declined[1].kind, DeclinedActionKind::Command);
    assert!(declined[1].what.contains("touch made.txt"), "{declined:?}");
    assert!(stage.server.turns()[3].body.to_string().contains("Read-only file system"));
}

#[test]
fn rules_that_the_user_saved_let_no_command_out_of_the_read_only_sandbox() {
    let stage = stage!([shell("touch made.txt"), model::ScriptedTurn::text("I could not.")]);
    stage.always_allow("touch");
    // Nor does a sandbox that the user chose, or a reviewer of theirs that says yes.
    stage.configure(
        &stage.server.url(),
        "sandbox_mode = \"danger-full-access\"\napprovals_reviewer = \"auto_review\"",
        "",
    );
    let before = stage.tree();
    assert_eq!(stage.go(&stage.turn("Change it.")).answer().text, "I could not.");
    assert_eq!(stage.tree(), before);
}

#[test]
fn a_resumed_session_remembers_and_is_as_read_only_as_the_first_turn() {
    let stage = stage!([
        model::ScriptedTurn::text("I keep the word."),
        patch(PATCH),
        shell("touch made.txt"),
        model::ScriptedTurn::text("I could not."),
    ]);
    stage.always_allow("touch");
    let before = stage.tree();
    let mut turn = stage.turn("The word is heron.");
    turn.memory = TurnMemory::Begin;
    let session = stage.go(&turn).answer().session.clone().unwrap();
    let mut turn = stage.turn("Now write.");
    turn.memory = TurnMemory::Resume(session.clone());
    let came = stage.go(&turn);
    assert_eq!(
        (came.answer().text.as_str(), came.answer().session.as_ref()),
        ("I could not.", Some(&session))
    );
    assert_eq!(came.declined().len(), 1, "{:?}", came.events);
    assert_eq!(stage.tree(), before);
    let requests = stage.server.turns();
    assert!(requests[1].body.to_string().contains("The word is heron."));
    for request in &requests {
        assert!(request.header("x-codex-turn-metadata").unwrap().contains("\"sandbox_mode\":\"read-only\""));
    }
    assert_eq!(came.answer().usage.map(|usage| usage.output), Some(15), "of this turn alone");
}

#[test]
fn its_own_review_answers_and_writes_nothing() {
    let finding = json!({
        "findings": [{"title": "[P1] It loops", "body": "For ever.", "confidence_score": 0.9, "priority": 1,
            "code_location": {"absolute_file_path": "/x/main.rs", "line_range": {"start": 1, "end": 1}}}],
        "overall_correctness": "patch is incorrect", "overall_explanation": "It is wrong.", "overall_confidence_score": 0.8,
    });
    let stage =
        stage!([patch(PATCH), shell("touch made.txt"), model::ScriptedTurn::text(finding.to_string())]);
    stage.always_allow("touch");
    let before = stage.tree();
    let mut turn = stage.turn("");
    turn.diff = since("main");
    let came = stage.go(&turn);
    let text = &came.answer().text;
    assert!(text.contains("It is wrong.") && text.contains("It loops"), "{text}");
    assert_eq!(came.texts().concat(), *text, "the raw form is not shown");
    assert_eq!(stage.tree(), before);
    for request in stage.server.turns() {
        assert!(request.header("x-codex-turn-metadata").unwrap().contains("\"sandbox_mode\":\"read-only\""));
    }
}

#[test]
fn a_friend_with_the_workspace_writes_there_and_nowhere_else() {
    for way in ["app-server", "exec"] {
        // Not beside the project, but in the folder for what is temporary.
        let elsewhere = tempfile::tempdir_in("/tmp").unwrap();
        let outside = elsewhere.path().join("outside.txt");
        let stage = stage!([
            patch(PATCH),
            shell(&format!("echo two > two.txt; touch ../outside.txt {}", outside.display())),
            patch(&PATCH.replace("new.txt", "../outside.txt")),
            escalated("touch ../outside.txt"),
            model::ScriptedTurn::text("Done as far as I may."),
        ]);
        stage.always_allow("touch");
        if way == "exec" {
            stage.without_app_server();
        }
        let mut turn = stage.turn("Change it.");
        turn.access = Access::Workspace;
        let came = stage.go(&turn);
        assert_eq!((came.answer().text.as_str(), came.answer().transport), ("Done as far as I may.", way));
        assert_eq!(fs::read_to_string(stage.project().join("new.txt")).unwrap(), "one\n");
        assert_eq!(fs::read_to_string(stage.project().join("two.txt")).unwrap(), "two\n");
        assert!(!stage.folder.path().join("outside.txt").exists());
        assert!(!outside.exists());
        let files: Vec<&str> = came.answer().declined.iter().map(|declined| declined.what.as_str()).collect();
        assert!(way == "exec" || files.iter().any(|file| file.ends_with("outside.txt")), "{files:?}");
    }
}

#[test]
fn a_friend_with_full_access_is_not_confined() {
    let stage = stage!([shell("touch ../outside.txt"), model::ScriptedTurn::text("Done.")]);
    let mut turn = stage.turn("Change it.");
    turn.access = Access::Full;
    assert_eq!(stage.go(&turn).answer().text, "Done.");
    assert!(stage.folder.path().join("outside.txt").exists());
}

#[test]
fn an_access_that_nobody_tested_is_refused() {
    let stage = stage!([]);
    let mut turn = stage.turn("Change it.");
    turn.access = Access::Ask;
    assert!(matches!(stage.go(&turn).failure(), FriendFailure::Unsupported { .. }));
    assert_eq!(stage.calls(), "");
}

#[test]
fn nothing_that_the_users_settings_name_is_run() {
    let stage = stage!([model::ScriptedTurn::text("Quiet.").repeat(2)]);
    let touch = |name: &str| stage.folder.path().join(name).display().to_string();
    let hooks: String = ["SessionStart", "UserPromptSubmit", "Stop"]
        .map(|event| {
            let command = format!("touch {}", touch("ran-hook"));
            format!(
                "[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = \"command\"\ncommand = \"{command}\"\n"
            )
        })
        .concat();
    let server = |name: &str, mark: &str| {
        format!("[mcp_servers.{name}]\ncommand = \"touch\"\nargs = [\"{}\"]\n", touch(mark))
    };
    let trust = format!("[projects.\"{}\"]\ntrust_level = \"trusted\"\n", stage.project().display());
    stage.configure(
        &stage.server.url(),
        &format!("notify = [\"touch\", \"{}\"]\nbypass_hook_trust = true", touch("ran-notify")),
        &[hooks, server("plain", "ran-mcp"), server("\"a.b\"", "ran-mcp-dotted"), trust].concat(),
    );
    fs::create_dir(stage.project().join(".codex")).unwrap();
    fs::write(stage.project().join(".codex/config.toml"), server("project", "ran-mcp-project")).unwrap();
    assert_eq!(stage.go(&stage.turn("Quietly, please.")).answer().text, "Quiet.");
    // The other way, too.
    stage.without_app_server();
    let came = stage.go(&stage.turn("Quietly, please."));
    assert_eq!((came.answer().text.as_str(), came.answer().transport), ("Quiet.", "exec"));
    let ran = fs::read_dir(stage.folder.path()).unwrap().flatten().map(|entry| entry.file_name());
    let ran: Vec<_> = ran.filter(|name| name.to_string_lossy().starts_with("ran-")).collect();
    assert_eq!(ran, [] as [&str; 0]);
}

#[test]
fn work_makes_codex_trust_nothing_and_start_nothing_that_the_project_names() {
    let stage = stage!([model::ScriptedTurn::text("Done.").repeat(4)]);
    let ran = stage.folder.path().join("ran-mcp");
    let server = format!("[mcp_servers.project]\ncommand = \"touch\"\nargs = [\"{}\"]\n", ran.display());
    fs::create_dir(stage.project().join(".codex")).unwrap();
    fs::write(stage.project().join(".codex/config.toml"), server).unwrap();
    let settings = || fs::read_to_string(stage.codex_home().join("config.toml")).unwrap();
    let before = settings();
    for way in ["app-server", "exec"] {
        for access in [Access::Workspace, Access::Full] {
            let mut turn = stage.turn("Work.");
            turn.access = access;
            let came = stage.go(&turn);
            assert_eq!((came.answer().text.as_str(), came.answer().transport), ("Done.", way), "{access}");
            assert!(!ran.exists(), "{way}, {access}: what the project names was started");
            assert_eq!(settings(), before, "{way}, {access}");
        }
        stage.without_app_server();
    }
}

#[test]
fn without_the_app_server_exec_does_all_of_it_as_read_only() {
    let stage = stage!([
        patch(PATCH),
        shell("touch made.txt"),
        model::ScriptedTurn::text("I could not."),
        patch(PATCH),
        shell("touch made.txt"),
        model::ScriptedTurn::text("Nor now."),
        patch(PATCH),
        model::ScriptedTurn::text("It is wrong."),
        model::ScriptedTurn::text("{\"ok\":true}"),
    ]);
    stage.without_app_server();
    stage.always_allow("touch");
    let before = stage.tree();
    let mut turn = stage.turn("Change it.");
    turn.memory = TurnMemory::Begin;
    let came = stage.go(&turn);
    assert_eq!((came.answer().text.as_str(), came.answer().transport), ("I could not.", "exec"));
    assert!(
        came.events.iter().any(|event| matches!(event, FriendEvent::Fallback(why) if why.contains("code 3")))
    );
    assert_eq!(stage.calls().lines().filter(|call| call.starts_with("app-server")).count(), 3);
    let session = came.answer().session.clone().unwrap();
    turn.memory = TurnMemory::Resume(session.clone());
    let came = stage.go(&turn);
    assert_eq!((came.answer().text.as_str(), came.answer().session.as_ref()), ("Nor now.", Some(&session)));
    turn.memory = TurnMemory::Resume("01a1de01-0000-7000-8000-000000000000".to_string());
    assert!(matches!(stage.go(&turn).failure(), FriendFailure::UnknownSession { .. }), "an unknown one");
    turn.memory = TurnMemory::None;
    turn.diff = since("main");
    assert_eq!(stage.go(&turn).answer().text, "It is wrong.");
    let mut turn = stage.turn("Is it ok?");
    turn.format = AnswerFormat::Json(
        json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"],
        "additionalProperties": false}),
    );
    assert_eq!(stage.go(&turn).answer().value, Some(json!({"ok": true})));
    assert_eq!(stage.tree(), before);
    for request in stage.server.turns() {
        assert!(request.header("x-codex-turn-metadata").unwrap().contains("\"sandbox_mode\":\"read-only\""));
    }
}
