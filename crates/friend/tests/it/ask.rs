//! Asking: what is refused before anything is sent, what is sent, and what counts as an answer.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use relaycode_friend::ask::AskError;
use relaycode_friend::prompt::diff::{SentDiffScope, SentSummary};
use relaycode_friend::prompt::limits::PromptSizeLimit;
use relaycode_friend::prompt::user_context::ContextError;
use relaycode_friend::tree_check::ObservedChangeKind;
use relaycode_friend::{
    AnswerFormat, AskDiff, AskRequest, FriendAnswer, FriendContext, FriendFailure, FriendResult, TurnLimits,
    ask,
};
use relaycode_project::access::Access;
use serde_json::json;

use crate::fake_friends::{self, Fake, Scene, answer, failed, world};

fn asked(friend: &Fake, asking: &AskRequest) -> FriendResult {
    ask(friend, asking, &world(), &mut |_| {})
}

fn refusal(friend: &Fake, asking: &AskRequest) -> AskError {
    asked(friend, asking).answer.unwrap_err()
}

fn sent(friend: &Fake, asking: &AskRequest) -> SentSummary {
    asked(friend, asking).sent.unwrap()
}

#[test]
fn what_is_wrong_is_refused_in_order_and_nothing_is_sent() {
    let scene = Scene::new();
    let friend = Fake::says("yes");
    let good = scene.asking("what?");
    let hours =
        |total: u64, idle: u64| TurnLimits::new(Duration::from_secs(total), Duration::from_secs(idle));
    let refused = |asking: &AskRequest| refusal(&friend, asking);
    let mut step = AskRequest {
        prompt: " \u{200b}\n".to_string(),
        context: Some("x".repeat(200_001)),
        directory: scene.root().join("a.txt"),
        access: Access::Full,
        format: AnswerFormat::Json(json!(1)),
        limits: hours(0, 60),
        ..good.clone()
    };
    assert!(matches!(refused(&step), AskError::NoPrompt));
    step.prompt = "--what?".to_string();
    assert!(matches!(refused(&step), AskError::ZeroTimeout));
    assert!(matches!(refused(&AskRequest { limits: hours(60, 0), ..good.clone() }), AskError::ZeroTimeout));
    step.limits = hours(9, 60);
    assert!(matches!(refused(&step), AskError::NotADirectory { .. }));
    step.directory = scene.root();
    assert_eq!(refused(&step).to_string(), "fake cannot work with the access `full`; it can with read-only");
    step.access = Access::ReadOnly;
    assert!(matches!(refused(&step), AskError::Schema(_)));
    step.format = AnswerFormat::Text;
    assert!(matches!(refused(&step), AskError::Limit(over) if over.what == PromptSizeLimit::Context));
    let deep = FriendContext { depth: 1, ..world() };
    let error = ask(&friend, &good, &deep, &mut |_| {}).answer.unwrap_err();
    assert!(matches!(error, AskError::Depth(_)), "{error}");
    assert_eq!(friend.asked(), [""; 0]);
    assert_eq!(
        AskError::from(ContextError::Both).to_string(),
        "give the context as a file or as text, not both"
    );
}

#[test]
fn the_whole_prompt_is_limited_at_the_exact_byte() {
    let scene = Scene::new();
    let friend = Fake::says("yes");
    let frame = sent(&friend, &scene.asking("x")).prompt.unwrap().len() - 1;
    let exact = scene.asking(&"x".repeat(500_000 - frame));
    assert_eq!(sent(&friend, &exact).prompt.unwrap().len(), 500_000);
    let over = scene.asking(&"x".repeat(500_000 - frame + 1));
    let error = refusal(&friend, &over);
    assert!(
        matches!(error, AskError::Limit(over) if over.what == PromptSizeLimit::Prompt && over.size == 500_001)
    );
    assert_eq!(friend.asked().len(), 2);
}

#[test]
fn a_difference_is_limited_at_the_exact_byte_and_names_the_largest_files() {
    let scene = Scene::new();
    let friend = Fake::says("yes");
    let asking = AskRequest { diff: AskDiff::Latest, ..scene.asking("what?") };
    scene.file("big.txt", &"y".repeat(1_000));
    let frame = sent(&friend, &asking).bytes - 1_000;
    let fits = usize::try_from(300_000 - frame).unwrap();
    scene.file("big.txt", &"y".repeat(fits));
    assert_eq!(sent(&friend, &asking).bytes, 300_000);
    scene.file("big.txt", &"y".repeat(fits + 1));
    let AskError::Limit(over) = refusal(&friend, &asking) else { panic!("it was sent") };
    assert_eq!((over.what, over.size, over.most), (PromptSizeLimit::Diff, 300_001, 300_000));
    assert_eq!(over.largest, [("big.txt".to_string(), 300_001)]);
    scene.file("big.txt", &"y".repeat(fits + 1_000_000));
    let AskError::Limit(over) = refusal(&friend, &asking) else { panic!("it was sent") };
    assert_eq!(over.largest[0].0, "big.txt");
}

