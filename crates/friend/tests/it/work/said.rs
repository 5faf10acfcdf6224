//! What is said while a friend works and after: how far the copying is, what could not be kept, what changed in the
//! project meanwhile.

use std::fs;

use relaycode_friend::scratch::{Caps, Making, Progress, Scratch};
use relaycode_friend::work::WorkError;
use relaycode_friend::work::keep::{KEPT, keep_patch};
use relaycode_project::git::Git;

use super::{Hands, NOW, Scene, working, write};
use crate::stage;

#[test]
fn whoever_copies_says_how_far_it_is() {
    let scene = Scene::new();
    let (runner, root, home) = (stage::runner(), scene.root(), scene.home());
    let git = Git::new(&runner, &root);
    let mut told = Vec::new();
    let making = Making { root: &root, git: &git, home: &home, caps: Caps::default(), stop: &|| false };
    let scratch = Scratch::make(&making, &mut |progress| told.push(progress)).unwrap();
    assert_eq!(told[0], Progress { files: 0, of: scratch.files(), bytes: 0 });
}

#[test]
fn work_never_takes_the_place_of_somebody_elses_file() {
    let scene = Scene::new();
    let worked = scene.work(|copy| write(&copy.join("a.txt"), "mine\n")).unwrap();
    let proposal = worked.proposal.unwrap();
    let first = keep_patch(Some(&scene.home()), "codex", "app", &proposal, NOW).unwrap().path.unwrap();
    let kept = first.parent().unwrap();
    for number in 2..=2 * KEPT {
        let other = kept.join(format!("2026-01-01T000000Z-codex-{number}.md"));
        fs::write(&other, "somebody else's").unwrap();
    }
    let lost = keep_patch(Some(&scene.home()), "codex", "app", &proposal, NOW).unwrap_err();
    assert!(lost.answer.contains("mine"), "{lost:?}");
    assert!(lost.to_string().contains(&format!("in {}", kept.display())), "{lost}");
    let others = fs::read_dir(kept)
        .unwrap()
        .filter(|entry| fs::read_to_string(entry.as_ref().unwrap().path()).unwrap() == "somebody else's");
    assert_eq!(others.count(), 2 * KEPT - 1);
    // Nobody knows where: it is not lost either.
    let lost = keep_patch(None, "codex", "app", &proposal, NOW).unwrap_err();
    assert!(lost.folder.is_none() && lost.answer.contains("mine"), "{lost:?}");
}

#[test]
fn a_change_of_the_project_itself_is_told_also_with_a_failure() {
    let scene = Scene::new();
    let root = scene.root();
    let deeds = |copy: &std::path::Path| {
        write(&copy.join("a.txt"), "mine\n");
        write(&root.join("stray.txt"), "x\n");
    };
    let worked = scene.ask(&Hands { deeds: &deeds, fails: false }, &root, &working("x")).unwrap();
    assert_eq!(worked.looked.changed.len(), 1, "{:?}", worked.looked.changed);
    fs::remove_file(root.join("stray.txt")).unwrap();
    let failed = scene.ask(&Hands { deeds: &deeds, fails: true }, &root, &working("x")).unwrap_err();
    let WorkError::Changed { error, looked } = failed else { panic!("{failed:?}") };
    assert!(matches!(*error, WorkError::Friend { changed: 1, .. }), "{error:?}");
    assert_eq!((looked.changed[0].path.as_str(), &looked.unseen), ("stray.txt", &None));
}
