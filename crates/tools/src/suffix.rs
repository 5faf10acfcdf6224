//! A path that leads nowhere, and the one file that ends like it.

use std::path::PathBuf;
use std::time::Duration;

use relaycode_llm::CancelToken;

use crate::tool::ToolError;
use crate::walk::{WalkLimits, WalkTarget, walk};
use crate::workspace::ToolWorkspace;

/// Time for the look.
const SUFFIX_TIMEOUT: Duration = Duration::from_secs(5);
/// Candidates that are named.
const MAX_NAMED: usize = 5;

pub(crate) enum SuffixMatch {
    /// Exactly one file ends like it.
    One(PathBuf),
    /// None or several: what to tell the model.
    Other(String),
}

pub(crate) fn find_by_suffix(
    text: &str,
    workspace: &ToolWorkspace,
    cancel: &CancelToken,
) -> Result<SuffixMatch, ToolError> {
    let wanted = text.trim().trim_start_matches("./").trim_matches('/');
    let missing = format!("`{text}` does not exist");
    if wanted.is_empty() || wanted.split('/').any(|part| part == "..") {
        return Ok(SuffixMatch::Other(missing));
    }
    let target = WalkTarget::beneath(workspace.root().to_path_buf(), workspace)?;
    let limits = WalkLimits { hidden: true, gitignore: true, deadline: Some(SUFFIX_TIMEOUT), cancel };
    let found = walk(&[target], &limits)?;
    let ends_like = |ends: &str| -> Vec<&PathBuf> {
        let suffix = format!("/{ends}");
        found.files.iter().filter(|path| path.to_str().is_some_and(|path| path.ends_with(&suffix))).collect()
    };
    let matches = ends_like(wanted);
    if let [one] = matches[..]
        && !found.cut_short
    {
        return Ok(SuffixMatch::One(one.clone()));
    }
    let name = wanted.rsplit('/').next().unwrap_or(wanted);
    let named = if matches.is_empty() { ends_like(name) } else { matches };
    if named.is_empty() {
        return Ok(SuffixMatch::Other(format!("{missing}; `find` lists what is there")));
    }
    let mut listed: Vec<String> =
        named.iter().take(MAX_NAMED).map(|path| format!("`{}`", workspace.shown_path(path))).collect();
    if named.len() > MAX_NAMED {
        listed.push(format!("{} more", named.len() - MAX_NAMED));
    }
    Ok(SuffixMatch::Other(format!("{missing}; did you mean {}?", listed.join(" or "))))
}
