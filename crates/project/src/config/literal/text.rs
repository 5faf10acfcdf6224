//! Texts in quotes, with the escapes of JSON and JavaScript.

use super::{super::error::excerpt, LiteralError, cursor::LiteralCursor};

/// Reads the text whose quote is next.
pub(super) fn parse_quoted(cursor: &mut LiteralCursor<'_>) -> Result<String, LiteralError> {
    let open = cursor.fault("this text is not closed");
    let Some(quote) = cursor.bump() else { return Err(open) };
    let template = quote == '`';
    let mut text = String::new();
    loop {
        if template && cursor.starts_with("${") {
            return Err(cursor.computed("`${…}` puts a computed value into this text"));
        }
        let here = cursor.clone();
        match cursor.bump() {
            None => return Err(open),
            Some(c) if c == quote => return Ok(text),
            Some('\\') => escape(cursor, &here, &mut text)?,
            // As in JavaScript, a template has line feeds, whatever the file has.
            Some('\r') if template => {
                cursor.eat('\n');
                text.push('\n');
            }
            Some('\n' | '\r') if !template => {
                let what = "this text is not closed at the end of its line".into();
                return Err(LiteralError { what, ..open });
            }
            Some(c) if c.is_control() && !matches!(c, '\t' | '\n') => {
                return Err(here.fault(format!("a text must not hold the character U+{:04X}", u32::from(c))));
            }
            Some(c) => text.push(c),
        }
    }
}

/// What stands after a backslash. `here` is the backslash.
fn escape(
    cursor: &mut LiteralCursor<'_>,
    here: &LiteralCursor<'_>,
    text: &mut String,
) -> Result<(), LiteralError> {
    let Some(c) = cursor.bump() else {
        return Err(here.fault("the file ends after a backslash"));
    };
    let plain = match c {
        '"' | '\'' | '`' | '\\' | '/' | '$' => c,
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        'u' => unicode(cursor, here)?,
        // The text goes on in the next line.
        '\n' => return Ok(()),
        '\r' => {
            cursor.eat('\n');
            return Ok(());
        }
        other => {
            let other = excerpt(&other.to_string());
            return Err(here.fault(format!("`\\{other}` means nothing; a backslash itself is `\\\\`")));
        }
    };
    text.push(plain);
    Ok(())
}

fn unicode(cursor: &mut LiteralCursor<'_>, here: &LiteralCursor<'_>) -> Result<char, LiteralError> {
    let bad = || here.fault("this `\\u` escape names no character");
    if cursor.eat('{') {
        let mut code = 0_u32;
        for _ in 0..6 {
            match cursor.peek().and_then(|c| c.to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => break,
            }
            cursor.bump();
        }
        let closed = cursor.eat('}');
        return char::from_u32(code).filter(|_| closed).ok_or_else(bad);
    }
    let first = four_hex_digits(cursor).ok_or_else(bad)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first).ok_or_else(bad);
    }
    if !(cursor.eat('\\') && cursor.eat('u')) {
        return Err(bad());
    }
    let second = four_hex_digits(cursor).filter(|code| (0xDC00..0xE000).contains(code)).ok_or_else(bad)?;
    char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or_else(bad)
}

fn four_hex_digits(cursor: &mut LiteralCursor<'_>) -> Option<u32> {
    let mut code = 0;
    for _ in 0..4 {
        code = code * 16 + cursor.peek()?.to_digit(16)?;
        cursor.bump();
    }
    Some(code)
}
