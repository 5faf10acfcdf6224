//! Where the kept end of a conversation begins.
//!
//! Invariant: no result is kept whose call is not, and no call whose results are cut: providers refuse both.

use std::collections::HashMap;

use relaycode_llm::Message;

/// The first of the messages that stay: as many as `keep` tokens hold, or the last step if it has at most `last_step`.
/// `messages.len()`: none stays. Never before `from`.
pub fn find_cut(messages: &[Message], tokens: &[u64], from: usize, keep: u64, last_step: u64) -> usize {
    let is_free = free_places(messages);
    let (mut sum, mut cut) = (0_u64, messages.len());
    for at in (from..messages.len()).rev() {
        sum = sum.saturating_add(tokens.get(at).copied().unwrap_or_default());
        let is_last_step = cut == messages.len() && sum <= last_step;
        if sum > keep && !is_last_step {
            break;
        }
        if is_free[at] {
            cut = at;
            if sum > keep {
                break;
            }
        }
    }
    cut
}

/// For each message whether the kept end may begin with it.
fn free_places(messages: &[Message]) -> Vec<bool> {
    let mut free = vec![true; messages.len()];
    let mut calls: HashMap<&str, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::Assistant(answer) => {
                calls.extend(answer.tool_calls().map(|call| (call.id.as_str(), at)));
            }
            Message::ToolResult(result) => {
                let from = calls.get(result.tool_call_id.as_str()).map_or(at, |call| call + 1);
                free[from..=at].fill(false);
            }
            Message::User(_) | Message::Developer(_) => {}
        }
    }
    free
}

/// The part of a turn that is cut from its end: where the turn begins, if `cut` is inside of it. `is_prompt` says which messages
/// the user said.
pub fn split_turn(is_prompt: &[bool], from: usize, cut: usize) -> Option<usize> {
    if is_prompt.get(cut).copied().unwrap_or(false) {
        return None;
    }
    (from..cut).rev().find(|at| is_prompt[*at])
}

#[cfg(test)]
mod tests {
    use relaycode_llm::message::{
        AssistantContent, AssistantMessage, ToolCall, ToolResultMessage, UserMessage,
    };

    use super::*;

    fn user() -> Message {
        Message::User(UserMessage::text("x", 0))
    }

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), name: "look".into(), ..ToolCall::default() }
    }

    fn answer(calls: &[&str]) -> Message {
        let content = calls.iter().map(|id| AssistantContent::ToolCall(call(id))).collect();
        Message::Assistant(AssistantMessage { content, ..AssistantMessage::default() })
    }

    fn result(id: &str) -> Message {
        Message::ToolResult(ToolResultMessage::text(&call(id), "seen", false, 0))
    }

    #[test]
    fn the_end_never_begins_between_a_call_and_its_results() {
        // A word of the user's may stand between results.
        let messages = [user(), answer(&["a", "b"]), result("a"), user(), result("b"), answer(&[])];
        let tokens = [10; 6];
        let cut = |keep| find_cut(&messages, &tokens, 0, keep, 0);
        assert_eq!([cut(0), cut(10), cut(49), cut(50), cut(60)], [6, 5, 5, 1, 0]);
        assert_eq!(find_cut(&messages, &tokens, 2, 1_000, 0), 5);
    }

    #[test]
    fn a_last_step_that_is_large_stays_if_there_is_room() {
        let messages = [user(), answer(&["a"]), result("a"), answer(&["b"]), result("b")];
        let tokens = [10, 10, 10, 10, 500];
        assert_eq!(find_cut(&messages, &tokens, 0, 100, 600), 3);
        assert_eq!(find_cut(&messages, &tokens, 0, 100, 400), 5);
        // A result without a call is not kept by itself.
        assert_eq!(find_cut(&[result("z")], &[1], 0, 100, 100), 1);
        assert_eq!(find_cut(&[], &[], 0, 100, 100), 0);
    }

    #[test]
    fn a_cut_within_a_turn_says_where_the_turn_begins() {
        let prompts = [true, false, true, false, false];
        assert_eq!(split_turn(&prompts, 0, 2), None);
        assert_eq!(split_turn(&prompts, 0, 3), Some(2));
        assert_eq!(split_turn(&prompts, 0, 5), Some(2));
        assert_eq!(split_turn(&prompts, 3, 4), None, "the turn began before what is there");
    }
}