#[test]
fn which_difference_was_sent_is_said() {
    let friend = Fake::says("yes");
    let which = |scene: &Scene| {
        let asking = AskRequest { diff: AskDiff::Latest, ..scene.asking("what?") };
        sent(&friend, &asking)
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
        matches!(&sent.scope, SentDiffScope::Unavailable(why) if why.contains("not in a git repository")),
        "{sent:?}"
    );
    assert!(!friend.asked().last().unwrap().contains("Git Diff:"));
    none.git(&["init", "-q", "."]);
    assert_eq!(which(&none).scope, SentDiffScope::Empty);
    assert_eq!(self::sent(&friend, &none.asking("x")).summary_line(), None);
}

#[test]
fn no_answer_and_a_failure_are_never_an_answer() {
    let scene = Scene::new();
    for text in ["", " \n\t", "\u{200b}\u{feff}"] {
        let error = refusal(&Fake::says(text), &scene.asking("what?"));
        assert!(matches!(error.failure(), Some(FriendFailure::NoAnswer { .. })), "{error}");
    }
    let error = refusal(&Fake::new(|_, _| Err(failed("no"))), &scene.asking("what?"));
    assert_eq!(error.to_string(), "fake failed: no");
    let stopped = FriendContext { stop_requested: &|| true, ..world() };
    let friend = Fake::says("yes");
    let error = ask(&friend, &scene.asking("what?"), &stopped, &mut |_| {}).answer.unwrap_err();
    assert!(matches!(error.failure(), Some(FriendFailure::Cancelled { .. })));
    assert_eq!(friend.asked(), [""; 0]);
    let limits = TurnLimits::new(Duration::from_nanos(1), Duration::from_secs(60));
    let late = AskRequest { limits, ..scene.asking("what?") };
    assert!(matches!(refusal(&friend, &late).failure(), Some(FriendFailure::TimedOut { .. })));
}

#[test]
fn a_structured_answer_follows_its_schema_whoever_says_so() {
    let scene = Scene::new();
    let schema = json!({"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean", "pattern": "x"}}});
    let asking = AskRequest { format: AnswerFormat::Json(schema), ..scene.asking("what?") };
    let friend = Fake::says("Sure:\n```json\n{\"ok\": true}\n```");
    let got = asked(&friend, &asking).answer.unwrap();
    assert_eq!((got.text.as_str(), got.value), ("{\"ok\":true}", Some(json!({"ok": true}))));
    assert_eq!(got.remarks, ["words around the JSON are left out", "`pattern` in the schema is not checked"]);
    assert!(friend.asked()[0].contains("Answer Format:\nAnswer with one JSON value"));
    for text in ["yes", "{\"ok\": 1}", "{}", "{\"ok\": true} {\"ok\": false}"] {
        let error = refusal(&Fake::says(text), &asking);
        assert!(matches!(error.failure(), Some(FriendFailure::SchemaMismatch { .. })), "{text}: {error}");
    }
    // A friend that is held to it by its own means is not asked in words, and not believed either.
    let mut own =
        Fake::new(|_, _| Ok(FriendAnswer { value: Some(json!({"ok": "no"})), ..answer("{\"ok\": true}") }));
    own.abilities.schema = true;
    assert!(matches!(refusal(&own, &asking).failure(), Some(FriendFailure::SchemaMismatch { .. })));
    assert!(!own.asked()[0].contains("Answer Format"));
    // Without a schema nothing is read.
    let plain = Fake::new(|_, _| Ok(FriendAnswer { value: Some(json!(1)), ..answer("words") }));
    assert_eq!(asked(&plain, &scene.asking("x")).answer.unwrap().value, None);
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
    let asking = AskRequest { check_tree: true, ..scene.asking("what?") };
    let calm = asked(&Fake::says("yes"), &asking);
    assert!(calm.answer.is_ok() && calm.tree_check.is_unchanged(), "{calm:?}");
    let got = asked(
        &Fake::new(move |_, _| {
            meddle();
            Ok(answer("yes"))
        }),
        &asking,
    );
    assert!(got.answer.is_ok(), "{got:?}");
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
    let failed = asked(
        &Fake::new(move |_, _| {
            again();
            Err(fake_friends::failed("no"))
        }),
        &asking,
    );
    assert!(matches!(failed.answer, Err(AskError::Friend(_))), "{failed:?}");
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
    let failed = ask(&friend, &asking, &world, &mut |_| stop.store(true, Ordering::SeqCst));
    assert!(matches!(failed.answer, Err(AskError::Friend(_))), "{failed:?}");
    assert_eq!(failed.tree_check.changes.len(), 1, "{failed:?}");
}
