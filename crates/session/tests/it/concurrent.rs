//! Concurrent use of a real disk: writing, listing, reading, forking, repairing, removing and sweeping do
//! not disturb each other, and nothing acknowledged is lost.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use relaycode_durable::{Fs, FsDir, RealFs};
use relaycode_session::find::list::ListScope;
use relaycode_session::find::search;
use relaycode_session::find::search::SearchWords;
use relaycode_session::format::header::TitleSource;
use relaycode_session::home::layout;
use relaycode_session::home::remove::remove_session;
use relaycode_session::home::sweep;
use relaycode_session::home::sweep::MAX_UNANSWERED_AGE;
use relaycode_session::{HomeLayout, OpenMode, Session, SessionError, SessionHeader, SessionLister};

use crate::fixture::{answer, ids, user};

const ID: &str = "0199f3a1aaaa70008000000000000001";

/// A home with a directory for the sessions about `/shop`.
struct Home {
    held: tempfile::TempDir,
    fs: Arc<dyn Fs>,
    layout: HomeLayout,
    dir: FsDir,
}

impl Home {
    fn new() -> Home {
        let held = tempfile::tempdir().unwrap();
        let fs: Arc<dyn Fs> = Arc::new(RealFs::default());
        let layout = HomeLayout::new(held.path());
        let dir = layout.create_project_dir(&*fs, Path::new("/shop")).unwrap();
        Home { held, fs, layout, dir }
    }

    fn name() -> String {
        layout::session_file_name("2026-02-16T10:20:30Z".parse().unwrap(), ID)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.layout.project_dir(Path::new("/shop")).join(name)
    }

    fn create(&self, name: &str) -> Session {
        let header = SessionHeader { id: ID.into(), ..SessionHeader::new("/shop") };
        let mut session = Session::create(self.fs.clone(), self.dir.clone(), name, header).unwrap();
        session.append_message(&user("round the totals")).unwrap();
        session.append(answer("done")).unwrap();
        session
    }

    fn open(&self, name: &str, mode: OpenMode) -> Result<Session, SessionError> {
        Session::open(self.fs.clone(), self.dir.clone(), name, mode)
    }
}

#[test]
fn whoever_looks_at_a_session_sees_all_of_it_while_it_is_named_anew() {
    let home = Home::new();
    let name = Home::name();
    let mut session = home.create(&name);
    let forks = tempfile::tempdir().unwrap();
    let to = home.fs.open_root(forks.path()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !done.load(Ordering::Relaxed) {
                let read = home.open(&name, OpenMode::Read).unwrap();
                assert!(read.report().is_empty(), "{:?}", read.report());
                let entries = read.entries().map(|entry| entry.unwrap().id).collect::<Vec<_>>();
                assert!(entries.len() >= 2 && entries == ids(&read));
                number += 1;
                let forked = read.fork(&to, &format!("{number}.jsonl"), SessionHeader::new("/x")).unwrap();
                assert!(forked.report().is_empty(), "{:?}", forked.report());
                assert_eq!(ids(&forked), entries);
            }
        });
        for round in 0..150 {
            // A header of another length moves every line.
            session.set_title(&"x".repeat(1 + round % 90), TitleSource::User).unwrap();
            session.append(answer("more")).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(session.len(), 152);
}

