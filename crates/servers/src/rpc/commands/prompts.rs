//! Saying something to the model.

use relaycode_agent::UserPrompt;
use relaycode_llm::message::UserContent;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{CommandCall, CommandReply, DoneData, NoParams, RpcCommand};
use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::host_tools::ContentPiece;
use crate::rpc::server::{AgentWork, RpcServer};

pub(crate) use crate::rpc::server::PromptData;

/// Images of one prompt.
const MAX_IMAGES: usize = 20;

/// Something to say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SayParams {
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) images: Vec<ImageParam>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ImageParam {
    /// `image`; may be left out.
    #[serde(default, rename = "type")]
    #[schemars(with = "Option<String>")]
    _kind: serde::de::IgnoredAny,
    /// Base64.
    data: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    mime_type: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PromptParams {
    message: String,
    #[serde(default)]
    images: Vec<ImageParam>,
    /// What becomes of it while the agent works; without it, it is refused then.
    #[serde(default)]
    streaming_behavior: Option<StreamingBehavior>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StreamingBehavior {
    /// Said as soon as possible.
    Steer,
    /// Said when the model is done.
    FollowUp,
}

impl SayParams {
    fn into_prompt(self) -> Result<UserPrompt, RpcError> {
        if self.message.trim().is_empty() && self.images.is_empty() {
            return Err(RpcError::params("`message` is empty"));
        }
        if self.images.len() > MAX_IMAGES {
            return Err(RpcError::params(format!("at most {MAX_IMAGES} images go with a message")));
        }
        let mut content = vec![UserContent::text(self.message)];
        for ImageParam { data, mime_type, .. } in self.images {
            let image = ContentPiece::Image { data, mime_type }.into_content();
            content.push(image.map_err(|said| RpcError::params(format!("`images` has {said}")))?);
        }
        Ok(UserPrompt { content })
    }
}

fn queue(server: &RpcServer<'_>, prompt: UserPrompt, how: StreamingBehavior) -> Result<PromptData, RpcError> {
    let queued = match how {
        StreamingBehavior::Steer => server.handle.steer(prompt),
        StreamingBehavior::FollowUp => server.handle.follow_up(prompt),
    };
    queued.map_err(|error| RpcError::new(RpcErrorCode::QueueFull, error.to_string()))?;
    Ok(PromptData { after_seq: server.handle.last_seq(), queued: true })
}

/// Into the queue of the run; an error if there is none.
fn queue_only(
    server: &RpcServer<'_>,
    params: SayParams,
    how: StreamingBehavior,
) -> Result<CommandReply<PromptData>, RpcError> {
    let prompt = params.into_prompt()?;
    if server.work() != Some(AgentWork::Prompt) || server.is_moving() {
        let said = "the agent does not work on a prompt; `prompt` begins one";
        return Err(RpcError::new(RpcErrorCode::NothingToDo, said));
    }
    queue(server, prompt, how).map(CommandReply::Now)
}

pub(crate) struct PromptCommand;

impl RpcCommand for PromptCommand {
    const NAME: &'static str = "prompt";
    const ABOUT: &'static str = "Lets the agent work on a prompt. Answered at once; `agent_end` tells of the end, and a prompt \
        that does not come to its end is answered a second time, with an error.";
    type Params = PromptParams;
    type Data = PromptData;

    fn run(
        server: &mut RpcServer<'_>,
        params: PromptParams,
        call: &CommandCall,
    ) -> Result<CommandReply<PromptData>, RpcError> {
        let PromptParams { message, images, streaming_behavior } = params;
        let prompt = SayParams { message, images }.into_prompt()?;
        if server.work() == Some(AgentWork::Prompt) && !server.is_moving() {
            let Some(how) = streaming_behavior else {
                let said = "the agent works already; `streamingBehavior` says whether it hears this soon (`steer`) or when it is \
                            done (`followUp`)";
                return Err(RpcError::busy(said));
            };
            return queue(server, prompt, how).map(CommandReply::Now);
        }
        server.start_prompt(Some(call.clone()), prompt)?;
        Ok(CommandReply::Later)
    }
}

pub(crate) struct SteerCommand;

impl RpcCommand for SteerCommand {
    const NAME: &'static str = "steer";
    const ABOUT: &'static str = "Says something to the model as soon as possible, while it works.";
    type Params = SayParams;
    type Data = PromptData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SayParams,
        _: &CommandCall,
    ) -> Result<CommandReply<PromptData>, RpcError> {
        queue_only(server, params, StreamingBehavior::Steer)
    }
}

pub(crate) struct FollowUpCommand;

impl RpcCommand for FollowUpCommand {
    const NAME: &'static str = "follow_up";
    const ABOUT: &'static str = "Says something to the model when it is done with what it works on.";
    type Params = SayParams;
    type Data = PromptData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SayParams,
        _: &CommandCall,
    ) -> Result<CommandReply<PromptData>, RpcError> {
        queue_only(server, params, StreamingBehavior::FollowUp)
    }
}

pub(crate) struct AbortCommand;

impl RpcCommand for AbortCommand {
    const NAME: &'static str = "abort";
    const ABOUT: &'static str =
        "Ends what the agent does; what is finished stays. What waits in the queue waits on.";
    type Params = NoParams;
    type Data = DoneData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<DoneData>, RpcError> {
        Ok(CommandReply::Now(DoneData { done: server.abort() }))
    }
}

pub(crate) struct AbortAndPromptCommand;

impl RpcCommand for AbortAndPromptCommand {
    const NAME: &'static str = "abort_and_prompt";
    const ABOUT: &'static str =
        "Ends what the agent does, and lets it work on this prompt instead. Answered when that begins.";
    type Params = SayParams;
    type Data = PromptData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SayParams,
        call: &CommandCall,
    ) -> Result<CommandReply<PromptData>, RpcError> {
        let prompt = params.into_prompt()?;
        server.abort_and_prompt(call, prompt)?;
        Ok(CommandReply::Later)
    }
}
