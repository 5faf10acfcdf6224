//! The two ends of a session file: its header, the first prompt, whether it was answered, and whether it
//! ends well.
//!
//! A page of each end is read; 64 KB only if the header or the first message needs it, or the last line is
//! long.

use std::borrow::Cow;
use std::io;

use memchr::{memchr_iter, memrchr};
use relaycode_durable::{Fs, FsDir, FsStat};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{MAX_FIRST_MESSAGE, close_json};
use crate::truncate::truncate_str;
use crate::{IndexHead, SessionHeader};

/// Bytes of an end that are read first.
const PAGE: usize = 4 * 1024;
/// Bytes of an end that are read if those are not enough.
const MOST: usize = 64 * 1024;

const CUT_OFF: &str = "its last line is cut off";

#[derive(Debug, Default)]
pub(super) struct SessionEnds {
    pub(super) header: Option<SessionHeader>,
    pub(super) first_message: Option<String>,
    /// Of the last compaction.
    pub(super) summary: Option<String>,
    pub(super) answered: Option<bool>,
    pub(super) messages: Option<u64>,
    pub(super) damage: Option<String>,
}

/// The part of a line that a list needs.
#[derive(Deserialize)]
pub(super) struct PartialEntry<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(default, rename = "shortSummary")]
    short_summary: Option<Value>,
}

#[derive(Deserialize)]
struct PartialMessage<'a> {
    #[serde(borrow, default)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default, rename = "stopReason")]
    stop_reason: Option<Value>,
}

impl PartialMessage<'_> {
    fn content(&self) -> Option<Value> {
        self.content.and_then(|content| serde_json::from_str(content.get()).ok())
    }

    /// A failure without text is not an answer.
    fn is_answer(&self) -> bool {
        let reason = self.stop_reason.as_ref().and_then(Value::as_str);
        !matches!(reason, Some("error" | "aborted")) || self.text().is_some()
    }

    fn text(&self) -> Option<String> {
        self.content().as_ref().and_then(clipped_text).filter(|text| !text.trim().is_empty())
    }
}

/// Reads the ends of a file, and its stat. The tail is skipped if there is an index of the present file,
/// which knows all of it.
pub(super) fn read_ends(
    fs: &dyn Fs,
    dir: &FsDir,
    name: &str,
    index: Option<&IndexHead>,
) -> io::Result<(SessionEnds, FsStat)> {
    let mut read = fs.read_ends(dir, name, PAGE, if index.is_some() { 0 } else { PAGE })?;
    let len = read.stat.len.max(read.head.len() as u64);
    let mut ends = SessionEnds::default();
    if read.head.is_empty() {
        ends.damage = Some("it is empty".to_string());
        return Ok((ends, read.stat));
    }
    let mut lines = read_head_lines(&mut ends, &read.head, len);
    if len > read.head.len() as u64 && lines.wants_more {
        read.head = fs.read_range(dir, name, 0, MOST)?;
        ends = SessionEnds::default();
        lines = read_head_lines(&mut ends, &read.head, len);
    }
    if len <= read.head.len() as u64 {
        ends.messages = ends.damage.is_none().then_some(lines.messages);
        ends.answered.get_or_insert(false);
        return Ok((ends, read.stat));
    }
    if let Some(index) = index {
        if index.matches_file(&read.stat) {
            return Ok((ends, read.stat));
        }
        read.tail = fs.read_range(dir, name, len.saturating_sub(PAGE as u64), PAGE)?;
    }
    let from = len.saturating_sub(read.tail.len() as u64);
    if !read_tail_lines(&mut ends, &read.tail, from) && from > 0 {
        let from = len.saturating_sub(MOST as u64);
        let tail = fs.read_range(dir, name, from, MOST)?;
        read_tail_lines(&mut ends, &tail, from);
    }
    Ok((ends, read.stat))
}

struct HeadLines {
    messages: u64,
    /// The header or the first message is not in it.
    wants_more: bool,
}

