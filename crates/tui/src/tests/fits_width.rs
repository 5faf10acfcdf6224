//! Every view fits its terminal, from 20 columns on. Only a single word that cannot be broken, on its own
//! line, may be wider.

use relaycode_testkit::hostile_text;
use relaycode_text::width::cells;

use super::hostile_text::{loaded, printed};
use super::*;

const WIDTHS: [usize; 7] = [20, 24, 30, 40, 60, 80, 100];
/// Views of foreign text shown as it is (code, output, what is copied), and of half a line.
const AS_IT_IS: [&str; 7] =
    ["diff", "diff side by side", "blame", "for the model", "repair", "gate, output", "gate, verdict"];
/// From this width on a few views may have long lines.
const ROOMY: usize = 80;
const AS_KNOWN: [&str; 2] = ["refusal", "log"];

#[test]
fn every_view_fits_its_width() {
    let loaded = loaded();
    let ordinary = [
        "a",
        "src/cart.ts",
        "feat: round totals to cents",
        "packages/checkout/src/components/cart/totals/index.test.ts",
        "the linter says a good deal about this, and all of it in words of an ordinary length",
        "日本語 のタイトル と 長い 説明 が 続く",
    ];
    let hostile = (0..hostile_text::string_count()).step_by(97).map(hostile_text::hostile_string);
    let mut wide = Vec::new();
    for said in ordinary.iter().map(|said| said.to_string()).chain(hostile) {
        // At the usual widths lines are not wrapped: long text there may be longer than the line.
        let usual = said.len() < 30 && !said.chars().any(is_unsafe);
        for width in WIDTHS.into_iter().filter(|width| *width < ROOMY || usual && said.is_ascii()) {
            for style in [PLAIN, ASCII].map(|style| OutputStyle { width: Some(width), ..style }) {
                wide.extend(too_wide(&printed(&said, &loaded, &style), width));
            }
        }
    }
    wide.sort();
    wide.dedup_by_key(|line| line.split(':').next().map(str::to_string));
    let first: Vec<String> = wide.iter().take(20).cloned().collect();
    assert!(wide.is_empty(), "{} lines\n{}", wide.len(), first.join("\n"));
}

/// The lines that are too wide, each with its view.
fn too_wide(views: &[(&'static str, String)], width: usize) -> Vec<String> {
    let mut wide = Vec::new();
    for (name, text) in views.iter().filter(|(name, _)| !AS_IT_IS.contains(name)) {
        let known = width >= ROOMY && AS_KNOWN.contains(name);
        let lines = text.lines().filter(|line| cells(line) > width && !one_word(line) && !known);
        wide.extend(lines.map(|line| format!("{name} at {width}: {line}")));
    }
    wide
}

/// Whether a line is just one word, after a sign or a number at most.
fn one_word(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    words.len() == 1 || words.len() == 2 && cells(words[0]) <= 2
}

#[test]
fn a_card_at_twenty_columns_says_everything() {
    let style = OutputStyle { width: Some(20), ..PLAIN };
    let text = card::text("14:02", &titled("feat: round totals"), &plan(), "answer.md", &style);
    let expected = "\
▸ 14:02  feat: round
  totals
  3 files  +4 −1
  M  src/cart.ts
     +2 −1
     2 exact, 1
     near, 1 already
     in
  A  src/money.ts
     +2
  R  src/old.ts
     → src/l…/old.ts
  ! src/cart.ts line
    87 says `total`,
    the answer says
    `sum`
  ! src/money.ts
    line 2: `rest of
    the code` stands
    for code that
    was left out
    (placeholder)
  · changeSummary
    names src/x.ts,
    which is not
    changed
";
    assert_eq!(text, expected);
}

#[test]
fn the_two_names_of_a_renamed_file_never_look_the_same() {
    let (old, new) = (
        format!("src/{}one{}", "x".repeat(90), "y".repeat(90)),
        format!("src/{}two{}", "x".repeat(90), "y".repeat(90)),
    );
    for width in [40, 80, 120] {
        let style = OutputStyle { width: Some(width), ..PLAIN };
        let [from, to] = style.rename((&old, &new), (width / 2, width / 2));
        assert_eq!([from, to], [old.clone(), new.clone()], "at {width}");
        let [from, to] = style.rename(("src/a.rs", &new), (width / 2, width / 2));
        assert!(from == "src/a.rs" && cells(&to) <= width / 2, "at {width}: {to}");
    }
}
