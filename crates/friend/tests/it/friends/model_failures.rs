//! Model servers that fail: each failure is what it is, and none is an answer.

use std::time::{Duration, Instant};

use relaycode_friend::friend::request::TurnLimits;
use relaycode_friend::{AskRequest, FriendEvent, FriendFailure};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn as Scripted, TurnDelay};
use serde_json::json;

use crate::friends::model::{LONG, ask, each_wire, of_wire, ollama, turn};

fn failure_of(api: &str, scripted: &Scripted) -> (FriendFailure, Vec<FriendEvent>) {
    let server = ScriptedServer::start(Script::any([scripted.clone(), scripted.clone(), scripted.clone()]));
    let (answer, heard) = ask(&of_wire(&server, api), "here", turn("x"));
    match answer {
        Err(failure) => (failure, heard),
        Ok(answer) => panic!("{api}: an answer came of it: {answer:?}"),
    }
}

#[test]
fn a_key_that_is_refused_or_missing_means_not_signed_in_and_says_how_to() {
    each_wire(|api| {
        for status in [401, 403] {
            let (failure, _) = failure_of(api, &Scripted::status(status));
            let FriendFailure::NotSignedIn { hint, .. } = &failure else {
                panic!("{api} {status}: {failure}")
            };
            assert_eq!(hint, "`relay keys set here` stores a key");
        }
    });
    let (answer, _) = ask("", "anthropic", turn("x"));
    let failure = answer.unwrap_err();
    let FriendFailure::NotSignedIn { hint, said, .. } = &failure else { panic!("{failure}") };
    assert_eq!(
        hint,
        "`relay keys set anthropic` stores one, or set ANTHROPIC_API_KEY (get it at https://platform.claude.com/settings/keys)"
    );
    assert!(said.contains("there is no key for anthropic"), "{said}");
    let unset = "providers: {anthropic: {apiKey: NOT_SET_KEY}}";
    assert!(matches!(ask(unset, "anthropic", turn("x")).0, Err(FriendFailure::NotSignedIn { .. })));
}

