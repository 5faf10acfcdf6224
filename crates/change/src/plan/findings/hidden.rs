//! Invisible or bidirectional characters that a change adds. Those in the file before do not count,
//! wherever they were, nor does an existing byte order mark.

use std::collections::{BTreeMap, HashSet};

use relaycode_text::hidden::{describe_char, suspicious_chars};

use super::{CheckedFile, PlanCheck, text_lines};
use crate::plan::{FindingKind, PlanFinding};

/// Most different characters named per file; the others are counted.
const NAMED: usize = 8;

pub(super) struct HiddenCheck;

impl PlanCheck for HiddenCheck {
    fn kind(&self) -> FindingKind {
        FindingKind::Hidden
    }

    fn check(&self, file: &CheckedFile<'_>, out: &mut Vec<PlanFinding>) {
        let Some(after) = file.after else { return };
        let has = places(after);
        if has.is_empty() {
            return;
        }
        let before = file.before.unwrap_or_default();
        let had = places(before);
        let old_lines: HashSet<&str> = text_lines(before).collect();
        let new_lines: Vec<&str> = text_lines(after).collect();

        let mut more = 0;
        for (character, at) in has {
            let count = at.len().saturating_sub(had.get(&character).map_or(0, Vec::len));
            if count == 0 {
                continue;
            }
            more += 1;
            if more > NAMED {
                continue;
            }
            let is_new = |line: &&usize| !old_lines.contains(new_lines[**line]);
            let first = at.iter().find(is_new).or(at.first()).map(|line| line + 1);
            out.push(file.finding(self.kind(), first, sentence(character, count)));
        }
        if more > NAMED {
            let text = format!("{} more kinds of hidden characters come in", more - NAMED);
            out.push(file.finding(self.kind(), None, text));
        }
    }
}

/// With the line (from 0) of each occurrence.
fn places(text: &str) -> BTreeMap<char, Vec<usize>> {
    let mut found: BTreeMap<char, Vec<usize>> = BTreeMap::new();
    // Nearly every line is plain, and checking its bytes is all it costs.
    let plain = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r'));
    if plain(text) {
        return found;
    }
    for (number, line) in text_lines(text).enumerate().filter(|(_, line)| !plain(line)) {
        for (_, character) in suspicious_chars(line) {
            found.entry(character).or_default().push(number);
        }
    }
    found
}

fn sentence(character: char, count: usize) -> String {
    let what = describe_char(character);
    match count {
        1 => format!("a hidden character comes in: {what}"),
        _ => format!("a hidden character comes in {count} times: {what}"),
    }
}
