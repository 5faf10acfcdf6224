//! macOS: there is no fence, and nothing pretends that there is.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::process::ExitCode;

use crate::fence::{FENCE_FAILED_CODE, FenceChannel, FenceReport, JobFence};

pub(crate) const OPEN_FILES: &str = "/dev/fd";

/// What no process is started with.
pub(crate) const INIT_ARGUMENT: &str = "init";

pub(crate) fn own_number() -> io::Result<OsString> {
    Ok(std::process::id().to_string().into())
}

pub(crate) fn create_inheritable_file() -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no fence"))
}

pub(crate) fn leave_for_fence(_: &JobFence) -> Result<(), FenceReport> {
    let said = "this system has none".to_owned();
    Err(FenceReport::Failed { step: "make namespaces".to_owned(), said })
}

pub(crate) fn run_fence(arguments: &[OsString]) -> ExitCode {
    if let Some(mut channel) = arguments.first().and_then(|number| FenceChannel::open(number.to_str()?).ok())
    {
        let level = channel.spec().map_or(0, |spec| spec.fence.level.number());
        let step = format!("build a fence of level {level}");
        // Without the report the code alone says that it failed.
        let _ = channel.replace(&FenceReport::Failed { step, said: "this system has none".to_owned() });
    }
    ExitCode::from(FENCE_FAILED_CODE)
}
