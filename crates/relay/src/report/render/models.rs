//! Models: as a table, one in full, and how a test went.
//!
//! ```text
//!   model                        reads  $ per 1M in / out  can             key
//!   anthropic/claude-opus-5-5       1M  $4 / $20           thinks, images  stored key
//! ```

use std::time::Duration;

use relaycode_llm::models::discover::DiscoveryResult;
use relaycode_llm::models::ignored_settings::IgnoredSettings;
use relaycode_llm::models::keys::KeySource;
use relaycode_llm::models::model::{Model, ModelPrice, ServerCompat};
use relaycode_llm::models::{
    ModelFieldOrigin, ModelMatchKind, ModelRole, RegistryModel, SelectedModel, YamlFileError,
};
use relaycode_text::width::cells;
use relaycode_tui::{Glyph, OutputStyle, PaintRole, outcome};
use serde_json::{Map, Value, json};

use crate::commands::models::ModelTestResult;

/// Cells of a model's name in the table.
const NAME: usize = 44;
/// What the prices of the table are.
const PRICE: &str = "$ per 1M in / out";
/// Cells of a label.
const LABEL: usize = 10;

/// A model and where its key comes from.
pub(crate) struct ModelRow<'k> {
    pub(crate) known: &'k RegistryModel,
    pub(crate) key: Option<KeySource>,
}

impl ModelRow<'_> {
    fn key_text(&self) -> String {
        self.key.as_ref().map_or("no key".to_string(), key_source_text)
    }

    /// For machines.
    pub(crate) fn to_json(&self) -> Value {
        let model = &self.known.model;
        let origins = self.known.origins.iter();
        let from: Map<String, Value> =
            origins.map(|(field, origin)| ((*field).to_string(), origin_json(*origin))).collect();
        json!({
            "selector": model.selector(), "provider": model.provider, "id": model.id, "name": model.name,
            "api": model.api, "baseUrl": model.base_url, "reasoning": model.reasoning, "images": model.images,
            "contextWindow": model.context_window, "maxTokens": model.max_tokens,
            "contextPromotionTarget": model.context_promotion_target, "cost": model.price,
            "compat": set_switches(&model.compat), "headers": model.headers.keys().collect::<Vec<_>>(),
            "key": key_source_json(self.key.as_ref()), "from": from,
        })
    }
}

