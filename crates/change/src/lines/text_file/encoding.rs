//! Encodes text in a file's encoding. Nothing is ever replaced by a look-alike: a character that would not
//! be read back as itself is an error that names it.

use super::FileEncodeError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileEncoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// One of [`super::decode::LEGACY`]: stateless, ASCII means itself, and a byte below 0x30 is
    /// never part of another character (so that lines can be cut in the bytes).
    Legacy(&'static encoding_rs::Encoding),
}

impl FileEncoding {
    pub(super) fn name(self) -> &'static str {
        match self {
            FileEncoding::Utf8 => "UTF-8",
            FileEncoding::Utf16Le => "UTF-16LE",
            FileEncoding::Utf16Be => "UTF-16BE",
            FileEncoding::Legacy(legacy) => legacy.name(),
        }
    }

    /// Appends `text` to `out`.
    pub(super) fn write(self, text: &str, out: &mut Vec<u8>) -> Result<(), FileEncodeError> {
        let FileEncoding::Legacy(legacy) = self else {
            self.write_unicode(text, out);
            return Ok(());
        };
        if text.is_ascii() {
            out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        match encode_faithfully(legacy, text) {
            Some(bytes) => {
                out.extend_from_slice(&bytes);
                Ok(())
            }
            None => Err(self.find_unencodable(legacy, text)),
        }
    }

    /// Appends ASCII text (line endings), which every encoding here can express.
    pub(super) fn write_ascii(self, text: &str, out: &mut Vec<u8>) {
        debug_assert!(text.is_ascii());
        self.write_unicode(text, out);
    }

    fn write_unicode(self, text: &str, out: &mut Vec<u8>) {
        match self {
            FileEncoding::Utf8 | FileEncoding::Legacy(_) => out.extend_from_slice(text.as_bytes()),
            FileEncoding::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            FileEncoding::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
        }
    }

    /// The first character that cannot be written.
    fn find_unencodable(self, legacy: &'static encoding_rs::Encoding, text: &str) -> FileEncodeError {
        let lost = |c: &char| encode_faithfully(legacy, c.encode_utf8(&mut [0; 4])).is_none();
        // If every character works alone but the text does not, no single one is to blame; the first
        // non-ASCII one represents them.
        let character = text
            .chars()
            .find(lost)
            .or_else(|| text.chars().find(|c| !c.is_ascii()))
            .unwrap_or(char::REPLACEMENT_CHARACTER);
        FileEncodeError::Character { character, encoding: self.name() }
    }
}

/// `text` in a legacy encoding, if reading that gives `text` again. (Some encoders map characters
/// to similar ones: `¥` becomes a backslash in Shift_JIS.)
fn encode_faithfully(legacy: &'static encoding_rs::Encoding, text: &str) -> Option<Vec<u8>> {
    let (bytes, _, lossy) = legacy.encode(text);
    if lossy {
        return None;
    }
    let read = legacy.decode_without_bom_handling_and_without_replacement(&bytes)?;
    (read == text).then(|| bytes.into_owned())
}
