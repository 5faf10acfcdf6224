//! Power cuts at every operation: what was flushed is there, and the session continues.

use std::sync::Arc;

use relaycode_proof_crashfs::{CrashBounds, ModelFs};
use relaycode_session::format::header::TitleSource;
use relaycode_session::{OpenMode, Session, SessionError, SessionHeader};

use crate::fixture::{NAME, answer, at, ids, path, place, rich, try_open, user};

#[test]
fn what_was_flushed_survives_a_power_cut_anywhere() {
    let (model, dir) = place();
    model.mark_all_durable();
    // What must be there after this many operations.
    let mut promised: Vec<(usize, Vec<String>)> = Vec::new();
    let mut session = Session::create(model.clone(), dir, NAME, SessionHeader::new("/p")).unwrap();
    session.append_message(&user("one")).unwrap();
    session.append(answer("two")).unwrap();
    session.flush().unwrap();
    promised.push((model.operations(), ids(&session)));
    session.set_title("a title", TitleSource::Auto).unwrap();
    promised.push((model.operations(), ids(&session)));
    let three = session.append_message(&user("three")).unwrap();
    session.append(answer(&"long ".repeat(500))).unwrap();
    session.set_label(&three, Some("here")).unwrap();
    session.flush().unwrap();
    promised.push((model.operations(), ids(&session)));
    session.append(answer("not flushed")).unwrap();
    drop(session);

    let mut judged = 0;
    model.all_crash_images(&CrashBounds::default(), &mut |image, what| {
        let image = Arc::new(image);
        let must: Vec<String> = promised
            .iter()
            .rfind(|(operations, _)| *operations <= what.operations())
            .map(|(_, ids)| ids.clone())
            .unwrap_or_default();
        let mut session = match try_open(&image, OpenMode::Write) {
            Ok(session) => session,
            Err(SessionError::Missing { .. }) if must.is_empty() => return,
            Err(error) => panic!("{what}: {error}"),
        };
        let have = ids(&session);
        assert!(must.iter().all(|id| have.contains(id)), "{what}: {have:?} of {must:?}");
        assert!(session.entries().all(|entry| entry.is_ok()), "{what}");
        let new = session.append_message(&user("on")).unwrap_or_else(|error| panic!("{what}: {error}"));
        drop(session);
        let again = try_open(&image, OpenMode::Read).unwrap();
        assert_eq!(ids(&again), [have, vec![new]].concat(), "{what}");
        judged += 1;
    });
    assert!(judged > 100, "{judged}");
}

#[test]
fn a_flush_saves_what_somebody_wrote_before_and_never_flushed() {
    let (model, dir) = place();
    model.mark_all_durable();
    let mut session = Session::create(model.clone(), dir, NAME, SessionHeader::new("/p")).unwrap();
    session.append_message(&user("one")).unwrap();
    drop(session);
    let mut session = try_open(&model, OpenMode::Write).unwrap();
    session.flush().unwrap();
    let (must, flushed) = (ids(&session), model.operations());
    drop(session);
    model.all_crash_images(&CrashBounds::default(), &mut |image, what| {
        if what.operations() >= flushed {
            let session = try_open(&Arc::new(image), OpenMode::Read);
            assert_eq!(session.map(|session| ids(&session)).ok().as_ref(), Some(&must), "{what}");
        }
    });
}

fn damaged() -> Vec<u8> {
    let mut lines = rich();
    lines[4] = "\0\0\0\0".into();
    lines.truncate(9);
    (lines.join("\n") + "\n{\"type\":\"mes").into_bytes()
}

fn repair(model: &Arc<ModelFs>) -> Result<relaycode_session::session::RepairOutcome, SessionError> {
    Session::repair(model.clone(), at(model), NAME)
}

#[test]
fn a_repair_is_done_or_not_done_whenever_the_power_is_cut() {
    let (model, _) = place();
    model.put(&path(NAME), &damaged(), 0o600).unwrap();
    model.mark_all_durable();
    let done = repair(&model).unwrap();
    let original = done.original.unwrap();
    let operations = model.operations();
    let mut judged = 0;
    model.all_crash_images(&CrashBounds::default(), &mut |image, what| {
        let image = Arc::new(image);
        let session = try_open(&image, OpenMode::Read).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(session.len(), done.entries, "{what}");
        if what.operations() == operations {
            assert!(session.report().is_empty(), "{what}");
        }
        if session.report().is_empty() {
            assert_eq!(image.file(&path(&original)).unwrap().0, damaged(), "{what}: the original is gone");
        }
        repair(&image).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(try_open(&image, OpenMode::Write).unwrap().report().is_empty(), "{what}");
        judged += 1;
    });
    assert!(judged > 20, "{judged}");
}
