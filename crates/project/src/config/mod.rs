//! The configuration: what is set, by whom, and what it means.
//!
//! Layers, each over the one before: the defaults, the user's own `config.yml`, the project's file. One
//! rule goes the other way: a user who says `patch.approvalMode: manual` is asked, whatever a project
//! says. Every value knows where it comes from ([`ConfigOrigin`]). The list of keys is [`keys`].
//!
//! A project's file is hostile: it is bounded, never followed out of the project, never run, and what it
//! wants to run or to loosen is in [`LoadedConfig::project_wants`].

mod choices;
mod error;
mod key_suggestion;
pub mod keys;
mod layer;
mod literal;
mod load;
mod rules;
mod schema;
mod show;
mod terminal;
pub(crate) mod text_file;
mod user_edit;
mod user_yaml;

use std::path::PathBuf;

use crate::access::Access;

pub use error::{ConfigError, ConfigErrorKind};
pub use load::{PROJECT_FILES, USER_FILE, load, load_all};
pub use rules::{PROJECT_ID_CHARACTERS, check_project_id};
pub use schema::{initial_file, json_schema};
pub use show::ConfigRow;
pub use terminal::{DoubleEscapeAction, SymbolPresetChoice, TerminalConfig};
pub use user_edit::{ConfigEditError, set_user_key};

/// What is set, defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The project's name in prompts and answers, without the key; `None` in a project that has no
    /// configuration.
    pub project_id: Option<String>,
    /// How relay itself behaves.
    pub core: CoreConfig,
    /// How the clipboard is watched and what the prompt asks for.
    pub watcher: WatcherConfig,
    /// How a change is judged.
    pub patch: PatchConfig,
    /// How much an answer may be.
    pub limits: LimitsConfig,
    /// What is done with git.
    pub git: GitConfig,
    /// Whom `ask`, `review` and `do` turn to. Only the user's own file says so: what a project holds goes to nobody
    /// whom its user did not choose.
    pub friends: FriendsConfig,
    /// What is done without asking, asked about, and never done.
    pub permissions: PermissionsConfig,
    /// How relay's own agent works. Only the user's own file says so.
    pub agent: AgentConfig,
    /// How rules with a condition act on an answer that comes in. Only the user's own file says so.
    pub ttsr: TtsrConfig,
    pub compaction: CompactionConfig,
    /// How the conversation looks. Only the user's own file says so.
    pub terminal: TerminalConfig,
}

/// `core.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreConfig {
    /// How much relay says.
    pub log_level: LogLevel,
    /// Desktop notifications.
    pub enable_notifications: bool,
    /// `watch` reads the configuration again when it changes.
    pub watch_config: bool,
}

/// `core.logLevel`, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing but what was asked for.
    Silent,
    /// … and failures.
    Error,
    /// … and warnings.
    Warn,
    /// … and what was done.
    Info,
    /// … and how.
    Debug,
}

/// `watcher.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatcherConfig {
    /// Milliseconds between two looks at the clipboard, where it cannot tell of changes itself.
    pub clipboard_poll_interval: u64,
    /// The dialect that the prompt asks for.
    pub preferred_strategy: PreferredStrategy,
    /// Several copies are collected before they are processed.
    pub enable_bulk_processing: bool,
    /// How many.
    pub bulk_size: u64,
    /// Milliseconds after which fewer are processed, too.
    pub bulk_timeout: u64,
}

/// `watcher.preferredStrategy`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreferredStrategy {
    /// The model chooses.
    Auto,
    /// Whole files.
    Replace,
    /// Unified diffs without line numbers.
    NewUnified,
    /// Search and replace.
    MultiSearchReplace,
}

/// `patch.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchConfig {
    /// Who approves.
    pub approval_mode: ApprovalMode,
    /// So many errors are acceptable.
    pub approval_on_error_count: u64,
    /// The command that judges the tree; empty: none.
    pub linter: String,
    /// The command that runs before; empty: none.
    pub pre_command: String,
    /// The command that runs after, before the linter; empty: none.
    pub post_command: String,
    /// A change of fewer files asks a person.
    pub min_file_changes: u64,
    /// A change of more files asks a person.
    pub max_file_changes: Option<u64>,
    /// Seconds that one of the commands may take.
    pub command_timeout: u64,
    /// What the commands may do.
    pub command_access: Access,
}

/// `limits.*`; `None`: relay's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitsConfig {
    pub text: Option<u64>,
    pub files: Option<u64>,
    pub file: Option<u64>,
    pub hunks: Option<u64>,
    pub total: Option<u64>,
    pub work: Option<u64>,
}

/// `patch.approvalMode`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalMode {
    /// Ask only when something is off.
    Auto,
    /// Ask every time.
    Manual,
}

/// `git.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitConfig {
    /// Every change gets a branch.
    pub auto_git_branch: bool,
    /// How its name begins.
    pub git_branch_prefix: String,
    /// What the rest of its name is made of.
    pub git_branch_template: BranchTemplate,
}

