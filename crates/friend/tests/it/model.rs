//! Model servers as friends, over every wire, against the scripted one.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use relaycode_friend::friend::Sessions;
use relaycode_friend::friends::model::Servers;
use relaycode_friend::friends::{FindError, Friends};
use relaycode_friend::turn::{Exchange, Limits};
use relaycode_friend::{Answer, Event, Failure, Memory, Task, Turn, World};
use relaycode_llm::keys::{Commands, Store};
use relaycode_llm::models::{self, Registry};
use relaycode_llm::secrets::{Entry, Mode, Secrets, What};
use relaycode_llm::{Home, wire};
use relaycode_project::access::Access;
use relaycode_testkit::model::{End, Script, Server, Turn as Scripted};

use crate::stage::runner;

pub(crate) const LONG: Duration = Duration::from_secs(60);

/// What `models.yml` says, as the user has it. No key is stored.
pub(crate) fn servers(yaml: &str) -> Servers {
    let file = models::parse(yaml).unwrap();
    Servers {
        registry: Registry::new(Ok(Some(file))),
        keys: Store::new(Home::new(None, None)),
        commands: Commands::new(runner(), "/".into()),
        transport: relaycode_llm::transport::Settings::default(),
        secrets: None,
    }
}

/// A provider of that wire at the scripted server; fast when it tries again.
pub(crate) fn of_wire(server: &Server, api: &str) -> String {
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

pub(crate) fn turn(prompt: &str) -> Turn {
    Turn {
        task: Task::Prompt(prompt.into()),
        directory: "/".into(),
        access: Access::ReadOnly,
        model: None,
        schema: None,
        memory: Memory::None,
        limits: Limits::new(LONG, LONG),
    }
}

pub(crate) fn in_world<T>(stop: &AtomicBool, what: impl FnOnce(&World<'_>) -> T) -> T {
    let variable = |_: &str| -> Option<OsString> { None };
    let stop = || stop.load(Ordering::SeqCst);
    what(&World { runner: runner(), home: None, variable: &variable, stop: &stop, depth: 0 })
}

/// Asks; gives back what was heard, too.
pub(crate) fn ask(yaml: &str, to: &str, mut turn: Turn) -> (Result<Answer, Failure>, Vec<Event>) {
    let friends = Friends::new(|| Ok(servers(yaml)));
    let chosen = friends.find(to).unwrap();
    turn.model = turn.model.or(chosen.model.clone());
    let mut heard = Vec::new();
    let answer = in_world(&AtomicBool::new(false), |world| {
        chosen.friend().turn(&turn, world, &mut |event| heard.push(event))
    });
    (answer, heard)
}

pub(crate) fn each_wire(mut see: impl FnMut(&str)) {
    wire::ALL.iter().for_each(|wire| see(wire.id()));
}

fn texts(heard: &[Event]) -> String {
    heard.iter().map(|event| if let Event::Text(text) = event { text.as_str() } else { "" }).collect()
}

#[test]
fn every_wire_answers_streamed_with_its_model_its_way_and_its_cost() {
    each_wire(|api| {
        let server =
            Server::start(Script::any([Scripted::text("It looks good to me.").reasoning("Hm, well.")]));
        let (answer, heard) = ask(&of_wire(&server, api), "here", turn("what of it?"));
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.way), ("It looks good to me.", api));
        assert_eq!(texts(&heard), answer.text, "{api}");
        assert!(heard.contains(&Event::Ready { way: wire::by_id(api).unwrap().id() }), "{api}: {heard:?}");
        assert!(heard.iter().any(|event| matches!(event, Event::Thinking(_))), "{api}: {heard:?}");
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
        let server = Server::start(script);
        let (answer, _) = ask(&of_wire(&server, api), "here", turn(&format!("BEGIN{context}END")));
        assert_eq!(answer.unwrap().text, "read");
        assert_eq!(server.misses(), 0, "{api}");
    });
}

#[test]
fn what_was_said_before_is_said_again_in_order() {
    each_wire(|api| {
        let server = Server::start(Script::any([Scripted::text("as I said")]));
        let said = |asked: &str, answered: &str| Exchange { asked: asked.into(), answered: answered.into() };
        let memory = Memory::Replay(vec![said("first-q", "first-a"), said("second-q", "second-a")]);
        let (answer, _) = ask(&of_wire(&server, api), "here", Turn { memory, ..turn("third-q") });
        assert_eq!(answer.unwrap().text, "as I said");
        let body = server.turns()[0].body.to_string();
        let places =
            ["first-q", "first-a", "second-q", "second-a", "third-q"].map(|word| body.find(word).unwrap());
        assert!(places.is_sorted(), "{api}: {body}");
    });
}

