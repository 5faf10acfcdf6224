//! Sessions to go on with: this project's first, Tab shows all.
//!
//! ```text
//! Resume a session · this project                                  2 of 31
//! › cart▏
//! ▸ round totals to cents                         now   4 messages   12 kB
//!   the cart's tests                        yesterday  19 messages   86 kB
//! Enter resume · Esc clear · Tab all projects · Ctrl+R rename · Ctrl+D delete
//! ```
//!
//! The view reads and removes nothing: a [`SessionOutcome`] says what is to be done.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use relaycode_session::SessionSummary;

use crate::input::{KeyCode, KeyPress};
use crate::picker::{ListPicker, PaintedRow, PickerItem, PickerOutcome, TextField, help_row, text_rows};
use crate::theme::{ThemeStyle, ThemeToken};
use crate::{clock, human_size, pluralize};

/// Whose sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionScope {
    Project,
    All,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionOutcome {
    Ignored,
    Changed,
    /// Go on with it.
    Resume {
        id: String,
        path: PathBuf,
        cwd: String,
        is_other_project: bool,
    },
    /// It is the one that is open.
    AlreadyThere,
    /// The sessions of all projects are wanted: [`SessionPicker::set_all`].
    LoadAll,
    /// The user said yes. [`SessionPicker::remove`] when it is gone.
    Delete {
        id: String,
        path: PathBuf,
    },
    /// The list shows the new title already.
    Rename {
        id: String,
        path: PathBuf,
        title: String,
    },
    Closed,
    Quit,
}

#[derive(Debug)]
enum SessionStage {
    Browse,
    Rename(TextField),
    ConfirmDelete,
}

/// The state of the list.
#[derive(Debug)]
pub struct SessionPicker {
    project: PathBuf,
    /// Id of the one that is open.
    current: Option<String>,
    sessions: Vec<SessionSummary>,
    all: Option<Vec<SessionSummary>>,
    scope: SessionScope,
    list: ListPicker<SessionSummary>,
    stage: SessionStage,
}

const KEYS_HERE: &[(&str, &str)] = &[("Tab", "all projects"), ("Ctrl+R", "rename"), ("Ctrl+D", "delete")];
const KEYS_ALL: &[(&str, &str)] = &[("Tab", "this project"), ("Ctrl+R", "rename"), ("Ctrl+D", "delete")];

impl SessionPicker {
    /// `sessions` of the project, newest first.
    pub fn new(project: &Path, current: Option<&str>, sessions: Vec<SessionSummary>) -> SessionPicker {
        let list = ListPicker::new("", "").with_preview().with_enter("resume");
        let mut picker = SessionPicker {
            project: project.to_path_buf(),
            current: current.map(str::to_string),
            sessions,
            all: None,
            scope: SessionScope::Project,
            list,
            stage: SessionStage::Browse,
        };
        picker.refill();
        picker
    }

    /// The sessions of all projects, newest first; the list shows them with this project's first.
    pub fn set_all(&mut self, mut sessions: Vec<SessionSummary>) {
        sessions.sort_by_key(|session| Path::new(&session.cwd) != self.project);
        self.all = Some(sessions);
        self.list.set_loading(false);
        self.refill();
    }

    /// It was deleted; the place stays.
    pub fn remove(&mut self, id: &str) {
        self.sessions.retain(|session| session.id != id);
        self.all.iter_mut().for_each(|all| all.retain(|session| session.id != id));
        self.refill();
    }

    pub fn scope(&self) -> SessionScope {
        self.scope
    }

    pub fn insert_text(&mut self, text: &str) {
        match &mut self.stage {
            SessionStage::Browse => self.list.insert_text(text),
            SessionStage::Rename(field) => {
                field.insert(text);
            }
            SessionStage::ConfirmDelete => {}
        }
    }

    pub fn handle_key(&mut self, key: KeyPress) -> SessionOutcome {
        match std::mem::replace(&mut self.stage, SessionStage::Browse) {
            SessionStage::Browse => self.browse_key(key),
            SessionStage::Rename(field) => self.rename_key(field, key),
            SessionStage::ConfirmDelete => match (key, self.list.selected()) {
                (key, Some(session)) if key == KeyPress::char('y') => {
                    SessionOutcome::Delete { id: session.id.clone(), path: session.path.clone() }
                }
                // Anything else keeps it.
                _ => SessionOutcome::Changed,
            },
        }
    }

