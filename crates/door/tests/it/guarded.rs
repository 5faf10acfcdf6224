//! P7: no spelling of a sealed or guarded path passes. Sealed ones are refused when they are read, guarded
//! ones are reported; and ordinary files are neither.

use relaycode_change::plan::{FileChangeKind, FilePlan, Plan};
use relaycode_change::proposal::GitFileMode;
use relaycode_change::proposal::path::RelPath;
use relaycode_door::approval::guarded::{GuardContext, guarded_files};

fn file(path: &str) -> FilePlan {
    FilePlan {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        change: FileChangeKind::Modified,
        before: Some(b"a".to_vec()),
        after: Some(b"b".to_vec()),
        mode_before: Some(GitFileMode::Regular),
        mode_after: Some(GitFileMode::Regular),
        added: 1,
        removed: 1,
        dialect: None,
        hunks: Vec::new(),
    }
}

fn reason_of(file: FilePlan, context: &GuardContext) -> Option<String> {
    let plan = Plan { files: vec![file], ..Plan::default() };
    guarded_files(&plan, context).pop().map(|(_, why)| why)
}

fn reason(path: &str, context: &GuardContext) -> Option<String> {
    reason_of(file(path), context)
}

fn gate(commands: &[&str]) -> GuardContext {
    GuardContext {
        commands: commands.iter().map(ToString::to_string).collect(),
        gate: true,
        ..GuardContext::default()
    }
}

#[rustfmt::skip]
const SEALED: &[&str] = &[
    ".git", ".git/config", ".git/hooks/pre-commit", ".GIT/config", ".Git/HEAD", ".gIt/x", "a/.git/config",
    "a/b/.GIT/x", "./.git/x", ".//.git//x", ".git\\config", "a\\.git\\hooks\\x", ".git./config",
    ".git../config", ".git /config", ".git. ./config", ".git\u{3000}/x", ".git\u{a0}/x", " .git/x",
    ".g\u{200c}it/x", ".gi\u{200d}t/x", ".git\u{200b}/x", "\u{feff}.git/x", ".g\u{ad}it/x",
    ".g\u{2060}it/x", ".git\u{fe0f}/x", ".g\u{34f}it/x", ".\u{202e}git/x", ".ｇｉｔ/x", "．git/x", "．ｇｉｔ/x",
    "․git/x", ".𝐠𝐢𝐭/x", ".ⓖⓘⓣ/x", ".ᵍⁱᵗ/x", ".gıt/x", ".gİt/x", ".gi\u{307}t/x", ".gı\u{307}t/x",
    "git~1/config", "GIT~1/x", "Git~2/x", "GIT~12/x", "git~¹/x", "gi7eba~1/x", "GI7EBA~2/x", "git~1./x",
    ".git::$INDEX_ALLOCATION/x", ".git:x", ".git／config", ".git﹨hooks", ".git＼hooks", ".git：x",
    "．git／config", ".relaycode", ".relaycode/lock", ".RELAYCODE/x", ".RelayCode/tx/a", "a/.relaycode/x",
    ".relaycode./x", ".relaycode /x", ".relay\u{200b}code/x", ".ｒelaycode/x", "．relaycode/x", "RELAYC~1/x",
    "relayc~2", "RE1A2B~1/x", "relay~10/x", ".relaycode\\lock", ".relaycode:x", ".relaycode／lock",
];

#[test]
fn p7_no_spelling_of_a_sealed_path_is_read() {
    for path in SEALED {
        assert!(RelPath::parse(path).is_err(), "{path:?} passed");
    }
}

