//! Reading bytes as text: which encodings are possible, and where the lines are.
//!
//! UTF-8 first, then UTF-16 by its mark or by an unmistakable pattern of NUL bytes. Any other NUL means
//! binary. The rest can only be guessed: every encoding of [`LEGACY`] that reads the bytes and writes them
//! back unchanged is offered.

use memchr::{memchr, memchr_iter};

use super::encoding::FileEncoding;
use super::{FileDecodeError, FileLineEnding, TextFile, TextFileLine, plausibility};

/// Tried for bytes that are neither UTF-8 nor UTF-16. The order decides between equally plausible ones.
pub(super) static LEGACY: &[&encoding_rs::Encoding] = &[
    encoding_rs::GB18030,
    encoding_rs::GBK,
    encoding_rs::SHIFT_JIS,
    encoding_rs::EUC_JP,
    encoding_rs::BIG5,
    encoding_rs::EUC_KR,
    encoding_rs::WINDOWS_1252,
    encoding_rs::WINDOWS_1251,
    encoding_rs::WINDOWS_1250,
    encoding_rs::WINDOWS_1254,
    encoding_rs::KOI8_R,
];

const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";
const UTF16LE_MARK: &[u8] = b"\xFF\xFE";
const UTF16BE_MARK: &[u8] = b"\xFE\xFF";

/// UTF-16 without a mark is accepted only from this many units on.
const UNMARKED_UNITS: usize = 4;

pub(super) fn candidates(bytes: &[u8]) -> Result<Vec<TextFile>, FileDecodeError> {
    if let Some(rest) = bytes.strip_prefix(UTF8_MARK) {
        let text = std::str::from_utf8(rest).map_err(|_| FileDecodeError::Broken("UTF-8"))?;
        return utf8(bytes, text, UTF8_MARK.len());
    }
    if bytes.starts_with(UTF16LE_MARK) {
        return marked_utf16(bytes, FileEncoding::Utf16Le);
    }
    if bytes.starts_with(UTF16BE_MARK) {
        return marked_utf16(bytes, FileEncoding::Utf16Be);
    }
    if memchr(0, bytes).is_some() {
        return unmarked_utf16(bytes).ok_or(FileDecodeError::Binary);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => utf8(bytes, text, 0),
        Err(_) => legacy(bytes),
    }
}

fn utf8(bytes: &[u8], text: &str, mark: usize) -> Result<Vec<TextFile>, FileDecodeError> {
    if memchr(0, text.as_bytes()).is_some() {
        return Err(FileDecodeError::Binary);
    }
    let text = text.to_owned();
    let mut lines = Vec::with_capacity(memchr_iter(b'\n', text.as_bytes()).count() + 1);
    lines.extend(cut_lines(text.as_bytes()).map(|cut| cut.to_line(cut.start + mark, cut.end + mark)));
    Ok(vec![new_text_file(FileEncoding::Utf8, true, bytes, mark, text, lines)])
}

fn marked_utf16(bytes: &[u8], encoding: FileEncoding) -> Result<Vec<TextFile>, FileDecodeError> {
    let text = utf16_text(&bytes[2..], encoding).ok_or(FileDecodeError::Broken(encoding.name()))?;
    if memchr(0, text.as_bytes()).is_some() {
        return Err(FileDecodeError::Binary);
    }
    Ok(vec![utf16(bytes, encoding, 2, text)])
}

/// UTF-16 without a mark: the NUL bytes are all on one side, in most units, and the result is text without
/// control characters.
fn unmarked_utf16(bytes: &[u8]) -> Option<Vec<TextFile>> {
    let units = bytes.len() / 2;
    if !bytes.len().is_multiple_of(2) || units < UNMARKED_UNITS {
        return None;
    }
    let at_even = memchr_iter(0, bytes).filter(|at| at % 2 == 0).count();
    let at_odd = memchr_iter(0, bytes).filter(|at| at % 2 == 1).count();
    let encoding = match (at_even, at_odd) {
        (0, nul) if nul * 2 > units => FileEncoding::Utf16Le,
        (nul, 0) if nul * 2 > units => FileEncoding::Utf16Be,
        _ => return None,
    };
    let text = utf16_text(bytes, encoding)?;
    (!text.chars().any(plausibility::is_binary_char)).then(|| vec![utf16(bytes, encoding, 0, text)])
}

fn utf16(bytes: &[u8], encoding: FileEncoding, mark: usize, text: String) -> TextFile {
    let mut at = mark;
    let lines = cut_lines(text.as_bytes())
        .map(|cut| {
            let start = at;
            let units = text[cut.start..cut.end].encode_utf16().count();
            let end = start + 2 * units;
            at = end + 2 * cut.eol.as_str().len();
            cut.to_line(start, end)
        })
        .collect();
    new_text_file(encoding, true, bytes, mark, text, lines)
}

