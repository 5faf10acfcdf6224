//! Model servers as friends, over every wire, against the scripted one.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use relaycode_friend::friend::SessionSupport;
use relaycode_friend::friend::request::{PromptExchange, TurnLimits};
use relaycode_friend::friends::model::ModelServerConfig;
use relaycode_friend::friends::{FriendLookupError, FriendRegistry};
use relaycode_friend::{AskRequest, FriendAnswer, FriendContext, FriendEvent, FriendFailure, TurnMemory};
use relaycode_llm::models::keys::{KeyCommands, KeyStore};
use relaycode_llm::models::{self, ModelRegistry};
use relaycode_llm::request::secrets::{SecretEntry, SecretMode, SecretPattern, Secrets};
use relaycode_llm::{UserDirectory, wire};
use relaycode_project::access::Access;
use relaycode_testkit::model::{RequestEnd, Script, ScriptedServer, ScriptedTurn as Scripted};

use crate::fake_friends::{send, since};
use crate::keeper_fixture::runner;

pub(crate) const LONG: Duration = Duration::from_secs(60);

/// What `models.yml` says, as the user has it. No key is stored.
pub(crate) fn servers(yaml: &str) -> ModelServerConfig {
    let file = models::parse(yaml).unwrap();
    ModelServerConfig {
        registry: ModelRegistry::new(Ok(Some(file))),
        keys: KeyStore::new(UserDirectory::new(None, None)),
        commands: KeyCommands::new(runner(), "/".into()),
        transport: relaycode_llm::stream::transport::ClientSettings::default(),
        secrets: None,
    }
}

/// A provider of that wire at the scripted server; fast when it tries again.
pub(crate) fn of_wire(server: &ScriptedServer, api: &str) -> String {
    let path = match api {
        "ollama" | "anthropic-messages" => "",
        "google-generative-ai" => "/v1beta",
        _ => "/v1",
    };
    format!(
        "providers: {{here: {{baseUrl: \"{}{path}\", api: {api}, apiKey: key-of-mine, models: [{{id: m1}}]}}}}\n\
         retry: {{requestMaxRetries: 1, streamMaxRetries: 1, baseDelayMs: 1}}\n",
        server.url()
    )
}

/// Ollama at this address, without a word of its models.
pub(crate) fn ollama(url: &str) -> String {
    format!(
        "providers: {{ollama: {{baseUrl: \"{url}\"}}}}\nretry: {{requestMaxRetries: 3, baseDelayMs: 60000}}\n"
    )
}

pub(crate) fn turn(prompt: &str) -> AskRequest {
    AskRequest::new(prompt, "/".into(), TurnLimits::new(LONG, LONG))
}

pub(crate) fn in_world<T>(stop: &AtomicBool, what: impl FnOnce(&FriendContext<'_>) -> T) -> T {
    let variable = |_: &str| -> Option<OsString> { None };
    let stop = || stop.load(Ordering::SeqCst);
    what(&FriendContext { runner: runner(), home: None, env_var: &variable, stop_requested: &stop, depth: 0 })
}

/// Asks; gives back what was heard, too.
pub(crate) fn ask(
    yaml: &str,
    to: &str,
    mut turn: AskRequest,
) -> (Result<FriendAnswer, FriendFailure>, Vec<FriendEvent>) {
    let friends = FriendRegistry::new(|| Ok(servers(yaml)));
    let chosen = friends.find(to).unwrap();
    turn.model = turn.model.or(chosen.model.clone());
    let mut heard = Vec::new();
    let answer = in_world(&AtomicBool::new(false), |world| {
        send(chosen.friend(), &turn, world, &mut |event| heard.push(event))
    });
    (answer, heard)
}

pub(crate) fn each_wire(mut see: impl FnMut(&str)) {
    wire::ALL.iter().for_each(|wire| see(wire.id()));
}

fn texts(heard: &[FriendEvent]) -> String {
    heard.iter().map(|event| if let FriendEvent::Text(text) = event { text.as_str() } else { "" }).collect()
}

#[test]
fn every_wire_answers_streamed_with_its_model_its_way_and_its_cost() {
    each_wire(|api| {
        let server = ScriptedServer::start(Script::any([
            Scripted::text("It looks good to me.").reasoning("Hm, well.")
        ]));
        let (answer, heard) = ask(&of_wire(&server, api), "here", turn("what of it?"));
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.transport), ("It looks good to me.", api));
        assert_eq!(texts(&heard), answer.text, "{api}");
        assert!(
            heard.contains(&FriendEvent::Ready { transport: wire::by_id(api).unwrap().id() }),
            "{api}: {heard:?}"
        );
        assert!(heard.iter().any(|event| matches!(event, FriendEvent::Thinking(_))), "{api}: {heard:?}");
        assert!(answer.usage.is_some_and(|usage| usage.input >= 10 && usage.output > 0), "{api}: {answer:?}");
        assert!(answer.model.is_some() && answer.session.is_none() && answer.value.is_none(), "{api}");
        // It is told that it cannot look into files, whatever the envelope says.
        let body = server.turns()[0].body.to_string();
        assert!(body.contains("cannot open files") && body.contains("what of it?"), "{api}: {body}");
    });
}

