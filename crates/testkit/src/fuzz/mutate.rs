//! Ways to spoil a case: those that break formats (markers lost, doubled or moved, fences cut), and those
//! that break files (line endings, invalid bytes, lines gone).

use super::FuzzCase;
use crate::random::Random;

/// What a response consists of besides code.
const TOKENS: &[&str] = &[
    "```",
    "````",
    "~~~",
    "```diff",
    "```ts // src/a.ts",
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "<<<<<<<",
    ">>>>>>>",
    ":start_line:3",
    ":end_line:9",
    "-------",
    "--- a/src/a.ts",
    "+++ b/src/a.ts",
    "--- /dev/null",
    "+++ /dev/null",
    "@@ -1,3 +1,3 @@",
    "@@",
    "@@ ... @@",
    "@@ -0,0 +1 @@",
    "\\ No newline at end of file",
    "diff --git a/x b/y",
    "rename from x",
    "rename to y",
    "new file mode 100755",
    "deleted file mode 100644",
    "*** Begin Patch",
    "*** Update File: src/a.ts",
    "*** Add File: b",
    "*** Delete File: src/a.ts",
    "*** Move to: c",
    "*** End of File",
    "*** End Patch",
    "// START",
    "// END",
    "//TODO: delete this file",
    "// src/a.ts",
    "// rename-file",
    "{\"from\":\"src/a.ts\",\"to\":\"b\"}",
    "projectId: p",
    "uuid: 0",
    "changeSummary:",
    "  - edit: src/a.ts",
    "gitCommitMsg: |",
    "&a [*a,*a]",
    "!!binary",
    "...",
    "// ... rest of the code",
    "src/a.ts",
    "**src/a.ts**",
    "### `src/a.ts`",
    "\u{feff}",
    "\u{202e}",
    "\u{200b}",
    "\u{201c}",
    "\u{0}",
    "\t",
    "    ",
    "\r\n",
    "\r",
    "\u{2028}",
    "1 | ",
    "&lt;",
    "\\n",
    "+",
    "-",
    " ",
    "é",
    "\u{1f600}",
];

/// Largest spoilt text, so that a case stays quick.
const MOST_BYTES: usize = 256 * 1024;

pub(super) fn spoil(seeds: &[FuzzCase], random: &mut Random) -> FuzzCase {
    let mut case = random.pick(seeds).clone();
    if random.once_in(6) {
        let other = random.pick(seeds);
        case.response = splice(&case.response, &other.response, random);
        if random.once_in(2) {
            case.files.extend(other.files.iter().cloned());
        }
    }
    for _ in 0..random.below(6) {
        case.response = spoil_text(&case.response, random);
    }
    if random.once_in(2) {
        for _ in 0..=random.below(3) {
            let index = random.below(case.files.len());
            if let Some((_, bytes)) = case.files.get_mut(index) {
                spoil_file(bytes, random);
            }
        }
    }
    case
}

fn splice(one: &str, other: &str, random: &mut Random) -> String {
    let head = &one[..boundary(one, random.below(one.len() + 1))];
    let tail = &other[boundary(other, random.below(other.len() + 1))..];
    format!("{head}{tail}")
}

fn spoil_text(text: &str, random: &mut Random) -> String {
    match random.below(10) {
        0 => String::from_utf8_lossy(&flip_bits(text.as_bytes(), random)).into_owned(),
        1 => {
            let at = boundary(text, random.below(text.len() + 1));
            text[..at].to_owned()
        }
        2 => {
            let at = boundary(text, random.below(text.len() + 1));
            let token = random.pick(TOKENS);
            format!("{}{token}{}", &text[..at], &text[at..])
        }
        3 => text.replace('\n', if random.once_in(2) { "\r\n" } else { "\r" }),
        4 => swap_token(text, random),
        5 => spoil_inside_line(text, random),
        _ => spoil_lines(text, random),
    }
}

/// Deletes, doubles, moves, repeats or adds whole lines.
fn spoil_lines(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let at = random.below(lines.len());
    let span = 1 + random.below(4.min(lines.len() - at));
    match random.below(5) {
        0 => {
            lines.drain(at..at + span);
        }
        1 => {
            let copy: Vec<&str> = lines[at..at + span].to_vec();
            let to = random.below(lines.len() + 1);
            lines.splice(to..to, copy);
        }
        2 => {
            let moved: Vec<&str> = lines.drain(at..at + span).collect();
            let to = random.below(lines.len() + 1);
            lines.splice(to..to, moved);
        }
        3 => lines.insert(at, *random.pick(TOKENS)),
        _ => {
            let room = MOST_BYTES.saturating_sub(text.len()) / (lines[at].len() + 1);
            let times = random.below(40).min(room);
            let copy = vec![lines[at]; times];
            lines.splice(at..at, copy);
        }
    }
    lines.join("\n")
}

/// Changes the blanks or one character of a line.
fn spoil_inside_line(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let at = random.below(lines.len());
    let line = lines[at].clone();
    lines[at] = match random.below(5) {
        0 => line.trim_start().to_owned(),
        1 => format!("  {line}"),
        2 => format!("{line}  "),
        3 => line.replace("    ", "\t").replace('"', "\u{201d}"),
        _ => {
            let cut = boundary(&line, random.below(line.len() + 1));
            let mut rest = line[cut..].chars();
            rest.next();
            format!("{}{}", &line[..cut], rest.as_str())
        }
    };
    lines.join("\n")
}

fn swap_token(text: &str, random: &mut Random) -> String {
    let from = random.pick(TOKENS);
    let to = random.pick(TOKENS);
    if text.len() > MOST_BYTES {
        return text.replacen(from, to, 1);
    }
    if random.once_in(2) { text.replacen(from, to, 1) } else { text.replace(from, to) }
}

fn spoil_file(bytes: &mut Vec<u8>, random: &mut Random) {
    match random.below(8) {
        0 => *bytes = flip_bits(bytes, random),
        1 => bytes.truncate(random.below(bytes.len() + 1)),
        2 => bytes.splice(0..0, *b"\xef\xbb\xbf").for_each(drop),
        3 => bytes.clear(),
        4 => {
            let text = String::from_utf8_lossy(bytes);
            let utf16: Vec<u8> =
                std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
            *bytes = utf16;
        }
        _ => {
            if let Ok(text) = std::str::from_utf8(bytes) {
                *bytes = spoil_text(text, random).into_bytes();
            }
        }
    }
}

fn flip_bits(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << random.below(8);
        }
    }
    bytes
}

/// The nearest character boundary at or below `at`.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}
