//! Makes a failing case smaller while it keeps breaking the same law, so that a person can read it.

use std::time::{Duration, Instant};

use super::mutate::boundary;
use super::{FuzzCase, check};

/// Most time spent on one case.
const EFFORT: Duration = Duration::from_secs(20);

/// A smaller case that breaks `law` too.
pub fn minimise(case: &FuzzCase, law: &str) -> FuzzCase {
    let deadline = Instant::now() + EFFORT;
    let mut best = case.clone();
    let fails = |case: &FuzzCase| matches!(check(case), Err(broken) if broken.law == law);
    for index in (0..best.files.len()).rev() {
        let mut smaller = best.clone();
        smaller.files.remove(index);
        if fails(&smaller) {
            best = smaller;
        }
    }
    best.response = shrink(&best.response, deadline, |response| {
        let files = best.files.clone();
        fails(&FuzzCase { response, files })
    });
    for index in 0..best.files.len() {
        let Ok(text) = String::from_utf8(best.files[index].1.clone()) else {
            continue;
        };
        let shrunk = shrink(&text, deadline, |text| {
            let mut smaller = best.clone();
            smaller.files[index].1 = text.into_bytes();
            fails(&smaller)
        });
        best.files[index].1 = shrunk.into_bytes();
    }
    best
}

/// Removes pieces of `text`, ever smaller ones, as long as `fails` still holds.
fn shrink(text: &str, deadline: Instant, fails: impl Fn(String) -> bool) -> String {
    let mut text = text.to_owned();
    let mut piece = text.len().next_power_of_two() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < text.len() {
            if Instant::now() > deadline {
                return text;
            }
            let start = boundary(&text, at);
            let end = boundary(&text, start + piece).max(start);
            let without = format!("{}{}", &text[..start], &text[end..]);
            if end > start && fails(without.clone()) {
                text = without;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    text
}