#[test]
fn a_context_of_180_kilobytes_arrives_whole() {
    each_wire(|api| {
        let context: String =
            (0..180_000u32).map(|n| char::from(b'a' + u8::try_from(n % 26).unwrap())).collect();
        let script = Script::any([Scripted::text("read").expect(&format!("BEGIN{context}END"))]);
        let server = ScriptedServer::start(script);
        let (answer, _) = ask(&of_wire(&server, api), "here", turn(&format!("BEGIN{context}END")));
        assert_eq!(answer.unwrap().text, "read");
        assert_eq!(server.expectation_misses(), 0, "{api}");
    });
}

#[test]
fn what_was_said_before_is_said_again_in_order() {
    each_wire(|api| {
        let server = ScriptedServer::start(Script::any([Scripted::text("as I said")]));
        let said =
            |asked: &str, answered: &str| PromptExchange { asked: asked.into(), answered: answered.into() };
        let memory = TurnMemory::Replay(vec![said("first-q", "first-a"), said("second-q", "second-a")]);
        let (answer, _) = ask(&of_wire(&server, api), "here", AskRequest { memory, ..turn("third-q") });
        assert_eq!(answer.unwrap().text, "as I said");
        let body = server.turns()[0].body.to_string();
        let places =
            ["first-q", "first-a", "second-q", "second-a", "third-q"].map(|word| body.find(word).unwrap());
        assert!(places.is_sorted(), "{api}: {body}");
    });
}

#[test]
fn turns_that_do_not_fit_into_the_window_are_left_out_and_that_is_said() {
    let server = ScriptedServer::start(Script::any([Scripted::text("fine")]));
    let yaml = of_wire(&server, "openai-completions")
        .replace("{id: m1}", "{id: m1, contextWindow: 1000, maxTokens: 100}");
    let said = |text: &str| PromptExchange { asked: text.into(), answered: "x".repeat(1000) };
    let memory = TurnMemory::Replay(vec![said("oldest"), said("older"), said("newest")]);
    let (answer, _) = ask(&yaml, "here", AskRequest { memory, ..turn("and now?") });
    let remarks = answer.unwrap().remarks;
    assert!(
        remarks.iter().any(|said| said.starts_with("the oldest turn of the session did not fit")),
        "{remarks:?}"
    );
    let body = server.turns()[0].body.to_string();
    assert!(!body.contains("oldest") && body.contains("older") && body.contains("newest"), "{body}");
}

#[test]
fn ollama_without_a_model_takes_the_latest_that_it_has_and_says_which() {
    let server = ScriptedServer::start(Script::any([Scripted::text("hello")]).models(["qwen3:8b", "llama4"]));
    let (answer, _) = ask(&ollama(&server.url()), "ollama", turn("hi"));
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.transport), ("hello", "ollama"));
    assert!(
        answer.remarks.iter().any(|said| said.contains("took qwen3:8b, the first of 2")),
        "{:?}",
        answer.remarks
    );
    let body = &server.turns()[0].body;
    assert_eq!((&body["model"], &body["options"]["num_ctx"]), (&"qwen3:8b".into(), &32_768.into()));
}

