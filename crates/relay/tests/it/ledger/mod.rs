//! What the ledger promises, through the binary.

pub(crate) mod blocked_paths;
pub(crate) mod concurrency;
pub(crate) mod faults;
pub(crate) mod hostile;
pub(crate) mod unusual_files;
