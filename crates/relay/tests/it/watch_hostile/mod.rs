//! Everything that a page, a program or a stranger can put on a clipboard, against a real `relay watch` that
//! would apply whatever is clean and carries the key: none of it is applied without a person, obeyed by the
//! terminal, or stored.
//!
//! Each text holds a marker of its own, so that what became of it can be told. Every session ends with a good
//! answer that is applied at once: it was awake all the time.

mod cases;
mod checks;
mod desktop;

use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};

use relaycode_testkit::display::{Wayland, X11};
use relaycode_testkit::hostile_text::RELAY_COLOURS;
use relaycode_testkit::or_skip;
use relaycode_testkit::process::{GENEROUS_TIMEOUT, poll_until};
use relaycode_testkit::random::Random;
use relaycode_testkit::screen::{TestScreen, on_terminal};
use rustix::process::Signal;
use serde_json::json;

use crate::fixture::keyed_project::Scene;
use crate::fixture::scratch_project::{edit, run};
use cases::{Case, Expect, Group, Put};
use desktop::Desk;

/// Nothing moved for this long: whatever was copied has been dealt with. Longer than a fifth of a second, so that
/// what the table copies never looks like a storm.
const QUIET: Duration = Duration::from_millis(250);
/// How long a session may take to say something.
const LIMIT: Duration = Duration::from_secs(10);
/// A little longer than a session waits for an owner.
const PATIENCE: Duration = Duration::from_millis(2_500);
/// Memory that a session may ever have had, in bytes: several times the largest text that it looks at.
const PEAK: u64 = 100 << 20;
/// An id of an answer that was applied before the session, and one that was also taken back.
const APPLIED: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
const REVERTED: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

/// A session, and what it watches.
struct Watch<'d> {
    desk: &'d dyn Desk,
    scene: Scene,
    screen: TestScreen,
    /// The project's id with the key of this checkout.
    keyed: String,
    random: Random,
    began: SystemTime,
    /// When the clipboard changed.
    changes: Vec<Instant>,
}

