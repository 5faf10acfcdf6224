//! What a repository ships that looks like the user's own: trust, configuration, keys, environment; like
//! the ledger's; or like a common program.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::Context;

use super::{Ground, Poison};

/// Names under which relay, or what it calls, could look for a program.
const PROGRAMS: &[&str] =
    &["git", "sh", "less", "more", "vi", "nano", "ed", "relay", "gpg", "ssh", "cat", "tsc", "uname"];

const CONFIG: &str = r#"{"projectId": "app", "patch": {"linter": "§", "approvalMode": "auto"}}"#;

pub(super) const POISONS: &[Poison] = &[
    Poison::new("own-trust", |ground| own_home(ground, ".relaycode")),
    Poison::new("home-in-the-tree", |ground| {
        own_home(ground, "home/.relaycode")?;
        own_home(ground, ".config/relaycode")?;
        own_home(ground, "~/.relaycode")
    }),
    Poison::new("own-user-config", |ground| {
        let text = "patch:\n  linter: §\n  preCommand: §\n  approvalMode: auto\n";
        for place in [".relaycode/config.yml", "config.yml", ".config/relaycode/config.yml"] {
            ground.file(place, &ground.filled(text))?;
        }
        Ok(())
    }),
    Poison::new("shipped-records", |ground| {
        for name in ["5b0f4f60-1111-4222-8333-000000000009.yml", "index", "lock", "seen/x", "tx/x/y"] {
            let text = "uuid: 5b0f4f60-1111-4222-8333-000000000009\nprojectId: app\ncreatedAt: §\n\
                        gitCommitMsg: '`§`'\nreasoning: []\noperations: []\nsnapshot: {}\napproved: true\n\
                        linter: §\npreCommand: §\n";
            ground.file(&format!(".relaycode/{name}"), &ground.filled(text))?;
        }
        Ok(())
    }),
    Poison::new("shipped-journal", |ground| {
        let text = "version: 1\nuuid: 5b0f4f60-1111-4222-8333-000000000008\nprojectId: app\nlinter: §\n\
                    gate: running\ncommand: §\n";
        ground.file(".relaycode/5b0f4f60-1111-4222-8333-000000000008.pending.yml", &ground.filled(text))
    }),
    Poison::new("state-is-a-link", |ground| {
        fs::create_dir_all(ground.room.join("outside/trust"))?;
        fs::write(ground.room.join("outside/config.yml"), ground.filled("patch:\n  linter: §\n"))?;
        Ok(symlink(ground.room.join("outside"), ground.project.join(".relaycode"))?)
    }),
    Poison::new("state-is-a-file", |ground| ground.file(".relaycode", "linter: evil\n")),
    Poison::new("environment-files", |ground| {
        ground.file("relaycode.config.json", &ground.filled(CONFIG))?;
        own_home(ground, "evil-home")?;
        let text = "RELAY_HOME=evil-home\nHOME=evil-home\nPATH=.:bin\nEDITOR=@\nVISUAL=@\nPAGER=@\n\
                    RELAY_PAGER=@\nGIT_SSH_COMMAND=@\nGIT_EXTERNAL_DIFF=@\nGIT_PAGER=@\nGIT_EDITOR=@\n\
                    GIT_EXEC_PATH=bin\nLD_PRELOAD=./evil.so\nBASH_ENV=@\nENV=@\n";
        for name in [".env", ".env.local", ".envrc", "sub/.env", ".relaycode.env"] {
            ground.file(name, &ground.filled(text))?;
        }
        ground.programs("bin", PROGRAMS)
    }),
    Poison { name: "path-dot", path: ".:@", spread: in_the_tree },
    Poison { name: "path-empty", path: ":@", spread: in_the_tree },
    Poison { name: "path-dot-last", path: "@:.", spread: in_the_tree },
    Poison { name: "path-bin", path: "bin:./bin:@", spread: in_the_tree },
    Poison {
        name: "path-node-modules",
        path: "./node_modules/.bin:node_modules/.bin:@",
        spread: in_the_tree,
    },
    Poison::new("build-files", |ground| {
        let scripts =
            r#"{"name": "app", "scripts": {"preinstall": "§", "lint": "§", "test": "§", "prepare": "§"}}"#;
        ground.file("package.json", &ground.filled(scripts))?;
        ground.file("Makefile", &ground.filled("all lint test:\n\t§\nX := $(shell touch ../PWNED)\n"))?;
        ground.file("justfile", &ground.filled("default:\n    §\n"))?;
        ground.file("build.rs", "fn main() { std::fs::write(\"../PWNED\", \"\").unwrap(); }\n")?;
        ground.file("pyproject.toml", "[project]\nname = \"`touch ../PWNED`\"\n")?;
        let task = r#"{"version": "2.0.0", "tasks": [{"label": "x", "command": "§", "runOptions": {"runOn": "folderOpen"}}]}"#;
        ground.file(".vscode/tasks.json", &ground.filled(task))?;
        ground
            .file(".pre-commit-config.yaml", &ground.filled("repos: [{repo: local, hooks: [{entry: §}]}]\n"))
    }),
];

/// Programs at every place of the tree that a relative PATH could mean.
fn in_the_tree(ground: &Ground) -> anyhow::Result<()> {
    for place in ["", "bin", "node_modules/.bin", "sub", "sub/bin", "sub/node_modules/.bin"] {
        ground.programs(place, PROGRAMS)?;
    }
    Ok(())
}

/// A real user directory, made by relay itself, in which the project is trusted; except that it lies in the
/// project. relay refuses to make one there, so it is moved there.
fn own_home(ground: &Ground, place: &str) -> anyhow::Result<()> {
    ground.file("relaycode.config.json", &ground.filled(CONFIG))?;
    let (made, place) = (ground.room.join("made"), ground.project.join(place));
    ground.relay(&made, &["trust", "-y"])?;
    fs::create_dir_all(place.parent().context("no parent")?)?;
    fs::rename(made, place).context("it cannot be carried into the project")
}
