//! Which language code is written in, by the name that a code block gives it or by the name of a file, and what a
//! scanner has to know of it: comments, strings, words.

use std::collections::HashSet;
use std::sync::Arc;

use relaycode_change::proposal::path::RelPath;
use relaycode_change::syntax::highlight::language_keywords;

/// A kind of string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StringForm {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// Goes on in the next line.
    pub(super) multiline: bool,
    /// A backslash takes the next character with it.
    pub(super) escapes: bool,
}

const fn form(quote: &'static str, multiline: bool, escapes: bool) -> StringForm {
    StringForm { open: quote, close: quote, multiline, escapes }
}

const DOUBLE: StringForm = form("\"", false, true);
const SINGLE: StringForm = form("'", false, true);
const DOUBLE_LINES: StringForm = form("\"", true, true);

/// Where a language has words of its own kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyntaxFamily {
    /// Words, calls, operators.
    Code,
    /// Names before a colon or an equals sign are keys, and not much else is coloured.
    Data,
    /// Tags with attributes.
    Markup,
    Shell,
    /// Lines with a sign before them.
    Diff,
}

/// What a scanner has to know.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxRules {
    pub(super) family: SyntaxFamily,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    pub(super) nested_comments: bool,
    pub(super) strings: &'static [StringForm],
    /// `'a` may be a lifetime, and `r#"…"#` is a string.
    pub(super) rust: bool,
    pub(super) any_case: bool,
}

const BASE: SyntaxRules = SyntaxRules {
    family: SyntaxFamily::Code,
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    nested_comments: false,
    strings: &[DOUBLE, SINGLE],
    rust: false,
    any_case: false,
};

const C_LIKE: SyntaxRules = BASE;
const SCRIPT: SyntaxRules = SyntaxRules { strings: &[DOUBLE, SINGLE, form("`", true, true)], ..BASE };
const GO: SyntaxRules = SyntaxRules { strings: &[DOUBLE, SINGLE, form("`", true, false)], ..BASE };
const RUST: SyntaxRules = SyntaxRules { nested_comments: true, strings: &[DOUBLE_LINES], rust: true, ..BASE };
/// Texts over several lines are between three quotes.
const TRIPLE: SyntaxRules = SyntaxRules { strings: &[form("\"\"\"", true, true), DOUBLE, SINGLE], ..BASE };
const PYTHON: SyntaxRules = SyntaxRules {
    line_comments: &["#"],
    block_comment: None,
    strings: &[form("\"\"\"", true, true), form("'''", true, true), DOUBLE, SINGLE],
    ..BASE
};
const RUBY: SyntaxRules = SyntaxRules {
    line_comments: &["#"],
    block_comment: None,
    strings: &[DOUBLE_LINES, form("'", true, true), form("`", false, true)],
    ..BASE
};
const PHP: SyntaxRules =
    SyntaxRules { line_comments: &["//", "#"], strings: &[DOUBLE_LINES, form("'", true, true)], ..BASE };
const LUA: SyntaxRules = SyntaxRules { line_comments: &["--"], block_comment: Some(("--[[", "]]")), ..BASE };
const SQL: SyntaxRules = SyntaxRules {
    line_comments: &["--"],
    strings: &[form("'", true, false), form("\"", false, false)],
    any_case: true,
    ..BASE
};
const SHELL: SyntaxRules = SyntaxRules {
    family: SyntaxFamily::Shell,
    line_comments: &["#"],
    block_comment: None,
    strings: &[DOUBLE_LINES, form("'", true, false)],
    ..BASE
};
const STYLES: SyntaxRules = SyntaxRules { family: SyntaxFamily::Data, line_comments: &[], ..BASE };
const JSON: SyntaxRules = SyntaxRules { family: SyntaxFamily::Data, strings: &[DOUBLE], ..BASE };
const YAML: SyntaxRules =
    SyntaxRules { family: SyntaxFamily::Data, line_comments: &["#"], block_comment: None, ..BASE };
const TOML: SyntaxRules = SyntaxRules {
    strings: &[form("\"\"\"", true, true), form("'''", true, false), DOUBLE, form("'", false, false)],
    ..YAML
};
const INI: SyntaxRules = SyntaxRules { line_comments: &["#", ";"], strings: &[DOUBLE], ..YAML };
const MARKUP: SyntaxRules = SyntaxRules {
    family: SyntaxFamily::Markup,
    line_comments: &[],
    block_comment: Some(("<!--", "-->")),
    strings: &[form("\"", true, false), form("'", true, false)],
    ..BASE
};
const DIFF: SyntaxRules =
    SyntaxRules { family: SyntaxFamily::Diff, line_comments: &[], block_comment: None, strings: &[], ..BASE };

