//! The tools whose output is understood: one file each, one trait, one list.

mod cargo;
mod eslint;
mod generic;
mod go;
mod mypy;
mod ruff;
mod tsc;

use super::diagnostic_sink::DiagnosticSink;
use super::json_scanner::JsonObject;

/// Understands one tool's output.
pub(super) trait LinterReader: Send {
    fn name(&self) -> &'static str;

    /// Whether a command line with these words runs the tool.
    fn recognises(&self, words: &[String]) -> bool;

    /// Takes a line, without its end. Says whether the line is this tool's; then no other reader sees it.
    fn read_line(&mut self, line: &str, out: &mut DiagnosticSink) -> bool;

    /// Takes an object of JSON that the output holds.
    fn read_object(&mut self, object: &JsonObject<'_>, out: &mut DiagnosticSink) {
        let _ = (object, out);
    }

    /// There is no more output.
    fn finish(&mut self, out: &mut DiagnosticSink) {
        let _ = out;
    }
}

/// Makes a reader. It is told whether the command line names its tool: then it may trust its eyes more.
type LinterReaderFactory = fn(bool) -> Box<dyn LinterReader>;

/// Every reader of a tool, the more particular before the less.
pub(super) fn reader_factories() -> &'static [LinterReaderFactory] {
    &[
        |_| Box::new(tsc::TscReader),
        |known| Box::new(cargo::CargoReader::new(known)),
        |_| Box::new(eslint::EslintReader::default()),
        |_| Box::new(mypy::MypyReader),
        |_| Box::new(ruff::RuffReader::default()),
        |known| Box::new(go::GoReader { known }),
    ]
}

/// The reader for everything else.
pub(super) fn generic_reader() -> Box<dyn LinterReader> {
    Box::new(generic::GenericReader)
}

/// Whether one of the words is one of the names.
fn names_any(words: &[String], names: &[&str]) -> bool {
    words.iter().any(|word| names.contains(&word.as_str()))
}

/// The message and the code at its end, which stands between these; empty if there is none.
fn split_code<'t>(text: &'t str, open: &str, close: &str) -> (&'t str, &'t str) {
    match text.strip_suffix(close).and_then(|text| text.rsplit_once(open)) {
        Some((message, code)) if !code.contains(' ') => (message, code),
        _ => (text, ""),
    }
}
