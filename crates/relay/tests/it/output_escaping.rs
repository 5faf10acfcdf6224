//! P9 through the binary: hostile names, messages, configuration, commands, hooks and records, and every
//! command that tells of them, for people and for machines.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use relaycode_testkit::hostile_text;
use relaycode_text::escape::is_unsafe;

use crate::fixture::scratch_project::{Project, run, whole};

/// A bit of everything, as text and as a shell's `printf` writes it.
const HOSTILE: &str =
    "a\u{1b}]52;c;aGk=\u{7}b\u{1b}[2J\u{9b}31m\u{202e}c\u{200b}d\u{e0041}e\u{fe0f}\rf\u{7f}";
const PRINTED: &str =
    r"a\033]52;c;aGk=\007b\033[2J\302\23331m\342\200\256c\342\200\213d\363\240\201\201e\357\270\217\rf\177";

struct Scene(Project);

impl Scene {
    fn new() -> Scene {
        let project = Project::new(&[("a.txt", "one\n")]);
        let printing = format!("printf '{PRINTED}\\nsrc/{PRINTED}.ts(1,1): error TS1: {PRINTED}\\n'");
        let config = serde_json::json!({
            "projectId": "app", HOSTILE: HOSTILE,
            "patch": {"linter": format!("{printing}; true"), "preCommand": printing, "postCommand": format!("true # {HOSTILE}")},
            "git": {"gitBranchPrefix": HOSTILE},
        });
        project.put("relaycode.config.json", config.to_string().as_bytes());
        let scene = Scene(project);
        for words in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "A"],
            &["config", "user.email", "a@example.org"],
            &["add", "a.txt"],
            &["commit", "-q", "-m", "first"],
        ] {
            let mut git = Command::new("git");
            scene.0.surround(&mut git);
            assert!(git.args(words).status().unwrap().success());
        }
        let hook = scene.0.path(".git/hooks/pre-commit");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, format!("#!/bin/sh\nprintf '{PRINTED}\\n'\ntest -e well\n")).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        scene
    }

    /// Runs it, for people in colour and for machines; nothing of it may be obeyed by a terminal.
    fn says(&self, words: &[&str]) {
        for more in [&["--color", "always"][..], &["--json"]] {
            let path = std::env::var_os("PATH").unwrap();
            let words: Vec<&str> = words.iter().chain(more).copied().collect();
            let ran = run(self.0.command(&words).env("PATH", path));
            assert!(ran.code < 100, "{words:?}: {ran:?}");
            for text in [&ran.out, &ran.err] {
                let plain = without_colours(text);
                let raw = plain.chars().find(|c| is_unsafe(*c) && !matches!(c, '\n' | '\t'));
                assert_eq!(raw, None, "{words:?}: {text:?}");
            }
        }
    }
}

/// The text without the colours that relay itself uses.
fn without_colours(text: &str) -> String {
    hostile_text::RELAY_COLOURS
        .iter()
        .fold(text.to_string(), |text, paint| text.replace(&format!("\x1b{paint}"), ""))
}

fn answer(number: u32, path: &str) -> String {
    let message = serde_json::to_string(HOSTILE).unwrap();
    format!(
        "{HOSTILE}\n\n{}\n{HOSTILE}\n\n```yaml\nprojectId: app\nuuid: 5b0f4f60-1111-4222-8333-00000000000{number}\n\
         gitCommitMsg: {message}\npromptSummary: {message}\nchangeSummary: [{{modify: {message}}}]\n\
         {message}: {message}\n```\n",
        whole(path, &format!("{HOSTILE}\n{HOSTILE}\n"))
    )
}

#[test]
fn p9_no_command_lets_foreign_text_through() {
    let scene = Scene::new();
    scene.0.put("answer.md", answer(1, "a.txt").as_bytes());
    scene.0.put("odd.md", answer(2, &format!("dir/{HOSTILE}.txt")).as_bytes());
    scene.0.put("stale.md", crate::fixture::scratch_project::edit("a.txt", HOSTILE, "x").as_bytes());
    scene.0.put(&format!("{}.txt", HOSTILE.replace('/', "")), b"x\n");
    let all = "near,guarded,hidden,syntax,placeholder,mass-deletion,gate";
    for words in [
        &["config"][..],
        &["config", "check"],
        &["config", "show", "git.gitBranchPrefix"],
        &["config", "show", HOSTILE],
        &["trust"],
        &["apply", "answer.md", "-y"],
        &["trust", "-y"],
        &["prompt", "a.txt"],
        &["prompt", "."],
        &["prompt", HOSTILE],
        &["preview", "answer.md"],
        &["preview", "odd.md"],
        &["preview", "stale.md", "--repair"],
        &["preview", HOSTILE],
        &["apply", "odd.md", "-y"],
        &["apply", "stale.md", "-y"],
        &["apply", "answer.md"],
        &["apply", "answer.md", "-y"],
        &["apply", "answer.md", "-y", "--diff", "--allow", all],
        &["apply", "answer.md", "-y", "--allow", all],
        &["log"],
        &["log", "--oneline"],
        &["show", "--diff"],
        &["show", HOSTILE],
        &["why"],
        &["blame", "a.txt"],
        &["blame", "a.txt:1"],
        &["blame", HOSTILE],
        &["git", "commit", "-y"],
        &["git", "commit", "-y", "-m", HOSTILE],
        &["revert", HOSTILE],
        &["revert", "-y"],
        &["recover"],
        &["init", "--id", HOSTILE],
        &["doctor"],
        &["-C", HOSTILE, "log"],
    ] {
        scene.says(words);
    }
    scene.0.put("well", b"");
    scene.0.put("answer.md", answer(3, "a.txt").as_bytes());
    scene.says(&["apply", "answer.md", "-y", "--allow", all]);
    scene.says(&["git", "commit", "-y"]);
}

#[test]
fn p9_records_that_came_with_a_repository_are_shown_safely() {
    let scene = Scene::new();
    let id = "5b0f4f60-1111-4222-8333-000000000009";
    let text = serde_json::to_string(HOSTILE).unwrap();
    // A record of the original tool has no checksum: anybody can write one.
    let record = format!(
        "uuid: {id}\nprojectId: {text}\ncreatedAt: {text}\ngitCommitMsg: {text}\npromptSummary: {text}\n\
         reasoning: [{text}]\noperations: [{{type: write, path: {text}, content: {text}}}]\n\
         snapshot: {{{text}: {text}, a.txt: {text}}}\napproved: true\n"
    );
    scene.0.put(&format!(".relaycode/{id}.yml"), record.as_bytes());
    scene.0.put(&format!(".relaycode/{HOSTILE}.yml").replace('\r', ""), record.as_bytes());
    scene.0.put(".relaycode/5b0f4f60-1111-4222-8333-000000000008.pending.yml", record.as_bytes());
    for words in [
        &["log"][..],
        &["log", "--oneline"],
        &["show"],
        &["show", id, "--diff"],
        &["why", id],
        &["blame", "a.txt"],
        &["recover"],
        &["recover", "--keep"],
        &["revert", "-y", id],
    ] {
        scene.says(words);
    }
}
