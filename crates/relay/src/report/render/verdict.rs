//! A review's verdict, for people.
//!
//! ```text
//! ✗ iterate: the loop never ends when the list is empty
//!   blocker    src/cart.ts:12-14  the counter is only moved inside
//!              With no items the condition stays true.
//! ```

use relaycode_friend::ask::verdict::{
    FindingFileState, FindingSeverity, ReviewDecision, ReviewFinding, ReviewVerdict,
};
use relaycode_tui::{Glyph, OutputStyle, PaintRole};

/// Cells before a finding's words.
const INDENT: usize = 13;

pub(crate) fn verdict_text(verdict: &ReviewVerdict, look: &OutputStyle) -> String {
    let (sign, paint) = match verdict.blocks() {
        true => (look.glyph(Glyph::Refused), PaintRole::Bad),
        false => (look.glyph(Glyph::Done), PaintRole::Good),
    };
    let said = match verdict.said {
        ReviewDecision::Ship => "ship",
        ReviewDecision::Iterate => "iterate",
    };
    let head = look.wrap(&format!("  {said}: {}", look.safe(verdict.summary.trim())), 2);
    let mut text = format!("{} {}\n", look.paint(paint, sign), head.trim_start());
    for finding in &verdict.findings {
        text += &finding_text(finding, look);
    }
    text
}

fn finding_text(finding: &ReviewFinding, look: &OutputStyle) -> String {
    let (severity, paint) = match finding.severity {
        FindingSeverity::Blocker => ("blocker", PaintRole::Bad),
        FindingSeverity::Important => ("important", PaintRole::Attention),
        FindingSeverity::Nit => ("nit", PaintRole::Dim),
    };
    let place = finding_place(finding, look).map(|place| format!("{place}  ")).unwrap_or_default();
    let title = look.wrap(&format!("{}{place}{}", " ".repeat(INDENT), look.safe(&finding.title)), INDENT);
    let mut text = format!("  {}  {}\n", look.paint(paint, &format!("{severity:<9}")), title.trim_start());
    if !finding.rationale.trim().is_empty() {
        let why =
            look.wrap(&format!("{}{}", " ".repeat(INDENT), look.safe(finding.rationale.trim())), INDENT);
        text += &format!("{why}\n");
    }
    text
}

/// `src/cart.ts:12-14`
fn finding_place(finding: &ReviewFinding, look: &OutputStyle) -> Option<String> {
    let location = finding.location.as_ref()?;
    let lines = match (location.line, location.end_line) {
        (Some(first), Some(last)) if last != first => format!(":{first}-{last}"),
        (Some(line), _) => format!(":{line}"),
        (None, _) => String::new(),
    };
    let note = match location.file {
        FindingFileState::Known => "",
        FindingFileState::Unknown => " (no such file)",
        FindingFileState::Outside => " (outside of the project)",
    };
    Some(format!("{}{lines}{note}", look.safe(&location.path)))
}

#[cfg(test)]
mod tests {
    use relaycode_friend::ask::verdict::FindingLocation;

    use super::*;

    const LOOK: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };

    fn verdict(said: ReviewDecision, severity: FindingSeverity, title: &str) -> ReviewVerdict {
        let location = FindingLocation {
            path: "src/a.rs".into(),
            line: Some(2),
            end_line: Some(4),
            file: FindingFileState::Unknown,
        };
        let finding = ReviewFinding {
            severity,
            title: title.into(),
            rationale: "It prints.".into(),
            location: Some(location),
        };
        ReviewVerdict { said, summary: "One thing.".into(), findings: vec![finding], remarks: Vec::new() }
    }

    #[test]
    fn what_blocks_is_refused_whatever_the_friend_says_of_the_whole() {
        let text = verdict_text(&verdict(ReviewDecision::Ship, FindingSeverity::Blocker, "prints"), &LOOK);
        let expected =
            "✗ ship: One thing.\n  blocker    src/a.rs:2-4 (no such file)  prints\n             It prints.\n";
        assert_eq!(text, expected);
        assert!(
            super::verdict_text(&verdict(ReviewDecision::Ship, FindingSeverity::Nit, "x"), &LOOK)
                .starts_with("✓ ship")
        );
        assert!(
            super::verdict_text(&verdict(ReviewDecision::Iterate, FindingSeverity::Nit, "x"), &LOOK)
                .starts_with("✗ iterate")
        );
    }

    #[test]
    fn nothing_of_a_finding_reaches_the_terminal_raw() {
        let text = verdict_text(
            &verdict(ReviewDecision::Ship, FindingSeverity::Important, "a\x1b[2J\u{202e}b"),
            &LOOK,
        );
        assert!(!text.chars().any(|c| relaycode_text::escape::is_unsafe(c) && c != '\n'), "{text:?}");
    }
}
