//! What the names of a grammar's nodes say. The rules hold for every language; where a name misleads in
//! one, the exception is in [`exception`]. All names are judged once, before the tree is looked at.

use std::num::NonZeroU16;

use ast_grep_language::SupportLang;
use tree_sitter::Language;

use super::Class;

/// What a kind of node means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// All of it is of one class, but for holes.
    Is(Class),
    /// Code inside a string.
    Hole,
    /// A word of the language.
    Word,
    /// Something is called.
    Call,
    /// A function is defined.
    Function,
    /// A type with a name is defined.
    TypeDefinition,
    /// A name that stands for a type.
    TypeUse,
    /// A key and its value.
    Entry,
    /// Nothing in particular.
    Other,
}

/// What a child is to its parent, by the field it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The name of a definition.
    Name,
    /// What is called.
    Function,
    /// The last part of a path of names: `c` in `a.b.c`.
    Member,
    /// What a C declaration declares.
    Declarator,
    /// What `new` makes.
    Constructor,
    Key,
    Other,
}

/// The meanings of a grammar's kinds and fields, by their numbers.
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    roles: Vec<Role>,
}

impl Kinds {
    pub(super) fn of(grammar: &Language, language: SupportLang) -> Kinds {
        let ids = 0..u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let kind = |id: u16| {
            let name = grammar.node_kind_for_id(id).unwrap_or_default();
            if !grammar.node_kind_is_named(id) {
                return if is_word(name) { Kind::Word } else { Kind::Other };
            }
            exception(language, name).unwrap_or_else(|| kind(name))
        };
        let fields = 0..=u16::try_from(grammar.field_count()).unwrap_or(u16::MAX);
        let role = |id: u16| role(grammar.field_name_for_id(id).unwrap_or_default());
        Kinds { kinds: ids.map(kind).collect(), roles: fields.map(role).collect() }
    }

    pub(super) fn of_node(&self, id: u16) -> Kind {
        self.kinds.get(usize::from(id)).copied().unwrap_or(Kind::Other)
    }

    pub(super) fn role(&self, field: Option<NonZeroU16>) -> Role {
        let role = field.and_then(|id| self.roles.get(usize::from(id.get())));
        role.copied().unwrap_or(Role::Other)
    }
}

/// Whether a child is the name of a function, or leads to it.
pub(super) fn names(parent: Kind, parent_named: bool, role: Role) -> bool {
    match role {
        Role::Function => parent == Kind::Call || parent_named,
        Role::Name => matches!(parent, Kind::Function | Kind::Call) || parent_named,
        Role::Member => parent == Kind::Call || parent_named,
        Role::Declarator => parent == Kind::Function || parent_named,
        _ => false,
    }
}

/// Whether a child is the name of a type.
pub(super) fn types(parent: Kind, role: Role) -> bool {
    match role {
        Role::Name => parent == Kind::TypeDefinition,
        Role::Constructor => true,
        _ => parent == Kind::TypeUse,
    }
}

/// Whether a child is a key.
pub(super) fn is_key(parent: Kind, role: Role) -> bool {
    parent == Kind::Entry && role == Role::Key
}

/// Names that mean something else in one language than elsewhere.
fn exception(language: SupportLang, name: &str) -> Option<Kind> {
    use SupportLang::{Bash, Css, Html, Json, Python, Ruby, Yaml};
    let kind = match (language, name) {
        (Json, "pair") | (Yaml, "block_mapping_pair" | "flow_pair") => Kind::Entry,
        // Nearly everything in YAML is a string without quotes.
        (Yaml, "string_scalar") => Kind::Other,
        (Yaml, "double_quote_scalar" | "single_quote_scalar" | "block_scalar") => Kind::Is(Class::Text),
        (Yaml, "boolean_scalar" | "null_scalar") => Kind::Is(Class::Keyword),
        (Yaml, "anchor" | "alias" | "tag") => Kind::Is(Class::Type),
        (Html | Css, "tag_name") | (Html, "doctype") | (Css, "important" | "at_keyword") => {
            Kind::Is(Class::Keyword)
        }
        (Html | Css, "attribute_name") => Kind::Is(Class::Name),
        (Html, "attribute_value" | "quoted_attribute_value") => Kind::Is(Class::Text),
        (Css, "property_name" | "function_name") => Kind::Is(Class::Name),
        (Css, "class_name" | "id_name") => Kind::Is(Class::Type),
        (Css, "color_value") => Kind::Is(Class::Number),
        (Bash, "command_name") => Kind::Is(Class::Name),
        (Python, "type" | "generic_type") => Kind::TypeUse,
        (Ruby, "constant") => Kind::Is(Class::Type),
        (Ruby, "simple_symbol") => Kind::Is(Class::Text),
        _ => return None,
    };
    Some(kind)
}

/// What the name of a node says in any language.
fn kind(name: &str) -> Kind {
    match name {
        "true" | "false" | "null" | "null_literal" | "none" | "nil" | "auto" | "undefined" | "self"
        | "this" | "super" | "crate" | "iota" | "mutable_specifier" => return Kind::Is(Class::Keyword),
        "type_identifier"
        | "primitive_type"
        | "predefined_type"
        | "sized_type_specifier"
        | "void_type"
        | "integral_type"
        | "floating_point_type"
        | "boolean_type" => return Kind::Is(Class::Type),
        "interpolation"
        | "string_interpolation"
        | "template_substitution"
        | "template_type"
        | "expansion"
        | "simple_expansion"
        | "command_substitution"
        | "arithmetic_expansion" => {
            return Kind::Hole;
        }
        // Several strings, with comments between them.
        "concatenated_string" | "chained_string" | "herestring_redirect" => return Kind::Other,
        "template_literal_type"
        | "regex"
        | "rune_literal"
        | "heredoc_body"
        | "heredoc_start"
        | "heredoc_beginning"
        | "heredoc_end"
        | "system_lib_string"
        | "subshell_string" => {
            return Kind::Is(Class::Text);
        }
        "int_literal" | "imaginary_literal" | "rational" | "complex" => return Kind::Is(Class::Number),
        "class_declaration"
        | "class_definition"
        | "class"
        | "abstract_class_declaration"
        | "interface_declaration"
        | "enum_declaration"
        | "record_declaration" => {
            return Kind::TypeDefinition;
        }
        "annotation"
        | "marker_annotation"
        | "jsx_opening_element"
        | "jsx_closing_element"
        | "jsx_self_closing_element" => return Kind::Call,
        _ => {}
    }
    let has = |part: &str| name.contains(part);
    if has("comment") {
        Kind::Is(Class::Comment)
    } else if has("string") || has("char_literal") || has("character") {
        Kind::Is(Class::Text)
    } else if has("number") || has("integer") || has("float") {
        Kind::Is(Class::Number)
    } else if has("call") || has("invocation") {
        Kind::Call
    } else if has("function") || has("method") || has("constructor") {
        Kind::Function
    } else {
        Kind::Other
    }
}

fn role(field: &str) -> Role {
    match field {
        "name" => Role::Name,
        "function" | "macro" => Role::Function,
        "field" | "property" | "attribute" | "method" => Role::Member,
        "declarator" => Role::Declarator,
        "constructor" => Role::Constructor,
        "key" => Role::Key,
        _ => Role::Other,
    }
}

/// Whether the name of a token is a word: `while`, `#include`, `@media`, `defined?`, `non-sealed`.
fn is_word(name: &str) -> bool {
    let name = name.strip_prefix(['#', '@']).unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '?' | '!'))
}
