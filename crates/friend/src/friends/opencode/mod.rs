//! opencode, by the Agent Client Protocol.
//!
//! What holds it (each tested with the real one):
//! - an agent of ours, defined over whatever the user's settings say, and its rights: the tools that look are
//!   allowed, those that write or run ask relay, every other tool is gone. It has to say that it works as that
//!   agent. What it is refused it hears, and goes on;
//! - the project's settings, agents, tools and instructions are not read. Its plugins would be run all the same,
//!   whatever is set: a project that has some, or could name some, is looked at from an empty directory beside it,
//!   so that nothing of it is found ([`carries_code`]);
//! - the user's own settings are read: they say where its model is. Plugins and tools of theirs are kept out ([`user_config`]).
//!
//! It writes files by itself, after relay has said yes to each; but for one that it puts into a repository whatever it
//! is told, which goes with the turn ([`OpencodeMarkerGuard`]).

mod places;
mod user_config;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use relaycode_clients::acp::AcpClientCapabilities;
use relaycode_exec::Job;
use relaycode_project::access::Access;
use relaycode_project::fence::AgentPlaces;
use serde_json::{Value, json};

use super::read_settings;
use crate::driver::acp::AcpRecipe;
use crate::driver::{FriendVersion, ProgramProfile, acp, program};
use crate::tree_check::git_dir;
use crate::{AskRequest, Friend, FriendAbilities, FriendContext, FriendProbeReport, FriendTurn, TurnResult};

pub(super) static OPENCODE: Opencode = Opencode;

pub(super) struct Opencode;

const NAME: &str = "opencode";

const PROFILE: ProgramProfile = ProgramProfile {
    name: NAME,
    oldest: FriendVersion::new(1, 18, 33),
    install: "install it with `npm install -g opencode-ai`",
    sign_in: "run `opencode auth login`",
};

const AGENT: &str = "relay";

/// Its words when our rules refuse something without asking.
const DENIALS: &[&str] = &["has specified a rule which prevents", "unavailable tool"];

/// What a project is asked for before opencode runs in it: settings that may name plugins, and where plugins are.
const CONFIG_NAMES: &[&str] = &[".opencode", "opencode.json", "opencode.jsonc", "config.json"];

impl Friend for Opencode {
    fn name(&self) -> &str {
        NAME
    }

    fn abilities(&self) -> FriendAbilities {
        FriendAbilities::PROGRAM
    }

    fn probe(&self, world: &FriendContext<'_>) -> FriendProbeReport {
        let Some(found) = program::find_program(world, NAME) else { return PROFILE.missing_report() };
        let mut environment = world.child_environment();
        environment.set.extend(quiet_variables());
        let version = program::program_version(world, found.clone().into(), environment);
        PROFILE.installed_report(found.display().to_string(), version, || Some(is_signed_in(world)))
    }

    fn check_installed(&self, world: &FriendContext<'_>) -> TurnResult<()> {
        program::require_program(world, NAME, NAME, PROFILE.install).map(|_| ())
    }

    fn agent_places(&self, world: &FriendContext<'_>) -> AgentPlaces {
        places::agent_places(world)
    }

    fn run_prompt(&self, prompt: &str, turn: &mut FriendTurn<'_>) -> TurnResult {
        let (request, world) = (turn.request, turn.world);
        acp::check_access(request, &PROFILE)?;
        let found = program::require_program(world, NAME, NAME, PROFILE.install)?;
        let place = OpencodeWorkdir::choose(request, world)?;
        let _mark = OpencodeMarkerGuard::new(&place.directory);
        let recipe = AcpRecipe {
            profile: &PROFILE,
            job: job(&found, &place, turn)?,
            capabilities: AcpClientCapabilities { read: true, write: false },
            mode: AGENT,
            directory: place.directory.clone(),
            prompt: place.as_prompt(prompt, &request.directory),
            denials: DENIALS,
        };
        let mut answer = acp::run_over_acp(&recipe, turn)?;
        answer.remarks.extend(place.remark());
        Ok(answer)
    }
}

struct OpencodeWorkdir {
    directory: PathBuf,
    /// Beside the project, because that has code that opencode would run.
    outside_project: bool,
}