impl<'d> Watch<'d> {
    fn start(desk: &'d dyn Desk) -> Watch<'d> {
        let began = SystemTime::now();
        let long: String = (0..60).map(|number| format!("export const n{number} = {number};\n")).collect();
        let package = "{\n  \"name\": \"shop\",\n  \"scripts\": {\n    \"test\": \"true\"\n  }\n}\n";
        let small = "export const a = 1;\nexport const b = 2;\n";
        let files = [
            ("a.txt", "one\ntwo\nthree\n"),
            ("src/long.ts", &long),
            ("src/small.ts", small),
            ("package.json", package),
        ];
        let scene = Scene::trusted(&files, &json!({"approvalMode": "auto", "linter": "true"}));
        for number in 0..11 {
            scene.project.put(&format!("many/{number}.txt"), b"x\n");
        }
        symlink(scene.project.home(), scene.project.path("link")).unwrap();
        symlink("a.txt", scene.project.path("link.txt")).unwrap();
        let prompt = scene.relay(&["prompt"]).out;
        let keyed = prompt.lines().find_map(|line| line.strip_prefix("projectId: ")).unwrap().to_owned();
        for (id, word) in [(APPLIED, "was"), (REVERTED, "went")] {
            scene.project.put("new.txt", b"old\n");
            let text = cases::replayed(id, word).replace("KEYED", &keyed);
            assert_eq!(scene.apply(&text, &["-y"]).code, 0);
        }
        assert_eq!(scene.relay(&["revert", "-y"]).code, 0);
        // What is applied, and the answer that was, are no part of what a session may leave behind.
        std::fs::remove_file(scene.project.home().join("answer.md")).unwrap();
        let mut command = on_terminal(env!("CARGO_BIN_EXE_relay"));
        scene.project.surround(&mut command);
        command.arg("watch").env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // A terminal that takes notices, so that what is put into them is judged as well.
        command.env("TERM", "foot");
        desk.surround(&mut command);
        let screen = TestScreen::start(command, 100, 40);
        screen.wait_for_text("watching the clipboard");
        let seed = began.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        let random = Random::new(u64::try_from(seed & u128::from(u64::MAX)).unwrap());
        let watch = Watch { desk, scene, screen, keyed, random, began, changes: Vec::new() };
        watch.settled(None);
        watch
    }

    /// Waits until the session has been busy since `before`, and is no longer.
    fn settled(&self, before: Option<Duration>) {
        let mut last = (self.screen.cpu_time(), Instant::now());
        let quiet = poll_until(GENEROUS_TIMEOUT, || {
            let now = self.screen.cpu_time();
            if now != last.0 || before == Some(now) {
                last = (now, Instant::now());
            }
            (last.1.elapsed() > QUIET).then_some(())
        });
        assert!(quiet.is_some(), "the session does not come to rest");
    }

    /// Waits until another change, or a few, would not be a storm; and takes note of it.
    fn calm(&mut self, changes: usize) {
        const A_SECOND: Duration = Duration::from_millis(1_100);
        let recent = |when: &&Instant| when.elapsed() < A_SECOND;
        let calm = poll_until(GENEROUS_TIMEOUT, || {
            (self.changes.iter().filter(recent).count() + changes < 5).then_some(())
        });
        assert!(calm.is_some());
        self.changes.extend(std::iter::repeat_n(Instant::now(), changes));
    }

    fn copy(&mut self, put: &Put, marker: &str) {
        self.calm(if matches!(put, Put::Text(_) | Put::As(..) | Put::Blank) { 1 } else { 2 });
        let fill = |text: &str| text.replace("MARKER", marker).replace("KEYED", &self.keyed);
        match put {
            Put::Text(text) => self.desk.copy(&fill(text)),
            // Whoever holds much and was not heard out does not let go at once: a small text comes between.
            Put::Large(text) => {
                self.desk.copy("small");
                self.desk.copy(&format!("{}{}", fill("MARKER\n"), text()));
            }
            Put::DiesHalfway(text) => {
                self.desk.copy(&format!("{}{}", fill("MARKER\n"), text()));
                self.desk.kill_owner();
            }
            Put::Blank => self.desk.copy("\n"),
            Put::As(target, bytes) => {
                let bytes = [marker.as_bytes(), bytes].concat();
                self.desk.copy_as(target, &bytes);
            }
            // The session is held while it happens: it finds what its clipboard has become.
            Put::Hangs(text) | Put::Dies(text) => {
                self.screen.signal(Signal::STOP);
                self.desk.copy(&fill(text));
                if matches!(put, Put::Hangs(_)) {
                    self.desk.hang_owner();
                } else {
                    self.desk.kill_owner();
                }
                self.screen.signal(Signal::CONT);
            }
        }
    }

    /// What the terminal was sent behind `from`.
    fn sent(&self, from: usize) -> String {
        String::from_utf8(self.screen.raw()[from..].to_vec()).expect("what is sent is UTF-8")
    }

    /// … as it reads.
    fn says(&self, from: usize) -> String {
        let sent = String::from_utf8_lossy(&self.screen.raw()[from..]).into_owned();
        RELAY_COLOURS.iter().fold(sent, |sent, paint| sent.replace(&format!("\x1b{paint}"), ""))
    }

    #[track_caller]
    fn wait_sent(&self, from: usize, text: &str, name: &str) {
        let came = poll_until(LIMIT, || self.says(from).contains(text).then_some(()));
        assert!(came.is_some(), "{name}: {text:?} is missing in\n{}", self.screen.text());
    }

    /// One of the table.
    fn judge(&mut self, case: &Case) {
        let name = case.name;
        let marker = format!("m{:016x}", self.random.number());
        let tree = self.scene.project.tree();
        let ledger = checks::ledger(&self.scene);
        let (busy, from) = (self.screen.cpu_time(), self.screen.raw().len());
        self.copy(&case.put, &marker);
        match case.expect {
            Expect::Silent => {}
            // Either all of it had come, or the session loses its patience.
            Expect::Unseen => {
                let gave_up = || self.says(from).contains("does not hand over").then_some(());
                let _either = poll_until(PATIENCE, gave_up);
            }
            Expect::Refused(text) => self.wait_sent(from, text, name),
            // It may stand there already.
            Expect::Said(text) => self.screen.wait_for_text(text),
            Expect::Asked(why) => {
                self.wait_sent(from, "[y/N]", name);
                assert!(
                    self.says(from).contains(why),
                    "{name}: {why:?} is missing in\n{}",
                    self.screen.text()
                );
                assert_eq!(self.scene.project.tree(), tree, "{name}: applied before anybody was asked");
                self.screen.type_keys("n\r");
                self.wait_sent(from, "nothing was changed", name);
            }
        }
        self.settled(Some(busy));
        let sent = self.sent(from);
        if let Some(what) = checks::unsafe_in(&sent) {
            panic!("{name}: {what} reached the terminal:\n{sent:?}");
        }
        match case.expect {
            // Whoever was stopped asks the terminal again to mark what is pasted.
            Expect::Silent => {
                assert_eq!(sent.replace("\x1b[?2004h", ""), "", "{name}: something was said");
            }
            Expect::Said(_) | Expect::Unseen => {
                assert!(!sent.contains(&marker), "{name}: echoed in\n{sent:?}");
            }
            Expect::Refused(_) => assert!(!sent.contains("[y/N]"), "{name}: asked\n{}", self.screen.text()),
            Expect::Asked(_) => {}
        }
        let forged = self.says(from).lines().any(|line| line.trim_start().starts_with("✓ applied"));
        assert!(!forged, "{name}: a line that forges a card\n{}", self.screen.text());
        assert_eq!(self.scene.project.tree(), tree, "{name}: the project changed");
        assert_eq!(checks::ledger(&self.scene), ledger, "{name}: the ledger changed");
        checks::nothing_stored(&self.scene, &marker, self.began, name);
        assert!(self.screen.try_exit_status().is_none(), "{name}: the session ended\n{}", self.screen.text());
        let peak = checks::peak(self.screen.pid());
        assert!(peak < PEAK, "{name}: {} MB", peak >> 20);
    }

    /// A good answer is applied at once; the same again changes nothing.
    fn ends_well(mut self) {
        let good = edit("a.txt", "two", "2") + &format!("\n```yaml\nprojectId: {}\n```\n", self.keyed);
        assert_eq!(checks::unsafe_in(&self.sent(0)), None);
        self.calm(3);
        self.desk.copy(&good);
        self.screen.wait_for_text("✓ applied");
        assert_eq!(self.scene.text("a.txt"), "one\n2\nthree\n");
        self.desk.copy("something else");
        self.settled(None);
        self.desk.copy(&good);
        self.screen.wait_for_text("the same answer again");
        self.screen.type_keys("q");
        assert!(self.screen.wait_exit().success());
        assert_eq!(self.scene.project.log().len(), 4, "two from before, one taken back, and the good one");
        self.scene.assert_settled();
    }
}

fn on(desk: &dyn Desk, wanted: impl Fn(&Case) -> bool) {
    let mut watch = Watch::start(desk);
    let mut failed = Vec::new();
    for case in cases::all().iter().filter(|case| wanted(case)) {
        // Every one that fails is worth a line, not only the first.
        if catch_unwind(AssertUnwindSafe(|| watch.judge(case))).is_err() {
            failed.push(case.name);
            watch.screen.type_keys("n\r");
            watch.settled(None);
            // What is left of the table needs the project as it was.
            if watch.screen.text().contains("✓ applied") {
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
    watch.ends_well();
}

#[test]
fn what_is_no_answer_is_not_even_mentioned_on_x11() {
    on(&or_skip!(X11::start()), |case| case.group == Group::Noise);
}

#[test]
fn a_strangers_answer_waits_for_a_person_on_x11() {
    on(&or_skip!(X11::start()), |case| case.group == Group::Stranger);
}

#[test]
fn text_that_plays_a_terminal_is_only_text_on_x11() {
    on(&or_skip!(X11::start()), |case| case.group == Group::Forged);
}

#[test]
fn the_key_opens_no_door_that_a_person_has_to_open_on_x11() {
    on(&or_skip!(X11::start()), |case| case.group == Group::Keyed);
}

#[test]
fn the_same_holds_on_wayland() {
    on(&or_skip!(Wayland::start()), |case| case.on_wayland);
}

#[test]
fn there_are_as_many_cases_as_was_promised() {
    let all = cases::all();
    assert!(all.len() >= 36, "{}", all.len());
    assert!(all.iter().filter(|case| case.on_wayland).count() * 3 >= all.len());
    let mut names: Vec<&str> = all.iter().map(|case| case.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
}

#[test]
fn a_hostile_answer_behind_a_good_one_is_asked_about_by_itself() {
    let desk = or_skip!(X11::start());
    let watch = Watch::start(&desk);
    let good = edit("a.txt", "two", "2") + &format!("\n```yaml\nprojectId: {}\n```\n", watch.keyed);
    let hostile = edit("a.txt", "three", "3") + "\n```yaml\nprojectId: shop\n```\n";
    desk.copy(&format!("{good}\n{hostile}"));
    watch.screen.wait_for_text("✓ applied");
    watch.screen.wait_for_text("[y/N]");
    assert_eq!(watch.scene.text("a.txt"), "one\n2\nthree\n");
    watch.screen.type_keys("\r");
    watch.screen.wait_for_text("✗ not applied");
    assert_eq!(watch.scene.text("a.txt"), "one\n2\nthree\n");
    let ran = run(&mut watch.scene.command(&["log", "--json"]));
    assert_eq!(ran.json()["entries"].as_array().unwrap().len(), 4);
}
