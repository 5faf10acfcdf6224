//! How an answer is taken, whatever the question; trust, a new change, and "keep?".

use relaycode_door::GateReport;
use relaycode_door::gate::{Diagnostic, GateStep, StepReport, StepResult};
use relaycode_ledger::TxId;
use relaycode_project::trust::TrustRequest;

use super::*;

fn wants() -> TrustRequest {
    let own = |name: &str, value: &str| (name.to_string(), value.to_string());
    TrustRequest {
        commands: vec![own("linter", "bun tsc --noEmit"), own("postCommand", "make fmt")],
        ..TrustRequest::default()
    }
}

#[test]
fn trust_is_asked_for_what_is_shown() {
    let wants = wants();
    let question = ApprovalQuestion::Trust { wants: &wants, before: None };
    let script: Script = &[("w ?  ", "w\n"), ("exactly this: ", ""), ("w ?  ", "?\n"), ("w ?  ", "YES\n")];
    let (reply, seen) = Desk::new().ask(&question, script);
    assert_eq!(reply, ApprovalReply::Yes { digest: Digest::of(wants.canonical_text().as_bytes()) });
    let expected = "\
this project wants to run 2 commands
    linter        bun tsc --noEmit
    postCommand   make fmt
  from relaycode.config.json, not seen before.
  Run them from now on? [y/N] w ?  ";
    assert!(seen.contains(expected), "{seen}");
    assert!(seen.contains("    y  trust exactly this from now on"), "{seen}");
}

#[test]
fn only_a_yes_is_a_yes() {
    let wants = wants();
    let question = ApprovalQuestion::Trust { wants: &wants, before: None };
    let scripts: [(Script, ApprovalReply); 5] = [
        (&[("w ?  ", "\n")], no()),
        (&[("w ?  ", "n\n")], no()),
        (&[("w ?  ", "\x04")], no()),
        (&[("w ?  ", "y\x04\x04")], no()),
        (&[("w ?  ", "no because it is odd\n")], because("it is odd")),
    ];
    for (script, expected) in scripts {
        let (reply, seen) = Desk::new().ask(&question, script);
        assert_eq!(reply, expected, "{seen}");
    }
}

#[test]
fn words_that_nobody_understands_are_explained_and_then_a_no() {
    let wants = wants();
    let question = ApprovalQuestion::Trust { wants: &wants, before: None };
    let script: Script = &[
        ("w ?  ", "maybe\n"),
        ("show this", ""),
        ("w ?  ", "y es\n"),
        ("show this", ""),
        ("w ?  ", "yy\n"),
        ("w ?  ", "\x1b[Ax\n"),
        ("w ?  ", "ｙ\n"),
        ("w ?  ", "ok\n"),
    ];
    let (reply, seen) = Desk::new().ask(&question, script);
    assert_eq!(reply, no(), "{seen}");
    let script: Script = &[("w ?  ", "maybe\n"), ("w ?  ", "y\n")];
    let (reply, _) = Desk::new().ask(&question, script);
    assert!(matches!(reply, ApprovalReply::Yes { .. }));
}

#[test]
fn nothing_typed_before_the_question_counts() {
    let mut desk = Desk::new();
    desk.screen.as_mut().unwrap().file.write_all(b"y\ny\n").unwrap();
    let plan = plan();
    let question =
        ApprovalQuestion::Apply { proposal: &proposal(), plan: &plan, digest: digest(), rules: &[] };
    let (reply, seen) = desk.ask(&question, &[("apply? [y/N]", "n\n")]);
    assert_eq!(reply, no(), "{seen}");
}

#[test]
fn a_signal_stops_the_question_at_once() {
    let desk = Desk::new();
    desk.stop.set(true);
    let wants = wants();
    let (reply, seen) = desk.ask(&ApprovalQuestion::Trust { wants: &wants, before: None }, &[]);
    assert_eq!(reply, ApprovalReply::Stop);
    assert_eq!(seen, "", "nothing is asked any more");
    // It comes while the person thinks: the line that they typed meanwhile is no answer.
    let desk = Desk::new();
    let approver = desk.approver(|_| ended(0));
    let calls = Cell::new(0);
    let approver = TerminalApprover {
        hooks: ApproverHooks {
            stop: Box::new(move || {
                calls.set(calls.get() + 1);
                calls.get() > 2
            }),
            ..approver.hooks
        },
        ..approver
    };
    let script: Script = &[("w ?  ", "y\n")];
    let (reply, _) =
        desk.ask_with(approver, &ApprovalQuestion::Trust { wants: &wants, before: None }, script);
    assert_eq!(reply, ApprovalReply::Stop);
}

