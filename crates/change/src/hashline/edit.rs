//! Carries edits out: every anchor is found before anything is changed, and untouched lines keep their bytes.

use std::ops::Range;

use relaycode_text::plural::pluralize;

use super::anchor::LineAnchor;
use super::sections::{HashlineAction, HashlineEdit, InsertPlace};
use super::shown::{AnchorProblem, LineFollower, LineSplice, ShownFile};
use super::stale::{StaleAnchor, StaleReport, UnseenLines};
use crate::lines::text_file::{FileDecodeError, FileEncodeError, TextFile, TextFilePiece};

/// A file after its edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashlineResult {
    pub bytes: Vec<u8>,
    /// In order, of the lines as they were.
    pub splices: Vec<LineSplice>,
    /// For the author.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HashlineError {
    /// Anchors that do not stand for the lines that were shown, or lines between two of them that never were.
    #[error("{}", .0.text)]
    Stale(StaleReport),
    #[error("Line {line} does not exist (the file has {})", pluralize(*.count, "line"))]
    NoSuchLine { line: usize, count: usize },
    /// Two edits of one line.
    #[error("line {line}: this edit and the one of line {other} change the same lines; make them one")]
    Overlap { line: usize, other: usize },
    #[error("the edits change nothing: the lines are like that already")]
    Unchanged,
    #[error(transparent)]
    Decode(#[from] FileDecodeError),
    #[error(transparent)]
    Encode(#[from] FileEncodeError),
    #[error(
        "the file is not UTF-8, and the new text would come out differently in each encoding it may have"
    )]
    Encoding,
}

/// Carries out the edits of one file, whose present content is `bytes`; `shown` is what their author knows of it.
///
/// # Errors
/// Nothing was edited, and why.
pub fn edit_text(
    edits: &[HashlineEdit],
    shown: Option<&ShownFile>,
    bytes: &[u8],
) -> Result<HashlineResult, HashlineError> {
    let sources = TextFile::decode_candidates(bytes)?;
    let mut made: Option<HashlineResult> = None;
    for source in &sources {
        let result = edit_source(edits, shown, bytes, source)?;
        match &made {
            Some(other) if other.bytes != result.bytes => return Err(HashlineError::Encoding),
            Some(_) => {}
            None => made = Some(result),
        }
    }
    made.ok_or(HashlineError::Encoding)
}

fn edit_source(
    edits: &[HashlineEdit],
    shown: Option<&ShownFile>,
    bytes: &[u8],
    source: &TextFile,
) -> Result<HashlineResult, HashlineError> {
    let now: Vec<&str> = source.lines().collect();
    let follower = shown.filter(|shown| !shown.is(bytes)).map(|shown| shown.follow(&now));
    let finder = AnchorFinder { shown, follower, now: &now };
    let mut warnings = Vec::new();
    let mut stale: Vec<StaleAnchor> = Vec::new();
    let mut unseen: Vec<UnseenLines> = Vec::new();
    let mut found: Vec<(usize, LineSplice)> = Vec::new();
    for HashlineEdit { line, action } in edits {
        match finder.range(action) {
            Ok(range) => {
                let (HashlineAction::Insert { lines, .. } | HashlineAction::Replace { lines, .. }) = action;
                unseen.extend(finder.unseen(action, &range));
                found.push((*line, LineSplice { range, lines: lines.clone() }));
            }
            Err(anchors) => {
                stale
                    .extend(anchors.into_iter().filter(|anchor| !stale.contains(anchor)).collect::<Vec<_>>());
            }
        }
    }
    if let Some(beyond) = stale.iter().find(|stale| stale.anchor.line > now.len() && stale.text.is_none()) {
        return Err(HashlineError::NoSuchLine { line: beyond.anchor.line, count: now.len() });
    }
    if !stale.is_empty() || !unseen.is_empty() {
        return Err(HashlineError::Stale(StaleReport::new(&stale, &unseen, &now)));
    }
    if finder.follower.is_some() {
        let said = "the file has changed since it was shown; the edits were made where their lines stand now";
        warnings.push(said.to_string());
    }
    // An insertion stands before a replacement that begins at its place; equal places keep their order.
    found.sort_by_key(|(_, splice)| (splice.range.start, splice.range.end));
    check_overlaps(&found)?;
    warnings.extend(found.iter().filter_map(|(line, splice)| repeated_neighbour(*line, splice, &now)));
    let splices: Vec<LineSplice> = found.into_iter().map(|(_, splice)| splice).collect();
    let bytes_now = source.rebuild(&to_pieces(&splices, now.len()), None)?;
    if bytes_now == bytes {
        return Err(HashlineError::Unchanged);
    }
    Ok(HashlineResult { bytes: bytes_now, splices, warnings })
}

/// Finds the lines that anchors stand for.
struct AnchorFinder<'a> {
    shown: Option<&'a ShownFile>,
    /// If somebody else changed the file since.
    follower: Option<LineFollower<'a>>,
    now: &'a [&'a str],
}