    fn browse_key(&mut self, key: KeyPress) -> SessionOutcome {
        match key.code {
            KeyCode::Tab => return self.switch_scope(),
            KeyCode::Char('r') if key == KeyPress::ctrl('r') => {
                let Some(session) = self.list.selected() else { return SessionOutcome::Ignored };
                let title = session.title.clone().unwrap_or_default();
                self.stage = SessionStage::Rename(TextField::with_text(&title));
                return SessionOutcome::Changed;
            }
            KeyCode::Char('d') if key == KeyPress::ctrl('d') => return self.ask_delete(),
            KeyCode::Delete => return self.ask_delete(),
            _ => {}
        }
        match self.list.handle_key(key) {
            PickerOutcome::Ignored => SessionOutcome::Ignored,
            PickerOutcome::Changed => SessionOutcome::Changed,
            PickerOutcome::Closed => SessionOutcome::Closed,
            PickerOutcome::Quit => SessionOutcome::Quit,
            PickerOutcome::Chosen(_) => self.list.selected().map_or(SessionOutcome::Ignored, |session| {
                match self.current.as_deref() == Some(&session.id) {
                    true => SessionOutcome::AlreadyThere,
                    false => SessionOutcome::Resume {
                        id: session.id.clone(),
                        path: session.path.clone(),
                        cwd: session.cwd.clone(),
                        is_other_project: Path::new(&session.cwd) != self.project,
                    },
                }
            }),
        }
    }

    fn rename_key(&mut self, mut field: TextField, key: KeyPress) -> SessionOutcome {
        match key.code {
            KeyCode::Escape => SessionOutcome::Changed,
            _ if key == KeyPress::ctrl('c') => SessionOutcome::Changed,
            KeyCode::Enter => {
                let title = field.text().trim().to_string();
                let Some(session) = self.list.selected().filter(|_| !title.is_empty()) else {
                    return SessionOutcome::Changed;
                };
                let (id, path) = (session.id.clone(), session.path.clone());
                let both = self.sessions.iter_mut().chain(self.all.iter_mut().flatten());
                both.filter(|session| session.id == id)
                    .for_each(|session| session.title = Some(title.clone()));
                self.refill();
                SessionOutcome::Rename { id, path, title }
            }
            _ => {
                let changed = field.handle_key(key);
                self.stage = SessionStage::Rename(field);
                if changed { SessionOutcome::Changed } else { SessionOutcome::Ignored }
            }
        }
    }

    fn ask_delete(&mut self) -> SessionOutcome {
        let Some(session) = self.list.selected() else { return SessionOutcome::Ignored };
        if self.current.as_deref() == Some(&session.id) {
            return SessionOutcome::Ignored;
        }
        self.stage = SessionStage::ConfirmDelete;
        SessionOutcome::Changed
    }

    fn switch_scope(&mut self) -> SessionOutcome {
        self.scope = match self.scope {
            SessionScope::Project => SessionScope::All,
            SessionScope::All => SessionScope::Project,
        };
        let is_missing = self.scope == SessionScope::All && self.all.is_none();
        self.list.set_loading(is_missing);
        self.refill();
        if is_missing { SessionOutcome::LoadAll } else { SessionOutcome::Changed }
    }

    /// The list anew; the selected session stays selected if it is still there.
    fn refill(&mut self) {
        let selected = self.list.selected().map(|session| session.id.clone());
        let (sessions, scope, keys, empty) = match self.scope {
            SessionScope::Project => {
                let empty = "no session in this project yet; Tab shows all projects";
                (&self.sessions, "this project", KEYS_HERE, empty)
            }
            SessionScope::All => {
                (self.all.as_ref().unwrap_or(&self.sessions), "all projects", KEYS_ALL, "no session yet")
            }
        };
        let items: Vec<_> = sessions.iter().map(|session| self.item(session)).collect();
        let place = selected.and_then(|id| items.iter().position(|item| item.value.id == id));
        self.list.set_title(format!("Resume a session, {scope}"));
        self.list.set_empty_text(empty);
        self.list.set_keys(keys);
        self.list.set_items(items);
        if let Some(place) = place {
            self.list.select_index(place);
        }
    }

