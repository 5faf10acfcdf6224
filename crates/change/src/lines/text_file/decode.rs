//! Reading bytes as text: which encodings are possible, and where the lines are.
//!
//! UTF-8 first, then UTF-16 by its mark or by an unmistakable pattern of NUL bytes. Any other NUL means
//! binary. The rest can only be guessed: every encoding of [`LEGACY`] that reads the bytes and writes them
//! back unchanged is offered.

use std::ops::Range;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use memchr::{memchr, memchr_iter, memchr2};

use super::{FileDecodeError, FileLineEnding, TextFile, TextFileLine, plausibility};

/// Tried for bytes that are neither UTF-8 nor UTF-16. The order decides between equally plausible ones.
pub(super) static LEGACY: &[&Encoding] = &[
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

/// UTF-16 without a mark is accepted only from this many units on.
const UNMARKED_UNITS: usize = 4;

impl TextFile {
    /// The ways to read `bytes` as text, most plausible first; never empty. UTF-8 and UTF-16 give exactly
    /// one. Anything else gives every known encoding that reads the bytes and writes them back unchanged,
    /// and none of those is certain.
    ///
    /// # Errors
    /// [`FileDecodeError`] if the bytes are not text in any of them.
    pub fn decode_candidates(bytes: &[u8]) -> Result<Vec<TextFile>, FileDecodeError> {
        if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
            let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes[mark..]);
            let text = text.ok_or(FileDecodeError::Broken(encoding.name()))?.into_owned();
            let binary = memchr(0, text.as_bytes()).is_some();
            return if binary {
                Err(FileDecodeError::Binary)
            } else {
                Ok(vec![unicode(bytes, encoding, mark, text)])
            };
        }
        if memchr(0, bytes).is_some() {
            return unmarked_utf16(bytes).ok_or(FileDecodeError::Binary);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(vec![unicode(bytes, UTF_8, 0, text.to_owned())]),
            Err(_) => legacy(bytes),
        }
    }
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
        (0, nul) if nul * 2 > units => UTF_16LE,
        (nul, 0) if nul * 2 > units => UTF_16BE,
        _ => return None,
    };
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?.into_owned();
    (!text.chars().any(plausibility::is_binary_char)).then(|| vec![unicode(bytes, encoding, 0, text)])
}

/// UTF-8 or UTF-16.
fn unicode(bytes: &[u8], encoding: &'static Encoding, mark: usize, text: String) -> TextFile {
    let size = |text: &str| if encoding == UTF_8 { text.len() } else { 2 * text.encode_utf16().count() };
    let mut at = mark;
    let mut lines = Vec::with_capacity(memchr_iter(b'\n', text.as_bytes()).count() + 1);
    lines.extend(cut_lines(text.as_bytes()).map(|line| {
        let raw = at..at + size(&text[line.text.clone()]);
        at = raw.end + size(line.eol.as_str());
        TextFileLine { raw, ..line }
    }));
    TextFile { certain: true, bom_length: mark, ..new_text_file(encoding, bytes, text, lines) }
}

/// Every legacy encoding that reads `bytes` as text and writes the same bytes again.
fn legacy(bytes: &[u8]) -> Result<Vec<TextFile>, FileDecodeError> {
    if bytes.iter().any(|byte| byte.is_ascii() && plausibility::is_binary_char(char::from(*byte))) {
        return Err(FileDecodeError::Binary);
    }
    let mut found: Vec<(i64, TextFile)> = Vec::new();
    for encoding in LEGACY {
        let Some(text) = decode_if_reversible(encoding, bytes) else { continue };
        if found.iter().any(|(_, other)| other.text == text) {
            continue;
        }
        if let Some(lines) = legacy_lines(&text, bytes) {
            let oddness = plausibility::oddness(encoding, &text);
            found.push((oddness, new_text_file(encoding, bytes, text, lines)));
        }
    }
    found.sort_by_key(|(oddness, _)| *oddness);
    if found.is_empty() {
        return Err(FileDecodeError::Unknown);
    }
    Ok(found.into_iter().map(|(_, source)| source).collect())
}

fn decode_if_reversible(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    if text.chars().any(plausibility::is_binary_char) {
        return None;
    }
    let (again, _, lossy) = encoding.encode(&text);
    (!lossy && *again == *bytes).then(|| text.into_owned())
}