#[test]
fn a_model_is_named_behind_a_slash_with_a_tag_or_without_and_the_users_role_counts_for_who_names_none() {
    let script = || Script::any([Scripted::text("hello")]).models(["qwen3:8b", "llama4"]);
    for (to, role, model) in [
        ("ollama/llama4", "", "llama4:latest"),
        ("ollama/llama4:latest", "", "llama4:latest"),
        ("ollama/llama4:high", "", "llama4:latest"),
        ("ollama", "roles: {default: \"ollama/llama4:latest\"}\n", "llama4:latest"),
        ("Ollama/qwen3:8b", "", "qwen3:8b"),
    ] {
        let server = ScriptedServer::start(script());
        let (answer, _) = ask(&(ollama(&server.url()) + role), to, turn("hi"));
        let answer = answer.unwrap();
        assert_eq!(server.turns()[0].body["model"], model, "{to}");
        assert!(answer.remarks.is_empty(), "{to}: {:?}", answer.remarks);
    }
}

#[test]
fn programs_come_first_and_an_unknown_name_is_told_what_there_is() {
    let opened = AtomicBool::new(false);
    let friends = FriendRegistry::new(|| {
        opened.store(true, Ordering::SeqCst);
        Ok(servers(
            "providers: {work: {baseUrl: \"https://example.com\", api: ollama, auth: none, models: [{id: big}]}}",
        ))
    });
    for program in relaycode_friend::friends::ALL {
        let name = program.name();
        assert_eq!(friends.find(&format!("{name}/m")).unwrap().model.as_deref(), Some("m"), "{name}");
        assert!(!opened.load(Ordering::SeqCst), "{name} needs no model server");
    }
    for (text, name, model) in [
        ("lmstudio", "lm-studio", None),
        ("LM_Studio/", "lm-studio", None),
        ("openrouter/anthropic/claude:high", "openrouter", Some("anthropic/claude:high")),
        (" work/big ", "work", Some("big")),
    ] {
        let chosen = friends.find(text).unwrap();
        assert_eq!((chosen.friend().name(), chosen.model.as_deref()), (name, model), "{text}");
    }
    let unknown = friends.find("olama").unwrap_err().to_string();
    assert!(
        unknown.starts_with("there is no friend `olama`; did you mean `ollama`? There are "),
        "{unknown}"
    );
    assert!(unknown.contains("openai, ") && unknown.ends_with("work"), "{unknown}");
    for nonsense in ["", "/", "a\u{1b}[31m", &"x".repeat(100_000)] {
        let unknown = friends.find(nonsense).unwrap_err().to_string();
        assert!(unknown.len() < 1000 && !unknown.contains('\u{1b}'), "{unknown}");
    }
    let disabled = FriendRegistry::new(|| Ok(servers("disabledProviders: [ollama]")));
    assert_eq!(disabled.find("ollama").unwrap_err(), FriendLookupError::Disabled("ollama".into()));
}

#[test]
fn a_models_file_that_is_not_right_keeps_every_model_server_from_being_asked() {
    let friends = FriendRegistry::new(|| {
        let registry = ModelRegistry::new(Err(models::parse("nonsense: 1").unwrap_err()));
        Ok(ModelServerConfig { registry, ..servers("") })
    });
    let error = friends.find("ollama").unwrap_err();
    assert!(matches!(&error, FriendLookupError::Models(said) if said.contains("nonsense")), "{error}");
}

#[test]
fn it_has_no_hands_and_says_what_it_cannot_do() {
    let friends = FriendRegistry::new(|| Ok(servers("")));
    let chosen = friends.find("ollama").unwrap();
    let friend = chosen.friend();
    let abilities = friend.abilities();
    assert!(!abilities.reads_files && !abilities.writes_files && !abilities.review && abilities.streams);
    assert_eq!(abilities.sessions, SessionSupport::Replayed);
    in_world(&AtomicBool::new(false), |world| {
        let cannot = |turn: AskRequest| send(friend, &turn, world, &mut |_| {}).unwrap_err();
        for access in [Access::Ask, Access::Full] {
            assert!(matches!(cannot(AskRequest { access, ..turn("x") }), FriendFailure::Unsupported { .. }));
        }
        let review = AskRequest { diff: since("main"), ..turn("") };
        assert!(matches!(cannot(review), FriendFailure::Unsupported { .. }));
        let other = AskRequest { memory: TurnMemory::Resume("7".into()), ..turn("x") };
        assert!(matches!(cannot(other), FriendFailure::UnknownSession { .. }));
    });
}

