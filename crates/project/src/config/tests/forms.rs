//! Every key in every form.

use super::super::keys::{ConfigKey, ConfigValueKind, KEYS};
use super::*;

/// Another value than the default, as it stands in a file.
fn other(key: &ConfigKey) -> &'static str {
    match key.name {
        "projectId" => "\"other\"",
        "core.logLevel" => "\"debug\"",
        "core.enableNotifications" | "core.watchConfig" => "false",
        "watcher.enableBulkProcessing" | "git.autoGitBranch" => "true",
        "watcher.clipboardPollInterval" => "500",
        "watcher.preferredStrategy" => "\"new-unified\"",
        "watcher.bulkSize" => "7",
        "watcher.bulkTimeout" => "1000",
        "patch.approvalMode" => "\"manual\"",
        "patch.approvalOnErrorCount" => "3",
        "patch.linter" => "\"cargo check\"",
        "patch.preCommand" => "\"make gen\"",
        "patch.postCommand" => "\"make fmt\"",
        "patch.minFileChanges" => "2",
        "patch.maxFileChanges" => "9",
        "patch.commandTimeout" => "30",
        "limits.text" | "limits.files" | "limits.file" | "limits.hunks" | "limits.total" | "limits.work" => {
            "77"
        }
        "git.gitBranchPrefix" => "\"ai/\"",
        "git.gitBranchTemplate" => "\"uuid\"",
        "permissions.deny" => "[\"sudo *\",\"edit ci/**\"]",
        "permissions.ask" => "[\"git push *\"]",
        name => panic!("{name} has no test: add its value here and its field below"),
    }
}

/// The field that a key fills, by hand: what the list says about itself proves nothing.
fn field(config: &Config, name: &str) -> String {
    let Config { project_id, core, watcher, patch, git, limits, friends: _, permissions, agent: _, .. } =
        config;
    match name {
        "projectId" => format!("{:?}", project_id.as_deref().unwrap_or_default()),
        "core.logLevel" => format!("{:?}", format!("{:?}", core.log_level).to_lowercase()),
        "core.enableNotifications" => core.enable_notifications.to_string(),
        "core.watchConfig" => core.watch_config.to_string(),
        "watcher.clipboardPollInterval" => watcher.clipboard_poll_interval.to_string(),
        "watcher.preferredStrategy" => {
            assert_eq!(watcher.preferred_strategy, PreferredStrategy::NewUnified);
            "\"new-unified\"".to_string()
        }
        "watcher.enableBulkProcessing" => watcher.enable_bulk_processing.to_string(),
        "watcher.bulkSize" => watcher.bulk_size.to_string(),
        "watcher.bulkTimeout" => watcher.bulk_timeout.to_string(),
        "patch.approvalMode" => format!("{:?}", format!("{:?}", patch.approval_mode).to_lowercase()),
        "patch.approvalOnErrorCount" => patch.approval_on_error_count.to_string(),
        "patch.linter" => format!("{:?}", patch.linter),
        "patch.preCommand" => format!("{:?}", patch.pre_command),
        "patch.postCommand" => format!("{:?}", patch.post_command),
        "patch.minFileChanges" => patch.min_file_changes.to_string(),
        "patch.maxFileChanges" => patch.max_file_changes.unwrap_or_default().to_string(),
        "patch.commandTimeout" => patch.command_timeout.to_string(),
        "limits.text" => limits.text.unwrap_or_default().to_string(),
        "limits.files" => limits.files.unwrap_or_default().to_string(),
        "limits.file" => limits.file.unwrap_or_default().to_string(),
        "limits.hunks" => limits.hunks.unwrap_or_default().to_string(),
        "limits.total" => limits.total.unwrap_or_default().to_string(),
        "limits.work" => limits.work.unwrap_or_default().to_string(),
        "git.autoGitBranch" => git.auto_git_branch.to_string(),
        "git.gitBranchPrefix" => format!("{:?}", git.git_branch_prefix),
        "git.gitBranchTemplate" => format!("{:?}", format!("{:?}", git.git_branch_template).to_lowercase()),
        "permissions.deny" => serde_json::to_string(&permissions.deny).unwrap(),
        "permissions.ask" => serde_json::to_string(&permissions.ask).unwrap(),
        _ => String::new(),
    }
}

/// A file that sets one key, in the nested form.
fn nested(key: &ConfigKey) -> String {
    match key.section_and_name() {
        (None, name) => format!("{{{name}: {}}}", other(key)),
        (Some(section), name) => format!("{{projectId: 'x', {section}: {{\n{name}: {}}}}}", other(key)),
    }
}

/// Whether exactly this key has its other value.
fn holds(loaded: &LoadedConfig, key: &ConfigKey) {
    assert_eq!(field(&loaded.config, key.name), other(key), "{}", key.name);
    assert_eq!(loaded.value(key.name).as_deref(), Some(other(key)), "{}", key.name);
    for row in loaded.rows() {
        assert_eq!(
            row.is_default,
            row.key != key.name && row.key != "projectId" || row.value == "null",
            "{}",
            row.key
        );
    }
}

#[test]
fn every_key_acts_from_the_nested_form() {
    for key in KEYS.iter().filter(|key| !key.user_only) {
        let loaded = json(&nested(key)).unwrap();
        holds(&loaded, key);
        let line = if key.section_and_name().0.is_some() { 2 } else { 1 };
        assert_eq!(loaded.origin(key.name), Some(&ConfigOrigin::Project { line }), "{}", key.name);
        assert_eq!(texts(&loaded), [""; 0]);
    }
}

