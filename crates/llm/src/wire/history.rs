//! The conversation as a server accepts it: every tool call is directly followed by its result, once, and
//! nothing is in it that cannot be sent.
//!
//! Conversations are broken off, resumed, compacted and carried from one model to another. So calls may
//! lack a result, results a call, and answers an end. Invariant: in the output, the results of an answer's
//! calls follow the answer in the order of the calls, one each.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use bytes::Bytes;
use serde_json::Value;

use super::request_body::json_bytes;
use crate::message::{
    AssistantContent, AssistantMessage, ImageContent, Message, StopReason, ToolCall, ToolResultMessage,
    UserContent,
};
use crate::models::model::Model;

/// The result of a call that has none.
pub(crate) const NO_RESULT: &str = "(no result: the call was not carried out)";

/// The text of an empty result, which several servers refuse.
pub(crate) const NO_OUTPUT: &str = "(no output)";

/// Used where the person would have to speak and did not.
pub(crate) const GO_ON: &str = "(go on)";
const NO_IMAGE: &str = "(an image was here that this model cannot read)";

/// One step of a conversation.
#[derive(Debug)]
pub(crate) enum HistoryTurn<'a> {
    User(&'a [UserContent]),
    /// From the program itself.
    Developer(&'a [UserContent]),
    Answer(HistoryAnswer<'a>),
    /// The outcome of one of its calls.
    ToolResult(HistoryToolResult<'a>),
    /// A result whose call is not in the conversation any more.
    OrphanResult(&'a ToolResultMessage),
}

/// A turn, and what it was made from; without a key if more than the messages that a key names decides what it is.
#[derive(Debug)]
pub(crate) struct KeyedTurn<'a> {
    pub key: Option<TurnKey>,
    pub turn: HistoryTurn<'a>,
}

/// The places of the messages that a turn was made from. With the same messages there, it is the same turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TurnKey {
    message: usize,
    /// The place of a call in its answer, for the outcome of it.
    call: Option<usize>,
    /// The message that has this outcome.
    result: Option<usize>,
}

impl TurnKey {
    pub(crate) fn last_message(self) -> usize {
        self.result.map_or(self.message, |result| result.max(self.message))
    }
}

impl<'a> KeyedTurn<'a> {
    /// A message by itself.
    fn of_message(message: usize, turn: HistoryTurn<'a>) -> KeyedTurn<'a> {
        KeyedTurn { key: Some(TurnKey { message, call: None, result: None }), turn }
    }
}

/// It has text or calls.
#[derive(Debug)]
pub(crate) struct HistoryAnswer<'a> {
    /// No empty text.
    pub content: Vec<&'a AssistantContent>,
    /// The model that is asked now gave it, so signed content may go back.
    pub same_model: bool,
}

/// The outcome of a call.
#[derive(Debug)]
pub(crate) struct HistoryToolResult<'a> {
    pub call: &'a ToolCall,
    /// See [`HistoryAnswer::same_model`].
    pub same_model: bool,
    /// `None` if there is none.
    pub result: Option<&'a ToolResultMessage>,
}

/// A piece of what is sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HistoryPart<'a> {
    Text(Cow<'a, str>),
    Image(&'a ImageContent),
}

/// The conversation as it is sent to `model`.
pub(crate) fn turns<'a>(model: &Model, messages: &'a [Message]) -> Vec<KeyedTurn<'a>> {
    let mut turns = Vec::with_capacity(messages.len());
    let mut taken = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::User(user) => turns.push(KeyedTurn::of_message(at, HistoryTurn::User(&user.content))),
            Message::Developer(developer) => {
                turns.push(KeyedTurn::of_message(at, HistoryTurn::Developer(&developer.content)));
            }
            Message::Assistant(answer) => {
                answer_with_outcomes(model, answer, at, messages, &mut taken, &mut turns);
            }
            Message::ToolResult(result) if !taken.contains(&at) => {
                turns.push(KeyedTurn::of_message(at, HistoryTurn::OrphanResult(result)));
            }
            Message::ToolResult(_) => {}
        }
    }
    turns
}

