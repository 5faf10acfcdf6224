//! Commits: exactly the files, exactly the message, the user's hooks, and nothing else disturbed.

use super::*;

fn files(scene: &Scene) -> Vec<String> {
    let text = scene.plain(&["show", "--format=", "--name-status", "--no-renames", "-z", "HEAD"]);
    let parts: Vec<&str> = text.split('\0').filter(|part| !part.is_empty()).collect();
    parts.chunks(2).map(|pair| pair.join(" ")).collect()
}

fn message(scene: &Scene) -> String {
    scene.plain(&["log", "-1", "--format=%B"]).trim_end().to_string()
}

#[test]
fn new_changed_deleted_and_renamed_files_are_committed_and_nothing_else() {
    let scene = Scene::new();
    scene.file("staged.txt", "somebody's\n");
    scene.plain(&["add", "staged.txt"]);
    scene.file("loose.txt", "somebody's\n");
    scene.file("a.txt", "changed\n");
    scene.file("new.txt", "new\n");
    fs::rename(scene.root().join("sub/b.txt"), scene.root().join("moved.txt")).unwrap();
    let paths = ["a.txt", "new.txt", "sub/b.txt", "moved.txt", "never.txt"];
    let made = scene.git().commit(&paths, "feat: all of it").unwrap();
    assert_eq!(made.id, scene.plain(&["rev-parse", "HEAD"]).trim());
    assert!(made.hooks_succeeded);
    assert_eq!(files(&scene), ["M a.txt", "A moved.txt", "A new.txt", "D sub/b.txt"]);
    assert_eq!(scene.plain(&["status", "--porcelain"]), "A  staged.txt\n?? loose.txt\n");
    assert!(matches!(scene.git().commit(&paths, "again"), Err(GitError::NothingToCommit)));
}

#[test]
fn the_first_commit_can_be_one_of_these() {
    let scene = Scene::unborn();
    scene.file("a.txt", "one\n");
    scene.file("other.txt", "");
    scene.git().commit(&["a.txt"], "first").unwrap();
    assert_eq!(files(&scene), ["A a.txt"]);
}

#[test]
fn a_message_is_only_text() {
    let messages = [
        "$(touch PWNED)",
        "`touch PWNED`",
        "\"; touch PWNED; \"",
        "'; touch PWNED #",
        "#123 is fixed\n\n# and this stays",
        "--amend",
        "-m x --no-verify",
        "title\n\nbody with 'quotes' and \\ and %s\n\nSigned-off-by: nobody",
        "umlauts ü and 修正",
        ";rm -rf .",
    ];
    let scene = Scene::new();
    for (number, text) in messages.iter().enumerate() {
        scene.file("a.txt", &format!("{number}\n"));
        scene.git().commit(&["a.txt"], text).unwrap();
        assert_eq!(message(&scene), *text);
    }
    assert_eq!(scene.plain(&["rev-list", "--count", "HEAD"]).trim(), (messages.len() + 1).to_string());
    assert!(!scene.root().join("PWNED").exists());
    scene.file("a.txt", "last\n");
    scene.git().commit(&["a.txt"], "one\u{1b}]52;c;x\u{7}\r\ntwo\u{202e}\0").unwrap();
    assert_eq!(message(&scene), "one]52;c;x\ntwo");
    scene.file("a.txt", "very last\n");
    for empty in ["", " \n\t", "\u{200b}", "\0"] {
        assert!(matches!(scene.git().commit(&["a.txt"], empty), Err(GitError::EmptyMessage)), "{empty:?}");
    }
    assert!(matches!(
        scene.git().commit(&["a.txt"], &"x".repeat(1 << 20)),
        Err(GitError::LimitExceeded { .. })
    ));
}

#[test]
fn names_that_mean_something_to_git_are_committed_as_they_are() {
    let scene = Scene::new();
    let names = ["[id].ts", ":(exclude)x", "-rf", "a b", "ü/修.txt", "*", "x\ny", "--amend"];
    names.iter().for_each(|name| scene.file(name, "x\n"));
    scene.file("i.ts", "not meant\n");
    scene.git().commit(&names, "names").unwrap();
    let mut expected: Vec<String> = names.iter().map(|name| format!("A {name}")).collect();
    expected.sort();
    let mut found = files(&scene);
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(scene.plain(&["status", "--porcelain"]), "?? i.ts\n");
    names.iter().for_each(|name| fs::remove_file(scene.root().join(name)).unwrap());
    scene.git().commit(&names, "gone").unwrap();
    assert_eq!(files(&scene).len(), names.len());
    assert!(scene.root().join("i.ts").exists());
}