/// `friends.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FriendsConfig {
    /// Who is asked where nobody is named.
    pub default: String,
    /// Seconds that a friend may take in all.
    pub timeout: u64,
    /// Seconds that a friend may show no sign of life.
    pub idle_timeout: u64,
}

/// `permissions.*`: rules as they are written ([`crate::permissions::PermissionRule`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermissionsConfig {
    pub deny: Vec<String>,
    pub ask: Vec<String>,
    /// Only the user's own file says so.
    pub allow: Vec<String>,
}

/// `agent.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentConfig {
    /// What it may do.
    pub access: Access,
    /// Answers of the model to one prompt.
    pub max_turns: Option<u64>,
    /// Seconds for one prompt.
    pub max_time: Option<u64>,
    /// US cents for one prompt.
    pub max_cost: Option<u64>,
    /// Repetitions after which the model is told.
    pub repeat_limit: u64,
    /// Tools that only look, at the same time.
    pub parallel_tools: u64,
    /// How many steering messages go together.
    pub steering_mode: AgentQueueMode,
    /// How many follow-ups go together.
    pub follow_up_mode: AgentQueueMode,
    /// When steering counts.
    pub interrupt_mode: AgentInterruptMode,
    /// What user and project wrote for agents is read.
    pub instructions: bool,
    /// Where the titles of sessions come from.
    pub titles: AgentTitleMode,
    /// The tool `todo_write`.
    pub todo: bool,
    /// The tool `goal`.
    pub goal: bool,
    /// How often the agent goes on by itself towards a goal, for one prompt.
    pub goal_continuations: u64,
    /// The tools `checkpoint` and `rewind`.
    pub checkpoint: bool,
    /// The project's check runs on what a prompt changed.
    pub check: bool,
    /// Seconds until the agent goes on without an answer to its question; 0: never.
    pub ask_timeout: u64,
    /// The terminal's bell rings when it asks.
    pub ask_notify: bool,
    /// The language of edits.
    pub edit_mode: AgentEditMode,
    /// Lines of a read that names none.
    pub read_default_limit: u64,
    /// Lines have anchors.
    pub read_hash_lines: bool,
    /// Long files are read without the bodies of what they declare.
    pub read_summarize: bool,
    /// Commands may run in the background.
    pub async_enabled: bool,
    /// So many at the same time.
    pub async_max_jobs: u64,
    /// How long a look at them waits.
    pub async_poll_wait: AgentPollWait,
    /// A command that takes long goes on in the background.
    pub bash_auto_background: bool,
    /// Milliseconds after which it does.
    pub bash_background_after: u64,
    /// Commands for which there is a better tool are refused.
    pub bash_interceptor: bool,
    /// More of them, by the user's own rules.
    pub bash_interceptor_rules: Vec<AgentCommandRule>,
    /// Commands know the aliases and functions of the user's own bash.
    pub bash_startup: bool,
    /// Commands see `CI=1`.
    pub bash_ci: bool,
    /// Bytes of the end of an output that the model reads.
    pub bash_output_bytes: u64,
}

/// `agent.asyncPollWaitDuration`, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentPollWait(pub u64);

/// `agent.editMode`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentEditMode {
    Hashline,
    Replace,
    Patch,
    ApplyPatch,
}

/// One of `agent.bashInterceptorRules`: commands that match are refused, if there is the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommandRule {
    /// A regular expression.
    pub pattern: String,
    pub tool: String,
    /// What the model is told.
    pub message: String,
}

/// `agent.steeringMode`, `agent.followUpMode`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentQueueMode {
    OneAtATime,
    All,
}

/// `agent.interruptMode`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentInterruptMode {
    /// Between two calls.
    Immediate,
    /// After all calls of the answer.
    Wait,
}

/// `ttsr.*`: rules that are matched while the agent's model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TtsrConfig {
    pub enabled: bool,
    /// For rules that do not say it themselves.
    pub interrupt_mode: RuleInterruptMode,
    pub context_mode: RuleContextMode,
    pub repeat_mode: RuleRepeatMode,
    /// Turns, for [`RuleRepeatMode::AfterGap`].
    pub repeat_gap: u64,
}

/// `ttsr.interruptMode`: where a match stops the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleInterruptMode {
    Always,
    /// In text and thinking only.
    ProseOnly,
    /// In the arguments of calls only.
    ToolOnly,
    Never,
}

/// `ttsr.contextMode`: what becomes of the part of the answer that was there when a rule stopped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleContextMode {
    /// The model does not see it again.
    Discard,
    Keep,
}

/// `ttsr.repeatMode`: whether the model is told a rule again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleRepeatMode {
    Once,
    AfterGap,
}

