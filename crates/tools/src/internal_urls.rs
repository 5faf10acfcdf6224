//! Addresses of things that are no files: `artifact://3`. One trait, one list; `read` asks it first.

use std::fs;
use std::path::PathBuf;

use relaycode_llm::CancelToken;

use crate::file_text::{MAX_FILE_BYTES, read_bounded};
use crate::tool::{ToolError, ToolInvocation};
use crate::workspace::{PLAN_ADDRESS, PLAN_FILE, ToolWorkspace};

/// Artifacts that are named when one is not found.
const MAX_LISTED: usize = 20;

/// A kind of address.
pub(crate) trait InternalUrls: Sync {
    /// Without `://`.
    fn scheme(&self) -> &'static str;

    /// The file where it is, for commands.
    ///
    /// # Errors
    /// A sentence for the model.
    fn file(&self, rest: &str, _workspace: &ToolWorkspace) -> Result<PathBuf, String> {
        Err(format!("{}://{rest} is no file: `read` shows it", self.scheme()))
    }

    /// What is there.
    ///
    /// # Errors
    /// A sentence for the model.
    fn read(&self, rest: &str, workspace: &ToolWorkspace) -> Result<Vec<u8>, String> {
        let file = self.file(rest, workspace)?;
        read_bounded(&file, MAX_FILE_BYTES)
            .map_err(|error| format!("{}://{rest} cannot be read: {error}", self.scheme()))
    }
}

/// Files that are none: whoever wires the session serves them, under addresses with schemes of its own.
pub trait VirtualFiles: Send + Sync {
    /// Without `://`; none of relay's own.
    fn schemes(&self) -> Vec<String>;

    /// # Errors
    /// A sentence for the model.
    fn read(&self, address: &str, cancel: &CancelToken) -> Result<Vec<u8>, String>;

    /// # Errors
    /// A sentence for the model.
    fn write(&self, address: &str, content: &str, cancel: &CancelToken) -> Result<(), String>;
}

const ALL: &[&dyn InternalUrls] = &[&ArtifactUrls, &HistoryUrls, &PlanUrls];

/// The kind of an address and what follows `://`.
pub(crate) fn route(text: &str) -> Option<(&'static dyn InternalUrls, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    ALL.iter().copied().find(|urls| urls.scheme() == scheme).map(|urls| (urls, rest))
}

pub(crate) fn known_schemes() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|urls| urls.scheme())
}

/// What is at a virtual address; `None`: it is none.
pub(crate) fn read_virtual(call: &ToolInvocation<'_>, address: &str) -> Option<Result<Vec<u8>, ToolError>> {
    let files = call.workspace.virtual_files_at(address)?;
    let read = files.read(address, call.cancel).and_then(|bytes| match bytes.len() as u64 > MAX_FILE_BYTES {
        true => Err(format!("`{address}` has more than {} MB", MAX_FILE_BYTES >> 20)),
        false => Ok(bytes),
    });
    Some(read.map_err(|said| refusal_or_abort(call, said)))
}

/// Writes to a virtual address; `None`: it is none.
pub(crate) fn write_virtual(
    call: &ToolInvocation<'_>,
    address: &str,
    content: &str,
) -> Option<Result<(), ToolError>> {
    let files = call.workspace.virtual_files_at(address)?;
    if let Err(error) = call.workspace.check_not_planning(address) {
        return Some(Err(error));
    }
    if !call.workspace.access.may_write() {
        let said = "nothing can be written in this session: its access is read-only";
        return Some(Err(ToolError::refused(said)));
    }
    Some(files.write(address, content, call.cancel).map_err(|said| refusal_or_abort(call, said)))
}

fn refusal_or_abort(call: &ToolInvocation<'_>, said: String) -> ToolError {
    if call.cancel.is_cancelled() { ToolError::Aborted } else { ToolError::refused(said) }
}

/// Whether relay has addresses of its own with this scheme.
pub fn is_internal_scheme(scheme: &str) -> bool {
    known_schemes().any(|known| known == scheme)
}

/// The schemes that are known, for a message.
pub(crate) fn schemes(workspace: &ToolWorkspace) -> String {
    let own = known_schemes().map(str::to_string);
    own.chain(workspace.virtual_schemes()).map(|scheme| format!("{scheme}://")).collect::<Vec<_>>().join(", ")
}

/// The conversation itself, for what its model does not see any more.
pub trait ConversationHistory: Send + Sync {
    /// What `history://` and this stand for: an entry, `user` for all that the user said, nothing for a list.
    ///
    /// # Errors
    /// A sentence for the model.
    fn read(&self, rest: &str) -> Result<String, String>;
}

/// What was said before the conversation was summed up, and outputs that were cut.
struct HistoryUrls;

impl InternalUrls for HistoryUrls {
    fn scheme(&self) -> &'static str {
        "history"
    }

    fn read(&self, rest: &str, workspace: &ToolWorkspace) -> Result<Vec<u8>, String> {
        let history = workspace.history.as_ref().ok_or("this conversation has no history")?;
        history.read(rest).map(String::into_bytes)
    }
}

/// Outputs that were too long to be shown whole: numbered files beside the session.
struct ArtifactUrls;

impl InternalUrls for ArtifactUrls {
    fn scheme(&self) -> &'static str {
        "artifact"
    }

    fn file(&self, rest: &str, workspace: &ToolWorkspace) -> Result<PathBuf, String> {
        let directory = workspace.artifacts.as_ref().ok_or("this session keeps no artifacts")?;
        let names = fs::read_dir(directory).map(|entries| {
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>()
        });
        let names = names.unwrap_or_default();
        let number = |name: &str| name.split_once('.').and_then(|(number, _)| number.parse::<u64>().ok());
        let wanted: Option<u64> = rest.parse().ok();
        let Some(name) = names.iter().find(|name| wanted.is_some() && number(name) == wanted) else {
            let mut known: Vec<u64> = names.iter().filter_map(|name| number(name)).collect();
            known.sort_unstable();
            let listed: Vec<String> =
                known.iter().take(MAX_LISTED).map(|number| format!("artifact://{number}")).collect();
            let listed = if listed.is_empty() {
                "there are none".to_string()
            } else {
                format!("there are {}", listed.join(", "))
            };
            return Err(format!("there is no artifact `{rest}`; {listed}"));
        };
        Ok(directory.join(name))
    }
}

/// The plan of the session.
struct PlanUrls;

impl InternalUrls for PlanUrls {
    fn scheme(&self) -> &'static str {
        "plan"
    }

    fn read(&self, rest: &str, workspace: &ToolWorkspace) -> Result<Vec<u8>, String> {
        if !is_plan_name(rest) {
            return Err(format!("there is one plan, `{PLAN_ADDRESS}`"));
        }
        let plan = workspace.show_plan().map_err(|error| error.to_string())?;
        plan.map(String::into_bytes).ok_or_else(|| "there is no plan yet".to_string())
    }
}

/// What may follow the scheme of the plan.
pub(crate) fn is_plan_name(rest: &str) -> bool {
    rest.is_empty() || rest == PLAN_FILE
}
