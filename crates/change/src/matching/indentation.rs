//! Translates indentation: how the author's leading blanks become the file's, learnt from the matched lines
//! and applied to the new ones. If the matched lines do not agree on one rule, or the rule cannot be
//! applied, there is no translation.

use super::normalize::{indentation, is_blank};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndentationKind {
    Tabs,
    Blanks,
}

impl IndentationKind {
    /// `None` for a line that is not indented. A single blank is the margin of a comment.
    pub(super) fn of(line: &str) -> Option<IndentationKind> {
        let kind = match line.as_bytes() {
            [b'\t', ..] => IndentationKind::Tabs,
            [b' ', b' ', ..] => IndentationKind::Blanks,
            _ => return None,
        };
        (!is_blank(line)).then_some(kind)
    }

    /// The kind of all lines that are indented, if they agree.
    pub(super) fn common(lines: &[&str]) -> Option<IndentationKind> {
        let mut kinds = lines.iter().filter_map(|line| IndentationKind::of(line));
        let first = kinds.next()?;
        kinds.all(|kind| kind == first).then_some(first)
    }
}

/// Turns the author's indentation into the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IndentationRule {
    Same,
    /// The file has `prefix` in front.
    Deeper {
        prefix: String,
    },
    /// The author has `prefix` in front.
    Shallower {
        prefix: String,
    },
    /// Only the first line lost its indentation (cut off when the text was copied).
    FirstLine {
        prefix: String,
    },
    /// The context lines of a diff lack the column of the marker.
    MarkerColumn,
    /// The author indents by `unit` columns where the file has one tab.
    ToTabs {
        /// Columns per tab.
        unit: usize,
        /// Columns that the author has in front of everything (negative: lacks).
        offset: isize,
    },
    /// The author indents by one tab where the file has `unit` blanks.
    ToBlanks {
        /// Columns per tab.
        unit: usize,
        /// Columns that the file has in front of everything (negative: lacks).
        offset: isize,
    },
    /// Both indent with blanks, by different units.
    Scaled {
        author: usize,
        file: usize,
    },
}

/// The author's line, and the file's.
pub(super) type IndentationPair<'a> = (&'a str, &'a str);

fn pairs_of_indentation<'a>(lines: &[IndentationPair<'a>]) -> Vec<(&'a str, &'a str)> {
    lines
        .iter()
        .filter(|(author, file)| !is_blank(author) && !is_blank(file))
        .map(|(author, file)| (indentation(author), indentation(file)))
        .collect()
}

