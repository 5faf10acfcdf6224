//! What was said.

use std::path::PathBuf;

use relaycode_session::view::context::content_text;
use relaycode_session::{EntryBody, Session, SessionError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CommandCall, CommandReply, NoParams, RpcCommand};
use crate::rpc::backend::ExportData;
use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::server::RpcServer;

/// Messages of one answer.
const MAX_MESSAGES: usize = 1_000;
const DEFAULT_MESSAGES: usize = 100;
/// Bytes of one answer's messages; one that is larger comes alone.
const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// Characters of a prompt in a list.
const MAX_LISTED_CHARS: usize = 2_000;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GetMessagesParams {
    /// Those after this entry; without it the last ones.
    #[serde(default)]
    after: Option<String>,
    /// 1 to 1000; 100 if left out.
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessagesData {
    /// Oldest first.
    messages: Vec<MessageData>,
    /// Those that the model would read.
    total: usize,
    /// There are others before the first one.
    has_earlier: bool,
    /// There are others after the last one.
    has_later: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageData {
    entry_id: String,
    /// As it is in the session file.
    #[schemars(with = "serde_json::Map<String, Value>")]
    message: Value,
}

pub(crate) struct GetMessagesCommand;

impl RpcCommand for GetMessagesCommand {
    const NAME: &'static str = "get_messages";
    const ABOUT: &'static str = "The conversation as the model would read it, in pieces of at most 4 MB.";
    type Params = GetMessagesParams;
    type Data = MessagesData;

    fn run(
        server: &mut RpcServer<'_>,
        params: GetMessagesParams,
        _: &CommandCall,
    ) -> Result<CommandReply<MessagesData>, RpcError> {
        let limit = params.limit.unwrap_or(DEFAULT_MESSAGES);
        if !(1..=MAX_MESSAGES).contains(&limit) {
            return Err(RpcError::params(format!("`limit` is 1 to {MAX_MESSAGES}")));
        }
        let context =
            server.handle.with_session(Session::context).map_err(|error| RpcError::failed(&error))?;
        let total = context.messages.len();
        let all: Vec<(String, Value)> = context.sources.into_iter().zip(context.messages).collect();
        let (first, forward) = match &params.after {
            None => (total.saturating_sub(limit), false),
            Some(after) => match all.iter().position(|(entry, _)| entry == after) {
                Some(at) => (at + 1, true),
                None => {
                    let said = "there is no such message in the conversation";
                    return Err(RpcError::new(RpcErrorCode::UnknownEntry, said));
                }
            },
        };
        let mut wanted: Vec<(String, Value)> = all.into_iter().skip(first).take(limit).collect();
        let sizes: Vec<usize> = wanted.iter().map(|(_, message)| message.to_string().len()).collect();
        let fit = |sizes: &mut dyn Iterator<Item = &usize>| {
            let mut left = MAX_MESSAGE_BYTES;
            let taken = sizes.take_while(|size| {
                let fits = **size <= left;
                left = left.saturating_sub(**size);
                fits
            });
            taken.count().max(1)
        };
        let (mut start, mut end) = (0, wanted.len());
        if forward {
            end = fit(&mut sizes.iter()).min(end);
        } else {
            start = end.saturating_sub(fit(&mut sizes.iter().rev()));
        }
        let messages: Vec<MessageData> =
            wanted.drain(start..end).map(|(entry_id, message)| MessageData { entry_id, message }).collect();
        Ok(CommandReply::Now(MessagesData {
            has_earlier: first + start > 0,
            has_later: first + end < total,
            messages,
            total,
        }))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LastTextData {
    /// `null`: the model has not answered yet.
    text: Option<String>,
}

pub(crate) struct GetLastAssistantTextCommand;

impl RpcCommand for GetLastAssistantTextCommand {
    const NAME: &'static str = "get_last_assistant_text";
    const ABOUT: &'static str = "The text of the model's last answer, with what was hidden from it.";
    type Params = NoParams;
    type Data = LastTextData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<LastTextData>, RpcError> {
        let context =
            server.handle.with_session(Session::context).map_err(|error| RpcError::failed(&error))?;
        let text = context.messages.iter().rev().find_map(|message| {
            let is_answer = message.get("role").and_then(Value::as_str) == Some("assistant");
            let text = is_answer.then(|| message.get("content").map(content_text).unwrap_or_default())?;
            (!text.trim().is_empty()).then_some(text)
        });
        Ok(CommandReply::Now(LastTextData { text: text.map(|text| server.backend.unmask(&text)) }))
    }
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionStatsData {
    #[serde(rename = "session_id")]
    session_id: String,
    entries: u64,
    messages: u64,
    prompts: u64,
    answers: u64,
    tool_calls: u64,
    /// Of all answers, on every branch.
    tokens: TokensData,
    /// US dollars.
    cost: f64,
    context_tokens: u64,
    context_window: u64,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokensData {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

pub(crate) struct GetSessionStatsCommand;

impl RpcCommand for GetSessionStatsCommand {
    const NAME: &'static str = "get_session_stats";
    const ABOUT: &'static str = "Counts of messages, tokens and money.";
    type Params = NoParams;
    type Data = SessionStatsData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<SessionStatsData>, RpcError> {
        let counted = server.handle.with_session(count_session).map_err(|error| RpcError::failed(&error))?;
        Ok(CommandReply::Now(SessionStatsData {
            session_id: server.session_id.clone(),
            context_tokens: server.facts().context_tokens,
            context_window: server.model.model.context_window,
            ..counted
        }))
    }
}

fn count_session(session: &Session) -> Result<SessionStatsData, SessionError> {
    let facts = session.facts();
    let mut stats = SessionStatsData {
        entries: facts.entries,
        messages: facts.messages,
        prompts: facts.prompts,
        answers: facts.answers,
        ..SessionStatsData::default()
    };
    for entry in session.entries() {
        let EntryBody::Message { message } = entry?.body else { continue };
        let usage = &message["usage"];
        let count = |name: &str| usage[name].as_u64().unwrap_or(0);
        stats.tokens.input += count("input");
        stats.tokens.output += count("output");
        stats.tokens.cache_read += count("cacheRead");
        stats.tokens.cache_write += count("cacheWrite");
        stats.cost += usage["cost"]["total"].as_f64().unwrap_or(0.0);
        let pieces = message["content"].as_array().into_iter().flatten();
        stats.tool_calls += pieces.filter(|piece| piece["type"] == "toolCall").count() as u64;
    }
    Ok(stats)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BranchMessagesData {
    /// Oldest first, of every branch.
    messages: Vec<BranchMessageData>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchMessageData {
    entry_id: String,
    /// The beginning.
    text: String,
}

pub(crate) struct GetBranchMessagesCommand;

impl RpcCommand for GetBranchMessagesCommand {
    const NAME: &'static str = "get_branch_messages";
    const ABOUT: &'static str = "The prompts at which `branch` can begin: the last thousand.";
    type Params = NoParams;
    type Data = BranchMessagesData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<BranchMessagesData>, RpcError> {
        let list = |session: &Session| -> Result<Vec<BranchMessageData>, SessionError> {
            use relaycode_session::{EntryRole, EntryType};
            let rows = session.rows().iter();
            let prompts = rows.filter(|row| row.kind == EntryType::Message && row.role == EntryRole::User);
            let mut ids: Vec<&str> = prompts.map(|row| &*row.id).collect();
            ids.drain(..ids.len().saturating_sub(MAX_MESSAGES));
            let read = |id: &str| {
                let entry = session.entry(id)?;
                let EntryBody::Message { message } = entry.body else { return Ok(None) };
                let text = message.get("content").map(content_text).unwrap_or_default();
                let text = text.chars().take(MAX_LISTED_CHARS).collect();
                Ok(Some(BranchMessageData { entry_id: entry.id, text }))
            };
            ids.into_iter().filter_map(|id| read(id).transpose()).collect()
        };
        let messages = server.handle.with_session(list).map_err(|error| RpcError::failed(&error))?;
        Ok(CommandReply::Now(BranchMessagesData { messages }))
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ExportHtmlParams {
    /// Where to; a file in relay's directory, named after the session, if left out.
    #[serde(default)]
    output_path: Option<PathBuf>,
}

pub(crate) struct ExportHtmlCommand;

impl RpcCommand for ExportHtmlCommand {
    const NAME: &'static str = "export_html";
    const ABOUT: &'static str =
        "Writes the conversation to one HTML page, which is the user's alone. A file that is there stays.";
    type Params = ExportHtmlParams;
    type Data = ExportData;

    fn run(
        server: &mut RpcServer<'_>,
        params: ExportHtmlParams,
        _: &CommandCall,
    ) -> Result<CommandReply<ExportData>, RpcError> {
        if server.facts().access == "read-only" {
            let said = "nothing is written in this session: its access is read-only";
            return Err(RpcError::new(RpcErrorCode::NotAllowed, said));
        }
        let (handle, backend) = (server.handle.clone(), &mut *server.backend);
        let exported = handle.with_session(|session| backend.export_html(session, params.output_path));
        exported.map(CommandReply::Now)
    }
}
