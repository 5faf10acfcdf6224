//! What holds for every dialect in the list.

use super::*;

#[test]
fn names_and_aliases_are_unique_and_found_in_any_case() {
    let mut seen = std::collections::BTreeSet::new();
    for dialect in all() {
        assert!(!dialect.about().is_empty());
        for name in std::iter::once(dialect.name()).chain(dialect.aliases().iter().copied()) {
            assert!(seen.insert(name), "{name} is there twice");
            let found = named(&name.to_ascii_uppercase()).map(|found| found.name());
            assert_eq!(found, Some(dialect.name()));
        }
    }
}
