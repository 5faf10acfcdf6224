//! How relay's own agent works, as the command line says.

use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::NonEmptyStringValueParser;
use relaycode_llm::request::ThinkingLevel;
use relaycode_project::access::Access;
use relaycode_project::config::AgentConfig;
use relaycode_tools::{Tool, registry};

use super::session_file::SessionChoice;
use crate::friends::args::parse_access;
use crate::{CommandFailure, CommandResult};

/// In place of a session: the user chooses one.
const CHOOSE: &str = "-";

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct AgentOptions {
    /// Go on with the newest session of this directory
    #[arg(long = "continue", conflicts_with = "resume")]
    go_on: bool,

    /// Go on with this session: its number in `relay sessions`, its id, or its file; without one you choose from a list
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = CHOOSE, value_parser = NonEmptyStringValueParser::new())]
    resume: Option<String>,

    /// Another relay asks, as it asks a friend; the session has this title
    #[arg(long, value_name = "TITLE", hide = true, conflicts_with = "go_on")]
    as_friend: Option<String>,

    /// The model, as `relay models` names it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// How much the model thinks: off, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL", value_parser = parse_thinking)]
    pub(crate) thinking: Option<ThinkingLevel>,

    /// The tools that it may use; all by default
    #[arg(long, value_name = "TOOL,...", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    tools: Option<Vec<String>>,

    /// What it may do: read-only, ask, workspace or full
    #[arg(long, value_name = "ACCESS", value_parser = parse_access, visible_alias = "sandbox")]
    pub(crate) access: Option<Access>,

    /// Plan first: nothing changes but the plan, until you approve it
    #[arg(long)]
    pub(crate) plan: bool,

    /// End after so many answers of the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_turns: Option<u64>,

    /// End when it has cost so many US dollars
    #[arg(long, value_name = "DOLLARS", value_parser = parse_dollars)]
    pub(crate) max_cost: Option<f64>,

    /// Say this to the model in place of relay's own system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,

    /// A directory beside the project that it may read
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
}

impl AgentOptions {
    pub(crate) fn session_choice(&self) -> SessionChoice<'_> {
        match &self.resume {
            Some(word) => SessionChoice::Named(word),
            None if self.go_on => SessionChoice::Newest,
            None => self.as_friend.as_deref().map_or(SessionChoice::New, SessionChoice::OfFriend),
        }
    }

    /// The user wants to choose the session.
    pub(crate) fn wants_choice(&self) -> bool {
        self.resume.as_deref() == Some(CHOOSE)
    }

    /// In the order of the list, which is the same in every run. What is switched off, or needs somebody to ask where nobody
    /// is, has to be named.
    pub(crate) fn choose_tools(
        &self,
        config: &AgentConfig,
        is_attended: bool,
    ) -> CommandResult<Vec<Arc<dyn Tool>>> {
        let Some(names) = &self.tools else {
            let is_usual = |tool: &&Arc<dyn Tool>| match tool.name() {
                "ask" => is_attended,
                "todo_write" => config.todo,
                "goal" => config.goal,
                "checkpoint" | "rewind" => config.checkpoint,
                _ => true,
            };
            return Ok(registry::all().iter().filter(is_usual).cloned().collect());
        };
        let unknown = names.iter().find(|name| !name.is_empty() && registry::by_name(name).is_none());
        if let Some(name) = unknown {
            let all: Vec<&str> = registry::all().iter().map(|tool| tool.name()).collect();
            return Err(CommandFailure::usage(format!("there is no tool `{name}`"))
                .hint(format!("the tools are {}", all.join(", ")))
                .unchanged());
        }
        if self.plan && !names.iter().any(|name| name == "write") {
            return Err(CommandFailure::usage("a plan needs the tool `write`")
                .hint("name it with `--tools`, too")
                .unchanged());
        }
        let is_named = |tool: &&Arc<dyn Tool>| names.iter().any(|name| name == tool.name());
        Ok(registry::all().iter().filter(is_named).cloned().collect())
    }
}

fn parse_thinking(name: &str) -> Result<ThinkingLevel, String> {
    let names: Vec<&str> = ThinkingLevel::ALL.iter().map(|level| level.name()).collect();
    ThinkingLevel::from_name(name).ok_or_else(|| format!("the levels are {}", names.join(", ")))
}

fn parse_dollars(text: &str) -> Result<f64, String> {
    let sum = text.strip_prefix('$').unwrap_or(text).parse::<f64>().ok();
    sum.filter(|sum| sum.is_finite() && *sum > 0.0)
        .ok_or_else(|| "give a sum in US dollars, such as 0.50".to_string())
}
