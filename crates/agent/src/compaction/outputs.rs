//! Old outputs of tools that are cut to a line: the cheapest room there is, and nothing is lost by it, since each line says where
//! the output can be read again.

use std::collections::HashSet;

use relaycode_llm::message::{ToolResultMessage, UserContent};
use relaycode_llm::tokens::text_tokens;
use relaycode_tools::TouchedFiles;
use serde_json::Value;

use super::clip_text;

/// Tokens of the newest outputs that are never cut.
pub const SAFE_TOKENS: u64 = 40_000;
/// Less than this is not worth a new beginning of the provider's cache.
pub const MIN_SAVED: u64 = 20_000;
/// Outputs of fewer tokens are left.
const MIN_OUTPUT: u64 = 100;
/// Characters of a line.
const MAX_LINE_CHARS: usize = 200;

/// An output, oldest first.
pub struct ToolOutputRef<'a> {
    pub entry_id: &'a str,
    pub result: &'a ToolResultMessage,
    pub tokens: u64,
    /// What its call looked at or changed.
    pub files: TouchedFiles,
}

/// The outputs that are cut, each with the line that stands for it, and the tokens that it saves. Nothing, if it saves too little.
pub fn find_cuts(outputs: &[ToolOutputRef<'_>]) -> (Vec<(String, String)>, u64) {
    let (mut newer, mut saved, mut cuts) = (0_u64, 0_u64, Vec::new());
    let mut touched: HashSet<&str> = HashSet::new();
    for output in outputs.iter().rev() {
        // What a file held counts as long as nothing says it better.
        let is_superseded = output.files.read.iter().all(|path| touched.contains(path.as_str()));
        if newer >= SAFE_TOKENS && output.tokens >= MIN_OUTPUT && is_superseded {
            let line = describe_output(output);
            saved += output.tokens.saturating_sub(text_tokens(&line));
            cuts.push((output.entry_id.to_string(), line));
        }
        newer += output.tokens;
        touched.extend(output.files.read.iter().chain(&output.files.changed).map(String::as_str));
    }
    if saved < MIN_SAVED { (Vec::new(), 0) } else { (cuts, saved) }
}

/// What people saw of it, and where it is.
fn describe_output(output: &ToolOutputRef<'_>) -> String {
    let result = output.result;
    let card = result.details.as_ref().and_then(|details| details.get("card"));
    let field = |name: &str| card.and_then(|card| card.get(name)).and_then(Value::as_str).unwrap_or_default();
    let title = Some(field("title")).filter(|title| !title.is_empty()).unwrap_or(&result.tool_name);
    let mut said = format!("{title}: {}", field("summary"));
    if result.is_error {
        let last = result.content.iter().rev().find_map(|piece| match piece {
            UserContent::Text(text) => text.text.lines().rev().find(|line| !line.trim().is_empty()),
            UserContent::Image(_) => None,
        });
        said = format!("{said}; it failed, and ended with: {}", last.unwrap_or_default().trim());
    }
    let said = clip_text(&said.replace(['\n', '\r'], " "), MAX_LINE_CHARS);
    format!("(This output was left out to save room. {said}. `history://{}` shows it.)", output.entry_id)
}

#[cfg(test)]
mod tests {
    use relaycode_llm::message::ToolCall;
    use serde_json::json;

    use super::*;

    fn result(is_error: bool) -> ToolResultMessage {
        let call = ToolCall { id: "c".into(), name: "bash".into(), ..ToolCall::default() };
        let mut result = ToolResultMessage::text(&call, "many\nlines\nlast one\n\n", is_error, 0);
        result.details = Some(json!({"card": {"title": "bash make", "summary": "2 s"}}));
        result
    }

    fn output<'a>(
        result: &'a ToolResultMessage,
        id: &'a str,
        tokens: u64,
        read: &[&str],
    ) -> ToolOutputRef<'a> {
        let files =
            TouchedFiles { read: read.iter().map(ToString::to_string).collect(), changed: Vec::new() };
        ToolOutputRef { entry_id: id, result, tokens, files }
    }

    #[test]
    fn the_newest_stay_and_little_gain_is_no_reason() {
        let result = result(false);
        let outputs = |old: u64| {
            vec![
                output(&result, "a", old, &[]),
                output(&result, "b", 30_000, &[]),
                output(&result, "c", 10_000, &[]),
            ]
        };
        let (cuts, saved) = find_cuts(&outputs(30_000));
        assert_eq!(cuts.len(), 1);
        assert_eq!(cuts[0].0, "a");
        assert_eq!(
            cuts[0].1,
            "(This output was left out to save room. bash make: 2 s. `history://a` shows it.)"
        );
        assert!((29_900..30_000).contains(&saved), "{saved}");
        assert_eq!(find_cuts(&outputs(20_000)), (Vec::new(), 0), "the line itself takes room, too");
        let short = [output(&result, "a", 30_000, &[]), output(&result, "b", 39_999, &[])];
        assert_eq!(find_cuts(&short), (Vec::new(), 0));
    }

    #[test]
    fn what_was_read_of_a_file_stays_until_something_says_it_better() {
        let result = result(true);
        let old = |again: &[&str]| {
            find_cuts(&[
                output(&result, "a", 30_000, &["x.rs"]),
                output(&result, "b", 30_000, again),
                output(&result, "c", 30_000, &[]),
            ])
            .0
            .len()
        };
        assert_eq!(old(&["y.rs"]), 0);
        assert_eq!(old(&["x.rs"]), 1);
        let failed = [output(&result, "a", 30_000, &[]), output(&result, "b", 40_000, &[])];
        assert!(
            find_cuts(&failed).0[0].1.contains("it failed, and ended with: last one"),
            "{:?}",
            find_cuts(&failed)
        );
    }
}
