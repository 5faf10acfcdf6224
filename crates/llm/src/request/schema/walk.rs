//! The walker of tool schemas.
//!
//! A place of a schema is read as layers: the place itself, the target of its `$ref`, and, if `allOf` is
//! merged, its members. Following a reference copies nothing, so many references to a large schema cost
//! only what is written. Invariant: the walk ends at [`MAX_SCHEMA_DEPTH`] levels and [`MAX_SCHEMA_BYTES`]
//! bytes written.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::value::{is_array_of_any, looks_around, open_object, or_null, size_within};
use super::{MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, STRICT_DEPTH_MOST, SchemaRules, schema_node::SchemaNode};

/// Most layers of one place.
const LAYERS_MOST: usize = 64;

/// Cost of a place beside its text.
const PLACE_COST: usize = 16;

const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];

pub(super) type SchemaObject = Map<String, Value>;

/// The schema by the rules, and whether that was possible without allowing more than before.
pub(super) fn normalise_root(schema: &Value, rules: &SchemaRules) -> (Value, bool) {
    let mut walk = SchemaWalker {
        walk_root: schema,
        rules,
        room: MAX_SCHEMA_BYTES,
        following: Vec::new(),
        is_lossless: true,
        differing: BTreeMap::new(),
    };
    let normalised = walk.root();
    (normalised, walk.is_lossless)
}

struct SchemaWalker<'a> {
    walk_root: &'a Value,
    rules: &'a SchemaRules,
    /// Bytes that may still be written.
    room: usize,
    /// The references being followed: one of them again is a cycle.
    following: Vec<&'a str>,
    /// Nothing had to be opened.
    is_lossless: bool,
    /// Properties of the root that its choices describe differently.
    differing: BTreeMap<&'a str, Vec<&'a Value>>,
}

impl<'a> SchemaWalker<'a> {
    /// A wire accepts only an object at the root, and no choice between several: choices are merged there.
    fn root(&mut self) -> Value {
        let Some(schema) = self.walk_root.as_object() else {
            self.is_lossless = false;
            return open_object();
        };
        let place = self.enter_node(schema, true);
        let mut properties = place.properties();
        let mut required = place.required();
        let object = place.single_type().is_none_or(|name| name == "object");
        self.merge_choices(&place, &mut properties, &mut required);
        if !object {
            self.leave_node(&place);
            self.is_lossless = false;
            return open_object();
        }
        let names: BTreeSet<&str> = properties.iter().map(|(name, _)| name.as_str()).collect();
        let mut seen = BTreeSet::new();
        required.retain(|name| names.contains(name) && seen.insert(*name));
        let mut out = SchemaObject::new();
        out.insert("type".into(), "object".into());
        for keyword in ["title", "description"].into_iter().filter(|keyword| self.rules.keeps(keyword)) {
            self.write_keyword(keyword, &place, 0, &mut out);
        }
        if !place.layers.iter().any(|layer| layer.contains_key("properties")) && properties.is_empty() {
            self.is_lossless = false;
        }
        self.write_object(&place, &properties, &required, 0, &mut out);
        out.entry("properties").or_insert_with(|| json!({}));
        self.leave_node(&place);
        Value::Object(out)
    }

    /// Allows what any of the root's choices allows; requires what all of them require.
    fn merge_choices(
        &mut self,
        place: &SchemaNode<'a>,
        properties: &mut Vec<(&'a String, &'a Value)>,
        required: &mut Vec<&'a str>,
    ) {
        let choices = ["anyOf", "oneOf"].iter().filter_map(|keyword| place.get(keyword)?.as_array());
        let mut of_all: Option<BTreeSet<&'a str>> = None;
        let mut known: BTreeMap<&'a str, Vec<&'a Value>> =
            properties.iter().map(|(name, schema)| (name.as_str(), vec![*schema])).collect();
        for choice in choices.flatten().filter_map(Value::as_object).take(LAYERS_MOST) {
            self.is_lossless = false;
            let member = self.enter_node(choice, true);
            for (name, schema) in member.properties() {
                let schemas = known.entry(name).or_default();
                if schemas.is_empty() {
                    properties.push((name, schema));
                }
                if !schemas.contains(&schema) {
                    schemas.push(schema);
                }
            }
            let needs: BTreeSet<&str> = member.required().into_iter().collect();
            of_all = Some(match of_all {
                Some(all) => all.intersection(&needs).copied().collect(),
                None => needs,
            });
            self.leave_node(&member);
        }
        required.extend(of_all.unwrap_or_default());
        self.differing = known;
        self.differing.retain(|_, schemas| schemas.len() > 1);
    }

