//! A text cut into lines, and long lines into pieces, by where they begin.

/// Most bytes of a piece of a line: more continues in the next one.
pub const PIECE_BYTES: usize = 8_192;
/// Most bytes that are shown; the rest is left out, and that is said.
pub const TEXT_BYTES: usize = 64 << 20;

/// How lines are coloured and where one can jump to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagerKind {
    Text,
    /// A unified diff: signs have colours, files and hunks can be jumped to.
    Diff,
}

/// Text to be read in the pager.
#[derive(Debug)]
pub struct PagerText {
    text: String,
    kind: PagerKind,
    /// Where each piece begins; the first of a line has the number of its line.
    pieces: Vec<TextPiece>,
    /// The first piece of each line.
    lines: Vec<u32>,
    is_cut: bool,
}

#[derive(Debug, Clone, Copy)]
struct TextPiece {
    start: u32,
    line: u32,
}

impl PagerText {
    pub fn plain(text: impl Into<String>) -> PagerText {
        PagerText::new(text.into(), PagerKind::Text)
    }

    /// A unified diff, not painted.
    pub fn diff(text: impl Into<String>) -> PagerText {
        PagerText::new(text.into(), PagerKind::Diff)
    }

    fn new(mut text: String, kind: PagerKind) -> PagerText {
        let is_cut = text.len() > TEXT_BYTES;
        if is_cut {
            let end = (0..=TEXT_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
        }
        if text.ends_with('\n') {
            text.pop();
        }
        let (mut pieces, mut lines) = (Vec::new(), Vec::new());
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
        for end in ends {
            let line = number(lines.len());
            lines.push(number(pieces.len()));
            pieces.push(TextPiece { start: number(start), line });
            while end - start > PIECE_BYTES {
                let most = start + PIECE_BYTES;
                start = (start + 1..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(most);
                pieces.push(TextPiece { start: number(start), line });
            }
            start = end + 1;
        }
        PagerText { text, kind, pieces, lines, is_cut }
    }

    pub fn kind(&self) -> PagerKind {
        self.kind
    }

    /// Not all of it is shown.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn all(&self) -> &str {
        &self.text
    }

    pub(super) fn piece_count(&self) -> usize {
        self.pieces.len()
    }

    pub(super) fn piece_start(&self, piece: usize) -> usize {
        self.pieces.get(piece).map_or(self.text.len(), |piece| piece.start as usize)
    }

    /// Without its line end.
    pub(super) fn piece(&self, piece: usize) -> &str {
        let start = self.piece_start(piece);
        let end = match self.pieces.get(piece + 1) {
            None => self.text.len(),
            Some(next) if self.is_line_start(piece + 1) => next.start as usize - 1,
            Some(next) => next.start as usize,
        };
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn is_line_start(&self, piece: usize) -> bool {
        let line = |piece: usize| self.pieces.get(piece).map(|piece| piece.line);
        piece.checked_sub(1).is_none_or(|before| line(before) != line(piece))
    }

    /// From 0.
    pub(super) fn line_of_piece(&self, piece: usize) -> usize {
        self.pieces.get(piece).map_or(0, |piece| piece.line as usize)
    }

    pub(super) fn piece_of_line(&self, line: usize) -> usize {
        self.lines.get(line).map_or(0, |piece| *piece as usize)
    }

    /// The first piece of the next line.
    pub(super) fn next_line_piece(&self, piece: usize) -> usize {
        let next = self.line_of_piece(piece) + 1;
        self.lines.get(next).map_or(self.pieces.len(), |piece| *piece as usize)
    }

    /// The whole line, from its first piece.
    pub(super) fn line(&self, line: usize) -> &str {
        let start = self.piece_start(self.piece_of_line(line));
        let end = match self.lines.get(line + 1) {
            Some(piece) => self.piece_start(*piece as usize) - 1,
            None => self.text.len(),
        };
        self.text.get(start..end).unwrap_or_default()
    }

    /// The piece that a byte is in.
    pub(super) fn piece_at(&self, byte: usize) -> usize {
        self.pieces.partition_point(|piece| piece.start as usize <= byte).saturating_sub(1)
    }
}

/// Texts are smaller than 4 GB: see [`TEXT_BYTES`].
fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
