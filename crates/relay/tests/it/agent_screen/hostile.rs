//! Answers that want to own the terminal, and a terminal that is no help: nothing foreign reaches it raw, the screen stays right,
//! memory stays bounded.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use regex::Regex;
use relaycode_testkit::hostile_text::{find_unsafe_char, hostile_string};
use relaycode_testkit::model::ScriptedTurn;
use relaycode_testkit::process::GENEROUS_TIMEOUT;
use relaycode_testkit::random::Random;
use relaycode_testkit::screen::TestScreen;
use serde_json::json;

use super::{LiveConversation, LiveStart, PLACEHOLDER};

/// Known from attacks on terminals, each with something that the generated ones have not.
const CRAFTED: [&str; 20] = [
    "\x1b]52;c;aGFja2Vk\x07clip",
    "\x1b]52;c;aGFja2Vk\x1b\\clip",
    "\x1b]0;owned\x07title",
    "\x1b]8;;https://evil.example/\x1b\\click\x1b]8;;\x1b\\",
    "[click](https://evil.example/\x1b]0;x\x07)",
    "\x1b[5;38;5;199mblink\x1b[?1049h\x1b[?25l",
    "\x1b[2J\x1b[H\x1b[3Jgone",
    "\x1bP+q544e\x1b\\dcs \x1b_Gf=24;AAAA\x1b\\apc \x1b^pm\x1b\\ \x1bXsos\x1b\\",
    "\u{90}+q\u{9c} \u{9b}2J \u{9d}0;x\u{9c} \u{85}\u{8d}",
    "\u{202e}gnirts\u{202c} \u{2066}iso\u{2069} \u{200e}\u{200f}\u{61c}",
    "z\u{200b}e\u{200c}r\u{2060}o\u{feff} w\u{ad}idth",
    "👨\u{200d}👩\u{200d}👧\u{200d}👦 👩🏽\u{200d}🚀 🏳\u{fe0f}\u{200d}🌈 🇩🇪 ❤\u{fe0f}",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301} Z̷̢̛a̸l̵g̶o",
    "a\tb\tc\n\td\0e\x07f\x08\x08\x08g\x0bh\x0ci\x7fj\rk",
    "```rust\nfn half( {\n    \"open",
    "| a | b\n|---|--\n| `c",
    "- [ ] **half *of `it [x](y\n\n> > > deep\n    - \x1b[31mred",
    "<!-- \x1b[1A\x1b[K --> <script>alert(1)</script> &#27;[2J &#x1b;[2J",
    "日本語の長い文章がここにありますので幅を数えてください。한국어도 있습니다。",
    "\x1b[6n\x1b[c\x1b[>q\x1b[?u\x1b]11;?\x07\x05 asks",
];

/// What is left of what relay wrote without relay's own sequences: text.
fn without_own_sequences(raw: &[u8]) -> String {
    let text = String::from_utf8(raw.to_vec()).expect("valid text");
    // Colours; motions that relay uses; its modes and queries; links.
    let own = [
        r"\x1b\[[0-9;:]*m",
        r"\x1b\[\d*[AGL]",
        r"\x1b\[[JK]",
        r"\x1b\[\?(2026|25|2004|1004|2031)[hl]",
        r"\x1b\[(>4;2m|>4m|>1u|<u|\?u|c)",
        r"\x1b\]11;\?\x1b\\",
        r"\x1b\]8;[^;\x1b]*;[\x21-\x7e]*\x1b\\",
    ];
    let own = Regex::new(&own.join("|")).unwrap();
    own.replace_all(&text, "").replace('\r', "")
}

#[track_caller]
fn assert_nothing_raw(screen: &TestScreen) {
    let raw = screen.raw();
    let text = without_own_sequences(&raw);
    if let Some(found) = find_unsafe_char(&text, false) {
        let at = text.find(found).unwrap_or(0);
        let around: String = text[at..].chars().take(60).collect();
        panic!("{found:?} reached the terminal raw: {around:?}");
    }
    let all = String::from_utf8_lossy(&raw);
    for taken in ["\x1b[5;", "\x1b[38;5;199", "\x1b[2J", "\x1b[3J", "\x1b]52", "\x1b]0;"] {
        assert!(!all.contains(taken), "{taken:?} reached the terminal");
    }
    assert!(!screen.with_emulator(|emulator| emulator.alternate_screen()));
}

