//! A paragraph that is not complete: what is open in it is closed, so that it looks as it most likely will. Only for the
//! part that is drawn again; what is finished is never guessed.

/// Source whose open emphasis, code and link are closed.
pub(super) fn close_inline(source: &str) -> String {
    let mut out = source.trim_end().to_owned();
    let bytes = source.as_bytes();
    // The signs that are open, from the outside.
    let mut open: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let run = |sign: u8| bytes[at..].iter().take_while(|byte| **byte == sign).count();
        match bytes[at] {
            b'\\' => at += 2,
            b'`' => {
                let length = run(b'`');
                let close = &source[at..at + length];
                match source[at + length..].find(close) {
                    Some(end) => at += length + end + length,
                    None if at + length == bytes.len() => {
                        out.truncate(at);
                        at = bytes.len();
                    }
                    None => {
                        open.push(close);
                        at = bytes.len();
                    }
                }
            }
            sign @ (b'*' | b'~') => {
                let length = run(sign);
                let end = at + length;
                let mark = match (sign, length) {
                    (b'*', 1) => "*",
                    (b'*', 2) => "**",
                    (b'~', 2) => "~~",
                    _ => "",
                };
                let before = at.checked_sub(1).map(|at| bytes[at]);
                let opens = bytes.get(end).is_some_and(|byte| !byte.is_ascii_whitespace());
                let closes = before.is_some_and(|byte| !byte.is_ascii_whitespace());
                if end == bytes.len() && open.last() != Some(&mark) {
                    // Half a sign, or one with nothing behind it yet.
                    out.truncate(at);
                } else if closes && open.last() == Some(&mark) {
                    open.pop();
                } else if opens && !mark.is_empty() && before.is_none_or(|byte| !byte.is_ascii_alphanumeric())
                {
                    open.push(mark);
                }
                at = end;
            }
            b'[' => match half_link(&source[at..]) {
                Some(text) => {
                    out.truncate(at);
                    out.push_str(text);
                    at = bytes.len();
                }
                None => at += 1,
            },
            _ => at += 1,
        }
    }
    let out = out.trim_end();
    let closing: String = open.iter().rev().copied().collect();
    format!("{out}{closing}")
}

/// The text of a link whose address has begun and not ended.
fn half_link(rest: &str) -> Option<&str> {
    let (text, address) = rest[1..].split_once("](")?;
    (!text.contains(['[', ']']) && !address.contains([')', ' '])).then_some(text)
}
