//! Reading what is masked. What was read is printed; whoever started the attempt looks for the secret in it.

use std::fs;
use std::io::{Read, Seek, SeekFrom};

use super::AttemptKind::{SaysItself, SeenOutside};
use super::{Attempt, Place};

const fn seen(name: &'static str, try_it: fn(&Place) -> anyhow::Result<String>) -> Attempt {
    Attempt { name, kind: SeenOutside, try_it }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    seen("read_ssh_key", |place| Ok(fs::read_to_string(place.base.join("home/.ssh/id_ed25519"))?)),
    seen("read_key_by_proc_root", |place| {
        let key = place.base.join("home/.ssh/id_ed25519");
        let key = key.strip_prefix("/")?;
        let read = |process: &str| fs::read_to_string(format!("/proc/{process}/root/{}", key.display()));
        Ok(read("self").or_else(|_| read("1")).or_else(|_| read(&place.victim.to_string()))?)
    }),
    seen("read_key_by_link", |place| {
        std::os::unix::fs::symlink(place.base.join("home/.ssh"), place.project("keys"))?;
        Ok(fs::read_to_string(place.project("keys/id_ed25519"))?)
    }),
    seen("read_masked_file", |place| Ok(fs::read_to_string(place.base.join("home/.netrc"))?)),
    seen("read_env_in_project", |place| Ok(fs::read_to_string(place.project(".env"))?)),
    seen("read_environ_of_others", |place| {
        let own = std::process::id().to_string();
        let mut read = fs::read_to_string(format!("/proc/{}/environ", place.victim)).unwrap_or_default();
        for entry in fs::read_dir("/proc")?.flatten().filter(|entry| *entry.file_name() != *own) {
            let bytes = fs::read(entry.path().join("environ")).unwrap_or_default();
            read.push_str(&String::from_utf8_lossy(&bytes));
            read.push('\0');
        }
        Ok(only_secrets(&read))
    }),
    seen("read_memory_of_others", |place| {
        let maps = fs::read_to_string(format!("/proc/{}/maps", place.victim))?;
        let stack = maps.lines().find(|line| line.ends_with("[stack]")).unwrap_or_default();
        let (from, to) =
            stack.split_once(' ').and_then(|(range, _)| range.split_once('-')).unwrap_or_default();
        let (from, to) = (u64::from_str_radix(from, 16)?, u64::from_str_radix(to, 16)?);
        let mut memory = fs::File::open(format!("/proc/{}/mem", place.victim))?;
        memory.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        memory.take(to - from).read_to_end(&mut bytes)?;
        Ok(only_secrets(&String::from_utf8_lossy(&bytes)))
    }),
    Attempt {
        name: "read_disk_device",
        kind: SaysItself,
        try_it: |_| {
            for disk in fs::read_dir("/sys/block")?.flatten() {
                let Ok(mut device) = fs::File::open(format!("/dev/{}", disk.file_name().display())) else {
                    continue;
                };
                let mut bytes = [0; 512];
                if device.read_exact(&mut bytes).is_ok() {
                    return Ok("read".to_owned());
                }
            }
            anyhow::bail!("none opens")
        },
    },
    Attempt {
        name: "kernel_log",
        kind: SaysItself,
        try_it: |_| Ok(fs::File::open("/dev/kmsg").map(|_| "open".to_owned())?),
    },
];

/// Only what matters of it: all is more than a pipe holds, and nobody's to print.
fn only_secrets(text: &str) -> String {
    text.split('\0').filter(|part| part.contains("SECRET")).collect()
}
