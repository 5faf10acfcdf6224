//! Addresses such as `artifact://3` in a command and its variables: each that leads to a file is replaced by the path of a copy,
//! which lies where the command may read, in its fence too. What leads nowhere stays as it is, and the program says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::BashInput;
use crate::internal_urls::{known_schemes, route};
use crate::tool::ToolError;
use crate::workspace::ToolWorkspace;

/// Different addresses in one call.
const MAX_ADDRESSES: usize = 50;

/// A command and its variables as they run.
pub(super) struct PlacedAddresses {
    pub command: String,
    pub variables: BTreeMap<String, String>,
    /// What stands for what, for the model.
    pub notes: Vec<String>,
}

/// Replaces the addresses in a call. `directory` is private to this session's commands.
///
/// # Errors
/// If there are too many, or a file cannot be copied.
pub(super) fn place(
    input: &BashInput,
    workspace: &ToolWorkspace,
    directory: &Path,
) -> Result<PlacedAddresses, ToolError> {
    let mut placed = PlacedAddresses {
        command: input.command.clone(),
        variables: input.env.clone().unwrap_or_default(),
        notes: Vec::new(),
    };
    let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
    for text in std::iter::once(&placed.command).chain(placed.variables.values()) {
        for (at, length) in find_addresses(text) {
            let address = &text[at..at + length];
            if let Some((urls, rest)) = route(address)
                && let Ok(file) = urls.file(rest, workspace)
            {
                files.insert(address.to_string(), file);
            }
        }
    }
    if files.is_empty() {
        return Ok(placed);
    }
    if files.len() > MAX_ADDRESSES {
        return Err(ToolError::refused(format!(
            "more than {MAX_ADDRESSES} different addresses in one command"
        )));
    }
    let mut paths: BTreeMap<&str, String> = BTreeMap::new();
    for (address, file) in &files {
        let copy = copy_file(file, directory).map_err(|error| {
            ToolError::refused(format!("`{address}` cannot be copied for the command: {error}"))
        })?;
        let copy = copy.to_string_lossy().into_owned();
        placed.notes.push(format!("{address} stands for a copy: {copy}"));
        paths.insert(address, copy);
    }
    placed.command = replace(&placed.command, |address| Some(shell_quoted(paths.get(address)?)));
    for value in placed.variables.values_mut() {
        // A value is no piece of shell: nothing in it is taken apart.
        *value = replace(value, |address| paths.get(address).cloned());
    }
    Ok(placed)
}

fn replace(text: &str, path: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, length) in find_addresses(text) {
        if let Some(path) = path(&text[at..at + length]) {
            out.push_str(&text[done..at]);
            out.push_str(&path);
            done = at + length;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Where addresses stand: a known scheme that begins a word, `://`, and a number.
fn find_addresses(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, sign) in text.match_indices("://") {
        let before = &text[..at];
        let Some(scheme) = known_schemes().find(|scheme| before.ends_with(scheme)) else { continue };
        let begin = at - scheme.len();
        let goes_on = |c: char| c.is_ascii_alphanumeric() || "_+.-/:".contains(c);
        if text[..begin].ends_with(goes_on) {
            continue;
        }
        let rest = &text[at + sign.len()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let is_whole = !rest[digits..].starts_with(|c: char| c.is_ascii_alphanumeric() || "_-/:".contains(c));
        if digits > 0 && is_whole {
            found.push((begin, at + sign.len() + digits - begin));
        }
    }
    found
}

/// A path as one word of the shell. One without special characters stands as it is, so that it may be in quotes already.
fn shell_quoted(path: &str) -> String {
    let is_plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+,@%".contains(&byte));
    if is_plain { path.to_string() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Under its own name. What a command put at that name is removed, and a link there is not followed.
fn copy_file(file: &Path, directory: &Path) -> std::io::Result<PathBuf> {
    let name = file.file_name().unwrap_or_default();
    let copy = directory.join(name);
    match std::fs::remove_file(&copy) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut into = std::fs::File::create_new(&copy)?;
    std::io::copy(&mut std::fs::File::open(file)?, &mut into)?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        find_addresses(text).into_iter().map(|(at, length)| &text[at..at + length]).collect()
    }

    #[test]
    fn addresses_are_whole_words() {
        assert_eq!(found("diff artifact://1 <(sort 'artifact://22')"), ["artifact://1", "artifact://22"]);
        assert_eq!(found("x=artifact://3; echo \"$x\""), ["artifact://3"]);
        for none in [
            "artifact://",
            "artifact://x",
            "artifact://3x",
            "artifact://3/y",
            "artifact://3:5",
            "my-artifact://3",
            "https://3",
            "file:artifact://1",
        ] {
            assert_eq!(found(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn a_path_is_one_word_whatever_is_in_it() {
        assert_eq!(shell_quoted("/tmp/relay-shell-0/3.bash.log"), "/tmp/relay-shell-0/3.bash.log");
        assert_eq!(shell_quoted("/t m/it's"), "'/t m/it'\\''s'");
    }

    #[test]
    fn a_link_that_a_command_left_at_the_name_is_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let (file, victim) = (scratch.path().join("3.bash.log"), scratch.path().join("victim"));
        std::fs::write(&file, "said").unwrap();
        std::fs::write(&victim, "mine").unwrap();
        let directory = scratch.path().join("own");
        std::fs::create_dir(&directory).unwrap();
        std::os::unix::fs::symlink(&victim, directory.join("3.bash.log")).unwrap();
        let copy = copy_file(&file, &directory).unwrap();
        assert_eq!(std::fs::read_to_string(copy).unwrap(), "said");
        assert_eq!(std::fs::read_to_string(victim).unwrap(), "mine");
    }
}
