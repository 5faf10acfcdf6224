//! Markdown as it streams.

use proptest::prelude::*;
use relaycode_testkit::hostile_text;
use relaycode_text::escape::is_unsafe;

use super::*;
use crate::OutputStyle;
use crate::theme::{ColorDepth, Theme, ThemeStyle};

const OUTPUT: OutputStyle = OutputStyle { color: true, utf8: true, width: None };

fn plain() -> ThemeStyle {
    ThemeStyle::plain(OUTPUT)
}

fn colored() -> ThemeStyle {
    ThemeStyle::new(OUTPUT, Theme::built_in("red-claw").unwrap().into(), ColorDepth::TrueColor)
}

fn shown(text: &str, width: usize) -> String {
    markdown_lines(text, &plain(), width).join("\n")
}

const ANSWER: &str = "# Retry with backoff

I looked at `src/client.rs` first. The client sends **every** request once, and _gives up_ when the
server answers with 503. See [the notes](https://example.com/notes) and https://example.com/rfc9110.

## What changes

1. `send` goes through `with_retry`
   - at most 5 attempts
   - 0.2 s to 10 s between them, as `Retry-After` says
2. a test with a server that fails twice

- [x] the client
- [ ] the documentation

> Nothing else is touched.
> The public API stays.

```rust
fn with_retry<T>(mut send: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let mut wait = Duration::from_millis(200); // doubles

    loop {
        match send() {
            Err(error) if error.is_temporary() => wait *= 2,
            other => return other,
        }
    }
}
```

| file | lines | why |
|:-----|------:|-----|
| src/client.rs | 31 | the loop, and what it knows about `Retry-After` |
| tests/client.rs | 27 | a server that fails twice and then answers |

---

~~Not this.~~ Done.
";

#[test]
fn an_answer_with_everything_at_80_columns() {
    insta::assert_snapshot!(shown(ANSWER, 80));
}

#[test]
fn an_answer_with_everything_at_40_columns() {
    insta::assert_snapshot!(shown(ANSWER, 40));
}

#[test]
fn an_answer_with_everything_at_120_columns() {
    insta::assert_snapshot!(shown(ANSWER, 120));
}

#[test]
fn an_answer_with_everything_at_24_columns() {
    insta::assert_snapshot!(shown(ANSWER, 24));
}

#[test]
fn an_answer_in_colours() {
    let text = "# Title\n\nSome **bold**, _italic_, `code`, ~~gone~~ and [a link](https://example.com/x).\n\n- [x] done\n\n> quoted\n\n```rust\nlet x = 1; // one\n```\n";
    let lines = markdown_lines(text, &colored(), 80);
    insta::assert_snapshot!(lines.join("\n").replace('\x1b', "␛"), @r"
    ␛[38;2;232;146;124m␛[4m␛[1mTitle␛[22m␛[24m␛[39m

    Some ␛[1mbold␛[22m, ␛[3mitalic␛[23m, ␛[38;2;116;199;194mcode␛[39m, ␛[9mgone␛[29m and ␛]8;;https://example.com/x␛\␛[38;2;127;180;224m␛[4ma link␛[24m␛[39m␛]8;;␛\.

    ␛[38;2;232;146;124m☑␛[39m done

    ␛[38;2;114;117;127m│␛[39m ␛[38;2;163;166;175mquoted␛[39m

      ␛[38;2;114;117;127mrust␛[39m
      ␛[38;2;195;163;230mlet␛[39m ␛[38;2;201;204;212mx␛[39m ␛[38;2;180;184;196m=␛[39m ␛[38;2;224;163;112m1␛[39m␛[38;2;163;166;175m;␛[39m ␛[38;2;147;150;160m// one␛[39m
    ");
}

#[test]
fn an_answer_in_ascii() {
    let style = ThemeStyle::plain(OutputStyle { utf8: false, ..OUTPUT });
    let text = "- a\n- [x] b\n\n> q\n\n| a | b |\n|---|---|\n| 1 | é |\n\n---\n";
    insta::assert_snapshot!(markdown_lines(text, &style, 40).join("\n"), @r"
    - a
    [x] b

    | q

    a | b
    --+-------
    1 | \u{e9}

    ----------------------------------------
    ");
}

#[test]
fn lists_keep_their_shape() {
    insta::assert_snapshot!(shown("Things:\n1. one\n1. two\n   more of two\n\n   a paragraph of two\n3) other\n\n* a\n  * b\n    * c\n\n      text of c\n* d\n\n-\n- after an empty one\n10. ten\n11. eleven\n    ```\n    code of eleven\n    ```\n", 60), @r"
    Things:
    1. one
    2. two more of two

       a paragraph of two
    3) other

    • a
      • b
        • c

          text of c
    • d

    •
    • after an empty one
    10. ten
    11. eleven
          code of eleven
    ");
}

#[test]
fn quotes_hold_everything() {
    insta::assert_snapshot!(shown("> # T\n> text\nlazy\n>\n> - a\n>   - b\n>\n> ```sh\n> ls\n> ```\n> > deeper\n\nout\n", 40), @r"
    │ # T
    │
    │ text lazy
    │
    │ • a
    │   • b
    │
    │   sh
    │   ls
    │
    │ │ deeper

    out
    ");
}

#[test]
fn headings_of_all_kinds() {
    insta::assert_snapshot!(shown("One\n===\nTwo\n---\n### Three ###\n#no heading\n####### seven\n#\ntext\n", 40), @r"
    # One

    ## Two

    ### Three

    #no heading ####### seven

    #

    text
    ");
}

#[test]
fn code_of_all_kinds() {
    insta::assert_snapshot!(shown("Text\n\n    indented\n\n      more\n\nafter\n```\n\n  no name\n\n```\n~~~py title=x\n\tdef f(): pass\n~~~\n````md\n```\ninner\n```\n````\n", 40), @r"
    Text

      indented

        more

    after


        no name


      py title=x
          def f(): pass

      md
      ```
      inner
      ```
    ");
}

#[test]
fn links_show_where_they_lead_if_the_terminal_does_not() {
    let text = "[docs](https://example.com/docs) [src/a.rs](src/a.rs:12) <https://example.com> ![shot](a.png) \
                [bad](javascript:alert(1)) [mail](mailto:a@example.com) (see https://example.com/a_(b)). [x]: y [^1]";
    insta::assert_snapshot!(shown(text, 100), @r"
    docs (https://example.com/docs) src/a.rs (src/a.rs:12) https://example.com image shot (a.png) bad
    (javascript:alert(1)) mail (mailto:a@example.com) (see https://example.com/a_(b)). [x]: y [^1]
    ");
}

#[test]
fn a_link_that_claims_to_lead_elsewhere_shows_its_address() {
    let text = |source: &str| markdown_lines(source, &colored(), 200).join("\n");
    assert!(text("[https://good.example](https://evil.example)").contains(" (https://evil.example)"));
    assert!(text("[good.example/login](https://evil.example)").contains("(https://evil.example)"));
    assert!(!text("[good.example](https://good.example/login)").contains('('));
    assert!(!text("[the docs](https://good.example/login)").contains('('));
    let hostile = text("[x](https://e.example/&#27;]8;;&#7;) [y](<https://e.example/a b>)");
    assert!(!hostile.contains('\x07') && hostile.contains("\\u{1b}]8"), "{hostile:?}");
}

#[test]
fn tables_fit_or_are_stacked() {
    let text = "| name | what it does | size |\n|---|:-:|--:|\n| a | a long sentence about a that wraps | 1 |\n| `b|c` \\| d | 日本語の長いテキスト | 1000 |\n| only one |\n| one | two | three | four |\n";
    insta::assert_snapshot!([shown(text, 60), shown(text, 40), shown(text, 30)].join("\n\n"), @r"
    name     │      what it does       │                    size
    ─────────┼─────────────────────────┼────────────────────────
    a        │ a long sentence about a │                       1
             │       that wraps        │
    `b       │         c` | d          │  日本語の長いテキスト |
             │                         │                    1000
    only one │                         │
    one      │           two           │            three | four

    name     │ what it does  │          size
    ─────────┼───────────────┼──────────────
    a        │    a long     │             1
             │   sentence    │
             │ about a that  │
             │     wraps     │
    `b       │    c` | d     │    日本語の長
             │               │  いテキスト |
             │               │          1000
    only one │               │
    one      │      two      │  three | four

    name: a
    what it does: a long sentence
    about a that wraps
    size: 1
    ────────
    name: `b
    what it does: c` | d
    size: 日本語の長いテキスト |
    1000
    ────────
    name: only one
    ────────
    name: one
    what it does: two
    size: three | four
    ");
}

#[test]
fn html_and_footnotes_are_text() {
    insta::assert_snapshot!(shown("<details>\n<summary>More</summary>\n\ntext <b>bold</b> &amp; &lt;x&gt;[^1]\n\n[^1]: A note.\n<!-- c -->\n", 40), @r"
    <details>
    <summary>More</summary>

    text <b>bold</b> & <x>[^1]

    [^1]: A note. <!-- c -->
    ");
}

#[test]
fn half_an_answer_shows_what_it_will_most_likely_be() {
    let half = |text: &str| {
        let mut stream = MarkdownStream::new();
        stream.push(text);
        let mut lines = stream.take_finished(&plain(), 40);
        lines.push("--".to_owned());
        lines.extend(stream.live(&plain(), 40));
        lines.join("\n")
    };
    let cases = [
        "Some **bold te",
        "Some `code wi",
        "See [the docs](https://exa",
        "```rust\nfn f() {\n    let",
        "Text\n``",
        "- one\n- tw",
        "| a | b |\n|---|---|\n| 1 |",
        "# Head",
        "A para\n\n> quo",
        "a *",
        "~~gone",
        "Things:\n-",
        "Things:\n1.",
        "| a | b |\n|--",
    ];
    insta::assert_snapshot!(cases.map(half).join("\n======\n"), @r"
    --
    Some bold te
    ======
    --
    Some `code wi`
    ======
    --
    See the docs
    ======
      rust
      fn f() {
    --
          let
    ======
    --
    Text
    ======
    --
    • one
    • tw
    ======
    --
    a │ b
    ──┼──
    1 │
    ======
    --
    # Head
    ======
    A para
    --

    │ quo
    ======
    --
    a
    ======
    --
    ~~gone~~
    ======
    --
    Things:
    ======
    --
    Things:
    ======
    --
    | a | b |
    ");
}

#[test]
fn long_code_is_folded_with_its_number_of_lines() {
    let mut stream = MarkdownStream::new().with_folded_code(3);
    stream.push("```\n1\n2\n3\n4\n5\n");
    assert_eq!(stream.take_finished(&plain(), 40), ["  1", "  2", "  3"]);
    assert_eq!(stream.live(&plain(), 40), ["  … 2 more lines so far"]);
    assert_eq!(stream.open_code_lines(), Some(5));
    stream.push("6\n7\n```\nafter");
    stream.finish();
    assert_eq!(stream.take_finished(&plain(), 40), ["  … 4 more lines", "", "after"]);
    // Two more are shown: a line that says so takes as much room.
    let mut stream = MarkdownStream::new().with_folded_code(3);
    stream.push("```\n1\n2\n3\n4\n5\n```\n");
    assert_eq!(stream.take_finished(&plain(), 40), ["  1", "  2", "  3", "  4", "  5"]);
}

#[test]
fn emoji_are_shown_without_what_terminals_disagree_about() {
    assert_eq!(
        shown("⚠\u{fe0f} 👨\u{200d}👩\u{200d}👧 ok\u{200b}x \u{202e}y", 80),
        "⚠ 👨👩👧 ok\\u{200b}x \\u{202e}y"
    );
}

#[test]
fn a_line_without_end_is_shown_in_parts_and_costs_little() {
    let mut stream = MarkdownStream::new();
    let start = std::time::Instant::now();
    for _ in 0..500 {
        stream.push(&"word ".repeat(2_000));
    }
    stream.push(&"x".repeat(1 << 20));
    stream.finish();
    let lines = stream.take_finished(&plain(), 80);
    assert!(lines.iter().all(|line| crate::cells(line) <= 80));
    assert_eq!(lines.join(" ").matches("word").count(), 1_000_000);
    assert!(!lines.iter().any(String::is_empty));
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn ten_thousand_chunks_cost_little_each() {
    let text = ANSWER.repeat(90);
    let mut chunks = Vec::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (chunk, behind) = rest.split_at(rest.floor_char_boundary(8.min(rest.len())));
        chunks.push(chunk);
        rest = behind;
    }
    chunks.truncate(10_000);
    let style = colored();
    let mut stream = MarkdownStream::new();
    let start = std::time::Instant::now();
    let (mut lines, mut live) = (0, 0);
    for (number, chunk) in chunks.iter().enumerate() {
        stream.push(chunk);
        // A frame every 16 ms at 1,000 chunks a second.
        if number % 16 == 0 {
            lines += stream.take_finished(&style, 100).len();
            live += stream.live(&style, 100).len();
        }
    }
    let took = start.elapsed();
    println!(
        "{} chunks, {lines} lines, {live} live lines: {took:?}, {:?} each",
        chunks.len(),
        took / chunks.len() as u32
    );
    assert!(took.as_secs() < 10, "{took:?}");
}

#[test]
fn a_code_block_of_ten_thousand_lines_is_linear() {
    let took = |lines: usize| {
        let (mut stream, style) = (MarkdownStream::new(), colored());
        let start = std::time::Instant::now();
        stream.push("```rust\n");
        for _ in 0..lines {
            stream.push("    let total = items.iter().map(|item| item.price).sum::<f64>(); // all\n");
            stream.live(&style, 100);
            stream.take_finished(&style, 100);
        }
        start.elapsed()
    };
    took(100);
    let (few, many) = (took(1_000), took(10_000));
    println!("1,000 lines {few:?}, 10,000 lines {many:?}");
    assert!(many < few * 30 + std::time::Duration::from_secs(1), "{few:?} {many:?}");
}

#[test]
fn hostile_answers_reach_the_terminal_only_as_text() {
    for number in 0..600 {
        let strings: Vec<String> = (number * 8..number * 8 + 8).map(hostile_text::hostile_string).collect();
        let text = format!(
            "# {}\n\n{}\n\n- {}\n\n```{}\n{}\n```\n\n| {} | b |\n|--|--|\n| {} | [x]({}) |\n",
            strings[0], strings[1], strings[2], strings[3], strings[4], strings[5], strings[6], strings[7]
        );
        for style in [plain(), colored()] {
            let mut stream = MarkdownStream::new();
            stream.push(&text);
            let mut lines = stream.live(&style, 50);
            stream.finish();
            lines.extend(stream.take_finished(&style, 50));
            for line in lines {
                let bare = without_looks(&line);
                assert_eq!(hostile_text::find_unsafe_char(&bare, false), None, "{number}: {line:?}");
                assert!(!bare.contains('\n') && crate::cells(&bare) <= 50, "{number}: {line:?}");
            }
        }
    }
}

#[test]
fn markdown_made_to_be_slow_is_not() {
    for piece in [
        "[",
        "[a](",
        "*a **b ",
        "`a ``",
        "<a ",
        "![[",
        "> ",
        "- ",
        "1. a\n  ",
        "| a ",
        "|-",
        "~~a ~",
        "_a_ __",
        "http://a.",
        "\\",
        "&#x",
        "# ",
    ] {
        let start = std::time::Instant::now();
        let mut stream = MarkdownStream::new();
        for _ in 0..8 {
            stream.push(&piece.repeat(25_000 / piece.len()));
            stream.live(&plain(), 80);
            stream.take_finished(&plain(), 80);
        }
        stream.finish();
        stream.take_finished(&plain(), 80);
        println!("{piece:?} {:?}", start.elapsed());
        assert!(start.elapsed().as_secs() < 10, "{piece:?} {:?}", start.elapsed());
    }
}

/// Pieces that Markdown is made of, whole and broken.
const PIECES: &[&str] = &[
    "word",
    " ",
    "  ",
    "\n",
    "\n",
    "\n\n",
    "**",
    "*",
    "_",
    "`",
    "``",
    "```",
    "~~",
    "~~~",
    "# ",
    "## ",
    "- ",
    "* ",
    "1. ",
    "2) ",
    "> ",
    ">",
    "    ",
    "\t",
    "| a | b |",
    "|---|",
    "|",
    "---",
    "===",
    "[",
    "](",
    ")",
    "![",
    "<b>",
    "</b>",
    "<!--",
    "https://example.com/a",
    "\\",
    "\r\n",
    "\r",
    "é",
    "日本語",
    "🙂",
    "👨\u{200d}👩",
    "e\u{301}",
    "- [x] ",
    "```rust\n",
    "\n```\n",
    "fn f() {",
    "&lt;",
    "&#27;",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{e000}",
    ":-:",
    "a.b",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_chunking_gives_the_same_finished_lines(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
        sizes in prop::collection::vec(1_usize..9, 1..20),
        width in 8_usize..60,
        fold: bool,
    ) {
        let text = pieces.concat();
        let new = || if fold { MarkdownStream::new().with_folded_code(2) } else { MarkdownStream::new() };
        let style = plain();
        let mut whole = new();
        whole.push(&text);
        whole.finish();
        let expected = whole.take_finished(&style, width);

        let mut stream = new();
        let mut lines: Vec<String> = Vec::new();
        let mut rest = text.as_str();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let mut cut = (*size).min(rest.len());
            while !rest.is_char_boundary(cut) {
                cut += 1;
            }
            stream.push(&rest[..cut]);
            rest = &rest[cut..];
            // Looking at what is open changes nothing.
            stream.live(&style, width);
            lines.extend(stream.take_finished(&style, width));
        }
        stream.finish();
        lines.extend(stream.take_finished(&style, width));
        prop_assert_eq!(lines, expected);
    }

    #[test]
    fn no_line_is_too_wide_or_holds_what_a_terminal_obeys(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
        noise in any::<String>(),
        width in 4_usize..90,
        utf8: bool,
    ) {
        let text = format!("{}{noise}", pieces.concat());
        for painted in [false, true] {
            let output = OutputStyle { utf8, ..OUTPUT };
            let style = ThemeStyle { output, ..if painted { colored() } else { plain() } };
            let mut stream = MarkdownStream::new();
            stream.push(&text);
            let mut lines = stream.take_finished(&style, width);
            lines.extend(stream.live(&style, width));
            stream.finish();
            lines.extend(stream.take_finished(&style, width));
            for line in &lines {
                let bare = without_looks(line);
                prop_assert!(!bare.chars().any(is_unsafe), "{line:?}");
                prop_assert!(crate::cells(&bare) <= width, "{width} {line:?}");
                prop_assert!(utf8 || bare.is_ascii());
            }
        }
    }

    #[test]
    fn no_word_is_lost(words in prop::collection::vec("[a-z]{1,12}", 1..30), marks in prop::collection::vec(prop::sample::select(&[" ", "\n", "\n\n", " **", "** ", "\n- ", "\n1. ", "\n> ", "\n    ", "\n# ", " | ", "\n\n```\n", "\n|--|--|\n"][..]), 1..30)) {
        let mut text = String::new();
        for (word, mark) in words.iter().zip(marks.iter().cycle()) {
            text.push_str(word);
            text.push_str(mark);
        }
        let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).collect::<String>();
        let shown = markdown_lines(&text, &plain(), 60).concat();
        // The word behind a fence is the name of a language; tables may say the names of their columns again.
        if !text.contains("|--|") {
            prop_assert_eq!(letters(&shown), letters(&text));
        }
    }
}

/// A line without what a style writes: colours and links.
fn without_looks(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&rest[..at]);
        let code = &rest[at..];
        let end = if code.starts_with("\x1b]8;;") {
            code.find("\x1b\\").map(|end| end + 2)
        } else {
            code.strip_prefix("\x1b[")
                .and_then(|code| code.find(|c: char| !c.is_ascii_digit() && c != ';'))
                .filter(|end| code[end + 2..].starts_with('m'))
                .map(|end| end + 3)
        };
        let Some(end) = end else { return line.to_owned() };
        rest = &code[end..];
    }
    out + rest
}
