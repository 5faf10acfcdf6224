//! HMAC-SHA-256 (RFC 2104), over bytes that come in pieces.

use std::fmt;
use std::hint::black_box;
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::disk::Digest;

/// Bytes that SHA-256 takes together.
const BLOCK: usize = 64;

/// The user's secret.
#[derive(Clone)]
pub struct SealKey([u8; 32]);

impl SealKey {
    pub const fn new(secret: [u8; 32]) -> SealKey {
        SealKey(secret)
    }

    /// A secret that nobody else has and that goes with the process: what is sealed with it counts as long as that runs.
    pub fn of_this_process() -> SealKey {
        static KEY: OnceLock<[u8; 32]> = OnceLock::new();
        let random = || {
            let mut secret = [0; 32];
            secret[..16].copy_from_slice(Uuid::new_v4().as_bytes());
            secret[16..].copy_from_slice(Uuid::new_v4().as_bytes());
            secret
        };
        SealKey(*KEY.get_or_init(random))
    }
}

/// Secrets do not go into logs.
impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(…)")
    }
}

/// Takes the bytes of a seal.
#[derive(Clone)]
pub(crate) struct SealHasher {
    inner: Sha256,
    outer: Sha256,
}

impl SealHasher {
    pub(super) fn new(key: &SealKey) -> SealHasher {
        let keyed = |pad: u8| {
            let mut block = [pad; BLOCK];
            block.iter_mut().zip(key.0).for_each(|(byte, key)| *byte ^= key);
            Sha256::new_with_prefix(block)
        };
        SealHasher { inner: keyed(0x36), outer: keyed(0x5c) }
    }

    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.inner.update(piece);
    }

    /// The seal over everything that was taken.
    pub(crate) fn finish(mut self) -> Digest {
        self.outer.update(self.inner.finalize());
        Digest::from_bytes(self.outer.finalize().into())
    }

    /// Whether `seal` is the one over everything that was taken. How long that takes says nothing about the right one.
    pub(crate) fn matches(self, seal: &Digest) -> bool {
        let right = self.finish();
        let pairs = right.as_bytes().iter().zip(seal.as_bytes());
        black_box(pairs.fold(0, |differ, (a, b)| black_box(differ | (a ^ b)))) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of RFC 4231's second case, as long as ours are: HMAC fills a shorter one with zeros.
    fn key(text: &[u8]) -> SealKey {
        let mut secret = [0; 32];
        secret[..text.len()].copy_from_slice(text);
        SealKey::new(secret)
    }

    #[test]
    fn the_mac_is_the_standard_one() {
        let mut hasher = SealHasher::new(&key(b"Jefe"));
        hasher.update(b"what do ya want ");
        hasher.update(b"for nothing?");
        let right = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hasher.clone().finish().to_string(), right);
        assert!(hasher.clone().matches(&Digest::parse(right).unwrap()));
        assert!(!hasher.matches(&Digest::of(b"")));
        let mut first = SealHasher::new(&key(&[0x0b; 20]));
        first.update(b"Hi There");
        let right = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(first.finish().to_string(), right);
    }
}
