//! Readers on what real tools printed, and the laws of the counter.

use super::*;

/// What real tools printed, on small projects made for it: the command, its output, the reader, the number of
/// errors, and the first of them as file, line, code and the start of the message.
type Sample =
    (&'static str, &'static str, &'static str, u64, (&'static str, u64, &'static str, &'static str));

const SAMPLES: &[Sample] = &[
    (
        "bun tsc --noEmit",
        include_str!("samples/tsc_plain.txt"),
        "tsc",
        4,
        ("a.ts", 1, "TS2322", "Type 'string'"),
    ),
    (
        "npx tsc --pretty",
        include_str!("samples/tsc_pretty.txt"),
        "tsc",
        4,
        ("a.ts", 1, "TS2322", "Type 'string'"),
    ),
    (
        "cargo check",
        include_str!("samples/cargo_check.txt"),
        "cargo",
        2,
        ("src/lib.rs", 1, "E0308", "mismatched types"),
    ),
    (
        "cargo clippy -- -D warnings",
        include_str!("samples/cargo_clippy.txt"),
        "cargo",
        1,
        ("src/lib.rs", 1, "", "length comparison to zero"),
    ),
    (
        "cargo check --message-format=json",
        include_str!("samples/cargo_json.txt"),
        "cargo",
        2,
        ("src/lib.rs", 1, "E0308", "mismatched types"),
    ),
    (
        "cargo check --message-format=short",
        include_str!("samples/cargo_short.txt"),
        "cargo",
        2,
        ("src/lib.rs", 1, "E0308", "mismatched types"),
    ),
    ("cargo test", include_str!("samples/cargo_test.txt"), "cargo", 1, ("", 0, "test", "fails failed")),
    (
        "npx eslint .",
        include_str!("samples/eslint_stylish.txt"),
        "eslint",
        5,
        ("a.js", 2, "no-undef", "'y' is not defined"),
    ),
    (
        "npx eslint -f json .",
        include_str!("samples/eslint_json.txt"),
        "eslint",
        5,
        ("a.js", 2, "no-undef", "'y' is not defined"),
    ),
    (
        "npx eslint -f unix .",
        include_str!("samples/eslint_unix.txt"),
        "eslint",
        5,
        ("a.js", 2, "no-undef", "'y' is not defined"),
    ),
    (
        "npx eslint -f compact .",
        include_str!("samples/eslint_compact.txt"),
        "eslint",
        5,
        ("a.js", 2, "no-undef", "'y' is not defined"),
    ),
    ("ruff check", include_str!("samples/ruff_full.txt"), "ruff", 6, ("a.py", 1, "I001", "Import block")),
    (
        "ruff check --output-format concise",
        include_str!("samples/ruff_concise.txt"),
        "ruff",
        6,
        ("a.py", 1, "I001", "Import block"),
    ),
    (
        "ruff check --output-format json",
        include_str!("samples/ruff_json.txt"),
        "ruff",
        6,
        ("a.py", 1, "I001", "Import block"),
    ),
    (
        "ruff format --check",
        include_str!("samples/ruff_format.txt"),
        "ruff",
        2,
        ("a.py", 3, "unformatted", "File would be"),
    ),
    (
        "python -m mypy .",
        include_str!("samples/mypy_plain.txt"),
        "mypy",
        3,
        ("a.py", 4, "name-defined", "Name \"u"),
    ),
    (
        "mypy --pretty .",
        include_str!("samples/mypy_pretty.txt"),
        "mypy",
        3,
        ("a.py", 4, "name-defined", "Name \"u"),
    ),
    (
        "mypy --output json .",
        include_str!("samples/mypy_json.txt"),
        "mypy",
        3,
        ("a.py", 4, "name-defined", "Name \"u"),
    ),
    (
        "mypy .",
        include_str!("samples/mypy_syntax.txt"),
        "mypy",
        2,
        ("b.py", 1, "syntax", "Expected a parameter"),
    ),
    (
        "go vet ./...",
        include_str!("samples/go_vet.txt"),
        "go",
        3,
        ("b/y.go", 6, "", "undeclared name: undefined"),
    ),
    (
        "go build ./...",
        include_str!("samples/go_build.txt"),
        "go",
        2,
        ("b/y.go", 3, "", "imported and not used"),
    ),
    (
        "go test ./...",
        include_str!("samples/go_test.txt"),
        "go",
        3,
        ("b/y.go", 3, "", "imported and not used"),
    ),
    ("make", include_str!("samples/gcc.txt"), "generic", 2, ("h.c", 1, "", "‘y’ undeclared")),
    (
        "pytest -q",
        include_str!("samples/pytest.txt"),
        "generic",
        2,
        ("test_a.py", 0, "test", "test_a.py::test_a"),
    ),
];

