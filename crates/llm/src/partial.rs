//! JSON while it comes: what the arguments of a tool call are so far.
//!
//! An open string is its text so far; half an escape, half a number or literal and a key without a value are left out
//! until they are whole. What can be no JSON object any more is `{}`.
//! Invariant: every byte is looked at once, however often the value is asked for; whole JSON is exactly what serde_json makes
//! of it; nesting is bounded by [`DEPTH_MOST`], and nothing here recurses.

use std::mem;

use memchr::memchr2;
use serde_json::{Map, Value};

#[cfg(test)]
mod tests;

/// How deep objects and lists may be nested: what serde_json takes.
pub const DEPTH_MOST: usize = 127;

/// JSON text of which more comes.
#[derive(Debug, Default)]
pub struct PartialJson {
    text: String,
    state: State,
    /// Something was taken that is no JSON, but clear: a raw line end in a string, half a surrogate pair.
    lenient: bool,
    /// What is open, outermost first: objects, lists, at last a string. Each stands in the one before it as a
    /// `null` in the last place. Empty while the value is together in `root`.
    open: Vec<Value>,
    /// The value, while it is together.
    root: Map<String, Value>,
    /// How many of `root`'s last values are open.
    together: usize,
    /// The key whose value is due, or which is being read.
    key: String,
    /// A number or literal that is being read.
    token: String,
    /// The first half of a surrogate pair.
    high: Option<u32>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing came.
    #[default]
    Start,
    /// Behind `{`.
    KeyOrEnd,
    /// Behind a comma in an object.
    Key,
    /// Behind a key.
    Colon,
    /// Behind a colon, or a comma in a list.
    Value,
    /// Behind `[`.
    ValueOrEnd,
    /// Behind a value.
    Comma,
    /// In a string.
    Text(Of),
    /// Behind a backslash.
    Escape(Of),
    /// Behind `\u`: the value of so many digits.
    Hex(Of, u32, u8),
    /// In a number, `true`, `false` or `null`.
    Token,
    /// The object is whole.
    Done,
    /// It can be no object any more.
    Hopeless,
}

/// What a string is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Key,
    Value,
}

impl PartialJson {
    /// More of it.
    pub fn push(&mut self, more: &str) {
        self.read(more);
        self.text.push_str(more);
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Nothing came yet.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text so far, as it came.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says so far; an empty object if that is no object.
    pub fn value(&mut self) -> &Map<String, Value> {
        self.put_together();
        &self.root
    }

    /// A copy of what it says so far; costs its size. See [`PartialJson::value`].
    pub fn so_far(&mut self) -> Map<String, Value> {
        self.value().clone()
    }

    /// It is a whole JSON object, and nothing else. Nothing at all and `null` are the arguments of a call that has
    /// none, and whole.
    pub fn is_whole(&self) -> bool {
        match self.state {
            State::Done => !self.lenient,
            State::Start => true,
            State::Hopeless => self.text.trim_matches(is_blank) == "null",
            _ => false,
        }
    }

    /// What it says, now that nothing more comes: what serde_json says, else what can be read of it, else `{}`.
    /// Whether it was whole is [`PartialJson::is_whole`], to be asked before.
    pub fn finish(mut self) -> Map<String, Value> {
        if self.is_whole()
            && let Ok(map) = serde_json::from_str(&self.text)
        {
            return map;
        }
        self.put_together();
        self.root
    }

    /// Puts the value so far into `place`, without copying it. [`PartialJson::take_back`] before more is pushed.
    pub(crate) fn lend(&mut self, place: &mut Map<String, Value>) {
        self.put_together();
        mem::swap(&mut self.root, place);
    }

    /// Takes back what was lent.
    pub(crate) fn take_back(&mut self, place: &mut Map<String, Value>) {
        mem::swap(&mut self.root, place);
    }

    fn read(&mut self, more: &str) {
        self.take_apart();
        let bytes = more.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match self.state {
                State::Text(of) => at = self.read_text(of, more, at),
                State::Token => at = self.read_token(more, at),
                State::Hopeless => break,
                _ => {
                    self.state = self.next(bytes[at]);
                    at += 1;
                }
            }
            if self.state == State::Hopeless {
                self.give_up();
            }
        }
    }