    /// Reads the layers of a place; [`SchemaWalker::leave_node`] must follow.
    fn enter_node(&mut self, schema: &'a SchemaObject, merge: bool) -> SchemaNode<'a> {
        let mut place = SchemaNode::default();
        let mut todo = vec![schema];
        while let Some(layer) = todo.pop() {
            if place.layers.len() >= LAYERS_MOST {
                self.is_lossless = false;
                break;
            }
            place.layers.push(layer);
            if merge && let Some(members) = layer.get("allOf").and_then(Value::as_array) {
                todo.extend(members.iter().rev().filter_map(Value::as_object).take(LAYERS_MOST));
            }
            let Some(reference) = layer.get("$ref").and_then(Value::as_str) else { continue };
            if self.following.contains(&reference) {
                place.cycle = true;
                continue;
            }
            if let Some(target) = self.resolve(reference) {
                self.following.push(reference);
                place.followed += 1;
                todo.push(target);
            } else {
                self.is_lossless = false;
            }
        }
        place
    }

    fn leave_node(&mut self, place: &SchemaNode<'_>) {
        let left = self.following.len() - place.followed;
        self.following.truncate(left);
    }

    fn resolve(&self, reference: &str) -> Option<&'a SchemaObject> {
        let pointer = reference.strip_prefix('#')?;
        self.walk_root.pointer(pointer)?.as_object()
    }

    fn schema(&mut self, schema: &'a Value, depth: usize) -> Value {
        let most = if self.rules.strict { STRICT_DEPTH_MOST } else { MAX_SCHEMA_DEPTH };
        let Some(schema) = schema.as_object().filter(|_| depth < most && self.take_room(PLACE_COST)) else {
            self.is_lossless = false;
            return json!({});
        };
        let place = self.enter_node(schema, self.rules.merge_all_of);
        let written =
            if place.cycle { self.write_cycle(&place, depth) } else { self.write_node(&place, depth) };
        self.leave_node(&place);
        written
    }

    /// A place that contains itself becomes an open object there.
    fn write_cycle(&mut self, place: &SchemaNode<'a>, depth: usize) -> Value {
        self.is_lossless = false;
        let mut out = SchemaObject::new();
        out.insert("type".into(), "object".into());
        self.write_keyword("description", place, depth, &mut out);
        Value::Object(out)
    }

    fn write_node(&mut self, place: &SchemaNode<'a>, depth: usize) -> Value {
        let mut out = SchemaObject::new();
        for keyword in place.keywords() {
            let keyword_out = match keyword {
                "oneOf" if self.rules.any_of => "anyOf",
                "const" if self.rules.plain => "enum",
                keyword => keyword,
            };
            if self.rules.keeps(keyword_out) {
                self.write_keyword(keyword, place, depth, &mut out);
            } else if matches!(keyword, "patternProperties" | "not" | "if" | "prefixItems" | "propertyNames")
            {
                self.is_lossless = false;
            }
        }
        let has_properties = place.layers.iter().any(|layer| layer.contains_key("properties"));
        let is_object = place.single_type().map_or(has_properties, |name| name == "object");
        if is_object {
            self.write_object(place, &place.properties(), &place.required(), depth, &mut out);
            if self.rules.strict && !has_properties {
                self.is_lossless = false;
            }
        }
        if self.rules.plain {
            self.fill_in_type(&mut out, has_properties);
        }
        if let (Some(Value::Bool(true)), Some(Value::String(name))) = (place.get("nullable"), out.get("type"))
        {
            let both = json!([name, "null"]);
            out.insert("type".into(), both);
        }
        if self.rules.strict
            && (out.get("type").is_none() && out.get("anyOf").is_none() || is_array_of_any(&out))
        {
            self.is_lossless = false;
        }
        Value::Object(out)
    }

