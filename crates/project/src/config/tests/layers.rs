//! The user's own file, what lies over what, and what needs trust.

use super::super::keys::KEYS;
use super::*;

/// A setting in YAML: `patch.linter` and `x` become two lines.
fn own(name: &str, value: &str) -> String {
    match name.split_once('.') {
        Some((section, key)) => format!("# mine\n{section}:\n  {key}: {value}\n"),
        None => format!("# mine\n\n{name}: {value}\n"),
    }
}

#[test]
fn every_key_acts_from_the_users_own_file() {
    for (name, value) in [
        ("core.logLevel", "debug"),
        ("core.enableNotifications", "false"),
        ("core.watchConfig", "false"),
        ("watcher.clipboardPollInterval", "500"),
        ("watcher.preferredStrategy", "replace"),
        ("watcher.enableBulkProcessing", "true"),
        ("watcher.bulkSize", "7"),
        ("watcher.bulkTimeout", "1000"),
        ("patch.approvalMode", "manual"),
        ("patch.approvalOnErrorCount", "3"),
        ("patch.linter", "cargo check --quiet"),
        ("patch.preCommand", "make gen"),
        ("patch.postCommand", "make fmt"),
        ("patch.minFileChanges", "2"),
        ("patch.maxFileChanges", "9"),
        ("patch.commandTimeout", "30"),
        ("patch.commandAccess", "workspace"),
        ("limits.text", "77"),
        ("limits.files", "77"),
        ("limits.file", "77"),
        ("limits.hunks", "77"),
        ("limits.total", "77"),
        ("limits.work", "77"),
        ("git.autoGitBranch", "true"),
        ("git.gitBranchPrefix", "ai/"),
        ("git.gitBranchTemplate", "uuid"),
        ("friends.default", "codex,claude"),
        ("friends.timeout", "60"),
        ("friends.idleTimeout", "20"),
        ("permissions.deny", "[\"sudo *\"]"),
        ("permissions.ask", "[\"git push *\"]"),
        ("permissions.allow", "[\"cargo test *\",\"make\"]"),
        ("agent.access", "read-only"),
        ("agent.maxTurns", "40"),
        ("agent.maxTime", "900"),
        ("agent.maxCost", "250"),
        ("agent.repeatLimit", "3"),
        ("agent.parallelTools", "2"),
        ("agent.steeringMode", "all"),
        ("agent.followUpMode", "all"),
        ("agent.interruptMode", "wait"),
        ("agent.instructions", "false"),
        ("agent.titles", "rule"),
        ("agent.todo", "false"),
        ("agent.goal", "false"),
        ("agent.goalContinuations", "0"),
        ("agent.checkpoint", "true"),
        ("agent.check", "false"),
        ("agent.askTimeout", "5"),
        ("agent.askNotify", "false"),
        ("agent.editMode", "apply_patch"),
        ("agent.readDefaultLimit", "200"),
        ("agent.readHashLines", "false"),
        ("agent.readSummarize", "false"),
        ("agent.asyncEnabled", "false"),
        ("agent.asyncMaxJobs", "7"),
        ("agent.asyncPollWaitDuration", "1m"),
        ("agent.bashAutoBackground", "true"),
        ("agent.bashBackgroundAfter", "2000"),
        ("agent.bashInterceptor", "true"),
        ("agent.bashInterceptorRules", r#"[{"pattern":"^npm ","tool":"ask","message":"Ask first."}]"#),
        ("agent.bashStartup", "true"),
        ("agent.bashCi", "false"),
        ("agent.bashOutputBytes", "4096"),
        ("ttsr.enabled", "false"),
        ("ttsr.interruptMode", "prose-only"),
        ("ttsr.contextMode", "keep"),
        ("ttsr.repeatMode", "after-gap"),
        ("ttsr.repeatGap", "3"),
        ("compaction.enabled", "false"),
        ("compaction.thresholdPercent", "70"),
        ("compaction.thresholdTokens", "9000"),
        ("compaction.reserveTokens", "4096"),
        ("compaction.keepRecentTokens", "1000"),
        ("compaction.autoContinue", "false"),
        ("compaction.midTurn", "false"),
        ("compaction.prune", "false"),
        ("compaction.promotion", "false"),
        ("compaction.idleEnabled", "true"),
        ("compaction.idleThresholdTokens", "5000"),
        ("compaction.idleTimeoutSeconds", "9"),
        ("theme.dark", "my-theme"),
        ("theme.light", "my-theme"),
        ("symbolPreset", "ascii"),
        ("colorBlindMode", "true"),
        ("doubleEscapeAction", "none"),
        ("branchSummary.enabled", "true"),
        ("terminal.plain", "true"),
        ("terminal.showThinking", "true"),
    ] {
        let loaded = both("", &own(name, value)).unwrap();
        assert_eq!(loaded.value(name).unwrap().trim_matches('"'), value, "{name}");
        assert_eq!(loaded.origin(name), Some(&ConfigOrigin::User { line: 3 }), "{name}");
        assert_eq!(loaded.rows().iter().filter(|row| !row.is_default).count(), 1, "{name}");
        assert_eq!(loaded.config, loaded.without_project);
        assert_eq!(texts(&loaded), [""; 0]);
    }
    assert_eq!(KEYS.len(), 90, "a new key belongs into the list above");
}

#[test]
fn what_only_the_user_may_say_does_nothing_in_a_project() {
    let loaded = json("{projectId: 'x',\nfriends: {default: 'elsewhere'}}").unwrap();
    assert_eq!(loaded.config.friends.default, "codex");
    assert_eq!(
        texts(&loaded),
        ["2: `friends.default` does nothing here: only your own config.yml can set it"]
    );
    for bad in ["", "a,,b", "-x", "a b", "a,"] {
        assert!(both("", &own("friends.default", &format!("{bad:?}"))).is_err(), "{bad:?}");
    }
}

#[test]
fn rules_for_commands_are_whole_objects() {
    for (bad, said) in [
        ("[\"^npm\"]", "holds a text; it must hold objects"),
        ("[{\"pattern\": \"x\", \"tool\": \"read\"}]", "without a text `message`"),
        ("[{\"pattern\": \"\", \"tool\": \"read\", \"message\": \"m\"}]", "without a text `pattern`"),
        ("[{\"regex\": \"x\", \"tool\": \"read\", \"message\": \"m\"}]", "holds an object with `regex`"),
    ] {
        let errors = both("", &own("agent.bashInterceptorRules", bad)).unwrap_err();
        assert!(format!("{errors:?}").contains(said), "{bad}: {errors:?}");
    }
    let one = "{\"pattern\": \"x\", \"tool\": \"read\", \"message\": \"m\"},";
    let many = |count: usize| own("agent.bashInterceptorRules", &format!("[{}]", one.repeat(count)));
    assert!(both("", &many(100)).is_ok());
    assert!(format!("{:?}", both("", &many(101)).unwrap_err()).contains("more than 100 rules"));
}

#[test]
fn the_older_flat_names_are_read_there_too() {
    let loaded = both("", "linter: make lint\napproval: no\n").unwrap();
    assert_eq!(loaded.config.patch.linter, "make lint");
    assert_eq!(loaded.config.patch.approval_mode, ApprovalMode::Manual);
    assert_eq!(loaded.remarks.len(), 3);
}

#[test]
fn the_project_lies_over_the_user() {
    let loaded =
        both("{projectId: 'x', core: {logLevel: 'warn'}}", "core: {logLevel: debug, watchConfig: false}")
            .unwrap();
    assert_eq!(loaded.config.core.log_level, LogLevel::Warn);
    assert_eq!(loaded.without_project.core.log_level, LogLevel::Debug);
    assert!(!loaded.config.core.watch_config);
    assert_eq!(loaded.origin("core.logLevel"), Some(&ConfigOrigin::Project { line: 1 }));
    assert_eq!(loaded.origin("core.watchConfig"), Some(&ConfigOrigin::User { line: 1 }));
}

#[test]
fn a_user_who_wants_to_be_asked_is_asked() {
    let loaded = both(
        "{projectId: 'x',\npatch: {approvalMode: 'auto', linter: 'true'}}",
        "patch:\n  approvalMode: manual",
    )
    .unwrap();
    assert_eq!(loaded.config.patch.approval_mode, ApprovalMode::Manual);
    assert_eq!(loaded.origin("patch.approvalMode"), Some(&ConfigOrigin::User { line: 2 }));
    assert!(texts(&loaded)[0].starts_with("2: `patch.approvalMode` does nothing here"));
    assert_eq!(loaded.trust_request().settings, []);
    let strict =
        both("{projectId: 'x', patch: {approvalMode: 'manual'}}", "patch: {approvalMode: auto}").unwrap();
    assert_eq!(strict.config.patch.approval_mode, ApprovalMode::Manual);
}

#[test]
fn the_users_file_may_be_empty_and_must_be_sound() {
    for empty in ["# nothing\n", "\n", "patch:\n", "{}"] {
        assert_eq!(both("", empty).unwrap().config, Config::default(), "{empty}");
    }
    for (text, line, says) in [
        ("projectId: x", 1, "projectId"),
        ("patch:\n  linter: [a]\n", 2, "patch.linter"),
        ("patch:\n  linter: a\n  linter: b\n", 3, "YAML"),
        ("patch: {linter: &a x, preCommand: *a}", 1, "YAML"),
        ("core:\n  logLevel: loud\n", 2, "\"silent\""),
        ("- a\n", 1, "a list"),
        ("patch: 3\n", 1, "an object"),
        ("a: b: c", 1, "YAML"),
    ] {
        let error = both("", text).unwrap_err();
        assert!(error.what.contains(says), "{text}: {error}");
        assert!(error.file.ends_with("home/config.yml"), "{error}");
        assert_eq!(error.line, line, "{text}: {error}");
    }
    let unknown = both("", "colour: dark\npatch:\n  lintr: x\n").unwrap();
    assert!(texts(&unknown)[1].starts_with("3: `patch.lintr`"), "{:?}", unknown.remarks);
}

#[test]
fn the_users_file_may_be_a_link() {
    let place = Place::new();
    fs::write(place.temp.path().join("dotfile"), "linter: x").unwrap();
    std::os::unix::fs::symlink("../dotfile", place.home().join(USER_FILE)).unwrap();
    assert_eq!(place.load().unwrap().config.patch.linter, "x");
}

fn wants(project: &str, own: &str) -> (Vec<String>, Vec<String>) {
    let wants = both(&format!("{{projectId: 'x', patch: {{{project}}}}}"), own).unwrap().trust_request();
    let rows =
        |rows: Vec<(String, String)>| rows.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    (rows(wants.commands), rows(wants.settings))
}

#[test]
fn a_project_wants_what_it_names_and_no_more() {
    let nothing = (vec![], vec![]);
    assert_eq!(wants("linter: '', preCommand: ' \\n', approvalMode: 'auto'", ""), nothing);
    assert_eq!(wants("approvalOnErrorCount: 1000, maxFileChanges: 100", ""), nothing);
    assert_eq!(wants("", "linter: mine"), nothing);
    assert_eq!(wants("approvalMode: 'auto', approvalOnErrorCount: 0", "linter: mine"), nothing);
    let all = "linter: 'a', preCommand: 'b', postCommand: 'c', approvalMode: 'auto', approvalOnErrorCount: 2";
    let settings = vec!["patch.approvalMode=auto".to_string(), "patch.approvalOnErrorCount=2".to_string()];
    let commands = vec!["linter=a".to_string(), "preCommand=b".to_string(), "postCommand=c".to_string()];
    assert_eq!(wants(all, ""), (commands, settings));
    assert_eq!(
        wants("postCommand: 'c', approvalMode: 'manual'", ""),
        (vec!["postCommand=c".to_string()], vec![])
    );
}

#[test]
fn a_project_that_loosens_what_the_user_set_needs_trust() {
    let settings = |project: &str, own: &str| wants(project, own).1;
    let linter = "patch: {linter: mine, maxFileChanges: 5, minFileChanges: 2}";
    assert_eq!(settings("approvalOnErrorCount: 9", linter), ["patch.approvalOnErrorCount=9"]);
    assert_eq!(settings("maxFileChanges: 6", linter), ["patch.maxFileChanges=6"]);
    assert_eq!(settings("maxFileChanges: null", linter), ["patch.maxFileChanges=null"]);
    assert_eq!(settings("minFileChanges: 1", linter), ["patch.minFileChanges=1"]);
    assert_eq!(settings("minFileChanges: 3, maxFileChanges: 4", linter), [""; 0]);
}
