//! A disk that is full, read-only or broken: errors are reported, nothing is lost that can be kept, and
//! sessions recover with the disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use relaycode_durable::{Fs, RealFs};
use relaycode_session::format::header::TitleSource;
use relaycode_session::{OpenMode, Session, SessionError, SessionHeader};
use rustix::io::Errno;

use crate::fixture::{NAME, answer, bytes, ids, open, place, user};

#[test]
fn what_a_full_disk_did_not_take_is_kept_and_written_when_there_is_room() {
    let (model, dir) = place();
    let mut session = Session::create(model.clone(), dir, NAME, SessionHeader::new("/p")).unwrap();
    session.append_message(&user("one")).unwrap();
    let before = bytes(&model);
    // The write fails halfway; so does cutting off the partial line.
    for operation in 1..=2 {
        model.fail_at(model.operations() + operation, Errno::NOSPC);
    }
    let error = session.append(answer("two")).unwrap_err();
    let SessionError::NotSaved { id, entries, .. } = &error else { panic!("{error}") };
    assert_eq!((*entries, session.leaf()), (1, Some(id.as_str())));
    let said = error.to_string();
    assert!(said.contains(NAME) && said.contains("make room on the disk"), "{said}");
    assert!(bytes(&model).len() > before.len(), "half of it is there");
    assert_eq!(ids(&open(&model, OpenMode::Read)).len(), 1);

    // Still full: more is kept.
    model.fail_at(model.operations() + 1, Errno::NOSPC);
    assert!(matches!(session.append(answer("three")), Err(SessionError::NotSaved { entries: 2, .. })));
    assert_eq!(session.unsaved().unwrap().entries, 2);
    assert_eq!(session.context().unwrap().messages.len(), 3);
    model.fail_at(model.operations() + 1, Errno::NOSPC);
    assert!(session.flush().is_err());

    model.clear_faults();
    session.append(answer("four")).unwrap();
    assert_eq!(session.unsaved(), None);
    session.flush().unwrap();
    let expected = ids(&session);
    drop(session);
    let session = open(&model, OpenMode::Read);
    assert_eq!((ids(&session), session.report().is_empty()), (expected, true));
}

#[test]
fn only_so_much_waits_for_a_disk_that_takes_nothing() {
    let (model, dir) = place();
    let mut session = Session::create(model.clone(), dir, NAME, SessionHeader::new("/p")).unwrap();
    session.append_message(&user("one")).unwrap();
    let first = model.operations() + 1;
    (first..first + 1000).for_each(|operation| model.fail_at(operation, Errno::NOSPC));
    let long = "x".repeat(400_000);
    let refused = (0..200).find_map(|_| match session.append(answer(&long)) {
        Err(SessionError::NotSaved { .. }) => None,
        other => Some(other),
    });
    assert!(matches!(refused, Some(Err(SessionError::TooMuchUnsaved { .. }))), "{refused:?}");
    let (entries, leaf) = (session.len(), session.leaf().map(str::to_string));
    assert!(session.append(answer(&long)).is_err());
    assert_eq!((session.len(), session.leaf()), (entries, leaf.as_deref()), "what is refused is not there");
    model.clear_faults();
    session.flush().unwrap();
    drop(session);
    assert_eq!(open(&model, OpenMode::Read).len(), entries);
}

#[test]
fn whatever_call_fails_nothing_that_was_saved_is_lost() {
    let run = |number: Option<u64>, errno: Errno| {
        let (model, dir) = place();
        model.mark_all_durable();
        if let Some(number) = number {
            model.fail_call(number, errno);
        }
        let mut session = match Session::create(model.clone(), dir, NAME, SessionHeader::new("/p")) {
            Ok(session) => session,
            Err(_) => return model.calls(),
        };
        let taken = |session: &mut Session, text: &str| {
            let before = session.len();
            match session.append_message(&user(text)) {
                Err(error) if !error.is_entry_kept() => panic!("{number:?} {errno}: {error}"),
                _ => assert_eq!(session.len(), before + 1),
            }
        };
        taken(&mut session, "one");
        taken(&mut session, "two");
        let _ = session.flush();
        let _ = session.set_title("title", TitleSource::User);
        taken(&mut session, "three");
        let calls = model.calls();
        model.clear_faults();
        taken(&mut session, "four");
        let expected = ids(&session);
        assert_eq!(session.unsaved(), None, "{number:?} {errno}");
        drop(session);
        let session = open(&model, OpenMode::Read);
        assert_eq!(ids(&session), expected, "{number:?} {errno}");
        assert!(session.report().is_empty(), "{number:?} {errno}: {:?}", session.report());
        calls
    };
    let calls = run(None, Errno::IO);
    for errno in [Errno::NOSPC, Errno::IO, Errno::ROFS, Errno::ACCESS] {
        for number in 1..=calls {
            run(Some(number), errno);
        }
    }
}

