//! What is within a paragraph: emphasis, code, links. Read by pulldown-cmark from a single line of source, so that
//! nothing in it can begin a block.

use std::sync::Arc;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, TextMergeStream};

use super::styled_spans::{LINE_END, SpanLook, StyledSpan, safe_prose};
use crate::theme::{ThemeStyle, ThemeToken, is_link_address};

/// Stands for the end of a line within a paragraph; from the private area, and replaced where a source has it.
pub(super) const HARD_BREAK: char = '\u{e000}';
/// Between blanks, so that it ends words.
pub(super) const HARD_BREAK_TEXT: &str = " \u{e000} ";

/// Comes before the source, so that its first word begins no block.
const LEAD: &str = "x ";

/// Longest address that is shown.
const ADDRESS_CELLS: usize = 200;

/// The source as spans that look like `base` where it says nothing else.
pub(super) fn inline_spans(style: &ThemeStyle, source: &str, base: &SpanLook) -> Vec<StyledSpan> {
    if source.trim().is_empty() {
        return Vec::new();
    }
    let text = format!("{LEAD}{source}");
    let parser = Parser::new_ext(&text, Options::ENABLE_STRIKETHROUGH);
    let mut reader =
        InlineReader { style, spans: Vec::new(), looks: vec![base.clone()], links: Vec::new(), led: false };
    for event in TextMergeStream::new(parser) {
        reader.read(event);
    }
    reader.spans
}

struct InlineReader<'s> {
    style: &'s ThemeStyle,
    spans: Vec<StyledSpan>,
    /// The innermost is last.
    looks: Vec<SpanLook>,
    /// The address of each open link, and where its text begins.
    links: Vec<(String, usize)>,
    /// The lead is gone.
    led: bool,
}

