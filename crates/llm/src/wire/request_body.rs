//! The JSON body of a request, field by field.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::models::model::Model;

#[derive(Default, Serialize)]
#[serde(transparent)]
pub(super) struct RequestBody(Map<String, Value>);

impl RequestBody {
    pub(super) fn set(&mut self, name: &str, value: impl Serialize) {
        self.0.insert(name.to_owned(), json!(value));
    }

    /// What is long already is not copied once more.
    pub(super) fn set_list(&mut self, name: &str, values: Vec<Value>) {
        self.0.insert(name.to_owned(), Value::Array(values));
    }

    /// Nothing for `None`.
    pub(super) fn set_some(&mut self, name: &str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    /// Nothing for an object without fields.
    pub(super) fn set_object(&mut self, name: &str, object: RequestBody) {
        self.set_some(name, Some(object).filter(|object| !object.0.is_empty()));
    }

    /// With what `extraBody` adds: anything but the `fixed` fields, which say what is asked and how the answer comes.
    pub(super) fn finish(mut self, model: &Model, fixed: &[&str]) -> Value {
        for (name, value) in model.compat.extra_body.iter().flatten() {
            if !fixed.contains(&name.as_str()) {
                self.0.insert(name.clone(), value.clone());
            }
        }
        Value::Object(self.0)
    }
}

/// An object with one more field, which may be long: `json!` would copy it.
pub(super) fn with_list(mut object: Value, name: &str, values: Vec<Value>) -> Value {
    object[name] = Value::Array(values);
    object
}

/// What is sent. A conversation may have megabytes: `Value`'s own text goes through a formatter, which takes twice as long.
pub(super) fn body_bytes(body: &Value) -> Vec<u8> {
    // Fails for a map whose keys are no text, which a value has none of.
    serde_json::to_vec(body).unwrap_or_default()
}
