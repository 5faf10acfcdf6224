//! The kinds of variants of one changed region.

use relaycode_change::proposal::Hunk;

use super::edits::Region;
use super::{RealEdit, Variant};
use crate::engine;

/// How many lines of context are left.
const CONTEXTS: [usize; 4] = [0, 1, 2, 3];

/// The region with `context` lines around it, in the old file.
struct Cut<'a> {
    region: &'a Region,
    file: Vec<String>,
    context: usize,
    above: Vec<String>,
    below: Vec<String>,
}

impl Cut<'_> {
    fn with(&self, middle: &[String]) -> Vec<String> {
        [&self.above[..], middle, &self.below[..]].concat()
    }

    fn search(&self) -> Vec<String> {
        self.with(&self.region.old)
    }

    fn replace(&self) -> Vec<String> {
        self.with(&self.region.new)
    }

    /// The file with `lines` where the region's old lines are.
    fn file_with(&self, lines: &[String]) -> Vec<String> {
        let end = self.region.start + self.region.old.len();
        [&self.file[..self.region.start], lines, &self.file[end..]].concat()
    }
}

/// Every variant of `region`.
pub(super) fn all(edit: &RealEdit, region: &Region) -> Vec<Variant> {
    let file: Vec<String> = edit.before.lines().map(str::to_owned).collect();
    let mut variants = Vec::new();
    for context in CONTEXTS {
        let end = region.start + region.old.len();
        let above = file[region.start.saturating_sub(context)..region.start].to_vec();
        let below = file[end..(end + context).min(file.len())].to_vec();
        let cut = Cut { region, file: file.clone(), context, above, below };
        if cut.search().iter().all(|line| line.trim().is_empty()) {
            continue;
        }
        of_cut(edit, &cut, &mut variants);
    }
    variants
}

fn of_cut(edit: &RealEdit, cut: &Cut<'_>, variants: &mut Vec<Variant>) {
    let (search, replace) = (cut.search(), cut.replace());
    let whole = cut.file_with(&cut.region.new);
    let mut add =
        |kind: &str, file: &[String], hunk: Hunk, right: Option<&[String]>, may_do_nothing: bool| {
            variants.push(Variant {
                kind: format!("{kind}, {} lines of context", cut.context),
                region: cut.region.number,
                file: text(file),
                has_twin: match right {
                    None => stands(file, &solid_ends(&hunk.before)),
                    // The blank line that is too many stands at another place with the same text.
                    Some(_) => hunk.before != search && stands_but_for_blanks(file, &hunk.before),
                },
                proposal: engine::proposal(vec![engine::write(edit.path.clone(), vec![hunk])]),
                right: right.map(text),
                may_do_nothing,
            });
        };
    let swap = || Hunk { line: 1, before: search.clone(), after: replace.clone(), ..Hunk::default() };
    let at = |start: usize| {
        let above = cut.above.len();
        let kept = (0..above).map(|i| (i, i)).chain(
            (0..cut.below.len())
                .map(|i| (above + cut.region.old.len() + i, above + cut.region.new.len() + i)),
        );
        Hunk { kept: Some(kept.collect()), claimed: Some(start - above + 1), ..swap() }
    };
    add("context cut", &cut.file, swap(), Some(&whole), false);
    add("context cut, as a diff", &cut.file, at(cut.region.start), Some(&whole), false);
    add("already applied", &whole, swap(), None, true);
    add("already applied, as a diff", &whole, at(cut.region.start), None, true);
    blank_ends(cut, &mut add);
    if cut.region.old.iter().all(|line| line.trim().is_empty()) {
        return;
    }
    let takes_away = cut.region.new.iter().all(|line| line.trim().is_empty());
    let removed = cut.file_with(&[]);
    // Where lines only go, the file without them is the result.
    add("target removed", &removed, swap(), None, takes_away);
    add("target removed, as a diff", &removed, at(cut.region.start), None, takes_away);
    if stands(&removed, &search) {
        return;
    }
    let changed: Vec<String> = cut.region.old.iter().map(|line| format!("{line} // mine")).collect();
    let changed = cut.file_with(&changed);
    if !takes_away && !stands(&changed, &search) {
        add("result elsewhere", &[&changed[..], &replace[..]].concat(), swap(), None, false);
        add("result elsewhere, target gone", &[&removed[..], &replace[..]].concat(), swap(), None, false);
    }
    let moved = [&removed[..], &search[..]].concat();
    let moved_right = [&removed[..], &replace[..]].concat();
    add("target moved", &moved, swap(), Some(&moved_right), false);
    let deeper: Vec<String> = search.iter().map(|line| indented(line)).collect();
    add("twin at another depth", &[&removed[..], &deeper[..]].concat(), swap(), None, takes_away);
    let margin = search.iter().any(|line| line.starts_with(|c: char| !c.is_whitespace()));
    if !margin {
        let shallower: Vec<String> = search.iter().map(|line| dedented(line)).collect();
        add("twin at a lesser depth", &[&removed[..], &shallower[..]].concat(), swap(), None, takes_away);
    }
    let both = [&cut.file[..], &deeper[..]].concat();
    let both_right = [&whole[..], &deeper[..]].concat();
    add("twin beside the target", &both, swap(), Some(&both_right), false);
}

