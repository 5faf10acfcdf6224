//! Names of calls as servers take them. Conversations go from one server to another, and each has its own rules.
//!
//! Invariant: the same id always becomes the same id, so a call and its result stay together; different ids stay different.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Length of the ids that Mistral takes, neither more nor less.
const MISTRAL: usize = 9;

/// The id itself if it has at most `most` characters, all of them letters, digits, `_` or `-`; else one made from it.
pub(crate) fn fitting(id: &str, most: usize, prefix: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !id.is_empty() && id.len() <= most && id.bytes().all(plain) {
        return id.to_owned();
    }
    format!("{prefix}{}", &digest(id)[..32])
}

/// The id itself if it is nine letters and digits; else nine made from it.
pub(crate) fn nine(id: &str) -> String {
    if id.len() == MISTRAL && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.to_owned();
    }
    const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let bytes = Sha256::digest(id.as_bytes());
    let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
    bytes.iter().take(MISTRAL).map(letter).collect()
}

/// The SHA-256 of a text, in hexadecimal.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        // Writing into a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_fits_stays_and_another_is_made_anew_the_same_way_each_time() {
        assert_eq!(fitting("call_a-1", 64, "call_"), "call_a-1");
        let made = fitting("functions.read:0", 40, "call_");
        assert_eq!((made.len(), made.as_str()), (37, fitting("functions.read:0", 40, "call_").as_str()));
        assert_ne!(made, fitting("functions.read:1", 40, "call_"));
        assert_ne!(fitting("", 40, "call_"), "");
    }

    #[test]
    fn nine_letters_and_digits_stay_and_others_become_nine() {
        assert_eq!(nine("D681PevKs"), "D681PevKs");
        let made = nine("call_1");
        assert!(made.len() == 9 && made.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(made, nine("call_1"));
        assert_ne!(made, nine("call_2"));
    }
}
