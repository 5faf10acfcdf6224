//! Seals: how relay knows again what it wrote itself.
//!
//! Whatever lies in a project's `.relaycode/` may have come with the repository, and a checksum is something that anybody
//! can compute. A seal is a MAC by a secret of the user's (HMAC-SHA-256) over what the bytes are for, the checkout that they
//! were written in, and the bytes. Without a valid one nothing is acted on that a person did not look at first.
//!
//! A checkout is known by the inode and the time of birth of its directory: it may be moved, and a device may get another
//! number when the machine starts again. Only where no time of birth is kept, device and path stand in for it.

mod checkouts;
mod mac;
mod provenance;

pub(crate) use mac::SealHasher;
pub use mac::SealKey;
pub(crate) use provenance::AcceptedRecords;
pub use provenance::RecordProvenance;

use std::io;
use std::path::Path;

use relaycode_durable::{Fs, FsDir};

/// What a seal is for. Bytes that are sealed for one thing are worth nothing as another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SealPurpose<'a> {
    /// A committed transaction's record.
    Record,
    /// The journal of the transaction that has the directory with this mark: it is alive with it, and never again.
    Journal(&'a DirectoryMark),
    /// What a recording secured.
    Manifest,
    /// A record of somebody else's that a person accepted.
    Acceptance,
}

/// What makes a directory this one and no other, also under another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DirectoryMark(Vec<u8>);

impl DirectoryMark {
    pub(crate) fn of(fs: &dyn Fs, dir: &FsDir) -> io::Result<DirectoryMark> {
        DirectoryMark::with_path(fs, dir, Path::new(""))
    }

    fn with_path(fs: &dyn Fs, dir: &FsDir, path: &Path) -> io::Result<DirectoryMark> {
        let stat = fs.stat_dir(dir)?;
        let mut mark = stat.ino.to_le_bytes().to_vec();
        match fs.birth_time(dir)? {
            Some((seconds, nanoseconds)) => {
                mark.push(1);
                mark.extend(seconds.to_le_bytes());
                mark.extend(nanoseconds.to_le_bytes());
            }
            None => {
                mark.push(0);
                mark.extend(stat.dev.to_le_bytes());
                mark.extend(path.as_os_str().as_encoded_bytes());
            }
        }
        Ok(DirectoryMark(mark))
    }
}

/// The seals of one checkout.
#[derive(Debug)]
pub(crate) struct CheckoutSeal {
    key: SealKey,
    checkout: DirectoryMark,
}

impl CheckoutSeal {
    /// Those of the checkout at `path`, open as `root`.
    pub(crate) fn new(key: SealKey, fs: &dyn Fs, root: &FsDir, path: &Path) -> io::Result<CheckoutSeal> {
        Ok(CheckoutSeal { key, checkout: DirectoryMark::with_path(fs, root, path)? })
    }

    /// The checkout, as a line of a file.
    pub(crate) fn checkout_line(&self) -> String {
        self.checkout.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The seals of the checkout that a line names.
    fn of_line(&self, line: &[u8]) -> Option<CheckoutSeal> {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let byte = |pair: &[u8]| match pair {
            [high, low] => u8::try_from((digit(*high)? << 4) | digit(*low)?).ok(),
            _ => None,
        };
        let mark = line.chunks(2).map(byte).collect::<Option<Vec<u8>>>()?;
        Some(CheckoutSeal { key: self.key.clone(), checkout: DirectoryMark(mark) })
    }

    /// Takes the bytes to be sealed, or to be compared.
    pub(crate) fn hasher(&self, purpose: SealPurpose<'_>) -> SealHasher {
        let nothing = DirectoryMark(Vec::new());
        let (word, directory) = match purpose {
            SealPurpose::Record => ("record", &nothing),
            SealPurpose::Journal(directory) => ("journal", directory),
            SealPurpose::Manifest => ("recording", &nothing),
            SealPurpose::Acceptance => ("accepted", &nothing),
        };
        let mut hasher = SealHasher::new(&self.key);
        for part in [b"relaycode 1", word.as_bytes(), &self.checkout.0, &directory.0] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use relaycode_durable::RealFs;

    use super::*;

    #[test]
    fn a_seal_is_for_one_purpose_in_one_checkout() {
        let temp = tempfile::tempdir().unwrap();
        let fs = RealFs::default();
        let seal = |name: &str, key: [u8; 32]| {
            let path = temp.path().join(name);
            fs::create_dir_all(&path).unwrap();
            CheckoutSeal::new(SealKey::new(key), &fs, &fs.open_root(&path).unwrap(), &path).unwrap()
        };
        let sealed = |seal: &CheckoutSeal, purpose| {
            let mut hasher = seal.hasher(purpose);
            hasher.update(b"bytes");
            hasher.finish().to_string()
        };
        let one = seal("one", [1; 32]);
        let record = sealed(&one, SealPurpose::Record);
        assert_eq!(sealed(&seal("one", [1; 32]), SealPurpose::Record), record);
        let mark = DirectoryMark::of(&fs, &fs.open_root(temp.path()).unwrap()).unwrap();
        for other in [SealPurpose::Journal(&mark), SealPurpose::Manifest, SealPurpose::Acceptance] {
            assert_ne!(sealed(&one, other), record);
        }
        assert_ne!(sealed(&seal("one", [2; 32]), SealPurpose::Record), record);
        assert_ne!(sealed(&seal("two", [1; 32]), SealPurpose::Record), record);
        fs::rename(temp.path().join("one"), temp.path().join("moved")).unwrap();
        let moved = seal("moved", [1; 32]);
        let born = fs.birth_time(&fs.open_root(temp.path()).unwrap()).unwrap();
        assert_eq!(sealed(&moved, SealPurpose::Record) == record, born.is_some(), "it may be moved");
    }
}
