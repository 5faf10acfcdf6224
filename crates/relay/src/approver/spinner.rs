//! One line that says what is running, drawn over itself: after half a second, with the seconds after
//! three, and gone when the command ends.
//!
//! Events come only when a command prints, so a small thread draws. It lives exactly as long as this
//! value: dropping it erases the line and joins the thread.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use relaycode_door::gate::GateStep;
use relaycode_text::redact::redact;
use relaycode_text::width::cells;
use relaycode_tui::OutputStyle;
use relaycode_tui::input::is_foreground;
use terminal_size::terminal_size_of;

/// What is quicker shows nothing.
const FIRST_DRAW_DELAY: Duration = Duration::from_millis(500);
/// Between two frames.
const FRAME_INTERVAL: Duration = Duration::from_millis(125);
/// From here on the seconds are counted.
const SECONDS_SHOWN_AFTER: Duration = Duration::from_secs(3);
/// Bytes of the output's end that its last line is looked for in.
const TAIL_BYTES: usize = 1_024;
/// Cells of the last line below which it is left out.
const MIN_TAIL_CELLS: usize = 12;

const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

pub(crate) struct Spinner {
    shared: Arc<SpinnerShared>,
    thread: Option<JoinHandle<()>>,
}

struct SpinnerShared {
    state: Mutex<SpinnerState>,
    bell: Condvar,
}

struct SpinnerState {
    err: File,
    ended: bool,
    /// The end of what the command printed.
    tail: Vec<u8>,
    /// Cells of the line that stands there.
    drawn: usize,
}

impl Spinner {
    /// Begins to watch a command. `None` if no thread can be had: then nothing is drawn.
    pub(super) fn for_step(err: File, step: GateStep, command: &str, look: OutputStyle) -> Option<Spinner> {
        Spinner::with_label(err, format!("{}: {command}", step_label(step)), look)
    }

    /// Begins to watch anything else; `label` says what is being done.
    pub(crate) fn with_label(err: File, label: String, look: OutputStyle) -> Option<Spinner> {
        let state = SpinnerState { err, ended: false, tail: Vec::new(), drawn: 0 };
        let shared = Arc::new(SpinnerShared { state: Mutex::new(state), bell: Condvar::new() });
        let inner = Arc::clone(&shared);
        let thread = thread::Builder::new().spawn(move || draw(&inner, &label, look)).ok()?;
        Some(Spinner { shared, thread: Some(thread) })
    }

    /// Takes note of what the command printed.
    pub(crate) fn push_output(&self, bytes: &[u8]) {
        let mut state = self.shared.lock();
        state.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
        let over = state.tail.len().saturating_sub(TAIL_BYTES);
        state.tail.drain(..over);
    }

