//! How long it takes, for whoever asks: `cargo test -p relaycode-session -- --ignored --nocapture figures`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use relaycode_durable::{Fs, Real};
use relaycode_session::{Body, Header, Mode, Session};

use crate::place::{NAME, answer, user};

#[test]
#[ignore = "it shows figures and judges nothing"]
fn figures_of_a_hundred_megabytes() {
    let home = tempfile::tempdir().unwrap();
    let fs = Arc::new(Real::default());
    let dir = fs.open_root(home.path()).unwrap();
    let mut session = Session::create(fs.clone(), dir.clone(), NAME, Header::new("/p")).unwrap();
    let words = "some words of an answer, with \"quotes\" and\nlines. ".repeat(50);
    let mut times: Vec<Duration> = Vec::new();
    let mut kept = String::new();
    while session.rows().last().is_none_or(|row| row.offset < 100 << 20) {
        let start = Instant::now();
        let number = session.len();
        kept = match number % 2 {
            0 => session.append_message(&user(&words)).unwrap(),
            _ => session.append(answer(&words)).unwrap(),
        };
        times.push(start.elapsed());
    }
    session
        .append(Body::Compaction {
            summary: "all of it".into(),
            short_summary: None,
            first_kept_entry_id: kept,
            tokens_before: 1,
            details: None,
            preserve_data: None,
            from_extension: None,
        })
        .unwrap();
    (0..200).for_each(|_| drop(session.append(answer(&words)).unwrap()));
    times.sort();
    println!(
        "{} entries; append p50 {:?} p99 {:?}",
        session.len(),
        times[times.len() / 2],
        times[times.len() * 99 / 100]
    );
    drop(session);
    let opened = |what: &str| {
        let start = Instant::now();
        let session = Session::open(fs.clone(), dir.clone(), NAME, Mode::Read).unwrap();
        let open = start.elapsed();
        let messages = session.context().unwrap().messages.len();
        println!("{what}: open {open:?}, with the context of {messages} messages {:?}", start.elapsed());
    };
    opened("with index");
    fs.remove_file(&dir, "20260216_abc.index").unwrap();
    opened("without");
}
