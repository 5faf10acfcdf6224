//! What the names of a grammar's nodes mean. The rules hold for every language; if a name misleads in one,
//! the exception is in [`language_exception`]. All names are judged once, before the tree is visited.

use std::num::NonZeroU16;

use ast_grep_language::SupportLang;
use tree_sitter::Language;

use super::SyntaxClass::{self, Comment, Keyword, Name, Number, Text, Type};
use SyntaxNodeKind::{Call, Class, Function, Interpolation, Other, TypeDefinition};

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
                return if is_word(name) { SyntaxNodeKind::Word } else { Other };
            }
            language_exception(language, name).unwrap_or_else(|| kind(name))
        };
        let fields = 0..=u16::try_from(grammar.field_count()).unwrap_or(u16::MAX);
        let role = |id: u16| role(grammar.field_name_for_id(id).unwrap_or_default());
        SyntaxNodeKinds { kinds: ids.map(kind).collect(), roles: fields.map(role).collect() }
    }

    pub(super) fn of_node(&self, id: u16) -> SyntaxNodeKind {
        self.kinds.get(usize::from(id)).copied().unwrap_or(Other)
    }

    pub(super) fn role(&self, field: Option<NonZeroU16>) -> SyntaxNodeRole {
        let role = field.and_then(|id| self.roles.get(usize::from(id.get())));
        role.copied().unwrap_or(SyntaxNodeRole::Other)
    }
}

/// Whether a child is the name of a function, or leads to it.
pub(super) fn is_function_name(parent: SyntaxNodeKind, parent_named: bool, role: SyntaxNodeRole) -> bool {
    match role {
        SyntaxNodeRole::Function | SyntaxNodeRole::Member => parent == Call || parent_named,
        SyntaxNodeRole::Name => matches!(parent, Function | Call) || parent_named,
        SyntaxNodeRole::Declarator => parent == Function || parent_named,
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
        (Yaml, "string_scalar") => Other,
        (Yaml, "double_quote_scalar" | "single_quote_scalar" | "block_scalar") => Class(Text),
        (Yaml, "boolean_scalar" | "null_scalar") => Class(Keyword),
        (Yaml, "anchor" | "alias" | "tag") => Class(Type),
        (Html | Css, "tag_name") | (Html, "doctype") | (Css, "important" | "at_keyword") => Class(Keyword),
        (Html | Css, "attribute_name") => Class(Name),
        (Html, "attribute_value" | "quoted_attribute_value") => Class(Text),
        (Css, "property_name" | "function_name") => Class(Name),
        (Css, "class_name" | "id_name") => Class(Type),
        (Css, "color_value") => Class(Number),
        (Bash, "command_name") => Class(Name),
        (Python, "type" | "generic_type") => SyntaxNodeKind::TypeUse,
        (Ruby, "constant") => Class(Type),
        (Ruby, "simple_symbol") => Class(Text),
        _ => return None,
    };
    Some(kind)
}

/// Names that mislead in any language, between blanks.
const EXCEPTIONS: &[(SyntaxNodeKind, &str)] = &[
    (Class(Keyword), "true false null null_literal none nil auto undefined self this super crate iota"),
    (Class(Keyword), "mutable_specifier"),
    (Class(Type), "type_identifier primitive_type predefined_type sized_type_specifier void_type"),
    (Class(Type), "integral_type floating_point_type boolean_type"),
    (Interpolation, "interpolation string_interpolation template_substitution template_type expansion"),
    (Interpolation, "simple_expansion command_substitution arithmetic_expansion"),
    // Several strings, with comments between them.
    (Other, "concatenated_string chained_string herestring_redirect"),
    (Class(Text), "template_literal_type regex rune_literal heredoc_body heredoc_start heredoc_beginning"),
    (Class(Text), "heredoc_end system_lib_string subshell_string"),
    (Class(Number), "int_literal imaginary_literal rational complex"),
    (TypeDefinition, "class_declaration class_definition class abstract_class_declaration"),
    (TypeDefinition, "interface_declaration enum_declaration record_declaration"),
    (Call, "annotation marker_annotation jsx_opening_element jsx_closing_element jsx_self_closing_element"),
];

/// Parts of names; the first one that is found decides.
const PARTS: &[(SyntaxNodeKind, &str)] = &[
    (Class(Comment), "comment"),
    (Class(Text), "string char_literal character"),
    (Class(Number), "number integer float"),
    (Call, "call invocation"),
    (Function, "function method constructor"),
];

/// In any language.
fn kind(name: &str) -> SyntaxNodeKind {
    let exception = EXCEPTIONS.iter().find(|(_, names)| names.split(' ').any(|other| other == name));
    let part = || PARTS.iter().find(|(_, parts)| parts.split(' ').any(|part| name.contains(part)));
    exception.or_else(part).map_or(Other, |(kind, _)| *kind)
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
pub(super) fn is_word(name: &str) -> bool {
    let name = name.strip_prefix(['#', '@']).unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '?' | '!'))
}
