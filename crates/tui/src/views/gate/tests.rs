//! The gate's results as people see them.

use relaycode_text::escape::is_unsafe;

use super::*;

const PLAIN: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };
const ASCII: OutputStyle = OutputStyle { color: false, utf8: false, width: Some(80) };
const HOSTILE: &str = "a\x1b[2Jb\u{202e}c\nd\u{9b}31m";

fn step(step: GateStep, command: &str, result: StepResult, millis: u64, output: &str) -> StepReport {
    StepReport {
        step,
        command: command.to_string(),
        result,
        took: Duration::from_millis(millis),
        output: output.to_string(),
        left_behind: 0,
    }
}

fn error(file: &str, line: u64, message: &str) -> Diagnostic {
    Diagnostic { file: file.to_string(), line, code: "TS1".to_string(), message: message.to_string() }
}

fn linted(before: Option<u64>, after: u64, errors: Vec<Diagnostic>, new_count: u64) -> GateReport {
    GateReport {
        unclear: false,
        steps: vec![
            step(GateStep::Baseline, "tsc --noEmit", StepResult::Exited { code: 2 }, 1_500, "2 errors"),
            step(GateStep::Linter, "tsc --noEmit", StepResult::Exited { code: 2 }, 1_730, "5 errors"),
        ],
        errors_before: before,
        errors_after: Some(after),
        new_errors: errors,
        new_count,
        reformatted: Vec::new(),
    }
}

#[test]
fn more_errors_than_before_are_counted_and_the_first_are_named() {
    let report = linted(
        Some(2),
        5,
        vec![error("src/cart.ts", 31, "Type 'string' is not assignable to type 'number'")],
        3,
    );
    let text = refused_card(
        &report,
        "everything was put back",
        Some("keep it anyway: `relay apply answer.md --allow gate`"),
        &PLAIN,
    );
    let expected = "\
✗ not kept: tsc --noEmit went from 2 to 5 errors         everything was put back
    src/cart.ts:31  Type 'string' is not assignable to type 'number'
    … 2 more new errors
  keep it anyway: `relay apply answer.md --allow gate`
";
    assert_eq!(text, expected);
    let text = pending_card(&report, &ASCII);
    let expected = "\
! tsc --noEmit went from 2 to 5 errors                     on disk, not kept yet
    src/cart.ts:31  Type 'string' is not assignable to type 'number'
    ... 2 more new errors
";
    assert_eq!(text, expected);
}

#[test]
fn as_many_errors_as_before_are_half_a_line() {
    let mut report = linted(Some(2), 2, Vec::new(), 0);
    assert_eq!(verdict_text(&report, &PLAIN), None);
    assert_eq!(passed_summary(&report, &PLAIN).as_deref(), Some("checked in 3.2 s, 2 → 2 errors"));
    assert_eq!(passed_summary(&report, &ASCII).as_deref(), Some("checked in 3.2 s, 2 -> 2 errors"));
    report.reformatted = vec!["a.ts".to_string()];
    let text = passed_summary(&report, &PLAIN);
    assert_eq!(text.as_deref(), Some("checked in 3.2 s, 2 → 2 errors, 1 file reformatted"));
    assert_eq!(passed_summary(&GateReport::default(), &PLAIN), None);
}

#[test]
fn every_bad_end_has_a_sentence() {
    let says = |report: &GateReport| verdict_text(report, &PLAIN).unwrap_or_default();
    assert_eq!(says(&linted(None, 1, Vec::new(), 0)), "tsc --noEmit reports 1 error");
    let exchanged = linted(Some(2), 2, vec![error("a", 0, "x")], 1);
    assert_eq!(says(&exchanged), "tsc --noEmit has 1 new error (2 → 2 errors)");
    for (result, expected) in [
        (StepResult::Exited { code: 2 }, "make fmt ended with code 2"),
        (StepResult::Signalled { signal: 9 }, "make fmt was ended by signal 9"),
        (StepResult::TooLong, "make fmt took too long and was ended"),
        (StepResult::Silent, "make fmt was silent for too long and was ended"),
        (StepResult::Stopped, "make fmt was stopped"),
        (StepResult::CannotRun { text: "no sh".to_string() }, "make fmt cannot run: no sh"),
    ] {
        let report = GateReport {
            steps: vec![step(GateStep::PostCommand, "make fmt", result, 10, "")],
            ..GateReport::default()
        };
        assert_eq!(says(&report), expected);
    }
    let uncounted = GateReport {
        steps: vec![step(
            GateStep::Linter,
            "./check",
            StepResult::Exited { code: 1 },
            10,
            "\nit is\n\nbad\n",
        )],
        ..GateReport::default()
    };
    let text = refused_card(&uncounted, "everything was put back", None, &PLAIN);
    let expected = "\
✗ not kept: ./check ended with code 1                    everything was put back
    it is
    bad
";
    assert_eq!(text, expected);
}

#[test]
fn the_output_of_each_command_stands_under_its_name() {
    let mut report = linted(Some(2), 5, Vec::new(), 3);
    report.steps[0].output = String::new();
    report.steps[1].left_behind = 2;
    let expected = "
linter, before: tsc --noEmit ended with code 2
(it printed nothing)

linter: tsc --noEmit ended with code 2
5 errors
it left 2 processes behind, which were ended
";
    assert_eq!(full_output(&report, &PLAIN), expected);
}

#[test]
fn a_narrow_terminal_gets_lines_of_its_own() {
    let style = OutputStyle { width: Some(40), ..PLAIN };
    let report = linted(Some(2), 5, vec![error("src/components/cart/total.ts", 31, "is not assignable")], 3);
    let text = refused_card(
        &report,
        "everything was put back",
        Some("keep it anyway: `relay apply answer.md --allow gate`"),
        &style,
    );
    let expected = "\
✗ not kept: tsc --noEmit went from 2 to
  5 errors
  everything was put back
    src/compon…/total.ts:31  is not
      assignable
    … 2 more new errors
  keep it anyway: `relay apply answer.md
    --allow gate`
";
    assert_eq!(text, expected);
}

#[test]
fn what_a_linter_prints_is_never_obeyed() {
    let mut report = linted(Some(0), 9, vec![error(HOSTILE, 1, HOSTILE)], 4);
    report.steps.push(step(
        GateStep::PostCommand,
        HOSTILE,
        StepResult::CannotRun { text: HOSTILE.into() },
        1,
        HOSTILE,
    ));
    for style in [PLAIN, ASCII] {
        let mut text = refused_card(&report, "everything was put back", Some(HOSTILE), &style)
            + &pending_card(&report, &style);
        text += &full_output(&report, &style);
        report.new_errors.clear();
        report.new_count = 0;
        text += &pending_card(&report, &style);
        assert_eq!(text.chars().find(|c| is_unsafe(*c) && *c != '\n'), None, "{text:?}");
        assert!(style.utf8 || text.is_ascii(), "{text:?}");
    }
}

#[test]
fn times_are_short() {
    let cases = [(40, "40 ms"), (100, "0.1 s"), (3_250, "3.2 s"), (59_999, "59.9 s"), (125_000, "2 min 5 s")];
    for (millis, said) in cases {
        assert_eq!(human_duration(Duration::from_millis(millis)), said);
    }
}
