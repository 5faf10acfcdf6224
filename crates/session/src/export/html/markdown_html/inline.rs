//! Inside a paragraph: code, emphasis, addresses.
//!
//! One pass. A mark that may open something is written as text, and becomes a tag only when its partner
//! comes; marks left open between them stay text. So tags always nest, and looking back is bounded.

use std::collections::HashMap;

use relaycode_text::html;

/// How many open marks are searched for a partner.
const MAX_LOOK: usize = 16;

/// Most characters of an address.
const MAX_URL: usize = 500;

/// Writes the text of one paragraph.
pub(super) fn push(out: &mut String, text: &str) {
    let mut line =
        InlineRenderer { text, pieces: Vec::new(), open: Vec::new(), last_ticks: last_ticks(text), plain: 0 };
    line.read();
    out.extend(line.pieces);
}

struct InlineRenderer<'a> {
    text: &'a str,
    pieces: Vec<String>,
    open: Vec<OpenMark>,
    /// Where the last run of this many backticks begins.
    last_ticks: HashMap<usize, usize>,
    /// Text from here on was not written yet.
    plain: usize,
}

/// A mark that waits for its partner.
struct OpenMark {
    mark: u8,
    length: usize,
    piece: usize,
}

impl InlineRenderer<'_> {
    fn read(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at = match byte {
                b'\\' => self.backslash(at),
                b'`' => self.ticks(at),
                b'*' | b'_' | b'~' => self.emphasis(at),
                b'[' => self.bracket(at),
                b']' => self.end_bracket(at),
                b'\n' => self.line_end(at),
                _ => at + 1,
            };
        }
        self.flush(bytes.len());
    }

    fn flush(&mut self, end: usize) {
        if self.plain < end {
            self.pieces.push(html::escape_text(&self.text[self.plain..end]).into_owned());
        }
        self.plain = end;
    }

    /// Writes `piece` in place of the text up to `end`.
    fn put(&mut self, begin: usize, end: usize, piece: String) -> usize {
        self.flush(begin);
        self.pieces.push(piece);
        self.plain = end;
        end
    }

    fn backslash(&mut self, at: usize) -> usize {
        match self.text.as_bytes().get(at + 1) {
            Some(next) if next.is_ascii_punctuation() => {
                self.flush(at);
                self.plain = at + 1;
                at + 2
            }
            Some(b'\n') => self.put(at, at + 2, "<br>\n".into()),
            _ => at + 1,
        }
    }

    fn line_end(&mut self, at: usize) -> usize {
        if self.text[..at].ends_with("  ") {
            return self.put(at, at + 1, "<br>\n".into());
        }
        at + 1
    }

    fn ticks(&mut self, at: usize) -> usize {
        let length = run(self.text, at);
        let inner = at + length;
        if self.last_ticks.get(&length).is_none_or(|last| *last <= at) {
            return inner;
        }
        // It exists, and what lies before it is never looked at again.
        let mut end = inner;
        while let Some(next) = self.text[end..].find('`').map(|found| end + found) {
            let closing = run(self.text, next);
            if closing == length {
                let code = &self.text[inner..next];
                let bare = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' '));
                let code = bare.filter(|bare| !bare.trim().is_empty()).unwrap_or(code);
                return self.put(at, next + length, format!("<code>{}</code>", html::escape_text(code)));
            }
            end = next + closing;
        }
        inner
    }

    fn emphasis(&mut self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mark = bytes[at];
        let length = run(self.text, at);
        let end = at + length;
        let (before, after) = (self.text[..at].chars().next_back(), self.text[end..].chars().next());
        let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        // `snake_case` is not emphasis, and neither is `~` for "about".
        let opens = !blank(after) && (mark != b'_' || !word(before));
        let closes = !blank(before) && (mark != b'_' || !word(after));
        if length > 3 || (mark == b'~' && length != 2) || !(opens || closes) {
            return end;
        }
        self.flush(at);
        self.plain = end;
        let mut left = length;
        while closes
            && left > 0
            && let Some(closed) = self.close(mark, left)
        {
            left -= closed;
        }
        while left > 0 {
            let length = left.min(2);
            if opens {
                self.open.push(OpenMark { mark, length, piece: self.pieces.len() });
            }
            self.pieces.push(self.text[at..at + length].to_owned());
            left -= length;
        }
        end
    }

    /// Closes the nearest mark of this kind; returns how much of the run that used up.
    fn close(&mut self, mark: u8, left: usize) -> Option<usize> {
        let near = self.open.iter().enumerate().rev().take(MAX_LOOK);
        let inside = near.take_while(|(_, open)| open.mark != b'[');
        let mut fitting = inside.filter(|(_, open)| open.mark == mark && open.length <= left);
        let (index, length) = fitting.next().map(|(index, open)| (index, open.length))?;
        let tag = match (mark, length) {
            (b'~', _) => "del",
            (_, 2) => "strong",
            _ => "em",
        };
        let piece = self.open[index].piece;
        self.open.truncate(index);
        self.pieces[piece] = format!("<{tag}>");
        self.pieces.push(format!("</{tag}>"));
        Some(length)
    }

    fn bracket(&mut self, at: usize) -> usize {
        self.flush(at);
        self.open.push(OpenMark { mark: b'[', length: 1, piece: self.pieces.len() });
        self.put(at, at + 1, "[".into())
    }

    /// `](address)` makes a link of the text since the bracket; the address is written as text.
    fn end_bracket(&mut self, at: usize) -> usize {
        let near = self.open.iter().enumerate().rev().take(MAX_LOOK);
        let Some(index) = { near }.find(|(_, open)| open.mark == b'[').map(|(index, _)| index) else {
            return at + 1;
        };
        let open = self.open.remove(index);
        let Some(url) = address(&self.text[at + 1..]) else { return at + 1 };
        self.open.truncate(index);
        let end = at + 3 + url.len();
        self.flush(at);
        self.pieces[open.piece] = "<span class=\"link\">".into();
        self.put(at, end, format!("</span> <span class=\"url\">({})</span>", html::escape_text(url)))
    }
}

/// The parentheses directly behind a bracket.
fn address(behind: &str) -> Option<&str> {
    let inner = behind.strip_prefix('(')?;
    let mut depth = 0_usize;
    for (at, c) in inner.char_indices().take(MAX_URL) {
        match c {
            '\n' => return None,
            '(' => depth += 1,
            ')' if depth == 0 => return Some(&inner[..at]),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Length of the run of the byte at `at`.
fn run(text: &str, at: usize) -> usize {
    let bytes = &text.as_bytes()[at..];
    bytes.iter().take_while(|byte| **byte == bytes[0]).count()
}

/// For each length of a run of backticks, where the last one begins.
fn last_ticks(text: &str) -> HashMap<usize, usize> {
    let mut found = HashMap::new();
    let mut at = 0;
    while let Some(next) = text[at..].find('`').map(|next| at + next) {
        let length = run(text, next);
        found.insert(length, next);
        at = next + length;
    }
    found
}
