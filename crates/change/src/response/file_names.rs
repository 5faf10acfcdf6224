//! What looks like a file name, and where models write it outside of a header: as a comment on the first
//! line of a block, or alone on a line above it.
//!
//! Prose must never be taken for a path: a word counts only if it has a directory and an extension, an
//! extension that source files have, or is a name such as `Makefile`.

use std::borrow::Cow;

use super::header;
use super::remarks::BlockRemark;
use crate::dialect::{Dialect, opening};

/// Longer lines name no file.
const LINE_BYTES: usize = 1_200;

/// The text of a comment that fills a whole line, in the syntaxes of common languages.
pub(crate) fn comment_text(line: &str) -> Option<&str> {
    // A quick no for most lines.
    if !matches!(line.as_bytes().first()?, b'<' | b'{' | b'/' | b'(' | b'#' | b'-' | b';' | b'%') {
        return None;
    }
    for (open, close) in [("<!--", "-->"), ("{/*", "*/}"), ("/*", "*/"), ("(*", "*)")] {
        if let Some(rest) = line.strip_prefix(open) {
            let rest = rest.trim_start_matches('*');
            return Some(rest.strip_suffix(close)?.trim());
        }
    }
    let mark = ["//", "#", "--", ";", "%"].into_iter().find(|mark| line.starts_with(mark))?;
    let mut rest = line;
    while let Some(left) = rest.strip_prefix(mark) {
        rest = left;
    }
    // `#!` is a shebang, `--->` an arrow, `---` a rule.
    (!rest.starts_with(['!', '>', '-']) && !rest.is_empty()).then(|| rest.trim())
}

/// Whether a word can only be a file name: no blanks, and a last component that files have.
pub(super) fn is_file(word: &str) -> bool {
    let has_directory = word.contains(['/', '\\']);
    let odd = |c: char| match c {
        '"' | '<' | '>' | '|' | '*' | '?' | '=' | ':' | ';' | ',' | '`' | '\'' | '!' | '$' | '&' | '^' => {
            true
        }
        '(' | ')' | '{' | '}' | '[' | ']' => !has_directory,
        _ => c.is_whitespace() || c.is_control(),
    };
    if word.is_empty() || word.len() > LINE_BYTES || word.contains(odd) {
        return false;
    }
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    if KNOWN_NAMES.binary_search(&name).is_ok() {
        return true;
    }
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let plausible = !extension.is_empty()
        && extension.len() <= 12
        && extension.chars().all(char::is_alphanumeric)
        && extension.chars().any(char::is_alphabetic);
    if stem.is_empty() {
        return plausible && extension.len() > 2;
    }
    let known = || {
        KNOWN_EXTENSIONS.binary_search(&extension.to_ascii_lowercase().as_str()).is_ok()
            && !PRODUCTS.iter().any(|product| product.eq_ignore_ascii_case(name))
    };
    plausible && (has_directory || stem.starts_with('.') || known())
}

/// Whether a word that stands where a path is expected looks like one.
pub(super) fn is_path(word: &str) -> bool {
    let dotted = word
        .rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && extension.chars().any(char::is_alphabetic));
    word.chars().any(char::is_alphanumeric)
        && (word.contains(['/', '\\']) || dotted || is_file(word))
        && !(word.contains(':') && word.contains("://"))
}

/// Most words of a path without quotes.
pub(super) const PATH_WORDS: usize = 12;

/// Whether a text with blanks can only be a path: it begins with a directory and ends with a file.
pub(super) fn is_spaced_path(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (Some(first), Some(last)) = (words.next(), words.next_back()) else { return false };
    first.contains('/')
        && !is_file(first)
        && is_file(last)
        && words.take(PATH_WORDS).count() + 2 <= PATH_WORDS
}

/// Removes a remark in parentheses that says nothing about the path: `src/a.ts (new)`.
pub(super) fn without_remark(text: &str) -> &str {
    let bracketed = text.contains('(').then(|| text.rsplit_once(" (")).flatten();
    let Some((path, remark)) = bracketed else {
        return text;
    };
    let remark = remark.trim_end().trim_end_matches(')').to_ascii_lowercase();
    let remark = remark.trim_end_matches(" file").trim();
    let known =
        ["new", "updated", "modified", "edited", "changed", "created", "full", "complete", "fixed", "final"];
    if known.contains(&remark) { path.trim_end() } else { text }
}

