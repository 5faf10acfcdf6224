//! One row of a full-screen view, built from left to right.
//!
//! Every text goes through the style's `safe`, is cut to the room that is left and only then painted, so a row is
//! never wider than its limit and holds no control but what the style wrote. Huge texts cost what is shown of them.

use relaycode_text::escape::TAB_STOP;
use relaycode_text::width::cells;

use crate::theme::{ThemeStyle, ThemeToken};
use crate::{Glyph, OutputStyle};

/// Characters looked at for each cell of room: marks without width may be piled up.
const CHARS_PER_CELL: usize = 9;

/// A row being written.
pub struct PaintedRow<'s> {
    style: &'s ThemeStyle,
    text: String,
    used: usize,
    limit: usize,
    is_cut: bool,
}

impl<'s> PaintedRow<'s> {
    pub fn new(style: &'s ThemeStyle, limit: usize) -> PaintedRow<'s> {
        PaintedRow { style, text: String::new(), used: 0, limit, is_cut: false }
    }

    /// Cells that are left.
    pub fn room(&self) -> usize {
        if self.is_cut { 0 } else { self.limit - self.used }
    }

    /// Cells that were written.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Any text, in the row's own colour.
    pub fn plain(&mut self, text: &str) -> &mut Self {
        self.push(None, text, self.room())
    }

    /// Any text, in a token's colour.
    pub fn colored(&mut self, token: ThemeToken, text: &str) -> &mut Self {
        self.push(Some(token), text, self.room())
    }

    /// A sign, which has a form without UTF-8.
    pub fn glyph(&mut self, token: ThemeToken, glyph: Glyph) -> &mut Self {
        let sign = self.style.output.glyph(glyph);
        self.push(Some(token), sign, self.room())
    }

    /// Any text in at most `most` cells.
    pub fn push(&mut self, token: Option<ThemeToken>, text: &str, most: usize) -> &mut Self {
        let room = self.room().min(most);
        if room == 0 {
            self.is_cut |= self.room() == 0 && !text.is_empty();
            return self;
        }
        let shown = self.style.output.clip(head_for(text, room), room);
        self.append(token, &shown);
        self
    }

    /// What a search found.
    pub fn found(&mut self, text: &str) -> &mut Self {
        let shown = self.style.output.clip(head_for(text, self.room()), self.room());
        self.used += cells(&shown);
        let text = self.style.paint(ThemeToken::Accent, &shown);
        self.text.push_str(&self.style.paint_on(ThemeToken::SelectedBg, &text));
        self
    }

    /// A path, shortened in its middle.
    pub fn path(&mut self, token: Option<ThemeToken>, path: &str, most: usize) -> &mut Self {
        let room = self.room().min(most);
        if room > 0 {
            let shown = self.style.output.path(path, room);
            self.append(token, &shown);
        }
        self
    }

    /// Text whose characters that begin at the given bytes, which rise, are marked.
    pub fn marked(&mut self, text: &str, marks: &[usize], mark: ThemeToken, most: usize) -> &mut Self {
        let room = self.room().min(most);
        let text = head_for(text, room);
        let mut pieces: Vec<(bool, String)> = Vec::new();
        let mut marks = marks.iter().copied().peekable();
        for (at, c) in text.char_indices() {
            let is_marked = marks.next_if(|mark| *mark == at).is_some();
            match pieces.last_mut() {
                Some((same, piece)) if *same == is_marked => piece.push(c),
                _ => pieces.push((is_marked, c.to_string())),
            }
        }
        let output = self.style.output;
        for (_, piece) in &mut pieces {
            *piece = output.safe(piece).into_owned();
        }
        let total: usize = pieces.iter().map(|(_, piece)| cells(piece)).sum();
        let more = output.glyph(Glyph::More);
        let mut left = if total > room { room.saturating_sub(cells(more)) } else { room };
        for (is_marked, piece) in &pieces {
            let fitting = fitting_head(piece, left);
            self.append(is_marked.then_some(mark), fitting);
            left -= cells(fitting);
            if fitting.len() < piece.len() {
                break;
            }
        }
        if total > room {
            let more = fitting_head(more, room).to_string();
            self.append(None, &more);
        }
        self
    }

    /// Blanks up to column `column`.
    pub fn pad_to(&mut self, column: usize) -> &mut Self {
        let blanks = column.min(self.limit).saturating_sub(self.used);
        self.text.extend(std::iter::repeat_n(' ', blanks));
        self.used += blanks;
        self
    }

    /// What another view painted already, cut to the room.
    pub fn painted(&mut self, painted: &str) -> &mut Self {
        let shown = clip_painted(painted, self.room(), &self.style.output);
        self.used += painted_cells(&shown);
        self.text.push_str(&shown);
        self
    }

    pub fn finish(self) -> String {
        self.text.trim_end_matches(' ').to_string()
    }

    /// The whole row stands out.
    pub fn finish_selected(mut self) -> String {
        self.pad_to(self.limit);
        let row = self.style.paint_on(ThemeToken::SelectedBg, &self.text);
        if row == self.text { self.finish() } else { row }
    }

    /// `safe` must fit.
    fn append(&mut self, token: Option<ThemeToken>, safe: &str) {
        if safe.is_empty() {
            return;
        }
        self.used += cells(safe);
        match token {
            Some(token) => self.text.push_str(&self.style.paint(token, safe)),
            None => self.text.push_str(safe),
        }
    }
}

/// As much of a text as could matter for so many cells.
pub fn head_for(text: &str, room: usize) -> &str {
    let most = room.saturating_add(2).saturating_mul(CHARS_PER_CELL);
    if text.len() <= most {
        return text;
    }
    text.char_indices().nth(most).map_or(text, |(at, _)| &text[..at])
}

/// The beginning that takes at most `room` cells, without a sign that something is missing.
fn fitting_head(text: &str, room: usize) -> &str {
    let mut used = 0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        used += char_cells(c);
        if used > room {
            break;
        }
        end = at + c.len_utf8();
    }
    &text[..end]
}

