//! A film as an animated image: no script, no embedded font, nothing loaded. Frames lie side by side, and
//! the strip is moved under a window by one CSS animation; without animation (printed, or reduced motion),
//! the poster is shown. Colours follow the viewer's light or dark preference.
//!
//! Foreign text comes in through [`escaped`] and nowhere else.

use std::collections::BTreeMap;
use std::fmt::Write;

use vt100::{Cell, Color, Screen};

use super::film::{COLUMNS, Film, ROWS};

/// In tenths of a unit: a cell, a row, the margin around the text, and the place of the caption.
const CELL: usize = 84;
const ROW: usize = 190;
const MARGIN: usize = 160;
const CAPTION: usize = 400;
/// The frame that is shown without animation.
const POSTER: usize = 2;

/// Foreground colours by class: the name, in the dark, in the light. Both have a contrast of at least 4.5.
const COLOURS: &[(&str, &str, &str)] = &[
    ("t", "#d8dee6", "#24292f"),
    ("dim", "#9aa4b0", "#59636e"),
    ("red", "#ff8f88", "#b3201c"),
    ("green", "#6fd784", "#116329"),
    ("yellow", "#e6b450", "#7d4e00"),
    ("blue", "#7cb7ff", "#0550ae"),
    ("magenta", "#d2a8ff", "#8250df"),
    ("cyan", "#67d4d4", "#0f6b73"),
    ("cap", "#e6b450", "#7d4e00"),
];

/// The image.
pub(super) fn text(film: &Film) -> String {
    let (width, height) =
        (usize::from(COLUMNS) * CELL + 2 * MARGIN, usize::from(ROWS) * ROW + 2 * MARGIN + CAPTION);
    let (view_width, view_height) = (tenths(width), tenths(height));
    let mut rows: BTreeMap<String, usize> = BTreeMap::new();
    let mut frames = String::new();
    for (at, frame) in film.frames.iter().enumerate() {
        frames += &format!("<g transform=\"translate({})\">\n", tenths(at * width));
        let y = tenths(MARGIN + CAPTION / 2 - 60);
        let _ = writeln!(
            frames,
            "<text class=\"cap\" x=\"{}\" y=\"{y}\">{}</text>",
            tenths(MARGIN),
            escaped(frame.caption)
        );
        // Below the text, which stays readable.
        frames += &cursor(&frame.screen);
        for row in 0..ROWS {
            let drawn = drawn_row(&frame.screen, row);
            if !drawn.is_empty() {
                let next = rows.len();
                let id = *rows.entry(drawn).or_insert(next);
                let y = tenths(MARGIN + CAPTION + usize::from(row) * ROW);
                let _ = writeln!(frames, "<use href=\"#r{id}\" x=\"{}\" y=\"{y}\"/>", tenths(MARGIN));
            }
        }
        frames += "</g>\n";
    }
    let mut rows: Vec<(String, usize)> = rows.into_iter().collect();
    rows.sort_by_key(|(_, id)| *id);
    let rows: String = rows.iter().map(|(row, id)| format!("<g id=\"r{id}\">{row}</g>\n")).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"0 0 {view_width} {view_height}\" role=\"img\" \
         aria-label=\"A session of relay watch in a terminal\">\n<!-- Written by `cargo xtask record`. -->\n\
         <style>\n{}</style>\n<defs>\n{rows}</defs>\n<rect class=\"back\" width=\"{view_width}\" height=\"{view_height}\" \
         rx=\"10\"/>\n<rect class=\"line\" x=\"0\" y=\"{}\" width=\"{view_width}\" height=\"1\"/>\n<g class=\"film\">\n\
         {frames}</g>\n</svg>\n",
        style(film, width),
        tenths(CAPTION + MARGIN / 4),
    )
}

/// Colours, and the animation.
fn style(film: &Film, width: usize) -> String {
    let whole: u64 = film.frames.iter().map(|frame| frame.milliseconds).sum();
    let mut style = String::from(
        "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;\
         white-space:pre}\n.cap{font-family:system-ui,sans-serif;font-weight:600}\n.b{font-weight:700}\n.i{font-style:italic}\n\
         .u{text-decoration:underline}\n",
    );
    let palette = |pick: fn(&(&str, &str, &str)) -> String, back: &str, line: &str| -> String {
        let colours: String = COLOURS.iter().map(pick).collect();
        format!("{colours}.back{{fill:{back}}}.line,.mark{{fill:{line}}}.cursor{{fill:{line}}}")
    };
    let dark = palette(|(name, dark, _)| format!(".{name}{{fill:{dark}}}"), "#12161c", "#2c343e");
    let light = palette(|(name, _, light)| format!(".{name}{{fill:{light}}}"), "#f6f8fa", "#d5dbe1");
    let _ = writeln!(style, "{dark}\n@media (prefers-color-scheme:light){{{light}}}");
    let at = |frame: usize| format!("transform:translateX(-{}px)", tenths(frame * width));
    let poster = at(POSTER.min(film.frames.len().saturating_sub(1)));
    let seconds = format!("{}.{:03}", whole / 1_000, whole % 1_000);
    let _ = writeln!(style, ".film{{{poster};animation:film {seconds}s step-end infinite}}");
    let mut begun: u64 = 0;
    style += "@keyframes film{";
    for (number, frame) in film.frames.iter().enumerate() {
        let thousandths = (begun * 100_000).checked_div(whole).unwrap_or(0);
        let _ = write!(style, "{}.{:03}%{{{}}}", thousandths / 1_000, thousandths % 1_000, at(number));
        begun += frame.milliseconds;
    }
    style += "}\n@media (prefers-reduced-motion:reduce){.film{animation:none}}\n";
    style
}

