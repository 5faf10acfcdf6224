use proptest::prelude::*;

use super::*;

fn hits(texts: &[&str], query: &str) -> Vec<String> {
    let texts: Arc<[String]> = texts.iter().map(ToString::to_string).collect();
    let found = FuzzyIndex::new(Arc::clone(&texts)).search(query, 10);
    found.hits.iter().map(|hit| texts[hit.index].clone()).collect()
}

/// The text with its matched characters in brackets.
fn marked(query: &str, text: &str) -> String {
    let found = FuzzyQuery::new(query).find(text).expect("it matches");
    let mark = |(at, c): (usize, char)| match found.positions.contains(&at) {
        true => format!("[{c}]"),
        false => c.to_string(),
    };
    text.char_indices().map(mark).collect::<String>().replace("][", "")
}

#[test]
fn beginnings_of_words_count_more_than_letters_within() {
    assert_eq!(hits(&["src/arm.rs", "src/main.rs", "parma"], "rm")[0], "parma");
    assert_eq!(
        hits(&["crates/tui/src/lib.rs", "crates/tui/src/theme.rs", "utls.rs"], "tuth")[0],
        "crates/tui/src/theme.rs"
    );
    assert_eq!(hits(&["notifyList", "nicely"], "nl")[0], "notifyList");
    assert_eq!(marked("mrs", "crates/main.rs"), "crates/[m]ain.[rs]");
    assert_eq!(marked("fb", "fooBar/xfb"), "[f]oo[B]ar/xfb");
    assert_eq!(marked("ab", "xaxab"), "xax[ab]");
}

#[test]
fn among_equals_the_shorter_is_first_then_the_earlier() {
    assert_eq!(hits(&["main.rs.orig", "main.rs", "lain.rs"], "main"), ["main.rs", "main.rs.orig"]);
    assert_eq!(hits(&["a/x", "b/x"], "x"), ["a/x", "b/x"]);
    assert_eq!(hits(&["b", "a"], ""), ["b", "a"]);
}

#[test]
fn a_capital_letter_minds_the_case_and_words_may_come_in_any_order() {
    assert_eq!(hits(&["readme", "README.md"], "RE"), ["README.md"]);
    assert_eq!(hits(&["readme", "README.md"], "re"), ["readme", "README.md"]);
    assert_eq!(hits(&["src/input/mod.rs", "src/mod.rs"], "mod input"), ["src/input/mod.rs"]);
    assert_eq!(hits(&["Ärger", "arger"], "är"), ["Ärger"]);
    assert_eq!(marked("日", "src/日本"), "src/[日]本");
}

#[test]
fn texts_and_queries_are_looked_at_up_to_a_limit() {
    let long = format!("{}x", "a".repeat(TEXT_BYTES));
    assert_eq!(FuzzyQuery::new("x").find(&long), None);
    assert!(FuzzyQuery::new(&"a".repeat(QUERY_CHARS + 9)).find(&"a".repeat(QUERY_CHARS)).is_some());
    let split = format!("{}é", "a".repeat(TEXT_BYTES - 1));
    assert_eq!(FuzzyQuery::new("é").find(&split), None);
}

/// Tries every way.
fn best_by_trying(query: &str, text: &str) -> Option<i32> {
    fn walk(letters: &[char], text: &[char], from: usize, last: Option<usize>) -> Option<i32> {
        let Some((letter, rest)) = letters.split_first() else { return Some(0) };
        let ways =
            (from..text.len()).filter(|at| text[*at].to_ascii_lowercase() == *letter).filter_map(|at| {
                let value = match last {
                    None => align::place_value(text, at, None),
                    Some(last) => align::place_value(text, at, Some(last)),
                };
                walk(rest, text, at + 1, Some(at)).map(|more| more + value)
            });
        ways.max()
    }
    let letters: Vec<char> = query.chars().collect();
    walk(&letters, &text.chars().collect::<Vec<_>>(), 0, None)
}

proptest! {
    #[test]
    fn the_best_way_is_found(query in "[abc/]{1,4}", text in "[abcABC/_1]{0,10}") {
        let found = FuzzyQuery::new(&query).find(&text);
        prop_assert_eq!(found.map(|found| found.score), best_by_trying(&query, &text));
    }

    #[test]
    fn positions_spell_the_query(query in "[abcä]{1,5}", text in any::<String>(), more in "[abcäÄABC/ ]{0,30}") {
        let text = format!("{text}{more}");
        if let Some(found) = FuzzyQuery::new(&query).find(&text) {
            let spelt: String = found.positions.iter().filter_map(|at| text[*at..].chars().next()).map(fold_case).collect();
            prop_assert_eq!(spelt, query.clone());
            let mut aligner = FuzzyAligner::default();
            prop_assert_eq!(FuzzyQuery::new(&query).score(&mut aligner, &text), found.score);
            prop_assert!(found.score <= FuzzyQuery::new(&query).best_score());
        }
    }

    #[test]
    fn typing_finds_what_a_fresh_search_finds(
        texts in proptest::collection::vec("[abAB/ ]{0,8}", 0..20),
        steps in proptest::collection::vec("[abAB/ ]{0,4}", 1..6),
        limit in 0_usize..6,
    ) {
        let texts: Arc<[String]> = texts.into();
        let mut typed = FuzzyIndex::new(Arc::clone(&texts));
        for query in steps.iter().flat_map(|step| (0..=step.len()).map(|end| &step[..end])) {
            let fresh = FuzzyIndex::new(Arc::clone(&texts)).search(query, limit);
            prop_assert_eq!(typed.search(query, limit), fresh);
        }
    }
}
