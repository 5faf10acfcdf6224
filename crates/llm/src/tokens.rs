//! How many tokens a conversation has: the one count for prompt, status and compaction.
//!
//! What the provider counted is taken as it is: an answer says what the request before it came to. Only what came after the
//! last answer is estimated, by the shape of the text, and corrected by how far the same estimate was off for what the
//! provider did count. So the error does not grow with the conversation. Time is linear in what is estimated; no
//! vocabulary is loaded, since those that are public take megabytes and belong to few models.

use serde_json::Value;

use crate::message::{AssistantContent, AssistantMessage, UserContent};
use crate::request::Tool;
use crate::{Message, StopReason};

/// An image; providers take between some hundred and two thousand.
pub const IMAGE_TOKENS: u64 = 1_500;
/// What a message has around its text.
const MESSAGE_TOKENS: u64 = 4;
/// The estimate is corrected by no more than this, either way.
const MAX_CORRECTION: f64 = 3.0;
/// Of less, nothing can be said about how far an estimate is off.
const MIN_SAMPLE: u64 = 200;

/// What the model reads with the next request.
pub fn context_tokens(system: &str, tools: &[Tool], messages: &[Message]) -> u64 {
    counted_tokens(system, tools, messages).unwrap_or_else(|| estimated_tokens(system, tools, messages))
}

/// The same by the shape of the text alone.
pub fn estimated_tokens(system: &str, tools: &[Tool], messages: &[Message]) -> u64 {
    head_tokens(system, tools) + messages.iter().map(message_tokens).sum::<u64>()
}

/// The same where an answer says what the provider counted.
pub fn counted_tokens(system: &str, tools: &[Tool], messages: &[Message]) -> Option<u64> {
    let mut counted = messages.iter().enumerate().rev().filter_map(|(at, message)| match message {
        Message::Assistant(answer) if is_counted(answer) => Some((at, answer)),
        _ => None,
    });
    let (at, last) = counted.next()?;
    let correction = match counted.next() {
        // What was said between two answers, which the second one counted.
        Some((before, earlier)) => {
            let estimated = messages[before + 1..at].iter().map(message_tokens).sum();
            correction(prompt_tokens(last).saturating_sub(all_tokens(earlier)), estimated)
        }
        None => correction(prompt_tokens(last), estimated_tokens(system, tools, &messages[..at])),
    };
    let tail: u64 = messages[at + 1..].iter().map(message_tokens).sum();
    Some(all_tokens(last) + (tail as f64 * correction).ceil() as u64)
}

/// A text by its shape: words, numbers, signs, blanks, and scripts whose characters are tokens of their own.
pub fn text_tokens(text: &str) -> u64 {
    let (mut tokens, mut quarters) = (0_u64, 0_u64);
    let mut run = TextRun { kind: CharKind::Blank, len: 0 };
    for c in text.chars() {
        let kind = CharKind::of(c);
        if kind == run.kind {
            run.len += 1;
        } else {
            tokens += run.tokens(&mut quarters);
            run = TextRun { kind, len: 1 };
        }
    }
    tokens + run.tokens(&mut quarters) + quarters.div_ceil(4)
}

/// Characters of one kind in a row.
struct TextRun {
    kind: CharKind,
    len: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Letter,
    Digit,
    Blank,
    Newline,
    Sign,
    /// Latin with marks, Greek, Cyrillic and the like.
    OtherLetter,
    /// Chinese, Japanese, Korean, and everything rarer.
    Wide,
}

impl CharKind {
    fn of(c: char) -> CharKind {
        match c {
            'a'..='z' | 'A'..='Z' => CharKind::Letter,
            '0'..='9' => CharKind::Digit,
            '\n' | '\r' => CharKind::Newline,
            ' ' | '\t' => CharKind::Blank,
            '!'..='~' => CharKind::Sign,
            c if (c as u32) < 0x0800 => CharKind::OtherLetter,
            _ => CharKind::Wide,
        }
    }
}

impl TextRun {
    /// Whole tokens; quarters of others are added to `quarters`.
    fn tokens(&self, quarters: &mut u64) -> u64 {
        match self.kind {
            // A usual word is one, with the blank before it; a long one is several.
            CharKind::Letter => self.len.div_ceil(6),
            CharKind::Digit => self.len.div_ceil(3),
            CharKind::Newline => self.len.div_ceil(4),
            // One blank belongs to the word behind it.
            CharKind::Blank if self.len == 1 => 0,
            CharKind::Blank => self.len.div_ceil(16),
            CharKind::Sign => self.len.div_ceil(2),
            CharKind::OtherLetter => {
                *quarters += self.len * 2;
                0
            }
            CharKind::Wide => {
                *quarters += self.len * 4;
                0
            }
        }
    }
}

fn is_counted(answer: &AssistantMessage) -> bool {
    prompt_tokens(answer) > 0 && !matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted)
}

/// What the request before an answer came to.
fn prompt_tokens(answer: &AssistantMessage) -> u64 {
    answer.usage.input + answer.usage.cache_read + answer.usage.cache_write
}

fn all_tokens(answer: &AssistantMessage) -> u64 {
    answer.usage.total_tokens.max(prompt_tokens(answer) + answer.usage.output)
}

