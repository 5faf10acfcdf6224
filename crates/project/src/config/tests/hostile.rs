//! Files that are broken, odd or meant to do harm.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

fn error(text: &str) -> ConfigError {
    json(text).unwrap_err()
}

#[test]
fn an_error_names_the_place_and_what_is_allowed() {
    let wrong = error("{\n  \"projectId\": \"x\",\n  \"patch\": {\n    \"approvalMode\": \"always\"\n  }\n}");
    assert_eq!(
        wrong.to_string(),
        "relaycode.config.json:4:21: `patch.approvalMode` is \"always\"; it must be \"auto\" or \"manual\""
    );
    assert_eq!(wrong.kind.as_str(), "configValue");
    for (text, line, column, says) in [
        ("{projectId: 'x', core: {watchConfig: 'yes'}}", 1, 38, "true or false"),
        ("{projectId: 'x',\n git: {gitBranchTemplate: 1}}", 2, 27, "\"uuid\" or \"gitCommitMsg\""),
        ("{projectId: 'x', patch: {linter: null}}", 1, 34, "command line"),
        ("{projectId: 'x', patch: {linter: ['a']}}", 1, 34, "a list"),
        ("{projectId: 'x', patch: 'a'}", 1, 25, "must be an object"),
        ("{projectId: 'x', patch: null}", 1, 25, "must be an object"),
        ("[]", 1, 1, "not an object"),
        ("{projectId: 7}", 1, 13, "visible characters"),
    ] {
        let error = error(text);
        assert_eq!((error.line, error.column), (line, column), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn an_unknown_key_does_nothing_and_is_named_with_the_one_that_was_meant() {
    let text =
        "{projectId: 'x',\n patch: {lintr: 'touch PWNED'},\n Git: {},\n 'patch.linter': 'a', trusted: true}";
    let loaded = json(text).unwrap();
    assert_eq!(loaded.config.patch.linter, "");
    let texts = texts(&loaded);
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert!(texts[0].starts_with("2:") && texts[0].ends_with("did you mean `patch.linter`?"), "{texts:?}");
    assert!(texts[1].ends_with("did you mean `git`?") && texts[2].ends_with("did you mean `patch.linter`?"));
    assert!(texts[3].ends_with("does nothing"), "{texts:?}");
}

#[test]
fn a_configuration_without_an_id_says_how_to_add_it() {
    let missing = error("{}");
    assert_eq!((missing.kind, missing.line), (ConfigErrorKind::ProjectId, 0));
    assert!(missing.to_string().contains("\"projectId\": \"my-app\""), "{missing}");
    let long = format!("{{projectId: '{}'}}", "x".repeat(101));
    for bad in ["''", "' x'", "'x '", "'a\\nb'", "'a\\u202eb'", "'a\\u200bb'", "'\\u001b[2J'", "null", "[]"] {
        assert_eq!(error(&format!("{{projectId: {bad}}}")).kind, ConfigErrorKind::ProjectId, "{bad}");
    }
    assert_eq!(error(&long).kind, ConfigErrorKind::ProjectId);
    for good in ["x", "@scope/app", "a.b", "my app", "größe", &"x".repeat(100)] {
        assert!(json(&format!("{{projectId: '{good}'}}")).is_ok(), "{good}");
    }
}

#[test]
fn a_command_shows_all_of_itself() {
    for bad in ["a\\u202eb", "a\\u0000b", "a\\u001b[2Jb", "a\\u200bb", "a\\rb"] {
        let error = error(&format!("{{projectId: 'x', patch: {{linter: '{bad}'}}}}"));
        assert!(error.what.contains("cannot be seen"), "{error}");
    }
    let long = format!("{{projectId: 'x', linter: '{}'}}", "x".repeat(9_000));
    assert!(error(&long).what.contains("script"));
    assert!(json("{projectId: 'x', linter: 'a\\n\\tb'}").is_ok());
}

#[test]
fn a_branch_begins_as_git_allows() {
    for bad in [
        "-x", "/x", "a b", "a..b", "a//b", "~", "a^", "x:", "a?", "*", "[", "a\\\\b", "@{", ".a", "a/.b",
        "x.lock/",
    ] {
        let text = format!("{{projectId: 'x', git: {{gitBranchPrefix: '{bad}'}}}}");
        assert!(error(&text).what.contains("branch"), "{bad}");
    }
    for good in ["", "relay/", "ai-", "team/x/"] {
        assert!(json(&format!("{{projectId: 'x', git: {{gitBranchPrefix: '{good}'}}}}")).is_ok(), "{good}");
    }
}

#[test]
fn a_key_that_stands_twice_is_an_error() {
    for text in
        ["{projectId: 'x', projectId: 'y'}", "{projectId: 'x', patch: {linter: 'a', \"linter\": 'a'}}"]
    {
        assert!(error(text).what.contains("twice"), "{text}");
    }
}

#[test]
fn messages_hold_nothing_that_a_terminal_obeys() {
    let evil = "\\u001b]52;c;x\\u0007\\u202e";
    let long = "y".repeat(100_000);
    let unknown = json(&format!("{{projectId: 'x', '{evil}': 1, patch: {{'{evil}{long}': 2}}}}")).unwrap();
    let wrong = error(&format!("{{projectId: 'x', core: {{logLevel: '{evil}{long}'}}}}"));
    let word = error(&format!("{{projectId: {long}}}"));
    for text in unknown.remarks.iter().map(|r| r.text.clone()).chain([wrong.to_string(), word.to_string()]) {
        assert!(text.len() < 400 && !text.chars().any(relaycode_text::escape::is_unsafe), "{text:?}");
    }
}

#[test]
fn encodings_are_told_apart() {
    let bytes = |bytes: &[u8]| {
        let place = Place::new();
        fs::write(place.root().join(PROJECT_FILES[0]), bytes).unwrap();
        place.load()
    };
    assert_eq!(bytes(b"\xef\xbb\xbf{projectId: 'x'}").unwrap().config.project_id.as_deref(), Some("x"));
    for (text, line, says) in [
        (&b"{\nprojectId: '\xff'}"[..], 2, "UTF-8"),
        (b"{\n\nprojectId: '\0'}", 3, "NUL byte"),
        (b"\xff\xfe{\0}\0", 0, "UTF-16"),
        (b"\xfe\xff\0{\0}", 0, "UTF-16"),
    ] {
        let error = bytes(text).unwrap_err();
        assert_eq!((error.kind, error.line), (ConfigErrorKind::Unreadable, line), "{error}");
        assert!(error.what.contains(says), "{error}");
    }
}

#[test]
fn what_is_no_plain_file_of_the_project_is_refused_at_once() {
    let begun = Instant::now();
    for (kind, says) in [
        ("directory", "not a regular file"),
        ("pipe", "not a regular file"),
        ("link to a pipe", "not a regular file"),
        ("link out", "a link"),
        ("link to nowhere", "a link"),
        ("link to itself", "a link"),
        ("link to a device", "a link"),
        ("large", "1048576 bytes"),
    ] {
        for owner in ["project", "home"] {
            let place = Place::new();
            let name = if owner == "home" { USER_FILE } else { PROJECT_FILES[0] };
            let folder = place.temp.path().join(owner);
            let path = folder.join(name);
            fs::write(place.temp.path().join("outside"), "{projectId: 'x'}").unwrap();
            let pipe = |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
            match kind {
                "directory" => fs::create_dir(&path).unwrap(),
                "pipe" => pipe(&path),
                "link to a pipe" => {
                    pipe(&folder.join("pipe"));
                    symlink("pipe", &path).unwrap();
                }
                "link out" if owner == "home" => continue,
                "link out" => symlink("../outside", &path).unwrap(),
                "link to nowhere" => symlink("missing", &path).unwrap(),
                "link to itself" => symlink(name, &path).unwrap(),
                "link to a device" => symlink("/dev/zero", &path).unwrap(),
                _ => fs::write(&path, vec![b' '; (1 << 20) + 1]).unwrap(),
            }
            let error = place.load().unwrap_err();
            assert_eq!((error.kind, error.line), (ConfigErrorKind::Unreadable, 0), "{kind}: {error}");
            let says =
                if owner == "home" && kind == "link to a device" { "not a regular file" } else { says };
            assert!(error.what.contains(says), "{owner}, {kind}: {error}");
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_link_within_the_project_is_followed() {
    let place = Place::new();
    fs::create_dir(place.root().join("etc")).unwrap();
    fs::write(place.root().join("etc/relay.json"), "{projectId: 'x'}").unwrap();
    symlink("etc/relay.json", place.root().join(PROJECT_FILES[0])).unwrap();
    assert_eq!(place.load().unwrap().config.project_id.as_deref(), Some("x"));
}

#[test]
fn a_file_that_would_have_to_be_run_is_refused_with_the_way_out() {
    let text = "export default {\n  projectId: 'x',\n  patch: { linter: process.env.LINTER },\n}";
    let error = Place::with("relaycode.config.ts", text, "").load().unwrap_err();
    assert_eq!((error.kind, error.line, error.column), (ConfigErrorKind::Computed, 3, 20));
    assert!(error.to_string().contains("relaycode.config.json"), "{error}");
}

#[test]
fn a_file_of_unknown_keys_is_read_in_time_and_told_of_in_short() {
    let keys: String = (0..70_000).map(|n| format!("lintr{n}:1,")).collect();
    let begun = Instant::now();
    let loaded = json(&format!("{{projectId:'x',{keys}}}")).unwrap();
    assert_eq!(loaded.remarks.len(), 21);
    assert!(texts(&loaded)[20].contains("69980 more"), "{:?}", loaded.remarks[20]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}
