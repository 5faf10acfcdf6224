//! What watching may cost, measured in small: `cargo xtask bench --only watch` measures it in full, in a release build,
//! against the real targets. Here the limits are wide, because tests run beside each other and unoptimised: they tell a
//! watcher that spins, leaks or sleeps from one that does not.

use std::time::{Duration, Instant};

use relaycode_testkit::display::{ClipboardOwner, Wayland, X11};
use relaycode_testkit::or_skip;
use relaycode_testkit::process::poll_until;
use relaycode_testkit::screen::{TestScreen, on_terminal};
use serde_json::json;

use crate::fixture::keyed_project::{LONG, Scene};
use crate::fixture::scratch_project::edit;

/// More often than this is a storm.
const BETWEEN: Duration = Duration::from_millis(300);
/// For a card, on a machine that does ten other things.
const CARD_BELOW: Duration = Duration::from_secs(2);
/// Of processor time while nothing happens.
const IDLE_BELOW: Duration = Duration::from_millis(20);
const MEMORY_BELOW: u64 = 64 << 20;
/// Of memory of its own, between the tenth change and the last.
const GROWTH_BELOW: u64 = 1 << 20;

/// A watcher on a terminal, whose changes a linter that does nothing judges.
struct Watcher {
    scene: Scene,
    screen: TestScreen,
    control: String,
    number: usize,
}

impl Watcher {
    fn start(env: &[(String, String)]) -> Watcher {
        let scene = Scene::trusted(&[("a.txt", "step 0\n")], &json!({"linter": "true"}));
        let control = scene.keyed("MESSAGE");
        let mut command = on_terminal(env!("CARGO_BIN_EXE_relay"));
        scene.project.surround(&mut command);
        command.arg("watch").env("TERM", "xterm").envs(env.iter().cloned());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let screen = TestScreen::start(command, 100, 30);
        let watcher = Watcher { scene, screen, control, number: 0 };
        watcher.wait_ready();
        watcher
    }

    fn wait_ready(&self) {
        let live = |line: &str| line.ends_with("? keys") && !line.starts_with("relay ");
        self.screen.wait_for(|screen| screen.text().lines().last().is_some_and(live), LONG);
    }

    /// The next answer, and what its card says.
    fn next(&mut self) -> (String, String) {
        let number = self.number;
        self.number += 1;
        let title = format!("feat: to step {number:04}");
        let text = edit("a.txt", &format!("step {number}"), &format!("step {}", self.number))
            + &self.control.replace("MESSAGE", &title);
        (text, title)
    }

    /// Waits until everything so far is in the project.
    fn wait_applied(&self) {
        self.screen.wait_for_text(&format!("{} applied", self.number));
        self.wait_ready();
        assert_eq!(self.scene.text("a.txt"), format!("step {}\n", self.number));
    }

    /// Copies a few answers, and then nothing happens.
    fn copies_and_rests(mut self, owner: &ClipboardOwner) {
        for _ in 0..4 {
            let (text, title) = self.next();
            let start = owner.take(&text);
            self.screen.wait_for_text(&title);
            let took = start.elapsed();
            assert!(took < CARD_BELOW, "{took:?} to the card");
            self.wait_applied();
            std::thread::sleep(BETWEEN.saturating_sub(start.elapsed()));
        }
        let before = self.screen.usage();
        // Nothing to wait for: that nothing happens is what is measured.
        std::thread::sleep(Duration::from_secs(3));
        let after = self.screen.usage();
        let spent = after.processor.saturating_sub(before.processor);
        assert!(spent < IDLE_BELOW, "{spent:?} for nothing: {before:?}, {after:?}");
        assert!(after.memory < MEMORY_BELOW, "{after:?}");
    }
}

#[test]
fn a_copy_on_x11_is_shown_soon_and_waiting_costs_nothing() {
    let desktop = or_skip!(X11::start());
    Watcher::start(&desktop.env()).copies_and_rests(&desktop.owner());
}

#[test]
fn a_copy_on_wayland_is_shown_soon_and_waiting_costs_nothing() {
    let desktop = or_skip!(Wayland::start());
    Watcher::start(&desktop.env()).copies_and_rests(&desktop.owner());
}

#[test]
fn the_last_of_many_changes_costs_no_more_than_the_tenth() {
    let mut watcher = Watcher::start(&[]);
    let start = Instant::now();
    // What a notification on its way holds is not left over: it is waited for.
    let threads = watcher.screen.usage().threads;
    let rested = |screen: &TestScreen| {
        let usage = poll_until(LONG, || Some(screen.usage()).filter(|usage| usage.threads <= threads));
        usage.unwrap_or_else(|| panic!("there are more threads than {threads}: {:?}", screen.usage()))
    };
    let mut tenth = None;
    for number in 1..=30 {
        let (text, _) = watcher.next();
        watcher.screen.paste(&text);
        watcher.wait_applied();
        if number == 10 {
            tenth = Some(rested(&watcher.screen));
        }
    }
    let (tenth, last) = (tenth.unwrap(), rested(&watcher.screen));
    let left = |usage: &relaycode_testkit::screen::ProcessUsage| (usage.descriptors, usage.children);
    assert_eq!(left(&tenth), left(&last), "{tenth:?}, {last:?}");
    assert!(last.own_memory < tenth.own_memory + GROWTH_BELOW, "{tenth:?}, {last:?}");
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}
