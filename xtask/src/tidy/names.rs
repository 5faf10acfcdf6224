//! The name of a type says which one it is: whoever reads it in a message or in a search finds one definition, not ten.

use std::collections::BTreeMap;

use super::Verdict;
use crate::workspace::{ProductType, Workspace};

/// Of a hundred types so many have different names, at least.
const DISTINCT_PERCENT: f64 = 85.0;

/// So many types may share a name.
const SAME_NAME_MOST: usize = 3;

/// Names that may stand more often, each with the reason why a prefix would say nothing.
const CONVENTIONAL: &[(&str, &str)] = &[];

pub(super) fn check(workspace: &Workspace) -> Verdict {
    judge(&workspace.product_types())
}

fn judge(types: &[ProductType]) -> Verdict {
    let count = NameCount::of(types);
    let percent = count.distinct as f64 * 100.0 / types.len().max(1) as f64;
    let mut problems: Vec<String> = count
        .places
        .iter()
        .filter(|(_, places)| places.len() > SAME_NAME_MOST)
        .filter(|(name, _)| CONVENTIONAL.iter().all(|(known, _)| known != *name))
        .map(|(name, places)| {
            format!(
                "{} types are called `{name}`, at most {SAME_NAME_MOST} may be: {}",
                places.len(),
                places.join(", ")
            )
        })
        .collect();
    if percent < DISTINCT_PERCENT {
        problems.push(format!(
            "{percent:.1} % of the types have different names, {DISTINCT_PERCENT} % at least should: give those that share one \
             a prefix that says which it is"
        ));
    }
    Verdict {
        looked_at: format!(
            "{} types, {percent:.1} % different names, {:.1} % that no other type has",
            types.len(),
            count.unique as f64 * 100.0 / types.len().max(1) as f64
        ),
        problems,
        warnings: Vec::new(),
    }
}

/// How types are called.
pub(crate) struct NameCount<'t> {
    /// Names.
    pub(crate) distinct: usize,
    /// Names that one type has alone.
    pub(crate) unique: usize,
    places: BTreeMap<&'t str, Vec<String>>,
}

impl<'t> NameCount<'t> {
    /// Counts them.
    pub(crate) fn of(types: &'t [ProductType]) -> NameCount<'t> {
        let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for one in types {
            places.entry(&one.name).or_default().push(format!("{}:{}", one.path, one.line));
        }
        let unique = places.values().filter(|places| places.len() == 1).count();
        NameCount { distinct: places.len(), unique, places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(names: &[&str]) -> Vec<ProductType> {
        let one = |(at, name): (usize, &&str)| ProductType {
            name: (*name).to_owned(),
            path: "a.rs".to_owned(),
            line: at + 1,
        };
        names.iter().enumerate().map(one).collect()
    }

    #[test]
    fn a_name_that_stands_too_often_is_named_with_its_places() {
        let mut names = vec!["Row"; SAME_NAME_MOST];
        let others: Vec<String> = (0..50).map(|number| format!("Type{number}")).collect();
        names.extend(others.iter().map(String::as_str));
        assert_eq!(judge(&types(&names)).problems, Vec::<String>::new());
        names.push("Row");
        let problems = judge(&types(&names)).problems;
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("4 types are called `Row`") && problems[0].contains("a.rs:54"));
    }

    #[test]
    fn too_few_different_names_are_a_problem() {
        let verdict = judge(&types(&["A", "A", "B", "B", "C"]));
        assert!(verdict.problems[0].starts_with("60.0 % of the types"));
        assert_eq!(verdict.looked_at, "5 types, 60.0 % different names, 20.0 % that no other type has");
    }
}
