//! One edit of the bytes of one file.

use std::borrow::Cow;

use super::findings::{clip_line, is_gap};
use super::whole::{self, WholeText};
use super::{HunkReport, HunkState, RefusalReason};
use crate::lines::align::{ALIGN_WORK, EqualRun, equal_runs};
use crate::lines::text_file::TextFile;
use crate::matching::{FileMatch, HunkOutcome, match_hunks};
use crate::proposal::work_budget::WorkBudget;
use crate::proposal::{EditBody, FileEdit, Hunk};

pub(super) struct FileEditResult {
    pub bytes: Vec<u8>,
    /// How each hunk matched.
    pub hunks: Vec<HunkReport>,
    pub note: Option<String>,
    /// What of the file would be lost, and the author may not have known.
    pub loss: Option<String>,
}

/// Why an edit does not work, and which of its hunks would.
pub(super) struct FileEditFailure {
    /// Each with its line of the response.
    pub reasons: Vec<(usize, RefusalReason)>,
    /// With their numbers from 1.
    pub fitting: Vec<(usize, HunkReport)>,
}

impl FileEditFailure {
    fn from_reason(line: usize, reason: RefusalReason) -> FileEditFailure {
        FileEditFailure { reasons: vec![(line, reason)], fitting: Vec::new() }
    }
}

pub(super) fn create_file(edit: &FileEdit, line: usize) -> Result<FileEditResult, FileEditFailure> {
    let text = match &edit.body {
        EditBody::Whole { text, .. } => text.clone(),
        EditBody::Hunks(hunks) if !hunks.is_empty() && hunks.iter().all(is_addition) => join_hunks(hunks),
        EditBody::Hunks(_) => {
            let text =
                "the file does not exist, so there is nothing to edit; send its whole content to create it";
            return Err(FileEditFailure::from_reason(
                line,
                RefusalReason::Conflict { text: text.to_string() },
            ));
        }
    };
    Ok(FileEditResult { bytes: text.into_bytes(), hunks: Vec::new(), note: None, loss: None })
}

/// Whether it can be the beginning of a file: it looks for nothing and names no line.
fn is_addition(hunk: &Hunk) -> bool {
    hunk.before.is_empty() && hunk.span.is_none()
}

fn join_hunks(hunks: &[Hunk]) -> String {
    let mut text = String::new();
    for line in hunks.iter().flat_map(|hunk| &hunk.after) {
        text.push_str(line);
        text.push('\n');
    }
    if hunks.last().and_then(|hunk| hunk.final_newline) == Some(false) {
        text.pop();
    }
    text
}

/// `line` is the response's, for reasons about the whole file.
pub(super) fn apply_edit(
    path: &str,
    bytes: &[u8],
    edit: &FileEdit,
    seen: &[String],
    line: usize,
    budget: &WorkBudget,
) -> Result<FileEditResult, FileEditFailure> {
    match &edit.body {
        EditBody::Whole { text, .. } => {
            budget.draw(whole_steps(bytes, text.as_bytes()));
            match budget.refusal() {
                Some(text) => Err(FileEditFailure::from_reason(line, RefusalReason::Limit { text })),
                None => Ok(replace_whole(path, bytes, text, seen)),
            }
        }
        EditBody::Hunks(hunks) if hunks.is_empty() => {
            Ok(FileEditResult { bytes: bytes.to_vec(), hunks: Vec::new(), note: None, loss: None })
        }
        EditBody::Hunks(hunks) => apply_hunks(bytes, &fill_hunks(path, hunks), seen, line, budget),
    }
}

/// For each line of a whole file, which is compared with the old one: here, and when the changed lines are counted.
const WHOLE_STEPS: usize = 100;

fn whole_steps(old: &[u8], new: &[u8]) -> usize {
    let lines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count() + 1;
    let (old, new) = if old == new { (0, 0) } else { (lines(old), lines(new)) };
    (old + new) * WHOLE_STEPS + old.saturating_mul(new).min(ALIGN_WORK) / 2
}