#[test]
fn sixty_hostile_answers() {
    let hostile = |number: usize| match CRAFTED.get(number) {
        Some(text) => (*text).to_string(),
        None => (0..4).map(|part| hostile_string((number * 10 + part) as u64)).collect::<Vec<_>>().join(" "),
    };
    let turns = (0..60usize).map(|number| {
        let text = format!("{}\n\nend-of-{number:02}", hostile(number));
        // Cut anywhere, a sequence comes in parts.
        let pieces: Vec<String> =
            text.chars().collect::<Vec<_>>().chunks(3).map(|part| part.iter().collect()).collect();
        ScriptedTurn::pieces(pieces)
    });
    let live = LiveConversation::of(turns);
    for number in 0..60 {
        live.say(&format!("number {number:02}"));
        live.screen.wait_for_line(&format!("end-of-{number:02}"));
        live.wait("› say what to do");
        live.wait_idle();
        let screen = live.screen.text();
        assert!(screen.lines().last().unwrap_or_default().contains("workspace"), "{number}: {screen}");
        assert_eq!(screen.matches("› say what to do").count(), 1, "{number}: {screen}");
    }
    assert_nothing_raw(&live.screen);
    let seen = live.screen.scrollback_text();
    let mut last = 0;
    for number in 0..60 {
        let end = format!("end-of-{number:02}");
        assert_eq!(seen.matches(&end).count(), 1, "{end}");
        let at = seen.find(&end).unwrap_or(0);
        assert!(at > last, "{end} is out of order");
        last = at;
    }
}

#[test]
fn hostile_names_commands_and_output_of_tools() {
    let evil = "\x1b]52;c;aGk=\x07\x1b[2J\u{202e}x\u{9b}2J";
    let live = LiveStart::of([
        ScriptedTurn::text("Look.")
            .tool("read", json!({"path": format!("a{evil}.txt")}))
            .tool("bash", json!({"command": "printf '\\033]52;c;aGk=\\007\\033[2J\\033[31mred\\033[0m\\233 x\\n'; printf '\\342\\200\\256rtl\\n'"})),
        ScriptedTurn::call("ask", json!({"questions": [{"id": "c", "question": format!("Which {evil}?"),
            "options": [{"label": format!("red {evil}")}, {"label": "blue"}]}]})),
        ScriptedTurn::text("Done."),
    ])
    .args(&["run", "--access", "full"])
    .start();
    live.say("Go");
    live.wait("Which ");
    live.wait("blue");
    live.settled();
    assert_nothing_raw(&live.screen);
    live.keys("\x0f");
    live.settled();
    live.keys("\x1b");
    live.settled();
    assert_nothing_raw(&live.screen);
}

#[test]
fn a_line_of_five_megabytes() {
    let live = LiveConversation::of([
        ScriptedTurn::text("begin").with(|turn| turn.big_line = Some(5 << 20)),
        ScriptedTurn::text("Next."),
    ]);
    let began = Instant::now();
    live.say("Go");
    live.screen.wait_for(
        |screen| {
            screen.text().contains("takes")
                || screen.text().contains(PLACEHOLDER) && screen.raw().len() > 5_000
        },
        GENEROUS_TIMEOUT,
    );
    live.wait(PLACEHOLDER);
    live.wait_idle();
    let usage = live.screen.usage();
    println!(
        "5 MB line: {:?}, {} MB, {} bytes written",
        began.elapsed(),
        usage.own_memory >> 20,
        live.screen.raw().len()
    );
    assert!(usage.own_memory < 400 << 20, "{usage:?}");
    live.ask("And?", "Next.");
}

