//! How well typed words match a model's names. Linear in both, and deterministic.

/// Most characters of the typed text.
const TYPED: usize = 256;

/// Less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FuzzyRank {
    /// Every word is a word of the names.
    Words,
    /// Every word begins one.
    Prefixes,
    /// Every word is somewhere in them.
    Substrings,
    /// It consists of beginnings of their words, in this order: `clhaiku55`.
    Initials,
}

/// `None` if `typed` does not match `names`.
pub(super) fn fuzzy_rank(typed: &str, names: &str) -> Option<FuzzyRank> {
    let typed: String = typed.chars().take(TYPED).flat_map(char::to_lowercase).collect();
    let names = names.to_lowercase();
    let wanted = words(&typed);
    if wanted.is_empty() {
        return None;
    }
    let there = words(&names);
    if wanted.iter().all(|word| there.contains(word)) {
        return Some(FuzzyRank::Words);
    }
    if wanted.iter().all(|word| there.iter().any(|other| other.starts_with(word))) {
        return Some(FuzzyRank::Prefixes);
    }
    if wanted.iter().all(|word| names.contains(word)) {
        return Some(FuzzyRank::Substrings);
    }
    let letters: Vec<char> = wanted.concat().chars().collect();
    // One or two letters begin something everywhere.
    (letters.len() > 3 && is_made_of_prefixes(&letters, &there)).then_some(FuzzyRank::Initials)
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// Whether `letters` consists of beginnings of some of the words, one after the other. Letters from
/// anywhere would match some model for every typo, and a typo must not cost the price of another model.
fn is_made_of_prefixes(letters: &[char], words: &[&str]) -> bool {
    let mut reached = vec![false; letters.len() + 1];
    reached[0] = true;
    for word in words {
        // From the end, so that no word counts twice.
        for from in (0..letters.len()).rev().filter(|from| reached[*from]).collect::<Vec<_>>() {
            let same = letters[from..].iter().zip(word.chars()).take_while(|(a, b)| **a == *b).count();
            reached[from + 1..=from + same].fill(true);
        }
    }
    reached[letters.len()]
}

/// One name for all variants of a model: without vendor, date and `latest`, and with one separator.
pub(super) fn canonical(id: &str) -> String {
    let last = id.rsplit('/').next().unwrap_or(id).to_lowercase();
    let last: String = last.chars().map(|c| if matches!(c, '.' | '_' | ' ') { '-' } else { c }).collect();
    let last = last.strip_suffix("-latest").unwrap_or(&last);
    let dated =
        |tail: &str| tail.len() == 8 && tail.starts_with("20") && tail.bytes().all(|b| b.is_ascii_digit());
    let head = last.rsplit_once('-').filter(|(_, tail)| dated(tail)).map_or(last, |(head, _)| head);
    head.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_better_than_beginnings_parts_and_letters() {
        let names = "anthropic/claude-haiku-5-5 Claude Haiku 5.5";
        assert_eq!(fuzzy_rank("haiku", names), Some(FuzzyRank::Words));
        assert_eq!(fuzzy_rank("Anthropic HAIKU 5.5", names), Some(FuzzyRank::Words));
        assert_eq!(fuzzy_rank("hai", names), Some(FuzzyRank::Prefixes));
        assert_eq!(fuzzy_rank("aiku", names), Some(FuzzyRank::Substrings));
        assert_eq!(fuzzy_rank("clhaiku55", names), Some(FuzzyRank::Initials));
        assert_eq!(fuzzy_rank("opus", names), None);
        // That its letters occur in this order is no reason.
        assert_eq!(fuzzy_rank("nope", "anthropic/claude-opus-5-5 Claude Opus 5.5"), None);
        assert_eq!(fuzzy_rank("opus", "anthropic/claude-sonnet-5-5 Claude Sonnet 5.5"), None);
        assert_eq!(fuzzy_rank("--", names), None);
        assert_eq!(fuzzy_rank(&"a".repeat(1 << 20), names), None);
    }

    #[test]
    fn variants_of_one_model_have_one_canonical_name() {
        for id in ["claude-haiku-4-5-20251001", "anthropic/claude-haiku-4.5", "Claude-Haiku-4-5-latest"] {
            assert_eq!(canonical(id), "claude-haiku-4-5", "{id}");
        }
        assert_eq!(canonical("qwen3:8b"), "qwen3:8b");
    }
}