#[test]
fn with_workspace_access_it_is_told_to_answer_with_the_changes() {
    let server = ScriptedServer::start(Script::any([Scripted::text("a patch")]));
    let yaml = of_wire(&server, "anthropic-messages");
    ask(&yaml, "here", AskRequest { access: Access::Workspace, ..turn("mend it") }).0.unwrap();
    assert!(server.turns()[0].body.to_string().contains("exactly the format that the request describes"));
}

#[test]
fn a_secret_is_not_sent_and_stands_again_in_what_is_read() {
    let secret = "hunter2hunter2";
    let entry = SecretEntry { pattern: SecretPattern::Plain(secret.into()), mode: SecretMode::Obfuscate };
    let secrets = std::sync::Arc::new(Secrets::new(&[entry], [7; 32]));
    let hidden = secrets.mask_text(secret).into_owned();
    let (first, second) = hidden.split_at(3);
    let pieces = vec!["# the password ".to_string(), first.into(), format!("{second} is"), " weak #".into()];
    let server = ScriptedServer::start(Script::any([Scripted::pieces(pieces)]));
    let yaml = of_wire(&server, "openai-completions");
    let friends =
        FriendRegistry::new(|| Ok(ModelServerConfig { secrets: Some(secrets.clone()), ..servers(&yaml) }));
    let chosen = friends.find("here").unwrap();
    let mut heard = Vec::new();
    let answer = in_world(&AtomicBool::new(false), |world| {
        let turn = turn(&format!("is {secret} weak?"));
        send(chosen.friend(), &turn, world, &mut |event| heard.push(event)).unwrap()
    });
    assert_eq!(answer.text, format!("# the password {secret} is weak #"));
    assert_eq!(texts(&heard), answer.text);
    assert!(!server.turns()[0].body.to_string().contains(secret));
}

#[test]
fn what_is_secret_comes_from_the_users_file_the_environment_and_stored_keys() {
    let home = tempfile::tempdir().unwrap();
    let own = UserDirectory::new(Some(home.path()), None);
    let keys = KeyStore::new(own.clone());
    keys.set("groq", &relaycode_llm::models::keys::ApiKey::new("gsk-stored-key").unwrap()).unwrap();
    std::fs::write(home.path().join("secrets.yml"), "- content: named-by-hand\n").unwrap();
    let with = |servers: ModelServerConfig, home: &UserDirectory, variables: &[(&str, &str)]| {
        servers.with_secrets(home, variables.iter().copied()).map(|servers| servers.secrets)
    };
    let secrets =
        with(ModelServerConfig { keys, ..servers("") }, &own, &[("MY_TOKEN", "from-the-environment")]);
    let secrets = secrets.unwrap().unwrap();
    for secret in ["named-by-hand", "from-the-environment", "gsk-stored-key"] {
        assert!(!secrets.mask_text(&format!("it is {secret}.")).contains(secret), "{secret}");
    }
    let homeless = UserDirectory::new(None, None);
    assert!(with(servers(""), &homeless, &[("PATH", "/usr/bin:/bin")]).unwrap().is_none());
    assert!(with(servers(""), &homeless, &[("MY_TOKEN", "from-the-environment")]).unwrap().is_some());
    std::fs::write(home.path().join("secrets.yml"), "nonsense").unwrap();
    assert!(with(servers(""), &own, &[]).is_err());
}

