use super::*;
use crate::request::ThinkingLevel;
use crate::stream::retry::RetryBudget;

fn registry(text: &str) -> ModelRegistry {
    ModelRegistry::new(Ok(Some(parse(text).unwrap_or_else(|error| panic!("{error}")))))
}

fn nobody(_: &str) -> bool {
    false
}

fn chosen(registry: &ModelRegistry, selector: &str) -> (String, Option<ThinkingLevel>, ModelMatchKind) {
    let chosen = registry.select(selector, &nobody).unwrap_or_else(|error| panic!("{selector}: {error}"));
    (chosen.entry.model.selector(), chosen.level, chosen.matched_by)
}

const LOCAL: &str = "providers:
  ollama:
    models:
      - {id: 'qwen3:8b', contextWindow: 40960}
      - {id: 'odd:high'}
  openrouter:
    models:
      - {id: anthropic/claude-opus-5.5, name: Opus via OpenRouter}
      - {id: qwen/qwen3}
";

#[test]
fn the_whole_file_is_read() {
    let text = "
providers:
  work:
    baseUrl: https://models.example.com/v1/
    apiKey: WORK_KEY
    api: openai-completions
    authHeader: true
    headers: {X-Team: core}
    compat: {maxTokensField: max_tokens, supportsStore: false}
    models:
      - id: big
        name: Big
        reasoning: true
        input: [text, image]
        cost: {input: 1, output: 2.5, cacheRead: 0.1}
        contextWindow: 200000
        maxTokens: 8000
        headers: {x-model: big}
        compat: {thinkingFormat: qwen}
      - id: small
  anthropic:
    modelOverrides:
      claude-opus-5-5: {maxTokens: 1000, cost: {input: 1}}
roles: {default: work/big:high, smol: work/small}
modelProviderOrder: [work, anthropic]
enabledModels: ['work/*', '*opus*']
disabledProviders: [groq]
retry: {enabled: true, requestMaxRetries: 2, streamMaxRetries: 1, maxRetries: 3, baseDelayMs: 100, maxDelayMs: 1000, fallbackChains: {default: [openai/gpt-5, ollama/q]}, fallbackRevertPolicy: never}
";
    let registry = registry(text);
    assert!(registry.provider("groq").is_none());
    let big = registry.select("work/big", &nobody).unwrap().entry;
    assert_eq!(big.model.base_url, "https://models.example.com/v1");
    assert_eq!(
        big.model.headers.into_iter().collect::<Vec<_>>(),
        [("x-model".into(), "big".into()), ("x-team".into(), "core".to_string())]
    );
    assert_eq!((big.model.images, big.model.reasoning, big.model.context_window), (true, true, 200_000));
    assert_eq!(big.model.compat.auth_header, Some(true));
    assert_eq!(big.model.compat.supports_store, Some(false));
    assert_eq!(big.model.compat.thinking_format, Some(crate::models::model::ThinkingFormat::Qwen));
    assert_eq!(big.origins["contextWindow"], ModelFieldOrigin::File { line: 16 });
    let small = registry.select("work/small", &nobody).unwrap().entry;
    assert_eq!(small.origins["contextWindow"], ModelFieldOrigin::Assumed);
    let opus = registry.select("opus", &nobody).unwrap().entry;
    assert_eq!((opus.model.max_tokens, opus.model.price.input, opus.model.price.output), (1000, 1.0, 20.0));
    assert_eq!(
        (opus.origins["maxTokens"], opus.origins["name"]),
        (ModelFieldOrigin::File { line: 23 }, ModelFieldOrigin::BuiltIn)
    );
    assert_eq!(
        chosen(&registry, "default"),
        ("work/big".into(), Some(ThinkingLevel::High), ModelMatchKind::Exact)
    );
    assert_eq!(
        chosen(&registry, "plan:low").1,
        Some(ThinkingLevel::Low),
        "a role without a model is the default's"
    );
    assert!(registry.select("sonnet", &nobody).is_err(), "not enabled");
    assert_eq!(
        chosen(&registry, "anthropic/claude-sonnet-5-5").2,
        ModelMatchKind::Exact,
        "a full name always works"
    );
    assert!(matches!(registry.select("groq/x", &nobody), Err(ModelSelectError::Disabled(_))));
    assert_eq!(registry.file.retry.stream_max_retries, Some(1));
    let millis = std::time::Duration::from_millis;
    let said = RetryBudget {
        request_max_retries: 2,
        stream_max_retries: 1,
        max_retries: 3,
        base_delay: millis(100),
        max_delay: millis(1000),
    };
    assert_eq!(registry.file.retry.budget(), said);
    let chain = &registry.file.fallback_chains[&ModelRole::Default];
    assert_eq!((chain.len(), registry.file.reverts_fallback), (2, Some(false)));
    assert!(!format!("{registry:?}").contains("WORK_KEY"));
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_without_its_value() {
    for (text, line, column, said) in [
        ("provider: {}\n", 1, 1, "did you mean `providers`"),
        ("providers:\n  anthropic:\n    baseurl: https://x\n", 3, 5, "did you mean `baseUrl`"),
        ("providers:\n  anthropic:\n    baseUrl: 5\n", 3, 14, "must be text"),
        ("providers:\n  anthropic:\n    baseUrl: ftp://x\n", 3, 14, "https://"),
        ("providers:\n  anthropic:\n    baseUrl: https://me:pw@x\n", 3, 14, "without user"),
        ("providers:\n  anthropic: {}\n", 2, 3, "says nothing"),
        ("providers:\n  work:\n    baseUrl: https://x\n", 2, 3, "apiKey (or auth: none), api, models"),
        ("providers:\n  antropic:\n    apiKey: sekrit\n", 2, 3, "did you mean `anthropic`"),
        ("providers:\n  openai:\n    api: openai\n", 3, 10, "one of anthropic-messages"),
        ("providers:\n  openai:\n    auth: oauth\n", 3, 11, "keys only"),
        ("providers:\n  openai:\n    authHeader: yes\n", 3, 17, "true or false"),
        ("providers:\n  openai:\n    apiKey: \"sekrit\\nx\"\n", 3, 13, "control character"),
        ("providers:\n  openai:\n    apiKey: [[sekrit]]\n", 3, 14, "must be text"),
        ("providers:\n  openai:\n    apiKey: {a: sekrit}\n", 3, 13, "must be text"),
        ("providers:\n  openai:\n    headers: {'a b': x}\n", 3, 15, "no name of a header"),
        ("providers:\n  openai:\n    compat: {store: true}\n", 3, 14, "no setting `store`"),
        ("providers:\n  openai:\n    compat: {supportsStore: maybe}\n", 3, 29, "supportsStore"),
        ("providers:\n  openai:\n    models: [{name: x}]\n", 3, 14, "lacks `id`"),
        ("providers:\n  openai:\n    models: [{id: x, contextWindow: -1}]\n", 3, 37, "whole number"),
        ("providers:\n  openai:\n    models: [{id: x, cost: {input: -1}}]\n", 3, 36, "dollars"),
        ("providers:\n  openai:\n    models: [{id: x, input: [audio]}]\n", 3, 30, "one of text, image"),
        ("providers:\n  openai:\n    models: [{id: x}, {id: x}]\n", 3, 23, "came before"),
        ("providers:\n  Open AI: {api: ollama}\n", 2, 3, "small letters"),
        ("providers:\n  ollama: {discovery: {type: olama}}\n", 2, 30, "did you mean `ollama`"),
        ("roles: {big: x}\n", 1, 9, "no setting `big`"),
        ("disabledProviders: [nobody]\n", 1, 1, "no provider `nobody`"),
        ("enabledModels: ['a[']\n", 1, 17, "no pattern"),
        ("retry: {maxRetries: 1000}\n", 1, 21, "from 0 to 100"),
        ("proxy: http://x\n", 1, 1, "HTTPS_PROXY"),
        ("- a\n", 1, 1, "must be a table"),
        ("a: [\n", 1, 4, "not YAML"),
        ("a: 1\na: 2\n", 2, 1, "not YAML"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.message.contains(said), "{text}: {error}");
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
        assert!(!error.to_string().contains("sekrit"), "{error}");
    }
}

#[test]
fn the_budgets_of_the_file_are_those_of_a_stream_and_the_rest_stays_usual() {
    use crate::stream::retry::RetryBudget;
    let registry = registry("retry: {requestMaxRetries: 0, streamMaxRetries: 100, baseDelayMs: 10}");
    let expected = RetryBudget {
        request_max_retries: 0,
        stream_max_retries: 100,
        base_delay: std::time::Duration::from_millis(10),
        ..RetryBudget::default()
    };
    assert_eq!(registry.file.retry.budget(), expected);
    assert_eq!(super::models_file::RetrySettings::default().budget(), RetryBudget::default());
}

#[test]
fn a_provider_may_be_allowed_plain_http() {
    let text = "providers: {a: {baseUrl: 'http://a.b', apiKey: k-1, api: ollama, allowPlainHttp: true, models: [{id: m}]}}";
    let registry = registry(text);
    let known = registry.models_of("a").next().unwrap();
    assert_eq!(known.model.compat.allow_plain_http, Some(true));
    assert!(!format!("{registry:?}").contains("k-1"));
}

#[test]
fn a_bad_file_leaves_what_relay_knows() {
    let registry = ModelRegistry::new(parse("a: [").map(Some));
    assert!(registry.file_error.is_some());
    assert_eq!(registry.models.len(), crate::models::catalogue::ALL.len());
}

#[test]
fn the_file_must_be_the_users_own() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let own = crate::user_directory::UserDirectory::new(Some(home.path()), None);
    assert_eq!(load(&own).unwrap(), None);
    let path = home.path().join(NAME);
    std::fs::write(&path, "roles: {default: opus}\n").unwrap();
    assert!(load(&own).unwrap().is_some());
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    let error = load(&own).unwrap_err().to_string();
    assert!(error.contains("others may change") && error.contains("chmod go-w"), "{error}");
    std::fs::remove_file(&path).unwrap();
    // A link to the user's own file is fine; a pipe is not waited for.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("m"), "").unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("m"), &path).unwrap();
    assert!(load(&own).unwrap().is_some());
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert!(load(&own).unwrap_err().to_string().contains("more than"));
    std::fs::write(&path, b"a: \xff").unwrap();
    assert_eq!(load(&own).unwrap_err().line, 1);
    let inside = crate::user_directory::UserDirectory::new(Some(home.path()), home.path().parent());
    assert!(load(&inside).unwrap_err().to_string().contains("inside the project"));
}

