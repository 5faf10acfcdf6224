//! The info line of a fence: language, file, and dialect. The contract's form is `lang // path dialect`;
//! `lang:path`, `lang path`, `file=path` and `title="path"` are what models write instead.

use super::file_names::{self, is_file, is_path};
use super::remarks::{self, BlockRemark};
use crate::dialect::{self, Dialect};

#[derive(Default)]
pub(super) struct FenceHeader<'a> {
    /// Empty if there is none.
    pub language: &'a str,
    pub subject: HeaderSubject<'a>,
    /// If it names one.
    pub dialect: Option<&'static dyn Dialect>,
    /// The file of which the block quotes lines: `12:15:src/a.ts`.
    pub cited: Option<&'a str>,
    /// It says that the block is not the whole new text of the file.
    pub remark: Option<BlockRemark>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum HeaderSubject<'a> {
    /// It does not say.
    #[default]
    None,
    /// As written.
    Path(&'a str),
    /// The block is a rename.
    Rename,
    /// A path, or prose that mentions one.
    Ambiguous(&'a str),
}

impl FenceHeader<'_> {
    /// Whether the line sets out to name a file.
    pub(super) fn names_file(&self) -> bool {
        self.subject != HeaderSubject::None
    }

    /// Whether it calls the block a diff.
    pub(super) fn is_diff(&self) -> bool {
        let languages = ["diff", "patch", "udiff"];
        let dialects = ["unified", "new-unified", "apply-patch"];
        languages.iter().any(|name| name.eq_ignore_ascii_case(self.language))
            || self.dialect.is_some_and(|dialect| dialects.contains(&dialect.name()))
    }
}

/// Longer info lines name no file.
const INFO_BYTES: usize = 2_048;

/// Marks a rename where a path would stand.
const RENAME: &str = "rename-file";

pub(super) fn read(info: &str) -> FenceHeader<'_> {
    let mut header = read_names(info);
    match header.subject {
        HeaderSubject::Path(path) => {
            let behind = info.find(path).map(|at| &info[at + path.len()..]);
            header.remark = behind.and_then(|behind| remarks::read(split_dialect(behind).0));
        }
        HeaderSubject::Ambiguous(said) => {
            if let Some((path, remark)) = split_remark(said) {
                header.subject = HeaderSubject::Path(path);
                header.remark = Some(remark);
            }
        }
        _ => {}
    }
    header
}

/// A path, and a remark about the block behind it.
pub(super) fn split_remark(said: &str) -> Option<(&str, BlockRemark)> {
    let (path, remark) = said.split_once(char::is_whitespace)?;
    let path = without_punctuation(path);
    is_file(path).then(|| remarks::read(remark)).flatten().map(|remark| (path, remark))
}

/// Without what ends a part of a sentence.
fn without_punctuation(path: &str) -> &str {
    path.trim_end_matches([',', ';', ':'])
}

fn read_names(info: &str) -> FenceHeader<'_> {
    let info = info.trim();
    if info.len() > INFO_BYTES {
        return FenceHeader::default();
    }
    if info.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return FenceHeader { language: info, ..FenceHeader::default() };
    }
    if let Some(said) = file_names::comment_text(info) {
        return header_from_comment("", said);
    }
    let (first, rest) = info.split_once(char::is_whitespace).unwrap_or((info, ""));
    let rest = rest.trim();
    if let Some(said) = file_names::comment_text(rest) {
        return header_from_comment(first, said);
    }
    if let Some(path) = file_attribute(info) {
        let language = if first.contains('=') { "" } else { first.trim_matches(['{', '}', '.']) };
        let subject = HeaderSubject::Path(path);
        return FenceHeader { language, subject, dialect: split_dialect(info).1, ..FenceHeader::default() };
    }
    let (path, dialect) = split_dialect(rest);
    if let Some((language, word)) = split_colon(without_punctuation(first)) {
        let all = split_dialect(&info[without_punctuation(first).len() - word.len()..]).0;
        let subject = match file_names::is_spaced_path(all) {
            true => HeaderSubject::Path(all),
            false if !is_file(word) && path.split(' ').any(is_file) => HeaderSubject::Ambiguous(all),
            false => HeaderSubject::Path(word),
        };
        return FenceHeader { language, subject, dialect, ..FenceHeader::default() };
    }
    let quoted = unquoted(path);
    let plain = quoted.unwrap_or_else(|| without_punctuation(path));
    if is_file(plain)
        || file_names::is_spaced_path(plain)
        || (quoted.is_some() && plain.contains('/') && is_path(plain))
    {
        return FenceHeader {
            language: first,
            subject: HeaderSubject::Path(plain),
            dialect,
            ..FenceHeader::default()
        };
    }
    if is_file(first) && first.contains(['.', '/']) && path.is_empty() {
        return FenceHeader {
            language: "",
            subject: HeaderSubject::Path(first),
            dialect,
            ..FenceHeader::default()
        };
    }
    let cited = cited_path(first).or_else(|| cited_path(path));
    FenceHeader { language: first, cited, ..FenceHeader::default() }
}

