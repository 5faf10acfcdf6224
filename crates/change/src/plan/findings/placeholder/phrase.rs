//! The words of a comment, and whether they refer to code that is not there.
//!
//! Two kinds count. With dots in front (`... rest of the render logic`) a word of omission near the
//! beginning and something it can omit are enough. Without, every word has to belong to the small
//! vocabulary of such remarks, so that `// the rest of the code handles errors` is left alone.

use super::languages;

/// Every placeholder without dots has one of these words, given by how they begin.
#[rustfmt::skip]
const SIGNS: &[&str] = &[
    "rest", "existing", "unchanged", "unmodified", "remain", "omitted", "truncated", "snip", "same",
    "as is", "as before", "elided", "no change", "everything", "other code",
    // in other languages
    "code exist", "code inchang", "code omis", "code unver", "inchang", "sans change", "sin cambio", "igual que",
    "c\u{f3}digo", "codigo", "bestehend", "vorhanden", "unver", "wie bisher", "wie zuvor", "wie vorher", "sem altera",
    "sem mudan", "inalterado",
];

/// Whether a word of the line begins with one of [`SIGNS`].
pub(crate) fn has_omission_word(line: &str) -> bool {
    let bytes = line.as_bytes();
    let mut inside = false;
    bytes.iter().enumerate().any(|(at, byte)| {
        let begins = !inside && byte.is_ascii_alphabetic();
        inside = byte.is_ascii_alphabetic();
        begins && SIGNS.iter().any(|sign| begins_ignoring_case(&bytes[at..], sign.as_bytes()))
    })
}

fn begins_ignoring_case(bytes: &[u8], word: &[u8]) -> bool {
    bytes[0].eq_ignore_ascii_case(&word[0])
        && bytes.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// Most words of a comment that says no more than that something is not shown.
const VAGUE_WORDS: usize = 8;

/// Whether a comment says, in few words, that there is more than it shows.
pub(super) fn is_vague(comment: &str) -> bool {
    const WORDS_OF_MORE: &[&str] = &[
        "other",
        "others",
        "remaining",
        "rest",
        "unchanged",
        "identical",
        "existing",
        "original",
        "etc",
        "remain",
        "remains",
        "inchangé",
        "inchangée",
        "\u{22ee}",
    ];
    const PHRASES_OF_MORE: &[&str] =
        &["as before", "as is", "and so on", "go here", "goes here", ". . .", "no other"];
    let lower = comment.to_lowercase();
    let words =
        || lower.split(|c: char| !c.is_alphanumeric() && c != '\u{22ee}').filter(|word| !word.is_empty());
    words().count() <= VAGUE_WORDS
        && (words().any(|word| WORDS_OF_MORE.contains(&word))
            || PHRASES_OF_MORE.iter().any(|phrase| lower.contains(phrase)))
}

/// Words that say something is not shown.
#[rustfmt::skip]
const OMISSION: &[&str] = &[
    "rest", "remaining", "remainder", "remains", "remain", "existing", "other", "others",
    "unchanged", "unmodified", "same", "previous", "original", "omitted", "truncated", "snip",
    "snipped", "elided", "abbreviated", "keep", "keeping", "skipped", "more", "additional",
    "continue", "continues", "everything", "previously", "similar", "copy", "leave", "no",
];

/// Words for what can be left out.
#[rustfmt::skip]
const THINGS: &[&str] = &[
    "code", "file", "files", "class", "classes", "function", "functions", "method", "methods",
    "implementation", "implementations", "logic", "component", "components", "module",
    "content", "contents", "import", "imports", "script", "body", "style", "styles", "test",
    "tests", "config", "configuration", "document", "program", "definitions", "declarations",
    "field", "fields", "properties", "props", "routes", "route", "handlers", "handler", "cases",
    "options", "section", "sections", "page", "template", "markup", "html", "css", "jsx",
    "schema", "types", "type", "lines", "line", "setup", "state", "hooks", "variables",
    "constants", "exports", "helpers", "endpoints", "attributes", "entries", "items",
    "parameters", "settings", "rules", "statements", "dependencies", "scripts", "text",
    "elements", "initialization", "constructor", "struct", "enum", "variants", "args",
    "arguments", "fns", "tables", "columns", "models", "services", "middleware", "rendering",
    "render",
];

/// Words that do not change the sense.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "the", "of", "your", "my", "our", "this", "that", "these", "all", "any", "in", "is", "are",
    "be", "to", "for", "and", "as", "it", "its", "here", "goes", "go", "stays", "stay",
    "before", "above", "below", "brevity", "clarity", "from", "with", "a", "an", "was", "were",
    "else", "etc", "earlier", "exactly", "left", "unaltered", "intact", "untouched", "changes",
    "change", "changed", "needed", "shown", "not", "up", "place", "current", "old", "follows",
    "there",
];

