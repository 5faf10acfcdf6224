//! Sessions as a list, newest first.
//!
//! ```text
//!   1   0199f3a1  now          4 messages  round totals to cents
//!   2 ! 0199e07c  yesterday            ~   its last line is cut off
//! ```

use relaycode_text::width::cells;

use crate::clock;
use crate::look::{Look, Paint};
use crate::narrow;
use crate::part::{Part, number};

/// Cells of a time; what is longer is none.
const TIME: usize = 14;
/// Cells of an id that is not relay's.
const ID: usize = 36;
/// A title is never cut shorter than this.
const SHORTEST: usize = 12;

/// One session, as a line of the list.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// What other commands take, as well as the id; only where the list is this project's.
    pub index: Option<usize>,
    /// So much of its id as tells it from the others.
    pub id: String,
    /// When it was last written, RFC 3339.
    pub modified: String,
    /// How many messages it has; `None` if that is not known.
    pub messages: Option<u64>,
    /// Its title, or what was said first.
    pub about: String,
    /// The directory, where several are listed.
    pub cwd: Option<String>,
    /// Nobody answered in it.
    pub unanswered: bool,
    /// What is wrong with it.
    pub damage: Option<String>,
}

/// The rows, and what is not among them: `more` that fit, and `hidden` ones that nobody answered.
pub fn text(rows: &[Row], more: usize, hidden: usize, look: &Look) -> String {
    let mut out = String::new();
    if rows.is_empty() {
        out += &look.wrap("no session here yet\n", 2);
    }
    let lines: Vec<Line> = rows.iter().map(|row| Line::of(row, look)).collect();
    let widest = |cells: fn(&Line) -> usize| lines.iter().map(cells).max().unwrap_or(0);
    let widths = Widths {
        index: widest(|line| line.index.len()).max(2),
        id: widest(|line| line.id.cells),
        time: widest(|line| line.time.cells),
        messages: widest(|line| line.messages.cells),
    };
    for line in lines {
        out += &line.text(&widths, look);
    }
    let notes = [
        (more > 0)
            .then(|| format!("and {more} more; `relay sessions -n {}` lists them all", rows.len() + more)),
        (hidden > 0).then(|| {
            let (verb, them) = if hidden == 1 { ("has", "it") } else { ("have", "them") };
            format!(
                "{} {verb} no answer; `relay sessions --unanswered` lists {them}, too",
                number(hidden, "session")
            )
        }),
    ];
    for note in notes.into_iter().flatten() {
        out += &format!("{}\n", look.paint(Paint::Dim, &look.wrap(&note, 2)));
    }
    out
}

struct Widths {
    index: usize,
    id: usize,
    time: usize,
    messages: usize,
}

struct Line {
    index: String,
    mark: &'static str,
    id: Part,
    time: Part,
    messages: Part,
    about: String,
    tail: String,
}

impl Line {
    fn of(row: &Row, look: &Look) -> Line {
        let messages = row.messages.map_or_else(
            || "~".to_string(),
            |count| number(usize::try_from(count).unwrap_or(usize::MAX), "message"),
        );
        let tail = match (&row.cwd, row.unanswered) {
            (Some(cwd), _) => look.path(cwd, look.columns() / 3),
            (None, true) => "no answer".to_string(),
            (None, false) => String::new(),
        };
        Line {
            index: row.index.map(|index| index.to_string()).unwrap_or_default(),
            mark: if row.damage.is_some() { "!" } else { " " },
            id: Part::plain(&look.clip(&row.id, ID)),
            time: Part::painted(look, Paint::Dim, &look.clip(&clock::ago(&row.modified), TIME)),
            messages: Part::plain(&messages),
            about: match &row.damage {
                Some(damage) if row.about.is_empty() => damage.clone(),
                Some(damage) => format!("{damage}: {}", row.about),
                None => row.about.clone(),
            },
            tail,
        }
    }

    fn text(self, widths: &Widths, look: &Look) -> String {
        let lead = format!("{:>width$} {} ", self.index, self.mark, width = widths.index + 1);
        let about = self.about.split_whitespace().collect::<Vec<_>>().join(" ");
        let taken = cells(&lead) + widths.id + widths.time + widths.messages + 3 * 2;
        let tail = if self.tail.is_empty() { 0 } else { cells(&self.tail) + 3 };
        if look.is_narrow() && taken + tail + SHORTEST > look.columns() {
            let indent = cells(&lead);
            let mut out =
                narrow::flow(look, Part::plain(&lead), indent, 2, &[self.id, self.time, self.messages]);
            let edge = || Part::plain(&" ".repeat(indent));
            if !about.is_empty() {
                out += &narrow::title(look, edge(), indent, &about);
            }
            if !self.tail.is_empty() {
                out += &narrow::flow(look, edge(), indent, 1, &[Part::painted(look, Paint::Dim, &self.tail)]);
            }
            return out;
        }
        // Without a terminal lines may be long, but not without end.
        let room = look.width.map_or(LONGEST, |width| width.saturating_sub(taken + tail).max(SHORTEST));
        let columns =
            [self.id.padded(widths.id), self.time.padded(widths.time), self.messages.padded(widths.messages)];
        let start = columns.iter().fold(lead, |line, part| format!("{line}{}  ", part.text));
        let gap = if self.tail.is_empty() { "" } else { "   " };
        let line = format!("{start}{}{gap}{}", look.clip(&about, room), look.paint(Paint::Dim, &self.tail));
        format!("{}\n", line.trim_end())
    }
}

/// Cells of a title where lines may be long.
const LONGEST: usize = 200;
