//! Sessions: who they belong to, two relays at once, files that are torn, and limits at their edges.

use crate::FriendTurn;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tempfile::TempDir;

use super::*;
use crate::friend::failure::FriendFailure;
use crate::friend::friend_context::FriendContext;
use crate::friend::{FriendAbilities, FriendProbeReport, FriendSandbox, SessionSupport};
use std::path::Path;

struct Pal(&'static str, SessionSupport);

const REPLAYED: Pal = Pal("ollama", SessionSupport::Replayed);
const OWN: Pal = Pal("codex", SessionSupport::Own);

impl Friend for Pal {
    fn name(&self) -> &str {
        self.0
    }

    fn abilities(&self) -> FriendAbilities {
        FriendAbilities {
            reads_files: false,
            writes_files: false,
            streams: false,
            review: false,
            sessions: self.1,
            schema: false,
            sandbox: FriendSandbox::None,
            access: &[],
        }
    }

    fn probe(&self, _: &FriendContext<'_>) -> FriendProbeReport {
        FriendProbeReport::default()
    }

    fn run_prompt(&self, _: &str, _: &mut FriendTurn<'_>) -> Result<FriendAnswer, FriendFailure> {
        Ok(FriendAnswer::default())
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_760_000_000 + second).unwrap()
}

fn answer(text: &str) -> FriendAnswer {
    FriendAnswer { text: text.into(), model: Some("m1".into()), ..FriendAnswer::default() }
}

fn stage() -> (TempDir, FriendSessionStore) {
    let home = tempfile::tempdir().unwrap();
    let store = FriendSessionStore::open(Some(home.path()));
    (home, store)
}

fn save(
    store: &FriendSessionStore,
    friend: &Pal,
    name: &str,
    asked: &str,
    answer: &FriendAnswer,
) -> Result<Vec<String>, FriendSessionError> {
    store.save(&FriendSessionUpdate {
        name,
        friend,
        project: Path::new("/p"),
        prompt: asked,
        answer,
        at: at(0),
    })
}

fn found(store: &FriendSessionStore, friend: &Pal, name: &str) -> FriendSession {
    let found = store.find(name, friend.0, Path::new("/p")).unwrap();
    assert!(found.remarks.is_empty(), "{:?}", found.remarks);
    found.session.unwrap()
}

fn exchanges(session: &FriendSession) -> &[PromptExchange] {
    match &session.state {
        FriendSessionState::Transcript(exchanges) => exchanges,
        FriendSessionState::FriendId(id) => panic!("{id}"),
    }
}

#[test]
fn what_was_said_is_there_again_for_the_user_alone() {
    let (home, store) = stage();
    assert!(store.find("review", "ollama", Path::new("/p")).unwrap().session.is_none());
    assert!(!home.path().join("friends").exists(), "looking makes nothing");
    assert!(save(&store, &REPLAYED, "Review", "first", &answer("one")).unwrap().is_empty());
    store.save(&FriendSessionUpdate { at: at(60), ..said("review", "second", &answer("two")) }).unwrap();
    let session = found(&store, &REPLAYED, "review");
    assert_eq!((session.name.as_str(), session.turns, session.model.as_deref()), ("Review", 2, Some("m1")));
    assert_eq!((session.created, session.used), (at(0), at(60)));
    let TurnMemory::Replay(again) = session.memory() else { panic!() };
    assert_eq!(again.iter().map(|e| e.asked.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    let mode = |path: &str| fs::metadata(home.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("friends/sessions"), 0o700);
    assert_eq!(mode("friends/sessions/review.json"), 0o600);
    assert_eq!(store.list().unwrap().sessions, [session]);
    assert!(store.forget("REVIEW", Path::new("/p")).unwrap());
    assert!(!store.forget("review", Path::new("/p")).unwrap());
    assert!(store.list().unwrap().sessions.is_empty());
}

/// Writes a file for the user alone.
fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
}

fn said<'a>(name: &'a str, asked: &'a str, answer: &'a FriendAnswer) -> FriendSessionUpdate<'a> {
    FriendSessionUpdate {
        name,
        friend: &REPLAYED,
        project: Path::new("/p"),
        prompt: asked,
        answer,
        at: at(0),
    }
}

