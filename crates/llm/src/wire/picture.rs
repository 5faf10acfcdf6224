//! Images as servers accept them. An image that a server refuses would stay in the conversation, and every
//! later request would fail: so an image known to be refused becomes a note.
//!
//! Only what the first bytes tell is checked. What cannot be read is sent: the server knows better.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::message::ImageContent;

/// Bytes of base64 that are searched for the size: more than the metadata before it in most files.
const HEAD: usize = 64 << 10;

/// What a server accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageLimits {
    /// As in `image/png`.
    pub kinds: &'static [&'static str],
    /// Most bytes of base64.
    pub bytes: usize,
    /// Most pixels in width or height.
    pub side: u32,
}

/// The note for an image that is refused; `None` if it is not.
pub(crate) fn refusal_note(image: &ImageContent, rules: &ImageLimits) -> Option<String> {
    let why = if !rules.kinds.contains(&image.mime_type.as_str()) {
        format!("of the kind {}", image.mime_type)
    } else if image.data.len() > rules.bytes {
        format!("of more than {} MB", rules.bytes >> 20)
    } else if picture_size(image).is_some_and(|(width, height)| width.max(height) > rules.side) {
        format!("of more than {} pixels", rules.side)
    } else {
        return None;
    };
    Some(format!("(a picture {why} was here, which this model cannot read)"))
}

/// Width and height, if the first bytes tell.
pub fn picture_size(image: &ImageContent) -> Option<(u32, u32)> {
    let text = image.data.as_bytes();
    let text = &text[..text.len().min(HEAD)];
    let bytes = BASE64.decode(&text[..text.len() / 4 * 4]).ok()?;
    let big = |at: usize| Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let little = |at: usize| Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let wide = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    match bytes.get(..4)? {
        b"\x89PNG" => Some((wide(16)?, wide(20)?)),
        b"GIF8" => Some((little(6)?, little(8)?)),
        b"RIFF" => match bytes.get(12..16)? {
            // One less than the value, in three bytes each.
            b"VP8X" => {
                let three = |at: usize| Some(little(at)? + (u32::from(*bytes.get(at + 2)?) << 16) + 1);
                Some((three(24)?, three(27)?))
            }
            b"VP8 " => Some((little(26)? & 0x3fff, little(28)? & 0x3fff)),
            b"VP8L" => {
                let bits = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
                Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
            }
            _ => None,
        },
        [0xff, 0xd8, ..] => {
            let mut at = 2;
            // From marker to marker, each with its length, until the one that begins a frame.
            while *bytes.get(at)? == 0xff {
                match *bytes.get(at + 1)? {
                    0xff => at += 1,
                    0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                        return Some((big(at + 7)?, big(at + 5)?));
                    }
                    _ => at += 2 + usize::try_from(big(at + 2)?).ok()?,
                }
            }
            None
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: ImageLimits =
        ImageLimits { kinds: &["image/png", "image/jpeg"], bytes: 5 << 20, side: 8000 };

    fn image(mime_type: &str, bytes: &[u8]) -> ImageContent {
        ImageContent { data: BASE64.encode(bytes), mime_type: mime_type.into() }
    }

    #[test]
    fn what_a_server_refuses_is_a_note_and_the_rest_goes() {
        assert_eq!(refusal_note(&image("image/png", b"no picture at all"), &RULES), None);
        assert!(refusal_note(&image("image/tiff", b""), &RULES).unwrap().contains("image/tiff"));
        let large = ImageContent { data: "A".repeat((5 << 20) + 1), mime_type: "image/png".into() };
        assert!(refusal_note(&large, &RULES).unwrap().contains("5 MB"));
        let wide = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x1f\x41\0\0\0\x01";
        assert!(refusal_note(&image("image/png", wide), &RULES).unwrap().contains("8000 pixels"));
    }

    #[test]
    fn the_size_is_read_from_the_first_bytes_of_every_kind() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\x03\x04";
        let gif = b"GIF89a\x02\x01\x04\x03";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x11\x08\x03\x04\x01\x02";
        let extended = b"RIFF....WEBPVP8X\x0a\0\0\0\0\0\0\0\x01\x01\0\x03\x03\0";
        let lossy = b"RIFF....WEBPVP8 \0\0\0\0...\x9d\x01\x2a\x02\x01\x04\x03";
        let lossless = b"RIFF....WEBPVP8L\0\0\0\0\x2f\x01\xc1\xc0\0";
        for bytes in [&png[..], gif, jpeg, extended, lossy, lossless] {
            assert_eq!(picture_size(&image("", bytes)), Some((0x102, 0x304)), "{bytes:?}");
        }
        for cut in 0..jpeg.len() {
            let _ = picture_size(&image("", &jpeg[..cut]));
        }
        assert_eq!(
            picture_size(&ImageContent { data: "\u{e4}\u{e4}!".into(), mime_type: String::new() }),
            None
        );
    }
}
