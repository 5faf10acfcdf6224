//! Phases of tasks. Invariant, after [`TodoList::normalise`]: one task is in progress, unless none is left to be done.

use std::collections::BTreeSet;
use std::fmt::Write;

use relaycode_text::width::clip_for_message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tasks of the whole list.
const MAX_TASKS: usize = 500;
/// Notes of one task.
const MAX_NOTES: usize = 50;
/// Bytes of one task's text, of a phase's name, of a note.
const MAX_TEXT_BYTES: usize = 4_000;
/// Cells of a text that an error quotes.
const MAX_QUOTED_CELLS: usize = 80;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TodoList {
    pub(super) phases: Vec<TodoPhase>,
}

/// A part of what is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TodoPhase {
    pub name: String,
    pub tasks: Vec<TodoItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TodoItem {
    pub content: String,
    #[serde(default)]
    pub status: TodoStatus,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
    Abandoned,
}

impl TodoItem {
    fn new(content: String) -> TodoItem {
        TodoItem { content, status: TodoStatus::Pending, notes: Vec::new() }
    }

    fn is_open(&self) -> bool {
        matches!(self.status, TodoStatus::Pending | TodoStatus::InProgress)
    }
}

impl TodoList {
    /// What a session that goes on had left to do.
    pub(super) fn restored(mut phases: Vec<TodoPhase>) -> TodoList {
        for phase in &mut phases {
            phase.tasks.retain(TodoItem::is_open);
        }
        phases.retain(|phase| !phase.tasks.is_empty());
        let mut list = TodoList { phases };
        list.normalise();
        list
    }

    pub(crate) fn phases(&self) -> &[TodoPhase] {
        &self.phases
    }

    /// A list that a person brings, with what is done of it.
    pub(crate) fn of_user(phases: Vec<TodoPhase>) -> Result<TodoList, String> {
        let mut known = BTreeSet::new();
        for phase in &phases {
            check_text(&phase.name)?;
            for task in &phase.tasks {
                check_text(&task.content)?;
                if !known.insert(&task.content) {
                    return Err(already_there(&task.content));
                }
                task.notes.iter().try_for_each(|note| check_text(note))?;
                if task.notes.len() > MAX_NOTES {
                    return Err(format!(
                        "Task \"{}\" has more than {MAX_NOTES} notes",
                        quoted(&task.content)
                    ));
                }
            }
        }
        check_count(phases.iter().map(|phase| phase.tasks.len().max(1)).sum())?;
        let mut list = TodoList { phases };
        list.normalise();
        Ok(list)
    }

    /// Texts are names: one that is there twice would be meant by neither of two operations. The first one counts.
    pub(super) fn replace(
        &mut self,
        phases: impl Iterator<Item = (String, Vec<String>)>,
    ) -> Result<(), String> {
        let mut all: Vec<TodoPhase> = Vec::new();
        let (mut known, mut errors) = (BTreeSet::new(), Vec::new());
        for (name, items) in phases {
            check_text(&name)?;
            items.iter().try_for_each(|item| check_text(item))?;
            let at = all.iter().position(|phase| phase.name == name).unwrap_or_else(|| {
                all.push(TodoPhase { name, tasks: Vec::new() });
                all.len() - 1
            });
            for item in items {
                match known.insert(item.clone()) {
                    true => all[at].tasks.push(TodoItem::new(item)),
                    false => errors.push(already_there(&item)),
                }
            }
        }
        check_count(all.iter().map(|phase| phase.tasks.len().max(1)).sum())?;
        self.phases = all;
        if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
    }

    pub(super) fn start(&mut self, task: &str) -> Result<(), String> {
        self.find(task)?;
        let is_active = |task: &&mut TodoItem| task.status == TodoStatus::InProgress;
        self.tasks_mut().filter(is_active).for_each(|task| task.status = TodoStatus::Pending);
        self.find(task)?.status = TodoStatus::InProgress;
        Ok(())
    }

