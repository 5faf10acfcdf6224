//! What a command needs, and what has to work in a fence.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::Command;

use anyhow::ensure;
use rustix::fs::MemfdFlags;

use super::AttemptKind::{Allowed, AllowedInNamespaces};
use super::{Attempt, Place};

const fn allowed(name: &'static str, try_it: fn(&Place) -> anyhow::Result<String>) -> Attempt {
    Attempt { name, kind: Allowed, try_it }
}

const fn in_namespaces(name: &'static str, try_it: fn(&Place) -> anyhow::Result<String>) -> Attempt {
    Attempt { name, kind: AllowedInNamespaces, try_it }
}

pub(super) const ATTEMPTS: &[Attempt] = &[
    allowed("write_project", |place| {
        fs::create_dir(place.project("new"))?;
        fs::write(place.project("new/file"), "mine")?;
        fs::rename(place.project("new/file"), place.project("renamed"))?;
        fs::set_permissions(place.project("renamed"), fs::Permissions::from_mode(0o755))?;
        done(fs::remove_dir(place.project("new"))?)
    }),
    allowed("write_temp", |_| done(fs::write(std::env::temp_dir().join("mine"), "mine")?)),
    allowed("git_objects", |place| done(fs::write(place.project(".git/index"), "mine")?)),
    allowed("git_commit", |place| {
        let who = ["-c", "user.name=a", "-c", "user.email=b@c"];
        for words in [&["add", "source"][..], &["commit", "-qm", "first"], &["status"]] {
            let output = Command::new("git").args(who).args(words).current_dir(place.project("")).output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        done(())
    }),
    allowed("read_stdin", |_| {
        let mut read = String::new();
        std::io::stdin().read_to_string(&mut read)?;
        ensure!(read == "outside\n", "{read}");
        done(())
    }),
    allowed("read_usr", |_| {
        ensure!(fs::read_dir("/usr/bin")?.count() > 0, "empty");
        Ok(format!("{}", fs::read("/bin/sh")?.len()))
    }),
    allowed("run_child", |_| {
        let output = Command::new("/bin/sh").args(["-c", "echo $((1+1)) | cat; exit 3"]).output()?;
        ensure!(output.status.code() == Some(3) && output.stdout == b"2\n", "{output:?}");
        done(())
    }),
    allowed("threads", |_| done(std::thread::spawn(|| ()).join().map_err(|_| anyhow::anyhow!("no thread"))?)),
    allowed("kill_own_child", |_| {
        let mut child = Command::new("/bin/sleep").arg("60").spawn()?;
        child.kill()?;
        ensure!(!child.wait()?.success(), "it lives");
        done(())
    }),
    allowed("socketpair", |_| {
        let (mut one, mut other) = UnixStream::pair()?;
        one.write_all(b"x")?;
        done(other.read_exact(&mut [0])?)
    }),
    allowed("memfd_exec", |_| {
        let mut file = File::from(rustix::fs::memfd_create("true", MemfdFlags::empty())?);
        file.write_all(&fs::read("/bin/true")?)?;
        let status = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd())).status()?;
        ensure!(status.success(), "{status}");
        done(())
    }),
    allowed("dev_null", |_| done(fs::write("/dev/null", "x")?)),
    allowed("own_proc", |_| {
        ensure!(fs::read_to_string("/proc/self/status")?.contains("VmRSS"), "no status");
        done(())
    }),
    in_namespaces("own_loopback", |_| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        TcpStream::connect(listener.local_addr()?)?.write_all(b"x")?;
        done(listener.accept()?.0.read_exact(&mut [0])?)
    }),
    in_namespaces("own_terminal", |_| {
        let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
        let master = rustix::pty::openpt(flags)?;
        rustix::pty::unlockpt(&master)?;
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        done(File::open(name.to_str()?).map(drop)?)
    }),
    in_namespaces("own_dev_shm", |_| done(fs::write("/dev/shm/mine", "x")?)),
    in_namespaces("slash_tmp", |_| done(fs::write("/tmp/mine", "x")?)),
    in_namespaces("sees_no_others", |_| {
        let processes = fs::read_dir("/proc")?.flatten();
        let count =
            processes.filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit()).count();
        ensure!(count <= 2, "{count} processes");
        done(())
    }),
];

fn done((): ()) -> anyhow::Result<String> {
    Ok("done".to_owned())
}