/// Adds a variant: its kind, the file, the edit, the only right result, and whether nothing may happen too.
type AddVariant<'a> = &'a mut dyn FnMut(&str, &[String], Hunk, Option<&[String]>, bool);

/// Blank lines at the ends of the old text that the file does not have, first and second time.
fn blank_ends(cut: &Cut<'_>, add: AddVariant<'_>) {
    let (search, replace) = (cut.search(), cut.replace());
    let end = cut.region.start + cut.region.old.len() + cut.below.len();
    // Next to blank lines of its own nobody can tell which one is too many.
    let blank = |lines: &[String]| lines.last().is_none_or(|line| line.trim().is_empty());
    if blank(&search) || blank(&replace) || cut.file.get(end).is_none_or(|line| line.trim().is_empty()) {
        return;
    }
    let blank = [String::new()];
    let before = [&search[..], &blank].concat();
    let both = Hunk { before: before.clone(), after: [&replace[..], &blank].concat(), ..Hunk::default() };
    let whole = cut.file_with(&cut.region.new);
    // Some real edits add what stands right there already: doing nothing is as good.
    let around = cut.region.start.saturating_sub(replace.len())..(end + replace.len()).min(cut.file.len());
    let was_in = stands_but_for_blanks(&cut.file[around], &replace);
    add("blank line at the ends", &cut.file, both.clone(), Some(&whole), was_in);
    add("blank line at the ends, again", &whole, both, None, true);
    let one = Hunk { before, after: replace, ..Hunk::default() };
    add("blank line at the end of the old text", &cut.file, one.clone(), Some(&whole), was_in);
    add("blank line at the end of the old text, again", &whole, one, None, true);
}

fn indented(line: &str) -> String {
    if line.trim().is_empty() { line.to_owned() } else { format!("    {line}") }
}

fn dedented(line: &str) -> String {
    line.strip_prefix("    ").or(line.strip_prefix(char::is_whitespace)).unwrap_or(line).to_owned()
}

/// Without blank lines at its ends.
fn solid_ends(lines: &[String]) -> Vec<String> {
    let solid = |line: &String| !line.trim().is_empty();
    let first = lines.iter().position(solid).unwrap_or(0);
    let last = lines.iter().rposition(solid).map_or(first, |last| last + 1);
    lines[first..last].to_vec()
}

fn stands(file: &[String], lines: &[String]) -> bool {
    !lines.is_empty() && file.windows(lines.len()).any(|window| window == lines)
}

fn stands_but_for_blanks(file: &[String], lines: &[String]) -> bool {
    let same = |(a, b): (&String, &String)| a.trim_end() == b.trim_end();
    file.windows(lines.len()).any(|window| window.iter().zip(lines).all(same))
}

fn text(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}
