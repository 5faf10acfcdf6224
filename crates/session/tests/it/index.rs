//! With an index, without one, or with a wrong one, a session is the same.

use std::sync::Arc;

use relaycode_proof_crashfs::ModelFs;
use relaycode_session::format::header::TitleSource;
use relaycode_session::{EntryBody, EntryRow, OpenMode, Session, SessionHeader, SessionStats};
use relaycode_testkit::random::Random;

use crate::fixture::{NAME, answer, open, path, place, user};

const INDEX: &str = "20260216_abc.index";

fn written(entries: usize) -> Arc<ModelFs> {
    let (model, dir) = place();
    let mut session = Session::create(model.clone(), dir, NAME, SessionHeader::new("/p")).unwrap();
    for number in 0..entries {
        let prompt = session.append_message(&user(&format!("prompt {number}"))).unwrap();
        session.append(answer("yes")).unwrap();
        if number % 5 == 0 {
            session.set_label(&prompt, Some("five")).unwrap();
            session.move_to(&prompt).unwrap();
        }
    }
    session.append(EntryBody::Other(serde_json::from_str(r#"{"type":"later"}"#).unwrap())).unwrap();
    model
}

/// Everything that an index could get wrong.
fn seen(model: &Arc<ModelFs>) -> (Vec<EntryRow>, SessionHeader, SessionStats, Vec<String>, String) {
    let session = open(model, OpenMode::Read);
    let context = format!("{:?}", session.context().unwrap());
    let path = session.path(None).into_iter().map(str::to_string).collect();
    (session.rows().to_vec(), session.header().clone(), session.facts().clone(), path, context)
}

#[test]
fn an_index_of_any_bytes_changes_nothing() {
    let model = written(12);
    let index = model.file(&path(INDEX)).expect("it was written on closing").0;
    let expected = seen(&model);
    model.delete(&path(INDEX)).unwrap();
    assert_eq!(seen(&model), expected, "with and without");
    let other = written(3).file(&path(INDEX)).unwrap().0;
    let mut random = Random::new(21);
    for case in 0..1000 {
        let mut bytes = if random.once_in(50) { other.clone() } else { index.clone() };
        match random.below(5) {
            0 => bytes.truncate(random.below(bytes.len())),
            1 => bytes = (0..random.below(300)).map(|_| u8::try_from(random.below(256)).unwrap()).collect(),
            2 => {
                let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
                bytes[from.min(to)..from.max(to)].fill(0);
            }
            3 => bytes.extend_from_slice(b"more"),
            _ => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        model.put(&path(INDEX), &bytes, 0o600).unwrap();
        assert_eq!(seen(&model), expected, "case {case}");
    }
}

#[test]
fn an_index_of_an_older_state_is_completed_from_the_file() {
    let model = written(5);
    let index = model.file(&path(INDEX)).unwrap().0;
    let mut session = open(&model, OpenMode::Write);
    session.append_message(&user("more")).unwrap();
    session.append(answer("yes")).unwrap();
    drop(session);
    let expected = seen(&model);
    assert_ne!(model.file(&path(INDEX)).unwrap().0, index, "a new one is written on closing");
    model.put(&path(INDEX), &index, 0o600).unwrap();
    assert_eq!(seen(&model), expected);

    // The header has another length now: the old index matches nothing any more.
    open(&model, OpenMode::Write).set_title("a title", TitleSource::User).unwrap();
    let expected = seen(&model);
    model.put(&path(INDEX), &index, 0o600).unwrap();
    assert_eq!(seen(&model), expected);
    assert_eq!(expected.1.title.as_deref(), Some("a title"));
}

#[test]
fn an_index_of_a_file_that_lost_its_end_or_was_replaced_is_passed_over() {
    let model = written(6);
    let index = model.file(&path(INDEX)).unwrap().0;
    let file = model.file(&path(NAME)).unwrap().0;
    let half = file[..file.len() / 2].to_vec();
    model.put(&path(NAME), &half, 0o600).unwrap();
    let with = seen(&model);
    model.delete(&path(INDEX)).unwrap();
    assert_eq!(seen(&model), with);
    let another = written(7).file(&path(NAME)).unwrap().0;
    model.put(&path(NAME), &another, 0o600).unwrap();
    let without = seen(&model);
    model.put(&path(INDEX), &index, 0o600).unwrap();
    assert_eq!(seen(&model), without);
}

#[test]
fn a_reader_writes_no_index_and_a_long_session_is_indexed_on_the_way() {
    let model = written(1);
    model.delete(&path(INDEX)).unwrap();
    drop(open(&model, OpenMode::Read));
    assert!(model.file(&path(INDEX)).is_none());
    let mut session = open(&model, OpenMode::Write);
    for number in 0..300 {
        session.append_message(&user(&number.to_string())).unwrap();
    }
    assert!(model.file(&path(INDEX)).is_some(), "before it is closed");
}

#[test]
fn damage_that_an_index_hides_is_found_when_it_is_met_and_seen_by_the_next() {
    let model = written(60);
    let mut file = model.file(&path(NAME)).unwrap().0;
    let middle = file.len() / 2;
    file[middle..middle + 300].fill(0);
    model.put(&path(NAME), &file, 0o600).unwrap();
    let session = open(&model, OpenMode::Read);
    assert!(session.report().is_empty(), "nobody looked there");
    let broken = session.entries().filter_map(Result::err).count();
    assert!(broken > 0);
    let session = open(&model, OpenMode::Read);
    assert!(!session.report().is_empty());
    assert!(session.context().is_ok() && session.entries().all(|entry| entry.is_ok()));
}