#[test]
fn a_selector_finds_the_model_that_is_meant() {
    let registry = registry(LOCAL);
    for (selector, model, level, how) in [
        ("anthropic/claude-opus-5-5", "anthropic/claude-opus-5-5", None, ModelMatchKind::Exact),
        (
            "anthropic/claude-opus-5-5:max",
            "anthropic/claude-opus-5-5",
            Some(ThinkingLevel::Max),
            ModelMatchKind::Exact,
        ),
        (
            "openrouter/anthropic/claude-opus-5.5",
            "openrouter/anthropic/claude-opus-5.5",
            None,
            ModelMatchKind::Exact,
        ),
        ("ollama/qwen3:8b", "ollama/qwen3:8b", None, ModelMatchKind::Exact),
        ("ollama/qwen3:8b:low", "ollama/qwen3:8b", Some(ThinkingLevel::Low), ModelMatchKind::Exact),
        ("qwen3:8b", "ollama/qwen3:8b", None, ModelMatchKind::Name),
        ("qwen3:8b:off", "ollama/qwen3:8b", Some(ThinkingLevel::Off), ModelMatchKind::Name),
        ("odd:high", "ollama/odd:high", None, ModelMatchKind::Name),
        ("odd:high:low", "ollama/odd:high", Some(ThinkingLevel::Low), ModelMatchKind::Name),
        ("claude-haiku-4-5", "anthropic/claude-haiku-4-5-20251001", None, ModelMatchKind::Name),
        ("Claude-Opus-5.5", "anthropic/claude-opus-5-5", None, ModelMatchKind::Name),
        ("haiku", "anthropic/claude-haiku-5-5", None, ModelMatchKind::Fuzzy),
        ("haiku:high", "anthropic/claude-haiku-5-5", Some(ThinkingLevel::High), ModelMatchKind::Fuzzy),
        ("openai sol", "openai/gpt-6.1-sol", None, ModelMatchKind::Fuzzy),
        ("google/*", "google/gemini-3.8-flash", None, ModelMatchKind::Pattern),
        ("*FLASH*:low", "google/gemini-3.8-flash", Some(ThinkingLevel::Low), ModelMatchKind::Pattern),
        ("groq/some/new-model", "groq/some/new-model", None, ModelMatchKind::Assumed),
    ] {
        assert_eq!(chosen(&registry, selector), (model.into(), level, how), "{selector}");
    }
}

