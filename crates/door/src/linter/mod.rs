//! How many errors a linter found, and which: read from what it prints, while it prints.
//!
//! A linter's output has no bound, so nothing of it is kept but the first [`MAX_DIAGNOSTICS`] errors and the
//! line that is being read; the number is exact all the same. Output may arrive in any pieces, with
//! colours, carriage returns and bytes that are no text: the result is the same.
//!
//! Which tool speaks is taken from the command line. Where it names none that is known (`pnpm run lint`),
//! every reader looks, each line goes to the first that knows it, and the reader that found most gives its
//! name; if none found anything, the generic one counts.
//!
//! The exit status has the last word on "none": a command that failed without an error that anybody
//! recognised counts as one error. It has none on "some": errors that were printed count even if the
//! command ended well, because `tsc || true` must not look clean.

mod diagnostic_sink;
mod json_scanner;
mod line_splitter;
mod location;
mod new_errors;
mod readers;
#[cfg(test)]
mod tests;

pub use diagnostic_sink::MAX_DIAGNOSTICS;
pub use new_errors::find_new_errors;

use crate::gate::Diagnostic;
use diagnostic_sink::DiagnosticSink;
use json_scanner::JsonScanner;
use line_splitter::LineSplitter;
use readers::{GENERIC, LinterReader, LinterTool, TOOLS};

/// The errors of one run of a linter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinterCount {
    /// How many there are.
    pub errors: u64,
    /// The first of them, at most [`MAX_DIAGNOSTICS`]. There may be fewer than [`LinterCount::errors`]: a tool can say
    /// "3 errors" without listing them, and a failure that nobody understood is an error without a text.
    pub diagnostics: Vec<Diagnostic>,
    /// The reader that understood them.
    pub reader: &'static str,
}

/// Counts the errors in the output of one command.
///
/// ```
/// use relaycode_door::linter::LinterCounter;
///
/// let mut counter = LinterCounter::new("bun tsc --noEmit");
/// counter.feed(b"src/a.ts(3,7): error TS2322: Type 'string' is not ass");
/// counter.feed(b"ignable to type 'number'.\n");
/// let counted = counter.finish(false);
/// assert_eq!((counted.errors, counted.reader), (1, "tsc"));
/// assert_eq!(counted.diagnostics[0].file, "src/a.ts");
/// ```
pub struct LinterCounter {
    lines: LineSplitter,
    json: JsonScanner,
    /// The tools whose readers look, in the order in which they are asked.
    tools: Vec<&'static LinterTool>,
    readers: Vec<Box<dyn LinterReader>>,
    sink: DiagnosticSink,
    generic: Box<dyn LinterReader>,
    generic_sink: DiagnosticSink,
    /// The command line named its tool.
    known: bool,
}

impl LinterCounter {
    /// A counter for what `command_line` prints.
    #[must_use]
    pub fn new(command_line: &str) -> LinterCounter {
        let words = command_words(command_line);
        let known = TOOLS.iter().any(|tool| tool.recognises(&words));
        let tools: Vec<&LinterTool> = TOOLS.iter().filter(|tool| !known || tool.recognises(&words)).collect();
        let readers: Vec<_> = tools.iter().map(|tool| (tool.make)(known)).collect();
        LinterCounter {
            lines: LineSplitter::default(),
            json: JsonScanner::default(),
            sink: DiagnosticSink::new(readers.len()),
            tools,
            readers,
            generic: (GENERIC.make)(false),
            generic_sink: DiagnosticSink::new(1),
            known,
        }
    }

    /// Takes more of the output, in pieces of any size.
    pub fn feed(&mut self, bytes: &[u8]) {
        let LinterCounter { lines, json, readers, sink, generic, generic_sink, .. } = self;
        json.feed(bytes, &mut |object| {
            for (number, reader) in readers.iter_mut().enumerate() {
                sink.reader = number;
                reader.read_object(object, sink);
            }
        });
        lines.feed(bytes, &mut |line| dispatch_line(line, readers, sink, generic.as_mut(), generic_sink));
    }

    /// The result. `exited_well`: the command ended by itself with 0.
    #[must_use]
    pub fn finish(mut self, exited_well: bool) -> LinterCount {
        let LinterCounter { lines, tools, readers, sink, generic, generic_sink, .. } = &mut self;
        lines.finish(&mut |line| dispatch_line(line, readers, sink, generic.as_mut(), generic_sink));
        for (number, reader) in readers.iter_mut().enumerate() {
            sink.reader = number;
            reader.finish(sink);
        }
        generic.finish(generic_sink);
        let specific = sink.errors();
        let best = sink
            .reader_with_most()
            .and_then(|number| tools.get(number))
            .map_or(GENERIC.name, |tool| tool.name);
        if specific > 0 {
            let (reader, diagnostics) = (best, std::mem::take(&mut sink.diagnostics));
            return LinterCount { errors: specific, diagnostics, reader };
        }
        // A known tool that ended well and named no error has none, whatever else its output says.
        let general = if self.known && exited_well { 0 } else { self.generic_sink.errors() };
        if general > 0 {
            let diagnostics = self.generic_sink.diagnostics;
            return LinterCount { errors: general, diagnostics, reader: GENERIC.name };
        }
        let named = self.tools.first().filter(|_| self.known);
        let reader = named.map_or(GENERIC.name, |tool| tool.name);
        LinterCount { errors: u64::from(!exited_well), diagnostics: Vec::new(), reader }
    }
}

#[cfg(test)]
impl LinterCounter {
    fn lines_kept(&self) -> usize {
        self.lines.kept()
    }
}

fn dispatch_line(
    line: &str,
    readers: &mut [Box<dyn LinterReader>],
    sink: &mut DiagnosticSink,
    generic: &mut dyn LinterReader,
    generic_sink: &mut DiagnosticSink,
) {
    if line.starts_with("{\"") {
        return;
    }
    for (number, reader) in readers.iter_mut().enumerate() {
        sink.reader = number;
        if reader.read_line(line, sink) {
            break;
        }
    }
    generic.read_line(line, generic_sink);
}

/// The words of a command line by which a tool can be known: names of programs and of what they are told
/// to do, without directories, versions, endings and quotes.
fn command_words(command_line: &str) -> Vec<String> {
    let separators = |c: char| c.is_whitespace() || ";&|()\"'`".contains(c);
    let plain = |word: &str| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        let name = match name.find('@') {
            Some(at) if at > 0 => &name[..at],
            _ => name,
        };
        let ends = [".exe", ".cmd", ".js", ".mjs", ".cjs", ".py"];
        let name = ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        name.to_ascii_lowercase()
    };
    command_line.split(separators).filter(|word| !word.is_empty()).map(plain).collect()
}