/// The path on a line that holds nothing else: bare, as a heading, in bold or backticks, in a list, after
/// `File:`, before a colon.
pub(super) fn path_line(line: &str) -> Option<String> {
    let line = line.trim();
    if line.is_empty() || line.len() > LINE_BYTES || !may_name_file(line) {
        return None;
    }
    if let Some(path) = tag_path(line) {
        return Some(path.to_owned());
    }
    let quoted = line.contains(['`', '"']);
    let bare = if line.contains(['*', '`']) {
        Cow::Owned(line.replace("**", "").replace('`', ""))
    } else {
        Cow::Borrowed(line)
    };
    let mut text = bare.trim().trim_start_matches('#').trim_start();
    text = without_list_mark(text);
    text = link_label(text);
    text = text.trim_end_matches(':').trim_end();
    let unlabelled = without_label(text);
    let is_labelled = unlabelled.len() < text.len();
    text = without_remark(unlabelled).trim_end_matches(':').trim();
    text = text.trim_matches('"');
    if is_file(text) || (is_labelled && (is_spaced_path(text) || opening::is_spaced_name(text))) {
        return Some(text.to_owned());
    }
    let last = text.rsplit(' ').next().unwrap_or(text);
    let in_one_span = quoted && line.matches('`').count() <= 2 && text.contains('/') && is_file(last);
    let first = text.split(' ').next().unwrap_or(text);
    (in_one_span && first.contains('/')).then(|| text.to_owned())
}

/// A quick no for most lines: a file has a dot or a directory, or a known name.
fn may_name_file(line: &str) -> bool {
    line.bytes().any(|byte| matches!(byte, b'.' | b'/' | b'\\'))
        || line
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .any(|word| word.len() >= SHORTEST_NAME && KNOWN_NAMES.binary_search(&word).is_ok())
}

/// The one path that a sentence mentions, if it is exactly one. Good enough for an edit that has to match
/// the file's text, never for a whole file.
pub(super) fn mentioned_path(line: &str) -> Option<String> {
    if line.len() > LINE_BYTES {
        return None;
    }
    let mut found: Option<&str> = None;
    for word in line.split_whitespace() {
        let word = word.trim_matches(|c: char| "`*\"'()[],;:!?".contains(c)).trim_end_matches('.');
        if is_file(word) && found.replace(word).is_some_and(|other| other != word) {
            return None;
        }
    }
    found.map(str::to_owned)
}

/// The path that a block's first line names in a comment.
pub(super) struct FirstLineName<'a> {
    /// As written.
    pub path: &'a str,
    /// The dialect after it, as in a header.
    pub dialect: Option<&'static dyn Dialect>,
    /// Where the text below the line begins, in bytes; 0 if the line has to stay, because it says more than
    /// the path.
    pub below: usize,
    /// How many lines that skips.
    pub skipped: usize,
    /// It says that the block is not the whole new text of the file.
    pub remark: Option<BlockRemark>,
}

/// Looks for a path in a comment on the first meaningful line, or below a shebang.
pub(super) fn first_line_name<'a>(text: &'a str, language: &str) -> Option<FirstLineName<'a>> {
    let mut at = 0;
    let mut skipped = 0;
    let mut lines = text.split_inclusive('\n');
    let mut line = lines.next()?;
    while line.trim().is_empty() {
        at += line.len();
        skipped += 1;
        line = lines.next()?;
    }
    let shebang = line.starts_with("#!");
    if shebang {
        line = lines.next()?;
    }
    let line_text = line.trim();
    if line_text.len() > LINE_BYTES || (is_markdown(language) && !line_text.starts_with("<!--")) {
        return None;
    }
    let said = without_label(comment_text(line_text)?);
    let (path, dialect) = header::split_dialect(said);
    let path = path.trim_matches(['"', '`']);
    if is_file(path) || is_spaced_path(path) {
        let stays = shebang;
        let below = if stays { 0 } else { at + line.len() };
        let skipped = if stays { 0 } else { skipped + 1 };
        return Some(FirstLineName { path, dialect, below, skipped, remark: None });
    }
    let named = |path, remark| FirstLineName { path, dialect: None, below: 0, skipped: 0, remark };
    if let Some((path, remark)) = header::split_remark(said) {
        return Some(named(path, Some(remark)));
    }
    let mut words = said.split_whitespace();
    let path = words.next()?;
    let remark =
        words.next().is_some_and(|word| ["-", "–", "—", ":"].contains(&word) || word.starts_with('('));
    (remark && path.contains('/') && is_file(path)).then(|| named(path, None))
}

/// The path of `<file path="…">`.
pub(super) fn tag_path(line: &str) -> Option<&str> {
    let inside = line.trim().strip_prefix('<')?;
    inside.contains('>').then(|| header::file_attribute(inside.split('>').next().unwrap_or(inside))).flatten()
}

