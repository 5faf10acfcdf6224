//! Search results: each session, and below it who said what.

use crate::{OutputStyle, PaintRole, StyledText, clock, pluralize};

/// Most cells of an excerpt where lines may be long.
const LONGEST: usize = 240;

/// A session with hits.
#[derive(Debug, Clone, Default)]
pub struct SessionMatch {
    /// As much of the id as is unique.
    pub id: String,
    /// Last written, RFC 3339.
    pub modified: String,
    /// Its title, or the first prompt.
    pub about: String,
    /// The directory, if several are searched.
    pub cwd: Option<String>,
    /// Speaker and excerpt.
    pub hits: Vec<(String, String)>,
}

pub fn text(found: &[SessionMatch], style: &OutputStyle) -> String {
    let mut out = String::new();
    for (at, session) in found.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let time = clock::ago(&session.modified);
        let start = format!("{}  {}  ", style.clip(&session.id, 36), style.clip(&time, 14));
        let lead = StyledText::plain(&start);
        let room = style.width.map_or(LONGEST, |width| width.saturating_sub(lead.cells).max(12));
        let about = session.about.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = format!("{start}{}", style.paint(PaintRole::Strong, &style.clip(&about, room)));
        out += &format!("{}\n", line.trim_end());
        if let Some(cwd) = &session.cwd {
            out += &format!("  {}\n", style.paint(PaintRole::Dim, &style.path_in(cwd, 2)));
        }
        for (role, clip) in &session.hits {
            let who = style.clip(super::transcript::role_label(role), 20);
            let label = StyledText::plain(&format!("  {who}: "));
            let room = style.width.map_or(LONGEST, |width| width.saturating_sub(label.cells).max(12));
            out += &format!("{}{}\n", style.paint(PaintRole::Dim, &label.text), style.clip(clip, room));
        }
    }
    out
}

pub fn no_matches(searched: usize, style: &OutputStyle) -> String {
    style.wrap(&format!("nothing found in {}\n", pluralize(searched, "session")), 2)
}
