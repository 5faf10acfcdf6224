//! Writing YAML: blocks of keys and dashes, two blanks deep, fields in the order in which they are
//! declared, texts of several lines as they are.
//!
//! It writes straight to where the text goes, in pieces: a record may hold megabytes, and it is written
//! while others wait.

use std::fmt::{self, Display, Write};
use std::io;
use std::ops::{Deref, DerefMut};

use relaycode_durable::atomic::Put;
use serde::ser::{self, Impossible, Serialize, Serializer};

use super::scalar::{self, Form};

/// Puts the YAML of `value`, piece after piece.
///
/// # Errors
/// What `value` itself reports, and the first error of `put`.
pub(in crate::record) fn emit<T: Serialize>(value: &T, put: &mut Put<'_>) -> io::Result<()> {
    let mut out = Out { piece: String::new(), put, failed: None };
    value.serialize(Emitter { out: &mut out, place: Place::Top }).map_err(io::Error::other)?;
    out.put();
    out.failed.map_or(Ok(()), Err)
}

/// So many bytes go on together.
const PIECE: usize = 256 * 1024;

/// Text on its way out.
struct Out<'p> {
    piece: String,
    put: &'p mut Put<'p>,
    /// What went wrong first; nothing is put after that.
    failed: Option<io::Error>,
}

impl Out<'_> {
    fn put(&mut self) {
        if self.failed.is_none() && !self.piece.is_empty() {
            self.failed = (self.put)(self.piece.as_bytes()).err();
        }
        self.piece.clear();
    }

    fn put_if_full(&mut self) {
        if self.piece.len() >= PIECE {
            self.put();
        }
    }
}

impl Deref for Out<'_> {
    type Target = String;

    fn deref(&self) -> &String {
        &self.piece
    }
}

impl DerefMut for Out<'_> {
    fn deref_mut(&mut self) -> &mut String {
        &mut self.piece
    }
}

/// A value would not be written.
#[derive(Debug)]
pub(in crate::record) struct NotWritten(String);

impl Display for NotWritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotWritten {}

impl ser::Error for NotWritten {
    fn custom<T: Display>(message: T) -> Self {
        NotWritten(message.to_string())
    }
}

fn unsupported(what: &str) -> NotWritten {
    NotWritten(format!("{what} cannot be written"))
}

/// Where a value goes.
#[derive(Clone, Copy)]
enum Place {
    /// At the beginning of the file.
    Top,
    /// Behind a key that is indented so far.
    Key(usize),
    /// Behind a dash that is indented so far.
    Dash(usize),
    /// It is a key itself.
    Name,
}

