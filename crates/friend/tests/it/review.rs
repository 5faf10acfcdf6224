//! Reviews: what is reviewed, by which way, and that nothing but a good answer is a pass.

use std::time::Duration;

use relaycode_friend::ask::AskError;
use relaycode_friend::ask::review::{PROMPT, ReviewOutcome, ReviewRequest};
use relaycode_friend::prompt::diff::SentDiffScope;
use relaycode_friend::review;
use relaycode_friend::{AskOptions, FriendContext, FriendEvent, FriendFailure, TurnTask};
use relaycode_project::git::GitError;
use serde_json::json;

use crate::fake_friends::{Fake, Scene, answer, failed, world};

fn reviewed(friend: &Fake, reviewing: &ReviewRequest) -> Result<ReviewOutcome, AskError> {
    review(friend, reviewing, &world(), &mut |_| {})
}

#[test]
fn what_the_branch_added_is_reviewed_and_what_is_left_out_is_said() {
    let scene = Scene::branch();
    let friend = Fake::says("fine");
    let got = reviewed(&friend, &scene.reviewing()).unwrap();
    assert_eq!((got.base.name.as_str(), got.verdict), ("main", None));
    assert!(matches!(got.outcome.sent.scope, SentDiffScope::Branch { with_uncommitted: false, .. }));
    assert!(!got.outcome.sent.uncommitted_left_out);
    let prompt = &friend.asked()[0];
    assert!(
        prompt.contains(&format!("Request:\n{PROMPT}\n\nGit Diff:\ndiff --git a/a.txt b/a.txt\n")),
        "{prompt}"
    );
    scene.file("new.txt", "new\n");
    let got = reviewed(&friend, &scene.reviewing()).unwrap();
    assert!(got.outcome.sent.uncommitted_left_out && got.outcome.sent.files == 1);
    let with = ReviewRequest { uncommitted: true, ..scene.reviewing() };
    let sent = reviewed(&friend, &with).unwrap().outcome.sent;
    assert!(
        matches!(sent.scope, SentDiffScope::Branch { with_uncommitted: true, .. })
            && sent.files == 2
            && sent.untracked == 1
    );
    let some = ReviewRequest { uncommitted: true, paths: vec!["./new.txt".to_string()], ..scene.reviewing() };
    assert_eq!(reviewed(&friend, &some).unwrap().outcome.sent.files, 1);
    let absolute = scene.root().join("a.txt").display().to_string();
    let some =
        ReviewRequest { paths: vec![absolute], prompt: Some("Look.".to_string()), ..scene.reviewing() };
    assert_eq!(reviewed(&friend, &some).unwrap().outcome.sent.files, 1);
    assert!(friend.asked().last().unwrap().contains("Request:\nLook.\n\n"));
    let bad = ReviewRequest { paths: vec!["../x".to_string()], ..scene.reviewing() };
    assert!(matches!(reviewed(&friend, &bad), Err(AskError::Git(GitError::BadPath { .. }))));
}

#[test]
fn work_that_is_not_committed_is_reviewed_if_nothing_else_is_there() {
    let scene = Scene::new();
    let friend = Fake::says("fine");
    let error = reviewed(&friend, &scene.reviewing()).unwrap_err();
    assert!(matches!(error, AskError::NothingToReview { .. }), "{error}");
    assert!(error.to_string().starts_with("there is nothing to review: nothing was committed since main"));
    assert_eq!(friend.asked(), [""; 0]);
    scene.file("a.txt", "changed\n");
    let sent = reviewed(&friend, &scene.reviewing()).unwrap().outcome.sent;
    assert!(matches!(sent.scope, SentDiffScope::UncommittedOnly { .. }), "{sent:?}");
}

