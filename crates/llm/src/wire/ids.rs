//! Ids of calls as servers accept them. Conversations go from one server to another, and each has its own
//! rules.
//!
//! Invariant: the same id always becomes the same id, so a call and its result stay together; different ids
//! stay different.

use sha2::{Digest, Sha256};

/// Mistral's exact length of an id.
const MISTRAL: usize = 9;

/// The id itself if it has at most `most` characters, all of them letters, digits, `_` or `-`; else one
/// derived from it.
pub(crate) fn fit_id(id: &str, most: usize, prefix: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !id.is_empty() && id.len() <= most && id.bytes().all(plain) {
        return id.to_owned();
    }
    format!("{prefix}{}", &sha256_hex(id)[..32])
}

/// The id itself if it is nine letters and digits; else nine derived from it.
pub(crate) fn mistral_id(id: &str) -> String {
    if id.len() == MISTRAL && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let bytes = Sha256::digest(id.as_bytes());
    let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
    bytes.iter().take(MISTRAL).map(letter).collect()
}

pub(crate) fn sha256_hex(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_fits_stays_and_another_is_made_anew_the_same_way_each_time() {
        assert_eq!(fit_id("call_a-1", 64, "call_"), "call_a-1");
        let made = fit_id("functions.read:0", 40, "call_");
        assert_eq!((made.len(), made.as_str()), (37, fit_id("functions.read:0", 40, "call_").as_str()));
        assert_ne!(made, fit_id("functions.read:1", 40, "call_"));
        assert_ne!(fit_id("", 40, "call_"), "");
    }

    #[test]
    fn nine_letters_and_digits_stay_and_others_become_nine() {
        assert_eq!(mistral_id("D681PevKs"), "D681PevKs");
        let made = mistral_id("call_1");
        assert!(made.len() == 9 && made.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(made, mistral_id("call_1"));
        assert_ne!(made, mistral_id("call_2"));
    }
}
