//! Whether a value follows a schema that was [read](super::AnswerSchema::new).

use serde_json::{Map, Value};

use super::AnswerSchema;

/// Schemas that are held against a value, all in all.
const STEPS: usize = 500_000;
/// How deep that goes, references included.
const DEPTH: usize = 160;
/// Characters of a foreign name in a message.
const SHOWN: usize = 60;

type SchemaKeywords = Map<String, Value>;
type SchemaCheck = Result<(), SchemaViolation>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}{}{what}", if at.is_empty() { "" } else { ": " })]
pub struct SchemaViolation {
    /// Where in the value, as a JSON pointer; empty: the value itself.
    pub at: String,
    pub what: String,
}

impl AnswerSchema {
    /// Checks a value.
    ///
    /// # Errors
    /// The first place where it does not follow the schema.
    pub fn check(&self, value: &Value) -> Result<(), SchemaViolation> {
        let root = self.as_json();
        SchemaChecker { root, steps: STEPS, at: Vec::new() }.check_value(root, value, 0)
    }
}

struct SchemaChecker<'s> {
    root: &'s Value,
    steps: usize,
    at: Vec<String>,
}

impl<'s> SchemaChecker<'s> {
    fn check_value(&mut self, schema: &'s Value, value: &Value, depth: usize) -> SchemaCheck {
        let Some(steps) = self.steps.checked_sub(1).filter(|_| depth <= DEPTH) else {
            return Err(self.violation("it takes too much to check"));
        };
        self.steps = steps;
        let keywords = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Object(keywords) => keywords,
            _ => return Err(self.violation("nothing may stand here")),
        };
        self.check_type(keywords, value)?;
        match value {
            Value::Object(fields) => self.check_object(keywords, fields, depth)?,
            Value::Array(items) => self.check_array(keywords, items, depth)?,
            Value::String(text) => {
                let length = || text.chars().count() as u64;
                self.check_count(keywords, "minLength", "maxLength", length, "characters")?;
            }
            Value::Number(_) => self.check_number(keywords, value)?,
            _ => {}
        }
        self.check_combinators(keywords, value, depth)
    }

    fn check_type(&self, keywords: &'s SchemaKeywords, value: &Value) -> SchemaCheck {
        let types = keywords.get("type");
        if !has_any_type(value, types) {
            let names = type_names(types).join(" or ");
            return Err(self.violation(&format!("it is {}, not {names}", kind(value))));
        }
        if keywords.get("const").is_some_and(|only| !same(only, value)) {
            return Err(self.violation("it is not the one value that may stand here"));
        }
        let list = keywords.get("enum").and_then(Value::as_array);
        if list.is_some_and(|list| !list.iter().any(|one| same(one, value))) {
            let what = format!("{} is none of the values that may stand here", shown(value));
            return Err(self.violation(&what));
        }
        Ok(())
    }

    fn check_object(
        &mut self,
        keywords: &'s SchemaKeywords,
        fields: &Map<String, Value>,
        depth: usize,
    ) -> SchemaCheck {
        let required = keywords.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return Err(self.violation(&format!("`{}` is missing", clipped(name))));
            }
        }
        self.check_count(keywords, "minProperties", "maxProperties", || fields.len() as u64, "fields")?;
        let known = keywords.get("properties").and_then(Value::as_object);
        let others = keywords.get("additionalProperties");
        for (name, value) in fields {
            let schema = match (known.and_then(|known| known.get(name)), others) {
                (Some(schema), _) => schema,
                (None, Some(Value::Bool(false))) => {
                    return Err(self.violation(&format!("`{}` may not stand here", clipped(name))));
                }
                (None, Some(schema)) => schema,
                (None, None) => continue,
            };
            self.check_child(name, schema, value, depth)?;
        }
        Ok(())
    }

    fn check_array(&mut self, keywords: &'s SchemaKeywords, items: &[Value], depth: usize) -> SchemaCheck {
        self.check_count(keywords, "minItems", "maxItems", || items.len() as u64, "items")?;
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        let rest = keywords.get("items");
        for (number, value) in items.iter().enumerate() {
            if let Some(schema) = first.and_then(|first| first.get(number)).or(rest) {
                self.check_child(&number.to_string(), schema, value, depth)?;
            }
        }
        Ok(())
    }

    fn check_number(&self, keywords: &SchemaKeywords, value: &Value) -> SchemaCheck {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_f64);
        let value = value.as_f64().unwrap_or(f64::NAN);
        let fits = bound("minimum").is_none_or(|least| value >= least)
            && bound("maximum").is_none_or(|most| value <= most)
            && bound("exclusiveMinimum").is_none_or(|below| value > below)
            && bound("exclusiveMaximum").is_none_or(|above| value < above);
        if fits { Ok(()) } else { Err(self.violation("the number is too small or too large")) }
    }

    fn check_combinators(
        &mut self,
        keywords: &'s SchemaKeywords,
        value: &Value,
        depth: usize,
    ) -> SchemaCheck {
        let target = keywords.get("$ref").and_then(Value::as_str);
        if let Some(pointer) = target.and_then(|at| at.strip_prefix('#')) {
            let root = self.root;
            let schema = root.pointer(pointer).unwrap_or(&Value::Bool(false));
            self.check_value(schema, value, depth + 1)?;
        }
        let list = |name: &str| keywords.get(name).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            self.check_value(schema, value, depth + 1)?;
        }
        if let Some(schemas) = list("anyOf") {
            let what = "it follows none of the forms that may stand here";
            self.some(schemas, value, depth, what, |fit| fit > 0)?;
        }
        if let Some(schemas) = list("oneOf") {
            let what = "it does not follow exactly one of the forms that may stand here";
            self.some(schemas, value, depth, what, |fit| fit == 1)?;
        }
        if let Some(schema) = keywords.get("not") {
            let what = "it is what may not stand here";
            self.some(std::slice::from_ref(schema), value, depth, what, |fit| fit == 0)?;
        }
        Ok(())
    }

    /// Whether the right number of schemas fit. What could not be checked fits nobody's wish.
    fn some(
        &mut self,
        schemas: &'s [Value],
        value: &Value,
        depth: usize,
        what: &str,
        wanted: impl Fn(usize) -> bool,
    ) -> SchemaCheck {
        let (mut fit, mut fault) = (0, None);
        for schema in schemas {
            let depth_of_path = self.at.len();
            match self.check_value(schema, value, depth + 1) {
                Ok(()) => fit += 1,
                Err(error) => fault = Some(error),
            }
            self.at.truncate(depth_of_path);
            if self.steps == 0 || depth + 1 > DEPTH {
                return Err(self.violation("it takes too much to check"));
            }
        }
        match fault {
            _ if wanted(fit) => Ok(()),
            // Of one form it can be said what is wrong.
            Some(fault) if schemas.len() == 1 && fit == 0 => Err(fault),
            _ => Err(self.violation(what)),
        }
    }

    fn check_child(&mut self, name: &str, schema: &'s Value, value: &Value, depth: usize) -> SchemaCheck {
        self.at.push(clipped(name));
        self.check_value(schema, value, depth + 1)?;
        self.at.pop();
        Ok(())
    }

    fn check_count(
        &self,
        keywords: &SchemaKeywords,
        least: &str,
        most: &str,
        count: impl Fn() -> u64,
        of: &str,
    ) -> SchemaCheck {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_u64);
        let what = match (bound(least), bound(most)) {
            (Some(least), _) if count() < least => format!("it has fewer than {least} {of}"),
            (_, Some(most)) if count() > most => format!("it has more than {most} {of}"),
            _ => return Ok(()),
        };
        Err(self.violation(&what))
    }

    fn violation(&self, what: &str) -> SchemaViolation {
        let at = self.at.iter().fold(String::new(), |at, name| format!("{at}/{name}"));
        SchemaViolation { at, what: what.to_string() }
    }
}

/// Whether a value is of one of the types that a schema names; without any, it is.
pub(super) fn has_any_type(value: &Value, types: Option<&Value>) -> bool {
    let names = type_names(types);
    names.is_empty() || names.iter().any(|name| has_type(value, name))
}

fn type_names(types: Option<&Value>) -> Vec<&str> {
    match types {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(name)) => vec![name],
        _ => Vec::new(),
    }
}

/// Whether a value is of the type of this name. `1.0` is an integer, as the standard says.
fn has_type(value: &Value, name: &str) -> bool {
    if name == "integer" { is_whole(value) } else { kind(value) == name }
}

fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether two values are the same; `1` and `1.0` are.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            x == y || (x.as_f64() == y.as_f64() && (x.is_f64() || y.is_f64()))
        }
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(name, x)| y.get(name).is_some_and(|y| same(x, y)))
        }
        _ => a == b,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => format!("this {}", kind(value)),
        Value::String(text) => format!("`{}`", clipped(text)),
        other => format!("`{other}`"),
    }
}

fn clipped(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
