//! The prompt history at its longest: what one more prompt costs, and a search.

use std::path::Path;
use std::time::Instant;

use anyhow::ensure;
use relaycode_session::PromptHistory;
use relaycode_session::home::history::MAX_ROWS;
use relaycode_testkit::random::Random;

use super::made::text;
use crate::child::scratch;
use crate::measure::{BenchReport, Measured, milliseconds, times};

/// Milliseconds.
const ADD_BELOW: f64 = 5.0;
const SEARCH_BELOW: f64 = 50.0;
/// One prompt in this many has the rare word.
const RARE: i64 = 2_500;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    if !report.wants("session, history") {
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
    let most = milliseconds(added.iter().max().copied().unwrap_or_default());
    let row = Measured::from_times("session, history, add", added).below(ADD_BELOW);
    report.add(row.note(format!("{MAX_ROWS} prompts; max {most:.3}")));
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
        report.add(Measured::from_times(name, taken).below(SEARCH_BELOW).note(format!("{found} found")));
    }
    Ok(())
}
