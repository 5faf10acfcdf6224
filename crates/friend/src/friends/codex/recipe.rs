//! What codex is given: its arguments, and the terms of a thread for each access.
//!
//! Invariants: read-only and workspace run under a permission profile of relay's own, made for this turn alone
//! under a name nobody can guess, and that codex says it follows before it hears the prompt. The profile denies
//! the reading of codex's own credentials. That is good in itself, and it is what keeps every command in the
//! sandbox: rules that a user saved (`$CODEX_HOME/rules`, "always allow") lift the plain read-only sandbox
//! without a question, and do not lift one with something to hide.

use std::ffi::OsString;
use std::path::Path;

use relaycode_project::access::Access;
use serde_json::{Map, Value, json};

use super::PROFILE;
use crate::{AskRequest, FriendAbilities, TurnMemory, TurnResult};

/// Settings of the user that a turn does without, whichever way it goes: what runs other programs, and what
/// calls home. Unknown ones are passed over by codex, so that an older or newer one starts, too.
const ISOLATION: &[&str] = &[
    "notify=[]",
    "features.hooks=false",
    "features.plugins=false",
    "features.apps=false",
    "features.memories=false",
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
];

/// What codex is to write to, and nothing else: no temporary directory, no network.
const WORKSPACE: &str = "sandbox_workspace_write={network_access=false,writable_roots=[],\
                         exclude_tmpdir_env_var=true,exclude_slash_tmp=true}";

#[derive(Debug, Clone, Copy)]
pub(super) enum CodexTask<'a> {
    Prompt(&'a str),
    Review(&'a str),
}

/// Refuses what codex cannot do, or what nobody has tested, before anything is started.
pub(super) fn check_task(task: CodexTask<'_>, request: &AskRequest) -> TurnResult<()> {
    let cannot = |what: String| Err(PROFILE.unsupported(what));
    if !FriendAbilities::PROGRAM.access.contains(&request.access) {
        return cannot(format!("be given the access `{}`; use read-only, workspace or full", request.access));
    }
    if let TurnMemory::Resume(id) = &request.memory
        && uuid::Uuid::try_parse(id).is_err()
    {
        // Of a name that it does not know, codex makes a new session without a word.
        return Err(PROFILE.unknown_session(id));
    }
    match task {
        CodexTask::Review(base) if !names_a_branch(base) => cannot(format!(
            "review against `{base}` by itself: only against a branch or a tag with a plain name"
        )),
        CodexTask::Review(_) if request.schema().is_some() => {
            cannot("hold its own review to a schema".into())
        }
        _ => Ok(()),
    }
}

/// Whether this is a name, and no commit and no expression of git's.
fn names_a_branch(base: &str) -> bool {
    let is_id = base.len() >= 4 && base.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_expression =
        base.contains(|c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\{".contains(c));
    let is_special = base.is_empty() || base.starts_with('-') || base == "@" || base.ends_with("HEAD");
    !(is_id || is_expression || is_special || base.contains(".."))
}

pub(super) fn server_arguments(directory: &Path) -> Vec<OsString> {
    let mut words = vec!["app-server".into()];
    words.extend(config_arguments(ISOLATION));
    words.extend(untrusted_arguments(directory));
    words
}

pub(super) fn list_arguments(directory: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = ["mcp", "list", "--json"].map(OsString::from).to_vec();
    words.extend(untrusted_arguments(directory));
    words
}

/// The project's own settings are not read. Without this, codex would trust whatever it may write to: from then on, by a
/// line in the user's own settings, and with the tool servers that the project names.
fn untrusted_arguments(directory: &Path) -> Vec<OsString> {
    let directory = quoted(&directory.to_string_lossy());
    config_arguments(&[format!("projects={{{directory}={{trust_level=\"untrusted\"}}}}")])
}

/// The arguments of a single run: the prompt is on its input. `servers` are the tool servers of the user's.
pub(super) fn exec_arguments(
    task: CodexTask<'_>,
    request: &AskRequest,
    schema: Option<&Path>,
    servers: &[String],
) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        ["exec", "--json", "--skip-git-repo-check", "--ignore-rules"].map(OsString::from).to_vec();
    if request.memory == TurnMemory::None {
        words.push("--ephemeral".into());
    }
    // Before the subcommand: behind it, it is not heard.
    let directory = request.directory.clone().into();
    words.extend(["-s".into(), sandbox_mode(request.access).into(), "-C".into(), directory]);
    words.extend(config_arguments(ISOLATION));
    words.extend(config_arguments(&["approval_policy=\"never\""]));
    words.extend(untrusted_arguments(&request.directory));
    if request.access == Access::Workspace {
        words.extend(config_arguments(&[WORKSPACE]));
    }
    if !servers.is_empty() {
        let off = servers.iter().map(|name| format!("{}={{enabled=false}}", quoted(name)));
        let off: Vec<String> = off.collect();
        words.extend(config_arguments(&[&format!("mcp_servers={{{}}}", off.join(","))]));
    }
    if let Some(model) = &request.model {
        words.push(format!("--model={model}").into());
    }
    if let Some(schema) = schema {
        words.extend(["--output-schema".into(), schema.into()]);
    }
    match (task, &request.memory) {
        (CodexTask::Review(base), _) => words.extend(["review".into(), format!("--base={base}").into()]),
        (CodexTask::Prompt(_), TurnMemory::Resume(id)) => {
            words.extend(["resume".into(), id.into(), "-".into()]);
        }
        (CodexTask::Prompt(_), _) => words.push("-".into()),
    }
    words
}

fn config_arguments<S: AsRef<str>>(settings: &[S]) -> Vec<OsString> {
    settings.iter().flat_map(|setting| ["-c".into(), setting.as_ref().into()]).collect()
}

fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}

fn sandbox_mode(access: Access) -> &'static str {
    match access {
        Access::Workspace => "workspace-write",
        Access::Full => "danger-full-access",
        // What is not in the list was refused before; the least is right for anything else.
        Access::ReadOnly | Access::Ask => "read-only",
    }
}

