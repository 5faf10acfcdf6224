//! A rule's conditions, matched byte by byte while an answer comes. Where a match ends depends on the text alone, never on how
//! it was cut into pieces, and each byte is looked at once, whatever the expression.

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::{Input, MatchKind};
use regex_syntax::hir::{Capture, Hir, HirKind, Look, Repetition};

/// Bytes of an expression that is compiled: `x{1000}{1000}` would be huge.
const MAX_PROGRAM_BYTES: usize = 128 << 10;
/// Bytes of the states that are kept while it is matched.
const CACHE_BYTES: usize = 256 << 10;
/// So often they may be made anew in one text. An expression of which every byte makes new states costs some hundredths of a
/// second until then.
const MAX_CACHE_CLEARS: usize = 16;
/// How deep groups may be nested.
const MAX_NESTING: u32 = 50;

/// Expressions any of which may match.
#[derive(Debug)]
pub(super) struct StreamPattern {
    dfa: DFA,
}

/// How far one text is matched.
pub(super) enum PatternScan {
    Running {
        cache: Box<Cache>,
        state: LazyStateID,
    },
    Matched,
    /// It cannot match any more.
    Dead,
    /// It took too much work.
    TooCostly,
}

/// Whether relay can match this expression, and if not, why.
pub(super) fn check_expression(expression: &str) -> Result<(), String> {
    StreamPattern::new(&[expression]).map(drop)
}

impl StreamPattern {
    pub(super) fn new(expressions: &[&str]) -> Result<StreamPattern, String> {
        let parsed = expressions.iter().map(|expression| {
            // Fit for one expression.
            let mut parser = regex_syntax::ParserBuilder::new().nest_limit(MAX_NESTING).build();
            let parsed = parser.parse(expression).map_err(|error| last_line(&error.to_string()))?;
            Ok(with_ascii_words(&parsed))
        });
        let parsed = parsed.collect::<Result<Vec<Hir>, String>>()?;
        let size = thompson::Config::new().nfa_size_limit(Some(MAX_PROGRAM_BYTES));
        let program = thompson::Compiler::new().configure(size).build_many_from_hir(&parsed);
        let program = program.map_err(|_| "it is too large".to_string())?;
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(CACHE_BYTES)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(MAX_CACHE_CLEARS));
        let dfa = DFA::builder().configure(config).build_from_nfa(program);
        Ok(StreamPattern { dfa: dfa.map_err(|error| last_line(&error.to_string()))? })
    }

    pub(super) fn scan(&self) -> PatternScan {
        let mut cache = Box::new(self.dfa.create_cache());
        match self.dfa.start_state_forward(&mut cache, &Input::new("")) {
            Ok(state) => PatternScan::Running { cache, state },
            Err(_) => PatternScan::TooCostly,
        }
    }
}

impl PatternScan {
    /// Reads a byte; whether that decided anything. A match is known with the byte behind it, since that one may matter
    /// (`\b`, `$`).
    pub(super) fn push(&mut self, pattern: &StreamPattern, byte: u8) -> bool {
        let PatternScan::Running { cache, state } = self else { return false };
        let next = pattern.dfa.next_state(cache, *state, byte);
        self.enter(next.ok())
    }

    /// The text is over.
    pub(super) fn finish(&mut self, pattern: &StreamPattern) {
        let PatternScan::Running { cache, state } = self else { return };
        let next = pattern.dfa.next_eoi_state(cache, *state);
        self.enter(next.ok());
    }

    fn enter(&mut self, next: Option<LazyStateID>) -> bool {
        *self = match (next, &mut *self) {
            (None, _) => PatternScan::TooCostly,
            (Some(next), _) if next.is_match() => PatternScan::Matched,
            (Some(next), _) if next.is_dead() || next.is_quit() => PatternScan::Dead,
            (Some(next), PatternScan::Running { state, .. }) => {
                *state = next;
                return false;
            }
            (Some(_), _) => return false,
        };
        true
    }
}

