//! The last words of a friend's program, without secrets: what it printed to its error output at the end.

use relaycode_exec::ExitReason;
use relaycode_text::redact::redact;

/// Bytes of a program's error output that are kept, from its end.
const MOST_KEPT: usize = 16 << 10;

/// Lines and characters of last words.
const MOST_LINES: usize = 6;
const MOST_CHARS: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct StderrTail(Vec<u8>);

impl StderrTail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&bytes[bytes.len().saturating_sub(MOST_KEPT)..]);
        let over = self.0.len().saturating_sub(MOST_KEPT);
        self.0.drain(..over);
    }

    /// What was said so far is of no account for what comes now.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

/// The last lines of what was said, but for those that say nothing, and without the codes for a terminal.
pub(crate) fn error_excerpt(said: &str, says_something: impl Fn(&str) -> bool) -> String {
    let said = &without_terminal_codes(said);
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && says_something(line));
    let lines: Vec<&str> = lines.collect();
    let last = &lines[lines.len().saturating_sub(MOST_LINES)..];
    let words = redact(&last.join("\n")).into_owned();
    let over = words.chars().count().saturating_sub(MOST_CHARS);
    words.chars().skip(over).collect()
}

/// The text without colours and whatever else a program says to a terminal (`ESC [ … m`, `ESC ] … BEL`).
fn without_terminal_codes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' => match characters.next() {
                Some('[') => while characters.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                Some(']') => {
                    while characters.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n')).is_some() {}
                }
                _ => {}
            },
            '\n' | '\t' => plain.push(c),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

/// How a program ended that should have gone on, with its last words.
pub(crate) fn describe_exit(end: ExitReason, last_words: &str) -> String {
    let how = match end {
        ExitReason::Exited(code) => format!("it ended with code {code} before it was done"),
        ExitReason::Signalled(signal) => format!("it was ended by signal {signal}"),
        _ => "it was ended".to_string(),
    };
    if last_words.is_empty() { how } else { format!("{how}: {last_words}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_few_and_without_secrets() {
        let all = |said: &str| error_excerpt(said, |_| true);
        let long: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
        assert_eq!(all(&long).lines().next(), Some("line 94"));
        assert_eq!(all(&"é".repeat(5_000)).chars().count(), MOST_CHARS);
        assert!(!all("key AKIAIOSFODNN7EXAMPLE").contains("IOSFODNN7"));
        assert_eq!(error_excerpt("noise\nNot logged in\n", |line| line != "noise"), "Not logged in");
    }

    #[test]
    fn codes_for_a_terminal_are_no_words() {
        let said = "\u{1b}[2m2026-11-17T00:00:10Z\u{1b}[0m \u{1b}[31mERROR\u{1b}[0m no\u{1b}]0;title\u{7} key\u{1b}[2J\r\n";
        assert_eq!(error_excerpt(said, |_| true), "2026-11-17T00:00:10Z ERROR no key");
        assert_eq!(error_excerpt("a\u{1b}[31", |_| true), "a");
        assert_eq!(error_excerpt("a\u{1b}]0;endless\nb", |_| true), "a\nb");
    }

    #[test]
    fn of_what_is_printed_the_end_is_kept() {
        let mut tail = StderrTail::default();
        tail.push(&[b'a'; 3 * MOST_KEPT]);
        tail.push(b"the end");
        assert_eq!((tail.text().len(), tail.text().ends_with("the end")), (MOST_KEPT, true));
    }

    #[test]
    fn how_it_ended_is_said_with_its_last_words() {
        assert_eq!(describe_exit(ExitReason::Exited(3), ""), "it ended with code 3 before it was done");
        assert_eq!(
            describe_exit(ExitReason::Signalled(9), "out of memory"),
            "it was ended by signal 9: out of memory"
        );
    }
}