fn read_head_lines(ends: &mut SessionEnds, head: &[u8], len: u64) -> HeadLines {
    let whole = len <= head.len() as u64;
    let mut said = HeadLines { messages: 0, wants_more: false };
    let mut from = 0;
    let ends_at = memchr_iter(b'\n', head).chain((!head.ends_with(b"\n")).then_some(head.len()));
    let mut at_header = true;
    for (number, to) in ends_at.enumerate() {
        let line = &head[from..to];
        // As in opening: neither a byte order mark nor blank lines before the header are damage.
        let line = if from == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        // A line truncated by the head; the last line of a file may lack its end, too.
        let is_cut = to == head.len() && !whole;
        from = to + 1;
        if trimmed(line).is_empty() && !(at_header && whole && to == head.len()) {
            continue;
        }
        if std::mem::take(&mut at_header) {
            let Ok(header) = serde_json::from_slice::<SessionHeader>(trimmed(line)) else {
                said.wants_more = is_cut;
                let damage = if is_cut { "its header is too long" } else { "its header cannot be read" };
                ends.damage = Some(damage.to_string());
                continue;
            };
            ends.header = Some(header);
            continue;
        }
        if is_cut {
            let ways = close_json::close_json(line);
            if let Some(line) = ways.iter().find_map(|way| serde_json::from_slice(way).ok()) {
                take_line(ends, &line);
            }
            continue;
        }
        match serde_json::from_slice::<PartialEntry<'_>>(line) {
            Ok(line) => {
                said.messages += u64::from(line.kind == "message");
                take_line(ends, &line);
            }
            Err(_) => {
                let is_last = whole && to == head.len();
                let what = || format!("line {} cannot be read", number + 1);
                ends.damage.get_or_insert_with(|| if is_last { CUT_OFF.to_string() } else { what() });
            }
        }
    }
    said.wants_more |= ends.header.is_some() && ends.first_message.is_none();
    said
}

fn take_line(ends: &mut SessionEnds, line: &PartialEntry<'_>) {
    if line.kind == "compaction" {
        if let Some(Value::String(summary)) = &line.short_summary
            && !summary.trim().is_empty()
        {
            ends.summary = Some(clip_first_message(summary));
        }
        return;
    }
    let Some(message) = line.message.filter(|_| line.kind == "message") else { return };
    let Ok(role) = serde_json::from_str::<PartialMessage<'_>>(message.get()) else { return };
    match role.role.as_ref() {
        "assistant" if role.is_answer() => ends.answered = Some(true),
        "user" if ends.first_message.is_none() => ends.first_message = role.text(),
        _ => {}
    }
}

/// `false` asks for a longer tail.
fn read_tail_lines(ends: &mut SessionEnds, tail: &[u8], from: u64) -> bool {
    let body = tail.strip_suffix(b"\n").unwrap_or(tail);
    let Some(first) = memchr::memchr(b'\n', body).filter(|_| from > 0).or((from == 0).then_some(0)) else {
        return false;
    };
    let last = memrchr(b'\n', body).map_or(0, |at| at + 1);
    if serde_json::from_slice::<PartialEntry<'_>>(&body[last..]).is_err() {
        ends.damage.get_or_insert_with(|| CUT_OFF.to_string());
    }
    let first_message = ends.first_message.take();
    for line in body[first..].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        if let Ok(line) = serde_json::from_slice::<PartialEntry<'_>>(line) {
            take_line(ends, &line);
        }
    }
    // The tail does not hold the first message, unless none was seen and this is the whole file.
    ends.first_message = first_message;
    ends.answered.is_some()
}

/// The text of a message's content: a string, or the text pieces.
pub(super) fn clipped_text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(clip_first_message(text)),
        Value::Array(pieces) => {
            let mut text = String::new();
            for piece in pieces.iter().filter_map(|piece| piece.get("text")?.as_str()) {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(piece);
                if text.len() > MAX_FIRST_MESSAGE {
                    break;
                }
            }
            Some(clip_first_message(&text))
        }
        _ => None,
    }
}

fn clip_first_message(text: &str) -> String {
    truncate_str(text, MAX_FIRST_MESSAGE).to_string()
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line).trim_ascii()
}
