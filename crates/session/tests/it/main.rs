//! The session crate from outside: files, processes and pages as they are.

#[cfg(target_os = "linux")]
mod export;
