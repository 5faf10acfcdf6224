//! Writing YAML: blocks of keys and dashes, two blanks deep, fields in the order in which they are
//! declared, texts of several lines as they are.
//!
//! It writes straight to where the text goes, in pieces: a record may hold megabytes, and it is written
//! while others wait.

use std::fmt::{self, Display, Write};
use std::io;
use std::ops::{Deref, DerefMut};

use relaycode_durable::atomic::PieceSink;
use serde::ser::{self, Impossible, Serialize, Serializer};

use super::scalar::{self, YamlScalarStyle};

/// Puts the YAML of `value`, piece after piece.
///
/// # Errors
/// What `value` itself reports, and the first error of `put`.
pub(in crate::record) fn emit<T: Serialize>(value: &T, put: &mut PieceSink<'_>) -> io::Result<()> {
    let mut out = YamlOutput { piece: String::new(), put, failed: None };
    value.serialize(YamlEmitter { out: &mut out, place: YamlPosition::Top }).map_err(io::Error::other)?;
    out.flush();
    out.failed.map_or(Ok(()), Err)
}

/// So many bytes go on together.
const PIECE: usize = 256 * 1024;

/// Text on its way out.
struct YamlOutput<'p> {
    piece: String,
    put: &'p mut PieceSink<'p>,
    /// What went wrong first; nothing is put after that.
    failed: Option<io::Error>,
}

impl YamlOutput<'_> {
    fn flush(&mut self) {
        if self.failed.is_none() && !self.piece.is_empty() {
            self.failed = (self.put)(self.piece.as_bytes()).err();
        }
        self.piece.clear();
    }

    fn flush_if_full(&mut self) {
        if self.piece.len() >= PIECE {
            self.flush();
        }
    }
}

impl Deref for YamlOutput<'_> {
    type Target = String;

    fn deref(&self) -> &String {
        &self.piece
    }
}

impl DerefMut for YamlOutput<'_> {
    fn deref_mut(&mut self) -> &mut String {
        &mut self.piece
    }
}

/// A value would not be written.
#[derive(Debug)]
pub(in crate::record) struct YamlEmitError(String);

impl Display for YamlEmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for YamlEmitError {}

impl ser::Error for YamlEmitError {
    fn custom<T: Display>(message: T) -> Self {
        YamlEmitError(message.to_string())
    }
}

fn unsupported(what: &str) -> YamlEmitError {
    YamlEmitError(format!("{what} cannot be written"))
}

/// Where a value goes.
#[derive(Clone, Copy)]
enum YamlPosition {
    /// At the beginning of the file.
    Top,
    /// Behind a key that is indented so far.
    Key(usize),
    /// Behind a dash that is indented so far.
    Dash(usize),
    /// It is a key itself.
    Name,
}

struct YamlEmitter<'a, 'p> {
    out: &'a mut YamlOutput<'p>,
    place: YamlPosition,
}

const STEP: usize = 2;

fn indent(out: &mut String, by: usize) {
    const BLANKS: &str = "                                ";
    let mut left = by;
    while left > 0 {
        let now = left.min(BLANKS.len());
        out.push_str(&BLANKS[..now]);
        left -= now;
    }
}

impl<'a, 'p> YamlEmitter<'a, 'p> {
    /// A value that stays on its line.
    fn line(self, write: impl FnOnce(&mut String)) {
        match self.place {
            YamlPosition::Key(_) | YamlPosition::Dash(_) => self.out.push(' '),
            YamlPosition::Top | YamlPosition::Name => {}
        }
        write(self.out);
        if !matches!(self.place, YamlPosition::Name) {
            self.out.push('\n');
        }
    }

    fn display(self, value: impl Display) {
        // Writing into a string cannot fail.
        self.line(|out| {
            let _ = write!(out, "{value}");
        });
    }

    fn text(self, text: &str) {
        let (form, depth) = match self.place {
            YamlPosition::Key(depth) | YamlPosition::Dash(depth) => {
                (scalar::scalar_style(text), depth + STEP)
            }
            YamlPosition::Top | YamlPosition::Name => (scalar::key_style(text), 0),
        };
        match form {
            YamlScalarStyle::Plain => self.line(|out| out.push_str(text)),
            YamlScalarStyle::Single => self.line(|out| scalar::write_single_quoted(out, text)),
            YamlScalarStyle::Double => self.line(|out| scalar::write_double_quoted(out, text)),
            YamlScalarStyle::Literal { chomp, indented } => {
                let width = if indented { "2" } else { "" };
                let out = self.out;
                out.reserve(text.len() + text.len() / 8);
                out.push_str(" |");
                out.push_str(width);
                out.push_str(chomp.sign());
                out.push('\n');
                let mut rest = text;
                while !rest.is_empty() {
                    // Lines are short: the plain search is the quick one.
                    let end = rest.bytes().position(|byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
                    if end > 1 || rest.as_bytes()[0] != b'\n' {
                        indent(out, depth);
                    }
                    let (line, after) = rest.split_at(end);
                    out.push_str(line);
                    rest = after;
                }
                if !text.ends_with('\n') {
                    out.push('\n');
                }
            }
        }
    }

    fn block(self, empty: &'static str) -> YamlBlock<'a, 'p> {
        YamlBlock { out: self.out, place: self.place, empty, is_started: false }
    }
}

/// A mapping or a sequence that is being written.
struct YamlBlock<'a, 'p> {
    out: &'a mut YamlOutput<'p>,
    place: YamlPosition,
    /// How it is written if nothing is in it.
    empty: &'static str,
    is_started: bool,
}

impl YamlBlock<'_, '_> {
    fn depth(&self) -> usize {
        match self.place {
            YamlPosition::Top | YamlPosition::Name => 0,
            YamlPosition::Key(depth) | YamlPosition::Dash(depth) => depth + STEP,
        }
    }

