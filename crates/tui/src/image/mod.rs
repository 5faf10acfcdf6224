//! Pictures of the conversation: drawn by the terminal where it can, else a line that names them.
//!
//! A drawn picture is no line: it is a sequence of its own, with the line feeds that make room for it, to be written
//! where finished lines are written. Its data travels as base64 of a checked alphabet and of bounded size.

use relaycode_llm::message::ImageContent;
use relaycode_llm::wire::picture_size;

use crate::human_size;
use crate::notify::TerminalEnv;
use crate::theme::{SymbolKey, ThemeStyle, ThemeToken};

/// Most characters of base64 that are handed to a terminal.
const DATA_BYTES: usize = 4 << 20;
/// Most pixels in width or height.
const SIDE: u32 = 10_000;
/// kitty takes a picture in pieces of so many bytes.
const KITTY_PIECE: usize = 4_096;
/// Largest picture in cells.
const COLUMNS: u32 = 80;
const ROWS: u32 = 24;
/// Pixels of a cell where the terminal has not said.
const USUAL_CELL: (u32, u32) = (9, 18);
/// Cells for the name.
const NAME_CELLS: usize = 60;

/// How a terminal is told to draw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ImageProtocol {
    #[default]
    None,
    /// Graphics protocol of kitty: PNG only.
    Kitty,
    /// Inline images of iTerm2.
    ITerm2,
}

impl ImageProtocol {
    /// By what the environment says of the terminal. Inside tmux or screen there are no pictures: they would not know
    /// where one is when they draw again.
    pub fn of_terminal(around: &TerminalEnv) -> ImageProtocol {
        let term = around.term.as_deref().unwrap_or_default();
        let program = around.term_program.as_deref().unwrap_or_default();
        if !around.terminal || around.multiplexer().is_some() {
            return ImageProtocol::None;
        }
        if program == "iTerm.app" || around.lc_terminal.as_deref() == Some("iTerm2") || program == "WezTerm" {
            return ImageProtocol::ITerm2;
        }
        let kitty = around.kitty_window_id.is_some() || term.contains("kitty") || term.contains("ghostty");
        if kitty || program == "ghostty" {
            return ImageProtocol::Kitty;
        }
        ImageProtocol::None
    }
}

/// What the terminal can draw, and on what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImageCanvas {
    pub protocol: ImageProtocol,
    /// Cells that are free.
    pub width: usize,
    pub height: usize,
    /// Pixels of a cell, if the terminal said.
    pub cell: Option<(u32, u32)>,
}

/// A picture as it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineImage {
    /// `image name.png 640×480, 12 kB`: always there, above what is drawn.
    pub line: String,
    pub drawing: Option<ImageDrawing>,
}

/// What a terminal draws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageDrawing {
    /// Written at the beginning of an empty line; ends at the beginning of the line below the picture.
    pub sequence: String,
    /// Lines that it takes.
    pub rows: usize,
}

impl InlineImage {
    pub fn new(name: &str, image: &ImageContent, canvas: &ImageCanvas, style: &ThemeStyle) -> InlineImage {
        let size = picture_size(image).filter(|(width, height)| *width > 0 && *height > 0);
        InlineImage {
            line: name_line(name, image, size, canvas.width, style),
            drawing: size.and_then(|size| drawing(image, size, canvas)),
        }
    }
}

fn name_line(
    name: &str,
    image: &ImageContent,
    size: Option<(u32, u32)>,
    width: usize,
    style: &ThemeStyle,
) -> String {
    let by = if style.output.utf8 { "×" } else { "x" };
    let size = size.map(|(width, height)| format!(" {width}{by}{height},")).unwrap_or_default();
    // Three bytes are four characters.
    let bytes = human_size(image.data.trim_end_matches('=').len() / 4 * 3);
    let name = style.output.path(name, NAME_CELLS);
    let sign = style.symbol(SymbolKey::Image);
    let sign = if sign == "image" { String::new() } else { format!("{sign} ") };
    let line = format!("{sign}image {name}{size} {bytes}");
    let line = match width {
        0 => line,
        width => style.output.clip(&line, width),
    };
    style.paint(ThemeToken::Muted, &line)
}

fn drawing(image: &ImageContent, size: (u32, u32), canvas: &ImageCanvas) -> Option<ImageDrawing> {
    let alphabet = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let data = &image.data;
    if data.len() > DATA_BYTES || size.0.max(size.1) > SIDE || !data.bytes().all(alphabet) {
        return None;
    }
    let (columns, rows) = cells_of(size, canvas)?;
    let draw = match canvas.protocol {
        ImageProtocol::Kitty if data.starts_with(PNG_HEAD) => kitty(data, columns, rows),
        ImageProtocol::ITerm2 if data.starts_with(PNG_HEAD) || data.starts_with(JPEG_HEAD) => {
            iterm(data, columns, rows)
        }
        _ => return None,
    };
    // Room first, so that a picture at the end of the screen moves up with the text.
    let room = "\r\n".repeat(usize::try_from(rows).ok()?);
    let sequence = format!("{room}\x1b[{rows}A{draw}\x1b[{rows}B\r");
    Some(ImageDrawing { sequence, rows: usize::try_from(rows).ok()? })
}

/// The first bytes of the two formats, as base64.
const PNG_HEAD: &str = "iVBORw0KGgo";
const JPEG_HEAD: &str = "/9j/";

/// Columns and rows: as large as it is, but no larger than the room, with the proportions kept.
fn cells_of((width, height): (u32, u32), canvas: &ImageCanvas) -> Option<(u32, u32)> {
    let (cell_width, cell_height) = canvas.cell.filter(|cell| cell.0 > 0 && cell.1 > 0).unwrap_or(USUAL_CELL);
    let room = |cells: usize, most: u32| u32::try_from(cells).unwrap_or(most).min(most);
    let (most_columns, most_rows) = (room(canvas.width, COLUMNS), room(canvas.height, ROWS));
    if most_columns < 2 || most_rows < 1 {
        return None;
    }
    let mut columns = width.div_ceil(cell_width).clamp(1, most_columns);
    let rows_for = |columns: u32| {
        let pixels = u64::from(columns) * u64::from(cell_width) * u64::from(height);
        let rows = pixels.div_ceil(u64::from(width) * u64::from(cell_height));
        u32::try_from(rows).unwrap_or(u32::MAX).max(1)
    };
    if rows_for(columns) > most_rows {
        let pixels = u64::from(most_rows) * u64::from(cell_height) * u64::from(width);
        let fitting = pixels / (u64::from(height) * u64::from(cell_width));
        columns = u32::try_from(fitting).unwrap_or(1).clamp(1, most_columns);
    }
    Some((columns, rows_for(columns).min(most_rows)))
}

fn kitty(data: &str, columns: u32, rows: u32) -> String {
    let mut out = String::with_capacity(data.len() + data.len() / KITTY_PIECE * 16 + 64);
    let mut rest = data;
    let mut lead = format!("a=T,f=100,q=2,C=1,c={columns},r={rows},");
    loop {
        let (piece, behind) = rest.split_at(rest.len().min(KITTY_PIECE));
        let more = u8::from(!behind.is_empty());
        out.push_str(&format!("\x1b_G{lead}m={more};{piece}\x1b\\"));
        if behind.is_empty() {
            return out;
        }
        rest = behind;
        lead.clear();
    }
}

fn iterm(data: &str, columns: u32, rows: u32) -> String {
    format!(
        "\x1b]1337;File=inline=1;width={columns};height={rows};preserveAspectRatio=1;doNotMoveCursor=1:{data}\x07"
    )
}

#[cfg(test)]
mod tests;
