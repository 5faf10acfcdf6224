//! The one list of keys. What a file may say, what `config show` and `config check` print, the schema,
//! what `init` writes, and what needs trust, all come from it.

use serde_json::{Value as Json, json};

use super::layer::{allowed_values, read_typed_value};
use super::{AgentCommandRule, Config, ConfigError, choices::NamedChoice};
use crate::permissions::PermissionEffect;

/// One key of the configuration.
#[derive(Debug)]
pub struct ConfigKey {
    /// Its full name: `patch.linter`.
    pub name: &'static str,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// What it may be.
    pub kind: ConfigValueKind,
    /// Which part of relay it changes.
    pub scope: ConfigScope,
    /// Its name in the older flat form of the file.
    pub legacy_name: Option<&'static str>,
    /// What a project that sets it wants from the user.
    pub trust_need: Option<TrustNeed>,
    /// Only the user's own file may set it: what a project says of it does nothing.
    pub user_only: bool,
    /// `init` writes it into a new file.
    pub written_by_init: bool,
    /// Where its value is.
    pub(super) slot: for<'a> fn(&'a mut Config) -> ConfigSlot<'a>,
}

/// What a key's value may be.
#[derive(Debug, Clone, Copy)]
pub enum ConfigValueKind {
    /// A text, by a rule.
    Text(ConfigTextRule),
    /// `true` or `false`.
    Switch,
    /// A whole number; with `or_none`, `null` means none.
    Number { least: u64, most: u64, or_none: bool },
    /// One of some names.
    Choice(&'static [ConfigChoice]),
    /// A list of permission rules of this effect.
    Rules(PermissionEffect),
    /// A list of rules for commands that have a better tool.
    CommandRules,
}

/// One of the names that a key may have as its value.
#[derive(Debug)]
pub struct ConfigChoice {
    /// The name.
    pub name: &'static str,
    /// Older names of the same.
    pub legacy_names: &'static [&'static str],
}

/// What a text must be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigTextRule {
    /// The name of a project.
    ProjectId,
    /// A command line for the shell; empty: none.
    Command,
    /// The beginning of a branch's name; may be empty.
    BranchPrefix,
    /// Whom to ask: one friend, or several with commas between them.
    Friends,
    /// The name of a theme.
    Theme,
}

/// Which part of relay a key changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope {
    /// Every command.
    AllCommands,
    /// `relay watch` only.
    WatchOnly,
}

/// What a project wants from the user by setting a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustNeed {
    /// To run a command.
    Command,
    /// To decide who approves.
    Approval,
}