    /// The state behind one byte that is no part of a run.
    fn next(&mut self, byte: u8) -> State {
        match (self.state, byte) {
            (State::Escape(of), _) => self.escape(of, byte),
            (State::Hex(of, value, digits), _) => self.hex(of, value, digits, byte),
            (state, b' ' | b'\t' | b'\n' | b'\r') => state,
            (State::Start, b'{') => self.enter(Value::Object(Map::new())),
            (State::KeyOrEnd, b'}') | (State::ValueOrEnd, b']') => self.leave(byte),
            (State::KeyOrEnd | State::Key, b'"') => {
                self.key.clear();
                State::Text(Of::Key)
            }
            (State::Colon, b':') => State::Value,
            (State::Value | State::ValueOrEnd, b'"') => {
                self.place(Value::Null);
                self.open.push(Value::String(String::new()));
                State::Text(Of::Value)
            }
            (State::Value | State::ValueOrEnd, b'{') => {
                self.place(Value::Null);
                self.enter(Value::Object(Map::new()))
            }
            (State::Value | State::ValueOrEnd, b'[') => {
                self.place(Value::Null);
                self.enter(Value::Array(Vec::new()))
            }
            (State::Value | State::ValueOrEnd, b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                self.token.clear();
                self.token.push(char::from(byte));
                State::Token
            }
            (State::Comma, b'}' | b']') => self.leave(byte),
            (State::Comma, b',') => match self.open.last() {
                Some(Value::Object(_)) => State::Key,
                _ => State::Value,
            },
            _ => State::Hopeless,
        }
    }

    fn enter(&mut self, container: Value) -> State {
        let state = if container.is_object() { State::KeyOrEnd } else { State::ValueOrEnd };
        self.open.push(container);
        if self.open.len() > DEPTH_MOST { State::Hopeless } else { state }
    }

    /// The innermost object or list ends.
    fn leave(&mut self, byte: u8) -> State {
        match (self.open.pop(), byte) {
            (Some(Value::Object(map)), b'}') if self.open.is_empty() => {
                self.root = map;
                State::Done
            }
            (Some(container @ Value::Object(_)), b'}') | (Some(container @ Value::Array(_)), b']') => {
                self.settle(container)
            }
            _ => State::Hopeless,
        }
    }

    /// Puts a value into the next place of the innermost object or list.
    fn place(&mut self, value: Value) {
        match self.open.last_mut() {
            Some(Value::Array(list)) => list.push(value),
            Some(Value::Object(map)) => {
                let key = mem::take(&mut self.key);
                // The last of equal keys wins, and what is open is always in the last place.
                map.swap_remove(&key);
                map.insert(key, value);
            }
            _ => self.state = State::Hopeless,
        }
    }

    /// What was open is whole: it takes the place that was kept for it.
    fn settle(&mut self, value: Value) -> State {
        match self.open.last_mut().and_then(last_of) {
            Some(place) => {
                *place = value;
                State::Comma
            }
            None => State::Hopeless,
        }
    }

    /// In a string, up to its end or the next backslash.
    fn read_text(&mut self, of: Of, more: &str, at: usize) -> usize {
        let rest = &more[at..];
        let end = memchr2(b'"', b'\\', rest.as_bytes()).unwrap_or(rest.len());
        let run = &rest[..end];
        if !run.is_empty() {
            self.lone_half(of);
            self.lenient |= run.bytes().any(|byte| byte < b' ');
            self.append(of, run);
        }
        match rest.as_bytes().get(end) {
            None => return more.len(),
            Some(b'\\') => self.state = State::Escape(of),
            Some(_) => {
                self.lone_half(of);
                self.state = match of {
                    Of::Key => State::Colon,
                    Of::Value => match self.open.pop() {
                        Some(text) => self.settle(text),
                        None => State::Hopeless,
                    },
                };
            }
        }
        at + end + 1
    }

