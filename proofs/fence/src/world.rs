//! What there is around an attempt: a project, a place outside, a home with secrets, somebody who listens, and a process of
//! the same user. Made anew for each.

use std::fs::{self, File, FileTimes, Permissions};
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::mount::UnmountFlags;

use crate::Place;

/// The number of the user who is nobody.
const NOBODY: u32 = 65_534;

/// Who makes the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldUser {
    /// Whoever runs the proof, root for a whole table.
    Own,
    /// A user without rights.
    Nobody,
}

impl WorldUser {
    /// Starts the program as this user.
    pub fn start_as(self, command: &mut Command) {
        if self == WorldUser::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
    }
}

/// Everything around one attempt.
pub struct World {
    pub user: WorldUser,
    pub place: Place,
    /// A word that stands in every secret, and nowhere else.
    pub secret: String,
    pub(crate) victim: Child,
    pub(crate) tcp: TcpListener,
    pub(crate) udp: UdpSocket,
    pub(crate) unix: UnixListener,
    pub(crate) datagram: UnixDatagram,
    pub(crate) abstract_unix: UnixListener,
    pub(crate) fifo: File,
    /// Open without being closed on exec, as a careless program leaves them.
    _inherited: OwnedFd,
}

impl World {
    /// Makes one in a new directory of this number.
    pub fn new(base: &Path, number: u32, user: WorldUser, program: &Path) -> anyhow::Result<World> {
        let base = base.join(format!("world-{number}"));
        let secret = format!("SECRET-{}-{number}", std::process::id());
        make_files(&base, &secret).context("make the files")?;
        if user == WorldUser::Nobody {
            hand_over(&base)?;
        }
        make_setuid(&base, &secret, user)?;
        let outside = base.join("outside");
        rustix::fs::mknodat(CWD, outside.join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o666), 0)?;
        let fifo = rustix::fs::open(
            outside.join("fifo"),
            OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let unix = UnixListener::bind(outside.join("socket"))?;
        let datagram = UnixDatagram::bind(outside.join("datagram"))?;
        for name in ["fifo", "socket", "datagram"] {
            fs::set_permissions(outside.join(name), Permissions::from_mode(0o777))?;
        }
        let name = SocketAddr::from_abstract_name(base.as_os_str().as_encoded_bytes())?;
        let abstract_unix = UnixListener::bind_addr(&name)?;
        tcp.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        unix.set_nonblocking(true)?;
        datagram.set_nonblocking(true)?;
        abstract_unix.set_nonblocking(true)?;
        let mut victim = Command::new(program);
        victim
            .arg("victim")
            .env("FENCE_TOKEN", &secret)
            .current_dir(&base)
            .stdin(Stdio::null())
            .process_group(0);
        user.start_as(&mut victim);
        let victim = victim.spawn()?;
        let place = Place {
            victim: i32::try_from(victim.id())?,
            tcp_port: tcp.local_addr()?.port(),
            udp_port: udp.local_addr()?.port(),
            base,
        };
        let inherited = rustix::fs::open(&outside, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        Ok(World {
            user,
            place,
            secret,
            victim,
            tcp,
            udp,
            unix,
            datagram,
            abstract_unix,
            fifo: File::from(fifo),
            _inherited: inherited,
        })
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.place.base.join("project")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        // Without a fence root's attempts to mount something work, here on the machine itself.
        while rustix::mount::unmount(self.project().join("into"), UnmountFlags::DETACH).is_ok() {}
        let _ = fs::remove_dir_all(&self.place.base);
    }
}

fn make_files(base: &Path, secret: &str) -> io::Result<()> {
    for directory in [
        "project/.git/hooks",
        "project/.relaycode",
        "project/into",
        "outside",
        "home/.ssh",
        "home/.config",
        "temp",
    ] {
        fs::create_dir_all(base.join(directory))?;
    }
    for (name, text) in [
        ("project/.git/hooks/pre-commit", "#!/bin/sh\n"),
        ("project/.git/config", "[core]\n\trepositoryformatversion = 0\n"),
        ("project/.git/HEAD", "ref: refs/heads/main\n"),
        ("project/.relaycode/lock", ""),
        ("project/.env", secret),
        ("project/source", "source\n"),
        ("outside/file", "outside\n"),
        ("home/.ssh/id_ed25519", secret),
        ("home/.netrc", secret),
        ("home/.bashrc", "# mine\n"),
    ] {
        fs::write(base.join(name), text)?;
    }
    fs::create_dir_all(base.join("project/.git/objects"))?;
    fs::create_dir_all(base.join("project/.git/refs"))?;
    // Long ago, so that a change to now is a change.
    let past = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
    File::open(base.join("outside/file"))?.set_times(past)
}

/// Everything in it becomes the user's.
fn hand_over(path: &Path) -> io::Result<()> {
    chown(path, Some(NOBODY), Some(NOBODY))?;
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            hand_over(&entry?.path())?;
        }
    }
    Ok(())
}

/// A program that reads as root for everybody, and a file that only root reads. Of use only to another user.
fn make_setuid(base: &Path, secret: &str, user: WorldUser) -> io::Result<()> {
    if user == WorldUser::Own {
        return Ok(());
    }
    let (program, file) = (base.join("outside/setuid-cat"), base.join("outside/root-only"));
    fs::copy("/bin/cat", &program)?;
    fs::set_permissions(&program, Permissions::from_mode(0o4755))?;
    fs::write(&file, secret)?;
    fs::set_permissions(&file, Permissions::from_mode(0o600))
}
