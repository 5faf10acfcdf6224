//! A failure: what happened, where, what to do, and the state of the project.
//!
//! ```text
//! ✗ 2 files cannot be changed; nothing was changed
//!   src/cart.ts changed since this was planned
//!   src/old.ts is read-only
//!   run the command again: it then starts from what is there now
//! ```

use relaycode_tui::{Glyph, LIST_LIMIT, OutputStyle, PaintRole};

use crate::report::failure::FailureRegion;
use crate::{CommandFailure, Exit, FailureDetail, ProjectState};

/// The failure in a few lines.
pub(crate) fn failure_text(failure: &CommandFailure, look: &OutputStyle) -> String {
    let sign = match failure.exit {
        Exit::NeedsYou | Exit::DiskDoubt => look.paint(PaintRole::Attention, "!"),
        _ => look.paint(PaintRole::Bad, look.glyph(Glyph::Refused)),
    };
    let told = |state: &ProjectState| failure.message.contains(state.clause());
    let state = failure.state.filter(|state| !told(state));
    let state = state.map(|state| format!("; {}", state.clause())).unwrap_or_default();
    let mut lines = vec![format!("  {}{state}", look.safe(&failure.message))];
    if let Some(place) = &failure.place
        && !failure.message.contains(place.as_str())
    {
        lines.push(format!("  in {}", look.safe(place)));
    }
    let mut out = String::new();
    for line in &lines {
        out += &(look.wrap(line, 2) + "\n");
    }
    out += &details(failure, look);
    if let Some(hint) = &failure.hint {
        out += &(look.wrap(&format!("  {}", look.safe(hint)), 2) + "\n");
    }
    format!("{sign} {}", out.trim_start())
}

fn details(failure: &CommandFailure, look: &OutputStyle) -> String {
    let mut out = String::new();
    for detail in failure.files.iter().take(LIST_LIMIT) {
        out += &detail_text(detail, &failure.message, look);
    }
    if failure.files.len() > LIST_LIMIT {
        let more = format!("and {} more", failure.files.len() - LIST_LIMIT);
        out += &format!("  {}\n", look.paint(PaintRole::Dim, &more));
    }
    out
}

/// One file, unless the message says all there is to say about it.
fn detail_text(detail: &FailureDetail, message: &str, look: &OutputStyle) -> String {
    let sentence = format!("{} {}", detail.path, detail.message);
    let mut out = String::new();
    if sentence != message && detail.regions.is_empty() {
        out += &(look.wrap(&format!("  {}", look.safe(&sentence)), 4) + "\n");
    }
    if let Some(kept) = &detail.kept {
        out += &(look.wrap(&format!("    its other bytes are in {}", look.safe(kept)), 4) + "\n");
    }
    for region in detail.regions.iter().take(LIST_LIMIT) {
        out += &region_text(&detail.path, region, look);
    }
    out
}

/// Both sides of a place that a revert cannot merge.
fn region_text(path: &str, region: &FailureRegion, look: &OutputStyle) -> String {
    /// Lines of one side.
    const LINES: usize = 4;
    let place = format!("  {}, line {}", look.path_in(path, 3), region.line);
    let mut out = look.wrap(&place, 4) + "\n";
    for (name, lines) in [("now       ", &region.now), ("reverted  ", &region.reverted)] {
        let mut name = name;
        if look.is_tight(4 + name.len()) {
            out += &format!("    {}\n", name.trim_end());
            name = "  ";
        }
        let room = look.columns().saturating_sub(4 + name.len());
        let mut name = name.to_string();
        for line in lines.iter().take(LINES) {
            out += &format!("    {name}{}\n", look.excerpt(line, room));
            name = " ".repeat(name.len());
        }
        match lines.len() {
            0 => out += &format!("    {name}(nothing)\n"),
            count if count > LINES => out += &format!("    {name}and {} more\n", count - LINES),
            _ => {}
        }
    }
    out
}
