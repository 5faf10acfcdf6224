//! Added lines that stand for code which was left out: `// ... existing code ...`, `# rest of the file
//! unchanged`. Written to disk, such a line has replaced the code it mentions.
//!
//! Only comments and lines that are not code are checked; their words decide (see [`phrase`]). Lines that
//! were in the file before are the project's own business.

mod diff_signs;
mod languages;
mod listing;
mod phrase;
mod stubs;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use super::{CheckedFile, PlanCheck, WHOLE_FILE, clip_line, text_lines};
use crate::diff::equal_ends;
use crate::lines::text_file::returns_end_lines;
use crate::plan::{FindingKind, PlanFinding};
use crate::response::markers::{is_end, is_start};
use diff_signs::{has_diff_signs, has_signs_on_some};
use listing::is_listing;
use phrase::PlaceholderPhrase;
use stubs::new_stubs;

/// Longer lines are not placeholders.
const LINE_BYTES: usize = 200;
/// A whole file that loses so many lines more than it gets has perhaps only left them out.
const LOST_LINES: usize = 3;
/// Most placeholders reported per file.
const REPORTED: usize = 20;

pub(super) struct PlaceholderCheck;

impl PlanCheck for PlaceholderCheck {
    fn kind(&self) -> FindingKind {
        FindingKind::Placeholder
    }

    fn check(&self, file: &CheckedFile<'_>, out: &mut Vec<PlanFinding>) {
        let Some(after) = file.after else { return };
        for (number, line) in leftover_markers(after) {
            if !text_lines(file.before.unwrap_or_default()).any(|old| old.trim() == line) {
                let text = format!("`{line}` looks like a mark of the answer, not like a line of the file");
                out.push(file.finding(self.kind(), Some(number), text));
            }
        }
        let language = PlaceholderLanguage::of(file.file.path.as_str());
        let before = file.before.unwrap_or_default();
        if file.file.dialect == Some(WHOLE_FILE) && is_listing(after) && !is_listing(before) {
            let text = "every line begins with its number, as in a listing of the file".to_owned();
            out.push(file.finding(self.kind(), Some(1), text));
        }
        let part = ChangedPart::of(before, after);
        if file.file.dialect == Some(WHOLE_FILE) && !before.is_empty() && has_diff_signs(before, after) {
            let text = "every new line begins with + or -, as in a diff".to_owned();
            out.push(file.finding(self.kind(), None, text));
        } else if !before.is_empty()
            && language.is_strict()
            && has_signs_on_some(before, part.before, part.after)
        {
            let text = "new lines begin with +, - or >, as in a diff or a quote".to_owned();
            out.push(file.finding(self.kind(), None, text));
        }
        let mut found = part.placeholders(language);
        // Where nothing goes, dots stand for nothing.
        if file.file.removed > 0 && !before.is_empty() {
            if language == PlaceholderLanguage::Python {
                for number in new_stubs(before, after).into_iter().take(REPORTED) {
                    let text = "the body of this function would be `...`; its code was left out".to_owned();
                    out.push(file.finding(self.kind(), Some(number), text));
                }
            }
            found.extend(part.dotted_comments(language));
            if file.file.dialect == Some(WHOLE_FILE) && file.file.removed >= file.file.added + LOST_LINES {
                found.extend(vague_comments(part.after, language));
            }
            found.sort_unstable();
            found.dedup();
        }
        if found.is_empty() {
            return;
        }
        let mut old: HashMap<&str, usize> = HashMap::new();
        for line in text_lines(part.before) {
            *old.entry(line.trim()).or_default() += 1;
        }
        found.retain(|(_, line)| match old.get_mut(line) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        });
        for (number, line) in found.into_iter().take(REPORTED) {
            let text = format!("`{}` seems to stand for code that was left out", clip_line(line));
            out.push(file.finding(self.kind(), Some(part.first + number), text));
        }
    }
}

/// What differs between two versions of a text: whole lines, without those that both have at the beginning and the end.
struct ChangedPart<'t> {
    /// The lines above it.
    head: &'t str,
    /// How many those are.
    first: usize,
    before: &'t str,
    after: &'t str,
}

