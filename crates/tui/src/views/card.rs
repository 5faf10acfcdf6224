//! A plan as a card: one line for the whole, one per file, then what needs a look.
//!
//! ```text
//! ▸ feat: round totals to cents                                    3 files  +24 −5
//!     M  src/cart.ts                  +12 −5   2 exact, 1 re-indented
//!   ! src/cart.ts line 87 says `total`, the answer says `sum`
//! ```

use relaycode_change::plan::{
    FileChangeKind, FilePlan, FindingKind, HunkDifference, HunkReport, HunkState, Plan, PlanFinding,
};
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{GitFileMode, Proposal, ProposalNote, UnreadBlock};

use crate::{
    Glyph, LIST_LIMIT, OutputStyle, PaintRole, StyledText, cells, justified_line, line_counts, more_line,
    narrow, outcome, pluralize,
};

/// `name` is used if the answer has no title; the time, if there is one, stands before it:
/// `▸ 14:02  feat: round totals to cents`.
pub fn text(clock: &str, proposal: &Proposal, plan: &Plan, name: &str, style: &OutputStyle) -> String {
    let of_file = |file: &FilePlan| -> Vec<String> {
        file.hunks.iter().flat_map(|hunk| &hunk.differences).map(|d| difference(file, d, style)).collect()
    };
    let mut looks: Vec<String> = plan.files.iter().flat_map(of_file).collect();
    // The differing words say more than the finding about the same place.
    let told_above = |finding: &&PlanFinding| {
        let same_place = |hunk: &HunkReport| {
            let first = hunk.differences.first().map(|difference| difference.line);
            first.is_some() && first == finding.line && hunk.doubt.is_none()
        };
        finding.kind == FindingKind::Near
            && plan.files.iter().any(|file| file.path == finding.path && file.hunks.iter().any(same_place))
    };
    let findings = plan.findings.iter().filter(|finding| !told_above(finding));
    looks.extend(findings.map(|f| finding(f, style)));
    let sign = style.paint(PaintRole::Attention, "!");
    title_row(clock, proposal, plan, name, style)
        + &rows(plan, style)
        + &marked_list(&looks, &sign, style)
        + &remarks(&plan.notes, &proposal.unread, style)
        + &conclusion(plan, style)
}

/// Notes on the answer, and its blocks that were not read.
pub(crate) fn remarks(notes: &[ProposalNote], unread: &[UnreadBlock], style: &OutputStyle) -> String {
    let note = |note: &ProposalNote| match note.line {
        0 => style.safe(&note.text).into_owned(),
        line => format!("line {line} of the answer: {}", style.safe(&note.text)),
    };
    let block = |block: &UnreadBlock| {
        format!("not read, line {} of the answer: {}", block.line, style.safe(&block.reason))
    };
    let dot = style.glyph(Glyph::Dot);
    let (notes, blocks): (Vec<_>, Vec<_>) =
        (notes.iter().map(note).collect(), unread.iter().map(block).collect());
    marked_list(&notes, dot, style) + &marked_list(&blocks, dot, style)
}

/// Lines with a sign before each, cut after a few.
pub(crate) fn marked_list(lines: &[String], sign: &str, style: &OutputStyle) -> String {
    let mut out = String::new();
    for line in lines.iter().take(LIST_LIMIT) {
        let wrapped = style.wrap(&format!("    {line}"), 4);
        out += &format!("  {sign} {}\n", wrapped.trim_start());
    }
    out + &more_line(style, &format!("  {sign} "), lines.len())
}

/// The first line only, for an answer without a plan: `▸ 14:02  feat: round totals to cents`.
pub fn title_line(clock: &str, proposal: &Proposal, name: &str, style: &OutputStyle) -> String {
    let sign = style.glyph(Glyph::Incoming);
    let clock = format!("{clock}  ");
    let title = title(proposal).unwrap_or(name);
    if style.is_narrow() {
        return narrow::title_rows(style, StyledText::plain(&format!("{sign} {clock}")), 2, title);
    }
    let room = style.columns().saturating_sub(clock.len() + 3);
    let title = style.paint(PaintRole::Strong, &style.clip(title, room));
    format!("{sign} {clock}{title}\n")
}

fn title_row(clock: &str, proposal: &Proposal, plan: &Plan, name: &str, style: &OutputStyle) -> String {
    let changing = || plan.files.iter().filter(|f| f.change != FileChangeKind::Unchanged);
    let (added, removed) = changing().fold((0, 0), |(a, r), f| (a + f.added, r + f.removed));
    let totals =
        [StyledText::plain(&pluralize(changing().count(), "file")), line_counts(style, added, removed)];
    let sign = style.glyph(Glyph::Incoming);
    let clock = if clock.is_empty() { String::new() } else { format!("{clock}  ") };
    let lead = StyledText::plain(&format!("{sign} {clock}"));
    title_with_totals(style, lead, title(proposal).unwrap_or(name), totals)
}

