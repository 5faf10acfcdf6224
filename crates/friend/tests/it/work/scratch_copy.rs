//! The copy: what is in it, what is not, and that the project is not touched.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use super::*;

#[test]
fn the_copy_is_the_project_as_it_is_now_and_the_project_is_not_touched() {
    let scene = Scene::new();
    scene.write("a.txt", "changed, not committed\n");
    scene.write("new.txt", "not known to git\n");
    scene.write("run.sh", "#!/bin/sh\n");
    run_bit(&scene.root().join("run.sh"), true);
    scene.write("staged.txt", "x\n");
    scene.git(&["add", "staged.txt"]);
    fs::remove_file(scene.root().join("src/b.rs")).unwrap();
    scene.write("target/big.o", "built\n");
    scene.write("x.log", "noise\n");
    scene.git(&["stash", "list"]);
    let (before, with_times) = (everything(&scene.root(), false), everything(&scene.root(), true));
    let scratch = scene.scratch().unwrap();
    assert_eq!(everything(&scene.root(), true), with_times);
    let mut wanted = files(&scene.root());
    wanted.remove("target/big.o");
    wanted.remove("x.log");
    assert_eq!(files(scratch.directory()), wanted);
    assert_eq!(scratch.directory().file_name().unwrap(), "app");
    assert!(scratch.left_out()[0].contains("target/") && scratch.left_out()[0].contains("x.log"));
    // The friend has the history, and nothing of the user's own.
    let copy = scratch.directory();
    assert!(git(copy, &["log", "--oneline"]).contains("first"));
    assert_eq!(git(copy, &["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(git(copy, &["branch", "--format=%(refname)"]), "refs/heads/main");
    let status = git(copy, &["status", "--porcelain"]);
    assert!(
        status.contains(" D src/b.rs") && status.contains(" M a.txt") && status.contains("?? new.txt"),
        "{status}"
    );
    git(copy, &["blame", "a.txt"]);
    git(copy, &["checkout", "-q", "-b", "other"]);
    git(copy, &["add", "-A"]);
    git(copy, &["commit", "-q", "-m", "its own"]);
    git(copy, &["gc", "-q"]);
    // git marks an object that it would have written as used, also where it borrows it: that is all.
    assert_eq!(everything(&scene.root(), false), before);
    let place = copy.to_path_buf();
    drop(scratch);
    assert!(!place.exists());
    assert_eq!(fs::read_dir(scene.home().join("scratch")).unwrap().count(), 0);
    assert_eq!(everything(&scene.root(), false), before);
}

#[test]
fn a_project_without_a_repository_is_copied_whole_and_gets_an_empty_one() {
    let scene = Scene::bare();
    scene.write("a.txt", "one\n");
    scene.write("deep/er/b.bin", [0, 255]);
    scene.write(".relaycode/x.yml", "state\n");
    scene.write("vendor/.git/config", "[core]\n");
    scene.write("vendor/v.txt", "v\n");
    let scratch = scene.scratch().unwrap();
    let copied: Vec<String> = files(scratch.directory()).into_keys().collect();
    assert_eq!(copied, ["a.txt", "deep/er/b.bin", "vendor/v.txt"]);
    assert!(!scratch.directory().join("vendor/.git").exists());
    assert!(scratch.directory().join(".git").is_dir() && scratch.left_out()[0].contains("vendor/.git"));
    git(scratch.directory(), &["status"]);
}

#[test]
fn every_state_of_a_repository_can_be_copied() {
    // No commit yet.
    let scene = Scene::bare();
    scene.git(&["init", "-q", "-b", "trunk"]);
    scene.write("a.txt", "one\n");
    let scratch = scene.scratch().unwrap();
    assert_eq!(git(scratch.directory(), &["status", "--porcelain"]), "?? a.txt");
    assert_eq!(git(scratch.directory(), &["symbolic-ref", "HEAD"]), "refs/heads/trunk");
    // Detached.
    let scene = Scene::new();
    scene.git(&["checkout", "-q", "--detach"]);
    let scratch = scene.scratch().unwrap();
    let head = |directory: &Path| git(directory, &["rev-parse", "HEAD"]);
    assert_eq!(head(scratch.directory()), head(&scene.root()));
    assert_eq!(git(scratch.directory(), &["status", "--porcelain"]), "");
    // Sparse.
    let scene = Scene::new();
    scene.write("docs/d.md", "d\n");
    scene.git(&["add", "."]);
    scene.git(&["commit", "-q", "-m", "docs"]);
    scene.git(&["sparse-checkout", "set", "src"]);
    assert!(!scene.root().join("docs").exists());
    let scratch = scene.scratch().unwrap();
    assert_eq!(git(scratch.directory(), &["status", "--porcelain"]), "");
    drop(scratch);
    assert!(scene.work(|_| {}).unwrap().proposal.is_none());
    // A linked work tree, whose `.git` is a file; and a shallow clone of it.
    let scene = Scene::new();
    let other = scene.root().parent().unwrap().join("linked");
    scene.git(&["worktree", "add", "-q", other.to_str().unwrap()]);
    let scratch = scene.scratch_of(&other, ScratchCaps::default()).unwrap();
    assert!(git(scratch.directory(), &["log", "--oneline"]).contains("first"));
    scene.write("a.txt", "more\n");
    scene.git(&["commit", "-qam", "second"]);
    let shallow = scene.root().parent().unwrap().join("shallow");
    let from = format!("file://{}", scene.root().display());
    scene.git(&["clone", "-q", "--depth=1", &from, shallow.to_str().unwrap()]);
    let scratch = scene.scratch_of(&shallow, ScratchCaps::default()).unwrap();
    assert_eq!(git(scratch.directory(), &["log", "--oneline"]).lines().count(), 1);
}

#[test]
fn a_project_in_a_directory_of_a_repository_keeps_its_place_in_it() {
    let scene = Scene::new();
    scene.write("pkg/one/x.txt", "x\n");
    scene.write("pkg/two/y.txt", "y\n");
    scene.git(&["add", "."]);
    scene.git(&["commit", "-q", "-m", "packages"]);
    let root = scene.root().join("pkg/one");
    let scratch = scene.scratch_of(&root, ScratchCaps::default()).unwrap();
    assert!(scratch.directory().ends_with("app/pkg/one"));
    assert_eq!(files(scratch.directory()).into_keys().collect::<Vec<_>>(), ["x.txt"]);
    assert!(!scratch.directory().join("../two").exists());
    assert_eq!(git(scratch.directory(), &["status", "--porcelain"]), "");
    assert!(git(scratch.directory(), &["log", "--oneline", "--", "x.txt"]).contains("packages"));
    drop(scratch);
    let worked = scene.work_at(&root, |copy| write(&copy.join("x.txt"), "changed\n")).unwrap();
    applied(scene.submit_at(&root, &worked, &[]));
    assert_eq!(scene.read("pkg/one/x.txt").unwrap(), b"changed\n");
}

#[test]
fn submodules_and_repositories_among_the_files_are_left_out_and_said() {
    let scene = Scene::new();
    let lib = scene.root().parent().unwrap().join("lib");
    write(&lib.join("l.txt"), "l\n");
    git(&lib, &["init", "-q"]);
    git(&lib, &["add", "."]);
    git(&lib, &["commit", "-q", "-m", "lib"]);
    scene.git(&["-c", "protocol.file.allow=always", "submodule", "-q", "add", lib.to_str().unwrap(), "sub"]);
    scene.git(&["commit", "-q", "-m", "sub"]);
    write(&scene.root().join("nested/n.txt"), "n\n");
    git(&scene.root().join("nested"), &["init", "-q"]);
    git(&scene.root().join("nested"), &["add", "."]);
    let scratch = scene.scratch().unwrap();
    assert!(!scratch.directory().join("sub/l.txt").exists());
    assert!(!scratch.directory().join("nested/n.txt").exists());
    let said = scratch.left_out().join("\n");
    assert!(said.contains("submodules") && said.contains("sub") && said.contains("nested"), "{said}");
    assert_eq!(git(scratch.directory(), &["status", "--porcelain"]), "");
    drop(scratch);
    // What a friend writes there is nobody's.
    let worked = scene
        .work(|copy| {
            write(&copy.join("sub/evil.txt"), "x\n");
            write(&copy.join("nested/evil.txt"), "x\n");
        })
        .unwrap();
    assert!(worked.proposal.is_none(), "{:?}", worked.proposal);
    assert!(worked.left_out.iter().any(|said| said.contains("other repositories")));
}

#[test]
fn links_stay_links_if_they_stay_inside_and_nothing_special_is_copied() {
    let scene = Scene::new();
    let outside = scene.root().parent().unwrap().join("secret.txt");
    write(&outside, "secret\n");
    let link = |target: &str, name: &str| symlink(target, scene.root().join(name)).unwrap();
    link("a.txt", "inside");
    link("src/../a.txt", "around");
    link("nowhere", "dangling");
    link("../secret.txt", "out");
    link(outside.to_str().unwrap(), "absolute");
    fs::create_dir_all(scene.root().join("p/q")).unwrap();
    link("../..", "p/q/top");
    link("p/q/top/../secret.txt", "sly");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        scene.root().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let scratch = scene.scratch().unwrap();
    let is_link = |name: &str| {
        fs::symlink_metadata(scratch.directory().join(name)).is_ok_and(|found| found.is_symlink())
    };
    for name in ["inside", "around", "dangling", "p/q/top"] {
        assert!(is_link(name), "{name}");
    }
    for name in ["out", "absolute", "sly", "pipe"] {
        assert!(fs::symlink_metadata(scratch.directory().join(name)).is_err(), "{name}");
    }
    let said = scratch.left_out().join("\n");
    assert!(said.contains("out") && said.contains("absolute") && said.contains("sly"), "{said}");
    drop(scratch);
    assert!(scene.work(|_| {}).unwrap().proposal.is_none());
}

#[test]
fn a_directory_that_became_a_link_outside_gives_nothing_away() {
    let scene = Scene::new();
    let outside = scene.root().parent().unwrap().join("elsewhere");
    write(&outside.join("b.rs"), "secret\n");
    fs::remove_dir_all(scene.root().join("src")).unwrap();
    symlink(&outside, scene.root().join("src")).unwrap();
    let scratch = scene.scratch().unwrap();
    assert!(fs::symlink_metadata(scratch.directory().join("src")).is_err());
}

#[test]
fn a_poisoned_repository_runs_nothing() {
    let scene = Scene::new();
    let evidence = scene.root().parent().unwrap().join("ran");
    let evil = scene.root().parent().unwrap().join("evil.sh");
    write(&evil, format!("#!/bin/sh\ntouch '{}'\ncat\n", evidence.display()));
    run_bit(&evil, true);
    let evil = evil.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "diff.external",
        "core.pager",
    ] {
        scene.git(&["config", key, evil]);
    }
    let template = scene.root().parent().unwrap().join("template/hooks");
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        for place in [scene.root().join(".git/hooks"), template.clone()] {
            write(&place.join(hook), format!("#!/bin/sh\ntouch '{}'\n", evidence.display()));
            run_bit(&place.join(hook), true);
        }
    }
    scene.git(&["config", "init.templateDir", template.parent().unwrap().to_str().unwrap()]);
    scene.write(".gitattributes", "* filter=x diff=x\n");
    scene.write(".git/info/attributes", "* filter=x\n");
    let _ = fs::remove_file(&evidence);
    let worked = scene
        .work(|copy| {
            write(&copy.join("a.txt"), "better\n");
            assert!(!copy.join(".git/hooks").exists());
            // And the friend poisons its own.
            write(&copy.join(".git/config"), format!("[core]\nfsmonitor = {evil}\nhooksPath = /\n"));
            write(&copy.join(".git/hooks/post-checkout"), "#!/bin/sh\n");
        })
        .unwrap();
    assert!(!evidence.exists());
    let names: Vec<&str> =
        worked.proposal.as_ref().unwrap().operations.iter().map(|o| o.action.path().as_str()).collect();
    assert_eq!(names, ["a.txt"]);
    applied(scene.submit(&worked, &[]));
    assert!(!evidence.exists());
}

#[test]
fn what_is_more_than_the_caps_is_refused_and_leaves_nothing() {
    let scene = Scene::new();
    scene.write("large.bin", vec![1; 5_000]);
    scene.write("larger.bin", vec![1; 6_000]);
    let root = scene.root();
    let most = |caps| scene.scratch_of(&root, caps).err().unwrap().to_string();
    let text = most(ScratchCaps { bytes: 10_000, ..ScratchCaps::default() });
    assert!(text.contains("10000 bytes") || text.contains("9 KiB"), "{text}");
    assert!(text.contains("larger.bin (6000 bytes)"), "{text}");
    assert!(most(ScratchCaps { files: 3, ..ScratchCaps::default() }).contains("3 files"));
    assert_eq!(fs::read_dir(scene.home().join("scratch")).unwrap().count(), 0);
    let scratch =
        scene.scratch_of(&root, ScratchCaps { file_bytes: 5_500, ..ScratchCaps::default() }).unwrap();
    assert!(scratch.left_out().iter().any(|said| said.contains("larger.bin")));
}

#[test]
fn a_copy_that_a_killed_run_left_goes_with_the_next_and_a_living_one_stays() {
    let scene = Scene::new();
    let living = scene.scratch().unwrap();
    let folder = scene.home().join("scratch");
    let dead = "00000000-0000-4000-8000-000000000000";
    write(&folder.join(format!("{dead}.lock")), "");
    write(&folder.join(dead).join("app/left.txt"), "x\n");
    write(&folder.join("00000000-0000-4000-8000-000000000001/app/left.txt"), "x\n");
    // What is not a copy is not touched.
    write(&folder.join("notes/mine.txt"), "mine\n");
    fs::set_permissions(folder.join(dead).join("app"), fs::Permissions::from_mode(0o000)).unwrap();
    let next = scene.scratch().unwrap();
    assert!(!folder.join(dead).exists() && !folder.join(format!("{dead}.lock")).exists());
    assert!(!folder.join("00000000-0000-4000-8000-000000000001").exists());
    assert!(folder.join("notes/mine.txt").exists());
    assert!(living.directory().join("a.txt").exists() && next.directory().join("a.txt").exists());
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn stopping_leaves_nothing() {
    let scene = Scene::new();
    let runner = keeper_fixture::runner();
    let root = scene.root();
    let git = Git::new(&runner, &root);
    let making = ScratchOptions {
        root: &root,
        git: &git,
        home: &scene.home(),
        caps: ScratchCaps::default(),
        stop: &|| true,
    };
    assert!(matches!(ScratchCopy::create(&making, &mut |_| {}), Err(ScratchError::Cancelled)));
    assert_eq!(fs::read_dir(scene.home().join("scratch")).unwrap().count(), 0);
    let inside = ScratchOptions { home: &root.join("own"), stop: &|| false, ..making };
    assert!(
        ScratchCopy::create(&inside, &mut |_| {}).err().unwrap().to_string().contains("inside the project")
    );
}

#[test]
fn ten_thousand_files_are_copied_and_compared_in_a_moment() {
    let scene = Scene::bare();
    scene.git(&["init", "-q"]);
    for directory in 0..100 {
        for file in 0..100 {
            scene.write(&format!("d{directory}/f{file}.txt"), vec![b'x'; 10_000]);
        }
    }
    let began = Instant::now();
    let scratch = scene.scratch().unwrap();
    let copied = began.elapsed();
    write(&scratch.directory().join("d7/f7.txt"), "y");
    let began = Instant::now();
    let runner = keeper_fixture::runner();
    let difference = scratch.changes(&Git::new(&runner, &scene.root()), &|| false).unwrap();
    println!("copied in {copied:?}, compared in {:?}", began.elapsed());
    assert_eq!(difference.operations.len(), 1);
    // Generous: the disk may be busy. The number that counts is printed.
    assert!(copied < Duration::from_secs(120) && began.elapsed() < Duration::from_secs(60));
}

/// Without a repository nobody says what to ignore, and a build is not the friend's work.
#[test]
fn outside_of_git_what_builds_leave_behind_is_neither_copied_nor_part_of_the_change() {
    let scene = Scene::bare();
    scene.write("Cargo.toml", "[package]\n");
    scene.write("src/main.rs", "fn main() {}\n");
    scene.write("target/debug/app", "old\n");
    scene.write("web/node_modules/x/index.js", "x\n");
    scene.write("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    scene.write("cache/a", "x\n");
    // A word alone does not make it one.
    scene.write("docs/target/a.md", "x\n");
    let scratch = scene.scratch().unwrap();
    let copied: Vec<String> = files(scratch.directory()).into_keys().collect();
    assert_eq!(copied, ["Cargo.toml", "docs/target/a.md", "src/main.rs"]);
    let said = "what builds left behind is not in the copy: cache/, target/, web/node_modules/";
    assert_eq!(scratch.left_out(), [said]);
    drop(scratch);
    let worked = scene.work(|copy| {
        write(&copy.join("src/main.rs"), "fn main() { run() }\n");
        write(&copy.join("target/debug/app"), "new\n");
        write(&copy.join("tools/__pycache__/a.pyc"), "x\n");
    });
    let worked = worked.unwrap();
    let paths: Vec<String> = worked
        .proposal
        .unwrap()
        .operations
        .iter()
        .map(|operation| format!("{:?}", operation.action))
        .collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    assert!(paths[0].contains("src/main.rs"), "{paths:?}");
    let left = "what builds left behind in the copy is left out: target/, tools/__pycache__/";
    assert!(worked.left_out.iter().any(|said| said == left), "{:?}", worked.left_out);
}
