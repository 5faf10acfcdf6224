//! Asking: what is refused before anything is sent, what is sent, and what counts as an answer.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use relaycode_friend::ask::AskError;
use relaycode_friend::prompt::diff::SentDiffScope;
use relaycode_friend::prompt::limits::PromptSizeLimit;
use relaycode_friend::prompt::user_context::ContextError;
use relaycode_friend::tree_check::ObservedChangeKind;
use relaycode_friend::{AskOptions, AskOutcome, AskRequest, FriendAnswer, FriendContext, FriendFailure, ask};
use relaycode_project::access::Access;
use serde_json::json;

use crate::fake_friends::{Fake, Scene, answer, failed, world};

fn asked(friend: &Fake, asking: &AskRequest) -> Result<AskOutcome, AskError> {
    ask(friend, asking, &world(), &mut |_| {})
}

#[test]
fn what_is_wrong_is_refused_in_order_and_nothing_is_sent() {
    let scene = Scene::new();
    let friend = Fake::says("yes");
    let good = scene.asking("what?");
    let refused = |asking: AskRequest| asked(&friend, &asking).unwrap_err();
    let all_wrong = AskRequest {
        prompt: " \u{200b}\n".to_string(),
        context: Some("x".repeat(200_001)),
        options: AskOptions {
            total: Duration::ZERO,
            root: scene.root().join("a.txt"),
            access: Access::Full,
            schema: Some(json!(1)),
            ..scene.terms()
        },
        ..good
    };
    let step = all_wrong;
    let on = |terms: AskOptions, step: AskRequest| AskRequest { options: terms, ..step };
    assert!(matches!(refused(step.clone()), AskError::NoPrompt));
    let step = AskRequest { prompt: "--what?".to_string(), ..step };
    assert!(matches!(refused(step.clone()), AskError::ZeroTimeout));
    assert!(matches!(
        refused(on(AskOptions { idle: Duration::ZERO, ..scene.terms() }, good.clone())),
        AskError::ZeroTimeout
    ));
    let step = on(AskOptions { total: Duration::from_secs(9), ..step.options.clone() }, step);
    assert!(matches!(refused(step.clone()), AskError::NotADirectory { .. }));
    let step = on(AskOptions { root: scene.root(), ..step.options.clone() }, step);
    let error = refused(step.clone());
    assert_eq!(error.to_string(), "fake cannot work with the access `full`; it can with read-only");
    let step = on(AskOptions { access: Access::ReadOnly, ..step.options.clone() }, step);
    assert!(matches!(refused(step.clone()), AskError::Schema(_)));
    let step = on(AskOptions { schema: None, ..step.options.clone() }, step);
    assert!(matches!(refused(step), AskError::Limit(over) if over.what == PromptSizeLimit::Context));
    let deep = FriendContext { depth: 1, ..world() };
    let error = ask(&friend, &good, &deep, &mut |_| {}).unwrap_err();
    assert!(matches!(error, AskError::Depth(_)), "{error}");
    assert_eq!(friend.asked(), [""; 0]);
    assert_eq!(
        AskError::from(ContextError::Both).to_string(),
        "context comes from a file or as a text, not both"
    );
}

#[test]
fn the_whole_prompt_is_limited_at_the_exact_byte() {
    let scene = Scene::new();
    let friend = Fake::says("yes");
    let frame = asked(&friend, &scene.asking("x")).unwrap().sent.prompt.unwrap().len() - 1;
    let exact = scene.asking(&"x".repeat(500_000 - frame));
    assert_eq!(asked(&friend, &exact).unwrap().sent.prompt.unwrap().len(), 500_000);
    let over = scene.asking(&"x".repeat(500_000 - frame + 1));
    let error = asked(&friend, &over).unwrap_err();
    assert!(
        matches!(error, AskError::Limit(over) if over.what == PromptSizeLimit::Prompt && over.size == 500_001)
    );
    assert_eq!(friend.asked().len(), 2);
}

