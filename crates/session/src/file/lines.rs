//! The lines of a file one by one, never holding more than one line of it.
//!
//! Invariant: memory is bounded by [`MAX_LINE_BYTES`] and a piece, whatever the file holds; of a longer
//! line only its position is reported.

use std::io;

/// Longest line that is read.
pub(crate) const MAX_LINE_BYTES: usize = 64 << 20;

/// Bytes per read.
pub(crate) const PIECE: usize = 1 << 20;

/// A line, or the rest after the last line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileLine<'a> {
    pub(crate) offset: u64,
    /// Without its line end, in bytes.
    pub(crate) len: u64,
    pub(crate) ended: bool,
    /// Without the line end; `None` if it is too long.
    pub(crate) bytes: Option<&'a [u8]>,
}

/// Reads at most that many bytes at an offset.
pub(crate) type ReadAtFn<'r> = dyn FnMut(u64, usize) -> io::Result<Vec<u8>> + 'r;

/// Visits every line between two offsets. If the file became shorter meanwhile, it ends there.
pub(crate) fn for_each_line(
    read: &mut ReadAtFn<'_>,
    from: u64,
    to: u64,
    most: usize,
    see: &mut dyn FnMut(FileLine<'_>) -> io::Result<()>,
) -> io::Result<()> {
    // The line that began at `start` and has no end yet: its bytes, or only its length once it is too long.
    let (mut start, mut at) = (from, from);
    let mut held: Vec<u8> = Vec::new();
    let mut long = false;
    while at < to {
        let want = usize::try_from(to - at).unwrap_or(usize::MAX).min(PIECE);
        let piece = read(at, want)?;
        if piece.is_empty() {
            break;
        }
        let mut rest = &piece[..];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, behind) = (&rest[..end], &rest[end + 1..]);
            let len = (at - start) + line.len() as u64;
            let bytes = if long || len > most as u64 {
                None
            } else if held.is_empty() {
                Some(line)
            } else {
                held.extend_from_slice(line);
                Some(&held[..])
            };
            see(FileLine { offset: start, len, ended: true, bytes })?;
            held.clear();
            // Give back the memory of an unusually long line.
            held.shrink_to(4 * PIECE);
            long = false;
            at += line.len() as u64 + 1;
            start = at;
            rest = behind;
        }
        at += rest.len() as u64;
        long = long || (at - start) > most as u64;
        if long {
            held = Vec::new();
        } else {
            held.extend_from_slice(rest);
        }
    }
    if at > start {
        let bytes = (!long).then_some(&held[..]);
        see(FileLine { offset: start, len: at - start, ended: false, bytes })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], most: usize, piece: usize) -> Vec<(u64, u64, bool, Option<Vec<u8>>)> {
        let mut seen = Vec::new();
        let mut read = |from: u64, want: usize| {
            let from = usize::try_from(from).unwrap().min(text.len());
            Ok(text[from..(from + want.min(piece)).min(text.len())].to_vec())
        };
        for_each_line(&mut read, 0, text.len() as u64, most, &mut |line| {
            seen.push((line.offset, line.len, line.ended, line.bytes.map(<[u8]>::to_vec)));
            Ok(())
        })
        .unwrap();
        seen
    }

    #[test]
    fn lines_are_the_same_however_the_file_is_read() {
        let text = b"one\n\nthree and more\nabcdefghijklmnopqrstuvwxyz\nlast";
        let whole = lines(text, 20, 1000);
        assert_eq!(whole.len(), 5);
        assert_eq!(whole[0], (0, 3, true, Some(b"one".to_vec())));
        assert_eq!(whole[3], (20, 26, true, None));
        assert_eq!(whole[4], (47, 4, false, Some(b"last".to_vec())));
        for piece in 1..60 {
            assert_eq!(lines(text, 20, piece), whole, "{piece} bytes at a time");
        }
    }

    #[test]
    fn a_long_rest_without_a_line_end_is_not_held() {
        assert_eq!(lines(b"ab\nabcdefgh", 4, 3)[1], (3, 8, false, None));
        assert_eq!(lines(b"", 4, 3), []);
    }
}