#[test]
fn nobody_who_comes_along_takes_anything_from_the_one_who_writes() {
    let home = Home::new();
    let name = Home::name();
    let path = home.path(&name);
    let mut session = home.create(&name);
    let done = AtomicBool::new(false);
    let until = |act: &dyn Fn()| {
        while !done.load(Ordering::Relaxed) {
            act();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            until(&|| assert!(matches!(remove_session(&*home.fs, &path), Err(SessionError::InUse { .. }))));
        });
        scope.spawn(|| {
            until(&|| {
                let repaired = Session::repair(home.fs.clone(), home.dir.clone(), &name);
                assert!(matches!(repaired, Err(SessionError::InUse { .. })), "{repaired:?}");
            });
        });
        scope.spawn(|| {
            until(&|| {
                let listing = SessionLister::new(&*home.fs, &home.layout);
                let listed = listing.list(ListScope::All, true).unwrap().sessions;
                assert_eq!(listed.len(), 1);
                sweep::sweep_unanswered(&*home.fs, &listed, i64::MAX);
                // A missing index is made again.
                let _ = fs::remove_file(path.with_extension("index"));
            });
        });
        for round in 0..300 {
            session.append(answer("more")).unwrap();
            if round % 10 == 0 {
                session.set_title(&"x".repeat(1 + round % 90), TitleSource::User).unwrap();
                session.flush().unwrap();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    let expected = ids(&session);
    drop(session);
    let session = home.open(&name, OpenMode::Write).unwrap();
    assert_eq!((ids(&session), session.report().is_empty()), (expected, true));
}

#[test]
fn one_that_is_removed_while_it_is_opened_is_missing_and_never_empty() {
    let home = Home::new();
    let name = Home::name();
    let path = home.path(&name);
    drop(home.create(&name));
    let whole = fs::read(&path).unwrap();
    for _ in 0..200 {
        fs::write(&path, &whole).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| fs::remove_file(&path).unwrap());
            match home.open(&name, OpenMode::Write) {
                Ok(session) => assert_eq!(session.len(), 2, "it is whole"),
                Err(error) => assert!(matches!(error, SessionError::Missing { .. }), "{error}"),
            }
        });
        assert!(!path.exists(), "opening does not make it");
    }
}

