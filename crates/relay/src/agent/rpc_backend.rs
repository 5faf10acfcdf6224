//! What `relay rpc` needs of this user and this machine: agents, models, changes. Nobody at a terminal is ever asked.

use std::path::PathBuf;
use std::sync::Arc;

use relaycode_agent::{Agent, AgentModel, UserPrompt};
use relaycode_ledger::{RevertOptions, RevertStep};
use relaycode_llm::Model;
use relaycode_llm::request::ThinkingLevel;
use relaycode_llm::request::secrets::Secrets;
use relaycode_servers::rpc::{
    ChangeStep, ChangeStepData, ExportData, OpenedAgent, RpcBackend, RpcError, RpcErrorCode, SessionTarget,
};
use relaycode_session::Session;
use relaycode_tools::Host;

use super::models::{ModelWish, choose_models};
use super::open_agent::{AgentSurface, OpenAgent, begin_prompt, check_price, unmask};
use super::options::AgentOptions;
use super::session_file::{SessionChoice, branch_session, open_session};
use crate::commands::revert::{RevertRequest, next_step};
use crate::commands::sessions::export::export_page;
use crate::{CommandContext, CommandFailure, CommandResult, Providers};

pub(crate) struct RpcAgents<'a, 'c> {
    options: &'a AgentOptions,
    ctx: &'a mut CommandContext<'c>,
    secrets: Option<Arc<Secrets>>,
    has_cost_limit: bool,
}

impl<'a, 'c> RpcAgents<'a, 'c> {
    pub(crate) fn new(options: &'a AgentOptions, ctx: &'a mut CommandContext<'c>) -> RpcAgents<'a, 'c> {
        RpcAgents { options, ctx, secrets: None, has_cost_limit: false }
    }

    /// The session that the command line names.
    pub(crate) fn open_first(&mut self, host: Arc<dyn Host + Send>) -> CommandResult<OpenedAgent> {
        let session = open_session(self.options.session_choice(), self.ctx)?;
        self.open_agent(session, self.options, host)
    }

    fn open_agent(
        &mut self,
        session: Session,
        options: &AgentOptions,
        host: Arc<dyn Host + Send>,
    ) -> CommandResult<OpenedAgent> {
        let opened = OpenAgent::open_with(session, options, AgentSurface::Program(host), self.ctx)?;
        let OpenAgent { agent, models, secrets, tools, has_cost_limit, .. } = opened;
        (self.secrets, self.has_cost_limit) = (secrets, has_cost_limit);
        Ok(OpenedAgent { agent, model: models.first, tools })
    }

    fn find_models(&mut self) -> CommandResult<Vec<Model>> {
        let mut providers = Providers::open(self.ctx)?;
        providers.discover(self.ctx)?;
        let keyed = providers.keys_by_provider();
        let registry = &providers.registry;
        let usable = registry.models.iter().filter(|known| {
            registry.is_enabled(known) && keyed.get(&known.model.provider).copied().unwrap_or(false)
        });
        Ok(usable.map(|known| known.model.clone()).collect())
    }

    fn find_model(&mut self, selector: &str, thinking: ThinkingLevel) -> CommandResult<AgentModel> {
        let mut providers = Providers::open(self.ctx)?;
        let wish = ModelWish {
            selector: Some(selector),
            thinking: None,
            session_model: None,
            session_thinking: Some(thinking),
        };
        let models = choose_models(&wish, &mut providers, self.ctx)?;
        check_price(&models, self.has_cost_limit, false, self.ctx)?;
        Ok(models.first)
    }

    fn step(&mut self, agent: &Agent, step: RevertStep, any_branch: bool) -> CommandResult<ChangeStepData> {
        let door = &agent.workspace().door;
        let request = RevertRequest {
            root: &door.root,
            ledger: &door.ledger,
            target: next_step(&door.ledger, step)?,
            options: RevertOptions::default(),
            yes: any_branch,
            allow_foreign: false,
            dry_run: false,
            may_ask: false,
            has_keys: false,
        };
        let (outcome, _) = request.carry_out(self.ctx)?;
        Ok(ChangeStepData {
            id: outcome.id.map(|id| id.to_string()),
            title: outcome.done.title.clone(),
            next: outcome.next.map(|next| next.title),
        })
    }
}

impl RpcBackend for RpcAgents<'_, '_> {
    fn open(
        &mut self,
        target: &SessionTarget<'_>,
        host: Arc<dyn Host + Send>,
    ) -> Result<OpenedAgent, RpcError> {
        let mut options = self.options.clone();
        let session = match target {
            SessionTarget::New => open_session(SessionChoice::New, self.ctx),
            SessionTarget::Named(word) => open_session(SessionChoice::Named(word), self.ctx),
            SessionTarget::Branch { from, leaf } => branch_session(from, *leaf, self.ctx),
        };
        if !matches!(target, SessionTarget::New) {
            // It goes on with its own.
            (options.model, options.thinking) = (None, None);
        }
        session
            .and_then(|session| self.open_agent(session, &options, host))
            .map_err(|failure| rpc_error(&failure, RpcErrorCode::UnknownSession))
    }

    fn begin_prompt(&mut self, agent: &mut Agent, prompt: &UserPrompt) -> Result<(), RpcError> {
        begin_prompt(agent, prompt).map_err(|failure| rpc_error(&failure, RpcErrorCode::Failed))
    }

    fn available_models(&mut self) -> Result<Vec<Model>, RpcError> {
        self.find_models().map_err(|failure| rpc_error(&failure, RpcErrorCode::Failed))
    }

    fn choose_model(&mut self, selector: &str, thinking: ThinkingLevel) -> Result<AgentModel, RpcError> {
        self.find_model(selector, thinking).map_err(|failure| rpc_error(&failure, RpcErrorCode::UnknownModel))
    }

    fn step_changes(
        &mut self,
        agent: &Agent,
        step: ChangeStep,
        any_branch: bool,
    ) -> Result<ChangeStepData, RpcError> {
        let step = match step {
            ChangeStep::Undo => RevertStep::Undo,
            ChangeStep::Redo => RevertStep::Redo,
        };
        self.step(agent, step, any_branch).map_err(|failure| {
            let code = match failure.kind {
                "nothingToDo" | "unknown" => RpcErrorCode::NothingToDo,
                _ => RpcErrorCode::Conflict,
            };
            rpc_error(&failure, code)
        })
    }

    fn export_html(&mut self, session: &Session, path: Option<PathBuf>) -> Result<ExportData, RpcError> {
        let exported = export_page(session, path, self.ctx);
        let (path, summary) = exported.map_err(|failure| rpc_error(&failure, RpcErrorCode::Failed))?;
        Ok(ExportData { path: path.to_string_lossy().into_owned(), entries: summary.entries })
    }

    fn unmask(&self, text: &str) -> String {
        unmask(self.secrets.as_deref(), text)
    }
}

/// A failure for a program: a sentence with what to do.
fn rpc_error(failure: &CommandFailure, code: RpcErrorCode) -> RpcError {
    let hint = failure.hint.iter().map(|hint| format!("; {hint}"));
    let message = std::iter::once(failure.message.clone()).chain(hint).collect::<String>();
    RpcError::new(code, message).details(serde_json::json!({ "kind": failure.kind }))
}
