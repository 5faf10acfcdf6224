//! What `relay init` did, and what to do next.
//!
//! ```text
//! ✓ relaycode.config.json, .relaycode/ and .gitignore are in place for my-app
//!   linter: none yet. Set patch.linter, and relay can approve clean changes by itself
//!   next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
//! ```

use crate::{OutputStyle, outcome};

/// `made`: the files written just now.
pub fn text(id: &str, made: &[String], linter: &str, style: &OutputStyle) -> String {
    let id = style.safe(id);
    let done = match made.is_empty() {
        true => format!("everything is in place for {id}: nothing was changed"),
        false => format!("relaycode.config.json, .relaycode/ and .gitignore are in place for {id}"),
    };
    let linter = match linter.trim() {
        "" => "linter: none yet. Set patch.linter, and relay can approve clean changes by itself".to_string(),
        linter => format!("linter: {}", style.safe(linter)),
    };
    let next = "next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`";
    outcome::success_line(style, &done)
        + &outcome::indented_line(style, &linter)
        + &outcome::indented_line(style, next)
        + &outcome::indented_line(style, "(the prompt follows on stdout)")
}
