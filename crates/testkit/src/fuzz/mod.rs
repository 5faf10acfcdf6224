//! A mutation fuzzer for the change engine that needs nothing but stable Rust.
//!
//! A [`FuzzCase`] is a response and the files it is about. `mutate` spoils cases, [`check()`] runs one
//! through the whole engine and names the law it breaks. Case `i` under seed `s` is always the
//! same, whatever ran before it.

mod check;
mod minimise;
mod mutate;
mod seeds;

pub use check::{LawViolation, TIME_BOUND, check};
pub use minimise::minimise;
pub use seeds::built_in;

use serde::{Deserialize, Serialize};

use crate::random::Random;

/// What an AI wrote, and the project it meets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FuzzCase {
    pub response: String,
    /// Path and bytes of every file.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Case number `index` under `seed`, made from `seeds`, which must not be empty.
pub fn case(seeds: &[FuzzCase], seed: u64, index: u64) -> FuzzCase {
    let mut random = Random::of_case(seed, index);
    mutate::spoil(seeds, &mut random)
}

impl FuzzCase {
    pub fn with_file(response: &str, path: &str, text: &str) -> FuzzCase {
        FuzzCase { response: response.to_owned(), files: vec![(path.to_owned(), text.as_bytes().to_vec())] }
    }
}
