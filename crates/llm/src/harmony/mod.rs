//! Routing headers of the Harmony protocol that a model wrote as plain text: `analysis to=functions.edit code …` in the middle of
//! an argument, followed by junk. Models of OpenAI that speak this protocol do so now and then; no parser notices, and what
//! follows the header is never what anybody wanted.
//!
//! ```text
//! LEAK   = JUNK+ "to=functions." NAME " code " anything, often another LEAK
//! JUNK   = a channel's name | a rare token | letters of another script | "}" | 】【
//! ```
//!
//! Texts about the protocol mention such headers, too: with their brackets (`<|channel|>`, which a leak never has), without the
//! junk, or quoted. So a header within a code span, a string on one line or a closed fence is none of a leak.
//! Invariant: time is linear in the text, and what is found begins before its header.

mod quotes;
#[cfg(test)]
mod tests;

use crate::models::model::Model;
use quotes::QuoteFinder;

const MARKER: &str = "to=functions.";
const CHANNELS: [&str; 4] = ["analysis", "assistant", "commentary", "user"];
/// Seen before such headers and hardly anywhere else.
const RARE_TOKENS: [&str; 5] = ["Japgolly", "Jsii_commentary", "Jsii", "changedFiles", "RTLU"];

/// Where a text stops being what its model meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HarmonyLeak {
    /// Of the junk before the header.
    pub start: usize,
    /// Of the header.
    pub marker: usize,
}

/// Whether a model speaks this protocol, so that it may leak.
pub fn is_spoken_by(model: &Model) -> bool {
    let id = model.id.rsplit('/').next().unwrap_or_default();
    ["gpt-5", "gpt-oss"].iter().any(|series| id.starts_with(series))
}

/// The first leak in a text: an argument of a call, or an answer.
pub fn find_leak(text: &str) -> Option<HarmonyLeak> {
    let mut quotes = None;
    for (marker, _) in text.match_indices(MARKER) {
        let Some(junk) = JunkRun::before(&text[..marker]) else { continue };
        let after = &text[marker + MARKER.len()..];
        let behind_name = after.trim_start_matches(is_name_character);
        if behind_name.len() == after.len() {
            continue;
        }
        let is_mentioned = is_bracketed(&text[..junk.start], behind_name) || !begins_body(behind_name);
        if is_mentioned && !junk.is_proof {
            continue;
        }
        let end = text.len() - behind_name.len();
        if !quotes.get_or_insert_with(|| QuoteFinder::new(text)).is_quoted(junk.start, end) {
            return Some(HarmonyLeak { start: junk.start, marker });
        }
    }
    None
}

/// What stands directly before a header.
struct JunkRun {
    start: usize,
    /// It is a leak whatever follows.
    is_proof: bool,
}

impl JunkRun {
    /// `None` if there is none: then a header is only mentioned.
    fn before(text: &str) -> Option<JunkRun> {
        let (mut found, mut rest) = (None, text);
        loop {
            rest = rest.trim_end();
            let Some(last) = rest.chars().next_back() else { break };
            let token = |tokens: &[&str]| {
                tokens.iter().find(|token| rest.ends_with(**token)).map(|token| token.len())
            };
            let (len, proves) = if let Some(len) = token(&RARE_TOKENS) {
                (len, true)
            } else if let Some(len) = token(&CHANNELS) {
                (len, false)
            } else if is_cjk_bracket(last) {
                (last.len_utf8(), true)
            } else if last == '}' || is_of_other_script(last) {
                (last.len_utf8(), false)
            } else if last == '"' && rest[..rest.len() - 1].ends_with(is_cjk_bracket) {
                (1, false)
            } else {
                break;
            };
            rest = &rest[..rest.len() - len];
            let is_proof = proves || found.as_ref().is_some_and(|found: &JunkRun| found.is_proof);
            found = Some(JunkRun { start: rest.len(), is_proof });
        }
        found
    }
}

/// The header has its brackets: somebody writes about the protocol, or a template for it.
fn is_bracketed(before: &str, behind_name: &str) -> bool {
    before.trim_end().ends_with("|>") || behind_name.trim_start().starts_with("<|")
}

/// ` code `, as a leak goes on.
fn begins_body(behind_name: &str) -> bool {
    let word = behind_name.trim_start();
    word.len() < behind_name.len()
        && word.strip_prefix("code").is_some_and(|rest| !rest.starts_with(|c: char| is_name_character(c)))
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn is_cjk_bracket(c: char) -> bool {
    matches!(c, '【' | '】')
}

/// Letters that are neither Latin nor Greek, which formulas have.
fn is_of_other_script(c: char) -> bool {
    matches!(c,
        '\u{400}'..='\u{1dff}' | '\u{2c80}'..='\u{2dff}' | '\u{3001}'..='\u{a71f}' | '\u{a800}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{fb13}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' | '\u{ff01}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}')
}