impl<'t> ChangedPart<'t> {
    fn of(before: &'t str, after: &'t str) -> ChangedPart<'t> {
        if returns_end_lines(before.as_bytes()) || returns_end_lines(after.as_bytes()) {
            return ChangedPart { head: "", first: 0, before, after };
        }
        let (start, tail) = equal_ends(before.as_bytes(), after.as_bytes());
        let middle = |text: &'t str| &text[start..text.len() - tail];
        let head = &after[..start];
        let first = memchr::memchr_iter(b'\n', head.as_bytes()).count();
        ChangedPart { head, first, before: middle(before), after: middle(after) }
    }

    /// Trimmed, with their line numbers in the part (from 1).
    fn placeholders(&self, language: PlaceholderLanguage) -> Vec<(usize, &'t str)> {
        let mut statements = PythonStatements::default();
        if language == PlaceholderLanguage::Python {
            for line in text_lines(self.head) {
                statements.is_odd_ellipsis(line.trim());
            }
        }
        placeholders(text_lines(self.after), language, statements)
    }

    /// Comments that begin with dots, whatever they say, unless they go on with a comment above. Trimmed, with their line
    /// numbers in the part (from 1).
    fn dotted_comments(&self, language: PlaceholderLanguage) -> Vec<(usize, &'t str)> {
        let mut found = Vec::new();
        let comment = |line| whole_comment(line, language).filter(|_| line.len() <= LINE_BYTES);
        let goes_on = |line| comment(line).is_some_and(|above| above.body.ends_with(['.', '…', ',']));
        let mut above = self.head.lines().next_back().unwrap_or_default().trim();
        for (index, line) in text_lines(self.after).map(str::trim).enumerate() {
            if has_dots(line)
                && let Some(comment) = comment(line)
                && comment.plain
                && comment.body.trim_start_matches(['(', '[', '<']).starts_with(['.', '…'])
                && !goes_on(above)
            {
                let phrase = PlaceholderPhrase::read(comment.body);
                if phrase.begins_with_dots() && !phrase.is_only_dots() && !phrase.is_spread() {
                    found.push((index + 1, line));
                }
            }
            above = line;
        }
        found
    }
}

/// START among the first three lines that say something, and END on the last: what an answer puts around the content
/// of a file. Trimmed, with their line numbers (from 1).
fn leftover_markers(text: &str) -> Vec<(usize, &str)> {
    let mut first = text_lines(text).map(str::trim).enumerate().filter(|(_, line)| !line.is_empty()).take(3);
    let start = first.find(|(_, line)| is_start(line)).map(|(index, line)| (index + 1, line));
    let solid = text.trim_end();
    let last = text_lines(&solid[solid.rfind('\n').map_or(0, |at| at + 1)..]).last();
    let end = last.map(str::trim).filter(|line| is_end(line)).map(|line| (text_lines(solid).count(), line));
    start.into_iter().chain(end).collect()
}

/// Trimmed, with their line numbers (from 1).
fn placeholders<'t>(
    lines: impl Iterator<Item = &'t str>,
    language: PlaceholderLanguage,
    mut statements: PythonStatements<'t>,
) -> Vec<(usize, &'t str)> {
    let mut found = Vec::new();
    let mut all = lines.enumerate().peekable();
    while let Some((index, line)) = all.next() {
        let line = line.trim();
        let odd_dots = language == PlaceholderLanguage::Python && statements.is_odd_ellipsis(line);
        if line.len() > LINE_BYTES || !(odd_dots || is_placeholder(line, language)) {
            continue;
        }
        // The end of a parameter list: `...` and then the bracket.
        let closes = all.peek().is_some_and(|(_, next)| next.trim_start().starts_with(')'));
        if !(closes && line == "...") {
            found.push((index + 1, line));
        }
    }
    found
}

/// Comments with a few words that often stand for code which was left out. Trimmed, with their line numbers (from 1).
fn vague_comments(text: &str, language: PlaceholderLanguage) -> Vec<(usize, &str)> {
    let lines = text_lines(text).map(str::trim).enumerate().filter(|(_, line)| line.len() <= LINE_BYTES);
    let vague = lines.filter(|(_, line)| {
        let comment = whole_comment(line, language).map(|comment| comment.body).or_else(|| quoted_text(line));
        comment.is_some_and(phrase::is_vague)
    });
    vague.map(|(index, line)| (index + 1, line)).collect()
}

/// A line that is only a text: `"""unchanged"""`, `"...": "..."`.
fn quoted_text(line: &str) -> Option<&str> {
    line.strip_prefix('"').map(|rest| rest.trim_end_matches(',').trim_matches(['"', ' ']))
}

/// Whether a line is a comment or a remark in brackets, and no code.
pub(super) fn is_remark(path: &str, line: &str) -> bool {
    let line = line.trim();
    let bracketed = line.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    whole_comment(line, PlaceholderLanguage::of(path)).is_some()
        || bracketed.is_some_and(|said| said.chars().all(is_prose))
}

/// What comes before a line of Python.
#[derive(Default)]
struct PythonStatements<'t> {
    previous: &'t str,
    in_text: bool,
}

