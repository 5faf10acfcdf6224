//! The id of a transaction. It becomes a file name, so it is a UUID in its usual form and nothing
//! else, whatever a record or an answer says.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A transaction's id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TxId(Uuid);

/// What was given is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id (a UUID such as 3f9c1e2a-0c4b-4c1d-9a53-0c2f5d1e7b66)")]
pub struct InvalidTxId(String);

impl TxId {
    /// A new random id.
    pub fn random() -> TxId {
        TxId(Uuid::new_v4())
    }

    /// A number that another id hardly ever has.
    pub(crate) fn as_u64(self) -> u64 {
        let (high, low) = self.0.as_u64_pair();
        high ^ low
    }

    /// The first eight digits, by which people call it.
    pub fn short(&self) -> String {
        self.to_string()[..8].to_string()
    }
}

impl FromStr for TxId {
    type Err = InvalidTxId;

    fn from_str(text: &str) -> Result<TxId, InvalidTxId> {
        let usual_form = text.len() == 36 && text.is_ascii();
        let parsed = Uuid::try_parse(text).ok().filter(|_| usual_form);
        parsed.map(TxId).ok_or_else(|| InvalidTxId(text.chars().take(60).collect()))
    }
}

impl TryFrom<String> for TxId {
    type Error = InvalidTxId;

    fn try_from(text: String) -> Result<TxId, InvalidTxId> {
        text.parse()
    }
}

impl From<TxId> for String {
    fn from(id: TxId) -> String {
        id.to_string()
    }
}

impl fmt::Display for TxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_usual_form_is_an_id() {
        let id: TxId = "3F9C1E2A-0c4b-4c1d-9a53-0c2f5d1e7b66".parse().unwrap();
        assert_eq!(id.to_string(), "3f9c1e2a-0c4b-4c1d-9a53-0c2f5d1e7b66");
        assert_eq!(id.short(), "3f9c1e2a");
        for bad in [
            "",
            "../../etc/passwd",
            "3f9c1e2a0c4b4c1d9a530c2f5d1e7b66",
            "{3f9c1e2a-0c4b-4c1d-9a53-0c2f5d1e7b66}",
        ] {
            assert!(bad.parse::<TxId>().is_err(), "{bad}");
        }
    }
}
