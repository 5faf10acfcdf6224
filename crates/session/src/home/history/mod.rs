//! Earlier prompts, for recall and search: one SQLite file for all projects and processes.
//!
//! It is a convenience, so it never gets in the way: writes wait a quarter of a second at most, and a
//! damaged file is moved aside, never deleted and never repaired in place (every prompt is also in its
//! session). Write-ahead logging without a sync per prompt: two processes do not block each other, and a
//! power cut loses the last prompts at worst.

mod fts;
mod schema;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, params};

use crate::truncate::truncate_str;

/// Bytes kept of a prompt.
pub const MAX_PROMPT: usize = 64 * 1024;
/// Prompts kept; the oldest go.
pub const MAX_ROWS: i64 = 50_000;
/// Most prompts returned by one query.
pub const MAX_ANSWERS: usize = 10_000;
/// How long to wait for another process.
const BUSY_TIMEOUT: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub struct PromptHistory {
    connection: Connection,
    path: PathBuf,
    damaged: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryPrompt {
    /// Grows with time.
    pub id: i64,
    pub prompt: String,
    /// In seconds since 1970.
    pub created_at: i64,
    /// The working directory.
    pub cwd: String,
}

/// Why the history cannot be used now.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// Another process is writing.
    #[error("the prompt history {} is busy; the prompt itself is in its session", path.display())]
    Busy { path: PathBuf },
    /// Made by a later relay.
    #[error("the prompt history {} is of version {version}, made by a newer relay; use that one", path.display())]
    Newer { path: PathBuf, version: i64 },
    #[error("the prompt history {} cannot be opened: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the prompt history {} cannot be used: {source}", path.display())]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}

impl PromptHistory {
    /// Creates the file (private) if needed. A damaged one is moved aside, and a new one created.
    ///
    /// # Errors
    /// [`HistoryError::Newer`] for a file that this version must not touch.
    pub fn open(path: &Path) -> Result<PromptHistory, HistoryError> {
        match schema::connect(path, BUSY_TIMEOUT) {
            Ok(connection) => Ok(PromptHistory { connection, path: path.to_path_buf(), damaged: None }),
            Err(error) if is_damage(&error) => PromptHistory::replace_damaged(path),
            Err(error) => Err(error),
        }
    }

    /// Where the damaged file was moved, if there was one.
    pub fn damaged_file(&self) -> Option<&Path> {
        self.damaged.as_deref()
    }

    /// `false` if it is empty or the same as the one before, from any process.
    ///
    /// # Errors
    /// [`HistoryError::Busy`] if another process writes for too long.
    pub fn add(&mut self, prompt: &str, cwd: &Path, now: i64) -> Result<bool, HistoryError> {
        if prompt.trim().is_empty() {
            return Ok(false);
        }
        let prompt = truncate_str(prompt, MAX_PROMPT);
        let cwd = cwd.to_string_lossy();
        self.with_recovery(|connection| {
            let added = connection.prepare_cached(ADD)?.execute(params![prompt, now, cwd])? > 0;
            let id = connection.last_insert_rowid();
            // Now and then is enough: the bound need not be exact.
            if added && id % TIDY_EVERY == 0 {
                connection.execute("DELETE FROM history WHERE id <= ?1", [id - MAX_ROWS])?;
            }
            Ok(added)
        })
    }

    /// Newest first; of one directory if one is given.
    pub fn recent(&mut self, limit: usize, cwd: Option<&Path>) -> Result<Vec<HistoryPrompt>, HistoryError> {
        let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned());
        let mut prompts = self.run_query(RECENT, cwd.as_deref(), limit)?;
        prompts.dedup_by(|a, b| a.prompt == b.prompt);
        Ok(prompts)
    }

    /// Prompts with all the words of `query` (the last may be a prefix), newest first, without duplicates.
    ///
    /// # Errors
    /// No content of `query` is an error.
    pub fn search(&mut self, query: &str, limit: usize) -> Result<Vec<HistoryPrompt>, HistoryError> {
        let wanted = fts::FtsQuery::parse(query);
        let found = match &wanted {
            fts::FtsQuery::Empty => return Ok(Vec::new()),
            // Some may be duplicates.
            fts::FtsQuery::Words(expression) => {
                self.run_query(SEARCH, Some(expression), limit.saturating_mul(4))?
            }
            fts::FtsQuery::Literal(text) => self.run_query(LITERAL, Some(text), limit.saturating_mul(4))?,
        };
        let mut seen = std::collections::HashSet::new();
        Ok(found.into_iter().filter(|prompt| seen.insert(prompt.prompt.clone())).take(limit).collect())
    }

    fn run_query(
        &mut self,
        sql: &str,
        text: Option<&str>,
        limit: usize,
    ) -> Result<Vec<HistoryPrompt>, HistoryError> {
        let most = i64::try_from(limit.min(MAX_ANSWERS)).unwrap_or(i64::MAX);
        self.with_recovery(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![text, most], prompt_from_row)?;
            rows.collect()
        })
    }

    /// Retries with a new file if this one turns out to be damaged.
    fn with_recovery<T>(
        &mut self,
        mut act: impl FnMut(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, HistoryError> {
        let mut done = act(&self.connection).map_err(|source| history_error(&self.path, source));
        if done.as_ref().is_err_and(is_damage) {
            let fresh = PromptHistory::replace_damaged(&self.path)?;
            *self = PromptHistory { damaged: fresh.damaged.clone().or(self.damaged.take()), ..fresh };
            done = act(&self.connection).map_err(|source| history_error(&self.path, source));
        }
        done
    }

    /// Moves a damaged file aside and creates a new one, unless another process has done so meanwhile.
    fn replace_damaged(path: &Path) -> Result<PromptHistory, HistoryError> {
        let _one_at_a_time = schema::lock(path, BUSY_TIMEOUT)?;
        let checked = schema::connect(path, BUSY_TIMEOUT);
        let damaged = match checked.and_then(|fresh| schema::check_integrity(path, &fresh)) {
            Ok(()) => None,
            Err(error) if is_damage(&error) => Some(schema::move_aside(path)?),
            Err(error) => return Err(error),
        };
        let connection = schema::connect(path, BUSY_TIMEOUT)?;
        Ok(PromptHistory { connection, path: path.to_path_buf(), damaged })
    }
}

/// How many prompts come between two checks of their number.
const TIDY_EVERY: i64 = 64;
const ADD: &str = "INSERT INTO history (prompt, created_at, cwd) SELECT ?1, ?2, ?3 WHERE NOT EXISTS \
    (SELECT 1 FROM history WHERE id = (SELECT max(id) FROM history) AND prompt = ?1)";
const RECENT: &str = "SELECT id, prompt, created_at, cwd FROM history WHERE ?1 IS NULL OR cwd = ?1 \
    ORDER BY id DESC LIMIT ?2";
const SEARCH: &str = "SELECT history.id, history.prompt, history.created_at, history.cwd FROM history_fts \
    JOIN history ON history.id = history_fts.rowid WHERE history_fts MATCH ?1 ORDER BY history_fts.rowid DESC LIMIT ?2";
const LITERAL: &str = "SELECT id, prompt, created_at, cwd FROM history WHERE instr(prompt, ?1) > 0 \
    ORDER BY id DESC LIMIT ?2";

fn prompt_from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<HistoryPrompt> {
    Ok(HistoryPrompt { id: row.get(0)?, prompt: row.get(1)?, created_at: row.get(2)?, cwd: row.get(3)? })
}

fn history_error(path: &Path, source: rusqlite::Error) -> HistoryError {
    let path = path.to_path_buf();
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => HistoryError::Busy { path },
        _ => HistoryError::Sqlite { path, source },
    }
}

fn is_damage(error: &HistoryError) -> bool {
    let HistoryError::Sqlite { source, .. } = error else { return false };
    match source {
        // A table that is missing or of another shape, or a cell of another type, although the version has
        // it.
        rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..) => true,
        rusqlite::Error::Utf8Error(..) => true,
        _ => matches!(
            source.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
        ),
    }
}
