//! The commands: one type each, in a file per family, and one list.

pub(crate) mod changes;
pub(crate) mod compaction;
pub(crate) mod conversation;
pub(crate) mod goals;
pub(crate) mod host_answers;
pub(crate) mod host_setup;
pub(crate) mod models;
pub(crate) mod modes;
pub(crate) mod plans;
pub(crate) mod prompts;
pub(crate) mod sessions;
pub(crate) mod shell;
pub(crate) mod state;

use relaycode_text::nearest::{did_you_mean, nearest_names};
use relaycode_text::width::clip_for_message;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::host_answers::AnswerCommand;
use self::modes::SettingCommand;
use super::error::{RpcError, RpcErrorCode};
use super::frame::RequestId;
use super::input::RpcRequest;
use super::server::RpcServer;

/// Names that an unknown one is compared with.
const MAX_SUGGESTIONS: usize = 3;

/// Something that a program can ask for.
pub(crate) trait RpcCommand {
    const NAME: &'static str;
    /// What it does, for the reference.
    const ABOUT: &'static str;
    /// It answers a request of relay's: `id` is that of the request, and only a failure is answered.
    const IS_ANSWER: bool = false;
    type Params: DeserializeOwned + JsonSchema;
    type Data: Serialize + JsonSchema;

    /// # Errors
    /// Told to the program; nothing was done.
    fn run(
        server: &mut RpcServer<'_>,
        params: Self::Params,
        call: &CommandCall,
    ) -> Result<CommandReply<Self::Data>, RpcError>;
}

pub(crate) enum CommandReply<T> {
    Now(T),
    /// It was answered already, or will be.
    Later,
}

/// To whom an answer goes.
#[derive(Debug, Clone)]
pub(crate) struct CommandCall {
    pub(crate) id: Option<RequestId>,
    pub(crate) name: &'static str,
}

/// A command, whatever its types are.
pub(crate) struct CommandEntry {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) is_answer: bool,
    pub(crate) params: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) data: fn(&mut SchemaGenerator) -> Schema,
    run: fn(&mut RpcServer<'_>, Map<String, Value>, &CommandCall),
}

/// In the order in which the reference tells of them.
pub(crate) const ALL: &[CommandEntry] = &[
    entry::<prompts::PromptCommand>(),
    entry::<prompts::SteerCommand>(),
    entry::<prompts::FollowUpCommand>(),
    entry::<prompts::AbortCommand>(),
    entry::<prompts::AbortAndPromptCommand>(),
    entry::<state::GetStateCommand>(),
    entry::<state::ReplayCommand>(),
    entry::<state::SetTodosCommand>(),
    entry::<conversation::GetMessagesCommand>(),
    entry::<conversation::GetLastAssistantTextCommand>(),
    entry::<conversation::GetSessionStatsCommand>(),
    entry::<conversation::GetBranchMessagesCommand>(),
    entry::<conversation::ExportHtmlCommand>(),
    entry::<sessions::NewSessionCommand>(),
    entry::<sessions::SwitchSessionCommand>(),
    entry::<sessions::BranchCommand>(),
    entry::<sessions::NavigateTreeCommand>(),
    entry::<sessions::SetSessionNameCommand>(),
    entry::<models::GetAvailableModelsCommand>(),
    entry::<models::SetModelCommand>(),
    entry::<models::CycleModelCommand>(),
    entry::<models::SetThinkingLevelCommand>(),
    entry::<models::CycleThinkingLevelCommand>(),
    entry::<plans::SetModeCommand>(),
    entry::<plans::GetPlanCommand>(),
    entry::<plans::ApprovePlanCommand>(),
    entry::<goals::SetGoalCommand>(),
    entry::<goals::ChangeGoalCommand>(),
    entry::<SettingCommand<modes::SteeringMode>>(),
    entry::<SettingCommand<modes::FollowUpMode>>(),
    entry::<SettingCommand<modes::SteeringInterrupt>>(),
    entry::<SettingCommand<modes::AutoRetry>>(),
    entry::<modes::AbortRetryCommand>(),
    entry::<compaction::CompactCommand>(),
    entry::<compaction::UndoCompactionCommand>(),
    entry::<SettingCommand<modes::AutoCompaction>>(),
    entry::<shell::BashCommand>(),
    entry::<shell::AbortBashCommand>(),
    entry::<changes::UndoCommand>(),
    entry::<changes::RedoCommand>(),
    entry::<host_setup::SetHostToolsCommand>(),
    entry::<host_setup::SetHostUriSchemesCommand>(),
    entry::<host_setup::SetHooksCommand>(),
    entry::<host_setup::SetAttendedCommand>(),
    entry::<host_answers::AnswerQuestionCommand>(),
    entry::<host_answers::WorkflowGateResponseCommand>(),
    entry::<AnswerCommand<host_answers::ToolUpdate>>(),
    entry::<AnswerCommand<host_answers::ToolResult>>(),
    entry::<AnswerCommand<host_answers::UriResult>>(),
    entry::<AnswerCommand<host_answers::HookAnswer>>(),
];

const fn entry<C: RpcCommand>() -> CommandEntry {
    CommandEntry {
        name: C::NAME,
        about: C::ABOUT,
        is_answer: C::IS_ANSWER,
        params: SchemaGenerator::subschema_for::<C::Params>,
        data: SchemaGenerator::subschema_for::<C::Data>,
        run: run::<C>,
    }
}

fn run<C: RpcCommand>(server: &mut RpcServer<'_>, params: Map<String, Value>, call: &CommandCall) {
    let params = serde_json::from_value::<C::Params>(Value::Object(params));
    let params = params.map_err(|error| RpcError::params(format!("{}: {error}", C::NAME)));
    match params.and_then(|params| C::run(server, params, call)) {
        Ok(CommandReply::Now(data)) if !C::IS_ANSWER => server.respond(call, Ok(data)),
        Ok(_) => {}
        Err(error) => server.respond_error(call.id.clone(), call.name, error),
    }
}

/// Carries out a request, or says why not.
pub(crate) fn dispatch(server: &mut RpcServer<'_>, request: RpcRequest) {
    let RpcRequest { id, command, params } = request;
    match ALL.iter().find(|entry| entry.name == command) {
        Some(entry) => (entry.run)(server, params, &CommandCall { id, name: entry.name }),
        None => {
            let names = ALL.iter().map(|entry| entry.name);
            let nearest = did_you_mean(&nearest_names(&command, names, MAX_SUGGESTIONS));
            let shown = clip_for_message(&command, 60);
            let error = RpcError::new(
                RpcErrorCode::UnknownCommand,
                format!("there is no command `{shown}`{nearest}"),
            );
            server.respond_error(id, &shown, error);
        }
    }
}

/// A command takes nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

/// There is nothing to tell.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct NoData {}

/// Whether there was something to do.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DoneData {
    pub(crate) done: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_everything_is_described() {
        let mut names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|entry| entry.about.ends_with('.')));
    }
}
