//! Paths that a response may name: relative to the project's root, inside it, and the same file on every
//! system. Everything else is refused here, before anything touches a disk.
//!
//! *Sealed* paths (`.git`, `.relaycode`) are never written by any change, in whatever spelling:
//! other case, full-width letters, zero-width characters, trailing dots or blanks, short names.

use std::fmt;

use relaycode_text::escape::is_unsafe;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

pub const PATH_BYTES: usize = 1_024;
/// Most bytes of one that is there already: as long as Linux takes one.
const EXISTING_BYTES: usize = 4_095;
/// Most bytes of one component.
pub const COMPONENT_BYTES: usize = 255;

/// A checked path: relative, `/` between components, none of them empty, `.` or `..`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RelPath(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing, or only blanks.
    #[error("the path is empty")]
    Empty,
    /// `/etc/passwd`, `\\server\share`, `~/x`.
    #[error("`{0}` is absolute; paths are relative to the project")]
    Absolute(String),
    /// `C:\x`, `c:x`.
    #[error("`{0}` names a Windows drive or stream; paths are relative to the project")]
    Drive(String),
    /// `../x`, `a/../b`.
    #[error("`{0}` contains `..`; paths stay inside the project")]
    Parent(String),
    /// `.git/config`, `.GIT\u{200d}/hooks`.
    #[error("`{path}` is inside `{sealed}`, which changes may not touch")]
    Sealed {
        /// As written.
        path: String,
        /// Which sealed directory it is.
        sealed: &'static str,
    },
    /// `aux.rs`, `com1`.
    #[error("`{0}` uses a name that Windows reserves for a device")]
    Reserved(String),
    /// `a/b. `, ` x`.
    #[error(
        "`{0}` has a part that begins or ends with a space, or ends with a dot; some systems cannot keep such a name"
    )]
    Edge(String),
    /// Control characters, `<>"|?*`, invisible characters.
    #[error("`{path}` contains {what}, which a path cannot have")]
    Character {
        path: String,
        /// A description of the character.
        what: String,
    },
    /// Over [`PATH_BYTES`] or [`COMPONENT_BYTES`].
    #[error("the path is too long ({bytes} bytes, at most {most})")]
    TooLong {
        bytes: usize,
        /// The limit.
        most: usize,
    },
}

impl RelPath {
    /// Normalises `text`: `\` becomes `/`, a leading `./` and doubled slashes go.
    ///
    /// ```
    /// use relaycode_change::proposal::path::RelPath;
    /// assert_eq!(RelPath::parse("./src\\main.rs").unwrap().as_str(), "src/main.rs");
    /// assert!(RelPath::parse("../x").is_err());
    /// assert!(RelPath::parse("src/.Git/config").is_err());
    /// ```
    ///
    /// # Errors
    /// [`PathError`] says which rule the path breaks.
    pub fn parse(text: &str) -> Result<RelPath, PathError> {
        if text.trim().is_empty() {
            return Err(PathError::Empty);
        }
        if text.len() > PATH_BYTES {
            return Err(PathError::TooLong { bytes: text.len(), most: PATH_BYTES });
        }
        let shown = || text.escape_debug().to_string();
        check_characters(text)?;
        if text.starts_with(['/', '\\']) || text == "~" || text.starts_with("~/") {
            return Err(PathError::Absolute(shown()));
        }
        if text.contains(':') {
            return Err(PathError::Drive(shown()));
        }
        let mut path = Vec::new();
        for component in text.split(['/', '\\']) {
            if component.is_empty() || component == "." {
                continue;
            }
            check_component(component, &shown)?;
            path.push(component);
        }
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        Ok(RelPath(path.join("/")))
    }

