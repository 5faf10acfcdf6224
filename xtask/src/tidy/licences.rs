//! Everything that relay is built from may be given away under relay's own licences.
//!
//! The expression of each dependency is evaluated against [`ALLOWED`]; a crate under another
//! licence, or without one, is named in a list with the reason, or the run fails.

use spdx::{Expression, ParseMode};

use super::Verdict;
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

/// How expressions may be written: `MIT/Apache-2.0`, and names that have been replaced since, are still in use.
const MODE: ParseMode =
    ParseMode { allow_slash_as_or_operator: true, allow_deprecated: true, ..ParseMode::STRICT };

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
    // A licence with an exception is one name: allowing the licence does not allow it with every exception.
    match Expression::parse_mode(licence, MODE) {
        Ok(expression) if expression.evaluate(|one| allowed(&one.to_string())) => None,
        Ok(_) => {
            Some(format!("is under `{licence}`, which is not allowed: do without it, or decide and list it"))
        }
        Err(error) => Some(format!("has the licence `{licence}`: {}", error.reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn permissive_choices_pass() {
        for licence in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "MIT OR LGPL-2.1-or-later",
            "GPL-3.0/MIT",
            "MIT OR Zlib AND GPL-3.0",
            "GPL-3.0 AND Zlib OR MIT",
            "((MIT) AND (GPL-3.0 OR Zlib))",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert_eq!(problem("a", Some(licence)), None);
        }
    }

    #[test]
    fn everything_else_is_named() {
        for licence in [
            "GPL-3.0-only",
            "GPL-3.0",
            "MIT AND MPL-2.0",
            "(MIT OR Zlib) AND GPL-3.0",
            "MIT WITH LLVM-exception",
            "GPL-2.0-only WITH Classpath-exception-2.0",
        ] {
            assert!(problem("a", Some(licence)).is_some_and(|p| p.contains("not allowed")), "{licence}");
        }
        assert!(problem("a", None).is_some_and(|p| p.contains("names no licence")));
    }

    #[test]
    fn a_broken_expression_is_an_error_whatever_stands_in_it() {
        let deep = "(".repeat(100_000);
        for licence in [
            "",
            "MIT OR",
            "MIT OR AND",
            "MIT Zlib",
            "(MIT",
            "(MIT Zlib)",
            "MIT)",
            "MIT WITH",
            "MIT OR MTI",
            &deep,
        ] {
            assert!(problem("a", Some(licence)).is_some_and(|p| p.contains("has the licence")), "{licence}");
        }
    }
}