/// The same with files as they are named in `/project`, whose tools name them in several ways.
fn relative(mut count: LinterCount) -> LinterCount {
    for diagnostic in &mut count.diagnostics {
        let file = diagnostic.file.strip_prefix("/project/").unwrap_or(&diagnostic.file);
        diagnostic.file = file.trim_start_matches("./").to_owned();
    }
    count
}

fn count(command: &str, output: &[u8], exited_well: bool) -> LinterCount {
    let mut counter = LinterCounter::new(command);
    counter.feed(output);
    relative(counter.finish(exited_well))
}

fn check(sample: &Sample, counted: &LinterCount) {
    let (command, output, reader, errors, (file, line, code, message)) = sample;
    assert_eq!((counted.errors, counted.reader), (*errors, *reader), "{command}\n{output}\n{counted:#?}");
    assert_eq!(counted.diagnostics.len() as u64, *errors, "{command}: {counted:#?}");
    let first = &counted.diagnostics[0];
    assert_eq!((first.file.as_str(), first.line, first.code.as_str()), (*file, *line, *code), "{command}");
    assert!(first.message.starts_with(message), "{command}: {}", first.message);
}

#[test]
fn the_errors_of_real_tools_are_counted() {
    for sample in SAMPLES {
        check(sample, &count(sample.0, sample.1.as_bytes(), false));
    }
}

#[test]
fn a_command_that_hides_its_tool_is_understood_too() {
    for sample in SAMPLES {
        let counted = count("pnpm run lint", sample.1.as_bytes(), false);
        assert_eq!((counted.errors, counted.reader), (sample.3, sample.2), "{}\n{counted:#?}", sample.0);
    }
}

#[test]
fn any_pieces_give_the_same_result() {
    for sample in SAMPLES {
        for size in [1, 2, 3, 7, 64, 1_000] {
            for command in [sample.0, "./lint.sh"] {
                let mut counter = LinterCounter::new(command);
                sample.1.as_bytes().chunks(size).for_each(|chunk| counter.feed(chunk));
                let counted = relative(counter.finish(false));
                assert_eq!(
                    counted,
                    count(command, sample.1.as_bytes(), false),
                    "{command} in pieces of {size}"
                );
            }
        }
    }
}

#[test]
fn line_ends_and_colours_make_no_difference() {
    for sample in SAMPLES {
        let windows = sample.1.replace('\n', "\r\n");
        check(sample, &count(sample.0, windows.as_bytes(), false));
    }
    let coloured = "\u{1b}]8;;x\u{7}\u{1b}[1msrc/a.rs:1:2: \u{1b}[31merror[E0001]\u{1b}[0m: no\u{1b}[K\n";
    assert_eq!(count("cargo check", coloured.as_bytes(), false).diagnostics[0].code, "E0001");
    let progress = "10%\r50%\rerror: broken\r\n";
    assert_eq!(count("./check", progress.as_bytes(), false).errors, 1);
    let endless = b"\x1b]never ends\nerror: seen\n";
    assert_eq!(count("./check", endless, false).errors, 1);
}

#[test]
fn two_tools_in_one_command_are_added() {
    let both = [include_str!("samples/tsc_plain.txt"), include_str!("samples/eslint_stylish.txt")].concat();
    for command in ["tsc --noEmit; eslint .", "npm run check"] {
        let counted = count(command, both.as_bytes(), false);
        assert_eq!((counted.errors, counted.reader), (9, "eslint"), "{counted:#?}");
    }
}

