//! The object in a module (`relaycode.config.ts` and its kin), found without running it.
//!
//! Understood are the statements that such files consist of: imports, `const config = {…}`, and one
//! export of an object, plain, by name, or in `defineConfig(…)`. Any other statement could change what is
//! exported, and is refused.

use std::collections::HashMap;

use super::{super::error::excerpt, text::parse_quoted, value::LiteralReader};
use super::{LiteralError, LiteralNode, LiteralValue};

/// The object that the module exports.
pub(in super::super) fn parse_module(text: &str) -> Result<LiteralNode, LiteralError> {
    let mut module =
        ModuleReader { reader: LiteralReader::new(text, true), constants: HashMap::new(), exported: None };
    if text.starts_with("#!") {
        module.reader.cursor.skip_line();
    }
    while module.statement()? {}
    let nothing =
        || module.reader.cursor.fault("this file exports no configuration: `export default {…}` is missing");
    let node = module.exported.take();
    node.ok_or_else(nothing)
}

struct ModuleReader<'a> {
    reader: LiteralReader<'a>,
    constants: HashMap<&'a str, LiteralNode>,
    exported: Option<LiteralNode>,
}

impl<'a> ModuleReader<'a> {
    /// Steps over one statement; whether there was one.
    fn statement(&mut self) -> Result<bool, LiteralError> {
        self.reader.cursor.skip_blanks()?;
        match self.reader.cursor.peek() {
            None => return Ok(false),
            Some(';') => {
                self.reader.cursor.bump();
                return Ok(true);
            }
            // "use strict" and the like.
            Some('"' | '\'') => {
                parse_quoted(&mut self.reader.cursor)?;
                return Ok(true);
            }
            Some(_) => {}
        }
        let before = self.reader.cursor.clone();
        match self.reader.cursor.word() {
            "import" => self.import()?,
            "const" | "let" | "var" => self.constant()?,
            "export" => self.export()?,
            "module" if self.reader.cursor.eat('.') && self.reader.cursor.word() == "exports" => {
                self.equals()?;
                self.export_value()?;
            }
            _ => return Err(before.computed("this statement would have to be run")),
        }
        Ok(true)
    }

    /// `import … from "x"`, with what may follow it.
    fn import(&mut self) -> Result<(), LiteralError> {
        let cursor = &mut self.reader.cursor;
        loop {
            cursor.skip_blanks()?;
            match cursor.peek() {
                Some('"' | '\'') => break,
                None | Some('(' | ';' | '.') => {
                    return Err(cursor.computed("this import would have to be run"));
                }
                Some(_) => cursor.bump(),
            };
        }
        parse_quoted(cursor)?;
        let before = cursor.clone();
        cursor.skip_blanks()?;
        if matches!(cursor.word(), "with" | "assert") {
            cursor.skip_blanks()?;
            if cursor.peek() == Some('{') {
                return self.reader.skip_brackets();
            }
        }
        self.reader.cursor = before;
        Ok(())
    }

    /// `const name: Type = {…}`, or what a module requires.
    fn constant(&mut self) -> Result<(), LiteralError> {
        self.reader.cursor.skip_blanks()?;
        if self.reader.cursor.peek() == Some('{') {
            self.reader.skip_brackets()?;
            self.equals()?;
            return self.required();
        }
        let before = self.reader.cursor.clone();
        let name = self.reader.cursor.word();
        if name.is_empty() {
            return Err(before.computed("this declaration would have to be run"));
        }
        self.reader.cursor.skip_blanks()?;
        if self.reader.cursor.eat(':') {
            self.skip_type()?;
        }
        self.equals()?;
        if self.reader.cursor.starts_with("require") {
            return self.required();
        }
        let node = self.object()?;
        if self.constants.insert(name, node).is_some() {
            return Err(before.fault(format!("`{}` is declared twice", excerpt(name))));
        }
        Ok(())
    }

    /// `require("x")`, of which nothing is used.
    fn required(&mut self) -> Result<(), LiteralError> {
        let before = self.reader.cursor.clone();
        let word = self.reader.cursor.word();
        self.reader.cursor.skip_blanks()?;
        if word != "require" || self.reader.cursor.peek() != Some('(') {
            return Err(before.computed("this value would have to be run"));
        }
        self.reader.skip_brackets()
    }

    /// What follows `export`.
    fn export(&mut self) -> Result<(), LiteralError> {
        self.reader.cursor.skip_blanks()?;
        let before = self.reader.cursor.clone();
        if self.reader.cursor.peek() == Some('=') {
            self.equals()?;
            return self.export_value();
        }
        match self.reader.cursor.word() {
            "default" => {
                self.reader.cursor.skip_blanks()?;
                self.export_value()
            }
            "const" | "let" | "var" => self.constant(),
            _ => Err(before.computed("this export is none that relay reads")),
        }
    }

    fn export_value(&mut self) -> Result<(), LiteralError> {
        let before = self.reader.cursor.clone();
        let node = self.object()?;
        if self.exported.replace(node).is_some() {
            return Err(before.fault("this file exports two configurations"));
        }
        Ok(())
    }

    /// An object: written out, in `defineConfig(…)` or brackets, or the name of one above.
    fn object(&mut self) -> Result<LiteralNode, LiteralError> {
        let before = self.reader.cursor.clone();
        let word = self.reader.cursor.word();
        let node = match word {
            "" | "defineConfig" => {
                if !word.is_empty() {
                    self.reader.cursor.skip_blanks()?;
                    if self.reader.cursor.peek() == Some('<') {
                        self.reader.skip_brackets()?;
                    }
                }
                if self.reader.cursor.eat('(') { self.in_brackets()? } else { self.reader.value(0)? }
            }
            name => {
                let constant = self.constants.get(name).cloned();
                constant
                    .ok_or_else(|| before.computed(format!("`{}` is a name, not a value", excerpt(name))))?
            }
        };
        self.reader.skip_types()?;
        match node.value {
            LiteralValue::Table(_) => Ok(node),
            _ => Err(before.computed("relay reads a plain object here and nothing else")),
        }
    }

    fn in_brackets(&mut self) -> Result<LiteralNode, LiteralError> {
        self.reader.cursor.skip_blanks()?;
        if self.reader.cursor.peek() != Some('{') {
            return Err(self.reader.cursor.computed("relay reads a plain object here and nothing else"));
        }
        let node = self.reader.value(0)?;
        self.reader.cursor.skip_blanks()?;
        self.reader.cursor.eat(',');
        self.reader.cursor.skip_blanks()?;
        if self.reader.cursor.eat(')') {
            return Ok(node);
        }
        Err(self.reader.cursor.fault("expected `)` after the object"))
    }

    fn equals(&mut self) -> Result<(), LiteralError> {
        self.reader.cursor.skip_blanks()?;
        if self.reader.cursor.eat('=') {
            return self.reader.cursor.skip_blanks();
        }
        Err(self.reader.cursor.computed("expected `=` and an object that is written out"))
    }

    /// The type of a constant, up to its `=`.
    fn skip_type(&mut self) -> Result<(), LiteralError> {
        loop {
            self.reader.cursor.skip_blanks()?;
            match self.reader.cursor.peek() {
                Some('=') => return Ok(()),
                None | Some(';') => return Err(self.reader.cursor.fault("expected `=` after the type")),
                Some('"' | '\'') => {
                    parse_quoted(&mut self.reader.cursor)?;
                }
                Some('{' | '[' | '(' | '<') => self.reader.skip_brackets()?,
                Some(_) => {
                    self.reader.cursor.bump();
                }
            }
        }
    }
}
