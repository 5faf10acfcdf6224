//! What only the commands show: their failures, and what `relay doctor` found. Everything else is a view of the crate
//! `tui`.

pub(crate) mod doctor;
pub(crate) mod failure;
#[cfg(test)]
mod tests;
