//! Where patches without a fence end. A patch has its own last line; a diff has none, and if the prose
//! below it could be taken for more of it, that is reported instead of guessed.

use std::ops::Range;

use super::lines::ResponseLines;
use crate::dialect::mail;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnfencedDiffEnd {
    /// The first line after it.
    pub end: usize,
    /// That is not certain.
    pub uncertain: bool,
}

/// Finds the end of the diff that begins on `start`. Line counts are usually wrong; they only help to tell
/// an empty line inside a hunk from the one below it, and whether a diff at the end of the answer is cut off.
/// Without counts, only something below it (at least an empty line) shows that it is complete.
pub(super) fn find_diff_end(lines: &ResponseLines<'_>, start: usize) -> UnfencedDiffEnd {
    let mut at = start;
    let mut said = start;
    let mut hunk: Option<HunkLineCounts> = None;
    while at < lines.end() {
        let line = lines.get(at);
        if line.is_empty() {
            if let Some(counts) = hunk.as_mut().filter(|counts| counts.expects_more()) {
                counts.take(true, true);
                at += 1;
                continue;
            }
            let Some(next) = lines.next_nonblank(at, lines.end()) else {
                break;
            };
            match diff_continuation(lines, next, hunk.as_ref()) {
                DiffContinuation::Diff => at = next,
                DiffContinuation::Prose => break,
                DiffContinuation::Unclear => {
                    return UnfencedDiffEnd { end: said + 1, uncertain: true };
                }
            }
            continue;
        }
        if line.starts_with("@@") {
            hunk = Some(HunkLineCounts::of(line));
        } else if begins_file(lines, at) || (hunk.is_none() && is_layout(line)) {
            hunk = None;
            if line.starts_with("--- ") {
                at += 1;
            }
        } else if mail::is_signature(line, lines.get(at + 1), lines.get(at + 2)) {
            let uncertain = hunk.is_some_and(|counts| counts.expects_more());
            return UnfencedDiffEnd { end: said + 1, uncertain };
        } else if let Some(counts) = &mut hunk {
            match line.as_bytes().first() {
                Some(b'-') if counts.is_complete() && ends_with_name(lines, at) => {
                    return UnfencedDiffEnd { end: said + 1, uncertain: true };
                }
                Some(b' ') => counts.take(true, true),
                Some(b'-') => counts.take(true, false),
                Some(b'+') => counts.take(false, true),
                Some(b'\\') => {}
                // Prose never stands directly below an incomplete hunk.
                _ => {
                    return UnfencedDiffEnd {
                        end: said + 1,
                        uncertain: said + 1 == at && counts.expects_more(),
                    };
                }
            }
        } else {
            break;
        }
        said = at;
        at += 1;
    }
    let at_end = lines.next_nonblank(said + 1, lines.end()).is_none();
    let cut = match hunk {
        Some(HunkLineCounts { left: None }) => at == lines.end(),
        Some(counts) => counts.expects_more(),
        None => {
            let last = lines.get(said);
            ["deleted file mode ", "new file mode ", "+++ "].iter().any(|start| last.starts_with(start))
        }
    };
    UnfencedDiffEnd { end: (said + 1).min(lines.end()), uncertain: cut && at_end }
}

enum DiffContinuation {
    Diff,
    Prose,
    Unclear,
}

/// What follows an empty line that the counts do not ask for.
fn diff_continuation(
    lines: &ResponseLines<'_>,
    next: usize,
    hunk: Option<&HunkLineCounts>,
) -> DiffContinuation {
    let line = lines.get(next);
    if line.starts_with("@@") || begins_file(lines, next) {
        return DiffContinuation::Diff;
    }
    let Some(counts) = hunk else {
        return DiffContinuation::Prose;
    };
    let bullet = line.starts_with("- ") || line.starts_with("+ ");
    match line.as_bytes().first() {
        Some(b'-' | b'+') if bullet && counts.is_complete() => DiffContinuation::Prose,
        Some(b'-' | b'+') if bullet => DiffContinuation::Unclear,
        Some(b' ' | b'+' | b'-') => DiffContinuation::Diff,
        _ => DiffContinuation::Prose,
    }
}