#[test]
fn a_server_that_fails_is_asked_again_as_models_yml_says_and_then_failed() {
    each_wire(|api| {
        let (failure, heard) = failure_of(api, &Scripted::status(500));
        assert!(matches!(failure, FriendFailure::Failed { .. }), "{api}: {failure}");
        let again = heard.iter().filter(|event| matches!(event, FriendEvent::Retrying(_))).count();
        assert_eq!(again, 1, "{api}: {heard:?}");
        assert!(failure.to_string().matches("here").count() == 1, "{api}: {failure}");
    });
    let server = ScriptedServer::start(Script::any([Scripted::status(503), Scripted::text("now")]));
    let (answer, heard) = ask(&of_wire(&server, "ollama"), "here", turn("x"));
    assert_eq!(answer.unwrap().text, "now");
    assert!(
        matches!(&heard[0], FriendEvent::Retrying(said) if said.ends_with("attempt 1 of 1 in 1 s")),
        "{heard:?}"
    );
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again_while_nobody_has_read_any_of_it() {
    each_wire(|api| {
        let broken = || Scripted::text("one two three four five six").reasoning("Hm, well.");
        let broken = broken().with(|turn| turn.disconnect_after = Some(4));
        let whole = Scripted::text("all of it");
        let server = ScriptedServer::start(Script::any([broken, whole]));
        let (answer, heard) = ask(&of_wire(&server, api), "here", turn("x"));
        assert_eq!(answer.unwrap().text, "all of it", "{api}");
        assert!(heard.iter().any(|event| matches!(event, FriendEvent::Retrying(_))), "{api}: {heard:?}");
        let restarted = heard.iter().rposition(|event| *event == FriendEvent::AnswerRestarted);
        let said: String = heard[restarted.map_or(0, |at| at + 1)..]
            .iter()
            .filter_map(|event| if let FriendEvent::Text(text) = event { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(said, "all of it", "{api}: {heard:?}");
    });
    // Whoever reads along has read its beginning: it is not said twice, and not taken for an answer.
    let broken = Scripted::text("one two three four").with(|turn| turn.disconnect_after = Some(3));
    let server = ScriptedServer::start(Script::any([broken, Scripted::text("all of it")]));
    let (answer, _) = ask(&of_wire(&server, "ollama"), "here", AskRequest { live_text: true, ..turn("x") });
    assert!(matches!(answer, Err(FriendFailure::Failed { .. })), "{answer:?}");
}

#[test]
fn retries_can_be_switched_off_and_bounded() {
    let failing = || Script::any([Scripted::status(500), Scripted::status(500), Scripted::status(500)]);
    for (retry, times) in [
        ("enabled: false, requestMaxRetries: 2, streamMaxRetries: 2", 0),
        ("maxRetries: 0", 0),
        ("maxRetries: 1, requestMaxRetries: 2", 1),
        ("maxRetries: 5, requestMaxRetries: 2", 2),
    ] {
        let server = ScriptedServer::start(failing());
        let yaml = of_wire(&server, "ollama");
        let (providers, _) = yaml.split_once("retry:").unwrap();
        let yaml = format!("{providers}retry: {{{retry}, baseDelayMs: 1}}\n");
        let (answer, heard) = ask(&yaml, "here", turn("x"));
        assert!(answer.is_err());
        let again = heard.iter().filter(|event| matches!(event, FriendEvent::Retrying(_))).count();
        assert_eq!((again, server.turns().len()), (times, times + 1), "{retry}");
    }
}

#[test]
fn nobody_at_the_address_is_noticed_at_once_whatever_the_budget() {
    for (yaml, to) in [
        (ollama("http://127.0.0.1:1"), "ollama"),
        (ollama("http://127.0.0.1:1"), "ollama/llama4"),
        (
            ollama("http://localhost:1")
                .replace("ollama:", "openai:")
                .replace("\"}", "/v1\", apiKey: kkkkkkkk}"),
            "openai/gpt-9",
        ),
    ] {
        let began = Instant::now();
        let failure = ask(&yaml, to, turn("x")).0.unwrap_err();
        assert!(matches!(failure, FriendFailure::Unreachable { .. }), "{to}: {failure}");
        assert!(failure.to_string().contains("Is its server running?"), "{failure}");
        // The budget alone would be three minutes.
        assert!(began.elapsed() < Duration::from_secs(20), "{to}");
    }
}

#[test]
fn a_broken_answer_is_no_answer() {
    each_wire(|api| {
        let text = || Scripted::text("one two three four five six");
        for (what, scripted) in [
            ("reset in the middle", text().with(|turn| turn.disconnect_after = Some(2))),
            ("ended too early", text().with(|turn| turn.truncate = true)),
            ("an error in the stream", text().with(|turn| turn.stream_error = Some("boom".into()))),
            (
                "garbage",
                Scripted::default()
                    .with(|turn| turn.chunks = Some(vec!["\u{1}\u{2}nonsense\n\n".into(), "}{".into()])),
            ),
            ("a web page", Scripted::default().with(|turn| turn.chunks = Some(vec!["<html>hello".into()]))),
            ("closed before anything", Scripted::default().with(|turn| turn.close_before_headers = true)),
        ] {
            let (failure, _) = failure_of(api, &scripted);
            assert!(matches!(failure, FriendFailure::Failed { .. }), "{api}, {what}: {failure:?}");
            assert!(!failure.to_string().contains("failed: failed"), "{api}, {what}: {failure}");
        }
    });
}

#[test]
fn an_answer_without_words_is_none_and_one_that_was_cut_off_or_calls_a_tool_is_remarked() {
    each_wire(|api| {
        for empty in [Scripted::text(""), Scripted::text(" \n"), Scripted::text("").reasoning("hm")] {
            let (failure, _) = failure_of(api, &empty);
            assert!(matches!(failure, FriendFailure::NoAnswer { .. }), "{api}: {failure:?}");
        }
        let call = Scripted::text("").tool("read", json!({"path": "a"}));
        assert!(matches!(failure_of(api, &call).0, FriendFailure::NoAnswer { .. }), "{api}");
        let called = Scripted::text("Well.").tool("rm_rf", json!({}));
        let server = ScriptedServer::start(Script::any([called]));
        let answer = ask(&of_wire(&server, api), "here", turn("x")).0.unwrap();
        assert_eq!(answer.text, "Well.", "{api}");
        assert!(answer.remarks.iter().any(|said| said.contains("rm_rf")), "{api}: {:?}", answer.remarks);
    });
    for (api, stop) in [
        ("ollama", "length"),
        ("openai-completions", "length"),
        ("openai-responses", "max_output_tokens"),
        ("anthropic-messages", "max_tokens"),
        ("google-generative-ai", "MAX_TOKENS"),
    ] {
        let server = ScriptedServer::start(Script::any([
            Scripted::text("as far as").with(|turn| turn.stop = Some(stop.into()))
        ]));
        let answer = ask(&of_wire(&server, api), "here", turn("x")).0.unwrap();
        assert!(answer.remarks.iter().any(|said| said.contains("cut off")), "{api}: {:?}", answer.remarks);
    }
}

#[test]
fn both_deadlines_count_before_and_in_the_answer() {
    let short = Duration::from_millis(400);
    each_wire(|api| {
        for (what, scripted) in [
            (
                "before",
                Scripted::text("x").with(|turn| turn.stall_before_headers = Some(TurnDelay::Forever(true))),
            ),
            (
                "within",
                Scripted::text("one two three").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true))),
            ),
        ] {
            for (limits, idle) in
                [(TurnLimits::new(short, LONG), false), (TurnLimits::new(LONG, short), true)]
            {
                let server = ScriptedServer::start(Script::any([scripted.clone()]));
                let limits = TurnLimits { started_at: Instant::now(), ..limits };
                let began = Instant::now();
                let failure =
                    ask(&of_wire(&server, api), "here", AskRequest { limits, ..turn("x") }).0.unwrap_err();
                let FriendFailure::TimedOut { after, idle: was, .. } = failure else {
                    panic!("{api} {what}: {failure}")
                };
                assert_eq!((after, was), (short, idle), "{api} {what}");
                assert!(began.elapsed() < Duration::from_secs(20), "{api} {what}");
            }
        }
    });
    // An answer that never ends is ended by the whole time.
    let server = ScriptedServer::start(Script::any([
        Scripted::text("one two three").with(|turn| turn.never_end = true)
    ]));
    let endless = AskRequest { limits: TurnLimits::new(Duration::from_secs(1), LONG), ..turn("x") };
    let failure = ask(&of_wire(&server, "openai-completions"), "here", endless).0.unwrap_err();
    assert!(matches!(failure, FriendFailure::TimedOut { idle: false, .. }), "{failure}");
}

