//! The law of escaping: what a browser reads back is the text, with invisible characters spelled out.

use std::fmt::Write as _;
use std::fs;

use relaycode_testkit::browser::Browser;
use relaycode_testkit::random::Random;
use relaycode_testkit::{hostile_text, or_skip};
use relaycode_text::html::{escape_line, escape_text, show_hidden};
use serde_json::Value;

/// Strings in one page.
const STRINGS: u64 = 4_000;

/// Characters that matter to browsers, and to people who fool them.
const PIECES: &[&str] = &[
    "<",
    ">",
    "&",
    "\"",
    "'",
    "`",
    "=",
    "/",
    "</script>",
    "</style>",
    "</textarea>",
    "</title>",
    "<!--",
    "-->",
    "--!>",
    "]]>",
    "<![CDATA[",
    "<?x",
    "&lt;",
    "&amp;",
    "&#60;",
    "&#x3c",
    "&lt",
    "&notit;",
    "\0",
    "\r",
    "\r\n",
    "\n",
    "\t",
    "\u{c}",
    "\u{b}",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{fffd}",
    "\u{10ffff}",
    "\u{d7ff}",
    "\u{e000}",
    "\u{202e}",
    "\u{200d}",
    "👩",
    "💻",
    "é",
    "e\u{301}",
    "javascript:",
    "{{7*7}}",
    "${x}",
    "x",
    " ",
    "  ",
    "\\",
];

fn string(number: u64) -> String {
    if number.is_multiple_of(2) {
        return hostile_text::hostile_string(number);
    }
    let mut random = Random::of_case(7, number);
    (0..random.below(12)).map(|_| *random.pick(PIECES)).collect()
}

#[test]
fn a_browser_reads_back_what_was_written() {
    let browser = or_skip!(Browser::start());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("strings.html");
    let mut page = "<!doctype html><meta charset=utf-8><title>strings</title><body>".to_owned();
    let (mut texts, mut lines) = (Vec::new(), Vec::new());
    for number in 0..STRINGS {
        let raw = string(number);
        write!(page, "<pre title=\"{}\"><code>{}</code></pre>", escape_line(&raw), escape_text(&raw))
            .unwrap();
        texts.push(show_hidden(&raw).into_owned());
        lines.push(written_out(&raw));
    }
    fs::write(&file, page).unwrap();
    let page = browser.open_file(&file);
    let read = |what: &str| -> Vec<String> {
        let list = page.eval(&format!("[...document.querySelectorAll('pre')].map(pre => {what})"));
        let Value::Array(list) = list else { panic!("no list") };
        list.into_iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    for (got, expected) in [(read("pre.textContent"), texts), (read("pre.title"), lines)] {
        assert_eq!(got.len(), expected.len());
        for (number, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert_eq!(got, expected, "string {number}: {:?}", string(number as u64));
        }
    }
    let elements = page.eval("document.body.querySelectorAll('*').length");
    assert_eq!(elements, 2 * STRINGS);
    assert_eq!(page.requests().len(), 1);
    assert_eq!(page.eval("typeof window.__pwned"), "undefined");
}

/// Text on one line, escaped independently of the product code: character by character.
fn written_out(raw: &str) -> String {
    let shown = show_hidden(&raw.replace("\r\n", "\r \n")).replace("\\r \n", "\\r\n");
    shown.replace('\n', "\\n").replace('\t', "\\t")
}
