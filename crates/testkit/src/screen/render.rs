//! A screen in words.

use vt100::{Cell, Color, Parser, Screen};

/// Without trailing blanks and trailing empty rows.
pub(super) fn text(screen: &Screen) -> String {
    joined(rows(screen))
}

/// What scrolled off, and the screen.
pub(super) fn scrollback_text(parser: &mut Parser) -> String {
    let screen = parser.screen_mut();
    let columns = screen.size().1;
    screen.set_scrollback(usize::MAX);
    let above = screen.scrollback();
    let mut lines = Vec::new();
    for back in (1..=above).rev() {
        screen.set_scrollback(back);
        lines.extend(screen.rows(0, columns).next().map(|row| row.trim_end().to_owned()));
    }
    screen.set_scrollback(0);
    lines.extend(rows(screen));
    joined(lines)
}

/// Each run of cells with attributes in brackets that name them.
pub(super) fn coloured(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    joined((0..rows).map(|row| coloured_row(screen, row, columns)).collect())
}

fn rows(screen: &Screen) -> Vec<String> {
    let columns = screen.size().1;
    screen.rows(0, columns).map(|row| row.trim_end().to_owned()).collect()
}

fn joined(mut lines: Vec<String>) -> String {
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n")
}

fn coloured_row(screen: &Screen, row: u16, columns: u16) -> String {
    let cells: Vec<&Cell> = (0..columns)
        .filter_map(|column| screen.cell(row, column))
        .filter(|cell| !cell.is_wide_continuation())
        .collect();
    let blank = |cell: &&&Cell| cell.contents().trim().is_empty() && look(cell).is_empty();
    let used = cells.len() - cells.iter().rev().take_while(blank).count();
    let mut line = String::new();
    let mut current = String::new();
    for cell in &cells[..used] {
        let look = look(cell);
        if look != current {
            if !current.is_empty() {
                line.push_str("{/}");
            }
            if !look.is_empty() {
                line.push_str(&format!("{{{look}}}"));
            }
            current = look;
        }
        line.push_str(if cell.has_contents() { cell.contents() } else { " " });
    }
    if !current.is_empty() {
        line.push_str("{/}");
    }
    line
}

/// As in `bold green on blue`; empty for an ordinary cell.
fn look(cell: &Cell) -> String {
    let mut words = Vec::new();
    let attributes = [
        (cell.bold(), "bold"),
        (cell.dim(), "dim"),
        (cell.italic(), "italic"),
        (cell.underline(), "underline"),
        (cell.inverse(), "inverse"),
    ];
    words.extend(attributes.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned()));
    words.extend(colour(cell.fgcolor()));
    words.extend(colour(cell.bgcolor()).map(|colour| format!("on {colour}")));
    words.join(" ")
}

fn colour(colour: Color) -> Option<String> {
    const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
    match colour {
        Color::Default => None,
        Color::Idx(index @ 0..8) => Some(NAMES[usize::from(index)].to_owned()),
        Color::Idx(index @ 8..16) => Some(format!("bright-{}", NAMES[usize::from(index - 8)])),
        Color::Idx(index) => Some(format!("colour-{index}")),
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}
