use std::fs;
use std::os::unix::fs::{chown, symlink};

use tempfile::TempDir;

use super::*;

/// A directory whose path has no links.
struct Scratch {
    _temp: TempDir,
    top: PathBuf,
}

impl Scratch {
    fn new(paths: &[&str]) -> Scratch {
        let temp = TempDir::new().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for path in paths {
            let full = top.join(path);
            if path.ends_with('/') {
                fs::create_dir_all(full).unwrap();
            } else {
                fs::create_dir_all(full.parent().unwrap()).unwrap();
                fs::write(full, "").unwrap();
            }
        }
        Scratch { _temp: temp, top }
    }

    fn find(&self, start: &str, home: Option<&str>) -> (String, RootMarker) {
        let home = home.map(|home| self.top.join(home));
        let root = find(&self.top.join(start), home.as_deref(), &[]).unwrap();
        let path = root.path.strip_prefix(&self.top).map(|path| path.display().to_string());
        (path.unwrap_or_else(|_| "outside".to_string()), root.marker)
    }
}

#[test]
fn nothing_is_looked_for_at_a_ceiling_or_above_it() {
    let scratch = Scratch::new(&["p/.git/", "p/target/room/project/"]);
    let start = scratch.top.join("p/target/room/project");
    let found = |ceiling: &str| find(&start, None, &[scratch.top.join(ceiling)]).unwrap();
    assert_eq!(found("elsewhere").path, scratch.top.join("p"));
    for ceiling in ["p", "p/target", "p/target/room"] {
        assert_eq!(
            found(ceiling),
            ProjectDirectory { path: start.clone(), marker: RootMarker::Nothing },
            "{ceiling}"
        );
    }
    assert_eq!(find(&scratch.top.join("p"), None, &[scratch.top.join("p")]).unwrap().marker, RootMarker::Git);
}

fn search(trusted: [u32; 3]) -> RootSearch {
    RootSearch { relay_home: None, user_home: None, trusted }
}

fn is(path: &str, marker: RootMarker) -> (String, RootMarker) {
    (path.to_string(), marker)
}

#[test]
fn every_form_of_the_configuration_marks_a_root() {
    for name in PROJECT_FILES {
        let scratch = Scratch::new(&[&format!("p/{name}"), "p/a/b/"]);
        assert_eq!(scratch.find("p/a/b", None), is("p", RootMarker::Config), "{name}");
        assert_eq!(scratch.find("p", None), is("p", RootMarker::Config), "{name}");
    }
}

#[test]
fn state_and_git_mark_a_root() {
    let scratch = Scratch::new(&["s/.relaycode/", "s/a/", "g/.git/", "g/a/", "w/.git", "w/a/"]);
    assert_eq!(scratch.find("s/a", None), is("s", RootMarker::State));
    assert_eq!(scratch.find("g/a", None), is("g", RootMarker::Git));
    assert_eq!(scratch.find("w/a", None), is("w", RootMarker::Git));
}

#[test]
fn the_nearest_mark_wins_whatever_it_is() {
    let scratch =
        Scratch::new(&["p/relaycode.config.json", "p/sub/.git/", "p/sub/a/", "p/other/.relaycode/"]);
    assert_eq!(scratch.find("p/sub/a", None), is("p/sub", RootMarker::Git));
    assert_eq!(scratch.find("p/other", None), is("p/other", RootMarker::State));
}

#[test]
fn in_one_directory_the_configuration_comes_before_the_state_and_that_before_git() {
    let scratch =
        Scratch::new(&["p/relay.config.json", "p/.relaycode/", "p/.git/", "q/.relaycode/", "q/.git/"]);
    assert_eq!(scratch.find("p", None), is("p", RootMarker::Config));
    assert_eq!(scratch.find("q", None), is("q", RootMarker::State));
}

#[test]
fn without_a_mark_it_is_the_start_itself() {
    let scratch = Scratch::new(&["a/b/", "a/relaycode.config.json/", "a/.relaycode"]);
    assert_eq!(scratch.find("a/b", None), is("a/b", RootMarker::Nothing));
}

#[test]
fn relays_own_directory_marks_nothing() {
    let scratch = Scratch::new(&["u/.relaycode/trust/", "u/work/a/"]);
    assert_eq!(scratch.find("u/work/a", Some("u/.relaycode")), is("u/work/a", RootMarker::Nothing));
    assert_eq!(scratch.find("u", Some("u/.relaycode")), is("u", RootMarker::Nothing));
    let inside = scratch.find("u/.relaycode/trust", Some("u/.relaycode"));
    assert_eq!(inside, is("u/.relaycode/trust", RootMarker::Nothing));
    symlink(scratch.top.join("u"), scratch.top.join("link")).unwrap();
    assert_eq!(scratch.find("link/work", Some("link/.relaycode")), is("u/work", RootMarker::Nothing));
}

