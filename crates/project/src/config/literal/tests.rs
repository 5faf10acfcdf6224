use std::time::{Duration, Instant};

use super::*;

fn place(line: usize, column: usize) -> ConfigPosition {
    ConfigPosition { line, column }
}

/// The value without places, as JSON.
fn plain(node: &LiteralNode) -> String {
    match &node.value {
        LiteralValue::Null => "null".into(),
        LiteralValue::Switch(on) => on.to_string(),
        LiteralValue::Number(number) => number.to_string(),
        LiteralValue::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        LiteralValue::List(nodes) => format!("[{}]", nodes.iter().map(plain).collect::<Vec<_>>().join(",")),
        LiteralValue::Table(entries) => {
            let row = |entry: &LiteralEntry| format!("{}:{}", entry.name, plain(&entry.node));
            format!("{{{}}}", entries.iter().map(row).collect::<Vec<_>>().join(","))
        }
    }
}

#[test]
fn json_and_its_looser_forms_are_read() {
    for (text, value) in [
        ("{}", "{}"),
        (r#"{"a": 1, "b": [true, false, null], "c": {"d": "x"}}"#, r#"{a:1,b:[true,false,null],c:{d:"x"}}"#),
        ("// first\n{ /* in */ a: 'x', 'b': `y`, }\n// last", r#"{a:"x",b:"y"}"#),
        ("{a: -2.5e1, b: 1_000, c: 0, d: 0.5, e: +3, f: .5}", "{a:-25,b:1000,c:0,d:0.5,e:3,f:0.5}"),
        ("{a: [1, 2, ], $x_1: undefined}", "{a:[1,2],$x_1:null}"),
        (r#"{a: "\u0041\u{1F600}\ud83d\ude00\n\t\"\\\/"}"#, r#"{a:"A😀😀\n\t\"\\/"}"#),
        ("{a: `one\r\ntwo`, b: 'x\\\ny', c: `\\${no}`}", r#"{a:"one\ntwo",b:"xy",c:"${no}"}"#),
        ("\"text\"", "\"text\""),
    ] {
        assert_eq!(parse_json(text).as_ref().map(plain), Ok(value.to_string()), "{text}");
    }
}

#[test]
fn keys_and_values_know_their_places() {
    let node = parse_json("{\n  \"ü\": 1, b:\r\n    'x',\r  c: {d: true}\n}").unwrap();
    let LiteralValue::Table(entries) = &node.value else { panic!("{node:?}") };
    let places: Vec<_> = entries.iter().map(|entry| (entry.at, entry.node.at)).collect();
    assert_eq!(places, [(place(2, 3), place(2, 8)), (place(2, 11), place(3, 5)), (place(4, 3), place(4, 6))]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, at, says) in [
        ("", place(1, 1), "ends where a value"),
        ("{", place(1, 2), "`}` is missing"),
        ("{a: 1", place(1, 6), "`}` is missing"),
        ("{a 1}", place(1, 4), "expected `:`"),
        ("{a: 1 2}", place(1, 7), "expected `,`"),
        ("{a: 1, a: 2}", place(1, 8), "twice"),
        ("{'a': 1, \"\\u0061\": 2}", place(1, 10), "twice"),
        ("{a: {b: 1,\n b: 2}}", place(2, 2), "twice"),
        ("{a: 'x\n'}", place(1, 5), "end of its line"),
        ("{a: 'x", place(1, 5), "not closed"),
        ("{a: '\\q'}", place(1, 6), "means nothing"),
        ("{a: '\\ud800'}", place(1, 6), "names no character"),
        ("{a: '\\u{110000}'}", place(1, 6), "names no character"),
        ("{a: '\u{1}'}", place(1, 6), "U+0001"),
        ("{a: 010}", place(1, 5), "not a number"),
        ("{a: 0x10}", place(1, 5), "not a number"),
        ("{a: 10n}", place(1, 5), "not a number"),
        ("{a: 1..2}", place(1, 5), "not a number"),
        ("{a: -}", place(1, 5), "not a number"),
        ("{a: #}", place(1, 5), "expected a value"),
        ("{1: 2}", place(1, 2), "expected a key"),
        ("/* x", place(1, 1), "not closed"),
        ("{} {}", place(1, 4), "more text"),
        ("{} as const", place(1, 4), "more text"),
    ] {
        let fault = parse_json(text).unwrap_err();
        assert!(fault.what.contains(says) && !fault.computed, "{text}: {fault:?}");
        assert_eq!(fault.at, at, "{text}: {fault:?}");
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse_json(&nested(DEPTH)).is_ok());
    assert!(parse_json(&nested(DEPTH + 1)).unwrap_err().what.contains("32"));
    assert!(parse_json(&"{a:".repeat(100_000)).is_err());
    assert!(parse_module(&format!("export default {}", "[{a:".repeat(100_000))).is_err());
}

#[test]
fn an_object_is_found_in_every_usual_module() {
    for text in [
        "export default {a: 1}",
        "#!/usr/bin/env node\n'use strict';\nexport default {a: 1};\n",
        "import { defineConfig } from 'relaycode';\n\nexport default defineConfig({\n  a: 1,\n});\n",
        "import type { Config } from \"relaycode\"\nimport x, {y as z} from './y' with { type: 'json' }\nexport default {a: 1} satisfies Config",
        "import 'x';\nconst config: Config = {a: 1};\nexport default config;",
        "const config: import('relaycode').Config<'x', {b: 1}> = {a: 1}\nexport default config\n",
        "const config = {a: 1} as const satisfies A.B<C>;\nexport default config as D",
        "/** @type {import('relaycode').Config} */\nmodule.exports = {a: 1};",
        "const { defineConfig } = require('relaycode');\nmodule.exports = defineConfig({a: 1});",
        "const relay = require('relaycode')\nmodule.exports = {a: 1}",
        "export const config = {a: 1}; export default config",
        "export = {a: 1}",
        "export default ({a: 1 as const})",
        "export default defineConfig<Config>({a: 1 as Config['a']})",
    ] {
        assert_eq!(parse_module(text).as_ref().map(plain), Ok("{a:1}".to_string()), "{text}");
    }
}

#[test]
fn names_stand_for_what_was_declared_above_them() {
    for text in [
        "const a = 1;\nexport default {a}",
        "const n = 1, o = {a: n};\nexport default o",
        "const one = 1 as const\nconst config = {a: one}\nexport default defineConfig(config)",
        "export const a: number = (1); module.exports = {a,};",
        "const a = 1; const b = {a}; const c = b; export default (c)",
        "let a = 1\nexport default {'a': a satisfies number}",
    ] {
        assert_eq!(parse_module(text).as_ref().map(plain), Ok("{a:1}".to_string()), "{text}");
    }
    let node = parse_module("const lint = 'tsc';\nexport default {lint}").unwrap();
    let LiteralValue::Table(entries) = node.value else { panic!("{node:?}") };
    assert_eq!(
        (entries[0].at, entries[0].node.at),
        (place(2, 17), place(1, 14)),
        "the value knows its place"
    );
}

#[test]
fn names_do_not_make_a_short_text_a_long_value() {
    let mut text = "const a0 = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1];\n".to_string();
    for n in 1..20 {
        let before = format!("a{}", n - 1);
        text += &format!("const a{n} = [{}];\n", vec![before; 10].join(", "));
    }
    text += "export default {a: a19};\n";
    let fault = parse_module(&text).unwrap_err();
    assert!(fault.what.contains("more than 10000 values"), "{fault:?}");
    assert!(!fault.computed && fault.at.line > 1, "{fault:?}");
}

#[test]
fn what_would_have_to_be_run_is_refused_with_its_place() {
    for (text, at) in [
        ("export default {a: process.env.X}", place(1, 20)),
        ("export default {\n  a: 'x' + y}", place(2, 10)),
        ("export default {a: `x${y}`}", place(1, 22)),
        ("export default {a: f()}", place(1, 20)),
        ("export default {...base}", place(1, 17)),
        ("export default {a: [...base]}", place(1, 21)),
        ("export default {[a]: 1}", place(1, 17)),
        ("export default {a}", place(1, 17)),
        ("export default {a() { return 1 }}", place(1, 17)),
        ("export default {get a() { return 1 }}", place(1, 17)),
        ("export default {a: 1 ? 2 : 3}", place(1, 22)),
        ("export default () => ({a: 1})", place(1, 17)),
        ("export default async () => ({a: 1})", place(1, 16)),
        ("export default make({a: 1})", place(1, 16)),
        ("export default missing", place(1, 16)),
        ("export default 'text'", place(1, 16)),
        ("const c = {a: 1};\nc.a = 2;\nexport default c", place(2, 1)),
        ("let c = {a: 1}; c = {a: 2}; export default c", place(1, 17)),
        ("export default {a: 1}\n.b", place(2, 1)),
        ("function f() {}\nexport default {a: 1}", place(1, 1)),
        ("export default {a: 1};\nrequire('x')", place(2, 1)),
        ("export * from 'x'", place(1, 8)),
        ("import('x')", place(1, 7)),
        ("const c = f(); export default c", place(1, 11)),
        ("const a = 'x' + 'y';\nexport default {a}", place(1, 15)),
        ("const a = 'x'\n  .trim();\nexport default {a}", place(2, 3)),
        ("const a = b; const b = 1; export default {a}", place(1, 11)),
        ("const a = 1;\nexport default {b: a.c}", place(2, 21)),
        ("const a = 1;\nexport default {b: a + 1}", place(2, 22)),
        ("const a = 1;\nexport default {...a}", place(2, 17)),
        ("const a = (1 + 2); export default {a}", place(1, 14)),
        ("const [a] = [1]; export default {a}", place(1, 7)),
        ("const { a } = process.env; export default {a: 1}", place(1, 15)),
        ("export default {a: String.raw`x`}", place(1, 20)),
    ] {
        let fault = parse_module(text).unwrap_err();
        assert!(fault.computed, "{text}: {fault:?}");
        assert_eq!(fault.at, at, "{text}: {fault:?}");
    }
}

#[test]
fn a_module_exports_one_object() {
    for (text, says) in [
        ("", "exports no configuration"),
        ("const a = {b: 1}", "exports no configuration"),
        ("export default {}; export default {}", "two configurations"),
        ("const a = {}; const a = {b: 1}; export default a", "declared twice"),
        ("export default {a: 1", "missing"),
        ("export default defineConfig({a: 1}", "expected `)`"),
        ("export default {a: 1, a: 2}", "twice"),
    ] {
        let fault = parse_module(text).unwrap_err();
        assert!(fault.what.contains(says), "{text}: {fault:?}");
    }
}

/// A small generator of numbers, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        ":",
        ",",
        ";",
        "=",
        ".",
        "...",
        "\"",
        "'",
        "`",
        "${",
        "\\",
        "\\u",
        "\\u{",
        "\\ud83d",
        "//",
        "/*",
        "*/",
        "\n",
        "\r",
        "\u{2028}",
        " ",
        "a",
        "é",
        "😀",
        "0",
        "1",
        "-",
        "+",
        "e",
        "_",
        "true",
        "null",
        "as",
        "satisfies",
        "const",
        "let",
        "import",
        "from",
        "export",
        "default",
        "module.exports",
        "require",
        "defineConfig",
        "#!",
        "\u{feff}",
        "\u{0}",
        "with",
        "config",
    ];
    for seed in 1..=30_000 {
        let mut dice = Dice(seed);
        let text: String = (0..dice.below(40)).map(|_| PIECES[dice.below(PIECES.len())]).collect();
        for fault in [parse_json(&text).err(), parse_module(&text).err()].into_iter().flatten() {
            assert!(fault.at.line > 0 && fault.at.column > 0, "seed {seed}: {fault:?}");
        }
    }
}

#[test]
fn a_large_text_takes_time_in_proportion() {
    const SIZE: usize = 1 << 20;
    let fill = |head: &str, piece: &str| format!("{head}{}", piece.repeat(SIZE / piece.len()));
    let keys: String = (0..100_000).map(|n| format!("k{n}:1,")).collect();
    let begun = Instant::now();
    for text in [
        fill("", "["),
        fill("{a:", "'"),
        fill("{a: '", "\\u0041"),
        fill("[", "1,"),
        fill("[", "1 as a<b>,"),
        fill("", "/**/"),
        fill("", "/*"),
        fill("", "import "),
        fill("", "const a:"),
        fill("const a: ", "<"),
        fill("export default {a: 1", "1"),
        fill("export default {a: 1 as ", "a<b>."),
        fill("", "const a={};"),
        fill("", "x"),
        format!("export default {{{keys}}}"),
    ] {
        let _ = parse_json(&text);
        let _ = parse_module(&text);
    }
    // It takes a few seconds unoptimised; a quadratic reader takes hours.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}
