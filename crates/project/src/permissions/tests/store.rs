//! The files of rules, and whose rules count.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::config;

const NOW: &str = "2026-01-02T03:04:05Z";

struct Scene {
    dir: TempDir,
    store: PermissionStore,
}

impl Scene {
    fn new() -> Scene {
        let dir = TempDir::new().unwrap();
        for name in ["app", "other", "home"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let store = PermissionStore::new(Some(&dir.path().join("home")));
        Scene { dir, store }
    }

    fn root(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn load(&self, name: &str) -> Result<PermissionLayers, PermissionStoreError> {
        let config = config::load(&self.root(name), Some(&self.root("home"))).unwrap();
        self.store.load(&self.root(name), &config)
    }

    /// `here: allow cargo test *`, and so on.
    fn rules(&self, name: &str) -> Vec<String> {
        let layers = self.load(name).unwrap();
        layers.rules().iter().map(|placed| format!("{}: {}", placed.layer.name(), placed.rule)).collect()
    }

    fn add(&self, layer: PermissionLayer, text: &str) -> bool {
        self.store.add(layer, &self.root("app"), &allow(text), NOW).unwrap()
    }
}

#[test]
fn kept_rules_hold_where_they_were_kept_for() {
    let scene = Scene::new();
    assert!(scene.rules("app").is_empty());
    assert!(scene.add(PermissionLayer::AlwaysHere, "cargo test *"));
    assert!(!scene.add(PermissionLayer::AlwaysHere, "cargo  test *"), "it is there already");
    assert!(scene.add(PermissionLayer::User, "make"));
    assert_eq!(scene.rules("app"), ["user: allow make", "here: allow cargo test *"]);
    assert_eq!(scene.rules("other"), ["user: allow make"]);
    for placed in scene.load("app").unwrap().rules() {
        assert!(placed.file.as_ref().unwrap().is_file(), "{placed:?}");
    }
    let remove = |layer, text| scene.store.remove(layer, &scene.root("app"), &allow(text)).unwrap();
    assert!(!remove(PermissionLayer::User, "cargo test *"));
    assert!(remove(PermissionLayer::AlwaysHere, "cargo test *"));
    assert_eq!(scene.rules("app"), ["user: allow make"]);
}

#[test]
fn another_directory_at_the_path_has_no_rules() {
    let scene = Scene::new();
    scene.add(PermissionLayer::AlwaysHere, "cargo test *");
    fs::rename(scene.root("app"), scene.root("moved")).unwrap();
    fs::create_dir(scene.root("app")).unwrap();
    assert!(scene.rules("app").is_empty());
}

#[test]
fn a_damaged_file_is_an_error_and_a_rule_that_is_none_is_reported() {
    let scene = Scene::new();
    scene.add(PermissionLayer::User, "make");
    let file = scene.root("home/permissions/user.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("allow make", "allow make && x")).unwrap();
    let layers = scene.load("app").unwrap();
    assert!(layers.rules().is_empty() && layers.ignored().len() == 1);
    assert_eq!(layers.ignored()[0].file.as_ref(), Some(&file));
    fs::write(&file, "{").unwrap();
    assert!(matches!(scene.load("app"), Err(PermissionStoreError::Damaged { .. })));
}

#[test]
fn a_file_does_not_grow_without_end() {
    let scene = Scene::new();
    let rules: Vec<String> = (0..super::super::store::MAX_STORED_RULES)
        .map(|at| format!(r#"{{"rule": "allow a{at}", "added": "{NOW}"}}"#))
        .collect();
    scene.add(PermissionLayer::User, "make");
    let file = scene.root("home/permissions/user.json");
    fs::write(&file, format!(r#"{{"rules": [{}]}}"#, rules.join(","))).unwrap();
    let full = scene.store.add(PermissionLayer::User, &scene.root("app"), &allow("b"), NOW);
    assert!(matches!(full, Err(PermissionStoreError::Full)), "{full:?}");
}

#[test]
fn a_projects_configuration_can_only_tighten() {
    let scene = Scene::new();
    let project = r#"{"projectId": "app", "permissions": {"allow": ["rm *"], "ask": ["git push *"], "deny": ["edit ci/**"]}}"#;
    fs::write(scene.root("app/relaycode.config.json"), project).unwrap();
    fs::write(
        scene.root("home/config.yml"),
        "permissions:\n  allow: [\"cargo *\", \"git push *\"]\n  deny: [\"sudo *\"]\n",
    )
    .unwrap();
    assert_eq!(
        scene.rules("app"),
        [
            "user: deny sudo *",
            "user: allow cargo *",
            "user: allow git push *",
            "project: deny edit ci/**",
            "project: ask git push *"
        ]
    );
    let config = config::load(&scene.root("app"), Some(&scene.root("home"))).unwrap();
    assert!(
        config.remarks.iter().any(|remark| remark.text.contains("permissions.allow")),
        "{:?}",
        config.remarks
    );
    assert_eq!(scene.rules("other"), ["user: deny sudo *", "user: allow cargo *", "user: allow git push *"]);
}

#[test]
fn without_a_directory_of_the_users_own_there_are_no_kept_rules() {
    let scene = Scene::new();
    let store = PermissionStore::new(None);
    let config = config::load(&scene.root("app"), None).unwrap();
    assert!(store.load(&scene.root("app"), &config).unwrap().rules().is_empty());
    assert!(store.add(PermissionLayer::User, &scene.root("app"), &allow("make"), NOW).is_err());
}
