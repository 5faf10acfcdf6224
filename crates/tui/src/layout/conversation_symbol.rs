//! The symbols of a conversation. Each has an ASCII form, and none says something that no word says.

use crate::theme::ThemeStyle;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConversationSymbol {
    /// Before what the user said, and before where they type.
    Prompt,
    /// Before what the agent did.
    Bullet,
    Done,
    Failed,
    Attention,
    Thought,
    Ellipsis,
    /// Between parts of a line.
    Dot,
    Minus,
    /// Beside text that belongs together.
    Bar,
    /// Of a tree.
    Branch,
    LastBranch,
    TaskOpen,
    TaskActive,
    TaskDone,
    TaskDropped,
    /// What waits to be said.
    Queued,
}

use ConversationSymbol as Symbol;

/// As `style` draws it.
pub(crate) fn symbol(style: &ThemeStyle, symbol: ConversationSymbol) -> &'static str {
    let (unicode, ascii) = match symbol {
        Symbol::Prompt => ("›", ">"),
        Symbol::Bullet => ("●", "*"),
        Symbol::Done => ("✓", "ok"),
        Symbol::Failed => ("✗", "x"),
        Symbol::Attention => ("!", "!"),
        Symbol::Thought => ("∴", "~"),
        Symbol::Ellipsis => ("…", "..."),
        Symbol::Dot => ("·", "-"),
        Symbol::Minus => ("−", "-"),
        Symbol::Bar => ("│", "|"),
        Symbol::Branch => ("├ ", "|- "),
        Symbol::LastBranch => ("└ ", "`- "),
        Symbol::TaskOpen => ("○", "[ ]"),
        Symbol::TaskActive => ("▸", "[>]"),
        Symbol::TaskDone => ("✓", "[x]"),
        Symbol::TaskDropped => ("–", "[-]"),
        Symbol::Queued => ("↳", ">"),
    };
    if style.output.utf8 { unicode } else { ascii }
}

/// How long each picture of the spinner stands.
const FRAME_MS: u128 = 80;

/// The spinner after so many milliseconds.
pub(crate) fn spinner(style: &ThemeStyle, elapsed_ms: u128) -> &'static str {
    const UNICODE: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    const ASCII: [&str; 4] = ["-", "\\", "|", "/"];
    let frames: &[&'static str] = if style.output.utf8 { &UNICODE } else { &ASCII };
    let at = usize::try_from(elapsed_ms / FRAME_MS % frames.len() as u128).unwrap_or(0);
    frames.get(at).copied().unwrap_or_default()
}
