//! What only the commands show: their failures, what `relay doctor` found, models and keys. Everything else is a view of the crate
//! `tui`.

pub(crate) mod doctor;
pub(crate) mod failure;
pub(crate) mod keys;
pub(crate) mod models;
#[cfg(test)]
mod tests;
