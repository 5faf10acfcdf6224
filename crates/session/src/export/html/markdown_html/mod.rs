//! The Markdown of answers as HTML: CommonMark with tables and strikethrough, in time linear in its length.
//!
//! Invariants: every tag is one of ours and is closed; every character of the text is escaped; no letter is
//! lost. Raw HTML is text. Addresses are shown, not linked, and images that an answer names are not loaded:
//! a page must not call anybody.
//!
//! The parser only says what is where; its own HTML is not used. What it would leave out (a link's definition,
//! a table cell too many) is a gap between two of its events, and is shown as text.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag};
use relaycode_text::html;

/// Deepest nesting of elements; of deeper ones only the text is shown.
const MAX_DEPTH: usize = 24;

/// Closes the head row of a table, and any other row.
const END_OF_HEAD: &str = "</tr></thead><tbody>";
const END_OF_ROW: &str = "</tr>";
/// Closes the text of a link, before its address.
const END_OF_LINK: &str = "</span>";

/// Appends the Markdown `text` to `out`.
pub(super) fn push(out: &mut String, text: &str) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut renderer = MarkdownRenderer { out, source: text, shown: 0, open: Vec::new(), code: None };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        renderer.render(&event, range);
    }
    renderer.show_gap(text.len());
}

/// Code with its language and a copy button.
pub(super) fn push_code(out: &mut String, language: &str, code: &str) {
    out.push_str("<div class=\"code\">");
    if !language.is_empty() {
        out.push_str("<span class=\"lang\">");
        out.push_str(&html::escape_text(language));
        out.push_str("</span>");
    }
    out.push_str(super::COPY);
    out.push_str("<pre tabindex=\"0\"><code>");
    out.push_str(&html::escape_text(code));
    out.push_str("</code></pre></div>\n");
}

