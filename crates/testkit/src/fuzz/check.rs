//! The laws that hold for any input: nothing panics; nothing takes longer than [`TIME_BOUND`]; a proposal
//! that is printed and read again is the same change; a plan keeps every byte above its first hunk and
//! removes no more lines than its hunks name; and reversing a plan's result gives the original bytes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use relaycode_change::lines::text_file::{FileLineEnding, TextFile};
use relaycode_change::plan::tree::MemoryTree;
use relaycode_change::plan::{FilePlan, NoSeenTexts, Plan, plan};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{EditBody, FileAction, Proposal};
use relaycode_change::response;
use rustix::time::{ClockId, clock_gettime};

use super::FuzzCase;
use crate::reverse_change;

/// For one case, in processor time: a busy machine takes longer for everything.
pub const TIME_BOUND: Duration = Duration::from_secs(2);

/// A law that a case breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LawViolation {
    /// Short and stable.
    pub law: &'static str,
    /// What was observed.
    pub what: String,
}

/// Runs one case through the engine; `Err` is the first law that does not hold.
pub fn check(case: &FuzzCase) -> Result<(), LawViolation> {
    let start = spent();
    let outcome = catch_unwind(AssertUnwindSafe(|| run(case)));
    let taken = spent().saturating_sub(start);
    match outcome {
        Err(panic) => Err(LawViolation { law: "panic", what: panic_text(panic.as_ref()) }),
        Ok(Err(broken)) => Err(broken),
        Ok(Ok(())) if taken > TIME_BOUND => {
            Err(LawViolation { law: "time", what: format!("{} ms", taken.as_millis()) })
        }
        Ok(Ok(())) => Ok(()),
    }
}

/// Processor time of this thread.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

fn run(case: &FuzzCase) -> Result<(), LawViolation> {
    let limits = PlanLimits::default();
    let Ok(proposal) = response::read(&case.response, &limits) else {
        return Ok(());
    };
    check_print(&proposal, &limits)?;
    let mut tree = MemoryTree::default();
    for (path, bytes) in &case.files {
        if let Ok(path) = RelPath::parse(path) {
            tree.insert(path, bytes.clone());
        }
    }
    // A damaged block stops the whole plan; the rest is tried too.
    let mut readable = proposal.clone();
    readable.unread.clear();
    for proposal in [&proposal, &readable] {
        if let Ok(plan) = plan(proposal, &tree, &NoSeenTexts, &limits) {
            check_plan(proposal, &plan)?;
        }
    }
    Ok(())
}

/// Printed and read again, a proposal has the same operations and control block.
fn check_print(proposal: &Proposal, limits: &PlanLimits) -> Result<(), LawViolation> {
    if proposal.operations.is_empty() {
        return Ok(());
    }
    // Reasoning is any text, a stray fence for example; only the change counts.
    let change = Proposal { reasoning: Vec::new(), ..proposal.clone() };
    let text = response::print(&change);
    // A line that ends in a carriage return cannot be told from one that ends in CRLF.
    if text.contains('\r') {
        return Ok(());
    }
    // Quoting may push a text that only just fits over the limit.
    let Ok(again) = response::read(&text, limits) else {
        return Ok(());
    };
    let one = change.without_positions();
    let two = again.without_positions();
    if one.operations == two.operations && one.control == two.control {
        return Ok(());
    }
    let pairs = one.operations.iter().zip(&two.operations);
    let index = pairs.take_while(|(a, b)| a == b).count();
    Err(LawViolation {
        law: "print",
        what: format!(
            "operation {} was {:?}\nand is {:?}\ncontrol was {:?}\nand is {:?}\nthrough\n{text}",
            index + 1,
            one.operations.get(index),
            two.operations.get(index),
            one.control,
            two.control,
        ),
    })
}

fn check_plan(proposal: &Proposal, plan: &Plan) -> Result<(), LawViolation> {
    for file in &plan.files {
        let (Some(before), Some(after)) = (&file.before, &file.after) else {
            continue;
        };
        if file.hunks.is_empty() {
            continue;
        }
        check_untouched(proposal, file, before, after)?;
        if let (Ok(before), Ok(after)) = (std::str::from_utf8(before), std::str::from_utf8(after)) {
            check_reverse(&file.path, before, after)?;
        }
    }
    Ok(())
}

