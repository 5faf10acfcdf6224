//! The one list of tools.

use std::sync::{Arc, LazyLock};

use crate::builtin::{
    ask, bash, checkpoint, edit, exit_plan, find, goal, job, read, search, todo_write, write,
};
use crate::tool::Tool;

/// In the order in which models read about them, which stays the same for the sake of prompt caches.
static ALL: LazyLock<Vec<Arc<dyn Tool>>> = LazyLock::new(|| {
    vec![
        Arc::new(read::ReadTool),
        Arc::new(search::SearchTool),
        Arc::new(find::FindTool),
        Arc::new(edit::EditTool),
        Arc::new(write::WriteTool),
        Arc::new(bash::BashTool),
        Arc::new(job::JobTool),
        Arc::new(todo_write::TodoWriteTool),
        Arc::new(goal::GoalTool),
        Arc::new(ask::AskTool),
        Arc::new(checkpoint::CheckpointTool),
        Arc::new(checkpoint::RewindTool),
        Arc::new(exit_plan::ExitPlanTool),
    ]
});

pub fn all() -> &'static [Arc<dyn Tool>] {
    &ALL
}

/// By the name that models call.
pub fn by_name(name: &str) -> Option<&'static Arc<dyn Tool>> {
    all().iter().find(|tool| tool.name() == name)
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
            assert!(Arc::ptr_eq(by_name(tool.name()).unwrap(), tool));
        }
        assert!(by_name("nothing").is_none());
    }

    #[test]
    fn only_what_looks_runs_beside_others() {
        let shared = all().iter().filter(|tool| tool.concurrency() == crate::tool::ToolConcurrency::Shared);
        let names: Vec<&str> = shared.map(|tool| tool.name()).collect();
        assert_eq!(names, ["read", "search", "find"]);
    }
}
