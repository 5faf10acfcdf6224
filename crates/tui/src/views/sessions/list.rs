//! Sessions as a list, newest first.
//!
//! ```text
//!   1   0199f3a1  now          4 messages  round totals to cents
//!   2 ! 0199e07c  yesterday            ~   its last line is cut off
//! ```

use crate::{OutputStyle, PaintRole, StyledText, cells, clock, narrow, pluralize};

/// Most cells of a time; anything longer is not a time.
const TIME: usize = 14;
/// Most cells of an id that is not relay's.
const ID: usize = 36;
/// A title is never cut shorter than this.
const SHORTEST: usize = 12;

#[derive(Debug, Clone, Default)]
pub struct SessionRow {
    /// Accepted by other commands, like the id; only in a list of this project.
    pub index: Option<usize>,
    /// As much of the id as is unique.
    pub id: String,
    /// Last written, RFC 3339.
    pub modified: String,
    /// `None` if unknown.
    pub messages: Option<u64>,
    /// Its title, or the first prompt.
    pub about: String,
    /// The directory, if several are listed.
    pub cwd: Option<String>,
    /// It has no answer.
    pub unanswered: bool,
    /// What is wrong with the file.
    pub damage: Option<String>,
}

/// The rows, and what is not among them: `more` that match, and `hidden` ones without an answer.
pub fn text(rows: &[SessionRow], more: usize, hidden: usize, style: &OutputStyle) -> String {
    let mut out = String::new();
    if rows.is_empty() {
        out += &style.wrap("no session here yet\n", 2);
    }
    let lines: Vec<SessionLine> = rows.iter().map(|row| SessionLine::from_row(row, style)).collect();
    let index = lines.iter().map(|line| line.index.len()).max().unwrap_or(0).max(2);
    let widest = |at: usize| lines.iter().map(|line| line.columns[at].cells).max().unwrap_or(0);
    let widths = [0, 1, 2].map(widest);
    for line in lines {
        out += &line.text(index, &widths, style);
    }
    let notes = [
        (more > 0)
            .then(|| format!("and {more} more; `relay sessions -n {}` lists them all", rows.len() + more)),
        (hidden > 0).then(|| {
            let (verb, them) = if hidden == 1 { ("has", "it") } else { ("have", "them") };
            let sessions = pluralize(hidden, "session");
            format!("{sessions} {verb} no answer; `relay sessions --unanswered` lists {them}, too")
        }),
    ];
    for note in notes.into_iter().flatten() {
        out += &format!("{}\n", style.paint(PaintRole::Dim, &style.wrap(&note, 2)));
    }
    out
}

struct SessionLine {
    index: String,
    mark: &'static str,
    /// The id, the time, how many messages.
    columns: [StyledText; 3],
    about: String,
    tail: String,
}

impl SessionLine {
    fn from_row(row: &SessionRow, style: &OutputStyle) -> SessionLine {
        let messages = row.messages.map_or_else(
            || "~".to_string(),
            |count| pluralize(usize::try_from(count).unwrap_or(usize::MAX), "message"),
        );
        let tail = match (&row.cwd, row.unanswered) {
            (Some(cwd), _) => style.path(cwd, style.columns() / 3),
            (None, true) => "no answer".to_string(),
            (None, false) => String::new(),
        };
        SessionLine {
            index: row.index.map(|index| index.to_string()).unwrap_or_default(),
            mark: if row.damage.is_some() { "!" } else { " " },
            columns: [
                StyledText::plain(&style.clip(&row.id, ID)),
                StyledText::painted(style, PaintRole::Dim, &style.clip(&clock::ago(&row.modified), TIME)),
                StyledText::plain(&messages),
            ],
            about: match &row.damage {
                Some(damage) if row.about.is_empty() => damage.clone(),
                Some(damage) => format!("{damage}: {}", row.about),
                None => row.about.clone(),
            },
            tail,
        }
    }

    fn text(self, index: usize, widths: &[usize; 3], style: &OutputStyle) -> String {
        let lead = format!("{:>width$} {} ", self.index, self.mark, width = index + 1);
        let about = self.about.split_whitespace().collect::<Vec<_>>().join(" ");
        let taken = cells(&lead) + widths.iter().sum::<usize>() + 3 * 2;
        let tail = if self.tail.is_empty() { 0 } else { cells(&self.tail) + 3 };
        if style.is_narrow() && taken + tail + SHORTEST > style.columns() {
            let indent = cells(&lead);
            let mut out = narrow::flow_parts(style, StyledText::plain(&lead), indent, 2, &self.columns);
            let edge = || StyledText::plain(&" ".repeat(indent));
            if !about.is_empty() {
                out += &narrow::title_rows(style, edge(), indent, &about);
            }
            if !self.tail.is_empty() {
                let tail = StyledText::painted(style, PaintRole::Dim, &self.tail);
                out += &narrow::flow_parts(style, edge(), indent, 1, &[tail]);
            }
            return out;
        }
        // Without a terminal lines may be long, but not endless.
        let room = style.width.map_or(LONGEST, |width| width.saturating_sub(taken + tail).max(SHORTEST));
        let columns = self.columns.into_iter().zip(widths).map(|(part, width)| part.padded(*width));
        let start = columns.fold(lead, |line, part| format!("{line}{}  ", part.text));
        let gap = if self.tail.is_empty() { "" } else { "   " };
        let line =
            format!("{start}{}{gap}{}", style.clip(&about, room), style.paint(PaintRole::Dim, &self.tail));
        format!("{}\n", line.trim_end())
    }
}

/// Most cells of a title where lines may be long.
const LONGEST: usize = 200;