    /// Done, or given up.
    pub(super) fn finish(
        &mut self,
        task: Option<&str>,
        phase: Option<&str>,
        given_up: bool,
    ) -> Result<(), String> {
        let status = if given_up { TodoStatus::Abandoned } else { TodoStatus::Completed };
        match (task, phase) {
            (Some(task), _) => self.find(task)?.status = status,
            (None, Some(phase)) => {
                self.find_phase(phase)?.tasks.iter_mut().for_each(|task| task.status = status);
            }
            (None, None) => self.tasks_mut().for_each(|task| task.status = status),
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, task: Option<&str>, phase: Option<&str>) -> Result<(), String> {
        match (task, phase) {
            (Some(task), _) => {
                self.find(task)?;
                for phase in &mut self.phases {
                    if let Some(at) = phase.tasks.iter().position(|item| item.content == task) {
                        phase.tasks.remove(at);
                        break;
                    }
                }
            }
            (None, Some(phase)) => self.find_phase(phase)?.tasks.clear(),
            (None, None) => self.phases.clear(),
        }
        Ok(())
    }

    pub(super) fn append(&mut self, phase: &str, items: Vec<String>) -> Result<(), String> {
        check_text(phase)?;
        let at = self.phases.iter().position(|known| known.name == phase).unwrap_or_else(|| {
            self.phases.push(TodoPhase { name: phase.to_string(), tasks: Vec::new() });
            self.phases.len() - 1
        });
        let mut errors = Vec::new();
        for item in items {
            let count = self.phases.iter().map(|phase| phase.tasks.len().max(1)).sum::<usize>();
            let is_known = self.phases.iter().flat_map(|phase| &phase.tasks).any(|task| task.content == item);
            match check_text(&item).and_then(|()| check_count(count + 1)) {
                Err(error) => errors.push(error),
                Ok(()) if is_known => errors.push(already_there(&item)),
                Ok(()) => self.phases[at].tasks.push(TodoItem::new(item)),
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
    }

    pub(super) fn note(&mut self, task: &str, text: &str) -> Result<(), String> {
        let task = self.find(task)?;
        let text = text.trim_end();
        if text.is_empty() {
            return Err("Missing text for note operation".to_string());
        }
        check_text(text)?;
        if task.notes.len() >= MAX_NOTES {
            return Err(format!("Task \"{}\" has {MAX_NOTES} notes already", quoted(&task.content)));
        }
        task.notes.push(text.to_string());
        Ok(())
    }

    /// One task is in progress: the first that is, else the first that waits.
    pub(super) fn normalise(&mut self) {
        let mut has_active = false;
        for task in self.tasks_mut().filter(|task| task.status == TodoStatus::InProgress) {
            if std::mem::replace(&mut has_active, true) {
                task.status = TodoStatus::Pending;
            }
        }
        if !has_active && let Some(next) = self.tasks_mut().find(|task| task.is_open()) {
            next.status = TodoStatus::InProgress;
        }
    }

    pub(super) fn active(&self) -> Option<&TodoItem> {
        self.tasks().find(|task| task.status == TodoStatus::InProgress)
    }

    /// Tasks that are done or dropped, and all.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.tasks().filter(|task| !task.is_open()).count(), self.tasks().count())
    }

    /// What is left, where the work is, and the whole list.
    pub(super) fn write_summary(&self, text: &mut String) {
        let left: Vec<(&TodoPhase, &TodoItem)> = self
            .phases
            .iter()
            .flat_map(|phase| phase.tasks.iter().map(move |task| (phase, task)))
            .filter(|(_, task)| task.is_open())
            .collect();
        let _ = match left.len() {
            0 => writeln!(text, "Remaining items: none."),
            count => writeln!(text, "Remaining items ({count}):"),
        };
        for (phase, task) in &left {
            let now = if task.status == TodoStatus::InProgress { " [in_progress]" } else { "" };
            let _ = writeln!(text, "- {}{now} ({})", task.content, phase.name);
        }
        if let Some((phase, task)) = left.iter().find(|(_, task)| task.status == TodoStatus::InProgress) {
            for note in &task.notes {
                let _ = writeln!(text, "  note: {}", note.replace('\n', "\n  "));
            }
            let done = phase.tasks.iter().filter(|task| !task.is_open()).count();
            let _ = writeln!(text, "Current phase: {} ({done} of {} done)", phase.name, phase.tasks.len());
        }
        let _ = write!(text, "\n{}", self.to_tree());
    }

    /// The whole list with the notes of what is not done; `None` if there is nothing in it.
    pub(crate) fn kept_text(&self) -> Option<String> {
        let text = self.write_tree(true);
        (!text.is_empty()).then(|| text.trim_end().to_string())
    }

    /// Each phase with its tasks and their marks.
    pub(super) fn to_tree(&self) -> String {
        self.write_tree(false)
    }

    fn write_tree(&self, with_notes: bool) -> String {
        let mut text = String::new();
        for phase in &self.phases {
            let _ = writeln!(text, "{}", phase.name);
            for task in &phase.tasks {
                let mark = match task.status {
                    TodoStatus::Pending => ' ',
                    TodoStatus::InProgress => '/',
                    TodoStatus::Completed => 'x',
                    TodoStatus::Abandoned => '-',
                };
                let _ = writeln!(text, "  [{mark}] {}", task.content);
                for note in task.notes.iter().filter(|_| with_notes && task.is_open()) {
                    let _ = writeln!(text, "      note: {}", note.replace('\n', "\n      "));
                }
            }
        }
        text
    }

    fn tasks(&self) -> impl Iterator<Item = &TodoItem> {
        self.phases.iter().flat_map(|phase| &phase.tasks)
    }

    fn tasks_mut(&mut self) -> impl Iterator<Item = &mut TodoItem> {
        self.phases.iter_mut().flat_map(|phase| &mut phase.tasks)
    }

    fn find(&mut self, task: &str) -> Result<&mut TodoItem, String> {
        if task.is_empty() {
            return Err("Missing task content".to_string());
        }
        let hint = if self.tasks().next().is_none() { ": the list is empty, `init` makes one" } else { "" };
        let missing = format!("Task \"{}\" not found{hint}", quoted(task));
        self.tasks_mut().find(|item| item.content == task).ok_or(missing)
    }

    fn find_phase(&mut self, phase: &str) -> Result<&mut TodoPhase, String> {
        if phase.is_empty() {
            return Err("Missing phase name".to_string());
        }
        let missing = format!("Phase \"{}\" not found", quoted(phase));
        self.phases.iter_mut().find(|known| known.name == phase).ok_or(missing)
    }
}

fn check_text(text: &str) -> Result<(), String> {
    match text.len() {
        0 => Err("A task or a phase without text was left out".to_string()),
        len if len > MAX_TEXT_BYTES => {
            Err(format!("\"{}\" has more than {MAX_TEXT_BYTES} bytes", quoted(text)))
        }
        _ => Ok(()),
    }
}

fn check_count(count: usize) -> Result<(), String> {
    if count > MAX_TASKS { Err(format!("A list has at most {MAX_TASKS} tasks")) } else { Ok(()) }
}

fn already_there(task: &str) -> String {
    format!("Task \"{}\" already exists", quoted(task))
}

fn quoted(text: &str) -> String {
    clip_for_message(text, MAX_QUOTED_CELLS)
}