#[test]
fn another_program_that_writes_or_removes_the_file_is_noticed() {
    let home = tempfile::tempdir().unwrap();
    let fs_ = Arc::new(RealFs::default());
    let dir = fs_.open_root(home.path()).unwrap();
    let mut session = Session::create(fs_.clone(), dir.clone(), NAME, SessionHeader::new("/p")).unwrap();
    session.append_message(&user("one")).unwrap();
    let file = home.path().join(NAME);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let mut text = fs::read(&file).unwrap();
    text.extend_from_slice(b"{}\n");
    fs::write(&file, &text).unwrap();
    assert!(matches!(session.append(answer("two")), Err(SessionError::Changed { .. })));
    fs::remove_file(&file).unwrap();
    assert!(matches!(session.append(answer("three")), Err(SessionError::Gone { .. })));
    let error = Session::open(fs_.clone(), dir.clone(), NAME, OpenMode::Write).unwrap_err();
    assert!(matches!(error, SessionError::Missing { .. }), "{error}");
    assert!(!file.exists(), "asking for it does not make it");
    fs::create_dir(&file).unwrap();
    let error = Session::open(fs_, dir, NAME, OpenMode::Read).unwrap_err();
    assert!(matches!(error, SessionError::NotAFile { .. }), "{error}");
}

#[test]
fn two_writers_are_kept_apart_on_a_real_disk_also_after_a_rewrite() {
    let home = tempfile::tempdir().unwrap();
    let fs_ = Arc::new(RealFs::default());
    let dir = fs_.open_root(home.path()).unwrap();
    let mut session = Session::create(fs_.clone(), dir.clone(), NAME, SessionHeader::new("/p")).unwrap();
    session.append_message(&user("one")).unwrap();
    let second = || Session::open(fs_.clone(), dir.clone(), NAME, OpenMode::Write);
    assert!(matches!(second(), Err(SessionError::InUse { .. })));
    for title in ["one", "another and longer", "x"] {
        session.set_title(title, TitleSource::User).unwrap();
        assert!(matches!(second(), Err(SessionError::InUse { .. })), "{title}");
        session.append(answer("two")).unwrap();
    }
    assert_eq!(Session::open(fs_.clone(), dir.clone(), NAME, OpenMode::Read).unwrap().len(), 4);
    drop(session);
    second().unwrap().append(answer("three")).unwrap();
    let mut names: Vec<String> = fs_.list(&dir).unwrap().into_iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(names, ["20260216_abc.index", NAME], "nothing else is left");
}

#[test]
fn a_directory_that_cannot_be_written_is_told_and_its_sessions_can_be_read() {
    let home = tempfile::tempdir().unwrap();
    let fs_ = Arc::new(RealFs::default());
    let dir = fs_.open_root(home.path()).unwrap();
    let mut session = Session::create(fs_.clone(), dir.clone(), NAME, SessionHeader::new("/p")).unwrap();
    session.append_message(&user("one")).unwrap();
    drop(session);
    fs::set_permissions(home.path().join(NAME), fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(Session::open(fs_.clone(), dir.clone(), NAME, OpenMode::Read).unwrap().len(), 1);
    // The superuser can write anywhere.
    let refused = fs::write(home.path().join("probe"), b"").is_err();
    if refused {
        let error = Session::open(fs_.clone(), dir.clone(), NAME, OpenMode::Write).unwrap_err();
        assert!(error.to_string().contains("writable"), "{error}");
        let mut session = Session::create(fs_, dir, "other.jsonl", SessionHeader::new("/p")).unwrap();
        assert!(matches!(session.append_message(&user("one")), Err(SessionError::NotSaved { .. })));
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
        session.append(answer("two")).unwrap();
        assert!(home.path().join("other.jsonl").exists());
    }
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
}