/// Where a value is kept.
pub(super) enum ConfigSlot<'a> {
    Name(&'a mut Option<String>),
    Text(&'a mut String),
    Switch(&'a mut bool),
    Number(&'a mut u64),
    Limit(&'a mut Option<u64>),
    Choice(&'a mut dyn NamedChoice),
    List(&'a mut Vec<String>),
    CommandRules(&'a mut Vec<AgentCommandRule>),
}

/// A value that its key allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConfigValue {
    None,
    Switch(bool),
    Number(u64),
    /// Also a choice, by its present name.
    Text(String),
    List(Vec<String>),
    CommandRules(Vec<AgentCommandRule>),
}

impl ConfigValue {
    pub(super) fn to_json(&self) -> Json {
        match self {
            ConfigValue::None => Json::Null,
            ConfigValue::Switch(on) => Json::from(*on),
            ConfigValue::Number(number) => Json::from(*number),
            ConfigValue::Text(text) => Json::from(text.as_str()),
            ConfigValue::List(texts) => Json::from(texts.as_slice()),
            ConfigValue::CommandRules(rules) => {
                let object = |rule: &AgentCommandRule| json!({"pattern": rule.pattern, "tool": rule.tool, "message": rule.message});
                rules.iter().map(object).collect()
            }
        }
    }
}

impl ConfigKey {
    /// Its section, and its name there: (`Some("patch")`, `linter`).
    pub fn section_and_name(&self) -> (Option<&'static str>, &'static str) {
        let split = self.name.split_once('.');
        split.map_or((None, self.name), |(section, name)| (Some(section), name))
    }

    /// Its value where nobody set it.
    pub fn default(&self) -> Json {
        self.get(&Config::default()).to_json()
    }

    /// What it may be, as the end of a sentence.
    pub fn allowed_values(&self) -> String {
        allowed_values(self.kind)
    }

    /// What the user typed as its value; texts and choices need no quotes.
    ///
    /// # Errors
    /// If the key does not allow it, or not in the user's own file.
    pub fn read_typed(&'static self, text: &str) -> Result<Json, ConfigError> {
        read_typed_value(self, text).map(|value| value.to_json())
    }

    pub(super) fn get(&self, config: &Config) -> ConfigValue {
        // A slot is for writing; a configuration is small.
        let mut config = config.clone();
        match (self.slot)(&mut config) {
            ConfigSlot::Name(name) => name.take().map_or(ConfigValue::None, ConfigValue::Text),
            ConfigSlot::Text(text) => ConfigValue::Text(std::mem::take(text)),
            ConfigSlot::Switch(on) => ConfigValue::Switch(*on),
            ConfigSlot::Number(number) => ConfigValue::Number(*number),
            ConfigSlot::Limit(limit) => limit.map_or(ConfigValue::None, ConfigValue::Number),
            ConfigSlot::Choice(choice) => ConfigValue::Text(choice.name().to_string()),
            ConfigSlot::List(texts) => ConfigValue::List(std::mem::take(texts)),
            ConfigSlot::CommandRules(rules) => ConfigValue::CommandRules(std::mem::take(rules)),
        }
    }

    /// Sets it. A value of another type than the key's changes nothing.
    pub(super) fn set(&self, config: &mut Config, value: &ConfigValue) {
        match ((self.slot)(config), value) {
            (ConfigSlot::Name(slot), ConfigValue::Text(text)) => *slot = Some(text.clone()),
            (ConfigSlot::Text(slot), ConfigValue::Text(text)) => slot.clone_from(text),
            (ConfigSlot::Switch(slot), ConfigValue::Switch(on)) => *slot = *on,
            (ConfigSlot::Number(slot), ConfigValue::Number(number)) => *slot = *number,
            (ConfigSlot::Limit(slot), ConfigValue::Number(number)) => *slot = Some(*number),
            (ConfigSlot::Limit(slot), ConfigValue::None) => *slot = None,
            (ConfigSlot::Choice(slot), ConfigValue::Text(name)) => slot.set_by_name(name),
            (ConfigSlot::List(slot), ConfigValue::List(texts)) => slot.clone_from(texts),
            (ConfigSlot::CommandRules(slot), ConfigValue::CommandRules(rules)) => slot.clone_from(rules),
            _ => {}
        }
    }
}

/// The key of this full name.
pub fn find_key(name: &str) -> Option<&'static ConfigKey> {
    KEYS.iter().find(|key| key.name == name)
}

/// The sections and what they are about, in the order of the file.
pub const SECTIONS: [(&str, &str); 13] = [
    ("core", "How relay itself behaves."),
    ("watcher", "How the clipboard is watched and what the prompt asks for."),
    ("patch", "How a change is judged."),
    ("limits", "How much an answer may be, and may change; `--limit` goes before."),
    ("git", "What is done with git."),
    ("friends", "Whom `ask`, `review` and `do` turn to, and how long they wait."),
    ("permissions", "What agents and commands may do without asking; `relay permissions` lists the rules."),
    ("agent", "How relay's own agent works: `relay run`."),
    ("ttsr", "How rules with a `condition` act while the agent's model answers."),
    ("compaction", "How room is made in a conversation that gets too long for the agent's model."),
    ("theme", "Colours of the conversation, by the terminal's background (docs/themes.md)."),
    ("branchSummary", "What is kept of a branch of the conversation that is left."),
    ("terminal", "How the conversation is shown."),
];

const fn choice(name: &'static str) -> ConfigChoice {
    ConfigChoice { name, legacy_names: &[] }
}

const SYMBOL_PRESETS: &[ConfigChoice] =
    &[choice("theme"), choice("unicode"), choice("nerd"), choice("ascii")];

const ESCAPE_ACTIONS: &[ConfigChoice] = &[choice("tree"), choice("branch"), choice("none")];

const LOG_LEVELS: &[ConfigChoice] =
    &[choice("silent"), choice("error"), choice("warn"), choice("info"), choice("debug")];

const STRATEGIES: &[ConfigChoice] = &[
    choice("auto"),
    choice("replace"),
    ConfigChoice { name: "new-unified", legacy_names: &["standard-diff"] },
    ConfigChoice { name: "multi-search-replace", legacy_names: &["search-replace"] },
];

// The older `approval` answers "may relay approve by itself?": it stands beside the number of errors up
// to which it does.
const APPROVALS: &[ConfigChoice] = &[
    ConfigChoice { name: "auto", legacy_names: &["yes"] },
    ConfigChoice { name: "manual", legacy_names: &["no"] },
];

const QUEUE_MODES: &[ConfigChoice] = &[choice("one-at-a-time"), choice("all")];

const INTERRUPT_MODES: &[ConfigChoice] = &[choice("immediate"), choice("wait")];

const TITLE_MODES: &[ConfigChoice] = &[choice("auto"), choice("rule"), choice("off")];

const RULE_INTERRUPT_MODES: &[ConfigChoice] =
    &[choice("always"), choice("prose-only"), choice("tool-only"), choice("never")];

const RULE_CONTEXT_MODES: &[ConfigChoice] = &[choice("discard"), choice("keep")];

const RULE_REPEAT_MODES: &[ConfigChoice] = &[choice("once"), choice("after-gap")];

const EDIT_MODES: &[ConfigChoice] =
    &[choice("hashline"), choice("replace"), choice("patch"), choice("apply_patch")];

const POLL_WAITS: &[ConfigChoice] = &[choice("5s"), choice("10s"), choice("30s"), choice("1m"), choice("5m")];

const ACCESS_LEVELS: &[ConfigChoice] =
    &[choice("read-only"), choice("ask"), choice("workspace"), choice("full")];

const TEMPLATES: &[ConfigChoice] = &[choice("uuid"), choice("gitCommitMsg")];

/// An hour in milliseconds.
const HOUR: u64 = 3_600_000;
/// More errors than a linter is believed.
const ERRORS: u64 = 1_000_000;
/// More than any model reads.
const TOKENS: u64 = 100_000_000;
/// More files than a change may have.
const CHANGED_FILES: u64 = 100_000;

/// Every key, in the order in which they are shown.
#[rustfmt::skip]
pub static KEYS: [ConfigKey; 90] = [
    key("projectId", ConfigValueKind::Text(ConfigTextRule::ProjectId), |c| ConfigSlot::Name(&mut c.project_id),
        "The project's name in prompts and answers; an answer for another project is refused."),
    key("core.logLevel", ConfigValueKind::Choice(LOG_LEVELS), |c| ConfigSlot::Choice(&mut c.core.log_level),
        "How much relay prints, from results only to every step."),
    key("core.enableNotifications", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.core.enable_notifications),
        "Whether a desktop notification tells of a change that came in, was applied or failed.").watch_only(),
    key("core.watchConfig", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.core.watch_config),
        "Whether `relay watch` reads the configuration again when it changes.").watch_only(),
    key("watcher.clipboardPollInterval", number(50, HOUR), |c| ConfigSlot::Number(&mut c.watcher.clipboard_poll_interval),
        "Milliseconds between two looks at the clipboard, where it cannot tell of changes itself.")
        .watch_only().legacy("clipboardPollInterval"),
    key("watcher.preferredStrategy", ConfigValueKind::Choice(STRATEGIES), |c| ConfigSlot::Choice(&mut c.watcher.preferred_strategy),
        "The way to write an edit that the prompt asks the model for; auto lets the model choose."),
    key("watcher.enableBulkProcessing", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.watcher.enable_bulk_processing),
        "Whether several copies are collected before they are processed together.").watch_only().optional(),
    key("watcher.bulkSize", number(1, 1_000), |c| ConfigSlot::Number(&mut c.watcher.bulk_size),
        "How many copies are collected.").watch_only().optional(),
    key("watcher.bulkTimeout", number(100, HOUR), |c| ConfigSlot::Number(&mut c.watcher.bulk_timeout),
        "Milliseconds after the last copy until fewer are processed, too.").watch_only().optional(),
    key("patch.approvalMode", ConfigValueKind::Choice(APPROVALS), |c| ConfigSlot::Choice(&mut c.patch.approval_mode),
        "Who approves: auto asks a person only when something is off, manual asks every time.").legacy("approval")
        .needs(TrustNeed::Approval),
    key("patch.approvalOnErrorCount", number(0, ERRORS), |c| ConfigSlot::Number(&mut c.patch.approval_on_error_count),
        "With auto, a change is kept without asking if the linter counts at most so many errors.").legacy("approvalOnErrorCount")
        .needs(TrustNeed::Approval),
    key("patch.linter", ConfigValueKind::Text(ConfigTextRule::Command), |c| ConfigSlot::Text(&mut c.patch.linter),
        "The command that judges the project before and after a change; empty: none, and a person decides.").legacy("linter")
        .needs(TrustNeed::Command),
    key("patch.preCommand", ConfigValueKind::Text(ConfigTextRule::Command), |c| ConfigSlot::Text(&mut c.patch.pre_command),
        "A command that runs before a change is applied; if it fails, nothing is applied.").legacy("preCommand")
        .needs(TrustNeed::Command),
    key("patch.postCommand", ConfigValueKind::Text(ConfigTextRule::Command), |c| ConfigSlot::Text(&mut c.patch.post_command),
        "A command that runs after a change was applied, before the linter; if it fails, everything is put back.").legacy("postCommand")
        .needs(TrustNeed::Command),
    key("patch.minFileChanges", number(0, CHANGED_FILES), |c| ConfigSlot::Number(&mut c.patch.min_file_changes),
        "A change of fewer files asks a person.").needs(TrustNeed::Approval).optional(),
    key("patch.maxFileChanges", ConfigValueKind::Number { least: 1, most: CHANGED_FILES, or_none: true },
        |c| ConfigSlot::Limit(&mut c.patch.max_file_changes),
        "A change of more files asks a person; null: any number is fine.").needs(TrustNeed::Approval).optional(),
    key("patch.commandTimeout", number(1, 86_400), |c| ConfigSlot::Number(&mut c.patch.command_timeout),
        "Seconds that one of the commands may take before it is ended.").optional(),
    key("patch.commandAccess", ConfigValueKind::Choice(ACCESS_LEVELS), |c| ConfigSlot::Choice(&mut c.patch.command_access),
        "What the project's commands may do: below full they run in a fence.").user_only(),
    key("limits.text", limit(256 << 20), |c| ConfigSlot::Limit(&mut c.limits.text),
        "Bytes of an answer; null: 4 MiB.").optional(),
    key("limits.files", limit(CHANGED_FILES), |c| ConfigSlot::Limit(&mut c.limits.files),
        "Files that one answer may change; null: 200.").optional(),
    key("limits.file", limit(1 << 30), |c| ConfigSlot::Limit(&mut c.limits.file),
        "Bytes of a file that is written, before and after; a file that is only renamed or deleted may have more; null: 1 MiB.")
        .optional(),
    key("limits.hunks", limit(1_000_000), |c| ConfigSlot::Limit(&mut c.limits.hunks),
        "Edits in one answer; null: 2000.").optional(),
    key("limits.total", limit(16 << 30), |c| ConfigSlot::Limit(&mut c.limits.total),
        "Bytes of all files that one answer changes, before and after; null: 400 MiB.").optional(),
    key("limits.work", limit(15_000_000_000), |c| ConfigSlot::Limit(&mut c.limits.work),
        "Steps that finding the places of all edits may take; null: 150000000.").optional(),
    key("git.autoGitBranch", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.git.auto_git_branch),
        "Whether every change gets a branch of its own."),
    key("git.gitBranchPrefix", ConfigValueKind::Text(ConfigTextRule::BranchPrefix), |c| ConfigSlot::Text(&mut c.git.git_branch_prefix),
        "How the name of such a branch begins."),
    key("git.gitBranchTemplate", ConfigValueKind::Choice(TEMPLATES), |c| ConfigSlot::Choice(&mut c.git.git_branch_template),
        "What the rest of its name is made of: the change's id, or the message for the commit."),
    key("friends.default", ConfigValueKind::Text(ConfigTextRule::Friends), |c| ConfigSlot::Text(&mut c.friends.default),
        "The friend that is asked where `--to` names none; several with commas between them.").user_only(),
    key("friends.timeout", number(1, 86_400), |c| ConfigSlot::Number(&mut c.friends.timeout),
        "Seconds that a friend may take in all.").user_only(),
    key("friends.idleTimeout", number(1, 86_400), |c| ConfigSlot::Number(&mut c.friends.idle_timeout),
        "Seconds that a friend may show no sign of life.").user_only(),
    key("permissions.deny", ConfigValueKind::Rules(PermissionEffect::Deny), |c| ConfigSlot::List(&mut c.permissions.deny),
        "Rules of what is never done, whatever other rules say, such as \"edit .github/**\".").optional(),
    key("permissions.ask", ConfigValueKind::Rules(PermissionEffect::Ask), |c| ConfigSlot::List(&mut c.permissions.ask),
        "Rules of what is asked about every time, such as \"git push *\".").optional(),
    key("permissions.allow", ConfigValueKind::Rules(PermissionEffect::Allow), |c| ConfigSlot::List(&mut c.permissions.allow),
        "Rules of what is done without asking, such as \"cargo test *\".").user_only(),
    key("agent.access", ConfigValueKind::Choice(ACCESS_LEVELS), |c| ConfigSlot::Choice(&mut c.agent.access),
        "What the agent may do where `--access` does not say.").user_only(),
    key("agent.maxTurns", limit(100_000), |c| ConfigSlot::Limit(&mut c.agent.max_turns),
        "Answers of the model to one prompt; null: any number.").user_only(),
    key("agent.maxTime", limit(7 * 86_400), |c| ConfigSlot::Limit(&mut c.agent.max_time),
        "Seconds that one prompt may take; null: any time.").user_only(),
    key("agent.maxCost", limit(100_000_000), |c| ConfigSlot::Limit(&mut c.agent.max_cost),
        "US cents that one prompt may cost; null: any sum.").user_only(),
    key("agent.repeatLimit", number(2, 1_000), |c| ConfigSlot::Number(&mut c.agent.repeat_limit),
        "After so many repetitions of the same calls with the same results the model is told; after twice as many the run ends.")
        .user_only(),
    key("agent.parallelTools", number(1, 64), |c| ConfigSlot::Number(&mut c.agent.parallel_tools),
        "Tools that only look and may run at the same time.").user_only(),
    key("agent.steeringMode", ConfigValueKind::Choice(QUEUE_MODES), |c| ConfigSlot::Choice(&mut c.agent.steering_mode),
        "How many messages that steer the agent go to the model together.").user_only(),
    key("agent.followUpMode", ConfigValueKind::Choice(QUEUE_MODES), |c| ConfigSlot::Choice(&mut c.agent.follow_up_mode),
        "How many messages that wait for the end of a run go to the model together.").user_only(),
    key("agent.interruptMode", ConfigValueKind::Choice(INTERRUPT_MODES), |c| ConfigSlot::Choice(&mut c.agent.interrupt_mode),
        "When a message that steers counts: between two calls of an answer, or after all of them.").user_only(),
    key("agent.instructions", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.instructions),
        "Whether the agent reads AGENTS.md, CLAUDE.md and rule files.").user_only(),
    key("agent.titles", ConfigValueKind::Choice(TITLE_MODES), |c| ConfigSlot::Choice(&mut c.agent.titles),
        "Who names a new session: auto asks the model of the role `smol` if there is one, rule takes the prompt.").user_only(),
    key("agent.todo", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.todo),
        "Whether the agent has the tool `todo_write`, its list of what is to be done.").user_only(),
    key("agent.goal", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.goal),
        "Whether the agent has the tool `goal`, something it works towards by itself.").user_only(),
    key("agent.goalContinuations", number(0, 10_000), |c| ConfigSlot::Number(&mut c.agent.goal_continuations),
        "How often the agent goes on by itself towards a goal after one prompt; 0: never.").user_only(),
    key("agent.checkpoint", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.checkpoint),
        "Whether the agent has the tools `checkpoint` and `rewind`, to try something and go back.").user_only(),
    key("agent.check", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.check),
        "Whether the project's linter, if you trust it, runs on what a prompt changed, and its errors go to the agent.").user_only(),
    key("agent.askTimeout", number(0, 86_400), |c| ConfigSlot::Number(&mut c.agent.ask_timeout),
        "Seconds after which the agent goes on without an answer to its question, with what it recommends; 0: never.").user_only(),
    key("agent.askNotify", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.ask_notify),
        "Whether the terminal's bell rings when the agent asks you something.").user_only(),
    key("agent.editMode", ConfigValueKind::Choice(EDIT_MODES), |c| ConfigSlot::Choice(&mut c.agent.edit_mode),
        "The language of the tool `edit`: anchors of lines, old and new text, hunks of a diff, or `*** Begin Patch`.").user_only(),
    key("agent.readDefaultLimit", number(1, 3_000), |c| ConfigSlot::Number(&mut c.agent.read_default_limit),
        "Lines of a file that the agent reads where it does not say which.").user_only(),
    key("agent.readHashLines", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.read_hash_lines),
        "Whether the lines of files have anchors, which the edit mode `hashline` needs.").user_only(),
    key("agent.readSummarize", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.read_summarize),
        "Whether a file too long to be read at once is shown without the bodies of its functions and sections.").user_only(),
    key("agent.asyncEnabled", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.async_enabled),
        "Whether the agent may run commands in the background.").user_only(),
    key("agent.asyncMaxJobs", number(1, 100), |c| ConfigSlot::Number(&mut c.agent.async_max_jobs),
        "Commands in the background at the same time.").user_only(),
    key("agent.asyncPollWaitDuration", ConfigValueKind::Choice(POLL_WAITS), |c| ConfigSlot::Choice(&mut c.agent.async_poll_wait),
        "How long one look at commands in the background waits for one of them to end.").user_only(),
    key("agent.bashAutoBackground", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.bash_auto_background),
        "Whether a command that takes long goes on in the background by itself.").user_only(),
    key("agent.bashBackgroundAfter", number(1_000, HOUR), |c| ConfigSlot::Number(&mut c.agent.bash_background_after),
        "Milliseconds after which it does.").user_only(),
    key("agent.bashInterceptor", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.bash_interceptor),
        "Whether commands for which there is a better tool (cat, grep, find, sed -i) are refused with its name.").user_only(),
    key("agent.bashInterceptorRules", ConfigValueKind::CommandRules, |c| ConfigSlot::CommandRules(&mut c.agent.bash_interceptor_rules),
        "More commands that are refused then: a regular expression, the tool that is better, and what the agent is told.").user_only(),
    key("agent.bashStartup", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.bash_startup),
        "Whether the agent's commands know the aliases and functions of your own ~/.bashrc.").user_only(),
    key("agent.bashCi", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.agent.bash_ci),
        "Whether commands see CI=1, so that programs ask nothing.").user_only(),
    key("agent.bashOutputBytes", number(1_024, 256 << 10), |c| ConfigSlot::Number(&mut c.agent.bash_output_bytes),
        "Bytes of the end of a command's output that the model reads; all of it is kept beside the session.").user_only(),
    key("ttsr.enabled", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.ttsr.enabled),
        "Whether rules with a `condition` are matched while the model answers.").user_only(),
    key("ttsr.interruptMode", ConfigValueKind::Choice(RULE_INTERRUPT_MODES), |c| ConfigSlot::Choice(&mut c.ttsr.interrupt_mode),
        "Where a match stops the answer, if the rule does not say it: everywhere, in prose, in calls of tools, or nowhere.")
        .user_only(),
    key("ttsr.contextMode", ConfigValueKind::Choice(RULE_CONTEXT_MODES), |c| ConfigSlot::Choice(&mut c.ttsr.context_mode),
        "Whether the model forgets the answer that a rule stopped, or sees its text up to the match.").user_only(),
    key("ttsr.repeatMode", ConfigValueKind::Choice(RULE_REPEAT_MODES), |c| ConfigSlot::Choice(&mut c.ttsr.repeat_mode),
        "Whether the model is told a rule once in a session, or again after some turns.").user_only(),
    key("ttsr.repeatGap", number(1, 100_000), |c| ConfigSlot::Number(&mut c.ttsr.repeat_gap),
        "With after-gap, how many turns have to end before a rule is told again.").user_only(),
    key("compaction.enabled", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.compaction.enabled),
        "Whether room is made by itself; what the model refuses as too long is made shorter in any case.")
        .user_only(),
    key("compaction.thresholdPercent", limit(99), |c| ConfigSlot::Limit(&mut c.compaction.threshold_percent),
        "How much of the model's window may be full, in percent; null: all but reserveTokens, 85 at most.")
        .user_only(),
    key("compaction.thresholdTokens", limit(TOKENS), |c| ConfigSlot::Limit(&mut c.compaction.threshold_tokens),
        "How many tokens a conversation may have, whatever the window is; null: thresholdPercent says it.").user_only(),
    key("compaction.reserveTokens", number(256, TOKENS), |c| ConfigSlot::Number(&mut c.compaction.reserve_tokens),
        "Tokens of the window that are kept free for the answer, half of it at most.").user_only(),
    key("compaction.keepRecentTokens", number(0, TOKENS), |c| ConfigSlot::Number(&mut c.compaction.keep_recent_tokens),
        "Tokens of the end of a conversation that stay as they are.").user_only(),
    key("compaction.autoContinue", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.compaction.auto_continue),
        "Whether the agent goes on by itself after its conversation was summed up while it worked.").user_only(),
    key("compaction.midTurn", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.compaction.mid_turn),
        "Whether room is made between two steps of one prompt, too, and not only before a prompt.").user_only(),
    key("compaction.prune", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.compaction.prune),
        "Whether old outputs of tools are cut to a line first, if that is enough.").user_only(),
    key("compaction.promotion", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.compaction.promotion),
        "Whether a full window is a reason to go on with the model's contextPromotionTarget of models.yml.").user_only(),
    key("compaction.idleEnabled", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.compaction.idle_enabled),
        "Whether a long conversation is summed up while you say nothing.").user_only(),
    key("compaction.idleThresholdTokens", number(1_000, TOKENS), |c| ConfigSlot::Number(&mut c.compaction.idle_threshold_tokens),
        "From so many tokens on.").user_only(),
    key("compaction.idleTimeoutSeconds", number(1, 86_400), |c| ConfigSlot::Number(&mut c.compaction.idle_timeout_seconds),
        "After so many seconds.").user_only(),
    key("theme.dark", ConfigValueKind::Text(ConfigTextRule::Theme), |c| ConfigSlot::Text(&mut c.terminal.dark_theme),
        "The theme on a dark background.").user_only(),
    key("theme.light", ConfigValueKind::Text(ConfigTextRule::Theme), |c| ConfigSlot::Text(&mut c.terminal.light_theme),
        "The theme on a light background.").user_only(),
    key("symbolPreset", ConfigValueKind::Choice(SYMBOL_PRESETS), |c| ConfigSlot::Choice(&mut c.terminal.symbols),
        "The signs of the conversation: as the theme says, or of one kind.").user_only(),
    key("colorBlindMode", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.terminal.color_blind),
        "Whether added lines are blue rather than green.").user_only(),
    key("doubleEscapeAction", ConfigValueKind::Choice(ESCAPE_ACTIONS), |c| ConfigSlot::Choice(&mut c.terminal.double_escape),
        "What Escape pressed twice on an empty line opens: the tree, a choice of prompts to branch from, or nothing.").user_only(),
    key("branchSummary.enabled", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.terminal.branch_summary),
        "Whether relay offers to sum up a branch of the conversation that you leave.").user_only(),
    key("terminal.plain", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.terminal.is_plain),
        "Whether the conversation is line by line, with nothing drawn twice: for screen readers.").user_only(),
    key("terminal.showThinking", ConfigValueKind::Switch, |c| ConfigSlot::Switch(&mut c.terminal.show_thinking),
        "Whether what the model thinks is shown, and not only how much.").user_only(),
];