/// `\b` and its kin look at ASCII alone: only so can they be told without looking back.
fn with_ascii_words(hir: &Hir) -> Hir {
    let ascii = |look: Look| match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        other => other,
    };
    match hir.kind() {
        HirKind::Look(look) => Hir::look(ascii(*look)),
        HirKind::Repetition(Repetition { min, max, greedy, sub }) => Hir::repetition(Repetition {
            min: *min,
            max: *max,
            greedy: *greedy,
            sub: Box::new(with_ascii_words(sub)),
        }),
        HirKind::Capture(Capture { index, name, sub }) => {
            Hir::capture(Capture { index: *index, name: name.clone(), sub: Box::new(with_ascii_words(sub)) })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(with_ascii_words).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(with_ascii_words).collect()),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
    }
}

/// The last line of a message that draws the expression above it.
fn last_line(message: &str) -> String {
    let line = message.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().trim_start_matches("error: ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of bytes after which a match is known; one more than there are: at the end.
    fn match_known(expression: &str, text: &str) -> Option<usize> {
        let pattern = StreamPattern::new(&[expression]).unwrap();
        let mut scan = pattern.scan();
        for (at, byte) in text.bytes().enumerate() {
            scan.push(&pattern, byte);
            if let PatternScan::Matched = scan {
                return Some(at + 1);
            }
        }
        scan.finish(&pattern);
        matches!(scan, PatternScan::Matched).then_some(text.len() + 1)
    }

    #[test]
    fn a_match_is_known_with_the_byte_behind_it() {
        assert_eq!(match_known("unwrap\\(\\)", "x.unwrap();"), Some(11));
        assert_eq!(match_known("unwrap\\(\\)", "x.unwrap()"), Some(11));
        assert_eq!(match_known("unwrap\\(\\)", "x.unwrap("), None);
        assert_eq!(match_known("(?i)TODO\\b", "a todo, b"), Some(7));
        assert_eq!(match_known("TODO\\b", "TODOS"), None);
    }

    #[test]
    fn ends_of_lines_and_of_the_text_are_told_apart() {
        assert_eq!(match_known("b$", "ab\nc"), None);
        assert_eq!(match_known("(?m)b$", "ab\nc"), Some(3));
        assert_eq!(match_known("b$", "ab"), Some(3));
        assert_eq!(match_known("^b", "ab"), None);
        assert_eq!(match_known("\\p{Greek}", "aλ"), Some(4));
    }

    #[test]
    fn expressions_that_cost_too_much_or_are_none_are_refused_with_the_reason() {
        assert_eq!(check_expression("(a").unwrap_err(), "unclosed group");
        assert_eq!(check_expression("(\\w{1000}){1000}").unwrap_err(), "it is too large");
        assert!(check_expression(&"(".repeat(100)).is_err());
        assert!(StreamPattern::new(&["one", "two"]).is_ok());
        assert!(check_expression("(?=look)").unwrap_err().contains("look-around"));
    }

    #[test]
    fn what_explodes_elsewhere_is_read_in_one_pass() {
        let text = format!("{}b", "a".repeat(100_000));
        assert_eq!(match_known("(a*)*c", &text), None);
        assert_eq!(match_known("(x+x+)+y", &"x".repeat(100_000)), None);
    }

    #[test]
    fn an_expression_that_takes_too_much_work_is_given_up_in_bounded_time() {
        let mut seed = 1_u64;
        let mut letter = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if seed >> 63 == 0 { b'a' } else { b'b' }
        };
        let text: Vec<u8> = (0..1 << 20).map(|_| letter()).collect();
        for expression in ["(a|b)*a(a|b){12}c", "a[a-z]{0,400}!"] {
            let pattern = StreamPattern::new(&[expression]).unwrap();
            let mut scan = pattern.scan();
            let read = text.iter().take_while(|byte| !scan.push(&pattern, **byte)).count();
            assert!(matches!(scan, PatternScan::TooCostly) && read < 200_000, "{expression}: {read}");
        }
        assert_eq!(match_known("TODO.{0,50}FIXME", &"TODO the other FIXM".repeat(10_000)), None);
    }
}
