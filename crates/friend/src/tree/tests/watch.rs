//! What the second look says of what it could not see.

use super::*;
use crate::tree::{Unseen, Watch};

fn begin(root: &Path) -> Watch {
    Watch::begin(root, None, &|| false).unwrap()
}

#[test]
fn everything_was_looked_at_or_it_is_said_what_was_not() {
    let (_dir, root) = project();
    let watch = begin(&root);
    fs::write(root.join("new"), "").unwrap();
    let looked = watch.end(&|| false);
    assert_eq!((looked.changed.len(), &looked.unseen), (1, &None));
    assert!(looked.needs_a_look() && !looked.is_unchanged());
    let nowhere = begin(&root.join("none")).end(&|| false);
    assert!(matches!(&nowhere.unseen, Some(Unseen::Blind(why)) if why.contains("none")), "{nowhere:?}");
    assert!(!nowhere.needs_a_look() && !nowhere.is_unchanged());
    assert!(matches!(Watch::begin(&root, None, &|| true), Err(TreeError::Stopped)));
}

#[test]
fn after_a_stop_it_is_looked_at_for_a_while_and_then_not_known() {
    let (_dir, root) = project();
    let (first, second) = (begin(&root), begin(&root));
    fs::write(root.join("new"), "").unwrap();
    assert_eq!(first.end_within(Duration::from_secs(60), &|| true).changed.len(), 1);
    let broken_off = second.end_within(Duration::ZERO, &|| true);
    assert!(
        matches!(&broken_off.unseen, Some(Unseen::Lost(_))) && broken_off.needs_a_look(),
        "{broken_off:?}"
    );
    assert!(broken_off.unseen.unwrap().to_string().contains("the second look failed"));
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
    let looked = watch.end(&|| false);
    let Some(Unseen::Partly(places)) = looked.unseen else { panic!() };
    assert!(
        places.len() == 2 && places[0].starts_with("first/d") && places[1].starts_with("second/d"),
        "{places:?}"
    );
    let said = Unseen::Partly(places).to_string();
    assert!(said.ends_with("and 1 more cannot be looked into"), "{said}");
}
