//! Themes: what a person sees of them, each row of the requirements by name.

mod built_in;
mod painting;
mod selection;
mod terminal;
mod theme_files;

use serde_json::{Value, json};

use super::theme_file::read_theme;
use super::*;
use crate::OutputStyle;

const OUTPUT: OutputStyle = OutputStyle { color: true, utf8: true, width: None };

/// A theme with all colours, each the 256-colour number of its token.
fn whole_theme() -> Value {
    let colors: serde_json::Map<String, Value> = ThemeToken::ALL
        .iter()
        .enumerate()
        .map(|(number, token)| (token.name().to_owned(), json!(number + 20)))
        .collect();
    json!({ "name": "mine", "colors": colors })
}

fn read(value: &Value) -> Result<LoadedTheme, ThemeError> {
    read_theme("mine", &value.to_string())
}

fn loaded(value: &Value) -> Theme {
    read(value).unwrap().theme
}