/// Longer remarks are explanations.
const WORDS: usize = 12;

/// The words of a remark and where its dots are.
pub(crate) struct PlaceholderPhrase {
    words: Vec<String>,
    /// In lower case, without dots and brackets around it.
    said: String,
    pub(crate) dots_first: bool,
    pub(crate) dots_last: bool,
    /// No blank between the dots and the first word.
    glued: bool,
}

impl PlaceholderPhrase {
    pub(crate) fn read(text: &str) -> PlaceholderPhrase {
        let edge = |c: char| {
            c.is_whitespace()
                || matches!(c, '(' | ')' | '[' | ']' | '<' | '>' | '-' | '–' | '—' | '*' | ':' | '"' | '`')
        };
        let text = text.trim_matches(edge);
        let (dots_first, rest) = strip_dots(text);
        let dots_last = text.ends_with('…') || text.ends_with("...");
        PlaceholderPhrase {
            words: rest
                .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’' && c != '_')
                .filter(|word| !word.is_empty())
                .map(str::to_lowercase)
                .collect(),
            said: rest.trim_matches(|c: char| edge(c) || matches!(c, '.' | '…' | '。')).to_lowercase(),
            dots_first,
            dots_last,
            glued: dots_first
                && text.starts_with('.')
                && rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'),
        }
    }

    pub(crate) fn is_only_dots(&self) -> bool {
        self.words.is_empty() && self.dots_first
    }

    /// `...args`: a spread or rest expression.
    pub(crate) fn is_spread(&self) -> bool {
        self.glued && self.words.len() == 1 && !self.dots_last
    }

    /// Dots and then anything but code: `... what follows`, not `...args are passed on`.
    pub(crate) fn begins_with_dots(&self) -> bool {
        self.dots_first && (!self.glued || self.dots_last)
    }

    /// `... other stuff`: in an edit, where lines around it have to prove the rest, that is enough.
    pub(crate) fn has_dots_and_omission(&self) -> bool {
        let omits = |word: &String| contains_word(OMISSION, word);
        self.dots_first && !self.is_spread() && self.words.len() <= WORDS && self.words.iter().any(omits)
    }

    /// Whether it stands for code that was left out.
    pub(crate) fn stands_for_code(&self) -> bool {
        if self.words.is_empty() || self.is_spread() {
            return false;
        }
        (self.dots_first && self.begins_with_omission())
            || self.is_only_omission()
            || self.is_cut_for_brevity()
            || languages::stands_for_code(&self.said)
    }

    /// `... rest of the render logic`, `... other imports like os`, `... imports ...`.
    fn begins_with_omission(&self) -> bool {
        const LEAD: usize = 3;
        const REACH: usize = 6;
        if self.words.len() > WORDS {
            return false;
        }
        let lead = self.words.iter().filter(|word| !contains_word(FILLERS, word)).take(LEAD);
        let omits = lead.clone().take(2).any(|word| contains_word(OMISSION, word));
        let thing = self.words.iter().take(REACH).any(|word| contains_word(THINGS, word));
        let only_things = lead.clone().count() > 0
            && self.words.iter().all(|word| contains_word(THINGS, word) || contains_word(FILLERS, word));
        (omits && (thing || self.dots_last)) || only_things
    }

