//! Where readers put what they find: the first errors in full, the rest as a number.

use crate::gate::Diagnostic;

/// So many errors of a run are kept in full.
pub const MAX_DIAGNOSTICS: usize = 2_000;
/// Bytes kept of a file's name, a code and a message.
const FILE: usize = 512;
const CODE: usize = 64;
const MESSAGE: usize = 400;

/// What readers have found.
pub(super) struct DiagnosticSink {
    /// Who speaks now.
    pub(super) reader: usize,
    /// The first errors, of all readers.
    pub(super) diagnostics: Vec<Diagnostic>,
    tallies: Vec<ErrorTally>,
}

#[derive(Default, Clone, Copy)]
struct ErrorTally {
    /// Errors that were printed one by one.
    listed: u64,
    /// Errors that the tool says there are.
    reported: u64,
}

impl DiagnosticSink {
    pub(super) fn new(readers: usize) -> DiagnosticSink {
        DiagnosticSink { reader: 0, diagnostics: Vec::new(), tallies: vec![ErrorTally::default(); readers] }
    }

    pub(super) fn add_error(&mut self, file: &str, line: u64, code: &str, message: &str) {
        if let Some(tally) = self.tallies.get_mut(self.reader) {
            tally.listed = tally.listed.saturating_add(1);
        }
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(Diagnostic {
                file: clip(file.trim(), FILE).to_owned(),
                line,
                code: clip(code, CODE).to_owned(),
                message: clip(message.trim(), MESSAGE).to_owned(),
            });
        }
    }

    /// The tool's own number, which counts if more than that were not seen.
    pub(super) fn add_reported_total(&mut self, errors: u64) {
        if let Some(tally) = self.tallies.get_mut(self.reader) {
            tally.reported = tally.reported.saturating_add(errors);
        }
    }

    pub(super) fn errors(&self) -> u64 {
        self.tallies.iter().fold(0, |sum, tally| sum.saturating_add(tally.errors()))
    }

    /// The reader that found most; the first of those.
    pub(super) fn reader_with_most(&self) -> Option<usize> {
        let most = self.tallies.iter().map(ErrorTally::errors).max().filter(|most| *most > 0)?;
        self.tallies.iter().position(|tally| tally.errors() == most)
    }
}

impl ErrorTally {
    fn errors(&self) -> u64 {
        self.listed.max(self.reported)
    }
}

fn clip(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
