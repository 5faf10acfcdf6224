use insta::assert_snapshot;
use relaycode_tools::{JobStatus, TodoItem, TodoPhase, TodoStatus};

use super::*;
use crate::cards::tests::{WIDTHS, ascii_style, at_widths, plain_style};

fn list(done: usize, all: usize) -> Vec<TodoPhase> {
    let status = |at: usize| match at {
        at if at < done => TodoStatus::Completed,
        at if at == done => TodoStatus::InProgress,
        _ => TodoStatus::Pending,
    };
    let tasks = (0..all).map(|at| TodoItem {
        content: format!("task {} of the work on the client", at + 1),
        status: status(at),
        notes: Vec::new(),
    });
    vec![TodoPhase { name: "Client".into(), tasks: tasks.collect() }]
}

fn job(id: &str, label: &str, status: JobStatus, duration_ms: u64) -> JobRow {
    JobRow { id: id.into(), label: label.into(), status, duration_ms }
}

#[test]
fn a_todo_panel_unfolded_and_folded() {
    let panel = |is_folded| TodoPanel { phases: list(1, 3), is_folded };
    assert_snapshot!(at_widths(&WIDTHS, |width| panel(false).lines(&plain_style(), width, 10)), @r"
    -- 40 ----------------------------------
      todo · 1 of 3 done
        Client
          ☑ task 1 of the work on the client
          ◐ task 2 of the work on the client
          ☐ task 3 of the work on the client
    -- 80 --------------------------------------------------------------------------
      todo · 1 of 3 done
        Client
          ☑ task 1 of the work on the client
          ◐ task 2 of the work on the client
          ☐ task 3 of the work on the client
    -- 120 -----------------------------------------------------------------------------------------------------------------
      todo · 1 of 3 done
        Client
          ☑ task 1 of the work on the client
          ◐ task 2 of the work on the client
          ☐ task 3 of the work on the client
    ");
    assert_snapshot!(at_widths(&WIDTHS, |width| panel(true).lines(&plain_style(), width, 10)), @r#"
    -- 40 ----------------------------------
      todo · 1 of 3 done · now: task 2 of t…
    -- 80 --------------------------------------------------------------------------
      todo · 1 of 3 done · now: task 2 of the work on the client
    -- 120 -----------------------------------------------------------------------------------------------------------------
      todo · 1 of 3 done · now: task 2 of the work on the client
    "#);
}

#[test]
fn a_long_todo_panel_shows_where_it_works() {
    let panel = TodoPanel { phases: list(20, 40), is_folded: false };
    assert_snapshot!(at_widths(&[80], |width| panel.lines(&plain_style(), width, 8)), @r"
    -- 80 --------------------------------------------------------------------------
      todo · 20 of 40 done
          ☑ task 18 of the work on the client
          ☑ task 19 of the work on the client
          ☑ task 20 of the work on the client
          ◐ task 21 of the work on the client
          ☐ task 22 of the work on the client
          ☐ task 23 of the work on the client
        … 35 more
    ");
}

#[test]
fn a_todo_panel_goes_away_when_everything_is_done() {
    let panel = TodoPanel { phases: list(3, 3), is_folded: false };
    assert_eq!(panel.lines(&plain_style(), 80, 10), Vec::<String>::new());
    assert_eq!(TodoPanel::default().lines(&plain_style(), 80, 10), Vec::<String>::new());
    assert_eq!(todo_progress(&list(1, 3)), (1, 3));
}

#[test]
fn one_job_several_and_folded() {
    let one =
        JobsPanel { rows: vec![job("bash-1", "npm run dev", JobStatus::Running, 185_000)], is_folded: false };
    assert_snapshot!(at_widths(&WIDTHS, |width| one.lines(&plain_style(), width, 5)), @r#"
    -- 40 ----------------------------------
      1 job · bash-1 npm run dev · 3 min 5 s
    -- 80 --------------------------------------------------------------------------
      1 job · bash-1 npm run dev · 3 min 5 s
    -- 120 -----------------------------------------------------------------------------------------------------------------
      1 job · bash-1 npm run dev · 3 min 5 s
    "#);
    let rows = vec![
        job(
            "bash-1",
            "npm run dev -- --host 127.0.0.1 --port 5173 --strictPort",
            JobStatus::Running,
            185_000,
        ),
        job("bash-2", "cargo watch", JobStatus::Running, 9_400),
        job("bash-3", "false", JobStatus::Failed, 12),
        job("bash-4", "tail -f log", JobStatus::Running, 400),
    ];
    let several = |is_folded| JobsPanel { rows: rows.clone(), is_folded };
    assert_snapshot!(at_widths(&WIDTHS, |width| several(false).lines(&plain_style(), width, 5)), @r#"
    -- 40 ----------------------------------
      3 jobs
        bash-1 npm run dev -- --host 127.0.…
        bash-2 cargo watch · 9.4 s
        bash-4 tail -f log · 0.4 s
    -- 80 --------------------------------------------------------------------------
      3 jobs
        bash-1 npm run dev -- --host 127.0.0.1 --port 5173 --strictPort · 3 min 5 s
        bash-2 cargo watch · 9.4 s
        bash-4 tail -f log · 0.4 s
    -- 120 -----------------------------------------------------------------------------------------------------------------
      3 jobs
        bash-1 npm run dev -- --host 127.0.0.1 --port 5173 --strictPort · 3 min 5 s
        bash-2 cargo watch · 9.4 s
        bash-4 tail -f log · 0.4 s
    "#);
    assert_snapshot!(at_widths(&[80], |width| several(false).lines(&plain_style(), width, 3)), @r#"
    -- 80 --------------------------------------------------------------------------
      3 jobs
        bash-1 npm run dev -- --host 127.0.0.1 --port 5173 --strictPort · 3 min 5 s
        … 2 more
    "#);
    assert_snapshot!(at_widths(&WIDTHS, |width| several(true).lines(&plain_style(), width, 5)), @r#"
    -- 40 ----------------------------------
      3 jobs · bash-1, bash-2, bash-4
    -- 80 --------------------------------------------------------------------------
      3 jobs · bash-1, bash-2, bash-4
    -- 120 -----------------------------------------------------------------------------------------------------------------
      3 jobs · bash-1, bash-2, bash-4
    "#);
}

#[test]
fn words_that_wait_to_be_said() {
    let queued = QueuedWords {
        steering: vec!["use the other client\n  and its tests".into()],
        follow_up: vec!["then run everything".into(), "and commit".into()],
    };
    assert_snapshot!(at_widths(&WIDTHS, |width| queued.lines("Alt-Up", &plain_style(), width, 5)), @r#"
    -- 40 ----------------------------------
      ↳ next: use the other client and its …
      ↳ then: then run everything
      ↳ then: and commit
    -- 80 --------------------------------------------------------------------------
      ↳ next: use the other client and its tests              Alt-Up takes them back
      ↳ then: then run everything
      ↳ then: and commit
    -- 120 -----------------------------------------------------------------------------------------------------------------
      ↳ next: use the other client and its tests                                                      Alt-Up takes them back
      ↳ then: then run everything
      ↳ then: and commit
    "#);
    assert_snapshot!(at_widths(&[80], |width| queued.lines("Alt-Up", &ascii_style(), width, 2)), @r#"
    -- 80 --------------------------------------------------------------------------
      > next: use the other client and its tests              Alt-Up takes them back
      ... 2 more
    "#);
}

#[test]
fn panels_keep_to_their_room() {
    let queued = QueuedWords { steering: vec!["\u{1b}[2Jx".into(); 50], follow_up: Vec::new() };
    let todo = TodoPanel { phases: list(7, 90), is_folded: false };
    let rows =
        (0..50).map(|at| job(&format!("bash-{at}"), "日本語 \u{202e}x", JobStatus::Running, 1)).collect();
    let jobs = JobsPanel { rows, is_folded: false };
    for width in [1, 2, 5, 20, 39, 40, 80, 300] {
        for most in 0..12 {
            let all = [
                queued.lines("Alt-Up", &plain_style(), width, most),
                todo.lines(&plain_style(), width, most),
                jobs.lines(&plain_style(), width, most),
            ];
            for lines in all {
                assert!(lines.len() <= most, "{width} {most}: {lines:#?}");
                for line in lines {
                    assert!(relaycode_text::width::cells(&line) <= width, "{line:?}");
                    assert_eq!(relaycode_testkit::hostile_text::find_unsafe_char(&line, false), None);
                }
            }
        }
    }
}