/// The file of `12:15:src/a.ts`, as editors quote lines of it.
fn cited_path(word: &str) -> Option<&str> {
    let mut parts = word.splitn(3, ':');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(parts.next()?) && is_number(parts.next()?)).then_some(())?;
    parts.next().filter(|path| !path.is_empty())
}

/// What follows the comment sign: a path in quotes or not, then perhaps a dialect.
fn header_from_comment<'a>(language: &'a str, said: &'a str) -> FenceHeader<'a> {
    let (path, dialect) = split_dialect(said);
    let quoted = unquoted(path);
    let path = quoted.unwrap_or(path);
    let path = path.strip_prefix("File:").or_else(|| path.strip_prefix("file:")).unwrap_or(path).trim();
    let subject = if quoted.is_some() {
        HeaderSubject::Path(path)
    } else if path.trim_matches(['{', '}']) == RENAME {
        HeaderSubject::Rename
    } else {
        match unquoted_subject(file_names::without_remark(path)) {
            // Only a file can have a dialect.
            HeaderSubject::Ambiguous(word) if dialect.is_some() && !word.contains(' ') => {
                HeaderSubject::Path(word)
            }
            subject => subject,
        }
    };
    FenceHeader { language, subject, dialect, ..FenceHeader::default() }
}

/// A path without quotes. It may contain a blank only if there is no doubt: one word too many after a file
/// (meant as a dialect that does not exist: such a file must be there), or a directory in front and an extension at the
/// end.
fn unquoted_subject(path: &str) -> HeaderSubject<'_> {
    let path = without_punctuation(path);
    if !path.contains(char::is_whitespace) {
        return match path {
            _ if is_path(path) || is_file(path) || ROOT_NAMES.contains(&path) => HeaderSubject::Path(path),
            _ if is_bare_name(path) => HeaderSubject::Ambiguous(path),
            _ => HeaderSubject::None,
        };
    }
    let words: Vec<&str> = path.split_whitespace().collect();
    match words.as_slice() {
        many if many.len() > file_names::PATH_WORDS => HeaderSubject::None,
        [first, mark, ..] if ["-", "–", "—"].contains(mark) && is_file(first) => {
            HeaderSubject::Path(without_punctuation(first))
        }
        [first, second] if is_file(first) && is_like_dialect(second) => HeaderSubject::Path(path),
        _ if file_names::is_spaced_path(path) => HeaderSubject::Path(path),
        all if all.iter().any(|word| is_file(word)) => HeaderSubject::Ambiguous(path),
        _ => HeaderSubject::None,
    }
}

