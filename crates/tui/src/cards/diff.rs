//! What a call changed, with the words that differ: unified, numbered, signs before every line.

use relaycode_change::diff::{DiffHunk, DiffLine, DiffLineKind, FileLineEnding, LineWords, changed_words};
use relaycode_tools::card::CardDiff;

use super::body::DrawnBody;
use super::body_indent;
use super::head::counts;
use crate::layout::conversation_symbol::{ConversationSymbol, symbol};
use crate::layout::span_line::{SpanLine, shown};
use crate::theme::{ThemeStyle, ThemeToken};

/// Unchanged lines beside a change that are shown at once.
const FOLDED_CONTEXT: usize = 1;
/// Characters of a line that are looked at.
const MAX_LINE_CHARS: usize = 2_000;
/// Lines of all diffs of a card that are read.
const MAX_READ_LINES: usize = 50_000;

/// Changes with few lines around them, as many as have room.
pub(super) fn folded(files: &[CardDiff], most: usize, style: &ThemeStyle, width: usize) -> DrawnBody {
    draw(files, most, Some(FOLDED_CONTEXT), style, width)
}

pub(super) fn full(files: &[CardDiff], most: usize, style: &ThemeStyle, width: usize) -> DrawnBody {
    draw(files, most, None, style, width)
}

fn draw(
    files: &[CardDiff],
    most: usize,
    context: Option<usize>,
    style: &ThemeStyle,
    width: usize,
) -> DrawnBody {
    let mut drawn = DrawnBody::default();
    let has_names = files.len() > 1;
    // Of several files each gets its share: what was changed at all matters most.
    let share = match context {
        Some(_) if has_names => (most / files.len()).saturating_sub(1),
        _ => most,
    };
    for file in files {
        if has_names {
            drawn.add(most, 1, || vec![file_line(file, style, width)]);
        }
        let most = if has_names && context.is_some() { drawn.lines.len() + share } else { most };
        let hunks = read_hunks(&file.diff);
        let is_shown =
            |hunk: &DiffHunk, at: usize| context.is_none_or(|context| is_near_change(hunk, at, context));
        let last = hunks.iter().flat_map(|hunk| &hunk.lines).filter_map(|line| line.new.or(line.old)).max();
        let sheet = DiffSheet {
            style,
            width,
            gutter: last.unwrap_or(1).to_string().len(),
            dedent: if context.is_some() { common_indent(&hunks, &is_shown) } else { 0 },
            is_wrapped: context.is_none(),
        };
        let before = (drawn.left_out, drawn.lines.len());
        drawn.left_out = 0;
        for (at, hunk) in hunks.iter().enumerate() {
            if at > 0 && drawn.lines.len() + 1 < most {
                drawn.add(most, 0, || vec![sheet.gap()]);
            }
            // Nothing is compared that is not shown.
            let words = if drawn.lines.len() < most { changed_words(hunk) } else { Vec::new() };
            for (at, line) in hunk.lines.iter().enumerate().filter(|(at, _)| is_shown(hunk, *at)) {
                drawn.add(most, 1, || sheet.line(line, words.get(at)));
            }
        }
        // A gap that nothing follows says nothing.
        if drawn.lines.len() > before.1 && drawn.lines.last().is_some_and(SpanLine::is_gap) {
            drawn.lines.pop();
        }
        drawn.left_out += before.0;
    }
    drawn
}

/// Blanks or tabs at the beginning of every line that is shown.
fn common_indent(hunks: &[DiffHunk], is_shown: &dyn Fn(&DiffHunk, usize) -> bool) -> usize {
    let mut common: Option<&str> = None;
    for hunk in hunks {
        for (at, line) in hunk.lines.iter().enumerate() {
            if !is_shown(hunk, at) || line.text.trim().is_empty() {
                continue;
            }
            let own = &line.text[..line.text.len() - line.text.trim_start_matches([' ', '\t']).len()];
            let shared = common.map_or(own, |common| {
                let same = common.bytes().zip(own.bytes()).take_while(|(a, b)| a == b).count();
                &own[..same]
            });
            common = Some(shared);
        }
    }
    common.map_or(0, str::len)
}

impl DrawnBody {
    fn add(&mut self, most: usize, counted: usize, lines: impl FnOnce() -> Vec<SpanLine>) {
        if self.left_out == 0 && self.lines.len() < most {
            self.lines.extend(lines());
        } else {
            self.left_out += counted;
        }
    }
}

