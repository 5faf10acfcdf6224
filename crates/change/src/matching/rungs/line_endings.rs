//! The text is as written; the file ends its lines otherwise or begins with a byte order mark.

use super::{Ask, Rung};
use crate::matching::fit::{Fit, LineEdit, splice};
use crate::matching::view::Level;

/// Forgives line endings and byte order marks.
pub(super) struct LineEndings;

/// The line without what belongs to a line ending or a byte order mark.
fn bare(line: &str) -> &str {
    line.trim_start_matches('\u{feff}').trim_end_matches('\r')
}

fn bare_lines(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| bare(line).to_string()).collect()
}

impl Rung for LineEndings {
    fn name(&self) -> &'static str {
        "line endings"
    }

    fn about(&self) -> &'static str {
        "Line endings and byte order marks; new lines take the file's own."
    }

    fn places(&self, ask: &Ask<'_, '_>) -> Vec<Fit> {
        let before = bare_lines(&ask.hunk.before);
        ask.view
            .find(&before, Level::Exact)
            .into_iter()
            .map(|start| Fit::straight(start, before.len()))
            .collect()
    }

    fn edits(&self, ask: &Ask<'_, '_>, fit: &Fit) -> Result<Vec<LineEdit>, String> {
        Ok(splice(ask.view, ask.hunk, fit, &bare_lines(&ask.hunk.after)))
    }
}