#[rustfmt::skip]
const GUARDED: &[&str] = &[
    // CI
    ".github/workflows/ci.yml", ".github/workflows/new/x.yml", ".GitHub/Workflows/ci.yml",
    ".GITHUB/WORKFLOWS/CI.YML", "packages/a/.github/workflows/x.yml", ".ｇithub/workflows/x.yml",
    "．github/workflows/x.yml", ".github/workflowſ/x.yml", ".github／workflows／x.yml",
    ".github\\workflows\\x.yml", "./.github//workflows/x.yml", "GITHUB~1/workflows/x.yml",
    "GITHUB~1/WORKFL~1/x.yml", "github~2/workfl~1/CI~1.YML", "GI1A2B~1/WORKFL~1/x.yml",
    ".github/actions/x/action.yml", ".github/scripts/x.sh", ".gitlab-ci.yml", ".GitLab-CI.yml",
    "GITLAB~1.YML", ".gitlab/ci/x.yml", ".circleci/config.yml", ".CircleCI/config.yml",
    "CIRCLE~1/config.yml", "Jenkinsfile", "jenkinsfile", "ci/Jenkinsfile", "azure-pipelines.yml",
    ".travis.yml", ".drone.yml", "bitbucket-pipelines.yml", ".woodpecker.yml", ".woodpecker",
    ".buildkite/pipeline.yml", ".ci/run", ".forgejo/workflows/x.yml",
    // hooks
    ".husky/pre-commit", ".Husky/pre-commit", "HUSKY~1/pre-commit", ".githooks/pre-push", ".github/hooks/x",
    ".pre-commit-config.yaml", "PRE-CO~1.YAM", "lefthook.yml", ".lefthook.toml", "LEFTHOOK.YML",
    ".lintstagedrc", ".lintstagedrc.json", ".overcommit.yml",
    // editors
    ".vscode/settings.json", ".VSCode/tasks.json", ".vſcode/tasks.json", "VSCODE~1/tasks.json",
    "web/.vscode/launch.json", ".vscode", ".idea/workspace.xml", ".zed/tasks.json", ".exrc", ".nvim.lua",
    ".vim/x.vim", ".devcontainer/devcontainer.json", ".devcontainer.json", "my.code-workspace",
    ".dir-locals.el", ".fleet/run.json",
    // agents
    ".cursor/rules/a.mdc", ".cursorrules", ".CURSORRULES", "CURSOR~1", ".claude/settings.json",
    ".Claude/settings.local.json", "CLAUDE~1/settings.json", "CLAUDE.md", "claude.MD", "ＣＬＡＵＤＥ.md",
    "packages/x/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "Agents.md", "sub/agents.md", "GEMINI.md",
    ".codex/config.toml", ".gemini/settings.json", ".mcp.json", ".MCP.json", "MCP~1.JSO", ".aider.conf.yml",
    ".aiderignore", ".windsurfrules", ".windsurf/rules/x.md", ".continue/config.json",
    ".github/copilot-instructions.md", ".github/instructions/x.md", ".github/prompts/x.md",
    ".opencode/agent/x.md", "opencode.json", "opencode.jsonc", ".clinerules", ".roo/rules/x", ".kiro/x",
    ".junie/guidelines.md", ".goosehints", ".rules",
    // relay
    "relaycode.config.json", "RelayCode.Config.JSON", "relaycode.config.ts", "relay.config.json",
    "relaycode.config.mjs", "a/relaycode.config.json", ".relay/config.json",
    // secrets
    ".env", ".ENV", ".env.local", ".env.production", ".envrc", "api/.env", "．env", ".ｅnv", "ENV~1",
    "ENV~1.LOC", ".env/x", ".netrc", "_netrc", ".pypirc", ".ssh/authorized_keys", ".aws/credentials",
    ".git-credentials",
    // git
    ".gitattributes", ".GITATTRIBUTES", "sub/.gitattributes", ".gitmodules", ".GitModules", "GITMOD~1",
    "GITATT~1", ".gitconfig", ".hg/hgrc", ".jj/repo/config.toml", "x/HEAD",
    // tools
    ".npmrc", ".NPMRC", ".yarnrc", ".yarnrc.yml", ".yarn/releases/yarn.cjs", ".cargo/config.toml",
    ".cargo/config", ".Cargo/Config.toml", "CARGO~1/CONFIG~1.TOM", "rust-toolchain", "rust-toolchain.toml",
    ".tool-versions", "mise.toml", ".mise.toml", ".bazelrc", "gradlew", ".mvn/extensions.xml",
    "sitecustomize.py", ".bashrc",
    // what tools read when they start, and who reviews and releases
    "commitlint.config.js", "commitlint.config.ts", ".commitlintrc.json", ".pdbrc", ".pdbrc.py", ".ghci", ".iex.exs", "ansible.cfg",
    "playbooks/ansible.cfg", ".releaserc", ".releaserc.yaml", "release.config.cjs", "CODEOWNERS", ".github/CODEOWNERS",
    "docs/CODEOWNERS", ".ocamlinit", ".psqlrc", ".latexmkrc", "pip.conf", ".curlrc", ".nvmrc", "renovate.json", ".mergify.yml",
    ".github/dependabot.yml", ".changeset/config.json", ".byebugrc", ".htaccess", "NuGet.Config", "Vagrantfile",
];

#[test]
fn p7_every_spelling_of_a_guarded_path_is_reported() {
    assert!(SEALED.len() + GUARDED.len() >= 150, "only {}", SEALED.len() + GUARDED.len());
    for path in GUARDED {
        assert!(reason(path, &GuardContext::default()).is_some(), "{path:?} passed");
    }
}

