//! One edit on the bytes of one file.

use super::{HunkReport, HunkState, Reason};
use crate::matching::{Matched, Outcome, match_hunks};
use crate::proposal::{Body, Edit, Hunk};
use crate::source::Source;

/// What an edit makes of a file.
pub(super) struct Edited {
    /// The new bytes.
    pub bytes: Vec<u8>,
    /// How each hunk matched.
    pub hunks: Vec<HunkReport>,
    /// A remark, if there is something to say.
    pub note: Option<String>,
}

/// Why an edit does not work, and which of its hunks would.
pub(super) struct NotEdited {
    /// The reasons, each with the line of the response.
    pub reasons: Vec<(usize, Reason)>,
    /// The hunks that fit, with their numbers from 1.
    pub fitting: Vec<(usize, HunkReport)>,
}

impl NotEdited {
    fn because(line: usize, reason: Reason) -> NotEdited {
        NotEdited { reasons: vec![(line, reason)], fitting: Vec::new() }
    }
}

/// The bytes of a new file.
pub(super) fn create(edit: &Edit, line: usize) -> Result<Edited, NotEdited> {
    let text = match &edit.body {
        Body::Whole { text, .. } => text.clone(),
        Body::Hunks(hunks) if !hunks.is_empty() && hunks.iter().all(|hunk| hunk.before.is_empty()) => {
            joined(hunks)
        }
        Body::Hunks(_) => {
            let text =
                "the file does not exist, so there is nothing to edit; send its whole content to create it";
            return Err(NotEdited::because(line, Reason::Conflict { text: text.to_string() }));
        }
    };
    Ok(Edited { bytes: text.into_bytes(), hunks: Vec::new(), note: None })
}

fn joined(hunks: &[Hunk]) -> String {
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

/// `bytes` with `edit` carried out. `line` is the response's, for reasons about the whole file.
pub(super) fn change(bytes: &[u8], edit: &Edit, seen: &[String], line: usize) -> Result<Edited, NotEdited> {
    match &edit.body {
        Body::Whole { text, .. } => Ok(replace_whole(bytes, text)),
        Body::Hunks(hunks) if hunks.is_empty() => {
            Ok(Edited { bytes: bytes.to_vec(), hunks: Vec::new(), note: None })
        }
        Body::Hunks(hunks) => put_in(bytes, hunks, seen, line),
    }
}

/// A whole file takes the place of any bytes. Where the old ones are text, the new text is written
/// the way they were: encoding, line endings, final newline.
fn replace_whole(bytes: &[u8], text: &str) -> Edited {
    let old = Source::candidates(bytes).ok().and_then(|candidates| candidates.into_iter().next());
    let Some(old) = old else {
        let note = "the old content is not text; the new one is written as UTF-8".to_string();
        return Edited { bytes: text.as_bytes().to_vec(), hunks: Vec::new(), note: Some(note) };
    };
    match old.encode_whole(text) {
        Ok(bytes) => Edited { bytes, hunks: Vec::new(), note: None },
        Err(error) => {
            let note = format!("the file changes from {} to UTF-8: {error}", old.encoding());
            Edited { bytes: text.as_bytes().to_vec(), hunks: Vec::new(), note: Some(note) }
        }
    }
}

fn put_in(bytes: &[u8], hunks: &[Hunk], seen: &[String], line: usize) -> Result<Edited, NotEdited> {
    let sources = Source::candidates(bytes)
        .map_err(|error| NotEdited::because(line, Reason::Encoding { text: error.to_string() }))?;
    let encoding = |text: String| NotEdited::because(line, Reason::Encoding { text });
    let mut made: Option<Edited> = None;
    let mut failed: Option<NotEdited> = None;
    for source in &sources {
        let edited = match put_into(source, bytes, hunks, seen, line) {
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
    // An encoding that was only guessed must be the only one to fit if the new text needs it; one
    // that fits where others fail has its proof in the old text that it made readable.
    made.ok_or_else(|| failed.unwrap_or_else(|| encoding("the file's encoding is not known".to_string())))
}

fn put_into(
    source: &Source,
    old: &[u8],
    hunks: &[Hunk],
    seen: &[String],
    line: usize,
) -> Result<Edited, NotEdited> {
    let Matched { outcomes, pieces } = match_hunks(source, hunks, seen);
    let Some(pieces) = pieces else { return Err(not_edited(outcomes, hunks)) };
    let fits = |outcome| if let Outcome::Fits(report) = outcome { Some(report) } else { None };
    let mut reports: Vec<HunkReport> = outcomes.into_iter().filter_map(fits).collect();
    let bytes = source
        .rebuild(&pieces, said_final_newline(source, hunks, &reports))
        .map_err(|error| NotEdited::because(line, Reason::Encoding { text: error.to_string() }))?;
    let unchanged = reports.iter().all(|report| report.state == HunkState::AlreadyIn);
    if let Some(last) = reports.last_mut().filter(|_| unchanged && bytes != old) {
        // Only the final newline changes, which no line shows.
        last.state = HunkState::Applied;
    }
    Ok(Edited { bytes, hunks: reports, note: None })
}

/// What the hunks say about the final newline. A mark counts only on a hunk that reaches the end of
/// the file, and not on a last line that stays: the file knows better.
fn said_final_newline(source: &Source, hunks: &[Hunk], reports: &[HunkReport]) -> Option<bool> {
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

fn not_edited(outcomes: Vec<Outcome>, hunks: &[Hunk]) -> NotEdited {
    let of = hunks.len();
    let mut not = NotEdited { reasons: Vec::new(), fitting: Vec::new() };
    for (at, (outcome, wanted)) in outcomes.into_iter().zip(hunks).enumerate() {
        let hunk = at + 1;
        let wanted_hunk = || Box::new(wanted.clone());
        let reason = match outcome {
            Outcome::Fits(report) => {
                not.fitting.push((hunk, report));
                continue;
            }
            Outcome::NotFound(nearest) => Reason::NotFound { hunk, of, wanted: wanted_hunk(), nearest },
            Outcome::Ambiguous { places, count, rung } => {
                Reason::Ambiguous { hunk, of, wanted: wanted_hunk(), places, count, rung }
            }
            Outcome::Failed(text) => Reason::Hunk { hunk, of, wanted: wanted_hunk(), text },
        };
        not.reasons.push((wanted.line, reason));
    }
    not
}
