//! Paths without the disk, and the patterns that rules have for them: `src/**`, `.env`, `~/notes/*.md`, `/etc/**`.
//!
//! Holds: matching takes time in the product of pattern and text at most; a pattern without `/` in front of its end
//! matches the name in every directory, one with it is anchored at the root, as in `.gitignore`.

use std::path::{Component, Path, PathBuf};

/// Longer ones name nothing.
const MAX_PATH_BYTES: usize = 4096;

/// Without `.` and `..`, as far as that can be told from the text. Above the top nothing is.
pub(super) fn normalise(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// Without `.` and `..`, as the disk has it: behind a link `..` is above where it leads.
pub(super) fn resolve_dots(path: &Path) -> PathBuf {
    if path.as_os_str().len() > MAX_PATH_BYTES {
        return normalise(path);
    }
    let mut plain = PathBuf::new();
    // Links in it were followed.
    let mut is_real = false;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !is_real {
                    plain = resolve_links(&plain);
                    is_real = true;
                }
                plain.pop();
            }
            other => {
                plain.push(other);
                is_real = false;
            }
        }
    }
    plain
}

/// Where a path really leads: links of the part that exists are followed.
pub(super) fn resolve_links(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(real) = existing.canonicalize() {
            return missing.iter().rev().fold(real, |path: PathBuf, name| path.join(name));
        }
        // A link to nothing would be written through.
        if let Ok(target) = existing.read_link() {
            let parent = existing.parent().unwrap_or(Path::new("/"));
            let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_path_buf());
            let target = normalise(&parent.join(target));
            return missing.iter().rev().fold(target, |path: PathBuf, name| path.join(name));
        }
        let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
            return path.to_path_buf();
        };
        missing.push(name);
        existing = parent;
    }
}

/// Whether `*` and `?` of a pattern make it this text. `*` stands for any text, also none.
pub(super) fn matches_glob(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    // Which beginnings of the text the pattern up to here matches.
    let mut reach = vec![false; text.len() + 1];
    reach[0] = true;
    for sign in pattern {
        if sign == '*' {
            let first = reach.iter().position(|reached| *reached).unwrap_or(reach.len());
            reach.iter_mut().skip(first).for_each(|reached| *reached = true);
            continue;
        }
        for at in (0..text.len()).rev() {
            reach[at + 1] = reach[at] && (sign == '?' || sign == text[at]);
        }
        reach[0] = false;
    }
    reach.last().copied().unwrap_or(false)
}

/// The directory in front of the first component with a sign.
pub(super) fn pattern_directory(pattern: &Path) -> PathBuf {
    let plain =
        |component: &Component<'_>| !component.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    pattern.components().take_while(plain).collect()
}

/// A pattern of a rule, ready to be compared with absolute paths.
#[derive(Debug)]
pub(super) struct RulePathPattern {
    /// Absolute, component by component; `**` stands for any number of them.
    components: Vec<String>,
}

impl RulePathPattern {
    pub(super) fn new(pattern: &str, root: &Path, home: Option<&Path>) -> RulePathPattern {
        let beneath_home = pattern.strip_prefix("~/").zip(home);
        let (base, rest) = match beneath_home {
            Some((rest, home)) => (home, rest.to_string()),
            None if pattern.starts_with('/') => (Path::new("/"), pattern.to_string()),
            None => {
                let rest = pattern.strip_prefix("./").unwrap_or(pattern);
                let anchored = pattern.trim_end_matches('/').contains('/');
                (root, if anchored { rest.to_string() } else { format!("**/{rest}") })
            }
        };
        let mut components = path_components(base);
        components
            .extend(rest.split('/').filter(|name| !name.is_empty() && *name != ".").map(str::to_string));
        if pattern.ends_with('/') {
            components.push("**".to_string());
        }
        RulePathPattern { components }
    }

    /// What every path that it names begins with.
    pub(super) fn fixed_beginning(&self) -> PathBuf {
        let fixed = self.components.iter().take_while(|name| !name.contains(['*', '?']));
        fixed.fold(PathBuf::from("/"), |path, name| path.join(name))
    }

    /// Whether it names this path or a directory above it.
    pub(super) fn matches(&self, path: &Path) -> bool {
        let path = path_components(path);
        (1..=path.len()).any(|end| matches_components(&self.components, &path[..end]))
    }

    /// Whether something beneath the directory, or the directory itself, could be named.
    pub(super) fn may_match_beneath(&self, directory: &Path) -> bool {
        let directory = path_components(directory);
        if self.matches_prefix(&directory) {
            return true;
        }
        (1..=directory.len()).any(|end| matches_components(&self.components, &directory[..end]))
    }

    fn matches_prefix(&self, directory: &[String]) -> bool {
        for (at, name) in directory.iter().enumerate() {
            match self.components.get(at) {
                Some(pattern) if pattern == "**" => return true,
                Some(pattern) if matches_glob(pattern, name) => {}
                _ => return false,
            }
        }
        true
    }
}

fn path_components(path: &Path) -> Vec<String> {
    let normal = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    };
    path.components().filter_map(normal).collect()
}

fn matches_components(pattern: &[String], path: &[String]) -> bool {
    let mut reach = vec![false; path.len() + 1];
    reach[0] = true;
    for sign in pattern {
        if sign == "**" {
            let first = reach.iter().position(|reached| *reached).unwrap_or(reach.len());
            reach.iter_mut().skip(first).for_each(|reached| *reached = true);
            continue;
        }
        for at in (0..path.len()).rev() {
            reach[at + 1] = reach[at] && matches_glob(sign, &path[at]);
        }
        reach[0] = false;
    }
    reach.last().copied().unwrap_or(false)
}
