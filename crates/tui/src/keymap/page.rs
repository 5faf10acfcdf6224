//! The keys as people read them: lines for `/keys`, and the page of the documentation.

use std::fmt::Write as _;

use relaycode_text::width::cells;

use super::{KEY_ACTIONS, KeyContext, Keymap};
use crate::Glyph;
use crate::input::{KeyCode, KeyPress};
use crate::theme::{ThemeStyle, ThemeToken};

/// Cells of the column of keys.
const KEYS_CELLS: usize = 30;
/// Below this width the text goes below the keys.
const SIDE_BY_SIDE_CELLS: usize = 64;

impl Keymap {
    /// All actions with their keys, no line wider than `width`.
    pub fn lines(&self, style: &ThemeStyle, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for context in KeyContext::ALL {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(style.paint(ThemeToken::Accent, &style.output.clip(context.title(), width)));
            for entry in KEY_ACTIONS.iter().filter(|entry| entry.context == context) {
                let keys = self.key_names(entry.action, &format!(" {} ", style.output.glyph(Glyph::Dot)));
                push_entry(&mut lines, style, &keys, entry.text, width);
            }
        }
        lines
    }

    /// Its keys, or that it has none.
    fn key_names(&self, action: super::KeyAction, between: &str) -> String {
        let names: Vec<String> = self.chords(action).iter().map(|key| chord_name(*key)).collect();
        if names.is_empty() { "(no key)".to_string() } else { names.join(between) }
    }
}

fn push_entry(lines: &mut Vec<String>, style: &ThemeStyle, keys: &str, text: &str, width: usize) {
    if width >= SIDE_BY_SIDE_CELLS {
        let keys = style.output.clip(keys, KEYS_CELLS);
        let blanks = " ".repeat(KEYS_CELLS + 2 - cells(&keys));
        let text = style.output.clip(text, width - KEYS_CELLS - 4);
        lines.push(format!("  {}{blanks}{text}", style.paint(ThemeToken::MdCode, &keys)));
    } else {
        lines.push(format!(
            "  {}",
            style.paint(ThemeToken::MdCode, &style.output.clip(keys, width.saturating_sub(2)))
        ));
        let wrapped = relaycode_text::width::wrap(text, width.saturating_sub(4), 0);
        lines.extend(wrapped.lines().map(|line| format!("    {line}")));
    }
}

/// `Ctrl+O`, `Shift+Enter`, `?`.
pub(super) fn chord_name(key: KeyPress) -> String {
    let written = KeyPress { ctrl: false, alt: false, shift: false, ..key }.to_string();
    let name = match key.code {
        KeyCode::Char(c) if c.is_ascii_lowercase() && (key.ctrl || key.alt) => {
            c.to_ascii_uppercase().to_string()
        }
        KeyCode::Char(c) if c != ' ' => relaycode_text::escape::escape_line(&c.to_string()).into_owned(),
        KeyCode::Escape => "Esc".to_string(),
        KeyCode::PageUp => "PageUp".to_string(),
        KeyCode::PageDown => "PageDown".to_string(),
        _ => {
            let mut letters = written.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
        }
    };
    let held = [(key.ctrl, "Ctrl+"), (key.alt, "Alt+"), (key.shift, "Shift+")];
    held.iter().filter(|(is_held, _)| *is_held).map(|(_, name)| *name).collect::<String>() + &name
}

/// The page of all keys in Markdown; `docs/keys.md` is checked against it.
pub fn keys_page() -> String {
    let keymap = Keymap::default();
    let mut page = String::from(PAGE_HEAD);
    for context in KeyContext::ALL {
        let _ = write!(page, "\n## {}\n\n| keys | what it does | id |\n|---|---|---|\n", context.title());
        for entry in KEY_ACTIONS.iter().filter(|entry| entry.context == context) {
            let names: Vec<String> =
                keymap.chords(entry.action).iter().map(|key| format!("`{}`", chord_name(*key))).collect();
            let _ = writeln!(page, "| {} | {} | `{}` |", names.join(" "), entry.text, entry.id);
        }
    }
    page
}

const PAGE_HEAD: &str = "# Keys of the conversation

`/keys` shows them as they are set. To change some, write a JSON file of ids and keys:

```json
{
  \"app.tools.expand\": \"ctrl+e\",
  \"tui.input.newLine\": [\"shift+enter\", \"alt+n\"],
  \"app.suspend\": []
}
```

What is named replaces all default keys of that action; an empty list takes them away. Keys are written `ctrl+o`,
`shift+enter`, `alt+up`, `f5`, `x`; the names are `enter`, `tab`, `backspace`, `delete`, `escape`, `up`, `down`, `left`,
`right`, `home`, `end`, `pageup`, `pagedown`, `insert`, `space` and `plus`. The same key may do one thing in a list and another
in the text: what has the focus decides. An id or a key that relay does not know is named when the file is read; the rest counts.

Some terminals send the same for `Shift+Enter` and `Enter`; `Ctrl+J` begins a new line in all of them.
";
