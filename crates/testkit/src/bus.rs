//! A private session bus (D-Bus) for a test, which starts no service unless it is told of one.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::expect::expect_ok;
use crate::missing::{Missing, find};
use crate::process::{ChildGuard, first_line, output, poll_until};

/// For the bus to start, and for a program to appear on it.
const LIMIT: Duration = Duration::from_secs(20);

/// This user may do everything; services are those of the folder.
const CONFIG: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=SOCKET</listen>
  <auth>EXTERNAL</auth>
  <servicedir>SERVICES</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

#[derive(Debug)]
pub struct TestBus {
    address: String,
    /// Ends it when dropped.
    _daemon: ChildGuard,
    folder: TempDir,
}

impl TestBus {
    pub fn start() -> Result<TestBus, Missing> {
        find("dbus-send")?;
        let mut command = Command::new(find("dbus-daemon")?);
        let folder = expect_ok(tempfile::Builder::new().prefix("bus-").tempdir(), "could not make a folder");
        let config = folder.path().join("config");
        let socket = folder.path().join("bus");
        let services = folder.path().join("services");
        expect_ok(fs::create_dir(&services), "could not make a folder");
        let text = CONFIG.replace("SOCKET", &socket.to_string_lossy());
        let text = text.replace("SERVICES", &services.to_string_lossy());
        expect_ok(fs::write(&config, text), "could not configure the bus");
        command.arg("--config-file").arg(config).args(["--nofork", "--nopidfile", "--print-address=1"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut daemon = expect_ok(ChildGuard::start(&mut command), "could not start dbus-daemon");
        let address = first_line(&mut daemon, LIMIT);
        assert!(!address.is_empty(), "dbus-daemon named no address within {LIMIT:?}");
        Ok(TestBus { address, _daemon: daemon, folder })
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its folder with the socket `bus`, like a runtime directory.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// From now on the bus starts `program` for whoever asks for `name`.
    pub fn add_service(&self, name: &str, program: &str) {
        let text = format!("[D-BUS Service]\nName={name}\nExec={program}\n");
        expect_ok(
            fs::write(self.folder().join("services/offered.service"), text),
            "could not write the service",
        );
        // It notices a changed folder by itself, but not always in time.
        let mut command = Command::new("dbus-send");
        command.args(["--session", "--print-reply", "--dest=org.freedesktop.DBus", "/"]);
        command.arg("org.freedesktop.DBus.ReloadConfig");
        self.surround(&mut command);
        expect_ok(output(&mut command, b"", LIMIT), "could not run dbus-send");
    }

    /// The environment of a program on this bus.
    pub fn env(&self) -> Vec<(String, String)> {
        vec![("DBUS_SESSION_BUS_ADDRESS".to_owned(), self.address.clone())]
    }

    /// Puts a program on this bus.
    pub fn surround(&self, command: &mut Command) {
        command.envs(self.env());
    }

    /// Waits until a program owns `name`.
    pub fn wait_for_owner(&self, name: &str) {
        let has_owner = || {
            let mut command = Command::new("dbus-send");
            command.args(["--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/"]);
            command.arg("org.freedesktop.DBus.NameHasOwner").arg(format!("string:{name}"));
            self.surround(&mut command);
            let said =
                expect_ok(output(&mut command, b"", LIMIT), "could not run dbus-send").unwrap_or_default();
            String::from_utf8_lossy(&said).contains("true").then_some(())
        };
        assert!(poll_until(LIMIT, has_owner).is_some(), "nobody took {name} on the bus within {LIMIT:?}");
    }
}