/// Everything above the first hunk is unchanged, and no more lines are gone than hunks name.
fn check_untouched(
    proposal: &Proposal,
    file: &FilePlan,
    before: &[u8],
    after: &[u8],
) -> Result<(), LawViolation> {
    let first = file.hunks.iter().map(|hunk| hunk.used).min().unwrap_or(1);
    // The engine may or may not count a lone carriage return as a line end.
    let above = [newline_ends(before), line_ends(before)]
        .into_iter()
        .filter_map(|ends| ends.get(first.checked_sub(2)?).copied())
        .min()
        .unwrap_or(0);
    // The last line may gain the newline it lacked.
    if !after.starts_with(before[..above].trim_ascii_end()) {
        return Err(LawViolation {
            law: "untouched",
            what: format!("{}: bytes above line {first} changed", file.path),
        });
    }
    let named = hunk_lines(proposal, &file.path);
    // Blank and elided lines may go although no hunk spells them out.
    let spelt_out = file.hunks.iter().all(|hunk| hunk.rung == "exact");
    // If the last line goes and had no newline, the line above loses its own.
    let slack = usize::from(!before.ends_with(b"\n"));
    if spelt_out && file.removed > named.saturating_add(slack) {
        return Err(LawViolation {
            law: "untouched",
            what: format!("{}: {} lines go, the hunks name {named}", file.path, file.removed),
        });
    }
    Ok(())
}

/// The offset after every `
/// `.
fn newline_ends(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len()).filter(|at| bytes[*at] == b'\n').map(|at| at + 1).collect()
}

/// The offset after every `
/// `, `\r
/// ` and lone `\r`.
fn line_ends(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len())
        .filter(|at| bytes[*at] == b'\n' || (bytes[*at] == b'\r' && bytes.get(at + 1) != Some(&b'\n')))
        .map(|at| at + 1)
        .collect()
}

fn hunk_lines(proposal: &Proposal, wanted: &RelPath) -> usize {
    let bodies = proposal.operations.iter().filter_map(|operation| match &operation.action {
        FileAction::Write { path, edit, .. } if path == wanted => Some(&edit.body),
        _ => None,
    });
    bodies
        .map(|body| match body {
            EditBody::Hunks(hunks) => hunks.iter().map(|hunk| hunk.before.len()).sum(),
            EditBody::Whole { .. } => usize::MAX / 2,
        })
        .fold(0, usize::saturating_add)
}

/// Whether a lone carriage return ends a line of this file.
fn has_return_lines(text: &str) -> bool {
    let file = TextFile::decode_candidates(text.as_bytes()).ok().and_then(|files| files.into_iter().next());
    file.is_some_and(|file| {
        (0..file.line_count()).any(|line| matches!(file.line_ending(line), FileLineEnding::Cr))
    })
}

/// Reversing gives the original bytes.
fn check_reverse(path: &RelPath, before: &str, after: &str) -> Result<(), LawViolation> {
    // Lines that end in a lone carriage return cannot be told from text in a diff, and text into which a
    // change put a NUL is no longer text.
    if before == after || has_return_lines(before) || has_return_lines(after) || after.contains('\0') {
        return Ok(());
    }
    // An empty file does not remember its line endings, and a text that newly begins with a byte order mark
    // has one from then on.
    let marked = |text: &str| text.starts_with('\u{feff}');
    if (after.trim_start_matches('\u{feff}').is_empty() && before.contains('\r'))
        || marked(before) != marked(after)
    {
        return Ok(());
    }
    let mut tree = MemoryTree::default();
    tree.insert(path.clone(), after.as_bytes());
    let back = reverse_change::reverse_proposal(path, after, before);
    let plan = plan(&back, &tree, &NoSeenTexts, &PlanLimits::default()).map_err(|refused| LawViolation {
        law: "reverse",
        what: format!("{path}: the way back is refused: {:?}", refused.refusals),
    })?;
    let restored = plan.files.first().and_then(|file| file.after.as_deref()).unwrap_or_default();
    let restored = String::from_utf8_lossy(restored);
    let exact = reverse_change::is_uniform(before) && reverse_change::is_uniform(after);
    let same =
        if exact { restored == before } else { reverse_change::same_but_for_endings(&restored, before) };
    if same {
        return Ok(());
    }
    Err(LawViolation {
        law: "reverse",
        what: format!("{path}: was {before:?}\nbecame {after:?}\nand back {restored:?}"),
    })
}
