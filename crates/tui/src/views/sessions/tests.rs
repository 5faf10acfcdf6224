//! Lists, conversations and trees keep their shape whatever is in them.

use super::list::SessionRow;
use super::transcript::TranscriptPart;
use super::tree::SessionTreeNode;
use super::*;
use crate::layout::style::OutputStyle;

const PLAIN: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };
const PIPE: OutputStyle = OutputStyle { color: false, utf8: true, width: None };

fn node(parent: Option<usize>, active: bool, who: &str, text: &str) -> SessionTreeNode {
    SessionTreeNode { parent, active, label: None, speaker: who.into(), text: text.into() }
}

#[test]
fn a_chain_is_not_indented_and_branches_are() {
    let mut nodes = vec![
        node(None, true, "user", "Start task"),
        node(Some(0), true, "assistant", "Plan"),
        node(Some(1), true, "user", "Try approach A"),
        node(Some(2), true, "assistant", "A result"),
        node(Some(3), true, "user", "Continue A"),
        node(Some(1), false, "user", "Try approach B"),
        node(Some(5), false, "assistant", "B result"),
    ];
    nodes[4].label = Some("milestone".into());
    let expected = "• user: Start task\n• assistant: Plan\n├─ • user: Try approach A\n│  • assistant: A result\n\
                    │  • [milestone] user: Continue A\n└─ user: Try approach B\n   assistant: B result\n";
    assert_eq!(tree::text(&nodes, &PLAIN), expected);
    let ascii = tree::text(&nodes, &OutputStyle { utf8: false, ..PLAIN });
    assert!(ascii.is_ascii() && ascii.contains("|- * user: Try"), "{ascii}");
}

#[test]
fn a_tree_of_any_depth_is_drawn_within_bounds() {
    let mut nodes = vec![node(None, true, "user", "x")];
    for at in 0..50_000 {
        nodes.push(node(Some(at * 2), true, "user", "in"));
        nodes.push(node(Some(at * 2), false, "user", "out"));
    }
    let drawn = tree::text(&nodes, &PLAIN);
    assert_eq!(drawn.lines().count(), nodes.len());
    assert!(drawn.lines().all(|line| relaycode_text::width::cells(line) <= 80));
    let chain: Vec<SessionTreeNode> =
        (0..100_000).map(|at: usize| node(at.checked_sub(1), true, "user", "x")).collect();
    assert!(tree::text(&chain, &PLAIN).lines().all(|line| line == "• user: x"));
}

#[test]
fn rows_line_up_and_say_what_is_wrong() {
    let row = |index, id: &str, messages, about: &str| SessionRow {
        index: Some(index),
        id: id.into(),
        modified: "before".into(),
        messages,
        about: about.into(),
        ..SessionRow::default()
    };
    let damaged =
        SessionRow { damage: Some("its last line is cut off".into()), ..row(2, "bb", None, "fix\n it") };
    let out = list::text(&[row(1, "aaaa", Some(12), "Round totals"), damaged], 3, 1, &PLAIN);
    let expected = "  1   aaaa  before  12 messages  Round totals\n\
                    \u{20} 2 ! bb    before  ~            its last line is cut off: fix it\n\
                    and 3 more; `relay sessions -n 5` lists them all\n\
                    1 session has no answer; `relay sessions --unanswered` lists it, too\n";
    assert_eq!(out, expected);
}

#[test]
fn hostile_text_is_escaped_and_clipped_everywhere() {
    let evil = format!("\x1b[31m\u{202e}{}\u{7}", "a".repeat(1_000_000));
    let parts = [
        TranscriptPart::Speaker { role: evil.clone(), detail: evil.clone() },
        TranscriptPart::Text(evil.clone()),
        TranscriptPart::Reasoning(evil.clone()),
        TranscriptPart::Image(evil.clone()),
        TranscriptPart::Call { name: evil.clone(), arguments: evil.clone() },
        TranscriptPart::Result { text: evil.clone(), failed: true },
        TranscriptPart::Note(evil.clone()),
    ];
    for style in [PLAIN, PIPE] {
        let mut out: Vec<String> =
            parts.iter().map(|part| transcript::part_text(part, false, &style)).collect();
        out.push(transcript::header_text(
            &transcript::TranscriptHeader { about: evil.clone(), ..transcript::TranscriptHeader::default() },
            &style,
        ));
        let row = SessionRow {
            id: evil.clone(),
            about: evil.clone(),
            damage: Some(evil.clone()),
            ..SessionRow::default()
        };
        out.push(list::text(&[row], 0, 0, &style));
        out.push(tree::text(&[node(None, true, &evil, &evil)], &style));
        let hit = hits::SessionMatch {
            about: evil.clone(),
            hits: vec![(evil.clone(), evil.clone())],
            ..hits::SessionMatch::default()
        };
        out.push(hits::text(&[hit], &style));
        for text in out {
            assert!(
                !text.contains(['\x1b', '\u{202e}', '\u{7}']) && text.len() < 5000,
                "{}: {text:.200}",
                text.len()
            );
        }
    }
    let full = transcript::part_text(&TranscriptPart::Text(evil), true, &PIPE);
    assert!(full.len() > 1_000_000 && !full.contains('\x1b'));
}

#[test]
fn results_are_clipped_by_lines_unless_all_is_wanted() {
    let part = TranscriptPart::Result { text: "1\n2\n3\n4\n5\n6\n".into(), failed: false };
    assert_eq!(
        transcript::part_text(&part, false, &PLAIN),
        "      1\n      2\n      3\n      4\n      … 2 lines more\n"
    );
    assert!(transcript::part_text(&part, true, &PLAIN).ends_with("      6\n"));
}
