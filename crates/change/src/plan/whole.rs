//! The whole text of a file that exists, as its author means it. Lines that the author left out (`// ... existing code
//! ...`) are put in from the file where the lines around the remark prove which they are. If the file changed after it
//! was shown to the author, the author's change is merged into it.

use super::edit::is_text;
use super::findings::gap_lines;
use crate::lines::merge::{LineMerge, merge_lines};
use crate::matching::evidence::excludes_chance;

/// Texts with more remarks are taken as they are.
const GAPS: usize = 20;
/// Lines next to a remark that are looked at.
const ANCHOR_LINES: usize = 12;

pub(super) struct WholeText {
    pub text: String,
    /// What was done to it.
    pub note: Option<String>,
    /// What of the file would be lost, and its author may not have known.
    pub loss: Option<String>,
}

/// `text` for the file that has `bytes`, which are `lines`; `seen` are texts that the author is known to have had.
pub(super) fn complete(path: &str, bytes: &[u8], lines: &[&str], text: &str, seen: &[String]) -> WholeText {
    let changed = !seen.is_empty() && !seen.iter().any(|seen| is_text(bytes, seen));
    let shown: Vec<&str> = match seen.first() {
        Some(seen) if changed => seen.lines().collect(),
        _ => lines.to_vec(),
    };
    let answer: Vec<&str> = text.lines().collect();
    let filled = fill_gaps(path, &shown, &answer);
    let note = filled.as_ref().map(|_| "lines that the answer left out were kept from the file".to_owned());
    let answer = filled.unwrap_or(answer);
    let plain = |lines: &[&str]| join(lines, text.is_empty() || text.ends_with('\n'));
    if !changed || answer == lines {
        let text = if note.is_some() { plain(&answer) } else { text.to_owned() };
        return WholeText { text, note, loss: None };
    }
    let bases: Vec<Vec<&str>> = seen.iter().map(|seen| seen.lines().collect()).collect();
    let mut merges = bases.iter().map(|base| merge(base, lines, &answer));
    // Which of them the author had is not known.
    let merged = merges.next().flatten().filter(|first| merges.all(|other| other.as_ref() == Some(first)));
    match merged {
        Some(merged) => {
            let note = "the file changed after it was shown, and both changes were put together".to_owned();
            WholeText { text: plain(&merged), note: Some(note), loss: None }
        }
        None => WholeText { text: plain(&answer), note, loss: Some(lost_changes(&shown, lines, &answer)) },
    }
}

fn join(lines: &[&str], newline: bool) -> String {
    let mut text = lines.join("\n");
    if newline && !lines.is_empty() {
        text.push('\n');
    }
    text
}