impl OpencodeWorkdir {
    fn choose(request: &AskRequest, world: &FriendContext<'_>) -> TurnResult<OpencodeWorkdir> {
        if !has_own_config(&request.directory, world) {
            return Ok(OpencodeWorkdir { directory: request.directory.clone(), outside_project: false });
        }
        let Some(home) = &world.home else {
            let said = "this project has settings of its own for it, which could run anything; \
                        with RELAY_HOME set, relay can let it work from beside the project";
            return Err(PROFILE.failed(said));
        };
        let directory = home.join("friends").join(NAME).join("empty");
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
        let directory = made.and_then(|()| fs::canonicalize(&directory));
        let directory = directory
            .map_err(|error| PROFILE.failed(format!("an empty directory cannot be made: {error}")))?;
        if has_own_config(&directory, world) {
            let said = format!("{} or a directory above it has settings for it", directory.display());
            return Err(PROFILE.failed(said));
        }
        Ok(OpencodeWorkdir { directory, outside_project: true })
    }

    /// What begins with a slash would be a command of opencode's own.
    fn as_prompt(&self, prompt: &str, project: &Path) -> String {
        if self.outside_project {
            let project = project.display();
            return format!(
                "The project is in {project}. It is not the current directory: name its files by their whole \
                 paths, and search with `path` set to it.\n\n{prompt}"
            );
        }
        if prompt.trim_start().starts_with('/') { format!("Request:\n{prompt}") } else { prompt.to_string() }
    }

    fn remark(&self) -> Option<String> {
        let remark = "opencode worked from beside the project, because the project has settings for it that \
                      could run code";
        self.outside_project.then(|| remark.to_string())
    }
}

/// The file in which opencode notes by what name it knows a repository: that of its first commit. It is made at every
/// start where it is missing, and missed by nobody. One that was not there before goes when this does.
struct OpencodeMarkerGuard {
    absent: Vec<PathBuf>,
}

/// Bytes of the name of a commit, with room for a longer kind and a line's end.
const MAX_MARKER_BYTES: u64 = 128;

impl OpencodeMarkerGuard {
    fn new(directory: &Path) -> OpencodeMarkerGuard {
        let repositories = git_dir::external_git_dirs(directory).into_iter().chain([directory.join(".git")]);
        let files = repositories.filter(|folder| folder.is_dir()).map(|folder| folder.join(NAME));
        OpencodeMarkerGuard { absent: files.filter(|file| file.symlink_metadata().is_err()).collect() }
    }
}

impl Drop for OpencodeMarkerGuard {
    fn drop(&mut self) {
        let is_mark = |file: &PathBuf| {
            file.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_MARKER_BYTES)
                && fs::read(file).is_ok_and(|bytes| bytes.trim_ascii().iter().all(u8::is_ascii_hexdigit))
        };
        for file in self.absent.iter().filter(|file| is_mark(file)) {
            // If it stays, it is what opencode leaves in every repository.
            let _ = fs::remove_file(file);
        }
    }
}

/// Whether opencode would find settings or plugins from this directory, in it or above. The user's home is the
/// user's own.
fn has_own_config(directory: &Path, world: &FriendContext<'_>) -> bool {
    let home = (world.env_var)("HOME").map(PathBuf::from);
    let home = home.map(|home| fs::canonicalize(&home).unwrap_or(home));
    let mut above =
        directory.ancestors().filter(|folder| Some(*folder) != home.as_deref() || *folder == directory);
    above.any(|folder| CONFIG_NAMES.iter().any(|name| folder.join(name).symlink_metadata().is_ok()))
}

