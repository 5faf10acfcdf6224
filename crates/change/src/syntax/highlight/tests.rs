//! What every grammar's text looks like, and the bounds.

use super::*;

const AMPLE: Duration = Duration::from_secs(60);

/// Every linked language with the pieces that it has.
const SAMPLES: &[(&str, &str)] = &[
    (
        "a.sh",
        "#!/bin/bash\n# why\nset -eu\nfor f in \"$@\" 'x y'; do\n  echo \"a ${f%.c} $(date +%s) $((1 + 2))\" >&2\ndone\n\
         greet() { local name=$1; return 0; }\nif [[ $a == b* ]]; then cat <<EOF | sort\nhello $name\nEOF\nfi\n",
    ),
    (
        "a.c",
        "#include <stdio.h>\n#define MAX 10\n/* two\n   lines */\nstatic unsigned long sum(const int *a, size_t n) {\n  \
         struct point p = { .x = 0x1F };\n  return printf(\"%d\\n\", 'c') + p.x ? NULL : 1.5f; // end\n}\n",
    ),
    (
        "a.cpp",
        "template <typename T> class Box final : public Base {\npublic:\n  explicit Box(T x) : x_{x} {}\n  virtual auto \
         get() const -> T override { return this->x_; }\n};\nint ns::f(std::vector<int> v) { return v.size() + R\"(raw)\"[0]; \
         }\nbool ok = nullptr == true;\n",
    ),
    (
        "a.css",
        "/* c */\n@media (max-width: 10px) {\n  a.link:hover, #id > p[lang=\"en\"] {\n    color: #fff !important;\n    \
         margin: calc(1.5em + 2px) auto;\n    background: url(\"a.png\");\n  }\n}\n",
    ),
    (
        "a.go",
        "package main\n\nimport \"fmt\"\n\n// Point is one.\ntype Point struct {\n\tX, Y int `json:\"x\"`\n}\n\nfunc (p *Point) \
         Len(xs ...string) (n float64, err error) {\n\tfmt.Println(\"a\\n\", 'r', 1_000, 2i)\n\tfor i := range xs {\n\t\tgo \
         f(i)\n\t}\n\treturn 0, nil\n}\n",
    ),
    (
        "a.html",
        "<!DOCTYPE html>\n<!-- c -->\n<div class=\"a b\" hidden data-x=1>text 12 &amp; more<br/></div>\n<script>let x = \
         1;</script>\n",
    ),
    (
        "a.java",
        "package a.b;\nimport java.util.List;\n/** Doc. */\n@Override\npublic final class A<T> extends B implements C {\n  \
         private int x = 0xFFL;\n  A(String s) { super(s); }\n  boolean f(List<String> xs) throws E {\n    return new \
         A<>(\"s\").g('c', 1.5e3, true, null) instanceof A; // c\n  }\n}\n",
    ),
    (
        "a.js",
        "import { a as b } from 'x';\n// c\nexport class A extends B {\n  async run(x) { await this.go(`n ${x + `i ${1}`} m`); \
         }\n}\nfunction* gen() { yield /re+/g.test(s) ? null : undefined; }\nconst f = async (x) => new Map([[1n, 'a']]);\nf(x)(y);\n",
    ),
    ("a.jsx", "const a = <Box id=\"x\" on={() => go(1)}>text {name} <b>c</b></Box>;\n"),
    ("a.json", "{\n  \"key\": \"text\",\n  \"n\": [1, -2.5e3, true, null],\n  \"o\": { \"k\": {} }\n}\n"),
    (
        "a.py",
        "from a import b as c\n\n@decorator(1)\nclass A(Base):\n    \"\"\"Doc\n    string.\"\"\"\n    def f(self, x: \
         list[int] = None, *, y: str) -> bool:\n        # c\n        if x is not None and y in f\"a {x.g(1)!r:>10} b\" 'c':\n      \
         \x20     return True\n        return len(x) + 0x1F + 1j\n",
    ),
    (
        "a.rb",
        "require 'x'\n# c\nmodule M\n  class A < B\n    attr_reader :name\n    def self.f(x, y: 1)\n      return \"a #{x.g(2)} b\" \
         unless x.nil?\n      puts <<~EOS\n        text #{y}\n      EOS\n      { key: :sym, 'k' => /re/ }\n    end\n  end\nend\n",
    ),
    (
        "a.rs",
        "//! Doc.\nuse std::fmt::{self, Display};\n/* b */\n#[derive(Debug)]\npub struct A<'a, T: Display>(&'a T);\nimpl<T> A<'_, \
         T> {\n    pub(crate) async fn f(&self, mut x: u8) -> Option<Self> {\n        let s = r#\"raw\"#; let c = 'c';\n        \
         println!(\"{x}\", 1_000u32);\n        x.g::<u8>(1.5, true)?; Some(h::i(x))\n    }\n}\n",
    ),
    (
        "a.ts",
        "import type { X } from './x';\nexport interface A<T> extends B { readonly a?: string | undefined; f(x: number): void }\n\
         enum E { One = 1 }\ntype L = `a-${string}`;\nabstract class C implements A<any> {\n  private constructor(public x: \
         E.One) { super(); }\n  declare g: () => Promise<unknown>;\n}\nconst f = (x as const satisfies T)!;\n",
    ),
    ("a.tsx", "export const A: FC<P> = ({ b }: P) => <p className=\"c\">{b ?? f<number>(1)} text</p>;\n"),
    (
        "a.yaml",
        "# c\n%YAML 1.2\n---\nname: plain text here\n\"quoted key\": 'one' # c\nlist: &a\n  - 12\n  - -1.5\n  - true\n  - ~\n  - \
         {k: v, n: [1, \"s\"]}\nblock: |\n  text: not a key\n  more\nref: *a\nt: !!str 1\n",
    ),
];