    /// Writes text, which is safe already, above the line.
    pub(crate) fn print_above(&self, text: &str) {
        let mut state = self.shared.lock();
        state.redraw("");
        let _ = state.err.write_all(text.as_bytes());
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.bell.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl SpinnerShared {
    fn lock(&self) -> MutexGuard<'_, SpinnerState> {
        // Whoever panicked left at worst a line that is drawn over.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpinnerState {
    /// Draws a line over the one that stands there. No escape sequences: every terminal can do it.
    fn redraw(&mut self, line: &str) {
        if self.drawn == 0 && line.is_empty() {
            return;
        }
        let wide = cells(line);
        let blanks = " ".repeat(self.drawn.saturating_sub(wide));
        let back = if line.is_empty() { "\r" } else { "" };
        let _ = self.err.write_all(format!("\r{line}{blanks}{back}").as_bytes());
        self.drawn = wide;
    }
}

fn draw(shared: &SpinnerShared, label: &str, look: OutputStyle) {
    let start = Instant::now();
    let mut frame = 0;
    let mut wait = FIRST_DRAW_DELAY;
    let mut state = shared.lock();
    loop {
        let waited = shared.bell.wait_timeout_while(state, wait, |state| !state.ended);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if state.ended {
            state.redraw("");
            return;
        }
        wait = FRAME_INTERVAL;
        // Somebody else's screen is not drawn on.
        if is_foreground(&state.err).is_ok_and(|front| !front) {
            continue;
        }
        // One cell stays free: a full line makes some terminals begin a new one.
        let columns = terminal_size_of(&state.err).map_or(80, |(width, _)| usize::from(width.0));
        let room = columns.saturating_sub(1);
        let last = last_line(&state.tail);
        let text = line(FRAMES[frame % FRAMES.len()], label, start.elapsed(), &last, room, &look);
        state.redraw(&text);
        frame += 1;
    }
}

/// `/ checking: tsc --noEmit  4 s  src/cart.ts …`, in at most `room` cells.
fn line(frame: char, label: &str, passed: Duration, last: &str, room: usize, look: &OutputStyle) -> String {
    let seconds = format!("  {} s", passed.as_secs());
    let time = if passed >= SECONDS_SHOWN_AFTER { seconds } else { String::new() };
    let label = look.clip(label, room.saturating_sub(2 + time.len()));
    let mut text = format!("{frame} {label}{time}");
    let left = room.saturating_sub(cells(&text) + 2);
    if left >= MIN_TAIL_CELLS && !last.is_empty() {
        text = format!("{text}  {}", look.excerpt(&redact(last), left));
    }
    if cells(&text) > room { String::new() } else { text }
}

/// The last line with something in it, without the colours that it came with.
fn last_line(tail: &[u8]) -> String {
    let text = String::from_utf8_lossy(tail);
    let lines = text.split(['\n', '\r']).rev().map(without_colours);
    lines.map(|line| line.trim().to_string()).find(|line| !line.is_empty()).unwrap_or_default()
}

fn without_colours(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out += before;
        let end = after.find(|c: char| ('@'..='~').contains(&c));
        rest = end.map_or("", |end| &after[end + 1..]);
    }
    out + rest
}

fn step_label(step: GateStep) -> &'static str {
    match step {
        GateStep::PreCommand => "preparing",
        GateStep::Baseline => "checking as it was",
        GateStep::PostCommand => "finishing",
        GateStep::Linter => "checking",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };

    #[test]
    fn the_line_fits_and_holds_nothing_that_a_terminal_obeys() {
        let at =
            |seconds, last, room| line('|', "checking: tsc", Duration::from_secs(seconds), last, room, &LOOK);
        assert_eq!(at(1, "", 79), "| checking: tsc");
        assert_eq!(at(3, "", 79), "| checking: tsc  3 s");
        assert_eq!(at(61, "src/cart.ts", 79), "| checking: tsc  61 s  src/cart.ts");
        assert_eq!(at(61, "src/cart.ts", 26), "| checking: tsc  61 s");
        assert_eq!(at(61, "src/cart.ts", 16), "| checkin…  61 s");
        for room in 0..40 {
            let text = at(61, "a\x1b]0;x\x07b\u{202e}日本日本日本", room);
            assert!(cells(&text) <= room && !text.chars().any(relaycode_text::escape::is_unsafe), "{text:?}");
        }
    }

    #[test]
    fn tongue_no_string_of_a_command_reaches_the_terminal_raw() {
        for number in 0..relaycode_testkit::hostile_text::string_count() {
            let said = relaycode_testkit::hostile_text::hostile_string(number);
            let last = last_line(said.as_bytes());
            let text = line('|', &said, Duration::from_secs(4), &last, 79, &LOOK);
            assert_eq!(
                relaycode_testkit::hostile_text::find_unsafe_char(&text, false),
                None,
                "string {number}, {said:?}: {text:?}"
            );
        }
    }

    #[test]
    fn the_last_line_is_the_last_with_something_in_it() {
        for (tail, expected) in [
            ("", ""),
            ("one\ntwo\n\n", "two"),
            ("10 %\r20 %\r", "20 %"),
            ("\x1b[1;31merror\x1b[0m: x\n\x1b[K", "error: x"),
            ("cut \x1b[31", "cut"),
        ] {
            assert_eq!(last_line(tail.as_bytes()), expected, "{tail:?}");
        }
    }
}
