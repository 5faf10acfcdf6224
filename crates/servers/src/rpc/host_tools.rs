//! Tools that the program brings: the model calls them like any other, the program runs them.

use std::sync::Arc;
use std::time::Duration;

use relaycode_llm::message::{ImageContent, UserContent};
use relaycode_llm::request::Tool as ToolDefinition;
use relaycode_tools::{
    CardBody, Tool, ToolCard, ToolConcurrency, ToolError, ToolInvocation, ToolOutput, ToolProgress,
    ToolWorkspace,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client_requests::{ClientRequests, RequestEnd, RequestWait};
use super::error::RpcError;
use super::frame::RpcFrame;
use super::host::DEFAULT_WAIT;
use super::outbox::Outbox;

/// Tools of a program.
pub(crate) const MAX_TOOLS: usize = 128;
/// Bytes of a tool's description, and of its schema.
const MAX_DESCRIPTION_BYTES: usize = 16 << 10;
const MAX_SCHEMA_BYTES: usize = 64 << 10;
/// Bytes of an image in base64.
pub(crate) const MAX_IMAGE_BYTES: usize = 8 << 20;
/// The longest that a call may take.
const MAX_WAIT: Duration = Duration::from_secs(24 * 3600);
/// Bytes of live output of which the end is told.
const MAX_TAIL_BYTES: usize = 16 << 10;
/// Characters of an answer that people see.
const MAX_CARD_CHARS: usize = 16 << 10;

/// What a program can do for the model.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HostToolSpec {
    /// Letters, digits, `_` and `-`; none of relay's own tools.
    pub(crate) name: String,
    /// What the model reads.
    pub(crate) description: String,
    /// JSON schema of the arguments: an object.
    pub(crate) parameters: Value,
    /// It only looks, so its calls may run beside others.
    #[serde(default)]
    pub(crate) read_only: bool,
    /// How long a call may take: 300 000 if left out.
    #[serde(default)]
    pub(crate) timeout_ms: Option<u64>,
}

/// The answer to a call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HostToolResult {
    /// A text, or pieces.
    pub(crate) content: HostToolContent,
    /// The call failed; the model reads why.
    #[serde(default)]
    pub(crate) is_error: bool,
    /// Kept with the session, never sent to a model.
    #[serde(default)]
    pub(crate) details: Option<Value>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum HostToolContent {
    Text(String),
    Pieces(Vec<ContentPiece>),
}

/// A piece of what is said.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum ContentPiece {
    Text {
        text: String,
    },
    Image {
        /// Base64.
        data: String,
        /// `image/png` and the like.
        mime_type: String,
    },
}

/// Calls that the program works on.
pub(crate) type HostToolRequests = ClientRequests<HostToolResult, String>;

pub(crate) struct HostTool {
    spec: HostToolSpec,
    wait: Duration,
    requests: Arc<HostToolRequests>,
    outbox: Arc<Outbox>,
}

impl HostTool {
    /// # Errors
    /// If it cannot be offered to a model.
    pub(crate) fn new(
        spec: HostToolSpec,
        requests: Arc<HostToolRequests>,
        outbox: Arc<Outbox>,
    ) -> Result<HostTool, RpcError> {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if spec.name.is_empty() || spec.name.len() > 64 || !spec.name.chars().all(is_letter) {
            return Err(RpcError::params("a tool's name has 1 to 64 letters, digits, `_` and `-`"));
        }
        let name = &spec.name;
        if relaycode_tools::registry::by_name(name).is_some() {
            return Err(RpcError::params(format!("`{name}` is a tool of relay's own")));
        }
        if spec.description.len() > MAX_DESCRIPTION_BYTES {
            let most = MAX_DESCRIPTION_BYTES >> 10;
            return Err(RpcError::params(format!("the description of `{name}` has more than {most} kB")));
        }
        if spec.parameters["type"] != "object" || spec.parameters.to_string().len() > MAX_SCHEMA_BYTES {
            let most = MAX_SCHEMA_BYTES >> 10;
            let said =
                format!("the parameters of `{name}` are no schema of an object with at most {most} kB");
            return Err(RpcError::params(said));
        }
        let wait = spec.timeout_ms.map_or(DEFAULT_WAIT, Duration::from_millis).min(MAX_WAIT);
        Ok(HostTool { spec, wait, requests, outbox })
    }
}

impl Tool for HostTool {
    fn name(&self) -> &str {
        &self.spec.name
    }

