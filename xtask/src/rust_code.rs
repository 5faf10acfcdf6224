//! Rust sources as far as rules and figures need them: their code without comments, what stands in strings, and tests.
//!
//! It is a reader of characters, not a parser. What it promises: braces, semicolons and words that it leaves are code.

/// A source, line by line, with everything blanked that is no code of the product.
pub(crate) struct RustCode {
    lines: Vec<CodeLine>,
    /// Modules in files of their own that are only there in tests: the names of `mod x;`.
    pub(crate) test_modules: Vec<String>,
}

struct CodeLine {
    /// Without comments, and without the text of strings.
    code: String,
    /// There is code here, if only the middle of a string.
    counts: bool,
}

/// A struct, enum, trait, union or type alias.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypeName {
    pub(crate) name: String,
    /// From 1.
    pub(crate) line: usize,
}

impl RustCode {
    /// Reads a source.
    pub(crate) fn read(text: &str) -> RustCode {
        let mut lines = without_comments(text);
        let test_modules = blank_tests(&mut lines);
        RustCode { lines, test_modules }
    }

    /// How many lines hold code.
    pub(crate) fn line_count(&self) -> usize {
        self.lines.iter().filter(|line| line.counts).count()
    }

    /// The types that are defined here. An associated type is part of its trait and no type of its own.
    pub(crate) fn types(&self) -> Vec<TypeName> {
        let mut types = Vec::new();
        // For every open brace: whether it belongs to an `impl` or a `trait`.
        let mut blocks: Vec<bool> = Vec::new();
        let mut item: Vec<&str> = Vec::new();
        for (line, token) in tokens(&self.lines) {
            match token {
                "{" => {
                    blocks.push(matches!(keyword(&item), Some("impl" | "trait")));
                    item.clear();
                }
                "}" => {
                    blocks.pop();
                    item.clear();
                }
                ";" => item.clear(),
                word => {
                    let defines = match keyword(&item) {
                        Some("struct" | "enum" | "trait" | "union") => true,
                        Some("type") => blocks.last() != Some(&true),
                        _ => false,
                    };
                    if defines && item.last().copied() == keyword(&item) {
                        types.push(TypeName { name: word.to_owned(), line });
                    }
                    item.push(word);
                }
            }
        }
        types
    }
}

/// The word that says what an item is: the first that is no visibility and no modifier.
fn keyword<'c>(item: &[&'c str]) -> Option<&'c str> {
    const BEFORE: &[&str] =
        &["pub", "crate", "super", "in", "self", "unsafe", "async", "const", "default", "auto"];
    item.iter().copied().find(|word| !BEFORE.contains(word))
}

/// Words, braces and semicolons with their lines, from 1. Attributes are left out.
fn tokens(lines: &[CodeLine]) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut brackets = 0_usize;
    for (at, line) in lines.iter().enumerate() {
        let mut rest = line.code.as_str();
        while let Some(c) = rest.chars().next() {
            let opens = rest.starts_with("#[") || rest.starts_with("#![");
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let taken = if opens { rest.find('[').unwrap_or(0) } else { word.max(c.len_utf8()) };
            match c {
                '[' if brackets > 0 => brackets += 1,
                ']' => brackets = brackets.saturating_sub(1),
                _ if opens && brackets == 0 => {
                    brackets = 1;
                    rest = &rest[taken + 1..];
                    continue;
                }
                _ if brackets == 0 && (word > 0 || "{};".contains(c)) => {
                    tokens.push((at + 1, &rest[..taken]));
                }
                _ => {}
            }
            rest = &rest[taken..];
        }
    }
    tokens
}

/// Where the reader is between two characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadState {
    Code,
    /// So many comments within each other.
    Comment(usize),
    Text,
    /// With so many `#` at its end.
    RawText(usize),
}

fn without_comments(text: &str) -> Vec<CodeLine> {
    let mut state = ReadState::Code;
    text.lines()
        .map(|line| {
            let mut code = String::new();
            let inside = matches!(state, ReadState::Text | ReadState::RawText(_));
            state = read_line(line, state, &mut code);
            let counts = !code.trim().is_empty() || (inside && !line.trim().is_empty());
            CodeLine { code, counts }
        })
        .collect()
}

