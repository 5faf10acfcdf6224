//! Pictures by the terminal, or by name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::OutputStyle;

const OUTPUT: OutputStyle = OutputStyle { color: false, utf8: true, width: None };

fn png(width: u32, height: u32, bytes: usize) -> ImageContent {
    let mut data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    data.extend(width.to_be_bytes());
    data.extend(height.to_be_bytes());
    data.resize(bytes.max(data.len()), 0);
    ImageContent { data: STANDARD.encode(data), mime_type: "image/png".into() }
}

fn jpeg() -> ImageContent {
    let data = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x11\x08\0\x64\0\xc8";
    ImageContent { data: STANDARD.encode(data), mime_type: "image/jpeg".into() }
}

fn canvas(protocol: ImageProtocol) -> ImageCanvas {
    ImageCanvas { protocol, width: 78, height: 40, cell: Some((10, 20)) }
}

fn shown(image: &ImageContent, protocol: ImageProtocol) -> InlineImage {
    InlineImage::new("shots/a.png", image, &canvas(protocol), &ThemeStyle::plain(OUTPUT))
}

fn around(pairs: &[(&str, &str)]) -> TerminalEnv {
    let find = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string());
    TerminalEnv::from_lookup(find, true, true)
}

#[test]
fn a_terminal_without_pictures_gets_a_line() {
    let image = shown(&png(640, 480, 12_000), ImageProtocol::None);
    assert_eq!(image.line, "▣ image shots/a.png 640×480, 12 kB");
    assert_eq!(image.drawing, None);
    let ascii = ThemeStyle::plain(OutputStyle { utf8: false, ..OUTPUT });
    let image = InlineImage::new("a.png", &png(640, 480, 12_000), &canvas(ImageProtocol::None), &ascii);
    assert_eq!(image.line, "image a.png 640x480, 12 kB");
}

#[test]
fn the_protocol_follows_from_the_environment() {
    let protocol = |pairs| ImageProtocol::of_terminal(&around(pairs));
    assert_eq!(protocol(&[("TERM", "xterm-kitty")]), ImageProtocol::Kitty);
    assert_eq!(protocol(&[("TERM", "xterm-ghostty")]), ImageProtocol::Kitty);
    assert_eq!(protocol(&[("TERM_PROGRAM", "iTerm.app")]), ImageProtocol::ITerm2);
    assert_eq!(protocol(&[("TERM", "xterm-256color")]), ImageProtocol::None);
    assert_eq!(protocol(&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/x")]), ImageProtocol::None);
    assert_eq!(protocol(&[("TERM", "screen-256color"), ("KITTY_WINDOW_ID", "1")]), ImageProtocol::None);
}

#[test]
fn kitty_gets_a_png_in_pieces_and_its_room_first() {
    let image = shown(&png(200, 100, 5_000), ImageProtocol::Kitty);
    let drawing = image.drawing.unwrap();
    assert_eq!(drawing.rows, 5);
    assert!(
        drawing.sequence.starts_with("\r\n\r\n\r\n\r\n\r\n\x1b[5A\x1b_Ga=T,f=100,q=2,C=1,c=20,r=5,m=1;iVBO")
    );
    assert!(drawing.sequence.ends_with("\x1b\\\x1b[5B\r"));
    assert_eq!(drawing.sequence.matches("\x1b_G").count(), 2);
    assert!(drawing.sequence.split("\x1b_G").all(|piece| piece.len() <= KITTY_PIECE + 64));
}

#[test]
fn iterm_gets_png_and_jpeg_and_kitty_no_jpeg() {
    let drawing = shown(&jpeg(), ImageProtocol::ITerm2).drawing.unwrap();
    assert!(drawing.sequence.contains("\x1b]1337;File=inline=1;width=20;height=5;"), "{drawing:?}");
    assert_eq!(shown(&jpeg(), ImageProtocol::Kitty).drawing, None);
}

#[test]
fn a_large_picture_keeps_its_proportions_within_the_room() {
    assert_eq!(cells_of((4_000, 1_000), &canvas(ImageProtocol::Kitty)), Some((78, 10)));
    assert_eq!(cells_of((1_000, 4_000), &canvas(ImageProtocol::Kitty)), Some((12, 24)));
    assert_eq!(cells_of((1, 10_000), &canvas(ImageProtocol::Kitty)), Some((1, 24)));
    let narrow = ImageCanvas { width: 1, ..canvas(ImageProtocol::Kitty) };
    assert_eq!(cells_of((100, 100), &narrow), None);
}

#[test]
fn what_could_leave_its_sequence_is_named_only() {
    let mut image = png(64, 64, 100);
    image.data.push_str("\x1b\\\x1b[2J");
    assert_eq!(shown(&image, ImageProtocol::Kitty).drawing, None);
    assert_eq!(shown(&png(64, 64, DATA_BYTES), ImageProtocol::Kitty).drawing, None);
    assert_eq!(shown(&png(20_000, 64, 100), ImageProtocol::Kitty).drawing, None);
    let name = InlineImage::new(
        "a\x1b[2Jb\u{202e}.png",
        &png(1, 1, 40),
        &canvas(ImageProtocol::None),
        &ThemeStyle::plain(OUTPUT),
    );
    assert_eq!(name.line, "▣ image a\\u{1b}[2Jb\\u{202e}.png 1×1, 39 bytes");
}
