//! The lines between two `---` at the head of a rule file: `key: value`, lists in `[a, b]`, in commas or one per line after a
//! dash. Other tools' files are often not quite YAML, so that it is read line by line.

use std::collections::BTreeMap;

/// Keys of one file.
const MAX_KEYS: usize = 50;

/// The keys and the text after them. A file without such lines is all text.
pub(super) fn split(text: &str) -> (BTreeMap<String, Vec<String>>, &str) {
    let mut keys: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return (keys, text);
    };
    let mut at = 0;
    let mut current: Option<String> = None;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        let line = line.trim_end();
        if line == "---" {
            return (keys, rest[at..].trim_start_matches(['\r', '\n']));
        }
        if let (Some(item), Some(key)) = (line.trim_start().strip_prefix("- "), &current) {
            keys.entry(key.clone()).or_default().push(unquote(item));
            continue;
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        if keys.len() >= MAX_KEYS {
            continue;
        }
        let key = key.trim().to_string();
        keys.insert(key.clone(), values(value));
        current = Some(key);
    }
    // Nothing closes it: it is text.
    (BTreeMap::new(), text)
}

fn values(value: &str) -> Vec<String> {
    let value = value.trim();
    let inner = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
    let items: Vec<&str> = match inner {
        Some(inner) => inner.split(',').collect(),
        None => vec![value],
    };
    items.into_iter().map(unquote).filter(|item| !item.is_empty()).collect()
}

fn unquote(text: &str) -> String {
    let text = text.trim();
    let inner = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.unwrap_or(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lists_and_the_text_are_told_apart() {
        let (keys, text) = split(
            "---\ndescription: \"How: we test\"\nglobs:\n  - \"*.rs\"\n  - src/**\nalwaysApply: true\n---\n\nRun them.\n",
        );
        assert_eq!(keys["description"], ["How: we test"]);
        assert_eq!(keys["globs"], ["*.rs", "src/**"]);
        assert_eq!(keys["alwaysApply"], ["true"]);
        assert_eq!(text, "Run them.\n");
    }

    #[test]
    fn what_is_not_closed_is_text() {
        let text = "---\nkey: value\nno end";
        assert_eq!(split(text), (BTreeMap::new(), text));
        assert_eq!(split("plain").1, "plain");
        assert_eq!(split("---\nglobs: [a, 'b']\n---\n").0["globs"], ["a", "b"]);
    }
}
