//! What is drawn: finished lines once, and below them what is live, the question or the editor, and the status line.

use std::time::{Duration, Instant};

use relaycode_tui::screen::SETTLE_TIME;
use relaycode_tui::status::next_status_frame;

use super::LiveSurface;

/// Rows of panels between the conversation and the editor.
const PANEL_ROWS: usize = 6;
/// Rows of the editor at most; a third of the screen where that is less.
const EDITOR_ROWS: usize = 12;

impl LiveSurface<'_> {
    /// Draws a frame, if the screen has the terminal.
    pub(super) fn draw(&mut self) {
        if self.is_lent {
            return;
        }
        self.take_size();
        let now = Instant::now();
        self.settle_if_due(now);
        let width = self.screen.width();
        let finished = self.view.take_finished(&self.style, width);
        let mut live = self.view.live(&self.style, width, now);
        live.extend(self.queued.lines(&self.take_back_key, &self.style, width, PANEL_ROWS));
        live.extend(self.todo.lines(&self.style, width, PANEL_ROWS));
        live.extend(self.jobs.lines(&self.style, width, PANEL_ROWS));
        let rows = self.screen.live_rows();
        live.push(String::new());
        let above = live.len();
        let (lines, cursor) = if self.questions.is_empty() {
            let (lines, cursor) = self.editor.lines(&self.style, width, EDITOR_ROWS.min(rows / 3).max(1));
            (lines, Some(cursor))
        } else {
            self.questions.mark_shown(now);
            self.questions.lines(&self.style, width, rows.saturating_sub(2).max(4), now)
        };
        live.extend(lines);
        live.extend(self.completion.lines(&self.style, width));
        self.facts.queued = self.queued.len();
        live.push(self.facts.line(self.view.activity(), &self.style, width, (self.began, now)));
        let mut cursor = cursor.map(|(row, column)| (above + row, column));
        if live.first().is_some_and(|line| !line.is_empty()) {
            // Where a terminal re-flows, the first live line is the one that may stay behind.
            live.insert(0, String::new());
            cursor = cursor.map(|(row, column)| (row + 1, column));
        }
        let bytes = self.screen.frame(&finished, &live, cursor);
        if !bytes.is_empty() {
            self.terminal.write_bytes(bytes);
        }
        self.last_frame = now;
    }

    /// Prints what is finished, before something else gets the terminal.
    pub(super) fn draw_finished(&mut self) {
        let finished = self.view.take_finished(&self.style, self.screen.width());
        let bytes = self.screen.frame(&finished, &[], None);
        self.terminal.write_bytes(bytes);
    }

    /// When something looks different by itself.
    pub(super) fn next_change(&self) -> Option<Duration> {
        let now = Instant::now();
        let frame = self.view.next_frame();
        let status = next_status_frame(self.view.activity());
        let question = self.questions.next_tick(now);
        let draft = self.draft.due.map(|due| due.saturating_duration_since(now));
        let settled = self.settles.map(|due| due.saturating_duration_since(now));
        [frame, status, question, draft, settled].into_iter().flatten().min()
    }

    /// The live lines are gone, and the terminal is as relay found it.
    pub(super) fn leave_screen(&mut self) {
        let bytes = self.screen.leave();
        self.terminal.write_bytes(bytes);
        self.modes = None;
    }

    pub(super) fn enter_screen(&mut self) {
        self.modes = Some(self.terminal.enter_raw());
        self.screen.forget_drawn();
        self.draw();
    }

    /// The terminal has another size.
    pub(super) fn resize(&mut self, columns: usize, rows: usize) {
        self.screen.resize(columns, rows);
        if self.screen.is_settling() {
            self.settles = Some(Instant::now() + SETTLE_TIME);
        }
    }

    fn settle_if_due(&mut self, now: Instant) {
        if self.settles.is_some_and(|due| due <= now) {
            self.settles = None;
            self.screen.settle();
        }
    }

    fn take_size(&mut self) {
        if self.held.take_resized()
            && let Some((columns, rows)) = self.terminal.size()
        {
            self.resize(columns, rows);
        }
        if self.held.take_continued() {
            // Another program may have used the terminal meanwhile.
            self.modes = Some(self.terminal.enter_raw());
            self.screen.redraw();
        }
    }
}
