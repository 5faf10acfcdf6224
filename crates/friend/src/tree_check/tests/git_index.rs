//! What is staged, in the indexes that git writes, and in those that somebody else does.

use relaycode_testkit::git::git;

use super::*;
use crate::tree_check::git_index::StagedContent;

/// A repository with three files and a commit.
struct Repository {
    _dir: TempDir,
    root: PathBuf,
}

impl Repository {
    fn new(words: &[&str]) -> Repository {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let repository = Repository { _dir: dir, root };
        repository.git(&[&["init", "-q", "-b", "main"], words].concat());
        for path in ["a.txt", "src/b.rs", "src/deep/c", "src/deep/other", "x y"] {
            let path = repository.root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "one\n").unwrap();
        }
        repository.git(&["add", "."]);
        repository.git(&["commit", "-q", "-m", "first"]);
        repository
    }

    fn git(&self, words: &[&str]) -> String {
        git(&self.root, words)
    }

    fn index(&self) -> Vec<u8> {
        fs::read(self.root.join(".git/index")).unwrap()
    }
}

/// Every way in which git writes an index.
const FORMS: &[(&[&str], &[&str])] = &[
    (&[], &["update-index", "--index-version", "2"]),
    (&[], &["update-index", "--index-version", "4"]),
    (&[], &["update-index", "--skip-worktree", "src/b.rs"]),
    (&[], &["update-index", "--split-index"]),
    (&[], &["update-index", "--untracked-cache"]),
    (&[], &["-c", "index.threads=2", "update-index", "--index-version", "4"]),
    (&["--object-format=sha256"], &["update-index", "--index-version", "4"]),
    (&["--object-format=sha256"], &["update-index", "--split-index"]),
];

fn staged(repository: &Repository) -> StagedContent {
    let beside = |name: &str| fs::read(repository.root.join(".git").join(name)).ok();
    StagedContent::read(&repository.index(), &beside).expect("an index of git's")
}

#[test]
fn whatever_is_staged_unstaged_or_marked_is_found_in_every_form_of_the_index() {
    let ways: &[&[&str]] = &[
        &["rm", "-q", "--cached", "x y"],
        &["update-index", "--assume-unchanged", "a.txt"],
        &["update-index", "--skip-worktree", "a.txt"],
        &["update-index", "--chmod=+x", "a.txt"],
        &["update-index", "--force-remove", "src/deep/c"],
        &["read-tree", "--empty"],
    ];
    for (init, form) in FORMS {
        for way in ways {
            let repository = Repository::new(init);
            repository.git(form);
            let before = take(&repository.root);
            repository.git(way);
            assert_eq!(compared(&before), one(".git/index", ObservedChangeKind::Staged), "{form:?} {way:?}");
        }
        let repository = Repository::new(init);
        repository.git(form);
        let other = repository.git(&["rev-parse", "HEAD:src/deep"]);
        let before = take(&repository.root);
        repository.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{other},a.txt")]);
        assert_eq!(compared(&before), one(".git/index", ObservedChangeKind::Staged), "{form:?}");
        let before = take(&repository.root);
        repository.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{other},new.txt")]);
        assert_eq!(compared(&before), one(".git/index", ObservedChangeKind::Staged), "{form:?}");
    }
}

#[test]
fn looking_by_git_stages_nothing() {
    for (init, form) in FORMS {
        let repository = Repository::new(init);
        repository.git(form);
        let before = take(&repository.root);
        let bytes = repository.index();
        let touched = fs::File::options().write(true).open(repository.root.join("a.txt")).unwrap();
        touched.set_modified(SystemTime::now() - Duration::from_secs(600)).unwrap();
        for words in [
            &["status"][..],
            &["diff"],
            &["diff", "--cached"],
            &["log", "-1"],
            &["update-index", "--refresh"],
        ] {
            repository.git(words);
        }
        assert_ne!(repository.index(), bytes, "git noted the other time: {form:?}");
        assert_eq!(compared(&before), [], "{form:?}");
    }
    // Nor does another form of the same.
    let repository = Repository::new(&[]);
    let before = staged(&repository);
    for words in
        [&["--index-version", "4"][..], &["--split-index"], &["--no-split-index"], &["--index-version", "2"]]
    {
        repository.git(&[&["update-index"], words].concat());
        assert!(staged(&repository).commits_same_as(&before), "{words:?}");
    }
}