#[derive(Debug)]
pub(super) struct CodexThreadConfig<'a> {
    pub(super) request: &'a AskRequest,
    profile: String,
    directory: String,
}

impl<'a> CodexThreadConfig<'a> {
    pub(super) fn new(request: &'a AskRequest) -> TurnResult<CodexThreadConfig<'a>> {
        let Some(directory) = request.directory.to_str() else {
            let what = format!("work in {}: its name is no text", request.directory.display());
            return Err(PROFILE.unsupported(what));
        };
        let profile = format!("relay-{}", uuid::Uuid::new_v4().simple());
        Ok(CodexThreadConfig { request, profile, directory: directory.to_string() })
    }

    /// What `thread/start` or `thread/resume` is asked with.
    pub(super) fn params(&self, codex_home: &str, servers: &[String]) -> (&'static str, Value) {
        let mut params = json!({
            "cwd": self.directory,
            "approvalPolicy": self.approval(),
            // Not another model, whatever the user's settings say: it might agree.
            "approvalsReviewer": "user",
            "config": self.config(codex_home, servers),
        });
        if let Some(model) = &self.request.model {
            params["model"] = model.as_str().into();
        }
        if self.request.access == Access::Full {
            params["sandbox"] = sandbox_mode(Access::Full).into();
        }
        match &self.request.memory {
            TurnMemory::Resume(id) => {
                params["threadId"] = id.as_str().into();
                params["excludeTurns"] = true.into();
                ("thread/resume", params)
            }
            TurnMemory::None | TurnMemory::Begin | TurnMemory::Replay(_) => {
                params["ephemeral"] = (self.request.memory != TurnMemory::Begin).into();
                ("thread/start", params)
            }
        }
    }

    fn approval(&self) -> &'static str {
        // Asked, it is declined and counted; what is not asked for fails in the sandbox without a word.
        if self.request.access == Access::Full { "never" } else { "on-request" }
    }

    fn config(&self, codex_home: &str, servers: &[String]) -> Value {
        let mut config = Map::new();
        if !servers.is_empty() {
            let off = servers.iter().map(|name| (name.clone(), json!({"enabled": false})));
            config.insert("mcp_servers".to_string(), Value::Object(off.collect()));
        }
        if self.request.access != Access::Full {
            let mut files = json!({":root": "read", (format!("{codex_home}/auth.json")): "deny"});
            if self.request.access == Access::Workspace {
                files[":workspace_roots"] = json!({".": "write"});
            }
            config.insert("default_permissions".to_string(), self.profile.as_str().into());
            config.insert(format!("permissions.{}.filesystem", self.profile), files);
        }
        Value::Object(config)
    }

    /// Compares what codex says that it works with. Nothing was said to it so far.
    pub(super) fn verify_echo(&self, echo: &Value) -> TurnResult<()> {
        let sandbox = &echo["sandbox"];
        let profile = &echo["activePermissionProfile"];
        let confined = profile["id"] == self.profile.as_str() && profile["extends"].is_null();
        let roots_are_ours = |roots: &Value| {
            let all = roots.as_array().map(Vec::as_slice).unwrap_or_default();
            all.iter().all(|root| *root == self.directory.as_str())
        };
        let as_wanted = match self.request.access {
            Access::ReadOnly | Access::Ask => {
                confined && sandbox["type"] == "readOnly" && sandbox["networkAccess"] == false
            }
            Access::Workspace => {
                confined
                    && sandbox["type"] == "workspaceWrite"
                    && sandbox["networkAccess"] == false
                    && sandbox["excludeSlashTmp"] == true
                    && sandbox["excludeTmpdirEnvVar"] == true
                    && roots_are_ours(&sandbox["writableRoots"])
                    && roots_are_ours(&echo["runtimeWorkspaceRoots"])
            }
            Access::Full => sandbox["type"] == "dangerFullAccess",
        };
        let by_us = echo["approvalPolicy"] == self.approval() && echo["approvalsReviewer"] == "user";
        if as_wanted && by_us && echo["cwd"] == self.directory.as_str() {
            return Ok(());
        }
        let got = json!({
            "sandbox": sandbox, "profile": profile, "roots": echo["runtimeWorkspaceRoots"], "approvals": echo["approvalPolicy"],
            "reviewer": echo["approvalsReviewer"], "directory": echo["cwd"],
        });
        Err(PROFILE.access_mismatch(self.request.access, got.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_that_is_a_commit_or_an_expression_is_no_branch() {
        for name in ["main", "origin/main", "feature/a-b_c", "v1.2", "be", "release'd"] {
            assert!(names_a_branch(name), "{name}");
        }
        let others =
            ["", "-o/x", "HEAD", "origin/HEAD", "@", "HEAD~1", "main^", "a..b", "a b", "deadbeef", ":/fix"];
        for name in others.into_iter().chain(["main@{1}", "a\nb", "0123456789abcdef0123456789abcdef01234567"])
        {
            assert!(!names_a_branch(name), "{name}");
        }
    }

    #[test]
    fn names_of_tool_servers_are_quoted() {
        assert_eq!(quoted("a.b\"c"), "\"a.b\\\"c\"");
    }
}
