//! Values, and the objects and lists made of them.

use std::collections::{HashMap, HashSet};

use super::{super::error::excerpt, cursor::LiteralCursor, text::parse_quoted};
use super::{DEPTH, LiteralEntry, LiteralError, LiteralNode, LiteralValue};

/// Values that names may stand for, counted wherever they stand: a short text could name a very long one.
const NAMED_VALUES: usize = 10_000;

/// Reads values from a text.
pub(super) struct LiteralReader<'a> {
    pub(super) cursor: LiteralCursor<'a>,
    /// The text is a module: `as const` and `satisfies X` may follow a value, and names may stand for one.
    module: bool,
    /// What was declared above with a value that is written out.
    constants: HashMap<&'a str, LiteralNode>,
    /// Values that names stood for so far.
    named_values: usize,
}

impl<'a> LiteralReader<'a> {
    pub(super) fn new(text: &'a str, module: bool) -> LiteralReader<'a> {
        let cursor = LiteralCursor::new(text);
        LiteralReader { cursor, module, constants: HashMap::new(), named_values: 0 }
    }

    /// From here on `name` stands for the value; whether it did not before.
    pub(super) fn declare(&mut self, name: &'a str, node: LiteralNode) -> bool {
        self.constants.insert(name, node).is_none()
    }

    /// The value that `name`, which stands at `before`, was declared with.
    fn constant(&mut self, before: &LiteralCursor<'_>, name: &str) -> Result<LiteralNode, LiteralError> {
        let Some(node) = self.constants.get(name) else {
            return Err(before.computed(format!("`{}` is a name, not a value", excerpt(name))));
        };
        self.named_values += count_values(node, NAMED_VALUES + 1 - self.named_values);
        if self.named_values > NAMED_VALUES {
            return Err(before.fault(format!("names stand for more than {NAMED_VALUES} values")));
        }
        Ok(node.clone())
    }

    /// The value that begins here, within `depth` others.
    pub(super) fn value(&mut self, depth: usize) -> Result<LiteralNode, LiteralError> {
        let at = self.cursor.place();
        let value = match self.cursor.peek() {
            None => return Err(self.cursor.fault("the file ends where a value is expected")),
            Some('{' | '[') if depth >= DEPTH => {
                let what = format!("more than {DEPTH} objects and lists within each other");
                return Err(self.cursor.fault(what));
            }
            Some('{') => LiteralValue::Table(self.table(depth + 1)?),
            Some('[') => LiteralValue::List(self.list(depth + 1)?),
            Some('"' | '\'' | '`') => LiteralValue::Text(parse_quoted(&mut self.cursor)?),
            Some('0'..='9' | '-' | '+' | '.') => LiteralValue::Number(self.number()?),
            Some(_) => {
                let node = self.keyword()?;
                self.skip_types()?;
                return Ok(node);
            }
        };
        self.skip_types()?;
        Ok(LiteralNode { at, value })
    }

    /// `true`, `false`, `null`; every other name stands for what it was declared with, which knows its own place.
    fn keyword(&mut self) -> Result<LiteralNode, LiteralError> {
        let before = self.cursor.clone();
        let value = match self.cursor.word() {
            "true" => LiteralValue::Switch(true),
            "false" => LiteralValue::Switch(false),
            "null" | "undefined" => LiteralValue::Null,
            "" => {
                let what = "expected a value: a text in quotes, a number, true, false, or an object";
                return Err(before.fault(what));
            }
            word => return self.constant(&before, word),
        };
        Ok(LiteralNode { at: before.place(), value })
    }

    fn table(&mut self, depth: usize) -> Result<Vec<LiteralEntry>, LiteralError> {
        self.cursor.bump();
        let mut entries = Vec::new();
        let mut names = HashSet::new();
        loop {
            self.cursor.skip_blanks()?;
            if self.cursor.eat('}') {
                return Ok(entries);
            }
            let before = self.cursor.clone();
            let name = self.key()?;
            if !names.insert(name.clone()) {
                return Err(
                    before.fault(format!("the key `{}` appears twice in this object", excerpt(&name)))
                );
            }
            let node = match self.is_shorthand(&before)? {
                true => self.constant(&before, &name)?,
                false => {
                    self.colon(&before, &name)?;
                    self.value(depth)?
                }
            };
            entries.push(LiteralEntry { name, at: before.place(), node });
            self.separator('}')?;
        }
    }

    fn key(&mut self) -> Result<String, LiteralError> {
        match self.cursor.peek() {
            Some('"' | '\'') => parse_quoted(&mut self.cursor),
            Some('[') => Err(self.cursor.computed("this key is computed")),
            Some('.') => Err(self.cursor.computed("`...` puts in keys that stand elsewhere")),
            None => Err(self.cursor.fault("the file ends inside an object: `}` is missing")),
            Some(c) => {
                let word = self.cursor.word();
                if word.is_empty() {
                    let found = excerpt(&c.to_string());
                    return Err(self.cursor.fault(format!("expected a key or `}}`, found `{found}`")));
                }
                Ok(word.to_string())
            }
        }
    }

    /// `{ linter }`: after a key that is no text the value is missing, and is what the name stands for.
    fn is_shorthand(&mut self, before: &LiteralCursor<'_>) -> Result<bool, LiteralError> {
        self.cursor.skip_blanks()?;
        let plain = !matches!(before.peek(), Some('"' | '\''));
        Ok(self.module && plain && matches!(self.cursor.peek(), Some(',' | '}')))
    }

    fn colon(&mut self, before: &LiteralCursor<'_>, name: &str) -> Result<(), LiteralError> {
        self.cursor.skip_blanks()?;
        if self.cursor.eat(':') {
            return self.cursor.skip_blanks();
        }
        let name = excerpt(name);
        Err(match self.cursor.peek() {
            Some(',' | '}') => before.fault(format!("`{name}` has no value")),
            Some('(') => before.computed(format!("`{name}` is a function")),
            Some(c) if c.is_alphabetic() => before.computed(format!("`{name} …` is computed")),
            _ => self.cursor.fault(format!("expected `:` after the key `{name}`")),
        })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<LiteralNode>, LiteralError> {
        self.cursor.bump();
        let mut nodes = Vec::new();
        loop {
            self.cursor.skip_blanks()?;
            if self.cursor.eat(']') {
                return Ok(nodes);
            }
            if self.cursor.starts_with("...") {
                return Err(self.cursor.computed("`...` puts in values that stand elsewhere"));
            }
            nodes.push(self.value(depth)?);
            self.separator(']')?;
        }
    }

    /// The comma after a value, or `close`, which stays.
    fn separator(&mut self, close: char) -> Result<(), LiteralError> {
        self.cursor.skip_blanks()?;
        match self.cursor.peek() {
            Some(',') => {
                self.cursor.bump();
                Ok(())
            }
            Some(c) if c == close => Ok(()),
            None => Err(self.cursor.fault(format!("the file ends too early: `{close}` is missing"))),
            Some(
                '+' | '-' | '*' | '/' | '%' | '?' | '.' | '(' | '[' | '|' | '&' | '<' | '>' | '=' | '!' | '`',
            ) => Err(self.cursor.computed("this value is the result of an expression")),
            Some(c) => {
                let found = excerpt(&c.to_string());
                Err(self.cursor.fault(format!("expected `,` or `{close}`, found `{found}`")))
            }
        }
    }

    /// A number in decimal digits, which `_` may group.
    fn number(&mut self) -> Result<f64, LiteralError> {
        let before = self.cursor.clone();
        let mut text = String::new();
        while let Some(c) = self.cursor.peek() {
            let sign = matches!(c, '+' | '-') && (text.is_empty() || text.ends_with(['e', 'E']));
            if !(c.is_alphanumeric() || matches!(c, '.' | '_') || sign) {
                break;
            }
            text.push(c);
            self.cursor.bump();
        }
        let digits = text.trim_start_matches(['-', '+']);
        let octal = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        let grouped = !digits.starts_with('_') && !digits.ends_with('_') && !digits.contains("__");
        let plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let known = digits.chars().all(|c| matches!(c, '0'..='9' | '.' | '_' | 'e' | 'E' | '+' | '-'));
        if text.starts_with("...") {
            return Err(before.computed("`...` puts in values that stand elsewhere"));
        }
        let number = text.replace('_', "").parse().ok().filter(|_| plain && known && grouped && !octal);
        number.ok_or_else(|| before.fault(format!("`{}` is not a number in decimal digits", excerpt(&text))))
    }

    /// In a module: `as const`, `satisfies X`, which say something about the value and change nothing.
    pub(super) fn skip_types(&mut self) -> Result<(), LiteralError> {
        while self.module {
            let before = self.cursor.clone();
            self.cursor.skip_blanks()?;
            if !matches!(self.cursor.word(), "as" | "satisfies") {
                self.cursor = before;
                break;
            }
            self.cursor.skip_blanks()?;
            self.type_name()?;
        }
        Ok(())
    }

    /// A type's name: `const`, `a.B`, `import("x").Y`, with `<…>` and `[…]` after it.
    fn type_name(&mut self) -> Result<(), LiteralError> {
        if self.cursor.word().is_empty() {
            return Err(self.cursor.fault("expected the name of a type"));
        }
        loop {
            match self.cursor.peek() {
                Some('<' | '[' | '(') => self.skip_brackets()?,
                Some('.') => {
                    self.cursor.bump();
                    self.cursor.word();
                }
                _ => return Ok(()),
            }
        }
    }

    /// Steps over brackets of any kind and what is in them.
    pub(super) fn skip_brackets(&mut self) -> Result<(), LiteralError> {
        let open = self.cursor.fault("this bracket is not closed");
        let mut depth = 0_usize;
        loop {
            self.cursor.skip_blanks()?;
            match self.cursor.peek() {
                None => return Err(open),
                Some('"' | '\'' | '`') => {
                    parse_quoted(&mut self.cursor)?;
                    continue;
                }
                Some('<' | '[' | '(' | '{') => depth += 1,
                Some('>' | ']' | ')' | '}') => depth = depth.saturating_sub(1),
                Some(_) => {}
            }
            self.cursor.bump();
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// How many values a value consists of, itself among them; counting ends at `most`.
fn count_values(node: &LiteralNode, most: usize) -> usize {
    let mut count = 0;
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        count += 1;
        if count >= most {
            break;
        }
        match &node.value {
            LiteralValue::List(nodes) => open.extend(nodes),
            LiteralValue::Table(entries) => open.extend(entries.iter().map(|entry| &entry.node)),
            _ => {}
        }
    }
    count
}