#[test]
fn a_difference_is_limited_at_the_exact_byte_and_names_the_largest_files() {
    let scene = Scene::new();
    let friend = Fake::says("yes");
    let asking = AskRequest { include_diff: true, ..scene.asking("what?") };
    scene.file("big.txt", &"y".repeat(1_000));
    let frame = asked(&friend, &asking).unwrap().sent.bytes - 1_000;
    let fits = usize::try_from(300_000 - frame).unwrap();
    scene.file("big.txt", &"y".repeat(fits));
    assert_eq!(asked(&friend, &asking).unwrap().sent.bytes, 300_000);
    scene.file("big.txt", &"y".repeat(fits + 1));
    let Err(AskError::Limit(over)) = asked(&friend, &asking) else { panic!("it was sent") };
    assert_eq!((over.what, over.size, over.most), (PromptSizeLimit::Diff, 300_001, 300_000));
    assert_eq!(over.largest, [("big.txt".to_string(), 300_001)]);
    scene.file("big.txt", &"y".repeat(fits + 1_000_000));
    let Err(AskError::Limit(over)) = asked(&friend, &asking) else { panic!("it was sent") };
    assert_eq!(over.largest[0].0, "big.txt");
}

#[test]
fn which_difference_was_sent_is_said() {
    let friend = Fake::says("yes");
    let which = |scene: &Scene| {
        let asking = AskRequest { include_diff: true, ..scene.asking("what?") };
        asked(&friend, &asking).unwrap().sent
    };
    let scene = Scene::branch();
    let sent = which(&scene);
    assert_eq!(sent.scope, SentDiffScope::LastCommit);
    assert!(
        sent.summary_line().unwrap().starts_with("the last commit, because nothing is uncommitted: 1 file, ")
    );
    scene.file("new.txt", "new\n");
    let sent = which(&scene);
    assert_eq!((sent.scope.clone(), sent.files, sent.untracked), (SentDiffScope::Uncommitted, 1, 1));
    assert!(friend.asked().last().unwrap().ends_with("+++ b/new.txt\n@@ -0,0 +1 @@\n+new"));
    // What is not sent differs, too.
    fs::rename(scene.root().join("new.txt"), scene.root().join(".env")).unwrap();
    let sent = which(&scene);
    assert_eq!((sent.scope.clone(), sent.left_out.len()), (SentDiffScope::LastCommit, 1));
    assert!(sent.summary_line().unwrap().contains("nothing that can be sent is uncommitted"), "{sent:?}");
    assert_eq!(sent.remarks(), [".env is not in it: by its name it holds secrets"]);
    let none = Scene::bare();
    let sent = which(&none);
    assert!(
        matches!(&sent.scope, SentDiffScope::Unavailable(why) if why.contains("no git repository")),
        "{sent:?}"
    );
    assert!(!friend.asked().last().unwrap().contains("Git Diff:"));
    none.git(&["init", "-q", "."]);
    assert_eq!(which(&none).scope, SentDiffScope::Empty);
    assert_eq!(asked(&friend, &none.asking("x")).unwrap().sent.summary_line(), None);
}

#[test]
fn no_answer_and_a_failure_are_never_an_answer() {
    let scene = Scene::new();
    for text in ["", " \n\t", "\u{200b}\u{feff}"] {
        let error = asked(&Fake::says(text), &scene.asking("what?")).unwrap_err();
        assert!(matches!(error.failure(), Some(FriendFailure::NoAnswer { .. })), "{error}");
    }
    let error = asked(&Fake::new(|_, _| Err(failed("no"))), &scene.asking("what?")).unwrap_err();
    assert_eq!(error.to_string(), "fake failed: no");
    let stopped = FriendContext { stop_requested: &|| true, ..world() };
    let friend = Fake::says("yes");
    let error = ask(&friend, &scene.asking("what?"), &stopped, &mut |_| {}).unwrap_err();
    assert!(matches!(error.failure(), Some(FriendFailure::Cancelled { .. })));
    assert_eq!(friend.asked(), [""; 0]);
    let late = AskRequest {
        options: AskOptions { total: Duration::from_nanos(1), ..scene.terms() },
        ..scene.asking("what?")
    };
    assert!(matches!(asked(&friend, &late).unwrap_err().failure(), Some(FriendFailure::TimedOut { .. })));
}

