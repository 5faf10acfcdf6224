//! Reading and checking a JSON theme. All that is wrong is told at once, with the place in the file; a theme with errors
//! is not used at all.

use std::fmt::Write as _;

use relaycode_text::escape::escape_line;
use relaycode_text::width::clip_for_message;
use serde_json::{Map, Value};

use super::symbols::{self, SymbolPreset, SymbolTable};
use super::{Theme, ThemeColor, ThemeExportColors, ThemeToken};

/// Largest theme file.
pub(super) const THEME_BYTES: u64 = 256 << 10;
/// Variables may lead to variables this often.
const REFERENCES: usize = 64;
/// Problems listed in a message.
const LISTED: usize = 12;
/// Cells of a foreign word in a message.
const WORD_CELLS: usize = 40;

/// A theme, and what in its file was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedTheme {
    pub theme: Theme,
    /// One sentence each.
    pub remarks: Vec<String>,
}

/// A place in the file, as in `colors.accent`, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThemeProblem {
    pub path: String,
    pub what: String,
}

/// Why a theme cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    #[error("Theme not found: {}", clip_for_message(.0, WORD_CELLS))]
    NotFound(String),
    #[error("the theme {} cannot be read: {}", clip_for_message(.name, WORD_CELLS), escape_line(.why))]
    Unreadable { name: String, why: String },
    #[error("the theme {} is not JSON: {}", clip_for_message(.name, WORD_CELLS), escape_line(.why))]
    NoJson { name: String, why: String },
    #[error("{}", invalid_text(.name, .missing, .problems))]
    Invalid { name: String, missing: Vec<ThemeToken>, problems: Vec<ThemeProblem> },
}

/// Missing colours by group, then each problem on a line of its own.
fn invalid_text(name: &str, missing: &[ThemeToken], problems: &[ThemeProblem]) -> String {
    let mut text = format!("the theme {} cannot be used", clip_for_message(name, WORD_CELLS));
    if !missing.is_empty() {
        let _ = write!(text, "\n  these colours are missing in colors:");
        let mut group = "";
        for token in missing {
            if token.group() == group {
                let _ = write!(text, ", {}", token.name());
            } else {
                group = token.group();
                let _ = write!(text, "\n    {group}: {}", token.name());
            }
        }
    }
    for problem in problems.iter().take(LISTED) {
        let _ = write!(text, "\n  {}: {}", problem.path, problem.what);
    }
    if problems.len() > LISTED {
        let _ = write!(text, "\n  and {} more", problems.len() - LISTED);
    }
    text
}

/// `name` is what the theme was asked for by.
pub(super) fn read_theme(name: &str, text: &str) -> Result<LoadedTheme, ThemeError> {
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| ThemeError::NoJson { name: name.to_owned(), why: error.to_string() })?;
    let mut reader = ThemeReader { vars: Map::new(), problems: Vec::new(), remarks: Vec::new() };
    let Value::Object(file) = value else {
        reader.problem("", "a theme is an object { … }");
        return Err(reader.invalid(name, Vec::new()));
    };
    match file.get("name") {
        Some(Value::String(own)) if !own.trim().is_empty() => {}
        Some(_) => reader.problem("name", "is a text"),
        None => reader.problem("name", "is missing"),
    }
    if let Some(vars) = reader.object(&file, "vars") {
        reader.vars = vars;
    }
    for var in reader.vars.keys().cloned().collect::<Vec<_>>() {
        let value = reader.vars[&var].clone();
        reader.color(&format!("vars.{}", word(&var)), &value);
    }
    let colors = reader.object(&file, "colors").unwrap_or_default();
    if !file.contains_key("colors") {
        reader.problem("colors", "is missing");
    }
    let mut theme = Theme { name: name.to_owned(), ..Theme::plain() };
    let mut missing = Vec::new();
    for token in ThemeToken::ALL {
        match colors.get(token.name()) {
            Some(value) => {
                theme.colors[token as usize] = reader.color(&format!("colors.{}", token.name()), value);
            }
            None => missing.push(token),
        }
    }
    for other in colors.keys().filter(|key| ThemeToken::ALL.iter().all(|token| token.name() != key.as_str()))
    {
        reader.remarks.push(format!("colors.{} is no colour of relay", word(other)));
    }
    let export = reader.object(&file, "export").unwrap_or_default();
    let mut page_color = |key: &str| {
        let color = reader.color(&format!("export.{key}"), export.get(key)?);
        (color != ThemeColor::Default).then_some(color)
    };
    theme.export = ThemeExportColors {
        page: page_color("pageBg"),
        card: page_color("cardBg"),
        info: page_color("infoBg"),
    };
    theme.symbols = reader.symbols(&file);
    if reader.problems.is_empty() && missing.is_empty() {
        Ok(LoadedTheme { theme, remarks: reader.remarks })
    } else {
        Err(reader.invalid(name, missing))
    }
}

