//! Files that survive: the file-system trait that everything which writes state or project files
//! runs on, its real implementation, and what is built on it: atomic writes, an append log whose torn
//! tail is repaired, locks, files that only the user can have written.
//!
//! The failure layer is a replaceable file system: code that writes takes an [`Fs`], so that a test
//! can stop it at any operation, lose what was not synced, or fail any call (`proofs/crashfs`). This
//! crate does not know what is stored.
//!
//! | module | what it is for |
//! |---|---|
//! | `fs` | the trait [`Fs`]: every operation names one entry of an open directory and follows no link; handles are opaque |
//! | `real` | the machine's file system: `openat2` (or a walk that follows no link), `renameat2`, `flock`, `fsync`, `syncfs` |
//! | `name_text` | names of entries as text, also those that are not UTF-8 |
//! | `sys` | what differs by system, one file each |
//! | `atomic` | a file that is the old one or the new one, also after a power cut |
//! | `append_log` | a file that is only appended to and read from its end; a torn last line does not count |
//! | `private_files` | files nobody but the user could have written or read: trust, project keys, provider keys |

pub mod append_log;
pub mod atomic;
pub mod fs;
mod name_text;
pub mod private_files;
pub mod real;
mod sys;

pub use fs::{
    DirMode, FileMode, Fs, FsAttribute, FsDir, FsFile, FsFileEnds, FsKind, FsLock, FsStamp, FsStat,
    RenameMode, if_found, if_new, is_link, is_not_regular, is_too_long, is_unsupported, pick_entries,
};
pub use name_text::{name_bytes, name_text};
pub use real::RealFs;
