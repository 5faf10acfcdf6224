//! Reaching processes outside, becoming another user, and typing for the user.

use std::process::Command;

use nix::sys::ptrace;
use nix::unistd::Pid as NixPid;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal};

use super::AttemptKind::{SaysItself, SeenOutside};
use super::{Attempt, Place, perl};

const fn seen(name: &'static str, try_it: fn(&Place) -> anyhow::Result<String>) -> Attempt {
    Attempt { name, kind: SeenOutside, try_it }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    seen("signal_outside", |place| done(rustix::process::kill_process(victim(place)?, Signal::KILL)?)),
    seen("stop_outside", |place| done(rustix::process::kill_process(victim(place)?, Signal::STOP)?)),
    seen("signal_by_descriptor", |place| {
        let held = rustix::process::pidfd_open(victim(place)?, PidfdFlags::empty())?;
        done(rustix::process::pidfd_send_signal(held, Signal::KILL)?)
    }),
    seen("ptrace_outside", |place| {
        ptrace::attach(NixPid::from_raw(place.victim))?;
        done(ptrace::kill(NixPid::from_raw(place.victim))?)
    }),
    seen("renice_outside", |place| done(rustix::process::setpriority_process(Some(victim(place)?), 7)?)),
    seen("limit_outside", |place| {
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        rustix::process::prlimit(Some(victim(place)?), Resource::Core, none)?;
        done(())
    }),
    seen("affinity_outside", |place| {
        let mut one = rustix::thread::CpuSet::new();
        one.set(0);
        done(rustix::thread::sched_setaffinity(Some(victim(place)?), &one)?)
    }),
    Attempt {
        name: "write_memory_of_others",
        kind: SaysItself,
        try_it: |place| {
            let memory = std::fs::OpenOptions::new().write(true).open(format!("/proc/{}/mem", place.victim));
            done(memory.map(drop)?)
        },
    },
    seen("shared_memory_write", |place| {
        let key = place.shared_key();
        perl(&format!(
            "my $id = shmget({key}, 0, 0) // die \"$!\\n\"; shmwrite($id, 'mine', 0, 4) or die \"$!\\n\";"
        ))
    }),
    seen("setuid_binary", |place| {
        let output = Command::new(place.outside("setuid-cat")).arg(place.outside("root-only")).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }),
    Attempt {
        name: "type_into_terminal",
        kind: SaysItself,
        // With the terminal as its own, which a user needs to type into it.
        try_it: |_| {
            perl(
                "use POSIX; POSIX::setsid(); my ($zero, $x) = (0, 'x'); ioctl(STDIN, 0x540e, $zero); \
                 ioctl(STDIN, 0x5412, $x) or die \"$!\\n\";",
            )
        },
    },
    Attempt {
        name: "capabilities_again",
        kind: SaysItself,
        try_it: |_| {
            let status = std::fs::read_to_string("/proc/self/status")?;
            let none = |name: &str| {
                status.lines().any(|line| {
                    line.strip_prefix(name).is_some_and(|rest| rest.trim_matches([':', '\t', '0']).is_empty())
                })
            };
            anyhow::ensure!(!["CapPrm", "CapEff", "CapInh", "CapAmb"].into_iter().all(none), "none left");
            done(())
        },
    },
];

fn victim(place: &Place) -> anyhow::Result<Pid> {
    Pid::from_raw(place.victim).ok_or_else(|| anyhow::anyhow!("no victim"))
}

fn done((): ()) -> anyhow::Result<String> {
    Ok("done".to_owned())
}