/// The rule if the whole block is shifted by one fixed prefix.
pub(super) fn uniform_rule(lines: &[IndentationPair<'_>]) -> Option<IndentationRule> {
    let pairs = pairs_of_indentation(lines);
    let (author, file) = *pairs.first()?;
    if pairs.iter().all(|(a, f)| a == f) {
        return Some(IndentationRule::Same);
    }
    if let Some(prefix) = file.strip_suffix(author)
        && pairs.iter().all(|(a, f)| f.strip_prefix(prefix) == Some(*a))
    {
        return Some(IndentationRule::Deeper { prefix: prefix.to_string() });
    }
    if let Some(prefix) = author.strip_suffix(file)
        && pairs.iter().all(|(a, f)| a.strip_prefix(prefix) == Some(*f))
    {
        return Some(IndentationRule::Shallower { prefix: prefix.to_string() });
    }
    if pairs.len() > 1
        && author.len() < file.len()
        && let Some(prefix) = file.strip_suffix(author)
        && pairs[1..].iter().all(|(a, f)| a == f)
    {
        return Some(IndentationRule::FirstLine { prefix: prefix.to_string() });
    }
    None
}

/// Most common first.
const UNITS: [usize; 6] = [4, 2, 8, 3, 6, 1];

/// The rule if author and file indent by different units. `author_lines` are all lines of the author, to
/// learn the unit from if the matched ones leave it open.
pub(super) fn unit_rule(lines: &[IndentationPair<'_>], author_lines: &[&str]) -> Option<IndentationRule> {
    let pairs = pairs_of_indentation(lines);
    let author_tabs = pairs.iter().any(|(a, _)| a.contains('\t'));
    let file_tabs = pairs.iter().any(|(_, f)| f.contains('\t'));
    match (author_tabs, file_tabs) {
        (false, true) => tabs_rule(&pairs, author_lines),
        (true, false) => blanks_rule(&pairs),
        (false, false) => scaled_rule(&pairs),
        (true, true) => None,
    }
}

/// Tabs, then blanks: the two counts, or `None` for any other mixture.
fn tabs_and_blanks(indent: &str) -> Option<(usize, usize)> {
    let rest = indent.trim_start_matches('\t');
    let tabs = indent.len() - rest.len();
    rest.bytes().all(|b| b == b' ').then_some((tabs, rest.len()))
}

fn blanks(indent: &str) -> Option<usize> {
    indent.bytes().all(|b| b == b' ').then_some(indent.len())
}

/// Lengths of lines are bounded far below `isize::MAX`.
fn signed(n: usize) -> isize {
    isize::try_from(n).unwrap_or(isize::MAX)
}

/// The offset `a - (unit * tabs + rest)`, if it is the same for all pairs.
fn common_offset(pairs: &[(usize, (usize, usize))], unit: usize) -> Option<isize> {
    let offset =
        |(columns, (tabs, rest)): &(usize, (usize, usize))| signed(*columns) - signed(unit * tabs + rest);
    let first = offset(pairs.first()?);
    pairs.iter().all(|pair| offset(pair) == first).then_some(first)
}

/// Prefers a unit without an offset; among those with one, only the one that `preferred` names or that is
/// the only one.
fn choose_unit(pairs: &[(usize, (usize, usize))], preferred: Option<usize>) -> Option<(usize, isize)> {
    let found: Vec<(usize, isize)> =
        UNITS.iter().filter_map(|unit| common_offset(pairs, *unit).map(|offset| (*unit, offset))).collect();
    if let Some(fit) = found.iter().find(|(unit, offset)| *offset == 0 && Some(*unit) == preferred) {
        return Some(*fit);
    }
    if let Some(fit) = found.iter().find(|(_, offset)| *offset == 0) {
        return Some(*fit);
    }
    match found.as_slice() {
        [only] => Some(*only),
        several => several.iter().find(|(unit, _)| Some(*unit) == preferred).copied(),
    }
}

fn tabs_rule(pairs: &[(&str, &str)], author_lines: &[&str]) -> Option<IndentationRule> {
    let counted: Option<Vec<_>> =
        pairs.iter().map(|(a, f)| Some((blanks(a)?, tabs_and_blanks(f)?))).collect();
    let (unit, offset) = choose_unit(&counted?, author_unit(author_lines))?;
    Some(IndentationRule::ToTabs { unit, offset })
}

fn blanks_rule(pairs: &[(&str, &str)]) -> Option<IndentationRule> {
    let counted: Option<Vec<_>> =
        pairs.iter().map(|(a, f)| Some((blanks(f)?, tabs_and_blanks(a)?))).collect();
    let (unit, offset) = choose_unit(&counted?, None)?;
    Some(IndentationRule::ToBlanks { unit, offset })
}

fn scaled_rule(pairs: &[(&str, &str)]) -> Option<IndentationRule> {
    let counted: Option<Vec<(usize, usize)>> =
        pairs.iter().map(|(a, f)| Some((blanks(a)?, blanks(f)?))).collect();
    let counted = counted?;
    let (a, f) = *counted.iter().filter(|(a, f)| *a > 0 && *f > 0).min()?;
    let fits = counted.iter().all(|(x, y)| x * f == y * a);
    // A line at the margin shows that the unit differs and not the offset.
    let shown = counted.contains(&(0, 0)) || counted.iter().any(|(x, _)| *x > 0 && *x != a);
    (fits && shown && a != f).then_some(IndentationRule::Scaled { author: a, file: f })
}

/// The smallest step between the author's indentations.
fn author_unit(lines: &[&str]) -> Option<usize> {
    let mut widths: Vec<usize> =
        lines.iter().filter(|line| !is_blank(line)).filter_map(|line| blanks(indentation(line))).collect();
    widths.sort_unstable();
    widths.dedup();
    widths.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 1).min()
}

impl IndentationRule {
    /// A line of the author as the file would indent it. `first`: it is the first line of the block;
    /// `context`: it is a context line of a diff. `None`: the rule does not cover it.
    pub(super) fn translate(&self, line: &str, first: bool, context: bool) -> Option<String> {
        // A blank line has no place in the block's structure; only its unit counts.
        let shifted = matches!(
            self,
            IndentationRule::Deeper { .. }
                | IndentationRule::Shallower { .. }
                | IndentationRule::MarkerColumn
        );
        if line.is_empty() || (shifted && is_blank(line)) {
            return Some(line.to_string());
        }
        let indent = indentation(line);
        let content = &line[indent.len()..];
        let indent = match self {
            IndentationRule::Same => indent.to_string(),
            IndentationRule::Deeper { prefix } => format!("{prefix}{indent}"),
            IndentationRule::Shallower { prefix } => indent.strip_prefix(prefix.as_str())?.to_string(),
            IndentationRule::FirstLine { prefix } if first => format!("{prefix}{indent}"),
            IndentationRule::FirstLine { .. } => indent.to_string(),
            IndentationRule::MarkerColumn if context => format!(" {indent}"),
            IndentationRule::MarkerColumn => indent.to_string(),
            IndentationRule::ToTabs { unit, offset } => {
                let columns = usize::try_from(signed(blanks(indent)?) - offset).ok()?;
                "\t".repeat(columns / unit) + &" ".repeat(columns % unit)
            }
            IndentationRule::ToBlanks { unit, offset } => {
                let (tabs, rest) = tabs_and_blanks(indent)?;
                " ".repeat(usize::try_from(signed(unit * tabs + rest) + offset).ok()?)
            }
            IndentationRule::Scaled { author, file } => {
                let columns = blanks(indent)?;
                if columns % author != 0 {
                    return None;
                }
                " ".repeat(columns / author * file)
            }
        };
        Some(format!("{indent}{content}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_shift_is_learnt_and_carried_over() {
        let rule = uniform_rule(&[("if x:", "    if x:"), ("  y", "      y")]).unwrap();
        assert_eq!(rule.translate("    z", false, false).unwrap(), "        z");
        let rule = uniform_rule(&[("    a", "  a"), ("      b", "    b")]).unwrap();
        assert_eq!(rule.translate("    c", false, false).unwrap(), "  c");
        assert_eq!(rule.translate(" c", false, false), None);
        assert_eq!(uniform_rule(&[("a", " a"), ("b", "   b")]), None);
    }

    #[test]
    fn a_first_line_that_lost_its_blanks_is_mended() {
        let rule = uniform_rule(&[("a {", "    a {"), ("        b", "        b")]).unwrap();
        assert_eq!(rule.translate("c {", true, false).unwrap(), "    c {");
        assert_eq!(rule.translate("        d", false, false).unwrap(), "        d");
    }

    #[test]
    fn blanks_become_tabs_and_tabs_become_blanks() {
        let rule = unit_rule(&[("a", "a"), ("    b", "\tb"), ("      c", "\t  c")], &[]).unwrap();
        assert_eq!(rule.translate("        d", false, false).unwrap(), "\t\td");
        assert_eq!(rule.translate("          e", false, false).unwrap(), "\t\t  e");
        let rule = unit_rule(&[("\ta", "  a"), ("\t\tb", "    b")], &[]).unwrap();
        assert_eq!(rule.translate("\t\t\tc", false, false).unwrap(), "      c");
    }

    #[test]
    fn another_width_of_blanks_is_a_matter_of_scale() {
        let rule = unit_rule(&[("a", "a"), ("  b", "    b")], &[]).unwrap();
        assert_eq!(rule.translate("    c", false, false).unwrap(), "        c");
        assert_eq!(rule.translate(" d", false, false), None);
        assert_eq!(unit_rule(&[("  b", "    b")], &[]), None);
    }

    #[test]
    fn the_authors_step_decides_where_the_match_leaves_the_unit_open() {
        let rule = unit_rule(&[("  a", "\t\t\ta")], &["  a", "    b"]).unwrap();
        assert_eq!(rule, IndentationRule::ToTabs { unit: 2, offset: -4 });
    }
}
