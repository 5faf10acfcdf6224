//! Leaks by their grammar, at any place of real files; and real files, also with sentences and code about the protocol.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// A generator of numbers that repeats itself with the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most.max(1) as u64).unwrap()
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const SPAM: [&str; 9] =
    ["天天彩票平台", "大发快三", "казино онлайн", "เงินฟรี", "ఆటలు", "ಆಟ", "თამაში", "խաղ", "لعبة"];
const NAMES: [&str; 6] =
    ["edit", "write", "bash", "apply_patch", "report_tool_issue", "multi_tool_use.parallel"];
const PROSE: [&str; 6] = [
    "above we need to change the function first",
    "I should look at \"path\" and then edit `foo`",
    "maybe the tests don't run",
    "{\"path\":\"src/a.rs\",\"edits\":[]}",
    "done.",
    "let x = f(\"a\", 'b');",
];

/// As the grammar says it; ends where the argument ends.
fn leak(dice: &mut Dice) -> String {
    let mut text = String::new();
    for at in 0..=dice.below(3) {
        if at > 0 {
            text.push_str(dice.one(&["", " "]));
        }
        text.push_str(match dice.below(5) {
            0 => dice.one(&RARE_TOKENS),
            1 => dice.one(&SPAM),
            2 => "}",
            3 => "】【",
            _ => dice.one(&CHANNELS),
        });
    }
    text.push_str(dice.one(&["", " ", " ", "\n"]));
    text.push_str(MARKER);
    text.push_str(dice.one(&NAMES));
    text.push_str(dice.one(&[" ", " ", "\n "]));
    text.push_str("code ");
    for _ in 0..dice.below(4) {
        text.push_str(&match dice.below(3) {
            0 => dice.one(&SPAM).to_string(),
            1 => dice.one(&PROSE).to_string(),
            _ => format!("code_output\nCell {}:\n{}\n", dice.below(9), dice.one(&PROSE)),
        });
        text.push(' ');
    }
    if dice.chance(45) {
        text.push_str(&leak(dice));
    }
    text
}

/// How people write about such headers.
const MENTIONS: [&str; 22] = [
    "The marker `analysis to=functions.edit code …` is what a leak looks like.",
    "A leak (`commentary to=functions.edit\ncode above`) may wrap, and the span with it.",
    "<|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{\"city\":\"Rome\"}<|call|>",
    "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>",
    "assistant to=functions.get_weather is how a call is routed.",
    "The recipient is written as to=functions.NAME, for example to=functions.edit code is not part of it.",
    "const MARKER: &str = \"to=functions.\";",
    "let sample = \"foo();】【analysis to=functions.edit code above เงินฟรีuser to=functions.edit code\";",
    "assert!(find(\"commentary to=functions.write code \\\"quoted\\\" more\").is_some());",
    "    grep -rn 'analysis to=functions.edit code' src | wc -l",
    "rg \"user to=functions\" --files-with-matches",
    "if text.contains(\"to=functions.\") { return Err(\"analysis to=functions.x code\".into()); }",
    "```\n~ add(iso);】【analysis to=functions.edit\n code above เงินฟรีuser to=functions.edit code …\n```",
    "```text\nJapgolly to=functions.edit code\n```",
    "/// ```text\n/// analysis to=functions.edit code above\n/// ```",
    "* it's `Japgolly to=functions.edit code`, and that isn't all",
    "出现在 `analysis to=functions.edit code` 之后的内容不可信。",
    "Заголовок `commentary to=functions.edit code` — часть протокола.",
    "格式为 to=functions.edit 的标记",
    "curl 'https://example.org/?from=a&to=functions.edit'",
    "goto=functions.edit; redirect_to=functions.list code",
    "{\"text\": \"analysis to=functions.edit code above\", \"is_leak\": true}",
];

/// The sources and documents of this repository.
fn real_texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts = Vec::new();
    let mut folders: Vec<PathBuf> =
        ["crates", "docs", "xtask", "editors"].map(|name| root.join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !["target", "node_modules"].contains(&name.as_str()) {
                folders.push(path);
            } else if [".rs", ".md", ".json", ".toml", ".ts", ".js", ".yml"]
                .iter()
                .any(|end| name.ends_with(end))
            {
                texts.extend(fs::read_to_string(&path).ok().filter(|text| text.len() > 500));
            }
        }
    }
    assert!(texts.len() > 500, "{}", texts.len());
    texts
}

