//! opencode. It is spoken to by the Agent Client Protocol; one run without it is the other way.
//!
//! What holds it (each tested with the real one):
//! - an agent of ours, defined over whatever the user's settings say, and its rights: the tools that look are
//!   allowed, those that write or run ask relay, every other tool is gone. It has to say that it works as that
//!   agent. What it is refused it hears, and goes on;
//! - the project's settings, agents, tools and instructions are not read. Its plugins would be run all the same,
//!   whatever is set: a project that has some, or could name some, is looked at from an empty directory beside it,
//!   so that nothing of it is found ([`carries_code`]);
//! - the user's own settings are read: they say where its model is.
//!
//! It writes files by itself, after relay has said yes to each; but for one that it puts into a repository whatever it
//! is told, which goes with the turn ([`Mark`]).

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use relaycode_clients::acp::Capabilities;
use relaycode_exec::Job;
use relaycode_project::access::Access;
use serde_json::{Value, json};

use crate::answer::{Answer, Usage};
use crate::by_acp::{self, Line, Recipe};
use crate::event::Event;
use crate::failure::Failure;
use crate::friend::{Abilities, Friend, Presence};
use crate::program::{self, Known};
use crate::tree::git;
use crate::turn::Turn;
use crate::version::Version;
use crate::world::World;

/// The friend.
pub(super) static OPENCODE: Opencode = Opencode;

/// opencode.
pub(super) struct Opencode;

const NAME: &str = "opencode";

const KNOWN: Known = Known {
    name: NAME,
    oldest: Version::new(1, 18, 33),
    install: "install it with `npm install -g opencode-ai`",
    sign_in: "run `opencode auth login`",
};

/// The agent that it works as.
const AGENT: &str = "relay";

/// Its words when our rules refuse something without asking.
const DENIALS: &[&str] = &["has specified a rule which prevents", "unavailable tool"];

/// What a project is asked for before opencode runs in it: settings that may name plugins, and where plugins are.
const CODE: &[&str] = &[".opencode", "opencode.json", "opencode.jsonc", "config.json"];

/// Bytes of a file of the user's that are read.
const MOST_SETTINGS: u64 = 1 << 20;

impl Friend for Opencode {
    fn name(&self) -> &str {
        NAME
    }

    fn abilities(&self) -> Abilities {
        by_acp::ABILITIES
    }

    fn look(&self, world: &World<'_>) -> Presence {
        let Some(found) = program::find(world, NAME) else { return KNOWN.absent() };
        let mut environment = world.environment();
        environment.set.extend(quiet());
        let version = program::version(world, found.clone().into(), environment);
        KNOWN.there(found.display().to_string(), version, || Some(is_signed_in(world)))
    }

    fn at_hand(&self, world: &World<'_>) -> Result<(), Failure> {
        program::needed(world, NAME, NAME, KNOWN.install).map(|_| ())
    }

    fn turn(&self, turn: &Turn, world: &World<'_>, hear: &mut dyn FnMut(Event)) -> Result<Answer, Failure> {
        let prompt = by_acp::prompt_of(turn, &KNOWN)?;
        let found = program::needed(world, NAME, NAME, KNOWN.install)?;
        let place = Place::of(turn, world)?;
        let _mark = Mark::before(&place.directory);
        let recipe = Recipe {
            known: &KNOWN,
            job: job(&found, &place, turn, world, &["acp", "--print-logs", "--log-level", "ERROR"]),
            can: Capabilities { read: true, write: false },
            mode: AGENT,
            directory: place.directory.clone(),
            prompt: place.as_prompt(prompt, &turn.directory),
            denials: DENIALS,
        };
        let words = ["run", "--format", "json", "--agent", AGENT, "--title", "relay"];
        let once = || job(&found, &place, turn, world, &words);
        let mut answer = by_acp::either_way(&recipe, once, &read, turn, world, hear)?;
        answer.remarks.extend(place.remark());
        Ok(answer)
    }
}

/// Where opencode works.
struct Place {
    directory: PathBuf,
    /// Beside the project, because that has code that opencode would run.
    beside: bool,
}

impl Place {
    fn of(turn: &Turn, world: &World<'_>) -> Result<Place, Failure> {
        if !carries_code(&turn.directory, world) {
            return Ok(Place { directory: turn.directory.clone(), beside: false });
        }
        let Some(home) = &world.home else {
            return Err(KNOWN.failed(
                "this project has settings of its own for it, which could run anything; \
                               with RELAY_HOME set, relay can let it work from beside the project"
                    .to_string(),
            ));
        };
        let directory = home.join("friends").join(NAME).join("empty");
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
        let directory = made.and_then(|()| fs::canonicalize(&directory));
        let directory =
            directory.map_err(|error| KNOWN.failed(format!("an empty directory cannot be made: {error}")))?;
        if carries_code(&directory, world) {
            return Err(
                KNOWN.failed(format!("{} or a directory above it has settings for it", directory.display()))
            );
        }
        Ok(Place { directory, beside: true })
    }

