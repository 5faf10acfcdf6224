//! What claude is given for each access: its tools, its arguments; and what it has to say of itself.
//!
//! Invariant: claude has no tool that the access has no use for, and a claude that says that it has others, or
//! another mode, or another session, or a tool server, is not used. The same recipe holds for a session that is
//! taken up again. A shell is given with full access alone: claude by itself does not confine one.

use std::ffi::OsString;

use relaycode_project::access::Access;
use serde_json::Value;
use uuid::Uuid;

use super::PROFILE;
use super::permissions::STRUCTURED_OUTPUT_TOOL;
use crate::driver::FriendVersion;
use crate::{AskRequest, TurnMemory, TurnResult};

const READ_ONLY_TOOLS: &[&str] = &["Read", "Grep", "Glob"];
const WORKSPACE_TOOLS: &[&str] = &["Read", "Grep", "Glob", "Edit", "Write", "NotebookEdit"];
const WORKSPACE_CHECK_TOOLS: &[&str] = &["Read", "Grep", "Glob", "Edit", "Write", "NotebookEdit", "Bash"];
const FULL_TOOLS: &[&str] =
    &["Read", "Grep", "Glob", "Edit", "Write", "NotebookEdit", "Bash", "WebFetch", "WebSearch"];

/// The mode in which claude asks. Others allow by themselves.
const MODE: &str = "default";

/// Bytes of a schema: it travels in an argument, and the system takes 128 KiB in one.
const MOST_SCHEMA: usize = 100 << 10;

#[derive(Debug)]
pub(super) struct ClaudeRecipe {
    access: Access,
    tools: &'static [&'static str],
    /// The id of the session: begun, or taken up again.
    pub(super) session: Option<String>,
    resumed: bool,
    model: Option<String>,
    schema: Option<String>,
    pub(super) prompt: String,
}

impl ClaudeRecipe {
    /// For this turn. Refuses what claude cannot do, or what nobody has tested, before anything is started.
    pub(super) fn new(prompt: &str, request: &AskRequest) -> TurnResult<ClaudeRecipe> {
        let cannot = |what: String| Err(PROFILE.unsupported(what));
        let tools = match request.access {
            Access::ReadOnly => READ_ONLY_TOOLS,
            Access::Workspace if request.check.is_some() => WORKSPACE_CHECK_TOOLS,
            Access::Workspace => WORKSPACE_TOOLS,
            Access::Full => FULL_TOOLS,
            Access::Ask => {
                let access = request.access;
                return cannot(format!("be given the access `{access}`; use read-only, workspace or full"));
            }
        };
        let schema = request.schema().map(Value::to_string);
        if schema.as_ref().is_some_and(|schema| schema.len() > MOST_SCHEMA) {
            return cannot(format!("be held to a schema of more than {} KiB", MOST_SCHEMA >> 10));
        }
        let session = match &request.memory {
            TurnMemory::None => None,
            TurnMemory::Begin => Some(Uuid::new_v4().to_string()),
            // Its sessions are its own: nobody hands it one.
            TurnMemory::Replay(_) => return cannot("be told what was said in another session".into()),
            TurnMemory::Resume(id) => match Uuid::try_parse(id) {
                Ok(id) => Some(id.to_string()),
                // Claude takes other words for names, and looks for what resembles them.
                Err(_) => return Err(PROFILE.unknown_session(id)),
            },
        };
        Ok(ClaudeRecipe {
            access: request.access,
            tools,
            session,
            resumed: matches!(request.memory, TurnMemory::Resume(_)),
            model: request.model.clone(),
            schema,
            prompt: escape_slash_command(prompt),
        })
    }

    /// The arguments, but for those of the protocol.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let fixed = "-p --output-format stream-json --verbose --include-partial-messages --safe-mode \
                     --strict-mcp-config --disable-slash-commands --setting-sources user";
        let mut words: Vec<OsString> = fixed.split(' ').map(OsString::from).collect();
        words.extend(["--permission-mode", MODE, "--tools", &self.tools.join(",")].map(OsString::from));
        // With `=`: a name that begins with a hyphen is no argument of its own.
        let mut add = |name: &str, value: &str| words.push(format!("{name}={value}").into());
        if let Some(model) = &self.model {
            add("--model", model);
        }
        if let Some(schema) = &self.schema {
            add("--json-schema", schema);
        }
        match &self.session {
            Some(id) if self.resumed => add("--resume", id),
            Some(id) => add("--session-id", id),
            None => words.push("--no-session-persistence".into()),
        }
        words
    }

    pub(super) fn verify_init(&self, init: &Value, request: &AskRequest) -> TurnResult<()> {
        let version = FriendVersion::parse(init["claude_code_version"].as_str().unwrap_or_default());
        PROFILE.check_version(version.ok_or_else(|| PROFILE.unknown_version("it says nothing of it"))?)?;
        let other = |got: String| Err(PROFILE.access_mismatch(self.access, got));
        let mode = init["permissionMode"].as_str().unwrap_or("no mode");
        if mode != MODE {
            return other(format!("permission mode {mode}"));
        }
        let Some(tools) = init["tools"].as_array() else {
            return other("tools that it does not name".into());
        };
        let known = |tool: &&Value| {
            let name = tool.as_str().unwrap_or_default();
            self.tools.contains(&name) || (self.schema.is_some() && name == STRUCTURED_OUTPUT_TOOL)
        };
        if let Some(tool) = tools.iter().find(|tool| !known(tool)) {
            return other(format!("the tool {tool}"));
        }
        if init["mcp_servers"].as_array().is_some_and(|servers| !servers.is_empty()) {
            return other("tool servers".into());
        }
        if init["cwd"].as_str().is_none_or(|cwd| !is_turn_directory(cwd, request)) {
            return other(format!("the directory {}", init["cwd"]));
        }
        match (&self.session, init["session_id"].as_str()) {
            (Some(id), Some(got)) if !id.eq_ignore_ascii_case(got) => Err(PROFILE.unknown_session(id)),
            _ => Ok(()),
        }
    }
}

fn is_turn_directory(cwd: &str, request: &AskRequest) -> bool {
    let real = |path: &std::path::Path| std::fs::canonicalize(path).ok();
    request.directory.as_os_str() == cwd
        || real(cwd.as_ref()).is_some_and(|cwd| real(&request.directory) == Some(cwd))
}

/// The prompt as words: one that begins with a slash would be taken for a command of claude's.
fn escape_slash_command(prompt: &str) -> String {
    if prompt.starts_with('/') { format!("\n{prompt}") } else { prompt.to_string() }
}
