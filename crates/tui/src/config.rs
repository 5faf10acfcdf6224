//! The configuration as a table: key, value, where the value comes from.

use relaycode_project::config::{Loaded, Origin, Remark, Row};
use relaycode_text::width::cells;
use serde_json::{Value, json};

use super::{Part, narrow, number, outcome};
use crate::look::{Look, Paint};

/// Cells of a value in the table.
const VALUE: usize = 36;

/// Every key.
pub fn table(loaded: &Loaded, rows: &[Row], look: &Look) -> String {
    let mut text = String::new();
    let widest = rows.iter().map(|row| cells(row.key)).max().unwrap_or_default();
    for row in rows {
        let from = origin(&row.origin);
        let paint = if row.origin == Origin::Default { Paint::Dim } else { Paint::Strong };
        let value = look.clip(&row.value, VALUE);
        let value = Part::painted(look, paint, &value).padded(VALUE);
        if look.is_narrow() && 2 + widest + 2 + VALUE + 2 + cells(&from) > look.columns() {
            let value = look.clip(&row.value, look.columns().saturating_sub(4));
            let parts = [Part::painted(look, paint, &value), Part::painted(look, Paint::Dim, &from)];
            text += &look.wrap(&format!("  {}", row.key), 2);
            text += &format!("\n{}", narrow::flow(look, Part::plain("    "), 4, 2, &parts));
            continue;
        }
        let from = look.paint(Paint::Dim, &from);
        text += &format!("  {:<widest$}  {}  {from}\n", row.key, value.text);
    }
    text += &remarks(&loaded.remarks, look);
    text
}

/// Whether the files are right.
pub fn check(loaded: &Loaded, look: &Look) -> String {
    let what = match &loaded.file {
        Some(file) => {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            format!("{} can be read", look.safe(&name))
        }
        None => "there is no configuration: the defaults count; `relay init` writes one".to_string(),
    };
    let odd = match loaded.remarks.len() {
        0 => String::new(),
        count => format!(", with {}", number(count, "remark")),
    };
    outcome::done(look, &format!("{what}{odd}")) + &remarks(&loaded.remarks, look)
}

/// What is odd about the files, a line each.
pub fn remarks(remarks: &[Remark], look: &Look) -> String {
    remarks.iter().map(|remark| outcome::remark(look, &look.safe(&said(remark)))).collect()
}

fn said(remark: &Remark) -> String {
    match remark.line {
        0 => format!("{}: {}", remark.file, remark.text),
        line => format!("{}:{line}: {}", remark.file, remark.text),
    }
}

fn origin(origin: &Origin) -> String {
    let at =
        |file: &str, line: usize| if line == 0 { file.to_string() } else { format!("{file}, line {line}") };
    match origin {
        Origin::Default => "default".to_string(),
        Origin::User { line } => at("your config.yml", *line),
        Origin::Project { line } => at("the project", *line),
    }
}

/// One key for machines.
pub fn object(row: &Row) -> Value {
    let (from, line) = match row.origin {
        Origin::Default => ("default", 0),
        Origin::User { line } => ("user", line),
        Origin::Project { line } => ("project", line),
    };
    let value: Value = serde_json::from_str(&row.value).unwrap_or_default();
    json!({"key": row.key, "value": value, "from": from, "line": line, "meaning": row.meaning})
}

/// One remark for machines.
pub fn remark_object(remark: &Remark) -> Value {
    json!({"file": remark.file, "line": remark.line, "text": remark.text})
}
