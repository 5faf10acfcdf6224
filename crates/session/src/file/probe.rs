//! What the tree needs from a line, read in one pass without building the rest.
//!
//! A field of the wrong type counts as absent; of a duplicate field the last counts, as everywhere else.
//! Invariant: nothing is allocated for the bodies of messages.

use std::borrow::Cow;
use std::fmt;

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
        serde_json::from_str(line).ok()
    }
}

/// A string, or something else.
enum ProbeValue<'a> {
    Text(Cow<'a, str>),
    Null,
    Other,
}

impl<'a> ProbeValue<'a> {
    fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            ProbeValue::Text(text) => Some(text),
            ProbeValue::Null | ProbeValue::Other => None,
        }
    }
}

/// Visits anything; keeps only what `$name` needs, and skips the rest.
macro_rules! skip_the_rest {
    ($rest:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($rest)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($rest)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($rest)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($rest)
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($rest)
        }
    };
}

fn skip_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn skip_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

impl<'de> Deserialize<'de> for ProbeValue<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ProbeValue<'de>, D::Error> {
        struct ProbeValueVisitor;
        impl<'de> Visitor<'de> for ProbeValueVisitor {
            type Value = ProbeValue<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<ProbeValue<'de>, E> {
                Ok(ProbeValue::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<ProbeValue<'de>, E> {
                Ok(ProbeValue::Text(Cow::Owned(text.to_string())))
            }
            fn visit_bool<E>(self, _: bool) -> Result<ProbeValue<'de>, E> {
                Ok(ProbeValue::Other)
            }
            fn visit_i64<E>(self, _: i64) -> Result<ProbeValue<'de>, E> {
                Ok(ProbeValue::Other)
            }
            fn visit_u64<E>(self, _: u64) -> Result<ProbeValue<'de>, E> {
                Ok(ProbeValue::Other)
            }
            fn visit_f64<E>(self, _: f64) -> Result<ProbeValue<'de>, E> {
                Ok(ProbeValue::Other)
            }
            fn visit_unit<E>(self) -> Result<ProbeValue<'de>, E> {
                Ok(ProbeValue::Null)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<ProbeValue<'de>, A::Error> {
                skip_seq(seq).map(|()| ProbeValue::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ProbeValue<'de>, A::Error> {
                skip_map(map).map(|()| ProbeValue::Other)
            }
        }
        from.deserialize_any(ProbeValueVisitor)
    }
}

impl<'de> Deserialize<'de> for EntryProbe<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<EntryProbe<'de>, D::Error> {
        struct EntryProbeVisitor;
        impl<'de> Visitor<'de> for EntryProbeVisitor {
            type Value = EntryProbe<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EntryProbe<'de>, A::Error> {
                let mut probe = EntryProbe::default();
                while let Some(key) = map.next_key::<ProbeValue<'_>>()? {
                    let ProbeValue::Text(key) = key else { continue };
                    match &*key {
                        "type" => probe.kind = map.next_value::<ProbeValue<'_>>()?.into_text(),
                        "id" => probe.id = map.next_value::<ProbeValue<'_>>()?.into_text(),
                        "timestamp" => probe.timestamp = map.next_value::<ProbeValue<'_>>()?.into_text(),
                        "parentId" => {
                            probe.parent = match map.next_value::<ProbeValue<'_>>()? {
                                ProbeValue::Text(text) => Some(Some(text)),
                                ProbeValue::Null => Some(None),
                                ProbeValue::Other => None,
                            };
                        }
                        "message" => probe.message = map.next_value()?,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(probe)
            }
        }
        from.deserialize_map(EntryProbeVisitor)
    }
}

impl<'de> Deserialize<'de> for MessageProbe<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<MessageProbe<'de>, D::Error> {
        struct MessageProbeVisitor;
        impl<'de> Visitor<'de> for MessageProbeVisitor {
            type Value = MessageProbe<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            skip_the_rest!(MessageProbe::default());
            fn visit_str<E>(self, _: &str) -> Result<MessageProbe<'de>, E> {
                Ok(MessageProbe::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<MessageProbe<'de>, A::Error> {
                skip_seq(seq).map(|()| MessageProbe::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MessageProbe<'de>, A::Error> {
                let mut message = MessageProbe::default();
                while let Some(key) = map.next_key::<ProbeValue<'_>>()? {
                    let ProbeValue::Text(key) = key else { continue };
                    match &*key {
                        "role" => message.role = map.next_value::<ProbeValue<'_>>()?.into_text(),
                        "stopReason" => {
                            let reason = map.next_value::<ProbeValue<'_>>()?.into_text();
                            message.failed = matches!(reason.as_deref(), Some("error" | "aborted"));
                        }
                        "content" => message.has_text = map.next_value::<ContentHasText>()?.0,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(message)
            }
        }
        from.deserialize_any(MessageProbeVisitor)
    }
}

/// Whether a message's content has text: as a string, or in the `text` of one of its pieces.
struct ContentHasText(bool);

impl<'de> Deserialize<'de> for ContentHasText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ContentHasText, D::Error> {
        struct HasTextVisitor;
        impl<'de> Visitor<'de> for HasTextVisitor {
            type Value = ContentHasText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            skip_the_rest!(ContentHasText(false));
            fn visit_str<E>(self, text: &str) -> Result<ContentHasText, E> {
                Ok(ContentHasText(text.chars().any(|char| !char.is_whitespace())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ContentHasText, A::Error> {
                let mut any = false;
                while let Some(ContentHasText(has)) = seq.next_element()? {
                    any |= has;
                }
                Ok(ContentHasText(any))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ContentHasText, A::Error> {
                let mut any = false;
                while let Some(key) = map.next_key::<ProbeValue<'_>>()? {
                    match key {
                        ProbeValue::Text(key) if key == "text" => any = map.next_value::<ContentHasText>()?.0,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(ContentHasText(any))
            }
        }
        from.deserialize_any(HasTextVisitor)
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
