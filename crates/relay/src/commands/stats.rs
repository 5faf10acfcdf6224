//! `relay stats`: what relay's own agent used, by day, model, project and tool.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};
use relaycode_session::home::layout::same_directory;
use relaycode_session::usage::{SessionUsage, UsageSums, read_usage};
use relaycode_text::plural::pluralize;
use relaycode_tui::views::stats::{self as view, StatsGroup, StatsRow, StatsText};
use serde_json::{Value, json};

use super::sessions::locator::{SessionLocator, read_failure};
use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel};

/// Rows of a group that are shown.
const MAX_SHOWN: usize = 10;
/// Days that are shown.
const MAX_DAYS_SHOWN: usize = 14;

/// Show what relay's own agent used: tokens, money, time, tools
///
/// By day, model, project and tool, from the sessions of every project. Time is what models and tools took. What was
/// counted once is kept, so that only what was said since is read.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StatsArgs {
    /// Of so many days, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(i32).range(1..=3_650))]
    days: i32,

    /// Only sessions about this directory
    #[arg(long)]
    here: bool,
}

/// Sums of what is asked for.
#[derive(Default)]
struct StatsSums {
    sessions: u64,
    total: UsageSums,
    days: BTreeMap<String, UsageSums>,
    models: BTreeMap<String, UsageSums>,
    projects: BTreeMap<String, UsageSums>,
    /// Calls, and those that failed.
    tools: BTreeMap<String, (u64, u64)>,
}

impl StatsArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let place = SessionLocator::open(ctx)?;
        let zone = TimeZone::system();
        let read = read_usage(&place.fs, &place.layout, &zone);
        let report = read.map_err(|error| read_failure(&place.layout.sessions_dir(), &error))?;
        if report.unreadable > 0 {
            let files = pluralize(report.unreadable, "file");
            ctx.eprint_remark(LogLevel::Warn, &format!("{files} cannot be read as sessions: not counted"));
        }
        if let Some(error) = &report.not_kept {
            ctx.eprint_remark(
                LogLevel::Warn,
                &format!("what was counted could not be kept for the next time: {error}"),
            );
        }
        let today = Zoned::now().with_time_zone(zone).date();
        let first = today.checked_sub((self.days - 1).days()).map_err(CommandFailure::unexpected)?;
        let (from, to) = (first.to_string(), today.to_string());
        let mut sums = StatsSums::default();
        for usage in &report.sessions {
            if !self.here || same_directory(&place.cwd, &usage.cwd) {
                sums.add(usage, &from);
            }
        }
        if ctx.is_json() {
            let directory = self.here.then(|| place.cwd.to_string_lossy());
            let mut fields = sums.to_json();
            fields["from"] = json!(from);
            fields["to"] = json!(to);
            fields["directory"] = json!(directory);
            ctx.print_result(Exit::Done, fields);
        } else {
            let style = ctx.console.out_style();
            let text = match sums.sessions {
                0 => format!("{}\n", style.wrap(&format!("nothing was used in {}", self.days_text()), 2)),
                _ => view::text(&sums.to_text(&format!("last {}", self.days_text())), &style),
            };
            ctx.console.print(&text);
        }
        Ok(Exit::Done)
    }

    fn days_text(&self) -> String {
        pluralize(self.days, "day")
    }
}

impl StatsSums {
    /// Adds what a session used since this day.
    fn add(&mut self, usage: &SessionUsage, from: &str) {
        let mut days = BTreeSet::new();
        for row in usage.models.iter().filter(|row| row.day.as_str() >= from) {
            days.insert(&row.day);
            self.total.add(&row.sums);
            self.days.entry(row.day.clone()).or_default().add(&row.sums);
            self.projects.entry(usage.cwd.clone()).or_default().add(&row.sums);
            if !row.model.is_empty() {
                self.models.entry(row.model.clone()).or_default().add(&row.sums);
            }
        }
        for row in usage.tools.iter().filter(|row| row.day.as_str() >= from) {
            days.insert(&row.day);
            let (calls, errors) = self.tools.entry(row.tool.clone()).or_default();
            (*calls, *errors) = (*calls + row.calls, *errors + row.errors);
        }
        self.sessions += u64::from(!days.is_empty());
    }