    fn item(&self, session: &SessionSummary) -> PickerItem<SessionSummary> {
        let label = first_words(session);
        let mut detail = format!("{:>12}  {:>12}", clock::ago(&session.modified), messages(session));
        detail += &format!("  {:>7}", size(session));
        let mut short = clock::ago(&session.modified);
        if self.scope == SessionScope::All {
            let project = Path::new(&session.cwd).file_name().unwrap_or_default().to_string_lossy();
            detail = format!("{project}  {detail}");
            short = project.into_owned();
        }
        let first = session.first_message.as_deref().unwrap_or_default();
        let words = format!("{} {} {first} {}", session.id, session.cwd, session.path.display());
        let sign = match (self.current.as_deref() == Some(&session.id), session.damage.is_some()) {
            (true, _) => "*",
            (false, true) => "!",
            (false, false) => "",
        };
        PickerItem::new(session.clone(), label).detail(detail).short_detail(short).keywords(words).sign(sign)
    }

    pub fn lines(&self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
        let preview = |session: &SessionSummary, width, height| preview(style, session, width, height);
        let mut lines = self.list.lines_with(style, width, height, &preview);
        let Some(session) = self.list.selected() else { return lines };
        // What is asked stands where the keys stand.
        let (asked, keys): (_, &[(&str, &str)]) = match &self.stage {
            SessionStage::Browse => return lines,
            SessionStage::Rename(field) => {
                let mut row = PaintedRow::new(style, width);
                row.colored(ThemeToken::Accent, "title: ");
                field.draw(&mut row, style.output.utf8);
                (row.finish(), &[("Enter", "rename"), ("Esc", "back")])
            }
            SessionStage::ConfirmDelete => {
                let mut row = PaintedRow::new(style, width);
                row.colored(ThemeToken::Warning, "! ").plain("delete this session? [y/N] ");
                row.colored(ThemeToken::Muted, &first_words(session));
                (row.finish(), &[("y", "delete it for good"), ("any other key", "keep it")])
            }
        };
        lines.truncate(height.saturating_sub(2));
        lines.push(asked);
        if lines.len() < height {
            lines.push(help_row(style, width, keys));
        }
        lines
    }
}

/// Its title, else how it began.
fn first_words(session: &SessionSummary) -> String {
    let words = session.title.as_deref().or(session.first_message.as_deref());
    let words: Vec<&str> = words.unwrap_or_default().split_whitespace().collect();
    if words.is_empty() { session.id.clone() } else { words.join(" ") }
}

fn messages(session: &SessionSummary) -> String {
    session
        .messages
        .map_or_else(String::new, |count| pluralize(usize::try_from(count).unwrap_or(usize::MAX), "message"))
}

fn size(session: &SessionSummary) -> String {
    human_size(usize::try_from(session.size).unwrap_or(usize::MAX))
}

fn preview(style: &ThemeStyle, session: &SessionSummary, width: usize, height: usize) -> Vec<String> {
    let mut lines = text_rows(style, Some(ThemeToken::Accent), &first_words(session), width, 2);
    let damage = session.damage.as_deref().map(|damage| ("damage", damage.to_string()));
    let about = [
        ("id", session.id.clone()),
        ("project", session.cwd.clone()),
        ("begun", clock::local(&session.created)),
        ("last", clock::ago(&session.modified)),
        ("size", format!("{}  {}", size(session), messages(session))),
    ];
    for (name, value) in about.into_iter().chain(damage) {
        let mut row = PaintedRow::new(style, width);
        row.colored(ThemeToken::Muted, name).pad_to(9);
        match name {
            "project" => row.path(None, &value, width),
            "damage" => row.colored(ThemeToken::Warning, &value),
            _ => row.plain(value.trim()),
        };
        lines.push(row.finish());
    }
    if let Some(first) = session.first_message.as_deref().filter(|_| height > lines.len() + 2) {
        lines.push(String::new());
        lines.extend(text_rows(style, None, first, width, height - lines.len()));
    }
    lines.truncate(height);
    lines
}