/// Names of a language (the first is that of its files), its rules, and its words where no grammar gives them.
type LanguageRow = (&'static str, &'static SyntaxRules, &'static str);

#[rustfmt::skip]
const LANGUAGES: &[LanguageRow] = &[
    ("rs rust", &RUST, ""),
    ("py python pyi python3", &PYTHON, ""),
    ("js javascript mjs cjs jsx node", &SCRIPT, ""),
    ("ts typescript mts cts", &SCRIPT, ""),
    ("tsx", &SCRIPT, ""),
    ("go golang", &GO, ""),
    ("java", &TRIPLE, ""),
    ("c", &C_LIKE, ""),
    ("cpp c++ cc cxx hpp h hh", &C_LIKE, ""),
    ("rb ruby gemspec rake", &RUBY, ""),
    ("sh bash shell zsh ksh console shellsession shell-session", &SHELL, ""),
    ("css scss less", &STYLES, ""),
    ("html htm xhtml vue svelte", &MARKUP, ""),
    ("xml svg xsl plist", &MARKUP, ""),
    ("json jsonc json5 jsonl ndjson", &JSON, ""),
    ("yaml yml", &YAML, ""),
    ("toml", &TOML, "true false"),
    ("ini cfg conf properties env dotenv", &INI, "true false"),
    ("diff patch udiff", &DIFF, ""),
    ("sql postgresql mysql sqlite psql", &SQL, "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction union unique update using values view when where with"),
    ("kt kotlin kts", &TRIPLE, "abstract as break by catch class companion const continue data do else enum false final finally for fun if import in init inline interface internal is lateinit null object open operator out override package private protected public return sealed super suspend this throw true try typealias val var vararg when where while"),
    ("swift", &TRIPLE, "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough false fileprivate for func guard if import in init inout internal is let nil open operator override private protocol public repeat rethrows return self some static struct subscript super switch throw throws true try typealias var where while"),
    ("cs csharp c#", &TRIPLE, "abstract as async await base break case catch class const continue default delegate do else enum event explicit extern false finally fixed for foreach get if implicit in init interface internal is lock namespace new null operator out override params partial private protected public readonly record ref return sealed set sizeof static struct switch this throw true try typeof using var virtual void when where while yield"),
    ("php", &PHP, "abstract and array as break case catch class clone const continue default do echo else elseif empty enum extends false final finally fn for foreach function global if implements include instanceof interface isset match namespace new null or private protected public readonly require return self static switch this throw trait true try unset use var while yield"),
    ("lua", &LUA, "and break do else elseif end false for function goto if in local nil not or repeat return then true until while"),
    ("scala sc", &TRIPLE, "abstract case catch class def do else enum extends false final finally for given if implicit import lazy match new null object override package private protected return sealed super then this throw trait true try type using val var while with yield"),
    ("dart", &TRIPLE, "abstract as assert async await break case catch class const continue default do else enum extends factory false final finally for get if implements import in is late mixin new null on operator required return set static super switch this throw true try typedef var void while with yield"),
    ("zig", &C_LIKE, "align and anytype break catch comptime const continue defer else enum errdefer error export extern false fn for if inline null opaque or orelse packed pub return struct switch test true try undefined union unreachable var while"),
    ("proto protobuf", &C_LIKE, "enum extend import map message oneof option optional package repeated required reserved returns rpc service stream syntax true false"),
    ("dockerfile docker", &SHELL, "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR"),
    ("makefile make mk", &SHELL, "define else endef endif export ifdef ifeq ifndef ifneq include override unexport"),
];

/// A language that has colours. Clones are cheap.
#[derive(Debug, Clone)]
pub struct CodeLanguage {
    pub(super) rules: &'static SyntaxRules,
    pub(super) words: Arc<HashSet<String>>,
}

/// Longest name of a language.
const NAME_BYTES: usize = 40;

impl CodeLanguage {
    /// By what stands behind the fence of a code block: `rust`, `rs`, `Rust,ignore`, `{.python}`, or a file's name.
    pub fn from_name(name: &str) -> Option<CodeLanguage> {
        let first = name.split(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';')).next()?;
        let first = first.trim_matches(|c| matches!(c, '{' | '}' | '.'));
        if first.is_empty() || first.len() > NAME_BYTES {
            return None;
        }
        let lower = first.to_ascii_lowercase();
        CodeLanguage::of(&lower).or_else(|| CodeLanguage::of(lower.rsplit_once('.')?.1))
    }

    /// By the name of a file.
    pub fn from_path(path: &str) -> Option<CodeLanguage> {
        let file = path.rsplit('/').next()?;
        match file {
            "Gemfile" | "Rakefile" | "Vagrantfile" => CodeLanguage::of("rb"),
            ".bashrc" | ".bash_profile" | ".profile" | "PKGBUILD" => CodeLanguage::of("sh"),
            ".gitconfig" | ".editorconfig" => CodeLanguage::of("ini"),
            "Cargo.lock" => CodeLanguage::of("toml"),
            _ => CodeLanguage::from_name(file),
        }
    }

    fn of(name: &str) -> Option<CodeLanguage> {
        let (names, rules, words) =
            LANGUAGES.iter().find(|(names, ..)| names.split(' ').any(|other| other == name))?;
        let extension = names.split(' ').next()?;
        let grammar = RelPath::parse(&format!("a.{extension}")).ok();
        let words = match grammar.filter(|_| words.is_empty()).and_then(|path| language_keywords(&path)) {
            Some(words) => words,
            None => Arc::new(words.split_whitespace().map(str::to_owned).collect()),
        };
        Some(CodeLanguage { rules, words })
    }
}