    /// Properties, which of them are required, and what else is allowed.
    fn write_object(
        &mut self,
        place: &SchemaNode<'a>,
        properties: &[(&'a String, &'a Value)],
        required: &[&'a str],
        depth: usize,
        out: &mut SchemaObject,
    ) {
        let needed: BTreeSet<&str> = required.iter().copied().collect();
        let mut written = SchemaObject::new();
        for (name, schema) in properties {
            if schema.as_bool() == Some(false) || !self.take_room(name.len()) {
                self.is_lossless &= schema.as_bool() == Some(false);
                continue;
            }
            let differing = if depth == 0 { self.differing.remove(name.as_str()) } else { None };
            let value = match differing {
                Some(schemas) => {
                    json!({"anyOf": schemas.into_iter().map(|schema| self.schema(schema, 2)).collect::<Vec<_>>()})
                }
                None => self.schema(schema, depth + 1),
            };
            let optional = self.rules.strict && !needed.contains(name.as_str());
            written.insert((*name).clone(), if optional { or_null(value) } else { value });
        }
        let names: Vec<&str> = if self.rules.strict {
            written.keys().map(String::as_str).collect()
        } else {
            let known = |name: &&&str| properties.is_empty() || written.contains_key(**name);
            required.iter().filter(known).copied().collect()
        };
        let stray = self.rules.plain && properties.is_empty();
        if self.rules.strict || (!names.is_empty() && !stray) {
            out.insert("required".into(), json!(names));
        }
        if self.rules.strict || !properties.is_empty() {
            out.insert("properties".into(), Value::Object(written));
        }
        let beside = place.get("additionalProperties");
        if self.rules.strict {
            self.is_lossless &= matches!(beside, None | Some(Value::Bool(false)));
            out.insert("additionalProperties".into(), Value::Bool(false));
        } else if let Some(beside) = beside {
            let boolean = beside.is_boolean();
            let beside = if boolean { beside.clone() } else { self.schema(beside, depth + 1) };
            out.insert("additionalProperties".into(), beside);
        }
    }

    /// One keyword, if its value is of the right type.
    fn write_keyword(&mut self, keyword: &str, place: &SchemaNode<'a>, depth: usize, out: &mut SchemaObject) {
        let Some(value) = place.get(keyword) else { return };
        let written = match keyword {
            "type" => self.types(value, out),
            "title" | "description" => value.as_str().and_then(|text| self.text(text)),
            "format" => {
                value.as_str().filter(|name| self.knows_format(name)).and_then(|name| self.text(name))
            }
            "pattern" => value
                .as_str()
                .filter(|pattern| !self.rules.plain_patterns || !looks_around(pattern))
                .and_then(|text| self.text(text)),
            "enum" => value.as_array().and_then(|values| self.choices(values)),
            "const" if self.rules.plain => self.choices(std::slice::from_ref(value)),
            "const" | "default" | "examples" => self.copy(value),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                value.is_number().then(|| value.clone())
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                value.is_u64().then(|| value.clone())
            }
            "uniqueItems" => value.is_boolean().then(|| value.clone()),
            // Older drafts wrote `prefixItems` as a list here.
            "items" => match value {
                Value::Array(members) if self.rules.keeps("prefixItems") => {
                    let members = self.schemas(members, depth);
                    out.insert("prefixItems".into(), members);
                    None
                }
                Value::Object(_) => Some(self.schema(value, depth + 1)),
                _ => None,
            },
            "contains" | "propertyNames" | "not" | "if" | "then" | "else" => {
                value.is_object().then(|| self.schema(value, depth + 1))
            }
            "anyOf" | "allOf" | "oneOf" | "prefixItems" => {
                let merged = keyword == "allOf" && self.rules.merge_all_of;
                let members = value.as_array().filter(|members| !members.is_empty() && !merged);
                members.map(|members| self.schemas(members, depth))
            }
            "patternProperties" | "dependentSchemas" => value.as_object().map(|schemas| {
                let mut written = SchemaObject::new();
                for (name, schema) in schemas {
                    if self.take_room(name.len()) {
                        written.insert(name.clone(), self.schema(schema, depth + 1));
                    }
                }
                Value::Object(written)
            }),
            "dependentRequired" => self.copy(value),
            // Without properties beside it, it says which of others' are required.
            "required" if !self.rules.plain && place.properties().is_empty() => value
                .as_array()
                .filter(|names| names.iter().all(Value::is_string))
                .and_then(|_| self.copy(value)),
            // Properties and the like are written by [`SchemaWalker::write_object`]; anything else is
            // unknown.
            _ => None,
        };
        let Some(written) = written else { return };
        match keyword {
            "oneOf" if self.rules.any_of => out.insert("anyOf".into(), written),
            "const" if self.rules.plain => out.insert("enum".into(), written),
            keyword => out.insert(keyword.into(), written),
        };
    }

