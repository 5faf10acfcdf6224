//! What stands between two `---` at the head of a rule file: YAML, and where it is not quite YAML, as in many files of other tools,
//! lines of `key: value`, with lists in `[a, b]`, in commas or one per line after a dash.

use std::collections::BTreeMap;

use relaycode_text::yaml::{self, YamlValue};

/// Keys of one file.
const MAX_KEYS: usize = 50;

type FrontMatterKeys = BTreeMap<String, Vec<String>>;

/// The keys and the text after them. A file without such lines is all text.
pub(super) fn split(text: &str) -> (FrontMatterKeys, &str) {
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return (BTreeMap::new(), text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        let head = &rest[..at];
        at += line.len();
        if line.trim_end() == "---" {
            let keys = read_yaml(head).unwrap_or_else(|| read_lines(head));
            return (keys, rest[at..].trim_start_matches(['\r', '\n']));
        }
    }
    // Nothing closes it: it is text.
    (BTreeMap::new(), text)
}

/// `None` if it is no YAML, or no table.
fn read_yaml(head: &str) -> Option<FrontMatterKeys> {
    let YamlValue::Table(entries) = yaml::read(head).ok()?.value else { return None };
    let keys = entries.into_iter().take(MAX_KEYS).map(|entry| {
        let items = match entry.node.value {
            YamlValue::List(items) => items.into_iter().filter_map(|item| scalar(item.value)).collect(),
            value => scalar(value).into_iter().collect(),
        };
        (entry.name, items)
    });
    Some(keys.collect())
}

fn scalar(value: YamlValue) -> Option<String> {
    let text = match value {
        YamlValue::Bool(on) => on.to_string(),
        YamlValue::Integer(number) => number.to_string(),
        YamlValue::Float(number) => number.to_string(),
        YamlValue::Text(text) => text.trim().to_string(),
        YamlValue::Null | YamlValue::List(_) | YamlValue::Table(_) => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

fn read_lines(head: &str) -> FrontMatterKeys {
    let mut keys = FrontMatterKeys::new();
    let mut current: Option<String> = None;
    for line in head.lines() {
        if let (Some(item), Some(key)) = (line.trim().strip_prefix("- "), &current) {
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
    keys
}

fn values(value: &str) -> Vec<String> {
    let value = value.trim();
    match value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) {
        Some(inner) => split_list(inner),
        None => vec![unquote(value)].into_iter().filter(|item| !item.is_empty()).collect(),
    }
}

/// Items between commas that stand in no quotes and no brackets.
pub(super) fn split_list(text: &str) -> Vec<String> {
    let (mut quote, mut depth, mut from) = (None, 0_u32, 0);
    let mut items = Vec::new();
    for (at, c) in text.char_indices() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(c),
            ('(' | '{' | '[', None) => depth += 1,
            (')' | '}' | ']', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                items.push(unquote(&text[from..at]));
                from = at + 1;
            }
            _ => {}
        }
    }
    items.push(unquote(&text[from..]));
    items.retain(|item| !item.is_empty());
    items
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

    #[test]
    fn yaml_is_read_as_yaml() {
        let keys = |head: &str| split(&format!("---\n{head}\n---\n")).0;
        let read = keys(
            "condition: [\"console\\\\.log\", 'it''s']  # in code\nalwaysApply: true\nscope: |\n  text\n",
        );
        assert_eq!(read["condition"], ["console\\.log", "it's"]);
        assert_eq!(
            (read["alwaysApply"].as_slice(), read["scope"].as_slice()),
            (&["true".to_string()][..], &["text".to_string()][..])
        );
        assert!(keys("a: &x [*x]\nb: 1")["a"] == ["&x [*x]"]);
    }

    #[test]
    fn what_is_not_quite_yaml_is_read_by_lines() {
        let (keys, _) = split("---\nglobs: *.rs, *.toml\ndescription: How: we test\nother:\n  - [a\n---\n");
        assert_eq!(keys["globs"], ["*.rs, *.toml"]);
        assert_eq!(keys["description"], ["How: we test"]);
        assert_eq!(keys["other"], ["[a"]);
    }
}
