use serde_json::{Value, json};

use super::{MAX_SCHEMA_BYTES, SchemaDialect, normalise};

fn of(schema: &Value, dialect: SchemaDialect) -> Value {
    normalise(schema, dialect).schema
}

const ALL: [SchemaDialect; 6] = [
    SchemaDialect::Anthropic,
    SchemaDialect::Google,
    SchemaDialect::Completions,
    SchemaDialect::Responses,
    SchemaDialect::Strict,
    SchemaDialect::Ollama,
];

/// As schemars writes it.
fn derived() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ReadInput",
        "type": "object",
        "properties": {
            "path": {"description": "Which file.", "type": "string"},
            "limit": {"type": ["integer", "null"], "format": "uint", "minimum": 0},
            "mode": {"$ref": "#/$defs/Mode", "description": "How."},
            "at": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]}
        },
        "required": ["path", "mode"],
        "$defs": {
            "Mode": {"oneOf": [
                {"type": "string", "const": "raw", "description": "As it is."},
                {"type": "string", "const": "lines"}
            ]},
            "Place": {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"],
                "additionalProperties": false}
        }
    })
}

#[test]
fn references_are_put_in_place_and_the_rest_stays_for_lenient_wires() {
    let expected = json!({
        "title": "ReadInput",
        "type": "object",
        "properties": {
            "path": {"description": "Which file.", "type": "string"},
            "limit": {"type": ["integer", "null"], "format": "uint", "minimum": 0},
            "mode": {"description": "How.", "oneOf": [
                {"type": "string", "const": "raw", "description": "As it is."},
                {"type": "string", "const": "lines"}
            ]},
            "at": {"anyOf": [
                {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"],
                    "additionalProperties": false},
                {"type": "null"}
            ]}
        },
        "required": ["path", "mode"]
    });
    for dialect in [SchemaDialect::Anthropic, SchemaDialect::Completions, SchemaDialect::Ollama] {
        assert_eq!(of(&derived(), dialect), expected);
    }
}

#[test]
fn google_gets_the_keywords_that_it_knows() {
    let expected = json!({
        "title": "ReadInput",
        "type": "object",
        "properties": {
            "path": {"description": "Which file.", "type": "string"},
            "limit": {"type": ["integer", "null"], "minimum": 0},
            "mode": {"description": "How.", "anyOf": [
                {"type": "string", "enum": ["raw"], "description": "As it is."},
                {"type": "string", "enum": ["lines"]}
            ]},
            "at": {"anyOf": [
                {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"],
                    "additionalProperties": false},
                {"type": "null"}
            ]}
        },
        "required": ["path", "mode"]
    });
    assert_eq!(of(&derived(), SchemaDialect::Google), expected);
    let foreign = json!({"type": "object", "properties": {
        "a": {"type": "string", "pattern": "^x", "minLength": 2, "x-note": 1, "default": "x"},
        "b": {"type": ["string", "integer"]},
        "c": {"enum": ["one", "two"]},
        "d": {"type": "object", "patternProperties": {"^x": {"type": "string"}}},
        "e": {"type": "integer", "exclusiveMinimum": 0},
        "f": {"type": "object", "additionalProperties": {"type": "string"}}
    }, "required": ["a", "zzz"]});
    let expected = json!({"type": "object", "properties": {
        "a": {"type": "string"},
        "b": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "c": {"type": "string", "enum": ["one", "two"]},
        "d": {"type": "object"},
        "e": {"type": "integer"},
        "f": {"type": "object", "additionalProperties": {"type": "string"}}
    }, "required": ["a"]});
    assert_eq!(of(&foreign, SchemaDialect::Google), expected);
}

#[test]
fn strict_requires_everything_and_what_was_optional_may_be_null() {
    let normalised = normalise(&derived(), SchemaDialect::Strict);
    let expected = json!({
        "type": "object",
        "properties": {
            "path": {"description": "Which file.", "type": "string"},
            "limit": {"type": ["integer", "null"], "minimum": 0},
            "mode": {"description": "How.", "anyOf": [
                {"type": "string", "enum": ["raw"], "description": "As it is."},
                {"type": "string", "enum": ["lines"]}
            ]},
            "at": {"anyOf": [
                {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"],
                    "additionalProperties": false},
                {"type": "null"}
            ]}
        },
        "required": ["path", "limit", "mode", "at"],
        "additionalProperties": false
    });
    assert_eq!((normalised.schema, normalised.strict), (expected, true));
    let optional = json!({"type": "object", "properties": {"kind": {"type": "string", "enum": ["a", "b"]}}});
    let expected = json!({"type": "object", "properties": {
        "kind": {"type": ["string", "null"], "enum": ["a", "b", null]}
    }, "required": ["kind"], "additionalProperties": false});
    assert_eq!(of(&optional, SchemaDialect::Strict), expected);
    assert!(normalise(&json!({"type": "object", "properties": {}}), SchemaDialect::Strict).strict);
}

