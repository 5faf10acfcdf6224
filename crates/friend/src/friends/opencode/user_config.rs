//! The user's own settings for opencode, without what runs code. It imports plugins and tools from the user's directories at
//! the first prompt, whatever is switched off (`OPENCODE_PURE` keeps it from calling plugins, not from running their
//! top level). So where the user has some, opencode is given other directories, with a copy of the settings that name none.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use relaycode_durable::private_files::PrivateFolder;
use serde_json::Value;

use super::super::read_settings;
use super::{NAME, PROFILE};
use crate::{FriendContext, TurnResult};

/// Files with settings, in the user's directory.
pub(super) const FILES: [&str; 3] = ["opencode.json", "opencode.jsonc", "config.json"];

/// Directories whose files are run.
const CODE_DIRECTORIES: [&str; 4] = ["plugin", "plugins", "tool", "tools"];

/// Settings that name files or packages to run.
const CODE_SETTINGS: [&str; 2] = ["plugin", "plugins"];

/// Bytes of the settings that are written.
const MOST_BYTES: u64 = 4 << 20;

/// The variables that keep the user's code out; none if there is no such code.
pub(super) fn variables(world: &FriendContext<'_>) -> TurnResult<Vec<(OsString, OsString)>> {
    let Some(config) = config_directory(world) else { return Ok(Vec::new()) };
    let beside_home = home_directory(world).map(|home| home.join(".opencode"));
    let settings = FILES.map(|name| (name, read_settings(&config.join(name))));
    let has_directory = |place: &PathBuf| CODE_DIRECTORIES.iter().any(|name| place.join(name).exists());
    let has_setting = |(_, bytes): &(&str, Option<Vec<u8>>)| {
        // One that cannot be read as JSON may name anything.
        bytes.as_ref().is_some_and(|bytes| parse(bytes).is_none_or(|settings| names_code(&settings)))
    };
    let has_code = has_directory(&config) || beside_home.is_some_and(|place| has_directory(&place));
    if !has_code && !settings.iter().any(has_setting) {
        return Ok(Vec::new());
    }
    let failed = |why: String| PROFILE.failed(format!("your plugins for it cannot be kept out: {why}"));
    let own =
        world.home.as_deref().ok_or_else(|| failed("with RELAY_HOME set, they could be".to_string()))?;
    let place = own.join("friends").join(NAME).join("config");
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(place.join("home"));
    made.map_err(|error| failed(format!("{}: {error}", place.display())))?;
    let folder = PrivateFolder::new(Some(own), "friends/opencode/config/opencode", MOST_BYTES).into_secret();
    for (name, bytes) in settings {
        let Some(bytes) = bytes else {
            folder.remove(name).map_err(|error| failed(error.to_string()))?;
            continue;
        };
        let mut settings =
            parse(&bytes).ok_or_else(|| failed(format!("{} is no JSON", config.join(name).display())))?;
        if let Some(settings) = settings.as_object_mut() {
            CODE_SETTINGS.iter().for_each(|name| _ = settings.remove(*name));
        }
        let text = with_absolute_files(&settings.to_string(), &config);
        folder.write(name, text.as_bytes()).map_err(|error| failed(error.to_string()))?;
    }
    Ok(vec![
        ("XDG_CONFIG_HOME".into(), place.clone().into()),
        // Where it looks for `.opencode`; what it keeps, and its sign-in, are elsewhere.
        ("OPENCODE_TEST_HOME".into(), place.join("home").into()),
    ])
}

/// Variables that name further settings, as far as those would run code.
pub(super) fn dropped_variables(world: &FriendContext<'_>) -> Vec<OsString> {
    let path = |name: &str| (world.env_var)(name).map(PathBuf::from);
    let file_runs = |file: PathBuf| {
        read_settings(&file).is_some_and(|bytes| parse(&bytes).is_none_or(|settings| names_code(&settings)))
    };
    let folder_runs = |folder: PathBuf| {
        CODE_DIRECTORIES.iter().any(|name| folder.join(name).exists())
            || FILES.iter().any(|name| file_runs(folder.join(name)))
    };
    let file = path("OPENCODE_CONFIG").is_some_and(file_runs).then(|| "OPENCODE_CONFIG".into());
    let folder = path("OPENCODE_CONFIG_DIR").is_some_and(folder_runs).then(|| "OPENCODE_CONFIG_DIR".into());
    file.into_iter().chain(folder).collect()
}