#[test]
fn keys_come_before_the_order_and_the_order_before_the_catalogue() {
    let registry = registry(LOCAL);
    let select = |selector: &str, key: &str| {
        registry.select(selector, &|provider| provider == key).unwrap().entry.model.selector()
    };
    assert_eq!(select("claude-opus-5.5", ""), "anthropic/claude-opus-5-5");
    assert_eq!(select("claude-opus-5-5", "openrouter"), "anthropic/claude-opus-5-5", "an exact id wins");
    assert_eq!(select("CLAUDE-OPUS-5-5", "openrouter"), "openrouter/anthropic/claude-opus-5.5");
    assert_eq!(select("opus", "openrouter"), "openrouter/anthropic/claude-opus-5.5");
    assert_eq!(select("opus", "anthropic"), "anthropic/claude-opus-5-5");
    let ordered = super::parse(&format!("{LOCAL}modelProviderOrder: [openrouter]\n")).unwrap();
    let ordered = ModelRegistry::new(Ok(Some(ordered)));
    let chosen = ordered.select("opus", &nobody).unwrap();
    assert_eq!(chosen.entry.model.provider, "openrouter");
    assert_eq!(chosen.alternatives, ["anthropic/claude-opus-5-5"]);
}

#[test]
fn no_model_says_which_are_near_and_a_circle_of_roles_ends() {
    let registry = registry("roles: {default: smol, smol: plan, plan: default}\n");
    let error = registry.select("claude-opus-5-6", &nobody).unwrap_err().to_string();
    assert!(error.contains("`anthropic/claude-opus-5-5`") || error.contains("`claude-opus-5-5`"), "{error}");
    assert!(matches!(registry.select("slow", &nobody), Err(ModelSelectError::RoleCycle(_))));
    for odd in ["", "  ", "\u{1b}[31m", &"x".repeat(100_000), "[", ":high", "/"] {
        assert!(registry.select(odd, &nobody).is_err(), "{odd:.20}");
    }
    let bare = ModelRegistry::new(Ok(None));
    assert_eq!(bare.select_role(ModelRole::Default, &nobody), Err(ModelSelectError::NoKey));
    let first = bare.select_role(ModelRole::Smol, &|provider| provider == "openai").unwrap();
    assert_eq!(
        (first.entry.model.selector().as_str(), first.matched_by),
        ("openai/gpt-6.1-sol", ModelMatchKind::First)
    );
}

