//! P9 for what only the commands print: failures, findings and JSON. The views of the crate `tui` have a test like
//! this one of their own.

use relaycode_ledger::TxId;
use relaycode_ledger::error::{LedgerError, Left, Unfinished};
use relaycode_testkit::tongue;
use relaycode_text::width::cells;
use relaycode_tui::look::Look;

use super::{doctor, failure};
use crate::doctor::{Finding, State as Health};
use crate::failure::{Detail, Exit, Failure, Region, State};
use crate::json;

const LOOKS: [Look; 4] = [
    Look { color: false, utf8: true, width: Some(80) },
    Look { color: false, utf8: false, width: Some(80) },
    Look { color: true, utf8: true, width: Some(40) },
    Look { color: true, utf8: true, width: None },
];

#[test]
fn tongue_no_string_of_a_failure_reaches_the_terminal_raw() {
    for number in 0..tongue::count() {
        let said = tongue::string(number);
        let look = LOOKS[usize::try_from(number % 4).unwrap()];
        for (name, text) in printed(&said, &look) {
            let raw = tongue::unsafe_in(&text, look.color);
            assert_eq!(raw, None, "string {number}, {said:?}, by {name}: {text:?}");
        }
    }
}

#[test]
fn every_failure_and_finding_fits_its_width() {
    let said = ["src/cart.ts", "a sentence of ordinary words that says what happened and where it was"];
    for (said, width) in said.iter().flat_map(|said| [20, 24, 30, 40, 60, 80, 100].map(|width| (said, width)))
    {
        for look in LOOKS[..2].iter().map(|look| Look { width: Some(width), ..*look }) {
            for (name, text) in printed(said, &look).into_iter().filter(|(name, _)| *name != "json") {
                let wide = text.lines().find(|line| cells(line) > width && line.trim().contains(' '));
                assert_eq!(wide, None, "{name} at {width}:\n{text}");
            }
        }
    }
}

fn printed(s: &str, look: &Look) -> Vec<(&'static str, String)> {
    let text = s.to_string();
    let region = Region { line: 1, now: vec![text.clone()], reverted: vec![text.clone()] };
    let detail = Detail {
        path: text.clone(),
        rule: None,
        message: text.clone(),
        kept: Some(text.clone()),
        regions: vec![region],
    };
    let plain = Detail { path: text.clone(), message: format!("{s}."), ..Detail::default() };
    let odd = Failure::new(Exit::NeedsYou, "x", s).hint(s).at(format!("{s}:1")).left(State::Unchanged);
    let odd = odd.about([detail, plain]);
    let left = Left { path: text.clone(), reason: text.clone(), kept: Some(text.clone()) };
    let unfinished = Unfinished { id: TxId::random(), restored: vec![text.clone()], left: vec![left] };
    let errors = [
        LedgerError::Damaged { path: text.clone(), reason: text.clone() },
        LedgerError::Unknown { name: text.clone() },
        LedgerError::Conflict { path: text.clone() },
        LedgerError::NeedsYou(Box::new(unfinished)),
    ];
    let failures = errors.into_iter().map(|error| failure::text(&Failure::from(error), look)).collect();
    let finding = Finding { name: "git", state: Health::Note, said: text.clone(), next: Some(text) };
    vec![
        ("failure", failure::text(&odd, look)),
        ("failures of the ledger", failures),
        ("doctor", doctor::line(&finding, look)),
        ("json", String::from_utf8(json::line(&(&odd, s))).unwrap()),
    ]
}
