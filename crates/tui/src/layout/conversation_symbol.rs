//! The symbols of a conversation. Each has an ASCII form, and none says something that no word says.

use crate::theme::{SymbolKey, ThemeStyle};

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

/// As the theme of `style` draws it.
pub(crate) fn symbol(style: &ThemeStyle, symbol: ConversationSymbol) -> &str {
    match symbol {
        Symbol::Prompt => style.symbol(SymbolKey::Prompt),
        Symbol::Bullet => style.symbol(SymbolKey::Tool),
        Symbol::Done => style.symbol(SymbolKey::Done),
        Symbol::Failed => style.symbol(SymbolKey::Refused),
        Symbol::Attention => style.symbol(SymbolKey::Attention),
        Symbol::Thought => style.symbol(SymbolKey::Thinking),
        Symbol::Ellipsis => style.symbol(SymbolKey::More),
        Symbol::Dot => style.symbol(SymbolKey::Dot),
        Symbol::Minus => style.symbol(SymbolKey::Minus),
        Symbol::Bar => style.symbol(SymbolKey::ColumnBar),
        Symbol::Branch => style.symbol(SymbolKey::BranchMid),
        Symbol::LastBranch => style.symbol(SymbolKey::BranchLast),
        Symbol::TaskOpen => style.symbol(SymbolKey::TaskOpen),
        Symbol::TaskActive => style.symbol(SymbolKey::TaskActive),
        Symbol::TaskDone => style.symbol(SymbolKey::TaskDone),
        Symbol::TaskDropped => style.symbol(SymbolKey::TaskDropped),
        Symbol::Queued => style.symbol(SymbolKey::Queue),
    }
}

/// How long each picture of the spinner stands.
const FRAME_MS: u128 = 80;

/// The spinner after so many milliseconds.
pub(crate) fn spinner(style: &ThemeStyle, elapsed_ms: u128) -> &str {
    style.spinner(usize::try_from(elapsed_ms / FRAME_MS).unwrap_or(0))
}
