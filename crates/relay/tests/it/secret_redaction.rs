//! P12: secrets that an answer, a command or a hook lets slip are in no record, journal, index or copy, and not
//! in what relay tells of the commands. What stands in the files themselves is kept: undoing needs it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::fixture::scratch_project::{Project, run};

/// Secrets by the way they look: what is printed, and the part of it that nobody may read again.
fn shapes() -> Vec<(&'static str, String, String)> {
    let body = "q7RtZ4mW9kXc2VbN8sLp3HdF6gJy1TaE";
    let plain = |name, text: &str, secret: &str| (name, text.to_string(), secret.to_string());
    let key = |name, start: &str| (name, format!("{start}{body}"), body.to_string());
    let pem = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}{body}\n{body}\n-----END RSA PRIVATE KEY-----");
    vec![
        key("anthropic", "sk-ant-api03-"),
        key("openai", "sk-proj-"),
        key("github", "ghp_"),
        key("github, fine-grained", "github_pat_"),
        key("gitlab", "glpat-"),
        key("slack", "xoxb-123456789012-"),
        plain("aws id", "AKIAIOSFODNN7EXAMPLQ", "IOSFODNN7EXAMPLQ"),
        plain("google", "AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"),
        plain("jwt", &format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{body}"), body),
        plain("setting", &format!("password = \"{body}\""), body),
        plain("header", &format!("Authorization: Bearer {body}"), body),
        plain("url", &format!("postgres://user:{body}@host/db"), body),
        plain("environment", &format!("export DB_PASSWORD={body}"), body),
        ("private key", pem, body.to_string()),
    ]
}

struct Scene {
    project: Project,
    secret: String,
}

