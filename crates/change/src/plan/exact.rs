//! Bytes whose author says what was there before: they are written as they are if the file is as the author
//! found it. Otherwise the two changes are merged by lines, and an overlap is a refusal: nobody's bytes are
//! overwritten unseen.
//!
//! Lines are compared with their endings, and bytes are never decoded: any encoding without NUL bytes is
//! merged, byte by byte as both sides wrote it.

use super::{FileChangeKind, FilePlan, HunkReport, HunkState};
use crate::diff;
use crate::lines::merge::merge_lines;
use crate::proposal::path::RelPath;
use crate::proposal::{ExactImage, GitFileMode};

/// Reported for a change that was merged with somebody else's.
pub const MERGED_RUNG: &str = "merged";

#[derive(Debug)]
pub(super) struct ExactMerge {
    /// `None`: the file does not exist.
    pub after: Option<(Vec<u8>, GitFileMode)>,
    /// How it was merged, if it had to be.
    pub merged: Option<HunkReport>,
}

/// Applies the change from `before` to `after` to the present file.
pub(super) fn merge_exact(
    now: Option<&(Vec<u8>, GitFileMode)>,
    before: Option<&ExactImage>,
    after: Option<&ExactImage>,
    line: usize,
) -> Result<ExactMerge, String> {
    let plain = |after: Option<(Vec<u8>, GitFileMode)>| Ok(ExactMerge { after, merged: None });
    let content = |image: &ExactImage| (image.bytes.clone(), image.mode);
    match (now, before, after) {
        (None, _, None) => plain(None),
        (None, None, Some(after)) => plain(Some(content(after))),
        (None, Some(_), Some(_)) => {
            Err("it was deleted after it was copied, so there is nothing to change".to_string())
        }
        (Some((bytes, _)), Some(before), None) if *bytes == before.bytes => plain(None),
        (Some(_), _, None) => Err("it changed after it was copied, so that it is not deleted".to_string()),
        (Some((bytes, mode)), None, Some(after)) => {
            if *bytes != after.bytes {
                return Err("it was created after the project was copied, with other content".to_string());
            }
            plain(Some((
                bytes.clone(),
                if after.mode == GitFileMode::Executable { after.mode } else { *mode },
            )))
        }
        (Some((bytes, mode)), Some(before), Some(after)) => {
            let mode = if after.mode == before.mode { *mode } else { after.mode };
            if *bytes == before.bytes || *bytes == after.bytes {
                return plain(Some((after.bytes.clone(), mode)));
            }
            let (bytes, at) = merge_bytes(&before.bytes, bytes, &after.bytes)?;
            Ok(ExactMerge { after: Some((bytes, mode)), merged: Some(report(line, at)) })
        }
    }
}

