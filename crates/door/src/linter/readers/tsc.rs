//! The TypeScript compiler, plain and pretty.
//!
//! ```text
//! src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.
//! src/a.ts:1:7 - error TS2322: Type 'string' is not assignable to type 'number'.
//! error TS18003: No inputs were found in config file 'tsconfig.json'.
//! ```

use super::{super::location, DiagnosticSink, LinterReader};

pub(super) struct TscReader;

impl LinterReader for TscReader {
    fn read_line(&mut self, line: &str, out: &mut DiagnosticSink) -> bool {
        if let Some((code, message)) = parse_error(line) {
            out.add_error("", 0, code, message);
            return true;
        }
        let mut places = [location::parse_paren_location(line), location::parse_colon_location(line)]
            .into_iter()
            .flatten();
        let found = places.find_map(|place| Some((place, parse_error(place.rest)?)));
        let Some((place, (code, message))) = found else { return read_total(line, out) };
        out.add_error(place.file, place.line, code, message);
        true
    }
}

/// `error TS2322: Type …` as code and message.
fn parse_error(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("error ")?.trim_start();
    let digits = location::leading_digits(rest.strip_prefix("TS")?);
    let message = rest[2 + digits..].strip_prefix(':')?;
    (digits > 0).then_some((&rest[..2 + digits], message.trim_start()))
}

/// `Found 4 errors in 2 files.`; mypy's and ruff's sums look alike.
fn read_total(line: &str, out: &mut DiagnosticSink) -> bool {
    let Some(rest) = line.strip_prefix("Found ") else { return false };
    let ours = rest.contains(" in ") && !rest.contains("(checked") && !rest.contains("(errors prevented");
    match location::count_before(rest, " error") {
        Some(count) if ours => out.add_reported_total(count),
        _ => return false,
    }
    true
}
