//! Where the lines of the index come from: its log on disk, or memory after it was built anew.

use std::io;
use std::ops::ControlFlow;

use relaycode_durable::log::{AppendLog, LogError};
use relaycode_durable::{Dir, Fs};

use super::{Line, NAME, PATH};
use crate::error::{LedgerError, cannot};
use crate::ledger::Ledger;
use crate::state::State;

/// Where the lines are.
pub(super) enum Source<'l> {
    /// In a log.
    Log { fs: &'l dyn Fs, dir: Dir },
    /// In memory, oldest first.
    Memory(Vec<Line>),
}

/// What is known of the end of the lines.
pub(super) enum Newest {
    /// There is no line at all.
    None,
    /// The newest line, and nothing wrong behind it.
    Line(Box<Line>),
    /// The end is not whole, or this is no log.
    Torn,
}

/// Adds a line at the end of the index. It is not synced: one that a power cut takes is missed.
pub(super) fn append(state: &State, line: &Line) -> Result<(), LedgerError> {
    let log = AppendLog::new(state.fs(), state.dir(), NAME);
    log.append(line.json().as_bytes(), false).map_err(|error| failed("write", error))
}

fn failed(verb: &'static str, error: LogError) -> LedgerError {
    let source = match error {
        LogError::Io(source) => source,
        other => io::Error::other(other),
    };
    cannot(verb, PATH)(source)
}

impl<'l> Source<'l> {
    /// The index of a ledger; empty if there is none.
    pub(super) fn of(ledger: &'l Ledger) -> Result<Source<'l>, LedgerError> {
        Ok(match ledger.state()? {
            Some(state) => Source::Log { fs: &*ledger.fs, dir: state.dir().clone() },
            None => Source::Memory(Vec::new()),
        })
    }

    /// The newest line.
    pub(super) fn newest(&self) -> Result<Newest, LedgerError> {
        let mut newest = Newest::None;
        let whole = self.backwards(&mut |line| {
            newest = line.map_or(Newest::Torn, |line| Newest::Line(Box::new(line)));
            ControlFlow::Break(())
        })?;
        Ok(if whole { newest } else { Newest::Torn })
    }

    /// Shows the lines from the newest on, until told to stop; `None` for one that is no line. `false`:
    /// this is no whole log.
    pub(super) fn backwards(
        &self,
        see: &mut dyn FnMut(Option<Line>) -> ControlFlow<()>,
    ) -> Result<bool, LedgerError> {
        match self {
            Source::Memory(lines) => {
                let _ = lines.iter().rev().try_for_each(|line| see(Some(line.clone())));
                Ok(true)
            }
            Source::Log { fs, dir } => {
                let log = AppendLog::new(*fs, dir, NAME);
                match log.read_back(&mut |json| see(Line::read(json))) {
                    Ok(tail) => Ok(tail.torn_at.is_none()),
                    Err(LogError::Damaged { .. }) => Ok(false),
                    Err(error) => Err(failed("read", error)),
                }
            }
        }
    }
}
