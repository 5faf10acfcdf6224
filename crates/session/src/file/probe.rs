//! What the tree needs from a line, read in one pass without building the rest.
//!
//! A field of the wrong type counts as absent; of a duplicate field the last counts, as everywhere else.
//! Invariant: nothing is allocated for the bodies of messages.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryProbe<'a> {
    /// `type`
    pub(crate) kind: Option<Cow<'a, str>>,
    pub(crate) id: Option<Cow<'a, str>>,
    /// `parentId`; `Some(None)` if it is there and null.
    pub(crate) parent: Option<Option<Cow<'a, str>>>,
    pub(crate) timestamp: Option<Cow<'a, str>>,
    pub(crate) message: MessageProbe<'a>,
}

/// What was found in `message`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageProbe<'a> {
    pub(crate) role: Option<Cow<'a, str>>,
    /// `stopReason` is `error` or `aborted`.
    pub(crate) failed: bool,
    pub(crate) has_text: bool,
}

impl<'a> EntryProbe<'a> {
    /// `None` if the line is not one JSON object.
    pub(crate) fn parse(line: &'a str) -> Option<EntryProbe<'a>> {
        let AnyJson(probe) =
            serde_json::from_str(line).ok().filter(|_| line.trim_start().starts_with('{'))?;
        Some(probe)
    }
}

/// What is kept of a JSON value of any kind; by default nothing, and the value is skipped.
trait FromAnyJson<'de>: Default {
    fn from_str(_: &str) -> Self {
        Self::default()
    }

    fn from_borrowed_str(text: &'de str) -> Self {
        Self::from_str(text)
    }

    fn from_null() -> Self {
        Self::default()
    }

    fn from_seq<A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn from_map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

struct AnyJson<T>(T);

impl<'de, T: FromAnyJson<'de>> Deserialize<'de> for AnyJson<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<AnyJson<T>, D::Error> {
        from.deserialize_any(AnyJsonVisitor(PhantomData)).map(AnyJson)
    }
}

struct AnyJsonVisitor<T>(PhantomData<T>);

impl<'de, T: FromAnyJson<'de>> Visitor<'de> for AnyJsonVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::from_null())
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::from_str(text))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::from_borrowed_str(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        T::from_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(map)
    }
}

/// A string, or something else.
#[derive(Default)]
enum ProbeValue<'a> {
    Text(Cow<'a, str>),
    Null,
    #[default]
    Other,
}

impl<'de> FromAnyJson<'de> for ProbeValue<'de> {
    fn from_str(text: &str) -> ProbeValue<'de> {
        ProbeValue::Text(Cow::Owned(text.to_string()))
    }

    fn from_borrowed_str(text: &'de str) -> ProbeValue<'de> {
        ProbeValue::Text(Cow::Borrowed(text))
    }

    fn from_null() -> ProbeValue<'de> {
        ProbeValue::Null
    }
}

/// The next key of an object, if there is one.
fn next_key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    Ok(map.next_key::<AnyJson<ProbeValue<'_>>>()?.map(|AnyJson(key)| text_of(key).unwrap_or_default()))
}

/// The next value, if it is a text.
fn next_text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    map.next_value::<AnyJson<ProbeValue<'_>>>().map(|AnyJson(value)| text_of(value))
}

fn text_of(value: ProbeValue<'_>) -> Option<Cow<'_, str>> {
    if let ProbeValue::Text(text) = value { Some(text) } else { None }
}

impl<'de> FromAnyJson<'de> for EntryProbe<'de> {
    fn from_map<A: MapAccess<'de>>(mut map: A) -> Result<EntryProbe<'de>, A::Error> {
        let mut probe = EntryProbe::default();
        while let Some(key) = next_key(&mut map)? {
            match &*key {
                "type" => probe.kind = next_text(&mut map)?,
                "id" => probe.id = next_text(&mut map)?,
                "timestamp" => probe.timestamp = next_text(&mut map)?,
                "parentId" => {
                    probe.parent = match map.next_value::<AnyJson<ProbeValue<'_>>>()?.0 {
                        ProbeValue::Text(text) => Some(Some(text)),
                        ProbeValue::Null => Some(None),
                        ProbeValue::Other => None,
                    };
                }
                "message" => probe.message = map.next_value::<AnyJson<MessageProbe<'_>>>()?.0,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(probe)
    }
}

impl<'de> FromAnyJson<'de> for MessageProbe<'de> {
    fn from_map<A: MapAccess<'de>>(mut map: A) -> Result<MessageProbe<'de>, A::Error> {
        let mut message = MessageProbe::default();
        while let Some(key) = next_key(&mut map)? {
            match &*key {
                "role" => message.role = next_text(&mut map)?,
                "stopReason" => {
                    message.failed = matches!(next_text(&mut map)?.as_deref(), Some("error" | "aborted"));
                }
                "content" => message.has_text = map.next_value::<AnyJson<ContentHasText>>()?.0.0,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(message)
    }
}

/// Whether a message's content has text: as a string, or in the `text` of one of its pieces.
#[derive(Default)]
struct ContentHasText(bool);

impl<'de> FromAnyJson<'de> for ContentHasText {
    fn from_str(text: &str) -> ContentHasText {
        ContentHasText(text.chars().any(|char| !char.is_whitespace()))
    }

    fn from_seq<A: SeqAccess<'de>>(mut seq: A) -> Result<ContentHasText, A::Error> {
        let mut any = false;
        while let Some(AnyJson(ContentHasText(has))) = seq.next_element()? {
            any |= has;
        }
        Ok(ContentHasText(any))
    }

    fn from_map<A: MapAccess<'de>>(mut map: A) -> Result<ContentHasText, A::Error> {
        let mut any = false;
        while let Some(key) = next_key(&mut map)? {
            match &*key {
                "text" => any = map.next_value::<AnyJson<ContentHasText>>()?.0.0,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(ContentHasText(any))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tree_needs_is_found_and_the_rest_is_skipped() {
        let probe = EntryProbe::parse(
            r#"{"type":"message","id":"a\u0041","parentId":null,"timestamp":"t","x":[{"id":"no"}],
            "message":{"role":"assistant","content":[{"type":"toolCall","arguments":{"text":"no"}},{"type":"text","text":" x"}],
            "stopReason":"aborted"}}"#,
        )
        .unwrap();
        assert_eq!((probe.kind.as_deref(), probe.id.as_deref()), (Some("message"), Some("aA")));
        assert_eq!(probe.parent, Some(None));
        assert!(probe.message.failed && probe.message.has_text);
        assert_eq!(probe.message.role.as_deref(), Some("assistant"));
    }

    #[test]
    fn fields_of_the_wrong_kind_are_absent_and_of_two_the_last_counts() {
        let probe =
            EntryProbe::parse(r#"{"type":7,"id":["a"],"parentId":1,"message":"x","id":"b"}"#).unwrap();
        assert_eq!((probe.kind, probe.id.as_deref(), probe.parent), (None, Some("b"), None));
        let probe =
            EntryProbe::parse(r#"{"message":{"content":[{"type":"image","data":"x"}," "],"role":[]}}"#)
                .unwrap();
        assert_eq!(probe.message, MessageProbe::default());
    }

    #[test]
    fn what_is_not_one_object_is_nothing() {
        for line in ["", "7", "[]", "{", r#"{"a":1}{"b":2}"#, "null", "\0\0{}", r#"{"a":1}x"#] {
            assert_eq!(EntryProbe::parse(line), None, "{line}");
        }
    }
}
