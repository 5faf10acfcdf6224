//! JSON in a stream: the objects of it, as they end, with their scalar fields.
//!
//! Linters print one document of many megabytes, or one per line, between lines of other text. So there
//! is no tree: only the open objects are known, each with a bounded number of bounded fields. What turns
//! out to be no JSON is dropped up to the end of its line.

/// Open objects and arrays that are looked at; deeper ones are passed over.
const DEPTH: usize = 32;
/// Fields of an object that are kept.
const FIELDS: usize = 32;
/// Bytes of a string that are kept.
const STRING: usize = 1_024;

/// Finds objects.
#[derive(Default)]
pub(super) struct JsonScanner {
    state: JsonScanState,
    open: Vec<JsonFrame>,
    /// How many objects and arrays are open below [`DEPTH`].
    deeper: usize,
    text: Vec<u8>,
    /// The name of the value that comes next.
    key: Option<String>,
}

/// An open object or array.
pub(super) struct JsonFrame {
    array: bool,
    key: String,
    fields: Vec<(String, String)>,
}

/// An object that just ended; the ones around it come before it.
pub(super) struct JsonObject<'a>(&'a [JsonFrame]);

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum JsonScanState {
    /// At the start of a line, outside.
    #[default]
    LineStart,
    /// In a line that is no JSON.
    Other,
    /// Inside a document, between things.
    Between,
    /// In a number or a word.
    Bare,
    /// In a string …
    String,
    /// … after a backslash
    Escape,
    /// … in `\uXXXX`: digits to come, value so far.
    Unicode(u8, u32),
}

impl<'a> JsonObject<'a> {
    /// A field of the object.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.last()?.get(name)
    }

    /// A field of the `levels`-th object or array around it.
    pub(super) fn get_outer(&self, levels: usize, name: &str) -> Option<&'a str> {
        self.0.get(self.0.len().checked_sub(levels + 1)?)?.get(name)
    }

    /// Whether the object lies there: the names of everything open, outermost first, `""` for the
    /// elements of an array and for the document.
    pub(super) fn is_at(&self, path: &[&str]) -> bool {
        self.0.len() == path.len() && self.0.iter().zip(path).all(|(frame, name)| frame.key == *name)
    }
}

impl JsonFrame {
    fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl JsonScanner {
    pub(super) fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(&JsonObject<'_>)) {
        let mut rest = bytes;
        while let Some(byte) = rest.first() {
            if self.state == JsonScanState::Other {
                let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { return };
                self.state = JsonScanState::LineStart;
                rest = &rest[end + 1..];
                continue;
            }
            self.scan_byte(*byte, each);
            rest = &rest[1..];
        }
    }

    fn scan_byte(&mut self, byte: u8, each: &mut dyn FnMut(&JsonObject<'_>)) {
        match self.state {
            JsonScanState::LineStart => match byte {
                b'{' | b'[' => self.scan_between(byte, each),
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => self.state = JsonScanState::Other,
            },
            JsonScanState::Other => {}
            JsonScanState::Between => self.scan_between(byte, each),
            JsonScanState::Bare => {
                if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.') {
                    self.keep_text(&[byte]);
                } else {
                    self.end_scalar();
                    self.scan_between(byte, each);
                }
            }
            JsonScanState::String => match byte {
                b'"' => self.end_string(),
                b'\\' => self.state = JsonScanState::Escape,
                b'\n' => self.give_up(byte),
                _ => self.keep_text(&[byte]),
            },
            JsonScanState::Escape => {
                self.state = JsonScanState::String;
                match byte {
                    b'n' | b't' | b'r' | b'b' | b'f' => self.keep_text(b" "),
                    b'u' => self.state = JsonScanState::Unicode(4, 0),
                    _ => self.keep_text(&[byte]),
                }
            }
            JsonScanState::Unicode(left, value) => {
                let Some(digit) = char::from(byte).to_digit(16) else { return self.give_up(byte) };
                let value = value * 16 + digit;
                self.state = JsonScanState::Unicode(left - 1, value);
                if left == 1 {
                    let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                    self.keep_text(c.encode_utf8(&mut [0; 4]).as_bytes());
                    self.state = JsonScanState::String;
                }
            }
        }
    }

    fn scan_between(&mut self, byte: u8, each: &mut dyn FnMut(&JsonObject<'_>)) {
        self.state = JsonScanState::Between;
        match byte {
            b'{' | b'[' => self.open_frame(byte == b'['),
            b'}' | b']' => self.close_frame(byte, each),
            b'"' => {
                self.text.clear();
                self.state = JsonScanState::String;
            }
            b' ' | b'\t' | b'\r' | b'\n' | b',' => {}
            b':' if self.key.is_some() || self.deeper > 0 => {}
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.text.clear();
                self.keep_text(&[byte]);
                self.state = JsonScanState::Bare;
            }
            _ => self.give_up(byte),
        }
    }

    fn open_frame(&mut self, array: bool) {
        if self.deeper > 0 || self.open.len() >= DEPTH {
            self.deeper += 1;
            return;
        }
        let key = self.key.take().unwrap_or_default();
        self.open.push(JsonFrame { array, key, fields: Vec::new() });
    }

    fn close_frame(&mut self, byte: u8, each: &mut dyn FnMut(&JsonObject<'_>)) {
        self.key = None;
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        if self.open.last().is_none_or(|frame| frame.array != (byte == b']')) {
            return self.give_up(byte);
        }
        if byte == b'}' {
            each(&JsonObject(&self.open));
        }
        self.open.pop();
        if self.open.is_empty() {
            // Another document may follow on the same line, as well as on the next.
            self.state = JsonScanState::LineStart;
        }
    }

    fn end_string(&mut self) {
        self.state = JsonScanState::Between;
        let in_object = self.open.last().is_some_and(|frame| !frame.array);
        if self.deeper == 0 && in_object && self.key.is_none() {
            self.key = Some(String::from_utf8_lossy(&self.text).into_owned());
            return;
        }
        self.end_scalar();
    }

    /// A value that is no object and no array has ended.
    fn end_scalar(&mut self) {
        if self.deeper > 0 {
            return;
        }
        if let Some(key) = self.key.take()
            && let Some(frame) = self.open.last_mut()
            && frame.fields.len() < FIELDS
            && self.text != b"null"
        {
            frame.fields.push((key, String::from_utf8_lossy(&self.text).into_owned()));
        }
    }

    fn keep_text(&mut self, bytes: &[u8]) {
        if self.text.len() + bytes.len() <= STRING {
            self.text.extend_from_slice(bytes);
        }
    }

    fn give_up(&mut self, byte: u8) {
        self.open.clear();
        self.deeper = 0;
        self.key = None;
        self.state = if byte == b'\n' { JsonScanState::LineStart } else { JsonScanState::Other };
    }
}
