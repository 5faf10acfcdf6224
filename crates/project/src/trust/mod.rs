//! What the user trusts: exactly the commands and approval settings that a project names, and exactly
//! what git would run in it, kept in the user's own directory, asked again when they change. A change that only takes
//! something away or asks a person more often is covered by the yes to what was there before.
//!
//! Two grants, apart: one for the configuration, one for git. A new hook does not take the linter's trust
//! away, and a new linter not the hooks'. Whatever is odd about the file that holds them counts as not
//! trusted, and the state says why. Nothing in the project has a say in it.

#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::user_files::{DirectoryInode, DirectoryRef, UserFileError, UserFileStore, hex, json_file};

/// The folder in the user's own directory.
const FOLDER: &str = "trust";
/// Bytes of a project's file.
const FILE_BYTES: u64 = 1 << 20;

/// What a project's file wants to be trusted with. What the user's own file says needs no trust.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrustRequest {
    /// Commands to run: the key's short name and the command line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<(String, String)>,
    /// Settings that decide who approves: the key's full name and its value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<(String, String)>,
    /// What git itself would run on a commit: hooks and configured commands. Only a commit asks for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub git: Vec<(String, String)>,
}

impl TrustRequest {
    /// Whether there is nothing to trust.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.settings.is_empty() && self.git.is_empty()
    }

    /// Whether whoever said yes to `granted` said yes to this, too: it runs nothing else, and asks a person no less often.
    pub fn is_covered_by(&self, granted: &TrustRequest) -> bool {
        let covered = |(name, value): &(String, String)| {
            granted.settings.iter().any(|(known, most)| known == name && is_no_laxer(name, value, most))
        };
        self.commands.iter().all(|row| granted.commands.contains(row))
            && self.settings.iter().all(covered)
            && self.git.iter().all(|row| granted.git.contains(row))
    }

    /// All of it as text, the same for the same wants and for nothing else.
    pub fn canonical_text(&self) -> String {
        let mut text = String::new();
        for (kind, rows) in [("command", &self.commands), ("setting", &self.settings), ("git", &self.git)] {
            for (name, value) in rows {
                text.push_str(&format!("{kind} {name:?} {value:?}\n"));
            }
        }
        text
    }
}

/// Whether a person is asked no less often by `value` than by `granted`.
fn is_no_laxer(name: &str, value: &str, granted: &str) -> bool {
    // `null` is no limit.
    let number = |text: &str| if text == "null" { Some(u64::MAX) } else { text.parse().ok() };
    let (Some(now), Some(most)) = (number(value), number(granted)) else { return value == granted };
    match name {
        "patch.approvalOnErrorCount" | "patch.maxFileChanges" => now <= most,
        "patch.minFileChanges" => now >= most,
        _ => value == granted,
    }
}

/// What the user's own directory says about a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustState {
    /// The project names nothing that needs trust.
    NothingToTrust,
    /// The user trusted this, or more.
    Trusted { since: String },
    /// The user was never asked about this directory.
    NeverAsked,
    /// The user trusted something else here; `before` is the part that was asked about.
    Changed { before: TrustRequest },
    /// It cannot be known, which counts as not trusted; `why` says what to do about it.
    Unavailable { why: String },
}

impl TrustState {
    /// Whether commands may run: they are trusted, or there are none.
    pub fn allows(&self) -> bool {
        matches!(self, TrustState::NothingToTrust | TrustState::Trusted { .. })
    }
}

/// Why trust could not be written down.
#[derive(Debug, thiserror::Error)]
#[error("trust was not written down: {why}")]
pub struct TrustError {
    /// What happened, and what to do about it.
    pub why: String,
}

impl From<UserFileError> for TrustError {
    fn from(error: UserFileError) -> TrustError {
        TrustError { why: error.to_string() }
    }
}

/// What the user trusts, in all projects.
#[derive(Debug, Clone)]
pub struct TrustStore {
    store: UserFileStore,
}

impl TrustStore {
    /// Kept in `home`, the user's own directory; without one nothing is ever trusted.
    pub fn new(home: Option<&Path>) -> TrustStore {
        TrustStore { store: UserFileStore::new(home, FOLDER, FILE_BYTES) }
    }

    /// Whether the commands and settings that the project at `root` names are trusted. What git would
    /// run is not looked at.
    pub fn state(&self, root: &Path, wants: &TrustRequest) -> TrustState {
        self.evaluate(root, TrustPart::Config, wants)
    }

    /// Whether what git would run in the project at `root` is trusted. The rest is not looked at.
    pub fn git_state(&self, root: &Path, wants: &TrustRequest) -> TrustState {
        self.evaluate(root, TrustPart::Git, wants)
    }