#[test]
fn what_is_free_in_form_cannot_be_strict_and_stays_free() {
    let free = [
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {"type": "object"}}}),
        json!({"type": "object", "properties": {"a": {}}}),
        json!({"type": "object", "properties": {"a": true}}),
        json!({"type": "object", "properties": {"a": {"type": "array"}}}),
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {}}}}),
        json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "properties": {"a": {"type": "object", "properties": {}, "additionalProperties": true}}}),
        json!({"type": "object", "properties": {"a": {"type": "string", "not": {"const": "x"}}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#"}}}),
        json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}]}),
    ];
    for schema in free {
        let normalised = normalise(&schema, SchemaDialect::Strict);
        assert!(!normalised.strict, "{schema}");
        assert_eq!(normalised.schema, of(&schema, SchemaDialect::Responses), "{schema}");
    }
}

#[test]
fn responses_take_no_one_of_and_no_looking_around() {
    let schema = json!({"type": "object", "properties": {
        "a": {"oneOf": [{"type": "string", "pattern": "^(?!x).*$"}, {"type": "string", "pattern": "^y"}]},
        "b": {"allOf": [{"type": "string"}, {"minLength": 1}], "description": "B."}
    }});
    let expected = json!({"type": "object", "properties": {
        "a": {"anyOf": [{"type": "string"}, {"type": "string", "pattern": "^y"}]},
        "b": {"type": "string", "minLength": 1, "description": "B."}
    }});
    assert_eq!(of(&schema, SchemaDialect::Responses), expected);
}

#[test]
fn a_root_that_is_a_choice_becomes_one_object_and_one_that_is_no_object_an_open_one() {
    let choice = json!({"oneOf": [
        {"type": "object", "properties": {"op": {"const": "a"}, "x": {"type": "string"}}, "required": ["op", "x"]},
        {"type": "object", "properties": {"op": {"const": "b"}, "y": {"type": "string"}}, "required": ["op", "y"]}
    ]});
    let expected = json!({"type": "object", "properties": {
        "op": {"anyOf": [{"const": "a"}, {"const": "b"}]}, "x": {"type": "string"}, "y": {"type": "string"}
    }, "required": ["op"]});
    assert_eq!(of(&choice, SchemaDialect::Anthropic), expected);
    let open = json!({"type": "object", "properties": {}});
    for schema in [json!(true), json!(null), json!([]), json!("x"), json!({"type": "string"}), json!({})] {
        for dialect in ALL {
            assert_eq!(of(&schema, dialect), open, "{schema} {dialect:?}");
        }
    }
}

#[test]
fn keywords_of_older_drafts_and_of_wrong_kinds_do_not_come_through() {
    let schema = json!({"type": "object", "id": "x", "properties": {
        "a": {"type": "number", "minimum": 0, "exclusiveMinimum": true, "required": true},
        "b": {"type": "array", "items": [{"type": "string"}, {"type": "number"}]},
        "c": {"type": "file", "description": 5, "enum": "x", "nullable": true},
        "d": {"type": "string", "nullable": true}
    }, "required": "a"});
    let expected = json!({"type": "object", "properties": {
        "a": {"type": "number", "minimum": 0},
        "b": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
        "c": {},
        "d": {"type": ["string", "null"]}
    }});
    assert_eq!(of(&schema, SchemaDialect::Anthropic), expected);
}

#[test]
fn a_schema_that_holds_itself_is_open_from_there_on() {
    let schema = json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "object", "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}
        }}}
    });
    let expected = json!({"type": "object", "properties": {"tree": {"type": "object", "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"type": "object"}}
    }}}});
    for dialect in [SchemaDialect::Anthropic, SchemaDialect::Google, SchemaDialect::Responses] {
        assert_eq!(of(&schema, dialect), expected);
    }
    let round =
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
    for dialect in ALL {
        assert_eq!(of(&round, dialect), json!({"type": "object", "properties": {}}));
    }
}

#[test]
fn hostile_schemas_stay_within_their_bounds() {
    // Each level refers twice to the next: 2^40 places when expanded.
    let mut doubling = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {}});
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        doubling["$defs"][format!("d{level}")] =
            json!({"type": "object", "properties": {"left": next, "right": next}});
    }
    let mut deep = json!({"type": "string"});
    for _ in 0..500 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    let mut wide = json!({"type": "object", "properties": {}});
    for index in 0..20_000 {
        wide["properties"][format!("p{index}")] = json!({"type": "string", "description": "x".repeat(50)});
    }
    let long = json!({"type": "object", "properties": {"a": {"type": "string", "description": "x".repeat(4 << 20)}}});
    let mut nested = json!({"type": "object"});
    for _ in 0..300 {
        nested = json!({"allOf": [nested, {"type": "object"}], "anyOf": [{"$ref": "#"}]});
    }
    for schema in [doubling, deep, wide, long, nested] {
        for dialect in ALL {
            let written = of(&schema, dialect);
            assert_eq!(written["type"], "object");
            let size = written.to_string().len();
            assert!(size < 4 * MAX_SCHEMA_BYTES, "{size} bytes for {dialect:?}");
        }
    }
}
