//! Models to go on with, and how much they think.
//!
//! ```text
//! Choose a model                                                  3 of 41
//! › sonnet▏
//! ▸ * anthropic/claude-sonnet-5      200k   $3 / $15      thinking: high
//!     openrouter/claude-sonnet-5     200k   $3 / $15      no key
//! Enter choose · Esc clear · Left Right thinking
//! ```

#[cfg(test)]
mod tests;

use relaycode_llm::Model;
use relaycode_llm::models::model::ModelPrice;
use relaycode_llm::request::ThinkingLevel;

use crate::input::{KeyCode, KeyPress};
use crate::picker::painted_row::painted_cells;
use crate::picker::{ListPicker, PaintedRow, PickerItem, PickerOutcome, text_rows};
use crate::theme::{ThemeStyle, ThemeToken};

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChoice {
    /// `provider/id`
    pub selector: String,
    pub name: String,
    pub provider: String,
    /// Tokens.
    pub window: u64,
    pub price: ModelPrice,
    pub thinks: bool,
    pub reads_images: bool,
    /// There is a key, or none is needed.
    pub has_key: bool,
}

impl ModelChoice {
    pub fn new(model: &Model, has_key: bool) -> ModelChoice {
        ModelChoice {
            selector: model.selector(),
            name: model.name.clone(),
            provider: model.provider.clone(),
            window: model.context_window,
            price: model.price,
            thinks: model.reasoning,
            reads_images: model.images,
            has_key,
        }
    }
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelOutcome {
    Ignored,
    Changed,
    Choose {
        selector: String,
        thinking: ThinkingLevel,
    },
    /// It has no key yet: say how it gets one.
    NeedsKey {
        provider: String,
        selector: String,
    },
    Closed,
    Quit,
}

/// The state of the list.
#[derive(Debug)]
pub struct ModelPicker {
    list: ListPicker<ModelChoice>,
    thinking: ThinkingLevel,
}

impl ModelPicker {
    /// Those with a key come first, else in the given order.
    pub fn new(models: Vec<ModelChoice>, current: Option<&str>, thinking: ThinkingLevel) -> ModelPicker {
        let empty = "no model yet; `relay keys set PROVIDER` stores a key";
        let list =
            ListPicker::new("Choose a model", empty).with_preview().with_keys(&[("Left Right", "thinking")]);
        let mut picker = ModelPicker { list, thinking };
        picker.set_models(models, current);
        picker
    }

    /// All of them anew, as when a server on this machine was found; the place stays.
    pub fn set_models(&mut self, mut models: Vec<ModelChoice>, current: Option<&str>) {
        let selected = self.list.selected().map(|model| model.selector.clone());
        models.sort_by_key(|model| !model.has_key);
        let wanted = selected.as_deref().or(current);
        let place = models.iter().position(|model| Some(model.selector.as_str()) == wanted);
        self.list.set_items(models.into_iter().map(|model| item(model, current)).collect());
        if let Some(place) = place {
            self.list.select_index(place);
        }
    }

    pub fn set_loading(&mut self, is_loading: bool) {
        self.list.set_loading(is_loading);
    }

    pub fn insert_text(&mut self, text: &str) {
        self.list.insert_text(text);
    }

    /// The level that counts for a model.
    fn level_for(&self, model: &ModelChoice) -> ThinkingLevel {
        if model.thinks { self.thinking } else { ThinkingLevel::Off }
    }

    pub fn handle_key(&mut self, key: KeyPress) -> ModelOutcome {
        if matches!(key.code, KeyCode::Left | KeyCode::Right) {
            return self.change_level(key.code == KeyCode::Right);
        }
        match self.list.handle_key(key) {
            PickerOutcome::Ignored => ModelOutcome::Ignored,
            PickerOutcome::Changed => ModelOutcome::Changed,
            PickerOutcome::Closed => ModelOutcome::Closed,
            PickerOutcome::Quit => ModelOutcome::Quit,
            PickerOutcome::Chosen(_) => self.list.selected().map_or(ModelOutcome::Ignored, |model| {
                let selector = model.selector.clone();
                match model.has_key {
                    true => ModelOutcome::Choose { selector, thinking: self.level_for(model) },
                    false => ModelOutcome::NeedsKey { provider: model.provider.clone(), selector },
                }
            }),
        }
    }

