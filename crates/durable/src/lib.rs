//! Files that survive: the file-system trait that everything which writes state or project files
//! runs on, its real implementation and a model that can crash, and what is built on both: atomic
//! writes, an append log whose torn tail is repaired, locks, files that only the user can have written.
//!
//! The failure layer is a replaceable file system: code that writes takes an [`Fs`], so that a test
//! can stop it at any operation, lose what was not synced, or fail any call. This crate does not
//! know what is stored.

pub mod append_log;
pub mod atomic;
pub mod fs;
pub mod model;
pub mod private_files;
pub mod real;

pub use fs::{Fs, FsDir, FsFile, FsKind, FsLock, FsStamp, FsStat, RenameMode};
pub use model::ModelFs;
pub use real::RealFs;
