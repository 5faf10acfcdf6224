//! Counts what a session used, line by line, from where an earlier count ended.

use std::borrow::Cow;
use std::io;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use relaycode_durable::{Fs, FsDir};
use relaycode_llm::TokenUsage;
use serde::{Deserialize, Serialize};

use super::{MAX_NAME, SessionUsage, counts_from};
use crate::SessionHeader;
use crate::file::{MAX_LINE_BYTES, for_each_line, parse_millis};
use crate::truncate::truncate_str;

/// Between two entries nobody worked longer than that: the machine slept.
const MAX_GAP_MS: i64 = 3_600_000;
/// Bytes before the end of what was counted that have to be as they were.
const SAMPLE: u64 = 4_096;
/// US dollars of one answer that are believed.
const MAX_COST: f64 = 1e6;

/// What is known of a file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct CountedFile {
    /// As it was then.
    pub(super) len: u64,
    pub(super) modified: i64,
    /// Bytes that were counted: whole lines.
    covered: u64,
    /// Of their end.
    sample: u32,
    /// The newest entry's time.
    last: i64,
    model: String,
    counts_from: i64,
    pub(super) usage: SessionUsage,
}

/// A file, and whether something of it was read.
pub(super) struct UsageCounter {
    pub(super) file: CountedFile,
    pub(super) is_new: bool,
}

#[derive(Deserialize)]
struct UsageLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    timestamp: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Option<MessageLine<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageLine<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    provider: Cow<'a, str>,
    #[serde(borrow, default)]
    model: Cow<'a, str>,
    #[serde(borrow, default)]
    tool_name: Cow<'a, str>,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    usage: Option<TokenUsage>,
}

impl UsageCounter {
    pub(super) fn count(
        fs: &dyn Fs,
        (dir, name): (&FsDir, &str),
        known: Option<&CountedFile>,
        zone: &TimeZone,
    ) -> io::Result<UsageCounter> {
        let stat = fs.stat(dir, name)?;
        if let Some(known) = known.filter(|known| (known.len, known.modified) == (stat.len, stat.modified)) {
            return Ok(UsageCounter { file: known.clone(), is_new: false });
        }
        let mut read = |at: u64, most: usize| fs.read_range(dir, name, at, most);
        let mut file = match known {
            Some(known) if known.covered <= stat.len && sample(&mut read, known.covered)? == known.sample => {
                known.clone()
            }
            _ => CountedFile::default(),
        };
        let mut is_session = file.covered > 0;
        let from = file.covered;
        for_each_line(&mut read, from, stat.len, MAX_LINE_BYTES, &mut |line| {
            if !line.ended {
                return Ok(());
            }
            file.covered = line.offset + line.len + 1;
            let Some(bytes) = line.bytes else { return Ok(()) };
            if line.offset == 0 {
                let header: SessionHeader = serde_json::from_slice(bytes)?;
                file.begin(&header);
                is_session = true;
            } else {
                file.count_line(bytes, zone);
            }
            Ok(())
        })?;
        if !is_session {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a session"));
        }
        file.sample = sample(&mut read, file.covered)?;
        (file.len, file.modified) = (stat.len, stat.modified);
        Ok(UsageCounter { file, is_new: true })
    }
}

fn sample(read: &mut dyn FnMut(u64, usize) -> io::Result<Vec<u8>>, covered: u64) -> io::Result<u32> {
    let size = covered.min(SAMPLE);
    read(covered - size, usize::try_from(size).unwrap_or(usize::MAX)).map(|bytes| crc32fast::hash(&bytes))
}

impl CountedFile {
    fn begin(&mut self, header: &SessionHeader) {
        self.usage.cwd.clone_from(&header.cwd);
        self.counts_from = counts_from(header);
        self.last = parse_millis(&header.timestamp);
    }

    fn count_line(&mut self, line: &[u8], zone: &TimeZone) {
        // A line that is something else counts for nothing.
        let Ok(UsageLine { kind, timestamp, message }) = serde_json::from_slice(line) else { return };
        let time = match parse_millis(&timestamp) {
            0 => self.last,
            time => time,
        };
        let gap = time.saturating_sub(self.last).clamp(0, MAX_GAP_MS);
        self.last = time;
        let Some(message) = message.filter(|_| kind == "message") else { return };
        if message.role == "assistant" && !message.model.is_empty() {
            self.model =
                truncate_str(&format!("{}/{}", message.provider, message.model), MAX_NAME).to_string();
        }
        if time < self.counts_from {
            return;
        }
        let day = day_of(time, zone);
        let model = self.model.clone();
        match &*message.role {
            "user" => self.usage.sums(&day, "").prompts += 1,
            "assistant" => {
                let sums = self.usage.sums(&day, &model);
                sums.answers += 1;
                sums.milliseconds += gap.unsigned_abs();
                let usage = message.usage.unwrap_or_default();
                sums.input = sums.input.saturating_add(usage.input);
                sums.output = sums.output.saturating_add(usage.output);
                sums.cache_read = sums.cache_read.saturating_add(usage.cache_read);
                sums.cache_write = sums.cache_write.saturating_add(usage.cache_write);
                sums.cost += usage.cost.total.clamp(0.0, MAX_COST);
            }
            "toolResult" => {
                self.usage.sums(&day, &model).milliseconds += gap.unsigned_abs();
                let tool = self.usage.tool(&day, truncate_str(&message.tool_name, MAX_NAME));
                tool.calls += 1;
                tool.errors += u64::from(message.is_error);
            }
            _ => {}
        }
    }
}

fn day_of(millis: i64, zone: &TimeZone) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    zone.to_datetime(time).date().to_string()
}
