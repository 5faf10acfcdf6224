//! Where a command writes: results to stdout, everything said beside them to stderr; and how much of that
//! `core.logLevel` wants to hear.
//!
//! A reader that goes away (`relay … | head`) is not an error; any other failure to write is kept
//! and reported once, at the end.

use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::rc::Rc;

use relaycode_project::checkout::CheckoutKey;
use relaycode_tui::{OutputStyle, StreamWidth, Terminal};
use serde::Serialize;
use serde_json::json;

use crate::terminal::environment::{self, ColorChoice};
use crate::{CommandFailure, CommandResult, ConsoleEnv, LogLevel, json, questions, render};

/// The two streams of a command and how each wants to be written to.
pub(crate) struct Console {
    out: ConsoleStream,
    err: ConsoleStream,
    /// How much is said beside what was asked for: `core.logLevel`, once it is known.
    pub(crate) level: LogLevel,
    /// What is written is kept for somebody else to show.
    is_captured: bool,
    /// What no text may show: the checkout's key, which answers repeat.
    hidden: Option<CheckoutKey>,
}

/// What a command wrote while its streams were kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConsoleCapture {
    /// Both, in the order in which it was written.
    pub(crate) both: Vec<u8>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
}

struct CaptureWriter {
    output: Rc<RefCell<ConsoleCapture>>,
    /// The stream that is kept.
    stream: fn(&mut ConsoleCapture) -> &mut Vec<u8>,
}

impl Write for CaptureWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.output.borrow_mut();
        kept.both.extend_from_slice(bytes);
        (self.stream)(&mut kept).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct ConsoleStream {
    writer: Box<dyn Write>,
    style: OutputStyle,
    /// The first failure; nothing more is written after it.
    error: Option<io::Error>,
}

impl Console {
    /// The process's own streams.
    pub(crate) fn stdio(environment: &ConsoleEnv, color: ColorChoice) -> Console {
        let (out, err) = (io::stdout(), io::stderr());
        let out_style = environment::style_for_stream(&out, environment, color);
        let err_style = environment::style_for_stream(&err, environment, color);
        Console {
            out: ConsoleStream::new(BufWriter::new(out), out_style),
            err: ConsoleStream::new(BufWriter::new(err), err_style),
            level: LogLevel::Info,
            is_captured: false,
            hidden: None,
        }
    }

    /// Streams that are kept instead of written, for a command that runs within another: laid out as this
    /// one's stdout wants it.
    pub(crate) fn capturing(&self) -> (Console, Rc<RefCell<ConsoleCapture>>) {
        let kept = Rc::new(RefCell::new(ConsoleCapture::default()));
        let stream = |stream: fn(&mut ConsoleCapture) -> &mut Vec<u8>| {
            ConsoleStream::new(CaptureWriter { output: Rc::clone(&kept), stream }, self.out.style)
        };
        let (out, err) = (stream(|kept| &mut kept.out), stream(|kept| &mut kept.err));
        let console =
            Console { out, err, level: LogLevel::Info, is_captured: true, hidden: self.hidden.clone() };
        (console, kept)
    }

    /// From now on, objects on stdout do not show this key.
    pub(crate) fn hide_key(&mut self, key: Option<CheckoutKey>) {
        self.hidden = key;
    }

    /// How stdout wants to be written to.
    pub(crate) fn out_style(&self) -> OutputStyle {
        self.out.style
    }

    /// How stderr wants to be written to.
    pub(crate) fn err_style(&self) -> OutputStyle {
        self.err.style
    }

    /// The terminal that stdout goes to, where somebody sits at it.
    pub(crate) fn out_terminal(&self) -> Option<Terminal> {
        let is_terminal = self.out.style.width.is_some() && !self.is_captured;
        is_terminal.then(questions::open_terminal).flatten()
    }

    /// The terminal has another size: lines are laid out in it from now on.
    pub(crate) fn update_width(&mut self) {
        self.out.style.width = self.out.style.width.and(io::stdout().cells());
        self.err.style.width = self.err.style.width.and(io::stderr().cells());
    }

    /// Writes text, which is safe already, to stdout.
    pub(crate) fn print(&mut self, text: &str) {
        self.out.write(text.as_bytes());
    }

    /// Writes text, which is safe already, to stderr.
    pub(crate) fn eprint(&mut self, text: &str) {
        // What was said before stands above, also when both go to one terminal.
        self.out.flush();
        self.err.write(text.as_bytes());
        self.err.flush();
    }

    /// Writes one JSON object to stdout.
    pub(crate) fn print_json(&mut self, value: &impl Serialize) {
        let mut line = String::from_utf8_lossy(&json::to_line(value)).into_owned();
        if let Some(key) = &self.hidden {
            key.redact(&mut line);
        }
        self.out.write(line.as_bytes());
    }

    /// Everything written so far becomes visible.
    pub(crate) fn flush(&mut self) {
        self.out.flush();
        self.err.flush();
    }

    /// Says why a command failed; who wants to hear nothing has the exit code.
    pub(crate) fn report_failure(&mut self, failure: &CommandFailure, command: &str, json: bool) {
        if json {
            self.print_failure_json(failure, command);
        }
        if self.level >= LogLevel::Error {
            let text = render::failure::failure_text(failure, &self.err.style);
            self.eprint(&text);
        }
    }

    /// Says why a command failed, to a machine.
    pub(crate) fn print_failure_json(&mut self, failure: &CommandFailure, command: &str) {
        self.print_json(&json::result_json(command, failure.exit, json!({"error": failure})));
    }

    /// Flushes, and says whether everything could be written.
    pub(crate) fn finish(mut self) -> CommandResult<()> {
        self.check_written()
    }

    /// The same in the middle, for a command whose output is what it is for.
    pub(crate) fn check_written(&mut self) -> CommandResult<()> {
        self.flush();
        for error in [self.out.error.as_ref(), self.err.error.as_ref()].into_iter().flatten() {
            if error.kind() != io::ErrorKind::BrokenPipe {
                return Err(CommandFailure::unexpected(format!("the output cannot be written: {error}"))
                    .hint("whatever the command did is done: `relay log` says so"));
            }
        }
        Ok(())
    }
}

impl ConsoleStream {
    fn new(writer: impl Write + 'static, look: OutputStyle) -> ConsoleStream {
        ConsoleStream { writer: Box::new(writer), style: look, error: None }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.writer.write_all(bytes).err();
        }
    }

    fn flush(&mut self) {
        if self.error.is_none() {
            self.error = self.writer.flush().err();
        }
    }
}
