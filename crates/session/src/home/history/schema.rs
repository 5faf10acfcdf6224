//! The SQLite file: private, of one version, moved aside when it is damaged.

use std::fs::OpenOptions;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use relaycode_durable::{Fs, FsLock, RealFs};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{HistoryError, history_error};
use crate::home::layout::HISTORY_FILE;

/// In `user_version`.
const VERSION: i64 = 1;
/// Most damaged files kept.
const MAX_DAMAGED: u32 = 1000;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS history (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        prompt TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        cwd TEXT NOT NULL
    );
    CREATE VIRTUAL TABLE IF NOT EXISTS history_fts USING fts5 (
        prompt, content = 'history', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
    );
    CREATE TRIGGER IF NOT EXISTS history_added AFTER INSERT ON history BEGIN
        INSERT INTO history_fts (rowid, prompt) VALUES (new.id, new.prompt);
    END;
    CREATE TRIGGER IF NOT EXISTS history_removed AFTER DELETE ON history BEGIN
        INSERT INTO history_fts (history_fts, rowid, prompt) VALUES ('delete', old.id, old.prompt);
    END;
    CREATE TRIGGER IF NOT EXISTS history_changed AFTER UPDATE ON history BEGIN
        INSERT INTO history_fts (history_fts, rowid, prompt) VALUES ('delete', old.id, old.prompt);
        INSERT INTO history_fts (rowid, prompt) VALUES (new.id, new.prompt);
    END;
    PRAGMA user_version = 1;";

/// Opens the file and brings it to this version.
pub(super) fn connect(path: &Path, busy: Duration) -> Result<Connection, HistoryError> {
    make_private(path).map_err(|source| HistoryError::Io { path: path.to_path_buf(), source })?;
    let failed = |source| history_error(path, source);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(busy).map_err(failed)?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
    if version > VERSION {
        return Err(HistoryError::Newer { path: path.to_path_buf(), version });
    }
    connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
    // Whatever another program put into the file must not run anything.
    connection.pragma_update(None, "trusted_schema", "OFF").map_err(failed)?;
    if version < VERSION {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.map_err(failed)?;
        transaction.execute_batch(TABLES).map_err(failed)?;
        transaction.commit().map_err(failed)?;
    }
    // A file that cannot answer this is damaged; better to know it now.
    let newest = connection.query_row("SELECT max(id) FROM history", [], |row| row.get::<_, Option<i64>>(0));
    newest.map_err(failed)?;
    Ok(connection)
}

/// Only called on suspicion.
pub(super) fn check_integrity(path: &Path, connection: &Connection) -> Result<(), HistoryError> {
    let failed = |source| history_error(path, source);
    let said: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
    let index = connection.execute("INSERT INTO history_fts (history_fts) VALUES ('integrity-check')", []);
    index.map_err(failed)?;
    if said == "ok" {
        return Ok(());
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(failed(rusqlite::Error::SqliteFailure(code, Some(said))))
}

/// Moves the file and its companions aside; returns where.
pub(super) fn move_aside(path: &Path) -> Result<PathBuf, HistoryError> {
    let failed = |source| HistoryError::Io { path: path.to_path_buf(), source };
    let with = |suffix: &str| {
        let mut name = path.as_os_str().to_os_string();
        name.push(suffix);
        PathBuf::from(name)
    };
    let free = (1..=MAX_DAMAGED).map(|n| with(&format!(".damaged-{n}"))).find(|aside| !aside.exists());
    let aside = free.ok_or_else(|| failed(io::ErrorKind::AlreadyExists.into()))?;
    for suffix in ["-wal", "-shm"] {
        let mut target = aside.clone().into_os_string();
        target.push(suffix);
        match fs::rename(with(suffix), target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    fs::rename(path, &aside).map_err(failed)?;
    Ok(aside)
}

/// SQLite would create it with the umask's mode; the files beside it get the same as this one.
fn make_private(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other.map(drop),
    }
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

/// Held while a damaged file is replaced, so that nobody moves the new one aside.
pub(super) fn lock(path: &Path, wait: Duration) -> Result<FsLock, HistoryError> {
    let failed = |source| HistoryError::Io { path: path.to_path_buf(), source };
    let fs = RealFs::default();
    let dir = fs.open_root(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(HISTORY_FILE);
    let until = Instant::now() + wait;
    loop {
        if let Some(lock) = fs.try_lock(&dir, &format!("{name}.lock")).map_err(failed)? {
            return Ok(lock);
        }
        if Instant::now() >= until {
            return Err(HistoryError::Busy { path: path.to_path_buf() });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
