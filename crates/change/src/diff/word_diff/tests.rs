//! What reads well as a change of words, and the bounds of the search for it.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::diff::{DiffLine, FileLineEnding};

fn hunk(lines: &[&str]) -> DiffHunk {
    let lines = lines.iter().map(|line| {
        let kind = match line.as_bytes()[0] {
            b'-' => DiffLineKind::Removed,
            b'+' => DiffLineKind::Added,
            _ => DiffLineKind::Context,
        };
        DiffLine { kind, text: line[1..].to_owned(), ending: FileLineEnding::Lf, old: None, new: None }
    });
    DiffHunk { old_start: 1, old_lines: 0, new_start: 1, new_lines: 0, lines: lines.collect() }
}

/// The lines with changes in brackets; a line without partner has a `!`.
fn marked(lines: &[&str]) -> Vec<String> {
    let hunk = hunk(lines);
    let show = |(line, words): (&DiffLine, &LineWords)| {
        let mut text = line.text.clone();
        for range in words.changed.iter().rev() {
            text.insert(range.end, ']');
            text.insert(range.start, '[');
        }
        let alone = line.kind != DiffLineKind::Context && words.partner.is_none();
        format!("{}{}{text}", line.kind.sign(), if alone { "!" } else { "" })
    };
    hunk.lines.iter().zip(&changed_words(&hunk)).map(show).collect()
}

#[test]
fn only_the_words_that_differ_are_marked() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["-let total = 0;", "+let sum = 0;"], &["-let [total] = 0;", "+let [sum] = 0;"]),
        (&["-f(a, b)", "+f(a, b, c)"], &["-f(a, b)", "+f(a, b[, c])"]),
        (&["-    return x;", "+\treturn x;"], &["-[    ]return x;", "+[\t]return x;"]),
        (&["-total_sum += 1", "+total_sum += 12"], &["-total_sum += [1]", "+total_sum += [12]"]),
        (&["-  ", "+"], &["-[  ]", "+"]),
        (&["-let größe = 1;", "+let grösse = 1;"], &["-let [größe] = 1;", "+let [grösse] = 1;"]),
        (&["-今日は晴れです", "+今日は雨です"], &["-今日は[晴れ]です", "+今日は[雨]です"]),
    ];
    for (lines, expected) in cases {
        assert_eq!(marked(lines), *expected);
    }
}

#[test]
fn ranges_with_only_blanks_between_are_one() {
    let lines = ["-if ready { go(now) }", "+if not yet { go(now) }"];
    assert_eq!(marked(&lines), ["-if [ready] { go(now) }", "+if [not yet] { go(now) }"]);
    let lines = ["-call(one two, three, kept)", "+call(a b, three, kept)"];
    assert_eq!(marked(&lines), ["-call([one two], three, kept)", "+call([a b], three, kept)"]);
}

#[test]
fn lines_that_are_hardly_alike_stay_alone() {
    assert_eq!(marked(&["-foo(a, b);", "+bar(c, d);"]), ["-!foo(a, b);", "+!bar(c, d);"]);
    assert_eq!(marked(&["-", "+let x = 1;"]), ["-!", "+!let x = 1;"]);
    assert_eq!(marked(&["-gone", " kept", "+gone"]), ["-!gone", " kept", "+!gone"], "another run");
}

#[test]
fn a_changed_ending_is_a_partner_without_marks() {
    let words = changed_words(&hunk(&["-same", "+same"]));
    assert_eq!(words[0], LineWords { partner: Some(1), changed: vec![] });
    assert_eq!(words[1], LineWords { partner: Some(0), changed: vec![] });
}

#[test]
fn lines_are_paired_with_what_they_became_and_in_order() {
    let partners = |lines: &[&str]| -> Vec<Option<usize>> {
        changed_words(&hunk(lines)).into_iter().map(|words| words.partner).collect()
    };
    let lines = ["-let a = first(1);", "+use std::fmt;", "+", "+let a = first(2);"];
    assert_eq!(partners(&lines), [Some(3), None, None, Some(0)]);
    let lines = ["-alpha(one, two)", "-}", "-beta(three)", "+beta(four, three)", "+}"];
    assert_eq!(partners(&lines), [None, None, Some(3), Some(2), None]);
    let lines = ["-a = long_name + 1", "-b = long_name + 2", "+a = long_name + 3", "+b = long_name + 4"];
    assert_eq!(partners(&lines), [Some(2), Some(3), Some(0), Some(1)]);
}

#[test]
fn long_runs_go_by_position_or_not_at_all() {
    let run = |removed: usize, added: usize| -> Vec<LineWords> {
        let removed = (0..removed).map(|n| format!("-let name = {n};"));
        let added = (0..added).map(|n| format!("+let name = {n}0;"));
        let lines: Vec<String> = removed.chain(added).collect();
        changed_words(&hunk(&lines.iter().map(String::as_str).collect::<Vec<_>>()))
    };
    assert!(run(RUN_LINES, 3).iter().any(|line| line.partner.is_some()));
    assert!(run(RUN_LINES + 1, 3).iter().all(|line| line.partner.is_none()));
    let long = run(RUN_LINES + 1, RUN_LINES + 1);
    assert!(long[..=RUN_LINES].iter().enumerate().all(|(n, line)| line.partner == Some(n + RUN_LINES + 1)));
}

#[test]
fn long_lines_are_not_compared() {
    let line = |sign: char, bytes: usize| format!("{sign}{}{sign}", "a".repeat(bytes - 1));
    for (bytes, paired) in [(LINE_BYTES, true), (LINE_BYTES + 1, false)] {
        let words = changed_words(&hunk(&[&line('-', bytes), &line('+', bytes)]));
        assert_eq!(words[0].partner.is_some(), paired, "{bytes}");
    }
}

#[test]
fn a_hostile_hunk_is_read_in_time() {
    let start = Instant::now();
    let line = |sign: char, seed: usize| {
        let signs = (0..LINE_BYTES / 2).map(|n| [";+", "-(", ")*", "/,"][(n * n + seed * n) % 4]);
        format!("{sign}{}", signs.collect::<String>())
    };
    for count in [RUN_LINES, 500] {
        let removed = (0..count).map(|n| line('-', n));
        let lines: Vec<String> = removed.chain((0..count).map(|n| line('+', n + 1))).collect();
        changed_words(&hunk(&lines.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

proptest! {
    /// What is left of both partners without their ranges is the same, up to blanks.
    #[test]
    fn outside_the_ranges_partners_are_equal(
        old in proptest::collection::vec("[ab é日\u{301}(;]{0,12}", 0..6),
        new in proptest::collection::vec("[ab é日\u{301}(;]{0,12}", 0..6),
    ) {
        let lines: Vec<String> =
            old.iter().map(|l| format!("-{l}")).chain(new.iter().map(|l| format!("+{l}"))).collect();
        let hunk = hunk(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let words = changed_words(&hunk);
        let rest = |at: usize| -> String {
            let mut text = hunk.lines[at].text.clone();
            for range in words[at].changed.iter().rev() {
                text.replace_range(range.clone(), "");
            }
            text.split_whitespace().collect()
        };
        for (at, line) in words.iter().enumerate() {
            prop_assert!(line.changed.windows(2).all(|pair| pair[0].end < pair[1].start));
            prop_assert!(line.changed.iter().all(|range| !range.is_empty()));
            match line.partner {
                Some(partner) => {
                    prop_assert_eq!(words[partner].partner, Some(at));
                    prop_assert_eq!(rest(at), rest(partner));
                }
                None => prop_assert!(line.changed.is_empty()),
            }
        }
    }
}
