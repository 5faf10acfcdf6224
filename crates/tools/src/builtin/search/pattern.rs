//! Regular expressions as models write them: literal braces and parentheses are understood as such where nothing else makes sense.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::tool::ToolError;

/// Bytes of a pattern.
const MAX_PATTERN: usize = 10_000;
/// Bytes of a compiled pattern.
const MAX_COMPILED: usize = 20 * 1024 * 1024;

/// A pattern that can be searched for.
pub(super) struct SearchPattern {
    pub matcher: RegexMatcher,
    /// It may match across lines.
    pub multi_line: bool,
    /// What was made of it, if that is not what was written.
    pub repaired: Option<String>,
}

impl SearchPattern {
    pub(super) fn read(pattern: &str, ignore_case: bool) -> Result<SearchPattern, ToolError> {
        if pattern.is_empty() || pattern.len() > MAX_PATTERN {
            return Err(ToolError::refused(format!("the pattern has to have 1 to {MAX_PATTERN} bytes")));
        }
        let multi_line = pattern.contains('\n') || has_escape(pattern, 'n');
        let build = |pattern: &str| {
            let mut builder = RegexMatcherBuilder::new();
            builder.case_insensitive(ignore_case).multi_line(true).size_limit(MAX_COMPILED);
            if !multi_line {
                builder.line_terminator(Some(b'\n'));
            }
            builder.build(pattern)
        };
        let braced = escape_braces(pattern);
        let mut used = braced.clone();
        let matcher = build(&braced).or_else(|error| {
            if !error.to_string().contains("group") {
                return Err(error);
            }
            used = escape_parentheses(&braced);
            build(&used).map_err(|_| error)
        });
        let matcher = matcher.map_err(|error| {
            ToolError::refused(format!("the pattern is no valid regular expression: {error}"))
        })?;
        let repaired = (used != pattern).then_some(used);
        Ok(SearchPattern { matcher, multi_line, repaired })
    }
}

/// Whether `\letter` stands there as an escape.
fn has_escape(pattern: &str, letter: char) -> bool {
    let mut letters = pattern.chars();
    while let Some(sign) = letters.next() {
        if sign == '\\' && letters.next() == Some(letter) {
            return true;
        }
    }
    false
}

/// Braces that cannot be a repetition stand for themselves: `${name}`.
fn escape_braces(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(sign) = rest.chars().next() {
        let mut taken = sign.len_utf8();
        match sign {
            '\\' => {
                let next = rest[1..].chars().next();
                taken += next.map_or(0, char::len_utf8);
                // `\p{L}`, `\x{41}`
                if next.is_some_and(|next| "pPxuU".contains(next)) && rest[taken..].starts_with('{') {
                    taken += rest[taken..].find('}').map_or(0, |end| end + 1);
                }
                out.push_str(&rest[..taken]);
            }
            '[' if !in_class => {
                in_class = true;
                out.push('[');
                // A bracket that stands first belongs to the class.
                for first in ["^", "]"] {
                    if rest[taken..].starts_with(first) {
                        out.push_str(first);
                        taken += 1;
                    }
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '{' if !in_class => {
                match repetition(rest).filter(|_| !out.is_empty() && !out.ends_with(['(', '|'])) {
                    Some(length) => {
                        taken = length;
                        out.push_str(&rest[..length]);
                    }
                    None => {
                        // `${`: a line that ends before a brace is not what is meant.
                        if out.ends_with('$') && !out.ends_with("\\$") {
                            out.pop();
                            out.push_str("\\$");
                        }
                        out.push_str("\\{");
                    }
                }
            }
            '}' if !in_class => out.push_str("\\}"),
            sign => out.push(sign),
        }
        rest = &rest[taken..];
    }
    out
}

/// The length of `{N}`, `{N,}` or `{N,M}`.
fn repetition(text: &str) -> Option<usize> {
    let end = text.find('}')?;
    let (least, most) = text[1..end].split_once(',').unwrap_or((&text[1..end], ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (!least.is_empty() && is_number(least) && is_number(most)).then_some(end + 1)
}

/// Every parenthesis stands for itself.
fn escape_parentheses(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(sign) = letters.next() {
        match sign {
            '\\' => {
                out.push(sign);
                out.extend(letters.next());
            }
            '(' | ')' => out.extend(['\\', sign]),
            sign => out.push(sign),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(pattern: &str) -> String {
        SearchPattern::read(pattern, false)
            .unwrap_or_else(|error| panic!("{pattern}: {error}"))
            .repaired
            .unwrap_or_else(|| pattern.to_string())
    }

    #[test]
    fn braces_that_cannot_repeat_stand_for_themselves() {
        assert_eq!(used("${platform}"), "\\$\\{platform\\}");
        assert_eq!(used("fn main() {"), "fn main() \\{");
        assert_eq!(used("{a,b}"), "\\{a,b\\}");
        assert_eq!(used("{3}"), "\\{3\\}");
        assert_eq!(used("}"), "\\}");
    }

    #[test]
    fn repetitions_escapes_and_classes_are_left_alone() {
        for pattern in
            ["a{3}", "a{3,}", "a{3,5}", "\\p{L}+", "\\x{41}", "\\{a\\}", "[{}]", "[]{}]", "(ab){2}"]
        {
            assert_eq!(used(pattern), pattern);
        }
    }

    #[test]
    fn parentheses_without_a_partner_stand_for_themselves() {
        assert_eq!(used("foo("), "foo\\(");
        assert_eq!(used("foo(bar))"), "foo\\(bar\\)\\)");
        assert_eq!(used("(a|b)"), "(a|b)");
    }

    #[test]
    fn only_a_line_feed_makes_a_pattern_cross_lines() {
        let crosses = |pattern| SearchPattern::read(pattern, false).is_ok_and(|pattern| pattern.multi_line);
        assert!(crosses("a\\nb") && crosses("a\nb"));
        assert!(!crosses("a\\\\nb") && !crosses("a.b") && !crosses("a\\sb"));
    }

    #[test]
    fn error_invalid_pattern() {
        let error = SearchPattern::read("[z-a]", false).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("the pattern is no valid regular expression"), "{error}");
        assert!(SearchPattern::read("", false).is_err());
        assert!(SearchPattern::read(&"a".repeat(MAX_PATTERN + 1), false).is_err());
    }
}
