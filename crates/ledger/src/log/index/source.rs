//! Where the lines of the index come from: its log on disk, or memory after it was built anew.

use std::io;
use std::ops::ControlFlow;

use relaycode_durable::append_log::{AppendLog, LogError};
use relaycode_durable::{Fs, FsDir, is_link, is_not_regular};

use crate::log::IndexLine;
use crate::log::index::{NAME, PATH};
use crate::{Ledger, LedgerError, LedgerResult, io_error};

/// Where the lines are.
pub(super) enum IndexSource<'l> {
    Log {
        fs: &'l dyn Fs,
        dir: FsDir,
    },
    /// In memory, oldest first.
    Memory(Vec<IndexLine>),
}

/// What is known of the end of the lines.
pub(super) enum NewestIndexLine {
    /// There is no line at all.
    None,
    /// The newest line, and nothing wrong behind it.
    Line(Box<IndexLine>),
    /// The end is not whole, or this is no log.
    Torn,
}

/// Adds a line at the end of the index. It is not synced: one that a power cut takes is missed.
pub(super) fn append(ledger: &Ledger, line: &IndexLine) -> LedgerResult<()> {
    let Some(dir) = directory(ledger, true)? else { return Ok(()) };
    let log = AppendLog::new(&*ledger.fs, &dir, NAME);
    log.append(line.to_json().as_bytes(), false).map_err(|error| log_error("write", error))
}

/// Where the index is: out of the reach of whoever wrote the project, or nowhere. Without a secret the user's own directory may
/// itself be something that came with the project.
pub(super) fn directory(ledger: &Ledger, make: bool) -> LedgerResult<Option<FsDir>> {
    if ledger.seal.is_none() {
        return Ok(None);
    }
    Ok(ledger.copy_directory(make)?.map(|(dir, _)| dir))
}

fn log_error(verb: &'static str, error: LogError) -> LedgerError {
    let source = match error {
        LogError::Io(source) => source,
        other => io::Error::other(other),
    };
    io_error(verb, PATH)(source)
}

impl<'l> IndexSource<'l> {
    /// The index of a ledger; empty if there is none.
    pub(super) fn open(ledger: &'l Ledger) -> LedgerResult<IndexSource<'l>> {
        Ok(match directory(ledger, false)? {
            Some(dir) => IndexSource::Log { fs: &*ledger.fs, dir },
            None => IndexSource::Memory(Vec::new()),
        })
    }

    /// The newest line.
    pub(super) fn newest(&self) -> LedgerResult<NewestIndexLine> {
        let mut newest = NewestIndexLine::None;
        let whole = self.read_backwards(&mut |line| {
            newest = line.map_or(NewestIndexLine::Torn, |line| NewestIndexLine::Line(Box::new(line)));
            ControlFlow::Break(())
        })?;
        Ok(if whole { newest } else { NewestIndexLine::Torn })
    }

    /// Shows the lines from the newest on, until told to stop; `None` for one that is no line. `false`:
    /// this is no whole log.
    pub(super) fn read_backwards(
        &self,
        see: &mut dyn FnMut(Option<IndexLine>) -> ControlFlow<()>,
    ) -> LedgerResult<bool> {
        match self {
            IndexSource::Memory(lines) => {
                let _ = lines.iter().rev().try_for_each(|line| see(Some(line.clone())));
                Ok(true)
            }
            IndexSource::Log { fs, dir } => {
                let log = AppendLog::new(*fs, dir, NAME);
                match log.read_backwards(&mut |json| see(IndexLine::from_json(json))) {
                    Ok(tail) => Ok(tail.torn_at.is_none()),
                    Err(LogError::Damaged { .. }) => Ok(false),
                    // Something else has its name.
                    Err(LogError::Io(error)) if is_not_regular(&error) || is_link(&error) => Ok(false),
                    Err(error) => Err(log_error("read", error)),
                }
            }
        }
    }
}