#[test]
fn a_friend_that_remembers_by_itself_is_known_by_its_id() {
    let (_home, store) = stage();
    let with_id = FriendAnswer { session: Some("id-1".into()), ..answer("secret words") };
    save(&store, &OWN, "s", "asked", &with_id).unwrap();
    let session = found(&store, &OWN, "s");
    assert_eq!((session.memory(), session.turns), (TurnMemory::Resume("id-1".into()), 1));
    // What it says is not kept twice, and a turn of which it gave no id is not pretended to be remembered.
    let remarks = save(&store, &OWN, "other", "asked", &answer("x")).unwrap();
    assert!(remarks[0].contains("codex gave no id"), "{remarks:?}");
    assert!(store.find("other", "codex", Path::new("/p")).unwrap().session.is_none());
}

#[test]
fn a_session_is_of_one_friend() {
    let (_home, store) = stage();
    save(&store, &REPLAYED, "s", "q", &answer("a")).unwrap();
    let other = store.find("s", "codex", Path::new("/p")).unwrap_err();
    assert!(
        matches!(&other, FriendSessionError::OtherFriend { friend, .. } if friend == "ollama"),
        "{other}"
    );
    let a = answer("a");
    // A path need not be text.
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"/p/\xff"));
    store.save(&FriendSessionUpdate { project: odd, ..said("odd", "q", &a) }).unwrap();
    assert_eq!(store.find("odd", "ollama", odd).unwrap().session.unwrap().project, odd);
}

#[test]
fn the_same_name_in_another_project_is_another_session() {
    let (_home, store) = stage();
    let (a, elsewhere) = (answer("a"), Path::new("/elsewhere"));
    save(&store, &REPLAYED, "s", "here", &a).unwrap();
    assert!(store.find("s", "ollama", elsewhere).unwrap().session.is_none());
    for project in ["/elsewhere", "/third"] {
        // Also with another friend.
        assert!(store.find("s", "codex", Path::new(project)).unwrap().session.is_none());
        store.save(&FriendSessionUpdate { project: Path::new(project), ..said("S", "there", &a) }).unwrap();
    }
    let there = store.find("s", "ollama", elsewhere).unwrap().session.unwrap();
    assert_eq!((there.project.as_path(), exchanges(&there)[0].asked.as_str()), (elsewhere, "there"));
    assert_eq!(exchanges(&found(&store, &REPLAYED, "s"))[0].asked, "here");
    assert_eq!(store.list().unwrap().sessions.len(), 3);
    // Forgotten where it is; what only one other project has, from anywhere.
    assert!(store.forget("s", Path::new("/p")).unwrap());
    let several = store.forget("s", Path::new("/p")).unwrap_err();
    assert!(matches!(&several, FriendSessionError::OtherProjects { projects, .. } if projects.len() == 2));
    assert!(store.forget("s", elsewhere).unwrap());
    assert!(store.find("s", "ollama", elsewhere).unwrap().session.is_none());
    assert!(store.forget("s", elsewhere).unwrap());
    assert!(!store.forget("s", elsewhere).unwrap());
}

