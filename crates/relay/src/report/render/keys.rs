//! Where keys come from, as a table. Never a key: at most the last characters of a long one.

use relaycode_llm::models::keys::KeySource;
use relaycode_text::width::cells;
use relaycode_tui::{OutputStyle, PaintRole};
use serde_json::{Value, json};

use super::models::{key_source_json, key_source_text};

/// One provider.
pub(crate) struct KeyRow {
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) source: Option<KeySource>,
    /// The end of each key that is long enough.
    pub(crate) tails: Vec<Option<String>>,
    pub(crate) trouble: Option<String>,
}

impl KeyRow {
    pub(crate) fn to_json(&self) -> Value {
        let mut object = json!({"provider": self.provider, "name": self.name, "tail": self.tails.first(), "trouble": self.trouble});
        object["count"] = json!(self.tails.len());
        object["key"] = key_source_json(self.source.as_ref());
        object
    }
}

/// A line for each.
pub(crate) fn keys_table(rows: &[KeyRow], look: &OutputStyle) -> String {
    if rows.is_empty() {
        let said = "  no provider has a key yet; `relay keys set anthropic` stores one, `relay keys list --all` lists \
                    the providers";
        return look.wrap(said, 2) + "\n";
    }
    let widest = rows.iter().map(|row| cells(&row.provider)).max().unwrap_or_default();
    let mut text = String::new();
    for row in rows {
        let name = look.safe(&row.provider);
        let (sign, said) = match (&row.trouble, &row.source) {
            (Some(trouble), _) => (look.paint(PaintRole::Attention, "!"), trouble.clone()),
            (None, Some(from)) => (" ".to_string(), key_source_text(from)),
            (None, None) => (" ".to_string(), "no key".to_string()),
        };
        let tails: Vec<String> = row.tails.iter().flatten().map(|tail| format!("…{tail}")).collect();
        let count = if row.tails.len() > 1 { format!(", {} keys", row.tails.len()) } else { String::new() };
        let tails = if tails.is_empty() { String::new() } else { format!("  ({})", tails.join(", ")) };
        let tail = count + &tails;
        let said =
            look.wrap(&format!("{}{}", " ".repeat(4 + widest), look.safe(&(said + &tail))), 4 + widest);
        text += &format!("{sign} {name:<widest$}  {}\n", said.trim_start());
    }
    text
}
