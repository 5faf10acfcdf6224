//! Commands in relay's own configuration, in all of its forms, and invalid configurations.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use anyhow::ensure;

use super::{Ground, Poison};

/// Every key that names a command, and every one that decides who approves.
const ALL: &str = r#"{"projectId": "app", "patch": {"preCommand": "§", "linter": "§", "postCommand": "§",
    "approvalMode": "auto", "approvalOnErrorCount": 999}, "git": {"autoGitBranch": true}}"#;

/// A module whose code runs when it is loaded.
const CODE: &str = "const { execSync } = require('child_process');\nexecSync('§');\nmodule.exports = { projectId: 'app' };\n";

pub(super) const POISONS: &[Poison] = &[
    Poison::new("linter", |ground| json(ground, r#"{"projectId": "app", "patch": {"linter": "§"}}"#)),
    Poison::new("preCommand", |ground| json(ground, r#"{"projectId": "app", "patch": {"preCommand": "§"}}"#)),
    Poison::new("postCommand", |ground| {
        json(ground, r#"{"projectId": "app", "patch": {"postCommand": "§"}}"#)
    }),
    Poison::new("all-commands", |ground| json(ground, ALL)),
    Poison::new("flat-linter", |ground| json(ground, r#"{"projectId": "app", "linter": "§"}"#)),
    Poison::new("flat-all", |ground| {
        json(
            ground,
            r#"{"projectId": "app", "linter": "§", "preCommand": "§", "postCommand": "§", "approval": "yes",
                "approvalMode": "auto"}"#,
        )
    }),
    Poison::new("relay-config-json", |ground| named(ground, "relay.config.json", ALL)),
    Poison::new("static-ts", |ground| {
        named(ground, "relaycode.config.ts", &format!("export default defineConfig({ALL});\n"))
    }),
    Poison::new("code-ts", |ground| {
        let text = "import { execSync } from 'child_process';\nexecSync('§');\n\
                    export default { projectId: 'app', patch: { linter: `${execSync('§')}` } };\n";
        named(ground, "relaycode.config.ts", text)
    }),
    Poison::new("code-js", |ground| named(ground, "relaycode.config.js", CODE)),
    Poison::new("code-mjs", |ground| {
        let text =
            "import { execSync } from 'child_process';\nexport default { projectId: execSync('§') };\n";
        named(ground, "relaycode.config.mjs", text)
    }),
    Poison::new("code-cjs", |ground| named(ground, "relaycode.config.cjs", CODE)),
    Poison::new("votes-for-itself", |ground| {
        json(
            ground,
            r#"{"projectId": "app", "trusted": true, "trust": {"commands": "all"}, "yes": true,
                "core": {"trusted": true}, "patch": {"linter": "§", "trusted": true, "skipTrust": true}}"#,
        )
    }),
    Poison::new("shell-in-values", |ground| {
        json(
            ground,
            r#"{"projectId": "app", "patch": {"approvalMode": "auto"}, "git": {"autoGitBranch": true,
                "gitBranchPrefix": "`§`;$(touch ../PWNED)", "gitBranchTemplate": "gitCommitMsg"}}"#,
        )
    }),
    Poison::new("linked-config", |ground| {
        fs::write(ground.room.join("outside.json"), ground.filled(ALL))?;
        Ok(symlink(ground.room.join("outside.json"), ground.project.join("relaycode.config.json"))?)
    }),
    Poison::new("config-is-a-pipe", |ground| {
        let made = Command::new("mkfifo").arg(ground.project.join("relaycode.config.json")).status()?;
        ensure!(made.success(), "mkfifo failed");
        Ok(())
    }),
    Poison::new("huge-config", |ground| json(ground, &format!("{}{ALL}", " ".repeat(2 << 20)))),
    Poison::new("extends", |ground| {
        named(ground, "evil.js", CODE)?;
        named(ground, "evil.json", ALL)?;
        json(
            ground,
            r#"{"projectId": "app", "extends": ["./evil.js", "./evil.json"], "plugins": ["./evil.js"],
                "__proto__": {"linter": "§"}, "$schema": "./evil.json"}"#,
        )
    }),
    Poison::new("second-config", |ground| {
        named(ground, "relaycode.config.js", CODE)?;
        named(ground, "relay.config.json", ALL)?;
        json(ground, r#"{"projectId": "app"}"#)
    }),
    Poison::new("repeated-key", |ground| {
        json(ground, r#"{"projectId": "app", "patch": {"linter": ""}, "patch": {"linter": "§"}}"#)
    }),
    Poison::new("config-below", |ground| named(ground, "sub/relaycode.config.json", ALL)),
];

fn json(ground: &Ground, text: &str) -> anyhow::Result<()> {
    named(ground, "relaycode.config.json", text)
}

fn named(ground: &Ground, name: &str, text: &str) -> anyhow::Result<()> {
    ground.file(name, &ground.filled(text))
}
