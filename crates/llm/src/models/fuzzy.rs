//! How well words that somebody typed fit a model's names. Linear in both, and the same every time.

/// Characters of what was typed that are looked at.
const TYPED: usize = 256;

/// How well it fits; less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// Every word is a word of the names.
    Words,
    /// Every word begins one.
    Beginnings,
    /// Every word stands somewhere in them.
    Parts,
    /// The letters stand in them, in this order.
    Letters,
}

/// How `typed` fits `names`; `None` if it does not.
pub(super) fn fit(typed: &str, names: &str) -> Option<Fit> {
    let typed: String = typed.chars().take(TYPED).flat_map(char::to_lowercase).collect();
    let names = names.to_lowercase();
    let wanted = words(&typed);
    if wanted.is_empty() {
        return None;
    }
    let there = words(&names);
    if wanted.iter().all(|word| there.contains(word)) {
        return Some(Fit::Words);
    }
    if wanted.iter().all(|word| there.iter().any(|other| other.starts_with(word))) {
        return Some(Fit::Beginnings);
    }
    if wanted.iter().all(|word| names.contains(word)) {
        return Some(Fit::Parts);
    }
    let letters = wanted.concat();
    // A letter or two stand in everything.
    let subsequence = letters.chars().count() > 3 && is_subsequence(&letters, &names);
    subsequence.then_some(Fit::Letters)
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

fn is_subsequence(letters: &str, text: &str) -> bool {
    let mut text = text.chars();
    letters.chars().all(|letter| text.any(|c| c == letter))
}

/// One name for all variants of a model: without who serves it, its date and `latest`, and with one separator.
pub(super) fn canonical(id: &str) -> String {
    let last = id.rsplit('/').next().unwrap_or(id).to_lowercase();
    let last: String = last.chars().map(|c| if matches!(c, '.' | '_' | ' ') { '-' } else { c }).collect();
    let last = last.strip_suffix("-latest").unwrap_or(&last);
    let dated =
        |tail: &str| tail.len() == 8 && tail.starts_with("20") && tail.bytes().all(|b| b.is_ascii_digit());
    match last.rsplit_once('-') {
        Some((head, tail)) if dated(tail) => head.to_string(),
        _ => last.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_better_than_beginnings_parts_and_letters() {
        let names = "anthropic/claude-haiku-5-5 Claude Haiku 5.5";
        assert_eq!(fit("haiku", names), Some(Fit::Words));
        assert_eq!(fit("Anthropic HAIKU 5.5", names), Some(Fit::Words));
        assert_eq!(fit("hai", names), Some(Fit::Beginnings));
        assert_eq!(fit("aiku", names), Some(Fit::Parts));
        assert_eq!(fit("clhaiku55", names), Some(Fit::Letters));
        assert_eq!(fit("opus", names), None);
        assert_eq!(fit("--", names), None);
        assert_eq!(fit(&"a".repeat(1 << 20), names), None);
    }

    #[test]
    fn variants_of_one_model_have_one_canonical_name() {
        for id in ["claude-haiku-4-5-20251001", "anthropic/claude-haiku-4.5", "Claude-Haiku-4-5-latest"] {
            assert_eq!(canonical(id), "claude-haiku-4-5", "{id}");
        }
        assert_eq!(canonical("qwen3:8b"), "qwen3:8b");
    }
}
