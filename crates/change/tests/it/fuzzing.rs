//! The quick part of the fuzz harness; `cargo xtask fuzz` runs it for as long as you like.

use relaycode_testkit::fuzz;

/// Takes a few seconds in a debug build.
const CASES: u64 = 4_000;
const SEED: u64 = 20;

#[test]
fn spoilt_cases_break_no_law() {
    let seeds = fuzz::built_in();
    for index in 0..CASES {
        let case = fuzz::case(&seeds, SEED, index);
        if let Err(broken) = fuzz::check(&case) {
            panic!(
                "case {index} breaks `{}`: {}\nreplay: cargo xtask fuzz --seed {SEED} --from {index}",
                broken.law, broken.what
            );
        }
    }
}

#[test]
fn seeds_as_they_are_break_no_law() {
    for case in fuzz::built_in() {
        if let Err(broken) = fuzz::check(&case) {
            panic!("`{}`: {}\n{}", broken.law, broken.what, case.response);
        }
    }
}