    /// A name that stands on this disk already, or did: it need not be one that every system can have (`a:b`, `con`,
    /// `back\\slash`, a line break). A byte that is no text is NUL and two hexadecimal digits, as the layer below writes it.
    /// Nothing is normalised; what is sealed is refused as in [`RelPath::parse`].
    ///
    /// ```
    /// use relaycode_change::proposal::path::RelPath;
    /// assert_eq!(RelPath::of_existing("logs/10:00?.log").unwrap().as_str(), "logs/10:00?.log");
    /// assert!(RelPath::of_existing("a/../b").is_err() && RelPath::of_existing(".git/config").is_err());
    /// ```
    ///
    /// # Errors
    /// [`PathError`] says why no change may touch it.
    pub fn of_existing(text: &str) -> Result<RelPath, PathError> {
        let shown = || text.escape_debug().to_string();
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.len() > EXISTING_BYTES {
            return Err(PathError::TooLong { bytes: text.len(), most: EXISTING_BYTES });
        }
        let is_byte = |part: &str| {
            part.get(..2).is_some_and(|digits| u8::from_str_radix(digits, 16).is_ok_and(|byte| byte >= 0x80))
        };
        if !text.split('\0').skip(1).all(is_byte) {
            return Err(PathError::Character { path: shown(), what: "a NUL".into() });
        }
        if text.starts_with('/') {
            return Err(PathError::Absolute(shown()));
        }
        for component in text.split('/') {
            if component.len() > COMPONENT_BYTES {
                return Err(PathError::TooLong { bytes: component.len(), most: COMPONENT_BYTES });
            }
            if matches!(component, "" | "." | "..") {
                return Err(PathError::Parent(shown()));
            }
            if let Some(sealed) = find_sealed(&plain_spelling(component)) {
                return Err(PathError::Sealed { path: shown(), sealed });
            }
        }
        Ok(RelPath(text.to_string()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Outermost first.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// What follows the last dot of the file name, if anything.
    pub fn extension(&self) -> Option<&str> {
        let (stem, extension) = self.file_name().rsplit_once('.')?;
        (!stem.is_empty() && !extension.is_empty()).then_some(extension)
    }

    /// A key that is equal for names that some file system would take for the same: canonical composition
    /// and lower case.
    pub fn folded_key(&self) -> String {
        self.0.nfc().collect::<String>().to_lowercase().nfc().collect()
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check_characters(text: &str) -> Result<(), PathError> {
    let fail = |what: String| PathError::Character { path: text.escape_debug().to_string(), what };
    for c in text.chars() {
        match c {
            '\0' => return Err(fail("a NUL".into())),
            '<' | '>' | '"' | '|' | '?' | '*' => return Err(fail(format!("`{c}`"))),
            _ if is_unsafe(c) => return Err(fail(format!("the invisible character U+{:04X}", c as u32))),
            _ => {}
        }
    }
    Ok(())
}

fn check_component(component: &str, shown: &dyn Fn() -> String) -> Result<(), PathError> {
    if component.len() > COMPONENT_BYTES {
        return Err(PathError::TooLong { bytes: component.len(), most: COMPONENT_BYTES });
    }
    let plain = plain_spelling(component);
    if plain == ".." || plain.is_empty() {
        return Err(PathError::Parent(shown()));
    }
    if let Some(sealed) = find_sealed(&plain) {
        return Err(PathError::Sealed { path: shown(), sealed });
    }
    if component.ends_with('.') || component.trim() != component {
        return Err(PathError::Edge(shown()));
    }
    if is_reserved(&plain) {
        return Err(PathError::Reserved(shown()));
    }
    Ok(())
}

/// Whether a component names something that no change may write, in any spelling that some file system
/// takes for it: a repository's `.git`, or relay's own `.relaycode`, at any depth.
///
/// ```
/// use relaycode_change::proposal::path::is_sealed;
///
/// assert!(is_sealed(".git") && is_sealed(".GIT. ") && is_sealed(".RelayCode") && is_sealed("GIT~1"));
/// assert!(!is_sealed(".gitignore") && !is_sealed("relaycode.config.json") && !is_sealed("readme~"));
/// ```
pub fn is_sealed(component: &str) -> bool {
    find_sealed(&plain_spelling(component)).is_some()
}

/// Which sealed directory a plain spelling names. A look-alike of a separator (`／`) counts as one.
fn find_sealed(plain: &str) -> Option<&'static str> {
    plain.split(['/', '\\', ':']).find_map(|part| sealed_name(without_edges(part)))
}

/// The spelling of a component that the most forgiving file system would see: compatibility forms composed,
/// case folded, ignorable characters and trailing dots and blanks removed. Code that treats some names
/// specially compares these, so that no other spelling slips by.
pub fn plain_spelling(component: &str) -> String {
    if component.is_ascii() {
        return without_edges(component).to_ascii_lowercase();
    }
    let folded: String = component
        .nfkc()
        .filter(|c| !is_unsafe(*c))
        .flat_map(char::to_lowercase)
        // The one folding that lower case does not do and that HFS+ and NTFS are known for.
        .map(|c| if c == 'ı' || c == 'İ' { 'i' } else { c })
        .collect();
    // A combining dot above is what lower case leaves of `İ`.
    without_edges(&folded.replace('\u{307}', "")).to_owned()
}

/// Without blanks around it and trailing dots, unless it consists of dots.
fn without_edges(folded: &str) -> &str {
    if folded == ".." || folded == "." {
        return folded;
    }
    folded.trim_start().trim_end_matches(|c: char| c == '.' || c.is_whitespace())
}

fn sealed_name(plain: &str) -> Option<&'static str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // The name before `~1`, as Windows shortens one that is too long for it.
    let stem = plain.split_once('~').filter(|(_, number)| is_number(number)).map_or("", |(stem, _)| stem);
    if plain == ".git" || stem == "git" || stem == "gi7eba" {
        return Some(".git");
    }
    // If several names begin alike, it shortens them to two letters and a hash.
    let hashed = plain.len() <= 8 && stem.starts_with("re");
    (plain == ".relaycode" || stem == "relayc" || hashed).then_some(".relaycode")
}

fn is_reserved(plain: &str) -> bool {
    let stem = plain.split('.').next().unwrap_or(plain).trim_end();
    if matches!(stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$") {
        return true;
    }
    let numbered = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    numbered.is_some_and(|n| n.chars().count() == 1 && n.starts_with(|c: char| "0123456789¹²³".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(text: &str) -> String {
        RelPath::parse(text).unwrap().to_string()
    }

    #[test]
    fn ordinary_paths_pass_and_are_normalised() {
        assert_eq!(ok("src/main.rs"), "src/main.rs");
        assert_eq!(ok("./src//main.rs"), "src/main.rs");
        assert_eq!(ok("src\\lib\\a.ts"), "src/lib/a.ts");
        assert_eq!(ok(".gitignore"), ".gitignore");
        assert_eq!(ok(".github/workflows/ci.yml"), ".github/workflows/ci.yml");
        assert_eq!(ok("My Component.tsx"), "My Component.tsx");
        assert_eq!(ok("app/[id]/(group)/@slot/page.tsx"), "app/[id]/(group)/@slot/page.tsx");
        assert_eq!(ok("recent~1.txt"), "recent~1.txt");
    }

    #[test]
    fn paths_outside_the_project_are_refused() {
        for text in [
            "",
            "  ",
            "/etc/passwd",
            "\\\\srv\\x",
            "~/x",
            "../x",
            "a/../b",
            "C:\\x",
            "c:x",
            "a/..",
            "a/.. /b",
            "..\u{200b}/x",
        ] {
            assert!(RelPath::parse(text).is_err(), "{text:?} passed");
        }
    }

    #[test]
    fn sealed_paths_are_refused_in_every_spelling() {
        for text in [
            ".git/config",
            ".GIT/hooks/x",
            "a/.Git",
            ".git.",
            ".git ",
            ".git. . ",
            ".g\u{200c}it/x",
            "git~1/x",
            "GIT~12/x",
            ".ｇｉｔ/x",
            ".gı\u{307}t/x",
            ".gİt/x",
            "GI7EBA~1/x",
            ".git\\config",
            ".relaycode/x",
            ".RelayCode/lock",
            "RELAYC~1/x",
            "．git／config",
            ".git\u{fe68}hooks",
        ] {
            assert!(RelPath::parse(text).is_err(), "{text:?} passed");
        }
    }

    #[test]
    fn names_that_some_system_cannot_hold_are_refused() {
        for text in [
            "aux",
            "src/NUL.txt",
            "com1.rs",
            "lpt¹",
            "a\0b",
            "a\nb",
            "x?.rs",
            "a<b",
            "dir./x",
            " x",
            "a|b",
            "x\u{202e}y",
        ] {
            assert!(RelPath::parse(text).is_err(), "{text:?} passed");
        }
        assert!(RelPath::parse(&"a".repeat(256)).is_err());
        assert!(RelPath::parse(&"a/".repeat(600)).is_err());
        assert_eq!(ok("console.rs"), "console.rs");
        assert_eq!(ok("com10"), "com10");
    }

    #[test]
    fn a_name_that_is_there_need_not_be_one_that_every_system_can_have() {
        for text in [
            "a:b",
            "q?",
            "back\\slash",
            "con",
            "aux.txt",
            "dot.",
            "blank ",
            " ",
            "a\nb",
            "\u{200b}x",
            "x\u{202e}y",
            "~/x",
            "...",
            "caf\0e9",
        ] {
            assert_eq!(RelPath::of_existing(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            "/x",
            "a//b",
            "a/",
            "./a",
            "a/..",
            "..",
            "a\0b",
            ".GIT/x",
            "a/.git",
            "x/.relaycode",
            ".git\\x",
        ] {
            assert!(RelPath::of_existing(text).is_err(), "{text:?} passed");
        }
        assert!(RelPath::of_existing(&"a".repeat(256)).is_err());
    }

    #[test]
    fn folded_names_are_equal_where_a_file_system_would_think_so() {
        let key = |t: &str| RelPath::parse(t).unwrap().folded_key();
        assert_eq!(key("Src/Main.rs"), key("src/main.RS"));
        assert_eq!(key("caf\u{e9}"), key("cafe\u{301}"));
        assert_ne!(key("a"), key("b"));
    }
}
