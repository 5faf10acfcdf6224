//! What was found in sessions: the session, and below it who said what.

use crate::layout::clock;
use crate::layout::style::{OutputStyle, PaintRole};
use crate::layout::styled_text::{StyledText, pluralize};

/// Cells of a clip where lines may be long.
const LONGEST: usize = 240;

/// A session in which something was found.
#[derive(Debug, Clone, Default)]
pub struct SessionMatch {
    /// So much of its id as tells it from the others.
    pub id: String,
    /// When it was last written, RFC 3339.
    pub modified: String,
    /// Its title, or what was said first.
    pub about: String,
    /// The directory, where several are searched.
    pub cwd: Option<String>,
    /// Who said it, and what stands around it.
    pub hits: Vec<(String, String)>,
}

/// The sessions with what was found in them.
pub fn text(found: &[SessionMatch], look: &OutputStyle) -> String {
    let mut out = String::new();
    for (at, session) in found.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let time = clock::ago(&session.modified);
        let start = format!("{}  {}  ", look.clip(&session.id, 36), look.clip(&time, 14));
        let lead = StyledText::plain(&start);
        let room = look.width.map_or(LONGEST, |width| width.saturating_sub(lead.cells).max(12));
        let about = session.about.split_whitespace().collect::<Vec<_>>().join(" ");
        out += &format!(
            "{}\n",
            format!("{start}{}", look.paint(PaintRole::Strong, &look.clip(&about, room))).trim_end()
        );
        if let Some(cwd) = &session.cwd {
            out += &format!("  {}\n", look.paint(PaintRole::Dim, &look.path_in(cwd, 2)));
        }
        for (role, clip) in &session.hits {
            let who = look.clip(super::transcript::role_label(role), 20);
            let label = StyledText::plain(&format!("  {who}: "));
            let room = look.width.map_or(LONGEST, |width| width.saturating_sub(label.cells).max(12));
            out += &format!("{}{}\n", look.paint(PaintRole::Dim, &label.text), look.clip(clip, room));
        }
    }
    out
}

/// That nothing was found, and where.
pub fn no_matches(searched: usize, look: &OutputStyle) -> String {
    look.wrap(&format!("nothing found in {}\n", pluralize(searched, "session")), 2)
}
