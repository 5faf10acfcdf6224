//! What the program answers.

use std::marker::PhantomData;

use relaycode_agent::question::AnswerReceipt;
use relaycode_tools::HostAnswer;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{CommandCall, CommandReply, NoData, RpcCommand};
use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::frame::RequestId;
use crate::rpc::gates::GateReceipt;
use crate::rpc::hooks::HookResult;
use crate::rpc::host::plan_answer;
use crate::rpc::host_files::HostUriResult;
use crate::rpc::host_tools::HostToolResult;
use crate::rpc::server::{ClientLink, RpcServer};

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
        let (receipt, question_id) = server.link.gates.answer(&params.gate_id, params.answer.clone())?;
        match question_id.map(|id| server.handle.answer(&id, plan_answer(&params.answer))) {
            None | Some(AnswerReceipt::Accepted) => Ok(CommandReply::Now(receipt)),
            Some(_) => {
                Err(RpcError::new(RpcErrorCode::AlreadyResolved, "the question was answered otherwise"))
            }
        }
    }
}

/// The answer to a request of relay's.
pub(crate) trait ProgramAnswer {
    const NAME: &'static str;
    const ABOUT: &'static str;
    type Params: DeserializeOwned + JsonSchema;

    /// # Errors
    /// If relay does not wait for it.
    fn take(link: &ClientLink, id: &str, answer: Self::Params) -> Result<(), RpcError>;
}

/// The command of an answer.
pub(crate) struct AnswerCommand<A>(PhantomData<A>);

impl<A: ProgramAnswer> RpcCommand for AnswerCommand<A> {
    const NAME: &'static str = A::NAME;
    const ABOUT: &'static str = A::ABOUT;
    const IS_ANSWER: bool = true;
    type Params = A::Params;
    type Data = NoData;

    fn run(
        server: &mut RpcServer<'_>,
        params: A::Params,
        call: &CommandCall,
    ) -> Result<CommandReply<NoData>, RpcError> {
        let Some(RequestId::Text(id)) = &call.id else {
            return Err(RpcError::params("`id` is that of the request, a text"));
        };
        A::take(&server.link, id, params)?;
        Ok(CommandReply::Now(NoData {}))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostToolUpdateParams {
    /// Live output: only the newest counts.
    text: String,
}

pub(crate) struct ToolUpdate;

impl ProgramAnswer for ToolUpdate {
    const NAME: &'static str = "host_tool_update";
    const ABOUT: &'static str =
        "What a tool of the program's prints while it runs. `id` is that of the call.";
    type Params = HostToolUpdateParams;

    fn take(link: &ClientLink, id: &str, answer: HostToolUpdateParams) -> Result<(), RpcError> {
        link.tools.progress(id, answer.text)
    }
}

pub(crate) struct ToolResult;

impl ProgramAnswer for ToolResult {
    const NAME: &'static str = "host_tool_result";
    const ABOUT: &'static str = "What a tool of the program's brought. `id` is that of the call.";
    type Params = HostToolResult;

    fn take(link: &ClientLink, id: &str, answer: HostToolResult) -> Result<(), RpcError> {
        link.tools.answer(id, answer)
    }
}

pub(crate) struct UriResult;

impl ProgramAnswer for UriResult {
    const NAME: &'static str = "host_uri_result";
    const ABOUT: &'static str =
        "A file of the program's, or that it was written. `id` is that of the request.";
    type Params = HostUriResult;

    fn take(link: &ClientLink, id: &str, answer: HostUriResult) -> Result<(), RpcError> {
        link.files.answer(id, answer)
    }
}

pub(crate) struct HookAnswer;

impl ProgramAnswer for HookAnswer {
    const NAME: &'static str = "hook_result";
    const ABOUT: &'static str = "Whether something may happen. `id` is that of the request.";
    type Params = HookResult;

    fn take(link: &ClientLink, id: &str, answer: HookResult) -> Result<(), RpcError> {
        link.hooks.answer(id, answer)
    }
}