#[test]
fn the_exit_status_decides_where_nothing_was_recognised() {
    assert_eq!(count("tsc", b"", true).errors, 0);
    assert_eq!(
        count("tsc", b"cannot find the compiler\n", false),
        LinterCount { errors: 1, reader: "tsc", ..Default::default() }
    );
    assert_eq!(count("./lint", b"\xff\xfe\0", false).errors, 1);
    assert_eq!(count("tsc || true", b"a.ts(1,1): error TS1: x\n", true).errors, 1);
    assert_eq!(count("eslint .", b"Error: from a log of the code\n", true).errors, 0);
    assert_eq!(count("eslint .", b"Error: Cannot find module 'x'\n", false).errors, 1);
    assert_eq!(
        count("cargo check", b"error: could not compile `x` (lib) due to 3 previous errors\n", false).errors,
        1
    );
    assert_eq!(count("cargo check", b"error: no such command: `x`\n", false).diagnostics.len(), 1);
}

#[test]
fn what_is_no_error_is_not_counted() {
    for (command, line) in [
        ("make", "h.c:1:2: warning: unused"),
        ("make", "h.c:1:2: note: declared here"),
        ("make", "12:03:04: started"),
        ("make", "2026-01-01T10:20:30: ready"),
        ("make", "listening on http://localhost:3000: ok"),
        ("make", "errors: 0"),
        ("make", "0 errors, 3 warnings"),
        ("make", "    at run (/project/x.js:3:4)"),
        ("make", "error Command failed with exit code 1."),
        ("eslint .", "  1:7  warning  'x' is never used  no-unused-vars"),
        ("mypy .", "a.py:3: note: See the documentation"),
        ("ruff check", "All checks passed!"),
        ("ruff check", "Found 3 errors (3 fixed, 0 remaining)."),
        ("tsc", "Found 0 errors. Watching for file changes."),
        ("cargo build", "warning: unused variable"),
        ("cargo build", " --> src/lib.rs:1:2"),
        ("go build", "# sample/b"),
        ("go build", "go: downloading example.com/x v1.0.0"),
        ("go test", "    x_test.go:5: got 1"),
    ] {
        assert_eq!(count(command, format!("{line}\n").as_bytes(), true).errors, 0, "{command}: {line}");
    }
}

#[test]
fn a_flood_is_counted_exactly_and_kept_in_part() {
    let mut counter = LinterCounter::new("tsc");
    let many = "a.ts(1,7): error TS2322: no\n".repeat(1_000);
    for _ in 0..50 {
        counter.feed(many.as_bytes());
    }
    let counted = counter.finish(false);
    assert_eq!((counted.errors, counted.diagnostics.len()), (50_000, MAX_DIAGNOSTICS));
}

#[test]
fn a_line_without_end_takes_bounded_room() {
    for piece in [&b"x"[..], b"{\"a\":", b"[", b"\"", b"a:1:", b"\x1b[", b"(1,2): ", b"\xff"] {
        let mut counter = LinterCounter::new("./lint");
        let block = piece.repeat(100_000);
        for _ in 0..20 {
            counter.feed(&block);
        }
        assert!(counter.lines_kept() <= line_splitter::LINE_BYTES);
        let _ = counter.finish(false);
    }
    let long = format!("a.ts(1,7): error TS1: {}\nb.ts(1,7): error TS2: y\n", "x".repeat(1_000_000));
    let counted = count("tsc", long.as_bytes(), false);
    assert_eq!(counted.errors, 2);
    assert!(counted.diagnostics[0].message.len() < 1_000);
}

