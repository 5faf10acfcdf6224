//! The one exception from "nothing is left running": on X11 and Wayland text that was copied lives only as long as somebody
//! hands it out. The binary starts itself twice: the first process makes the second and ends, so that the one
//! that stays is no keeper's child, in a session by the number of the first.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::setsid;

use crate::keeper::own_children::spawn_detached_leader;

/// Bytes of what the process says before it is on its own.
const MAX_REPLY_BYTES: usize = 4_096;

/// Starts `program`, which is to call [`go_on`], gives it `input`, and returns what it says before it closes its
/// stdout.
///
/// # Errors
/// The system's; `TimedOut` if it does not close it within `most`.
pub fn spawn_detached(program: &Path, argument: &str, input: &[u8], most: Duration) -> io::Result<String> {
    let until = Instant::now() + most;
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = spawn_detached_leader(&mut command)?;
    let given = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input));
    let mut said = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        let mut bytes = [0; 512];
        loop {
            let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
            let ready = poll(&mut [PollFd::new(&stdout, PollFlags::IN)], left.as_ref())?;
            if ready == 0 {
                // The first of the two; the second notices that nobody listens.
                let _ = child.kill();
                let _ = child.wait();
                return Err(io::ErrorKind::TimedOut.into());
            }
            match stdout.read(&mut bytes)? {
                0 => break,
                count if said.len() < MAX_REPLY_BYTES => said.extend_from_slice(&bytes[..count]),
                _ => {}
            }
        }
    }
    child.wait()?;
    given?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// In the first process: starts the second, which inherits stdout and gets `input`.
pub fn respawn_detached(program: &Path, arguments: &[&str], input: &[u8]) -> io::Result<()> {
    // The second one then belongs to no terminal.
    let _ = setsid();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input))
}
