//! What `relay init` did, and what to do next.
//!
//! ```text
//! ✓ relaycode.config.json, .relaycode/ and .gitignore are in place for my-app
//!   check: none yet. Set patch.linter to a command such as "cargo check", and changes that pass it go in by themselves
//!   next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
//! ```

use crate::{OutputStyle, outcome};

/// What `relay init` found and made.
#[derive(Debug, Clone, Copy)]
pub struct SetupReport<'a> {
    /// The project's name.
    pub id: &'a str,
    /// The name of its configuration.
    pub config: &'a str,
    /// The files written just now.
    pub made: &'a [String],
    /// Why `.gitignore` is as it was.
    pub ignore_file_left: Option<&'a str>,
    /// What it runs to check a change; may be empty.
    pub linter: &'a str,
    /// What could do that.
    pub example: &'a str,
    /// What the original tool ran here, and relay does not.
    pub lost_linter: Option<&'a str>,
    /// Where the project is, if that is not where relay was started, or there is another around it. A sentence.
    pub place: Option<&'a str>,
}

pub fn text(report: &SetupReport<'_>, style: &OutputStyle) -> String {
    let (id, config) = (style.safe(report.id), style.safe(report.config));
    let wrote_config = report.made.iter().any(|made| made == report.config);
    let state = match report.ignore_file_left {
        None => ".relaycode/ and .gitignore are",
        Some(_) if wrote_config => ".relaycode/ are",
        Some(_) => ".relaycode/ is",
    };
    let done = match (report.made.is_empty(), wrote_config) {
        (true, _) => format!("everything is in place for {id}: nothing was changed"),
        (false, true) if report.ignore_file_left.is_some() => {
            format!("{config} and {state} in place for {id}")
        }
        (false, true) => format!("{config}, {state} in place for {id}"),
        (false, false) => {
            format!("{state} in place for {id}; your {config} is used and stays as it is")
        }
    };
    let left = report.ignore_file_left.map(|why| {
        let text =
            format!(".gitignore stays as it is: {}; git ignores .relaycode/ all the same", style.safe(why));
        outcome::indented_line(style, &text)
    });
    let linter = match (report.linter.trim(), report.lost_linter) {
        ("", Some(lost)) => format!(
            "check: none. The original tool ran `{lost}` here because no linter is set; relay runs only what you \
             name. To keep it, set patch.linter to \"{lost}\" in {config}"
        ),
        ("", None) => format!(
            "check: none yet. Set patch.linter to a command such as \"{}\", and changes that pass it go in by \
             themselves",
            report.example
        ),
        (linter, _) => format!("check: {}", style.safe(linter)),
    };
    let next = "next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`";
    let place = report.place.map(|place| outcome::indented_line(style, &style.safe(place)));
    outcome::success_line(style, &done)
        + &left.unwrap_or_default()
        + &place.unwrap_or_default()
        + &outcome::indented_line(style, &linter)
        + &outcome::indented_line(style, next)
        + &outcome::indented_line(style, "(the prompt follows on stdout)")
}