impl Scene {
    /// A repository with commands and a hook that print the secret, all of it trusted.
    fn new(text: &str, secret: &str, fails: bool) -> Scene {
        let project = Project::new(&[("a.txt", "one\n"), (".gitignore", ".secret\nrelaycode.config.json\n")]);
        project.put(".secret", format!("{text}\n").as_bytes());
        let more = "echo 'src/a.ts(3,7): error TS2322:' $(cat .secret)";
        let late = "grep -q two a.txt && echo 'src/b.ts(1,1): error TS1005:' $(cat .secret); true";
        let late = if fails { late } else { "true" };
        let linter = format!("cat .secret; echo; {more}; {late}");
        let config = serde_json::json!({"projectId": "app", "patch": {
            "preCommand": "cat .secret; cat .secret >&2", "linter": linter, "postCommand": "cat .secret; echo x",
        }});
        project.put("relaycode.config.json", config.to_string().as_bytes());
        let scene = Scene { project, secret: secret.to_string() };
        scene.git(&["init", "-q", "-b", "main"]);
        scene.git(&["config", "user.name", "A"]);
        scene.git(&["config", "user.email", "a@example.org"]);
        scene.git(&["add", "."]);
        scene.git(&["commit", "-q", "-m", "first"]);
        let hook = scene.project.path(".git/hooks/pre-commit");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, "#!/bin/sh\ncat .secret >&2\necho\ntest ! -e refuse\n").unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        scene.relay(&["trust", "-y"], 0);
        scene
    }

    fn git(&self, words: &[&str]) {
        let mut command = Command::new("git");
        self.project.surround(&mut command);
        let done = command.args(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn answer(&self, text: &str, number: u32) {
        let quoted = serde_json::to_string(text).unwrap();
        let answer = format!(
            "I saw {text}\n\nand more of it:\n\n{text}\n\n```txt // a.txt\ntwo\n```\n\nAfterwards: {text}\n\n\
             ```yaml\nprojectId: app\nuuid: 5b0f4f60-1111-4222-8333-00000000000{number}\n\
             gitCommitMsg: {quoted}\npromptSummary: {quoted}\nchangeSummary: [{{modify: {quoted}}}]\n```\n"
        );
        self.project.put("answer.md", answer.as_bytes());
    }

    /// relay, which must end with this code, and whose words must not hold the secret.
    fn relay(&self, words: &[&str], code: i32) {
        let path = std::env::var_os("PATH").unwrap();
        let ran = run(self.project.command(words).env("PATH", path));
        let said = format!("{}{}", ran.out, ran.err);
        assert!(!said.contains(&self.secret), "{words:?} says it:\n{said}");
        assert_eq!(ran.code, code, "{words:?} with {}: {said}", self.secret);
    }

    /// Nothing that relay keeps holds the secret.
    fn nothing_kept(&self, when: &str) {
        for directory in [self.project.path(".relaycode"), self.project.home().to_path_buf()] {
            search(&directory, self.secret.as_bytes(), when);
        }
    }
}

fn search(directory: &Path, secret: &[u8], when: &str) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(&path, secret, when);
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let found = bytes.windows(secret.len()).any(|window| window == secret);
        assert!(!found, "{when}: {} holds it:\n{}", path.display(), String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn p12_no_shape_of_secret_is_kept_or_told() {
    for (name, text, secret) in shapes() {
        let scene = Scene::new(&text, &secret, false);
        scene.answer(&text, 1);
        // The card of the plan shows the answer's own title; everything after it is told by relay.
        let ran = scene.project.relay(&["apply", "answer.md", "-y", "--allow", "gate", "--json", "-q"]);
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.out, ran.err);
        let gate = ran.json()["gate"].to_string();
        assert!(!gate.contains(&secret) && gate.contains("[redacted]"), "{name}: {gate}");
        scene.nothing_kept(name);
        for words in [
            &["log"][..],
            &["log", "--json"],
            &["show"],
            &["show", "--json"],
            &["why"],
            &["why", "--json"],
            &["blame", "a.txt"],
            &["blame", "a.txt:1", "--json"],
            &["git", "commit", "-y"],
        ] {
            scene.relay(words, 0);
        }
        scene.relay(&["revert", "-y"], 0);
        scene.nothing_kept(name);
    }
}

#[test]
fn p12_a_gate_and_a_hook_that_fail_do_not_tell_it_either() {
    for (name, text, secret) in shapes() {
        let scene = Scene::new(&text, &secret, true);
        scene.answer("nothing", 2);
        for words in [
            &["apply", "answer.md", "-y", "--allow", "guarded"][..],
            &["apply", "answer.md", "-y", "--allow", "guarded", "--json"],
        ] {
            scene.relay(words, 5);
        }
        scene.relay(&["apply", "answer.md", "-y", "--allow", "gate,guarded"], 0);
        scene.project.put("refuse", b"");
        for words in [&["git", "commit", "-y"][..], &["git", "commit", "-y", "--json"]] {
            scene.relay(words, 5);
        }
        scene.nothing_kept(name);
    }
}

#[test]
fn p12_a_secret_at_the_edge_of_what_is_kept_of_an_output_is_not_kept_in_part() {
    // The end of the output begins in the middle of the secret, wherever that end begins.
    for before in [0, 8_000, 8_150, 8_180, 8_192, 8_200, 72 << 10, 80 << 10, 81_900] {
        let secret = "q7RtZ4mW9kXc2VbN8sLp3HdF6gJy1TaE".repeat(3);
        let project = Project::new(&[("a.txt", "one\n")]);
        project.put("out.txt", format!("ghp_{secret}\n{}\n", "x ".repeat(before / 2)).as_bytes());
        project.put(
            "relaycode.config.json",
            br#"{"projectId": "app", "patch": {"postCommand": "cat out.txt; false"}}"#,
        );
        assert_eq!(project.relay(&["trust", "-y"]).code, 0);
        project.put("answer.md", b"```txt // a.txt\ntwo\n```\n");
        let ran = project.relay(&["apply", "answer.md", "-y", "--allow", "guarded", "--json"]);
        assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
        assert!(!ran.out.contains(&secret[secret.len() - 12..]), "{before}: {}", ran.out);
        let output = ran.json()["gate"]["steps"][0]["output"].as_str().unwrap().to_string();
        assert!(!output.is_empty() && output.len() <= 8 << 10, "{before}: {}", output.len());
    }
}

#[test]
fn p12_the_operations_of_a_record_are_blacked_out_and_the_file_is_not() {
    for (name, text, secret) in shapes() {
        let project = Project::new(&[("a.txt", "one\n")]);
        project.put("answer.md", format!("```txt // a.txt\n{text}\n```\n").as_bytes());
        let ran = project.relay(&["apply", "answer.md", "-y", "--allow", "hidden"]);
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.out, ran.err);
        assert!(project.text("a.txt").contains(&secret), "{name}");
        let shown = project.relay(&["show", "--json"]).json();
        let operations = shown["records"][0]["operations"].to_string();
        assert!(!operations.contains(&secret), "{name}: {operations}");
        assert_eq!(project.relay(&["revert", "-y"]).code, 0, "{name}");
        assert_eq!(project.text("a.txt"), "one\n");
    }
}