pub fn char_cells(c: char) -> usize {
    if c.is_ascii() { usize::from(!c.is_ascii_control()) } else { cells(c.encode_utf8(&mut [0; 4])) }
}

/// Bytes of the escape sequence that `text` begins with; only those that styles write are known.
fn sequence_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&0x1b) {
        return None;
    }
    match bytes.get(1) {
        Some(b'[') => bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)).map(|at| at + 3),
        Some(b']') => {
            let end = bytes[2..].iter().position(|byte| matches!(byte, 0x07 | 0x1b))? + 2;
            Some(if bytes[end] == 0x07 { end + 1 } else { (end + 2).min(bytes.len()) })
        }
        _ => None,
    }
}

/// Cells of painted text.
pub fn painted_cells(text: &str) -> usize {
    let (mut used, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        match sequence_len(&text[at..]) {
            Some(bytes) => at += bytes,
            None => {
                used += char_cells(c);
                at += c.len_utf8();
            }
        }
    }
    used
}

/// Text that is safe and painted, with tabs as blanks, cut to `limit` cells. What was painted is closed.
pub fn clip_painted(text: &str, limit: usize, output: &OutputStyle) -> String {
    let more = fitting_head(output.glyph(Glyph::More), limit);
    let (mut out, mut used, mut at) = (String::new(), 0, 0);
    // Where to cut if there turns out to be too much.
    let mut cut = (0, limit < cells(more));
    let mut is_painted = false;
    while let Some(c) = text[at..].chars().next() {
        if let Some(bytes) = sequence_len(&text[at..]) {
            let sequence = &text[at..at + bytes];
            is_painted |= sequence.ends_with('m');
            out.push_str(sequence);
            at += bytes;
            continue;
        }
        let width = if c == '\t' { TAB_STOP - used % TAB_STOP } else { char_cells(c) };
        if used + width > limit {
            out.truncate(cut.0);
            let link = out.rfind("\x1b]8;");
            let is_linked = link.is_some_and(|at| !out[at..].starts_with("\x1b]8;;\x1b"));
            out.push_str(more);
            if is_linked {
                out.push_str("\x1b]8;;\x1b\\");
            }
            if is_painted {
                out.push_str("\x1b[0m");
            }
            return out;
        }
        used += width;
        match c {
            '\t' => out.extend(std::iter::repeat_n(' ', width)),
            // Nothing that a style did not write.
            _ if c.is_control() => {}
            _ => out.push(c),
        }
        if used + cells(more) <= limit {
            cut = (out.len(), true);
        }
        at += c.len_utf8();
    }
    out
}
