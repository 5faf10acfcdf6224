//! What the program answers.

use relaycode_agent::question::AnswerReceipt;
use relaycode_tools::HostAnswer;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{CommandCall, CommandReply, NoData, RpcCommand};
use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::frame::{HookAction, RequestId};
use crate::rpc::gates::GateReceipt;
use crate::rpc::host_files::HostUriResult;
use crate::rpc::host_tools::HostToolResult;
use crate::rpc::server::RpcServer;

/// The request that an answer is to.
fn request_id(call: &CommandCall) -> Result<&str, RpcError> {
    match &call.id {
        Some(RequestId::Text(id)) => Ok(id),
        _ => Err(RpcError::params("`id` is that of the request, a text")),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AnswerQuestionParams {
    question_id: String,
    /// The places of the chosen options, the first is 0.
    #[serde(default)]
    chosen: Option<Vec<usize>>,
    /// Where there are no options, or the question takes words beside them.
    #[serde(default)]
    text: Option<String>,
    /// Ends the whole run instead.
    #[serde(default)]
    stop: bool,
}

pub(crate) struct AnswerQuestionCommand;

impl RpcCommand for AnswerQuestionCommand {
    const NAME: &'static str = "answer_question";
    const ABOUT: &'static str =
        "Answers what `question_asked` told, with one of `chosen`, `text` and `stop`.";
    type Params = AnswerQuestionParams;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: AnswerQuestionParams,
        _: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        let answer = match (params.chosen, params.text, params.stop) {
            (Some(chosen), None, false) => HostAnswer::Options { chosen },
            (None, Some(text), false) => HostAnswer::Text { text },
            (None, None, true) => HostAnswer::Stop,
            _ => return Err(RpcError::params("an answer has one of `chosen`, `text` and `stop`")),
        };
        let (code, said) = match server.handle.answer(&params.question_id, answer) {
            AnswerReceipt::Accepted => return Ok(CommandReply::Now(NoData {})),
            AnswerReceipt::AlreadyAnswered => {
                (RpcErrorCode::AlreadyAnswered, "somebody else was first, or it was too late")
            }
            AnswerReceipt::UnknownQuestion => (RpcErrorCode::UnknownQuestion, "there is no such question"),
            AnswerReceipt::NotAnOption => {
                (RpcErrorCode::NotAnOption, "the question has other options, or takes another number of them")
            }
        };
        Err(RpcError::new(code, said))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GateResponseParams {
    gate_id: String,
    /// What follows the gate's schema.
    answer: Value,
}

pub(crate) struct WorkflowGateResponseCommand;

impl RpcCommand for WorkflowGateResponseCommand {
    const NAME: &'static str = "workflow_gate_response";
    const ABOUT: &'static str = "Decides what `workflow_gate` asks. An answer that does not follow the schema is no failure of the \
        command: its data say `rejected` and why, and another one may come.";
    type Params = GateResponseParams;
    type Data = GateReceipt;

    fn run(
        server: &mut RpcServer<'_>,
        params: GateResponseParams,
        _: &CommandCall,
    ) -> Result<CommandReply<GateReceipt>, RpcError> {
        server.link.gates.answer(&params.gate_id, params.answer).map(CommandReply::Now)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostToolUpdateParams {
    /// Live output: only the newest counts.
    text: String,
}

pub(crate) struct HostToolUpdateCommand;

impl RpcCommand for HostToolUpdateCommand {
    const NAME: &'static str = "host_tool_update";
    const ABOUT: &'static str =
        "What a tool of the program's prints while it runs. `id` is that of the call.";
    const IS_ANSWER: bool = true;
    type Params = HostToolUpdateParams;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: HostToolUpdateParams,
        call: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        server.link.tools.progress(request_id(call)?, params.text)?;
        Ok(CommandReply::Now(NoData {}))
    }
}

pub(crate) struct HostToolResultCommand;

impl RpcCommand for HostToolResultCommand {
    const NAME: &'static str = "host_tool_result";
    const ABOUT: &'static str = "What a tool of the program's brought. `id` is that of the call.";
    const IS_ANSWER: bool = true;
    type Params = HostToolResult;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: HostToolResult,
        call: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        server.link.tools.answer(request_id(call)?, params)?;
        Ok(CommandReply::Now(NoData {}))
    }
}

pub(crate) struct HostUriResultCommand;

impl RpcCommand for HostUriResultCommand {
    const NAME: &'static str = "host_uri_result";
    const ABOUT: &'static str =
        "A file of the program's, or that it was written. `id` is that of the request.";
    const IS_ANSWER: bool = true;
    type Params = HostUriResult;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: HostUriResult,
        call: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        server.link.files.answer(request_id(call)?, params)?;
        Ok(CommandReply::Now(NoData {}))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookResultParams {
    action: HookAction,
}

pub(crate) struct HookResultCommand;

impl RpcCommand for HookResultCommand {
    const NAME: &'static str = "hook_result";
    const ABOUT: &'static str = "Whether something may happen. `id` is that of the request.";
    const IS_ANSWER: bool = true;
    type Params = HookResultParams;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: HookResultParams,
        call: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        server.link.hooks.answer(request_id(call)?, params.action)?;
        Ok(CommandReply::Now(NoData {}))
    }
}
