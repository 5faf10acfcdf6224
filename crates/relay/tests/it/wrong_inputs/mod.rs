//! What a real user gets wrong, a hundred times: each message is read here as the user reads it. It says what
//! happened, where, and what to do next, and it ends with the code that `docs/exit-codes.md` gives it.
//!
//! | module | what is wrong |
//! |---|---|
//! | `command_line` | commands, options and arguments |
//! | `answers` | the answer, and where it comes from |
//! | `paths` | the files that an answer names |
//! | `history` | names of changes, lines of files, and what git knows |
//! | `configuration` | the configuration, and the programs that it names |
//! | `state` | `.relaycode/`, the user's own directory, the disk |
//! | `agents` | friends, providers, models, keys and sessions |
//! | `json` | the same for a machine |

mod agents;
mod answers;
mod command_line;
mod configuration;
mod history;
mod json;
mod paths;
mod state;

use crate::fixture::scratch_project::Project;
use crate::fixture::snapshot::Transcript;

/// A project with two short files.
fn project() -> Project {
    Project::new(&[("a.txt", "one\ntwo\n"), ("src/b.txt", "three\n")])
}

/// Runs each of these as it is typed: the words after `relay`, apart by blanks.
fn typed(project: &Project, lines: &[&str]) -> Transcript {
    let mut transcript = Transcript::default();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        transcript.add(&format!("relay {line}"), &project.relay(&words));
    }
    transcript
}