    fn change_level(&mut self, up: bool) -> ModelOutcome {
        if !self.list.selected().is_some_and(|model| model.thinks) {
            return ModelOutcome::Ignored;
        }
        let at = self.thinking as usize;
        let at = if up { (at + 1).min(ThinkingLevel::ALL.len() - 1) } else { at.saturating_sub(1) };
        self.thinking = ThinkingLevel::ALL[at];
        ModelOutcome::Changed
    }

    pub fn lines(&self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
        let preview = |model: &ModelChoice, width, height| self.preview(style, model, width, height);
        let mut lines = self.list.lines_with(style, width, height, &preview);
        // The level stands beside what is typed: it is seen at every size.
        let filter_row = usize::from(height >= 8);
        if let Some(model) = self.list.selected().filter(|_| height >= 3) {
            let level = self.level_for(model).name();
            let text = if model.thinks { format!("thinking: {level}") } else { "does not think".to_string() };
            if let Some(line) = lines.get_mut(filter_row)
                && painted_cells(line) + 2 + text.len() <= width
            {
                let mut row = PaintedRow::new(style, width);
                row.painted(line).pad_to(width - text.len());
                row.colored(thinking_token(self.level_for(model)), &text);
                *line = row.finish();
            }
        }
        lines
    }

    fn preview(&self, style: &ThemeStyle, model: &ModelChoice, width: usize, height: usize) -> Vec<String> {
        let mut lines = text_rows(style, Some(ThemeToken::Accent), &model.name, width, 2);
        let thinking = match model.thinks {
            true => format!("{} (Left and Right change it)", self.thinking.name()),
            false => "no".to_string(),
        };
        let about = [
            ("model", model.selector.clone()),
            ("window", format!("{} tokens", token_count(model.window))),
            (
                "price",
                price_text(&model.price).map_or("not known, or free".to_string(), |price| {
                    format!("{price} per million tokens in / out")
                }),
            ),
            ("images", if model.reads_images { "yes" } else { "no" }.to_string()),
            ("thinking", thinking),
            (
                "key",
                match model.has_key {
                    true => "there".to_string(),
                    false => format!("missing; `relay keys set {}` stores one", model.provider),
                },
            ),
        ];
        for (name, value) in about {
            let rows = text_rows(style, None, &value, width.saturating_sub(10).max(10), 3);
            for (at, text) in rows.iter().enumerate() {
                let mut row = PaintedRow::new(style, width);
                row.colored(ThemeToken::Muted, if at == 0 { name } else { "" }).pad_to(10);
                row.painted(text);
                lines.push(row.finish());
            }
        }
        lines.truncate(height);
        lines
    }
}

fn item(model: ModelChoice, current: Option<&str>) -> PickerItem<ModelChoice> {
    let key = if model.has_key { "" } else { "no key" };
    let detail = format!(
        "{:>6}  {:<13} {key:<6}",
        token_count(model.window),
        price_text(&model.price).unwrap_or_default()
    );
    let sign = if current == Some(&model.selector) { "*" } else { " " };
    let keywords = format!("{} {}", model.name, model.provider);
    PickerItem::new(model.clone(), model.selector)
        .detail(detail)
        .short_detail(key)
        .keywords(keywords)
        .sign(sign)
}

fn thinking_token(level: ThinkingLevel) -> ThemeToken {
    match level {
        ThinkingLevel::Off => ThemeToken::ThinkingOff,
        ThinkingLevel::Minimal => ThemeToken::ThinkingMinimal,
        ThinkingLevel::Low => ThemeToken::ThinkingLow,
        ThinkingLevel::Medium => ThemeToken::ThinkingMedium,
        ThinkingLevel::High => ThemeToken::ThinkingHigh,
        ThinkingLevel::Xhigh | ThinkingLevel::Max => ThemeToken::ThinkingXhigh,
    }
}

/// `200k`, `1M`; `?` if it is not known.
fn token_count(tokens: u64) -> String {
    match tokens {
        0 => "?".to_string(),
        1..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ if tokens % 1_000_000 < 100_000 => format!("{}M", tokens / 1_000_000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

/// `$3 / $15`; `None` if there is none.
fn price_text(price: &ModelPrice) -> Option<String> {
    (price.input > 0.0 || price.output > 0.0).then(|| format!("${} / ${}", price.input, price.output))
}