fn job(program: &Path, place: &OpencodeWorkdir, turn: &FriendTurn<'_>) -> TurnResult<Job> {
    let (request, world) = (turn.request, turn.world);
    let mut argv: Vec<OsString> = vec![program.into()];
    argv.extend(["acp", "--print-logs", "--log-level", "ERROR"].map(OsString::from));
    let mut job = Job::argv(argv, &place.directory);
    job.environment = world.child_environment();
    job.environment.set.extend(quiet_variables());
    job.environment.set.extend(user_config::variables(world)?);
    job.environment.remove.extend(user_config::dropped_variables(world));
    let settings = settings(place, request).to_string();
    job.environment.set.push(("OPENCODE_CONFIG_CONTENT".into(), settings.into()));
    // Rights that were given in the environment would be added to ours.
    job.environment.remove.extend(["OPENCODE_PERMISSION", "OPENCODE_AUTO_SHARE"].map(OsString::from));
    job.environment.remove_prefixes.push("OPENCODE_EXPERIMENTAL".to_string());
    if let Some(fence) = turn.fence {
        fence.enclose(&mut job);
    }
    Ok(job)
}

/// What every run is told: nothing of the project's, nothing that is fetched or changed on the side.
fn quiet_variables() -> Vec<(OsString, OsString)> {
    let names = [
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_PURE",
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_SHARE",
        "OPENCODE_DISABLE_TERMINAL_TITLE",
    ];
    names.map(|name| (name.into(), "1".into())).to_vec()
}

/// Settings that stand over the user's.
fn settings(place: &OpencodeWorkdir, request: &AskRequest) -> Value {
    let rights = permissions(place, request);
    let mut settings = json!({
        "share": "disabled",
        "autoupdate": false,
        // Nothing is to be put back: nothing is written, or it is written into a copy.
        "snapshot": false,
        "formatter": false,
        "lsp": false,
        "experimental": {"continue_loop_on_deny": true},
        "default_agent": AGENT,
        "permission": rights,
        "agent": {
            AGENT: {"mode": "primary", "description": "Works for relay", "permission": rights},
            // Nobody reads the title of a session.
            "title": {"disable": true},
        },
    });
    if let Some(model) = &request.model {
        settings["model"] = json!(model);
    }
    settings
}

fn permissions(place: &OpencodeWorkdir, request: &AskRequest) -> Value {
    if request.access == Access::Full {
        return json!({"*": "allow", "question": "deny"});
    }
    let elsewhere = if place.outside_project {
        let inside = format!("{}/*", request.directory.display());
        json!({"*": "deny", inside: "allow"})
    } else {
        json!("deny")
    };
    json!({
        "*": "deny",
        "read": "allow",
        "glob": "allow",
        "grep": "allow",
        "list": "allow",
        "edit": "ask",
        "bash": "ask",
        "external_directory": elsewhere,
    })
}

/// Whether a provider is set up: a key that was stored, or one in the settings.
fn is_signed_in(world: &FriendContext<'_>) -> bool {
    let is_filled = |file: PathBuf, key: Option<&str>| {
        let bytes = read_settings(&file).unwrap_or_default();
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        key.map_or(&value, |key| &value[key]).as_object().is_some_and(|all| !all.is_empty())
    };
    if places::sign_in(world).is_some_and(|file| is_filled(file, None)) {
        return true;
    }
    let named = user_config::config_directory(world).is_some_and(|config| {
        user_config::FILES.iter().any(|file| is_filled(config.join(file), Some("provider")))
    });
    let keys =
        ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"];
    named || keys.iter().any(|key| (world.env_var)(key).is_some_and(|value| !value.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_mark_that_was_not_there_before_goes_also_from_a_repository_that_is_shared() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (own, tree) = (root.join("main/.git"), root.join("tree"));
        fs::create_dir_all(own.join("worktrees/tree")).unwrap();
        fs::write(own.join("worktrees/tree/commondir"), "../..\n").unwrap();
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", own.join("worktrees/tree").display())).unwrap();
        let file = own.join(NAME);
        for (directory, says, stays) in [
            (root.join("main"), "0123abcd\n", false),
            (tree.clone(), "0123abcd", false),
            (tree.clone(), "words of somebody else", true),
        ] {
            let mark = OpencodeMarkerGuard::new(&directory);
            fs::write(&file, says).unwrap();
            drop(mark);
            assert_eq!(file.exists(), stays, "{} {says}", directory.display());
        }
        fs::write(&file, "0123abcd").unwrap();
        drop(OpencodeMarkerGuard::new(&tree));
        assert!(file.exists(), "it was there before");
    }
}
