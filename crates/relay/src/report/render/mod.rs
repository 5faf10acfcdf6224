//! What only the commands show: their failures, what `relay doctor` found, models, keys, permission rules, answers of friends. Everything else is a view of the crate
//! `tui`.

pub(crate) mod answers;
pub(crate) mod doctor;
pub(crate) mod failure;
pub(crate) mod friends;
pub(crate) mod keys;
pub(crate) mod models;
pub(crate) mod permissions;
#[cfg(test)]
mod tests;
pub(crate) mod verdict;
