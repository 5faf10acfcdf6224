use std::fs;
use std::path::PathBuf;

use jiff::tz::{Offset, TimeZone};
use relaycode_durable::RealFs;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

struct Home {
    directory: TempDir,
}

impl Home {
    fn new() -> Home {
        Home { directory: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str) -> PathBuf {
        let directory = self.directory.path().join("sessions/--p--");
        fs::create_dir_all(&directory).unwrap();
        directory.join(name)
    }

    fn put(&self, name: &str, lines: &[Value]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(self.file(name), text).unwrap();
    }

    fn read(&self) -> UsageReport {
        self.read_in(&TimeZone::UTC)
    }

    fn read_in(&self, zone: &TimeZone) -> UsageReport {
        read_usage(&RealFs::default(), &HomeLayout::new(self.directory.path()), zone).unwrap()
    }

    fn forget(&self) {
        fs::remove_file(self.directory.path().join("usage.index")).unwrap();
    }
}

fn header(parent: Option<&str>) -> Value {
    let mut header = json!({"type": "session", "version": 3, "id": "a", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/p"});
    if let Some(parent) = parent {
        header["parentSession"] = json!(parent);
    }
    header
}

fn entry(time: &str, message: &Value) -> Value {
    json!({"type": "message", "id": "e", "parentId": null, "timestamp": format!("2026-03-{time}.000Z"), "message": message})
}

fn answer(time: &str, tokens: u64) -> Value {
    let usage = json!({"input": tokens, "output": 5, "cacheRead": 7, "cacheWrite": 0, "totalTokens": 0,
        "cost": {"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 0.25}});
    entry(
        time,
        &json!({"role": "assistant", "provider": "work", "model": "m1", "content": [], "usage": usage}),
    )
}

fn prompt(time: &str) -> Value {
    entry(time, &json!({"role": "user", "content": "Go"}))
}

fn tool(time: &str, is_error: bool) -> Value {
    entry(time, &json!({"role": "toolResult", "toolName": "bash", "isError": is_error, "content": []}))
}

fn session() -> Vec<Value> {
    vec![
        header(None),
        prompt("01T23:59:00"),
        answer("01T23:59:10", 100),
        tool("01T23:59:40", false),
        answer("02T00:00:10", 200),
        prompt("02T09:00:00"),
        answer("02T09:00:05", 300),
        tool("02T12:00:00", true),
    ]
}

#[test]
fn tokens_money_time_and_tools_are_counted_by_day_and_model() {
    let home = Home::new();
    home.put("s.jsonl", &session());
    let report = home.read();
    assert_eq!((report.sessions.len(), report.read, report.unreadable), (1, 1, 0));
    let usage = &report.sessions[0];
    let rows: Vec<(&str, &str, u64, u64, u64, u64)> = usage
        .models
        .iter()
        .map(|row| {
            (
                row.day.as_str(),
                row.model.as_str(),
                row.sums.prompts,
                row.sums.answers,
                row.sums.input,
                row.sums.milliseconds,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("2026-03-01", "", 1, 0, 0, 0),
            ("2026-03-01", "work/m1", 0, 1, 100, 40_000),
            // Nobody works for three hours on one call.
            ("2026-03-02", "work/m1", 0, 2, 500, 30_000 + 5_000 + 3_600_000),
            ("2026-03-02", "", 1, 0, 0, 0),
        ]
    );
    let sums = usage.models[2].sums;
    assert_eq!((sums.cost, sums.cache_read, sums.tokens()), (0.5, 14, 524));
    let tools: Vec<(&str, u64, u64)> =
        usage.tools.iter().map(|row| (row.day.as_str(), row.calls, row.errors)).collect();
    assert_eq!(tools, [("2026-03-01", 1, 0), ("2026-03-02", 1, 1)]);
}

#[test]
fn only_what_was_appended_is_read_again_and_the_sums_are_the_same() {
    let home = Home::new();
    let all = session();
    for count in 1..=all.len() {
        home.put("s.jsonl", &all[..count]);
        home.read();
    }
    let (kept, again) = (home.read(), home.read());
    assert_eq!((kept.read, again.read), (0, 0));
    home.forget();
    let fresh = home.read();
    assert_eq!((fresh.read, &fresh.sessions), (1, &again.sessions));
    // A line that is not whole counts when it is.
    let text = fs::read_to_string(home.file("s.jsonl")).unwrap();
    let more = answer("02T12:00:01", 1).to_string();
    fs::write(home.file("s.jsonl"), format!("{text}{}", &more[..40])).unwrap();
    assert_eq!(home.read().sessions, fresh.sessions);
    fs::write(home.file("s.jsonl"), format!("{text}{more}\n")).unwrap();
    assert_eq!(home.read().sessions[0].models[2].sums.answers, 3);
}

#[test]
fn a_file_that_was_rewritten_and_another_time_zone_are_counted_anew() {
    let home = Home::new();
    home.put("s.jsonl", &session());
    home.read();
    let mut other = session();
    other[0]["title"] = json!("A title that moves everything behind it");
    other.truncate(3);
    home.put("s.jsonl", &other);
    assert_eq!(home.read().sessions[0].models.len(), 2);
    let east = TimeZone::fixed(Offset::constant(5));
    assert_eq!(home.read_in(&east).sessions[0].models[0].day, "2026-03-02");
    assert_eq!(home.read().sessions[0].models[0].day, "2026-03-01");
    fs::remove_file(home.file("s.jsonl")).unwrap();
    assert!(home.read().sessions.is_empty());
}

#[test]
fn what_a_fork_took_over_counts_once() {
    let home = Home::new();
    home.put("s.jsonl", &session());
    let mut fork = session();
    fork[0] = header(Some("a"));
    fork[0]["timestamp"] = json!("2026-03-02T08:00:00.000Z");
    home.put("t.jsonl", &fork);
    let report = home.read();
    let answers: u64 =
        report.sessions.iter().flat_map(|usage| &usage.models).map(|row| row.sums.answers).sum();
    assert_eq!(answers, 3 + 1);
}

#[test]
fn hostile_lines_count_for_nothing_and_rows_are_bounded() {
    let home = Home::new();
    let mut lines = vec![header(None)];
    for at in 0..MAX_ROWS + 50 {
        let mut line = answer("01T10:00:00", 1);
        line["message"]["model"] = json!(format!("m{at}"));
        lines.push(line);
    }
    let mut bad = answer("01T10:00:00", 1);
    bad["message"]["usage"]["cost"]["total"] = json!(-5.0);
    bad["message"]["model"] = json!("bad");
    bad["message"]["usage"]["input"] = json!(u64::MAX);
    lines.extend([
        bad.clone(),
        bad,
        json!({"type": 7}),
        json!([1, 2]),
        json!({"type": "message", "message": "x"}),
    ]);
    home.put("s.jsonl", &lines);
    fs::write(home.file("n.jsonl"), "no session\n").unwrap();
    fs::write(home.file("e.jsonl"), "").unwrap();
    let report = home.read();
    assert_eq!((report.sessions.len(), report.unreadable), (1, 2));
    let models = &report.sessions[0].models;
    assert_eq!(models.len(), MAX_ROWS + 1);
    let others = models.last().unwrap();
    assert_eq!((others.model.as_str(), others.sums.answers, others.sums.input), (OTHERS, 52, u64::MAX));
    assert!(others.sums.cost <= 0.25 * 50.0);
    fs::write(home.directory.path().join("usage.index"), "{\"version\":1,\"zone\":\"UTC\"}\n{\"file\":1}\nx")
        .unwrap();
    assert_eq!(home.read().read, 1);
}
