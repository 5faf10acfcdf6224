//! A terminal for tests: a program runs in its own pseudo-terminal, a thread reads its output as fast as a
//! terminal does, and [`TestScreen`] shows what a person would see.
//!
//! ```no_run
//! # use relaycode_testkit::screen::{TestScreen, on_terminal};
//! let mut command = on_terminal("relay");
//! command.arg("watch").env("RELAY_HOME", "/tmp/elsewhere");
//! let mut screen = TestScreen::start(command, 80, 24);
//! screen.wait_for_text("watching");
//! screen.type_keys("q");
//! assert!(screen.wait_exit().success());
//! ```
//!
//! It is the program's controlling terminal, so that resizing, Ctrl-C and hanging up work as on a real one.
//! Queries of the program to the terminal (`ESC [ 6 n`) stay unanswered. The program ends with the value at
//! the latest.

mod reader;
mod render;
mod usage;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::expect::expect_ok;
use crate::process::{ChildGuard, GENEROUS_TIMEOUT, wait_ready};
use reader::ScreenReader;
pub use usage::ProcessUsage;

/// The awaited condition may not be on the screen: it is checked this often.
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// A program that gets its terminal as its controlling terminal. Arguments, environment and folder are
/// added as usual; input and output are the terminal's.
pub fn on_terminal(program: impl AsRef<std::ffi::OsStr>) -> Command {
    // It does not fork here, so the process is the program's own.
    let mut command = Command::new("setsid");
    command.arg("--ctty").arg(program).env("TERM", "xterm-256color");
    command
}

/// A terminal with a program on it.
#[derive(Debug)]
pub struct TestScreen {
    program: ChildGuard,
    /// `None` after a hang-up.
    master: Option<File>,
    reader: ScreenReader,
}

impl TestScreen {
    /// `command` is made by [`on_terminal`].
    pub fn start(command: Command, columns: u16, rows: u16) -> TestScreen {
        TestScreen::start_after(command, columns, rows, "")
    }

    /// With keys that were typed before the program started.
    pub fn start_after(mut command: Command, columns: u16, rows: u16, typed: &str) -> TestScreen {
        let (master, terminal) = expect_ok(open_pty(columns, rows), "could not make a pseudo-terminal");
        expect_ok((&master).write_all(typed.as_bytes()), "could not type ahead");
        let side = || expect_ok(terminal.try_clone().map(Stdio::from), "could not hand over the terminal");
        command.stdin(side()).stdout(side()).stderr(side());
        let program = expect_ok(ChildGuard::start(&mut command), "could not start the program");
        let flags = expect_ok(fcntl_getfl(&master), "could not prepare the terminal");
        expect_ok(fcntl_setfl(&master, flags | OFlags::NONBLOCK), "could not prepare the terminal");
        let read = expect_ok(master.try_clone(), "could not read the terminal");
        let reader = expect_ok(ScreenReader::start(read, columns, rows), "could not read the terminal");
        TestScreen { program, master: Some(master), reader }
    }

    /// The rows, without trailing blanks and trailing empty rows.
    pub fn text(&self) -> String {
        self.reader.parser(|parser| render::text(parser.screen()))
    }

    /// Everything that scrolled off, and the screen.
    pub fn scrollback_text(&self) -> String {
        self.reader.parser(render::scrollback_text)
    }

    /// With colours and attributes in words, as in `{bold green}+12{/} lines`.
    pub fn coloured(&self) -> String {
        self.reader.parser(|parser| render::coloured(parser.screen()))
    }

    /// Everything the program wrote so far.
    pub fn raw(&self) -> Vec<u8> {
        self.reader.raw()
    }

    /// Anything else about the emulator: cursor, cells, modes.
    pub fn with_emulator<T>(&self, question: impl FnOnce(&vt100::Screen) -> T) -> T {
        self.reader.parser(|parser| question(parser.screen()))
    }

    /// Waits until `wanted` holds, which is checked after every output of the program, and now and then
    /// besides. After `limit`, or when the terminal was closed, fails the test and shows the screen.
    #[track_caller]
    pub fn wait_for(&self, wanted: impl Fn(&TestScreen) -> bool, limit: Duration) {
        self.wait(wanted, limit, "what was waited for");
    }

    #[track_caller]
    pub fn wait_for_text(&self, text: &str) {
        self.wait(|screen| screen.text().contains(text), GENEROUS_TIMEOUT, &format!("{text:?}"));
    }

    /// On the screen or scrolled off.
    #[track_caller]
    pub fn wait_for_line(&self, text: &str) {
        self.wait(|screen| screen.scrollback_text().contains(text), GENEROUS_TIMEOUT, &format!("{text:?}"));
    }

