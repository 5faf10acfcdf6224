//! Which model answers, and how much it thinks. What is set while the agent works counts from the next prompt on.

use relaycode_llm::Model;
use relaycode_llm::request::ThinkingLevel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommandCall, CommandReply, NoParams, RpcCommand};
use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::server::RpcServer;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelData {
    /// `provider/id`, as `set_model` takes it.
    model: String,
    provider: String,
    id: String,
    name: String,
    context_window: u64,
    max_tokens: u64,
    /// It can think.
    reasoning: bool,
    /// It sees images.
    images: bool,
    /// US dollars per million tokens; 0 if unknown.
    input_price: f64,
    output_price: f64,
}

impl ModelData {
    fn new(model: &Model) -> ModelData {
        ModelData {
            model: model.selector(),
            provider: model.provider.clone(),
            id: model.id.clone(),
            name: model.name.clone(),
            context_window: model.context_window,
            max_tokens: model.max_tokens,
            reasoning: model.reasoning,
            images: model.images,
            input_price: model.price.input,
            output_price: model.price.output,
        }
    }
}

/// What answers now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChosenModelData {
    model: ModelData,
    thinking_level: String,
    /// The agent works: the prompt that it works on goes on as before.
    from_next_prompt: bool,
}

fn chosen(server: &RpcServer<'_>) -> CommandReply<ChosenModelData> {
    CommandReply::Now(ChosenModelData {
        model: ModelData::new(&server.model.model),
        thinking_level: server.model.thinking.name().to_string(),
        from_next_prompt: server.work().is_some(),
    })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ModelsData {
    models: Vec<ModelData>,
}

pub(crate) struct GetAvailableModelsCommand;

impl RpcCommand for GetAvailableModelsCommand {
    const NAME: &'static str = "get_available_models";
    const ABOUT: &'static str = "The models that have a key, or need none.";
    type Params = NoParams;
    type Data = ModelsData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<ModelsData>, RpcError> {
        let models = server.backend.available_models()?.iter().map(ModelData::new).collect();
        Ok(CommandReply::Now(ModelsData { models }))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetModelParams {
    /// As `relay models` takes it; `:high` behind it says how much it thinks.
    model: String,
}

pub(crate) struct SetModelCommand;

impl RpcCommand for SetModelCommand {
    const NAME: &'static str = "set_model";
    const ABOUT: &'static str = "Another model from the next prompt on.";
    type Params = SetModelParams;
    type Data = ChosenModelData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SetModelParams,
        _: &CommandCall,
    ) -> Result<CommandReply<ChosenModelData>, RpcError> {
        let model = server.backend.choose_model(&params.model, server.model.thinking)?;
        server.set_model(model);
        Ok(chosen(server))
    }
}

pub(crate) struct CycleModelCommand;

impl RpcCommand for CycleModelCommand {
    const NAME: &'static str = "cycle_model";
    const ABOUT: &'static str = "The next of the models that can be used.";
    type Params = NoParams;
    type Data = ChosenModelData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<ChosenModelData>, RpcError> {
        let models = server.backend.available_models()?;
        let present = server.model.model.selector();
        let at = models.iter().position(|model| model.selector() == present);
        let next = models.get(at.map_or(0, |at| (at + 1) % models.len()));
        let Some(next) = next.filter(|next| next.selector() != present) else {
            return Err(RpcError::new(RpcErrorCode::NothingToDo, "there is no other model"));
        };
        let model = server.backend.choose_model(&next.selector(), server.model.thinking)?;
        server.set_model(model);
        Ok(chosen(server))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetThinkingLevelParams {
    #[schemars(with = "ThinkingName")]
    level: ThinkingLevel,
}

/// `off`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "it stands for the level in the schema")]
enum ThinkingName {
    Off,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

fn think(
    server: &mut RpcServer<'_>,
    level: ThinkingLevel,
) -> Result<CommandReply<ChosenModelData>, RpcError> {
    if !server.model.model.reasoning && level != ThinkingLevel::Off {
        let said = format!("{} does not think", server.model.model.selector());
        return Err(RpcError::new(RpcErrorCode::NotAvailable, said));
    }
    let mut model = server.model.clone();
    model.thinking = level;
    server.set_model(model);
    Ok(chosen(server))
}

pub(crate) struct SetThinkingLevelCommand;

impl RpcCommand for SetThinkingLevelCommand {
    const NAME: &'static str = "set_thinking_level";
    const ABOUT: &'static str = "How much the model thinks from the next prompt on.";
    type Params = SetThinkingLevelParams;
    type Data = ChosenModelData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SetThinkingLevelParams,
        _: &CommandCall,
    ) -> Result<CommandReply<ChosenModelData>, RpcError> {
        think(server, params.level)
    }
}

pub(crate) struct CycleThinkingLevelCommand;

impl RpcCommand for CycleThinkingLevelCommand {
    const NAME: &'static str = "cycle_thinking_level";
    const ABOUT: &'static str = "The next level of thinking; `off` after the last.";
    type Params = NoParams;
    type Data = ChosenModelData;

    fn run(
        server: &mut RpcServer<'_>,
        _: NoParams,
        _: &CommandCall,
    ) -> Result<CommandReply<ChosenModelData>, RpcError> {
        let next = (server.model.thinking as usize + 1) % ThinkingLevel::ALL.len();
        think(server, ThinkingLevel::ALL[next])
    }
}
