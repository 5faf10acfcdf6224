//! What the settings look like.

use relaycode_project::config::ConfigOrigin;
use relaycode_project::config::keys::ConfigScope;

use super::{SettingRow, SettingsStage, SettingsView, value_text};
use crate::picker::{PaintedRow, help_row, text_rows};
use crate::theme::{ThemeStyle, ThemeToken};

impl SettingsView {
    pub fn lines(&self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
        let preview = |row: &SettingRow, width, height| explanation(style, row, width, height);
        let mut lines = self.list.lines_with(style, width, height, &preview);
        let (field, why) = match &self.stage {
            SettingsStage::Browse if self.note.is_empty() => return lines,
            SettingsStage::Browse => {
                let note = text_rows(style, Some(ThemeToken::Warning), &self.note, width, 2);
                lines.truncate(height.saturating_sub(note.len()));
                lines.extend(note);
                return lines;
            }
            SettingsStage::Edit(field, why) => (field, why),
        };
        let mut asked = PaintedRow::new(style, width);
        let name = self.list.selected().map(|row| row.key.name).unwrap_or_default();
        asked.push(Some(ThemeToken::Accent), name, width / 2).colored(ThemeToken::Accent, ": ");
        field.draw(&mut asked, style.output.utf8);
        let may = self.list.selected().map(|row| row.key.allowed_values()).unwrap_or_default();
        let mut below = match why.is_empty() {
            true => text_rows(style, Some(ThemeToken::Muted), &may, width, 2),
            false => text_rows(style, Some(ThemeToken::Error), why, width, 3),
        };
        below.truncate(height.saturating_sub(2));
        lines.truncate(height.saturating_sub(below.len() + 2));
        lines.push(asked.finish());
        lines.extend(below);
        lines.push(help_row(style, width, &[("Enter", "set"), ("Esc", "back")]));
        lines.truncate(height);
        lines
    }
}

fn explanation(style: &ThemeStyle, row: &SettingRow, width: usize, height: usize) -> Vec<String> {
    let mut lines = text_rows(style, Some(ThemeToken::Accent), row.key.name, width, 1);
    lines.extend(text_rows(style, None, row.key.meaning, width, 6));
    let default = row.key.default();
    let at = |file: &str, line: usize| match line {
        0 => file.to_string(),
        line => format!("{file}, line {line}"),
    };
    let origin = match &row.origin {
        ConfigOrigin::Default => "nowhere: it is the default".to_string(),
        ConfigOrigin::User { line } => at("your config.yml", *line),
        ConfigOrigin::Project { line } => {
            at("the project's file", *line) + "; what you set does nothing here"
        }
    };
    let scope = match row.key.scope {
        ConfigScope::AllCommands => "every command",
        ConfigScope::WatchOnly => "only `relay watch`",
    };
    let about = [
        ("value", value_text(&row.value)),
        ("default", value_text(&default)),
        ("may be", row.key.allowed_values()),
        ("set in", origin),
        ("for", scope.to_string()),
    ];
    for (name, value) in about {
        let value = if value.is_empty() { "\"\"" } else { &value };
        let rows = text_rows(style, None, value, width.saturating_sub(9).max(10), 3);
        for (at, text) in rows.iter().enumerate() {
            let mut line = PaintedRow::new(style, width);
            line.colored(ThemeToken::Muted, if at == 0 { name } else { "" }).pad_to(9);
            line.painted(text);
            lines.push(line.finish());
        }
    }
    lines.truncate(height);
    lines
}