fn correction(counted: u64, estimated: u64) -> f64 {
    if counted < MIN_SAMPLE || estimated < MIN_SAMPLE {
        return 1.0;
    }
    (counted as f64 / estimated as f64).clamp(1.0 / MAX_CORRECTION, MAX_CORRECTION)
}

/// What stands before every conversation.
pub fn head_tokens(system: &str, tools: &[Tool]) -> u64 {
    let tool = |tool: &Tool| {
        text_tokens(&tool.name)
            + text_tokens(&tool.description)
            + value_tokens(&tool.parameters)
            + MESSAGE_TOKENS
    };
    text_tokens(system) + tools.iter().map(tool).sum::<u64>()
}

pub fn message_tokens(message: &Message) -> u64 {
    let piece = |piece: &UserContent| match piece {
        UserContent::Text(text) => text_tokens(&text.text),
        UserContent::Image(_) => IMAGE_TOKENS,
    };
    let own = match message {
        Message::Assistant(answer) => answer.content.iter().map(content_tokens).sum(),
        _ => 0,
    };
    MESSAGE_TOKENS + own + message.pieces().iter().map(piece).sum::<u64>()
}

fn content_tokens(content: &AssistantContent) -> u64 {
    match content {
        AssistantContent::Text(text) => text_tokens(&text.text),
        AssistantContent::Thinking(thinking) => text_tokens(&thinking.thinking),
        AssistantContent::ToolCall(call) => {
            let arguments =
                call.arguments.iter().map(|(name, value)| text_tokens(name) + value_tokens(value));
            text_tokens(&call.name) + MESSAGE_TOKENS + arguments.sum::<u64>()
        }
    }
}

/// As it is written out, without writing it.
fn value_tokens(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 2 + text_tokens(text),
        Value::Array(items) => 1 + items.iter().map(|item| 1 + value_tokens(item)).sum::<u64>(),
        Value::Object(fields) => {
            1 + fields.iter().map(|(name, value)| 2 + text_tokens(name) + value_tokens(value)).sum::<u64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TokenUsage;
    use crate::message::{TextContent, UserMessage};

    fn user(text: &str) -> Message {
        Message::User(UserMessage::text(text, 0))
    }

    fn answer(prompt: u64, output: u64) -> Message {
        let text = TextContent { text: "ok".into(), ..TextContent::default() };
        Message::Assistant(AssistantMessage {
            content: vec![AssistantContent::Text(text)],
            usage: TokenUsage {
                input: prompt,
                output,
                total_tokens: prompt + output,
                ..TokenUsage::default()
            },
            ..AssistantMessage::default()
        })
    }

    #[test]
    fn texts_by_their_shape() {
        for (text, tokens) in [
            ("", 0),
            ("hello", 1),
            ("hello world", 2),
            ("internationalisation", 4),
            ("1234567", 3),
            ("let x = 10;\n    y", 8),
            ("привет", 3),
            ("你好世界", 4),
            ("🙂", 1),
        ] {
            assert_eq!(text_tokens(text), tokens, "{text:?}");
        }
    }

    #[test]
    fn what_the_provider_counted_is_taken_as_it_is() {
        let messages = [user("a"), answer(9_000, 77)];
        assert_eq!(context_tokens("system", &[], &messages), 9_077);
    }

    #[test]
    fn what_came_after_is_estimated_and_corrected_by_what_was_counted() {
        let text = "word ".repeat(1_000);
        // The provider counts twice what the shape says.
        let messages = [user("a"), answer(5_000, 10), user(&text), answer(5_010 + 2_008, 10), user(&text)];
        assert_eq!(context_tokens("", &[], &messages), 7_028 + 2_008);
        // An answer that failed says nothing.
        let mut failed = answer(999_999, 0);
        let Message::Assistant(message) = &mut failed else { unreachable!() };
        message.stop_reason = StopReason::Error;
        let messages = [user("a"), answer(5_000, 10), failed, user("b c")];
        assert_eq!(context_tokens("", &[], &messages), 5_010 + 5 + MESSAGE_TOKENS + 2);
    }

    #[test]
    fn a_correction_has_its_bounds() {
        assert!((correction(1_000_000, 1_000) - 3.0).abs() < 1e-9);
        assert!((correction(200, 1_000_000) - 1.0 / 3.0).abs() < 1e-9);
        assert!((correction(1_000_000, 199) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn without_an_answer_everything_is_estimated_images_too() {
        let tools = [Tool {
            name: "read".into(),
            description: "Reads".into(),
            parameters: serde_json::json!({"type": "object"}),
        }];
        let image = UserContent::Image(crate::message::ImageContent {
            data: "x".repeat(1 << 20),
            mime_type: "image/png".into(),
        });
        let message = Message::User(UserMessage { content: vec![image], timestamp: 0 });
        let head = context_tokens("be brief", &tools, &[]);
        assert!((10..40).contains(&head), "{head}");
        assert_eq!(context_tokens("be brief", &tools, &[message]), head + IMAGE_TOKENS + MESSAGE_TOKENS);
    }

    #[test]
    fn a_megabyte_takes_no_time_to_speak_of() {
        let text = "fn main() { println!(\"hello, 12345\"); }\n".repeat(25_000);
        let began = std::time::Instant::now();
        let tokens = text_tokens(&text);
        assert!((200_000..600_000).contains(&tokens), "{tokens}");
        assert!(began.elapsed().as_secs() < 5, "also in a debug build on a busy machine");
    }
}
