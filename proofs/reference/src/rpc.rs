//! The protocol of `relay rpc`: its reference page, its JSON schema, and the types and methods of the Python client.

use std::fmt::Write;

use relaycode_servers::rpc::reference::{CommandReference, ProtocolReference, protocol};
use serde_json::Value;

use super::{Page, code, row};

/// Words that are no names in Python.
const PYTHON_KEYWORDS: [&str; 4] = ["from", "import", "class", "async"];
/// Stands around a name of another type.
const REFERENCE_MARK: &str = "\u{1}";
/// Cells of a line of Python.
const MAX_PYTHON_LINE: usize = 118;

pub(super) fn pages() -> Vec<Page> {
    let protocol = protocol();
    let schema = serde_json::to_string_pretty(&protocol.to_schema()).unwrap_or_default();
    vec![
        reference(&protocol),
        Page { path: "docs/reference/rpc.schema.json".to_owned(), text: format!("{schema}\n") },
        Page { path: "clients/python/src/relaycode/_generated.py".to_owned(), text: python(&protocol) },
    ]
}

fn reference(protocol: &ProtocolReference) -> Page {
    let mut body = format!(
        "Protocol version {}. How it is meant is in [rpc.md](../rpc.md); the same as JSON schema is in \
         [rpc.schema.json](rpc.schema.json).\n\n## Commands\n\nA command is `{{\"id\": …, \"type\": \"NAME\", …}}`; the answer \
         has the `data`. A field with `?` may be left out.\n\n| command | fields | data | |\n|---|---|---|---|\n",
        protocol.version
    );
    for command in &protocol.commands {
        let data =
            if command.is_answer { "answered only if it fails".to_owned() } else { fields(&command.data) };
        body.push_str(&row(&[&code(command.name), &fields(&command.params), &data, command.about]));
    }
    body.push_str("\n## Frames\n\nWhat relay writes.\n\n| type | fields | |\n|---|---|---|\n");
    variants(&mut body, &protocol.frame);
    body.push_str(
        "\n## Events\n\nWhat the `event` of an `event` frame is.\n\n| type | fields | |\n|---|---|---|\n",
    );
    variants(&mut body, &protocol.event);
    body.push_str("\n## Errors\n\nThe `code` of an `error`.\n\n| code | |\n|---|---|\n");
    for (name, about) in names(&protocol.error_code) {
        body.push_str(&row(&[&code(&name), &about]));
    }
    body.push_str("\n## Types\n\n| type | is | |\n|---|---|---|\n");
    let inline = |name: &&String| {
        let is_of = |command: &CommandReference| [&command.params_type, &command.data_type].contains(name);
        !protocol.commands.iter().any(is_of)
            && !["RpcFrame", "AgentEvent", "RpcErrorCode"].contains(&name.as_str())
    };
    for (name, schema) in protocol.definitions.iter().filter(|(name, _)| inline(name)) {
        body.push_str(&row(&[&code(name), &definition(schema), &about(schema)]));
    }
    Page::new("docs/reference/rpc.md", "The protocol of relay rpc", &body)
}

fn variants(body: &mut String, schema: &Value) {
    for variant in list(schema, "oneOf") {
        let name = variant["properties"]["type"]["const"].as_str().unwrap_or_default();
        body.push_str(&row(&[&code(name), &fields(variant), &about(variant)]));
    }
}

/// The values of an enumeration, each with what it means.
fn names(schema: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let plain = list(schema, "enum").iter().map(|value| (text(value), String::new()));
    let described = list(schema, "oneOf").iter().flat_map(|one| match one.get("const") {
        Some(value) => vec![(text(value), about(one))],
        None => list(one, "enum").iter().map(|value| (text(value), about(one))).collect(),
    });
    plain.chain(described).filter(|(name, _)| !name.is_empty()).collect()
}

fn definition(schema: &Value) -> String {
    let names = names(schema);
    if !names.is_empty() {
        return names.iter().map(|(name, _)| code(name)).collect::<Vec<_>>().join(", ");
    }
    let variants: Vec<String> =
        list(schema, "oneOf").iter().chain(list(schema, "anyOf")).map(shape).collect();
    if variants.is_empty() { shape(schema) } else { variants.join("; or ") }
}

fn shape(schema: &Value) -> String {
    if schema.get("properties").is_none() {
        return plain_type(schema);
    }
    let constants = properties(schema)
        .filter_map(|(name, field, _)| Some(code(&format!("{name}: {}", field.get("const")?))));
    let constants: Vec<String> = constants.collect();
    let others = fields(schema);
    let all = constants.into_iter().chain(Some(others).filter(|others| !others.is_empty()));
    all.collect::<Vec<_>>().join(", ")
}

