//! The answer was escaped on its way: `\"` for `"`, `&lt;` for `<`, `\n` between lines, or every line has its number
//! in front.
//! Whatever was done to the old text is undone in both texts.

use super::{COPY_STEPS, MatchQuery, Rung, first_matching_rung, strict_rungs};
use crate::matching::fit::{HunkFit, LineEdit};
use crate::matching::normalize::is_blank;
use crate::proposal::Hunk;

pub(super) struct EscapesRung;

impl Rung for EscapesRung {
    fn name(&self) -> &'static str {
        "escapes"
    }

    fn description(&self) -> &'static str {
        "Backslash escapes, `\\n` between lines, HTML entities and line numbers in front of lines, undone in the old and the new text alike."
    }

    fn needs_much_text(&self) -> bool {
        true
    }

    fn places(&self, query: &MatchQuery<'_, '_>) -> Vec<HunkFit> {
        unescape_and_find(query).map(|(_, places)| places).unwrap_or_default()
    }

    fn edits(&self, query: &MatchQuery<'_, '_>, fit: &HunkFit) -> Result<Vec<LineEdit>, String> {
        let (hunk, _) = unescape_and_find(query).ok_or("the escapes cannot be undone")?;
        let query = MatchQuery { hunk: &hunk, ..*query };
        let (rung, _) = first_matching_rung(strict_rungs(), &query).ok_or("the escapes cannot be undone")?;
        rung.edits(&query, fit)
    }
}

/// The hunk with the first kind of escape undone that makes it fit, and where it then does.
fn unescape_and_find(query: &MatchQuery<'_, '_>) -> Option<(Hunk, Vec<HunkFit>)> {
    let ways: [fn(&Hunk) -> Option<Hunk>; 4] =
        [without_line_numbers, without_entities, without_backslashes, without_json_escapes];
    ways.iter().find_map(|way| {
        if !query.draw((query.hunk.before.len() + query.hunk.after.len()) * COPY_STEPS) {
            return None;
        }
        let hunk = way(query.hunk)?;
        let (_, places) = first_matching_rung(strict_rungs(), &MatchQuery { hunk: &hunk, ..*query })?;
        Some((hunk, places))
    })
}

fn map_lines(hunk: &Hunk, change: impl Fn(&str) -> String) -> Option<Hunk> {
    let all = |lines: &[String]| lines.iter().map(|line| change(line)).collect::<Vec<_>>();
    let before = all(&hunk.before);
    (before != hunk.before).then(|| Hunk { before, after: all(&hunk.after), ..hunk.clone() })
}

/// Each is undone once, so that `&amp;lt;` becomes `&lt;` and no more.
fn without_entities(hunk: &Hunk) -> Option<Hunk> {
    map_lines(hunk, |line| {
        let mut out = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(at) = rest.find('&') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let (character, length) = leading_entity(rest).unwrap_or(('&', 1));
            out.push(character);
            rest = &rest[length..];
        }
        out + rest
    })
}

/// Longer ones are no entities.
const ENTITY_BYTES: usize = 12;

/// The character that the text begins with as an entity, and the length of the entity.
fn leading_entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(ENTITY_BYTES).position(|byte| byte == b';')?;
    let character = match text.get(1..end)? {
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "amp" => '&',
        name => match numbered_character(name.strip_prefix('#')?)? {
            '\u{a0}' => ' ',
            character => character,
        },
    };
    Some((character, end + 1))
}

/// The character with this number, decimal or after an `x` hexadecimal. Line breaks and the like are none.
fn numbered_character(number: &str) -> Option<char> {
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, radix).ok().filter(|_| is_number)?;
    char::from_u32(code).filter(|character| *character == '\t' || !character.is_control())
}

fn without_backslashes(hunk: &Hunk) -> Option<Hunk> {
    map_lines(hunk, |line| {
        let mut out = String::with_capacity(line.len());
        let mut characters = line.chars().peekable();
        while let Some(c) = characters.next() {
            let escaped = characters.peek().is_some_and(|next| {
                matches!(next, '"' | '\'' | '`' | '\\' | '_' | '*' | '#' | '[' | ']' | '<' | '>' | '$')
            });
            if c == '\\' && escaped {
                out.extend(characters.next());
            } else {
                out.push(c);
            }
        }
        out
    })
}