/// The answer, and the outcomes of its calls: their results are somewhere before the next answer.
fn answer_with_outcomes<'a>(
    model: &Model,
    answer: &'a AssistantMessage,
    at: usize,
    messages: &'a [Message],
    taken: &mut HashSet<usize>,
    turns: &mut Vec<KeyedTurn<'a>>,
) {
    let mut results: HashMap<&str, VecDeque<(usize, &'a ToolResultMessage)>> = HashMap::new();
    let behind = messages.iter().enumerate().skip(at + 1);
    for (place, message) in behind.take_while(|(_, message)| !matches!(message, Message::Assistant(_))) {
        if let Message::ToolResult(result) = message {
            results.entry(&result.tool_call_id).or_default().push_back((place, result));
        }
    }
    let broken = matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted);
    let kept = answer.content.iter().enumerate().filter(|(_, content)| match content {
        AssistantContent::Text(text) => !text.text.is_empty(),
        AssistantContent::Thinking(_) => !broken,
        AssistantContent::ToolCall(call) => !broken || results.contains_key(call.id.as_str()),
    });
    let kept: Vec<(usize, &AssistantContent)> = kept.collect();
    if kept.iter().all(|(_, content)| matches!(content, AssistantContent::Thinking(_))) {
        return;
    }
    let own =
        answer.provider == model.provider && answer.model == model.id && answer.api == model.api && !broken;
    let content = kept.iter().map(|(_, content)| *content).collect();
    // The results decide what is left of one that broke off.
    let key = (!broken).then_some(TurnKey { message: at, call: None, result: None });
    let turn = HistoryTurn::Answer(HistoryAnswer { content, same_model: own });
    turns.push(KeyedTurn { key, turn });
    for (number, content) in kept {
        let AssistantContent::ToolCall(call) = content else { continue };
        let result = results.get_mut(call.id.as_str()).and_then(VecDeque::pop_front);
        if let Some((place, rest)) = result {
            taken.insert(place);
            // The same result twice is one result.
            let repeats = results.get_mut(call.id.as_str()).into_iter().flatten();
            taken.extend(repeats.filter(|(_, later)| later.content == rest.content).map(|(place, _)| *place));
        }
        let key = TurnKey { message: at, call: Some(number), result: result.map(|(place, _)| place) };
        let result = result.map(|(_, result)| result);
        let turn = HistoryTurn::ToolResult(HistoryToolResult { call, same_model: own, result });
        turns.push(KeyedTurn { key: Some(key), turn });
    }
}

/// A note replaces an image if `model` reads none.
pub(crate) fn parts<'a>(model: &Model, content: &'a [UserContent]) -> Vec<HistoryPart<'a>> {
    let part = |content: &'a UserContent| match content {
        UserContent::Text(text) => HistoryPart::Text(Cow::Borrowed(&text.text)),
        // A server cannot read a reference to a stored image.
        UserContent::Image(image) if model.images && !image.data.starts_with("blob:") => {
            HistoryPart::Image(image)
        }
        UserContent::Image(_) => HistoryPart::Text(Cow::Borrowed(NO_IMAGE)),
    };
    content
        .iter()
        .map(part)
        .filter(|part| !matches!(part, HistoryPart::Text(text) if text.is_empty()))
        .collect()
}

/// A result that lost its call, as a remark beside the conversation.
pub(crate) fn orphan_parts<'a>(model: &Model, result: &'a ToolResultMessage) -> Vec<HistoryPart<'a>> {
    let what = format!("(what the tool `{}` gave back earlier)", result.tool_name);
    let mut all = vec![HistoryPart::Text(Cow::Owned(what))];
    all.extend(parts(model, &result.content));
    all
}

/// Without images.
pub(crate) fn joined_text(parts: &[HistoryPart<'_>]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        HistoryPart::Text(text) => Some(text.as_ref()),
        HistoryPart::Image(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

impl<'a> HistoryToolResult<'a> {
    /// Never empty.
    pub(crate) fn parts(&self, model: &Model) -> Vec<HistoryPart<'a>> {
        let Some(result) = self.result else { return vec![HistoryPart::Text(Cow::Borrowed(NO_RESULT))] };
        let parts = parts(model, &result.content);
        if parts.is_empty() { vec![HistoryPart::Text(Cow::Borrowed(NO_OUTPUT))] } else { parts }
    }
}

/// Turns with alternating roles; the person speaks first and last.
pub(crate) struct AlternatingTurns {
    /// The role of the model.
    answers: &'static str,
    /// What the person says where they said nothing.
    filler: Bytes,
    all: Vec<(&'static str, Vec<Bytes>)>,
}

impl AlternatingTurns {
    pub(crate) fn new(answers: &'static str, filler: &Value) -> AlternatingTurns {
        AlternatingTurns { answers, filler: json_bytes(filler), all: Vec::new() }
    }

    pub(crate) fn push(&mut self, role: &'static str, parts: &[Bytes]) {
        if parts.is_empty() {
            return;
        }
        if self.all.is_empty() && role == self.answers {
            self.all.push(("user", vec![self.filler.clone()]));
        }
        match self.all.last_mut() {
            Some((last, content)) if *last == role => content.extend_from_slice(parts),
            _ => self.all.push((role, parts.to_vec())),
        }
    }

    pub(crate) fn finish(mut self) -> Vec<(&'static str, Vec<Bytes>)> {
        if self.all.last().is_none_or(|(role, _)| *role == self.answers) {
            self.push("user", &[self.filler.clone()]);
        }
        self.all
    }
}

pub(crate) fn images<'a>(parts: &[HistoryPart<'a>]) -> Vec<&'a ImageContent> {
    let image = |part: &HistoryPart<'a>| match part {
        HistoryPart::Image(image) => Some(*image),
        HistoryPart::Text(_) => None,
    };
    parts.iter().filter_map(image).collect()
}

