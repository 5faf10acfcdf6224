use proptest::prelude::*;
use serde_json::json;

use super::*;

fn partial(text: &str) -> Value {
    let mut json = PartialJson::default();
    json.push(text);
    Value::Object(json.snapshot())
}

fn finished(text: &str) -> (Value, bool) {
    let mut json = PartialJson::default();
    json.push(text);
    let whole = json.is_complete();
    (Value::Object(json.finish()), whole)
}

#[test]
fn what_is_there_is_read_and_what_is_half_is_left_out() {
    let cases = [
        ("", json!({})),
        ("{", json!({})),
        (r#"{"pa"#, json!({})),
        (r#"{"path""#, json!({})),
        (r#"{"path":"#, json!({})),
        (r#"{"path":""#, json!({"path": ""})),
        (r#"{"path":"src/m"#, json!({"path": "src/m"})),
        (r#"{"path":"a\"#, json!({"path": "a"})),
        (r#"{"path":"a\u00e"#, json!({"path": "a"})),
        (r#"{"path":"a\u00e9"#, json!({"path": "aé"})),
        (r#"{"path":"a\ud83d"#, json!({"path": "a"})),
        (r#"{"path":"a\ud83d\ude0"#, json!({"path": "a"})),
        (r#"{"path":"a\ud83d\ude00"#, json!({"path": "a😀"})),
        (r#"{"n":12"#, json!({})),
        (r#"{"n":12,"#, json!({"n": 12})),
        (r#"{"n":-"#, json!({})),
        (r#"{"n":tru"#, json!({})),
        (r#"{"n":true "#, json!({"n": true})),
        (r#"{"a":[1,"x",{"b":[[],"#, json!({"a": [1, "x", {"b": [[]]}]})),
        (r#"{"a":{"b":"c"},"a":{"#, json!({"a": {}})),
        (r#" { "a" : null , "b" : [ ] } "#, json!({"a": null, "b": []})),
    ];
    for (text, value) in cases {
        assert_eq!(partial(text), value, "{text}");
    }
}

#[test]
fn what_can_be_no_object_is_empty() {
    for text in
        ["x", "[1]", "\"a\"", "{]", "{\"a\" 1", "{\"a\":1]", "{\"a\":tru,", "{\"a\":1}}", "{\"a\":01,", "{,"]
    {
        assert_eq!(finished(text), (json!({}), false), "{text}");
    }
}

#[test]
fn a_call_without_arguments_is_whole() {
    for text in ["", " \n", "null", " null "] {
        assert_eq!(finished(text), (json!({}), true), "{text:?}");
    }
}

#[test]
fn what_is_no_json_but_clear_is_read_and_not_whole() {
    assert_eq!(finished("{\"a\":\"x\ny\"}"), (json!({"a": "x\ny"}), false));
    assert_eq!(finished(r#"{"a":"\ud83dx\udc00"}"#), (json!({"a": "\u{fffd}x\u{fffd}"}), false));
    assert_eq!(finished(r#"{"a":"b"#), (json!({"a": "b"}), false));
}

#[test]
fn nesting_is_bounded_where_serde_json_bounds_it() {
    for depth in [126, 127, 128, 129, 1_000_000] {
        let text = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        let strict = serde_json::from_str::<Map<String, Value>>(&text).ok();
        let (value, whole) = finished(&text);
        assert_eq!(whole, strict.is_some(), "{depth}");
        assert_eq!(value, Value::Object(strict.unwrap_or_default()));
        partial(&"{\"a\":[".repeat(depth));
    }
}

#[test]
fn what_is_lent_and_not_given_back_is_read_again() {
    let mut json = PartialJson::default();
    json.push(r#"{"a":{"b":"c"#);
    let mut place = Map::new();
    json.lend(&mut place);
    assert_eq!(Value::Object(place), json!({"a": {"b": "c"}}));
    json.push(r#"d","e":1}}"#);
    assert_eq!(Value::Object(json.snapshot()), json!({"a": {"b": "cd", "e": 1}}));
    assert!(json.is_complete());
}

#[test]
fn a_hundred_thousand_deltas_are_read_in_linear_time() {
    let started = std::time::Instant::now();
    let mut json = PartialJson::default();
    json.push(&"{\"a\":".repeat(60));
    json.push("{\"list\":[\"x\",\"");
    for _ in 0..200_000 {
        json.push("word ");
        assert!(json.value().contains_key("a"));
    }
    json.push("\"]}");
    json.push(&"}".repeat(60));
    assert!(json.is_complete());
    // Copying the value for every delta would be 100 GB: minutes.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![".{0,8}", Just("\u{1f600}\"\\\n\u{8}é".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e300f64..1e300).prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..5)
                .prop_map(|list| Value::Object(list.into_iter().collect())),
        ]
    })
}

/// A JSON object, written plainly, with blanks, or with every other character escaped.
fn any_text() -> impl Strategy<Value = String> {
    (prop::collection::vec((".{0,6}", any_value()), 0..5), 0..3).prop_map(|(list, style)| {
        let value = Value::Object(list.into_iter().collect());
        match style {
            0 => value.to_string(),
            1 => serde_json::to_string_pretty(&value).unwrap(),
            _ => value
                .to_string()
                .chars()
                .map(|c| {
                    let mut units = [0; 2];
                    let escape = |unit: &u16| format!("\\u{unit:04X}");
                    if c.is_ascii() {
                        String::from(c)
                    } else {
                        c.encode_utf16(&mut units).iter().map(escape).collect()
                    }
                })
                .collect::<String>(),
        }
    })
}

fn is_prefix(part: &Value, of: &Value) -> bool {
    match (part, of) {
        (Value::String(part), Value::String(of)) => of.starts_with(part.as_str()),
        (Value::Array(part), Value::Array(of)) => {
            part.len() <= of.len() && part.iter().zip(of).all(|(part, of)| is_prefix(part, of))
        }
        (Value::Object(part), Value::Object(of)) => {
            part.iter().all(|(key, part)| of.get(key).is_some_and(|of| is_prefix(part, of)))
        }
        _ => part == of,
    }
}

proptest! {
    #[test]
    fn every_prefix_says_a_prefix_of_the_whole_and_the_whole_is_what_serde_json_says(text in any_text()) {
        let strict: Value = serde_json::from_str(&text).unwrap();
        let mut json = PartialJson::default();
        for c in text.chars() {
            json.push(c.encode_utf8(&mut [0; 4]));
            let so_far = Value::Object(json.snapshot());
            prop_assert!(is_prefix(&so_far, &strict), "{} of {}", so_far, strict);
        }
        prop_assert!(json.is_complete());
        prop_assert_eq!(&Value::Object(json.snapshot()), &strict);
        prop_assert_eq!(Value::Object(json.finish()), strict);
    }

    #[test]
    fn any_text_is_whole_when_serde_json_says_so(
        pieces in prop::collection::vec(prop_oneof![
            Just("{"), Just("}"), Just("["), Just("]"), Just(","), Just(":"), Just("\"a\""), Just("\"b"), Just("\""),
            Just("\\u12"), Just("\\ud800"), Just("\\udc00"), Just("\\"), Just("1"), Just("-0.5e3"), Just("99999999999999999999"),
            Just("true"), Just("null"), Just(" "), Just("\n"), Just("é"), Just("{\"a\":"), Just("1}"), Just("1e999"),
        ], 0..14),
    ) {
        let text = pieces.concat();
        let strict = serde_json::from_str::<Map<String, Value>>(&text).ok();
        let mut json = PartialJson::default();
        for piece in &pieces {
            json.push(piece);
            json.value();
        }
        let nothing = matches!(text.trim_matches(is_blank), "" | "null");
        prop_assert_eq!(json.is_complete(), strict.is_some() || nothing, "{}", text);
        if let Some(strict) = strict {
            prop_assert_eq!(json.snapshot(), strict);
        }
    }
}