    fn definition(&self, _: &ToolWorkspace) -> ToolDefinition {
        ToolDefinition {
            name: self.spec.name.clone(),
            description: self.spec.description.clone(),
            parameters: self.spec.parameters.clone(),
        }
    }

    fn concurrency(&self) -> ToolConcurrency {
        if self.spec.read_only { ToolConcurrency::Shared } else { ToolConcurrency::Exclusive }
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let timeout_ms = u64::try_from(self.wait.as_millis()).unwrap_or(u64::MAX);
        let frame = |id: &str| {
            let (tool_call_id, tool_name, arguments) = (call.id, self.spec.name.as_str(), call.arguments);
            RpcFrame::HostToolCall { id, tool_call_id, tool_name, arguments, timeout_ms }.to_line()
        };
        let withdraw = |id: &str| RpcFrame::HostToolCancel { id }.to_line();
        let mut show = |text: String| {
            let from = (text.len().saturating_sub(MAX_TAIL_BYTES)..=text.len())
                .find(|at| text.is_char_boundary(*at));
            let tail = text[from.unwrap_or(0)..].to_string();
            call.host.progress(call.id, &ToolProgress { status: String::new(), tail });
        };
        let wait = RequestWait { most: self.wait, cancel: Some(call.cancel) };
        let result = self.requests.ask(&self.outbox, &wait, &frame, Some(&withdraw), &mut show);
        let name = &self.spec.name;
        let result = result.map_err(|end| match end {
            RequestEnd::Cancelled => ToolError::Aborted,
            RequestEnd::TimedOut => ToolError::refused(format!(
                "`{name}` gave no answer within {} s. It may have taken effect all the same; look before you call it again.",
                self.wait.as_secs_f64()
            )),
            RequestEnd::Closed => ToolError::refused(format!(
                "`{name}` gave no answer: the program that brings it has gone. It may have taken effect all the same."
            )),
            RequestEnd::TooMany => {
                ToolError::refused(format!("`{name}` was not called: too many calls wait for its program already"))
            }
        })?;
        to_output(name, result)
    }
}

fn to_output(name: &str, result: HostToolResult) -> Result<ToolOutput, ToolError> {
    let content = match result.content {
        HostToolContent::Text(text) => vec![UserContent::text(text)],
        HostToolContent::Pieces(pieces) => {
            let pieces: Result<Vec<_>, String> = pieces.into_iter().map(ContentPiece::into_content).collect();
            pieces.map_err(|said| ToolError::refused(format!("`{name}` answered with {said}")))?
        }
    };
    let texts = content.iter().filter_map(|piece| match piece {
        UserContent::Text(text) => Some(text.text.as_str()),
        UserContent::Image(_) => None,
    });
    let text: String = texts.collect::<Vec<_>>().join("\n");
    let lines = text.lines().count();
    let summary = if lines == 1 { "1 line".to_string() } else { format!("{lines} lines") };
    let body = match &result.details {
        Some(details) if details.to_string().len() <= MAX_CARD_CHARS => {
            CardBody::Json { value: details.clone() }
        }
        _ if text.trim().is_empty() => CardBody::None,
        _ => CardBody::text(text.chars().take(MAX_CARD_CHARS).collect::<String>()),
    };
    let card = ToolCard::new(name, summary, body);
    let details = result.details.map(|details| json!({ "host": details }));
    if result.is_error {
        return Err(ToolError::Refused { message: text, card: Some(Box::new(card)), details });
    }
    Ok(ToolOutput { content, card, details })
}

impl ContentPiece {
    /// # Errors
    /// What it is, if no model can read it.
    pub(crate) fn into_content(self) -> Result<UserContent, String> {
        match self {
            ContentPiece::Text { text } => Ok(UserContent::text(text)),
            ContentPiece::Image { data, mime_type } => {
                let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
                let known = ["image/png", "image/jpeg", "image/gif", "image/webp"];
                if !known.contains(&mime_type.as_str()) {
                    return Err(format!("an image that is none of {}", known.join(", ")));
                }
                if data.is_empty() || data.len() > MAX_IMAGE_BYTES || !data.bytes().all(is_base64) {
                    return Err(format!(
                        "an image that is no base64 of at most {} MB",
                        MAX_IMAGE_BYTES >> 20
                    ));
                }
                Ok(UserContent::Image(ImageContent { data, mime_type }))
            }
        }
    }
}
