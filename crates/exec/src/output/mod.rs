//! The standard streams of a job, what is kept of them in memory, and the file for the rest.

pub(crate) mod capture;
pub(crate) mod spill;
pub(crate) mod streams;
