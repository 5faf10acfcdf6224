//! The home that relay gives Gemini: settings and rules of ours, and the user's way to sign in.
//!
//! Nothing of the user's own is changed here; credentials are lent by links.

use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::{fs, io};

use relaycode_project::access::Access;
use relaycode_project::fence::AgentPlaces;
use serde_json::{Value, json};

use super::super::read_settings;
use super::{PROFILE, sessions};
use crate::{FriendContext, TurnResult};

pub(super) struct GeminiHome {
    folder: PathBuf,
    /// What the user keeps in files for Gemini's environment, and our own.
    variables: Vec<(OsString, OsString)>,
}

/// Variables that change what Gemini is: another sandbox, other instructions, a test of itself.
pub(super) const REMOVED_VARIABLES: &[&str] = &[
    "GEMINI_SANDBOX",
    "GEMINI_SYSTEM_MD",
    "GEMINI_WRITE_SYSTEM_MD",
    "GEMINI_RESTRICTED_MODE",
    "GEMINI_CLI_INTEGRATION_TEST",
    "SANDBOX",
    "VITEST",
    "DEBUG",
    "DEBUG_MODE",
];

const CREDENTIAL_FILES: &[&str] = &["oauth_creds.json", "google_accounts.json", "gemini-credentials.json"];

/// What is taken from the user's files with variables. All of it is about signing in.
const SIGN_IN_VARIABLES: &[&str] = &[
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_VERTEX_BASE_URL",
];

/// How often a request that failed is made: the pauses are 5 s and 10 s.
const ATTEMPTS: u32 = 3;

/// The tools that only look; those that relay is asked about; none other.
const RULES: &str = r#"[[rule]]
toolName = "*"
decision = "deny"
priority = 1

[[rule]]
toolName = ["read_file", "read_many_files", "glob", "grep_search", "list_directory"]
decision = "allow"
priority = 900

[[rule]]
toolName = ["write_file", "replace", "run_shell_command"]
decision = "ask_user"
priority = 900
"#;

/// Every tool; those that change something still ask, and are answered yes.
const RULES_FULL: &str = r#"[[rule]]
toolName = "*"
decision = "allow"
priority = 900
"#;

/// For relay's fence: the home is a layer there, as Gemini obeys what lies in it. Its sign-in is written in place, where the
/// links lead.
pub(super) fn agent_places(world: &FriendContext<'_>) -> AgentPlaces {
    let users = user_dir(world);
    let sign_in = CREDENTIAL_FILES.iter().filter_map(|name| Some(users.as_ref()?.join(name))).collect();
    let clouds =
        sign_in_method(world).filter(|way| !matches!(way.as_str(), "gemini-api-key" | "oauth-personal"));
    let home = (world.env_var)("HOME").map(PathBuf::from);
    let lent = clouds.and(home).map(|home| home.join(".config/gcloud"));
    AgentPlaces { state: folder(world).into_iter().collect(), sign_in, lent: lent.into_iter().collect() }
}

/// Where it is.
fn folder(world: &FriendContext<'_>) -> Option<PathBuf> {
    world.home.as_ref().map(|home| home.join("friends").join(PROFILE.name))
}

impl GeminiHome {
    pub(super) fn prepare(world: &FriendContext<'_>) -> TurnResult<GeminiHome> {
        let Some(folder) = folder(world) else {
            let said = "relay has no directory of its own to keep its settings in; set RELAY_HOME";
            return Err(PROFILE.failed(said));
        };
        let Some(way) = sign_in_method(world) else {
            let said = "neither its settings nor the environment say how to sign in";
            return Err(PROFILE.not_signed_in(said));
        };
        let home = GeminiHome { variables: variables(world), folder };
        home.write(world, &way).map_err(|error| {
            PROFILE.failed(format!("its settings cannot be written to {}: {error}", home.folder.display()))
        })?;
        sessions::remove_stale(&home.sessions_dir());
        Ok(home)
    }

    pub(super) fn sessions_dir(&self) -> PathBuf {
        self.folder.join(".gemini/tmp")
    }

    pub(super) fn policy_file(&self, access: Access) -> PathBuf {
        self.folder.join(if access == Access::Full { "full.toml" } else { "rules.toml" })
    }

    pub(super) fn variables_to_set(&self) -> Vec<(OsString, OsString)> {
        let mut set = self.variables.clone();
        let ours = [
            ("GEMINI_CLI_HOME", self.folder.as_os_str()),
            // Reports of errors hold what was said: not for everybody's directory.
            ("TMPDIR", self.folder.join("tmp").as_os_str()),
            ("GEMINI_CLI_TRUST_WORKSPACE", "false".as_ref()),
            ("GEMINI_CLI_NO_RELAUNCH", "1".as_ref()),
            ("NO_BROWSER", "1".as_ref()),
        ]
        .map(|(name, value)| (OsString::from(name), value.to_os_string()));
        set.extend(ours);
        set
    }

    fn write(&self, world: &FriendContext<'_>, way: &str) -> io::Result<()> {
        let own = self.folder.join(".gemini");
        for folder in [&own, &self.folder.join("tmp")] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let users = user_dir(world);
        let model = users.as_deref().map(settings).map(|settings| settings["model"]["name"].clone());
        replace_file(&own.join("settings.json"), relay_settings(way, model).to_string().as_bytes())?;
        replace_file(&self.policy_file(Access::ReadOnly), RULES.as_bytes())?;
        replace_file(&self.policy_file(Access::Full), RULES_FULL.as_bytes())?;
        for name in CREDENTIAL_FILES {
            let (ours, theirs) = (own.join(name), users.as_ref().map(|users| users.join(name)));
            let theirs = theirs.filter(|theirs| theirs.is_file());
            if fs::read_link(&ours).ok() == theirs {
                continue;
            }
            let unless = |done: io::Result<()>, expected: io::ErrorKind| match done {
                Err(error) if error.kind() == expected => Ok(()),
                done => done,
            };
            unless(fs::remove_file(&ours), io::ErrorKind::NotFound)?;
            if let Some(theirs) = theirs {
                unless(symlink(theirs, &ours), io::ErrorKind::AlreadyExists)?;
            }
        }
        Ok(())
    }
}

