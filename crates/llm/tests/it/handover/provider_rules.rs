//! The rules that providers document for requests, as far as a conversation can break them. Each wire has
//! its own; violations are reported in words.

use std::collections::HashSet;

use serde_json::Value;

/// What is wrong with the body of a request over `wire`.
pub(super) fn broken(wire: &str, body: &Value) -> Vec<String> {
    let mut faults = Faults(Vec::new());
    match wire {
        "anthropic-messages" => anthropic(body, &mut faults),
        "google-generative-ai" => google(body, &mut faults),
        "ollama" => ollama(body, &mut faults),
        "openai-completions" => completions(body, &mut faults),
        "openai-responses" => responses(body, &mut faults),
        _ => faults.not(false, "nobody knows its rules"),
    }
    faults.0
}

struct Faults(Vec<String>);

impl Faults {
    fn not(&mut self, holds: bool, rule: &str) {
        if !holds {
            self.0.push(rule.to_owned());
        }
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn is_plain(id: &str, most: usize) -> bool {
    (1..=most).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn has_words(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// platform.claude.com/docs/en/api/messages, and its pages on tool use and extended thinking.
fn anthropic(body: &Value, faults: &mut Faults) {
    let messages = list(body, "messages");
    let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    faults.not(
        roles.first() == Some(&"user") && roles.last() == Some(&"user"),
        "the user speaks first and last",
    );
    faults.not(roles.windows(2).all(|two| two[0] != two[1]), "roles alternate");
    let mut ids = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let content = list(message, "content");
        faults.not(!content.is_empty(), "no message is empty");
        let of = |kind: &'static str| content.iter().filter(move |block| block["type"] == kind);
        for block in of("text") {
            faults.not(has_words(&block["text"]), "no text is blank");
        }
        for block in of("thinking") {
            faults.not(has_words(&block["signature"]), "a thought is signed");
        }
        let calls: Vec<&str> = of("tool_use").filter_map(|call| call["id"].as_str()).collect();
        for id in &calls {
            faults.not(is_plain(id, 64), "the id of a call fits");
            faults.not(ids.insert((*id).to_owned()), "no id is used twice");
        }
        for call in of("tool_use") {
            faults.not(call["input"].is_object(), "the input of a call is an object");
        }
        let behind = messages.get(at + 1).map_or(&[][..], |next| list(next, "content"));
        let answered: Vec<&str> = behind.iter().filter_map(|block| block["tool_use_id"].as_str()).collect();
        if !calls.is_empty() || !answered.is_empty() {
            faults.not(calls == answered, "each call has its result in the message behind it");
            let first =
                behind.iter().position(|block| block["type"] != "tool_result").unwrap_or(behind.len());
            faults.not(first == answered.len(), "results stand before everything else");
        }
        for block in of("tool_result") {
            let text_alone = list(block, "content").iter().all(|part| part["type"] == "text");
            faults.not(block["is_error"] != true || text_alone, "an error is text");
        }
    }
}

/// ai.google.dev/api/generate-content, and the pages on function calling and thought signatures.
fn google(body: &Value, faults: &mut Faults) {
    let contents = list(body, "contents");
    let roles: Vec<&str> = contents.iter().filter_map(|content| content["role"].as_str()).collect();
    faults.not(
        roles.first() == Some(&"user") && roles.last() == Some(&"user"),
        "the user speaks first and last",
    );
    faults.not(roles.windows(2).all(|two| two[0] != two[1]), "roles alternate");
    for (at, content) in contents.iter().enumerate() {
        let parts = list(content, "parts");
        faults.not(!parts.is_empty(), "no content is empty");
        let named = |parts: &[Value], what: &str| -> Vec<(String, Value)> {
            let calls = parts.iter().filter_map(|part| part.get(what));
            calls
                .map(|call| (call["name"].as_str().unwrap_or_default().to_owned(), call["id"].clone()))
                .collect()
        };
        let calls = named(parts, "functionCall");
        let behind = contents.get(at + 1).map_or(&[][..], |next| list(next, "parts"));
        faults.not(
            calls == named(behind, "functionResponse"),
            "each call has its response in the content behind it",
        );
        if let Some(first) = parts.iter().find(|part| part.get("functionCall").is_some()) {
            faults.not(has_words(&first["thoughtSignature"]), "the first call of a step is signed");
        }
        for part in parts {
            if let Some(response) = part.get("functionResponse") {
                faults.not(response["response"].is_object(), "a response is an object");
            }
            let kinds = ["text", "inlineData", "functionCall", "functionResponse"];
            faults.not(
                kinds.iter().filter(|kind| part.get(**kind).is_some()).count() == 1,
                "a part is one thing",
            );
        }
    }
}

/// docs.ollama.com/api/chat
fn ollama(body: &Value, faults: &mut Faults) {
    let messages = list(body, "messages");
    let mut waiting: Vec<String> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        faults.not(["system", "user", "assistant", "tool"].contains(&role), "the role is known");
        faults.not(message["content"].is_string(), "content is a text");
        if role == "tool" {
            let name = message["tool_name"].as_str().unwrap_or_default().to_owned();
            faults.not(waiting.first() == Some(&name), "a result follows its call");
            waiting.drain(..1.min(waiting.len()));
        } else {
            faults.not(waiting.is_empty(), "each call has its result behind it");
        }
        for call in list(message, "tool_calls") {
            faults.not(call["function"]["arguments"].is_object(), "arguments are an object");
            waiting.push(call["function"]["name"].as_str().unwrap_or_default().to_owned());
        }
        for image in list(message, "images") {
            faults.not(
                image.as_str().is_some_and(|image| !image.starts_with("data:")),
                "an image is bare base64",
            );
        }
    }
    faults.not(waiting.is_empty(), "each call has its result behind it");
}

/// platform.openai.com/docs/api-reference/chat/create; servers other than OpenAI's want `reasoning_content`
/// back.
fn completions(body: &Value, faults: &mut Faults) {
    let known = ["role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content"];
    let mut waiting: Vec<String> = Vec::new();
    for message in list(body, "messages") {
        let role = message["role"].as_str().unwrap_or_default();
        faults.not(["system", "developer", "user", "assistant", "tool"].contains(&role), "the role is known");
        for name in message.as_object().into_iter().flatten().map(|(name, _)| name.as_str()) {
            faults.not(known.contains(&name), &format!("nobody knows the field {name}"));
        }
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            faults.not(waiting.iter().any(|known| known == id), "a result follows its call");
            waiting.retain(|known| known != id);
            faults.not(message["content"].is_string(), "a result is a text");
        } else {
            faults.not(waiting.is_empty(), "each call has its result behind it");
        }
        let calls = list(message, "tool_calls");
        faults.not(!message["content"].is_null() || !calls.is_empty(), "a message says something");
        for call in calls {
            let id = call["id"].as_str().unwrap_or_default();
            faults.not(is_plain(id, 40), "the id of a call fits");
            faults.not(!waiting.iter().any(|known| known == id), "no id is used twice");
            waiting.push(id.to_owned());
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            faults.not(
                serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()),
                "arguments are the text of an object",
            );
        }
    }
    faults.not(waiting.is_empty(), "each call has its result behind it");
}