    /// Goes to where the next entry begins.
    fn begin_entry(&mut self) {
        match self.place {
            YamlPosition::Key(_) if !self.is_started => self.out.push('\n'),
            YamlPosition::Dash(_) if !self.is_started => {
                self.is_started = true;
                self.out.push(' ');
                return;
            }
            _ => {}
        }
        self.is_started = true;
        self.out.flush_if_full();
        let depth = self.depth();
        indent(self.out, depth);
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), YamlEmitError> {
        self.begin_entry();
        self.out.push('-');
        value.serialize(YamlEmitter { place: YamlPosition::Dash(self.depth()), out: self.out })
    }

    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), YamlEmitError> {
        self.begin_entry();
        key.serialize(YamlEmitter { place: YamlPosition::Name, out: self.out })?;
        self.out.push(':');
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), YamlEmitError> {
        value.serialize(YamlEmitter { place: YamlPosition::Key(self.depth()), out: self.out })
    }

    fn finish(self) -> Result<(), YamlEmitError> {
        if !self.is_started {
            let empty = self.empty;
            YamlEmitter { out: self.out, place: self.place }.line(|out| out.push_str(empty));
        }
        Ok(())
    }
}

impl<'a, 'p> Serializer for YamlEmitter<'a, 'p> {
    type Ok = ();
    type Error = YamlEmitError;
    type SerializeSeq = YamlBlock<'a, 'p>;
    type SerializeTuple = Impossible<(), YamlEmitError>;
    type SerializeTupleStruct = Impossible<(), YamlEmitError>;
    type SerializeTupleVariant = Impossible<(), YamlEmitError>;
    type SerializeMap = YamlBlock<'a, 'p>;
    type SerializeStruct = YamlBlock<'a, 'p>;
    type SerializeStructVariant = Impossible<(), YamlEmitError>;

    fn serialize_bool(self, value: bool) -> Result<(), YamlEmitError> {
        self.display(value);
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), YamlEmitError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), YamlEmitError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), YamlEmitError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), YamlEmitError> {
        self.display(value);
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), YamlEmitError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), YamlEmitError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), YamlEmitError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), YamlEmitError> {
        self.display(value);
        Ok(())
    }

    fn serialize_f32(self, _: f32) -> Result<(), YamlEmitError> {
        Err(unsupported("a fraction"))
    }

    fn serialize_f64(self, _: f64) -> Result<(), YamlEmitError> {
        Err(unsupported("a fraction"))
    }

    fn serialize_char(self, value: char) -> Result<(), YamlEmitError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), YamlEmitError> {
        self.text(value);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), YamlEmitError> {
        Err(unsupported("a string of bytes"))
    }

    fn serialize_none(self) -> Result<(), YamlEmitError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), YamlEmitError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), YamlEmitError> {
        self.display("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), YamlEmitError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), YamlEmitError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), YamlEmitError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<(), YamlEmitError> {
        Err(unsupported(variant))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<YamlBlock<'a, 'p>, YamlEmitError> {
        Ok(self.block("[]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, YamlEmitError> {
        Err(unsupported("a tuple"))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTuple, YamlEmitError> {
        Err(unsupported(name))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, YamlEmitError> {
        Err(unsupported(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<YamlBlock<'a, 'p>, YamlEmitError> {
        Ok(self.block("{}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<YamlBlock<'a, 'p>, YamlEmitError> {
        Ok(self.block("{}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, YamlEmitError> {
        Err(unsupported(variant))
    }
}

impl ser::SerializeSeq for YamlBlock<'_, '_> {
    type Ok = ();
    type Error = YamlEmitError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), YamlEmitError> {
        self.item(value)
    }

    fn end(self) -> Result<(), YamlEmitError> {
        self.finish()
    }
}

impl ser::SerializeMap for YamlBlock<'_, '_> {
    type Ok = ();
    type Error = YamlEmitError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), YamlEmitError> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), YamlEmitError> {
        self.value(value)
    }

    fn end(self) -> Result<(), YamlEmitError> {
        self.finish()
    }
}

impl ser::SerializeStruct for YamlBlock<'_, '_> {
    type Ok = ();
    type Error = YamlEmitError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), YamlEmitError> {
        self.key(key)?;
        self.value(value)
    }

    fn end(self) -> Result<(), YamlEmitError> {
        self.finish()
    }
}
