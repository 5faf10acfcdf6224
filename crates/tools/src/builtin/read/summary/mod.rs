//! A long file without the bodies of what it declares. Lines that are shown are those of the file; a line that is left out
//! was not shown, and the line that stands for it names the selector that shows it.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use relaycode_change::proposal::path::RelPath;
use relaycode_change::syntax::outline::elidable_lines;
use relaycode_text::plural::pluralize;

use crate::file_text::{LineForm, MAX_OUTPUT_BYTES};

/// What finding the bodies may take.
const SUMMARY_BUDGET: Duration = Duration::from_secs(1);
/// A summary that is cut, too, shows at least so many times the lines of the file's beginning.
const WORTHWHILE: usize = 2;

/// The file, or its beginning, without some of its lines.
pub(super) struct FileSummary {
    pub text: String,
    /// Lines that are shown, from 0, in order.
    pub shown: Vec<usize>,
    /// Places where lines are left out, and how many lines.
    pub elided_spans: usize,
    pub elided_lines: usize,
    /// Lines from the beginning that are shown or left out.
    pub covered: usize,
}

impl FileSummary {
    /// Of a file of which only the first `plain` lines would be shown otherwise; at most `most` lines.
    pub(super) fn of(
        (path, shown_path): (&Path, &str),
        lines: &[&str],
        form: LineForm,
        (plain, most): (usize, usize),
    ) -> Option<FileSummary> {
        let name = RelPath::parse(path.file_name()?.to_str()?).ok()?;
        let spans = elidable_lines(&name, &(lines.join("\n") + "\n"), SUMMARY_BUDGET)?;
        let summary = FileSummary::print(shown_path, lines, form, &spans, most);
        let is_whole = summary.covered == lines.len();
        let worthwhile = is_whole || summary.covered >= plain.saturating_mul(WORTHWHILE);
        (worthwhile && summary.elided_spans > 0).then_some(summary)
    }

    fn print(path: &str, lines: &[&str], form: LineForm, spans: &[Range<usize>], most: usize) -> FileSummary {
        let mut summary = FileSummary {
            text: String::new(),
            shown: Vec::new(),
            elided_spans: 0,
            elided_lines: 0,
            covered: 0,
        };
        let mut spans = spans.iter().peekable();
        while summary.covered < lines.len() {
            let at = summary.covered;
            let span = spans.next_if(|span| span.start == at);
            let line = match span {
                Some(span) => {
                    let count = pluralize(span.len(), "line");
                    let range = format!("{}-{}", span.start + 1, span.end);
                    format!("… {count} ({range}): read {path}:{range}\n")
                }
                None => form.print(at + 1, lines[at]) + "\n",
            };
            let is_full = summary.shown.len() + summary.elided_spans >= most
                || summary.text.len() + line.len() > MAX_OUTPUT_BYTES;
            if is_full {
                break;
            }
            summary.text.push_str(&line);
            match span {
                Some(span) => {
                    summary.elided_spans += 1;
                    summary.elided_lines += span.len();
                    summary.covered = span.end;
                }
                None => {
                    summary.shown.push(at);
                    summary.covered += 1;
                }
            }
        }
        summary
    }
}