fn relay_settings(way: &str, model: Option<Value>) -> Value {
    let mut settings = json!({
        "security": {
            "auth": {"selectedType": way},
            // Whether the project is trusted is said by the environment: it is not.
            "folderTrust": {"enabled": false},
            "disableYoloMode": true,
            "disableAlwaysAllow": true,
        },
        "general": {
            "maxAttempts": ATTEMPTS,
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "checkpointing": {"enabled": false},
            // It would remove sessions that share the beginning of their ids with an empty one.
            "sessionRetention": {"enabled": false},
        },
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "advanced": {"ignoreLocalEnv": true},
        "hooksConfig": {"enabled": false},
        "skills": {"enabled": false},
        "experimental": {"enableAgents": false},
        // No file is called so: what a project says to other agents is not said to this one.
        "context": {"fileName": "no-context-by-relay.md"},
    });
    if let Some(Value::String(name)) = model {
        settings["model"] = json!({"name": name});
    }
    settings
}

/// The way to sign in: as the user chose, or as the environment says.
pub(super) fn sign_in_method(world: &FriendContext<'_>) -> Option<String> {
    let users = user_dir(world);
    let chosen = users.as_deref().map(settings)?;
    let chosen = chosen["security"]["auth"]["selectedType"].as_str().filter(|way| !way.is_empty());
    let lent = variables(world);
    let said = |name: &str| {
        (world.env_var)(name)
            .or_else(|| lent.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
            .is_some_and(|value| !value.is_empty() && value != "false")
    };
    let there = |file: &str| users.as_ref().is_some_and(|users| users.join(file).is_file());
    if let Some(way) = chosen {
        // One who chose a way and lacks what it takes is not signed in some other way.
        let is_complete = match way {
            "gemini-api-key" => said("GEMINI_API_KEY") || there("gemini-credentials.json"),
            "oauth-personal" | "login_with_google" => {
                there("oauth_creds.json") || there("gemini-credentials.json")
            }
            _ => true,
        };
        return is_complete.then(|| way.to_string());
    }
    let ways = [
        ("GOOGLE_GENAI_USE_GCA", "oauth-personal"),
        ("GOOGLE_GENAI_USE_VERTEXAI", "vertex-ai"),
        ("GEMINI_API_KEY", "gemini-api-key"),
    ];
    ways.iter().find(|(name, _)| said(name)).map(|(_, way)| (*way).to_string())
}

/// The version in the package that a program belongs to: to ask the program takes seconds.
pub(super) fn package_version(program: &Path) -> Option<String> {
    let program = fs::canonicalize(program).ok()?;
    let package = program.ancestors().skip(1).take(3).map(|folder| folder.join("package.json"));
    let package = package.into_iter().find(|file| file.is_file())?;
    let package: Value = serde_json::from_slice(&read_settings(&package)?).ok()?;
    (package["name"] == "@google/gemini-cli").then(|| package["version"].as_str().map(str::to_string))?
}

fn user_dir(world: &FriendContext<'_>) -> Option<PathBuf> {
    let home = (world.env_var)("GEMINI_CLI_HOME").filter(|home| !home.is_empty());
    let home = home.or_else(|| (world.env_var)("HOME")).map(PathBuf::from)?;
    home.is_absolute().then(|| home.join(".gemini"))
}

/// The user's own settings; none if they cannot be read.
fn settings(users: &Path) -> Value {
    let bytes = read_settings(&users.join("settings.json")).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or(Value::Null)
}

/// What the user keeps in `~/.gemini/.env` or `~/.env` and the environment does not say.
fn variables(world: &FriendContext<'_>) -> Vec<(OsString, OsString)> {
    let Some(users) = user_dir(world) else { return Vec::new() };
    let files = [Some(users.join(".env")), users.parent().map(|home| home.join(".env"))];
    let Some(bytes) = files.into_iter().flatten().find_map(|file| read_settings(&file)) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&bytes);
    let wanted = text.lines().filter_map(assignment).filter(|(name, _)| SIGN_IN_VARIABLES.contains(name));
    let unset = wanted.filter(|(name, _)| (world.env_var)(name).is_none());
    unset.map(|(name, value)| (name.into(), value.into())).collect()
}

/// `NAME=value`, `export NAME="value"`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
    let value = value.trim();
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
    Some((name.trim(), quoted('"').or_else(|| quoted('\'')).unwrap_or(value)))
}

/// Writes a file so that whoever reads it meanwhile sees the old one or the new one.
fn replace_file(file: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(file).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let beside = file.with_extension(format!("{}.new", uuid::Uuid::new_v4()));
    fs::write(&beside, bytes)?;
    fs::rename(&beside, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_sets_a_variable_is_read_with_its_quotes() {
        assert_eq!(assignment("GEMINI_API_KEY=k"), Some(("GEMINI_API_KEY", "k")));
        assert_eq!(assignment(" export A = \"b c\" "), Some(("A", "b c")));
        assert_eq!(assignment("A='b'"), Some(("A", "b")));
        assert_eq!(assignment("# nothing"), None);
    }
}
