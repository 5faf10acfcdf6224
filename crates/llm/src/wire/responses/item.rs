//! An item of an answer in progress: which piece it is, and what of it has been emitted.

use serde_json::Value;

use crate::failure::{ModelFailure, ModelResult};
use crate::message::AssistantContent;
use crate::stream::assembly::{AnswerPieceKind as PieceKind, Assembly, MAX_ANSWER_PIECES};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum OutputItemKind {
    /// Text, and refusals.
    Message,
    Reasoning,
    /// A call with JSON arguments.
    Function,
    /// A call with free text.
    Custom,
}

impl OutputItemKind {
    pub(super) fn from_item(item: &Value) -> Option<OutputItemKind> {
        match item["type"].as_str()? {
            "message" => Some(OutputItemKind::Message),
            "reasoning" => Some(OutputItemKind::Reasoning),
            "function_call" => Some(OutputItemKind::Function),
            "custom_tool_call" => Some(OutputItemKind::Custom),
            _ => None,
        }
    }
}

/// The position of an item among the known ones, or of one to come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OutputItemSlot(usize);

/// The items so far.
#[derive(Debug, Default)]
pub(super) struct OutputItems {
    known: Vec<OutputItem>,
    /// For the next item that is added.
    next: (Option<u64>, String),
}

#[derive(Debug)]
pub(super) struct OutputItem {
    kind: OutputItemKind,
    output_index: Option<u64>,
    id: String,
    call_id: String,
    set_late_name: String,
    piece: Option<usize>,
    parts: Vec<OutputItemPart>,
    arguments: String,
    finished: bool,
}

/// Whether a part is in the summary, and its index there.
pub(super) type PartKey = (bool, u64);

/// A part of an item, and where its text is in the piece.
#[derive(Debug)]
struct OutputItemPart {
    key: PartKey,
    from: usize,
}

impl OutputItems {
    /// The slot of the item that an event is about: by its number, since some servers use a different id in
    /// every event; else by its id; else the last one. Servers that do not count may reuse a number for
    /// another item.
    pub(super) fn slot(&mut self, event: &Value, item: &Value, kind: OutputItemKind) -> OutputItemSlot {
        let index = event["output_index"].as_u64();
        let id = event["item_id"].as_str().or(item["id"].as_str()).unwrap_or_default();
        let last = |fits: &dyn Fn(&OutputItem) -> bool| {
            self.known.iter().rposition(|known| known.kind == kind && fits(known))
        };
        let found = match index {
            Some(_) => last(&|known| known.output_index == index),
            None if !id.is_empty() => last(&|known| known.id == id),
            None if item.is_null() => last(&|_| true),
            None => last(&|known| known.id.is_empty() && !known.finished),
        };
        let another = |at: &usize| {
            let known = &self.known[*at];
            known.finished && !item.is_null() && !id.is_empty() && known.id != id
        };
        let found = found.filter(|at| !another(at));
        self.next = (index, id.to_owned());
        OutputItemSlot(found.unwrap_or(self.known.len()))
    }

    /// The slot of an item of the final answer, if it was not emitted yet.
    pub(super) fn unseen_slot(&mut self, index: u64, item: &Value) -> Option<OutputItemSlot> {
        let kind = OutputItemKind::from_item(item)?;
        let id = item["id"].as_str().unwrap_or_default();
        let by_id = self.known.iter().position(|known| !id.is_empty() && known.id == id);
        let by_index =
            self.known.iter().position(|known| known.output_index == Some(index) && known.kind == kind);
        let found = by_id.or(by_index);
        // If neither matches, an item of a server that changes ids would be emitted twice.
        if found.is_none() && self.known.iter().any(|known| known.kind == kind) {
            return None;
        }
        self.next = (Some(index), id.to_owned());
        Some(OutputItemSlot(found.unwrap_or(self.known.len())))
    }

    pub(super) fn get(&mut self, slot: OutputItemSlot) -> Option<&mut OutputItem> {
        self.known.get_mut(slot.0)
    }

    /// The item in a slot; a new one is of `kind`.
    pub(super) fn get_or_add(
        &mut self,
        slot: OutputItemSlot,
        kind: OutputItemKind,
        item: &Value,
    ) -> ModelResult<&mut OutputItem> {
        if slot.0 >= self.known.len() {
            if self.known.len() >= MAX_ANSWER_PIECES {
                return Err(ModelFailure::too_large(format!(
                    "the provider sent more than {MAX_ANSWER_PIECES} items in one answer"
                )));
            }
            let (output_index, id) = std::mem::take(&mut self.next);
            self.known.push(OutputItem::new(kind, output_index, id, item));
        }
        let last = self.known.len() - 1;
        Ok(&mut self.known[slot.0.min(last)])
    }
}

