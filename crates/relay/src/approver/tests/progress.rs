//! What is drawn and said between questions.

use relaycode_door::gate::{GateStep, StepReport, StepResult};

use super::*;

fn report() -> StepReport {
    StepReport {
        step: GateStep::Linter,
        command: "tsc".to_string(),
        result: StepResult::Exited { code: 0 },
        took: Duration::ZERO,
        output: String::new(),
        left_behind: 0,
    }
}

const BEGINS: DoorEvent<'static> =
    DoorEvent::StepStarted { step: GateStep::Linter, command: "tsc --noEmit\x1b[2J" };

#[test]
fn a_command_that_takes_its_time_is_seen_and_leaves_nothing() {
    let mut desk = Desk::new();
    let mut approver = desk.approver(|_| ended(0));
    let mut screen = desk.screen.take().unwrap();
    approver.on_event(&BEGINS);
    approver.on_event(&DoorEvent::StepOutput { bytes: b"src/a.ts\n\x1b[31msrc/b.ts\x1b[0m" });
    screen.wait_for("checking: tsc --noEmit\\u{1b}[2J  src/b.ts");
    approver.on_event(&DoorEvent::Remark { text: "odd\x1b[2J" });
    screen.wait_for("! odd\\u{1b}[2J");
    screen.wait_for("checking: tsc");
    approver.on_event(&DoorEvent::StepFinished { report: &report() });
    assert!(approver.spinner.is_none());
    desk.terminal.write_all(b"END").unwrap();
    screen.wait_for("END");
    let end = screen.seen.trim_end_matches("END");
    assert!(end.ends_with(" \r"), "the line is erased: {:?}", screen.seen);
    assert!(!screen.seen.chars().any(|c| is_unsafe(c) && !"\n\r".contains(c)), "{:?}", screen.seen);
}

#[test]
fn what_is_quick_or_for_nobody_draws_nothing() {
    for (quiet, json, terminal) in
        [(false, false, true), (true, false, true), (false, true, true), (false, false, false)]
    {
        let mut desk = Desk::new();
        let mut approver = desk.approver(|_| ended(0));
        approver.setup.level = if quiet { LogLevel::Error } else { LogLevel::Info };
        approver.setup.json = json;
        approver.hooks.err_is_terminal = terminal;
        approver.on_event(&BEGINS);
        assert_eq!(
            approver.spinner.is_some(),
            !quiet && !json && terminal,
            "no thread where nothing is drawn"
        );
        approver.on_event(&DoorEvent::StepOutput { bytes: b"x" });
        approver.on_event(&DoorEvent::StepFinished { report: &report() });
        desk.terminal.write_all(b"END").unwrap();
        let mut screen = desk.screen.take().unwrap();
        screen.wait_for("END");
        assert_eq!(screen.seen, "END");
    }
}

#[test]
fn remarks_are_lines_unless_people_want_to_hear_little() {
    let mut desk = Desk::new();
    let mut approver = desk.approver(|_| ended(0));
    approver.on_event(&DoorEvent::Replanned { paths: &[path("src/a.ts")] });
    approver.on_event(&DoorEvent::Remark { text: "the linter changed nothing" });
    approver.setup.level = LogLevel::Error;
    approver.on_event(&DoorEvent::Remark { text: "unheard" });
    desk.terminal.write_all(b"END").unwrap();
    let mut screen = desk.screen.take().unwrap();
    screen.wait_for("END");
    let expected = "! src/a.ts changed meanwhile: planned again\r\n! the linter changed nothing\r\nEND";
    assert_eq!(screen.seen, expected);
}

#[test]
fn a_question_takes_the_line_away_first() {
    let mut desk = Desk::new();
    let mut approver = desk.approver(|_| ended(0));
    approver.on_event(&BEGINS);
    let (plan, proposal) = (plan(), proposal());
    let question = ApprovalQuestion::Apply { proposal: &proposal, plan: &plan, digest: digest(), rules: &[] };
    let person = desk.person(&[("apply? [y/N]", "n\n")]);
    assert_eq!(approver.decide(&question), no());
    assert!(approver.spinner.is_none());
    drop((approver, desk));
    person.join().unwrap();
}
