//! A project: where it is, what its configuration says and where each value comes from, what the user
//! trusts, what it is called and by which key, and what git says of it.
//!
//! Everything here that comes from a repository is hostile until the user trusted exactly it. This crate
//! knows no changes, no models and no user interface; it never prints and never reads the environment.

pub mod access;
pub mod checkout;
pub mod config;
pub mod git;
pub mod identity;
pub mod root;
pub mod trust;
mod user_files;