fn path(path: &str) -> RelPath {
    RelPath::parse(path).unwrap()
}

fn within(budget: Duration, name: &str, text: &str) -> Option<SyntaxSpans> {
    highlight_lines(&path(name), text, std::slice::from_ref(&(1..usize::MAX)), budget)
}

fn all(name: &str, text: &str) -> SyntaxSpans {
    within(AMPLE, name, text).unwrap()
}

/// The text with every piece in brackets, and a letter for its class.
fn marked(name: &str, text: &str) -> String {
    let found = all(name, text);
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        let mut at = 0;
        for (bytes, class) in found.line(index + 1) {
            let letter = match class {
                SyntaxClass::Comment => 'c',
                SyntaxClass::Text => 's',
                SyntaxClass::Number => '0',
                SyntaxClass::Keyword => 'k',
                SyntaxClass::Type => 't',
                SyntaxClass::Name => 'n',
            };
            out += &line[at..bytes.start];
            out += &format!("{letter}‹{}›", &line[bytes.clone()]);
            at = bytes.end;
        }
        out += &line[at..];
        out.push('\n');
    }
    out
}

#[test]
fn every_linked_language_has_its_colours() {
    let all: String =
        SAMPLES.iter().map(|(name, text)| format!("== {name}\n{}\n", marked(name, text))).collect();
    insta::assert_snapshot!(all);
}

#[test]
fn relatives_of_a_language_are_coloured_too() {
    let painted = |name: &str, text: &str| all(name, text).line(1).first().map(|(_, class)| *class);
    assert_eq!(painted("tsconfig.json", "// why\n{}\n"), Some(SyntaxClass::Comment));
    assert_eq!(painted("Gemfile", "# why\n"), Some(SyntaxClass::Comment));
    assert_eq!(painted("x/.bashrc", "# why\n"), Some(SyntaxClass::Comment));
    assert_eq!(painted("a.svg", "<svg/>\n"), Some(SyntaxClass::Keyword));
    for name in ["a.md", "a.txt", "Makefile", "a.scss"] {
        assert_eq!(within(AMPLE, name, "# a\n"), None, "{name}");
    }
}

#[test]
fn only_the_lines_asked_for_are_kept() {
    let text = "let a = 1;\n".repeat(100);
    let found = highlight_lines(&path("a.rs"), &text, &[90..92, 3..5, 4..6, 200..300, 7..7], AMPLE).unwrap();
    let kept: Vec<usize> = (0..=300).filter(|line| !found.line(*line).is_empty()).collect();
    assert_eq!(kept, [3, 4, 5, 90, 91]);
    assert_eq!(found.line(91), all("a.rs", &text).line(91));
    assert_eq!(highlight_lines(&path("a.rs"), &text, &[], AMPLE), Some(SyntaxSpans::default()));
}

#[test]
fn lines_are_counted_as_a_diff_counts_them() {
    for (ending, text) in
        [("\n", "//a\n\n/* b\nc */\n"), ("\r\n", "//a\r\n\r\n/* b\r\nc */\r\n"), ("\r", "//a\r\r/* b\rc */")]
    {
        let found = all("a.rs", text);
        let spans: Vec<&[SyntaxSpan]> = (1..=4).map(|line| found.line(line)).collect();
        let comment = |end: usize| vec![(0..end, SyntaxClass::Comment)];
        assert_eq!(spans, [&comment(3)[..], &[], &comment(4)[..], &comment(4)[..]], "{ending:?}");
    }
    let found = all("a.rs", "\u{FEFF}// ä\nlet 日 = \"本\";");
    assert_eq!(found.line(1), [(3..8, SyntaxClass::Comment)]);
    assert_eq!(found.line(2), [(0..3, SyntaxClass::Keyword), (10..15, SyntaxClass::Text)]);
}

#[test]
fn a_very_long_line_is_coloured_at_its_beginning() {
    let text = format!("// {}\nlet x = 1;\n", "ä".repeat(HIGHLIGHT_LINE_BYTES));
    let found = all("a.rs", &text);
    assert_eq!(found.line(1), [(0..HIGHLIGHT_LINE_BYTES - 1, SyntaxClass::Comment)]);
    assert_eq!(found.line(2).len(), 2);
}

#[test]
fn what_is_too_large_or_too_slow_has_no_colours() {
    let edge = |bytes: usize| format!("//{}", "x".repeat(bytes - 2));
    assert!(within(AMPLE, "a.rs", &edge(HIGHLIGHT_BYTES)).is_some());
    assert_eq!(within(AMPLE, "a.rs", &edge(HIGHLIGHT_BYTES + 1)), None);
    assert_eq!(within(Duration::ZERO, "a.rs", "fn f() {}\n"), None);
    let start = Instant::now();
    let hostile = "))".repeat(HIGHLIGHT_BYTES / 2);
    assert_eq!(within(Duration::from_millis(20), "a.sh", &hostile), None);
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn deep_nesting_and_broken_text_are_survived() {
    let units = [
        ("a.rs", "("),
        ("a.json", "["),
        ("a.js", "`${"),
        ("a.py", "f\"{"),
        ("a.yaml", "["),
        ("a.html", "<a>"),
    ];
    for (name, unit) in units {
        for text in [unit.repeat(20_000), format!("{unit}\n").repeat(5_000)] {
            let Some(found) = within(Duration::from_secs(2), name, &text) else {
                continue;
            };
            for (index, line) in text.lines().enumerate() {
                let spans = found.line(index + 1);
                assert!(spans.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start));
                assert!(
                    spans.iter().all(|(bytes, _)| line.get(bytes.clone()).is_some_and(|s| !s.is_empty()))
                );
            }
        }
    }
}
