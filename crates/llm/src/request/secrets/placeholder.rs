//! What a model reads in place of a secret: `#XXXX#`.
//!
//! It is derived from the secret and from bytes that only this user has, so it is the same in every session
//! and reveals nothing. No two secrets share a placeholder, and none is a text that occurs in the
//! conversation by itself.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

/// Without letters that look alike.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// Initial length between the signs.
const SHORT: usize = 4;
/// Longest.
const LONG: usize = 12;
/// Attempts before it gets longer.
const TRIES: u32 = 32;

#[derive(Debug, Default)]
pub(super) struct SecretPlaceholders {
    seed: [u8; 32],
    by_secret: BTreeMap<String, String>,
    by_name: BTreeMap<String, String>,
    /// What the conversation contains by itself.
    avoided: BTreeSet<String>,
}

impl SecretPlaceholders {
    pub(super) fn new(seed: [u8; 32]) -> SecretPlaceholders {
        SecretPlaceholders { seed, ..SecretPlaceholders::default() }
    }

    pub(super) fn placeholder_for(&mut self, secret: &str) -> String {
        if let Some(name) = self.by_secret.get(secret) {
            return name.clone();
        }
        let mut attempt = 0;
        loop {
            let length = (SHORT + usize::try_from(attempt / TRIES).unwrap_or(LONG)).min(LONG);
            let name = self.derive(secret, attempt, length);
            if !self.by_name.contains_key(&name) && !self.avoided.contains(&name) {
                self.by_secret.insert(secret.to_string(), name.clone());
                self.by_name.insert(name.clone(), secret.to_string());
                return name;
            }
            attempt += 1;
        }
    }

    fn derive(&self, secret: &str, attempt: u32, length: usize) -> String {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(attempt.to_le_bytes());
        hash.update(secret.as_bytes());
        let digest = hash.finalize();
        let letters = digest.iter().take(length).map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
        format!("#{}#", letters.collect::<String>())
    }

    /// Nothing in `text` will be a placeholder; an existing one is given up.
    pub(super) fn avoid_names_in(&mut self, text: &str) {
        for (at, end) in candidates(text) {
            let name = &text[at..end];
            if let Some(secret) = self.by_name.remove(name) {
                self.by_secret.remove(&secret);
            }
            self.avoided.insert(name.to_string());
        }
    }

    pub(super) fn restore_secrets<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out: Option<String> = None;
        let mut done = 0;
        for (at, end) in candidates(text) {
            // Two may share a sign; the first has it.
            if at < done {
                continue;
            }
            if let Some(secret) = self.by_name.get(&text[at..end]) {
                let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
                out.push_str(&text[done..at]);
                out.push_str(secret);
                done = end;
            }
        }
        match out {
            None => Cow::Borrowed(text),
            Some(out) => Cow::Owned(out + &text[done..]),
        }
    }
}

/// Everything that looks like a placeholder.
fn candidates(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'#', bytes).filter_map(move |at| {
        let rest = &bytes[at + 1..];
        let letters = rest.iter().take(LONG + 1).take_while(|byte| LETTERS.contains(byte)).count();
        let closed = (SHORT..=LONG).contains(&letters) && rest.get(letters) == Some(&b'#');
        closed.then_some((at, at + letters + 2))
    })
}