/// The cells of a row that show something: backgrounds first, then runs of one style.
fn drawn_row(screen: &Screen, row: u16) -> String {
    let mut marks = String::new();
    let mut texts = String::new();
    for run in runs(screen, row) {
        let (x, cells) = (tenths(run.column * CELL), tenths(run.cells * CELL));
        if run.marked {
            let height = tenths(ROW);
            let _ = write!(marks, "<rect class=\"mark\" x=\"{x}\" width=\"{cells}\" height=\"{height}\"/>");
        }
        if !run.text.trim().is_empty() {
            let y = tenths(ROW - 50);
            let (class, text) = (&run.class, escaped(&run.text));
            let _ = write!(
                texts,
                "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" textLength=\"{cells}\">{text}</text>"
            );
        }
    }
    marks + &texts
}

/// Adjacent cells with the same style.
struct Run {
    column: usize,
    cells: usize,
    class: String,
    /// There is a background.
    marked: bool,
    text: String,
}

fn runs(screen: &Screen, row: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..COLUMNS {
        let Some(cell) = screen.cell(row, column) else { continue };
        if cell.is_wide_continuation() {
            if let Some(run) = runs.last_mut() {
                run.cells += 1;
            }
            continue;
        }
        let (class, marked) = (class(cell), cell.inverse() || cell.bgcolor() != Color::Default);
        let text = if cell.has_contents() { cell.contents() } else { " " };
        match runs.last_mut() {
            Some(run) if run.class == class && run.marked == marked => {
                run.cells += 1;
                run.text.push_str(text);
            }
            _ => {
                let column = usize::from(column);
                runs.push(Run { column, cells: 1, class, marked, text: text.to_owned() });
            }
        }
    }
    for run in &mut runs {
        trim(run);
    }
    runs
}

/// Removes invisible blanks at the ends of a run, so that they are not stretched.
fn trim(run: &mut Run) {
    if run.marked {
        return;
    }
    let end = run.text.len() - run.text.trim_end_matches(' ').len();
    run.text.truncate(run.text.len() - end);
    let start = run.text.len() - run.text.trim_start_matches(' ').len();
    run.text.drain(..start);
    run.cells -= end + start;
    run.column += start;
}

fn class(cell: &Cell) -> String {
    const NAMES: [&str; 8] = ["t", "red", "green", "yellow", "blue", "magenta", "cyan", "t"];
    let colour = match cell.fgcolor() {
        Color::Idx(8) => "dim",
        Color::Idx(index @ 0..16) => NAMES[usize::from(index % 8)],
        _ if cell.dim() => "dim",
        _ => "t",
    };
    let mut class = colour.to_owned();
    for (is, name) in [(cell.bold(), " b"), (cell.italic(), " i"), (cell.underline(), " u")] {
        class += if is { name } else { "" };
    }
    class
}

fn cursor(screen: &Screen) -> String {
    if screen.hide_cursor() {
        return String::new();
    }
    let (row, column) = screen.cursor_position();
    let x = tenths(MARGIN + usize::from(column) * CELL);
    let y = tenths(MARGIN + CAPTION + usize::from(row) * ROW + 20);
    let (width, height) = (tenths(CELL), tenths(ROW - 30));
    format!("<rect class=\"cursor\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n")
}

/// Text as XML accepts it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A number of tenths, as text.
fn tenths(count: usize) -> String {
    match count % 10 {
        0 => (count / 10).to_string(),
        rest => format!("{}.{rest}", count / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::super::film::Frame;
    use super::*;

    #[test]
    fn foreign_text_is_escaped_and_the_same_row_is_drawn_once() {
        let hostile = b"</text><script>alert('\"&')</script>\r\n\x1b[31mred\x1b[m  \x1b[7mback\x1b[m";
        let frames = vec![Frame::of(hostile, "a < b", 1_000), Frame::of(hostile, "c", 500)];
        let image = text(&Film { frames });
        assert!(!image.contains("<script"), "{image}");
        assert_eq!(image.matches("&lt;script&gt;").count(), 1);
        assert!(
            image.contains("a &lt; b") && image.contains("class=\"red\"") && image.contains("class=\"mark\"")
        );
        assert!(image.contains("66.666%{transform"), "{image}");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!((tenths(84), tenths(190), tenths(0)), ("8.4".to_owned(), "19".to_owned(), "0".to_owned()));
    }
}
