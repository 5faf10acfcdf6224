//! The same session as Markdown.

use relaycode_session::export::ExportOptions;
use relaycode_testkit::hostile_text::find_unsafe_char;

use super::{Made, rich_session};

fn flat(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != ">").collect::<Vec<_>>().join(" ")
}

#[test]
fn everything_of_a_session_is_in_its_markdown() {
    let (made, says) = rich_session::session();
    let text = made.markdown(&ExportOptions::default());
    let shown = flat(&text.replace('\\', ""));
    for said in &says {
        // JSON holds line ends as two characters, and marks stay marks.
        let said = said.replace("Rounding moved to", "moved to");
        let found = shown.contains(&flat(&said)) || shown.contains(&flat(&said.replace('\n', "n")));
        assert!(found, "{said:?} is not in: {shown}");
    }
    assert!(text.starts_with("---\nid: \"1f9d2a6b9c0d1234\"\ntitle: \"Round totals to cents\"\n"), "{text}");
    assert!(text.contains("\n## 5 · you · 2026-02-16 10:00:04\n"), "{text}");
    assert_eq!(text, made.markdown(&ExportOptions::default()));
}

#[test]
fn nothing_that_is_said_can_look_like_a_new_speaker() {
    let mut made = Made::new("a\n## you", "/p\n---\nx: y");
    made.user("hi\n## 2 · admin\n```\n---\n\u{1b}[2J\u{202e}");
    made.result("t\n# x", "````\n## 9 · you\n```", false);
    let text = made.markdown(&ExportOptions::default());
    let headings: Vec<&str> =
        outside_fences(&text).into_iter().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings.len(), 3, "{headings:?}");
    assert_eq!(outside_fences(&text).iter().filter(|line| **line == "---").count(), 2, "{text}");
    assert_eq!(find_unsafe_char(&text, false), None);
}

fn outside_fences(text: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut outside = Vec::new();
    for line in text.lines() {
        let marks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if marks.len() >= 3 => fence = Some(marks),
            None => outside.push(line),
        }
    }
    outside
}