/// The change from `base` to `theirs` carried over to `ours`, if nothing stands against it.
fn merge<'t>(base: &[&str], ours: &[&'t str], theirs: &[&'t str]) -> Option<Vec<&'t str>> {
    let LineMerge { edits, conflicts } = merge_lines(base, ours, theirs);
    let mut out = Vec::with_capacity(ours.len());
    let mut cursor = 0;
    for edit in edits {
        out.extend(&ours[cursor..edit.ours.start]);
        out.extend(&theirs[edit.theirs]);
        cursor = edit.ours.end;
    }
    out.extend(&ours[cursor..]);
    conflicts.is_empty().then_some(out)
}

/// Names what changed from `shown` to `now` and is not in the answer.
fn lost_changes(shown: &[&str], now: &[&str], answer: &[&str]) -> String {
    let LineMerge { edits, conflicts } = merge_lines(shown, answer, now);
    let places =
        edits.into_iter().map(|edit| edit.theirs).chain(conflicts.into_iter().map(|both| both.theirs));
    let mut starts: Vec<usize> = places.map(|place| place.start + 1).collect();
    starts.sort_unstable();
    match starts.as_slice() {
        [] => "the file changed after it was shown to the author".to_owned(),
        [line] => {
            format!("the file changed after it was shown, and its change on line {line} is not in the answer")
        }
        [first, more @ ..] => format!(
            "the file changed after it was shown, and its changes on line {first} and in {} more places are not in the answer",
            more.len()
        ),
    }
}

/// `new` with the lines of `old` for which its remarks stand, if each is proved by its neighbours: the lines above and
/// below it stand exactly once in `old`, in order, and are enough to exclude chance, or they are the beginning or the end
/// of both texts. `None` if there is no remark, one is not proved, or nothing would change: something was meant to.
pub(super) fn fill_gaps<'t>(path: &str, old: &[&'t str], new: &[&'t str]) -> Option<Vec<&'t str>> {
    let gaps = gap_lines(path, old, new).filter(|gaps| (1..=GAPS).contains(&gaps.len()))?;
    let old_end = old.iter().rposition(|line| !line.trim().is_empty())? + 1;
    let mut out = Vec::with_capacity(old.len() + new.len());
    let mut start = 0;
    // Where the lines of `old` go on that the last piece shows.
    let mut below = 0;
    for (nth, end) in gaps.iter().copied().chain([new.len()]).enumerate() {
        let (is_first, is_last) = (nth == 0, nth == gaps.len());
        let piece = trim_blank(&new[start..end]);
        start = end + 1;
        if piece.is_empty() && !is_first && !is_last {
            return None;
        }
        if !is_first {
            // The kept lines: from the end of the piece above to the beginning of this one.
            let until = match piece.is_empty() {
                true => old_end,
                false => begin_of(old, piece, is_last.then_some(old_end))?,
            };
            let kept =
                old.get(below..until).filter(|kept| kept.iter().any(|line| !line.trim().is_empty()))?;
            out.extend(kept);
            below = until;
        }
        out.extend(piece);
        if !is_last && !piece.is_empty() {
            below = end_of(old, piece, is_first).filter(|end| *end >= below)?;
        }
    }
    (!same_lines(trim_blank(&out), trim_blank(old))).then_some(out)
}

fn trim_blank<'a, 't>(lines: &'a [&'t str]) -> &'a [&'t str] {
    let solid = |line: &&str| !line.trim().is_empty();
    let Some(first) = lines.iter().position(solid) else { return &[] };
    &lines[first..=lines.iter().rposition(solid).unwrap_or(first)]
}

/// Where `piece` begins in `old`, by its first lines; by all of them if they are the end of `old`.
fn begin_of(old: &[&str], piece: &[&str], end: Option<usize>) -> Option<usize> {
    if let Some(start) = end.and_then(|end| end.checked_sub(piece.len()))
        && same_lines(&old[start..start + piece.len()], piece)
    {
        return Some(start);
    }
    let length = (1..=piece.len().min(ANCHOR_LINES)).find(|length| excludes_chance(&piece[..*length]))?;
    only_place(old, &piece[..length])
}

/// Where `piece` ends in `old`, by its last lines; by all of them if they are the beginning of `old`.
fn end_of(old: &[&str], piece: &[&str], is_first: bool) -> Option<usize> {
    let top = old.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
    let end = top + piece.len();
    if is_first && old.get(top..end).is_some_and(|lines| same_lines(lines, piece)) {
        return Some(end);
    }
    let tail = |length: usize| &piece[piece.len() - length..];
    let length = (1..=piece.len().min(ANCHOR_LINES)).find(|length| excludes_chance(tail(*length)))?;
    only_place(old, tail(length)).map(|start| start + length)
}

fn same_lines(one: &[&str], other: &[&str]) -> bool {
    one.iter().map(|line| line.trim_end()).eq(other.iter().map(|line| line.trim_end()))
}

