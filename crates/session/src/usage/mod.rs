//! What sessions used: tokens, money, time and tools, by day and model.
//!
//! A file is read once: what was counted is kept in one file beside the sessions, with how far it goes, and only what was appended
//! since is read. That file is rebuildable: what does not fit is counted again. Invariant: with or without it, the sums are
//! the same; what a fork took over counts where it was said.

mod count;
mod kept;
#[cfg(test)]
mod tests;

use std::io;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use relaycode_durable::Fs;
use serde::{Deserialize, Serialize};

use crate::find::list::{ListScope, SessionLister, in_parallel};
use crate::{HomeLayout, SessionHeader};
use count::UsageCounter;
use kept::KeptUsage;

/// Rows of one session, by day and model, or by day and tool; what is more goes into one row.
pub const MAX_ROWS: usize = 4_000;
/// Bytes of the name of a model or tool.
pub const MAX_NAME: usize = 200;
/// What the row is called in which all else is.
pub const OTHERS: &str = "(others)";

/// Sums.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UsageSums {
    /// Messages of people.
    pub prompts: u64,
    /// Messages of models.
    pub answers: u64,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// US dollars.
    pub cost: f64,
    /// While a model or a tool worked.
    pub milliseconds: u64,
}

/// What was used on a day by a model; without a model's name, what people said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelDay {
    /// `2026-11-19`
    pub day: String,
    /// `provider/id`
    pub model: String,
    pub sums: UsageSums,
}

/// How often a tool was called on a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDay {
    pub day: String,
    pub tool: String,
    pub calls: u64,
    pub errors: u64,
}

/// What one session used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SessionUsage {
    /// The directory it is about.
    pub cwd: String,
    pub models: Vec<ModelDay>,
    pub tools: Vec<ToolDay>,
}

/// What all sessions used.
#[derive(Debug, Default)]
pub struct UsageReport {
    pub sessions: Vec<SessionUsage>,
    /// Files that cannot be read, or are no sessions.
    pub unreadable: u64,
    /// Files of which something was read.
    pub read: u64,
    /// Why what was counted is not kept.
    pub not_kept: Option<io::Error>,
}

impl UsageSums {
    pub fn add(&mut self, other: &UsageSums) {
        self.prompts = self.prompts.saturating_add(other.prompts);
        self.answers = self.answers.saturating_add(other.answers);
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cost += other.cost;
        self.milliseconds = self.milliseconds.saturating_add(other.milliseconds);
    }

    pub fn tokens(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }
}

impl SessionUsage {
    fn sums(&mut self, day: &str, model: &str) -> &mut UsageSums {
        let is_full = self.models.len() >= MAX_ROWS;
        let find = |models: &[ModelDay], day: &str, model: &str| {
            models.iter().rposition(|row| row.day == day && row.model == model)
        };
        let (day, model) = match find(&self.models, day, model) {
            None if is_full => (OTHERS, OTHERS),
            _ => (day, model),
        };
        let at = find(&self.models, day, model).unwrap_or_else(|| {
            let row = ModelDay { day: day.to_string(), model: model.to_string(), sums: UsageSums::default() };
            self.models.push(row);
            self.models.len() - 1
        });
        &mut self.models[at].sums
    }

    fn tool(&mut self, day: &str, tool: &str) -> &mut ToolDay {
        let is_full = self.tools.len() >= MAX_ROWS;
        let find = |tools: &[ToolDay], day: &str, tool: &str| {
            tools.iter().rposition(|row| row.day == day && row.tool == tool)
        };
        let (day, tool) = match find(&self.tools, day, tool) {
            None if is_full => (OTHERS, OTHERS),
            _ => (day, tool),
        };
        let at = find(&self.tools, day, tool).unwrap_or_else(|| {
            self.tools.push(ToolDay { day: day.to_string(), tool: tool.to_string(), calls: 0, errors: 0 });
            self.tools.len() - 1
        });
        &mut self.tools[at]
    }
}

/// What all sessions used, days as in this time zone.
///
/// # Errors
/// If the directory of sessions cannot be read. A missing one is an empty report.
pub fn read_usage(fs: &dyn Fs, layout: &HomeLayout, zone: &TimeZone) -> io::Result<UsageReport> {
    let files = SessionLister::new(fs, layout).candidate_files(ListScope::All, &mut Vec::new())?;
    let zone_name =
        zone.iana_name().map_or_else(|| zone.to_offset(Timestamp::now()).to_string(), str::to_string);
    let mut kept = KeptUsage::load(fs, layout, &zone_name);
    let known = std::mem::take(&mut kept.files);
    let counted = in_parallel(&files, |file| {
        let name = kept::file_key(&file.path);
        UsageCounter::count(fs, (&file.dir, &file.name), known.get(&name), zone)
            .map(|counted| (name, counted))
    });
    let mut report = UsageReport::default();
    for counted in counted {
        match counted {
            Ok((name, counted)) => {
                report.read += u64::from(counted.is_new);
                report.sessions.push(counted.file.usage.clone());
                kept.files.insert(name, counted.file);
            }
            Err(_) => report.unreadable += 1,
        }
    }
    if report.read > 0 || known.len() != kept.files.len() {
        report.not_kept = kept.write(fs, layout).err();
    }
    Ok(report)
}

/// When what is in this file began to be of its own: what a fork took over is older.
fn counts_from(header: &SessionHeader) -> i64 {
    match header.parent_session {
        Some(_) => crate::file::parse_millis(&header.timestamp),
        None => i64::MIN,
    }
}