/// A line for each model; where that is too wide, below the name of its provider.
pub(crate) fn models_table(lines: &[ModelRow<'_>], look: &OutputStyle) -> String {
    let keys: Vec<String> = lines.iter().map(|line| look.safe(&line.key_text()).into_owned()).collect();
    let table = ModelTable::new(lines, look, |model| model.selector());
    let key = keys.iter().map(|key| cells(key)).max().unwrap_or_default();
    if look.width.is_some_and(|columns| 2 + table.cells() + 2 + key > columns) {
        return grouped_models(lines, look);
    }
    let mut text = String::new();
    if !lines.is_empty() {
        text += &format!("{}\n", look.paint(PaintRole::Dim, &format!("  {}  key", table.head())));
    }
    for (row, key) in table.rows.iter().zip(&keys) {
        text += &format!("  {}  {}\n", table.line(row), look.paint(PaintRole::Dim, key));
    }
    text
}

/// Models below their provider and its key.
fn grouped_models(lines: &[ModelRow<'_>], look: &OutputStyle) -> String {
    let table = ModelTable::new(lines, look, |model| model.id.clone());
    let fits = 4 + table.cells() <= look.columns();
    let mut text = String::new();
    if fits {
        text += &format!("{}\n", look.paint(PaintRole::Dim, &format!("    {}", table.head())));
    }
    let mut provider = "";
    for (line, row) in lines.iter().zip(&table.rows) {
        if line.known.model.provider != provider {
            provider = &line.known.model.provider;
            let key = look.wrap(&format!("  {}  {}", look.safe(provider), look.safe(&line.key_text())), 4);
            text += &format!("{}\n", look.paint(PaintRole::Strong, &key));
        }
        if fits {
            text += &format!("    {}\n", table.line(row).trim_end());
            continue;
        }
        let parts = [row.reads.as_str(), row.price.as_str(), row.able];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let said = format!("      {}", parts.join(&format!(" {} ", look.glyph(Glyph::Dot))));
        text += &format!("    {}\n{}\n", row.name, look.wrap(&said, 6));
    }
    text
}

/// What the table says of models, and how wide its columns are.
struct ModelTable {
    rows: Vec<ModelTableRow>,
    name: usize,
    price: usize,
}

struct ModelTableRow {
    name: String,
    reads: String,
    price: String,
    able: &'static str,
}

/// Cells of what a model reads.
const READS: usize = 6;
/// Cells of what it can do.
const ABLE: usize = 14;

impl ModelTable {
    fn new(lines: &[ModelRow<'_>], look: &OutputStyle, name: impl Fn(&Model) -> String) -> ModelTable {
        let row = |line: &ModelRow<'_>| ModelTableRow {
            name: look.clip(&name(&line.known.model), NAME.min(look.columns().saturating_sub(4))),
            reads: short_count(line.known.model.context_window),
            price: price(&line.known.model.price, line),
            able: abilities(line.known),
        };
        let rows: Vec<ModelTableRow> = lines.iter().map(row).collect();
        let widest =
            |cell: fn(&ModelTableRow) -> &str| rows.iter().map(|row| cells(cell(row))).max().unwrap_or(0);
        let (name, price) = (widest(|row| &row.name), widest(|row| &row.price));
        ModelTable { name: name.max(cells("model")), price: price.max(cells(PRICE)), rows }
    }

    fn cells(&self) -> usize {
        self.name + 2 + READS + 2 + self.price + 2 + ABLE
    }

    fn head(&self) -> String {
        let ModelTable { name, price, .. } = self;
        format!("{:<name$}  {:>READS$}  {PRICE:<price$}  {:<ABLE$}", "model", "reads", "can")
    }

    fn line(&self, row: &ModelTableRow) -> String {
        let ModelTableRow { name, reads, price, able } = row;
        let blanks = " ".repeat(self.name.saturating_sub(cells(name)));
        format!("{name}{blanks}  {reads:>READS$}  {price:<width$}  {able:<ABLE$}", width = self.price)
    }
}

/// The roles of `models.yml`.
pub(crate) fn roles_text(roles: &[(ModelRole, &str, Option<String>)], look: &OutputStyle) -> String {
    let mut text = String::new();
    for (role, selector, means) in roles {
        let selector = look.safe(selector);
        let said = match means {
            Some(model) if selector.starts_with(model.as_str()) => selector.into_owned(),
            Some(model) => format!("{selector} {} {}", look.glyph(Glyph::Arrow), look.safe(model)),
            None => format!("{selector} (there is no such model)"),
        };
        text += &format!("  {:<LABEL$}{said}\n", role.name());
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// What the table leaves out, and what to do next.
pub(crate) fn hidden_models_note(shown: usize, hidden: usize, filter: &str, look: &OutputStyle) -> String {
    let said = match (shown, hidden) {
        (0, 0) if filter.trim().is_empty() => "  there are no models".to_string(),
        (0, 0) => format!("  no model fits `{}`; `relay models --all` lists them", look.safe(filter.trim())),
        (_, 0) => return String::new(),
        (0, _) => "  no model here has a key yet; `relay keys set anthropic` stores one, `relay models --all` lists \
                   them all"
            .to_string(),
        (_, more) => {
            let models = relaycode_tui::pluralize(more, "more model");
            format!("  {models} without a key; `relay models --all` lists them, `relay keys set` stores one")
        }
    };
    look.paint(PaintRole::Dim, &look.wrap(&said, 2)) + "\n"
}

/// Everything that is known of a model.
pub(crate) fn model_details(
    chosen: &SelectedModel,
    line: &ModelRow<'_>,
    trouble: Option<&str>,
    docs: &str,
    look: &OutputStyle,
) -> String {
    let known = line.known;
    let model = &known.model;
    let mut text = look.paint(PaintRole::Strong, &look.safe(&model.selector())) + "\n";
    let mut row = |label: &str, said: &str, field: Option<&str>| {
        let indent = 2 + LABEL;
        let said = look.wrap(&format!("{}{}", " ".repeat(indent), look.safe(said)), indent);
        let last = said.lines().last().map(cells).unwrap_or_default();
        let from = match field.and_then(|field| known.origins.get(field)).map(|origin| origin_text(*origin)) {
            None => String::new(),
            // Where there is no room beside the value, it stands beneath it.
            Some(from) if look.is_narrow() && last + 2 + cells(&from) > look.columns() => {
                format!("\n{}{}", " ".repeat(indent), look.paint(PaintRole::Dim, &from))
            }
            Some(from) => format!("  {}", look.paint(PaintRole::Dim, &from)),
        };
        text += &format!("  {label:<LABEL$}{}{from}\n", said.trim_start());
    };
    row("name", &model.name, Some("name"));
    if let Some(level) = chosen.level {
        row("thinking", level.name(), None);
    }
    row("wire", &model.api, Some("api"));
    row("address", &model.base_url, Some("baseUrl"));
    row("context", &format!("{} tokens", grouped_digits(model.context_window)), Some("contextWindow"));
    row("answer", &format!("{} tokens", grouped_digits(model.max_tokens)), Some("maxTokens"));
    if let Some(target) = &model.context_promotion_target {
        row("when full", target, Some("contextPromotionTarget"));
    }
    row("thinks", if model.reasoning { "yes" } else { "no" }, Some("reasoning"));
    row("images", if model.images { "yes" } else { "no" }, Some("input"));
    row("price", &full_price(&model.price), Some("cost"));
    for (name, value) in set_switches(&model.compat) {
        row("compat", &format!("{name}: {value}"), Some("compat"));
    }
    if !model.headers.is_empty() {
        let names: Vec<&str> = model.headers.keys().map(String::as_str).collect();
        row("headers", &names.join(", "), None);
    }
    let key = match (&line.key, trouble) {
        (Some(from), _) => key_source_text(from),
        (None, Some(trouble)) => trouble.to_string(),
        (None, None) => {
            let at = if docs.is_empty() { String::new() } else { format!(" (get it at {docs})") };
            format!("none; `relay keys set {}` stores one{at}", model.provider)
        }
    };
    row("key", &key, None);
    text += &selection_note(chosen, look);
    text
}

/// How the model was found, where that is not plain.
fn selection_note(chosen: &SelectedModel, look: &OutputStyle) -> String {
    const OTHERS: usize = 4;
    let others: Vec<&str> = chosen.alternatives.iter().take(OTHERS).map(String::as_str).collect();
    let more = chosen.alternatives.len().saturating_sub(OTHERS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let others =
        if others.is_empty() { String::new() } else { format!("; also {}{more}", others.join(", ")) };
    let said = match chosen.matched_by {
        ModelMatchKind::Exact | ModelMatchKind::First => return String::new(),
        ModelMatchKind::Name if others.is_empty() => return String::new(),
        ModelMatchKind::Name => format!("chosen among models of this name{others}"),
        ModelMatchKind::Pattern => format!("the first that the pattern fits{others}"),
        ModelMatchKind::Fuzzy => format!("taken because the words fit, not the name{others}"),
        ModelMatchKind::Assumed => {
            "relay knows no models of this provider: everything but the name is assumed".to_string()
        }
    };
    outcome::warning_line(look, &look.safe(&said))
}

/// How a test went.
pub(crate) fn test_summary(chosen: &SelectedModel, outcome: &ModelTestResult, look: &OutputStyle) -> String {
    let dot = look.glyph(Glyph::Dot);
    let usage = &outcome.message.usage;
    let read = usage.input + usage.cache_read + usage.cache_write;
    let mut parts = vec![
        format!("{} answered", look.safe(&chosen.entry.model.selector())),
        format!("first event after {}, all after {}", seconds(outcome.first_event), seconds(outcome.total)),
        format!("{} in, {} out", grouped_digits(read), grouped_digits(usage.output)),
    ];
    if usage.cost.total > 0.0 {
        parts.push(format!("${:.6}", usage.cost.total));
    }
    let mut text = outcome::success_line(look, &parts.join(&format!(" {dot} ")));
    let answer = outcome.message.text();
    if !answer.trim().is_empty() {
        text += &outcome::indented_line(look, &format!("it said: {}", look.excerpt(&answer, 60)));
    }
    text + &selection_note(chosen, look)
}

/// Where a key comes from, for people.
pub(crate) fn key_source_text(source: &KeySource) -> String {
    match source {
        KeySource::Flag => "key of the command line".to_string(),
        KeySource::Stored => "stored key".to_string(),
        KeySource::Environment(name) => format!("key in {name}"),
        KeySource::File { line } => format!("key in models.yml, line {line}"),
        KeySource::Command { line } => format!("key by a command, models.yml line {line}"),
        KeySource::NotNeeded => "no key needed".to_string(),
    }
}

/// Where a key comes from, for machines.
pub(crate) fn key_source_json(source: Option<&KeySource>) -> Value {
    match source {
        None => Value::Null,
        Some(KeySource::Flag) => json!({"source": "flag"}),
        Some(KeySource::Stored) => json!({"source": "stored"}),
        Some(KeySource::Environment(name)) => json!({"source": "env", "variable": name}),
        Some(KeySource::File { line }) => json!({"source": "models.yml", "line": line}),
        Some(KeySource::Command { line }) => json!({"source": "command", "line": line}),
        Some(KeySource::NotNeeded) => json!({"source": "none"}),
    }
}

/// How a model was found, for machines.
pub(crate) fn selection_name(how: ModelMatchKind) -> &'static str {
    match how {
        ModelMatchKind::Exact => "exact",
        ModelMatchKind::Name => "name",
        ModelMatchKind::Pattern => "pattern",
        ModelMatchKind::Fuzzy => "fuzzy",
        ModelMatchKind::Assumed => "assumed",
        ModelMatchKind::First => "first",
    }
}

/// A server that was asked.
pub(crate) fn server_json(answer: &DiscoveryResult) -> Value {
    let count = answer.models.as_ref().map(Vec::len);
    json!({"provider": answer.target.provider, "baseUrl": answer.target.base_url, "models": count})
}

/// What is wrong with `models.yml`.
pub(crate) fn models_error_json(error: &YamlFileError) -> Value {
    json!({"where": error.location(), "line": error.line, "column": error.column, "message": error.message})
}

/// What the project names and relay ignores.
pub(crate) fn ignored_json(ignored: &IgnoredSettings) -> Value {
    json!({"file": ignored.file, "names": ignored.names})
}

fn origin_json(origin: ModelFieldOrigin) -> Value {
    match origin {
        ModelFieldOrigin::BuiltIn => json!({"from": "built-in"}),
        ModelFieldOrigin::File { line } => json!({"from": "models.yml", "line": line}),
        ModelFieldOrigin::Variable(name) => json!({"from": "environment", "variable": name}),
        ModelFieldOrigin::Discovered => json!({"from": "server"}),
        ModelFieldOrigin::Assumed => json!({"from": "assumed"}),
    }
}

fn origin_text(origin: ModelFieldOrigin) -> String {
    match origin {
        ModelFieldOrigin::BuiltIn => "built in".to_string(),
        ModelFieldOrigin::File { line } => format!("models.yml, line {line}"),
        ModelFieldOrigin::Variable(name) => name.to_string(),
        ModelFieldOrigin::Discovered => "its server says so".to_string(),
        ModelFieldOrigin::Assumed => "assumed".to_string(),
    }
}

/// The switches that somebody decided; the others are decided by the address.
fn set_switches(compat: &ServerCompat) -> Map<String, Value> {
    let all = serde_json::to_value(compat).unwrap_or_default();
    let all = all.as_object().cloned().unwrap_or_default();
    all.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

fn abilities(known: &RegistryModel) -> &'static str {
    match (known.model.reasoning, known.model.images) {
        (true, true) => "thinks, images",
        (true, false) => "thinks",
        (false, true) => "images",
        (false, false) => "",
    }
}

fn price(price: &ModelPrice, line: &ModelRow<'_>) -> String {
    if price.input == 0.0 && price.output == 0.0 {
        let free = line.key == Some(KeySource::NotNeeded);
        return if free { "free".to_string() } else { "price unknown".to_string() };
    }
    format!("{} / {}", dollars(price.input), dollars(price.output))
}

fn full_price(price: &ModelPrice) -> String {
    if price.input == 0.0 && price.output == 0.0 {
        return "unknown, or none".to_string();
    }
    let mut said = format!("{} in, {} out", dollars(price.input), dollars(price.output));
    if price.cache_read > 0.0 {
        said += &format!(", {} from the cache", dollars(price.cache_read));
    }
    if price.cache_write > 0.0 {
        said += &format!(", {} into it", dollars(price.cache_write));
    }
    said + " per million tokens"
}

/// `$4`, `$0.75`, `$0.003625`.
fn dollars(price: f64) -> String {
    let exact = format!("{price:.6}");
    let exact = exact.trim_end_matches('0').trim_end_matches('.');
    match exact.split_once('.') {
        Some((whole, cents)) if cents.len() == 1 => format!("${whole}.{cents}0"),
        _ => format!("${exact}"),
    }
}

/// `1M`, `200k`, `4096`.
fn short_count(tokens: u64) -> String {
    match tokens {
        0..10_000 => tokens.to_string(),
        10_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ if tokens % 1_000_000 < 100_000 => format!("{}M", tokens / 1_000_000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

/// `1 050 000`.
fn grouped_digits(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<&str> = groups.map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    groups.join(" ")
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [4.0, 0.75, 0.5, 0.003_625, 0.0].map(dollars),
            ["$4", "$0.75", "$0.50", "$0.003625", "$0"]
        );
        let counts = [1_000_000, 1_050_000, 1_500_000, 200_000, 4096].map(short_count);
        assert_eq!(counts, ["1M", "1M", "1.5M", "200k", "4096"]);
        assert_eq!([0, 999, 1_050_000].map(grouped_digits), ["0", "999", "1 050 000"]);
    }
}