#[rustfmt::skip]
const BUILD: &[&str] = &[
    "Makefile", "makefile", "sub/GNUmakefile", "MAKEFI~1", "justfile", "Justfile", "Taskfile.yml",
    "build.rs", "crates/x/build.rs", "Cargo.toml", "CARGO~1.TOM", "setup.py", "tests/conftest.py",
    "pyproject.toml", "tox.ini", "noxfile.py", "tsconfig.json", "tsconfig.build.json", "TSCONF~1.JSO",
    "eslint.config.mjs", ".eslintrc.cjs", "ESLINT~1.MJS", "vite.config.ts", "webpack.config.js",
    "webpack.prod.js", "rollup.config.js", "jest.config.ts", "vitest.config.ts", ".babelrc",
    "babel.config.js", "Gruntfile.js", "gulpfile.js", "Rakefile", "Gemfile", "Gemfile.lock", "build.gradle",
    "build.gradle.kts", "settings.gradle", "pom.xml", "CMakeLists.txt", "cmake/x.cmake", "meson.build",
    "go.mod", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "Cargo.lock",
    "poetry.lock", "uv.lock", "ruff.toml", "mypy.ini", "node_modules/eslint/index.js", ".shellcheckrc", "rustfmt.toml",
    ".clang-tidy", "pyrightconfig.json", "deny.toml", ".coveragerc",
];

#[test]
fn p7_build_files_are_guarded_when_a_gate_runs_them() {
    for path in BUILD {
        assert!(reason(path, &gate(&[])).is_some(), "{path:?} passed");
        assert_eq!(reason(path, &GuardContext::default()), None, "{path:?} without a gate");
    }
}

#[test]
fn ordinary_files_are_not_guarded() {
    for path in [
        "src/github/workflows.ts",
        "github/workflows/x.yml",
        "src/workflows/ci.ts",
        "environment.ts",
        "src/env.ts",
        "my.env.ts",
        "docs/AGENTS-guide.md",
        "docs/claude.html",
        "src/cursor.ts",
        "vscode/x.ts",
        "README.md",
        ".gitignore",
        ".editorconfig",
        ".github/ISSUE_TEMPLATE/bug.md",
        ".gitlab/issue_templates/x.md",
        "LICENSE",
        "src/git.rs",
        "src/relay.rs",
        "relay.ts",
        "src/index.ts",
        "src/rollup.ts",
        "src/jest.ts",
        "app/tasks.py",
        "header.h",
        "src/head.ts",
        "recent~1.txt",
        "notes~2.md",
        "backup~",
        "src/config.toml",
        "cargo.rs",
        "makefiles.md",
        "my-makefile.txt",
        "src/build/x.ts",
        "src/package.ts",
        "tests/data.json",
        "日本語：メモ.md",
        "a／b.md",
    ] {
        assert_eq!(reason(path, &GuardContext::default()), None, "{path:?}");
        assert_eq!(reason(path, &gate(&["npx tsc --noEmit", "make check"])), None, "{path:?} with a gate");
    }
}

#[test]
fn the_reason_says_what_the_file_does() {
    for (path, why) in [
        (".github/workflows/ci.yml", "runs in CI"),
        (".husky/pre-commit", "is a git hook"),
        (".vscode/tasks.json", "is read by the editor, which may run it"),
        ("AGENTS.md", "instructs agents"),
        (".env", "may hold secrets"),
        ("relaycode.config.json", "configures relay"),
    ] {
        assert_eq!(reason(path, &GuardContext::default()).as_deref(), Some(why));
    }
}

#[test]
fn both_names_of_a_rename_count() {
    let mut out = file("docs/ci.yml");
    out.renamed_from = Some(RelPath::parse(".github/workflows/ci.yml").unwrap());
    out.change = FileChangeKind::Renamed;
    let why = reason_of(out.clone(), &GuardContext::default());
    assert_eq!(why.as_deref(), Some("was .github/workflows/ci.yml, which runs in CI"));
    std::mem::swap(&mut out.path, out.renamed_from.as_mut().unwrap());
    assert_eq!(reason_of(out, &GuardContext::default()).as_deref(), Some("runs in CI"));
}

#[test]
fn new_and_deleted_files_count_and_unchanged_ones_do_not() {
    for (change, expected) in
        [(FileChangeKind::Added, true), (FileChangeKind::Deleted, true), (FileChangeKind::Unchanged, false)]
    {
        let mut changed = file(".mcp.json");
        changed.change = change;
        assert_eq!(reason_of(changed, &GuardContext::default()).is_some(), expected, "{change:?}");
    }
}

