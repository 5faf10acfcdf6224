//! Questions, asked on a real terminal (a pseudo-terminal that the test types into).

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use relaycode_testkit::process::unshare_command;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use crate::fixture::scratch_project::{Project, control, edit};

/// Far more than anything here takes.
const LONG: Duration = Duration::from_secs(30);

/// relay on a terminal, and the other end of it.
pub(crate) struct Session {
    screen: File,
    child: Child,
    /// Everything that appeared.
    seen: String,
    /// How much of it was waited for.
    passed: usize,
}

impl Session {
    pub(crate) fn start(project: &Project, args: &[&str], before: &str) -> Session {
        Session::start_with(project, args, before, &|_| {})
    }

    /// The same with another environment.
    pub(crate) fn start_with(
        project: &Project,
        args: &[&str],
        before: &str,
        change: &dyn Fn(&mut Command),
    ) -> Session {
        Session::start_program(project, env!("CARGO_BIN_EXE_relay"), args, before, change)
    }

    /// Another program on the terminal.
    pub(crate) fn start_program(
        project: &Project,
        program: &str,
        args: &[&str],
        before: &str,
        change: &dyn Fn(&mut Command),
    ) -> Session {
        let (mut screen, terminal) = relaycode_testkit::screen::open_pty(0, 0).unwrap();
        screen.write_all(before.as_bytes()).unwrap();
        let side = || Stdio::from(terminal.try_clone().unwrap());
        // The terminal on stdin becomes the one that relay is started from.
        let mut command = Command::new("/usr/bin/setsid");
        command.args(["--ctty", program]).args(args);
        project.surround(&mut command);
        command.env("NO_COLOR", "1");
        change(&mut command);
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        Session { screen, child, seen: String::new(), passed: 0 }
    }

    /// Waits until `text` has appeared behind what was waited for before.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let start = Instant::now();
        loop {
            if let Some(at) = self.seen[self.passed..].find(text) {
                self.passed += at + text.len();
                return;
            }
            assert!(start.elapsed() < LONG && self.more(), "{text:?} is missing in\n{}", self.seen);
        }
    }

    /// Reads what there is; `false` when nothing comes any more.
    fn more(&mut self) -> bool {
        let wait = Timespec { tv_sec: 1, tv_nsec: 0 };
        if poll(&mut [PollFd::new(&self.screen, PollFlags::IN)], Some(&wait)).unwrap() == 0 {
            return true;
        }
        let mut bytes = [0; 4096];
        let count = self.screen.read(&mut bytes).unwrap_or(0);
        self.seen += &String::from_utf8_lossy(&bytes[..count]);
        // Requests to mark pasted text are nothing that a screen shows.
        self.seen = self.seen.replace("\x1b[?2004h", "").replace("\x1b[?2004l", "");
        count > 0
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.screen.write_all(text.as_bytes()).unwrap();
    }

    /// Types the same again and again until something has appeared.
    pub(crate) fn type_until(&mut self, typed: &str, text: &str) {
        let start = Instant::now();
        while !self.seen.contains(text) {
            self.type_in(typed);
            assert!(start.elapsed() < LONG && self.more(), "{text:?} is missing in\n{}", self.seen);
        }
    }

    /// Everything that appeared so far.
    pub(crate) fn seen(&self) -> &str {
        &self.seen
    }

    /// relay itself.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Closes the terminal's window; the exit code.
    pub(crate) fn hang_up(mut self) -> Option<i32> {
        drop(self.screen);
        self.child.wait().unwrap().code()
    }

    /// The exit code, and everything that appeared.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let start = Instant::now();
        while self.more() {
            assert!(start.elapsed() < LONG, "{}", self.seen);
        }
        (self.child.wait().unwrap().code(), self.seen)
    }
}

fn project() -> Project {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\n")]);
    project.put("a.md", edit("a.txt", "two", "2").as_bytes());
    project
}

#[test]
fn the_terminal_is_asked_by_a_group_that_was_started_outside_of_its_sandbox() {
    let Some(apart) = unshare_command(&["--mount-proc"], env!("CARGO_BIN_EXE_relay")) else { return };
    let args: Vec<&str> = apart.get_args().filter_map(|arg| arg.to_str()).chain(["apply", "a.md"]).collect();
    let project = project();
    let mut session = Session::start_program(&project, "unshare", &args, "", &|_| {});
    session.wait_for("apply? [y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(project.text("a.txt"), "one\n2\nthree\n");
}

#[test]
fn a_yes_applies() {
    let project = project();
    let mut session = Session::start(&project, &["apply", "a.md"], "");
    session.wait_for("apply? [y/N]");
    assert!(session.seen.contains("a.txt"), "{}", session.seen);
    session.type_in("?\n");
    session.wait_for("show the diff");
    session.wait_for("apply? [y/N]");
    session.type_in("d\n");
    session.wait_for("+2");
    session.wait_for("apply? [y/N]");
    session.type_in("Y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("✓ applied"), "{seen}");
    assert_eq!(project.text("a.txt"), "one\n2\nthree\n");
    let value = project.relay(&["show", "1", "--json"]).json();
    assert_eq!(value["records"][0]["decidedBy"], "terminal");
}

#[test]
fn anything_else_is_a_no() {
    for typed in ["\n", "n\n", "y\x04\x04", "\x04"] {
        let project = project();
        let mut session = Session::start(&project, &["apply", "a.md"], "");
        session.wait_for("apply? [y/N]");
        session.type_in(typed);
        let (code, seen) = session.end();
        assert_eq!(code, Some(4), "{typed:?}: {seen}");
        assert!(seen.contains("nothing was changed"), "{seen}");
        assert_eq!(project.text("a.txt"), "one\ntwo\nthree\n");
    }
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let project = project();
    let mut session = Session::start(&project, &["apply", "a.md"], "y\ny\n");
    session.wait_for("apply? [y/N]");
    session.type_in("\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(4), "{seen}");
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn an_interrupt_at_the_question_says_what_is() {
    let project = project();
    let mut session = Session::start(&project, &["apply", "a.md"], "");
    session.wait_for("apply? [y/N]");
    session.type_in("\x03");
    let (code, seen) = session.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("interrupted; nothing was changed"), "{seen}");
}

#[test]
fn the_question_is_asked_on_the_terminal_even_when_the_output_goes_elsewhere() {
    let project = project();
    let mut session = Session::start(&project, &["apply", "a.md", "--json"], "");
    session.wait_for("apply? [y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("\"applied\":true"), "{seen}");
}

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

#[test]
fn an_id_that_another_answer_had_is_asked_about_even_with_y() {
    let project = project();
    project.applied(&(edit("a.txt", "one", "1") + &control(UUID, "one")));
    project.put("a.md", (edit("a.txt", "two", "2") + &control(UUID, "two")).as_bytes());
    let mut session = Session::start(&project, &["apply", "a.md", "-y"], "");
    session.wait_for("another answer");
    session.wait_for("[y/N]");
    session.type_in("n\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(8), "{seen}");
    let mut session = Session::start(&project, &["apply", "a.md", "-y"], "");
    session.wait_for("[y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(project.text("a.txt"), "1\n2\nthree\n");
    assert_eq!(project.log().len(), 2, "under an id of its own");
}
