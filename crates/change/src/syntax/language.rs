//! Which grammar fits a file, and where none can be trusted.

use ast_grep_language::SupportLang::{self, Css, Html, Json, Tsx, Yaml};

use crate::proposal::path::RelPath;

/// By the file's name. Only grammars that are compiled in, and only for extensions that mean the language
/// itself rather than a relative of it.
pub(super) fn for_check(path: &RelPath) -> Option<SupportLang> {
    let language = match path.extension()?.to_ascii_lowercase().as_str() {
        "sh" | "bash" => SupportLang::Bash,
        "c" => SupportLang::C,
        // Headers may be either; C++ reads nearly all of C.
        "cc" | "cpp" | "cxx" | "hpp" | "hh" | "h" => SupportLang::Cpp,
        "css" => SupportLang::Css,
        "go" => SupportLang::Go,
        "html" | "htm" => SupportLang::Html,
        "java" => SupportLang::Java,
        "js" | "cjs" | "mjs" | "jsx" => SupportLang::JavaScript,
        "json" => SupportLang::Json,
        "py" | "pyi" => SupportLang::Python,
        "rb" | "gemspec" => SupportLang::Ruby,
        "rs" => SupportLang::Rust,
        "ts" | "cts" | "mts" => SupportLang::TypeScript,
        "tsx" => SupportLang::Tsx,
        "yaml" | "yml" => SupportLang::Yaml,
        _ => return None,
    };
    (language != SupportLang::Json || !allows_comments(path)).then_some(language)
}

/// The grammar that checks the file, or one of a near relative: slightly wrong colours harm nobody.
pub(super) fn for_highlight(path: &RelPath) -> Option<SupportLang> {
    let by_name = match path.file_name() {
        ".bashrc" | ".bash_profile" | ".profile" | "PKGBUILD" => Some(SupportLang::Bash),
        "Gemfile" | "Rakefile" | "Vagrantfile" => Some(SupportLang::Ruby),
        _ => None,
    };
    let relative = || match path.extension()?.to_ascii_lowercase().as_str() {
        "zsh" | "ksh" => Some(SupportLang::Bash),
        "json" | "jsonc" | "json5" | "code-workspace" => Some(SupportLang::Json),
        "rake" => Some(SupportLang::Ruby),
        "xml" | "svg" | "xhtml" => Some(SupportLang::Html),
        _ => None,
    };
    by_name.or_else(|| for_check(path)).or_else(relative)
}

/// As people write it.
pub(super) fn name(language: SupportLang) -> String {
    match language {
        SupportLang::Cpp => "C++".to_owned(),
        Css | Html | Json | Tsx | Yaml => language.to_string().to_uppercase(),
        _ => language.to_string(),
    }
}

/// JSON files whose readers accept comments and trailing commas.
fn allows_comments(path: &RelPath) -> bool {
    let name = path.file_name();
    let config = ["tsconfig", "jsconfig", "devcontainer", ".eslintrc", ".babelrc", ".swcrc", "deno"];
    config.iter().any(|prefix| name.starts_with(prefix))
        || path.components().any(|part| part == ".vscode" || part == ".devcontainer")
}

/// Whether the text is a template that becomes the language only later (Jinja, Helm, Handlebars).
pub(super) fn is_template(text: &str, language: SupportLang) -> bool {
    matches!(language, Css | Html | Json | Yaml)
        && ["{{", "{%", "<%", "<?"].iter().any(|mark| text.contains(mark))
}