    /// `load() omitted for brevity`
    fn is_cut_for_brevity(&self) -> bool {
        let cut = |words: &[String]| match words {
            [verb, why, reason] => {
                ["omitted", "removed", "truncated", "shortened", "elided"].contains(&verb.as_str())
                    && why == "for"
                    && ["brevity", "clarity", "space"].contains(&reason.as_str())
            }
            _ => false,
        };
        self.words.len() <= WORDS && self.words.windows(3).any(cut)
    }

    /// Every word belongs to such remarks, and together they make one.
    pub(crate) fn is_only_omission(&self) -> bool {
        let known = |word: &String| {
            contains_word(OMISSION, word) || contains_word(THINGS, word) || contains_word(FILLERS, word)
        };
        let alone = ["unchanged", "unmodified", "omitted", "snip", "snipped"];
        let alone = self.words.first().is_some_and(|word| contains_word(&alone, word));
        let least = if self.dots_first || self.dots_last || alone { 1 } else { 2 };
        (least..=WORDS).contains(&self.words.len()) && self.words.iter().all(known) && self.forms_omission()
    }

    fn forms_omission(&self) -> bool {
        let has = |word: &str| self.words.iter().any(|other| other == word);
        let any = |words: &[&str]| words.iter().any(|word| has(word));
        let follows = |first: &str, second: &str| {
            self.words.windows(2).any(|pair| pair[0] == first && pair[1] == second)
        };
        let dots = self.dots_first || self.dots_last;
        let thing = self.words.iter().any(|word| contains_word(THINGS, word));
        let kept = any(&[
            "unchanged",
            "unmodified",
            "omitted",
            "truncated",
            "elided",
            "snipped",
            "untouched",
            "intact",
        ]) || follows("the", "same")
            || follows("as", "is")
            || follows("as", "before")
            || any(&["brevity"]);
        let whole = any(&["rest", "everything", "remaining", "remainder", "others"]);

        let begins = |first: &str, second: &[&str]| {
            self.words.first().is_some_and(|word| word == first)
                && self.words.get(1).is_some_and(|word| second.contains(&word.as_str()))
        };
        let stays = any(&["here", "stays", "stay", "remains", "remain", "goes", "follows", "below", "above"]);

        // rest of the code; rest of file here
        (follows("rest", "of") && thing)
            // same as before
            || (self.words == ["same", "as", "before"])
            // no changes below
            || begins("no", &["change", "changes"])
            // unchanged below; unchanged from here
            || (["unchanged", "unmodified", "omitted"].contains(&self.words[0].as_str())
                && self.words[1..].iter().all(|word| contains_word(FILLERS, word)))
            // remaining code; other code stays here
            || (has("code") && (has("remaining") || (any(&["other", "original", "previous"]) && stays)))
            // keep everything else
            || begins("keep", &["everything"]) || begins("leave", &["everything"])
            // the rest remains the same; everything else unchanged; code omitted for brevity
            || ((whole || thing) && kept)
            // existing code; existing code here; original implementation ...
            || (any(&["existing", "original", "previous", "remaining", "other"])
                && thing
                && (dots || (has("existing") && has("code"))))
            // unchanged; snip
            || self.words.len() == 1 && (kept || has("snip"))
            // keep the rest
            || (any(&["keep", "keeping", "leave"]) && has("rest"))
            // keep existing methods
            || (any(&["keep", "keeping", "leave"]) && (whole || any(&["existing", "other"])) && (thing || dots))
            // same as before ...; (unchanged) ...
            || (dots && (kept || follows("same", "as")))
            || (thing && follows("same", "as"))
    }
}

fn contains_word(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

/// Whether `text` begins with dots, and what follows them.
fn strip_dots(text: &str) -> (bool, &str) {
    let rest = text.trim_start_matches(['.', '…']);
    let dots = &text[..text.len() - rest.len()];
    (dots.len() >= 3, rest)
}