#[test]
fn turns_that_do_not_fit_into_the_window_are_left_out_and_that_is_said() {
    let server = Server::start(Script::any([Scripted::text("fine")]));
    let yaml = of_wire(&server, "openai-completions")
        .replace("{id: m1}", "{id: m1, contextWindow: 1000, maxTokens: 100}");
    let said = |text: &str| Exchange { asked: text.into(), answered: "x".repeat(1000) };
    let memory = Memory::Replay(vec![said("oldest"), said("older"), said("newest")]);
    let (answer, _) = ask(&yaml, "here", Turn { memory, ..turn("and now?") });
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
    let server = Server::start(Script::any([Scripted::text("hello")]).models(["qwen3:8b", "llama4"]));
    let (answer, _) = ask(&ollama(&server.url()), "ollama", turn("hi"));
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.way), ("hello", "ollama"));
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
        let server = Server::start(script());
        let (answer, _) = ask(&(ollama(&server.url()) + role), to, turn("hi"));
        let answer = answer.unwrap();
        assert_eq!(server.turns()[0].body["model"], model, "{to}");
        assert!(answer.remarks.is_empty(), "{to}: {:?}", answer.remarks);
    }
}

#[test]
fn programs_come_first_and_an_unknown_name_is_told_what_there_is() {
    let opened = AtomicBool::new(false);
    let friends = Friends::new(|| {
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
    let disabled = Friends::new(|| Ok(servers("disabledProviders: [ollama]")));
    assert_eq!(disabled.find("ollama").unwrap_err(), FindError::Disabled("ollama".into()));
}

#[test]
fn a_models_file_that_is_not_right_keeps_every_model_server_from_being_asked() {
    let friends = Friends::new(|| {
        let registry = Registry::new(Err(models::parse("nonsense: 1").unwrap_err()));
        Ok(Servers { registry, ..servers("") })
    });
    let error = friends.find("ollama").unwrap_err();
    assert!(matches!(&error, FindError::Models(said) if said.contains("nonsense")), "{error}");
}

#[test]
fn it_has_no_hands_and_says_what_it_cannot_do() {
    let friends = Friends::new(|| Ok(servers("")));
    let chosen = friends.find("ollama").unwrap();
    let friend = chosen.friend();
    let abilities = friend.abilities();
    assert!(!abilities.reads_files && !abilities.writes_files && !abilities.review && abilities.streams);
    assert_eq!(abilities.sessions, Sessions::Replayed);
    in_world(&AtomicBool::new(false), |world| {
        let cannot = |turn: Turn| friend.turn(&turn, world, &mut |_| {}).unwrap_err();
        for access in [Access::Ask, Access::Full] {
            assert!(matches!(cannot(Turn { access, ..turn("x") }), Failure::Cannot { .. }));
        }
        let review = Turn { task: Task::Review { base: "main".into() }, ..turn("") };
        assert!(matches!(cannot(review), Failure::Cannot { .. }));
        let other = Turn { memory: Memory::Resume("7".into()), ..turn("x") };
        assert!(matches!(cannot(other), Failure::NoSession { .. }));
    });
}

#[test]
fn with_workspace_access_it_is_told_to_answer_with_the_changes() {
    let server = Server::start(Script::any([Scripted::text("a patch")]));
    let yaml = of_wire(&server, "anthropic-messages");
    ask(&yaml, "here", Turn { access: Access::Workspace, ..turn("mend it") }).0.unwrap();
    assert!(server.turns()[0].body.to_string().contains("exactly the format that the request describes"));
}

#[test]
fn a_secret_is_not_sent_and_stands_again_in_what_is_read() {
    let secret = "hunter2hunter2";
    let entry = Entry { what: What::Plain(secret.into()), mode: Mode::Obfuscate };
    let secrets = std::sync::Arc::new(Secrets::new(&[entry], [7; 32]));
    let hidden = secrets.hide_text(secret).into_owned();
    let (first, second) = hidden.split_at(3);
    let pieces = vec!["# the password ".to_string(), first.into(), format!("{second} is"), " weak #".into()];
    let server = Server::start(Script::any([Scripted::pieces(pieces)]));
    let yaml = of_wire(&server, "openai-completions");
    let friends = Friends::new(|| Ok(Servers { secrets: Some(secrets.clone()), ..servers(&yaml) }));
    let chosen = friends.find("here").unwrap();
    let mut heard = Vec::new();
    let answer = in_world(&AtomicBool::new(false), |world| {
        chosen
            .friend()
            .turn(&turn(&format!("is {secret} weak?")), world, &mut |event| heard.push(event))
            .unwrap()
    });
    assert_eq!(answer.text, format!("# the password {secret} is weak #"));
    assert_eq!(texts(&heard), answer.text);
    assert!(!server.turns()[0].body.to_string().contains(secret));
}

#[test]
fn what_is_secret_comes_from_the_users_file_the_environment_and_stored_keys() {
    let home = tempfile::tempdir().unwrap();
    let own = Home::new(Some(home.path()), None);
    let keys = Store::new(own.clone());
    keys.set("groq", &relaycode_llm::keys::Key::new("gsk-stored-key").unwrap()).unwrap();
    std::fs::write(home.path().join("secrets.yml"), "- content: named-by-hand\n").unwrap();
    let with = |servers: Servers, home: &Home, variables: &[(&str, &str)]| {
        servers.with_secrets(home, variables.iter().copied()).map(|servers| servers.secrets)
    };
    let secrets = with(Servers { keys, ..servers("") }, &own, &[("MY_TOKEN", "from-the-environment")]);
    let secrets = secrets.unwrap().unwrap();
    for secret in ["named-by-hand", "from-the-environment", "gsk-stored-key"] {
        assert!(!secrets.hide_text(&format!("it is {secret}.")).contains(secret), "{secret}");
    }
    let homeless = Home::new(None, None);
    assert!(with(servers(""), &homeless, &[("PATH", "/usr/bin:/bin")]).unwrap().is_none());
    assert!(with(servers(""), &homeless, &[("MY_TOKEN", "from-the-environment")]).unwrap().is_some());
    std::fs::write(home.path().join("secrets.yml"), "nonsense").unwrap();
    assert!(with(servers(""), &own, &[]).is_err());
}

#[test]
fn a_look_says_whether_a_server_is_there_its_version_and_how_many_models_it_has() {
    let server = Server::start(Script::any([]).models(["a", "b"]));
    let empty = Server::start(Script::any([]).models(Vec::<String>::new()));
    in_world(&AtomicBool::new(false), |world| {
        let look =
            |yaml: &str, to: &str| Friends::new(|| Ok(servers(yaml))).find(to).unwrap().friend().look(world);
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
        let friends = Friends::new(|| Ok(servers(&of_wire(&server, "openai-completions"))));
        let usable = friends.usable_servers(world).unwrap();
        usable.iter().map(|server| relaycode_friend::Friend::name(server).to_string()).collect::<Vec<_>>()
    });
    assert_eq!(usable, ["ollama", "llama.cpp", "lm-studio", "here"]);
}

#[test]
fn the_live_test_asks_for_one_word_in_an_empty_directory_that_is_gone_afterwards() {
    let scratch = tempfile::tempdir().unwrap();
    let test = |yaml: &str| {
        let friends = Friends::new(|| Ok(servers(yaml)));
        let chosen = friends.find("here").unwrap();
        in_world(&AtomicBool::new(false), |world| {
            relaycode_friend::live_test::live_test(chosen.friend(), None, scratch.path(), world)
        })
    };
    let server = Server::start(Script::any([Scripted::text("ready\n"), Scripted::status(401)]));
    let passed = test(&of_wire(&server, "ollama")).unwrap();
    assert_eq!((passed.said.as_str(), passed.way, passed.model.is_some()), ("ready", "ollama", true));
    assert!(serde_json::to_value(&passed).unwrap()["ms"].is_u64());
    assert!(matches!(
        test(&of_wire(&server, "ollama")),
        Err(relaycode_friend::live_test::NotPassed::Friend(Failure::NotSignedIn { .. }))
    ));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    let nowhere = relaycode_friend::live_test::live_test(
        Friends::new(|| Ok(servers(""))).find("ollama").unwrap().friend(),
        None,
        Path::new("/nowhere"),
        &in_nothing(),
    );
    assert!(matches!(nowhere, Err(relaycode_friend::live_test::NotPassed::Friend(Failure::Failed { .. }))));
}

fn in_nothing() -> World<'static> {
    World { runner: runner(), home: None, variable: &|_| None, stop: &|| false, depth: 0 }
}

#[test]
fn cancelling_closes_the_connection_within_a_moment() {
    each_wire(|api| {
        let hang = Scripted::text("one two three four")
            .with(|turn| turn.hang_s = Some(relaycode_testkit::model::Wait::Forever(true)));
        let server = Server::start(Script::any([hang]));
        let yaml = of_wire(&server, api);
        let friends = Friends::new(|| Ok(servers(&yaml)));
        let chosen = friends.find("here").unwrap();
        let stop = AtomicBool::new(false);
        let mut asked = None;
        let failure = in_world(&stop, |world| {
            let mut hear = |event| {
                if matches!(event, Event::Text(_)) {
                    asked.get_or_insert_with(Instant::now);
                    stop.store(true, Ordering::SeqCst);
                }
            };
            chosen.friend().turn(&turn("x"), world, &mut hear).unwrap_err()
        });
        let took = asked.unwrap().elapsed();
        assert!(matches!(failure, Failure::Cancelled { .. }), "{api}: {failure}");
        // The promise is 50 ms, and the script hangs for ever: much room, because the machine may be busy.
        assert!(took < Duration::from_secs(10), "{api}: {took:?}");
        server
            .wait_for(|requests| requests.iter().any(|request| matches!(request.end, End::ClientClosed(_))));
    });
}
