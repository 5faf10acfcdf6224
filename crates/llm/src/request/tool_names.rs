//! Tool names that every wire accepts.
//!
//! Tool servers name their tools as they like (`github.list_issues`, `7zip`); providers accept letters,
//! digits, `_` and `-`, at most 64, Google only after a letter or `_`. So an unsuitable name is sent as a
//! suitable one, and a call of that one is a call of the tool. Invariant: different tools have different
//! names on the wire, a suitable name is sent unchanged, and the caller always sees the tool's own name.

use std::collections::{BTreeMap, BTreeSet};

use crate::message::{AssistantContent, Message};
use crate::request::{ChatRequest, ToolChoice};
use crate::wire::ids::sha256_hex;

/// Longest name on the wire.
const MAX_TOOL_NAME: usize = 64;

/// Characters of the mark that distinguishes equal names.
const MARK: usize = 8;

/// From names on the wire to tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolNames {
    originals: BTreeMap<String, String>,
}

impl ToolNames {
    /// Renames the tools of `request` so that every wire accepts them: in the list, in the choice, in the
    /// conversation.
    pub(crate) fn fit_request(request: &mut ChatRequest) -> ToolNames {
        let mut all = Vec::new();
        for_each_tool_name(request, &mut |name| all.push(name.clone()));
        if all.iter().all(|name| fits(name)) {
            return ToolNames::default();
        }
        let mut taken: BTreeSet<String> = all.iter().filter(|name| fits(name)).cloned().collect();
        let mut sent: BTreeMap<String, String> = BTreeMap::new();
        for name in all {
            if !fits(&name) && !name.is_empty() && !sent.contains_key(&name) {
                let fitting = fitting(&name, &taken);
                taken.insert(fitting.clone());
                sent.insert(name, fitting);
            }
        }
        for_each_tool_name(request, &mut |name| {
            if let Some(fitting) = sent.get(name) {
                name.clone_from(fitting);
            }
        });
        ToolNames { originals: sent.into_iter().map(|(own, sent)| (sent, own)).collect() }
    }

    pub(crate) fn original_name<'n>(&'n self, sent: &'n str) -> &'n str {
        self.originals.get(sent).map_or(sent, String::as_str)
    }
}

fn fits(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts && name.len() <= MAX_TOOL_NAME && name.bytes().all(is_plain)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A similar name that is suitable and not taken.
fn fitting(name: &str, taken: &BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii() && is_plain(c as u8) { c } else { '_' };
    let first = if name.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "_" };
    let like: String = first.chars().chain(name.chars().map(plain)).take(MAX_TOOL_NAME).collect();
    if !taken.contains(&like) {
        return like;
    }
    let mark = sha256_hex(name);
    // It is all ASCII.
    let marked = format!("{}_{}", &like[..like.len().min(MAX_TOOL_NAME - MARK - 1)], &mark[..MARK]);
    if taken.contains(&marked) { format!("t{}", &mark[..MAX_TOOL_NAME - 1]) } else { marked }
}

/// Every mention of a tool; the list first, so that a growing conversation changes no name.
fn for_each_tool_name(request: &mut ChatRequest, see: &mut dyn FnMut(&mut String)) {
    request.tools.iter_mut().for_each(|tool| see(&mut tool.name));
    if let ToolChoice::Named(name) = &mut request.tool_choice {
        see(name);
    }
    for message in &mut request.messages {
        match message {
            Message::Assistant(answer) => {
                for content in &mut answer.content {
                    if let AssistantContent::ToolCall(call) = content {
                        see(&mut call.name);
                    }
                }
            }
            Message::ToolResult(result) => see(&mut result.tool_name),
            Message::User(_) | Message::Developer(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::StopReason;
    use crate::request::Tool;
    use crate::stream::assembly::{AnswerPieceKind, Assembly};
    use crate::stream::event::StreamEvent;

    fn request(names: &[&str]) -> ChatRequest {
        let tool =
            |name: &&str| Tool { name: (*name).into(), description: String::new(), parameters: ().into() };
        ChatRequest { tools: names.iter().map(tool).collect(), ..ChatRequest::default() }
    }

    fn sent(names: &[&str]) -> Vec<String> {
        let mut request = request(names);
        ToolNames::fit_request(&mut request);
        request.tools.into_iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn a_name_that_a_wire_refuses_is_sent_as_one_that_fits_and_others_stay() {
        assert_eq!(sent(&["read", "github.list issues", "7zip"]), ["read", "github_list_issues", "_7zip"]);
        assert_eq!(sent(&[&"x".repeat(300)]), ["x".repeat(64)]);
        assert_eq!(sent(&["größe"]), ["gr__e"]);
    }

    #[test]
    fn tools_whose_names_would_become_the_same_stay_apart() {
        let long = "y".repeat(70);
        let names = ["a.b", "a_b", "a:b", &long, &format!("{long}z")];
        let sent = sent(&names);
        assert_eq!(sent[1], "a_b");
        let different: BTreeSet<&String> = sent.iter().collect();
        assert_eq!(different.len(), names.len(), "{sent:?}");
        assert!(sent.iter().all(|name| fits(name)), "{sent:?}");
    }

    #[test]
    fn a_call_of_the_name_on_the_wire_is_a_call_of_the_tool_and_goes_back_under_the_same_name() {
        let mut asked = request(&["a.b"]);
        asked.tool_choice = ToolChoice::Named("a.b".into());
        let names = ToolNames::fit_request(&mut asked);
        assert_eq!(asked.tool_choice, ToolChoice::Named("a_b".into()));

        let mut assembly = Assembly::new(&crate::models::model::tests::model(), 0);
        assembly.set_names(names);
        let place = assembly.open(AnswerPieceKind::ToolCall { id: "1".into(), name: "a_b".into() }).unwrap();
        assembly.set_call_name(place, "1", "a_b");
        assembly.finish(StopReason::Stop);
        let events: Vec<StreamEvent> = std::iter::from_fn(|| assembly.take_event()).collect();
        let ended = events.iter().find_map(|event| match event {
            StreamEvent::ToolcallEnd { tool_call, .. } => Some(tool_call.name.as_str()),
            _ => None,
        });
        assert_eq!(ended, Some("a.b"));

        let mut again = request(&["a.b"]);
        again.messages.push(Message::Assistant(assembly.message().clone()));
        ToolNames::fit_request(&mut again);
        let Message::Assistant(answer) = &again.messages[0] else { panic!("another role") };
        assert_eq!(answer.tool_calls().next().unwrap().name, "a_b");
    }
}