/// A foreign word in a message.
fn word(text: &str) -> String {
    clip_for_message(text, WORD_CELLS)
}

struct ThemeReader {
    vars: Map<String, Value>,
    problems: Vec<ThemeProblem>,
    remarks: Vec<String>,
}

impl ThemeReader {
    fn problem(&mut self, path: &str, what: &str) {
        self.problems.push(ThemeProblem { path: path.to_owned(), what: what.to_owned() });
    }

    fn invalid(self, name: &str, missing: Vec<ThemeToken>) -> ThemeError {
        ThemeError::Invalid { name: name.to_owned(), missing, problems: self.problems }
    }

    fn object(&mut self, file: &Map<String, Value>, key: &str) -> Option<Map<String, Value>> {
        match file.get(key)? {
            Value::Object(found) => Some(found.clone()),
            _ => {
                self.problem(key, "is an object { … }");
                None
            }
        }
    }

    /// Follows variables to a colour; the terminal's own where something is wrong.
    fn color(&mut self, path: &str, value: &Value) -> ThemeColor {
        match self.resolve(value) {
            Ok(color) => color,
            Err(what) => {
                self.problem(path, &what);
                ThemeColor::Default
            }
        }
    }

    fn resolve(&self, value: &Value) -> Result<ThemeColor, String> {
        let mut value = value;
        let mut seen: Vec<&str> = Vec::new();
        loop {
            let reference = match value {
                Value::Number(number) => {
                    let index = number.as_u64().and_then(|number| u8::try_from(number).ok());
                    return index
                        .map(ThemeColor::Indexed)
                        .ok_or_else(|| format!("{number} is not between 0 and 255"));
                }
                Value::String(text) if text.is_empty() => return Ok(ThemeColor::Default),
                Value::String(text) if text.starts_with('#') => {
                    return ThemeColor::from_hex(text)
                        .ok_or_else(|| format!("{} is not of the form #RRGGBB", word(text)));
                }
                Value::String(text) => text.as_str(),
                _ => {
                    return Err(
                        "a colour is #RRGGBB, a number from 0 to 255, the name of a variable, or \"\""
                            .to_owned(),
                    );
                }
            };
            if seen.contains(&reference) {
                let way: Vec<String> = seen.iter().chain([&reference]).map(|name| word(name)).collect();
                return Err(format!("the variables lead in a circle: {}", way.join(" -> ")));
            }
            if seen.len() >= REFERENCES {
                return Err("too many variables lead to one another".to_owned());
            }
            seen.push(reference);
            value = self
                .vars
                .get(reference)
                .ok_or_else(|| format!("there is no variable {} in vars", word(reference)))?;
        }
    }

    fn symbols(&mut self, file: &Map<String, Value>) -> SymbolTable {
        let section = self.object(file, "symbols").unwrap_or_default();
        let preset = match section.get("preset") {
            None => SymbolPreset::default(),
            Some(value) => match value.as_str().and_then(SymbolPreset::parse) {
                Some(preset) => preset,
                None => {
                    self.problem("symbols.preset", "is one of unicode, nerd, ascii");
                    SymbolPreset::default()
                }
            },
        };
        let mut table = SymbolTable::of_preset(preset);
        for (name, value) in self.object(&section, "overrides").unwrap_or_default() {
            let set = value.as_str().ok_or("is no text").and_then(|value| table.set(&name, value));
            if let Err(what) = set {
                self.remarks.push(symbols::remark(&word(&name), what));
            }
        }
        table
    }
}