    #[track_caller]
    fn wait(&self, wanted: impl Fn(&TestScreen) -> bool, limit: Duration, what: &str) {
        let began = Instant::now();
        loop {
            let seen = self.reader.version();
            if wanted(self) {
                return;
            }
            let left = limit.saturating_sub(began.elapsed());
            let more = !left.is_zero() && self.reader.wait_for_more(seen, left.min(ASK_AGAIN));
            assert!(more, "{what} did not appear within {limit:?}. {}", self.shown());
        }
    }

    /// As bytes: `y`, `\r`, `\x03` (Ctrl-C), `\x1b[A` (up).
    #[track_caller]
    pub fn type_keys(&self, keys: &str) {
        self.send(keys.as_bytes());
    }

    /// As a terminal does: line ends become returns, and the text stands in brackets if the program asked
    /// for them, with no bracket inside.
    #[track_caller]
    pub fn paste(&self, text: &str) {
        let text = text.replace("\r\n", "\r").replace('\n', "\r");
        if self.with_emulator(vt100::Screen::bracketed_paste) {
            let text = text.replace("\x1b[200~", "").replace("\x1b[201~", "");
            self.send(format!("\x1b[200~{text}\x1b[201~").as_bytes());
        } else {
            self.send(text.as_bytes());
        }
    }

    /// Whether the terminal is as a shell leaves it: line editing, echo, no bracketed paste.
    pub fn is_in_shell_mode(&self) -> bool {
        let usual = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        let modes = self.master.as_ref().and_then(|master| tcgetattr(master).ok());
        modes.is_some_and(|modes| modes.local_modes.contains(usual))
            && !self.with_emulator(vt100::Screen::bracketed_paste)
    }

    #[track_caller]
    pub fn send(&self, mut bytes: &[u8]) {
        let mut master = expect_ok(self.master.as_ref().ok_or("it was hung up"), "the terminal is gone");
        while !bytes.is_empty() {
            match master.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let full = error.kind() == io::ErrorKind::WouldBlock;
                    let room = full && wait_ready(master, PollFlags::OUT, GENEROUS_TIMEOUT);
                    assert!(room, "the program does not read what is typed ({error}). {}", self.shown());
                }
            }
        }
    }

    /// The program is notified.
    pub fn resize(&self, columns: u16, rows: u16) {
        let Some(master) = &self.master else { return };
        // The emulator first: the program's answer is drawn for the new size.
        self.reader.parser(|parser| parser.screen_mut().set_size(rows, columns));
        expect_ok(tcsetwinsize(master, size(columns, rows)), "could not resize the terminal");
    }

    /// Closes the terminal's window.
    pub fn hang_up(&mut self) {
        self.reader.stop();
        self.master = None;
    }

    pub fn pid(&self) -> Pid {
        self.program.pid()
    }

    pub fn signal(&mut self, signal: Signal) {
        self.program.signal(signal);
    }

    /// Waits until the program has exited and all its output was read.
    #[track_caller]
    pub fn wait_exit(&mut self) -> ExitStatus {
        let ended = self.program.wait_exit(GENEROUS_TIMEOUT).ok_or("it still runs");
        let status = expect_ok(
            ended,
            &format!("the program did not end within {GENEROUS_TIMEOUT:?}. {}", self.shown()),
        );
        if let Some(master) = &self.master {
            self.reader.read_out(master, GENEROUS_TIMEOUT);
        }
        status
    }

    pub fn try_exit_status(&mut self) -> Option<ExitStatus> {
        self.program.wait_exit(Duration::ZERO)
    }

    /// Processor time of all its threads that still run.
    pub fn cpu_time(&self) -> Duration {
        expect_ok(usage::cpu_time(self.pid()), "could not read the program's processor time")
    }

    /// In bytes.
    pub fn rss(&self) -> u64 {
        expect_ok(usage::rss(self.pid()), "could not read the program's memory")
    }

    pub fn usage(&self) -> ProcessUsage {
        expect_ok(usage::usage(self.pid()), "could not read what the program uses")
    }

    /// The screen, for a message.
    fn shown(&self) -> String {
        let rows: String = self.text().lines().map(|row| format!("  | {row}\n")).collect();
        format!("The screen shows:\n{rows}")
    }
}

impl Drop for TestScreen {
    fn drop(&mut self) {
        // Read until it has exited: its last output must not block it.
        self.program.end();
        self.reader.stop();
    }
}

/// Both sides of a new terminal: the person's, and the program's.
pub fn open_pty(columns: u16, rows: u16) -> io::Result<(File, File)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?.into_string().map_err(io::Error::other)?;
    let not_ours = OFlags::NOCTTY.bits().cast_signed();
    let terminal = OpenOptions::new().read(true).write(true).custom_flags(not_ours).open(name)?;
    tcsetwinsize(&terminal, size(columns, rows))?;
    Ok((File::from(master), terminal))
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