impl<'t> PythonStatements<'t> {
    /// Whether `line` is an ellipsis where nobody writes one: after a statement, neither as a body nor as a value.
    fn is_odd_ellipsis(&mut self, line: &'t str) -> bool {
        let quotes = line.matches("\"\"\"").count() + line.matches("'''").count();
        let (inside, previous) = (self.in_text, self.previous);
        self.in_text ^= quotes % 2 == 1;
        if !line.is_empty() {
            self.previous = line;
        }
        let follows_statement =
            previous.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | ']' | '_'));
        line == "..." && !inside && follows_statement && !previous.starts_with(['#', '@'])
    }
}

/// The lines of `new` (from 0) that stand for lines of `old`, each by itself. A line that `old` has is content. `None` if
/// something was left out in another way, too.
pub(crate) fn gap_lines(path: &str, old: &[&str], new: &[&str]) -> Option<Vec<usize>> {
    let language = PlaceholderLanguage::of(path);
    let mut found = placeholders(new.iter().copied(), language, PythonStatements::default());
    if !found.is_empty() {
        let known: HashSet<&str> = old.iter().map(|line| line.trim()).collect();
        found.retain(|(_, line)| !known.contains(line));
    }
    let whole = |line: &str| whole_comment(line, language).is_some() || is_bare(line, language);
    found.iter().all(|(_, line)| whole(line)).then(|| found.iter().map(|(number, _)| number - 1).collect())
}

/// Whether a line of an edit stands for lines that were left out: dots alone or as a comment, perhaps with a few words
/// such as "existing code".
pub(crate) fn is_gap(line: &str) -> bool {
    let line = line.trim();
    if line.len() > LINE_BYTES {
        return false;
    }
    let body = whole_comment(line, PlaceholderLanguage::Unknown).map_or(line, |comment| comment.body);
    let is_code = body == line && !line.chars().all(is_prose);
    if is_code || !(has_dots(line) || !line.is_ascii() || phrase::has_omission_word(line)) {
        return false;
    }
    let phrase = PlaceholderPhrase::read(body);
    phrase.is_only_dots() || phrase.stands_for_code() || phrase.has_dots_and_omission()
}

/// How a file's language treats dots and comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlaceholderLanguage {
    /// Text for people: only HTML comments, and lines that say it with dots, count.
    Prose,
    /// Three dots alone are valid, but only in a few places.
    Python,
    /// Other languages in which three dots alone are valid (Perl, R, YAML).
    DotsAreCode,
    /// Code in which three dots alone are not valid.
    Code,
    Unknown,
}

impl PlaceholderLanguage {
    /// Whether a line cannot begin with a sign at the margin, but for the middle of a text.
    fn is_strict(self) -> bool {
        matches!(self, PlaceholderLanguage::Code | PlaceholderLanguage::Python)
    }

    fn of(path: &str) -> PlaceholderLanguage {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        match extension.to_ascii_lowercase().as_str() {
            "md" | "markdown" | "mdx" | "txt" | "rst" | "adoc" | "org" | "tex" => PlaceholderLanguage::Prose,
            "py" | "pyi" | "pyx" => PlaceholderLanguage::Python,
            "pl" | "pm" | "raku" | "r" | "yaml" | "yml" | "jl" => PlaceholderLanguage::DotsAreCode,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" | "rs" | "go"
            | "java" | "kt" | "kts" | "scala" | "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "cs"
            | "swift" | "rb" | "php" | "dart" | "lua" | "json" | "jsonc" | "toml" | "css" | "scss"
            | "less" | "html" | "htm" | "xml" | "sql" | "sh" | "bash" | "zig" | "ex" | "exs" | "hs" | "m"
            | "mm" | "proto" | "gradle" => PlaceholderLanguage::Code,
            _ => PlaceholderLanguage::Unknown,
        }
    }
}

/// `line` is trimmed.
fn is_placeholder(line: &str, language: PlaceholderLanguage) -> bool {
    if !may_be_placeholder(line) {
        return false;
    }
    if let Some(comment) = whole_comment(line, language) {
        let phrase = PlaceholderPhrase::read(comment.body);
        return match phrase.is_only_dots() {
            true => comment.plain && language != PlaceholderLanguage::Prose,
            false => phrase.stands_for_code(),
        };
    }
    if language == PlaceholderLanguage::Prose {
        return is_bare(line, language);
    }
    is_bare(line, language) || is_dotted_body(line, language) || has_tail_comment(line)
}

/// A cheap check that most lines do not pass: a placeholder has dots, or is a comment or something in
/// brackets with one of a few words.
fn may_be_placeholder(line: &str) -> bool {
    let bytes = line.as_bytes();
    let begins = bytes.first().is_some_and(|first| STARTS.contains(first));
    let comment = || begins || memchr::memchr2(b'/', b'#', bytes).is_some();
    has_dots(line) || (comment() && phrase::has_omission_word(line)) || (begins && !line.is_ascii())
}

