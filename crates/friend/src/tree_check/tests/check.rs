//! What the second look says of what it could not see.

use super::*;
use crate::tree_check::{TreeCheck, TreeCheckGap};

fn begin(root: &Path) -> TreeCheck {
    TreeCheck::begin(root, None, &|| false).unwrap()
}

#[test]
fn everything_was_looked_at_or_it_is_said_what_was_not() {
    let (_dir, root) = project();
    let watch = begin(&root);
    fs::write(root.join("new"), "").unwrap();
    let looked = watch.finish(&|| false);
    assert_eq!((looked.changes.len(), &looked.gap), (1, &None));
    assert!(looked.needs_attention() && !looked.is_unchanged());
    let nowhere = begin(&root.join("none")).finish(&|| false);
    assert!(
        matches!(&nowhere.gap, Some(TreeCheckGap::NoBaseline(why)) if why.contains("none")),
        "{nowhere:?}"
    );
    assert!(!nowhere.needs_attention() && !nowhere.is_unchanged());
    assert!(matches!(TreeCheck::begin(&root, None, &|| true), Err(TreeCheckError::Cancelled)));
}

#[test]
fn after_a_stop_it_is_looked_at_for_a_while_and_then_not_known() {
    let (_dir, root) = project();
    let (first, second) = (begin(&root), begin(&root));
    fs::write(root.join("new"), "").unwrap();
    assert_eq!(first.finish_within(Duration::from_secs(60), &|| true).changes.len(), 1);
    let broken_off = second.finish_within(Duration::ZERO, &|| true);
    assert!(
        matches!(&broken_off.gap, Some(TreeCheckGap::RescanFailed(_))) && broken_off.needs_attention(),
        "{broken_off:?}"
    );
    assert!(broken_off.gap.unwrap().to_string().contains("the second look failed"));
}

#[test]
fn places_that_cannot_be_looked_into_are_named_whenever_they_came() {
    let (_dir, root) = project();
    // So deep that nobody goes there, whatever their rights.
    let deep = |name: &str| {
        let path = (0..1_100).fold(root.join(name), |path, _| path.join("d"));
        fs::create_dir_all(path).unwrap();
    };
    deep("first");
    let watch = begin(&root);
    deep("second");
    let looked = watch.finish(&|| false);
    let Some(TreeCheckGap::PartlyUnread(places)) = looked.gap else { panic!() };
    assert!(
        places.len() == 2 && places[0].starts_with("first/d") && places[1].starts_with("second/d"),
        "{places:?}"
    );
    let said = TreeCheckGap::PartlyUnread(places).to_string();
    assert!(said.ends_with("and 1 more cannot be looked into"), "{said}");
}
