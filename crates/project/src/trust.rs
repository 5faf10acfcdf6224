//! What the user trusts: exactly the commands and approval settings that a project names, kept in the
//! user's own directory, asked again when they change.

/// What a project's file wants to be trusted with. What the user's own file says needs no trust.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wants {
    /// Commands to run: the key's short name and the command line.
    pub commands: Vec<(String, String)>,
    /// Settings that decide who approves: the key's full name and its value.
    pub settings: Vec<(String, String)>,
}

impl Wants {
    /// Whether there is nothing to trust.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.settings.is_empty()
    }

    /// All of it as text, the same for the same wants and for nothing else.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (kind, rows) in [("command", &self.commands), ("setting", &self.settings)] {
            for (name, value) in rows {
                text.push_str(&format!("{kind} {name:?} {value:?}\n"));
            }
        }
        text
    }
}
