//! For screen readers and `TERM=dumb`: text is only ever added, without colours; nothing is redrawn.

use super::painted_line::strip_paint;

#[derive(Debug, Default)]
pub struct PlainScreen {
    /// What was announced last.
    notice: String,
    /// The prompt and the text behind it, as they stand on the last line.
    typed: Option<String>,
    out: Vec<u8>,
}

impl PlainScreen {
    pub fn new() -> PlainScreen {
        PlainScreen::default()
    }

    /// Finished lines; a prompt that stands is ended before them.
    pub fn print(&mut self, finished: &[String]) -> &[u8] {
        self.out.clear();
        self.end_typed_line();
        for line in finished {
            self.out.extend_from_slice(strip_paint(line).as_bytes());
            self.out.extend_from_slice(b"\r\n");
        }
        if !finished.is_empty() {
            self.notice.clear();
        }
        &self.out
    }

    /// Something that is going on; said once, until something else is said.
    pub fn announce(&mut self, line: &str) -> &[u8] {
        self.out.clear();
        let text = strip_paint(line);
        if !text.is_empty() && text != self.notice {
            self.end_typed_line();
            self.out.extend_from_slice(text.as_bytes());
            self.out.extend_from_slice(b"\r\n");
            self.notice = text;
        }
        &self.out
    }

    /// The line being typed. What was added at its end is written; anything else begins a new line with all of it.
    pub fn prompt(&mut self, prompt: &str, text: &str) -> &[u8] {
        self.out.clear();
        let line = strip_paint(&format!("{prompt}{text}"));
        match self.typed.as_deref().map(|typed| line.strip_prefix(typed)) {
            Some(Some(added)) => self.out.extend_from_slice(added.as_bytes()),
            Some(None) => self.out.extend_from_slice(format!("\r\n{line}").as_bytes()),
            None => self.out.extend_from_slice(line.as_bytes()),
        }
        self.typed = Some(line);
        &self.out
    }

    /// The line is sent, or given up.
    pub fn end_prompt(&mut self) -> &[u8] {
        self.out.clear();
        self.end_typed_line();
        &self.out
    }

    fn end_typed_line(&mut self) {
        if self.typed.take().is_some() {
            self.out.extend_from_slice(b"\r\n");
        }
    }
}
