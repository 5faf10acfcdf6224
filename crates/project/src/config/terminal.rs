//! How the conversation looks at the terminal, and what its keys do.

/// `theme.*`, `symbolPreset`, `colorBlindMode`, `doubleEscapeAction`, `branchSummary.*`, `terminal.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalConfig {
    /// The theme on a dark background, and on a light one.
    pub dark_theme: String,
    pub light_theme: String,
    pub symbols: SymbolPresetChoice,
    pub color_blind: bool,
    pub double_escape: DoubleEscapeAction,
    /// Going elsewhere in the tree offers a summary of what is left.
    pub branch_summary: bool,
    /// Line by line, nothing is drawn twice.
    pub is_plain: bool,
    /// What the model thinks is shown, and not only how much.
    pub show_thinking: bool,
}

/// `symbolPreset`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolPresetChoice {
    /// As the theme says.
    Theme,
    Unicode,
    Nerd,
    Ascii,
}

/// `doubleEscapeAction`: what Escape pressed twice on an empty line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoubleEscapeAction {
    Tree,
    Branch,
    Nothing,
}

impl Default for TerminalConfig {
    fn default() -> TerminalConfig {
        TerminalConfig {
            dark_theme: "red-claw".to_string(),
            light_theme: "blue-crab".to_string(),
            symbols: SymbolPresetChoice::Theme,
            color_blind: false,
            double_escape: DoubleEscapeAction::Tree,
            branch_summary: false,
            is_plain: false,
            show_thinking: false,
        }
    }
}
