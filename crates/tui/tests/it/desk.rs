//! A desktop of one's own: Xvfb, `dbus-daemon` and dunst, all ended when it is dropped.

use std::fs::File;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use relaycode_tui::notify::Surroundings;
use tempfile::TempDir;

/// How long a condition is waited for before a test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `condition` gives something, and fails after a time that is long for every machine.
pub(crate) fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A program that ends with the test.
pub(crate) struct Program(Child);

impl Program {
    fn start(command: &mut Command) -> Program {
        let started = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        Program(started.unwrap_or_else(|error| panic!("{command:?}: {error}; is it installed?")))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A bus of one's own, without anybody on it.
pub(crate) struct Bus {
    pub(crate) address: String,
    _daemon: Program,
    dir: TempDir,
}

impl Bus {
    pub(crate) fn start() -> Bus {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("bus");
        let config = format!(
            "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\" \
             \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\"><busconfig><type>session</type>\
             <listen>unix:path={}</listen><auth>EXTERNAL</auth><servicedir>{}</servicedir><policy context=\"default\">\
             <allow send_destination=\"*\"/><allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>",
            socket.display(),
            dir.path().join("services").display()
        );
        std::fs::create_dir(dir.path().join("services")).unwrap();
        let file = dir.path().join("bus.conf");
        std::fs::write(&file, config).unwrap();
        let daemon = Program::start(
            Command::new("dbus-daemon").arg("--nofork").arg(format!("--config-file={}", file.display())),
        );
        wait_for("the bus", || UnixStream::connect(&socket).ok());
        Bus { address: format!("unix:path={}", socket.display()), _daemon: daemon, dir }
    }

    /// Names a program that the bus would start to show notifications.
    pub(crate) fn make_startable(&self) {
        let service = "[D-BUS Service]\nName=org.freedesktop.Notifications\nExec=/bin/false\n";
        std::fs::write(self.path().join("services/n.service"), service).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// A bus with a notification server.
pub(crate) struct Desk {
    _dunst: Program,
    _screen: Program,
    display: String,
    pub(crate) bus: Bus,
}

impl Desk {
    pub(crate) fn start() -> Desk {
        let bus = Bus::start();
        let number = bus.path().join("display");
        let mut xvfb = Command::new("Xvfb");
        xvfb.args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"]);
        let screen = Program::start(xvfb.stdout(File::create(&number).unwrap()));
        let display = wait_for("the screen", || {
            let number = std::fs::read_to_string(&number).ok()?;
            number.ends_with('\n').then(|| format!(":{}", number.trim()))
        });
        let config = bus.path().join("dunstrc");
        std::fs::write(&config, "[global]\nidle_threshold = 0\n").unwrap();
        let mut dunst = Command::new("dunst");
        dunst.arg("-conf").arg(&config).env("DISPLAY", &display).env("HOME", bus.path());
        let dunst = Program::start(dunst.env("DBUS_SESSION_BUS_ADDRESS", &bus.address).stdout(Stdio::null()));
        let desk = Desk { _dunst: dunst, _screen: screen, display, bus };
        wait_for("dunst", || desk.control(&["count", "displayed"]));
        desk
    }

    /// How many notifications are on the screen.
    pub(crate) fn displayed(&self) -> usize {
        self.control(&["count", "displayed"]).unwrap().trim().parse().unwrap()
    }

    /// Takes every notification away and gives what they said, the newest first: summary, body, timeout.
    pub(crate) fn clear(&self) -> Vec<[String; 3]> {
        self.control(&["close-all"]).unwrap();
        let history = wait_for("an empty screen", || {
            (self.displayed() == 0).then(|| self.control(&["history"]).unwrap())
        });
        let values = |key: &str| -> Vec<String> {
            let lines: Vec<&str> = history.lines().map(str::trim).collect();
            let from = lines.iter().enumerate().filter(|(_, line)| line.starts_with(&format!("\"{key}\" :")));
            from.map(|(at, _)| lines[at + 2].trim_start_matches("\"data\" : ").trim_matches('"').to_owned())
                .collect()
        };
        let (summaries, bodies, timeouts) = (values("summary"), values("body"), values("timeout"));
        let each = summaries.into_iter().zip(bodies).zip(timeouts);
        each.map(|((summary, body), timeout)| [summary, body, timeout]).collect()
    }

    fn control(&self, arguments: &[&str]) -> Option<String> {
        let mut dunstctl = Command::new("dunstctl");
        dunstctl
            .args(arguments)
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus.address);
        let output = dunstctl.output().expect("dunstctl");
        (output.status.success() && !output.stderr.starts_with(b"Error"))
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// A terminal that rings, and a bus.
pub(crate) fn around(address: &str) -> Surroundings {
    Surroundings {
        bus_address: Some(address.to_owned()),
        term: Some("xterm".to_owned()),
        terminal: true,
        utf8: true,
        ..Surroundings::default()
    }
}
