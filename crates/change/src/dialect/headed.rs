//! Two names for the file of one block: in its header, and inside of it. If they do not mean the same file, nobody can
//! tell which of the two is to be changed.

use super::DialectError;
use crate::proposal::path::RelPath;

/// Names that say which side of a diff it is, and no file.
const SIDES: &[&str] =
    &["after", "before", "current", "file", "modified", "new", "old", "original", "previous", "updated"];

/// How copies of a file are called beside it.
const COPIES: &[&str] = &[".orig", ".old", ".new", ".bak", ".original", ".modified", ".updated"];

/// Whether the name on one side of a diff is none.
pub(super) fn is_side(name: &str) -> bool {
    let bare = without_prefix(name.trim());
    bare.starts_with("path/to/") || SIDES.contains(&bare.split('.').next().unwrap_or(bare))
}

/// Whether a name inside of a block means the file that its header names. A prefix as git writes it (`a/`), `./`, and
/// directories above the project or left out below it make no difference.
pub(crate) fn is_headed(headed: &RelPath, name: &str) -> bool {
    let name = name.trim().replace('\\', "/");
    let is_absolute = name.starts_with('/') || name.starts_with('~') || name.get(1..3) == Some(":/");
    let name = name.trim_start_matches("./");
    let name = COPIES.iter().find_map(|copy| name.strip_suffix(copy)).unwrap_or(name);
    let bare = without_prefix(name);
    let headed = headed.as_str();
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|above| above.is_empty() || above.ends_with('/'))
    };
    // A name alone stands in many directories.
    let names_place = headed.contains('/') || is_absolute;
    [name, bare].into_iter().any(|name| ends_with(headed, name) || (names_place && ends_with(name, headed)))
}

/// Without a prefix of one letter.
fn without_prefix(name: &str) -> &str {
    let (prefix, rest) = name.split_once('/').unwrap_or_default();
    if prefix.len() == 1 { rest.trim_start_matches("./") } else { name }
}

/// # Errors
/// If a name inside of a block means another file than its header.
pub(super) fn check_headed(
    headed: &RelPath,
    line: usize,
    what: &str,
    name: &str,
) -> Result<(), DialectError> {
    if is_headed(headed, name) {
        return Ok(());
    }
    let name = name.escape_debug();
    Err(DialectError::at(line, format!("the block is headed `{headed}`, but its {what} names `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_file_are_told_from_another_file() {
        let is = |headed: &str, name: &str| is_headed(&RelPath::parse(headed).unwrap(), name);
        for (headed, name) in [
            ("src/a.ts", "src/a.ts"),
            ("src/a.ts", "b/src/a.ts"),
            ("src/a.ts", "./src/a.ts"),
            ("src/a.ts", "src\\a.ts"),
            ("src/a.ts", "a.ts"),
            ("src/a.ts", "a/a.ts"),
            ("src/a.ts", "shop/src/a.ts"),
            ("src/a.ts", "/home/me/shop/src/a.ts"),
            ("a.ts", "/home/me/shop/a.ts"),
            ("src/a.ts", "src/a.ts.orig"),
        ] {
            assert!(is(headed, name), "{headed} {name}");
        }
        for (headed, name) in [
            ("a.ts", "b.ts"),
            ("a.ts", "a/b.ts"),
            ("src/a.ts", "lib/a.ts"),
            ("a.ts", "src/a.ts"),
            ("a.ts", "aa.ts"),
        ] {
            assert!(!is(headed, name), "{headed} {name}");
        }
        assert!(["original", "a/old.ts", "b/path/to/file.ts"].into_iter().all(is_side));
        assert!(!["a/a.ts", "b.ts", "oldest.ts"].into_iter().any(is_side));
    }
}
