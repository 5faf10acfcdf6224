//! Servers for one test each: they end with it, and with them every program that is connected.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use relaycode_watch::clipboard::Desktop;

use crate::stage::until;

/// Nobody, as nearly every system numbers it.
const NOBODY: u32 = 65534;

/// Whether these programs are there; says so if not.
pub(crate) fn installed(programs: &[&str]) -> bool {
    let there = |program: &&&str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    let missing: Vec<_> = programs.iter().filter(|program| !there(program)).collect();
    if !missing.is_empty() {
        eprintln!("skipped: not installed: {missing:?}");
    }
    missing.is_empty()
}

/// A server, and how its clients find it.
pub(crate) struct Display {
    server: Child,
    pub(crate) desktop: Desktop,
    environment: Vec<(&'static str, String)>,
    _folder: Option<tempfile::TempDir>,
}

impl Drop for Display {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Display {
    /// An X11 server.
    pub(crate) fn x11(options: &[&str]) -> Option<Display> {
        if !installed(&["Xvfb", "xclip", "xsel"]) {
            return None;
        }
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "64x64x24", "-nolisten", "tcp", "-noreset"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        assert!(display.len() > 1, "Xvfb did not start");
        let desktop = Desktop { wayland: None, x11: Some(display.clone()) };
        Some(Display { server, desktop, environment: vec![("DISPLAY", display)], _folder: None })
    }

    /// A Wayland compositor without XWayland.
    pub(crate) fn wayland() -> Option<Display> {
        if !installed(&["sway", "wl-copy", "wl-paste", "setpriv"]) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
        let config = path.join("config");
        std::fs::write(&config, "xwayland disable\n").unwrap();
        // sway refuses to run as root.
        let root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
        let mut command = if root {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            let (user, group) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
            let mut command = Command::new("setpriv");
            command.args([user.as_str(), group.as_str(), "--clear-groups", "sway"]);
            command
        } else {
            Command::new("sway")
        };
        let server = command
            .arg("-c")
            .arg(&config)
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("DISPLAY")
            .env("XDG_RUNTIME_DIR", path)
            .env("WLR_BACKENDS", "headless")
            .env("WLR_RENDERER", "pixman")
            .env("WLR_LIBINPUT_NO_DEVICES", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut socket = PathBuf::new();
        until("sway's socket", || {
            let mut names = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
            let found = names.find(|name| {
                let name = name.file_name().unwrap().to_string_lossy().into_owned();
                name.starts_with("wayland-") && !name.ends_with(".lock")
            });
            found.inspect(|found| socket.clone_from(found)).is_some()
        });
        let environment = vec![
            ("XDG_RUNTIME_DIR", path.to_string_lossy().into_owned()),
            ("WAYLAND_DISPLAY", socket.file_name().unwrap().to_string_lossy().into_owned()),
        ];
        let desktop = Desktop { wayland: Some(socket), x11: None };
        Some(Display { server, desktop, environment, _folder: Some(folder) })
    }

    /// A client of this server, and of no other.
    pub(crate) fn client(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env("LC_ALL", "C.UTF-8");
        command.envs(self.environment.iter().cloned()).stderr(Stdio::null());
        command
    }

    /// Runs a client that takes this as its input and puts itself into the background.
    pub(crate) fn copy(&self, program: &str, arguments: &[&str], bytes: &[u8]) {
        let mut copying = self.client(program, arguments);
        let mut copying = copying.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        copying.stdin.take().unwrap().write_all(bytes).unwrap();
        assert!(copying.wait().unwrap().success(), "{program} failed");
    }

    /// Copies text the usual way.
    pub(crate) fn copy_text(&self, text: &str) {
        match self.desktop.x11 {
            Some(_) => self.copy("xclip", &["-selection", "clipboard"], text.as_bytes()),
            None => self.copy("wl-copy", &["-t", "text/plain;charset=utf-8"], text.as_bytes()),
        }
    }

    /// Copies text before anybody watches: programs put themselves into the background before it is there.
    pub(crate) fn copy_before(&self, text: &str) {
        self.copy_text(text);
        until("the copied text", || match self.desktop.x11 {
            Some(_) => self.output("xclip", &["-o", "-selection", "clipboard"]) == text.as_bytes(),
            None => self.output("wl-paste", &["-n"]) == text.as_bytes(),
        });
    }

    /// What a client prints.
    pub(crate) fn output(&self, program: &str, arguments: &[&str]) -> Vec<u8> {
        self.client(program, arguments).stdin(Stdio::null()).output().unwrap().stdout
    }

    /// A shell in which clients find the server.
    pub(crate) fn shell(&self, line: &str) -> Child {
        self.client("sh", &["-c", line]).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    }

    /// Ends the server, as a crash would.
    pub(crate) fn kill(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
