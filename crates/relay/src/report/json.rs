//! What machines read: one object on one line of stdout.
//!
//! `{"ok":…, "code":…, "command":…, …}`; fields are only ever added. Control and invisible characters
//! are written as `\uXXXX`, so that the object may be shown on a terminal as it is and still reads
//! back exactly.

use std::io;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use relaycode_text::escape::is_unsafe;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::ser::{CompactFormatter, Formatter};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::Exit;

/// An object: what every one begins with, then `more`.
pub(crate) fn result_json(command: &str, exit: Exit, more: Value) -> Value {
    let mut object = json!({"ok": exit == Exit::Done, "code": exit as u8, "command": command});
    merge(&mut object, more);
    object
}

/// Adds the fields of one object to another.
pub(crate) fn merge(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
}

/// An object with large parts: a whole answer, every diff. Those are kept as the text that is printed, because a tree of
/// values takes many times the memory.
#[derive(Debug, Default)]
pub(crate) struct ResultObject {
    pub(crate) fields: Map<String, Value>,
    texts: Vec<(&'static str, Box<RawValue>)>,
}

impl ResultObject {
    /// What every object begins with, then `more`.
    pub(crate) fn new(command: &str, exit: Exit, more: Value) -> ResultObject {
        ResultObject::from_value(result_json(command, exit, more))
    }

    pub(crate) fn from_value(value: Value) -> ResultObject {
        let Value::Object(fields) = value else { return ResultObject::default() };
        ResultObject { fields, texts: Vec::new() }
    }

    pub(crate) fn insert(&mut self, name: &str, value: impl Serialize) {
        self.fields.insert(name.to_string(), to_value(&value));
    }

    pub(crate) fn insert_large(&mut self, name: &'static str, value: &impl Serialize) {
        let text = String::from_utf8(to_text(value)).ok().and_then(|text| RawValue::from_string(text).ok());
        self.texts.extend(text.map(|text| (name, text)));
    }
}

impl Serialize for ResultObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len() + self.texts.len()))?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        for (name, text) in &self.texts {
            map.serialize_entry(name, text)?;
        }
        map.end()
    }
}

/// A value as one line of JSON, with its line feed.
pub(crate) fn to_line(value: &impl Serialize) -> Vec<u8> {
    let mut out = to_text(value);
    out.push(b'\n');
    out
}

fn to_text(value: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, EscapingFormatter);
    // A map with keys that are not text is the only thing that cannot be written, and none has any.
    if value.serialize(&mut serializer).is_err() {
        out = br#"{"ok":false,"code":1,"error":{"kind":"unexpected"}}"#.to_vec();
    }
    out
}

/// Compact, with every unsafe character escaped.
struct EscapingFormatter;

impl Formatter for EscapingFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_unsafe(*c)) {
            CompactFormatter.write_string_fragment(writer, &rest[..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

/// A value as a part of an object.
pub(crate) fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// A time in whole milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Bytes in base64, for content that is not UTF-8.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_are_escaped_and_read_back() {
        let text = "a\x1b[0m\u{202e}\u{e0041}\u{9b}é\"\n\u{7f}";
        let out = String::from_utf8(to_line(&text)).unwrap();
        assert!(!out.trim_end().chars().any(is_unsafe), "{out:?}");
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
    }

    #[test]
    fn base64_has_its_padding() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (plain, encoded) in cases {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
