//! The patterns of the list: components separated by `/`, at any depth of a path, because projects lie in
//! projects. `*` stands for anything within a component, once. A `/` at the end makes a directory with all that
//! is in it, and also a file in its place.

/// Whether a path, in plain components, is what the pattern means.
pub fn matches_path(pattern: &str, path: &[String]) -> bool {
    let directory = pattern.ends_with('/');
    let parts = pattern.trim_end_matches('/');
    let count = 1 + parts.bytes().filter(|byte| *byte == b'/').count();
    let Some(last) = path.len().checked_sub(count) else { return false };
    let here =
        |start: usize| parts.split('/').zip(&path[start..]).all(|(part, name)| matches_component(part, name));
    if directory { (0..=last).any(here) } else { here(last) }
}

/// Whether a component is what the pattern means, also by a short name.
pub fn matches_component(pattern: &str, name: &str) -> bool {
    let written = match pattern.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => name == pattern,
    };
    written || (name.contains('~') && matches_short_name(pattern, name))
}

/// Whether `name` can be the short name (`GITHUB~1`) that some systems give to a file of that pattern: the
/// beginning of the name without dots, `~` and a number, and the beginning of the ending.
fn matches_short_name(pattern: &str, name: &str) -> bool {
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let Some((stem, number)) = stem.rsplit_once('~') else { return false };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) || stem.is_empty() {
        return false;
    }
    let bare = pattern.trim_start_matches('.');
    let (long_stem, long_ending) = match bare.rsplit_once('.') {
        Some((stem, ending)) => (stem.replace('.', ""), ending),
        None => (bare.to_owned(), ""),
    };
    let ending_fits = match long_ending.split_once('*') {
        Some((fixed, _)) => ending.starts_with(fixed) || fixed.starts_with(ending),
        None if bare.ends_with('*') => true,
        None => long_ending.get(..3).unwrap_or(long_ending) == ending,
    };
    ending_fits && matches_short_stem(&long_stem, stem)
}

fn matches_short_stem(long: &str, short: &str) -> bool {
    let fixed = long.split('*').next().unwrap_or(long);
    let prefix = if fixed.len() < long.len() {
        short.starts_with(fixed) || fixed.starts_with(short)
    } else {
        fixed.starts_with(short)
    };
    // After a few of the same beginning only two letters stay, and four digits of a sum follow.
    let summed = short.len() == 6
        && short.is_char_boundary(2)
        && long.starts_with(&short[..2])
        && short[2..].bytes().all(|byte| byte.is_ascii_hexdigit());
    prefix || summed
}