fn only_place(old: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut places = old.windows(wanted.len()).enumerate().filter(|(_, lines)| same_lines(lines, wanted));
    let (at, _) = places.next()?;
    places.next().is_none().then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
import os
import sys

def first(one, two):
    total = one + two
    print(\"the first\", total)
    return total

def second(one, two):
    total = one * two
    print(\"the second\", total)
    return total

def third(one, two):
    total = one - two
    print(\"the third\", total)
    return total
";

    fn filled(answer: &str) -> Option<String> {
        let (old, new): (Vec<&str>, Vec<&str>) = (FILE.lines().collect(), answer.lines().collect());
        fill_gaps("a.py", &old, &new).map(|lines| join(&lines, true))
    }

    #[test]
    fn what_was_left_out_is_kept_where_its_neighbours_prove_it() {
        let second = "def second(one, two):\n    total = one * two\n    print(\"the second\", total)\n";
        let answer = format!(
            "import os\nimport sys\n\n# ... existing code ...\n\n{second}    return total + 1\n\ndef third(one, two):\n    total = one - two\n    print(\"the third\", total)\n    # ... rest of the file\n"
        );
        assert_eq!(
            filled(&answer),
            Some(FILE.replacen(
                &format!("{second}    return total"),
                &format!("{second}    return total + 1"),
                1
            ))
        );
        let top = "import os\nimport re\nimport sys\n\ndef first(one, two):\n    total = one + two\n    print(\"the first\", total)\n# unchanged\n";
        assert_eq!(filled(top), Some(FILE.replace("import os\n", "import os\nimport re\n")));
    }

    #[test]
    fn what_is_not_proved_is_left_as_it_is() {
        for answer in [
            // The line above the remark is new, and stands in another function by chance.
            "import os\nimport sys\n# ...\ndef second(one, two):\n    total = one * two\n    print(\"the second\", total)\n    if total:\n        return total\n# ...\n",
            // Too little text.
            "import os\nimport sys\n# ...\ndef second(one, two):\n    return 1\n",
            // The wrong order.
            "def third(one, two):\n    total = one - two\n    print(\"the third\", total)\n# ...\ndef second(one, two):\n    total = one * two\n    print(\"the second\", total)\n",
            // Nothing is left out there.
            "import os\n# ...\nimport sys\n\ndef first(one, two):\n    total = one + two\n    print(\"the first\", total)\n",
            "# ...\n# ...\n",
            // Nothing changes.
            "import os\nimport sys\n# ...\n",
            "import os\n",
        ] {
            assert_eq!(filled(answer), None, "{answer}");
        }
    }

    #[test]
    fn a_remark_that_the_file_has_is_content() {
        let old = ["a();", "// ... existing code ...", "b();", "c();"];
        assert_eq!(fill_gaps("a.js", &old, &["a();", "// ... existing code ...", "c();"]), None);
    }

    #[test]
    fn a_change_since_the_file_was_shown_is_kept() {
        let shown = "one\ntwo\nthree\nfour\nfive\n";
        let now = "one\n2 mine\nthree\nfour\nfive\n";
        let lines: Vec<&str> = now.lines().collect();
        let said = |answer: &str, seen: &[&str]| {
            let seen: Vec<String> = seen.iter().map(ToString::to_string).collect();
            complete("a.txt", now.as_bytes(), &lines, answer, &seen)
        };
        let merged = said("one\ntwo\nthree\nFOUR\nfive\n", &[shown]);
        assert_eq!((merged.text.as_str(), merged.loss), ("one\n2 mine\nthree\nFOUR\nfive\n", None));
        assert!(merged.note.is_some());
        let lost = said("one\nTWO\nthree\nfour\nfive\n", &[shown]);
        assert_eq!(lost.text, "one\nTWO\nthree\nfour\nfive\n");
        assert!(lost.loss.unwrap().contains("its change on line 2 is not in the answer"));
        // Two texts that lead to different results.
        let either = said("one\ntwo\nthree\nFOUR\nfive\n", &[shown, "one\ntwo\nthree\nFOUR\n5\n"]);
        assert!(either.loss.is_some());
        // The author saw the file as it is, or nothing is known.
        for seen in [&[now, shown][..], &[]] {
            let plain = said("one\ntwo\n", seen);
            assert_eq!((plain.text.as_str(), plain.note, plain.loss), ("one\ntwo\n", None, None));
        }
    }
}
