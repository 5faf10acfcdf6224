//! Reviews: what is reviewed, by which way, and that nothing but a good answer is a pass.

use std::time::Duration;

use relaycode_friend::ask::review::PROMPT;
use relaycode_friend::prompt::diff::{SentDiffScope, SentSummary};
use relaycode_friend::{
    AnswerFormat, AskError, AskRequest, FriendContext, FriendEvent, FriendFailure, FriendResult, ReviewScope,
    ask,
};
use relaycode_project::git::GitError;
use serde_json::json;

use crate::fake_friends::{Asked, Fake, Scene, answer, failed, since, world};

fn reviewed(friend: &Fake, reviewing: &AskRequest) -> FriendResult {
    ask(friend, reviewing, &world(), &mut |_| {})
}

fn sent(friend: &Fake, reviewing: &AskRequest) -> SentSummary {
    let result = reviewed(friend, reviewing);
    assert!(result.answer.is_ok(), "{result:?}");
    result.sent.unwrap()
}

fn text(friend: &Fake, reviewing: &AskRequest) -> String {
    reviewed(friend, reviewing).answer.unwrap().text
}

fn refusal(friend: &Fake, reviewing: &AskRequest) -> AskError {
    reviewed(friend, reviewing).answer.unwrap_err()
}

fn base_of(sent: &SentSummary) -> &str {
    let SentDiffScope::Branch { base, .. } = &sent.scope else { panic!("{sent:?}") };
    &base.name
}

#[test]
fn what_the_branch_added_is_reviewed_and_what_is_left_out_is_said() {
    let scene = Scene::branch();
    let friend = Fake::says("fine");
    let got = reviewed(&friend, &scene.reviewing());
    assert_eq!(got.answer.unwrap().verdict, None);
    let got = got.sent.unwrap();
    assert_eq!(base_of(&got), "main");
    assert!(matches!(got.scope, SentDiffScope::Branch { with_uncommitted: false, .. }));
    assert!(!got.uncommitted_left_out);
    let prompt = &friend.asked()[0];
    assert!(
        prompt.contains(&format!("Request:\n{PROMPT}\n\nGit Diff:\ndiff --git a/a.txt b/a.txt\n")),
        "{prompt}"
    );
    scene.file("new.txt", "new\n");
    let got = sent(&friend, &scene.reviewing());
    assert!(got.uncommitted_left_out && got.files == 1);
    let with = scene.reviewing_scope(ReviewScope { uncommitted: true, ..ReviewScope::default() });
    let got = sent(&friend, &with);
    assert!(
        matches!(got.scope, SentDiffScope::Branch { with_uncommitted: true, .. })
            && got.files == 2
            && got.untracked == 1
    );
    let paths = |path: &str| ReviewScope { paths: vec![path.to_string()], ..ReviewScope::default() };
    let some = scene.reviewing_scope(ReviewScope { uncommitted: true, ..paths("./new.txt") });
    assert_eq!(sent(&friend, &some).files, 1);
    let absolute = scene.root().join("a.txt").display().to_string();
    let some = AskRequest { prompt: "Look.".to_string(), ..scene.reviewing_scope(paths(&absolute)) };
    assert_eq!(sent(&friend, &some).files, 1);
    assert!(friend.asked().last().unwrap().contains("Request:\nLook.\n\n"));
    let bad = scene.reviewing_scope(paths("../x"));
    assert!(matches!(refusal(&friend, &bad), AskError::Git(GitError::BadPath { .. })));
}

#[test]
fn work_that_is_not_committed_is_reviewed_if_nothing_else_is_there() {
    let scene = Scene::new();
    let friend = Fake::says("fine");
    let error = refusal(&friend, &scene.reviewing());
    assert!(matches!(error, AskError::NothingToReview { .. }), "{error}");
    assert!(error.to_string().starts_with("there is nothing to review: nothing was committed since main"));
    assert_eq!(friend.asked(), [""; 0]);
    scene.file("a.txt", "changed\n");
    let got = sent(&friend, &scene.reviewing());
    assert!(matches!(got.scope, SentDiffScope::UncommittedOnly { .. }), "{got:?}");
}

#[test]
fn a_base_that_is_not_there_is_an_error_and_so_is_no_repository() {
    let scene = Scene::branch();
    let friend = Fake::says("fine");
    let with = |base: &str| AskRequest { diff: since(base), ..scene.reviewing() };
    for base in ["none", "--help", "", "main..work"] {
        let error = refusal(&friend, &with(base));
        assert!(matches!(error, AskError::Git(GitError::NoBase { .. })), "{base}: {error}");
    }
    scene.git(&["update-ref", "refs/heads/-o/x", "main"]);
    assert_eq!(base_of(&sent(&friend, &with("-o/x"))), "-o/x");
    let none = Scene::bare();
    assert!(matches!(refusal(&friend, &none.reviewing()), AskError::Git(GitError::NotARepository { .. })));
    none.git(&["init", "-q", "."]);
    assert!(matches!(refusal(&friend, &none.reviewing()), AskError::Git(GitError::NoCommits { .. })));
    let deep = FriendContext { depth: 3, ..world() };
    let deep = ask(&friend, &scene.reviewing(), &deep, &mut |_| {});
    assert!(matches!(deep.answer, Err(AskError::Depth(_))));
    assert_eq!(friend.asked().len(), 1);
}

/// A friend with a review of its own, which ends so.
fn with_own(own: impl Fn() -> Result<&'static str, FriendFailure> + Send + Sync + 'static) -> Fake {
    let mut friend = Fake::new(move |asked, _| match asked {
        Asked::Review(_) => own().map(answer),
        Asked::Prompt(_) => Ok(answer("by the difference")),
    });
    friend.abilities.review = true;
    friend
}

