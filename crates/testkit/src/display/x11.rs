//! An X11 desktop: Xvfb, with xclip and xsel as the programs that copy and paste.

use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::holder::ClipboardHolder;
use super::{ClipboardOwner, LIMIT};
use crate::expect::expect_ok;
use crate::missing::{Missing, find};
use crate::process::{ChildGuard, first_line, output};

/// Nothing is drawn on it.
const SCREEN: &str = "320x240x24";

/// One desktop, and its clipboard.
#[derive(Debug)]
pub struct X11 {
    display: String,
    holder: ClipboardHolder,
    server: ChildGuard,
}

impl X11 {
    /// On a free display.
    pub fn start() -> Result<X11, Missing> {
        X11::start_with(&[])
    }

    /// With more options.
    pub fn start_with(options: &[&str]) -> Result<X11, Missing> {
        find("xclip")?;
        let mut command = Command::new(find("Xvfb")?);
        // The display's number comes on standard output, once it can be used.
        command.args(["-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp", "-noreset"]);
        command.args(options);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = expect_ok(ChildGuard::start(&mut command), "could not start Xvfb");
        let number = first_line(&mut server, LIMIT);
        assert!(!number.is_empty(), "Xvfb named no display within {LIMIT:?}");
        Ok(X11 { display: format!(":{number}"), holder: ClipboardHolder::default(), server })
    }

    /// As in `:12`.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// The environment of a program on this desktop. It must not have a `WAYLAND_DISPLAY`: see
    /// [`surround`](Self::surround).
    pub fn env(&self) -> Vec<(String, String)> {
        vec![("DISPLAY".to_owned(), self.display.clone())]
    }

    /// Puts a program on this desktop, and on no other.
    pub fn surround(&self, command: &mut Command) {
        command.env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET").env_remove("XAUTHORITY");
        command.envs(self.env());
    }

    /// An owner inside this process.
    pub fn owner(&self) -> ClipboardOwner {
        ClipboardOwner::on_x11(self)
    }

    /// As a person would.
    pub fn copy(&self, text: &str) {
        self.hold(&mut self.xclip(&["-quiet", "-in"]), "UTF8_STRING", text.as_bytes());
    }

    /// Copies bytes as only one kind of data, as in `image/png`.
    pub fn copy_as(&self, target: &str, bytes: &[u8]) {
        self.hold(&mut self.xclip(&["-quiet", "-in", "-target", target]), target, bytes);
    }

    pub fn copy_with_xsel(&self, text: &str) -> Result<(), Missing> {
        let mut xsel = Command::new(find("xsel")?);
        xsel.args(["--clipboard", "--input", "--nodetach"]);
        self.hold(&mut xsel, "UTF8_STRING", text.as_bytes());
        Ok(())
    }

    /// What a person would paste; empty if there is no text.
    pub fn paste(&self) -> String {
        // xclip returns its content under any name it is asked for: only its list is honest.
        if !self.targets().iter().any(|target| target == "UTF8_STRING") {
            return String::new();
        }
        String::from_utf8_lossy(&self.paste_as("UTF8_STRING").unwrap_or_default()).into_owned()
    }

    /// The kinds of data that the clipboard offers.
    pub fn targets(&self) -> Vec<String> {
        let listed = self.paste_as("TARGETS").unwrap_or_default();
        String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect()
    }

    /// What the clipboard holds as `target`.
    pub fn paste_as(&self, target: &str) -> Option<Vec<u8>> {
        expect_ok(output(&mut self.xclip(&["-out", "-target", target]), b"", LIMIT), "could not run xclip")
    }

    /// The program that copied last neither answers nor exits from now on.
    pub fn hang_owner(&self) {
        self.holder.hang();
    }

    /// The program that copied last dies, and the clipboard with it.
    pub fn kill_owner(&self) {
        self.holder.kill();
    }

    /// The server dies, and every program connected to it.
    pub fn crash(&mut self) {
        self.server.signal(Signal::KILL);
        let _ = self.server.wait_exit(LIMIT);
    }

    fn xclip(&self, args: &[&str]) -> Command {
        let mut command = Command::new("xclip");
        command.args(["-selection", "clipboard"]).args(args);
        self.surround(&mut command);
        command
    }

    fn hold(&self, command: &mut Command, target: &str, bytes: &[u8]) {
        self.surround(command);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.holder.replace(command, bytes, || self.paste_as(target).is_some_and(|found| found == bytes));
    }
}