/// Where the user's settings for opencode are.
pub(super) fn config_directory(world: &FriendContext<'_>) -> Option<PathBuf> {
    let set = (world.env_var)("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = set.or_else(|| home_directory(world).map(|home| home.join(".config")))?;
    Some(config.join(NAME))
}

fn home_directory(world: &FriendContext<'_>) -> Option<PathBuf> {
    (world.env_var)("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

fn names_code(settings: &Value) -> bool {
    CODE_SETTINGS.iter().any(|name| settings.get(name).is_some())
}

/// Settings as opencode reads them: JSON with comments and commas at an end.
fn parse(bytes: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(bytes).ok()?;
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_comments(text))).ok()
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == '"' {
            let end = string_end(rest);
            out.push_str(&rest[..end]);
            end
        } else {
            if matches!(c, '}' | ']') {
                let kept = out.trim_end().trim_end_matches(',').len();
                out.truncate(kept);
            }
            out.push(c);
            c.len_utf8()
        };
        rest = &rest[skipped..];
    }
    out
}

/// Where the string ends with which a text begins.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// `{file:./key}` is meant beside the settings, which are elsewhere now.
fn with_absolute_files(text: &str, config: &Path) -> String {
    const FILE: &str = "{file:";
    let Some(config) = config.to_str().filter(|path| !path.contains(['"', '\\'])) else {
        return text.to_string();
    };
    let mut pieces = text.split(FILE);
    let mut out = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        out.push_str(FILE);
        if !piece.starts_with(['/', '~']) {
            out.push_str(&format!("{config}/"));
        }
        out.push_str(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn variables_in(home: &Path, own: Option<&Path>) -> TurnResult<Vec<(OsString, OsString)>> {
        let home = OsString::from(home);
        let env_var = |name: &str| (name == "HOME").then(|| home.clone());
        let world = FriendContext {
            runner: relaycode_exec::Runner::new("/bin/false".into()),
            home: own.map(Path::to_path_buf),
            env_var: &env_var,
            stop_requested: &|| false,
            depth: 0,
        };
        variables(&world)
    }

    #[test]
    fn settings_without_code_are_left_as_they_are() {
        let place = tempfile::tempdir().unwrap();
        let config = place.path().join(".config/opencode");
        fs::create_dir_all(&config).unwrap();
        assert_eq!(variables_in(place.path(), None).unwrap(), []);
        fs::write(config.join("opencode.jsonc"), "{\"model\": \"a/b\", // mine\n}").unwrap();
        assert_eq!(variables_in(place.path(), None).unwrap(), []);
    }

    #[test]
    fn code_is_kept_out_and_the_other_settings_stay() {
        let place = tempfile::tempdir().unwrap();
        let (home, own) = (place.path().join("user"), place.path().join("relay"));
        let config = home.join(".config/opencode");
        fs::create_dir_all(&config).unwrap();
        let text =
            "{\"plugin\": [\"x\"], /* mine */ \"model\": \"a//b\", \"k\": \"{file:./key} {file:/abs}\",}";
        fs::write(config.join("opencode.json"), text).unwrap();
        assert!(variables_in(&home, None).is_err());
        let set = variables_in(&home, Some(&own)).unwrap();
        let written = own.join("friends/opencode/config/opencode/opencode.json");
        assert_eq!(PathBuf::from(&set[0].1).join("opencode/opencode.json"), written);
        let settings: Value = serde_json::from_slice(&fs::read(&written).unwrap()).unwrap();
        let key = format!("{{file:{}/./key}} {{file:/abs}}", config.display());
        assert_eq!(settings, json!({"model": "a//b", "k": key}));
        // What is gone there is gone here, and a directory with code is reason enough.
        fs::remove_file(config.join("opencode.json")).unwrap();
        fs::create_dir_all(home.join(".opencode/tool")).unwrap();
        assert_eq!(variables_in(&home, Some(&own)).unwrap().len(), 2);
        assert!(!written.exists());
    }
}
