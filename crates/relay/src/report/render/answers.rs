//! Answers of friends, for people: one as it is, several with a heading each, side by side where the terminal is
//! wide enough for that.
//!
//! ```text
//! codex · gpt-5.5 · 12 s                  │ claude · 9 s
//! The loop never ends when …              │ Line 12 reads `n` before …
//! ```

use relaycode_text::width::{cells, wrap};
use relaycode_tui::{Glyph, OutputStyle, PaintRole};

/// Cells that a column needs to be read with ease.
const MIN_COLUMN_CELLS: usize = 48;
/// More than so many stand below each other, however wide the terminal is.
const MAX_COLUMNS: usize = 3;

pub(crate) struct AnswerPart {
    /// Who, with which model, how long: already safe.
    pub(crate) title: String,
    /// The answer; foreign.
    pub(crate) text: String,
}

/// `codex · gpt-5.5 · 12 s`
pub(crate) fn answer_title(friend: &str, model: Option<&str>, seconds: u64, look: &OutputStyle) -> String {
    let dot = look.glyph(Glyph::Dot);
    let model = model.map(|model| format!(" {dot} {}", look.safe(model))).unwrap_or_default();
    format!("{}{model} {dot} {seconds} s", look.safe(friend))
}

/// The only answer.
pub(crate) fn answer_text(text: &str, look: &OutputStyle) -> String {
    with_newline(look.block(text.trim_end()).into_owned())
}

pub(crate) fn answers_text(parts: &[AnswerPart], look: &OutputStyle) -> String {
    match look.width.map(|width| width.saturating_sub(3 * parts.len().saturating_sub(1)) / parts.len().max(1))
    {
        Some(column) if column >= MIN_COLUMN_CELLS && (2..=MAX_COLUMNS).contains(&parts.len()) => {
            align_answers(parts, column, look)
        }
        _ => stack_answers(parts, look),
    }
}

fn stack_answers(parts: &[AnswerPart], look: &OutputStyle) -> String {
    let part = |part: &AnswerPart| {
        format!("{}\n{}", look.paint(PaintRole::Strong, &part.title), answer_text(&part.text, look))
    };
    parts.iter().map(part).collect::<Vec<_>>().join("\n")
}

fn align_answers(parts: &[AnswerPart], column: usize, look: &OutputStyle) -> String {
    let laid = |part: &AnswerPart| -> Vec<String> {
        let text = look.block(part.text.trim_end()).into_owned();
        let lines = text.lines().flat_map(|line| {
            let wrapped = wrap(line, column, indent(line));
            wrapped.split('\n').map(|line| look.clip(line, column)).collect::<Vec<_>>()
        });
        lines.collect()
    };
    let columns: Vec<Vec<String>> = parts.iter().map(laid).collect();
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let bar = format!(" {} ", look.paint(PaintRole::Dim, look.glyph(Glyph::Bar)));
    let row = |cells_of: &dyn Fn(usize) -> (String, usize)| {
        let row: Vec<String> = (0..parts.len())
            .map(|at| {
                let (text, wide) = cells_of(at);
                format!("{text}{}", " ".repeat(column.saturating_sub(wide)))
            })
            .collect();
        format!("{}\n", row.join(&bar).trim_end())
    };
    let mut out = row(&|at| {
        let title = look.clip(&parts[at].title, column);
        (look.paint(PaintRole::Strong, &title), cells(&title))
    });
    for number in 0..rows {
        out += &row(&|at| {
            let text = columns[at].get(number).cloned().unwrap_or_default();
            let wide = cells(&text);
            (text, wide)
        });
    }
    out
}

/// Blanks that a line begins with: what it continues with stands below it.
fn indent(line: &str) -> usize {
    (line.len() - line.trim_start_matches(' ').len()).min(MIN_COLUMN_CELLS / 2)
}

fn with_newline(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(103) };

    fn parts() -> Vec<AnswerPart> {
        let long = "The loop never ends when the list is empty, since the counter is only moved inside.\n\n  - second";
        vec![
            AnswerPart { title: answer_title("codex", Some("gpt"), 12, &WIDE), text: long.to_string() },
            AnswerPart { title: answer_title("claude", None, 9, &WIDE), text: "Fine.\n".to_string() },
        ]
    }

    #[test]
    fn a_wide_terminal_shows_them_side_by_side_and_no_line_is_too_long() {
        let text = answers_text(&parts(), &WIDE);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("codex · gpt · 12 s ") && lines[0].ends_with(" │ claude · 9 s"),
            "{text}"
        );
        assert!(lines[1].ends_with(" │ Fine."), "{text}");
        assert_eq!((lines.len(), lines[3].trim_end()), (5, &*format!("{} │", " ".repeat(50))), "{text}");
        assert!(lines.iter().all(|line| cells(line) <= 103), "{text}");
    }

    #[test]
    fn elsewhere_they_stand_below_each_other() {
        for width in [Some(80), None] {
            let text = answers_text(&parts(), &OutputStyle { width, ..WIDE });
            assert!(text.starts_with("codex · gpt · 12 s\nThe loop"), "{text}");
            assert!(text.ends_with("\n\nclaude · 9 s\nFine.\n"), "{text}");
        }
    }

    #[test]
    fn what_a_friend_says_reaches_no_terminal_raw() {
        let hostile = AnswerPart {
            title: answer_title("a\x1b[2J", None, 0, &WIDE),
            text: "x\x1b]0;t\x07\u{202e}y".to_string(),
        };
        let text = answers_text(&[hostile, AnswerPart { title: "b".into(), text: String::new() }], &WIDE);
        assert!(!text.chars().any(|c| relaycode_text::escape::is_unsafe(c) && c != '\n'), "{text:?}");
    }
}