#[test]
fn a_code_block_of_ten_thousand_lines() {
    let mut text = "Here:\n\n```rust\n".to_string();
    for number in 0..10_000 {
        writeln!(text, "let line_{number:05} = {number};").unwrap();
    }
    text.push_str("```\n\nThat was it.");
    let pieces: Vec<String> =
        text.as_bytes().chunks(97).map(|part| String::from_utf8_lossy(part).into_owned()).collect();
    let live = LiveConversation::of([ScriptedTurn::pieces(pieces)]);
    let began = Instant::now();
    live.ask("Go", "That was it.");
    let usage = live.screen.usage();
    println!(
        "10,000 lines: {:?}, {} MB, {} bytes written for {}",
        began.elapsed(),
        usage.own_memory >> 20,
        live.screen.raw().len(),
        text.len()
    );
    assert!(usage.own_memory < 200 << 20, "{usage:?}");
    let seen = live.screen.scrollback_text();
    let numbers: Vec<&str> =
        seen.lines().filter_map(|line| line.trim_start().strip_prefix("let line_")?.get(..5)).collect();
    assert!(
        numbers.is_sorted() && numbers.windows(2).all(|pair| pair[0] != pair[1]),
        "each line once and in order"
    );
    println!("{} of 10,000 lines are in the scrollback", numbers.len());
}

#[test]
fn a_paste_of_ten_megabytes() {
    let live = LiveConversation::of([ScriptedTurn::text("Next.")]);
    let text = "0123456789abcdef 0123456789abcdef 0123456789abcdef 0123456789ab\n".repeat(10 * 16 * 1024);
    let began = Instant::now();
    live.screen.paste(&text);
    live.screen.wait_for(|screen| screen.text().contains("not pasted"), GENEROUS_TIMEOUT);
    println!("a paste of 10 MB: {:?}, {} MB", began.elapsed(), live.screen.usage().own_memory >> 20);
    insta::assert_snapshot!(live.settled(), @"
    relay 0.1.0 · project-000000 · work/m1 · workspace
      next  say what to do · /help lists commands · ? lists keys

      · not pasted: it has more than 2 kB; save it as a file and name that with @

    › say what to do
      workspace · 13 % of context · work/m1 · ? keys
    ");
    assert!(live.screen.usage().own_memory < 300 << 20);
    live.wait(PLACEHOLDER);
    live.ask("And?", "Next.");
}

#[test]
fn a_storm_of_sizes_while_it_streams() {
    let pieces: Vec<String> = (0..600)
        .map(|number| format!("word-{number:03} "))
        .chain(["\n\nstorm-is-over".to_string()])
        .collect();
    let live = LiveConversation::of([
        ScriptedTurn::pieces(pieces).with(|turn| turn.chunk_delay_ms = 2),
        ScriptedTurn::text("A quiet answer."),
    ]);
    live.say("Go");
    live.wait("word-00");
    let mut random = Random::of_case(7, 1);
    for _ in 0..150 {
        let size = |least: usize, most: usize, random: &mut Random| {
            u16::try_from(least + random.below(most - least)).unwrap()
        };
        let (columns, rows) = (size(20, 300, &mut random), size(5, 60, &mut random));
        live.screen.resize(columns, rows);
        let version = live.screen.raw().len();
        let drawn = |screen: &TestScreen| screen.raw().len() != version;
        let _moved = relaycode_testkit::process::poll_until(Duration::from_millis(12), || {
            drawn(&live.screen).then_some(())
        });
    }
    live.screen.resize(80, 30);
    live.screen.wait_for_line("storm-is-over");
    live.wait_idle();
    live.ask("And now?", "A quiet answer.");
    let screen = live.settled();
    let at = screen.rfind("› And now?").expect("the prompt");
    insta::assert_snapshot!(screen[at..], @"
    › And now?

      A quiet answer.

      15 tokens

    › say what to do
      workspace · 0 % of context · work/m1 · ? keys
    ");
    assert_nothing_raw(&live.screen);
}
