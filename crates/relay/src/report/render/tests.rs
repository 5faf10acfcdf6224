//! P9 for what only the commands print: failures, findings and JSON. The views of the crate `tui` have a test like
//! this one of their own.

use relaycode_ledger::TxId;
use relaycode_ledger::error::{LedgerError, UnfinishedPutBack, UnrestoredFile};
use relaycode_testkit::hostile_text;
use relaycode_text::width::cells;
use relaycode_tui::layout::style::OutputStyle;

use super::{doctor, failure};
use crate::doctor::{CheckStatus as Health, DoctorFinding};
use crate::report::failure::{CommandFailure, Exit, FailureDetail, FailureRegion};
use crate::report::json;

const LOOKS: [OutputStyle; 4] = [
    OutputStyle { color: false, utf8: true, width: Some(80) },
    OutputStyle { color: false, utf8: false, width: Some(80) },
    OutputStyle { color: true, utf8: true, width: Some(40) },
    OutputStyle { color: true, utf8: true, width: None },
];

#[test]
fn tongue_no_string_of_a_failure_reaches_the_terminal_raw() {
    for number in 0..hostile_text::string_count() {
        let said = hostile_text::hostile_string(number);
        let look = LOOKS[usize::try_from(number % 4).unwrap()];
        for (name, text) in printed(&said, &look) {
            let raw = hostile_text::find_unsafe_char(&text, look.color);
            assert_eq!(raw, None, "string {number}, {said:?}, by {name}: {text:?}");
        }
    }
}

#[test]
fn every_failure_and_finding_fits_its_width() {
    let said = ["src/cart.ts", "a sentence of ordinary words that says what happened and where it was"];
    for (said, width) in said.iter().flat_map(|said| [20, 24, 30, 40, 60, 80, 100].map(|width| (said, width)))
    {
        for look in LOOKS[..2].iter().map(|look| OutputStyle { width: Some(width), ..*look }) {
            for (name, text) in printed(said, &look).into_iter().filter(|(name, _)| *name != "json") {
                let wide = text.lines().find(|line| cells(line) > width && line.trim().contains(' '));
                assert_eq!(wide, None, "{name} at {width}:\n{text}");
            }
        }
    }
}

fn printed(s: &str, look: &OutputStyle) -> Vec<(&'static str, String)> {
    let text = s.to_string();
    let region = FailureRegion { line: 1, now: vec![text.clone()], reverted: vec![text.clone()] };
    let detail = FailureDetail {
        path: text.clone(),
        rule: None,
        message: text.clone(),
        kept: Some(text.clone()),
        regions: vec![region],
    };
    let plain = FailureDetail { path: text.clone(), message: format!("{s}."), ..FailureDetail::default() };
    let odd = CommandFailure::new(Exit::NeedsYou, "x", s).hint(s).place(format!("{s}:1")).unchanged();
    let odd = odd.with_files([detail, plain]);
    let left = UnrestoredFile { path: text.clone(), reason: text.clone(), kept: Some(text.clone()) };
    let unfinished = UnfinishedPutBack { id: TxId::random(), restored: vec![text.clone()], left: vec![left] };
    let errors = [
        LedgerError::Damaged { path: text.clone(), reason: text.clone() },
        LedgerError::UnknownTransaction { name: text.clone() },
        LedgerError::Conflict { path: text.clone(), kept: Some(text.clone()) },
        LedgerError::NeedsDecision(Box::new(unfinished)),
    ];
    let failures =
        errors.into_iter().map(|error| failure::failure_text(&CommandFailure::from(error), look)).collect();
    let finding = DoctorFinding { name: "git", state: Health::Note, said: text.clone(), next: Some(text) };
    vec![
        ("failure", failure::failure_text(&odd, look)),
        ("failures of the ledger", failures),
        ("doctor", doctor::finding_line(&finding, look)),
        ("json", String::from_utf8(json::to_line(&(&odd, s))).unwrap()),
    ]
}
