//! Colours and symbols of the conversation: tokens that a theme gives values, and a style that paints with them.
//!
//! A colour is never the only sign of something: without colours every text stays understandable. Themes are JSON
//! files of the user, or one of the two that are built in; a file with errors is never half a theme.
//!
//! | file | for |
//! |---|---|
//! | `tokens` | what has a colour, by the names that theme files use |
//! | `symbols` | signs, in three sets |
//! | `style` | painting text |
//! | `color` | colours, and what a terminal with fewer of them shows |
//! | `terminal` | from the environment and the terminal's replies: how many colours, dark or light |
//! | `theme_file` | reading and checking a JSON theme |
//! | `store` | finding themes by name |
//! | `sample` | a few lines for whoever chooses a theme |
//! | `selection` | which theme counts now: dark and light slot, preview, reload |

mod color;
mod sample;
mod selection;
mod store;
mod style;
mod symbols;
mod terminal;
#[cfg(test)]
mod tests;
mod theme_file;
mod tokens;

pub use color::{ColorDepth, ThemeColor};
pub use sample::theme_sample_lines;
pub use selection::{ThemeSelection, ThemeSettings, ThemeSlot};
pub use store::{BUILT_IN_THEMES, DEFAULT_DARK, DEFAULT_LIGHT, ThemeStamp, ThemeStore};
pub use style::{ThemeStyle, is_link_address};
pub use symbols::{SymbolKey, SymbolPreset, SymbolTable};
pub use terminal::{AppearanceSigns, TerminalAppearance, TerminalColorEnv};
pub use theme_file::{LoadedTheme, ThemeError, ThemeProblem};
pub use tokens::ThemeToken;

/// The values of all tokens, the signs, and the colours of an exported page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    pub name: String,
    colors: [ThemeColor; ThemeToken::ALL.len()],
    pub(crate) symbols: SymbolTable,
    export: ThemeExportColors,
    /// The terminal makes links of addresses that are not shown (OSC 8).
    pub hyperlinks: bool,
}

/// The backgrounds of an exported page. What a theme does not name follows from its other backgrounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThemeExportColors {
    pub page: Option<ThemeColor>,
    pub card: Option<ThemeColor>,
    pub info: Option<ThemeColor>,
}

impl Theme {
    /// Everything in the terminal's own colours.
    pub fn plain() -> Theme {
        Theme {
            name: "plain".to_string(),
            colors: [ThemeColor::Default; ThemeToken::ALL.len()],
            symbols: SymbolTable::of_preset(SymbolPreset::Unicode),
            export: ThemeExportColors::default(),
            hyperlinks: true,
        }
    }

    /// A theme that is built in; nothing for any other name.
    pub fn built_in(name: &str) -> Option<Theme> {
        let (_, text) = BUILT_IN_THEMES.iter().find(|(built_in, _)| *built_in == name)?;
        theme_file::read_theme(name, text).ok().map(|loaded| loaded.theme)
    }

    pub fn color(&self, token: ThemeToken) -> ThemeColor {
        self.colors[token as usize]
    }

    /// The backgrounds of an exported page.
    pub fn export_colors(&self) -> ThemeExportColors {
        let own = |color: Option<ThemeColor>, token: ThemeToken| {
            color.or_else(|| Some(self.color(token)).filter(|color| *color != ThemeColor::Default))
        };
        ThemeExportColors {
            page: own(self.export.page, ThemeToken::StatusLineBg),
            card: own(self.export.card, ThemeToken::UserMessageBg),
            info: own(self.export.info, ThemeToken::CustomMessageBg),
        }
    }

    /// For people who tell green and red apart badly: what was added moves from green towards blue.
    #[must_use]
    pub fn for_color_blind(mut self) -> Theme {
        let added = &mut self.colors[ThemeToken::ToolDiffAdded as usize];
        *added = added.shifted_to_blue();
        self
    }

    /// With the set of signs that the user chose, before that of the theme. What the theme overrides stays.
    #[must_use]
    pub fn with_symbols(mut self, preset: SymbolPreset) -> Theme {
        self.symbols = self.symbols.with_preset(preset);
        self
    }
}