fn has_dots(line: &str) -> bool {
    let bytes = line.as_bytes();
    memchr::memchr2_iter(b'.', ELLIPSIS[0], bytes)
        .any(|at| bytes[at..].starts_with(b"..") || bytes[at..].starts_with(ELLIPSIS))
}

const ELLIPSIS: &[u8] = "…".as_bytes();
/// The bytes with which comments and brackets begin.
const STARTS: &[u8] = b"/#<{*-;%([@R";

struct WholeLineComment<'a> {
    body: &'a str,
    /// An ordinary comment: in a documentation comment dots alone are prose.
    plain: bool,
}

const CLOSERS: &[&str] = &["*/}", "*/", "-->", "--%>", "--}}", "*@", "#}", "*)", "-}", "}}"];
const OPENERS: &[&str] = &[
    "<!--", "{/*", "/**", "/*", "<%--", "{{!--", "{{!", "{{/*", "{#", "@*", "(*", "{-", "///", "//!", "//",
    "#!", "##", "#", "--", ";;", ";", "%", "* ", "REM ", "rem ",
];

fn whole_comment(line: &str, language: PlaceholderLanguage) -> Option<WholeLineComment<'_>> {
    let opener = OPENERS.iter().find(|opener| line.starts_with(**opener))?;
    // In prose a hash is a heading and a star or two dashes are a list.
    if language == PlaceholderLanguage::Prose && !matches!(*opener, "<!--" | "{/*" | "{#") {
        return None;
    }
    let mut body = line[opener.len()..].trim_start_matches(['/', '#', ';', '%', '-', '*']).trim();
    for closer in CLOSERS {
        body = body.strip_suffix(closer).unwrap_or(body).trim_end();
    }
    let plain = !matches!(*opener, "/**" | "///" | "//!" | "* " | "##" | "#!");
    Some(WholeLineComment { body, plain })
}

/// A line that is neither code nor comment: `...`, `... rest of the code`, `[rest of file unchanged]`.
fn is_bare(line: &str, language: PlaceholderLanguage) -> bool {
    let inner = line
        .strip_prefix(['[', '(', '<', '{'])
        .and_then(|rest| rest.strip_suffix([']', ')', '>', '}']))
        .map(str::trim);
    let bracketed = inner.is_some();
    let inner = inner.unwrap_or(line);
    if !inner.chars().all(is_prose) {
        return false;
    }
    let phrase = PlaceholderPhrase::read(inner);
    if phrase.is_only_dots() {
        return language == PlaceholderLanguage::Code && !bracketed;
    }
    if phrase.is_spread() {
        return false;
    }
    match language {
        PlaceholderLanguage::Prose => phrase.dots_first && phrase.is_only_omission(),
        _ => (bracketed || phrase.dots_first || phrase.dots_last) && phrase.stands_for_code(),
    }
}

/// A character of a sentence, as opposed to code.
fn is_prose(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ' ' | '.' | '…' | ',' | '\'' | '’' | '-' | '(' | ')' | '–' | '—')
}

/// `fn load() { ... }`: a body of dots.
fn is_dotted_body(line: &str, language: PlaceholderLanguage) -> bool {
    let line = line.trim_end_matches([';', ',', ' ']);
    let Some(head) = line.strip_suffix('}').map(str::trim_end) else {
        return false;
    };
    let head = head.strip_suffix("...").or_else(|| head.strip_suffix('…'));
    let Some(head) = head.and_then(|head| head.trim_end().strip_suffix('{')) else {
        return false;
    };
    language == PlaceholderLanguage::Code
        && !head.trim().is_empty()
        && !head.contains(['"', '\'', '`'])
        && !head.contains("//")
}

/// Code and behind it a comment that stands for more: `init() { // ... rest of the setup`.
fn has_tail_comment(line: &str) -> bool {
    for opener in ["//", "/*", "<!--", "#"] {
        let Some(at) = line.find(opener) else {
            continue;
        };
        let head = &line[..at];
        let apart = head.ends_with([' ', '\t', '{', '(', ';', ',', '>']);
        let in_text = ['"', '\'', '`'].iter().any(|quote| head.matches(*quote).count() % 2 == 1);
        if !apart || in_text {
            continue;
        }
        let body = line[at + opener.len()..].trim_end_matches(['}', ')', ';', ',', ' ']);
        let body = CLOSERS.iter().find_map(|closer| body.strip_suffix(closer)).unwrap_or(body);
        let phrase = PlaceholderPhrase::read(body.trim());
        if phrase.is_only_dots() {
            return head.trim_end().ends_with('{');
        }
        // `load() { // unchanged`, `pass  # unchanged`
        let is_body = head.trim_end().ends_with(['{', ':']) || head.trim_end().ends_with("pass");
        return (phrase.dots_first || is_body) && phrase.stands_for_code();
    }
    false
}