#[test]
fn a_look_says_whether_a_server_is_there_its_version_and_how_many_models_it_has() {
    let server = ScriptedServer::start(Script::any([]).models(["a", "b"]));
    let empty = ScriptedServer::start(Script::any([]).models(Vec::<String>::new()));
    in_world(&AtomicBool::new(false), |world| {
        let look = |yaml: &str, to: &str| {
            FriendRegistry::new(|| Ok(servers(yaml))).find(to).unwrap().friend().probe(world)
        };
        let there = look(&ollama(&server.url()), "ollama");
        assert_eq!(
            (there.found.as_deref(), there.version.as_deref()),
            (Some(&*server.url()), Some("0.12.6"))
        );
        assert_eq!((there.models, there.signed_in, there.trouble), (Some(2), None, None));
        let without = look(&ollama(&empty.url()), "ollama");
        assert!(without.trouble.unwrap().contains("ollama pull"));
        let began = Instant::now();
        let gone = look(&ollama("http://127.0.0.1:1"), "ollama");
        assert!(gone.found.is_none() && gone.trouble.unwrap().contains("is its server running?"));
        assert!(began.elapsed() < Duration::from_secs(20));
        // No request is made to somebody who wants a key.
        let keyless = look("", "anthropic");
        assert_eq!(keyless.signed_in, Some(false));
        assert!(keyless.trouble.unwrap().contains("relay keys set anthropic"));
        let keyed = look(&of_wire(&server, "openai-completions"), "here");
        assert_eq!((keyed.signed_in, keyed.trouble), (Some(true), None));
    });
    let usable = in_world(&AtomicBool::new(false), |world| {
        let friends = FriendRegistry::new(|| Ok(servers(&of_wire(&server, "openai-completions"))));
        let usable = friends.usable_servers(world).unwrap();
        usable.iter().map(|server| relaycode_friend::Friend::name(server).to_string()).collect::<Vec<_>>()
    });
    assert_eq!(usable, ["ollama", "llama.cpp", "lm-studio", "here"]);
}

#[test]
fn the_live_test_asks_for_one_word_in_an_empty_directory_that_is_gone_afterwards() {
    let scratch = tempfile::tempdir().unwrap();
    let test = |yaml: &str| {
        let friends = FriendRegistry::new(|| Ok(servers(yaml)));
        let chosen = friends.find("here").unwrap();
        in_world(&AtomicBool::new(false), |world| {
            relaycode_friend::ask::live_test::run_live_test(chosen.friend(), None, scratch.path(), world)
        })
    };
    let server = ScriptedServer::start(Script::any([Scripted::text("ready\n"), Scripted::status(401)]));
    let passed = test(&of_wire(&server, "ollama")).unwrap();
    assert_eq!((passed.said.as_str(), passed.way, passed.model.is_some()), ("ready", "ollama", true));
    assert!(serde_json::to_value(&passed).unwrap()["ms"].is_u64());
    assert!(matches!(
        test(&of_wire(&server, "ollama")),
        Err(relaycode_friend::AskError::Friend(FriendFailure::NotSignedIn { .. }))
    ));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    let nowhere = relaycode_friend::ask::live_test::run_live_test(
        FriendRegistry::new(|| Ok(servers(""))).find("ollama").unwrap().friend(),
        None,
        Path::new("/nowhere"),
        &in_nothing(),
    );
    assert!(matches!(nowhere, Err(relaycode_friend::AskError::Friend(FriendFailure::Failed { .. }))));
}

fn in_nothing() -> FriendContext<'static> {
    FriendContext { runner: runner(), home: None, env_var: &|_| None, stop_requested: &|| false, depth: 0 }
}

#[test]
fn cancelling_closes_the_connection_within_a_moment() {
    each_wire(|api| {
        let hang = Scripted::text("one two three four")
            .with(|turn| turn.hang_s = Some(relaycode_testkit::model::TurnDelay::Forever(true)));
        let server = ScriptedServer::start(Script::any([hang]));
        let yaml = of_wire(&server, api);
        let friends = FriendRegistry::new(|| Ok(servers(&yaml)));
        let chosen = friends.find("here").unwrap();
        let stop = AtomicBool::new(false);
        let mut asked = None;
        let failure = in_world(&stop, |world| {
            let mut hear = |event| {
                if matches!(event, FriendEvent::Text(_)) {
                    asked.get_or_insert_with(Instant::now);
                    stop.store(true, Ordering::SeqCst);
                }
            };
            send(chosen.friend(), &turn("x"), world, &mut hear).unwrap_err()
        });
        let took = asked.unwrap().elapsed();
        assert!(matches!(failure, FriendFailure::Cancelled { .. }), "{api}: {failure}");
        // The promise is 50 ms, and the script hangs for ever: much room, because the machine may be busy.
        assert!(took < Duration::from_secs(10), "{api}: {took:?}");
        server.wait_for(|requests| {
            requests.iter().any(|request| matches!(request.end, RequestEnd::ClientClosed(_)))
        });
    });
}