/// Whether a word is written as the names of dialects are.
fn is_like_dialect(word: &str) -> bool {
    word.contains('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Files without an extension that many projects have. In prose these words mean something else.
const ROOT_NAMES: &[&str] =
    &["gradlew", "mvnw", "configure", "PKGBUILD", "Kconfig", "Kbuild", "meson", "Snakefile"];

/// Words behind a comment sign that say something about the block.
#[rustfmt::skip]
const REMARKS: &[&str] = &[
    "after", "alternative", "bad", "before", "correct", "current", "demo", "error", "example", "examples",
    "existing", "expected", "fixed", "good", "here", "incorrect", "input", "install", "new", "note", "old",
    "optional", "original", "output", "pseudocode", "recommended", "result", "run", "snippet", "terminal",
    "test", "todo", "unchanged", "updated", "usage", "wrong",
];

/// Whether a word may be the name of a file without an extension, or a remark that relay does not know.
fn is_bare_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        && !REMARKS.contains(&word.to_ascii_lowercase().as_str())
}

/// Splits a dialect's name, in braces or not, off the end.
pub(super) fn split_dialect(text: &str) -> (&str, Option<&'static dyn Dialect>) {
    let text = text.trim();
    let at = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let last = text.get(at..).unwrap_or_default().trim_matches(['{', '}']);
    match dialect::by_name(last) {
        Some(dialect) => (text[..at].trim_end(), Some(dialect)),
        None => (text, None),
    }
}

/// The text in quotes, if there is nothing else.
fn unquoted(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| {
        let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inside.is_empty() && !inside.contains(quote)).then_some(inside)
    })
}

/// The value of an attribute that names a file.
pub(super) fn file_attribute(text: &str) -> Option<&str> {
    const KEYS: &[&str] = &["file", "path", "filename", "filepath", "file_path", "title", "name"];
    let mut rest = text;
    while let Some(at) = rest.find('=') {
        let key_at = rest[..at].rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |i| i + 1);
        let key = rest.get(key_at..at).unwrap_or_default();
        let after = &rest[at + 1..];
        let quote = after.chars().next().filter(|c| ['"', '\''].contains(c));
        let (value, next) = match quote {
            Some(quote) => after[1..].split_once(quote)?,
            None if file_names::is_spaced_path(after.trim_end_matches(['}', '>'])) => {
                (after.trim_end_matches(['}', '>']), "")
            }
            None => {
                let end = after.find(|c: char| c.is_whitespace() || "},>".contains(c)).unwrap_or(after.len());
                after.split_at(end)
            }
        };
        let certain = quote.is_some() && !["title", "name"].contains(&key);
        let last = value.rsplit(' ').next().unwrap_or(value);
        if KEYS.contains(&key)
            && !value.is_empty()
            && (certain || is_file(value) || (value.contains('/') && is_file(last)))
        {
            return Some(value);
        }
        rest = next;
    }
    None
}