#[test]
fn a_structured_answer_follows_its_schema_whoever_says_so() {
    let scene = Scene::new();
    let schema = json!({"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean", "pattern": "x"}}});
    let asking =
        AskRequest { options: AskOptions { schema: Some(schema), ..scene.terms() }, ..scene.asking("what?") };
    let friend = Fake::says("Sure:\n```json\n{\"ok\": true}\n```");
    let got = asked(&friend, &asking).unwrap().answer;
    assert_eq!((got.text.as_str(), got.value), ("{\"ok\":true}", Some(json!({"ok": true}))));
    assert_eq!(got.remarks, ["words around the JSON are left out", "`pattern` in the schema is not checked"]);
    assert!(friend.asked()[0].contains("Answer Format:\nAnswer with one JSON value"));
    for text in ["yes", "{\"ok\": 1}", "{}", "{\"ok\": true} {\"ok\": false}"] {
        let error = asked(&Fake::says(text), &asking).unwrap_err();
        assert!(matches!(error.failure(), Some(FriendFailure::SchemaMismatch { .. })), "{text}: {error}");
    }
    // A friend that is held to it by its own means is not asked in words, and not believed either.
    let mut own =
        Fake::new(|_, _| Ok(FriendAnswer { value: Some(json!({"ok": "no"})), ..answer("{\"ok\": true}") }));
    own.abilities.schema = true;
    assert!(matches!(
        asked(&own, &asking).unwrap_err().failure(),
        Some(FriendFailure::SchemaMismatch { .. })
    ));
    assert!(!own.asked()[0].contains("Answer Format"));
    // Without a schema nothing is read.
    let plain = Fake::new(|_, _| Ok(FriendAnswer { value: Some(json!(1)), ..answer("words") }));
    assert_eq!(asked(&plain, &scene.asking("x")).unwrap().answer.value, None);
}

#[test]
fn what_changed_while_it_ran_is_told_with_the_answer_and_with_a_failure() {
    let scene = Scene::new();
    scene.file(".gitignore", "built/\n");
    scene.file("built/out", "x");
    let root = scene.root();
    let meddle = move || {
        fs::write(root.join("a.txt"), "meddled\n").unwrap();
        fs::write(root.join("built/out"), "y").unwrap();
        fs::write(root.join(".git/hooks/pre-commit"), "x").unwrap();
    };
    let again = meddle.clone();
    let asking =
        AskRequest { options: AskOptions { check_tree: true, ..scene.terms() }, ..scene.asking("what?") };
    let calm = asked(&Fake::says("yes"), &asking).unwrap();
    assert!(calm.tree_check.is_unchanged(), "{calm:?}");
    let got = asked(
        &Fake::new(move |_, _| {
            meddle();
            Ok(answer("yes"))
        }),
        &asking,
    )
    .unwrap();
    let changed: Vec<_> = got.tree_check.changes.iter().map(|one| (one.path.as_str(), one.kind)).collect();
    assert_eq!(
        changed,
        [
            (".git/hooks/pre-commit", ObservedChangeKind::Created),
            ("a.txt", ObservedChangeKind::Changed),
            ("built/out", ObservedChangeKind::Written)
        ]
    );
    scene.file("a.txt", "one\n");
    let error = asked(
        &Fake::new(move |_, _| {
            again();
            Err(failed("no"))
        }),
        &asking,
    )
    .unwrap_err();
    let AskError::Friend(failed) = error else { panic!("{error}") };
    assert!(failed.tree_check.changes.iter().any(|one| one.path == "a.txt"), "{failed:?}");
    // Also after a stop.
    scene.file("a.txt", "one\n");
    let stop = AtomicBool::new(false);
    let (root, asking) = (scene.root(), asking);
    let says = || stop.load(Ordering::SeqCst);
    let world = FriendContext { stop_requested: &says, ..world() };
    let friend = Fake::new(move |_, hear| {
        fs::write(root.join("a.txt"), "meddled\n").unwrap();
        hear(relaycode_friend::FriendEvent::AnswerRestarted);
        Err(FriendFailure::Cancelled { friend: "fake".to_string() })
    });
    let error = ask(&friend, &asking, &world, &mut |_| stop.store(true, Ordering::SeqCst)).unwrap_err();
    let AskError::Friend(failed) = error else { panic!("{error}") };
    assert_eq!(failed.tree_check.changes.len(), 1, "{failed:?}");
}