    fn escape(&mut self, of: Of, byte: u8) -> State {
        let c = match byte {
            b'u' => return State::Hex(of, 0, 0),
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            _ => return State::Hopeless,
        };
        self.lone_half(of);
        self.append(of, c.encode_utf8(&mut [0; 4]));
        State::Text(of)
    }

    fn hex(&mut self, of: Of, value: u32, digits: u8, byte: u8) -> State {
        let Some(digit) = char::from(byte).to_digit(16) else { return State::Hopeless };
        let value = value << 4 | digit;
        if digits < 3 {
            return State::Hex(of, value, digits + 1);
        }
        match (value, self.high) {
            (0xdc00..=0xdfff, Some(high)) => {
                self.high = None;
                let pair = 0x10000 + ((high - 0xd800) << 10) + (value - 0xdc00);
                self.append_char(of, char::from_u32(pair));
            }
            (0xd800..=0xdbff, _) => {
                self.lone_half(of);
                self.high = Some(value);
            }
            _ => {
                self.lone_half(of);
                self.append_char(of, char::from_u32(value));
            }
        }
        State::Text(of)
    }

    /// The first half of a pair is not followed by its second.
    fn lone_half(&mut self, of: Of) {
        if self.high.take().is_some() {
            self.append_char(of, None);
        }
    }

    fn append_char(&mut self, of: Of, c: Option<char>) {
        self.lenient |= c.is_none();
        self.append(of, c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]));
    }

    fn append(&mut self, of: Of, run: &str) {
        match (of, self.open.last_mut()) {
            (Of::Key, _) => self.key.push_str(run),
            (Of::Value, Some(Value::String(text))) => text.push_str(run),
            (Of::Value, _) => {}
        }
    }

    /// In a number or literal, up to what ends it.
    fn read_token(&mut self, more: &str, at: usize) -> usize {
        let rest = &more[at..];
        let end =
            rest.bytes().position(|byte| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r'));
        self.token.push_str(&rest[..end.unwrap_or(rest.len())]);
        let Some(end) = end else { return more.len() };
        self.state = State::Comma;
        match serde_json::from_str(&self.token) {
            Ok(value) => self.place(value),
            Err(_) => self.state = State::Hopeless,
        }
        at + end
    }

    fn give_up(&mut self) {
        self.open = Vec::new();
        self.root = Map::new();
        self.key = String::new();
        self.token = String::new();
    }

    /// Every open value goes to its place.
    fn put_together(&mut self) {
        if self.open.is_empty() {
            return;
        }
        self.together = self.open.len();
        while let Some(value) = self.open.pop() {
            match (self.open.last_mut().and_then(last_of), value) {
                (Some(place), value) => *place = value,
                (None, Value::Object(map)) => self.root = map,
                (None, _) => {}
            }
        }
    }

    /// Open values leave their places, to be written on.
    fn take_apart(&mut self) {
        let depth = mem::take(&mut self.together);
        if depth == 0 {
            return;
        }
        let mut value = Value::Object(mem::take(&mut self.root));
        for _ in 1..depth {
            let Some(last) = last_of(&mut value) else {
                // What was lent did not come back.
                return self.read_again();
            };
            let inner = mem::take(last);
            self.open.push(mem::replace(&mut value, inner));
        }
        self.open.push(value);
    }

    fn read_again(&mut self) {
        let text = mem::take(&mut self.text);
        *self = PartialJson::default();
        self.read(&text);
        self.text = text;
    }
}

fn last_of(container: &mut Value) -> Option<&mut Value> {
    match container {
        Value::Array(list) => list.last_mut(),
        Value::Object(map) => map.values_mut().next_back(),
        _ => None,
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}