#[test]
fn only_names_that_can_be_one_are_taken() {
    let (_home, store) = stage();
    let longest = "n".repeat(MAX_NAME_CHARS);
    for good in ["a", "PR-12", "v1.2_x", &longest] {
        save(&store, &REPLAYED, good, "q", &answer("a")).unwrap();
    }
    let too_long = "n".repeat(MAX_NAME_CHARS + 1);
    for bad in
        ["", ".", "..", "../x", ".lock", ".new", "-x", "a/b", "a b", "ä", "a\0", "\u{1b}[1m", &too_long]
    {
        assert!(
            matches!(store.find(bad, "ollama", Path::new("/p")), Err(FriendSessionError::BadName(_))),
            "{bad:?}"
        );
        assert!(
            matches!(save(&store, &REPLAYED, bad, "q", &answer("a")), Err(FriendSessionError::BadName(_))),
            "{bad:?}"
        );
        assert!(matches!(store.forget(bad, Path::new("/p")), Err(FriendSessionError::BadName(_))), "{bad:?}");
    }
    assert_eq!(store.list().unwrap().sessions.len(), 4);
}

#[test]
fn two_relays_at_once_lose_nothing() {
    const EACH: usize = 25;
    let (home, _) = stage();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let home = home.path();
            scope.spawn(move || {
                let store = FriendSessionStore::open(Some(home));
                for turn in 0..EACH {
                    save(&store, &REPLAYED, "s", &format!("{writer}-{turn}"), &answer("a")).unwrap();
                }
            });
        }
    });
    let session = found(&FriendSessionStore::open(Some(home.path())), &REPLAYED, "s");
    assert_eq!((session.turns, exchanges(&session).len()), (4 * EACH as u64, 4 * EACH));
    for writer in 0..4 {
        let mine = exchanges(&session).iter().filter(|e| e.asked.starts_with(&format!("{writer}-")));
        let turns: Vec<usize> = mine.map(|e| e.asked[2..].parse().unwrap()).collect();
        assert_eq!(turns, (0..EACH).collect::<Vec<_>>());
    }
}

