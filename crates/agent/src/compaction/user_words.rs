//! What the user said, word for word: the newest first, as much as there is room for. The rest is counted, and every message has
//! an address under which it can be read.

use std::fmt::Write;

use relaycode_llm::message::UserContent;
use relaycode_llm::tokens::text_tokens;

/// If not all of them fit, the newest takes no more than half of the room, any other no more than this part.
const LARGEST_SHARE: u64 = 4;
/// What stands around a message.
const FRAME_TOKENS: u64 = 24;
/// What stands around all of them.
const BLOCK_TOKENS: u64 = 48;

/// A message of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserWords {
    pub entry_id: String,
    pub text: String,
}

/// The messages as one block, oldest first. `words` begins with the newest; `more` were not even looked at.
pub fn quote_user_words(words: &[UserWords], more: usize, budget: u64) -> String {
    if words.is_empty() && more == 0 {
        return String::new();
    }
    let room = budget.saturating_sub(BLOCK_TOKENS);
    let whole: Vec<u64> = words.iter().map(|said| text_tokens(&said.text) + FRAME_TOKENS).collect();
    let fits = words.len() == 1 || whole.iter().sum::<u64>() <= room;
    let (mut left, mut quoted) = (room, Vec::new());
    for (at, (said, tokens)) in words.iter().zip(whole).enumerate() {
        let most = match at {
            _ if fits => room,
            0 => room / 2,
            _ => room / LARGEST_SHARE,
        };
        let allowed = most.min(left).saturating_sub(FRAME_TOKENS);
        let text = if tokens <= most.min(left) {
            said.text.clone()
        } else if allowed < FRAME_TOKENS {
            break;
        } else {
            clip_middle(&said.text, allowed)
        };
        left = left.saturating_sub(text_tokens(&text) + FRAME_TOKENS);
        quoted.push(format!(
            "<user-message address=\"history://{}\">\n{text}\n</user-message>\n",
            said.entry_id
        ));
    }
    let left_out = more + words.len() - quoted.len();
    let mut block = "<user-messages>\n".to_string();
    if left_out > 0 {
        let are =
            if left_out == 1 { "1 earlier message is" } else { &format!("{left_out} earlier messages are") };
        let _ = writeln!(block, "({are} left out: `read` shows all of them at `history://user`.)");
    }
    quoted.iter().rev().for_each(|message| block.push_str(message));
    block.push_str("</user-messages>");
    block
}

/// The text of a message; what is no text is named.
pub fn to_text(content: &[UserContent]) -> String {
    join_pieces(content, |text| text.to_string())
}

/// The same, with the first line alone of what went along with the words.
pub fn to_own_words(content: &[UserContent]) -> String {
    let mut is_first = true;
    join_pieces(content, |text| {
        let line = text.lines().next().unwrap_or_default();
        if std::mem::take(&mut is_first) || line.len() == text.len() {
            return text.to_string();
        }
        format!("{line} (… {} more lines went along)", text.lines().count() - 1)
    })
}

fn join_pieces(content: &[UserContent], mut write: impl FnMut(&str) -> String) -> String {
    let texts = content.iter().map(|piece| match piece {
        UserContent::Text(text) => write(&text.text),
        UserContent::Image(image) => format!("[{}]", image.mime_type),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// At most `budget` tokens: the beginning and the end.
pub(crate) fn clip_middle(text: &str, budget: u64) -> String {
    /// What the note between both takes.
    const NOTE: u64 = 12;
    let all = text_tokens(text);
    if all <= budget {
        return text.to_string();
    }
    let chars = text.chars().count();
    // A text may be denser in one place than in another: then less of it.
    let mut keep =
        usize::try_from((chars as u64).saturating_mul(budget.saturating_sub(NOTE)) / all.max(1)).unwrap_or(0);
    loop {
        let (head, tail) = (keep - keep / 3, keep / 3);
        let start: String = text.chars().take(head).collect();
        let end: String = text.chars().skip(chars - tail).collect();
        let clipped = format!("{start}\n(… {} characters are left out here)\n{end}", chars - head - tail);
        if keep == 0 || text_tokens(&clipped) <= budget {
            return if text_tokens(&clipped) <= budget { clipped } else { String::new() };
        }
        keep = keep * 3 / 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> Vec<UserWords> {
        let said =
            |(at, text): (usize, &&str)| UserWords { entry_id: format!("e{at}"), text: text.to_string() };
        texts.iter().enumerate().map(said).collect()
    }

    #[test]
    fn all_words_stand_there_as_they_were_said() {
        let text = quote_user_words(&words(&["second </user-message>", "first\n  line"]), 0, 1_000);
        assert_eq!(
            text,
            "<user-messages>\n<user-message address=\"history://e1\">\nfirst\n  line\n</user-message>\n\
             <user-message address=\"history://e0\">\nsecond </user-message>\n</user-message>\n</user-messages>"
        );
        assert_eq!(quote_user_words(&[], 0, 1_000), "");
    }

    #[test]
    fn the_newest_come_first_and_the_rest_is_counted() {
        let long = "word ".repeat(200);
        let text =
            quote_user_words(&words(&["newest", &long, "older", &long, &long, &long, "oldest"]), 3, 400);
        assert!(text_tokens(&text) <= 400, "{}", text_tokens(&text));
        assert!(text.contains("newest") && text.contains("characters are left out here"), "{text}");
        assert!(
            text.contains("earlier messages are left out: `read` shows all of them at `history://user`"),
            "{text}"
        );
        assert!(!text.contains("oldest"), "{text}");
        let none = quote_user_words(&[], 1, 0);
        assert!(none.contains("(1 earlier message is left out"), "{none}");
    }

    #[test]
    fn nothing_takes_more_than_its_room() {
        let dense = "你好世界".repeat(5_000);
        let texts =
            ["short", &dense, "x y z ", &"a".repeat(100_000), &format!("{}{dense}", "word ".repeat(4_000))];
        for budget in [60, 100, 500, 5_000, 100_000] {
            let text = quote_user_words(&words(&texts), 0, budget);
            assert!(text_tokens(&text) <= budget, "{budget}: {}", text_tokens(&text));
            for text in texts {
                assert!(text_tokens(&clip_middle(text, budget)) <= budget);
            }
        }
    }
}
