use std::sync::Arc;

use insta::assert_snapshot;
use relaycode_tools::card::{CardDiff, CardExit, CardImage};
use relaycode_tools::{TodoItem, TodoPhase, TodoStatus};
use serde_json::json;

use super::*;
use crate::OutputStyle;
use crate::theme::{ColorDepth, Theme};

pub(crate) fn plain_style() -> ThemeStyle {
    let output = OutputStyle { color: false, utf8: true, width: None };
    ThemeStyle { output, theme: Arc::new(Theme::plain()), depth: ColorDepth::None }
}

pub(crate) fn ascii_style() -> ThemeStyle {
    let mut style = plain_style();
    style.output.utf8 = false;
    style
}

/// The lines at the widths that matter, with a rule above each.
pub(crate) fn at_widths(widths: &[usize], draw: impl Fn(usize) -> Vec<String>) -> String {
    let mut out = Vec::new();
    for width in widths {
        out.push(format!("{:-<1$}", format!("-- {width} "), *width));
        let lines = draw(*width);
        for line in &lines {
            assert!(relaycode_text::width::cells(line) <= *width, "wider than {width}: {line:?}");
        }
        out.extend(lines.into_iter().map(|line| line.trim_end().to_string()));
    }
    out.join("\n")
}

pub(crate) const WIDTHS: [usize; 3] = [40, 80, 120];

fn folded() -> CardLook {
    CardLook { extent: CardExtent::Folded, expand_key: Some("Ctrl-O".to_string()) }
}

fn full() -> CardLook {
    CardLook { extent: CardExtent::Full, expand_key: None }
}

pub(crate) fn call(tool: &str, card: ToolCard) -> CallCard {
    CallCard { tool: tool.to_string(), arguments_title: String::new(), is_error: false, card }
}

fn failed(tool: &str, card: ToolCard) -> CallCard {
    CallCard { is_error: true, ..call(tool, card) }
}

fn drawn(call: &CallCard) -> String {
    at_widths(&WIDTHS, |width| call.lines(&folded(), &plain_style(), width))
}

fn drawn_full(call: &CallCard) -> String {
    at_widths(&WIDTHS, |width| call.lines(&full(), &plain_style(), width))
}

const DIFF: &str = "@@ -11,7 +11,8 @@\n impl Client {\n     pub fn send(&self, request: Request) -> Result<Response> {\n\
    \x20        let _guard = self.limiter.enter();\n-        let response = self.http.send(request)?;\n\
    +        let response = self.with_retry(|| self.http.send(request.clone()))?;\n\
    +        self.count(&response);\n         Ok(response)\n     }\n }\n@@ -40,2 +41,1 @@\n-fn unused() {}\n mod tests;\n";

fn edited() -> ToolCard {
    let diff = |path: &str| CardDiff { path: path.into(), added: 2, removed: 2, diff: DIFF.into() };
    ToolCard::new("edit src/client.rs", "+2 -2", CardBody::Diff { files: vec![diff("src/client.rs")] })
}

