//! A tool call as an agent describes it: as much as decisions and people need.

use serde_json::Value;

/// Most paths read from one call; with more, [`AcpToolCall::paths_complete`] is false.
const MOST_PATHS: usize = 256;

/// A tool that an agent uses or wants to use. An update holds only what is new. All of it is foreign text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcpToolCall {
    /// Its id within the session.
    pub id: String,
    /// What it does, in the agent's words.
    pub title: Option<String>,
    /// `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`, `other` …
    pub kind: Option<String>,
    /// `pending`, `in_progress`, `completed`, `failed`.
    pub status: Option<String>,
    /// The files it says it touches, from its locations and its diffs.
    pub paths: Vec<String>,
    pub paths_complete: bool,
    /// The command line that it runs, if that is all there is to it: nothing that says where or how.
    pub command: Option<String>,
    /// Its result, or why it failed, as text.
    pub output: Option<String>,
}

/// What may stand beside a command and does not change what is run.
const BESIDE_COMMAND: &[&str] = &["command", "description", "timeout"];

impl AcpToolCall {
    /// Missing members are left empty.
    pub(super) fn from_json(call: &Value) -> AcpToolCall {
        let text = |name: &str| call[name].as_str().map(str::to_string);
        let none = Vec::new();
        let places = call["locations"].as_array().unwrap_or(&none).iter();
        let content = call["content"].as_array().unwrap_or(&none);
        let differences = content.iter().filter(|part| part["type"] == "diff");
        let named = places.chain(differences).map(|place| place["path"].as_str());
        let mut paths: Vec<String> = Vec::new();
        let mut whole = true;
        for path in named {
            match path {
                Some(path) if paths.iter().any(|known| known == path) => {}
                Some(path) if paths.len() < MOST_PATHS => paths.push(path.to_string()),
                _ => whole = false,
            }
        }
        let said = content.iter().find_map(|part| part["content"]["text"].as_str()).map(str::to_string);
        let input = call["rawInput"].as_object();
        let plain = input.filter(|input| input.keys().all(|key| BESIDE_COMMAND.contains(&key.as_str())));
        AcpToolCall {
            command: plain.and_then(|input| input.get("command")?.as_str()).map(str::to_string),
            id: text("toolCallId").unwrap_or_default(),
            title: text("title"),
            kind: text("kind"),
            status: text("status"),
            paths,
            paths_complete: whole,
            output: said,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_come_from_places_and_differences_and_a_strange_one_is_told() {
        let call = json!({"toolCallId": "c", "kind": "edit", "locations": [{"path": "/a"}, {"path": "/b"}],
            "content": [{"type": "diff", "path": "/a"}, {"type": "diff", "path": "/c"},
                        {"type": "content", "content": {"type": "text", "text": "no"}}]});
        let read = AcpToolCall::from_json(&call);
        assert_eq!((read.paths.join(" "), read.paths_complete), ("/a /b /c".to_string(), true));
        assert_eq!(read.output.as_deref(), Some("no"));
        assert!(!AcpToolCall::from_json(&json!({"locations": [{"path": 7}]})).paths_complete);
        let command = |input: Value| AcpToolCall::from_json(&json!({"rawInput": input})).command;
        assert_eq!(command(json!({"command": "make", "description": "x"})).as_deref(), Some("make"));
        assert_eq!(command(json!({"command": "make", "workdir": "/"})), None);
        let many: Vec<Value> = (0..300).map(|n| json!({"path": format!("/{n}")})).collect();
        let read = AcpToolCall::from_json(&json!({"locations": many}));
        assert_eq!((read.paths.len(), read.paths_complete), (MOST_PATHS, false));
    }
}
