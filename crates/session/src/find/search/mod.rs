//! Full-text search over whole sessions: line by line, newest session first, with an excerpt.
//!
//! All words must be in one message, in any case. Memory is bounded by the longest line read, and the
//! caller can stop it at any file and any chunk.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::io;

use memchr::{memchr2_iter, memmem};
use relaycode_durable::Fs;
use serde::Serialize;
use serde_json::Value;

use crate::SessionSummary;
use crate::file::for_each_line;
use crate::home::layout::open_parent;
use crate::truncate::truncate_str;

/// Longest line searched; a longer one is counted as skipped.
pub const MAX_LINE: usize = 16 * 1024 * 1024;
/// Most words of a query.
pub const MAX_WORDS: usize = 16;
/// Most bytes of a word.
const MAX_WORD: usize = 256;
/// Characters before the word in an excerpt.
const CLIP_LEAD: usize = 40;
/// Most characters of an excerpt.
const CLIP_CHARS: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchWords {
    words: Vec<String>,
}

/// A message with all the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    pub entry: String,
    /// `user`, `assistant`, `toolResult`, …
    pub role: String,
    /// The text around the first word, on one line.
    pub clip: String,
}

/// The hits of one session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchHits {
    /// The first ones, up to the limit.
    pub hits: Vec<SearchHit>,
    /// Lines that were too long to search.
    pub skipped: u64,
    /// It was stopped before the end.
    pub stopped: bool,
}

impl SearchWords {
    /// `None` if there are none.
    pub fn parse(text: &str) -> Option<SearchWords> {
        let bounded = |word: &str| truncate_str(word, MAX_WORD).to_lowercase();
        let words: Vec<String> = text.split_whitespace().take(MAX_WORDS).map(bounded).collect();
        (!words.is_empty()).then_some(SearchWords { words })
    }

    /// Where the first of them begins in `lower`; `None` unless all are in it.
    fn find(&self, lower: &str) -> Option<usize> {
        let places = self.words.iter().map(|word| memmem::find(lower.as_bytes(), word.as_bytes()));
        places.collect::<Option<Vec<usize>>>()?.into_iter().min()
    }

    /// A quick check whether a line of JSON can hold them. Non-ASCII words, and lines with escaped ASCII,
    /// always pass.
    fn may_be_in(&self, line: &[u8]) -> bool {
        let as_it_is =
            |word: &str| word.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\' | b'/'));
        let escaped = || memmem::find(line, b"\\u00").is_some();
        self.words
            .iter()
            .all(|word| !as_it_is(word) || contains_ignore_case(line, word.as_bytes()) || escaped())
    }
}

/// `word` is in lower case.
fn contains_ignore_case(line: &[u8], word: &[u8]) -> bool {
    let Some(first) = word.first() else { return true };
    memchr2_iter(*first, first.to_ascii_uppercase(), line)
        .any(|at| line.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)))
}

/// Searches one session; at most `limit` messages. `stop` is polled between chunks.
pub fn search_session(
    fs: &dyn Fs,
    info: &SessionSummary,
    words: &SearchWords,
    limit: usize,
    stop: &dyn Fn() -> bool,
) -> io::Result<SearchHits> {
    let mut hits = SearchHits::default();
    let (dir, name) = open_parent(fs, &info.path)?;
    let (enough, stopped) = (Cell::new(false), Cell::new(false));
    let mut read = |at: u64, most: usize| {
        stopped.set(!enough.get() && stop());
        if enough.get() || stopped.get() { Ok(Vec::new()) } else { fs.read_range(&dir, name, at, most) }
    };
    for_each_line(&mut read, 0, u64::MAX, MAX_LINE, &mut |line| {
        match line.bytes {
            // Nothing more is wanted, and this may be half a line.
            _ if enough.get() || stopped.get() => return Ok(()),
            None => hits.skipped += 1,
            Some(bytes) if words.may_be_in(bytes) => hits.hits.extend(find_hit(bytes, words)),
            Some(_) => {}
        }
        enough.set(hits.hits.len() >= limit);
        Ok(())
    })?;
    hits.stopped = stopped.get();
    Ok(hits)
}

/// The hit of a line, if it is a message with all the words.
fn find_hit(line: &[u8], words: &SearchWords) -> Option<SearchHit> {
    let lossy = String::from_utf8_lossy(line);
    let value: Value = serde_json::from_str(&lossy).ok()?;
    let (role, text) = role_and_text(&value)?;
    let lower = text.to_lowercase();
    let clip = clip(&text, &lower, words.find(&lower)?);
    let entry = value.get("id").and_then(Value::as_str).unwrap_or_default().to_string();
    Some(SearchHit { entry, role, clip })
}

/// Speaker and text of an entry; `None` if it says nothing.
fn role_and_text(entry: &Value) -> Option<(String, String)> {
    let field = |name: &str| entry.get(name).and_then(Value::as_str);
    match field("type")? {
        "message" => {
            let message = entry.get("message")?;
            let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
            Some((role.to_string(), searchable_text(message.get("content")?)))
        }
        "custom_message" => Some(("custom".into(), searchable_text(entry.get("content")?))),
        "compaction" => Some(("compaction".into(), field("summary")?.to_string())),
        "branch_summary" => Some(("branchSummary".into(), field("summary")?.to_string())),
        _ => None,
    }
}

fn searchable_text(content: &Value) -> String {
    let Value::Array(pieces) = content else { return content.as_str().unwrap_or_default().to_string() };
    let texts = pieces.iter().filter_map(|piece| match piece.get("type").and_then(Value::as_str) {
        Some("text") => piece.get("text")?.as_str().map(str::to_string),
        Some("toolCall") => {
            let name = piece.get("name").and_then(Value::as_str).unwrap_or_default();
            Some(format!("{name} {}", piece.get("arguments").unwrap_or(&Value::Null)))
        }
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The text around byte `at` of `lower`, on one line.
fn clip(text: &str, lower: &str, at: usize) -> String {
    // Lower case can be longer or shorter than the text: counted in characters the position is near enough.
    let before = truncate_str(lower, at).chars().count();
    let from = before.saturating_sub(CLIP_LEAD);
    let mut clipped = if from > 0 { "…".to_string() } else { String::new() };
    let mut taken = text.chars().skip(from);
    clipped.extend(taken.by_ref().take(CLIP_CHARS));
    if taken.next().is_some() {
        clipped.push('…');
    }
    clipped.split_whitespace().collect::<Vec<_>>().join(" ")
}