/// Only if the old text is one line with `\n` in it, and both texts are valid inside of a JSON string: then no `\n` can
/// mean anything else.
fn without_json_escapes(hunk: &Hunk) -> Option<Hunk> {
    let one_line = hunk.before.len() == 1 && hunk.after.len() <= 1 && hunk.kept.is_none();
    if !one_line || !hunk.before[0].contains("\\n") {
        return None;
    }
    let lines = |line: &String| {
        let text: String = serde_json::from_str(&format!("\"{line}\"")).ok()?;
        Some(text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_owned).collect::<Vec<_>>())
    };
    let after = hunk.after.first().map_or(Some(Vec::new()), lines)?;
    Some(Hunk { before: lines(&hunk.before[0])?, after, ..hunk.clone() })
}

/// Only if every non-blank line of the old text has its number, each higher than the one before; in the new
/// text either every line has one or none has.
fn without_line_numbers(hunk: &Hunk) -> Option<Hunk> {
    let before = strip_numbers(&hunk.before, true)?;
    let after = if hunk.after.iter().any(|line| numbered(line).is_some()) {
        strip_numbers(&hunk.after, false)?
    } else {
        hunk.after.clone()
    };
    let claimed = hunk
        .claimed
        .or_else(|| hunk.before.first().and_then(|line| numbered(line)).map(|(number, _)| number));
    Some(Hunk { before, after, claimed, ..hunk.clone() })
}

fn strip_numbers(lines: &[String], rising: bool) -> Option<Vec<String>> {
    let mut last = 0;
    let mut any = false;
    let stripped: Option<Vec<String>> = lines
        .iter()
        .map(|line| match numbered(line) {
            Some((number, text)) if !rising || number > last => {
                last = number;
                any = true;
                Some(text.to_string())
            }
            None if is_blank(line) => Some(String::new()),
            _ => None,
        })
        .collect();
    stripped.filter(|_| any)
}

/// `12 | text`, `12|text`, `12: text`, `12→text`: the number and the text.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start();
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 || digits > 7 {
        return None;
    }
    let number = line[..digits].parse().ok()?;
    let rest = line[digits..].trim_start_matches(' ');
    let text = rest
        .strip_prefix('|')
        .or_else(|| rest.strip_prefix(':'))
        .or_else(|| rest.strip_prefix('\u{2192}'))
        .or_else(|| rest.strip_prefix('\t'))?;
    Some((number, text.strip_prefix(' ').unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(before: &[&str], after: &[&str]) -> Hunk {
        let own = |lines: &[&str]| lines.iter().map(ToString::to_string).collect();
        Hunk { before: own(before), after: own(after), ..Hunk::default() }
    }

    #[test]
    fn numbers_go_only_when_every_line_has_one() {
        let stripped = without_line_numbers(&hunk(&["9 | a", "", "10 |   b"], &["c"])).unwrap();
        assert_eq!(stripped.before, ["a", "", "  b"]);
        assert_eq!(stripped.claimed, Some(9));
        assert!(without_line_numbers(&hunk(&["1 | a", "b"], &[])).is_none());
        assert!(without_line_numbers(&hunk(&["2 | a", "1 | b"], &[])).is_none());
        assert!(without_line_numbers(&hunk(&["1 | a"], &["1 | b", "c"])).is_none());
    }

    #[test]
    fn entities_and_backslashes_are_undone_once() {
        assert_eq!(without_entities(&hunk(&["a &lt; b &amp;lt;"], &[])).unwrap().before, ["a < b &lt;"]);
        let numbered =
            without_entities(&hunk(&["&quot;a&quot;"], &["it&#x27;s &#39;&#x3C;&#60;&#160;&amp;#39;"]));
        assert_eq!(numbered.unwrap().after, ["it's '<< &#39;"]);
        let others = ["a && b &c; &#10; &#x110000; &#+9; &copy; é&é;"];
        assert_eq!(without_entities(&hunk(&["&lt;"], &others)).unwrap().after, others);
        assert_eq!(
            without_backslashes(&hunk(&[r#"say(\"hi\") \n"#], &[])).unwrap().before,
            [r#"say("hi") \n"#]
        );
        assert!(without_backslashes(&hunk(&["plain"], &[r"\_"])).is_none());
        let lines = without_json_escapes(&hunk(&[r"a\n\tb \\n\n"], &[r"c\nd"])).unwrap();
        assert_eq!(
            (lines.before, lines.after),
            (vec!["a".into(), "\tb \\n".into()], vec!["c".into(), "d".into()])
        );
        assert!(without_json_escapes(&hunk(&[r"a\nb"], &[r#"say("c\n")"#])).is_none());
        assert!(without_json_escapes(&hunk(&[r"a\nb", "c"], &[])).is_none());
    }
}
