//! Makes a truncated line of JSON readable by closing what is open. Linear in its length.

/// The ways to close the line, the one that keeps most first. Neither need be valid JSON.
pub(super) fn close_json(line: &[u8]) -> Vec<Vec<u8>> {
    let scan = TruncatedJsonScan::new(line);
    let mut ways = Vec::new();
    if let Some(keep) = scan.in_string {
        ways.push(close_open(&line[..keep], b"\"", &scan.open));
    }
    let (at, depth) = scan.boundary;
    ways.push(close_open(&line[..at], b"", &scan.open[..depth.min(scan.open.len())]));
    ways
}

fn close_open(text: &[u8], then: &[u8], open: &[u8]) -> Vec<u8> {
    // Half a character goes.
    let text = match std::str::from_utf8(text) {
        Err(error) if error.error_len().is_none() => &text[..error.valid_up_to()],
        _ => text,
    };
    text.iter().chain(then).chain(open.iter().rev()).copied().collect()
}

struct TruncatedJsonScan {
    /// The closing bracket of each open array and object.
    open: Vec<u8>,
    /// Up to where an open string can be kept.
    in_string: Option<usize>,
    /// After the last complete value, and how many are open there.
    boundary: (usize, usize),
}

impl TruncatedJsonScan {
    fn new(line: &[u8]) -> TruncatedJsonScan {
        let mut scan = TruncatedJsonScan { open: Vec::new(), in_string: None, boundary: (0, 0) };
        let mut at = 0;
        while at < line.len() {
            match line[at] {
                b'"' => match string_end(line, at) {
                    Ok(end) => at = end,
                    Err(keep) => {
                        scan.in_string = Some(keep);
                        return scan;
                    }
                },
                b'{' => scan.open.push(b'}'),
                b'[' => scan.open.push(b']'),
                b'}' | b']' => {
                    scan.open.pop();
                    scan.boundary = (at + 1, scan.open.len());
                }
                b',' => scan.boundary = (at, scan.open.len()),
                _ => {}
            }
            at += 1;
        }
        scan
    }
}

/// Where the string that begins at `from` ends; `Err`: where it can be cut if it does not.
fn string_end(line: &[u8], from: usize) -> Result<usize, usize> {
    let mut at = from + 1;
    // Before a high surrogate whose other half is missing.
    let mut half = None;
    while at < line.len() {
        match line[at] {
            b'"' => return Ok(at),
            b'\\' => {
                let length = if line.get(at + 1) == Some(&b'u') { 6 } else { 2 };
                let Some(escape) = line.get(at..at + length) else { return Err(half.unwrap_or(at)) };
                let high = length == 6
                    && matches!(escape[2..4], [b'd' | b'D', b'8'..=b'9' | b'a' | b'b' | b'A' | b'B']);
                half = if high && half.is_none() { Some(at) } else { None };
                at += length;
            }
            _ => {
                half = None;
                at += 1;
            }
        }
    }
    Err(half.unwrap_or(line.len()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_line_cut_anywhere_is_json_again() {
        let line = r#"{"type":"message","n":[1,{"a":null},-2.5e1],"message":{"role":"user","content":[{"type":"text","text":"a\"\\é\ud83d\ude00\u0041 tail"}]}}"#;
        for at in 1..line.len() {
            let ways = close_json(&line.as_bytes()[..at]);
            let read = ways.iter().find_map(|way| serde_json::from_slice::<Value>(way).ok());
            assert!(read.is_some() || at < "{\"type\":\"message\",".len(), "{at}: {}", &line[..at.min(60)]);
        }
        let at = line.find(" tail").unwrap() + 3;
        let ways = close_json(&line.as_bytes()[..at]);
        let value: Value = serde_json::from_slice(&ways[0]).unwrap();
        assert_eq!(value["message"]["content"][0]["text"], "a\"\\é😀A ta");
    }

    #[test]
    fn deep_and_odd_lines_are_no_trouble() {
        close_json(&b"[".repeat(1_000_000));
        close_json(&b"]}".repeat(1000));
        close_json(b"\"\\");
        close_json(b"");
    }
}