/// Both changes together, and the line of our text (from 1) at which theirs begins.
fn merge_bytes(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<(Vec<u8>, usize), String> {
    if [base, ours, theirs].iter().any(|bytes| memchr::memchr(0, bytes).is_some()) {
        return Err("it changed after it was copied, and binary content cannot be merged".to_string());
    }
    let (base, ours, theirs) = (byte_lines(base), byte_lines(ours), byte_lines(theirs));
    let merge = merge_lines(&base, &ours, &theirs);
    if let Some(conflict) = merge.conflicts.first() {
        let (first, last) = (conflict.ours.start + 1, conflict.ours.end.max(conflict.ours.start + 1));
        let place = if first == last { format!("line {first}") } else { format!("lines {first} to {last}") };
        let more = match merge.conflicts.len() {
            1 => String::new(),
            count => format!(" (and {} more places)", count - 1),
        };
        return Err(format!("{place}{more} changed after it was copied, and the answer changes them, too"));
    }
    let mut out = Vec::new();
    let mut cursor = 0;
    for edit in &merge.edits {
        out.extend(ours[cursor..edit.ours.start].iter().map(String::as_str));
        out.extend(theirs[edit.theirs.clone()].iter().map(String::as_str));
        cursor = edit.ours.end;
    }
    out.extend(ours[cursor..].iter().map(String::as_str));
    let at = merge.edits.first().map_or(1, |edit| edit.ours.start + 1);
    // Every character is one byte: see `byte_lines`.
    let bytes = out.iter().flat_map(|line| line.chars()).map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'));
    Ok((bytes.collect(), at))
}

/// Lines with their endings, each byte as the character of its number, so that any bytes are text.
fn byte_lines(bytes: &[u8]) -> Vec<String> {
    let line = |line: &[u8]| line.iter().map(|byte| char::from(*byte)).collect();
    bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect()
}

fn report(line: usize, used: usize) -> HunkReport {
    HunkReport {
        line,
        state: HunkState::Applied,
        rung: MERGED_RUNG,
        chosen_by: None,
        claimed: None,
        used,
        doubt: None,
        runner_up: None,
        differences: Vec::new(),
    }
}

impl FilePlan {
    /// The plan's row for a change from one image to the other, to show or record it.
    pub fn between(path: &RelPath, before: Option<&ExactImage>, after: Option<&ExactImage>) -> FilePlan {
        let bytes = |image: Option<&ExactImage>| image.map(|image| image.bytes.clone());
        let mode = |image: Option<&ExactImage>| image.map(|image| image.mode);
        let change = match (before, after) {
            (None, _) => FileChangeKind::Added,
            (_, None) => FileChangeKind::Deleted,
            (before, after) if before == after => FileChangeKind::Unchanged,
            _ => FileChangeKind::Modified,
        };
        let (old, new) = (bytes(before), bytes(after));
        let (added, removed) =
            diff::count_changed_lines(old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default());
        FilePlan {
            path: path.clone(),
            renamed_from: None,
            change,
            before: old,
            after: new,
            mode_before: mode(before),
            mode_after: mode(after),
            added,
            removed,
            dialect: None,
            hunks: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tree::MemoryTree;
    use crate::plan::{FindingKind, NoSeenTexts, Plan, RefusalReason, plan};
    use crate::proposal::limits::PlanLimits;
    use crate::proposal::{FileAction, Operation, Proposal};

    fn image(bytes: &[u8]) -> Option<ExactImage> {
        Some(ExactImage { bytes: bytes.to_vec(), mode: GitFileMode::Regular })
    }

    fn planned(
        now: Option<&[u8]>,
        before: Option<ExactImage>,
        after: Option<ExactImage>,
    ) -> Result<Plan, String> {
        let path = RelPath::parse("a.txt").unwrap();
        let mut tree = MemoryTree::default();
        if let Some(now) = now {
            tree.insert(path.clone(), now);
        }
        let operations = vec![Operation { line: 0, action: FileAction::Exact { path, before, after } }];
        let proposal = Proposal { operations, ..Proposal::default() };
        plan(&proposal, &tree, &NoSeenTexts, &PlanLimits::default()).map_err(|refused| {
            match &refused.refusals[0].reason {
                RefusalReason::Conflict { text } => text.clone(),
                other => panic!("{other:?}"),
            }
        })
    }

    fn after(now: Option<&[u8]>, before: Option<ExactImage>, after: Option<ExactImage>) -> Option<Vec<u8>> {
        planned(now, before, after).unwrap().files.remove(0).after
    }

    #[test]
    fn bytes_go_in_as_they_are_while_the_file_is_as_it_was() {
        for new in [&b"x\r\ny"[..], b"\0\xff\xfe", b"", b"caf\xe9\n"] {
            assert_eq!(after(Some(b"old\n"), image(b"old\n"), image(new)).as_deref(), Some(new));
            assert_eq!(after(None, None, image(new)).as_deref(), Some(new));
        }
        assert_eq!(after(Some(b"old\n"), image(b"old\n"), None), None);
        let same = planned(Some(b"new\n"), image(b"old\n"), image(b"new\n")).unwrap();
        assert_eq!(same.files[0].change, FileChangeKind::Unchanged);
        assert!(planned(None, image(b"old\n"), None).unwrap().files.is_empty());
    }

    #[test]
    fn a_mode_alone_is_a_change_and_keeps_the_bytes() {
        let run = Some(ExactImage { bytes: b"old\n".to_vec(), mode: GitFileMode::Executable });
        let plan = planned(Some(b"mine\n"), image(b"old\n"), run).unwrap();
        assert_eq!(plan.files[0].after.as_deref(), Some(&b"mine\n"[..]));
        assert_eq!(plan.files[0].mode_after, Some(GitFileMode::Executable));
    }

    #[test]
    fn changes_in_other_places_are_merged_byte_by_byte_and_a_person_looks() {
        let (base, ours, theirs) = (
            &b"a\r\nb\r\nc\r\nd\r\ncaf\xe9"[..],
            &b"A\r\nb\r\nc\r\nd\r\ncaf\xe9"[..],
            &b"a\r\nb\r\nc\r\nd\nx"[..],
        );
        let plan = planned(Some(ours), image(base), image(theirs)).unwrap();
        assert_eq!(plan.files[0].after.as_deref(), Some(&b"A\r\nb\r\nc\r\nd\nx"[..]));
        assert!(plan.findings.iter().any(|finding| finding.kind == FindingKind::Near));
        assert_eq!(plan.files[0].hunks[0].rung, MERGED_RUNG);
    }

    #[test]
    fn what_both_sides_changed_is_refused_with_its_place() {
        let said = |now: Option<&[u8]>, before, after| planned(now, before, after).unwrap_err();
        let lines = said(Some(b"a\nmine\nc\n"), image(b"a\nb\nc\n"), image(b"a\nyours\nc\n"));
        assert!(lines.starts_with("line 2 changed after it was copied"), "{lines}");
        assert!(said(Some(b"\0mine"), image(b"\0"), image(b"\0yours")).contains("binary"));
        assert!(said(Some(b"mine"), image(b"a"), None).contains("not deleted"));
        assert!(said(None, image(b"a"), image(b"b")).contains("was deleted"));
        assert!(said(Some(b"mine"), None, image(b"b")).contains("was created"));
    }
}