#[test]
fn a_base_that_is_not_there_is_an_error_and_so_is_no_repository() {
    let scene = Scene::branch();
    let friend = Fake::says("fine");
    let with = |base: &str| ReviewRequest { base: Some(base.to_string()), ..scene.reviewing() };
    for base in ["none", "--help", "", "main..work"] {
        let error = reviewed(&friend, &with(base)).unwrap_err();
        assert!(matches!(error, AskError::Git(GitError::NoBase { .. })), "{base}: {error}");
    }
    scene.git(&["update-ref", "refs/heads/-o/x", "main"]);
    assert_eq!(reviewed(&friend, &with("-o/x")).unwrap().base.name, "-o/x");
    let none = Scene::bare();
    assert!(matches!(
        reviewed(&friend, &none.reviewing()),
        Err(AskError::Git(GitError::NotARepository { .. }))
    ));
    none.git(&["init", "-q", "."]);
    assert!(matches!(reviewed(&friend, &none.reviewing()), Err(AskError::Git(GitError::NoCommits { .. }))));
    let deep = FriendContext { depth: 3, ..world() };
    assert!(matches!(review(&friend, &scene.reviewing(), &deep, &mut |_| {}), Err(AskError::Depth(_))));
    assert_eq!(friend.asked().len(), 1);
}

/// A friend with a review of its own, which ends so.
fn with_own(own: impl Fn() -> Result<&'static str, FriendFailure> + Send + Sync + 'static) -> Fake {
    let mut friend = Fake::new(move |turn, _| match &turn.task {
        TurnTask::Review { .. } => own().map(answer),
        TurnTask::Prompt(_) => Ok(answer("by the difference")),
    });
    friend.abilities.review = true;
    friend
}

#[test]
fn a_friends_own_review_comes_first_and_the_difference_after_it_fails() {
    let scene = Scene::branch();
    let friend = with_own(|| Ok("own"));
    let got = reviewed(&friend, &scene.reviewing()).unwrap();
    assert_eq!(got.outcome.answer.text, "own");
    assert_eq!(friend.asked(), ["review main"]);
    assert!(matches!(got.outcome.sent.scope, SentDiffScope::FriendOwnDiff { .. }));

    let friend = with_own(|| Err(failed("broken")));
    let mut events = Vec::new();
    let got = review(&friend, &scene.reviewing(), &world(), &mut |event| events.push(event)).unwrap();
    assert_eq!(got.outcome.answer.text, "by the difference");
    assert!(matches!(got.outcome.sent.scope, SentDiffScope::Branch { .. }));
    assert!(
        matches!(
            &events[..],
            [FriendEvent::Sending { summary: own, .. }, FriendEvent::AnswerRestarted, FriendEvent::Fallback(why), FriendEvent::Sending { summary, .. }]
                if why.contains("fake failed: broken")
                    && own.contains("compares with main") && summary.contains("since main") && summary.contains(": 1 commit, 1 file, ")
        ),
        "{events:?}"
    );
    // With a commit it is not tried at all: that it cannot is known before.
    let friend = with_own(|| Ok("own"));
    let commit = ReviewRequest { base: Some("HEAD~1".to_string()), ..scene.reviewing() };
    let mut events = Vec::new();
    let got = review(&friend, &commit, &world(), &mut |event| events.push(event)).unwrap();
    assert_eq!(got.outcome.answer.text, "by the difference");
    assert!(
        matches!(&events[..], [FriendEvent::Fallback(why), FriendEvent::Sending { .. }] if why.contains("HEAD~1")),
        "{events:?}"
    );
    let friend = with_own(|| Err(failed("broken")));
    reviewed(&friend, &scene.reviewing()).unwrap();
    // One deadline for both.
    let turns = friend.turns.lock().unwrap();
    assert_eq!(turns[0].limits, turns[1].limits);
    drop(turns);
    // An empty one is none.
    assert_eq!(
        reviewed(&with_own(|| Ok(" \n")), &scene.reviewing()).unwrap().outcome.answer.text,
        "by the difference"
    );
    for wish in [
        ReviewRequest { prompt: Some("x".to_string()), ..scene.reviewing() },
        ReviewRequest { paths: vec!["a.txt".to_string()], ..scene.reviewing() },
        ReviewRequest { uncommitted: true, ..scene.reviewing() },
    ] {
        let friend = with_own(|| Ok("own"));
        assert_eq!(reviewed(&friend, &wish).unwrap().outcome.answer.text, "by the difference");
    }
}

