//! What the names of a grammar's nodes mean. The rules hold for every language; if a name misleads in one,
//! the exception is in [`language_exception`]. All names are judged once, before the tree is visited.

use std::num::NonZeroU16;

use ast_grep_language::SupportLang;
use tree_sitter::Language;

use super::SyntaxClass;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyntaxNodeKind {
    /// All of it is of one class, except for interpolations.
    Class(SyntaxClass),
    /// Code inside a string.
    Interpolation,
    Word,
    Call,
    /// Defines a function.
    Function,
    /// Defines a named type.
    TypeDefinition,
    TypeUse,
    /// A key and its value.
    Entry,
    Other,
}

/// What a child is to its parent, by its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyntaxNodeRole {
    /// The name of a definition.
    Name,
    /// The target of a call.
    Function,
    /// The last part of a path of names: `c` in `a.b.c`.
    Member,
    /// What a C declaration declares.
    Declarator,
    /// The target of `new`.
    Constructor,
    Key,
    Other,
}

/// By the numbers that the grammar gives to kinds and fields.
pub(super) struct SyntaxNodeKinds {
    kinds: Vec<SyntaxNodeKind>,
    roles: Vec<SyntaxNodeRole>,
}

impl SyntaxNodeKinds {
    pub(super) fn for_grammar(grammar: &Language, language: SupportLang) -> SyntaxNodeKinds {
        let ids = 0..u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let kind = |id: u16| {
            let name = grammar.node_kind_for_id(id).unwrap_or_default();
            if !grammar.node_kind_is_named(id) {
                return if is_word(name) { SyntaxNodeKind::Word } else { SyntaxNodeKind::Other };
            }
            language_exception(language, name).unwrap_or_else(|| kind(name))
        };
        let fields = 0..=u16::try_from(grammar.field_count()).unwrap_or(u16::MAX);
        let role = |id: u16| role(grammar.field_name_for_id(id).unwrap_or_default());
        SyntaxNodeKinds { kinds: ids.map(kind).collect(), roles: fields.map(role).collect() }
    }

    pub(super) fn of_node(&self, id: u16) -> SyntaxNodeKind {
        self.kinds.get(usize::from(id)).copied().unwrap_or(SyntaxNodeKind::Other)
    }

    pub(super) fn role(&self, field: Option<NonZeroU16>) -> SyntaxNodeRole {
        let role = field.and_then(|id| self.roles.get(usize::from(id.get())));
        role.copied().unwrap_or(SyntaxNodeRole::Other)
    }
}

/// Whether a child is the name of a function, or leads to it.
pub(super) fn is_function_name(parent: SyntaxNodeKind, parent_named: bool, role: SyntaxNodeRole) -> bool {
    match role {
        SyntaxNodeRole::Function => parent == SyntaxNodeKind::Call || parent_named,
        SyntaxNodeRole::Name => {
            matches!(parent, SyntaxNodeKind::Function | SyntaxNodeKind::Call) || parent_named
        }
        SyntaxNodeRole::Member => parent == SyntaxNodeKind::Call || parent_named,
        SyntaxNodeRole::Declarator => parent == SyntaxNodeKind::Function || parent_named,
        _ => false,
    }
}

pub(super) fn is_type_name(parent: SyntaxNodeKind, role: SyntaxNodeRole) -> bool {
    match role {
        SyntaxNodeRole::Name => parent == SyntaxNodeKind::TypeDefinition,
        SyntaxNodeRole::Constructor => true,
        _ => parent == SyntaxNodeKind::TypeUse,
    }
}

pub(super) fn is_key(parent: SyntaxNodeKind, role: SyntaxNodeRole) -> bool {
    parent == SyntaxNodeKind::Entry && role == SyntaxNodeRole::Key
}

