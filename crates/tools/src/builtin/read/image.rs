//! Images, told by their first bytes and handed to the model as they are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use relaycode_llm::message::ImageContent;

/// Bytes of an image.
pub(super) const MAX_IMAGE_BYTES: u64 = 20 * 1024 * 1024;

/// The type of an image that models take; `None` if it is none.
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

pub(super) fn image_content(bytes: &[u8], mime_type: &str) -> ImageContent {
    ImageContent { data: STANDARD.encode(bytes), mime_type: mime_type.to_string() }
}

/// Width and height in pixels, of the kinds whose beginning says so.
pub(super) fn image_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let big = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let little = |at: usize| Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    match image_type(bytes)? {
        "image/png" => Some((big(16)?, big(20)?)),
        "image/gif" => Some((little(6)?, little(8)?)),
        "image/jpeg" => jpeg_size(bytes),
        _ => None,
    }
}

/// From the segment that begins a frame.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let short = |at: usize| Some(usize::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let mut at = 2;
    loop {
        let &[0xff, kind] = bytes.get(at..at + 2)? else { return None };
        // 0xc4, 0xc8 and 0xcc are tables and the like.
        if matches!(kind, 0xc0..=0xcf) && !matches!(kind, 0xc4 | 0xc8 | 0xcc) {
            return Some((u32::try_from(short(at + 7)?).ok()?, u32::try_from(short(at + 5)?).ok()?));
        }
        at += 2 + short(at + 2)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_image_is_read_from_its_beginning() {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 2, 128, 0, 0, 1, 224]].concat();
        assert_eq!(image_size(&png), Some((640, 480)));
        assert_eq!(image_size(b"GIF89a\x0a\0\x03\0"), Some((10, 3)));
        let jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 3, 9, 0xff, 0xc0, 0, 11, 8, 1, 224, 2, 128, 3];
        assert_eq!(image_size(&jpeg), Some((640, 480)));
        for cut in 0..png.len() {
            assert_eq!(image_size(&png[..cut]), None);
        }
        for cut in 0..15 {
            assert_eq!(image_size(&jpeg[..cut]), None);
        }
    }
}