struct Emitter<'a, 'p> {
    out: &'a mut Out<'p>,
    place: Place,
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

impl<'a, 'p> Emitter<'a, 'p> {
    /// A value that stays on its line.
    fn line(self, write: impl FnOnce(&mut String)) {
        match self.place {
            Place::Key(_) | Place::Dash(_) => self.out.push(' '),
            Place::Top | Place::Name => {}
        }
        write(self.out);
        if !matches!(self.place, Place::Name) {
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
            Place::Key(depth) | Place::Dash(depth) => (scalar::form(text), depth + STEP),
            Place::Top | Place::Name => (scalar::form_of_key(text), 0),
        };
        match form {
            Form::Plain => self.line(|out| out.push_str(text)),
            Form::Single => self.line(|out| scalar::single(out, text)),
            Form::Double => self.line(|out| scalar::double(out, text)),
            Form::Literal { chomp, indented } => {
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

    fn block(self, empty: &'static str) -> Block<'a, 'p> {
        Block { out: self.out, place: self.place, empty, begun: false }
    }
}

/// A mapping or a sequence that is being written.
struct Block<'a, 'p> {
    out: &'a mut Out<'p>,
    place: Place,
    /// How it is written if nothing is in it.
    empty: &'static str,
    begun: bool,
}

impl Block<'_, '_> {
    fn depth(&self) -> usize {
        match self.place {
            Place::Top | Place::Name => 0,
            Place::Key(depth) | Place::Dash(depth) => depth + STEP,
        }
    }

    /// Goes to where the next entry begins.
    fn next(&mut self) {
        match self.place {
            Place::Key(_) if !self.begun => self.out.push('\n'),
            Place::Dash(_) if !self.begun => {
                self.begun = true;
                self.out.push(' ');
                return;
            }
            _ => {}
        }
        self.begun = true;
        self.out.put_if_full();
        let depth = self.depth();
        indent(self.out, depth);
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotWritten> {
        self.next();
        self.out.push('-');
        value.serialize(Emitter { place: Place::Dash(self.depth()), out: self.out })
    }

    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotWritten> {
        self.next();
        key.serialize(Emitter { place: Place::Name, out: self.out })?;
        self.out.push(':');
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotWritten> {
        value.serialize(Emitter { place: Place::Key(self.depth()), out: self.out })
    }

    fn finish(self) -> Result<(), NotWritten> {
        if !self.begun {
            let empty = self.empty;
            Emitter { out: self.out, place: self.place }.line(|out| out.push_str(empty));
        }
        Ok(())
    }
}

impl<'a, 'p> Serializer for Emitter<'a, 'p> {
    type Ok = ();
    type Error = NotWritten;
    type SerializeSeq = Block<'a, 'p>;
    type SerializeTuple = Impossible<(), NotWritten>;
    type SerializeTupleStruct = Impossible<(), NotWritten>;
    type SerializeTupleVariant = Impossible<(), NotWritten>;
    type SerializeMap = Block<'a, 'p>;
    type SerializeStruct = Block<'a, 'p>;
    type SerializeStructVariant = Impossible<(), NotWritten>;

    fn serialize_bool(self, value: bool) -> Result<(), NotWritten> {
        self.display(value);
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), NotWritten> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), NotWritten> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), NotWritten> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), NotWritten> {
        self.display(value);
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), NotWritten> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), NotWritten> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), NotWritten> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), NotWritten> {
        self.display(value);
        Ok(())
    }

    fn serialize_f32(self, _: f32) -> Result<(), NotWritten> {
        Err(unsupported("a fraction"))
    }

    fn serialize_f64(self, _: f64) -> Result<(), NotWritten> {
        Err(unsupported("a fraction"))
    }

    fn serialize_char(self, value: char) -> Result<(), NotWritten> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), NotWritten> {
        self.text(value);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), NotWritten> {
        Err(unsupported("a string of bytes"))
    }

    fn serialize_none(self) -> Result<(), NotWritten> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotWritten> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), NotWritten> {
        self.display("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), NotWritten> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), NotWritten> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotWritten> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<(), NotWritten> {
        Err(unsupported(variant))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Block<'a, 'p>, NotWritten> {
        Ok(self.block("[]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, NotWritten> {
        Err(unsupported("a tuple"))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTuple, NotWritten> {
        Err(unsupported(name))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, NotWritten> {
        Err(unsupported(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Block<'a, 'p>, NotWritten> {
        Ok(self.block("{}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Block<'a, 'p>, NotWritten> {
        Ok(self.block("{}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, NotWritten> {
        Err(unsupported(variant))
    }
}

impl ser::SerializeSeq for Block<'_, '_> {
    type Ok = ();
    type Error = NotWritten;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotWritten> {
        self.item(value)
    }

    fn end(self) -> Result<(), NotWritten> {
        self.finish()
    }
}

impl ser::SerializeMap for Block<'_, '_> {
    type Ok = ();
    type Error = NotWritten;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotWritten> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotWritten> {
        self.value(value)
    }

    fn end(self) -> Result<(), NotWritten> {
        self.finish()
    }
}

impl ser::SerializeStruct for Block<'_, '_> {
    type Ok = ();
    type Error = NotWritten;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), NotWritten> {
        self.key(key)?;
        self.value(value)
    }

    fn end(self) -> Result<(), NotWritten> {
        self.finish()
    }
}
