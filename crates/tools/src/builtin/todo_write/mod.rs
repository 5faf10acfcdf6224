//! `todo_write`: the list of what is to be done, which people see. What an operation gets wrong is said, and the others count
//! all the same.

mod todo_list;

use relaycode_llm::request;
use relaycode_text::plural::pluralize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) use todo_list::TodoList;
pub use todo_list::{TodoItem, TodoPhase, TodoStatus};

use crate::card::{CardBody, ToolCard};
use crate::schema;
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput};
use crate::workspace::ToolWorkspace;

/// Operations of one call.
const MAX_OPS: usize = 200;

pub(crate) struct TodoWriteTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoWriteInput {
    /// At least one; applied in order.
    #[schemars(length(min = 1))]
    ops: Vec<TodoOp>,
}

/// One operation; which fields it needs depends on `op`.
#[derive(Debug, Deserialize, JsonSchema)]
struct TodoOp {
    /// `init`: a new list (`list`). `start`: work on `task`. `done`, `drop`, `rm`: of `task`, else of all in `phase`, else of
    /// all. `append`: `items` to `phase`. `note`: `text` to `task`.
    op: TodoOpKind,
    /// For `init`: the phases with their tasks.
    #[serde(default)]
    list: Option<Vec<TodoPhaseInput>>,
    /// The exact text of a task.
    #[serde(default)]
    task: Option<String>,
    /// The exact name of a phase.
    #[serde(default)]
    phase: Option<String>,
    /// For `append`: new tasks.
    #[serde(default)]
    #[schemars(length(min = 1))]
    items: Option<Vec<String>>,
    /// For `note`.
    #[serde(default)]
    text: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TodoOpKind {
    Init,
    Start,
    Done,
    Rm,
    Drop,
    Append,
    Note,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoPhaseInput {
    phase: String,
    #[schemars(length(min = 1))]
    items: Vec<String>,
}

impl Tool for TodoWriteTool {
    fn name(&self) -> &'static str {
        "todo_write"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<TodoWriteInput>(self.name(), include_str!("../../../prompts/todo_write.md"))
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let TodoWriteInput { ops } = schema::read_input(call)?;
        if ops.is_empty() || ops.len() > MAX_OPS {
            return Err(ToolError::refused(format!("`ops` needs 1 to {MAX_OPS} operations")));
        }
        let mut list = call.workspace.todos().clone();
        let errors: Vec<String> = ops.into_iter().filter_map(|op| op.apply(&mut list).err()).collect();
        list.normalise();
        let (done, all) = list.progress();
        let mut text = String::new();
        if !errors.is_empty() {
            text.push_str(&format!("Errors: {}\n", errors.join("; ")));
        }
        if list.phases.is_empty() && errors.is_empty() {
            text.push_str("Todo list cleared.");
        } else {
            list.write_summary(&mut text);
        }
        let summary = match list.active() {
            Some(task) => format!("{done} of {} done, now: {}", pluralize(all, "task"), task.content),
            None => format!("{done} of {} done", pluralize(all, "task")),
        };
        let body = CardBody::Todo { phases: list.phases.clone() };
        let card = ToolCard::new("todo", summary, body);
        let storage = if call.workspace.artifacts.is_some() { "session" } else { "memory" };
        let details = json!({ "phases": list.phases, "storage": storage });
        *call.workspace.todos() = list;
        Ok(ToolOutput::text(text, card).with_details(details))
    }

    fn keeps_state(&self) -> bool {
        true
    }

    /// What was done or dropped is not taken up again.
    fn restore(&self, workspace: &ToolWorkspace, details: &Value) {
        let phases = details.get("phases").cloned().map(serde_json::from_value::<Vec<TodoPhase>>);
        if let Some(Ok(phases)) = phases {
            *workspace.todos() = TodoList::restored(phases);
        }
    }
}

impl TodoOp {
    fn apply(self, list: &mut TodoList) -> Result<(), String> {
        let TodoOp { op, list: phases, task, phase, items, text } = self;
        match op {
            TodoOpKind::Init => {
                let phases = phases.ok_or("Missing list for init operation")?;
                list.replace(phases.into_iter().map(|given| (given.phase, given.items)))
            }
            TodoOpKind::Start => list.start(&task.ok_or("Missing task content")?),
            TodoOpKind::Done => list.finish(task.as_deref(), phase.as_deref(), false),
            TodoOpKind::Drop => list.finish(task.as_deref(), phase.as_deref(), true),
            TodoOpKind::Rm => list.remove(task.as_deref(), phase.as_deref()),
            TodoOpKind::Append => {
                let phase = phase.ok_or("Missing phase name for append operation")?;
                let items = items.filter(|items| !items.is_empty());
                list.append(&phase, items.ok_or("Missing items for append operation")?)
            }
            TodoOpKind::Note => {
                let task = task.ok_or("Missing task content")?;
                list.note(&task, text.as_deref().unwrap_or_default())
            }
        }
    }
}

#[cfg(test)]
mod tests;
