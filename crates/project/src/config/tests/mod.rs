//! The configuration through its front door, with real files.

mod forms;
mod hostile;
mod layers;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;

/// A project and the user's own directory.
struct Place {
    temp: TempDir,
}

impl Place {
    fn new() -> Place {
        let temp = TempDir::new().unwrap();
        fs::create_dir(temp.path().join("project")).unwrap();
        fs::create_dir(temp.path().join("home")).unwrap();
        Place { temp }
    }

    /// With a project's file and the user's own; an empty text is no file.
    fn with(name: &str, text: &str, own: &str) -> Place {
        let place = Place::new();
        for (path, text) in [(place.root().join(name), text), (place.home().join(USER_FILE), own)] {
            if !text.is_empty() {
                fs::write(path, text).unwrap();
            }
        }
        place
    }

    fn root(&self) -> PathBuf {
        self.temp.path().join("project")
    }

    fn home(&self) -> PathBuf {
        self.temp.path().join("home")
    }

    fn load(&self) -> Result<LoadedConfig, ConfigError> {
        load(&self.root(), Some(&self.home()))
    }
}

/// What a `relaycode.config.json` of this text says.
fn json(text: &str) -> Result<LoadedConfig, ConfigError> {
    Place::with("relaycode.config.json", text, "").load()
}

/// The same, with the user's own file.
fn both(text: &str, own: &str) -> Result<LoadedConfig, ConfigError> {
    Place::with("relaycode.config.json", text, own).load()
}

fn texts(loaded: &LoadedConfig) -> Vec<String> {
    loaded.remarks.iter().map(|remark| format!("{}: {}", remark.line, remark.text)).collect()
}

#[test]
fn a_project_without_a_file_has_the_defaults() {
    let loaded = Place::new().load().unwrap();
    assert_eq!(loaded.config, Config::default());
    assert_eq!((loaded.file.as_deref(), loaded.remarks.len()), (None, 0));
    assert!(loaded.rows().iter().all(|row| row.is_default && row.origin == ConfigOrigin::Default));
    assert!(loaded.trust_request().is_empty());
    assert!(load(&Place::new().root(), None).is_ok());
    assert!(load(Path::new("/nowhere/at/all"), Some(Path::new("/nowhere"))).is_ok());
}

#[test]
fn what_init_writes_is_read_back_as_the_defaults() {
    for id in ["my-app", "@scope/app.x", "a \"quoted\" \\ name", "größe"] {
        let text = initial_file(id);
        let loaded = json(&text).unwrap();
        assert_eq!(loaded.config, Config { project_id: Some(id.to_string()), ..Config::default() });
        assert_eq!(texts(&loaded), [""; 0]);
        assert!(loaded.trust_request().is_empty());
        // Any other reader of JSON must read it, too.
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["patch"]["approvalMode"], "auto");
        assert_eq!(value["patch"]["linter"], "");
    }
    let text = initial_file("my-app");
    assert!(
        text.starts_with("{\n  \"projectId\": \"my-app\",\n  \"core\": {\n    \"logLevel\": \"info\",\n")
    );
}

#[test]
fn the_schema_knows_every_key_and_nothing_else() {
    let schema = json_schema();
    assert_eq!(schema["required"][0], "projectId");
    for key in keys::KEYS.iter().filter(|key| !key.user_only) {
        let property = match key.section_and_name() {
            (Some(section), name) => &schema["properties"][section]["properties"][name],
            (None, name) => &schema["properties"][name],
        };
        assert!(property["description"].as_str().unwrap().starts_with(key.meaning), "{}", key.name);
        if key.name != "projectId" {
            assert_eq!(property["default"], key.default(), "{}", key.name);
        }
        if let keys::ConfigValueKind::Choice(choices) = key.kind {
            assert_eq!(property["enum"].as_array().unwrap().len(), choices.len());
        }
    }
    assert!(schema["properties"]["friends"].is_null(), "only the user says it, in another file");
    let is_shared = |section: &str| {
        keys::KEYS.iter().any(|key| key.section_and_name().0 == Some(section) && !key.user_only)
    };
    for (section, _) in keys::SECTIONS.into_iter().filter(|(section, _)| is_shared(section)) {
        assert_eq!(schema["properties"][section]["additionalProperties"], false);
    }
    let loaded = json(r#"{"$schema": "./schema.json", "projectId": "x"}"#).unwrap();
    assert_eq!(texts(&loaded), [""; 0]);
}

#[test]
fn the_list_of_keys_is_whole() {
    for key in &keys::KEYS {
        assert!(key.meaning.ends_with('.') && key.meaning.len() < 120, "{}", key.name);
        if let Some(section) = key.section_and_name().0 {
            assert!(keys::SECTIONS.iter().any(|(name, _)| *name == section), "{}", key.name);
        }
        if let keys::ConfigValueKind::Choice(choices) = key.kind {
            for choice in choices {
                let mut config = Config::default();
                key.set(&mut config, &keys::ConfigValue::Text(choice.name.to_string()));
                assert_eq!(key.get(&config).to_json(), choice.name, "{}", key.name);
            }
        }
    }
    let commands = keys::KEYS.iter().filter(|key| key.trust_need == Some(keys::TrustNeed::Command));
    assert_eq!(commands.count(), 3);
}

#[test]
fn rows_tell_value_origin_and_meaning() {
    let loaded =
        both("{projectId: 'x',\n patch: {linter: 'a \"b\"'}}", "git:\n  autoGitBranch: true\n").unwrap();
    let rows = loaded.rows();
    assert_eq!(rows.len(), keys::KEYS.len());
    let row = |name: &str| rows.iter().find(|row| row.key == name).unwrap();
    assert_eq!(row("patch.linter").value, r#""a \"b\"""#);
    assert_eq!(row("patch.linter").origin, ConfigOrigin::Project { line: 2 });
    assert_eq!(row("git.autoGitBranch").origin, ConfigOrigin::User { line: 2 });
    assert!(!row("git.autoGitBranch").is_default && row("git.gitBranchPrefix").is_default);
    assert_eq!(row("core.watchConfig").scope, keys::ConfigScope::WatchOnly);
    assert_eq!(loaded.value("projectId").as_deref(), Some("\"x\""));
    assert_eq!(loaded.value("patch.maxFileChanges").as_deref(), Some("null"));
    assert_eq!((loaded.value("nothing"), loaded.origin("nothing")), (None, None));
}
