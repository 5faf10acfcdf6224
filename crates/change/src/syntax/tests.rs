use super::*;
use crate::proposal::path::RelPath;

const AMPLE: Duration = Duration::from_secs(60);

fn file(path: &str, before: Option<&str>, after: &str) -> FilePlan {
    FilePlan {
        path: RelPath::parse(path).unwrap(),
        renamed_from: None,
        change: if before.is_some() { FileChangeKind::Modified } else { FileChangeKind::Added },
        before: before.map(|text| text.as_bytes().to_vec()),
        after: Some(after.as_bytes().to_vec()),
        mode_before: None,
        mode_after: None,
        added: 0,
        removed: 0,
        dialect: None,
        hunks: Vec::new(),
    }
}

fn checked(files: Vec<FilePlan>, budget: Duration) -> Vec<PlanFinding> {
    let plan = Plan { files, ..Plan::default() };
    check(&plan, budget, 1, &StopFlag::default())
}

fn one(path: &str, before: Option<&str>, after: &str) -> Option<(FindingKind, Option<usize>)> {
    let found = checked(vec![file(path, before, after)], AMPLE);
    assert!(found.len() <= 1);
    found.first().map(|finding| (finding.kind, finding.line))
}

/// Per language: valid text, and the same text broken, with the line of the break.
const PAIRS: &[(&str, &str, &str)] = &[
    ("a.sh", "if true; then\n  echo a\nfi\n", "if true; then\n  echo a\n"),
    ("a.c", "int f(void) {\n  return 1;\n}\n", "int f(void) {\n  return 1;\n"),
    ("a.h", "class A {\npublic:\n  int x;\n};\n", "class A {\npublic:\n  int x = = 1;\n};\n"),
    ("a.cpp", "auto f = [](int x) { return x; };\n", "auto f = [](int x) { return x; ;\n"),
    ("a.css", "a { color: red; }\n", "a { color: red; \n"),
    (
        "a.go",
        "package a\n\nfunc f() int {\n\treturn 1\n}\n",
        "package a\n\nfunc f() int {\n\treturn 1 +\n}\n",
    ),
    ("a.java", "class A {\n  int x = 1;\n}\n", "class A {\n  int x = ;\n}\n"),
    ("a.js", "const f = async () => {\n  await g();\n};\n", "const f = async () => {\n  await g(;\n};\n"),
    ("a.jsx", "const a = <b>c</b>;\n", "const a = <b>c</i;\n"),
    ("a.json", "{\"a\": [1, 2]}\n", "{\"a\": [1, 2}\n"),
    ("a.py", "def f(x):\n    return x\n", "def f(x:\n    return x\n"),
    ("a.rb", "def f(x)\n  x + 1\nend\n", "def f(x)\n  x + 1\n"),
    ("a.rs", "fn f() -> u8 {\n    1\n}\n", "fn f() -> u8 {\n    1\n"),
    (
        "a.ts",
        "interface A { b: string }\nlet c: A | undefined;\n",
        "interface A { b: string \nlet c: A | undefined;\n",
    ),
    ("a.tsx", "const a = (b: string) => <p>{b}</p>;\n", "const a = (b: string) => <p>{b</p>;\n"),
    ("a.yaml", "a:\n  - b: 1\n    c: [1, 2]\n", "a:\n  - b: 1\n    c: [1, 2\n d: }\n"),
];

#[test]
fn every_grammar_sees_a_new_error_and_no_other() {
    for (path, good, bad) in PAIRS {
        assert_eq!(one(path, None, good), None, "{path}: {good}");
        assert_eq!(one(path, Some(bad), good), None, "{path} repaired");
        for before in [None, Some(*good)] {
            let kind = one(path, before, bad).map(|(kind, _)| kind);
            assert_eq!(kind, Some(FindingKind::Syntax), "{path}: {bad}");
        }
    }
    assert_eq!(one("a.html", None, "<p>a <b>c</b></p>\n"), None);
}

#[test]
fn errors_that_were_there_do_not_count() {
    let before = "fn a( {}\nfn b() {}\n";
    assert_eq!(one("a.rs", Some(before), "fn a( {}\nfn c() {}\n"), None);
    let found = one("a.rs", Some(before), "fn a( {}\nfn b() {}\nfn c() { let = 1; }\n");
    assert_eq!(found, Some((FindingKind::Syntax, Some(3))));
}

#[test]
fn the_sentence_names_line_and_language() {
    let found = checked(vec![file("a.rs", None, "fn f() {\n    let = 1;\n}\n")], AMPLE);
    assert_eq!(found[0].text, "does not parse as Rust: `let = 1;`");
}

#[test]
fn an_error_that_swallows_the_file_is_placed_inside_it() {
    let good = "fn a() {}\n".repeat(30);
    let found = one("a.rs", Some(&good), &format!("{good}fn b() {{\n  let x = = 1;\n"));
    assert!(found.is_some_and(|(_, line)| line >= Some(31)), "{found:?}");
}

