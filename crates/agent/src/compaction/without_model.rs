//! A summary that no model writes, for when none can: what was said before, and what was done, in lines. It always succeeds.

use relaycode_llm::Message;
use relaycode_llm::tokens::text_tokens;

use super::excerpt::excerpt;
use super::user_words::clip_middle;

/// The part of the room that an earlier summary may have.
const EARLIER_SHARE: u64 = 3;
const HEAD: &str = "(No model could sum this up. These are excerpts of what was said and done.)";

/// At most `budget` tokens.
pub fn summarize_without_model(earlier: Option<&str>, messages: &[Message], budget: u64) -> String {
    let mut parts = vec![HEAD.to_string()];
    let mut left = budget.saturating_sub(text_tokens(HEAD) + 4);
    if let Some(earlier) = earlier.map(str::trim).filter(|text| !text.is_empty()) {
        let own = earlier.replace(HEAD, "");
        let clipped = clip_middle(own.trim(), left / EARLIER_SHARE);
        left = left.saturating_sub(text_tokens(&clipped) + 2);
        parts.push(clipped);
    }
    parts.push(excerpt(messages, left));
    parts.retain(|part| !part.trim().is_empty());
    let text = parts.join("\n\n");
    if text_tokens(&text) <= budget { text } else { String::new() }
}

#[cfg(test)]
mod tests {
    use relaycode_llm::message::UserMessage;

    use super::*;

    #[test]
    fn it_says_what_there_is_within_its_room() {
        let messages = vec![Message::User(UserMessage::text("Build it", 0)); 3];
        let text = summarize_without_model(Some("Earlier."), &messages, 200);
        assert_eq!(
            text,
            format!("{HEAD}\n\nEarlier.\n\n[user] Build it\n[user] Build it\n[user] Build it\n")
        );
        let again = summarize_without_model(Some(&text), &[], 200);
        assert_eq!(again.matches("No model could").count(), 1, "{again}");
        let long = "word ".repeat(10_000);
        let many = vec![Message::User(UserMessage::text(long.as_str(), 0)); 50];
        for budget in [0, 10, 50, 500, 5_000] {
            assert!(text_tokens(&summarize_without_model(Some(&long), &many, budget)) <= budget, "{budget}");
        }
    }
}
