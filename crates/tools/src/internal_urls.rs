//! Addresses of things that are no files: `artifact://3`. One trait, one list; `read` asks it first.

use std::fs;

use crate::file_text::{MAX_FILE_BYTES, read_bounded};
use crate::workspace::ToolWorkspace;

/// Artifacts that are named when one is not found.
const MAX_LISTED: usize = 20;

/// A kind of address.
pub(crate) trait InternalUrls: Sync {
    /// Without `://`.
    fn scheme(&self) -> &'static str;

    /// What is there.
    ///
    /// # Errors
    /// A sentence for the model.
    fn read(&self, rest: &str, workspace: &ToolWorkspace) -> Result<Vec<u8>, String>;
}

const ALL: &[&dyn InternalUrls] = &[&ArtifactUrls];

/// The kind of an address and what follows `://`.
pub(crate) fn route(text: &str) -> Option<(&'static dyn InternalUrls, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    ALL.iter().copied().find(|urls| urls.scheme() == scheme).map(|urls| (urls, rest))
}

/// The schemes that are known, for a message.
pub(crate) fn schemes() -> String {
    ALL.iter().map(|urls| format!("{}://", urls.scheme())).collect::<Vec<_>>().join(", ")
}

/// Outputs that were too long to be shown whole: numbered files beside the session.
struct ArtifactUrls;

impl InternalUrls for ArtifactUrls {
    fn scheme(&self) -> &'static str {
        "artifact"
    }

    fn read(&self, rest: &str, workspace: &ToolWorkspace) -> Result<Vec<u8>, String> {
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
        read_bounded(&directory.join(name), MAX_FILE_BYTES)
            .map_err(|error| format!("artifact://{rest} cannot be read: {error}"))
    }
}
