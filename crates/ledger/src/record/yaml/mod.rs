//! YAML as records use it, written and read by a library that is named here alone.
//!
//! What is written is read back exactly, byte for byte, whatever a text contains. What is read may
//! come from anywhere: it is bounded in size, depth and number of nodes.

mod piece_writer;

use std::io;

use relaycode_durable::atomic::PieceSink;
use serde::{Deserialize, Serialize};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

use piece_writer::PieceWriter;

/// Collections within collections.
const DEPTH: usize = 16;
/// Scalars and collections of a record with as many files and directories as there can be: what is written can be
/// read. A hostile file has no more.
const NODES: usize = BASE_NODES + super::FILES * (FILE_NODES + DIRECTORY_NODES);
/// Those of a record that are not about a file: an author's words, notes, rules.
const BASE_NODES: usize = 500_000;
/// Those of one file: what became of it (35), what its two names stood for (12), and the step of the journal (25).
const FILE_NODES: usize = 76;
/// Those of one directory that came or went, in the record and in the journal.
const DIRECTORY_NODES: usize = 12;
/// Characters of a mapping's key: a path, every byte of it escaped.
const KEY_CHARACTERS: usize = 16 * 1024;

/// Puts the YAML of `value`, piece after piece: blocks of keys and dashes, two blanks deep, fields in the order in which they
/// are declared, texts of several lines as they are.
///
/// # Errors
/// What `value` itself reports, and the first error of `put`.
pub(super) fn emit<T: Serialize>(value: &T, put: &mut PieceSink<'_>) -> io::Result<()> {
    let options = serde_saphyr::ser_options! {
        compact_list_indent: false,
        // A long line stays one: folding is one more rule that a reader would have to know.
        folded_wrap_chars: usize::MAX,
    };
    let mut writer = PieceWriter::new(put);
    match serde_saphyr::to_fmt_writer_with_options(&mut writer, value, options) {
        Ok(()) => writer.finish(),
        // Where `put` failed, the library knows only that something did.
        Err(error) => Err(writer.into_error().unwrap_or_else(|| io::Error::other(error))),
    }
}

/// Reads `text`.
///
/// # Errors
/// A sentence that says what is wrong, with the line.
pub(super) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_documents: 1,
            max_depth: DEPTH,
            flow_nesting_limit: DEPTH,
            max_nodes: NODES,
            max_events: 2 * NODES,
            max_total_scalar_bytes: super::RECORD_BYTES,
            simple_key_max_lookahead: KEY_CHARACTERS,
            max_aliases: 0,
            max_anchors: 0,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        // A file may be called `<<`.
        merge_keys: MergeKeyPolicy::AsOrdinary,
        strict_booleans: true,
        with_snippet: false,
        emit_comments: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let text: String = error.to_string().chars().take(300).collect();
        text.replace(['\n', '\r'], " ")
    })
}

#[cfg(test)]
pub(super) mod tests;