struct MarkdownRenderer<'o, 's> {
    out: &'o mut String,
    source: &'s str,
    /// The source up to here is written, or was markup.
    shown: usize,
    /// What closes each element that is open; nothing for one that is too deep.
    open: Vec<&'static str>,
    /// The code block being read: its language, and its lines so far.
    code: Option<(&'s str, String)>,
}

impl<'s> MarkdownRenderer<'_, 's> {
    fn render(&mut self, event: &Event<'_>, range: Range<usize>) {
        if let (Some((_, code)), Event::Text(lines)) = (&mut self.code, event) {
            code.push_str(lines);
            return;
        }
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(_) => self.end(range.end),
            Event::Code(code) => {
                self.show_gap(range.start);
                self.put(&format!("<code>{}</code>", html::escape_text(code)), range.end);
            }
            Event::SoftBreak => self.put("\n", range.end),
            Event::HardBreak => self.put("<br>\n", range.end),
            Event::Rule => {
                self.show_gap(range.start);
                self.put("<hr>\n", range.end);
            }
            // From the source: what stands there as `&lt;` was written to be read as that. No other events were asked for.
            _ => {
                self.show_gap(range.start);
                self.show(range.end);
            }
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        self.show_gap(range.start);
        let source = &self.source[range];
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.open("<p>", "</p>\n", 0),
            Tag::Heading { level, .. } => {
                // The page has the first two levels.
                const END: [&str; 4] = ["</h3>\n", "</h4>\n", "</h5>\n", "</h6>\n"];
                let at = (*level as usize - 1).min(END.len() - 1);
                self.open(&format!("<h{}>", at + 3), END[at], 0);
            }
            Tag::BlockQuote(_) => self.open("<blockquote>", "</blockquote>\n", 0),
            Tag::CodeBlock(kind) => self.start_code(kind, source),
            Tag::List(None) => self.open("<ul>", "</ul>\n", 1),
            Tag::List(Some(1)) => self.open("<ol>", "</ol>\n", 1),
            Tag::List(Some(number)) => self.open(&format!("<ol start=\"{number}\">"), "</ol>\n", 1),
            Tag::Item => {
                self.open_part("<li>", "</li>\n");
                // Its mark: a number and a sign, or a sign alone.
                self.shown += source.bytes().take_while(u8::is_ascii_digit).count() + 1;
            }
            Tag::Table(_) => {
                self.open("<div class=\"wide\" tabindex=\"0\"><table>", "</tbody></table></div>\n", 2);
            }
            Tag::TableHead => self.open_part("<thead><tr>", END_OF_HEAD),
            Tag::TableRow => self.open_part("<tr>", END_OF_ROW),
            Tag::TableCell if self.open.last() == Some(&END_OF_HEAD) => self.open_part("<th>", "</th>"),
            Tag::TableCell => self.open_part("<td>", "</td>"),
            Tag::Emphasis => self.open("<em>", "</em>", 0),
            Tag::Strong => self.open("<strong>", "</strong>", 0),
            Tag::Strikethrough if source.starts_with("~~") => self.open("<del>", "</del>", 0),
            // One tilde means "about".
            Tag::Strikethrough => self.open("~", "~", 0),
            Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. } => self.open("&lt;", "&gt;", 0),
            Tag::Link { .. } => self.start_link("<span class=\"link\">", 1),
            Tag::Image { .. } => self.start_link("!<span class=\"link\">", 2),
            // None of the others was asked for; its text is shown.
            _ => self.open.push(""),
        }
    }

    /// Ends what was opened last.
    fn end(&mut self, end: usize) {
        if let Some((language, code)) = self.code.take() {
            push_code(self.out, language, code.strip_suffix('\n').unwrap_or(&code));
            self.shown = end;
            return;
        }
        let close = self.open.last().copied().unwrap_or_default();
        if close == END_OF_LINK {
            self.end_link(end);
        } else {
            self.show_gap(end);
            self.put(close, end);
        }
        self.open.pop();
    }

    /// The language is what stands behind the fence.
    fn start_code(&mut self, kind: &CodeBlockKind<'_>, block: &'s str) {
        let fence = block.lines().next().unwrap_or_default().trim();
        let language = match kind {
            CodeBlockKind::Fenced(_) if fence.starts_with('~') => fence.trim_start_matches('~').trim(),
            CodeBlockKind::Fenced(_) => fence.trim_start_matches('`').trim(),
            CodeBlockKind::Indented => "",
        };
        self.code = Some((language, String::new()));
    }

    fn start_link(&mut self, begin: &str, marks: usize) {
        self.open(begin, END_OF_LINK, 0);
        self.shown += marks;
    }

    /// The address as it stands there, or the name of its definition.
    fn end_link(&mut self, end: usize) {
        let rest = self.source[self.shown.min(end)..end].trim_start();
        let address = rest.strip_prefix(']').unwrap_or(rest);
        self.out.push_str(END_OF_LINK);
        if !address.is_empty() {
            self.out.push_str(&format!(" <span class=\"url\">{}</span>", html::escape_text(address)));
        }
        self.shown = end;
    }

    /// Opens an element that has room for as many more in it.
    fn open(&mut self, begin: &str, end: &'static str, room: usize) {
        self.open_if(self.open.len() + room < MAX_DEPTH, begin, end);
    }

    /// Opens an element that only makes sense in the one around it.
    fn open_part(&mut self, begin: &str, end: &'static str) {
        self.open_if(self.open.last().is_some_and(|parent| !parent.is_empty()), begin, end);
    }

    fn open_if(&mut self, fits: bool, begin: &str, end: &'static str) {
        if fits {
            self.out.push_str(begin);
        }
        self.open.push(if fits { end } else { "" });
    }

    /// Writes markup of ours in place of the source up to `end`.
    fn put(&mut self, markup: &str, end: usize) {
        self.out.push_str(markup);
        self.shown = self.shown.max(end);
    }

    /// Writes the source up to `end` as text.
    fn show(&mut self, end: usize) {
        if let Some(text) = self.source.get(self.shown..end) {
            self.out.push_str(&html::escape_text(text));
            self.shown = end;
        }
    }

    /// Shows what the parser passed over before `end`, unless it is markup: blanks and punctuation.
    fn show_gap(&mut self, end: usize) {
        let Some(gap) = self.source.get(self.shown..end) else { return };
        self.shown = end;
        let text = gap.trim();
        if text.chars().all(|c| c.is_ascii_punctuation() || c.is_whitespace()) {
            return;
        }
        let (begin, close) = match self.open.last().copied() {
            Some(END_OF_HEAD) => ("<th>", "</th>"),
            Some(END_OF_ROW) => ("<td>", "</td>"),
            None | Some("</blockquote>\n" | "</ul>\n" | "</ol>\n" | "</li>\n") => ("<p>", "</p>\n"),
            Some(_) => ("", ""),
        };
        let text = if begin == "<td>" || begin == "<th>" { text.trim_matches([' ', '|']) } else { text };
        self.out.push_str(begin);
        self.out.push_str(&html::escape_text(text));
        self.out.push_str(close);
    }
}

#[cfg(test)]
mod tests;