/// Adds the code of a line; gives the state at its end.
fn read_line(line: &str, mut state: ReadState, code: &mut String) -> ReadState {
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match state {
            ReadState::Comment(depth) if rest.starts_with("*/") => {
                taken = 2;
                state = if depth == 1 { ReadState::Code } else { ReadState::Comment(depth - 1) };
            }
            ReadState::Comment(depth) if rest.starts_with("/*") => {
                taken = 2;
                state = ReadState::Comment(depth + 1);
            }
            ReadState::Comment(_) => {}
            ReadState::Text if c == '\\' => taken += rest[taken..].chars().next().map_or(0, char::len_utf8),
            ReadState::Text if c == '"' => {
                state = ReadState::Code;
                code.push('"');
            }
            ReadState::RawText(hashes) if c == '"' && rest[1..].starts_with(&"#".repeat(hashes)) => {
                taken += hashes;
                state = ReadState::Code;
                code.push('"');
            }
            ReadState::Text | ReadState::RawText(_) => {}
            ReadState::Code if rest.starts_with("//") => return state,
            ReadState::Code if rest.starts_with("/*") => {
                taken = 2;
                state = ReadState::Comment(1);
            }
            ReadState::Code if c == '"' => {
                state = ReadState::Text;
                code.push('"');
            }
            ReadState::Code => {
                let before = code.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
                if let Some(hashes) = raw_opening(rest).filter(|_| !before) {
                    taken = rest.find('"').map_or(taken, |at| at + 1);
                    state = ReadState::RawText(hashes);
                    code.push('"');
                } else if let Some(length) = character(rest) {
                    taken = length;
                    code.push('\'');
                } else {
                    code.push(c);
                }
            }
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    state
}

/// How many `#` the raw string has that begins here.
fn raw_opening(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// How long the character literal is that begins here; none where it is a lifetime.
fn character(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    if inner.starts_with('\\') {
        // The one after the backslash may be a quote itself.
        return Some(1 + 2 + inner.get(2..)?.find('\'')? + 1);
    }
    let length = inner.chars().next()?.len_utf8();
    inner[length..].starts_with('\'').then_some(1 + length + 1)
}

/// Blanks every item that is only there in tests; gives the modules among them that are files of their own.
fn blank_tests(lines: &mut [CodeLine]) -> Vec<String> {
    let mut modules = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let attribute = lines[at].code.trim_start();
        if !(attribute.starts_with("#[cfg(test)]") || attribute.starts_with("#[cfg(all(test,")) {
            at += 1;
            continue;
        }
        let (length, module) = item_length(&lines[at..]);
        modules.extend(module);
        for line in &mut lines[at..at + length] {
            *line = CodeLine { code: String::new(), counts: false };
        }
        at += length;
    }
    modules
}

/// How many lines the item takes that begins on the first, and its name if it is a module in a file of its own.
fn item_length(lines: &[CodeLine]) -> (usize, Option<String>) {
    let mut depth = 0_usize;
    let mut item = Vec::new();
    for (line, token) in tokens(lines) {
        item.push(token);
        match token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(token, "}" | ";") {
            let module = if let [.., "mod", name, ";"] = item[..] { Some(name.to_owned()) } else { None };
            return (line, module);
        }
    }
    (lines.len(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        RustCode::read(text).types().into_iter().map(|one| one.name).collect()
    }

    #[test]
    fn types_of_every_kind_are_found_where_they_stand() {
        let text = "pub struct A;\npub(crate) enum B<T> {\n    C(T),\n}\npub unsafe trait D {\n    type E;\n}\n\
                    type F = u8;\nimpl D for A {\n    type E = u8;\n}\nfn g() {\n    struct H { i: u8 }\n}\n";
        assert_eq!(names(text), ["A", "B", "D", "F", "H"]);
        assert_eq!(RustCode::read(text).types()[3], TypeName { name: "F".into(), line: 8 });
    }

    #[test]
    fn words_in_comments_strings_and_attributes_are_no_types() {
        let text = "// struct A;\n/* enum B {} /* struct C; */ trait D {} */\nconst E: &str = \"struct F; \\\" enum G\";\n\
                    const H: &str = r#\"é struct I; \" type J = u8;\"#;\n#[doc = \"x\"]\n#[derive(\n    Debug,\n)] struct K([u8; 2]);\nlet l = r\"\\\"; struct M;\n\
                    let n = '\"'; struct O; let p: &'static str = \"\"; let q = '\\''; struct R;\n";
        assert_eq!(names(text), ["K", "M", "O", "R"]);
    }

    #[test]
    fn a_return_type_is_no_impl_block() {
        assert_eq!(names("fn a() -> impl Fn() {\n    type B = u8;\n}\n"), ["B"]);
    }

    #[test]
    fn tests_are_left_out_and_modules_of_tests_are_named() {
        let text = "struct A;\n#[cfg(test)]\nmod helpers;\n#[cfg(all(test, unix))]\nmod tests {\n    struct B;\n    fn c() {}\n}\nstruct D;\n";
        let code = RustCode::read(text);
        assert_eq!(names(text), ["A", "D"]);
        assert_eq!(code.test_modules, ["helpers"]);
        assert_eq!(code.line_count(), 2);
    }

    #[test]
    fn lines_of_code_are_counted_and_no_others() {
        let text = "//! A.\n\n/// B.\nfn c() { // d\n    /* e\n    f */\n    let g = \"h\n\n      i\";\n}\n";
        assert_eq!(RustCode::read(text).line_count(), 4);
    }
}