    fn to_json(&self) -> Value {
        let list = |name: &str, rows: &BTreeMap<String, UsageSums>| -> Vec<Value> {
            rows.iter()
                .map(|(key, sums)| {
                    let mut row = sums_json(sums);
                    row[name] = json!(key);
                    row
                })
                .collect()
        };
        let tools = self
            .tools
            .iter()
            .map(|(tool, (calls, errors))| json!({"tool": tool, "calls": calls, "errors": errors}));
        json!({
            "sessions": self.sessions, "total": sums_json(&self.total), "days": list("day", &self.days),
            "models": list("model", &self.models), "projects": list("directory", &self.projects),
            "tools": tools.collect::<Vec<_>>(),
        })
    }

    fn to_text(&self, title: &str) -> StatsText {
        let total = &self.total;
        let sessions = pluralize(self.sessions, "session");
        let (prompts, answers) = (pluralize(total.prompts, "prompt"), pluralize(total.answers, "answer"));
        let tokens = format!(
            "{} read, {} from the cache, {} written",
            short_count(total.input + total.cache_write),
            short_count(total.cache_read),
            short_count(total.output)
        );
        let mut sums = vec![("tokens", tokens)];
        if total.cost > 0.0 {
            sums.push(("cost", dollars(total.cost)));
        }
        sums.push(("time", duration(total.milliseconds)));
        let mut days = self.group("by day", &self.days, false);
        let earlier = days.rows.len().saturating_sub(MAX_DAYS_SHOWN);
        days.rows.drain(..earlier);
        days.note = (earlier > 0).then(|| format!("and {} before", pluralize(earlier, "day")));
        let groups = vec![
            days,
            shorten(self.group("by model", &self.models, false), "model"),
            shorten(self.group("by project", &self.projects, true), "project"),
            shorten(self.tool_group(), "tool"),
        ];
        StatsText { title: format!("{title}: {sessions}, {prompts}, {answers}"), sums, groups }
    }

    /// By money; where nobody knows what anything cost, by tokens.
    fn group(&self, title: &'static str, rows: &BTreeMap<String, UsageSums>, is_path: bool) -> StatsGroup {
        let has_cost = self.total.cost > 0.0;
        let rows = rows.iter().map(|(label, sums)| {
            let tokens = format!("{} tokens", short_count(sums.tokens()));
            StatsRow {
                label: if label.is_empty() { "(unknown)".to_string() } else { label.clone() },
                is_path,
                amount: if has_cost { sums.cost } else { sums.tokens() as f64 },
                value: if has_cost { format!("{}, {tokens}", dollars(sums.cost)) } else { tokens },
            }
        });
        StatsGroup { title, rows: rows.collect(), note: None }
    }

    fn tool_group(&self) -> StatsGroup {
        let rows = self.tools.iter().map(|(tool, (calls, errors))| {
            let failed = if *errors > 0 { format!(", {errors} failed") } else { String::new() };
            let value = format!("{}{failed}", pluralize(*calls, "call"));
            StatsRow { label: tool.clone(), is_path: false, amount: *calls as f64, value }
        });
        StatsGroup { title: "by tool", rows: rows.collect(), note: None }
    }
}

/// The largest first, and only so many.
fn shorten(mut group: StatsGroup, noun: &str) -> StatsGroup {
    group.rows.sort_by(|one, other| other.amount.total_cmp(&one.amount));
    let more = group.rows.len().saturating_sub(MAX_SHOWN);
    group.rows.truncate(MAX_SHOWN);
    group.note = (more > 0).then(|| format!("and {} more; `--json` has all", pluralize(more, noun)));
    group
}

fn sums_json(sums: &UsageSums) -> Value {
    json!({
        "prompts": sums.prompts, "answers": sums.answers, "input": sums.input, "output": sums.output,
        "cacheRead": sums.cache_read, "cacheWrite": sums.cache_write, "tokens": sums.tokens(), "cost": sums.cost,
        "seconds": sums.milliseconds / 1_000,
    })
}

/// `812`, `12.3k`, `4.5M`
fn short_count(count: u64) -> String {
    let in_thousands = count as f64 / 1e3;
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{in_thousands:.1}k"),
        _ => format!("{:.1}M", in_thousands / 1e3),
    }
}

fn dollars(sum: f64) -> String {
    format!("${sum:.2}")
}

/// `12 s`, `3 min`, `3 h 12 min`
fn duration(milliseconds: u64) -> String {
    let minutes = milliseconds / 60_000;
    match minutes {
        0 => format!("{} s", milliseconds / 1_000),
        1..60 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}
