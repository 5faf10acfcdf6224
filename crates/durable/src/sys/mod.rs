//! The one place for what differs by system. The rest of the crate is the same on every Unix.
//!
//! A system provides, in a file of its own:
//!
//! | function | promises | where the system cannot |
//! |---|---|---|
//! | `stat_entry` | looks at an entry without following a link, and knows whether it is marked as never to be changed | the mark reads as not set; the write then fails by itself |
//! | `stat_from`, `stamp_from` | put the system's record into our words | every Unix can |
//! | `birth_time` | says when a directory was made | `None` |
//! | `keeps_directory_times` | says whether the file system is one of which it is known that a directory's times change with every name in it | `false`: the caller lists each directory |
//! | `set_unreadable_dir_mode` | sets the permission bits of a directory that may not be opened to be read, without following a link | every Unix can |
//! | `open_beneath` | opens a directory in one call that follows no link and never leaves its root | `None`: the caller opens each component in turn |
//! | `sync_descriptor` | returns once the bytes are on the medium, not in a cache that loses them with the power | as far as the system can, and an error where it failed |
//! | `sync_file_system` | makes everything on the directory's file system durable | syncs more than was asked for, never less |
//! | `share_bytes` | makes a new private file that shares its bytes with another until one of them is written | `false`, and nothing is made: the caller copies |
//!
//! A rename that replaces nothing or exchanges two entries, locks and extended attributes need no seam: Linux and macOS have
//! all of them, and what a file system lacks comes back as an error that [`crate::fs::is_unsupported`] knows.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!(
    "relay runs on Linux and macOS; the `sys` module of each crate says what another system must provide"
);

/// Tells one device, pipe or socket from another; 0 for files, directories and links.
fn special_stamp(kind: rustix::fs::FileType, mode: u64, device: u64) -> u64 {
    use rustix::fs::FileType;
    if matches!(kind, FileType::RegularFile | FileType::Directory | FileType::Symlink) {
        return 0;
    }
    (mode & !0o7777) << 40 | device & ((1 << 40) - 1)
}