/// `id` text, `timeoutMs?` number
fn fields(schema: &Value) -> String {
    let named = properties(schema).filter(|(_, field, _)| field.get("const").is_none());
    let texts = named.map(|(name, field, is_required)| {
        let mark = if is_required { "" } else { "?" };
        let about = about(field);
        let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
        format!("`{name}{mark}` {}{about}", plain_type(field))
    });
    texts.collect::<Vec<_>>().join("<br>")
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value, bool)> {
    let required = list(schema, "required");
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.map(move |(name, field)| (name.as_str(), field, required.iter().any(|one| one == name)))
}

/// A type in words.
fn plain_type(schema: &Value) -> String {
    if let Some(name) = referred(schema) {
        return code(name);
    }
    let any_of: Vec<String> =
        list(schema, "anyOf").iter().chain(list(schema, "oneOf")).map(plain_type).collect();
    if !any_of.is_empty() {
        return any_of.join(" or ");
    }
    let one = |name: &str| match name {
        "string" => "text".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => {
            format!("list of {}", schema.get("items").map_or_else(|| "anything".to_owned(), plain_type))
        }
        other => other.to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(name)) => one(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" or ")
        }
        _ => match schema.get("const") {
            Some(value) => code(&value.to_string()),
            None => "anything".to_owned(),
        },
    }
}

fn about(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.replace('\n', " ").trim_end_matches('.').to_owned()
}

fn list<'a>(schema: &'a Value, name: &str) -> &'a [Value] {
    schema.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn referred(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

fn python(protocol: &ProtocolReference) -> String {
    let mut text = format!(
        "\"\"\"The types and methods of the protocol. Written by `cargo xtask docs` from the code; change the code instead.\"\"\"\n\n\
         from __future__ import annotations\n\nfrom typing import Any, Dict, List, Literal, Optional, TypedDict, Union\n\n\
         PROTOCOL_VERSION = {}\n\n",
        protocol.version
    );
    let is_params = |name: &String| protocol.commands.iter().any(|command| command.params_type == *name);
    for (name, schema) in protocol.definitions.iter().filter(|(name, _)| !is_params(name)) {
        python_definition(&mut text, name, schema);
    }
    let events: Vec<String> = list(&protocol.event, "oneOf").iter().map(python_tag).collect();
    let _ = writeln!(text, "#: Every kind of event.\nEVENT_TYPES = [");
    for name in &events {
        let _ = writeln!(text, "    {name},");
    }
    let _ = writeln!(text, "]\n\n#: Every command.\nCOMMANDS = [");
    for command in &protocol.commands {
        let _ = writeln!(text, "    {:?},", command.name);
    }
    text.push_str("]\n\n\n");
    for (class, is_async) in [("SyncCommands", false), ("AsyncCommands", true)] {
        python_methods(&mut text, class, is_async, &protocol.commands);
    }
    text
}

fn python_tag(variant: &Value) -> String {
    format!("{:?}", variant["properties"]["type"]["const"].as_str().unwrap_or_default())
}

fn python_definition(text: &mut String, name: &str, schema: &Value) {
    let names = names(schema);
    if !names.is_empty() {
        let values: Vec<String> = names.iter().map(|(name, _)| format!("{name:?}")).collect();
        return python_alias(text, name, &format!("Literal[{}]", values.join(", ")));
    }
    if !list(schema, "oneOf").is_empty() {
        return python_union(text, name, schema);
    }
    if schema.get("properties").is_some() {
        return python_class(text, name, schema);
    }
    let is_empty_object = schema["type"] == "object";
    let alias = if is_empty_object { "Dict[str, Any]".to_owned() } else { python_type(schema) };
    // What stands further down is named by a text here.
    python_alias(text, name, &alias.replace(REFERENCE_MARK, "\""));
}

fn python_alias(text: &mut String, name: &str, to: &str) {
    let line = format!("{name} = {to}");
    if line.len() <= MAX_PYTHON_LINE {
        let _ = writeln!(text, "{line}\n");
        return;
    }
    let broken = to.replacen('[', "[\n    ", 1).replace(", ", ",\n    ");
    let broken = broken.strip_suffix(']').map(|inside| format!("{inside},\n]")).unwrap_or(broken);
    let _ = writeln!(text, "{name} = {broken}\n");
}

/// A class for each variant, and the name for all of them.
fn python_union(text: &mut String, name: &str, schema: &Value) {
    let mut members = Vec::new();
    for (at, variant) in list(schema, "oneOf").iter().enumerate() {
        let tags = properties(variant).find_map(|(_, field, _)| field.get("const")?.as_str());
        let words = tags.map_or_else(|| at.to_string(), str::to_owned);
        let words = words.split('_').map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        });
        let member = format!("{name}{}", words.collect::<String>());
        python_class(text, &member, variant);
        members.push(format!("\"{member}\""));
    }
    python_alias(text, name, &format!("Union[{}]", members.join(", ")));
}

