//! Everything that relay is built from may be given away under relay's own licences.
//!
//! The expression of each dependency is evaluated against [`ALLOWED`]; a crate under another
//! licence, or without one, is named in a list with the reason, or the run fails.

use super::{Verdict, spdx};
use crate::workspace::{Package, Workspace};

/// Licences that any dependency may have.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// Licences that only the named crates may have, with the reason why that is well: MPL-2.0, for
/// one, asks for the sources of changed files, and these are used unchanged.
const FOR_ONE_CRATE: &[(&str, &str, &str)] = &[];

/// Crates that name no licence in their manifest, and where it stands instead.
const WITHOUT_EXPRESSION: &[(&str, &str)] = &[];

pub(super) fn check(workspace: &Workspace) -> Verdict {
    let others: Vec<&Package> = workspace.packages.iter().filter(|package| !package.is_member).collect();
    Verdict {
        looked_at: format!("{} dependencies, every platform", others.len()),
        problems: others
            .iter()
            .filter_map(|package| {
                problem(&package.name, package.license.as_deref()).map(|reason| {
                    format!("{} {} {reason} (xtask/src/tidy/licences.rs)", package.name, package.version)
                })
            })
            .collect(),
        warnings: Vec::new(),
    }
}

fn problem(name: &str, licence: Option<&str>) -> Option<String> {
    let Some(licence) = licence else {
        let known = WITHOUT_EXPRESSION.iter().any(|(known, _)| *known == name);
        return (!known).then(|| {
            "names no licence: read its licence file, then list it in WITHOUT_EXPRESSION or do without it"
                .to_owned()
        });
    };
    let allowed = |one: &str| {
        ALLOWED.contains(&one) || FOR_ONE_CRATE.iter().any(|(id, krate, _)| *id == one && *krate == name)
    };
    match spdx::permits(licence, &allowed) {
        Ok(true) => None,
        Ok(false) => {
            Some(format!("is under `{licence}`, which is not allowed: do without it, or decide and list it"))
        }
        Err(error) => Some(format!("has the licence `{licence}`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn permissive_choices_pass() {
        assert_eq!(problem("a", Some("MIT OR Apache-2.0")), None);
        assert_eq!(problem("a", Some("MIT/Apache-2.0")), None);
        assert_eq!(problem("a", Some("MIT OR LGPL-2.1-or-later")), None);
    }

    #[test]
    fn everything_else_is_named() {
        assert!(problem("a", Some("GPL-3.0-only")).is_some_and(|p| p.contains("not allowed")));
        assert!(problem("a", Some("MIT AND MPL-2.0")).is_some());
        assert!(problem("a", Some("MIT OR")).is_some_and(|p| p.contains("ends")));
        assert!(problem("a", None).is_some_and(|p| p.contains("names no licence")));
    }
}
