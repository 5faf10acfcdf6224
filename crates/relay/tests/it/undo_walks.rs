//! Random walks of apply, record, undo, redo, revert and own edits: some of those that `cargo xtask torture --only walks`
//! takes. `RELAY_WALK=NUMBER` takes one alone.

use relaycode_testkit::random::Random;
use relaycode_testkit::undo_walk::{UndoWalk, UndoWalkCount};

use crate::fixture::scratch_project::Project;

const WALKS: u64 = 60;
const STEPS: usize = 8;
const SEED: u64 = 17;

#[test]
fn sixty_walks_keep_what_undo_and_redo_promise() {
    let only: Option<u64> = std::env::var("RELAY_WALK").ok().and_then(|number| number.parse().ok());
    let walks = only.map_or(0..WALKS, |number| number..number + 1);
    let mut total = UndoWalkCount::default();
    for number in walks {
        let project = Project::new(&[]);
        let relay = |args: &[&str], input: &str| {
            let ran = project.pipe(args, input.as_bytes());
            (ran.code, ran.out)
        };
        let walk = UndoWalk::new(Random::of_case(SEED, number), &project.path(""), &relay);
        let count = walk
            .run(STEPS)
            .unwrap_or_else(|said| panic!("walk {number}: {said}\nreplay: RELAY_WALK={number}"));
        total.undone += count.undone;
        total.redone += count.redone;
    }
    assert!(only.is_some() || (total.undone > 60 && total.redone > 30), "{total:?}");
}