/// Cuts text and bytes side by side. They have the same line endings in the same places, as no legacy
/// encoding uses the bytes of `\r` and `\n` for anything else; should that ever be untrue, the encoding is
/// not offered.
fn legacy_lines(text: &str, bytes: &[u8]) -> Option<Vec<TextFileLine>> {
    let mut raw = cut_lines(bytes);
    let mut lines = Vec::new();
    for line in cut_lines(text.as_bytes()) {
        let same = raw.next().filter(|raw| raw.eol == line.eol)?;
        lines.push(TextFileLine { raw: same.text, ..line });
    }
    raw.next().is_none().then_some(lines)
}

fn new_text_file(
    encoding: &'static Encoding,
    bytes: &[u8],
    text: String,
    lines: Vec<TextFileLine>,
) -> TextFile {
    let usual_ending = usual_ending(&lines);
    TextFile { encoding, certain: false, raw: bytes.to_vec(), bom_length: 0, text, lines, usual_ending }
}

/// The most frequent ending; on a tie the one that comes first in the file.
fn usual_ending(lines: &[TextFileLine]) -> FileLineEnding {
    let mut counts = [0; 4];
    for line in lines {
        counts[line.eol as usize] += 1;
    }
    let first = lines.first().map_or(FileLineEnding::Lf, |line| line.eol);
    let endings = [FileLineEnding::Cr, FileLineEnding::CrLf, FileLineEnding::Lf, first];
    let known = endings.into_iter().filter(|eol| *eol != FileLineEnding::None);
    known.max_by_key(|eol| counts[*eol as usize]).unwrap_or(FileLineEnding::Lf)
}

/// The lines of ASCII-compatible bytes, with their endings. The offsets are those of the bytes.
fn cut_lines(bytes: &[u8]) -> impl Iterator<Item = TextFileLine> {
    let returns = returns_end_lines(bytes);
    ranges(bytes, returns).map(move |line| {
        let eol = match &bytes[line.clone()] {
            [.., b'\r', b'\n'] => FileLineEnding::CrLf,
            [.., b'\n'] => FileLineEnding::Lf,
            [.., b'\r'] if returns => FileLineEnding::Cr,
            _ => FileLineEnding::None,
        };
        let text = line.start..line.end - eol.as_str().len();
        TextFileLine { raw: text.clone(), text, eol }
    })
}

/// Where the lines of ASCII-compatible bytes are, each with its ending: `\n`, `\r\n`, or a `\r` alone where that ends
/// lines.
pub(crate) fn line_ranges(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    ranges(bytes, returns_end_lines(bytes))
}

fn ranges(bytes: &[u8], returns: bool) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let end = match returns {
            false => memchr(b'\n', rest),
            true => memchr2(b'\n', b'\r', rest).map(|at| at + usize::from(rest[at..].starts_with(b"\r\n"))),
        };
        let line = start..end.map_or(bytes.len(), |at| start + at + 1);
        start = line.end;
        Some(line)
    })
}

/// A file that mixes endings has more than one lone `\r` for so many `\n`. With fewer they are characters of a line.
const FEEDS_PER_RETURN: usize = 4;

/// Whether a `\r` alone ends a line: there is no `\n`, or the file visibly mixes both. One that is doubled before a
/// `\n` is a damaged `\r\n`.
pub(crate) fn returns_end_lines(bytes: &[u8]) -> bool {
    let doubled = |at: usize| bytes.get(at.wrapping_sub(1)) == Some(&b'\r');
    let is_lone = |at: &usize| !matches!(bytes.get(at + 1), Some(b'\n' | b'\r')) && !doubled(*at);
    let Some(first) = memchr(b'\r', bytes) else { return false };
    if memchr(b'\n', bytes).is_none() {
        return true;
    }
    let (returns, feeds) = (memchr_iter(b'\r', bytes).count(), memchr_iter(b'\n', bytes).count());
    if returns * FEEDS_PER_RETURN <= feeds || returns == count_pairs(&bytes[first..]) {
        return false;
    }
    let lone = memchr_iter(b'\r', &bytes[first..]).map(|at| first + at).filter(is_lone).count();
    lone * FEEDS_PER_RETURN > feeds
}

/// How often a `\r` stands before a `\n`. Most files with a `\r` have one in every line, so this has no branches, and
/// counts in bytes, of which many fit into a register.
fn count_pairs(bytes: &[u8]) -> usize {
    const MOST: usize = u8::MAX as usize;
    let next = bytes.get(1..).unwrap_or_default();
    let in_chunk = |(these, next): (&[u8], &[u8])| {
        let pairs = these.iter().zip(next).map(|(one, other)| u8::from((*one == b'\r') & (*other == b'\n')));
        usize::from(pairs.sum::<u8>())
    };
    bytes.chunks(MOST).zip(next.chunks(MOST)).map(in_chunk).sum()
}
