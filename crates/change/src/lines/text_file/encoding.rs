//! Encodes text in a file's encoding. Nothing is ever replaced by a look-alike: a character that would not
//! be read back as itself is an error that names it.
//!
//! An encoding is UTF-8, UTF-16 or one of [`super::decode::LEGACY`]: stateless, ASCII means itself, and a
//! byte below 0x30 is never part of another character (so that lines can be cut in the bytes).

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::FileEncodeError;

/// Appends `text` to `out`.
pub(super) fn write(
    encoding: &'static Encoding,
    text: &str,
    out: &mut Vec<u8>,
) -> Result<(), FileEncodeError> {
    if text.is_ascii() || [UTF_8, UTF_16LE, UTF_16BE].contains(&encoding) {
        write_unicode(encoding, text, out);
        return Ok(());
    }
    let bytes = encode_faithfully(encoding, text).ok_or_else(|| find_unencodable(encoding, text))?;
    out.extend_from_slice(&bytes);
    Ok(())
}

/// Appends ASCII text (line endings), which every encoding here can express.
pub(super) fn write_ascii(encoding: &'static Encoding, text: &str, out: &mut Vec<u8>) {
    debug_assert!(text.is_ascii());
    write_unicode(encoding, text, out);
}

fn write_unicode(encoding: &'static Encoding, text: &str, out: &mut Vec<u8>) {
    if encoding == UTF_16LE {
        out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    } else if encoding == UTF_16BE {
        out.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

/// The first character that cannot be written.
fn find_unencodable(legacy: &'static Encoding, text: &str) -> FileEncodeError {
    let lost = |c: &char| encode_faithfully(legacy, c.encode_utf8(&mut [0; 4])).is_none();
    // If every character works alone but the text does not, no single one is to blame; the first
    // non-ASCII one represents them.
    let found = text.chars().find(lost).or_else(|| text.chars().find(|c| !c.is_ascii()));
    let character = found.unwrap_or(char::REPLACEMENT_CHARACTER);
    FileEncodeError::Character { character, encoding: legacy.name() }
}

/// `text` in a legacy encoding, if reading that gives `text` again. (Some encoders map characters
/// to similar ones: `¥` becomes a backslash in Shift_JIS.)
fn encode_faithfully(legacy: &'static Encoding, text: &str) -> Option<Vec<u8>> {
    let (bytes, _, lossy) = legacy.encode(text);
    if lossy {
        return None;
    }
    let read = legacy.decode_without_bom_handling_and_without_replacement(&bytes)?;
    (read == text).then(|| bytes.into_owned())
}
