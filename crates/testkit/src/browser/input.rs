//! What a person does with a page: keys and clicks, as the browser gets them from a keyboard and a mouse.

use serde_json::{Value, json};

use super::BrowserPage;

/// Keys that write nothing or have a name: name, code, number, what they write.
const NAMED: &[(&str, &str, u32, &str)] = &[
    ("Enter", "Enter", 13, "\r"),
    ("Escape", "Escape", 27, ""),
    ("Tab", "Tab", 9, ""),
    ("Backspace", "Backspace", 8, ""),
    ("ArrowUp", "ArrowUp", 38, ""),
    ("ArrowDown", "ArrowDown", 40, ""),
    ("ArrowLeft", "ArrowLeft", 37, ""),
    ("ArrowRight", "ArrowRight", 39, ""),
    ("Space", "Space", 32, " "),
];

/// The shift key's bit among the modifiers.
const SHIFT: u32 = 8;

impl BrowserPage {
    /// Presses and releases a key: a name as in `Enter` or `Shift+Tab`, or one character.
    pub fn key(&self, name: &str) {
        let (shift, name) = match name.strip_prefix("Shift+") {
            Some(rest) => (SHIFT, rest),
            None => (0, name),
        };
        let mut event = match NAMED.iter().find(|key| key.0 == name) {
            Some((name, code, number, text)) => {
                let key = if *name == "Space" { " " } else { name };
                json!({"key": key, "code": code, "windowsVirtualKeyCode": number, "text": text})
            }
            None => json!({"key": name, "text": name}),
        };
        event["modifiers"] = shift.into();
        event["type"] = "keyDown".into();
        self.call("Input.dispatchKeyEvent", &event);
        event["type"] = "keyUp".into();
        event["text"] = Value::String(String::new());
        self.call("Input.dispatchKeyEvent", &event);
    }

    /// Into the focused element, character by character.
    pub fn type_text(&self, text: &str) {
        for c in text.chars() {
            self.key(c.encode_utf8(&mut [0; 4]));
        }
    }

    /// Clicks the middle of the first element that matches the selector, after scrolling to it, once it
    /// stands still.
    pub fn click(&self, selector: &str) {
        let quoted = Value::from(selector).to_string();
        let place = self.eval(&format!(
            "(async () => {{ const it = document.querySelector({quoted}); if (!it) return null; \
             for (let last; ;) {{ \
             it.scrollIntoView({{block: 'center', behavior: 'instant'}}); const box = it.getBoundingClientRect(); \
             const place = [box.x + box.width / 2, box.y + box.height / 2]; \
             if (last && last.every((value, at) => value === place[at])) return place; \
             last = place; for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame); }} }})()"
        ));
        assert!(place.is_array(), "nothing on the page is {selector}");
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event);
        }
    }
}