/// A whole file replaces any bytes. If the old ones are text, the new text is written the same way:
/// encoding, line endings, final newline.
fn replace_whole(path: &str, bytes: &[u8], text: &str, seen: &[String]) -> FileEditResult {
    let old = TextFile::decode_candidates(bytes).ok().and_then(|candidates| candidates.into_iter().next());
    let Some(old) = old else {
        let note = "the old content is not text; the new one is written as UTF-8".to_string();
        let bytes = text.as_bytes().to_vec();
        return FileEditResult { bytes, hunks: Vec::new(), note: Some(note), loss: None };
    };
    let lines: Vec<&str> = old.lines().collect();
    let WholeText { text, note, loss } = whole::complete(path, bytes, &lines, text, seen);
    match old.encode_whole(&text) {
        Ok(bytes) => FileEditResult { bytes, hunks: Vec::new(), note, loss },
        Err(error) => {
            let note = Some(format!("the file changes from {} to UTF-8: {error}", old.encoding()));
            FileEditResult { bytes: text.into_bytes(), hunks: Vec::new(), note, loss }
        }
    }
}

/// The hunks with the lines of their old text that their new text left out.
fn fill_hunks<'h>(path: &str, hunks: &'h [Hunk]) -> Cow<'h, [Hunk]> {
    let mut filled = Cow::Borrowed(hunks);
    for (at, hunk) in hunks.iter().enumerate().filter(|(_, hunk)| hunk.kept.is_none()) {
        if hunk.before.iter().any(|line| is_gap(line)) || !hunk.after.iter().any(|line| is_gap(line)) {
            continue;
        }
        let [old, new] =
            [&hunk.before, &hunk.after].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
        if let Some(lines) = whole::fill_gaps(path, &old, &new) {
            filled.to_mut()[at].after = lines.into_iter().map(str::to_owned).collect();
        }
    }
    filled
}

fn apply_hunks(
    bytes: &[u8],
    hunks: &[Hunk],
    seen: &[String],
    line: usize,
    budget: &WorkBudget,
) -> Result<FileEditResult, FileEditFailure> {
    let sources = TextFile::decode_candidates(bytes).map_err(|error| {
        FileEditFailure::from_reason(line, RefusalReason::Encoding { text: error.to_string() })
    })?;
    let encoding = |text: String| FileEditFailure::from_reason(line, RefusalReason::Encoding { text });
    let mut made: Option<FileEditResult> = None;
    let mut failed: Option<FileEditFailure> = None;
    for source in &sources {
        let edited = match apply_decoded(source, bytes, hunks, seen, line, budget) {
            Ok(edited) => edited,
            Err(error) => {
                failed.get_or_insert(error);
                continue;
            }
        };
        match &made {
            Some(other) if other.bytes != edited.bytes => {
                return Err(encoding("the file is not UTF-8, and the new text would come out differently in each encoding it may have; send it without special characters, or convert the file".to_string()));
            }
            Some(_) => {}
            None => made = Some(edited),
        }
    }
    // A guessed encoding must be the only one to fit if the new text needs it; one that fits where others
    // fail is proven by the old text that it made readable.
    made.ok_or_else(|| failed.unwrap_or_else(|| encoding("the file's encoding is not known".to_string())))
}

fn apply_decoded(
    source: &TextFile,
    old: &[u8],
    hunks: &[Hunk],
    seen: &[String],
    line: usize,
    budget: &WorkBudget,
) -> Result<FileEditResult, FileEditFailure> {
    let FileMatch { outcomes, pieces } = match_hunks(source, hunks, seen, budget);
    if let Some(text) = budget.refusal() {
        return Err(FileEditFailure::from_reason(line, RefusalReason::Limit { text }));
    }
    let Some(pieces) = pieces else { return Err(edit_failure(outcomes, hunks)) };
    let fits = |outcome| if let HunkOutcome::Fits(report) = outcome { Some(report) } else { None };
    let mut reports: Vec<HunkReport> = outcomes.into_iter().filter_map(fits).collect();
    let bytes =
        source.rebuild(&pieces, requested_final_newline(source, hunks, &reports)).map_err(|error| {
            FileEditFailure::from_reason(line, RefusalReason::Encoding { text: error.to_string() })
        })?;
    let unchanged = reports.iter().all(|report| report.state == HunkState::AlreadyIn);
    if let Some(last) = reports.last_mut().filter(|_| unchanged && bytes != old) {
        // Only the final newline changes, which no line shows.
        last.state = HunkState::Applied;
    }
    Ok(FileEditResult { bytes, hunks: reports, note: None, loss: None })
}

