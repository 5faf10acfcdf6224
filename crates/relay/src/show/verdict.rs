//! A review's verdict, for people.
//!
//! ```text
//! ✗ iterate: the loop never ends when the list is empty
//!   blocker    src/cart.ts:12-14  the counter is only moved inside
//!              With no items the condition stays true.
//! ```

use relaycode_friend::verdict::{Finding, Place, Said, Severity, Verdict};
use relaycode_tui::look::{Look, Paint, Sign};

/// Cells before a finding's words.
const INDENT: usize = 13;

pub(crate) fn text(verdict: &Verdict, look: &Look) -> String {
    let (sign, paint) = match verdict.blocks() {
        true => (look.sign(Sign::Refused), Paint::Bad),
        false => (look.sign(Sign::Done), Paint::Good),
    };
    let said = match verdict.said {
        Said::Ship => "ship",
        Said::Iterate => "iterate",
    };
    let head = look.wrap(&format!("  {said}: {}", look.safe(verdict.summary.trim())), 2);
    let mut text = format!("{} {}\n", look.paint(paint, sign), head.trim_start());
    for finding in &verdict.findings {
        text += &one(finding, look);
    }
    text
}

fn one(finding: &Finding, look: &Look) -> String {
    let (severity, paint) = match finding.severity {
        Severity::Blocker => ("blocker", Paint::Bad),
        Severity::Important => ("important", Paint::Look),
        Severity::Nit => ("nit", Paint::Dim),
    };
    let place = place(finding, look).map(|place| format!("{place}  ")).unwrap_or_default();
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
fn place(finding: &Finding, look: &Look) -> Option<String> {
    let location = finding.location.as_ref()?;
    let lines = match (location.line, location.end_line) {
        (Some(first), Some(last)) if last != first => format!(":{first}-{last}"),
        (Some(line), _) => format!(":{line}"),
        (None, _) => String::new(),
    };
    let note = match location.file {
        Place::Known => "",
        Place::Unknown => " (no such file)",
        Place::Outside => " (outside of the project)",
    };
    Some(format!("{}{lines}{note}", look.safe(&location.path)))
}

#[cfg(test)]
mod tests {
    use relaycode_friend::verdict::Location;

    use super::*;

    const LOOK: Look = Look { color: false, utf8: true, width: Some(80) };

    fn verdict(said: Said, severity: Severity, title: &str) -> Verdict {
        let location =
            Location { path: "src/a.rs".into(), line: Some(2), end_line: Some(4), file: Place::Unknown };
        let finding = Finding {
            severity,
            title: title.into(),
            rationale: "It prints.".into(),
            location: Some(location),
        };
        Verdict { said, summary: "One thing.".into(), findings: vec![finding], remarks: Vec::new() }
    }

    #[test]
    fn what_blocks_is_refused_whatever_the_friend_says_of_the_whole() {
        let text = text(&verdict(Said::Ship, Severity::Blocker, "prints"), &LOOK);
        let expected =
            "✗ ship: One thing.\n  blocker    src/a.rs:2-4 (no such file)  prints\n             It prints.\n";
        assert_eq!(text, expected);
        assert!(super::text(&verdict(Said::Ship, Severity::Nit, "x"), &LOOK).starts_with("✓ ship"));
        assert!(super::text(&verdict(Said::Iterate, Severity::Nit, "x"), &LOOK).starts_with("✗ iterate"));
    }

    #[test]
    fn nothing_of_a_finding_reaches_the_terminal_raw() {
        let text = text(&verdict(Said::Ship, Severity::Important, "a\x1b[2J\u{202e}b"), &LOOK);
        assert!(!text.chars().any(|c| relaycode_text::escape::is_unsafe(c) && c != '\n'), "{text:?}");
    }
}
