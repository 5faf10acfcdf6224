//! macOS: there is no fence, and nothing pretends that there is.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::process::ExitCode;

use crate::fence::FENCE_FAILED_CODE;

pub(crate) const OPEN_FILES: &str = "/dev/fd";

pub(crate) fn create_inheritable_file() -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no fence"))
}

pub(crate) fn run_fence(_: &[OsString]) -> ExitCode {
    ExitCode::from(FENCE_FAILED_CODE)
}