    /// From now on the commands and settings are trusted, exactly these. What is trusted of git stays.
    ///
    /// # Errors
    /// If it could not be written down.
    pub fn grant(&self, root: &Path, wants: &TrustRequest, now: &str) -> Result<(), TrustError> {
        self.write(root, TrustPart::Config, wants, now)
    }

    /// From now on what git would run is trusted, exactly this. What is trusted of the configuration
    /// stays.
    ///
    /// # Errors
    /// If it could not be written down.
    pub fn grant_git(&self, root: &Path, wants: &TrustRequest, now: &str) -> Result<(), TrustError> {
        self.write(root, TrustPart::Git, wants, now)
    }

    /// From now on nothing is trusted there; says whether anything was.
    ///
    /// # Errors
    /// If it could not be written down.
    pub fn revoke(&self, root: &Path) -> Result<bool, TrustError> {
        let place = self.store.directory(root)?;
        Ok(self.store.remove(&place)?)
    }

    fn evaluate(&self, root: &Path, part: TrustPart, wants: &TrustRequest) -> TrustState {
        let wanted = part.select(wants);
        if wanted.is_empty() {
            return TrustState::NothingToTrust;
        }
        let found = self.store.directory(root).map_err(|error| error.to_string());
        let grant = match found.and_then(|place| self.read(&place)) {
            Err(why) => return TrustState::Unavailable { why },
            Ok(file) => file.and_then(|file| match part {
                TrustPart::Config => file.config,
                TrustPart::Git => file.git,
            }),
        };
        match grant {
            None => TrustState::NeverAsked,
            Some(grant) if wanted.is_covered_by(&grant.request) => TrustState::Trusted { since: grant.since },
            Some(grant) => TrustState::Changed { before: grant.request },
        }
    }

    fn write(&self, root: &Path, part: TrustPart, wants: &TrustRequest, now: &str) -> Result<(), TrustError> {
        let place = self.store.directory(root)?;
        let wanted = part.select(wants);
        let grant = TrustGrant { since: now.to_string(), digest: digest(&wanted), request: wanted };
        // What is damaged or somebody else's is worth nothing, and the new file takes its place.
        let old = self.read(&place).unwrap_or_default();
        let (config, git) = old.map(|old| (old.config, old.git)).unwrap_or_default();
        let (config, git) = match part {
            TrustPart::Config => (Some(grant), git),
            TrustPart::Git => (config, Some(grant)),
        };
        let path = place.path.to_string_lossy().into_owned();
        let file = TrustFile { path, mark: place.mark, config, git };
        Ok(self.store.write(&place, &json_file(&file)?)?)
    }

    /// The project's file, if there is one and it is about this directory.
    fn read(&self, place: &DirectoryRef) -> Result<Option<TrustFile>, String> {
        let bytes = self.store.read(place).map_err(|error| error.to_string())?;
        let Some(bytes) = bytes else { return Ok(None) };
        let damaged = || match self.store.path_of(place) {
            Ok(path) => format!("{} is damaged; remove it, and you are asked again", path.display()),
            Err(error) => error.to_string(),
        };
        let file: TrustFile = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
        if file.mark != place.mark {
            return Ok(None);
        }
        let whole = |grant: &TrustGrant| grant.digest == digest(&grant.request);
        if ![&file.config, &file.git].into_iter().flatten().all(whole) {
            return Err(damaged());
        }
        Ok(Some(file))
    }
}

/// The two halves that are trusted apart.
#[derive(Debug, Clone, Copy)]
enum TrustPart {
    Config,
    Git,
}

impl TrustPart {
    /// This half of `wants`, and nothing of the other.
    fn select(self, wants: &TrustRequest) -> TrustRequest {
        match self {
            TrustPart::Config => TrustRequest { git: Vec::new(), ..wants.clone() },
            TrustPart::Git => TrustRequest { git: wants.git.clone(), ..TrustRequest::default() },
        }
    }
}

/// A project's file.
#[derive(Debug, Serialize, Deserialize)]
struct TrustFile {
    /// For people; the file's name is what counts.
    path: String,
    #[serde(flatten)]
    mark: DirectoryInode,
    config: Option<TrustGrant>,
    git: Option<TrustGrant>,
}

/// What was trusted, and when.
#[derive(Debug, Serialize, Deserialize)]
struct TrustGrant {
    since: String,
    #[serde(flatten)]
    request: TrustRequest,
    digest: String,
}

/// Names wants: every length and every byte of them.
fn digest(wants: &TrustRequest) -> String {
    let mut hash = Sha256::new();
    for rows in [&wants.commands, &wants.settings, &wants.git] {
        hash.update((rows.len() as u64).to_le_bytes());
        for text in rows.iter().flat_map(|(name, value)| [name, value]) {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
    }
    hex(&hash.finalize())
}
