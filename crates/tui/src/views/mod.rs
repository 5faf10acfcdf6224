//! One view per file: data in, text out. Nothing here prints or decides.

pub mod blame;
pub mod card;
pub mod commit;
pub mod config;
pub mod diff;
pub mod gate;
pub mod log;
pub mod outcome;
pub mod question;
pub mod record;
pub mod recording;
pub mod recovery;
pub mod refusal;
pub mod revert;
pub mod rules;
pub mod sessions;
pub mod setup;
pub mod stats;
pub mod trust;
