//! What is offered while something is typed.

use relaycode_tui::editor::EditorOutcome;
use relaycode_tui::input::KeyPress;

use super::LiveSurface;

impl LiveSurface<'_> {
    pub(super) fn press_completion(&mut self, _key: KeyPress) -> Option<EditorOutcome> {
        None
    }

    pub(super) fn update_completion(&mut self) {}

    pub(super) fn completion_lines(&mut self, _width: usize) -> Vec<String> {
        Vec::new()
    }
}