/// Some whole lines of a real file.
fn lines_of<'t>(texts: &'t [String], dice: &mut Dice) -> &'t str {
    let text = &texts[dice.below(texts.len())];
    let from = if dice.chance(30) { 0 } else { dice.below(text.len()) };
    let from = text[..floor(text, from)].rfind('\n').map_or(0, |at| at + 1);
    let end = floor(text, (from + 200 + dice.below(1_500)).min(text.len()));
    let end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    &text[from..end]
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[test]
fn every_one_of_ten_thousand_leaks_is_found_before_it_begins() {
    let (texts, mut dice) = (real_texts(), Dice(0x1234_5678_9abc_def1));
    for round in 0..10_000 {
        let base = lines_of(&texts, &mut dice);
        let base = &base[..floor(base, dice.below(base.len() + 1))];
        let leak = leak(&mut dice);
        let found = find_leak(&format!("{base}{leak}"));
        let start = found.map(|found| found.start);
        assert!(start.is_some_and(|start| start <= base.len()), "round {round}: {start:?} in {base}⟨{leak}⟩");
    }
}

#[test]
fn none_of_a_hundred_thousand_clean_texts_is_taken_for_a_leak() {
    let (texts, mut dice) = (real_texts(), Dice(0xfeed_5678_9abc_def1));
    for round in 0..100_000 {
        let mut text = lines_of(&texts, &mut dice).to_string();
        if dice.chance(40) {
            let mention = dice.one(&MENTIONS);
            // Lines of a file may begin or end within a fence or a string of several lines: an argument of its own then.
            text = match dice.below(3) {
                0 => mention.to_string(),
                1 => format!("# About leaks\n\n{mention}\n\n{}", "More of it.\n".repeat(dice.below(5))),
                _ => format!("fn f() {{\n}}\n\n{mention}\n\n{}\n", dice.one(&PROSE)),
            };
        }
        assert_eq!(find_leak(&text), None, "round {round}: {text}");
    }
}

#[test]
fn the_cut_is_where_the_junk_begins() {
    let cut = |text: &str| find_leak(text).map(|leak| text[..leak.start].to_string());
    assert_eq!(cut("done();】【\"】【analysis to=functions.edit\n code above"), Some("done();".into()));
    assert_eq!(cut("a = 1 Japgolly to=functions.edit"), Some("a = 1 ".into()));
    assert_eq!(cut("x\nassistant to=functions.a code user to=functions.b code"), Some("x\n".into()));
    assert_eq!(cut("a<|message|>】【to=functions.edit code"), Some("a<|message|>".into()));
    assert_eq!(cut("to=functions.edit code"), None);
}

#[test]
fn a_quote_that_nothing_closes_hides_nothing() {
    for text in [
        "let a = \"b analysis to=functions.edit code ",
        "let a = \"b analysis to=functions.edit code \"path\" first",
        "see `a analysis to=functions.edit code",
        "```\nlet a;\nanalysis to=functions.edit code ",
        "it's} to=functions.edit code don't",
    ] {
        assert!(find_leak(text).is_some(), "{text}");
    }
}

#[test]
fn a_text_full_of_headers_takes_time_in_proportion() {
    for piece in [
        "to=functions.a ",
        "`user to=functions.a code` ",
        "\"analysis to=functions.a code\" ",
        "用user  to=functions.a\n",
    ] {
        let text = piece.repeat((1 << 20) / piece.len());
        let began = std::time::Instant::now();
        find_leak(&text);
        assert!(began.elapsed().as_secs() < 10, "{piece}: {:?}", began.elapsed());
    }
}

#[test]
fn models_that_speak_the_protocol_are_known_by_their_names() {
    let speaks = |id: &str| is_spoken_by(&Model { id: id.into(), ..Model::default() });
    assert!(speaks("gpt-5") && speaks("openai/gpt-5.4-codex") && speaks("gpt-oss:20b"));
    assert!(!speaks("gpt-4.1") && !speaks("claude-sonnet-5") && !speaks("my-gpt-5"));
}