#[test]
fn every_key_acts_from_every_file() {
    for name in PROJECT_FILES {
        for key in KEYS.iter().filter(|key| !key.user_only) {
            let head = if name.ends_with(".json") { "" } else { "export default " };
            let place = Place::with(name, &format!("{head}{}", nested(key)), "");
            let loaded = place.load().unwrap();
            holds(&loaded, key);
            assert_eq!(loaded.file, Some(place.root().join(name)));
            assert_eq!(loaded.remarks.len(), usize::from(name != "relaycode.config.json"), "{name}");
        }
    }
}

#[test]
fn every_key_of_the_older_flat_form_acts_and_is_explained() {
    let flat: Vec<_> = KEYS.iter().filter_map(|key| Some((key, key.legacy_name?))).collect();
    assert_eq!(flat.len(), 6);
    for (key, older) in flat {
        let loaded = json(&format!("{{projectId: 'x',\n{older}: {}}}", other(key))).unwrap();
        holds(&loaded, key);
        assert_eq!(texts(&loaded), [format!("2: `{older}` is the older name of `{}`", key.name)]);
    }
}

#[test]
fn the_file_of_the_requirement_is_read() {
    let text = r#"{
  "projectId": "your-project-name",
  "clipboardPollInterval": 2000,
  "approval": "yes",
  "approvalOnErrorCount": 0,
  "linter": "bun tsc --noEmit",
  "preCommand": "",
  "postCommand": ""
}"#;
    let loaded = json(text).unwrap();
    assert_eq!(loaded.config.project_id.as_deref(), Some("your-project-name"));
    assert_eq!(loaded.config.patch.approval_mode, ApprovalMode::Auto);
    assert_eq!(loaded.config.patch.linter, "bun tsc --noEmit");
    let manual = json(&text.replace("\"yes\"", "\"no\"")).unwrap();
    assert_eq!(manual.config.patch.approval_mode, ApprovalMode::Manual);
    assert!(texts(&manual).iter().any(|text| text.contains("`no` is the older word for `manual`")));
}

#[test]
fn the_names_of_the_original_are_read() {
    for (older, strategy) in [
        ("standard-diff", PreferredStrategy::NewUnified),
        ("search-replace", PreferredStrategy::MultiSearchReplace),
    ] {
        let text = format!("{{\"projectId\": \"x\", \"watcher\": {{\"preferredStrategy\": \"{older}\"}}}}");
        let loaded = Place::with("relay.config.json", &text, "").load().unwrap();
        assert_eq!(loaded.config.watcher.preferred_strategy, strategy);
        assert!(texts(&loaded)[0].contains(older), "{:?}", loaded.remarks);
    }
}

#[test]
fn both_forms_may_be_mixed_if_they_agree() {
    let loaded = json("{projectId: 'x', linter: 'a', patch: {linter: 'a', preCommand: 'b'}}").unwrap();
    assert_eq!(loaded.config.patch.linter, "a");
    assert_eq!(loaded.config.patch.pre_command, "b");
    let error = json("{projectId: 'x',\n linter: 'a',\n patch: {linter: 'b'}}").unwrap_err();
    assert_eq!((error.kind, error.line, error.column), (ConfigErrorKind::Conflict, 3, 10));
    assert!(error.what.contains("line 2") && error.what.contains("line 3"), "{error}");
    assert!(json("{projectId: 'x', approval: 'yes', patch: {approvalMode: 'auto'}}").is_ok());
}

#[test]
fn the_first_of_several_files_is_read_and_the_others_are_named() {
    let place = Place::with("relaycode.config.ts", "broken", "");
    fs::write(place.root().join("relay.config.json"), "{projectId: 'second'}").unwrap();
    fs::write(place.root().join("relaycode.config.json"), "{projectId: 'first'}").unwrap();
    let loaded = place.load().unwrap();
    assert_eq!(loaded.config.project_id.as_deref(), Some("first"));
    assert!(
        texts(&loaded)[0].contains("ignores relay.config.json, relaycode.config.ts;"),
        "{:?}",
        loaded.remarks
    );
}

#[test]
fn a_number_stays_in_its_range_and_is_whole() {
    for key in KEYS.iter().filter(|key| !key.user_only) {
        let ConfigValueKind::Number { least, most, or_none } = key.kind else { continue };
        let (section, name) = key.section_and_name();
        let load =
            |value: &str| json(&format!("{{projectId: 'x', {}: {{{name}: {value}}}}}", section.unwrap()));
        for good in [least, most] {
            assert_eq!(load(&good.to_string()).unwrap().value(key.name), Some(good.to_string()));
        }
        for bad in [&(most + 1).to_string(), "-1", "1.5", "1e300", "\"5\"", "true", "[]"] {
            assert!(load(bad).unwrap_err().what.contains(key.name), "{} {bad}", key.name);
        }
        assert_eq!(load("null").is_ok(), or_none);
        assert!(least == 0 || load(&(least - 1).to_string()).is_err());
    }
}

#[test]
fn limits_that_leave_nothing_are_remarked_on() {
    let loaded = json("{projectId: 'x', patch: {minFileChanges: 5, maxFileChanges: 2}}").unwrap();
    assert!(texts(&loaded)[0].contains("every change asks"));
}