fn utf16_text(bytes: &[u8], encoding: FileEncoding) -> Option<String> {
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    let unit = |pair: &[u8]| match encoding {
        FileEncoding::Utf16Be => u16::from_be_bytes([pair[0], pair[1]]),
        _ => u16::from_le_bytes([pair[0], pair[1]]),
    };
    let mut text = String::with_capacity(bytes.len() / 2);
    for c in char::decode_utf16(bytes.chunks_exact(2).map(unit)) {
        text.push(c.ok()?);
    }
    Some(text)
}

/// Every legacy encoding that reads `bytes` as text and writes the same bytes again.
fn legacy(bytes: &[u8]) -> Result<Vec<TextFile>, FileDecodeError> {
    if bytes.iter().any(|byte| byte.is_ascii() && plausibility::is_binary_char(char::from(*byte))) {
        return Err(FileDecodeError::Binary);
    }
    let mut found: Vec<(i64, TextFile)> = Vec::new();
    for encoding in LEGACY {
        let Some(text) = decode_if_reversible(encoding, bytes) else {
            continue;
        };
        if found.iter().any(|(_, other)| other.text == text) {
            continue;
        }
        if let Some(lines) = legacy_lines(&text, bytes) {
            let oddness = plausibility::oddness(encoding, &text);
            let encoding = FileEncoding::Legacy(encoding);
            found.push((oddness, new_text_file(encoding, false, bytes, 0, text, lines)));
        }
    }
    found.sort_by_key(|(oddness, _)| *oddness);
    if found.is_empty() {
        return Err(FileDecodeError::Unknown);
    }
    Ok(found.into_iter().map(|(_, source)| source).collect())
}

fn decode_if_reversible(encoding: &'static encoding_rs::Encoding, bytes: &[u8]) -> Option<String> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    if text.chars().any(plausibility::is_binary_char) {
        return None;
    }
    let (again, _, lossy) = encoding.encode(&text);
    (!lossy && *again == *bytes).then(|| text.into_owned())
}

/// Cuts text and bytes side by side. They have the same line endings in the same places, as no legacy
/// encoding uses the bytes of `\r` and `
/// ` for anything else; should that ever be untrue, the encoding is not offered.
fn legacy_lines(text: &str, bytes: &[u8]) -> Option<Vec<TextFileLine>> {
    let mut raw = cut_lines(bytes);
    let mut lines = Vec::new();
    for cut in cut_lines(text.as_bytes()) {
        let same = raw.next().filter(|raw| raw.eol == cut.eol)?;
        lines.push(cut.to_line(same.start, same.end));
    }
    raw.next().is_none().then_some(lines)
}

fn new_text_file(
    encoding: FileEncoding,
    certain: bool,
    bytes: &[u8],
    mark: usize,
    text: String,
    lines: Vec<TextFileLine>,
) -> TextFile {
    let usual = usual_ending(&lines);
    TextFile { encoding, certain, raw: bytes.to_vec(), bom_length: mark, text, lines, usual_ending: usual }
}

/// The most frequent ending; on a tie the one that comes first in the file.
fn usual_ending(lines: &[TextFileLine]) -> FileLineEnding {
    let mut counts = [0; 4];
    for line in lines {
        counts[line.eol as usize] += 1;
    }
    let mut best = (0, FileLineEnding::Lf);
    let first = lines.first().map_or(FileLineEnding::Lf, |line| line.eol);
    for eol in [first, FileLineEnding::Lf, FileLineEnding::CrLf, FileLineEnding::Cr] {
        if eol != FileLineEnding::None && counts[eol as usize] > best.0 {
            best = (counts[eol as usize], eol);
        }
    }
    best.1
}

/// A line as offsets into the bytes that were cut.
struct LineCut {
    start: usize,
    end: usize,
    eol: FileLineEnding,
}

impl LineCut {
    fn to_line(&self, raw_start: usize, raw_end: usize) -> TextFileLine {
        TextFileLine { text_start: self.start, text_end: self.end, raw_start, raw_end, eol: self.eol }
    }
}

/// Cuts ASCII-compatible bytes into lines: at `\n` and `\r\n`, or at `\r` if there is no `\n`.
fn cut_lines(bytes: &[u8]) -> impl Iterator<Item = LineCut> {
    let breaker = if memchr(b'\n', bytes).is_some() { b'\n' } else { b'\r' };
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let Some(length) = memchr(breaker, rest) else {
            let cut = LineCut { start, end: bytes.len(), eol: FileLineEnding::None };
            start = bytes.len();
            return Some(cut);
        };
        let at = start + length;
        let (end, eol) = match breaker {
            b'\r' => (at, FileLineEnding::Cr),
            _ if length > 0 && bytes[at - 1] == b'\r' => (at - 1, FileLineEnding::CrLf),
            _ => (at, FileLineEnding::Lf),
        };
        let cut = LineCut { start, end, eol };
        start = at + 1;
        Some(cut)
    })
}