/// `lang:path`. A number before the colon is a quotation of lines, not a language.
fn split_colon(word: &str) -> Option<(&str, &str)> {
    let (language, path) = word.split_once(':')?;
    if language.len() == 1 && path.starts_with(['/', '\\']) {
        return Some(("", word));
    }
    let is_language = !language.is_empty()
        && language.chars().all(|c| c.is_alphanumeric() || "+-#_".contains(c))
        && !language.chars().all(|c| c.is_ascii_digit());
    (is_language && is_path(path) && !path.contains(':')).then_some((language, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_name_a_file_in_the_info_line() {
        for (info, language, path, dialect) in [
            ("typescript // src/a.ts", "typescript", "src/a.ts", None),
            ("typescript // src/a.ts new-unified", "typescript", "src/a.ts", Some("new-unified")),
            ("typescript // src/a.ts {new-unified}", "typescript", "src/a.ts", Some("new-unified")),
            (
                "ts // \"src/My File.tsx\" search-replace",
                "ts",
                "src/My File.tsx",
                Some("multi-search-replace"),
            ),
            ("ts // 'src/My File.tsx'", "ts", "src/My File.tsx", None),
            ("ts // \"plain\"", "ts", "plain", None),
            ("js // src/My Docs/my file.js", "js", "src/My Docs/my file.js", None),
            ("python # src/a.py", "python", "src/a.py", None),
            ("sql -- db/a.sql", "sql", "db/a.sql", None),
            ("css /* a.css */", "css", "a.css", None),
            ("html <!-- a.html -->", "html", "a.html", None),
            ("ini ; a.ini", "ini", "a.ini", None),
            ("// src/a.ts", "", "src/a.ts", None),
            ("make # Makefile", "make", "Makefile", None),
            ("ts // src/a.ts (new file)", "ts", "src/a.ts", None),
            ("ts // ../x", "ts", "../x", None),
            ("ts src/main.ts", "ts", "src/main.ts", None),
            ("ts src/main.ts unified", "ts", "src/main.ts", Some("unified")),
            ("ts:src/main.ts", "ts", "src/main.ts", None),
            ("ts:src/my file.ts", "ts", "src/my file.ts", None),
            ("ts:src/my file.ts unified", "ts", "src/my file.ts", Some("unified")),
            ("ts src/my file.ts", "ts", "src/my file.ts", None),
            ("ts file=src/my file.ts", "ts", "src/my file.ts", None),
            ("sh // gradlew", "sh", "gradlew", None),
            ("// LICENSE", "", "LICENSE", None),
            ("sh // run-all multi-search-replace", "sh", "run-all", Some("multi-search-replace")),
            ("c:src/main.c", "c", "src/main.c", None),
            ("C:\\x\\a.c", "", "C:\\x\\a.c", None),
            ("ts file=src/a.ts", "ts", "src/a.ts", None),
            ("ts {path=src/a.ts}", "ts", "src/a.ts", None),
            ("ts title=\"src/a.ts\"", "ts", "src/a.ts", None),
            ("ts filename=\"a b.ts\" {1,3}", "ts", "a b.ts", None),
            ("src/main.ts", "", "src/main.ts", None),
        ] {
            let header = read(info);
            assert_eq!(header.subject, HeaderSubject::Path(path), "{info}");
            assert_eq!(header.language, language, "{info}");
            assert_eq!(header.dialect.map(Dialect::name), dialect, "{info}");
        }
    }

    #[test]
    fn a_remark_behind_a_path_says_that_the_block_is_not_the_file() {
        for info in [
            "ts // src/a.ts - excerpt",
            "ts // src/a.ts - old version",
            "ts // src/a.ts — original",
            "ts // src/a.ts (lines 1-3)",
            "ts // src/a.ts [old]",
            "ts:src/a.ts old",
            "ts file=src/a.ts old",
            "ts title=\"src/a.ts\" old",
            "ts // src/a.ts (before) new-unified",
        ] {
            let header = read(info);
            assert_eq!(
                (header.subject, header.remark.is_some()),
                (HeaderSubject::Path("src/a.ts"), true),
                "{info}"
            );
        }
        for info in [
            "ts // src/a.ts - the cart",
            "ts // src/a.ts;",
            "ts // src/a.ts,",
            "ts src/a.ts,",
            "ts:src/a.ts:",
        ] {
            let header = read(info);
            assert_eq!((header.subject, header.remark), (HeaderSubject::Path("src/a.ts"), None), "{info}");
        }
        assert!(matches!(read("ts // src/a.ts src/b.ts").subject, HeaderSubject::Ambiguous(_)));
    }

    #[test]
    fn prose_in_the_info_line_is_no_path() {
        for info in [
            "ts",
            "",
            "ts // an example",
            "bash",
            "ts {1,3-5} showLineNumbers",
            "ts title=\"An example\"",
            "12:15:src/a.ts",
            "python copy",
            "vb.net",
            "text/plain",
            "dockerfile",
            "ts // see https://x.org/a.ts",
        ] {
            assert_eq!(read(info).subject, HeaderSubject::None, "{info}");
        }
        assert_eq!(read("json // rename-file").subject, HeaderSubject::Rename);
        assert!(matches!(read("ts // the first part of src/a.ts here").subject, HeaderSubject::Ambiguous(_)));
        assert!(matches!(read("ts // My Component.tsx").subject, HeaderSubject::Ambiguous(_)));
        assert!(matches!(read("sh // run-all").subject, HeaderSubject::Ambiguous(_)));
        assert!(matches!(read("ts:src/my other a.ts b.ts x").subject, HeaderSubject::Ambiguous(_)));
        assert_eq!(read("ts // before").subject, HeaderSubject::None);
        assert_eq!(read("12:15:src/a.ts").cited, Some("src/a.ts"));
        assert_eq!(read("ts 1:3:m.ts").cited, Some("m.ts"));
    }
}