#[test]
fn one_huge_line_of_json_is_counted_exactly() {
    let message =
        r#"{"ruleId":"a","severity":2,"message":"m \u00e9 \" }","line":3,"fix":{"range":[1,2],"text":"]"}}"#;
    let warning = message.replace("\"severity\":2", "\"severity\":1");
    let list = [message, &warning].repeat(3_000).join(",");
    let source = "x".repeat(100_000);
    let text = format!(r#"[{{"filePath":"/project/a.js","messages":[{list}],"source":"{source}"}}]"#);
    let counted = count("eslint -f json .", text.as_bytes(), false);
    assert_eq!((counted.errors, counted.diagnostics.len()), (3_000, MAX_DIAGNOSTICS));
    assert_eq!(counted.diagnostics[7].message, "m é \" }");
}

#[test]
fn moved_errors_are_not_new() {
    let before = count("tsc", b"a.ts(1,7): error TS1: x at line 3\na.ts(2,7): error TS1: y\n", false);
    let after = count("tsc", b"a.ts(9,7): error TS1: x at line 11\na.ts(2,7): error TS1: y\n", false);
    assert_eq!(find_new_errors(&before, &after, 10), (0, vec![]));
}

#[test]
fn the_same_error_once_more_is_new() {
    let before = count("tsc", b"a.ts(1,7): error TS1: x\n", false);
    let after =
        count("tsc", b"a.ts(1,7): error TS1: x\na.ts(2,7): error TS1: x\nb.ts(2,7): error TS1: x\n", false);
    let (new, listed) = find_new_errors(&before, &after, 1);
    assert_eq!((new, listed.len()), (2, 1));
    assert_eq!(listed[0].line, 2);
    assert_eq!(find_new_errors(&after, &before, 10), (0, vec![]));
}

#[test]
fn a_new_error_counts_though_an_old_one_went() {
    let before = count("tsc", b"a.ts(1,7): error TS1: x\n", false);
    let after = count("tsc", b"a.ts(1,7): error TS2: z\n", false);
    assert_eq!(find_new_errors(&before, &after, 10).0, 1);
}

#[test]
fn unlisted_errors_are_given_the_benefit_of_the_doubt() {
    let listed =
        |n: u64| Diagnostic { file: "a".into(), line: n, code: String::new(), message: format!("m{n}x") };
    let counted = |errors, list: std::ops::Range<u64>| LinterCount {
        errors,
        diagnostics: list.map(listed).collect(),
        reader: "tsc",
    };
    assert_eq!(find_new_errors(&counted(5, 0..2), &counted(5, 2..5), 10).0, 0);
    assert_eq!(find_new_errors(&counted(5, 0..2), &counted(9, 2..5), 10).0, 4);
    assert_eq!(find_new_errors(&counted(1, 0..0), &counted(1, 0..0), 10), (0, vec![]));
    assert_eq!(find_new_errors(&counted(0, 0..0), &counted(u64::MAX, 0..3), 2).1.len(), 2);
}

#[test]
fn tools_are_known_by_the_words_of_the_command() {
    for (command, reader) in [
        ("./node_modules/.bin/tsc -b", "tsc"),
        ("node node_modules/typescript/bin/tsc", "tsc"),
        ("npx -y eslint@9 .", "eslint"),
        ("python3 -m mypy src", "mypy"),
        ("uvx ruff@latest check", "ruff"),
        ("cd x && 'cargo' clippy", "cargo"),
        ("C:\\go\\bin\\go.exe vet ./...", "go"),
        ("pnpm run lint", "generic"),
        ("go home", "generic"),
    ] {
        assert_eq!(count(command, b"", true).reader, reader, "{command}");
    }
}

#[test]
fn an_error_of_node_has_its_place_and_its_words() {
    let output = b"/app/src/a.js:3\nconst = ;\n      ^\n\nSyntaxError: Unexpected token '='\n    at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n\nNode.js v20.20.2\n";
    let counted = count("node --check src/a.js", output, false);
    assert_eq!(counted.errors, 1);
    let error = &counted.diagnostics[0];
    assert_eq!((error.file.as_str(), error.line), ("/app/src/a.js", 3));
    assert_eq!((error.code.as_str(), error.message.as_str()), ("SyntaxError", "Unexpected token '='"));
}