#[test]
fn a_friends_own_review_comes_first_and_the_difference_after_it_fails() {
    let scene = Scene::branch();
    let friend = with_own(|| Ok("own"));
    let got = reviewed(&friend, &scene.reviewing());
    assert_eq!(got.answer.unwrap().text, "own");
    assert_eq!(friend.asked(), ["review main"]);
    assert!(matches!(got.sent.unwrap().scope, SentDiffScope::FriendOwnDiff { .. }));

    let friend = with_own(|| Err(failed("broken")));
    let mut events = Vec::new();
    let got = ask(&friend, &scene.reviewing(), &world(), &mut |event| events.push(event));
    assert_eq!(got.answer.unwrap().text, "by the difference");
    assert!(matches!(got.sent.unwrap().scope, SentDiffScope::Branch { .. }));
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
    let commit = AskRequest { diff: since("HEAD~1"), ..scene.reviewing() };
    let mut events = Vec::new();
    let got = ask(&friend, &commit, &world(), &mut |event| events.push(event));
    assert_eq!(got.answer.unwrap().text, "by the difference");
    assert!(
        matches!(&events[..], [FriendEvent::Fallback(why), FriendEvent::Sending { .. }] if why.contains("HEAD~1")),
        "{events:?}"
    );
    let friend = with_own(|| Err(failed("broken")));
    sent(&friend, &scene.reviewing());
    // One deadline for both.
    let turns = friend.turns.lock().unwrap();
    assert_eq!(turns[0].1, turns[1].1);
    drop(turns);
    // An empty one is none.
    assert_eq!(text(&with_own(|| Ok(" \n")), &scene.reviewing()), "by the difference");
    let scoped = |paths: &[&str], uncommitted: bool| {
        let paths = paths.iter().map(ToString::to_string).collect();
        scene.reviewing_scope(ReviewScope { paths, uncommitted, ..ReviewScope::default() })
    };
    for wish in [
        AskRequest { prompt: "x".to_string(), ..scene.reviewing() },
        scoped(&["a.txt"], false),
        scoped(&[], true),
    ] {
        let friend = with_own(|| Ok("own"));
        assert_eq!(text(&friend, &wish), "by the difference");
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
        let error = refusal(&friend, &scene.reviewing());
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
    let error = refusal(&friend, &scene.reviewing());
    assert!(matches!(&error, AskError::Limit(over) if over.largest[0].0 == "big.txt"), "{error}");
    assert!(error.to_string().starts_with("the difference since main (there is a branch"), "{error}");
    assert_eq!(friend.asked(), [""; 0]);
    assert_eq!(text(&with_own(|| Ok("own")), &scene.reviewing()), "own");
    let error = refusal(&with_own(|| Err(failed("broken"))), &scene.reviewing());
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
    let wish = AskRequest { format: AnswerFormat::Verdict, ..scene.reviewing() };
    let blocks = |text: &str| {
        let got = reviewed(&Fake::says(text), &wish).answer?;
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
    assert_eq!(error.to_string(), "fake gave no verdict: it abstained: s");
    assert!(matches!(error.failure(), Some(FriendFailure::Abstained { .. })), "{error}");
    let error = refusal(&Fake::new(|_, _| Err(failed("no"))), &wish);
    assert!(matches!(error.failure(), Some(FriendFailure::Failed { .. })));
    // A contradiction is said.
    let got = reviewed(&Fake::says(&verdict("ship", Some("blocker"))), &wish).answer.unwrap();
    assert_eq!(got.remarks, ["it said ship and named a blocker: the blocker counts"]);
}

#[test]
fn a_branch_or_a_range_is_reviewed_without_being_checked_out() {
    let scene = Scene::branch();
    scene.git(&["checkout", "-q", "-b", "more"]);
    scene.file("b.txt", "more\n");
    scene.git(&["add", "."]);
    scene.git(&["commit", "-q", "-m", "third"]);
    scene.git(&["checkout", "-q", "main"]);
    scene.file("mine.txt", "not committed\n");
    let reviewing = |of: &str, base: Option<&str>| {
        let (of, base) = (Some(of.to_string()), base.map(str::to_string));
        scene.reviewing_scope(ReviewScope { of, base, ..ReviewScope::default() })
    };
    for (of, base, files, commits) in [
        ("work", None, 1, 1),
        ("more", None, 2, 2),
        ("more", Some("work"), 1, 1),
        ("main..more", None, 2, 2),
        ("work...more", None, 1, 1),
        ("..more", None, 2, 2),
        ("more~1", None, 1, 1),
    ] {
        let friend = Fake::says("fine");
        let got = sent(&friend, &reviewing(of, base));
        assert_eq!((got.files, got.uncommitted_left_out), (files, false), "{of}: {got:?}");
        assert!(
            matches!(got.scope, SentDiffScope::Range { commits: Some(count), .. } if count == commits),
            "{of}: {got:?}"
        );
        let prompt = &friend.asked()[0];
        assert!(prompt.contains("need not be checked out") && !prompt.contains("mine.txt"), "{of}: {prompt}");
    }
    let friend = Fake::says("fine");
    let empty = refusal(&friend, &reviewing("main", None));
    assert!(matches!(empty, AskError::EmptyRange { .. }), "{empty}");
    for nonsense in ["nowhere", "main..nowhere", "nowhere..main", "-o/x", "--output=x", "a..b..c", "^main"] {
        let error = refusal(&friend, &reviewing(nonsense, None));
        assert!(matches!(error, AskError::Git(GitError::NoBase { .. })), "{nonsense}: {error}");
    }
    assert!(friend.asked().is_empty());
    assert_eq!(scene.git(&["symbolic-ref", "--short", "HEAD"]).trim(), "main");
}