/// A change's title after a `lead`, and its size at the end of the line or below.
pub(crate) fn title_with_totals(
    style: &OutputStyle,
    lead: StyledText,
    title: &str,
    totals: [StyledText; 2],
) -> String {
    let gap = if totals[1].cells > 0 { "  " } else { "" };
    let cells = totals[0].cells + gap.len() + totals[1].cells;
    let room = style.columns().saturating_sub(cells + lead.cells + 3);
    let clipped = style.clip(title, room);
    if style.width.is_some() && clipped != style.safe(title) {
        let below = narrow::flow_parts(style, StyledText::plain("  "), 2, 2, &totals);
        return narrow::title_rows(style, lead, 2, title) + &below;
    }
    let left = lead.append(&StyledText::painted(style, PaintRole::Strong, &clipped));
    let [files, lines] = totals;
    justified_line(style, &left, &files.append(&StyledText::plain(gap)).append(&lines))
}

/// The author's name for the change.
fn title(proposal: &Proposal) -> Option<&str> {
    let control = &proposal.control;
    let texts = [&control.git_commit_msg, &control.prompt_summary].into_iter().flatten();
    texts.flat_map(|text| text.lines()).map(str::trim).find(|line| !line.is_empty())
}

/// A file in a list: both names of a renamed one, its counts, and what else is said of it.
pub(crate) struct CardFileRow<'a> {
    pub(crate) letter: char,
    pub(crate) from: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) counts: StyledText,
    pub(crate) about: String,
}

fn rows(plan: &Plan, style: &OutputStyle) -> String {
    /// Cells for the letter before and for counts and matches after the path.
    const BESIDE: usize = 42;
    /// One very long name does not move the columns of all the others.
    const NAME_CELLS: usize = 48;
    let rows = plan.files.iter().map(|file| CardFileRow {
        letter: file.change.letter(),
        from: file.renamed_from.as_ref().map(RelPath::as_str),
        path: file.path.as_str(),
        counts: line_counts(style, file.added, file.removed),
        about: about(file),
    });
    file_list(rows.collect(), BESIDE, NAME_CELLS, style)
}

/// A line for each file, or several on a narrow terminal. `beside`: cells for what stands before and after a path;
/// `aligned`: names up to this width are padded.
pub(crate) fn file_list(
    rows: Vec<CardFileRow<'_>>,
    beside: usize,
    aligned: usize,
    style: &OutputStyle,
) -> String {
    // On a narrow terminal a name that is too long gets its own line.
    let bounded = style.width.filter(|_| !style.is_narrow());
    let room = bounded.map_or(usize::MAX, |width| width.saturating_sub(beside).max(20));
    let half = if room == usize::MAX { room } else { room / 2 };
    let name = |row: &CardFileRow<'_>| match row.from {
        None => style.path(row.path, room),
        Some(from) => {
            let [from, to] = style.rename((from, row.path), (half, half));
            format!("{from} {} {to}", style.glyph(Glyph::Arrow))
        }
    };
    let names: Vec<StyledText> = rows.iter().map(|row| StyledText::plain(&name(row))).collect();
    let name_cells = names.iter().map(|name| name.cells).filter(|n| *n <= aligned).max().unwrap_or(0);
    let count_cells = rows.iter().map(|row| row.counts.cells).max().unwrap_or(0);
    let line_cells = |(row, name): (&CardFileRow<'_>, &StyledText)| {
        let before = 4 + 3 + name.cells.max(name_cells);
        match (row.counts.cells, cells(&row.about)) {
            (0, 0) => before,
            (counts, 0) => before + 2 + counts,
            (_, about) => before + 2 + count_cells + 3 + about,
        }
    };
    if style.is_narrow() && rows.iter().zip(&names).map(line_cells).any(|cells| cells > style.columns()) {
        let stacked = |row: &CardFileRow<'_>| {
            narrow::file_rows(style, row.letter, (row.from, row.path), &row.counts, &row.about)
        };
        return rows.iter().map(stacked).collect();
    }
    let line = |(row, name): (CardFileRow<'_>, StyledText)| {
        let (name, counts) = (name.padded(name_cells).text, row.counts.padded(count_cells).text);
        let line =
            format!("    {}  {name}  {counts}   {}", row.letter, style.paint(PaintRole::Dim, &row.about));
        format!("{}\n", line.trim_end())
    };
    rows.into_iter().zip(names).map(line).collect()
}

