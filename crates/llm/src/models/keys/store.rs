//! Keys stored by the user: one file for each provider, private to the user, with a key on each line.

use super::{ApiKey, KeyError};
use relaycode_durable::private_files::PrivateFolder;

use crate::user_directory::{PrivateFileError, UserDirectory};

/// The folder in relay's directory.
const FOLDER: &str = "keys";
/// Most bytes of a file.
const FILE_BYTES: u64 = 160 << 10;
/// Keys of one provider.
pub const MAX_KEYS: usize = 16;
/// Most characters of a provider's name.
const NAME: usize = 64;

#[derive(Debug, Clone, Default)]
pub struct KeyStore {
    home: UserDirectory,
}

impl KeyStore {
    pub fn new(home: UserDirectory) -> KeyStore {
        KeyStore { home }
    }

    /// The first one; `None` if none is stored.
    ///
    /// # Errors
    /// If others can read or change the file, or it holds no key.
    pub fn get(&self, provider: &str) -> Result<Option<ApiKey>, KeyError> {
        Ok(self.all(provider)?.into_iter().next())
    }

    /// All of them, in the order in which they were stored.
    ///
    /// # Errors
    /// If others can read or change the file, or a line of it is no key.
    pub fn all(&self, provider: &str) -> Result<Vec<ApiKey>, KeyError> {
        if !is_provider_name(provider) {
            return Ok(Vec::new());
        }
        let bytes = match self.folder().and_then(|folder| folder.read(provider)) {
            Ok(Some(bytes)) => bytes,
            Ok(None) | Err(PrivateFileError::NoHome) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let bad = KeyError::bad(provider, format!("{FOLDER}/{provider}"));
        let text = String::from_utf8(bytes).map_err(|_| bad(super::ApiKeyError::Foreign))?;
        let keys: Result<Vec<ApiKey>, _> =
            text.lines().filter(|line| !line.trim().is_empty()).map(ApiKey::new).collect();
        match keys.map_err(&bad)? {
            keys if keys.is_empty() => Err(bad(super::ApiKeyError::Empty)),
            keys if keys.len() > MAX_KEYS => Err(bad(super::ApiKeyError::TooMany)),
            keys => Ok(keys),
        }
    }

    /// # Errors
    /// If the file cannot be written, or the name is invalid.
    pub fn set(&self, provider: &str, key: &ApiKey) -> Result<(), KeyError> {
        check_name(provider)?;
        Ok(self.folder()?.write(provider, format!("{}\n", key.expose()).as_bytes())?)
    }

    /// Stores another key; returns how many there are. One that is stored already is not stored again.
    ///
    /// # Errors
    /// If the file cannot be read or written, the name is invalid, or there are too many.
    pub fn add(&self, provider: &str, key: &ApiKey) -> Result<usize, KeyError> {
        check_name(provider)?;
        let mut keys = self.all(provider)?;
        if !keys.contains(key) {
            keys.push(key.clone());
        }
        if keys.len() > MAX_KEYS {
            return Err(KeyError::bad(provider, format!("{FOLDER}/{provider}"))(super::ApiKeyError::TooMany));
        }
        let text: String = keys.iter().map(|key| format!("{}\n", key.expose())).collect();
        self.folder()?.write(provider, text.as_bytes())?;
        Ok(keys.len())
    }

    /// Returns whether there was one.
    pub fn remove(&self, provider: &str) -> Result<bool, KeyError> {
        check_name(provider)?;
        Ok(self.folder()?.remove(provider)?)
    }

    /// The providers with a stored key, in order.
    pub fn list(&self) -> Result<Vec<String>, KeyError> {
        let names = match self.folder().and_then(|folder| folder.list()) {
            Err(PrivateFileError::NoHome) => Vec::new(),
            names => names?,
        };
        Ok(names.into_iter().filter(|name| is_provider_name(name)).collect())
    }

    fn folder(&self) -> Result<PrivateFolder, PrivateFileError> {
        self.home.secret_folder(FOLDER, FILE_BYTES)
    }
}

fn check_name(provider: &str) -> Result<(), KeyError> {
    if is_provider_name(provider) { Ok(()) } else { Err(KeyError::Name(crate::display_text(provider))) }
}

/// Whether this can be a provider's name, and so a file name.
pub fn is_provider_name(name: &str) -> bool {
    let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'_');
    let first = name.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    first && name.len() <= NAME && name.bytes().all(fine)
}
