//! Real linters through `relay apply`: a change that adds an error is put back, one that adds none stays.
//! Each that is found runs, on the PATH or in a directory of RELAY_LINTERS (a list like PATH); the others
//! are named as skipped. `cargo` is always there.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::fixture::keyed_project::Scene;
use crate::fixture::scratch_project::{edit, run};
use crate::relay_snapshot;

/// A linter, the files of a small project that is well, and two edits of it.
struct Linter {
    program: &'static str,
    command: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The file that is changed, what stands there, what is as good, and what is wrong.
    path: &'static str,
    before: &'static str,
    good: &'static str,
    bad: &'static str,
}

const LINTERS: [Linter; 6] = [
    Linter {
        program: "cargo",
        command: "cargo check --quiet --offline",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
            ),
            ("src/main.rs", "fn main() {\n    let total: u32 = 1;\n    println!(\"{total}\");\n}\n"),
        ],
        path: "src/main.rs",
        before: "    let total: u32 = 1;",
        good: "    let total: u32 = 2;",
        bad: "    let total: u32 = \"2\";",
    },
    Linter {
        program: "tsc",
        command: "tsc --noEmit",
        files: &[
            (
                "tsconfig.json",
                "{\"compilerOptions\": {\"strict\": true, \"types\": []}, \"include\": [\"src\"]}\n",
            ),
            ("src/a.ts", "export const total: number = 1;\n"),
        ],
        path: "src/a.ts",
        before: "export const total: number = 1;",
        good: "export const total: number = 2;",
        bad: "export const total: number = '2';",
    },
    Linter {
        program: "eslint",
        command: "eslint src",
        files: &[
            ("eslint.config.js", "module.exports = [{rules: {'no-undef': 'error'}}];\n"),
            ("src/a.js", "const total = 1;\nmodule = total;\n"),
        ],
        path: "src/a.js",
        before: "const total = 1;",
        good: "const total = 2;",
        bad: "const total = missing;",
    },
    Linter {
        program: "ruff",
        command: "ruff check --no-cache",
        files: &[("a.py", "total = 1\nprint(total)\n")],
        path: "a.py",
        before: "total = 1",
        good: "total = 2",
        bad: "total = missing",
    },
    Linter {
        program: "mypy",
        command: "mypy a.py",
        files: &[("a.py", "total: int = 1\nprint(total)\n")],
        path: "a.py",
        before: "total: int = 1",
        good: "total: int = 2",
        bad: "total: int = \"2\"",
    },
    Linter {
        program: "go",
        command: "go vet ./...",
        files: &[
            ("go.mod", "module shop\n\ngo 1.18\n"),
            ("main.go", "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Printf(\"%d\\n\", 1)\n}\n"),
        ],
        path: "main.go",
        before: "\tfmt.Printf(\"%d\\n\", 1)",
        good: "\tfmt.Printf(\"%d\\n\", 2)",
        bad: "\tfmt.Printf(\"%d\\n\", \"2\")",
    },
];

/// Where programs are looked for.
fn path() -> OsString {
    let named = std::env::var_os("RELAY_LINTERS").unwrap_or_default();
    let own = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::env::split_paths(&named).chain(std::env::split_paths(&own))).unwrap()
}

fn is_there(program: &str) -> bool {
    std::env::split_paths(&path()).any(|directory: PathBuf| directory.join(program).is_file())
}

#[test]
fn each_real_linter_that_is_here_judges_a_change() {
    for linter in &LINTERS {
        if !is_there(linter.program) {
            eprintln!("skipped: {} is not on the PATH, nor in RELAY_LINTERS", linter.program);
            assert_ne!(linter.program, "cargo", "the tests themselves run under it");
            continue;
        }
        judged(linter);
    }
}

fn judged(linter: &Linter) {
    let scene = Scene::trusted(linter.files, &json!({"linter": linter.command, "approvalMode": "auto"}));
    let apply = |after: &str, flags: &[&str]| {
        let answer = edit(linter.path, linter.before, after) + &scene.keyed("x");
        std::fs::write(scene.project.home().join("answer.md"), answer).unwrap();
        let answer = scene.project.home().join("answer.md");
        let mut args = vec!["apply", answer.to_str().unwrap()];
        args.extend(flags);
        run(surrounded(&mut scene.command(&args), &scene))
    };
    let bad = apply(linter.bad, &["--json"]);
    assert_eq!(bad.code, 5, "{}: {bad:?}", linter.program);
    let gate = &bad.json()["gate"];
    assert_eq!(
        (&gate["errorsBefore"], &gate["errorsAfter"]),
        (&0.into(), &1.into()),
        "{}: {gate}",
        linter.program
    );
    let named = gate["newErrors"][0]["file"].as_str().unwrap_or_default();
    assert!(named.ends_with(linter.path), "{}: {gate}", linter.program);
    assert!(scene.text(linter.path).contains(linter.before), "{}", linter.program);
    let good = apply(linter.good, &["--json"]);
    assert_eq!(good.code, 0, "{}: {good:?}", linter.program);
    assert_eq!(good.json()["decidedBy"], "policy", "{}", linter.program);
    assert!(scene.text(linter.path).contains(linter.good), "{}", linter.program);
}

#[test]
fn an_error_of_node_is_shown_with_its_words() {
    if !is_there("node") {
        eprintln!("skipped: node is not on the PATH, nor in RELAY_LINTERS");
        return;
    }
    let scene = Scene::untrusted(&[("src/a.cjs", "function a() {\n  return 1;\n}\n")], &json!({}));
    let lint = scene.project.home().join("lint");
    std::fs::write(&lint, "node --check src/a.cjs\n").unwrap();
    let linter = format!("sh {}", lint.display());
    scene.configure(&json!({"projectId": "shop", "patch": {"linter": linter, "approvalMode": "auto"}}));
    scene.trust();
    let answer = edit("src/a.cjs", "  return 1;", "  return 1 +;") + &scene.keyed("feat: one more");
    relay_snapshot!(scene.apply(&answer, &["--no-syntax", "-y"]), @"
    exit 5
    ----- stdout -----
    ▸ feat: one more                                                           1 file  +1 −1
        M  src/a.cjs  +1 −1   1 exact
    ----- stderr -----
    ✗ not kept: sh <home>/lint went from 0 to 1 error  everything was put back
        <project>/src/a.cjs:2  Unexpected token ';'
      keep it anyway: `relay apply <home>/answer.md --allow gate`
    ");
}

/// What linters need of the user's environment.
fn surrounded<'a>(command: &'a mut Command, scene: &Scene) -> &'a mut Command {
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "GOPATH", "GOROOT", "GOCACHE"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    // go ignores a project that is the directory for temporary files.
    command
        .env("PATH", path())
        .env("TMPDIR", scene.project.home())
        .env("CARGO_TARGET_DIR", scene.project.home().join("target"))
}
