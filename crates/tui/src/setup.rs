//! What `relay init` did, and what to do next.
//!
//! ```text
//! ✓ relaycode.config.json, .relaycode/ and .gitignore are in place for my-app
//!   linter: none yet. Set patch.linter, and relay can approve clean changes by itself
//!   next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
//! ```

use crate::look::Look;
use crate::outcome;

/// The lines for people. `made`: the files that were written now.
pub fn text(id: &str, made: &[String], linter: &str, look: &Look) -> String {
    let id = look.safe(id);
    let mut text = if made.is_empty() {
        outcome::done(look, &format!("everything is in place for {id}: nothing was changed"))
    } else {
        outcome::done(
            look,
            &format!("relaycode.config.json, .relaycode/ and .gitignore are in place for {id}"),
        )
    };
    let linter = match linter.trim() {
        "" => "linter: none yet. Set patch.linter, and relay can approve clean changes by itself".to_string(),
        linter => format!("linter: {}", look.safe(linter)),
    };
    text += &outcome::aside(look, &linter);
    text += &outcome::aside(
        look,
        "next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`",
    );
    text += &outcome::aside(look, "(the prompt follows on stdout)");
    text
}
