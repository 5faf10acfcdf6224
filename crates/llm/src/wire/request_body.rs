//! The JSON body of a request, field by field. The conversation is a list of pieces that are JSON already: it may have megabytes,
//! and is copied once.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::models::model::Model;

/// Room for what is beside the conversation: the tools, mostly.
const BESIDE: usize = 64 << 10;

#[derive(Default, Serialize)]
#[serde(transparent)]
pub(super) struct RequestBody {
    fields: Map<String, Value>,
    /// The conversation, and the field it stands in.
    #[serde(skip)]
    conversation: Option<(String, JsonRope)>,
}

impl RequestBody {
    pub(super) fn set(&mut self, name: &str, value: impl Serialize) {
        self.fields.insert(name.to_owned(), json!(value));
    }

    /// Once; it must be one of the fixed fields of [`RequestBody::finish`].
    pub(super) fn set_conversation(&mut self, name: &str, rope: JsonRope) {
        self.fields.insert(name.to_owned(), Value::Null);
        self.conversation = Some((name.to_owned(), rope));
    }

    /// Nothing for `None`.
    pub(super) fn set_some(&mut self, name: &str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    /// Nothing for an object without fields.
    pub(super) fn set_object(&mut self, name: &str, object: RequestBody) {
        self.set_some(name, Some(object).filter(|object| !object.fields.is_empty()));
    }

    /// With what `extraBody` adds: anything but the `fixed` fields, which say what is asked and how the answer comes.
    pub(super) fn finish(mut self, model: &Model, fixed: &[&str]) -> Vec<u8> {
        for (name, value) in model.compat.extra_body.iter().flatten() {
            if !fixed.contains(&name.as_str()) {
                self.fields.insert(name.clone(), value.clone());
            }
        }
        let room = self.conversation.as_ref().map_or(0, |(_, rope)| rope.len());
        let mut out = Vec::with_capacity(room + BESIDE);
        for (number, (name, value)) in self.fields.iter().enumerate() {
            out.push(if number == 0 { b'{' } else { b',' });
            write_json(&mut out, name);
            out.push(b':');
            match &self.conversation {
                Some((field, rope)) if field == name => rope.write_to(&mut out),
                _ => write_json(&mut out, value),
            }
        }
        out.push(b'}');
        out
    }
}

/// JSON in pieces.
#[derive(Default)]
pub(super) struct JsonRope(Vec<Bytes>);

impl JsonRope {
    /// A list of these values.
    pub(super) fn list(values: Vec<Bytes>) -> JsonRope {
        let mut rope = JsonRope(Vec::with_capacity(values.len() * 2 + 1));
        rope.push_list(values);
        rope
    }

    /// Messages with a role, and `field` for the list of what was said.
    pub(super) fn messages(all: Vec<(&'static str, Vec<Bytes>)>, field: &'static str) -> JsonRope {
        let mut rope = JsonRope::default();
        for (number, (role, said)) in all.into_iter().enumerate() {
            rope.push(if number == 0 { "[{\"role\":\"" } else { ",{\"role\":\"" });
            rope.push(role);
            rope.push("\",\"");
            rope.push(field);
            rope.push("\":");
            rope.push_list(said);
            rope.push("}");
        }
        rope.push(if rope.0.is_empty() { "[]" } else { "]" });
        rope
    }

    fn push_list(&mut self, values: Vec<Bytes>) {
        self.push("[");
        for (number, value) in values.into_iter().enumerate() {
            if number > 0 {
                self.push(",");
            }
            self.0.push(value);
        }
        self.push("]");
    }

    fn push(&mut self, text: &'static str) {
        self.0.push(Bytes::from_static(text.as_bytes()));
    }

    fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    fn write_to(&self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|piece| out.extend_from_slice(piece));
    }
}

/// An object with one more field, which may be long: `json!` would copy it.
pub(super) fn with_list(mut object: Value, name: &str, values: Vec<Value>) -> Value {
    object[name] = Value::Array(values);
    object
}

/// The JSON of an object that is not empty, with one more field at its end.
pub(super) fn with_field(object: &Bytes, name: &str, value: &Value) -> Bytes {
    let Some((b'}', rest)) = object.split_last() else { return object.clone() };
    let mut out = rest.to_vec();
    out.push(b',');
    write_json(&mut out, name);
    out.push(b':');
    write_json(&mut out, value);
    out.push(b'}');
    out.into()
}

pub(super) fn json_bytes(value: &Value) -> Bytes {
    let mut out = Vec::new();
    write_json(&mut out, value);
    // What is kept has no spare room.
    Bytes::from(out.into_boxed_slice())
}

/// A value's own text would go through a formatter, which takes twice as long.
fn write_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Fails for a map whose keys are no text, which a value has none of.
    let _ = serde_json::to_writer(out, value);
}
