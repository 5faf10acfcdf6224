//! A private desktop for tests, and what is on its screen.

use std::process::Command;
use std::time::Duration;

use relaycode_testkit::bus::TestBus;
use relaycode_testkit::display::X11;
use relaycode_testkit::dunst::Dunst;
use relaycode_testkit::missing::{Missing, find};
use relaycode_testkit::process::poll_until;
use relaycode_tui::notify::TerminalEnv;

const PATIENCE: Duration = Duration::from_secs(30);

/// Fails after a time that is long for every machine.
pub(crate) fn wait_for<T>(what: &str, condition: impl FnMut() -> Option<T>) -> T {
    poll_until(PATIENCE, condition).unwrap_or_else(|| panic!("waited in vain for {what}"))
}

/// A bus with a notification server.
pub(crate) struct Desk {
    _dunst: Dunst,
    display: X11,
    pub(crate) bus: TestBus,
}

impl Desk {
    pub(crate) fn start() -> Result<Desk, Missing> {
        find("dunstctl")?;
        let (bus, display) = (TestBus::start()?, X11::start()?);
        let dunst = Dunst::start(&bus, &display)?;
        let desk = Desk { _dunst: dunst, display, bus };
        wait_for("dunst", || desk.control(&["count", "displayed"]));
        Ok(desk)
    }

    pub(crate) fn displayed(&self) -> usize {
        self.control(&["count", "displayed"]).unwrap().trim().parse().unwrap()
    }

    /// Removes every notification and returns their texts, newest first: summary, body, timeout.
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
        dunstctl.args(arguments);
        self.display.surround(&mut dunstctl);
        self.bus.surround(&mut dunstctl);
        let output = dunstctl.output().expect("dunstctl");
        (output.status.success() && !output.stderr.starts_with(b"Error"))
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// A terminal with a bell, and a bus.
pub(crate) fn around(address: &str) -> TerminalEnv {
    TerminalEnv {
        bus_address: Some(address.to_owned()),
        term: Some("xterm".to_owned()),
        terminal: true,
        utf8: true,
        ..TerminalEnv::default()
    }
}