#[test]
fn discovered_models_take_overrides_and_leave_the_users_own() {
    let mut registry = registry(
        "providers:\n  ollama:\n    headers: {x-a: b}\n    modelOverrides: {'llama4:latest': {contextWindow: 5000}}\n    models: [{id: mine, contextWindow: 1}]\n",
    );
    let found = |id: &str| discover::DiscoveredModel {
        id: id.into(),
        context_window: Some(131_072),
        images: Some(true),
        ..Default::default()
    };
    registry.add_discovered("ollama", vec![found("llama4:latest"), found("mine"), found("qwen3:8b")]);
    registry.add_discovered("nobody", vec![found("x")]);
    let ids: Vec<_> = registry.models_of("ollama").map(|known| known.model.id.as_str()).collect();
    assert_eq!(ids, ["mine", "llama4:latest", "qwen3:8b"]);
    let llama = registry.select("llama4:latest", &nobody).unwrap().entry;
    assert_eq!((llama.model.context_window, llama.model.max_tokens), (5000, 5000));
    assert_eq!(llama.model.headers["x-a"], "b");
    assert_eq!(llama.origins["input"], ModelFieldOrigin::Discovered);
    assert_eq!(registry.select("mine", &nobody).unwrap().entry.model.context_window, 1);
}

#[test]
fn a_filter_of_the_list_takes_names_patterns_and_words() {
    let registry = registry(LOCAL);
    let count = |filter: &str| registry.matching(filter, &nobody).len();
    assert_eq!(count("anthropic/*"), 6, "five, and one that OpenRouter calls so");
    assert_eq!(count("gpt sol"), 2);
    assert_eq!(count("qwen3:8b"), 1);
    assert_eq!(count("nothing like this"), 0);
}

#[test]
fn every_wire_can_be_named_and_every_provider_speaks_one() {
    for wire in crate::wire::ALL {
        let api = wire.id();
        let text = format!(
            "providers: {{a: {{baseUrl: 'https://a.b', apiKey: k-1, api: {api}, models: [{{id: m}}]}}}}"
        );
        assert_eq!(registry(&text).models.iter().find(|m| m.model.provider == "a").unwrap().model.api, api);
    }
    for provider in crate::models::provider::ALL {
        assert!(crate::wire::by_id(provider.api).is_some(), "{}", provider.id);
    }
}
