//! Foreign text made safe for a notification: one line, bounded, nothing that is obeyed or hidden.

use relaycode_text::escape::EscapeOptions;
use relaycode_text::width::{Ellipsis, clip};

/// Characters per cell that are looked at; text without width is cut there.
const PER_CELL: usize = 4;

/// `text` on one line of at most `limit` cells. Any run of blanks, tabs and line ends becomes one blank;
/// invisible and control characters become visible, and without `utf8` everything beyond ASCII.
pub(crate) fn sanitize_line(text: &str, limit: usize, utf8: bool) -> String {
    let mut start = String::new();
    let mut taken = 0;
    for word in text.split(|c: char| c.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        if !start.is_empty() {
            start.push(' ');
        }
        let room = limit * PER_CELL - taken;
        start.extend(word.chars().take(room));
        taken += word.chars().take(room).count() + 1;
        if taken >= limit * PER_CELL {
            break;
        }
    }
    let shown = EscapeOptions { ascii: !utf8, ..EscapeOptions::default() }.apply(&start).into_owned();
    clip(&shown, limit, if utf8 { Ellipsis::Unicode } else { Ellipsis::Ascii }).into_owned()
}