#[test]
fn what_is_staged_in_a_submodule_counts_and_in_another_worktree_it_does_not() {
    let repository = Repository::new(&[]);
    let other = Repository::new(&[]);
    let from = other.root.to_str().unwrap();
    repository.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "sub"]);
    repository.git(&["worktree", "add", "-q", "-b", "w", other.root.join("w").to_str().unwrap()]);
    let (here, there) = (take(&repository.root), take(&other.root.join("w")));
    git(&repository.root.join("sub"), &["rm", "-q", "--cached", "a.txt"]);
    assert_eq!(compared(&here), one(".git/modules/sub/index", ObservedChangeKind::Staged));
    let here = take(&repository.root);
    git(&other.root.join("w"), &["rm", "-q", "--cached", "a.txt"]);
    assert_eq!(compared(&here), []);
    let index = repository.root.join(".git/worktrees/w/index").display().to_string();
    assert!(compared(&there).contains(&(index, ObservedChangeKind::Staged)), "{:?}", compared(&there));
}

/// Puts an index there with other bytes in it, without a digest at its end: git takes that.
fn forge(repository: &Repository, from: &[u8], to: &[u8]) {
    let mut bytes = repository.index();
    let end = bytes.len() - 20;
    bytes[end..].fill(0);
    let at = bytes.windows(from.len()).position(|window| window == from).expect("it is in the index");
    bytes[at..at + to.len()].copy_from_slice(to);
    fs::write(repository.root.join(".git/index"), bytes).unwrap();
}

#[test]
fn a_forged_tree_that_the_next_commit_would_take_is_found() {
    let repository = Repository::new(&[]);
    let raw = |name: &str| -> Vec<u8> {
        let hex = repository.git(&["rev-parse", name]);
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    };
    let before = take(&repository.root);
    let listed = repository.git(&["ls-files", "-s"]);
    forge(&repository, &raw("HEAD^{tree}"), &raw("HEAD:src"));
    assert_eq!(repository.git(&["ls-files", "-s"]), listed, "git lists what it listed before");
    assert_eq!(
        repository.git(&["write-tree"]),
        repository.git(&["rev-parse", "HEAD:src"]),
        "and commits this"
    );
    assert_eq!(compared(&before), one(".git/index", ObservedChangeKind::Staged));
}

#[test]
fn what_is_no_index_is_a_file_like_others_and_nothing_goes_wrong() {
    assert_eq!(
        found(|root| fs::write(root.join(".git/index"), "CRID").unwrap()),
        one(".git/index", ObservedChangeKind::Changed)
    );
    let repository = Repository::new(&[]);
    let before = take(&repository.root);
    fs::write(repository.root.join(".git/index"), "DIRC").unwrap();
    assert_eq!(compared(&before), one(".git/index", ObservedChangeKind::Staged));
    for (init, form) in FORMS {
        let repository = Repository::new(init);
        repository.git(form);
        repository.git(&["rm", "-q", "--cached", "x y"]);
        let bytes = repository.index();
        let beside = |name: &str| fs::read(repository.root.join(".git").join(name)).ok();
        assert!(StagedContent::read(&bytes, &beside).is_some(), "{form:?}");
        for at in 0..bytes.len() {
            let _ = StagedContent::read(&bytes[..at], &beside);
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut other = bytes.clone();
                other[at] = value;
                let _ = StagedContent::read(&other, &beside);
            }
        }
    }
}
