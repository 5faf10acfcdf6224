//! A plan as the text that `git diff` would print and `git apply` accepts.
//!
//! Applied to the bytes before, it gives exactly the bytes after; the reverse patch leads back. Names
//! need no quoting: [`RelPath`] has no quotes, backslashes or control characters. Binary content is
//! only named, as git does without `--binary`; git then refuses the patch instead of losing bytes.

use similar::{DiffOp, DiffTag, group_diff_ops};

use super::{CONTEXT_LINES, DiffHunk, lines};
use crate::lines::align;
use crate::plan::{FileChangeKind, FilePlan, Plan};
use crate::proposal::GitFileMode;
use crate::proposal::path::RelPath;

/// Bytes at the beginning of a file by which git decides whether it is binary.
const BINARY_PROBE: usize = 8_000;

/// From the files before to the files after.
pub fn git_patch(plan: &Plan) -> Vec<u8> {
    let mut out = Vec::new();
    for file in &plan.files {
        let [old, new] = PatchSide::both(file);
        write_file(&old, &new, &mut out);
    }
    out
}

/// From the files after back to the files before.
pub fn reverse_git_patch(plan: &Plan) -> Vec<u8> {
    let mut out = Vec::new();
    for file in plan.files.iter().rev() {
        let [old, new] = PatchSide::both(file);
        write_file(&new, &old, &mut out);
    }
    out
}

struct PatchSide<'a> {
    path: &'a RelPath,
    /// `None`: the file does not exist on this side.
    bytes: Option<&'a [u8]>,
    mode: GitFileMode,
}

impl<'a> PatchSide<'a> {
    fn both(file: &'a FilePlan) -> [PatchSide<'a>; 2] {
        let before = file.before.as_deref().filter(|_| file.change != FileChangeKind::Added);
        let after = file.after.as_deref().filter(|_| file.change != FileChangeKind::Deleted);
        let mode = file.mode_before.unwrap_or(GitFileMode::Regular);
        let path = file.renamed_from.as_ref().unwrap_or(&file.path);
        let mode_after = file.mode_after.unwrap_or(mode);
        [
            PatchSide { path, bytes: before, mode },
            PatchSide { path: &file.path, bytes: after, mode: mode_after },
        ]
    }

    fn content(&self) -> &'a [u8] {
        self.bytes.unwrap_or_default()
    }

    fn is_binary(&self) -> bool {
        let content = self.content();
        content[..content.len().min(BINARY_PROBE)].contains(&0)
    }

    /// As in the `---` and `+++` lines. A tab ends a name with blanks.
    fn name(&self, prefix: char) -> String {
        match self.bytes {
            None => "/dev/null".to_string(),
            Some(_) if self.path.as_str().contains(' ') => format!("{prefix}/{}\t", self.path),
            Some(_) => format!("{prefix}/{}", self.path),
        }
    }
}

fn write_file(old: &PatchSide<'_>, new: &PatchSide<'_>, out: &mut Vec<u8>) {
    let same_content = old.content() == new.content();
    let same_file =
        old.path == new.path && old.mode == new.mode && old.bytes.is_some() == new.bytes.is_some();
    if same_content && same_file {
        return;
    }
    out.extend_from_slice(header(old, new, same_content).as_bytes());
    if same_content {
        return;
    }
    if old.is_binary() || new.is_binary() {
        let (a, b) = (old.name('a'), new.name('b'));
        let text = format!("Binary files {} and {} differ\n", a.trim_end(), b.trim_end());
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.extend_from_slice(format!("--- {}\n+++ {}\n", old.name('a'), new.name('b')).as_bytes());
    let [old_lines, new_lines] = [old, new].map(|side| lines::split_feeds(side.content()));
    let operations = align::diff_operations(&old_lines, &new_lines);
    for group in group_diff_ops(operations, CONTEXT_LINES) {
        write_hunk(out, &group, &old_lines, &new_lines);
    }
}

fn header(old: &PatchSide<'_>, new: &PatchSide<'_>, same_content: bool) -> String {
    let mut text = format!("diff --git a/{} b/{}\n", old.path, new.path);
    match (old.bytes, new.bytes) {
        (None, _) => text += &format!("new file mode {}\n", number(new.mode)),
        (_, None) => text += &format!("deleted file mode {}\n", number(old.mode)),
        _ if old.mode != new.mode => {
            let (from, to) = (number(old.mode), number(new.mode));
            text += &format!("old mode {from}\nnew mode {to}\n");
        }
        _ => {}
    }
    if old.path != new.path {
        if same_content {
            text += "similarity index 100%\n";
        }
        text += &format!("rename from {}\nrename to {}\n", old.path, new.path);
    }
    text
}

fn number(mode: GitFileMode) -> &'static str {
    match mode {
        GitFileMode::Regular => "100644",
        GitFileMode::Executable => "100755",
    }
}

fn write_hunk(out: &mut Vec<u8>, group: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) {
    let span = DiffHunk::header(group);
    let side = |start: usize, lines: usize| match lines {
        1 => start.to_string(),
        _ => format!("{start},{lines}"),
    };
    let old_side = side(span.old_start, span.old_lines);
    let new_side = side(span.new_start, span.new_lines);
    out.extend_from_slice(format!("@@ -{old_side} +{new_side} @@\n").as_bytes());
    for op in group {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            old[old_range].iter().for_each(|line| write_line(out, b' ', line));
            continue;
        }
        old[old_range].iter().for_each(|line| write_line(out, b'-', line));
        new[new_range].iter().for_each(|line| write_line(out, b'+', line));
    }
}

fn write_line(out: &mut Vec<u8>, sign: u8, line: &[u8]) {
    out.push(sign);
    out.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}