#[test]
fn a_terminal_that_goes_away_stops_everything() {
    let mut desk = Desk::new();
    let mut approver = desk.approver(|_| ended(0));
    let mut screen = desk.screen.take().unwrap();
    let person = thread::spawn(move || screen.wait_for("w ?  "));
    let wants = wants();
    assert!(!approver.stop_requested());
    assert_eq!(
        approver.decide(&ApprovalQuestion::Trust { wants: &wants, before: None }),
        ApprovalReply::Stop
    );
    assert!(approver.stop_requested());
    person.join().unwrap();
}

#[test]
fn without_a_terminal_there_is_nobody() {
    let desk = Desk::new();
    let mut approver = desk.approver(|_| ended(0));
    approver.hooks.open = Box::new(|| None);
    let wants = wants();
    assert_eq!(
        approver.decide(&ApprovalQuestion::Trust { wants: &wants, before: None }),
        ApprovalReply::Unavailable
    );
    let plan = plan();
    let question =
        ApprovalQuestion::Apply { proposal: &proposal(), plan: &plan, digest: digest(), rules: &[] };
    assert_eq!(approver.decide(&question), ApprovalReply::Unavailable);
    assert_eq!(approver.shown_digest, None);
    assert_eq!(approver.name(), "terminal");
}

#[test]
fn a_known_id_with_another_answer_is_asked_about() {
    let id = TxId::random();
    let question = ApprovalQuestion::NewChange { id, answer: digest() };
    let script: Script = &[("w why · ?  ", "w\n"), ("exactly this: ba7816bf8f01", ""), ("?  ", "y\n")];
    let (reply, seen) = Desk::new().ask(&question, script);
    assert_eq!(reply, yes());
    assert!(seen.contains(&format!("! {} was the id of another answer", id.short())), "{seen}");
}

fn gate() -> GateReport {
    GateReport {
        unclear: false,
        steps: vec![StepReport {
            step: GateStep::Linter,
            command: "tsc --noEmit".to_string(),
            result: StepResult::Exited { code: 2 },
            took: Duration::from_secs(3),
            output: "src/cart.ts(31,2): \x1b[31merror\x1b[0m TS2322: Type\n".to_string(),
            left_behind: 0,
        }],
        errors_before: Some(2),
        errors_after: Some(5),
        new_errors: vec![Diagnostic {
            file: "src/cart.ts".to_string(),
            line: 31,
            code: "TS2322".to_string(),
            message: "Type 'string' is not assignable".to_string(),
        }],
        new_count: 3,
        reformatted: Vec::new(),
    }
}

#[test]
fn keep_shows_what_the_gate_said() {
    let (proposal, plan, gate) = (proposal(), plan(), gate());
    let rules = [rules::gate::reason("tsc --noEmit went from 2 to 5 errors".to_string())];
    let (digest, rules) = (digest(), &rules);
    let question = ApprovalQuestion::Keep { proposal: &proposal, plan: &plan, digest, gate: &gate, rules };
    let script: Script = &[
        ("feat: round totals", ""),
        ("M  src/cart.ts   +3 −3", ""),
        ("on disk, not kept yet", ""),
        ("src/cart.ts:31  Type 'string' is not assignable", ""),
        ("… 2 more new errors", ""),
        ("keep? [y/N]  d diff · o output · w why · ?  ", "o\n"),
        ("\\u{1b}[31merror", ""),
        ("w why · ?  ", "w\n"),
        ("`--allow gate` keeps it anyway", ""),
        ("w why · ?  ", "d 2\n"),
        ("+two", ""),
        ("w why · ?  ", "?\n"),
        ("show what the commands printed", ""),
        ("w why · ?  ", "y\n"),
    ];
    let (reply, seen) = Desk::new().ask(&question, script);
    assert_eq!(reply, yes(), "{seen}");
    let (reply, _) = Desk::new().ask(&question, &[("w why · ?  ", "f\n"), ("w why · ?  ", "\n")]);
    assert_eq!(reply, no(), "what is on disk cannot be picked from");
}