#[test]
fn the_users_home_is_a_project_only_right_there() {
    let git = Scratch::new(&["u/.relaycode/", "u/.git/", "u/work/a/"]);
    assert_eq!(git.find("u/work/a", Some("u/.relaycode")), is("u/work/a", RootMarker::Nothing));
    assert_eq!(git.find("u", Some("u/.relaycode")), is("u", RootMarker::Git));
    let config = Scratch::new(&["u/relaycode.config.json", "u/.relaycode/", "u/work/"]);
    assert_eq!(config.find("u/work", Some("u/.relaycode")), is("u/work", RootMarker::Nothing));
    assert_eq!(config.find("u", Some("u/.relaycode")), is("u", RootMarker::Config));
    // A directory of another name says nothing about where the home is.
    assert_eq!(git.find("u/work/a", Some("elsewhere")), is("u", RootMarker::State));
}

#[test]
fn relays_own_directory_may_be_kept_elsewhere() {
    let scratch = Scratch::new(&["u/.git/", "u/work/", "disk/relay/"]);
    symlink(scratch.top.join("disk/relay"), scratch.top.join("u/.relaycode")).unwrap();
    assert_eq!(scratch.find("u/work", Some("u/.relaycode")), is("u/work", RootMarker::Nothing));
}

#[test]
fn the_home_need_not_exist_yet() {
    let scratch = Scratch::new(&["u/.git/", "u/work/"]);
    assert_eq!(scratch.find("u/work", Some("u/.relaycode")), is("u/work", RootMarker::Nothing));
}

#[test]
fn the_root_of_the_file_system_marks_nothing_below() {
    let search = search([0; 3]);
    assert_eq!(search.marker(Path::new("/"), true), None);
    assert_ne!(search.marker(Path::new("/"), false), Some(RootMarker::State));
}

#[test]
fn a_start_behind_a_link_is_where_the_link_leads() {
    let scratch = Scratch::new(&["p/.git/", "p/a/"]);
    symlink(scratch.top.join("p/a"), scratch.top.join("link")).unwrap();
    assert_eq!(scratch.find("link", None), is("p", RootMarker::Git));
}

#[test]
fn the_walk_ends() {
    let deep = "d/".repeat(LEVELS + 6);
    let scratch = Scratch::new(&["p/.git/", &format!("p/{deep}")]);
    assert_eq!(scratch.find(&format!("p/{deep}"), None).1, RootMarker::Nothing);
}

#[test]
fn a_start_that_is_no_directory_is_an_error() {
    let scratch = Scratch::new(&["file"]);
    for start in ["file", "missing"] {
        let error = find(&scratch.top.join(start), None, &[]).unwrap_err();
        assert!(error.to_string().contains(start), "{error}");
    }
}

#[test]
fn a_mark_of_somebody_else_counts_only_where_relay_was_started() {
    let (mine, theirs) = ([0, 1_000, 1_000], [0, 1_000, 2_000]);
    let scratch = Scratch::new(&["p/.git/", "p/a/"]);
    let directory = scratch.top.join("p");
    if !rustix::process::getuid().is_root() {
        // Only root gives files away; the owner of this one is then the somebody else.
        let search = search([0; 3]);
        assert_eq!(search.marker(&directory, true), None);
        assert_eq!(search.marker(&directory, false), Some(RootMarker::Git));
        return;
    }
    chown(directory.join(".git"), Some(2_000), None).unwrap();
    for (trusted, above, marker) in
        [(mine, true, None), (mine, false, Some(RootMarker::Git)), (theirs, true, Some(RootMarker::Git))]
    {
        assert_eq!(search(trusted).marker(&directory, above), marker);
    }
    assert_eq!(scratch.find("p/a", None), is("p/a", RootMarker::Nothing));
    chown(scratch.top.join("p/a"), Some(2_000), None).unwrap();
    assert_eq!(scratch.find("p/a", None), is("p", RootMarker::Git));
}

#[test]
fn a_path_is_seen_from_the_root() {
    let root = ProjectDirectory { path: "/p/app".into(), marker: RootMarker::Git };
    assert_eq!(root.relative(Path::new("/p/app/src/x")), Some(Path::new("src/x")));
    assert_eq!(root.relative(Path::new("/p/app-evil/x")), None);
}
