//! A Wayland desktop: sway without a screen, with wl-clipboard as the programs that copy and paste.
//!
//! sway refuses to run as root; there it runs as an unprivileged user, in a folder of that user's. Programs
//! of root can connect all the same.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, geteuid};
use tempfile::TempDir;

use super::holder::ClipboardHolder;
use super::{ClipboardOwner, LIMIT};
use crate::expect::expect_ok;
use crate::missing::{Missing, find};
use crate::process::{ChildGuard, output, poll_until};

/// The user that sway runs as if we are root.
const UNPRIVILEGED: &str = "nobody";

/// No X11 on it, and a file with the desktop's name when everything is up.
const CONFIG: &str = "xwayland disable\nexec 'echo $WAYLAND_DISPLAY > name.new && mv name.new name'\n";

/// wl-copy keeps its input in a file, which stays when it is killed. Up to this size the text is passed as
/// an argument.
const ARGUMENT: usize = 64 << 10;

/// One desktop, and its clipboard.
#[derive(Debug)]
pub struct Wayland {
    socket: String,
    holder: ClipboardHolder,
    compositor: ChildGuard,
    folder: TempDir,
}

impl Wayland {
    pub fn start() -> Result<Wayland, Missing> {
        find("wl-copy")?;
        let sway = find("sway")?;
        let folder = expect_ok(tempfile::Builder::new().prefix("wl-").tempdir(), "could not make a folder");
        let path = folder.path();
        expect_ok(fs::write(path.join("config"), CONFIG), "could not configure sway");
        let log = expect_ok(fs::File::create(path.join("log")), "could not make sway's log");
        let mut command = Command::new(sway);
        command.arg("--config").arg(path.join("config")).current_dir(path);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", path).env("XDG_RUNTIME_DIR", path);
        command
            .env("WLR_BACKENDS", "headless")
            .env("WLR_RENDERER", "pixman")
            .env("WLR_LIBINPUT_NO_DEVICES", "1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        expect_ok(fs::set_permissions(path, Permissions::from_mode(0o700)), "could not close the folder");
        if geteuid().is_root() {
            let (user, group) = ids(UNPRIVILEGED).ok_or(Missing("user called nobody"))?;
            expect_ok(chown(path, Some(user), Some(group)), "could not hand over the folder");
            command.uid(user).gid(group);
        }
        let mut compositor = expect_ok(ChildGuard::start(&mut command), "could not start sway");
        let socket = name(&mut compositor, path);
        Ok(Wayland { socket, holder: ClipboardHolder::default(), compositor, folder })
    }

    /// As in `wayland-1`.
    pub fn socket(&self) -> &str {
        &self.socket
    }

    /// The environment of a program on this desktop. It should not have a `DISPLAY`: see
    /// [`surround`](Self::surround).
    pub fn env(&self) -> Vec<(String, String)> {
        let folder = self.folder.path().to_string_lossy().into_owned();
        vec![("WAYLAND_DISPLAY".to_owned(), self.socket.clone()), ("XDG_RUNTIME_DIR".to_owned(), folder)]
    }

    /// Puts a program on this desktop, and on no other.
    pub fn surround(&self, command: &mut Command) {
        command.env_remove("DISPLAY").env_remove("WAYLAND_SOCKET").envs(self.env());
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.socket)
    }

    /// An owner inside this process.
    pub fn owner(&self) -> ClipboardOwner {
        ClipboardOwner::on_wayland(self)
    }

    /// As a person would.
    pub fn copy(&self, text: &str) {
        self.copy_as("text/plain", text.as_bytes());
    }

    /// Copies bytes as one kind of data, as in `image/png`. wl-copy offers a kind of text as every other
    /// kind of text too.
    pub fn copy_as(&self, target: &str, bytes: &[u8]) {
        let mut command = self.program("wl-copy");
        command.args(["--foreground", "--type", target]).stdout(Stdio::null()).stderr(Stdio::null());
        let as_argument = !bytes.is_empty() && bytes.len() <= ARGUMENT && !bytes.contains(&0);
        let bytes_in = if as_argument {
            command.arg("--").arg(OsStr::from_bytes(bytes));
            b""
        } else {
            bytes
        };
        let is_there = || self.paste_as(target).is_some_and(|found| found == bytes);
        self.holder.replace(&mut command, bytes_in, is_there);
    }

    /// What a person would paste; empty if there is no text.
    pub fn paste(&self) -> String {
        String::from_utf8_lossy(&self.paste_as("text/plain").unwrap_or_default()).into_owned()
    }

    /// What the clipboard holds as `target`.
    pub fn paste_as(&self, target: &str) -> Option<Vec<u8>> {
        let mut command = self.program("wl-paste");
        command.args(["--no-newline", "--type", target]);
        expect_ok(output(&mut command, b"", LIMIT), "could not run wl-paste")
    }

    /// The program that copied last neither answers nor exits from now on.
    pub fn hang_owner(&self) {
        self.holder.hang();
    }

    /// The program that copied last dies, and the clipboard with it.
    pub fn kill_owner(&self) {
        self.holder.kill();
    }

    /// The compositor dies, and every program connected to it.
    pub fn crash(&mut self) {
        self.compositor.signal(Signal::KILL);
        let _ = self.compositor.wait_exit(LIMIT);
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        self.surround(&mut command);
        command
    }
}

impl Drop for Wayland {
    fn drop(&mut self) {
        // In this order: wl-copy removes its file when the desktop goes, but not when it is ended.
        self.compositor.end();
        self.holder.wait_desktop_exit();
    }
}

/// The desktop's name, as soon as it can be used.
fn name(compositor: &mut ChildGuard, folder: &Path) -> String {
    let found = poll_until(LIMIT, || match fs::read_to_string(folder.join("name")) {
        Ok(name) => Some(name.trim().to_owned()),
        Err(_) => compositor.wait_exit(Duration::ZERO).map(|_| String::new()),
    });
    let name = found.unwrap_or_default();
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    assert!(!name.is_empty(), "sway did not start:\n{log}");
    name
}

/// User and group id.
fn ids(user: &str) -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let line = users.lines().find(|line| line.split(':').next() == Some(user))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}