#[test]
fn a_torn_file_is_kept_aside_and_said_and_what_a_killed_relay_left_is_no_harm() {
    let (home, store) = stage();
    let folder = home.path().join("friends/sessions");
    save(&store, &REPLAYED, "s", "q", &answer("a")).unwrap();
    let whole = fs::read(folder.join("s.json")).unwrap();
    // Killed while it wrote: the session is as it was.
    fs::write(folder.join(".new"), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(found(&store, &REPLAYED, "s").turns, 1);
    save(&store, &REPLAYED, "s", "q", &answer("a")).unwrap();
    assert_eq!(found(&store, &REPLAYED, "s").turns, 2);
    assert!(!folder.join(".new").exists());
    // Torn by a disk, or by somebody's editor.
    for torn in 0..whole.len() - 1 {
        put(&folder.join("s.json"), &whole[..torn]);
        let listed = store.list().unwrap();
        assert!(listed.sessions.is_empty() && listed.remarks[0].contains("cannot be read"), "{torn}");
        let found = store.find("s", "ollama", Path::new("/p")).unwrap();
        assert!(found.session.is_none(), "{torn}");
        assert!(found.remarks[0].contains("could not be read; its file is kept as"), "{:?}", found.remarks);
        assert_eq!(fs::read(folder.join("s.broken")).unwrap(), &whole[..torn]);
    }
    put(&folder.join("s.json"), b"{}");
    let remarks = save(&store, &REPLAYED, "s", "q", &answer("a")).unwrap();
    assert!(remarks[0].contains("begins anew"), "{remarks:?}");
    assert_eq!(found(&store, &REPLAYED, "s").turns, 1);
}

#[test]
fn a_file_of_another_name_or_kind_is_no_session_and_one_that_others_can_read_is_refused() {
    let (home, store) = stage();
    let folder = home.path().join("friends/sessions");
    save(&store, &REPLAYED, "s", "q", &answer("a")).unwrap();
    fs::copy(folder.join("s.json"), folder.join("t.json")).unwrap();
    assert!(store.find("t", "ollama", Path::new("/p")).unwrap().session.is_none());
    std::os::unix::fs::symlink("s.json", folder.join("u.json")).unwrap();
    assert!(store.find("u", "ollama", Path::new("/p")).unwrap().session.is_none());
    fs::set_permissions(folder.join("s.json"), PermissionsExt::from_mode(0o644)).unwrap();
    let open = store.find("s", "ollama", Path::new("/p")).unwrap_err();
    assert!(
        matches!(
            open,
            FriendSessionError::Own(relaycode_durable::private_files::PrivateFileError::ReadableByOthers(_))
        ),
        "{open}"
    );
    assert!(matches!(
        save(&FriendSessionStore::open(None), &REPLAYED, "s", "q", &answer("a")),
        Err(FriendSessionError::Own(_))
    ));
    assert!(FriendSessionStore::open(None).find("s", "ollama", Path::new("/p")).unwrap().session.is_none());
    assert!(FriendSessionStore::open(None).list().unwrap().sessions.is_empty());
}

#[test]
fn the_oldest_turns_go_when_what_was_said_is_one_byte_too_long() {
    let (_home, store) = stage();
    let half = "x".repeat(TRANSCRIPT_BYTES / 2 - 1);
    for _ in 0..2 {
        assert!(save(&store, &REPLAYED, "s", "q", &answer(&half)).unwrap().is_empty());
    }
    assert_eq!(exchanges(&found(&store, &REPLAYED, "s")).len(), 2);
    let remarks = save(&store, &REPLAYED, "s", "", &answer("y")).unwrap();
    assert_eq!(remarks, ["the session s is longer than 2 MB: its oldest turn was forgotten"]);
    let session = found(&store, &REPLAYED, "s");
    assert_eq!((session.turns, exchanges(&session).len()), (3, 2));
    assert_eq!(exchanges(&session)[1].answered, "y");
    // One that is too long for itself leaves nothing, and the worst text in JSON fits into a file.
    let remarks = save(&store, &REPLAYED, "s", "", &answer(&"\u{1}".repeat(TRANSCRIPT_BYTES + 1))).unwrap();
    assert!(remarks[0].contains("its 3 oldest turns were forgotten"), "{remarks:?}");
    assert!(save(&store, &REPLAYED, "s", "", &answer(&"\u{1}".repeat(TRANSCRIPT_BYTES))).unwrap().is_empty());
    assert_eq!(exchanges(&found(&store, &REPLAYED, "s")).len(), 1);
}

#[test]
fn beyond_a_hundred_sessions_the_one_goes_that_was_not_used_for_longest() {
    let (home, store) = stage();
    let folder = home.path().join("friends/sessions");
    for number in 0..SESSIONS {
        let name = format!("s{number:03}");
        assert!(save(&store, &REPLAYED, &name, "q", &answer("a")).unwrap().is_empty());
        // As old as its number says; the last is the oldest.
        let back = SystemTime::now() - Duration::from_secs(1000 + number as u64);
        fs::File::open(folder.join(format!("{name}.json"))).unwrap().set_modified(back).unwrap();
    }
    // One more turn of a session that is there is no new one.
    assert!(save(&store, &REPLAYED, "s050", "q", &answer("a")).unwrap().is_empty());
    let remarks = save(&store, &REPLAYED, "new", "q", &answer("a")).unwrap();
    assert_eq!(remarks, ["more than 100 sessions are not kept: s099 went, unused for longest"]);
    let names: Vec<String> = store.list().unwrap().sessions.into_iter().map(|session| session.name).collect();
    assert_eq!(names.len(), SESSIONS);
    assert!(names.contains(&"new".to_string()) && !names.contains(&"s099".to_string()));
    for number in 0..30 {
        put(&folder.join(format!("b{number}.json")), b"torn");
        store.find(&format!("b{number}"), "ollama", Path::new("/p")).unwrap();
    }
    save(&store, &REPLAYED, "new", "q", &answer("a")).unwrap();
    let broken = fs::read_dir(&folder)
        .unwrap()
        .filter(|file| file.as_ref().unwrap().file_name().as_bytes().ends_with(b".broken"));
    assert_eq!(broken.count(), 10);
}