#[test]
fn what_is_refused_timed_out_or_broken_off_is_not_tried_another_way() {
    let scene = Scene::branch();
    let fake = || "fake".to_string();
    let failures: [fn(String) -> FriendFailure; 5] = [
        |friend| FriendFailure::Cancelled { friend },
        |friend| FriendFailure::TimedOut {
            friend,
            after: Duration::from_secs(1),
            idle: true,
            said: String::new(),
        },
        |friend| FriendFailure::AccessMismatch {
            friend,
            wanted: relaycode_project::access::Access::ReadOnly,
            got: "full".to_string(),
        },
        |friend| FriendFailure::NotSignedIn { friend, said: String::new(), hint: String::new() },
        |friend| FriendFailure::NotInstalled { friend, program: String::new(), hint: String::new() },
    ];
    for failure in failures {
        let friend = with_own(move || Err(failure(fake())));
        let error = reviewed(&friend, &scene.reviewing()).unwrap_err();
        assert_eq!(error.to_string(), failure(fake()).to_string());
        assert_eq!(friend.asked().len(), 1);
    }
}

#[test]
fn a_difference_that_is_too_large_is_refused_unless_the_friend_looks_for_itself() {
    let scene = Scene::branch();
    scene.file("big.txt", &"y".repeat(400_000));
    scene.git(&["add", "."]);
    scene.git(&["commit", "-q", "-m", "big"]);
    let friend = Fake::says("fine");
    let error = reviewed(&friend, &scene.reviewing()).unwrap_err();
    assert!(matches!(&error, AskError::Limit(over) if over.largest[0].0 == "big.txt"), "{error}");
    assert!(error.to_string().starts_with("the difference since main (there is a branch"), "{error}");
    assert_eq!(friend.asked(), [""; 0]);
    assert_eq!(reviewed(&with_own(|| Ok("own")), &scene.reviewing()).unwrap().outcome.answer.text, "own");
    let error = reviewed(&with_own(|| Err(failed("broken"))), &scene.reviewing()).unwrap_err();
    assert_eq!(error.to_string(), "fake failed: broken");
}

fn verdict(word: &str, severity: Option<&str>) -> String {
    let location = json!({"path": "a.txt", "line": 1, "endLine": null});
    let finding =
        |severity| json!({"severity": severity, "title": "t", "rationale": "r", "location": location});
    let findings: Vec<_> = severity.into_iter().map(finding).collect();
    json!({"schemaVersion": 1, "verdict": word, "summary": "s", "findings": findings}).to_string()
}

#[test]
fn a_failed_review_never_reads_as_a_pass() {
    let scene = Scene::branch();
    let wish = ReviewRequest { verdict: true, ..scene.reviewing() };
    let blocks = |text: &str| {
        let got = reviewed(&Fake::says(text), &wish)?;
        Ok::<bool, AskError>(got.verdict.expect("a verdict").blocks())
    };
    assert!(!blocks(&verdict("ship", None)).unwrap());
    assert!(!blocks(&verdict("ship", Some("nit"))).unwrap());
    assert!(blocks(&verdict("ship", Some("blocker"))).unwrap());
    assert!(blocks(&verdict("iterate", None)).unwrap());
    let ship = verdict("ship", None);
    for text in [
        String::new(),
        "Looks good to me, ship it.".to_string(),
        "{\"verdict\": \"ship\"}".to_string(),
        verdict("SHIP", None),
        verdict("ship", Some("harmless")),
        ship.replace("\"schemaVersion\":1", "\"schemaVersion\":2"),
        format!("{ship}\n{}", verdict("iterate", None)),
        ship[..ship.len() - 1].to_string(),
    ] {
        let error = blocks(&text).unwrap_err();
        let failure = error.failure().unwrap();
        assert!(
            matches!(failure, FriendFailure::NoAnswer { .. } | FriendFailure::SchemaMismatch { .. }),
            "{text}: {failure}"
        );
    }
    let error = blocks(&verdict("abstain", None)).unwrap_err();
    assert!(matches!(&error, AskError::Abstained { summary, .. } if summary == "s"), "{error}");
    let error = reviewed(&Fake::new(|_, _| Err(failed("no"))), &wish).unwrap_err();
    assert!(matches!(error.failure(), Some(FriendFailure::Failed { .. })));
    let both =
        ReviewRequest { options: AskOptions { schema: Some(json!({})), ..scene.terms() }, ..wish.clone() };
    assert!(matches!(reviewed(&Fake::says(&ship), &both), Err(AskError::SchemaAndVerdict)));
    // A contradiction is said.
    let got = reviewed(&Fake::says(&verdict("ship", Some("blocker"))), &wish).unwrap();
    assert_eq!(got.outcome.answer.remarks, ["it said ship and named a blocker: the blocker counts"]);
}