    fn schemas(&mut self, members: &'a [Value], depth: usize) -> Value {
        let mut written = Vec::new();
        for member in members {
            if self.room == 0 {
                self.is_lossless = false;
                break;
            }
            written.push(self.schema(member, depth + 1));
        }
        Value::Array(written)
    }

    /// Several types become a choice if the dialect has no lists of types.
    fn types(&mut self, value: &Value, out: &mut SchemaObject) -> Option<Value> {
        let names: Vec<&str> = match value {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let names: BTreeSet<&str> = names.into_iter().filter(|name| TYPES.contains(name)).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let several = names.iter().filter(|name| **name != "null").count() > 1;
        if several && self.rules.plain && !self.rules.strict {
            let choices: Vec<Value> = names.iter().map(|name| json!({"type": name})).collect();
            out.entry("anyOf").or_insert(Value::Array(choices));
            return None;
        }
        match names.as_slice() {
            [] => None,
            [name] => Some(json!(name)),
            // The type before `null`, as people write it.
            names => {
                let (null, mut others): (Vec<&str>, Vec<_>) = names.iter().partition(|name| **name == "null");
                others.extend(null);
                Some(json!(others))
            }
        }
    }

    /// Google and strict schemas want a type everywhere.
    fn fill_in_type(&mut self, out: &mut SchemaObject, has_properties: bool) {
        if out.contains_key("type") || out.contains_key("anyOf") {
            return;
        }
        let strings = out.get("enum").and_then(Value::as_array);
        let name = if has_properties || out.contains_key("properties") {
            "object"
        } else if out.contains_key("items") || out.contains_key("prefixItems") {
            "array"
        } else if strings.is_some_and(|values| values.iter().all(Value::is_string)) {
            "string"
        } else if strings.is_some_and(|values| values.iter().all(Value::is_number)) {
            "number"
        } else {
            return;
        };
        out.insert("type".into(), name.into());
    }

    fn choices(&mut self, values: &[Value]) -> Option<Value> {
        let mut written = Vec::new();
        for value in values {
            let kept = !self.rules.plain || self.rules.strict || value.is_string() || value.is_number();
            if let Some(value) = self.copy(value).filter(|_| kept) {
                written.push(value);
            } else if !value.is_null() {
                // Leaving out a choice would forbid what the tool accepts.
                return None;
            }
        }
        (!written.is_empty()).then_some(Value::Array(written))
    }

    fn knows_format(&self, name: &str) -> bool {
        self.rules.formats.is_none_or(|formats| formats.split(' ').any(|known| known == name))
    }

    fn text(&mut self, text: &str) -> Option<Value> {
        self.take_room(text.len()).then(|| Value::from(text))
    }

    /// `None` if there is no room for it.
    fn copy(&mut self, value: &Value) -> Option<Value> {
        let cost = size_within(value, 0, self.room)?;
        self.take_room(cost).then(|| value.clone())
    }

    /// Takes from the room, or nothing if there is too little.
    fn take_room(&mut self, bytes: usize) -> bool {
        match self.room.checked_sub(bytes) {
            Some(room) => {
                self.room = room;
                true
            }
            None => {
                self.is_lossless = false;
                false
            }
        }
    }
}
