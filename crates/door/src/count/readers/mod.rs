//! The tools whose output is understood: one file each, one trait, one list.

mod cargo;
mod eslint;
mod generic;
mod go;
mod mypy;
mod ruff;
mod tsc;

use super::json::Object;
use super::sink::Sink;

/// Understands one tool's output.
pub(super) trait Reader: Send {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Whether a command line with these words runs the tool.
    fn recognises(&self, words: &[String]) -> bool;

    /// Takes a line, without its end. Says whether the line is this tool's; then no other reader sees it.
    fn line(&mut self, line: &str, out: &mut Sink) -> bool;

    /// Takes an object of JSON that the output holds.
    fn object(&mut self, object: &Object<'_>, out: &mut Sink) {
        let _ = (object, out);
    }

    /// There is no more output.
    fn end(&mut self, out: &mut Sink) {
        let _ = out;
    }
}

/// Makes a reader. It is told whether the command line names its tool: then it may trust its eyes more.
type Make = fn(bool) -> Box<dyn Reader>;

/// Every reader of a tool, the more particular before the less.
pub(super) fn all() -> &'static [Make] {
    &[
        |_| Box::new(tsc::Tsc),
        |known| Box::new(cargo::Cargo::new(known)),
        |_| Box::new(eslint::Eslint::default()),
        |_| Box::new(mypy::Mypy),
        |_| Box::new(ruff::Ruff::default()),
        |known| Box::new(go::Go { known }),
    ]
}

/// The reader for everything else.
pub(super) fn generic() -> Box<dyn Reader> {
    Box::new(generic::Generic)
}

/// Whether one of the words is one of the names.
fn any(words: &[String], names: &[&str]) -> bool {
    words.iter().any(|word| names.contains(&word.as_str()))
}