impl OutputItem {
    fn new(kind: OutputItemKind, output_index: Option<u64>, id: String, item: &Value) -> OutputItem {
        let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
        OutputItem {
            kind,
            output_index,
            id,
            call_id: text("call_id"),
            set_late_name: text("name"),
            piece: None,
            parts: Vec::new(),
            arguments: String::new(),
            finished: false,
        }
    }

    pub(super) fn piece(&self) -> Option<usize> {
        self.piece
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    /// Begins the piece, unless it has begun.
    pub(super) fn open(&mut self, into: &mut Assembly) -> ModelResult<usize> {
        if let Some(piece) = self.piece {
            return Ok(piece);
        }
        let piece = into.open(match self.kind {
            OutputItemKind::Message => PieceKind::Text,
            OutputItemKind::Reasoning => PieceKind::Thinking,
            OutputItemKind::Function | OutputItemKind::Custom => {
                PieceKind::ToolCall { id: self.joined_id(), name: self.set_late_name.clone() }
            }
        })?;
        self.piece = Some(piece);
        Ok(piece)
    }

    /// For a call whose name or id comes late.
    pub(super) fn name(&mut self, item: &Value, into: &mut Assembly) {
        for (kept, name) in [(&mut self.set_late_name, "name"), (&mut self.call_id, "call_id")] {
            if let Some(late) = item[name].as_str().filter(|_| kept.is_empty()) {
                late.clone_into(kept);
            }
        }
        let id = self.joined_id();
        if let Some(piece) = self.piece {
            into.set_call_name(piece, &id, &self.set_late_name);
        }
    }

    /// `call_id|item_id`, or the one that there is.
    fn joined_id(&self) -> String {
        match (self.call_id.as_str(), self.id.as_str()) {
            (call, "") => call.to_owned(),
            ("", item) => item.to_owned(),
            (call, item) => format!("{call}|{item}"),
        }
    }

    /// Parts of thinking are paragraphs.
    pub(super) fn append_part(&mut self, key: (bool, u64), more: &str, into: &mut Assembly) -> ModelResult {
        if self.finished || more.is_empty() {
            return Ok(());
        }
        let piece = self.open(into)?;
        if self.parts.iter().all(|part| part.key != key) {
            if self.parts.len() >= MAX_ANSWER_PIECES {
                return Err(ModelFailure::too_large("the provider sent an item of too many parts"));
            }
            if self.kind == OutputItemKind::Reasoning && !piece_text(piece, into).is_empty() {
                into.append_delta(piece, "\n\n")?;
            }
            let from = piece_text(piece, into).len();
            self.parts.push(OutputItemPart { key, from });
        }
        into.append_delta(piece, more)
    }

    /// The whole part: emits what is missing. Only the last part can continue.
    pub(super) fn complete_part(&mut self, key: PartKey, whole: &str, into: &mut Assembly) -> ModelResult {
        let Some(at) = self.parts.iter().position(|part| part.key == key) else {
            return self.append_part(key, whole, into);
        };
        let Some(piece) = self.piece.filter(|_| at + 1 == self.parts.len()) else { return Ok(()) };
        let rest =
            piece_text(piece, into).get(self.parts[at].from..).and_then(|so_far| whole.strip_prefix(so_far));
        let rest = rest.unwrap_or_default().to_owned();
        self.append_part(key, &rest, into)
    }

    pub(super) fn append_arguments(&mut self, more: &str, into: &mut Assembly) -> ModelResult {
        if self.finished {
            return Ok(());
        }
        let piece = self.open(into)?;
        self.arguments.push_str(more);
        into.append_delta(piece, more)
    }

    /// The whole arguments: emits what is missing.
    pub(super) fn complete_arguments(&mut self, whole: &str, into: &mut Assembly) -> ModelResult {
        let rest = whole.strip_prefix(self.arguments.as_str()).unwrap_or_default().to_owned();
        self.append_arguments(&rest, into)
    }
}

fn piece_text(piece: usize, into: &mut Assembly) -> &str {
    match into.piece(piece) {
        Some(AssistantContent::Text(text)) => &text.text,
        Some(AssistantContent::Thinking(thinking)) => &thinking.thinking,
        Some(AssistantContent::ToolCall(_)) | None => "",
    }
}
