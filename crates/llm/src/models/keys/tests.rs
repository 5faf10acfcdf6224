use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;
use crate::models::{ModelRegistry, parse};
use crate::user_directory::UserDirectory;

const SECRET: &str = "sk-test-0123456789abcdefghij";

fn store(home: &Path) -> KeyStore {
    KeyStore::new(UserDirectory::new(Some(home), None))
}

fn ring<'k>(home: &Path, variables: &'k EnvLookup<'k>) -> Keyring<'k> {
    Keyring { flag: None, store: store(home), variables, commands: None }
}

#[test]
fn a_stored_key_is_for_the_user_alone() {
    let home = tempfile::tempdir().unwrap();
    let inner = home.path().join("own");
    let store = store(&inner);
    assert_eq!(store.get("anthropic").unwrap(), None);
    store.set("anthropic", &ApiKey::new(SECRET).unwrap()).unwrap();
    assert_eq!(store.get("anthropic").unwrap().unwrap().expose(), SECRET);
    let mode = |path: &str| inner.join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("keys"), mode("keys/anthropic")), (0o700, 0o600));
    assert_eq!(store.list().unwrap(), ["anthropic"]);
    assert!(store.remove("anthropic").unwrap() && !store.remove("anthropic").unwrap());
}

#[test]
fn a_key_that_others_can_read_is_refused_with_the_fix() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    store.set("openai", &ApiKey::new(SECRET).unwrap()).unwrap();
    let file = home.path().join("keys/openai");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    let error = store.get("openai").unwrap_err().to_string();
    assert!(error.contains("others may read") && error.contains("chmod 600"), "{error}");
    assert!(!error.contains(SECRET));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::set_permissions(home.path().join("keys"), PermissionsExt::from_mode(0o777)).unwrap();
    assert!(store.get("openai").unwrap_err().to_string().contains("chmod go-w"));
}

#[test]
fn a_key_inside_the_project_is_not_believed() {
    let project = tempfile::tempdir().unwrap();
    let inside = project.path().join("home");
    store(&inside).set("openai", &ApiKey::new(SECRET).unwrap()).unwrap();
    let error =
        KeyStore::new(UserDirectory::new(Some(&inside), Some(project.path()))).get("openai").unwrap_err();
    assert!(error.to_string().contains("inside the project"), "{error}");
}

#[test]
fn what_is_no_key_is_refused_without_being_echoed() {
    assert_eq!(ApiKey::new(" sk-1 \n").unwrap().expose(), "sk-1");
    for (text, why) in [
        ("", ApiKeyError::Empty),
        ("sk-secret\nsecond", ApiKeyError::Control),
        ("sk-se\u{0}cret", ApiKeyError::Control),
        ("sk se", ApiKeyError::Blank),
        ("schlüssel", ApiKeyError::Foreign),
    ] {
        let error = ApiKey::new(text).unwrap_err();
        assert_eq!(error, why, "{text:?}");
        assert!(!error.to_string().contains("secret"));
    }
    assert_eq!(ApiKey::new(&"k".repeat(8193)).unwrap_err(), ApiKeyError::Long);
    assert_eq!(format!("{:?}", ApiKey::new(SECRET)), "Ok(Key(…))");
    assert_eq!(ApiKey::new(SECRET).unwrap().tail(), Some("ghij"));
    assert_eq!(ApiKey::new("sk-short-key").unwrap().tail(), None);
}