    /// What begins with a slash would be a command of opencode's own.
    fn as_prompt(&self, prompt: &str, project: &Path) -> String {
        if self.beside {
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
        self.beside.then(|| remark.to_string())
    }
}

/// The file in which opencode notes by what name it knows a repository: that of its first commit. It is made at every
/// start where it is missing, and missed by nobody. One that was not there before goes when this does.
struct Mark {
    absent: Vec<PathBuf>,
}

/// Bytes of the name of a commit, with room for a longer kind and a line's end.
const MARK: u64 = 128;

impl Mark {
    fn before(directory: &Path) -> Mark {
        let repositories = git::outside(directory).into_iter().chain([directory.join(".git")]);
        let files = repositories.filter(|folder| folder.is_dir()).map(|folder| folder.join(NAME));
        Mark { absent: files.filter(|file| file.symlink_metadata().is_err()).collect() }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let is_mark = |file: &PathBuf| {
            file.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MARK)
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
fn carries_code(directory: &Path, world: &World<'_>) -> bool {
    let home = (world.variable)("HOME").map(PathBuf::from);
    let home = home.map(|home| fs::canonicalize(&home).unwrap_or(home));
    let above =
        directory.ancestors().filter(|folder| Some(*folder) != home.as_deref() || *folder == directory);
    above.into_iter().any(|folder| CODE.iter().any(|name| folder.join(name).symlink_metadata().is_ok()))
}

fn job(program: &Path, place: &Place, turn: &Turn, world: &World<'_>, words: &[&str]) -> Job {
    let mut argv: Vec<OsString> = vec![program.into()];
    argv.extend(words.iter().map(OsString::from));
    let mut job = Job::argv(argv, &place.directory);
    job.environment = world.environment();
    job.environment.set.extend(quiet());
    let settings = settings(place, turn).to_string();
    job.environment.set.push(("OPENCODE_CONFIG_CONTENT".into(), settings.into()));
    // Rights that were given in the environment would be added to ours.
    job.environment.remove.extend(["OPENCODE_PERMISSION", "OPENCODE_AUTO_SHARE"].map(OsString::from));
    job.environment.remove_prefixes.push("OPENCODE_EXPERIMENTAL".to_string());
    job
}

/// What every run is told: nothing of the project's, nothing that is fetched or changed on the side.
fn quiet() -> Vec<(OsString, OsString)> {
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
fn settings(place: &Place, turn: &Turn) -> Value {
    let rights = rights(place, turn);
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
    if let Some(model) = &turn.model {
        settings["model"] = json!(model);
    }
    settings
}

fn rights(place: &Place, turn: &Turn) -> Value {
    if turn.access == Access::Full {
        return json!({"*": "allow", "question": "deny"});
    }
    let elsewhere = if place.beside {
        let inside = format!("{}/*", turn.directory.display());
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
fn is_signed_in(world: &World<'_>) -> bool {
    let folder = |variable: &str, below: &str| {
        let set = (world.variable)(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        set.or_else(|| (world.variable)("HOME").map(|home| PathBuf::from(home).join(below)))
    };
    let data = folder("XDG_DATA_HOME", ".local/share");
    let stored = data.and_then(|data| read_json(&data.join("opencode/auth.json")));
    if stored.and_then(|stored| stored.as_object().map(|keys| !keys.is_empty())).unwrap_or(false) {
        return true;
    }
    let config = folder("XDG_CONFIG_HOME", ".config");
    let files = ["opencode/opencode.json", "opencode/opencode.jsonc", "opencode/config.json"];
    let named = config.is_some_and(|config| {
        files.iter().any(|file| {
            read_json(&config.join(file))
                .and_then(|settings| settings["provider"].as_object().map(|all| !all.is_empty()))
                .unwrap_or(false)
        })
    });
    let keys =
        ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"];
    named || keys.iter().any(|key| (world.variable)(key).is_some_and(|value| !value.is_empty()))
}

fn read_json(file: &Path) -> Option<Value> {
    let meta = fs::metadata(file).ok()?;
    let bytes = (meta.is_file() && meta.len() <= MOST_SETTINGS).then(|| fs::read(file).ok())??;
    serde_json::from_slice(&bytes).ok()
}

/// An event of `run --format json`.
fn read(event: &Value) -> Line {
    let part = &event["part"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    match event["type"].as_str().unwrap_or_default() {
        "text" => Line::Text(text(&part["text"])),
        "tool_use" => Line::Tool(text(&part["tool"])),
        "step_finish" => {
            let count = |name: &str| part["tokens"][name].as_u64();
            let usage = count("input").zip(count("output"));
            Line::Done(usage.map(|(input, output)| Usage { input, output }))
        }
        "error" => {
            let error = &event["error"];
            Line::Failed(
                error["data"]["message"].as_str().map_or_else(|| text(&error["name"]), str::to_string),
            )
        }
        _ => Line::Other,
    }
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
            let mark = Mark::before(&directory);
            fs::write(&file, says).unwrap();
            drop(mark);
            assert_eq!(file.exists(), stays, "{} {says}", directory.display());
        }
        fs::write(&file, "0123abcd").unwrap();
        drop(Mark::before(&tree));
        assert!(file.exists(), "it was there before");
    }
}