fn is_near_change(hunk: &DiffHunk, at: usize, context: usize) -> bool {
    let from = at.saturating_sub(context);
    let to = (at + context + 1).min(hunk.lines.len());
    hunk.lines[from..to].iter().any(|line| line.kind != DiffLineKind::Context)
}

/// `src/a.rs  +3 −1`
fn file_line(file: &CardDiff, style: &ThemeStyle, width: usize) -> SpanLine {
    let counts = counts(file.added, file.removed, style);
    let indent = body_indent(width);
    let room = width.saturating_sub(indent + 2 + counts.cells());
    let path = style.output.path(&file.path, room);
    SpanLine::plain(" ".repeat(indent)).with(ThemeToken::Accent, path).then("  ").append(counts)
}

struct DiffSheet<'a> {
    style: &'a ThemeStyle,
    width: usize,
    /// Cells of the largest number.
    gutter: usize,
    /// Bytes at the beginning of each line that are not shown.
    dedent: usize,
    is_wrapped: bool,
}

impl DiffSheet<'_> {
    fn gap(&self) -> SpanLine {
        let sign = symbol(self.style, ConversationSymbol::Ellipsis);
        SpanLine::plain(" ".repeat(body_indent(self.width))).with(ThemeToken::Dim, sign)
    }

    fn line(&self, line: &DiffLine, words: Option<&LineWords>) -> Vec<SpanLine> {
        let token = match line.kind {
            DiffLineKind::Context => ThemeToken::ToolDiffContext,
            DiffLineKind::Added => ThemeToken::ToolDiffAdded,
            DiffLineKind::Removed => ThemeToken::ToolDiffRemoved,
        };
        let number = line.new.filter(|_| line.kind != DiffLineKind::Removed).or(line.old).unwrap_or(0);
        let lead = SpanLine::plain(" ".repeat(body_indent(self.width)))
            .with(ThemeToken::Dim, format!("{number:>wide$} ", wide = self.gutter))
            .with(token, format!("{} ", line.kind.sign()));
        let below = SpanLine::plain(" ".repeat(lead.cells()));
        let mut drawn = lead;
        let text = cut(line.text.get(self.dedent..).unwrap_or_default());
        let mut at = 0;
        for range in words.map_or(&[][..], |words| &words.changed) {
            let [start, end] =
                [range.start, range.end].map(|at| at.saturating_sub(self.dedent).min(text.len()));
            let (Some(before), Some(word)) = (text.get(at..start), text.get(start..end)) else { break };
            drawn.push(Some(token), shown(&self.style.output, before));
            drawn.push_strong(Some(token), shown(&self.style.output, word));
            at = end;
        }
        drawn.push(Some(token), shown(&self.style.output, text.get(at..).unwrap_or_default()));
        match self.is_wrapped {
            true => drawn.wrap(self.width, &below),
            false => vec![drawn.clip(self.width, &self.style.output)],
        }
    }
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(MAX_LINE_CHARS).map_or(text, |(end, _)| &text[..end])
}

/// Reads a unified diff without file headers. What is none is left out.
pub(crate) fn read_hunks(diff: &str) -> Vec<DiffHunk> {
    let mut hunks: Vec<DiffHunk> = Vec::new();
    let (mut old, mut new) = (0, 0);
    for line in diff.lines().take(MAX_READ_LINES) {
        if let Some((old_start, new_start)) = read_header(line) {
            (old, new) = (old_start, new_start);
            hunks.push(DiffHunk { old_start, old_lines: 0, new_start, new_lines: 0, lines: Vec::new() });
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        let kind = match line.chars().next() {
            Some('+') => DiffLineKind::Added,
            Some('-') => DiffLineKind::Removed,
            Some(' ') | None => DiffLineKind::Context,
            Some(_) => continue,
        };
        let (has_old, has_new) = (kind != DiffLineKind::Added, kind != DiffLineKind::Removed);
        let text = line.get(1..).unwrap_or_default().to_string();
        let ending = FileLineEnding::Lf;
        hunk.lines.push(DiffLine {
            kind,
            text,
            ending,
            old: has_old.then_some(old),
            new: has_new.then_some(new),
        });
        (old, new) = (old + usize::from(has_old), new + usize::from(has_new));
        hunk.old_lines += usize::from(has_old);
        hunk.new_lines += usize::from(has_new);
    }
    hunks
}

/// The first lines of `@@ -14,3 +14,4 @@`.
fn read_header(line: &str) -> Option<(usize, usize)> {
    let (old, new) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let number = |text: &str| {
        let digits = text.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<usize>().ok().filter(|number| *number <= usize::MAX / 2)
    };
    Some((number(old)?, number(new)?))
}