impl InlineReader<'_> {
    fn read(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) => {
                let text = if self.led { &*text } else { text.strip_prefix(LEAD).unwrap_or(&text) };
                self.led = true;
                self.text(text);
            }
            Event::Code(code) => self.code(&code),
            Event::InlineHtml(text)
            | Event::Html(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => {
                self.push(&text, self.look());
            }
            Event::SoftBreak => self.push(" ", self.look()),
            Event::HardBreak => self.line_end(),
            Event::Start(tag) => self.start(&tag),
            Event::End(end) => self.end(end),
            Event::FootnoteReference(name) => self.push(&format!("[^{name}]"), self.look()),
            Event::Rule | Event::TaskListMarker(_) => {}
        }
    }

    fn look(&self) -> SpanLook {
        self.looks.last().cloned().unwrap_or_default()
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let mut look = self.look();
        match tag {
            Tag::Emphasis => look.italic = true,
            Tag::Strong => look.bold = true,
            Tag::Strikethrough => {
                if !self.style.is_painted() {
                    self.push("~~", look.clone());
                }
                look.strike = true;
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                if matches!(tag, Tag::Image { .. }) {
                    self.push("image ", look.clone());
                }
                if is_link_address(dest_url) {
                    look.token = Some(ThemeToken::MdLink);
                    look.underline = true;
                    look.link = Some(Arc::from(&**dest_url));
                }
                self.links.push((dest_url.to_string(), self.spans.len()));
            }
            _ => return,
        }
        self.looks.push(look);
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::Emphasis | TagEnd::Strong => {
                self.looks.pop();
            }
            TagEnd::Strikethrough => {
                self.looks.pop();
                if !self.style.is_painted() {
                    self.push("~~", self.look());
                }
            }
            TagEnd::Link | TagEnd::Image => {
                self.looks.pop();
                if let Some((address, from)) = self.links.pop() {
                    self.end_link(&address, from);
                }
            }
            _ => {}
        }
    }

    /// The address is shown unless the text says it, or leads there by itself and does not claim another one.
    fn end_link(&mut self, address: &str, from: usize) {
        let text: String =
            self.spans[from.min(self.spans.len())..].iter().map(|span| span.text.as_str()).collect();
        let shown = safe_prose(self.style, address);
        let bare = address.strip_prefix("mailto:").unwrap_or(address);
        if text.trim_end_matches('/') == bare.trim_end_matches('/') || text == shown {
            return;
        }
        let claims = text.contains("://") || text.contains("www.") || has_domain(&text);
        let says = claims && address.contains(text.trim());
        let works = self.style.has_links() && is_link_address(address);
        if works && (!claims || says) || address.is_empty() {
            return;
        }
        let look = SpanLook { token: Some(ThemeToken::MdLinkUrl), ..SpanLook::default() };
        let shown = self.style.output.clip(&shown, ADDRESS_CELLS);
        self.spans.push(StyledSpan { text: format!(" ({shown})"), look });
    }

    fn code(&mut self, code: &str) {
        let code = code.replace(HARD_BREAK, " ");
        let mut look = self.look();
        look.token = Some(ThemeToken::MdCode);
        // Without colours the signs say what it is.
        if self.style.is_painted() {
            self.push(&code, look);
        } else {
            self.push(&format!("`{code}`"), look);
        }
    }

    /// Text with breaks and bare addresses in it.
    fn text(&mut self, text: &str) {
        for (at, line) in text.split(HARD_BREAK).enumerate() {
            if at > 0 {
                self.line_end();
            }
            let line = if at > 0 { line.strip_prefix(' ').unwrap_or(line) } else { line };
            let mut rest = line;
            while let Some((before, address)) = find_address(rest).filter(|_| self.links.is_empty()) {
                self.push(&rest[..before], self.look());
                let mut look = self.look();
                look.token = Some(ThemeToken::MdLink);
                look.underline = true;
                look.link = is_link_address(address).then(|| Arc::from(address));
                self.push(address, look);
                rest = &rest[before + address.len()..];
            }
            self.push(rest, self.look());
        }
    }

    fn line_end(&mut self) {
        self.spans.push(StyledSpan { text: LINE_END.to_string(), look: SpanLook::default() });
    }

    fn push(&mut self, text: &str, look: SpanLook) {
        if text.is_empty() {
            return;
        }
        let text = safe_prose(self.style, text);
        let count = self.spans.len();
        match self.spans.last_mut() {
            Some(last) if last.look == look && !self.links.iter().any(|(_, from)| *from == count) => {
                last.text.push_str(&text);
            }
            _ => self.spans.push(StyledSpan { text, look }),
        }
    }
}

/// Whether the text names a place of the web: `example.com/x`.
fn has_domain(text: &str) -> bool {
    let host = text.trim().split('/').next().unwrap_or_default();
    let mut parts = host.rsplit('.');
    let last = parts.next().unwrap_or_default();
    parts.next().is_some_and(|part| !part.is_empty())
        && (2..=24).contains(&last.len())
        && last.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !host.contains(' ')
}

/// A bare address in prose: where it begins, and its text.
fn find_address(text: &str) -> Option<(usize, &str)> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find("http")?;
        let rest = &text[at..];
        let scheme = ["https://", "http://"].iter().find(|scheme| rest.starts_with(**scheme));
        let begins = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let Some(scheme) = scheme.filter(|_| begins) else {
            from = at + 4;
            continue;
        };
        let end = rest.find(|c: char| !c.is_ascii_graphic() || matches!(c, '<' | '>' | '"' | '`' | '|'));
        let mut address = &rest[..end.unwrap_or(rest.len())];
        // A sentence's own signs are not part of it.
        while let Some(last) = address.chars().next_back() {
            let closes = last == ')' && address.matches(')').count() > address.matches('(').count();
            if !(matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~') || closes) {
                break;
            }
            address = &address[..address.len() - 1];
        }
        if address.len() > scheme.len() {
            return Some((at, address));
        }
        from = at + 4;
    }
}