fn python_class(text: &mut String, name: &str, schema: &Value) {
    let fields: Vec<(&str, String, bool)> =
        properties(schema).map(|(field, schema, required)| (field, annotation(schema), required)).collect();
    if fields.iter().any(|(field, ..)| PYTHON_KEYWORDS.contains(field)) {
        let _ = writeln!(text, "{name} = TypedDict(\n    \"{name}\",\n    {{");
        for (field, kind, _) in &fields {
            let _ = writeln!(text, "        \"{field}\": {kind:?},");
        }
        text.push_str("    },\n)\n\n");
        return;
    }
    let described = about(schema);
    let docs = if described.is_empty() { String::new() } else { format!("    \"\"\"{described}.\"\"\"\n\n") };
    let lines = |required: bool| {
        let lines = fields.iter().filter(|field| field.2 == required);
        lines.map(|(field, kind, _)| format!("    {field}: {kind}\n")).collect::<String>()
    };
    let (required, optional) = (lines(true), lines(false));
    match (required.is_empty(), optional.is_empty()) {
        (_, true) => {
            let body = if required.is_empty() { "    pass\n".to_owned() } else { required };
            let _ = write!(text, "class {name}(TypedDict):\n{docs}{body}\n\n");
        }
        (true, false) => drop(write!(text, "class {name}(TypedDict, total=False):\n{docs}{optional}\n\n")),
        (false, false) => {
            let _ = write!(text, "class _{name}(TypedDict):\n{required}\n\n");
            let _ = write!(text, "class {name}(_{name}, total=False):\n{docs}{optional}\n\n");
        }
    }
}

/// A type where names need not be known yet.
fn annotation(schema: &Value) -> String {
    python_type(schema).replace(REFERENCE_MARK, "")
}

fn python_type(schema: &Value) -> String {
    if let Some(name) = referred(schema) {
        return format!("{REFERENCE_MARK}{name}{REFERENCE_MARK}");
    }
    if let Some(value) = schema.get("const") {
        return format!("Literal[{value}]");
    }
    let any_of: Vec<String> =
        list(schema, "anyOf").iter().chain(list(schema, "oneOf")).map(python_type).collect();
    if !any_of.is_empty() {
        return union_of(any_of);
    }
    let one = |name: &str| match name {
        "string" => "str".to_owned(),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "null" => "None".to_owned(),
        "array" => format!("List[{}]", schema.get("items").map_or_else(|| "Any".to_owned(), python_type)),
        _ => "Dict[str, Any]".to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(name)) => one(name),
        Some(Value::Array(names)) => union_of(names.iter().filter_map(Value::as_str).map(one).collect()),
        _ => "Any".to_owned(),
    }
}

fn union_of(mut types: Vec<String>) -> String {
    let count = types.len();
    types.retain(|one| one != "None");
    let inner = match types.as_slice() {
        [one] => one.clone(),
        many => format!("Union[{}]", many.join(", ")),
    };
    if types.len() < count { format!("Optional[{inner}]") } else { inner }
}

fn python_methods(text: &mut String, class: &str, is_async: bool, commands: &[CommandReference]) {
    let (prefix, wait) = if is_async { ("async ", "await ") } else { ("", "") };
    let _ = write!(
        text,
        "class {class}:\n    \"\"\"A method for each command.\"\"\"\n\n    {prefix}def call(self, command: str, params: Dict[str, Any]) -> Any:\n        \
         raise NotImplementedError\n\n"
    );
    for command in commands.iter().filter(|command| !command.is_answer) {
        let mut fields: Vec<(&str, &Value, bool)> = properties(&command.params).collect();
        fields.sort_by_key(|(_, _, required)| !required);
        let argument = |(name, schema, required): &(&str, &Value, bool)| match required {
            true => format!("{}: {}", snake(name), annotation(schema)),
            false => match annotation(schema) {
                kind if kind.starts_with("Optional[") => format!("{}: {kind} = None", snake(name)),
                kind => format!("{}: Optional[{kind}] = None", snake(name)),
            },
        };
        let required = fields.iter().filter(|field| field.2).map(argument);
        let optional: Vec<String> = fields.iter().filter(|field| !field.2).map(argument).collect();
        let star = (!optional.is_empty()).then(|| "*".to_owned());
        let arguments: Vec<String> =
            std::iter::once("self".to_owned()).chain(required).chain(star).chain(optional).collect();
        let entries: Vec<String> =
            fields.iter().map(|(name, ..)| format!("\"{name}\": {}", snake(name))).collect();
        let _ = writeln!(
            text,
            "    {prefix}def {}(\n        {},\n    ) -> {}:\n        \"\"\"{}\"\"\"\n        params = {{{}}}\n        \
             return {wait}self.call(\"{}\", {{name: value for name, value in params.items() if value is not None}})\n",
            command.name,
            arguments.join(",\n        "),
            command.data_type,
            command.about,
            entries.join(", "),
            command.name
        );
    }
    text.push('\n');
}

/// `timeoutMs` → `timeout_ms`
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
