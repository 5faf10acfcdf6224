//! Display servers for one test each, and the programs on them; they end with it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use relaycode_testkit::display::{Wayland, X11};
use relaycode_testkit::missing::Missing;
use relaycode_watch::clipboard::DisplayAddresses;

use crate::support::until;

/// A server, and how its clients find it.
pub(crate) struct Display {
    server: Server,
    pub(crate) desktop: DisplayAddresses,
}

enum Server {
    X11(X11),
    Wayland(Wayland),
}

impl Display {
    /// `None`: the test is skipped, with a message.
    pub(crate) fn x11(options: &[&str]) -> Option<Display> {
        let server = X11::start_with(options).map_err(|missing: Missing| missing.skip()).ok()?;
        let desktop = DisplayAddresses { wayland: None, x11: Some(server.display().to_owned()) };
        Some(Display { server: Server::X11(server), desktop })
    }

    /// Without XWayland. `None`: the test is skipped, with a message.
    pub(crate) fn wayland() -> Option<Display> {
        let server = Wayland::start().map_err(|missing: Missing| missing.skip()).ok()?;
        let value = |name: &str| server.env().into_iter().find(|(key, _)| key == name).unwrap().1;
        let socket = PathBuf::from(value("XDG_RUNTIME_DIR")).join(value("WAYLAND_DISPLAY"));
        Some(Display {
            server: Server::Wayland(server),
            desktop: DisplayAddresses { wayland: Some(socket), x11: None },
        })
    }

    /// A client of this server only.
    pub(crate) fn client(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env("LC_ALL", "C.UTF-8").stderr(Stdio::null());
        match &self.server {
            Server::X11(server) => server.surround(&mut command),
            Server::Wayland(server) => server.surround(&mut command),
        }
        command
    }

    /// Runs a client that reads this as its input and goes into the background.
    pub(crate) fn copy(&self, program: &str, arguments: &[&str], bytes: &[u8]) {
        let mut copying = self.client(program, arguments);
        let mut copying = copying.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        copying.stdin.take().unwrap().write_all(bytes).unwrap();
        assert!(copying.wait().unwrap().success(), "{program} failed");
    }

    /// The usual way to copy.
    pub(crate) fn copy_text(&self, text: &str) {
        match self.server {
            Server::X11(_) => self.copy("xclip", &["-selection", "clipboard"], text.as_bytes()),
            Server::Wayland(_) => self.copy("wl-copy", &["-t", "text/plain;charset=utf-8"], text.as_bytes()),
        }
    }

    /// Copies before anybody watches: programs go into the background before the text is there.
    pub(crate) fn copy_before(&self, text: &str) {
        self.copy_text(text);
        until("the copied text", || match &self.server {
            Server::X11(server) => server.paste() == text,
            Server::Wayland(server) => server.paste() == text,
        });
    }

    pub(crate) fn output(&self, program: &str, arguments: &[&str]) -> Vec<u8> {
        self.client(program, arguments).stdin(Stdio::null()).output().unwrap().stdout
    }

    /// A shell whose commands find the server.
    pub(crate) fn shell(&self, line: &str) -> Child {
        self.client("sh", &["-c", line]).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    }

    /// As in a crash.
    pub(crate) fn kill(&mut self) {
        match &mut self.server {
            Server::X11(server) => server.crash(),
            Server::Wayland(server) => server.crash(),
        }
    }
}