#[test]
fn a_file_that_was_read() {
    let text = (1..=212).map(|line| format!("line {line}\n")).collect();
    let body = CardBody::Text { text, first_line: Some(1), is_tail: false };
    assert_snapshot!(drawn(&call("read", ToolCard::new("read src/client.rs", "212 lines", body))), @r#"
    -- 40 ----------------------------------
      ● read src/client.rs    212 lines
    -- 80 --------------------------------------------------------------------------
      ● read src/client.rs                               212 lines
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● read src/client.rs                                          212 lines
    "#);
}

#[test]
fn an_edit_with_its_diff_and_the_words_that_differ() {
    assert_snapshot!(drawn(&call("edit", edited())), @r#"
    -- 40 ----------------------------------
      ● edit src/client.rs    +2 −2
          13           let _guard = self.li…
          14 -         let response = self.…
          14 +         let response = self.…
          15 +         self.count(&response…
          16           Ok(response)
          …
          40 - fn unused() {}
          41   mod tests;
    -- 80 --------------------------------------------------------------------------
      ● edit src/client.rs                               +2 −2
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          14 +         let response = self.with_retry(|| self.http.send(request.clo…
          15 +         self.count(&response);
          16           Ok(response)
          …
          40 - fn unused() {}
          41   mod tests;
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● edit src/client.rs                                          +2 −2
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          14 +         let response = self.with_retry(|| self.http.send(request.clone()))?;
          15 +         self.count(&response);
          16           Ok(response)
          …
          40 - fn unused() {}
          41   mod tests;
    "#);
}

#[test]
fn an_edit_unfolded_shows_all_of_its_context() {
    assert_snapshot!(drawn_full(&call("edit", edited())), @r#"
    -- 40 ----------------------------------
      ● edit src/client.rs    +2 −2
          11   impl Client {
          12       pub fn send(&self,
               request: Request) ->
               Result<Response> {
          13           let _guard =
               self.limiter.enter();
          14 -         let response =
               self.http.send(request)?;
          14 +         let response =
               self.with_retry(||
               self.http.send(request.clone(
               )))?;
          15 +
               self.count(&response);
          16           Ok(response)
          17       }
          18   }
          …
          40 - fn unused() {}
          41   mod tests;
    -- 80 --------------------------------------------------------------------------
      ● edit src/client.rs                               +2 −2
          11   impl Client {
          12       pub fn send(&self, request: Request) -> Result<Response> {
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          14 +         let response = self.with_retry(||
               self.http.send(request.clone()))?;
          15 +         self.count(&response);
          16           Ok(response)
          17       }
          18   }
          …
          40 - fn unused() {}
          41   mod tests;
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● edit src/client.rs                                          +2 −2
          11   impl Client {
          12       pub fn send(&self, request: Request) -> Result<Response> {
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          14 +         let response = self.with_retry(|| self.http.send(request.clone()))?;
          15 +         self.count(&response);
          16           Ok(response)
          17       }
          18   }
          …
          40 - fn unused() {}
          41   mod tests;
    "#);
}

#[test]
fn an_edit_of_several_files_names_each_and_folds_the_rest() {
    let diff = |path: &str| CardDiff { path: path.into(), added: 2, removed: 2, diff: DIFF.into() };
    let names = [
        "src/client.rs",
        "src/retry/backoff.rs",
        "tests/client.rs",
        "a/path/that/is/much/longer/than/a/narrow/line/is.rs",
    ];
    let files = names.map(diff).to_vec();
    let card = ToolCard::new(
        "edit src/client.rs, src/retry/backoff.rs, tests/client.rs",
        "+8 -8",
        CardBody::Diff { files },
    );
    assert_snapshot!(drawn(&call("edit", card)), @r#"
    -- 40 ----------------------------------
      ● edit src/client.rs, src/retr…  +8 −8
          src/client.rs  +2 −2
          13           let _guard = self.li…
          14 -         let response = self.…
          13           let _guard = self.li…
          14 -         let response = self.…
          13           let _guard = self.li…
          14 -         let response = self.…
          13           let _guard = self.li…
          14 -         let response = self.…
          … 23 more lines (Ctrl-O)
    -- 80 --------------------------------------------------------------------------
      ● edit src/client.rs, src/retry/backoff.rs, tests/client.rs  +8 −8
          src/client.rs  +2 −2
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          … 23 more lines (Ctrl-O)
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● edit src/client.rs, src/retry/backoff.rs, tests/client.rs   +8 −8
          src/client.rs  +2 −2
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          … 23 more lines (Ctrl-O)
    "#);
}

#[test]
fn a_command_that_succeeded_shows_the_end_of_its_output() {
    let text = (1..=40).map(|line| format!("test client::retry_{line} ... ok\n")).collect::<String>()
        + "\ntest result: ok. 12 passed; 0 failed";
    let body = CardBody::Text { text, first_line: None, is_tail: true };
    let exit = Some(CardExit::Exited { code: 0 });
    let card =
        ToolCard { exit, duration_ms: Some(4_210), ..ToolCard::new("bash cargo test client", "4.2 s", body) };
    assert_snapshot!(drawn(&call("bash", card)), @r#"
    -- 40 ----------------------------------
      ● bash cargo test client  4.2 s
          … 39 lines before (Ctrl-O)
          test client::retry_40 ... ok

          test result: ok. 12 passed; 0 fai…
    -- 80 --------------------------------------------------------------------------
      ● bash cargo test client                           4.2 s
          … 39 lines before (Ctrl-O)
          test client::retry_40 ... ok

          test result: ok. 12 passed; 0 failed
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● bash cargo test client                                      4.2 s
          … 39 lines before (Ctrl-O)
          test client::retry_40 ... ok

          test result: ok. 12 passed; 0 failed
    "#);
}

#[test]
fn a_command_that_failed_shows_its_exit_and_why() {
    let text = (1..=40).map(|line| format!("test client::retry_{line} ... ok\n")).collect::<String>()
        + "\u{1b}[31mfailures:\u{1b}[0m\n    client::waits\n\ntest result: FAILED. 11 passed; 1 failed";
    let body = CardBody::Text { text, first_line: None, is_tail: true };
    let exit = Some(CardExit::Exited { code: 101 });
    let title = "bash cargo test --workspace --all-features -- client::retry_with_a_long_name --nocapture …";
    let card = ToolCard { exit, duration_ms: Some(64_000), ..ToolCard::new(title, "exit 101, 64.0 s", body) };
    assert_snapshot!(drawn(&failed("bash", card)), @r#"
    -- 40 ----------------------------------
      ✗ bash cargo test --workspace --all-f…
          exit 101 · 1 min 4 s
          … 34 lines before (Ctrl-O)
          test client::retry_35 ... ok
          test client::retry_36 ... ok
          test client::retry_37 ... ok
          test client::retry_38 ... ok
          test client::retry_39 ... ok
          test client::retry_40 ... ok
          failures:
              client::waits

          test result: FAILED. 11 passed; 1…
    -- 80 --------------------------------------------------------------------------
      ✗ bash cargo test --workspace --all-features -- client:…  exit 101 · 1 min 4 s
          … 34 lines before (Ctrl-O)
          test client::retry_35 ... ok
          test client::retry_36 ... ok
          test client::retry_37 ... ok
          test client::retry_38 ... ok
          test client::retry_39 ... ok
          test client::retry_40 ... ok
          failures:
              client::waits

          test result: FAILED. 11 passed; 1 failed
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ✗ bash cargo test --workspace --all-features -- client::retry_with_a_long_name --nocapture …  exit 101 · 1 min 4 s
          … 34 lines before (Ctrl-O)
          test client::retry_35 ... ok
          test client::retry_36 ... ok
          test client::retry_37 ... ok
          test client::retry_38 ... ok
          test client::retry_39 ... ok
          test client::retry_40 ... ok
          failures:
              client::waits

          test result: FAILED. 11 passed; 1 failed
    "#);
}

#[test]
fn a_command_that_was_ended_says_by_what() {
    let ended = |exit, ms| {
        let card = ToolCard::new("bash sleep 600", "", CardBody::None);
        call("bash", ToolCard { exit: Some(exit), duration_ms: Some(ms), ..card })
    };
    let calls = [
        ended(CardExit::TimedOut, 600_000),
        ended(CardExit::Stopped, 3_000),
        ended(CardExit::Signalled { signal: 9 }, 200),
        ended(CardExit::Exited { code: 0 }, 3_904_000),
    ];
    let lines = |width| calls.iter().flat_map(|call| call.lines(&folded(), &plain_style(), width)).collect();
    assert_snapshot!(at_widths(&WIDTHS, lines), @r#"
    -- 40 ----------------------------------
      ● bash sleep 600  timed out · 10 min
      ● bash sleep 600  stopped · 3.0 s
      ● bash sleep 600
          ended by signal 9 · 0.2 s
      ● bash sleep 600        1 h 5 min
    -- 80 --------------------------------------------------------------------------
      ● bash sleep 600                                   timed out · 10 min
      ● bash sleep 600                                   stopped · 3.0 s
      ● bash sleep 600                                   ended by signal 9 · 0.2 s
      ● bash sleep 600                                   1 h 5 min
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● bash sleep 600                                              timed out · 10 min
      ● bash sleep 600                                              stopped · 3.0 s
      ● bash sleep 600                                              ended by signal 9 · 0.2 s
      ● bash sleep 600                                              1 h 5 min
    "#);
}

#[test]
fn a_call_that_was_refused_says_what_it_was_and_why() {
    let why = "the command did not run: the user said no: not before the tests pass (`npm publish` needs the network)";
    let refused = CallCard {
        arguments_title: "bash npm publish".into(),
        ..failed("bash", ToolCard::line("bash", why))
    };
    assert_snapshot!(drawn(&refused), @r#"
    -- 40 ----------------------------------
      ✗ bash npm publish
          the command did not run: the user
          said no: not before the tests pass
          (`npm publish` needs the network)
    -- 80 --------------------------------------------------------------------------
      ✗ bash npm publish
          the command did not run: the user said no: not before the tests pass (`npm
          publish` needs the network)
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ✗ bash npm publish
          the command did not run: the user said no: not before the tests pass (`npm publish` needs the network)
    "#);
}

#[test]
fn a_search_without_matches_and_a_find() {
    let calls = [
        call(
            "search",
            ToolCard::new("search fn send", "0 matches in 0 files", CardBody::text("No matches found\n")),
        ),
        call(
            "find",
            ToolCard::new("find src/**/*.rs tests", "31 files", CardBody::text("src/a.rs\nsrc/b.rs\n")),
        ),
    ];
    let lines = |width| calls.iter().flat_map(|call| call.lines(&folded(), &plain_style(), width)).collect();
    assert_snapshot!(at_widths(&WIDTHS, lines), @r#"
    -- 40 ----------------------------------
      ● search fn send  0 matches in 0 files
      ● find src/**/*.rs tests  31 files
    -- 80 --------------------------------------------------------------------------
      ● search fn send                                   0 matches in 0 files
      ● find src/**/*.rs tests                           31 files
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● search fn send                                              0 matches in 0 files
      ● find src/**/*.rs tests                                      31 files
    "#);
}

#[test]
fn a_todo_list_with_each_kind_of_task() {
    let task = |content: &str, status| TodoItem { content: content.into(), status, notes: Vec::new() };
    let phases = vec![
        TodoPhase {
            name: "Client".into(),
            tasks: vec![
                task("read the client", TodoStatus::Completed),
                task(
                    "add retry with backoff, capped at ten seconds and five attempts",
                    TodoStatus::InProgress,
                ),
                task("honour Retry-After", TodoStatus::Pending),
                task("rewrite it in another language", TodoStatus::Abandoned),
            ],
        },
        TodoPhase { name: "Tests".into(), tasks: vec![task("a test", TodoStatus::Pending)] },
    ];
    let card = ToolCard::new("todo", "2 of 5 tasks done, now: add retry", CardBody::Todo { phases });
    assert_snapshot!(drawn(&call("todo_write", card)), @r"
    -- 40 ----------------------------------
      ● todo
          2 of 5 tasks done, now: add retry
          Client
            ☑ read the client
            ◐ add retry with backoff, cappe…
            ☐ honour Retry-After
            ☒ rewrite it in another language
          Tests
            ☐ a test
    -- 80 --------------------------------------------------------------------------
      ● todo  2 of 5 tasks done, now: add retry
          Client
            ☑ read the client
            ◐ add retry with backoff, capped at ten seconds and five attempts
            ☐ honour Retry-After
            ☒ rewrite it in another language
          Tests
            ☐ a test
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● todo                                                        2 of 5 tasks done, now: add retry
          Client
            ☑ read the client
            ◐ add retry with backoff, capped at ten seconds and five attempts
            ☐ honour Retry-After
            ☒ rewrite it in another language
          Tests
            ☐ a test
    ");
}

#[test]
fn data_as_a_tree() {
    let value = json!({
        "issue": { "number": 31, "title": "Retries never end", "labels": ["bug", "client"], "closed": null },
        "open": true, "empty": [], "none": {},
        "comments": [{ "by": "ana", "text": "I see this with every proxy, also with the newest version of the client" }],
    });
    let card = ToolCard::new("tracker 31", "1 issue", CardBody::Json { value });
    assert_snapshot!(drawn(&call("tracker", card.clone())), @r#"
    -- 40 ----------------------------------
      ● tracker 31            1 issue
          issue:
          ├─number: 31
          ├─title: "Retries never end"
          ├─labels: [2]
          │ ├─"bug"
          │ └─"client"
          └─closed: null
          open: true
          … 6 more lines (Ctrl-O)
    -- 80 --------------------------------------------------------------------------
      ● tracker 31                                       1 issue
          issue:
          ├─number: 31
          ├─title: "Retries never end"
          ├─labels: [2]
          │ ├─"bug"
          │ └─"client"
          └─closed: null
          open: true
          … 6 more lines (Ctrl-O)
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● tracker 31                                                  1 issue
          issue:
          ├─number: 31
          ├─title: "Retries never end"
          ├─labels: [2]
          │ ├─"bug"
          │ └─"client"
          └─closed: null
          open: true
          … 6 more lines (Ctrl-O)
    "#);
    assert_snapshot!(drawn_full(&call("tracker", card)), @r#"
    -- 40 ----------------------------------
      ● tracker 31            1 issue
          issue:
          ├─number: 31
          ├─title: "Retries never end"
          ├─labels: [2]
          │ ├─"bug"
          │ └─"client"
          └─closed: null
          open: true
          empty: []
          none: {}
          comments: [1]
          └─{2}
            ├─by: "ana"
            └─text: "I see this with every …
    -- 80 --------------------------------------------------------------------------
      ● tracker 31                                       1 issue
          issue:
          ├─number: 31
          ├─title: "Retries never end"
          ├─labels: [2]
          │ ├─"bug"
          │ └─"client"
          └─closed: null
          open: true
          empty: []
          none: {}
          comments: [1]
          └─{2}
            ├─by: "ana"
            └─text: "I see this with every proxy, also with the newest version of t…
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● tracker 31                                                  1 issue
          issue:
          ├─number: 31
          ├─title: "Retries never end"
          ├─labels: [2]
          │ ├─"bug"
          │ └─"client"
          └─closed: null
          open: true
          empty: []
          none: {}
          comments: [1]
          └─{2}
            ├─by: "ana"
            └─text: "I see this with every proxy, also with the newest version of the client"
    "#);
}

#[test]
fn an_image_by_its_name_and_size() {
    let image = CardImage {
        path: "docs/screens/first.png".into(),
        mime_type: "image/png".into(),
        bytes: 12_345,
        width: Some(640),
        height: Some(480),
    };
    let card = ToolCard::new("read docs/screens/first.png", "image/png, 12 kB", CardBody::Image(image));
    assert_snapshot!(drawn(&call("read", card)), @r#"
    -- 40 ----------------------------------
      ● read docs/screens/first.png
          image first.png 640×480, 12 kB
    -- 80 --------------------------------------------------------------------------
      ● read docs/screens/first.png
          image first.png 640×480, 12 kB
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● read docs/screens/first.png
          image first.png 640×480, 12 kB
    "#);
}

#[test]
fn a_card_in_ascii() {
    let lines = |width| call("edit", edited()).lines(&folded(), &ascii_style(), width);
    assert_snapshot!(at_widths(&[80], lines), @r#"
    -- 80 --------------------------------------------------------------------------
      * edit src/client.rs                               +2 -2
          13           let _guard = self.limiter.enter();
          14 -         let response = self.http.send(request)?;
          14 +         let response = self.with_retry(|| self.http.send(request.c...
          15 +         self.count(&response);
          16           Ok(response)
          ...
          40 - fn unused() {}
          41   mod tests;
    "#);
}

#[test]
fn a_card_at_twenty_columns() {
    assert_snapshot!(at_widths(&[20], |width| call("edit", edited()).lines(&folded(), &plain_style(), width)), @r#"
    -- 20 --------------
    ● edit src/client.rs
        +2 −2
      13           let …
      14 -         let …
      14 +         let …
      15 +         self…
      16           Ok(r…
      …
      40 - fn unused() …
      41   mod tests;
    "#);
}

#[test]
fn numbers_stand_before_the_lines_of_a_file() {
    let text = "fn one() {}\n\n\tlet tabbed = 1;\n".to_string();
    let body = CardBody::Text { text, first_line: Some(98), is_tail: false };
    let card = ToolCard::new("read src/a.rs:98-100", "lines 98-100 of 200", body);
    assert_snapshot!(drawn_full(&call("read", card)), @r#"
    -- 40 ----------------------------------
      ● read src/a.rs:98-100
          lines 98-100 of 200
           98  fn one() {}
           99
          100      let tabbed = 1;
    -- 80 --------------------------------------------------------------------------
      ● read src/a.rs:98-100                             lines 98-100 of 200
           98  fn one() {}
           99
          100      let tabbed = 1;
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ● read src/a.rs:98-100                                        lines 98-100 of 200
           98  fn one() {}
           99
          100      let tabbed = 1;
    "#);
}

#[test]
fn calls_are_titled_by_what_says_most() {
    let title = |tool: &str, arguments| call_title(tool, &arguments);
    assert_eq!(title("bash", json!({"command": "cargo test\ncargo build"})), "bash cargo test …");
    assert_eq!(title("read", json!({"path": "src/a.rs", "limit": 3})), "read src/a.rs");
    assert_eq!(title("find", json!({"paths": ["src", "tests"]})), "find src tests");
    assert_eq!(title("edit", json!({"input": "§src/a.rs\n1#x=y"})), "edit src/a.rs");
    assert_eq!(title("edit", json!({"input": "*** Begin Patch\n*** Update File: a.rs\n"})), "edit a.rs");
    assert_eq!(title("tracker", json!({"number": 3})), "tracker {\"number\":3}");
    assert_eq!(title("checkpoint", json!({})), "checkpoint");
}
