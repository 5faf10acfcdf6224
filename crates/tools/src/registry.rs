//! The one list of tools.

use crate::builtin::{ask, bash, checkpoint, edit, find, job, read, search, todo_write, write};
use crate::tool::Tool;

/// In the order in which models read about them, which stays the same for the sake of prompt caches.
const ALL: &[&dyn Tool] = &[
    &read::ReadTool,
    &search::SearchTool,
    &find::FindTool,
    &edit::EditTool,
    &write::WriteTool,
    &bash::BashTool,
    &job::JobTool,
    &todo_write::TodoWriteTool,
    &ask::AskTool,
    &checkpoint::CheckpointTool,
    &checkpoint::RewindTool,
];

pub fn all() -> &'static [&'static dyn Tool] {
    ALL
}

/// By the name that models call.
pub fn by_name(name: &str) -> Option<&'static dyn Tool> {
    all().iter().copied().find(|tool| tool.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::TestProject;

    #[test]
    fn names_are_unique_and_every_definition_is_whole() {
        let project = TestProject::new(&[]);
        for tool in all() {
            let defined = tool.definition(&project.workspace);
            assert_eq!(defined.name, tool.name());
            assert!(!defined.description.is_empty());
            assert_eq!(defined.parameters["type"], "object", "{}", tool.name());
            let fields = defined.parameters["properties"].as_object().unwrap();
            assert!(!fields.is_empty());
            assert!(
                std::ptr::addr_eq(by_name(tool.name()).unwrap(), *tool)
                    || by_name(tool.name()).unwrap().name() == tool.name()
            );
        }
        assert!(by_name("nothing").is_none());
    }
}
