//! The SHA-256 of some bytes: what a file must still be, and the name of a blob. And that of a plan:
//! what was shown, what was approved and what is applied are one thing exactly if their digest is.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::transaction::{AfterContent, FileChange, NewMode};

/// A SHA-256, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    pub(crate) const fn from_bytes(bytes: [u8; 32]) -> Digest {
        Digest(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Digest> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            let nibble = |digit: u8| char::from(digit).to_digit(16);
            *byte = u8::try_from(nibble(pair[0])? << 4 | nibble(pair[1])?).ok()?;
        }
        Some(Digest(bytes))
    }
}

/// The digest of bytes that come in pieces.
#[derive(Default)]
pub(crate) struct DigestHasher(Sha256);

impl DigestHasher {
    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub(crate) fn digest(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// What the bytes of a plan's digest begin with, so that no file has one by accident.
const PLAN: &[u8] = b"relaycode plan 1\n";

/// The digest of a plan: of what it would do, and of nothing else. Two plans that would do different
/// things never share one; the order in which files are listed and the counted lines do not matter.
///
/// It is the SHA-256 of a fixed beginning, the number of files, and for each file, ordered by its
/// path: the path, the name before if it moves, the SHA-256 of the bytes before if there must be any,
/// and the SHA-256 of the bytes after with the permission bits if there shall be any. Names have their
/// length before them, what may be absent a byte that says so, and numbers are little-endian.
pub fn digest_changes<'a>(changes: impl IntoIterator<Item = FileChange<'a>>) -> Digest {
    let file = |change: FileChange<'a>| (change.path.to_string(), canonical_bytes(&change));
    let mut files: Vec<(String, Vec<u8>)> = changes.into_iter().map(file).collect();
    files.sort_unstable();
    let mut hash = Sha256::new();
    hash.update(PLAN);
    hash.update((files.len() as u64).to_le_bytes());
    for (_, bytes) in files {
        hash.update(bytes);
    }
    Digest(hash.finalize().into())
}

/// One file of a plan as bytes that no other file of a plan has.
fn canonical_bytes(change: &FileChange<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    push_name(&mut out, change.path.as_str());
    if let Some(from) = push_presence(&mut out, change.renamed_from.as_ref()) {
        push_name(&mut out, from.as_str());
    }
    if let Some(before) = push_presence(&mut out, change.before.as_ref()) {
        out.extend(Digest::of(before).0);
    }
    if let Some(AfterContent { bytes, mode }) = push_presence(&mut out, change.after.as_ref()) {
        out.extend(Digest::of(bytes).0);
        match mode {
            NewMode::Keep => out.push(0),
            NewMode::Executable(executable) => out.extend([1, u8::from(*executable)]),
            NewMode::Exact(mode) => {
                out.push(2);
                out.extend(mode.to_le_bytes());
            }
        }
    }
    out
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    out.extend((name.len() as u64).to_le_bytes());
    out.extend_from_slice(name.as_bytes());
}

fn push_presence<'o, T>(out: &mut Vec<u8>, value: Option<&'o T>) -> Option<&'o T> {
    out.push(u8::from(value.is_some()));
    value
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Digest, String> {
        Digest::parse(&text).ok_or_else(|| format!("`{text}` is not a SHA-256"))
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use relaycode_change::proposal::path::RelPath;

    use super::*;

    /// Changes out of so few values that equal and nearly equal plans come up all the time.
    fn changes() -> impl Strategy<Value = Vec<FileChange<'static>>> {
        let path = || prop::sample::select(vec!["a", "aa", "a/a", "b"]);
        let bytes = || prop::option::of(prop::sample::select(vec!["", "a", "aa"]));
        let mode = prop_oneof![
            Just(NewMode::Keep),
            any::<bool>().prop_map(NewMode::Executable),
            prop::sample::select(vec![0, 1, 0o644]).prop_map(NewMode::Exact),
        ];
        let change = (path(), prop::option::of(path()), bytes(), bytes(), mode, 0..2usize);
        prop::collection::vec(change, 0..3).prop_map(|changes| {
            let path = |text: &str| RelPath::parse(text).unwrap();
            let change = |(name, from, before, after, mode, lines): (&str, Option<&str>, _, _, _, _)| {
                let (before, after): (Option<&'static str>, Option<&'static str>) = (before, after);
                FileChange {
                    path: path(name),
                    renamed_from: from.map(path),
                    before: before.map(|text| text.as_bytes().into()),
                    after: after.map(|text| AfterContent { bytes: text.as_bytes().into(), mode }),
                    added: lines,
                    removed: lines,
                }
            };
            changes.into_iter().map(change).collect()
        })
    }

    /// What a plan would do, without what does not matter.
    fn meant(changes: &[FileChange<'_>]) -> Vec<String> {
        let plain = changes.iter().map(|change| FileChange { added: 0, removed: 0, ..change.clone() });
        let mut all: Vec<String> = plain.map(|change| format!("{change:?}")).collect();
        all.sort();
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn plans_that_would_do_different_things_never_share_a_digest(
            plans in prop::collection::vec(changes(), 50)
        ) {
            let mut known: BTreeMap<Digest, Vec<String>> = BTreeMap::new();
            let mut back: BTreeMap<Vec<String>, Digest> = BTreeMap::new();
            for plan in plans {
                let digest = digest_changes(plan.clone());
                let meant = meant(&plan);
                prop_assert_eq!(known.entry(digest).or_insert_with(|| meant.clone()), &meant);
                prop_assert_eq!(*back.entry(meant).or_insert(digest), digest);
                prop_assert_eq!(digest_changes(plan.into_iter().rev()), digest);
            }
        }
    }

    #[test]
    fn digests_are_written_and_read_back() {
        let digest = Digest::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(Digest::parse(text), Some(digest));
        assert_eq!(Digest::parse(&text[1..]), None);
        assert_eq!(Digest::parse(&text.replace('b', "x")), None);
    }
}
