//! The prompt history when it is as long as it gets: what one more prompt costs, and a search.

use std::path::Path;
use std::time::Instant;

use anyhow::ensure;
use relaycode_session::PromptHistory;
use relaycode_session::home::history::MAX_ROWS;
use relaycode_testkit::random::Random;

use super::made::text;
use crate::child::scratch;
use crate::measure::{Measured, times};

/// Milliseconds.
const ADD_BELOW: f64 = 5.0;
const SEARCH_BELOW: f64 = 50.0;
/// One prompt in so many has the rare word.
const RARE: i64 = 2_500;

/// Measures both.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    if !wanted("session, history") {
        return Ok(());
    }
    let scratch = scratch()?;
    let mut history = PromptHistory::open(&scratch.path().join("history.db"))?;
    let mut random = Random::new(4);
    let mut added = Vec::new();
    for number in 0..MAX_ROWS {
        let mut prompt = format!("{number}: {}", text(&mut random, 40, 400));
        if number % RARE == 0 {
            prompt.push_str(" zebra crossing");
        }
        let start = Instant::now();
        history.add(&prompt, Path::new("/home/someone/shop"), number)?;
        added.push(start.elapsed());
    }
    let most = added.iter().max().copied().unwrap_or_default().as_secs_f64() * 1e3;
    let mut add = Measured::from_times("session, history, add".to_owned(), added, Some(ADD_BELOW));
    add.note = format!("{MAX_ROWS} prompts; max {most:.3}");
    keep(add);
    for (what, query, least) in [
        ("rare word", "zebra", 20),
        ("half a word", "discount zeb", 1),
        ("common words", "basket total", 20),
        ("nothing found", "xylophone", 0),
        ("no words", "=> *", 0),
    ] {
        let mut found = 0;
        let taken = times(|| found = history.search(query, 20).map_or(0, |prompts| prompts.len()));
        ensure!(found >= least, "`{query}` finds {found} prompts");
        let name = format!("session, history, search, {what}");
        let mut search = Measured::from_times(name, taken, Some(SEARCH_BELOW));
        search.note = format!("{found} found");
        keep(search);
    }
    Ok(())
}