#[test]
fn a_session_that_is_just_begun_survives_whoever_sweeps() {
    let home = Home::new();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let listing = SessionLister::new(&*home.fs, &home.layout);
                let listed = listing.list(ListScope::All, true).unwrap().sessions;
                let newest = listed.iter().map(|info| info.modified_seconds).max().unwrap_or(0);
                // With a correct clock: nothing is a day old.
                sweep::sweep_unanswered(&*home.fs, &listed, newest + MAX_UNANSWERED_AGE);
            }
        });
        for number in 0..100 {
            let id = format!("{number:08x}aaaa70008000000000000001");
            let name = layout::session_file_name("2026-02-16T10:20:30Z".parse().unwrap(), &id);
            let mut session = home.create(&name);
            session.append(answer("again")).unwrap();
            let expected = ids(&session);
            drop(session);
            assert_eq!(ids(&home.open(&name, OpenMode::Read).unwrap()), expected);
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_a_removed_file_held_can_still_be_forked() {
    let home = Home::new();
    let name = Home::name();
    let mut session = home.create(&name);
    fs::remove_dir_all(home.layout.project_dir(Path::new("/shop"))).unwrap();
    let error = session.append(answer("after that")).unwrap_err();
    assert!(matches!(error, SessionError::Gone { .. }) && error.is_entry_kept(), "{error}");
    assert_eq!(session.context().unwrap().messages.len(), 3);
    let to = home.fs.open_root(home.held.path()).unwrap();
    let forked = session.fork(&to, "saved.jsonl", SessionHeader::new("/shop")).unwrap();
    assert_eq!((ids(&forked), forked.report().is_empty()), (ids(&session), true));
}

#[test]
fn a_new_name_does_not_cost_what_another_program_wrote() {
    let home = Home::new();
    let name = Home::name();
    let mut session = home.create(&name);
    let path = home.path(&name);
    let mut text = fs::read(&path).unwrap();
    text.extend_from_slice(
        b"{\"type\":\"custom\",\"id\":\"theirs\",\"parentId\":null,\"customType\":\"x\"}\n",
    );
    fs::write(&path, &text).unwrap();
    let error = session.set_title("new", TitleSource::User).unwrap_err();
    assert!(matches!(error, SessionError::Changed { .. }), "{error}");
    assert_eq!(session.header().title, None);
    drop(session);
    assert_eq!(fs::read(&path).unwrap(), text);
}

#[test]
fn a_new_name_keeps_what_a_crash_left_of_a_line() {
    let home = Home::new();
    let name = Home::name();
    drop(home.create(&name));
    let path = home.path(&name);
    let mut text = fs::read(&path).unwrap();
    text.extend_from_slice(b"{\"type\":\"message\",\"half");
    fs::write(&path, &text).unwrap();
    let mut session = home.open(&name, OpenMode::Write).unwrap();
    session.set_title("new", TitleSource::User).unwrap();
    drop(session);
    let kept = fs::read_to_string(path.with_extension("damaged")).unwrap();
    assert!(kept.contains("{\"type\":\"message\",\"half"), "{kept}");
    assert!(home.open(&name, OpenMode::Read).unwrap().report().is_empty());
}

#[test]
fn a_file_of_blank_lines_gets_a_header_with_its_first_prompt() {
    for blank in ["\n\n\n", "\r\n\r\n", "  ", "\n \t"] {
        let home = Home::new();
        let name = Home::name();
        fs::write(home.path(&name), blank).unwrap();
        let mut session = home.open(&name, OpenMode::Write).unwrap();
        session.append_message(&user("hello")).unwrap();
        drop(session);
        let session = home.open(&name, OpenMode::Read).unwrap();
        assert_eq!((session.len(), session.id()), (1, ID), "{blank:?}");
        assert!(session.report().is_empty(), "{blank:?}: {:?}", session.report());
    }
}

#[test]
fn pipes_links_and_directories_are_no_sessions_and_nobody_hangs() {
    let home = Home::new();
    let name = Home::name();
    drop(home.create(&name));
    let outside = home.held.path().join("outside.jsonl");
    fs::copy(home.path(&name), &outside).unwrap();
    let odd = |id: &str| layout::session_file_name("2026-02-16T10:20:31Z".parse().unwrap(), id);
    let (pipe, link, directory) = (odd("pipe"), odd("link"), odd("directory"));
    let fifo = |path: PathBuf| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    fifo(home.path(&pipe));
    symlink(&outside, home.path(&link)).unwrap();
    fs::create_dir(home.path(&directory)).unwrap();
    // The index and the leftovers of a crash may be anything, too.
    let _ = fs::remove_file(home.path(&name).with_extension("index"));
    fifo(home.path(&name).with_extension("index"));
    for odd in [&pipe, &link, &directory] {
        for mode in [OpenMode::Read, OpenMode::Write] {
            let error = home.open(odd, mode).unwrap_err();
            assert!(matches!(error, SessionError::NotAFile { .. }), "{odd}: {error}");
        }
        assert!(Session::repair(home.fs.clone(), home.dir.clone(), odd).is_err());
    }
    let listing = SessionLister::new(&*home.fs, &home.layout);
    let listed = listing.list(ListScope::Project(Path::new("/shop")), true).unwrap().sessions;
    assert_eq!(listed.iter().map(|info| info.id.as_str()).collect::<Vec<_>>(), [ID]);
    assert!([&pipe, &link, &directory].iter().all(|odd| listing.summarize_file(&home.path(odd)).is_err()));
    let hits =
        search::search_session(&*home.fs, &listed[0], &SearchWords::parse("totals").unwrap(), 5, &|| false)
            .unwrap();
    assert_eq!(hits.hits.len(), 1);
    let mut session = home.open(&name, OpenMode::Write).unwrap();
    session.append(answer("goes on")).unwrap();
    session.flush().unwrap();
    drop(session);
    assert_eq!(home.open(&name, OpenMode::Read).unwrap().len(), 3);

    // A project's directory that is a link leads nowhere.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::copy(&outside, elsewhere.path().join(Home::name())).unwrap();
    symlink(elsewhere.path(), home.layout.project_dir(Path::new("/linked"))).unwrap();
    let listed = listing.list(ListScope::Project(Path::new("/linked")), true).unwrap();
    assert_eq!((listed.sessions.len(), listed.unreadable.len()), (0, 1));
    assert!(home.layout.create_project_dir(&*home.fs, Path::new("/linked")).is_err());

    // Nor does one in place of the directory of all sessions.
    let other = HomeLayout::new(elsewhere.path());
    symlink(home.layout.sessions_dir(), other.sessions_dir()).unwrap();
    assert!(SessionLister::new(&*home.fs, &other).list(ListScope::All, true).is_err());
    assert!(other.create_project_dir(&*home.fs, Path::new("/shop")).is_err());
}
