//! What `relay doctor` found, a line for each thing and one for what to do.

use relaycode_tui::look::{Look, Paint, Sign};

use crate::doctor::{Finding, State};

/// Cells of a name.
const NAME: usize = 14;
/// Where the rest begins that has no room beside the name.
const BELOW: usize = 4;

/// One finding.
pub(crate) fn line(finding: &Finding, look: &Look) -> String {
    let sign = match finding.state {
        State::Good => look.paint(Paint::Good, look.sign(Sign::Done)),
        State::Note => look.paint(Paint::Look, "!"),
        State::Bad => look.paint(Paint::Bad, look.sign(Sign::Refused)),
    };
    let beside = 2 + NAME + 2;
    let tight = look.is_tight(beside);
    let indent = if tight { BELOW } else { beside };
    let said = look.wrap(&format!("{}{}", " ".repeat(indent), look.safe(&finding.said)), indent);
    let mut text = match tight {
        true => format!("{sign} {}\n{said}\n", finding.name),
        false => format!("{sign} {:<NAME$}  {}\n", finding.name, said.trim_start()),
    };
    if let Some(next) = &finding.next {
        let next = look.wrap(&format!("{}{}", " ".repeat(indent), look.safe(next)), indent);
        text += &format!("{}\n", look.paint(Paint::Dim, &next));
    }
    text
}
