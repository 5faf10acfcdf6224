//! Code in colours.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::OutputStyle;
use crate::theme::ThemeStyle;

/// Each line with the kind of every span as one letter below it.
fn kinds(language: &str, code: &str) -> String {
    let mut scanner = CodeScanner::new(CodeLanguage::from_name(language));
    let mut out = String::new();
    for line in code.lines() {
        let mut below = vec![b' '; line.chars().count()];
        for (bytes, token) in scanner.next_line(line) {
            let letter = match token {
                ThemeToken::SyntaxComment => b'c',
                ThemeToken::SyntaxKeyword => b'k',
                ThemeToken::SyntaxFunction => b'f',
                ThemeToken::SyntaxVariable => b'v',
                ThemeToken::SyntaxString => b's',
                ThemeToken::SyntaxNumber => b'n',
                ThemeToken::SyntaxType => b't',
                ThemeToken::SyntaxOperator => b'o',
                ThemeToken::SyntaxPunctuation => b'p',
                ThemeToken::ToolDiffAdded => b'+',
                ThemeToken::ToolDiffRemoved => b'-',
                _ => b'?',
            };
            let from = line[..bytes.start].chars().count();
            below[from..from + line[bytes].chars().count()].fill(letter);
        }
        let below = String::from_utf8(below).unwrap();
        out.push_str(&format!("{line}\n{}\n", below.trim_end()));
    }
    out
}

#[test]
fn rust_line_by_line() {
    insta::assert_snapshot!(kinds(
        "rust",
        r##"
/* a /* nested */
still */ fn f<'a>(x: &'a str) -> Option<u8> {
    let c = '\''; // one
    println!("{x} {}", 1_000u32 + 0x1f);
    let raw = r#"a "quoted"
text"#;
    self.send(x).map(|v| v != c)
}"##
        .trim_start()
    ));
}

#[test]
fn python_line_by_line() {
    insta::assert_snapshot!(kinds(
        "python",
        r#"
@cached
def f(self, x: int = None) -> str:
    """Doc
    goes on # no comment
    """
    return f"{x}" + 'it\'s' if x is not None else g(1.5e-3)  # c"#
            .trim_start()
    ));
}

#[test]
fn other_languages_line_by_line() {
    insta::assert_snapshot!(
        [
            kinds("ts", "const a: Promise<string> = await f(`x ${y}\nz`); // c"),
            kinds("go", "func (s *Server) Run(ctx context.Context) error { return nil }"),
            kinds("bash", "cd src && cargo test --all \"$x\" # c\nA=1 echo 'two\nlines' | grep -v $A"),
            kinds("json", "{ \"a\": [1, true, \"x\"] }"),
            kinds("yaml", "name: text # c\n- key: 12"),
            kinds("toml", "[package]\nname = \"x\" # c"),
            kinds("html", "<!-- c\n --><a href=\"x\"\n  id='y'>text</a>"),
            kinds("sql", "SELECT count(*) FROM t WHERE name = 'it''s' -- c"),
            kinds("diff", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same"),
        ]
        .join("\n")
    );
}

#[test]
fn languages_are_known_by_many_names_and_unknown_ones_are_plain() {
    for name in ["rust", "rs", "Rust,ignore", "src/main.rs", "{.python}", "c++", "JSON", "tsx", "toml"] {
        assert!(CodeLanguage::from_name(name).is_some(), "{name}");
    }
    for name in ["", "text", "plaintext", "mermaid", "\x1b[2J", "a.b.zz"] {
        assert!(CodeLanguage::from_name(name).is_none(), "{name}");
    }
    for path in ["src/a.rs", "Gemfile", ".bashrc", "a/Makefile", "Dockerfile", "x.yml"] {
        assert!(CodeLanguage::from_path(path).is_some(), "{path}");
    }
    assert_eq!(CodeScanner::new(None).next_line("fn f() {}"), []);
}

#[test]
fn a_whole_file_is_coloured_by_its_grammar_and_the_rest_by_the_scanner() {
    let found = source_spans("a.rs", "struct Point;\nfn f(p: Point) -> u8 { p.x }\n", 2..3);
    assert_eq!(found.len(), 1);
    let kinds: Vec<_> = found[0].iter().map(|(_, token)| *token).collect();
    assert!(kinds.contains(&ThemeToken::SyntaxType) && kinds.contains(&ThemeToken::SyntaxPunctuation));
    let found = source_spans("a.sql", "select 1\n-- c", 1..3);
    assert_eq!(found[1], [(0..4, ThemeToken::SyntaxComment)]);
    assert_eq!(source_spans("a.unknown", "x\ny", 1..3), [vec![], vec![]]);
}

#[test]
fn ten_thousand_lines_cost_what_their_length_says() {
    let line = "    let total = items.iter().map(|item| item.price * 1.19).sum::<f64>(); // \"all\"";
    let took = |lines: usize| {
        let mut scanner = CodeScanner::new(CodeLanguage::from_name("rust"));
        let start = Instant::now();
        for _ in 0..lines {
            assert!(!scanner.next_line(line).is_empty());
        }
        start.elapsed()
    };
    took(1_000);
    let (few, many) = (took(1_000), took(10_000));
    println!("1,000 lines {few:?}, 10,000 lines {many:?}");
    assert!(many < few * 40 + Duration::from_millis(200), "{few:?} {many:?}");
}

#[test]
fn hostile_lines_stay_quick_and_long_ones_plain_at_their_end() {
    let long = "/*".repeat(1 << 20);
    for language in ["rust", "c", "python", "html", "bash", "ruby", "yaml", "lua"] {
        for line in [
            &*long,
            &"'\"".repeat(1 << 20),
            &"r#\"".repeat(1 << 19),
            &"<a ".repeat(1 << 19),
            &"((((".repeat(1 << 18),
        ] {
            let mut scanner = CodeScanner::new(CodeLanguage::from_name(language));
            let start = Instant::now();
            let spans = scanner.next_line(line);
            scanner.next_line(line);
            assert!(start.elapsed() < Duration::from_secs(2), "{language} {:?}", start.elapsed());
            assert!(spans.iter().all(|(bytes, _)| bytes.end <= CODE_LINE_BYTES));
        }
    }
}

proptest! {
    #[test]
    fn spans_are_in_order_and_on_characters(
        lines in prop::collection::vec("[a-z0-9 \"'`#/*<>!=:\\-\\\\{}(é日🙂$@]{0,40}", 0..8),
        language in prop::sample::select(vec!["rust", "python", "js", "bash", "html", "yaml", "sql", "lua", "ruby", "css", "json", "diff"]),
    ) {
        let mut scanner = CodeScanner::new(CodeLanguage::from_name(language));
        for line in &lines {
            let mut at = 0;
            let spans = scanner.next_line(line);
            for (bytes, _) in &spans {
                prop_assert!(bytes.start >= at && bytes.end > bytes.start);
                prop_assert!(line.get(bytes.clone()).is_some());
                at = bytes.end;
            }
            let plain = ThemeStyle::plain(OutputStyle { color: false, utf8: true, width: None });
            prop_assert_eq!(paint_code_line(&plain, line, &spans, ThemeToken::Text), line.as_str());
        }
    }
}