/// The key of a project's checkout, as its prompt has it.
fn checkout_key(project: &Project) -> String {
    let named = project.relay(&["prompt", "--json", "-q"]).json();
    named["projectId"].as_str().unwrap().rsplit_once('.').unwrap().1.to_string()
}

#[test]
fn p12_the_key_of_a_checkout_is_in_nothing_that_an_answer_leaves_behind() {
    let scene = Scene::new("nothing", "nothing-of-this-kind", false);
    let key = checkout_key(&scene.project);
    let scene = Scene { secret: key.clone(), ..scene };
    let answer = format!(
        "My key is app.{key}.\n\n```txt // a.txt\ntwo\n```\n\n```sh\necho {key}\n```\n\n```yaml\nprojectId: app.{key}\n\
         uuid: 5b0f4f60-1111-4222-8333-000000000009\ngitCommitMsg: 'fix for {key}'\npromptSummary: 'with {key}'\n\
         changeSummary: [{{modify: 'a.txt {key}'}}]\n```\n"
    );
    scene.project.put("answer.md", answer.as_bytes());
    scene.relay(&["preview", "answer.md"], 0);
    scene.relay(&["preview", "answer.md", "--json"], 0);
    scene.relay(&["apply", "answer.md", "-y", "--allow", "gate", "--json"], 0);
    search(&scene.project.path(".relaycode"), key.as_bytes(), "applied");
    for words in [&["log", "--json"][..], &["show"], &["show", "--json"], &["why"], &["git", "commit", "-y"]]
    {
        scene.relay(words, 0);
    }
    let mut log = Command::new("git");
    scene.project.surround(&mut log);
    let message = String::from_utf8(log.args(["log", "-1", "--format=%B"]).output().unwrap().stdout).unwrap();
    assert!(message.starts_with("fix for [redacted]"), "{message}");
    // An edit that does not fit is quoted to the user and to the model.
    let wrong =
        format!("```txt // a.txt\n<<<<<<< SEARCH\nno {key}\n=======\nyes {key}\n>>>>>>> REPLACE\n```\n");
    scene.project.put("answer.md", wrong.as_bytes());
    scene.relay(&["preview", "answer.md"], 3);
    scene.relay(&["preview", "answer.md", "--repair"], 3);
    scene.relay(&["apply", "answer.md", "--json"], 3);
}

#[test]
fn p12_a_change_that_would_write_the_key_of_the_checkout_into_a_file_asks() {
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    project.put(
        "relaycode.config.json",
        br#"{"projectId": "app", "patch": {"linter": "true", "approvalMode": "auto"}}"#,
    );
    assert_eq!(project.relay(&["trust", "-y"]).code, 0);
    let key = checkout_key(&project);
    let answer = format!("```txt // a.txt\none\napp.{key}\n```\n\n```yaml\nprojectId: app.{key}\n```\n");
    let ran = project.pipe(&["apply", "-", "--json"], answer.as_bytes());
    assert_eq!(ran.code, 13, "{ran:?}");
    let rules = ran.json()["rules"].clone();
    assert_eq!(
        (&rules[0]["kind"], &rules[0]["path"], &rules[0]["line"]),
        (&"key".into(), &"a.txt".into(), &2.into()),
        "{rules}"
    );
    assert!(!ran.out.contains(&key), "{}", ran.out);
    assert_eq!(project.pipe(&["apply", "-", "--allow", "key"], answer.as_bytes()).code, 0);
    // What was there before asks no more.
    let answer = format!("```txt // a.txt\nmore\napp.{key}\n```\n\n```yaml\nprojectId: app.{key}\n```\n");
    assert_eq!(project.pipe(&["apply", "-"], answer.as_bytes()).code, 0);
}
