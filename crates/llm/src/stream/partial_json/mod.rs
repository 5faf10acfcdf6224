//! JSON in progress: the arguments of a tool call so far.
//!
//! An open string is its text so far; half an escape, half a number or literal and a key without a value
//! are left out until they are complete. Text that can no longer become a JSON object is `{}`. Invariant:
//! every byte is read once, however often the value is requested; complete JSON is exactly what serde_json
//! makes of it; nesting is bounded by [`MAX_JSON_DEPTH`], and nothing here recurses.

use std::mem;

use memchr::memchr2;
use serde_json::{Map, Value};

#[cfg(test)]
mod tests;

/// As in serde_json.
pub const MAX_JSON_DEPTH: usize = 127;

/// JSON text of which more comes.
#[derive(Debug, Default)]
pub struct PartialJson {
    text: String,
    state: PartialJsonState,
    /// Something invalid but clear was accepted: a raw line end in a string, half a surrogate pair.
    lenient: bool,
    /// What is open, outermost first: objects, lists, finally a string. Each is represented in its parent
    /// by a `null` in the last place. Empty while the value is assembled in `root`.
    open: Vec<Value>,
    /// The value, while it is assembled.
    root: Map<String, Value>,
    /// How many of `root`'s last values are open.
    open_in_root: usize,
    /// The key whose value is due, or which is being read.
    key: String,
    /// A number or literal that is being read.
    token: String,
    /// The first half of a surrogate pair.
    high: Option<u32>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum PartialJsonState {
    /// Nothing came.
    #[default]
    Start,
    /// After `{`.
    KeyOrEnd,
    /// After a comma in an object.
    Key,
    /// After a key.
    Colon,
    /// After a colon, or a comma in a list.
    Value,
    /// After `[`.
    ValueOrEnd,
    /// After a value.
    Comma,
    Text(JsonStringRole),
    /// After a backslash.
    Escape(JsonStringRole),
    /// After `\u`: the value and number of digits so far.
    Hex(JsonStringRole, u32, u8),
    /// In a number, `true`, `false` or `null`.
    Token,
    /// The object is complete.
    Done,
    /// It can no longer become an object.
    Invalid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonStringRole {
    Key,
    Value,
}

impl PartialJson {
    pub fn push(&mut self, more: &str) {
        self.read(more);
        self.text.push_str(more);
    }

    /// In bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// As it came.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value so far; an empty object if it is not an object.
    pub fn value(&mut self) -> &Map<String, Value> {
        self.join_open_values();
        &self.root
    }

    /// A copy of the value so far; costs its size. See [`PartialJson::value`].
    pub fn snapshot(&mut self) -> Map<String, Value> {
        self.value().clone()
    }

    /// Whether it is a complete JSON object, and nothing else. Nothing at all and `null` are the arguments
    /// of a call without any, and complete.
    pub fn is_complete(&self) -> bool {
        match self.state {
            PartialJsonState::Done => !self.lenient,
            PartialJsonState::Start => true,
            PartialJsonState::Invalid => self.text.trim_matches(is_blank) == "null",
            _ => false,
        }
    }

    /// The final value: what serde_json makes of it, else what can be read, else `{}`. Ask
    /// [`PartialJson::is_complete`] before.
    pub fn finish(mut self) -> Map<String, Value> {
        if self.is_complete()
            && let Ok(map) = serde_json::from_str(&self.text)
        {
            return map;
        }
        self.join_open_values();
        self.root
    }

    /// Moves the value so far into `place`, without copying it. Call [`PartialJson::take_back`] before more
    /// is pushed.
    pub(crate) fn lend(&mut self, place: &mut Map<String, Value>) {
        self.join_open_values();
        mem::swap(&mut self.root, place);
    }

    /// Takes back what was lent.
    pub(crate) fn take_back(&mut self, place: &mut Map<String, Value>) {
        mem::swap(&mut self.root, place);
    }

    fn read(&mut self, more: &str) {
        self.split_open_values();
        let bytes = more.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match self.state {
                PartialJsonState::Text(of) => at = self.read_text(of, more, at),
                PartialJsonState::Token => at = self.read_token(more, at),
                PartialJsonState::Invalid => break,
                _ => {
                    self.state = self.next(bytes[at]);
                    at += 1;
                }
            }
            if self.state == PartialJsonState::Invalid {
                self.give_up();
            }
        }
    }

    /// The state after one byte that is not part of a run.
    fn next(&mut self, byte: u8) -> PartialJsonState {
        match (self.state, byte) {
            (PartialJsonState::Escape(of), _) => self.escape(of, byte),
            (PartialJsonState::Hex(of, value, digits), _) => self.hex(of, value, digits, byte),
            (state, b' ' | b'\t' | b'\n' | b'\r') => state,
            (PartialJsonState::Start, b'{') => self.enter(Value::Object(Map::new())),
            (PartialJsonState::KeyOrEnd, b'}') | (PartialJsonState::ValueOrEnd, b']') => self.leave(byte),
            (PartialJsonState::KeyOrEnd | PartialJsonState::Key, b'"') => {
                self.key.clear();
                PartialJsonState::Text(JsonStringRole::Key)
            }
            (PartialJsonState::Colon, b':') => PartialJsonState::Value,
            (PartialJsonState::Value | PartialJsonState::ValueOrEnd, b'"') => {
                self.place(Value::Null);
                self.open.push(Value::String(String::new()));
                PartialJsonState::Text(JsonStringRole::Value)
            }
            (PartialJsonState::Value | PartialJsonState::ValueOrEnd, b'{') => {
                self.place(Value::Null);
                self.enter(Value::Object(Map::new()))
            }
            (PartialJsonState::Value | PartialJsonState::ValueOrEnd, b'[') => {
                self.place(Value::Null);
                self.enter(Value::Array(Vec::new()))
            }
            (
                PartialJsonState::Value | PartialJsonState::ValueOrEnd,
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n',
            ) => {
                self.token.clear();
                self.token.push(char::from(byte));
                PartialJsonState::Token
            }
            (PartialJsonState::Comma, b'}' | b']') => self.leave(byte),
            (PartialJsonState::Comma, b',') => match self.open.last() {
                Some(Value::Object(_)) => PartialJsonState::Key,
                _ => PartialJsonState::Value,
            },
            _ => PartialJsonState::Invalid,
        }
    }

    fn enter(&mut self, container: Value) -> PartialJsonState {
        let state =
            if container.is_object() { PartialJsonState::KeyOrEnd } else { PartialJsonState::ValueOrEnd };
        self.open.push(container);
        if self.open.len() > MAX_JSON_DEPTH { PartialJsonState::Invalid } else { state }
    }

    /// The innermost object or list ends.
    fn leave(&mut self, byte: u8) -> PartialJsonState {
        match (self.open.pop(), byte) {
            (Some(Value::Object(map)), b'}') if self.open.is_empty() => {
                self.root = map;
                PartialJsonState::Done
            }
            (Some(container @ Value::Object(_)), b'}') | (Some(container @ Value::Array(_)), b']') => {
                self.settle(container)
            }
            _ => PartialJsonState::Invalid,
        }
    }

    /// Puts a value into the next place of the innermost object or list.
    fn place(&mut self, value: Value) {
        match self.open.last_mut() {
            Some(Value::Array(list)) => list.push(value),
            Some(Value::Object(map)) => {
                let key = mem::take(&mut self.key);
                // The last of equal keys wins, and an open value is always in the last place.
                map.swap_remove(&key);
                map.insert(key, value);
            }
            _ => self.state = PartialJsonState::Invalid,
        }
    }

    /// An open value is complete: it takes the place that was kept for it.
    fn settle(&mut self, value: Value) -> PartialJsonState {
        match self.open.last_mut().and_then(last_value_mut) {
            Some(place) => {
                *place = value;
                PartialJsonState::Comma
            }
            None => PartialJsonState::Invalid,
        }
    }

    /// In a string, up to its end or the next backslash.
    fn read_text(&mut self, of: JsonStringRole, more: &str, at: usize) -> usize {
        let rest = &more[at..];
        let end = memchr2(b'"', b'\\', rest.as_bytes()).unwrap_or(rest.len());
        let run = &rest[..end];
        if !run.is_empty() {
            self.push_lone_surrogate(of);
            self.lenient |= run.bytes().any(|byte| byte < b' ');
            self.append(of, run);
        }
        match rest.as_bytes().get(end) {
            None => return more.len(),
            Some(b'\\') => self.state = PartialJsonState::Escape(of),
            Some(_) => {
                self.push_lone_surrogate(of);
                self.state = match of {
                    JsonStringRole::Key => PartialJsonState::Colon,
                    JsonStringRole::Value => match self.open.pop() {
                        Some(text) => self.settle(text),
                        None => PartialJsonState::Invalid,
                    },
                };
            }
        }
        at + end + 1
    }

    fn escape(&mut self, of: JsonStringRole, byte: u8) -> PartialJsonState {
        let c = match byte {
            b'u' => return PartialJsonState::Hex(of, 0, 0),
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            _ => return PartialJsonState::Invalid,
        };
        self.push_lone_surrogate(of);
        self.append(of, c.encode_utf8(&mut [0; 4]));
        PartialJsonState::Text(of)
    }

    fn hex(&mut self, of: JsonStringRole, value: u32, digits: u8, byte: u8) -> PartialJsonState {
        let Some(digit) = char::from(byte).to_digit(16) else { return PartialJsonState::Invalid };
        let value = value << 4 | digit;
        if digits < 3 {
            return PartialJsonState::Hex(of, value, digits + 1);
        }
        match (value, self.high) {
            (0xdc00..=0xdfff, Some(high)) => {
                self.high = None;
                let pair = 0x10000 + ((high - 0xd800) << 10) + (value - 0xdc00);
                self.append_char(of, char::from_u32(pair));
            }
            (0xd800..=0xdbff, _) => {
                self.push_lone_surrogate(of);
                self.high = Some(value);
            }
            _ => {
                self.push_lone_surrogate(of);
                self.append_char(of, char::from_u32(value));
            }
        }
        PartialJsonState::Text(of)
    }

    /// The first half of a pair is not followed by its second.
    fn push_lone_surrogate(&mut self, of: JsonStringRole) {
        if self.high.take().is_some() {
            self.append_char(of, None);
        }
    }

    fn append_char(&mut self, of: JsonStringRole, c: Option<char>) {
        self.lenient |= c.is_none();
        self.append(of, c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]));
    }

    fn append(&mut self, of: JsonStringRole, run: &str) {
        match (of, self.open.last_mut()) {
            (JsonStringRole::Key, _) => self.key.push_str(run),
            (JsonStringRole::Value, Some(Value::String(text))) => text.push_str(run),
            (JsonStringRole::Value, _) => {}
        }
    }

    /// In a number or literal, up to what ends it.
    fn read_token(&mut self, more: &str, at: usize) -> usize {
        let rest = &more[at..];
        let end = rest.find([',', ']', '}', ' ', '\t', '\n', '\r']);
        self.token.push_str(&rest[..end.unwrap_or(rest.len())]);
        let Some(end) = end else { return more.len() };
        self.state = PartialJsonState::Comma;
        match serde_json::from_str(&self.token) {
            Ok(value) => self.place(value),
            Err(_) => self.state = PartialJsonState::Invalid,
        }
        at + end
    }

    fn give_up(&mut self) {
        self.open = Vec::new();
        self.root = Map::new();
        self.key = String::new();
        self.token = String::new();
    }

    /// Moves every open value to its place.
    fn join_open_values(&mut self) {
        if self.open.is_empty() {
            return;
        }
        self.open_in_root = self.open.len();
        while let Some(value) = self.open.pop() {
            match (self.open.last_mut().and_then(last_value_mut), value) {
                (Some(place), value) => *place = value,
                (None, Value::Object(map)) => self.root = map,
                (None, _) => {}
            }
        }
    }

    /// Takes open values out of their places, to be continued.
    fn split_open_values(&mut self) {
        let depth = mem::take(&mut self.open_in_root);
        if depth == 0 {
            return;
        }
        let mut value = Value::Object(mem::take(&mut self.root));
        for _ in 1..depth {
            let Some(last) = last_value_mut(&mut value) else {
                // What was lent did not come back.
                return self.reparse();
            };
            let inner = mem::take(last);
            self.open.push(mem::replace(&mut value, inner));
        }
        self.open.push(value);
    }

    fn reparse(&mut self) {
        let text = mem::take(&mut self.text);
        *self = PartialJson::default();
        self.read(&text);
        self.text = text;
    }
}

fn last_value_mut(container: &mut Value) -> Option<&mut Value> {
    match container {
        Value::Array(list) => list.last_mut(),
        Value::Object(map) => map.values_mut().next_back(),
        _ => None,
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}