/// How a file's edits matched, and what else happens to it.
fn about(file: &FilePlan) -> String {
    let mut parts = matches(file);
    parts.extend(match (file.mode_before, file.mode_after) {
        (Some(GitFileMode::Regular), Some(GitFileMode::Executable)) => Some("becomes executable".into()),
        (None, Some(GitFileMode::Executable)) => Some("executable".into()),
        (Some(GitFileMode::Executable), Some(GitFileMode::Regular)) => Some("no longer executable".into()),
        _ => None,
    });
    if file.change == FileChangeKind::Unchanged && file.hunks.is_empty() {
        parts.push("already in".into());
    }
    let empty = file.after.as_ref().is_some_and(Vec::is_empty);
    if file.change == FileChangeKind::Added && empty {
        parts.push("empty".into());
    }
    parts.join(", ")
}

/// `2 exact`, `1 re-indented`, in order of first occurrence.
fn matches(file: &FilePlan) -> Vec<String> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for hunk in &file.hunks {
        let word = match hunk.state {
            HunkState::AlreadyIn => "already in",
            HunkState::Applied => word(hunk.rung),
        };
        match found.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => found.push((word, 1)),
        }
    }
    let text = |(word, count): (&str, usize)| format!("{count} {word}");
    found.into_iter().map(text).collect()
}

/// A rung as people call it.
fn word(rung: &'static str) -> &'static str {
    match rung {
        "indent" => "re-indented",
        "tab unit" => "re-tabbed",
        "line endings" => "with other line endings",
        "trailing blanks" => "but for trailing blanks",
        "punctuation" => "but for punctuation",
        "blank lines" => "but for blank lines",
        "escapes" => "unescaped",
        "elision" => "around an elision",
        "three-way" => "merged",
        rung => rung,
    }
}

fn difference(file: &FilePlan, difference: &HunkDifference, style: &OutputStyle) -> String {
    /// Most cells of a quoted part.
    const QUOTED: usize = 60;
    let (there, said) = differing(&difference.file, &difference.answer);
    let room = QUOTED.min(style.columns().saturating_sub(7));
    let (there, said) = (style.excerpt(there, room), style.excerpt(said, room));
    let place = format!("{} line {}", style.path_in(file.path.as_str(), 4), difference.line);
    match (there.is_empty(), said.is_empty()) {
        (true, _) => format!("{place} is not there, the answer says `{said}`"),
        (_, true) => format!("{place} says `{there}`, the answer leaves it out"),
        _ => format!("{place} says `{there}`, the answer says `{said}`"),
    }
}

/// The words in which two lines differ; the whole lines if one of them has no word there.
fn differing<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let same = |(x, y): &(char, char)| x == y;
    let mut start: usize = a.chars().zip(b.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    while let Some(c) = a[..start].chars().next_back().filter(|c| in_word(*c)) {
        start -= c.len_utf8();
    }
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let backwards = rest_a.chars().rev().zip(rest_b.chars().rev());
    let mut end: usize = backwards.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    while let Some(c) = rest_a[rest_a.len() - end..].chars().next().filter(|c| in_word(*c)) {
        end -= c.len_utf8();
    }
    let (part_a, part_b) = (&rest_a[..rest_a.len() - end], &rest_b[..rest_b.len() - end]);
    if part_a.trim().is_empty() || part_b.trim().is_empty() { (a, b) } else { (part_a, part_b) }
}

fn finding(finding: &PlanFinding, style: &OutputStyle) -> String {
    let path = style.path_in(finding.path.as_str(), 5);
    // What was found may itself begin with the line that it is about.
    let place = match finding.line.filter(|_| !finding.text.starts_with("line ")) {
        Some(line) => format!("{path} line {line}"),
        None => path,
    };
    let kind = finding.kind.name();
    format!("{place}: {} ({kind})", style.safe(&finding.text))
}

/// Shown if there is nothing left to do.
fn conclusion(plan: &Plan, style: &OutputStyle) -> String {
    if plan.files.iter().any(|file| file.change != FileChangeKind::Unchanged || file.has_doubt()) {
        return String::new();
    }
    outcome::success_line(style, "everything is already in")
}

#[cfg(test)]
mod tests {
    use super::differing;

    #[test]
    fn only_the_words_that_differ_are_shown() {
        let cases = [
            ("  return sum;", "  return total;", ("sum", "total")),
            ("foo(bar_one, x)", "foo(bar_two, x)", ("bar_one", "bar_two")),
            ("a b c", "a c", ("b c", "c")),
            ("f(a)", "f()", ("f(a)", "f()")),
            ("", "x", ("", "x")),
            ("größe = 1", "größer = 1", ("größe", "größer")),
            ("same", "same", ("same", "same")),
        ];
        for (a, b, expected) in cases {
            assert_eq!(differing(a, b), expected);
        }
    }
}