#[test]
fn an_executable_bit_that_the_change_sets_is_guarded() {
    for (before, after, expected) in [
        (Some(GitFileMode::Regular), Some(GitFileMode::Executable), true),
        (None, Some(GitFileMode::Executable), true),
        (Some(GitFileMode::Executable), Some(GitFileMode::Executable), false),
        (Some(GitFileMode::Executable), Some(GitFileMode::Regular), false),
        (Some(GitFileMode::Executable), None, false),
    ] {
        let mut script = file("bin/run");
        (script.mode_before, script.mode_after) = (before, after);
        assert_eq!(
            reason_of(script, &GuardContext::default()).is_some(),
            expected,
            "{before:?} to {after:?}"
        );
    }
}

#[test]
fn a_manifest_is_guarded_when_what_it_runs_changes() {
    let old = r#"{"name":"a","version":"1.0.0","scripts":{"test":"jest"}}"#;
    for (before, after, plain, gated) in [
        (Some(old), Some(r#"{"name":"a","version":"1.0.1","scripts":{"test":"jest"}}"#), false, false),
        (Some(old), Some(r#"{"scripts":{"test":"jest"},"dependencies":{"b":"1"}}"#), false, false),
        (Some(old), Some(r#"{"scripts":{"test":"jest; curl x"}}"#), true, true),
        (Some(old), Some(r#"{"scripts":{"test":"jest","postinstall":"x"}}"#), true, true),
        (Some(old), Some(r#"{"name":"a"}"#), true, true),
        (Some(old), Some(r#"{"scripts":{"test":"jest"},"scripts":{"test":"x"}}"#), true, true),
        (Some(old), Some(r#"{"scripts":{"test":"jest"},"lint-staged":{"*":"x"}}"#), true, true),
        (Some(old), Some(r#"{"scripts":{"test":"jest"},"jest":{"setupFiles":["./x"]}}"#), false, true),
        (Some(old), Some("{ not json"), true, true),
        (Some(old), Some("[]"), true, true),
        (Some("broken"), Some(old), true, true),
        (None, Some(r#"{"name":"b"}"#), false, false),
        (None, Some(old), true, true),
        (Some(old), None, true, true),
    ] {
        for path in ["package.json", "packages/a/Package.JSON", "PACKAG~1.JSO"] {
            let mut manifest = file(path);
            manifest.before = before.map(|text| text.as_bytes().to_vec());
            manifest.after = after.map(|text| text.as_bytes().to_vec());
            assert_eq!(
                reason_of(manifest.clone(), &GuardContext::default()).is_some(),
                plain,
                "{path} {after:?}"
            );
            // A short name may be that of the lock file as well.
            let gated = gated || path.contains('~');
            assert_eq!(
                reason_of(manifest.clone(), &gate(&["npx tsc"])).is_some(),
                gated,
                "{path} {after:?} with a gate"
            );
            assert!(reason_of(manifest, &gate(&["npm run lint"])).is_some(), "{path} {after:?} with npm run");
        }
    }
}

#[test]
fn files_that_the_gates_commands_name_are_guarded() {
    for (command, path) in [
        ("./scripts/lint.sh", "scripts/lint.sh"),
        ("sh scripts/lint.sh --all", "scripts/lint.sh"),
        ("sh 'scripts/lint.sh'", "Scripts/Lint.sh"),
        ("sh \"./scripts//lint.sh\"", "scripts/lint.sh"),
        ("cd web && ./lint.sh", "web/lint.sh"),
        ("./check", "check"),
        ("check", "check"),
        ("node scripts/lint", "scripts/lint.js"),
        ("node scripts/lint", "scripts/lint/index.js"),
        ("python -m tools.lint", "tools/lint.py"),
        ("python -m tools.lint", "tools/lint/__main__.py"),
        ("tsc --project=conf/ts.json", "conf/ts.json"),
        ("FOO=1 ./a.sh;./b.sh", "b.sh"),
        ("scripts\\lint.cmd", "scripts/lint.cmd"),
    ] {
        assert!(reason(path, &gate(&[command])).is_some(), "{command}: {path} passed");
    }
    for (command, path) in [
        ("npm run lint", "src/lint.ts"),
        ("make check", "src/check"),
        ("eslint src", "src/a.ts"),
        ("cargo test", "src/test.rs"),
    ] {
        assert_eq!(reason(path, &gate(&[command])), None, "{command}: {path}");
    }
}