/// What the hunks say about the final newline. A mark counts only on a hunk that reaches the end of the
/// file, and not on a last line that stays: the file knows better.
fn requested_final_newline(source: &TextFile, hunks: &[Hunk], reports: &[HunkReport]) -> Option<bool> {
    let reaches_the_end =
        |hunk: &Hunk, report: &HunkReport| report.used - 1 + hunk.before.len() >= source.line_count();
    let keeps_last = |hunk: &Hunk| {
        let last = (hunk.before.len().wrapping_sub(1), hunk.after.len().wrapping_sub(1));
        hunk.kept.iter().flatten().any(|kept| *kept == last)
    };
    let mut pairs = hunks.iter().zip(reports).rev();
    pairs.find_map(|(hunk, report)| {
        hunk.final_newline.filter(|_| reaches_the_end(hunk, report) && !keeps_last(hunk))
    })
}

/// Where the text of `bytes` differs from the lines that a deletion quotes, as a sentence. Blanks at the ends of lines
/// and blank lines at the end of the file do not count: they are easily lost on the way.
pub(super) fn differing_line(bytes: &[u8], old: &[String]) -> Option<String> {
    let Ok(sources) = TextFile::decode_candidates(bytes) else {
        return Some("the answer deletes lines of text, but the file is not text".to_owned());
    };
    let bare = |lines: &mut dyn Iterator<Item = &str>| {
        let mut lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
        lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
        lines
    };
    let old = bare(&mut old.iter().map(String::as_str));
    let mut files = sources.iter().map(|source| bare(&mut source.lines()));
    let file = files.next().unwrap_or_default();
    if file == old || files.any(|file| file == old) {
        return None;
    }
    let at = file.iter().zip(&old).take_while(|(a, b)| a == b).count();
    let quoted = |lines: &[String]| {
        lines.get(at).map_or("nothing".to_owned(), |line| format!("`{}`", clip_line(line)))
    };
    Some(format!(
        "the answer deletes this file, but with other content: line {} is {}, the answer has {}",
        at + 1,
        quoted(&file),
        quoted(&old)
    ))
}

/// Whether `bytes` are `text`, whatever the line endings.
pub(super) fn is_text(bytes: &[u8], text: &str) -> bool {
    bytes == text.as_bytes()
        || TextFile::decode_candidates(bytes)
            .is_ok_and(|sources| sources.iter().any(|source| source.lines().eq(text.lines())))
}

/// The lines that two versions of a file share, as far as both are text.
pub(super) fn equal_lines(old: &[u8], new: &[u8]) -> Vec<EqualRun> {
    let [old, new] = [old, new].map(|bytes| bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>());
    equal_runs(&old, &new)
}

fn edit_failure(outcomes: Vec<HunkOutcome>, hunks: &[Hunk]) -> FileEditFailure {
    let of = hunks.len();
    let mut not = FileEditFailure { reasons: Vec::new(), fitting: Vec::new() };
    for (at, (outcome, wanted)) in outcomes.into_iter().zip(hunks).enumerate() {
        let hunk = at + 1;
        // What is asked about a hunk without a place is what it looks for.
        let wanted_hunk =
            || Box::new(Hunk { before: wanted.before.clone(), line: wanted.line, ..Hunk::default() });
        let reason = match outcome {
            HunkOutcome::Fits(report) => {
                not.fitting.push((hunk, report));
                continue;
            }
            HunkOutcome::NotFound(nearest) => {
                RefusalReason::NotFound { hunk, of, wanted: wanted_hunk(), nearest }
            }
            HunkOutcome::Ambiguous { places, count, rung } => {
                RefusalReason::Ambiguous { hunk, of, wanted: wanted_hunk(), places, count, rung }
            }
            HunkOutcome::Failed(text) => RefusalReason::Hunk { hunk, of, wanted: wanted_hunk(), text },
        };
        not.reasons.push((wanted.line, reason));
    }
    not
}
