//! What each word finds, and the message if it finds nothing or too much.

use std::fs;
use std::time::{Duration, SystemTime};

use relaycode_durable::RealFs;

use super::*;
use crate::HomeLayout;

struct Home {
    _dir: tempfile::TempDir,
    layout: HomeLayout,
}

impl Home {
    fn new(sessions: &[(&str, &str, &str)]) -> Home {
        let dir = tempfile::tempdir().unwrap();
        let home = Home { layout: HomeLayout::new(dir.path()), _dir: dir };
        for (age, (cwd, id, first)) in sessions.iter().enumerate() {
            home.put(cwd, id, first, age as u64 * 10);
        }
        home
    }

    fn put(&self, cwd: &str, id: &str, first: &str, age: u64) -> PathBuf {
        let path = self.layout.session_path(Path::new(cwd), "2026-02-16T10:20:30Z".parse().unwrap(), id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let answer = if first.is_empty() {
            ""
        } else {
            "{\"type\":\"message\",\"id\":\"b\",\"message\":{\"role\":\"assistant\",\"content\":\"ok\"}}\n"
        };
        let text = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"{cwd}\"}}\n\
             {{\"type\":\"message\",\"id\":\"a\",\"message\":{{\"role\":\"user\",\"content\":\"{first}\"}}}}\n{answer}"
        );
        fs::write(&path, text).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        path
    }

    fn find(&self, word: &str) -> Result<ResolvedSession, ResolveError> {
        self.find_after(word, None)
    }

    fn find_after(
        &self,
        word: &str,
        crumb: Option<&TerminalBreadcrumb>,
    ) -> Result<ResolvedSession, ResolveError> {
        let fs = RealFs::default();
        resolve_session(
            &SessionLister::new(&fs, &self.layout),
            Path::new("/shop"),
            &SessionTarget::parse(word),
            crumb,
        )
    }

    fn id(&self, word: &str) -> String {
        self.find(word).unwrap().into_summary().id
    }
}

#[test]
fn words_are_numbers_ids_or_paths() {
    assert_eq!(SessionTarget::parse("3"), SessionTarget::Number(3));
    assert_eq!(SessionTarget::parse("0197"), SessionTarget::Id("0197".into()));
    assert_eq!(SessionTarget::parse("123456"), SessionTarget::Id("123456".into()));
    assert_eq!(SessionTarget::parse("3f"), SessionTarget::Id("3f".into()));
    assert_eq!(SessionTarget::parse("x.jsonl"), SessionTarget::Path("x.jsonl".into()));
    assert_eq!(SessionTarget::parse("a/b"), SessionTarget::Path("a/b".into()));
    assert_eq!(SessionTarget::parse(""), SessionTarget::Newest);
}

#[test]
fn a_session_is_found_by_number_beginning_and_path() {
    let home = Home::new(&[("/shop", "aa11", "x"), ("/shop", "bb22", "y"), ("/shop", "77cc", "z")]);
    assert_eq!((home.id(""), home.id("1"), home.id("2")), ("aa11".into(), "aa11".into(), "bb22".into()));
    assert_eq!(
        (home.id("bb"), home.id("BB22"), home.id("77")),
        ("bb22".into(), "bb22".into(), "77cc".into())
    );
    let path = home.find("2").unwrap().into_summary().path;
    assert_eq!(home.id(path.to_str().unwrap()), "bb22");
}

#[test]
fn the_beginning_of_two_is_told_and_the_whole_of_one_is_not() {
    let home = Home::new(&[("/shop", "aa11", "x"), ("/shop", "aa22", "y"), ("/shop", "aa", "z")]);
    let Err(ResolveError::Ambiguous { count: 3, candidates, .. }) = home.find("a") else {
        panic!("not told")
    };
    assert_eq!(candidates.len(), 3);
    assert_eq!(home.id("aa"), "aa");
    assert_eq!(home.id("aa2"), "aa22");
}

#[test]
fn this_project_comes_before_others_and_those_are_told_apart() {
    let home = Home::new(&[("/else", "aa11", "x"), ("/shop", "aa22", "y"), ("/else", "cc33", "y")]);
    assert_eq!(home.id("aa"), "aa22");
    let ResolvedSession::OtherProject { summary: info, cwd } = home.find("cc").unwrap() else {
        panic!("not told apart")
    };
    assert_eq!((info.id.as_str(), cwd), ("cc33", PathBuf::from("/else")));
}

#[test]
fn one_without_an_answer_is_found_by_id_but_has_no_number() {
    let home = Home::new(&[("/shop", "aa11", ""), ("/shop", "bb22", "y")]);
    assert_eq!((home.id("aa"), home.id("1"), home.id("")), ("aa11".into(), "bb22".into(), "bb22".into()));
}

#[test]
fn the_newest_may_be_one_whose_prompt_got_no_answer() {
    let home = Home::new(&[("/shop", "aa11", "y")]);
    let path = home.put("/shop", "bb22", "stopped", 0);
    let text = fs::read_to_string(&path).unwrap();
    let unanswered: Vec<&str> = text.lines().filter(|line| !line.contains("assistant")).collect();
    fs::write(&path, unanswered.join("\n") + "\n").unwrap();
    assert_eq!((home.id("1"), home.id("")), ("aa11".into(), "bb22".into()));
}

#[test]
fn what_is_not_there_names_what_is_near() {
    let home = Home::new(&[("/else", "aa115", "x"), ("/shop", "bb22", "Round the totals")]);
    let near = |word: &str| match home.find(word) {
        Err(ResolveError::Unknown { nearest, .. }) => {
            nearest.into_iter().map(|info| info.id).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(near("aa1x"), ["aa115"]);
    assert_eq!(near("totals"), ["bb22"]);
    assert_eq!(near("zzz"), Vec::<String>::new());
    assert_eq!(near("9"), Vec::<String>::new());
    assert_eq!(near("/no/such.jsonl"), Vec::<String>::new());
    assert!(matches!(home.find("/"), Err(ResolveError::Io { .. } | ResolveError::NotASession { .. })));
    assert!(matches!(Home::new(&[]).find(""), Err(ResolveError::None { .. })));
}

#[test]
fn the_terminal_comes_before_the_newest_if_it_is_about_this_directory() {
    let home = Home::new(&[("/shop", "new", "x"), ("/shop", "old", "y")]);
    let session = home.find("old").unwrap().into_summary().path;
    let crumb = |cwd: &str, session: &Path| TerminalBreadcrumb { cwd: cwd.into(), session: session.into() };
    let id = |crumb: &TerminalBreadcrumb| home.find_after("", Some(crumb)).unwrap().into_summary().id;
    assert_eq!(id(&crumb("/shop", &session)), "old");
    assert_eq!(id(&crumb("/else", &session)), "new");
    assert_eq!(id(&crumb("/shop", Path::new("/gone.jsonl"))), "new");
}
