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
