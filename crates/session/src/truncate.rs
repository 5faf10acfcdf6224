//! Truncates text, never in the middle of a character.

/// At most `most` bytes.
pub(crate) fn truncate_str(text: &str, most: usize) -> &str {
    let mut at = most.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    &text[..at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_whole_or_not_there() {
        assert_eq!((truncate_str("aé", 2), truncate_str("aé", 3), truncate_str("aé", 9)), ("a", "aé", "aé"));
        assert_eq!(truncate_str("é", 0), "");
    }
}