/// Names with a different meaning in one language.
fn language_exception(language: SupportLang, name: &str) -> Option<SyntaxNodeKind> {
    use SupportLang::{Bash, Css, Html, Json, Python, Ruby, Yaml};
    let kind = match (language, name) {
        (Json, "pair") | (Yaml, "block_mapping_pair" | "flow_pair") => SyntaxNodeKind::Entry,
        // Nearly everything in YAML is a string without quotes.
        (Yaml, "string_scalar") => SyntaxNodeKind::Other,
        (Yaml, "double_quote_scalar" | "single_quote_scalar" | "block_scalar") => {
            SyntaxNodeKind::Class(SyntaxClass::Text)
        }
        (Yaml, "boolean_scalar" | "null_scalar") => SyntaxNodeKind::Class(SyntaxClass::Keyword),
        (Yaml, "anchor" | "alias" | "tag") => SyntaxNodeKind::Class(SyntaxClass::Type),
        (Html | Css, "tag_name") | (Html, "doctype") | (Css, "important" | "at_keyword") => {
            SyntaxNodeKind::Class(SyntaxClass::Keyword)
        }
        (Html | Css, "attribute_name") => SyntaxNodeKind::Class(SyntaxClass::Name),
        (Html, "attribute_value" | "quoted_attribute_value") => SyntaxNodeKind::Class(SyntaxClass::Text),
        (Css, "property_name" | "function_name") => SyntaxNodeKind::Class(SyntaxClass::Name),
        (Css, "class_name" | "id_name") => SyntaxNodeKind::Class(SyntaxClass::Type),
        (Css, "color_value") => SyntaxNodeKind::Class(SyntaxClass::Number),
        (Bash, "command_name") => SyntaxNodeKind::Class(SyntaxClass::Name),
        (Python, "type" | "generic_type") => SyntaxNodeKind::TypeUse,
        (Ruby, "constant") => SyntaxNodeKind::Class(SyntaxClass::Type),
        (Ruby, "simple_symbol") => SyntaxNodeKind::Class(SyntaxClass::Text),
        _ => return None,
    };
    Some(kind)
}

/// In any language.
fn kind(name: &str) -> SyntaxNodeKind {
    match name {
        "true" | "false" | "null" | "null_literal" | "none" | "nil" | "auto" | "undefined" | "self"
        | "this" | "super" | "crate" | "iota" | "mutable_specifier" => {
            return SyntaxNodeKind::Class(SyntaxClass::Keyword);
        }
        "type_identifier"
        | "primitive_type"
        | "predefined_type"
        | "sized_type_specifier"
        | "void_type"
        | "integral_type"
        | "floating_point_type"
        | "boolean_type" => return SyntaxNodeKind::Class(SyntaxClass::Type),
        "interpolation"
        | "string_interpolation"
        | "template_substitution"
        | "template_type"
        | "expansion"
        | "simple_expansion"
        | "command_substitution"
        | "arithmetic_expansion" => {
            return SyntaxNodeKind::Interpolation;
        }
        // Several strings, with comments between them.
        "concatenated_string" | "chained_string" | "herestring_redirect" => return SyntaxNodeKind::Other,
        "template_literal_type"
        | "regex"
        | "rune_literal"
        | "heredoc_body"
        | "heredoc_start"
        | "heredoc_beginning"
        | "heredoc_end"
        | "system_lib_string"
        | "subshell_string" => {
            return SyntaxNodeKind::Class(SyntaxClass::Text);
        }
        "int_literal" | "imaginary_literal" | "rational" | "complex" => {
            return SyntaxNodeKind::Class(SyntaxClass::Number);
        }
        "class_declaration"
        | "class_definition"
        | "class"
        | "abstract_class_declaration"
        | "interface_declaration"
        | "enum_declaration"
        | "record_declaration" => {
            return SyntaxNodeKind::TypeDefinition;
        }
        "annotation"
        | "marker_annotation"
        | "jsx_opening_element"
        | "jsx_closing_element"
        | "jsx_self_closing_element" => return SyntaxNodeKind::Call,
        _ => {}
    }
    let has = |part: &str| name.contains(part);
    if has("comment") {
        SyntaxNodeKind::Class(SyntaxClass::Comment)
    } else if has("string") || has("char_literal") || has("character") {
        SyntaxNodeKind::Class(SyntaxClass::Text)
    } else if has("number") || has("integer") || has("float") {
        SyntaxNodeKind::Class(SyntaxClass::Number)
    } else if has("call") || has("invocation") {
        SyntaxNodeKind::Call
    } else if has("function") || has("method") || has("constructor") {
        SyntaxNodeKind::Function
    } else {
        SyntaxNodeKind::Other
    }
}

fn role(field: &str) -> SyntaxNodeRole {
    match field {
        "name" => SyntaxNodeRole::Name,
        "function" | "macro" => SyntaxNodeRole::Function,
        "field" | "property" | "attribute" | "method" => SyntaxNodeRole::Member,
        "declarator" => SyntaxNodeRole::Declarator,
        "constructor" => SyntaxNodeRole::Constructor,
        "key" => SyntaxNodeRole::Key,
        _ => SyntaxNodeRole::Other,
    }
}

/// Whether the name of a token is a word: `while`, `#include`, `@media`, `defined?`, `non-sealed`.
fn is_word(name: &str) -> bool {
    let name = name.strip_prefix(['#', '@']).unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '?' | '!'))
}
