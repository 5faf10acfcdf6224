//! The object in a module (`relaycode.config.ts` and its kin), found without running it.
//!
//! Understood are the statements that such files consist of: imports, constants whose values are written out
//! (`const linter = "tsc"`, `const patch = { linter }`), and one export of an object, plain, by name, or in
//! `defineConfig(…)`. A name stands for what was declared above it. Any other statement could change what is
//! exported, and is refused.

use super::{super::error::excerpt, text::parse_quoted, value::LiteralReader};
use super::{LiteralError, LiteralNode, LiteralValue};

/// The object that the module exports.
pub(in super::super) fn parse_module(text: &str) -> Result<LiteralNode, LiteralError> {
    let mut module = ModuleReader { reader: LiteralReader::new(text, true), exported: None };
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

    /// `const name: Type = …`, several with commas between them.
    fn constant(&mut self) -> Result<(), LiteralError> {
        loop {
            self.declaration()?;
            let before = self.reader.cursor.clone();
            self.reader.cursor.skip_blanks()?;
            if !self.reader.cursor.eat(',') {
                self.reader.cursor = before;
                return Ok(());
            }
        }
    }

    /// `name: Type = …`, or what a module requires.
    fn declaration(&mut self) -> Result<(), LiteralError> {
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
        let node = self.written_out()?;
        if !self.reader.declare(name, node) {
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
        let node = self.written_out()?;
        if !matches!(node.value, LiteralValue::Table(_)) {
            return Err(before.computed("relay reads a plain object here and nothing else"));
        }
        if self.exported.replace(node).is_some() {
            return Err(before.fault("this file exports two configurations"));
        }
        Ok(())
    }

    /// A value: written out, in `defineConfig(…)` or brackets, or the name of one above.
    fn written_out(&mut self) -> Result<LiteralNode, LiteralError> {
        let before = self.reader.cursor.clone();
        let node = match self.reader.cursor.word() {
            "defineConfig" => {
                self.reader.cursor.skip_blanks()?;
                if self.reader.cursor.peek() == Some('<') {
                    self.reader.skip_brackets()?;
                }
                if !self.reader.cursor.eat('(') {
                    return Err(before.computed("`defineConfig` is not written out"));
                }
                self.in_brackets()?
            }
            "" if self.reader.cursor.eat('(') => self.in_brackets()?,
            _ => {
                self.reader.cursor = before;
                self.reader.value(0)?
            }
        };
        self.reader.skip_types()?;
        self.end_of_value()?;
        Ok(node)
    }

    fn in_brackets(&mut self) -> Result<LiteralNode, LiteralError> {
        self.reader.cursor.skip_blanks()?;
        if self.reader.cursor.peek() == Some(')') {
            return Err(self.reader.cursor.computed("relay reads a plain object here and nothing else"));
        }
        let node = self.reader.value(0)?;
        self.reader.cursor.skip_blanks()?;
        self.reader.cursor.eat(',');
        self.reader.cursor.skip_blanks()?;
        match self.reader.cursor.peek() {
            Some(')') => {
                self.reader.cursor.bump();
                Ok(node)
            }
            None => Err(self.reader.cursor.fault("expected `)` after the value")),
            Some(_) => Err(self.reader.cursor.computed("this value is the result of an expression")),
        }
    }

    /// What follows a value on its own line or the next must not go on with it.
    fn end_of_value(&mut self) -> Result<(), LiteralError> {
        let before = self.reader.cursor.clone();
        self.reader.cursor.skip_blanks()?;
        let goes_on = |c: char| "+-*/%?.([`|&<>=!^~".contains(c);
        if self.reader.cursor.peek().is_some_and(goes_on) {
            return Err(self.reader.cursor.computed("this value is the result of an expression"));
        }
        self.reader.cursor = before;
        Ok(())
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