/// A key that every command reads and `init` writes.
const fn key(
    name: &'static str,
    kind: ConfigValueKind,
    slot: for<'a> fn(&'a mut Config) -> ConfigSlot<'a>,
    meaning: &'static str,
) -> ConfigKey {
    let scope = ConfigScope::AllCommands;
    let (legacy_name, trust_need) = (None, None);
    ConfigKey {
        name,
        meaning,
        kind,
        scope,
        legacy_name,
        trust_need,
        user_only: false,
        written_by_init: true,
        slot,
    }
}

const fn number(least: u64, most: u64) -> ConfigValueKind {
    ConfigValueKind::Number { least, most, or_none: false }
}

/// A limit of relay's own that can be another.
const fn limit(most: u64) -> ConfigValueKind {
    ConfigValueKind::Number { least: 1, most, or_none: true }
}

impl ConfigKey {
    const fn watch_only(self) -> ConfigKey {
        ConfigKey { scope: ConfigScope::WatchOnly, ..self }
    }

    const fn legacy(self, name: &'static str) -> ConfigKey {
        ConfigKey { legacy_name: Some(name), ..self }
    }

    const fn needs(self, trust: TrustNeed) -> ConfigKey {
        ConfigKey { trust_need: Some(trust), ..self }
    }

    /// `init` does not write it.
    const fn optional(self) -> ConfigKey {
        ConfigKey { written_by_init: false, ..self }
    }

    const fn user_only(self) -> ConfigKey {
        ConfigKey { user_only: true, ..self.optional() }
    }
}
