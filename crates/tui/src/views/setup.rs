//! What `relay init` did, and what to do next.
//!
//! ```text
//! ✓ relaycode.config.json, .relaycode/ and .gitignore are in place for my-app
//!   linter: none yet. Set patch.linter, and relay can approve clean changes by itself
//!   next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
//! ```

use crate::layout::style::OutputStyle;
use crate::views::outcome;

/// The lines for people. `made`: the files that were written now.
pub fn text(id: &str, made: &[String], linter: &str, look: &OutputStyle) -> String {
    let id = look.safe(id);
    let mut text = if made.is_empty() {
        outcome::success_line(look, &format!("everything is in place for {id}: nothing was changed"))
    } else {
        outcome::success_line(
            look,
            &format!("relaycode.config.json, .relaycode/ and .gitignore are in place for {id}"),
        )
    };
    let linter = match linter.trim() {
        "" => "linter: none yet. Set patch.linter, and relay can approve clean changes by itself".to_string(),
        linter => format!("linter: {}", look.safe(linter)),
    };
    text += &outcome::indented_line(look, &linter);
    text += &outcome::indented_line(
        look,
        "next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`",
    );
    text += &outcome::indented_line(look, "(the prompt follows on stdout)");
    text
}