/// As a `data:` URL.
pub(crate) fn data_url(image: &ImageContent) -> String {
    format!("data:{};base64,{}", image.mime_type, image.data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{TextContent, ThinkingContent, UserMessage};

    fn answer(content: Vec<AssistantContent>, stop_reason: StopReason) -> Message {
        let mut message = crate::Assembly::new(&crate::models::model::tests::model(), 0).message().clone();
        message.content = content;
        message.stop_reason = stop_reason;
        Message::Assistant(message)
    }

    fn call(id: &str) -> AssistantContent {
        AssistantContent::ToolCall(ToolCall { id: id.into(), name: "read".into(), ..ToolCall::default() })
    }

    fn result(id: &str, text: &str) -> Message {
        Message::ToolResult(ToolResultMessage {
            tool_call_id: id.into(),
            tool_name: "read".into(),
            content: vec![UserContent::text(text)],
            details: None,
            is_error: false,
            timestamp: 0,
        })
    }

    fn shape(messages: &[Message]) -> Vec<String> {
        let model = crate::models::model::tests::model();
        let turns = turns(&model, messages);
        let one = |keyed: &KeyedTurn<'_>| match &keyed.turn {
            HistoryTurn::User(_) => "user".into(),
            HistoryTurn::Developer(_) => "developer".into(),
            HistoryTurn::Answer(answer) => {
                format!("answer {} own={}", answer.content.len(), answer.same_model)
            }
            HistoryTurn::ToolResult(outcome) => {
                format!("outcome {} {}", outcome.call.id, joined_text(&outcome.parts(&model)))
            }
            HistoryTurn::OrphanResult(result) => format!("stray {}", result.tool_call_id),
        };
        turns.iter().map(one).collect()
    }

    #[test]
    fn results_follow_their_calls_whatever_stood_between() {
        let user = Message::User(UserMessage::text("meanwhile", 0));
        let messages = [
            answer(vec![call("a"), call("b"), call("c")], StopReason::ToolUse),
            result("b", "second"),
            user,
            result("a", "first"),
            result("a", "first"),
            result("z", "of nobody"),
        ];
        assert_eq!(
            shape(&messages),
            [
                "answer 3 own=true",
                "outcome a first",
                "outcome b second",
                "outcome c (no result: the call was not carried out)",
                "user",
                "stray z"
            ]
        );
    }

    #[test]
    fn an_answer_that_broke_off_keeps_its_text_and_the_calls_that_were_carried_out() {
        let thinking = AssistantContent::Thinking(ThinkingContent {
            thinking: "hm".into(),
            ..ThinkingContent::default()
        });
        let said = AssistantContent::Text(TextContent { text: "so far".into(), text_signature: None });
        let messages = [
            answer(vec![thinking.clone(), said, call("a"), call("b")], StopReason::Aborted),
            result("a", "done"),
            answer(vec![thinking.clone(), call("c")], StopReason::Error),
            answer(vec![thinking], StopReason::Length),
        ];
        assert_eq!(shape(&messages), ["answer 2 own=false", "outcome a done"]);
    }

    #[test]
    fn the_same_id_in_two_answers_is_two_calls() {
        let messages = [
            answer(vec![call("a")], StopReason::ToolUse),
            result("a", "one"),
            answer(vec![call("a")], StopReason::ToolUse),
            result("a", "two"),
        ];
        assert_eq!(
            shape(&messages),
            ["answer 1 own=true", "outcome a one", "answer 1 own=true", "outcome a two"]
        );
    }

    #[test]
    fn an_image_is_a_note_where_the_model_reads_none() {
        let mut model = crate::models::model::tests::model();
        let content =
            [UserContent::Image(ImageContent { data: "aGk=".into(), mime_type: "image/png".into() })];
        assert!(matches!(parts(&model, &content)[..], [HistoryPart::Image(_)]));
        model.images = false;
        assert_eq!(joined_text(&parts(&model, &content)), NO_IMAGE);
    }
}
