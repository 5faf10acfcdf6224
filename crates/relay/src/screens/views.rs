//! The views of `tui` as [`ScreenView`]s: keys that only change how a view looks are its own.

use relaycode_tui::help_view::{HelpOutcome, HelpView};
use relaycode_tui::input::KeyPress;
use relaycode_tui::log_browser::{LogBrowser, LogOutcome};
use relaycode_tui::model_picker::{ModelOutcome, ModelPicker};
use relaycode_tui::pager::{Pager, PagerOutcome};
use relaycode_tui::session_picker::{SessionOutcome, SessionPicker};
use relaycode_tui::settings_view::{SettingsOutcome, SettingsView, ThemeOutcome, ThemePicker};
use relaycode_tui::theme::ThemeStyle;
use relaycode_tui::tree_view::{TreeOutcome, TreeView};

use super::ScreenView;

macro_rules! screen_view {
    ($($view:ident $outcome:ident),*) => {$(
        impl ScreenView for $view {
            type Outcome = $outcome;

            fn press(&mut self, key: KeyPress) -> Option<$outcome> {
                match self.handle_key(key) {
                    $outcome::Ignored | $outcome::Changed => None,
                    outcome => Some(outcome),
                }
            }

            fn insert_text(&mut self, text: &str) {
                $view::insert_text(self, text);
            }

            fn draw(&mut self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
                self.lines(style, width, height)
            }
        }
    )*};
}

screen_view!(
    TreeView TreeOutcome, ModelPicker ModelOutcome, SessionPicker SessionOutcome, SettingsView SettingsOutcome,
    ThemePicker ThemeOutcome, Pager PagerOutcome, HelpView HelpOutcome, LogBrowser LogOutcome
);
