//! The arguments of a call, as a person would read them: JSON whose strings are unescaped, character by character while they come.
//! On the way it notes which files the call is about.

/// How deep the arguments are followed; below, names of keys count no more.
const MAX_DEPTH: usize = 32;
/// Characters of a path, and of a line that may name one.
const MAX_PATH_CHARS: usize = 1_024;
/// Paths of one call.
const MAX_PATHS: usize = 100;
/// Keys whose values are paths.
const PATH_KEYS: [&str; 6] = ["path", "paths", "file", "files", "file_path", "filePath"];
/// Lines within a value that name a file: of patches, and of edits by anchors.
const PATH_LINES: [&str; 6] =
    ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/", "§"];

#[derive(Debug, Default)]
pub(super) struct ArgumentText {
    place: Place,
    /// For each open object or list: whether it is an object whose next string is a key.
    open: Vec<Container>,
    key: String,
    string: String,
    line: String,
    /// The project's root, with a slash at the end.
    root: String,
    paths: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Between,
    InString,
    AfterBackslash,
    /// Digits of `\u` so far, and their value.
    InUnicode(u8, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    List,
    /// The next string is a key, or not.
    Object {
        key_next: bool,
    },
}

impl ArgumentText {
    /// Paths count from this root, also where the call names them whole.
    pub(super) fn below(root: &str) -> ArgumentText {
        ArgumentText { root: root.to_string(), ..ArgumentText::default() }
    }

    /// Reads a character; gives back what it means, if it is that far.
    pub(super) fn push(&mut self, c: char) -> Option<char> {
        match self.place {
            Place::Between => {
                self.between(c);
                Some(c)
            }
            Place::InString => match c {
                '"' => {
                    self.end_string();
                    Some(c)
                }
                '\\' => {
                    self.place = Place::AfterBackslash;
                    None
                }
                c => self.say(c),
            },
            Place::AfterBackslash => {
                self.place = Place::InString;
                match c {
                    'n' => self.say('\n'),
                    't' => self.say('\t'),
                    'r' => self.say('\r'),
                    'b' => self.say('\u{8}'),
                    'f' => self.say('\u{c}'),
                    'u' => {
                        self.place = Place::InUnicode(0, 0);
                        None
                    }
                    c => self.say(c),
                }
            }
            Place::InUnicode(digits, value) => {
                let value = value << 4 | c.to_digit(16).unwrap_or(0);
                if digits < 3 {
                    self.place = Place::InUnicode(digits + 1, value);
                    return None;
                }
                self.place = Place::InString;
                // Halves of pairs stand for characters that no path and hardly a rule has.
                self.say(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
        }
    }

    /// The files that the call is about, as far as it names them.
    pub(super) fn paths(&self) -> &[String] {
        &self.paths
    }

    fn between(&mut self, c: char) {
        match c {
            '"' => {
                self.place = Place::InString;
                (self.string, self.line) = (String::new(), String::new());
            }
            '{' if self.open.len() < MAX_DEPTH => self.open.push(Container::Object { key_next: true }),
            '[' if self.open.len() < MAX_DEPTH => self.open.push(Container::List),
            '}' | ']' => drop(self.open.pop()),
            ',' => self.expect_key(true),
            ':' => self.expect_key(false),
            _ => {}
        }
    }

    fn expect_key(&mut self, expected: bool) {
        if let Some(Container::Object { key_next }) = self.open.last_mut() {
            *key_next = expected;
        }
    }

    fn say(&mut self, c: char) -> Option<char> {
        if self.string.len() < MAX_PATH_CHARS {
            self.string.push(c);
        }
        if c == '\n' {
            self.end_line();
        } else if self.line.len() < MAX_PATH_CHARS {
            self.line.push(c);
        }
        Some(c)
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if let Some(path) = PATH_LINES.iter().find_map(|start| line.strip_prefix(start)) {
            self.add_path(path.trim());
        }
    }

    fn end_string(&mut self) {
        self.place = Place::Between;
        let string = std::mem::take(&mut self.string);
        if self.open.last() == Some(&Container::Object { key_next: true }) {
            self.key = string;
            return;
        }
        self.end_line();
        if PATH_KEYS.contains(&self.key.as_str()) {
            self.add_path(&string);
        }
    }

    fn add_path(&mut self, path: &str) {
        let path = path.replace('\\', "/");
        let path = path.strip_prefix(&self.root).unwrap_or(&path).trim_start_matches("./").to_string();
        if self.paths.len() < MAX_PATHS && !path.is_empty() && !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> (String, Vec<String>) {
        let mut text = ArgumentText::below("/home/me/p/");
        let read = json.chars().filter_map(|c| text.push(c)).collect();
        (read, text.paths)
    }

    #[test]
    fn strings_are_unescaped_and_the_rest_stands() {
        let (text, paths) =
            read(r#"{"path":"src/a.rs","content":"say(\"a\\b\")\n\u0041\té","n":[1,{"x":null}]}"#);
        assert_eq!(
            text,
            "{\"path\":\"src/a.rs\",\"content\":\"say(\"a\\b\")\nA\té\",\"n\":[1,{\"x\":null}]}"
        );
        assert_eq!(paths, ["src/a.rs"]);
    }

    #[test]
    fn files_are_found_by_key_and_by_lines_of_patches() {
        let paths = |json: &str| read(json).1;
        assert_eq!(paths(r#"{"paths":["a.ts","./b.ts"],"note":"c.ts"}"#), ["a.ts", "b.ts"]);
        assert_eq!(paths(r#"{"path":"a","edits":[{"path":"b"}]}"#), ["a", "b"]);
        assert_eq!(paths(r#"{"path":"/home/me/p/src/a.rs","file":"/etc/b"}"#), ["src/a.rs", "/etc/b"]);
        let patch =
            r#"{"input":"*** Begin Patch\n*** Update File: x/y.rs\n@@\n-a\n+b\n*** Add File: z.rs\n+c"}"#;
        assert_eq!(paths(patch), ["x/y.rs", "z.rs"]);
        assert_eq!(paths(r#"{"input":"§src/lib.rs\n12ab|x"}"#), ["src/lib.rs"]);
        assert_eq!(paths(r#"{"text":"path"}"#), [""; 0]);
    }

    #[test]
    fn deep_and_long_arguments_are_bounded() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(read(&deep).0.len(), 20_000);
        let long = format!(r#"{{"path":"{}"}}"#, "x".repeat(100_000));
        assert_eq!(read(&long).1[0].len(), MAX_PATH_CHARS);
    }
}