#[test]
fn hooks_run_see_the_commit_and_can_use_patterns() {
    let scene = Scene::new();
    // A hook that looks for files by pattern must find them: many do.
    scene.hook("pre-commit", "echo seen: $(git diff --cached --name-only -- '*.txt')");
    scene.hook("commit-msg", "echo 'Checked: yes' >> \"$1\"");
    scene.hook("post-commit", "echo afterwards");
    scene.file("new.txt", "x\n");
    let made = scene.git().commit(&["new.txt"], "feat: x").unwrap();
    assert!(made.output.contains("seen: new.txt") && made.output.contains("afterwards"), "{}", made.output);
    assert_eq!(message(&scene), "feat: x\nChecked: yes");
}

#[test]
fn a_hook_that_says_no_leaves_everything_as_it_was() {
    let scene = Scene::new();
    scene.file("staged.txt", "somebody's\n");
    scene.plain(&["add", "staged.txt"]);
    scene.file("a.txt", "changed\n");
    scene.file("[new].txt", "new\n");
    let before = (scene.plain(&["status", "--porcelain"]), scene.plain(&["ls-files", "-s"]));
    scene.hook("pre-commit", "echo the linter is not happy >&2; exit 1");
    let error = scene.git().commit(&["a.txt", "[new].txt"], "m").unwrap_err();
    assert!(error.to_string().contains("the linter is not happy"), "{error}");
    assert_eq!((scene.plain(&["status", "--porcelain"]), scene.plain(&["ls-files", "-s"])), before);
    assert_eq!(scene.plain(&["rev-list", "--count", "HEAD"]).trim(), "1");
    assert_eq!(fs::read_to_string(scene.root().join("[new].txt")).unwrap(), "new\n");
}

#[test]
fn filters_of_the_user_run_and_the_watcher_does_not() {
    let scene = Scene::new();
    scene.plain(&["config", "filter.up.clean", "tr a-z A-Z"]);
    scene.file(".gitattributes", "*.up filter=up\n");
    scene.file("x.up", "loud\n");
    scene.git().commit(&["x.up"], "m").unwrap();
    assert_eq!(scene.plain(&["cat-file", "blob", "HEAD:x.up"]), "LOUD\n");
    scene.plain(&["config", "core.fsmonitor", &scene.evil()]);
    scene.file("a.txt", "changed\n");
    scene.git().commit(&["a.txt"], "m").unwrap();
    assert!(!scene.was_run());
}

#[test]
fn what_cannot_be_committed_is_named() {
    let scene = Scene::new();
    scene.file(".gitignore", "*.log\n");
    scene.file("x.log", "");
    let error = scene.git().commit(&["x.log"], "m").unwrap_err();
    assert!(matches!(&error, GitError::Ignored { paths } if paths == &["x.log"]), "{error}");
    assert!(matches!(scene.git().commit(&["sub"], "m"), Err(GitError::Directory { .. })));
    assert!(matches!(scene.git().commit(&["../x"], "m"), Err(GitError::BadPath { .. })));
    assert!(matches!(scene.git().commit(&[], "m"), Err(GitError::NothingToCommit)));
}

#[test]
fn a_file_below_the_top_is_committed_by_its_own_path() {
    let scene = Scene::new();
    scene.file("sub/b.txt", "changed\n");
    scene.file("sub/new.txt", "new\n");
    scene.file("b.txt", "not meant\n");
    let below = Git::with_runner(&scene.run, &scene.root().join("sub"));
    below.commit(&["b.txt", "new.txt"], "m").unwrap();
    assert_eq!(files(&scene), ["M sub/b.txt", "A sub/new.txt"]);
    scene.hook("pre-commit", "exit 1");
    scene.file("sub/more.txt", "");
    assert!(below.commit(&["more.txt"], "m").is_err());
    assert_eq!(scene.plain(&["status", "--porcelain"]), "?? b.txt\n?? sub/more.txt\n");
}

#[test]
fn a_signature_that_fails_fails_the_commit() {
    let scene = Scene::new();
    scene.plain(&["config", "commit.gpgSign", "true"]);
    scene.plain(&["config", "gpg.program", "/nowhere/gpg"]);
    scene.file("new.txt", "");
    assert!(matches!(scene.git().commit(&["new.txt"], "m"), Err(GitError::Failed { .. })));
    assert_eq!(scene.plain(&["status", "--porcelain"]), "?? new.txt\n");
}