/// `compaction.*`: how room is made in a conversation that gets too long for its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionConfig {
    pub enabled: bool,
    /// Of the window.
    pub threshold_percent: Option<u64>,
    pub threshold_tokens: Option<u64>,
    /// Kept free for the answer.
    pub reserve_tokens: u64,
    /// The end of the conversation that stays as it is.
    pub keep_recent_tokens: u64,
    /// Work goes on by itself afterwards.
    pub auto_continue: bool,
    /// Between two requests of one prompt, too.
    pub mid_turn: bool,
    /// Old outputs of tools are cut first.
    pub prune: bool,
    /// A model with a larger window goes on, where one is configured.
    pub promotion: bool,
    /// While nobody says anything.
    pub idle_enabled: bool,
    pub idle_threshold_tokens: u64,
    pub idle_timeout_seconds: u64,
}

/// `agent.titles`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentTitleMode {
    /// From the model of the role `smol`, if there is one.
    Auto,
    /// From the prompt.
    Rule,
    Off,
}

/// `git.gitBranchTemplate`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchTemplate {
    /// The transaction's id.
    Uuid,
    /// The message for the commit.
    GitCommitMsg,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            project_id: None,
            core: CoreConfig { log_level: LogLevel::Info, enable_notifications: true, watch_config: true },
            watcher: WatcherConfig {
                clipboard_poll_interval: 2_000,
                preferred_strategy: PreferredStrategy::Auto,
                enable_bulk_processing: false,
                bulk_size: 5,
                bulk_timeout: 30_000,
            },
            patch: PatchConfig {
                approval_mode: ApprovalMode::Auto,
                approval_on_error_count: 0,
                linter: String::new(),
                pre_command: String::new(),
                post_command: String::new(),
                min_file_changes: 0,
                max_file_changes: None,
                command_timeout: 600,
                command_access: Access::Full,
            },
            limits: LimitsConfig::default(),
            git: GitConfig {
                auto_git_branch: false,
                git_branch_prefix: "relay/".to_string(),
                git_branch_template: BranchTemplate::GitCommitMsg,
            },
            friends: FriendsConfig { default: "codex".to_string(), timeout: 600, idle_timeout: 300 },
            permissions: PermissionsConfig::default(),
            agent: AgentConfig {
                access: Access::Workspace,
                max_turns: None,
                max_time: None,
                max_cost: None,
                repeat_limit: 5,
                parallel_tools: 8,
                steering_mode: AgentQueueMode::OneAtATime,
                follow_up_mode: AgentQueueMode::OneAtATime,
                interrupt_mode: AgentInterruptMode::Immediate,
                instructions: true,
                titles: AgentTitleMode::Auto,
                todo: true,
                goal: true,
                goal_continuations: 20,
                checkpoint: false,
                check: true,
                ask_timeout: 30,
                ask_notify: true,
                edit_mode: AgentEditMode::Hashline,
                read_default_limit: 3_000,
                read_hash_lines: true,
                read_summarize: true,
                async_enabled: true,
                async_max_jobs: 100,
                async_poll_wait: AgentPollWait(30),
                bash_auto_background: false,
                bash_background_after: 60_000,
                bash_interceptor: false,
                bash_interceptor_rules: Vec::new(),
                bash_startup: false,
                bash_ci: true,
                bash_output_bytes: 50 << 10,
            },
            ttsr: TtsrConfig::default(),
            compaction: CompactionConfig::default(),
            terminal: TerminalConfig::default(),
        }
    }
}

impl Default for CompactionConfig {
    fn default() -> CompactionConfig {
        CompactionConfig {
            enabled: true,
            threshold_percent: None,
            threshold_tokens: None,
            reserve_tokens: 16_384,
            keep_recent_tokens: 20_000,
            auto_continue: true,
            mid_turn: true,
            prune: true,
            promotion: true,
            idle_enabled: false,
            idle_threshold_tokens: 200_000,
            idle_timeout_seconds: 300,
        }
    }
}

impl Default for TtsrConfig {
    fn default() -> TtsrConfig {
        TtsrConfig {
            enabled: true,
            interrupt_mode: RuleInterruptMode::Always,
            context_mode: RuleContextMode::Discard,
            repeat_mode: RuleRepeatMode::Once,
            repeat_gap: 10,
        }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigOrigin {
    /// Nobody set it.
    Default,
    /// The user's own file.
    User { line: usize },
    /// The project's file.
    Project { line: usize },
}

/// A configuration with its history.
#[derive(Debug, Clone)]
pub struct LoadedConfig {
    /// What is set.
    pub config: Config,
    /// What would hold without the project's file: the defaults and the user's own.
    pub without_project: Config,
    /// Where each key's value comes from, by the key's full name, in the order of [`keys`].
    pub origins: Vec<(&'static str, ConfigOrigin)>,
    /// The project's file, if there is one.
    pub file: Option<PathBuf>,
    /// The project's file has a name or keys that only the original tool wrote.
    pub has_older_form: bool,
    /// What a person should know: older forms that were read, unknown keys, values that do nothing.
    pub remarks: Vec<ConfigRemark>,
}

/// Something about a configuration that does not stop anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigRemark {
    /// The file, as the user knows it.
    pub file: String,
    /// The line in it, 0 if it is about all of it.
    pub line: usize,
    /// A sentence for the user.
    pub text: String,
}

#[cfg(test)]
mod tests;
