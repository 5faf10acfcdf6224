//! What follows a schema and what does not; what is found in an answer and what is not.

use serde_json::json;

use super::*;

fn schema(value: Value) -> AnswerSchema {
    AnswerSchema::new(value).unwrap()
}

#[test]
fn values_are_held_to_every_keyword_that_is_understood() {
    let cases = [
        (json!({"type": "object"}), json!({}), json!([])),
        (json!({"type": ["string", "null"]}), json!(null), json!(1)),
        (json!({"type": "integer"}), json!(1.0), json!(1.5)),
        (json!({"type": "number"}), json!(1), json!("1")),
        (json!({"enum": [1, "a"]}), json!("a"), json!("b")),
        (json!({"const": {"a": 1}}), json!({"a": 1.0}), json!({"a": 2})),
        (json!({"required": ["a"]}), json!({"a": null}), json!({})),
        (json!({"properties": {"a": {"type": "string"}}}), json!({"a": "x", "b": 1}), json!({"a": 1})),
        (json!({"properties": {"a": true}, "additionalProperties": false}), json!({"a": 1}), json!({"b": 1})),
        (json!({"additionalProperties": {"type": "null"}}), json!({"b": null}), json!({"b": 1})),
        (json!({"items": {"type": "string"}}), json!(["a"]), json!(["a", 1])),
        (json!({"prefixItems": [{"const": 1}], "items": false}), json!([1]), json!([1, 2])),
        (json!({"minItems": 1, "maxItems": 2}), json!([1, 2]), json!([1, 2, 3])),
        (json!({"minItems": 1}), json!([1]), json!([])),
        (json!({"minLength": 2, "maxLength": 2}), json!("éé"), json!("é")),
        (json!({"minProperties": 1, "maxProperties": 1}), json!({"a": 1}), json!({})),
        (json!({"minimum": 1, "maximum": 3}), json!(3), json!(4)),
        (json!({"exclusiveMinimum": 1, "exclusiveMaximum": 3}), json!(2), json!(3)),
        (json!({"anyOf": [{"type": "null"}, {"type": "string"}]}), json!("x"), json!(1)),
        (json!({"oneOf": [{"type": "number"}, {"const": 1}]}), json!(2), json!(1)),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), json!(1), json!(3)),
        (json!({"not": {"const": 1}}), json!(2), json!(1)),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}), json!(null), json!(1)),
        (
            json!({"properties": {"next": {"$ref": "#"}}, "required": ["a"]}),
            json!({"a": 1}),
            json!({"a": 1, "next": {}}),
        ),
        (json!(true), json!(1), json!(null)),
    ];
    for (rule, good, bad) in cases {
        let schema = schema(rule.clone());
        assert_eq!(schema.check(&good), Ok(()), "{rule} {good}");
        assert!(rule == json!(true) || schema.check(&bad).is_err(), "{rule} {bad}");
        assert!(schema.remarks().is_empty(), "{rule}");
    }
    let nested = schema(json!({"properties": {"a": {"items": {"type": "string"}}}}));
    let fault = nested.check(&json!({"a": ["x", 1]})).unwrap_err();
    assert_eq!(fault.to_string(), "/a/1: it is number, not string");
}

#[test]
fn a_schema_that_cannot_be_used_is_refused_and_what_is_not_checked_is_said() {
    for bad in [
        json!(1),
        json!({"type": "text"}),
        json!({"type": []}),
        json!({"properties": []}),
        json!({"required": [1]}),
        json!({"anyOf": []}),
        json!({"items": 1}),
        json!({"minLength": -1}),
        json!({"enum": 1}),
        json!({"$ref": "https://example.invalid/x"}),
        json!({"$ref": "#/$defs/none"}),
        json!({"$ref": "#anchor"}),
    ] {
        assert!(AnswerSchema::new(bad.clone()).is_err(), "{bad}");
    }
    let odd = schema(
        json!({"properties": {"a": {"pattern": "^(a+)+$"}, "b": {"pattern": "x"}}, "uniqueItems": true}),
    );
    assert_eq!(
        odd.remarks(),
        ["`pattern` in the schema is not checked", "`uniqueItems` in the schema is not checked"]
    );
    let deep = (0..200).fold(json!({}), |inner, _| json!({"items": inner}));
    assert!(AnswerSchema::new(deep).is_err());
    assert!(AnswerSchema::new(json!({"description": "x".repeat(BYTES)})).is_err());
}

#[test]
fn schemas_and_values_that_never_end_are_ended() {
    let own = schema(json!({"$ref": "#"}));
    assert!(own.check(&json!(1)).unwrap_err().what.contains("too much"));
    let both = schema(json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}));
    assert!(both.check(&json!(1)).unwrap_err().what.contains("too much"));
    let not = schema(json!({"not": {"$ref": "#"}}));
    assert!(not.check(&json!(1)).is_err());
}

#[test]
fn the_one_value_is_found_wherever_it_stands() {
    let object = schema(json!({"type": "object"}));
    let found = |text: &str| extract_json(text, &object);
    for text in [
        "{\"a\": 1}",
        " \n{\"a\":1}\n",
        "Here it is:\n```json\n{\"a\": 1}\n```\nBye.",
        "~~~~\n{\"a\": 1}\n~~~~",
        "As said [1] and {so on}: {\"a\": 1}. Also ```code```.",
        "```json\n{\"a\": 1}\n```\nagain\n```json\n{ \"a\" : 1 }\n```",
        "```rust\nfn main() {}\n```\n```\n{\"a\": 1}\n```",
    ] {
        assert_eq!(found(text), Ok(json!({"a": 1})), "{text}");
    }
    for text in
        ["", "no", "{\"a\": 1", "{\"a\": 1} or {\"a\": 2}", "```\n{\"a\":1}\n```\n```\n{\"a\":2}\n```", "[1]"]
    {
        assert!(found(text).is_err() || found(text) == Ok(json!([1])), "{text}");
    }
    // The whole answer is what it is; the schema says that it is wrong.
    assert_eq!(found("[1]"), Ok(json!([1])));
    // A value inside another is not the answer.
    assert_eq!(found("x {\"a\": {\"b\": 1}} y"), Ok(json!({"a": {"b": 1}})));
}

#[test]
fn hostile_answers_are_searched_in_linear_time() {
    let object = schema(json!({"type": "object"}));
    for piece in ["[", "{", "{\"a\":", "[\"", "{\"a\":[", "[[],", "```\n"] {
        let text = piece.repeat(1 << 16);
        let began = std::time::Instant::now();
        assert!(extract_json(&text, &object).is_err());
        assert!(began.elapsed().as_secs() < 20, "{piece}");
    }
}