#[test]
fn relatives_of_a_language_are_not_judged() {
    let commented = "{\n  // why\n  \"a\": 1,\n}\n";
    for path in
        ["tsconfig.json", "x/tsconfig.base.json", ".vscode/settings.json", "a.jsonc", "a.code-workspace"]
    {
        assert_eq!(one(path, None, commented), None, "{path}");
    }
    assert_eq!(one("chart/templates/a.yaml", None, "{{- if .x }}\na: {{ .b }}\n{{- end }}\n"), None);
    assert_eq!(one("a.scss", None, "$a: 1;\n.b { .c & { d: e } }\n"), None);
    assert_eq!(one("README.md", None, "fn (((\n"), None);
}

#[test]
fn large_files_and_late_files_are_said_to_be_skipped() {
    let edge = |bytes: usize| format!("//{}", "x".repeat(bytes - 2));
    assert_eq!(one("a.rs", None, &edge(FILE_BYTES)), None);
    assert_eq!(one("a.rs", None, &edge(FILE_BYTES + 1)), Some((FindingKind::Skipped, None)));

    let files = ["a.rs", "b.rs", "c.md"].map(|path| file(path, None, "fn (\n")).to_vec();
    let found = checked(files, Duration::ZERO);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].text,
        "syntax of 2 files from here on not checked: the 0 ms for the check were used up"
    );
}

#[test]
fn deleted_moved_and_binary_files_are_not_parsed() {
    let mut moved = file("a.rs", Some("fn ("), "fn (");
    moved.change = FileChangeKind::Renamed;
    let mut deleted = file("b.rs", Some("fn ("), "");
    (deleted.change, deleted.after) = (FileChangeKind::Deleted, None);
    let binary = file("c.rs", None, "fn (\0");
    assert_eq!(checked(vec![moved, deleted, binary], AMPLE), []);
}

#[test]
fn deep_nesting_is_survived() {
    for (path, unit) in [("a.rs", "("), ("a.json", "["), ("a.ts", "{"), ("a.py", "("), ("a.yaml", "[")] {
        one(path, None, &unit.repeat(20_000));
    }
}

/// A scanner whose state does not fit into its buffer aborts the process.
#[test]
fn no_depth_of_nesting_aborts_the_process() {
    let units =
        ["[", "{", "(", "<a>", "- ", "? ", "a: ", "\"#{", "<<A ", "<<'A';", "f\"{", "f(<<A, ", "if 1:\n"];
    let skipped = Some((FindingKind::Skipped, None));
    for (path, ..) in PAIRS.iter().chain([&("a.html", "", "")]) {
        for depth in [300, 511, 1_000, 10_000] {
            for unit in units {
                checked(vec![file(path, None, &unit.repeat(depth))], Duration::from_millis(5));
            }
            let steps = |step: &str| {
                let lines = (0..depth).map(|at| format!("{}{step}\n", " ".repeat(at)));
                lines.collect::<String>() + &" ".repeat(depth)
            };
            if depth <= 511 {
                for text in [steps("if 1:") + "x = 'a'\n", steps("- a:"), steps("a:")] {
                    checked(vec![file(path, None, &text)], Duration::from_millis(50));
                }
            }
        }
    }
    for (path, text) in [
        ("a.yaml", "- ".repeat(254)),
        ("a.rb", format!("x = <<{}\n", "A".repeat(300))),
        ("a.rb", format!("f({})\n", "<<AAAAAA, ".repeat(102))),
    ] {
        assert_eq!(one(path, None, &text), skipped, "{path}");
        assert_eq!(one(path, Some(&text), "a: 1\n"), skipped, "{path}");
    }
    assert_eq!(one("a.yaml", None, &("- ".repeat(90) + "a\n")), None);
    let heredocs = "x = <<~RUBY\n  #{y}\nRUBY\n".repeat(300);
    assert_eq!(one("a.rb", None, &heredocs), None);
}

/// A quarter of a megabyte of brackets keeps the shell grammar busy for many minutes.
#[test]
fn a_parse_that_takes_too_long_is_interrupted() {
    let start = Instant::now();
    let hostile = file("a.sh", None, &"))".repeat(FILE_BYTES / 2));
    let found = checked(vec![hostile], Duration::from_millis(20));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, FindingKind::Skipped);
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn any_number_of_threads_finds_the_same_in_the_same_order() {
    let good = "export const a = (b: number): number => b + 1;\n".repeat(40);
    let files = (0..100).map(|number| {
        let after = if number % 7 == 3 { format!("{good}const = ;\n") } else { good.clone() };
        file(&format!("src/f{number:03}.ts"), Some("let a = 1;\n"), &after)
    });
    let plan = Plan { files: files.collect(), ..Plan::default() };
    let found = |threads| check(&plan, AMPLE, threads, &StopFlag::default());
    let alone = found(1);
    assert_eq!(alone.len(), 14);
    for threads in [0, 2, 3, 8, 200] {
        assert_eq!(found(threads), alone, "{threads}");
    }
}
