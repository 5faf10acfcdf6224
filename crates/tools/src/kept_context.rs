//! What a model must not lose when its conversation is summed up: whoever has something that counts word for word gives it here.
//! One trait, one list.

use std::fmt::Write;
use std::path::Path;

use crate::file_text::{MAX_FILE_BYTES, read_bounded};
use crate::workspace::{CheckpointState, PLAN_ADDRESS, ToolWorkspace};

/// Files that are named.
const MAX_OPEN_EDITS: usize = 50;

/// Something that stands in every summary as it is.
pub trait KeptContext: Sync {
    /// The tag that stands around it.
    fn name(&self) -> &'static str;

    /// As the model reads it; `None`: there is nothing.
    fn text(&self, workspace: &ToolWorkspace) -> Option<String>;
}

const ALL: &[&dyn KeptContext] = &[&PlanningContext, &GoalContext, &TodoContext, &CheckpointContext];

/// Names and texts, in the order of the list.
pub fn kept_contexts(workspace: &ToolWorkspace) -> Vec<(&'static str, String)> {
    ALL.iter().filter_map(|kept| Some((kept.name(), kept.text(workspace)?))).collect()
}

/// That the agent plans.
struct PlanningContext;

impl KeptContext for PlanningContext {
    fn name(&self) -> &'static str {
        "mode"
    }

    fn text(&self, workspace: &ToolWorkspace) -> Option<String> {
        let text = format!(
            "You plan: nothing changes but the plan, which you write to {PLAN_ADDRESS}. Call `exit_plan` when it is whole."
        );
        workspace.is_planning().then_some(text)
    }
}

/// What the agent works towards.
struct GoalContext;

impl KeptContext for GoalContext {
    fn name(&self) -> &'static str {
        "goal"
    }

    fn text(&self, workspace: &ToolWorkspace) -> Option<String> {
        workspace.goal().filter(|goal| !goal.status.is_over()).map(|goal| goal.to_text())
    }
}

/// The list of what is to be done.
struct TodoContext;

impl KeptContext for TodoContext {
    fn name(&self) -> &'static str {
        "todo-list"
    }

    fn text(&self, workspace: &ToolWorkspace) -> Option<String> {
        workspace.todos().kept_text()
    }
}

/// A mark that is set.
struct CheckpointContext;

impl KeptContext for CheckpointContext {
    fn name(&self) -> &'static str {
        "checkpoint"
    }

    fn text(&self, workspace: &ToolWorkspace) -> Option<String> {
        match &*workspace.checkpoint() {
            CheckpointState::Active(mark) => {
                Some(format!("A checkpoint is active; `rewind` goes back to it. Its goal: {}", mark.goal))
            }
            CheckpointState::None | CheckpointState::Rewinding(_) => None,
        }
    }
}

/// The files that the agent changed, the newest last, each with what became of it.
pub fn describe_open_edits(workspace: &ToolWorkspace, changed: &[String]) -> Option<String> {
    let mut text = String::new();
    let left_out = changed.len().saturating_sub(MAX_OPEN_EDITS);
    if left_out > 0 {
        let _ = writeln!(text, "({left_out} more)");
    }
    for path in &changed[left_out..] {
        let _ = writeln!(text, "- {path}: {}", describe_state(workspace, path));
    }
    (!changed.is_empty()).then(|| text.trim_end().to_string())
}

fn describe_state(workspace: &ToolWorkspace, path: &str) -> &'static str {
    let full = workspace.root().join(Path::new(path));
    let Ok(bytes) = read_bounded(&full, MAX_FILE_BYTES) else {
        return "not there any more, or not to be read";
    };
    match workspace.shown().get(&full) {
        Some(shown) if shown.is(&bytes) => "as you left it; anchors that you were shown still hold",
        Some(_) => "changed since by somebody else; read it again",
        None => "read it again before you edit it by anchors",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::TestProject;

    #[test]
    fn the_goal_and_that_the_agent_plans_are_kept_word_for_word() {
        let mut project = TestProject::new(&[]);
        assert!(kept_contexts(&project.workspace).is_empty());
        project.text("goal", json!({"op": "create", "objective": "All tests pass"}));
        assert_eq!(
            kept_contexts(&project.workspace),
            [("goal", "Goal (active): All tests pass".to_string())]
        );
        project.text("goal", json!({"op": "drop"}));
        project.workspace.artifacts = Some(project.outside().join("session"));
        project.workspace.begin_planning().unwrap();
        let kept = kept_contexts(&project.workspace);
        assert!(kept.len() == 1 && kept[0].0 == "mode" && kept[0].1.contains("plan://"), "{kept:?}");
    }

    #[test]
    fn what_is_to_be_done_is_kept_word_for_word() {
        let project = TestProject::new(&[]);
        assert!(kept_contexts(&project.workspace).is_empty());
        let list = json!([{"phase": "Build", "items": ["look at  `a.rs`", "write"]}]);
        project
            .call(
                "todo_write",
                json!({"ops": [{"op": "init", "list": list}, {"op": "done", "task": "write"},
            {"op": "note", "task": "look at  `a.rs`", "text": "line 7"}]}),
            )
            .unwrap();
        let kept = kept_contexts(&project.workspace);
        let expected = "Build\n  [/] look at  `a.rs`\n      note: line 7\n  [x] write";
        assert_eq!(kept, [("todo-list", expected.to_string())]);
    }

    #[test]
    fn open_edits_say_what_became_of_each_file() {
        let project = TestProject::new(&[("a.txt", "one\n"), ("b.txt", "one\n"), ("c.txt", "one\n")]);
        for path in ["a.txt", "b.txt"] {
            project.call("read", json!({ "path": path })).unwrap();
        }
        project.put("b.txt", "two\n");
        let names: Vec<String> = ["a.txt", "b.txt", "c.txt", "gone.txt"].map(String::from).to_vec();
        let expected = "- a.txt: as you left it; anchors that you were shown still hold\n\
            - b.txt: changed since by somebody else; read it again\n\
            - c.txt: read it again before you edit it by anchors\n\
            - gone.txt: not there any more, or not to be read";
        assert_eq!(describe_open_edits(&project.workspace, &names).unwrap(), expected);
        assert_eq!(describe_open_edits(&project.workspace, &[]), None);
        let many: Vec<String> = (0..=MAX_OPEN_EDITS).map(|at| format!("f{at}")).collect();
        assert!(describe_open_edits(&project.workspace, &many).unwrap().starts_with("(1 more)\n- f1:"));
    }
}
