//! The demo is the first thing a newcomer runs.

use std::fs;
use std::time::Instant;

use crate::relay::Project;

#[test]
fn the_demo_runs_by_itself_and_leaves_nothing() {
    let project = Project::new(&[]);
    let start = Instant::now();
    let ran = project.relay(&["demo", "--auto"]);
    assert!(start.elapsed().as_secs() < 10);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "$ relay preview good.md\n",
        "feat: round totals to cents",
        "re-tabbed",
        "$ relay preview stale.md --repair --quiet\n",
        "Your answer could not be applied",
        "$ relay apply good.md -y\n",
        "✓ applied 5d1c2f7e · 2 files",
        "✓ reverted 5d1c2f7e · src/cart.ts also has 1 later edit of yours: kept\n",
        "↩ 5d1c2f7e",
        "next: save an answer",
    ] {
        assert!(ran.out.contains(part), "{part:?} is missing in\n{}", ran.out);
    }
    assert!(ran.err.contains("does not match"), "{}", ran.err);
    assert!(ran.err.contains("2 times"), "{}", ran.err);
    let left: Vec<_> = fs::read_dir(project.path(".")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_scratch_project_can_be_kept() {
    let project = Project::new(&[]);
    let ran = project.relay(&["demo", "--auto", "--keep"]);
    assert_eq!(ran.code, 0);
    let said = ran.out.lines().last().unwrap();
    let kept = said.strip_prefix("the scratch project is in ").unwrap();
    assert!(std::path::Path::new(kept).join("src/cart.ts").exists());
}
