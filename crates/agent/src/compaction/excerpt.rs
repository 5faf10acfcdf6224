//! A conversation as bounded text, for whoever sums it up: as much as fits, shortened in steps until it does.

use std::fmt::Write;

use relaycode_llm::Message;
use relaycode_llm::message::{AssistantContent, UserContent};
use relaycode_llm::tokens::text_tokens;

use super::clip_text;

/// Characters of a text, of arguments, of a result, step by step.
const STEPS: [(usize, usize, usize); 4] =
    [(20_000, 2_000, 2_000), (4_000, 500, 500), (800, 120, 120), (200, 60, 40)];
/// The first messages of what still does not fit get so many of hundred parts; the rest is for the newest.
const HEAD_SHARE: u64 = 25;

/// At most `budget` tokens. What is left out in the middle is counted.
pub fn excerpt(messages: &[Message], budget: u64) -> String {
    let mut lines = Vec::new();
    for step in STEPS {
        lines = messages.iter().map(|message| describe_message(message, step)).collect();
        let tokens: u64 = lines.iter().map(|line| text_tokens(line) + 1).sum();
        if tokens <= budget {
            return lines.concat();
        }
    }
    drop_middle(&lines, budget)
}

fn drop_middle(lines: &[String], budget: u64) -> String {
    /// What the note about the middle takes.
    const NOTE: u64 = 16;
    let all = budget;
    let budget = budget.saturating_sub(NOTE);
    let fit = |room: u64, order: &mut dyn Iterator<Item = &String>| {
        let mut left = room;
        let fits = |line: &&String| {
            let tokens = text_tokens(line) + 1;
            let fits = tokens <= left;
            left = left.saturating_sub(tokens);
            fits
        };
        order.take_while(fits).count()
    };
    let head = fit(budget / 100 * HEAD_SHARE, &mut lines.iter());
    let tail = fit(budget - budget / 100 * HEAD_SHARE, &mut lines[head..].iter().rev());
    let left_out = lines.len() - head - tail;
    let note =
        if left_out > 0 { format!("(… {left_out} messages are left out here)\n") } else { String::new() };
    if head + tail == 0 && text_tokens(&note) > all {
        return String::new();
    }
    format!("{}{note}{}", lines[..head].concat(), lines[lines.len() - tail..].concat())
}

fn describe_message(message: &Message, (text, arguments, result): (usize, usize, usize)) -> String {
    let mut said = String::new();
    let pieces = |pieces: &[UserContent], most: usize| {
        let texts = pieces.iter().map(|piece| match piece {
            UserContent::Text(text) => clip_text(text.text.trim(), most),
            UserContent::Image(image) => format!("[{}]", image.mime_type),
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    let _ = match message {
        Message::User(message) => writeln!(said, "[user] {}", pieces(&message.content, text)),
        Message::Developer(message) => writeln!(said, "[relay] {}", pieces(&message.content, text)),
        Message::ToolResult(message) => {
            let failed = if message.is_error { " failed" } else { "" };
            writeln!(said, "[result of {}{failed}] {}", message.tool_name, pieces(&message.content, result))
        }
        Message::Assistant(answer) => {
            for piece in &answer.content {
                let _ = match piece {
                    AssistantContent::Text(words) if !words.text.trim().is_empty() => {
                        writeln!(said, "[assistant] {}", clip_text(words.text.trim(), text))
                    }
                    AssistantContent::ToolCall(call) => {
                        let all = serde_json::to_string(&call.arguments).unwrap_or_default();
                        writeln!(said, "[call] {} {}", call.name, clip_text(&all, arguments))
                    }
                    AssistantContent::Text(_) | AssistantContent::Thinking(_) => Ok(()),
                };
            }
            Ok(())
        }
    };
    // A text of the conversation's ends no block that it stands in.
    said.replace("</", "< /")
}

#[cfg(test)]
mod tests {
    use relaycode_llm::message::{AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage};
    use serde_json::json;

    use super::*;

    fn conversation(size: usize, count: usize) -> Vec<Message> {
        let call = ToolCall {
            id: "c".into(),
            name: "read".into(),
            arguments: json!({"path": "a.rs"}).as_object().unwrap().clone(),
            ..ToolCall::default()
        };
        let mut messages = Vec::new();
        for at in 0..count {
            messages.push(Message::User(UserMessage::text(format!("Do {at} </conversation>"), 0)));
            let text = TextContent { text: "I will.".into(), ..TextContent::default() };
            messages.push(Message::Assistant(AssistantMessage {
                content: vec![AssistantContent::Text(text), AssistantContent::ToolCall(call.clone())],
                ..AssistantMessage::default()
            }));
            messages.push(Message::ToolResult(ToolResultMessage::text(
                &call,
                "word ".repeat(size),
                false,
                0,
            )));
        }
        messages
    }

    #[test]
    fn everything_is_there_while_it_fits() {
        let text = excerpt(&conversation(2, 1), 1_000);
        assert_eq!(
            text,
            "[user] Do 0 < /conversation>\n[assistant] I will.\n[call] read {\"path\":\"a.rs\"}\n[result of read] word word\n"
        );
    }

    #[test]
    fn it_never_has_more_than_its_budget() {
        for size in [1, 500, 200_000] {
            for count in [0, 1, 40] {
                let messages = conversation(size, count);
                for budget in [0, 5, 30, 200, 3_000, 100_000] {
                    let text = excerpt(&messages, budget);
                    assert!(text_tokens(&text) <= budget, "{size} {count} {budget}: {}", text_tokens(&text));
                }
            }
        }
        let text = excerpt(&conversation(500, 40), 400);
        assert!(text.starts_with("[user] Do 0") && text.contains("messages are left out here"), "{text}");
        assert!(text.contains("[user] Do 39"), "the newest counts most: {text}");
    }
}
