//! A process that appends is killed: everything acknowledged is there. A few kills; `cargo xtask torture
//! --full --only sessions` does a thousand, with images, labels, branches and long entries.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use relaycode_durable::{Fs, RealFs};
use relaycode_session::format::header::TitleSource;
use relaycode_session::{OpenMode, Session, SessionHeader};
use relaycode_testkit::random::Random;

use crate::fixture::{NAME, answer, ids, user};

/// With this variable the test binary appends in that directory until it is killed.
const APPENDER: &str = "RELAY_TEST_APPENDER";
/// How often it is killed.
const KILLS: usize = 30;
/// After this many, another session begins.
const KILLS_OF_ONE: usize = 15;

fn session(home: &Path) -> Session {
    let fs = Arc::new(RealFs::default());
    let dir = fs.open_root(home).unwrap();
    if home.join(NAME).exists() {
        Session::open(fs, dir, NAME, OpenMode::Write).unwrap()
    } else {
        Session::create(fs, dir, NAME, SessionHeader::new("/p")).unwrap()
    }
}

/// Not a test by itself: the process that is killed.
#[test]
fn appender() {
    let Some(home) = env::var_os(APPENDER) else { return };
    let mut session = session(Path::new(&home));
    let mut out = std::io::stdout();
    for number in 0_usize.. {
        let id = match number % 2 {
            0 => session.append_message(&user(&"prompt ".repeat(number % 700))).unwrap(),
            _ => session.append(answer("answer")).unwrap(),
        };
        if number % 50 == 49 {
            session.set_title(&"t".repeat(1 + number % 40), TitleSource::User).unwrap();
        }
        out.write_all(format!("ack {id}\n").as_bytes()).unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    let mut home = tempfile::tempdir().unwrap();
    let mut random = Random::new(31);
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..KILLS {
        if round % KILLS_OF_ONE == 0 {
            home = tempfile::tempdir().unwrap();
            acknowledged.clear();
        }
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["process_kill::appender", "--exact", "--nocapture", "--test-threads=1"])
            .env(APPENDER, home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let enough = 1 + random.below(120);
        let mut seen = 0;
        while seen < enough {
            let line = lines.next().expect("it appends until it is killed").unwrap();
            // The harness prints something before the first one.
            if let Some((_, id)) = line.split_once("ack ") {
                acknowledged.push(id.to_string());
                seen += 1;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What it printed before it died.
        acknowledged.extend(
            lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("ack ").map(str::to_string)),
        );
        let session = session(home.path());
        let have = ids(&session);
        let mut left = have.iter();
        for id in &acknowledged {
            assert!(left.any(|other| other == id), "round {round}: {id} is gone");
        }
        assert!(have.len() <= acknowledged.len() + round + 1, "round {round}: at most one more per kill");
        assert!(session.entries().all(|entry| entry.is_ok()), "round {round}");
    }
}
