//! What is said while a friend works and after: how far the copying is, what could not be kept, what changed in the
//! project meanwhile.

use std::fs;

use relaycode_friend::work::WorkError;
use relaycode_friend::work::saved_patch::{MAX_SAVED_PATCHES, save_patch};
use relaycode_friend::work::scratch::{ScratchCaps, ScratchCopy, ScratchOptions, ScratchProgress};
use relaycode_project::git::Git;

use super::{Hands, NOW, Scene, working, write};
use crate::keeper_fixture;

#[test]
fn whoever_copies_says_how_far_it_is() {
    let scene = Scene::new();
    let (runner, root, home) = (keeper_fixture::runner(), scene.root(), scene.home());
    let git = Git::new(&runner, &root);
    let mut told = Vec::new();
    let making =
        ScratchOptions { root: &root, git: &git, home: &home, caps: ScratchCaps::default(), stop: &|| false };
    let scratch = ScratchCopy::create(&making, &mut |progress| told.push(progress)).unwrap();
    assert_eq!(told[0], ScratchProgress { files: 0, total: scratch.file_count(), bytes: 0 });
}

#[test]
fn work_never_takes_the_place_of_somebody_elses_file() {
    let scene = Scene::new();
    let worked = scene.work(|copy| write(&copy.join("a.txt"), "mine\n")).unwrap();
    let proposal = worked.proposal.unwrap();
    let first = save_patch(Some(&scene.home()), "codex", "app", &proposal, NOW).unwrap().path.unwrap();
    let kept = first.parent().unwrap();
    for number in 2..=2 * MAX_SAVED_PATCHES {
        let other = kept.join(format!("2026-01-01T000000Z-codex-{number}.md"));
        fs::write(&other, "somebody else's").unwrap();
    }
    let lost = save_patch(Some(&scene.home()), "codex", "app", &proposal, NOW).unwrap_err();
    assert!(lost.answer.contains("mine"), "{lost:?}");
    assert!(lost.to_string().contains(&format!("in {}", kept.display())), "{lost}");
    let others = fs::read_dir(kept)
        .unwrap()
        .filter(|entry| fs::read_to_string(entry.as_ref().unwrap().path()).unwrap() == "somebody else's");
    assert_eq!(others.count(), 2 * MAX_SAVED_PATCHES - 1);
    // Nobody knows where: it is not lost either.
    let lost = save_patch(None, "codex", "app", &proposal, NOW).unwrap_err();
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
    assert_eq!(worked.tree_check.changes.len(), 1, "{:?}", worked.tree_check.changes);
    fs::remove_file(root.join("stray.txt")).unwrap();
    let failed = scene.ask(&Hands { deeds: &deeds, fails: true }, &root, &working("x")).unwrap_err();
    let WorkError::ProjectChanged { error, tree_check: looked } = failed else { panic!("{failed:?}") };
    assert!(matches!(*error, WorkError::Friend { changed: 1, .. }), "{error:?}");
    assert_eq!((looked.changes[0].path.as_str(), &looked.gap), ("stray.txt", &None));
}
