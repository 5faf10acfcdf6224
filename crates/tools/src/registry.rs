//! The one list of tools.

use crate::builtin::{edit, find, read, search, write};
use crate::tool::Tool;

/// In the order in which models read about them, which stays the same for the sake of prompt caches.
const ALL: &[&dyn Tool] =
    &[&read::ReadTool, &search::SearchTool, &find::FindTool, &edit::EditTool, &write::WriteTool];

pub fn all() -> &'static [&'static dyn Tool] {
    ALL
}

/// By the name that models call.
pub fn by_name(name: &str) -> Option<&'static dyn Tool> {
    all().iter().copied().find(|tool| tool.name() == name)
}
