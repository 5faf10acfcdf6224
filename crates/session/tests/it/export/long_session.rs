//! Long sessions: written in bounded memory, searched while typing.

use std::cell::Cell;
use std::fs;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use relaycode_session::export::{self, EntrySource, EntryVisitor, ExportError, ExportOptions, ExportSource};
use relaycode_session::{SessionEntry, SessionHeader};
use relaycode_testkit::browser::{Browser, file_url};
use relaycode_testkit::or_skip;
use serde_json::json;

use super::Made;

type Export =
    fn(&ExportSource<'_>, &ExportOptions, &mut dyn Write) -> Result<export::ExportSummary, ExportError>;

/// Entries made on demand, about 10 KB each.
struct Endless {
    count: usize,
    called: Cell<usize>,
}

impl EntrySource for Endless {
    fn for_each_entry(&self, see: &mut EntryVisitor<'_>) -> Result<(), ExportError> {
        self.called.set(self.called.get() + 1);
        let body = "a line of output with <tags> & more\n".repeat(300);
        for number in 0..self.count {
            let message = match number % 3 {
                0 => json!({"role": "user", "content": format!("question {number}")}),
                1 => json!({"role": "assistant", "content": [{"type": "text", "text": body}]}),
                _ => {
                    json!({"role": "toolResult", "toolName": "bash", "content": [{"type": "text", "text": body}]})
                }
            };
            let parent = number.checked_sub(1).map(|before| format!("{before:08x}"));
            see(&SessionEntry {
                id: format!("{number:08x}"),
                parent_id: parent,
                timestamp: "2026-02-16T10:00:00Z".into(),
                body: relaycode_session::EntryBody::Message { message },
            })?;
        }
        Ok(())
    }
}

/// Counts the bytes written.
#[derive(Default)]
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn header() -> SessionHeader {
    serde_json::from_value(json!({"type": "session", "version": 3, "id": "large", "cwd": "/p"})).unwrap()
}

/// Peak memory of this process, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn a_session_of_100_megabytes_is_written_piece_by_piece() {
    let header = header();
    // Other tests of this binary run at the same time, so the bound is wide.
    let before = peak();
    for (name, write, count) in
        [("html", export::export_html as Export, 15_000), ("markdown", export::export_markdown, 3_000)]
    {
        let entries = Endless { count, called: Cell::new(0) };
        let conversation = ExportSource { header: &header, entries: &entries, leaf: None, load_issues: &[] };
        let (mut out, began) = (Counted::default(), Instant::now());
        let exported = write(&conversation, &ExportOptions::default(), &mut out);
        let grown = peak().saturating_sub(before);
        eprintln!("{name}: {} MB in {:?}, peak grew by {} MB", out.0 >> 20, began.elapsed(), grown >> 20);
        assert_eq!(exported.unwrap().entries, count);
        assert!(out.0 > 7_000 * count as u64, "{}", out.0);
        assert!(grown < 150 << 20, "{name} took {grown} bytes");
        assert_eq!(entries.called.get(), 2);
    }
}

#[test]
fn an_error_of_the_disk_ends_the_export() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (header, entries) = (header(), Endless { count: 20, called: Cell::new(0) });
    let conversation = ExportSource { header: &header, entries: &entries, leaf: None, load_issues: &[] };
    let error = export::export_html(&conversation, &ExportOptions::default(), &mut Full).unwrap_err();
    assert!(matches!(error, ExportError::Write(_)), "{error}");
    assert!(error.to_string().starts_with("the export could not be written: "), "{error}");
}

#[test]
fn ten_thousand_entries_are_searched_while_typing() {
    let browser = or_skip!(Browser::start());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.html");
    let mut made = Made::new("Long", "/p");
    for number in 0..10_000 {
        match number % 4 {
            0 => made.user(&format!("question {number}: why does the needle{} not turn?", number % 97)),
            1 => made.assistant(&json!([{"type": "text", "text": format!("Because of **part {number}**.\n\n```rust\nfn turn() {{}}\n```\n\n- one\n- two\n")}])),
            _ => made.result("bash", &format!("line of output {number}\n").repeat(20), false),
        };
    }
    made.html(&file, &ExportOptions::default());
    let page = browser.page();
    page.resize(1200, 900);
    let began = Instant::now();
    page.go(&file_url(&file));
    let loaded = began.elapsed();
    // From the key to the frame that shows its effect.
    let script = "(async () => { const find = document.querySelector('.find'), times = []; \
        for (const text of ['n', 'ne', 'nee', 'need', 'needl', 'needle', 'needle4', 'needle42', 'needle4', 'turn part', '', 'zzz', '']) { \
          await new Promise(done => requestAnimationFrame(() => setTimeout(done))); \
          const began = performance.now(); find.value = text; find.dispatchEvent(new Event('input')); \
          await new Promise(done => requestAnimationFrame(() => { document.body.offsetHeight; setTimeout(done) })); \
          times.push([text, Math.round(performance.now() - began), document.querySelector('.count').textContent]); } return times })()";
    let times = page.eval(script);
    eprintln!("{} MB page, loaded in {loaded:?}; {times}", fs::metadata(&file).unwrap().len() >> 20);
    let counts: Vec<&str> = times.as_array().unwrap().iter().map(|time| time[2].as_str().unwrap()).collect();
    assert_eq!(counts[7], "26 of 10000", "{counts:?}");
    // The first key also reads the page; on a busy machine any may wait.
    let mut slow: Vec<u64> = times.as_array().unwrap().iter().map(|time| time[1].as_u64().unwrap()).collect();
    slow.sort_unstable();
    assert!(slow[slow.len() / 2] < 200, "{times}");
    assert!(loaded < Duration::from_secs(30));
}
