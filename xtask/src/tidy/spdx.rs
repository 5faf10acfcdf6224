//! Licence expressions: `(MIT OR Apache-2.0) AND Unicode-3.0`.
//!
//! `WITH` binds tighter than `AND`, `AND` tighter than `OR`; the old `/` means `OR`. A licence with
//! an exception is one name, exception included: allowing the licence does not allow it with every
//! exception.

use std::iter::Peekable;
use std::vec;

/// Why an expression could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SpdxError {
    /// It stops where a licence should stand.
    Ends,
    /// Something stands where it cannot.
    Unexpected(String),
    /// A parenthesis is not closed.
    Unclosed,
    /// Parentheses more than [`DEPTH`] deep.
    TooDeep,
}

impl std::fmt::Display for SpdxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpdxError::Ends => write!(f, "the expression ends where a licence should stand"),
            SpdxError::Unexpected(word) => write!(f, "`{word}` stands where it cannot"),
            SpdxError::Unclosed => write!(f, "a parenthesis is not closed"),
            SpdxError::TooDeep => write!(f, "parentheses are nested too deeply"),
        }
    }
}

/// Parentheses within parentheses that are followed.
const DEPTH: usize = 32;

/// Whether `expression` can be satisfied by licences that `allowed` says yes to. A licence with an
/// exception is asked for as `licence WITH exception`.
pub(super) fn permits(expression: &str, allowed: &dyn Fn(&str) -> bool) -> Result<bool, SpdxError> {
    let mut reader = Reader { tokens: tokens(expression).into_iter().peekable(), allowed, depth: 0 };
    let result = reader.alternatives()?;
    match reader.tokens.next() {
        None => Ok(result),
        Some(extra) => Err(SpdxError::Unexpected(extra)),
    }
}

fn tokens(expression: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(expression.len() + 8);
    for c in expression.chars() {
        match c {
            '(' | ')' => spaced.extend([' ', c, ' ']),
            '/' => spaced.push_str(" OR "),
            _ => spaced.push(c),
        }
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// Reads and evaluates in one go. Both sides of an operator are always read, so that a broken
/// expression is an error whatever its value would be.
struct Reader<'a> {
    tokens: Peekable<vec::IntoIter<String>>,
    allowed: &'a dyn Fn(&str) -> bool,
    depth: usize,
}

impl Reader<'_> {
    fn alternatives(&mut self) -> Result<bool, SpdxError> {
        let mut any = self.requirements()?;
        while self.takes("OR") {
            any |= self.requirements()?;
        }
        Ok(any)
    }

    fn requirements(&mut self) -> Result<bool, SpdxError> {
        let mut all = self.licence()?;
        while self.takes("AND") {
            all &= self.licence()?;
        }
        Ok(all)
    }

    fn licence(&mut self) -> Result<bool, SpdxError> {
        let word = self.tokens.next().ok_or(SpdxError::Ends)?;
        if word == "(" {
            return self.parenthesis();
        }
        let name = name(word)?;
        if !self.takes("WITH") {
            return Ok((self.allowed)(&name));
        }
        let exception = self.tokens.next().ok_or(SpdxError::Ends)?;
        let exception = self::name(exception)?;
        Ok((self.allowed)(&format!("{name} WITH {exception}")))
    }

    fn parenthesis(&mut self) -> Result<bool, SpdxError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(SpdxError::TooDeep);
        }
        let inner = self.alternatives()?;
        self.depth -= 1;
        if self.takes(")") {
            return Ok(inner);
        }
        Err(self.tokens.next().map_or(SpdxError::Unclosed, SpdxError::Unexpected))
    }

    fn takes(&mut self, word: &str) -> bool {
        self.tokens.next_if(|token| token == word).is_some()
    }
}

fn name(word: String) -> Result<String, SpdxError> {
    match word.as_str() {
        "AND" | "OR" | "WITH" | "(" | ")" => Err(SpdxError::Unexpected(word)),
        _ => Ok(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(expression: &str) -> Result<bool, SpdxError> {
        permits(expression, &|one| ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].contains(&one))
    }

    #[test]
    fn operators_bind_as_they_should() {
        assert_eq!(ask("MIT"), Ok(true));
        assert_eq!(ask("GPL-3.0"), Ok(false));
        assert_eq!(ask("GPL-3.0 OR MIT"), Ok(true));
        assert_eq!(ask("GPL-3.0/MIT"), Ok(true));
        assert_eq!(ask("MIT AND GPL-3.0"), Ok(false));
        assert_eq!(ask("MIT OR Zlib AND GPL-3.0"), Ok(true));
        assert_eq!(ask("GPL-3.0 AND Zlib OR MIT"), Ok(true));
        assert_eq!(ask("(MIT OR Zlib) AND GPL-3.0"), Ok(false));
        assert_eq!(ask("((MIT) AND (GPL-3.0 OR Zlib))"), Ok(true));
    }

    #[test]
    fn an_exception_is_part_of_the_name() {
        assert_eq!(ask("Apache-2.0 WITH LLVM-exception"), Ok(true));
        assert_eq!(ask("Apache-2.0"), Ok(false));
        assert_eq!(ask("MIT WITH LLVM-exception"), Ok(false));
    }

    #[test]
    fn broken_expressions_are_errors_whatever_stands_before() {
        assert_eq!(ask(""), Err(SpdxError::Ends));
        assert_eq!(ask("MIT OR"), Err(SpdxError::Ends));
        assert_eq!(ask("MIT OR AND"), Err(SpdxError::Unexpected("AND".into())));
        assert_eq!(ask("MIT Zlib"), Err(SpdxError::Unexpected("Zlib".into())));
        assert_eq!(ask("(MIT"), Err(SpdxError::Unclosed));
        assert_eq!(ask("(MIT Zlib)"), Err(SpdxError::Unexpected("Zlib".into())));
        assert_eq!(ask("MIT)"), Err(SpdxError::Unexpected(")".into())));
        assert_eq!(ask("MIT WITH"), Err(SpdxError::Ends));
        assert_eq!(ask(&"(".repeat(100_000)), Err(SpdxError::TooDeep));
    }
}
