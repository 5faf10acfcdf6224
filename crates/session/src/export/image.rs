//! Which images a page may hold: their type is read from their bytes, never from what the session says.
//!
//! Only formats that hold a picture and nothing else. SVG is a document with scripts and links, so it is
//! not among them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::MAX_IMAGE;

/// Enough characters of base64 to recognise any of the formats.
const HEAD: usize = 24;

/// How a session refers to an image kept elsewhere.
const REFERENCE: &str = "blob:";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct EmbeddableImage<'a> {
    /// As found in its bytes.
    pub(super) mime: &'static str,
    /// Only characters of the base64 alphabet.
    pub(super) data: &'a str,
}

/// The image, or why it is not shown.
pub(super) fn check_image(data: &str) -> Result<EmbeddableImage<'_>, &'static str> {
    if data.is_empty() || data.starts_with(REFERENCE) {
        return Err("its data is missing");
    }
    if data.len() > MAX_IMAGE {
        return Err("it is too large");
    }
    let inner = data.trim_end_matches('=');
    let alphabet = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if !data.len().is_multiple_of(4) || data.len() - inner.len() > 2 || !inner.as_bytes().iter().all(alphabet)
    {
        return Err("its data is not base64");
    }
    let head = STANDARD.decode(&data[..data.len().min(HEAD)]).unwrap_or_default();
    match sniff_mime(&head) {
        Some(mime) => Ok(EmbeddableImage { mime, data }),
        None => Err("it is not PNG, JPEG, GIF or WebP"),
    }
}

fn sniff_mime(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pictures_pass_whatever_they_call_themselves() {
        let gif = STANDARD.encode(b"GIF89a\x01\0\x01\0\0\0\0,");
        assert_eq!(check_image(&gif).map(|image| image.mime), Ok("image/gif"));
        let png = STANDARD.encode(b"\x89PNG\r\n\x1a\nrest");
        assert_eq!(check_image(&png).map(|image| image.mime), Ok("image/png"));
        for refused in [
            STANDARD.encode("<svg onload=alert(1)>"),
            String::new(),
            "blob:sha256:00".into(),
            format!("{gif}\"><script>"),
            gif.trim_end_matches('=').to_owned(),
            "====".into(),
            "R0lGODlh\n".into(),
        ] {
            assert!(check_image(&refused).is_err(), "{refused}");
        }
    }
}
