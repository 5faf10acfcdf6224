//! A few lines of a conversation in the colours of a theme, for whoever chooses one.

use relaycode_text::width::{Ellipsis, clip};

use super::{SymbolKey, ThemeStyle, ThemeToken};
use crate::cells;
use crate::markdown::markdown_lines;

/// What the answer of the sample says.
const ANSWER: &str = "I look at `src/client.rs` **first**; see [the notes](https://example.com).\n\n\
                      ```rust\nfn wait(step: u32) -> Duration { /* doubles */ base() * 2u32.pow(step) }\n```\n";

/// Texts and their colours.
type SamplePieces = Vec<(ThemeToken, String)>;

/// None is wider than `width`.
pub fn theme_sample_lines(style: &ThemeStyle, width: usize) -> Vec<String> {
    let sign = |key: SymbolKey| style.symbol(key).to_owned();
    let user = format!("{} add retry with backoff", sign(SymbolKey::Prompt));
    let user = format!("{:<width$}", clipped(style, &user, width));
    let user = style.paint_on(ThemeToken::UserMessageBg, &style.paint(ThemeToken::UserMessageText, &user));
    let tool: SamplePieces = vec![
        (ThemeToken::Success, format!("{} ", sign(SymbolKey::Tool))),
        (ThemeToken::ToolTitle, "edit src/client.rs ".into()),
        (ThemeToken::ToolDiffAdded, "+31 ".into()),
        (ThemeToken::ToolDiffRemoved, format!("{}4", sign(SymbolKey::Minus))),
    ];
    let removed: SamplePieces = vec![(ThemeToken::ToolDiffRemoved, "  - send(request)?".into())];
    let added: SamplePieces = vec![(ThemeToken::ToolDiffAdded, "  + with_retry(|| send(request))?".into())];
    let failed: SamplePieces = vec![
        (ThemeToken::Error, format!("{} ", sign(SymbolKey::Refused))),
        (ThemeToken::ToolOutput, "1 test failed ".into()),
        (ThemeToken::Warning, format!("{} 2 warnings", sign(SymbolKey::Attention))),
    ];
    let dot = || (ThemeToken::StatusLineSep, format!(" {} ", sign(SymbolKey::Dot)));
    let status: SamplePieces = vec![
        (ThemeToken::StatusLineModel, "model".into()),
        dot(),
        (ThemeToken::StatusLinePath, "my-app".into()),
        dot(),
        (ThemeToken::StatusLineGitDirty, format!("{} main", sign(SymbolKey::GitBranch))),
        dot(),
        (ThemeToken::StatusLineContext, "12 %".into()),
        dot(),
        (ThemeToken::StatusLineCost, "$0.06".into()),
    ];
    let mut lines = vec![user, String::new()];
    lines.extend(markdown_lines(ANSWER, style, width));
    lines.push(String::new());
    lines.extend([tool, removed, added, failed].iter().map(|pieces| fitted(style, pieces, width)));
    lines.push(style.paint_on(ThemeToken::StatusLineBg, &fitted(style, &status, width)));
    lines
}

fn clipped(style: &ThemeStyle, text: &str, width: usize) -> String {
    let ellipsis = if style.output.utf8 { Ellipsis::Unicode } else { Ellipsis::Ascii };
    clip(text, width, ellipsis).into_owned()
}

/// As many of the pieces as there is room for.
fn fitted(style: &ThemeStyle, pieces: &[(ThemeToken, String)], width: usize) -> String {
    let mut line = String::new();
    let mut room = width;
    for (token, text) in pieces {
        let text = clipped(style, text, room);
        room -= cells(&text);
        line.push_str(&style.paint(*token, &text));
    }
    line
}