/// Whether a language or an extension means prose that may contain fences.
pub(super) fn is_markdown(name: &str) -> bool {
    ["md", "markdown", "mdx", "rst", "txt", "adoc", "qmd", "rmd"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// Lines of a web page that are copied with a block.
pub(super) fn is_page_button(line: &str) -> bool {
    let line = line.trim();
    ["Copy code", "Copy", "Edit", "Download", "Wrap", "CopyEdit", "Run"].contains(&line)
        || (line.len() <= 12
            && [
                "typescript",
                "javascript",
                "python",
                "rust",
                "bash",
                "json",
                "yaml",
                "diff",
                "html",
                "css",
                "go",
                "tsx",
                "jsx",
            ]
            .contains(&line))
}

fn without_list_mark(text: &str) -> &str {
    for mark in ["- ", "* ", "+ "] {
        if let Some(rest) = text.strip_prefix(mark) {
            return rest.trim_start();
        }
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    let numbered = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    numbered.filter(|_| digits > 0).map_or(text, str::trim_start)
}

fn without_label(text: &str) -> &str {
    let Some((label, rest)) = text.split_once(':') else {
        let lower = text.get(..5).unwrap_or_default();
        let is_label = lower.eq_ignore_ascii_case("file ");
        return if is_label { text[5..].trim() } else { text };
    };
    let known = [
        "file",
        "filename",
        "file name",
        "path",
        "filepath",
        "file path",
        "new file",
        "create",
        "create file",
        "updated file",
        "full file",
    ];
    let is_label = known.iter().any(|known| known.eq_ignore_ascii_case(label.trim()));
    if is_label { rest.trim() } else { text }
}

/// `[src/a.ts](src/a.ts)` gives the link's text.
fn link_label(text: &str) -> &str {
    let inside = text.strip_prefix('[').and_then(|rest| rest.split_once("]("));
    match inside {
        Some((label, target)) if target.trim_end_matches(':').ends_with(')') => label,
        _ => text,
    }
}

/// The length of the shortest of [`KNOWN_NAMES`].
const SHORTEST_NAME: usize = 5;

/// File names without an extension, sorted.
#[rustfmt::skip]
const KNOWN_NAMES: &[&str] = &[
    "AUTHORS", "BUILD", "Brewfile", "CHANGELOG", "CODEOWNERS", "COPYING", "Caddyfile", "Cakefile",
    "Containerfile", "Dockerfile", "Earthfile", "Fastfile", "GNUmakefile", "Gemfile", "Guardfile",
    "Jenkinsfile", "Justfile", "LICENCE", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "Makefile",
    "NOTICE", "Pipfile", "Podfile", "Procfile", "README", "Rakefile", "Taskfile", "Tiltfile", "VERSION",
    "Vagrantfile", "WORKSPACE", "justfile", "makefile",
];

/// Names with an extension that are not files.
const PRODUCTS: &[&str] = &[
    "node.js",
    "vue.js",
    "next.js",
    "nuxt.js",
    "react.js",
    "express.js",
    "d3.js",
    "three.js",
    "ember.js",
    "backbone.js",
    "vb.net",
    "asp.net",
    "chart.js",
    "p5.js",
];

/// Extensions that make a name without a directory a file, sorted.
#[rustfmt::skip]
const KNOWN_EXTENSIONS: &[&str] = &[
    "ada", "adb", "ads", "asm", "astro", "awk", "bash", "bat", "bazel", "bib", "c", "cabal", "cc",
    "cfg", "cjs", "cl", "clj", "cljc", "cljs", "cmake", "cmd", "coffee", "conf", "cpp", "cr", "cs",
    "csproj", "css", "csv", "cts", "cu", "cxx", "d", "dart", "diff", "dockerfile", "editorconfig",
    "edn", "ejs", "el", "elm", "env", "erb", "erl", "ex", "exs", "f90", "fish", "frag", "fs", "fsx",
    "gd", "gitignore", "gleam", "glsl", "go", "gql", "gradle", "graphql", "groovy", "h", "haml", "hbs",
    "hcl", "hh", "hpp", "hrl", "hs", "htm", "html", "hxx", "ini", "ipynb", "java", "jinja", "jinja2",
    "jl", "js", "json", "json5", "jsonc", "jsonl", "jsx", "kt", "kts", "less", "lhs", "liquid", "lisp",
    "lock", "lua", "m", "markdown", "md", "mdx", "mjs", "mk", "ml", "mli", "mm", "mod", "mts",
    "mustache", "nim", "nix", "patch", "php", "pl", "plist", "pm", "po", "prisma", "properties",
    "proto", "ps1", "pug", "py", "pyi", "pyx", "qml", "r", "rake", "rb", "re", "res", "rkt", "rs",
    "rst", "sass", "scala", "scm", "scss", "sh", "sol", "sql", "st", "sum", "svelte", "svg", "swift",
    "tcl", "tex", "tf", "tfvars", "toml", "ts", "tsv", "tsx", "txt", "v", "vb", "vert", "vim", "vue",
    "wasm", "wat", "wgsl", "xhtml", "xml", "xsd", "xsl", "yaml", "yml", "zig", "zsh",
];

/// Whether a path ends in the lines that are meant, as in `m.ts#L1-L3` and `m.ts:1-3`.
pub(super) fn names_lines(path: &str) -> bool {
    let Some((_, range)) = path.rsplit_once("#L").or_else(|| path.rsplit_once(':')) else { return false };
    range.starts_with(|c: char| c.is_ascii_digit())
        && range.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | 'L' | 'C'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_are_searched_are_sorted() {
        assert!(KNOWN_NAMES.is_sorted() && KNOWN_EXTENSIONS.is_sorted());
        assert_eq!(KNOWN_NAMES.iter().map(|name| name.len()).min(), Some(SHORTEST_NAME));
    }

    #[test]
    fn files_are_told_from_prose() {
        for word in [
            "src/main.rs",
            "main.py",
            "docker/Dockerfile",
            "Makefile",
            ".gitignore",
            "a/b.c.d",
            "app/(g)/[id]/page.tsx",
            "src\\a.ts",
            ".env.local",
        ] {
            assert!(is_file(word), "{word}");
        }
        for word in [
            "",
            "Node.js",
            "example.com",
            "console.log",
            "e.g.",
            "v1.2",
            "https://a.b/c.ts",
            "foo.bar()",
            "and/or",
            "TODO",
            "x",
            "src/",
        ] {
            assert!(!is_file(word), "{word}");
        }
    }

    #[test]
    fn a_line_that_is_nothing_but_a_path_is_one() {
        for line in [
            "src/a.ts",
            "### src/a.ts",
            "**src/a.ts**",
            "`src/a.ts`",
            "`src/a.ts`:",
            "**`src/a.ts`**",
            "File: src/a.ts",
            "**File:** `src/a.ts`",
            "1. `src/a.ts`",
            "### 2. `src/a.ts` (new)",
            "- src/a.ts",
            "src/a.ts:",
            "### File: `src/a.ts`",
            "[src/a.ts](src/a.ts)",
            "<file path=\"src/a.ts\">",
            "New file: `src/a.ts`",
        ] {
            assert_eq!(path_line(line).as_deref(), Some("src/a.ts"), "{line}");
        }
        for line in ["File: my file.ts", "**File:** `my file.ts` (new)", "Path: my file.ts:"] {
            assert_eq!(path_line(line).as_deref(), Some("my file.ts"), "{line}");
        }
        assert_eq!(path_line("File: a.ts and b.ts"), None);
        for line in
            ["Update `src/a.ts` like this:", "the file", "Run it:", "Node.js", "### Usage", "a/b or c/d"]
        {
            assert_eq!(path_line(line), None, "{line}");
        }
        assert_eq!(mentioned_path("Now update `src/a.ts`:").as_deref(), Some("src/a.ts"));
        assert_eq!(mentioned_path("move src/a.ts to src/b.ts"), None);
    }

    #[test]
    fn the_first_line_may_name_the_file() {
        let path = |text| {
            first_line_name(text, "ts").map(|first| (first.path.to_owned(), text[first.below..].to_owned()))
        };
        let some = |path: &str, below: &str| Some((path.to_owned(), below.to_owned()));
        assert_eq!(path("// src/a.ts\nx\n"), some("src/a.ts", "x\n"));
        assert_eq!(path("# a.py\nx\n"), some("a.py", "x\n"));
        assert_eq!(path("<!-- a.html -->\nx\n"), some("a.html", "x\n"));
        assert_eq!(path("// src/a.ts - helpers\nx\n"), some("src/a.ts", "// src/a.ts - helpers\nx\n"));
        assert_eq!(path("#!/bin/sh\n# bin/run.sh\nx\n"), some("bin/run.sh", "#!/bin/sh\n# bin/run.sh\nx\n"));
        assert_eq!(path("// a comment\nx\n"), None);
        assert!(first_line_name("# README.md\n", "md").is_none());
    }
}