#[test]
fn keys_come_from_the_flag_the_store_the_environment_and_the_file_in_this_order() {
    let home = tempfile::tempdir().unwrap();
    let file = parse("providers:\n  anthropic:\n    apiKey: sk-of-the-file\n").unwrap();
    let registry = ModelRegistry::new(Ok(Some(file)));
    let anthropic = registry.provider("anthropic").unwrap();
    let none = |_: &str| None;
    let set = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| " sk-of-env\n".to_string());
    let (auth, source) = ring(home.path(), &none).auth(anthropic).unwrap();
    assert_eq!((auth, source), (Auth::Key("sk-of-the-file".into()), KeySource::File { line: 3 }));
    let (auth, source) = ring(home.path(), &set).auth(anthropic).unwrap();
    assert_eq!(
        (auth, source),
        (Auth::Key("sk-of-env".into()), KeySource::Environment("ANTHROPIC_API_KEY".into()))
    );
    store(home.path()).set("anthropic", &ApiKey::new("sk-stored").unwrap()).unwrap();
    assert_eq!(
        ring(home.path(), &set).auth(anthropic).unwrap(),
        (Auth::Key("sk-stored".into()), KeySource::Stored)
    );
    let flag = Keyring { flag: Some(ApiKey::new("sk-flag").unwrap()), ..ring(home.path(), &set) };
    assert_eq!(flag.auth(anthropic).unwrap(), (Auth::Key("sk-flag".into()), KeySource::Flag));
}

#[test]
fn a_variable_that_is_not_set_is_not_sent_as_a_key() {
    let home = tempfile::tempdir().unwrap();
    let file = parse("providers:\n  openai:\n    apiKey: WORK_KEY\n").unwrap();
    let registry = ModelRegistry::new(Ok(Some(file)));
    let openai = registry.provider("openai").unwrap();
    let error = ring(home.path(), &|_| None).auth(openai).unwrap_err().to_string();
    assert!(error.contains("WORK_KEY") && error.contains("line 3"), "{error}");
    let set = |name: &str| (name == "WORK_KEY").then(|| "sk-work".to_string());
    let (_, source) = ring(home.path(), &set).auth(openai).unwrap();
    assert_eq!(source, KeySource::Environment("WORK_KEY".into()));
    assert_eq!(
        ring(home.path(), &|_| None).auth(registry.provider("ollama").unwrap()).unwrap(),
        (Auth::None, KeySource::NotNeeded)
    );
    let missing =
        ring(home.path(), &|_| None).auth(registry.provider("groq").unwrap()).unwrap_err().to_string();
    assert!(missing.contains("`relay keys set groq`") && missing.contains("GROQ_API_KEY"), "{missing}");
}

#[test]
fn several_keys_are_stored_and_named_in_models_yml() {
    let home = tempfile::tempdir().unwrap();
    let list = "providers:\n  openai:\n    apiKey: [WORK_KEY, sk-of-the-file]\n";
    let registry = ModelRegistry::new(Ok(Some(parse(list).unwrap())));
    let openai = registry.provider("openai").unwrap();
    let set = |name: &str| (name == "WORK_KEY").then(|| "sk-work".to_string());
    let auths = ring(home.path(), &set).auths(openai).unwrap();
    let key = |key: &str| Auth::Key(key.into());
    assert_eq!(auths[0], (key("sk-work"), KeySource::Environment("WORK_KEY".into())));
    assert_eq!(auths[1], (key("sk-of-the-file"), KeySource::File { line: 3 }));
    assert_eq!(ring(home.path(), &set).auth(openai).unwrap(), auths[0]);
    assert!(ring(home.path(), &|_| None).auths(openai).is_err());
    for number in 0..MAX_KEYS {
        assert_eq!(
            store(home.path()).add("openai", &ApiKey::new(&format!("sk-{number}")).unwrap()).unwrap(),
            number + 1
        );
    }
    assert_eq!(store(home.path()).add("openai", &ApiKey::new("sk-0").unwrap()).unwrap(), MAX_KEYS);
    let error = store(home.path()).add("openai", &ApiKey::new("sk-more").unwrap()).unwrap_err().to_string();
    assert!(error.contains("16 are possible") && !error.contains("sk-"), "{error}");
    // The place that counts is one: those of the file are not mixed in.
    assert_eq!(ring(home.path(), &set).auths(openai).unwrap().len(), MAX_KEYS);
    let long = format!("providers:\n  openai:\n    apiKey: [{}]\n", vec!["A_B"; MAX_KEYS + 1].join(", "));
    assert!(parse(&long).unwrap_err().to_string().contains("must have 1 to 16 keys"));
}
