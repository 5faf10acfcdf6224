//! The configuration as a table: key, value, where the value comes from.

use relaycode_project::config::{ConfigError, ConfigOrigin, ConfigRemark, ConfigRow, LoadedConfig};
use serde_json::{Value, json};

use crate::{
    Glyph, LIST_LIMIT, OutputStyle, PaintRole, StyledText, cells, more_line, narrow, outcome, pluralize,
};

/// Most cells of a value.
const VALUE: usize = 36;

pub fn table(loaded: &LoadedConfig, rows: &[ConfigRow], style: &OutputStyle) -> String {
    let mut text = String::new();
    let widest = rows.iter().map(|row| cells(row.key)).max().unwrap_or_default();
    for row in rows {
        let from = origin(&row.origin);
        let paint = if row.origin == ConfigOrigin::Default { PaintRole::Dim } else { PaintRole::Strong };
        let value = style.clip(&row.value, VALUE);
        let value = StyledText::painted(style, paint, &value).padded(VALUE);
        if style.is_narrow() && 2 + widest + 2 + VALUE + 2 + cells(&from) > style.columns() {
            let value = style.clip(&row.value, style.columns().saturating_sub(4));
            let parts = [
                StyledText::painted(style, paint, &value),
                StyledText::painted(style, PaintRole::Dim, &from),
            ];
            text += &style.wrap(&format!("  {}", row.key), 2);
            text += &format!("\n{}", narrow::flow_parts(style, StyledText::plain("    "), 4, 2, &parts));
            continue;
        }
        let from = style.paint(PaintRole::Dim, &from);
        text += &format!("  {:<widest$}  {}  {from}\n", row.key, value.text);
    }
    text += &remark_lines(&loaded.remarks, style);
    text
}

pub fn check_report(loaded: &LoadedConfig, style: &OutputStyle) -> String {
    let what = match &loaded.file {
        Some(file) => {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            format!("{} can be read", style.safe(&name))
        }
        None => "there is no configuration: the defaults count; `relay init` writes one".to_string(),
    };
    let odd = match loaded.remarks.len() {
        0 => String::new(),
        count => format!(", with {}", pluralize(count, "remark")),
    };
    outcome::success_line(style, &format!("{what}{odd}")) + &remark_lines(&loaded.remarks, style)
}

/// Everything that is wrong, a line each, then the remarks.
pub fn error_report(loaded: &LoadedConfig, errors: &[ConfigError], style: &OutputStyle) -> String {
    let sign = style.paint(PaintRole::Bad, style.glyph(Glyph::Refused));
    let head = format!("{sign} the configuration has {}", pluralize(errors.len(), "error"));
    let mut text = style.wrap(&head, 2) + "\n";
    for error in errors.iter().take(LIST_LIMIT) {
        text += &style.wrap(&format!("  {}", style.safe(&error.to_string())), 4);
        text.push('\n');
    }
    text += &more_line(style, "  ", errors.len());
    text + &remark_lines(&loaded.remarks, style)
}

/// Remarks on the files, one line each.
pub fn remark_lines(remarks: &[ConfigRemark], style: &OutputStyle) -> String {
    remarks.iter().map(|remark| outcome::warning_line(style, &style.safe(&remark_text(remark)))).collect()
}

fn remark_text(remark: &ConfigRemark) -> String {
    match remark.line {
        0 => format!("{}: {}", remark.file, remark.text),
        line => format!("{}:{line}: {}", remark.file, remark.text),
    }
}

fn origin(origin: &ConfigOrigin) -> String {
    let at =
        |file: &str, line: usize| if line == 0 { file.to_string() } else { format!("{file}, line {line}") };
    match origin {
        ConfigOrigin::Default => "default".to_string(),
        ConfigOrigin::User { line } => at("your config.yml", *line),
        ConfigOrigin::Project { line } => at("the project", *line),
    }
}

pub fn row_json(row: &ConfigRow) -> Value {
    let (from, line) = match row.origin {
        ConfigOrigin::Default => ("default", 0),
        ConfigOrigin::User { line } => ("user", line),
        ConfigOrigin::Project { line } => ("project", line),
    };
    let value: Value = serde_json::from_str(&row.value).unwrap_or_default();
    json!({"key": row.key, "value": value, "from": from, "line": line, "meaning": row.meaning})
}

pub fn error_json(error: &ConfigError) -> Value {
    json!({
        "kind": error.kind.as_str(), "file": error.file, "line": error.line, "column": error.column,
        "key": error.key, "message": error.what, "allowed": error.allowed(), "hint": error.hint,
    })
}

pub fn remark_json(remark: &ConfigRemark) -> Value {
    json!({"file": remark.file, "line": remark.line, "text": remark.text})
}
