//! The law: whatever a friend does to the ordinary files of its copy, after a yes the project is what the copy
//! was, byte by byte and bit by bit; and reverting it brings the project back.
//!
//! `RELAY_WORKS=200 cargo test -p relaycode-friend --test it laws` runs more. A failure names its number.

use std::fs;

use relaycode_testkit::random::Random;

use super::*;

const SEED: u64 = 7;

fn count() -> u64 {
    std::env::var("RELAY_WORKS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

fn content(random: &mut Random) -> Vec<u8> {
    let lines = 1 + random.below(30);
    let end = *random.pick(&["\n", "\r\n"]);
    let mut text: Vec<u8> = Vec::new();
    for _ in 0..lines {
        text.extend(format!("line {}{end}", random.below(1_000)).bytes());
    }
    match random.below(6) {
        0 => text.truncate(text.len() - end.len()),
        1 => text.extend([0, 255, 254]),
        2 => text.extend(b"caf\xe9\n"),
        3 => text.clear(),
        _ => {}
    }
    text
}

fn name(random: &mut Random) -> String {
    let folder = *random.pick(&["", "src/", "src/deep/er/", "lib/", "docs/ü/"]);
    format!("{folder}f{}.txt", random.below(40))
}

#[test]
fn the_project_becomes_what_the_copy_was_and_reverting_brings_it_back() {
    for case in 0..count() {
        let scene = if case % 3 == 2 { Scene::bare() } else { Scene::new() };
        let random = &mut Random::of_case(SEED, case);
        for _ in 0..random.below(25) {
            let name = name(random);
            scene.write(&name, content(random));
            run_bit(&scene.root().join(&name), random.once_in(4));
        }
        let before = files(&scene.root());
        let random = Mutex::new(Random::of_case(SEED + 1, case));
        let after: Mutex<Option<Tree>> = Mutex::default();
        let worked = scene
            .work(|copy| {
                let random = &mut *random.lock().unwrap();
                for _ in 0..1 + random.below(12) {
                    let there: Vec<String> = files(copy).into_keys().collect();
                    let path = copy.join(name(random));
                    match (random.below(5), there.is_empty()) {
                        (0, false) => fs::remove_file(copy.join(random.pick(&there))).unwrap(),
                        (1, false) if !path.exists() => {
                            fs::create_dir_all(path.parent().unwrap()).unwrap();
                            fs::rename(copy.join(random.pick(&there)), &path).unwrap();
                        }
                        (2, false) => run_bit(&copy.join(random.pick(&there)), random.once_in(2)),
                        (3, false) => {
                            let file = copy.join(random.pick(&there));
                            let mut bytes = fs::read(&file).unwrap();
                            bytes.extend(content(random));
                            fs::write(file, bytes).unwrap();
                        }
                        _ => write(&path, content(random)),
                    }
                }
                *after.lock().unwrap() = Some(files(copy));
            })
            .unwrap_or_else(|error| panic!("case {case}: {error}"));
        let after = after.into_inner().unwrap().unwrap();
        assert_eq!(worked.proposal.is_none(), before == after, "case {case}");
        if worked.proposal.is_none() {
            continue;
        }
        let done = scene
            .submit(&worked, &relaycode_door::rules::allowable().map(|rule| rule.name).collect::<Vec<_>>());
        assert!(matches!(done, SubmitOutcome::Applied(_)), "case {case}: {done:?}");
        assert!(files(&scene.root()) == after, "case {case}");
        scene.revert();
        assert!(files(&scene.root()) == before, "case {case}: not reverted");
    }
}