#[test]
fn a_wait_that_is_longer_than_what_is_left_is_not_begun() {
    let busy = Scripted::status(429).header("retry-after", "120");
    let server = ScriptedServer::start(Script::any([busy]));
    let began = Instant::now();
    let limits = TurnLimits::new(Duration::from_secs(30), LONG);
    let failure = ask(&of_wire(&server, "anthropic-messages"), "here", AskRequest { limits, ..turn("x") })
        .0
        .unwrap_err();
    assert!(
        matches!(&failure, FriendFailure::Failed { said, .. } if said.contains("2 min") || said.contains("120 s")),
        "{failure}"
    );
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn an_unknown_model_is_told_in_the_servers_words_with_those_it_has() {
    let unknown =
        Scripted::status(404).with(|turn| turn.body = Some(json!({"error": "model 'nope' not found"})));
    let server = ScriptedServer::start(Script::any([unknown]).models(["qwen3:8b", "llama4"]));
    let failure = ask(&ollama(&server.url()), "ollama/nope", turn("x")).0.unwrap_err();
    let FriendFailure::Failed { said, .. } = &failure else { panic!("{failure}") };
    assert!(
        said.contains("model 'nope' not found") && said.ends_with("it has qwen3:8b, llama4:latest"),
        "{said}"
    );
    let empty = ScriptedServer::start(Script::any([]).models(Vec::<String>::new()));
    let failure = ask(&ollama(&empty.url()), "ollama", turn("x")).0.unwrap_err();
    assert!(failure.to_string().contains("`ollama pull NAME` gets one"), "{failure}");
}

#[test]
fn a_key_never_stands_in_a_message_also_if_the_server_repeats_it() {
    let echo = Scripted::status(400)
        .with(|turn| turn.body = Some(json!({"error": {"message": "bad key key-of-mine here"}})));
    each_wire(|api| {
        let (failure, _) = failure_of(api, &echo);
        assert!(!format!("{failure:?}").contains("key-of-mine"), "{api}: {failure:?}");
    });
}