fn begins_file(lines: &ResponseLines<'_>, at: usize) -> bool {
    let line = lines.get(at);
    line.starts_with("diff --git ")
        || (line.starts_with("--- ")
            && lines.get(at + 1).starts_with("+++ ")
            && lines.get(at + 2).starts_with("@@"))
}

/// Whether the answer ends with the name of the next file.
fn ends_with_name(lines: &ResponseLines<'_>, at: usize) -> bool {
    lines.get(at).starts_with("--- ") && lines.next_nonblank(at + 1, lines.end()).is_none()
}

fn is_layout(line: &str) -> bool {
    const LAYOUT: &[&str] = &[
        "index ",
        "old mode ",
        "new mode ",
        "new file mode ",
        "deleted file mode ",
        "similarity index ",
        "dissimilarity index ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
        "Binary files ",
        "GIT binary patch",
        "--- ",
        "+++ ",
    ];
    LAYOUT.iter().any(|start| line.starts_with(start))
}

/// How many lines the header of a hunk still promises.
struct HunkLineCounts {
    /// Old and new side; `None` if the header has no numbers.
    left: Option<(i64, i64)>,
}

impl HunkLineCounts {
    fn of(header: &str) -> HunkLineCounts {
        let mut words = header.trim_start_matches('@').split_whitespace();
        let mut side = |sign: char| {
            let range = words.next()?.strip_prefix(sign)?;
            let (_, count) = range.split_once(',').unwrap_or((range, "1"));
            count.parse::<u32>().ok().map(i64::from)
        };
        HunkLineCounts { left: side('-').and_then(|old| Some((old, side('+')?))) }
    }

    fn take(&mut self, old: bool, new: bool) {
        if let Some(left) = &mut self.left {
            left.0 -= i64::from(old);
            left.1 -= i64::from(new);
        }
    }

    fn expects_more(&self) -> bool {
        self.left.is_some_and(|(old, new)| old > 0 || new > 0)
    }

    fn is_complete(&self) -> bool {
        self.left == Some((0, 0))
    }
}

/// Includes the shell's lines around a patch: `apply_patch <<'EOF'` above, `EOF` below.
pub(super) fn with_heredoc(lines: &ResponseLines<'_>, patch: Range<usize>) -> Range<usize> {
    let Some(above) = patch.start.checked_sub(1).map(|above| lines.get(above)) else {
        return patch;
    };
    let Some((command, word)) = above.rsplit_once("<<") else {
        return patch;
    };
    let word = word.trim().trim_start_matches('-').trim_matches(['\'', '"', '\\']);
    let is_end = |line: &str| line.trim_end_matches(['"', '\'', ')', ';']).trim() == word;
    if !command.contains("apply_patch") || word.is_empty() {
        return patch;
    }
    let below = usize::from(is_end(lines.get(patch.end)));
    patch.start - 1..patch.end + below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_diff_ends_where_prose_begins() {
        for (text, end, endless) in [
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\nProse.\n", 5, false),
            ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\n+b\n\n c\n\nProse.\n", 7, false),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\n- a bullet\n", 5, false),
            ("--- a/x\n+++ b/x\n@@ ... @@\n-a\n+b\n\n- a bullet\n", 5, true),
            ("--- a/x\n+++ b/x\n@@ @@\n-a\n+b\n\n--- a/y\n+++ b/y\n@@ @@\n-a\n+b\n\n", 11, false),
            ("--- a/x\n+++ b/x\n@@ @@\n-a\n+b\n", 5, true),
            ("--- a/x\n+++ b/x\n@@ @@\n-a\n+b\nProse.\n", 5, false),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n", 5, true),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\n--- a/y\n", 5, true),
            ("diff --git a/x b/x\ndeleted file mode 100644\n", 2, true),
            ("diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n", 3, false),
            ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n\nProse.\n", 4, false),
            ("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\nProse.\n", 5, true),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.43.0\n", 5, false),
            ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n-- \n2.43.0\n\n", 5, true),
            ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n-- \n", 6, false),
        ] {
            let lines = ResponseLines::new(text);
            assert_eq!(find_diff_end(&lines, 0), UnfencedDiffEnd { end, uncertain: endless }, "{text}");
        }
    }
}
