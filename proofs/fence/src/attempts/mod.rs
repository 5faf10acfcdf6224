//! The attempts: one short function each, and one row of a list. They know where things are, and nothing of the fence.

mod allowed;
mod files;
mod kernel;
mod network;
mod processes;
mod protected;
mod reading;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, ensure};

/// Something to try.
#[derive(Clone, Copy)]
pub struct Attempt {
    pub name: &'static str,
    pub kind: AttemptKind,
    pub try_it: fn(&Place) -> anyhow::Result<String>,
}

/// Who says whether it got through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptKind {
    /// Whoever looks from outside.
    SeenOutside,
    /// As before, or the attempt itself: it leaves no mark.
    SaysItself,
    /// It is meant to work.
    Allowed,
    /// It is meant to work at level 1.
    AllowedInNamespaces,
}

/// Where an attempt finds what it is after.
#[derive(Debug, Clone)]
pub struct Place {
    pub base: PathBuf,
    /// A process outside, of the same user.
    pub victim: i32,
    pub tcp_port: u16,
    pub udp_port: u16,
}

impl Place {
    pub(crate) fn project(&self, name: &str) -> PathBuf {
        self.base.join("project").join(name)
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.base.join("outside").join(name)
    }

    /// The key of memory to share with the process outside: no other world's.
    pub(crate) fn shared_key(&self) -> i32 {
        self.victim
    }

    /// The name of a socket without a path.
    pub(crate) fn abstract_name(&self) -> Vec<u8> {
        self.base.as_os_str().as_encoded_bytes().to_vec()
    }
}

/// Every attempt, by the file it is in.
pub const ALL: &[&[Attempt]] = &[
    files::ATTEMPTS,
    protected::ATTEMPTS,
    reading::ATTEMPTS,
    network::ATTEMPTS,
    processes::ATTEMPTS,
    kernel::ATTEMPTS,
    allowed::ATTEMPTS,
];

/// What an attempt prints first: that it ran at all.
pub(crate) const RAN: &str = "the attempt runs";

/// The attempt's own side: its name, the place, and what is in it.
pub(crate) fn run_inside(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let [name, base, victim, tcp, udp] = words.as_slice() else { anyhow::bail!("not an attempt") };
    let place = Place {
        base: PathBuf::from(base),
        victim: victim.parse()?,
        tcp_port: tcp.parse()?,
        udp_port: udp.parse()?,
    };
    let attempt = ALL.iter().copied().flatten().find(|attempt| attempt.name == *name);
    println!("{RAN}");
    let said = (attempt.context("no such attempt")?.try_it)(&place)?;
    println!("{said}");
    Ok(ExitCode::SUCCESS)
}

/// For calls that have no safe wrapper. Fails if the code does not end with success.
pub(crate) fn perl(code: &str) -> anyhow::Result<String> {
    let output = Command::new("/usr/bin/perl").args(["-e", code]).stdin(Stdio::inherit()).output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{} {said} {}", output.status, String::from_utf8_lossy(&output.stderr));
    Ok(said)
}

/// A system call by its number; `arguments` as perl writes them.
pub(crate) fn system_call(number: i64, arguments: &str) -> anyhow::Result<String> {
    perl(&format!("my $r = syscall({number}, {arguments}); die \"$!\\n\" if $r < 0; print $r;"))
}