impl AnchorFinder<'_> {
    /// The lines of the present file that an edit replaces; empty: where it inserts.
    fn range(&self, action: &HashlineAction) -> Result<Range<usize>, Vec<StaleAnchor>> {
        let end = self.now.len();
        let (anchors, range) = match action {
            HashlineAction::Insert { place: InsertPlace::Top, .. } => return Ok(0..0),
            HashlineAction::Insert { place: InsertPlace::Bottom, .. } => return Ok(end..end),
            HashlineAction::Insert { place: InsertPlace::Before(anchor), .. } => {
                let line = self.line(*anchor)?;
                (vec![*anchor], line..line)
            }
            HashlineAction::Insert { place: InsertPlace::After(anchor), .. } => {
                let line = self.line(*anchor)?;
                (vec![*anchor], line + 1..line + 1)
            }
            HashlineAction::Replace { first, last, .. } => {
                let (start, stop) = match (self.line(*first), self.line(*last)) {
                    (Ok(start), Ok(stop)) => (start, stop),
                    (first, last) => {
                        return Err([first.err(), last.err()].into_iter().flatten().flatten().collect());
                    }
                };
                // Edits since may have turned the order of what was shown at different times.
                if stop < start {
                    let stale = |anchor| StaleAnchor { anchor, problem: AnchorProblem::Changed, text: None };
                    return Err(vec![stale(*first), stale(*last)]);
                }
                (vec![*first, *last], start..stop + 1)
            }
        };
        let Some(follower) = &self.follower else { return Ok(range) };
        // The anchored line has to be followed, too, so that an insertion stays beside it.
        let kept = if range.is_empty() { self.anchored(action, &range) } else { range.clone() };
        let followed = follower.range(&kept).map(|lines| {
            let start = if range.start == kept.start { lines.start } else { lines.end };
            let end = if range.end == kept.end { lines.end } else { lines.start };
            start..end.max(start)
        });
        followed.ok_or_else(|| {
            let stale = |anchor: LineAnchor| StaleAnchor {
                anchor,
                problem: AnchorProblem::Changed,
                text: self.line(anchor).ok().and_then(|line| Some(self.shown?.line(line)?.to_string())),
            };
            anchors.into_iter().map(stale).collect()
        })
    }

    /// What of the lines that an edit replaces, which are these now, its author was never shown. Nobody who has not seen a line
    /// means to replace it.
    fn unseen(&self, action: &HashlineAction, now: &Range<usize>) -> Option<UnseenLines> {
        let HashlineAction::Replace { first, last, .. } = action else { return None };
        let shown = self.shown?;
        // Followed or not, it is the same lines.
        let start = self.line(*first).ok()?;
        let unseen = shown.unseen(start..start + now.len()).into_iter();
        let lines: Vec<usize> = unseen.map(|line| line - start + now.start).collect();
        (!lines.is_empty()).then_some(UnseenLines { first: *first, last: *last, lines })
    }

    /// The line beside which an insertion stands.
    fn anchored(&self, action: &HashlineAction, range: &Range<usize>) -> Range<usize> {
        match action {
            HashlineAction::Insert { place: InsertPlace::After(_), .. } => range.start - 1..range.start,
            _ => range.start..range.start + 1,
        }
    }

    /// In the text as it was last known.
    fn line(&self, anchor: LineAnchor) -> Result<usize, Vec<StaleAnchor>> {
        let found = self.shown.map_or(Err(AnchorProblem::NotShown), |shown| shown.find(anchor));
        found.map_err(|problem| vec![StaleAnchor { anchor, problem, text: None }])
    }
}

fn check_overlaps(found: &[(usize, LineSplice)]) -> Result<(), HashlineError> {
    for pair in found.windows(2) {
        let [(other, before), (line, after)] = pair else { continue };
        if after.range.start < before.range.end {
            let (line, other) = (*line.max(other), *line.min(other));
            return Err(HashlineError::Overlap { line, other });
        }
    }
    Ok(())
}

/// New lines that repeat what stands beside them, which models write by mistake.
fn repeated_neighbour(line: usize, splice: &LineSplice, now: &[&str]) -> Option<String> {
    let (first, last) = (splice.lines.first()?, splice.lines.last()?);
    let above = splice.range.start.checked_sub(1).and_then(|at| now.get(at));
    let below = now.get(splice.range.end);
    let repeats = |new: &String, old: Option<&&str>| {
        old.is_some_and(|old| *old == new.as_str() && new.contains(char::is_alphanumeric))
    };
    let which = match (repeats(first, above), repeats(last, below)) {
        (true, _) => "above",
        (_, true) => "below",
        _ => return None,
    };
    Some(format!("line {line}: the new text repeats the line {which} it, which now stands there twice"))
}

fn to_pieces(splices: &[LineSplice], count: usize) -> Vec<TextFilePiece> {
    let mut pieces = Vec::with_capacity(count);
    let mut at = 0;
    for LineSplice { range, lines } in splices {
        pieces.extend((at..range.start).map(TextFilePiece::Keep));
        let like = |index: usize| match range.is_empty() {
            true => range.start.saturating_sub(1),
            false => (range.start + index).min(range.end - 1),
        };
        let new = lines.iter().enumerate();
        pieces.extend(new.map(|(index, text)| TextFilePiece::New { text: text.clone(), like: like(index) }));
        at = range.end;
    }
    pieces.extend((at..count).map(TextFilePiece::Keep));
    pieces
}
