//! The tools whose output is understood: one file each, one trait, one list.

mod cargo;
mod eslint;
mod generic;
mod go;
mod mypy;
mod node;
mod ruff;
mod tsc;

use super::{diagnostic_sink::DiagnosticSink, json_scanner::JsonObject};

/// Understands one tool's output.
pub(super) trait LinterReader: Send {
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

/// A tool whose output is understood.
pub(super) struct LinterTool {
    pub(super) name: &'static str,
    /// The programs that are it; `go:vet` is `vet` right after `go`.
    programs: &'static str,
    /// Makes a reader. It is told whether the command line names its tool: then it may trust its eyes more.
    pub(super) make: fn(bool) -> Box<dyn LinterReader>,
}

impl LinterTool {
    /// Whether a command line with these words runs the tool.
    pub(super) fn recognises(&self, words: &[String]) -> bool {
        self.programs.split(' ').any(|program| match program.split_once(':') {
            Some((tool, told)) => words.windows(2).any(|pair| pair[0] == tool && pair[1] == told),
            None => words.iter().any(|word| word == program),
        })
    }
}

const fn tool(
    name: &'static str,
    programs: &'static str,
    make: fn(bool) -> Box<dyn LinterReader>,
) -> LinterTool {
    LinterTool { name, programs, make }
}

/// Every tool, the more particular before the less.
#[rustfmt::skip]
pub(super) static TOOLS: &[LinterTool] = &[
    tool("tsc", "tsc vue-tsc tsgo svelte-check tspc", |_| Box::new(tsc::TscReader)),
    tool("cargo", "cargo rustc cargo-clippy clippy-driver rustfmt", |known| Box::new(cargo::CargoReader::new(known))),
    tool("eslint", "eslint eslint_d next-lint standard xo", |_| Box::new(eslint::EslintReader::default())),
    tool("mypy", "mypy dmypy", |_| Box::new(mypy::MypyReader)),
    tool("ruff", "ruff flake8 pylint", |_| Box::new(ruff::RuffReader::default())),
    tool("go", "go:vet go:build go:test go:run go:install go:tool go:generate gofmt golangci-lint staticcheck revive",
        |known| Box::new(go::GoReader { known })),
    tool("node", "node nodejs tsx ts-node", |_| Box::new(node::NodeReader::default())),
];

/// Any other tool, and no command line names it.
pub(super) static GENERIC: LinterTool = tool("generic", "", |_| Box::new(generic::GenericReader));

/// The message and the code at its end, which stands between these; empty if there is none.
fn split_code<'t>(text: &'t str, open: &str, close: &str) -> (&'t str, &'t str) {
    match text.strip_suffix(close).and_then(|text| text.rsplit_once(open)) {
        Some((message, code)) if !code.contains(' ') => (message, code),
        _ => (text, ""),
    }
}
