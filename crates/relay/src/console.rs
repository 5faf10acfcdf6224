//! Where a command writes: results to stdout, everything said beside them to stderr; and how much of that
//! `core.logLevel` wants to hear.
//!
//! A reader that goes away (`relay … | head`) is not an error; any other failure to write is kept
//! and reported once, at the end.

use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::rc::Rc;

use relaycode_project::config::LogLevel;
use relaycode_tui::look::{AsStream, Look};
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::json;
use crate::show;
use crate::terminal::{self, ColorChoice, Environment};

/// The two streams of a command and how each wants to be written to.
pub(crate) struct Console {
    out: Stream,
    err: Stream,
    /// How much is said beside what was asked for: `core.logLevel`, once it is known.
    level: LogLevel,
}

/// What a command wrote while its streams were kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    /// Both, in the order in which it was written.
    pub(crate) both: Vec<u8>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Out,
    Err,
}

struct Keeping {
    kept: Rc<RefCell<Kept>>,
    side: Side,
}

impl Write for Keeping {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.kept.borrow_mut();
        kept.both.extend_from_slice(bytes);
        match self.side {
            Side::Out => kept.out.extend_from_slice(bytes),
            Side::Err => kept.err.extend_from_slice(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Stream {
    writer: Box<dyn Write>,
    look: Look,
    /// The first failure; nothing more is written after it.
    failed: Option<io::Error>,
}

impl Console {
    /// The process's own streams.
    pub(crate) fn real(environment: &Environment, color: ColorChoice) -> Console {
        let (out, err) = (io::stdout(), io::stderr());
        let (out_look, err_look) =
            (terminal::look(&out, environment, color), terminal::look(&err, environment, color));
        Console {
            out: Stream::new(BufWriter::new(out), out_look),
            err: Stream::new(BufWriter::new(err), err_look),
            level: LogLevel::Info,
        }
    }

    /// Streams that are kept instead of written, for a command that runs within another: laid out as this
    /// one's stdout wants it.
    pub(crate) fn kept(&self) -> (Console, Rc<RefCell<Kept>>) {
        let kept = Rc::new(RefCell::new(Kept::default()));
        let stream = |side| Stream::new(Keeping { kept: Rc::clone(&kept), side }, self.out.look);
        let console = Console { out: stream(Side::Out), err: stream(Side::Err), level: LogLevel::Info };
        (console, kept)
    }

    /// How much is said beside what was asked for.
    pub(crate) fn level(&self) -> LogLevel {
        self.level
    }

    /// From now on so much is said.
    pub(crate) fn listen(&mut self, level: LogLevel) {
        self.level = level;
    }

    /// How stdout wants to be written to.
    pub(crate) fn out_look(&self) -> Look {
        self.out.look
    }

    /// How stderr wants to be written to.
    pub(crate) fn err_look(&self) -> Look {
        self.err.look
    }

    /// The terminal has another size: lines are laid out in it from now on.
    pub(crate) fn measure(&mut self) {
        self.out.look.width = self.out.look.width.and(io::stdout().cells());
        self.err.look.width = self.err.look.width.and(io::stderr().cells());
    }

    /// Writes text, which is safe already, to stdout.
    pub(crate) fn out(&mut self, text: &str) {
        self.out.write(text.as_bytes());
    }

    /// Writes text, which is safe already, to stderr.
    pub(crate) fn err(&mut self, text: &str) {
        // What was said before stands above, also when both go to one terminal.
        self.out.flush();
        self.err.write(text.as_bytes());
        self.err.flush();
    }

    /// Writes one JSON object to stdout.
    pub(crate) fn json(&mut self, value: &impl Serialize) {
        self.out.write(&json::line(value));
    }

    /// Everything written so far becomes visible.
    pub(crate) fn flush(&mut self) {
        self.out.flush();
        self.err.flush();
    }

    /// Says why a command failed; who wants to hear nothing has the exit code.
    pub(crate) fn failure(&mut self, failure: &Failure, command: &str, json: bool) {
        if json {
            self.failure_json(failure, command);
        }
        if self.level >= LogLevel::Error {
            let text = show::failure::text(failure, &self.err.look);
            self.err(&text);
        }
    }

    /// Says why a command failed, to a machine.
    pub(crate) fn failure_json(&mut self, failure: &Failure, command: &str) {
        self.json(&json::Failed::new(failure, command));
    }

    /// Flushes, and says whether everything could be written.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.flush();
        for error in [self.out.failed, self.err.failed].into_iter().flatten() {
            if error.kind() != io::ErrorKind::BrokenPipe {
                return Err(Failure {
                    exit: Exit::Unexpected,
                    ..Failure::unexpected(format!("the output cannot be written: {error}"))
                        .hint("whatever the command did is done: `relay log` says so")
                });
            }
        }
        Ok(())
    }
}

impl Stream {
    fn new(writer: impl Write + 'static, look: Look) -> Stream {
        Stream { writer: Box::new(writer), look, failed: None }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.writer.write_all(bytes).err();
        }
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.writer.flush().err();
        }
    }
}
