//! What sessions used, with a bar for each row.
//!
//! ```text
//! last 30 days: 3 sessions, 12 prompts, 40 answers
//!   tokens  1.2M read, 8.4M from the cache, 210k written
//!   cost    $12.40
//!   time    3 h 12 min
//!
//! by day
//!   2026-11-18  ████████████████  $8.20, 6.1M tokens
//!   2026-11-19  ████████▏         $4.20, 3.7M tokens
//! ```

use crate::{OutputStyle, PaintRole, cells};

/// Cells of a bar.
const BAR: usize = 16;
/// Cells of a name at most.
const LABEL: usize = 40;
/// A bar is never shorter.
const SHORTEST_BAR: usize = 4;
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

#[derive(Debug, Clone, Default)]
pub struct StatsText {
    pub title: String,
    /// What it sums up to: names and values.
    pub sums: Vec<(&'static str, String)>,
    pub groups: Vec<StatsGroup>,
}

/// Rows with one measure.
#[derive(Debug, Clone, Default)]
pub struct StatsGroup {
    pub title: &'static str,
    pub rows: Vec<StatsRow>,
    /// What follows the rows.
    pub note: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub struct StatsRow {
    /// Foreign text.
    pub label: String,
    /// It is a path: its end says more than its beginning.
    pub is_path: bool,
    /// What the bar shows.
    pub amount: f64,
    pub value: String,
}

pub fn text(stats: &StatsText, style: &OutputStyle) -> String {
    let mut out = format!("{}\n", style.wrap(&stats.title, 2));
    let widest = stats.sums.iter().map(|(name, _)| cells(name)).max().unwrap_or(0);
    for (name, value) in &stats.sums {
        let line = format!("  {name:<widest$}  {value}");
        out += &format!("{}\n", style.wrap(&line, widest + 4));
    }
    for group in stats.groups.iter().filter(|group| !group.rows.is_empty()) {
        out += &format!("\n{}\n", style.paint(PaintRole::Strong, group.title));
        out += &group.text(style);
    }
    out
}

impl StatsGroup {
    fn text(&self, style: &OutputStyle) -> String {
        let most = self.rows.iter().map(|row| row.amount).fold(0.0, f64::max);
        let values = self.rows.iter().map(|row| cells(&row.value)).max().unwrap_or(0);
        let room = style.columns().saturating_sub(values + 6);
        let limit = LABEL.min(room.max(8));
        let labels: Vec<String> = self
            .rows
            .iter()
            .map(
                |row| if row.is_path { style.path(&row.label, limit) } else { style.clip(&row.label, limit) },
            )
            .collect();
        let widest = labels.iter().map(|label| cells(label)).max().unwrap_or(0);
        let bar = Some(room.saturating_sub(widest).min(BAR)).filter(|bar| *bar >= SHORTEST_BAR);
        let mut out = String::new();
        for (row, label) in self.rows.iter().zip(labels) {
            let fill = " ".repeat(widest - cells(&label));
            let line = match bar {
                Some(width) => format!(
                    "  {label}{fill}  {}  {}",
                    draw_bar(row.amount, most, width, style.utf8),
                    row.value
                ),
                None if widest + values + 4 <= style.columns() => format!("  {label}{fill}  {}", row.value),
                None => format!("  {label}\n{}", style.wrap(&format!("    {}", row.value), 4)),
            };
            out += &format!("{}\n", line.trim_end());
        }
        if let Some(note) = &self.note {
            out += &format!("{}\n", style.paint(PaintRole::Dim, &style.wrap(&format!("  {note}"), 2)));
        }
        out
    }
}

/// As long as the amount's share of the most; what is not nothing is seen.
fn draw_bar(amount: f64, most: f64, width: usize, utf8: bool) -> String {
    let share = if most > 0.0 { (amount / most).clamp(0.0, 1.0) } else { 0.0 };
    let steps = if utf8 { width * 8 } else { width };
    // Within the width, so that no bit of the number is lost.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 128")]
    let filled = (share * steps as f64).round() as usize;
    let filled = if share > 0.0 { filled.max(1) } else { 0 };
    let drawn = match utf8 {
        true => "█".repeat(filled / 8) + EIGHTHS[filled % 8],
        false => "#".repeat(filled),
    };
    let blanks = width.saturating_sub(cells(&drawn));
    drawn + &" ".repeat(blanks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share_and_what_is_not_nothing_is_seen() {
        for (amount, utf8, ascii) in [
            (0.0, "    ", "    "),
            (0.0001, "▏   ", "#   "),
            (25.0, "█   ", "#   "),
            (53.1, "██▏ ", "##  "),
            (100.0, "████", "####"),
        ] {
            assert_eq!(draw_bar(amount, 100.0, 4, true), utf8, "{amount}");
            assert_eq!(draw_bar(amount, 100.0, 4, false), ascii, "{amount}");
        }
        assert_eq!(draw_bar(0.0, 0.0, 4, true), "    ");
    }
}
