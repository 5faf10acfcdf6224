//! The secret by which this user's relay knows again what it wrote into a project: records, journals, what a recording secured.
//!
//! It lives in the user's own directory, `seal/key`, readable by the user alone, is made when something is written for the first
//! time, and stays. Without it everything in a project's `.relaycode/` counts as somebody else's.

use std::path::{Path, PathBuf};

use relaycode_durable::private_files::{self, PrivateFileError, PrivateFolder};

use crate::user_files::hex;

/// The folder in the user's own directory.
const FOLDER: &str = "seal";
/// The file in it.
const FILE: &str = "key";
/// Bytes of the secret.
const LENGTH: usize = 32;
/// Bytes of the file: two digits for each of them, and the end of the line.
const FILE_BYTES: u64 = 2 * LENGTH as u64 + 1;

/// Where the secret is kept.
#[derive(Debug, Clone)]
pub struct SealSecretStore {
    folder: PrivateFolder,
}

/// Why there is no secret that could be used.
#[derive(Debug, thiserror::Error)]
pub enum SealSecretError {
    #[error(transparent)]
    File(#[from] PrivateFileError),
    #[error("{} is damaged; remove it, and a new one is made: earlier changes are then asked about once before an undo", .0.display())]
    Damaged(PathBuf),
    #[error("the system has no randomness: {0}")]
    NoRandomness(getrandom::Error),
}

impl SealSecretStore {
    /// Kept in `home`, the user's own directory.
    pub fn new(home: Option<&Path>) -> SealSecretStore {
        SealSecretStore { folder: PrivateFolder::new(home, FOLDER, FILE_BYTES).into_secret() }
    }

    /// The secret, if there is one and it may say anything about the project at `root`.
    ///
    /// # Errors
    /// If there is something that cannot be used, or it lies inside the project.
    pub fn read(&self, root: &Path) -> Result<Option<[u8; LENGTH]>, SealSecretError> {
        private_files::require_outside(self.folder.home()?, root)?;
        let Some(text) = self.folder.read(FILE)? else { return Ok(None) };
        match parse(&text) {
            Some(secret) => Ok(Some(secret)),
            None => Err(SealSecretError::Damaged(self.folder.path_of(FILE)?)),
        }
    }

    /// The secret; it is made if there is none.
    ///
    /// # Errors
    /// If there is something that cannot be used, or it cannot be kept.
    pub fn get_or_create(&self, root: &Path) -> Result<[u8; LENGTH], SealSecretError> {
        if let Some(secret) = self.read(root)? {
            return Ok(secret);
        }
        let mut secret = [0; LENGTH];
        getrandom::fill(&mut secret).map_err(SealSecretError::NoRandomness)?;
        let written = self.folder.write_new(FILE, format!("{}\n", hex(&secret)).as_bytes());
        // What is on disk is what counts: another relay may have been faster, or the error came after it was there.
        match (self.read(root)?, written) {
            (Some(secret), _) => Ok(secret),
            (None, Err(error)) => Err(error.into()),
            (None, Ok(_)) => Err(SealSecretError::Damaged(self.folder.path_of(FILE)?)),
        }
    }
}

fn parse(text: &[u8]) -> Option<[u8; LENGTH]> {
    let digits = text.strip_suffix(b"\n").filter(|digits| digits.len() == 2 * LENGTH)?;
    let mut secret = [0; LENGTH];
    for (byte, pair) in secret.iter_mut().zip(digits.chunks(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from((digit(pair[0])? << 4) | digit(pair[1])?).ok()?;
    }
    Some(secret)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_secret_is_made_once_and_for_the_user_alone() {
        let temp = tempfile::tempdir().unwrap();
        let (home, project) = (temp.path().join("home"), temp.path().join("project"));
        fs::create_dir(&project).unwrap();
        let store = SealSecretStore::new(Some(&home));
        assert_eq!(store.read(&project).unwrap(), None);
        assert!(!home.exists(), "reading makes nothing");
        let secret = store.get_or_create(&project).unwrap();
        assert_eq!(store.get_or_create(&project).unwrap(), secret);
        assert_eq!(store.read(&project).unwrap(), Some(secret));
        let file = home.join("seal/key");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        assert!(store.read(&project).is_err(), "others may have read it");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        fs::write(&file, "short\n").unwrap();
        assert!(matches!(store.get_or_create(&project), Err(SealSecretError::Damaged(_))));
    }

    #[test]
    fn a_secret_that_a_project_brings_does_not_count() {
        let temp = tempfile::tempdir().unwrap();
        let store = SealSecretStore::new(Some(&temp.path().join("home")));
        assert!(store.get_or_create(temp.path()).is_err());
        assert!(SealSecretStore::new(None).read(temp.path()).is_err());
    }
}
