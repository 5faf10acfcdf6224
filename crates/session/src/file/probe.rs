//! What the tree needs of a line, read in one pass without building the rest of it.
//!
//! A field of the wrong kind counts as absent; of a field that is there twice, the last counts, as everywhere else. Invariant:
//! nothing is allocated for the bodies of messages.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What was found in a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Probe<'a> {
    /// `type`
    pub(crate) kind: Option<Cow<'a, str>>,
    pub(crate) id: Option<Cow<'a, str>>,
    /// `parentId`; `Some(None)` where it is there and null.
    pub(crate) parent: Option<Option<Cow<'a, str>>>,
    pub(crate) timestamp: Option<Cow<'a, str>>,
    pub(crate) message: Message<'a>,
}

/// What was found in its `message`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    pub(crate) role: Option<Cow<'a, str>>,
    /// `stopReason` is `error` or `aborted`.
    pub(crate) failed: bool,
    pub(crate) has_text: bool,
}

impl<'a> Probe<'a> {
    /// Looks at a line; `None` where it is not one JSON object.
    pub(crate) fn of(line: &'a str) -> Option<Probe<'a>> {
        serde_json::from_str(line).ok()
    }
}

/// A string, or something else.
enum Word<'a> {
    Text(Cow<'a, str>),
    Null,
    Other,
}

impl<'a> Word<'a> {
    fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Word::Text(text) => Some(text),
            Word::Null | Word::Other => None,
        }
    }
}

/// Visits anything; says only what `$name` cares about, and skips the rest.
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

impl<'de> Deserialize<'de> for Word<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Word<'de>, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = Word<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Word<'de>, E> {
                Ok(Word::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Word<'de>, E> {
                Ok(Word::Text(Cow::Owned(text.to_string())))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Word<'de>, E> {
                Ok(Word::Other)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Word<'de>, E> {
                Ok(Word::Other)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Word<'de>, E> {
                Ok(Word::Other)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Word<'de>, E> {
                Ok(Word::Other)
            }
            fn visit_unit<E>(self) -> Result<Word<'de>, E> {
                Ok(Word::Null)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Word<'de>, A::Error> {
                skip_seq(seq).map(|()| Word::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Word<'de>, A::Error> {
                skip_map(map).map(|()| Word::Other)
            }
        }
        from.deserialize_any(Words)
    }
}

impl<'de> Deserialize<'de> for Probe<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Probe<'de>, D::Error> {
        struct Objects;
        impl<'de> Visitor<'de> for Objects {
            type Value = Probe<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Probe<'de>, A::Error> {
                let mut probe = Probe::default();
                while let Some(key) = map.next_key::<Word<'_>>()? {
                    let Word::Text(key) = key else { continue };
                    match &*key {
                        "type" => probe.kind = map.next_value::<Word<'_>>()?.text(),
                        "id" => probe.id = map.next_value::<Word<'_>>()?.text(),
                        "timestamp" => probe.timestamp = map.next_value::<Word<'_>>()?.text(),
                        "parentId" => {
                            probe.parent = match map.next_value::<Word<'_>>()? {
                                Word::Text(text) => Some(Some(text)),
                                Word::Null => Some(None),
                                Word::Other => None,
                            };
                        }
                        "message" => probe.message = map.next_value()?,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(probe)
            }
        }
        from.deserialize_map(Objects)
    }
}

impl<'de> Deserialize<'de> for Message<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Message<'de>, D::Error> {
        struct Objects;
        impl<'de> Visitor<'de> for Objects {
            type Value = Message<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            skip_the_rest!(Message::default());
            fn visit_str<E>(self, _: &str) -> Result<Message<'de>, E> {
                Ok(Message::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Message<'de>, A::Error> {
                skip_seq(seq).map(|()| Message::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message<'de>, A::Error> {
                let mut message = Message::default();
                while let Some(key) = map.next_key::<Word<'_>>()? {
                    let Word::Text(key) = key else { continue };
                    match &*key {
                        "role" => message.role = map.next_value::<Word<'_>>()?.text(),
                        "stopReason" => {
                            let reason = map.next_value::<Word<'_>>()?.text();
                            message.failed = matches!(reason.as_deref(), Some("error" | "aborted"));
                        }
                        "content" => message.has_text = map.next_value::<HasText>()?.0,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(message)
            }
        }
        from.deserialize_any(Objects)
    }
}

/// Whether there are words in a message's content: in a string, or in the `text` of one of its pieces.
struct HasText(bool);

impl<'de> Deserialize<'de> for HasText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<HasText, D::Error> {
        struct Content;
        impl<'de> Visitor<'de> for Content {
            type Value = HasText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            skip_the_rest!(HasText(false));
            fn visit_str<E>(self, text: &str) -> Result<HasText, E> {
                Ok(HasText(text.chars().any(|char| !char.is_whitespace())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<HasText, A::Error> {
                let mut any = false;
                while let Some(HasText(has)) = seq.next_element()? {
                    any |= has;
                }
                Ok(HasText(any))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HasText, A::Error> {
                let mut any = false;
                while let Some(key) = map.next_key::<Word<'_>>()? {
                    match key {
                        Word::Text(key) if key == "text" => any = map.next_value::<HasText>()?.0,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(HasText(any))
            }
        }
        from.deserialize_any(Content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tree_needs_is_found_and_the_rest_is_skipped() {
        let probe = Probe::of(
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
        let probe = Probe::of(r#"{"type":7,"id":["a"],"parentId":1,"message":"x","id":"b"}"#).unwrap();
        assert_eq!((probe.kind, probe.id.as_deref(), probe.parent), (None, Some("b"), None));
        let probe =
            Probe::of(r#"{"message":{"content":[{"type":"image","data":"x"}," "],"role":[]}}"#).unwrap();
        assert_eq!(probe.message, Message::default());
    }

    #[test]
    fn what_is_not_one_object_is_nothing() {
        for line in ["", "7", "[]", "{", r#"{"a":1}{"b":2}"#, "null", "\0\0{}", r#"{"a":1}x"#] {
            assert_eq!(Probe::of(line), None, "{line}");
        }
    }
}
