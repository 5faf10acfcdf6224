//! What `relay doctor` found, a line for each thing and one for what to do.

use relaycode_tui::{Glyph, OutputStyle, PaintRole};

use crate::doctor::{CheckStatus, DoctorFinding};

/// Cells of a name.
const NAME: usize = 14;
/// Where the rest begins that has no room beside the name.
const BELOW: usize = 4;

/// One finding.
pub(crate) fn finding_line(finding: &DoctorFinding, look: &OutputStyle) -> String {
    let sign = match finding.state {
        CheckStatus::Good => look.paint(PaintRole::Good, look.glyph(Glyph::Done)),
        CheckStatus::Note => look.paint(PaintRole::Attention, "!"),
        CheckStatus::Bad => look.paint(PaintRole::Bad, look.glyph(Glyph::Refused)),
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
        text += &format!("{}\n", look.paint(PaintRole::Dim, &next));
    }
    text
}
