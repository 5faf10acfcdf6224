//! The one place for what differs by system. The rest of the crate is the same on every Unix.
//!
//! A system provides, in a folder of its own:
//!
//! | item | promises | where the system cannot |
//! |---|---|---|
//! | `DescendantRoots`, `DescendantSweep` | finds every descendant of a keeper, also those that left its group, and signals no stranger | whoever stayed in the job's process group is found, the rest may outlive the job; a number that another process got meanwhile is not told apart |
//! | `process_start_time` | tells two processes of the same number apart | `None` |
//! | `adopt_orphans`, `ADOPTS_ORPHANS` | whoever loses its parent below this process becomes its child, so that "no child left" means "no descendant left" | nothing happens and the constant is `false`: the keeper then asks its process group who is left |
//! | `DescendantSweep::reap_adopted` | waits for the orphans of a lost keeper, which relay adopted | nobody is adopted: after the loss of a keeper relay says that something may still run |
//! | `count_keeper_ancestors` | finds the keepers above this process, whatever its environment says | `None`: only the environment says how deep relay stands |
//! | `open_pty_master` | a new terminal that no program started meanwhile inherits | closed on exec right after it was opened, which leaves a moment in between |
//! | `SEND_FLAGS`, `silence_sigpipe` | writing to a socket whose other end is gone is an error, never a signal | both systems can, each by one of the two |
//! | `RECEIVE_FLAGS`, `close_on_exec` | a descriptor that is received is not inherited by a program started later | both systems can, each by one of the two |
//! | `enlarge_pipe` | a pipe holds more, for fewer and larger reads | stays as it is |
//! | `run_fence` | enters the fence that a `FenceSpec` describes and becomes the command, or fails before anything of it ran | fails always |
//! | `leave_for_fence` | makes the namespaces of a fence for the next process that is started | fails always |
//! | `own_number` | by which the first process in them sees whether the one outside is still there | no process asks |
//! | `own_program` | the binary that runs, to be started again | the file that now has its name |
//! | `create_inheritable_file`, `OPEN_FILES` | a file in memory that the stage inherits, and where it finds it by number | `Unsupported` |
//!
//! So the promise that nothing of a job stays is Linux's. On macOS it holds for jobs that stay in their process group, which
//! is what shells without job control and most programs do; a job at a terminal is ended by its first process and by
//! the hangup that the end of its terminal means to the others.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;