/// platform.openai.com/docs/api-reference/responses/create, and the guide on reasoning.
fn responses(body: &Value, faults: &mut Faults) {
    let items = list(body, "input");
    let mut calls = HashSet::new();
    let mut outputs = HashSet::new();
    let mut ids = HashSet::new();
    for (at, item) in items.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        if let Some(id) = item["id"].as_str() {
            let prefix = match kind {
                "reasoning" => "rs",
                "function_call" => "fc",
                _ => "msg",
            };
            faults.not(id.starts_with(prefix) && id.len() <= 64, "the id of an item fits its kind");
            faults.not(ids.insert(id.to_owned()), "no item comes twice");
        }
        match kind {
            "function_call" => {
                let id = item["call_id"].as_str().unwrap_or_default();
                faults.not(is_plain(id, 64), "the id of a call fits");
                faults.not(calls.insert(id.to_owned()), "no id is used twice");
                let arguments = item["arguments"].as_str().unwrap_or_default();
                faults.not(
                    serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()),
                    "arguments are the text of an object",
                );
            }
            "function_call_output" => {
                let id = item["call_id"].as_str().unwrap_or_default();
                faults.not(calls.contains(id), "a result follows its call");
                faults.not(outputs.insert(id.to_owned()), "a call has one result");
                faults.not(
                    item["output"].is_string() || !list(item, "output").is_empty(),
                    "a result is text or parts",
                );
            }
            "reasoning" => {
                faults.not(has_words(&item["encrypted_content"]), "a thought carries its sealed part");
                let next = items.get(at + 1).map_or("", |next| next["type"].as_str().unwrap_or("message"));
                faults.not(
                    ["reasoning", "message", "function_call"].contains(&next),
                    "what was thought is followed by what came of it",
                );
            }
            "message" => faults.not(!list(item, "content").is_empty(), "a message says something"),
            other => faults.not(false, &format!("nobody knows the item {other}")),
        }
    }
    faults.not(calls == outputs, "each call has its result");
}
