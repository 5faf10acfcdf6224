//! Tokens, as the different servers count them.
//!
//! Invariant: tokens read from a cache or written into it are not in `input`, and thinking is in `output`
//! once.

use serde_json::Value;

use crate::message::TokenUsage;

/// A chunk may report tokens several times; the last report counts.
pub(super) fn record_usage(chunk: &Value, usage: &mut TokenUsage) {
    // Moonshot sends it within the choice, Groq within a separate field.
    let places = [&chunk["usage"], &chunk["choices"][0]["usage"], &chunk["x_groq"]["usage"]];
    let Some(said) = places.into_iter().find(|place| place.is_object()) else { return };
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let details = &said["prompt_tokens_details"];
    let read = number(&said["prompt_tokens"]);
    // DeepSeek and Moonshot have different fields.
    let cached = [&details["cached_tokens"], &said["prompt_cache_hit_tokens"], &said["cached_tokens"]];
    let cached = cached.into_iter().map(number).max().unwrap_or(0).min(read);
    let written = number(&details["cache_write_tokens"]).min(read - cached);
    let completion = number(&said["completion_tokens"]);
    let thought = number(&said["completion_tokens_details"]["reasoning_tokens"]);
    // Mostly thinking is within the completion; if the sum shows that it is not, it is added.
    let beside = thought > 0
        && number(&said["total_tokens"]) == read.saturating_add(completion).saturating_add(thought);
    usage.input = read - cached - written;
    usage.cache_read = cached;
    usage.cache_write = written;
    usage.output = if beside { completion.saturating_add(thought) } else { completion };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn counted(chunk: &Value) -> (u64, u64, u64, u64) {
        let mut usage = TokenUsage::default();
        record_usage(chunk, &mut usage);
        (usage.input, usage.output, usage.cache_read, usage.cache_write)
    }

    #[test]
    fn every_way_to_count_comes_to_the_same() {
        let openai = json!({"usage": {"prompt_tokens": 100, "completion_tokens": 30, "total_tokens": 130,
            "prompt_tokens_details": {"cached_tokens": 40}, "completion_tokens_details": {"reasoning_tokens": 20}}});
        assert_eq!(counted(&openai), (60, 30, 40, 0));
        let thinking_beside = json!({"usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 130,
            "completion_tokens_details": {"reasoning_tokens": 20}}});
        assert_eq!(counted(&thinking_beside), (100, 30, 0, 0));
        let deepseek = json!({"usage": {"prompt_tokens": 100, "completion_tokens": 5,
            "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}});
        assert_eq!(counted(&deepseek), (36, 5, 64, 0));
        let openrouter = json!({"usage": {"prompt_tokens": 100, "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 80}}});
        assert_eq!(counted(&openrouter), (10, 5, 10, 80));
        let moonshot =
            json!({"choices": [{"usage": {"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 4}}]});
        assert_eq!(counted(&moonshot), (5, 1, 4, 0));
        let groq = json!({"x_groq": {"usage": {"prompt_tokens": 9, "completion_tokens": 1}}});
        assert_eq!(counted(&groq), (9, 1, 0, 0));
    }

    #[test]
    fn numbers_that_cannot_be_are_none() {
        let wild = json!({"usage": {"prompt_tokens": -3, "completion_tokens": 1.5, "total_tokens": u64::MAX,
            "prompt_tokens_details": {"cached_tokens": 99}}});
        assert_eq!(counted(&wild), (0, 0, 0, 0));
        assert_eq!(counted(&json!({"usage": null})), (0, 0, 0, 0));
        assert_eq!(counted(&json!("text")), (0, 0, 0, 0));
    }
}
