//! The one list of keys. What a file may say, what `config show` and `config check` print, the schema,
//! what `init` writes, and what needs trust, all come from it.

use serde_json::Value as Json;

use super::Config;
use super::names::Named;

/// One key of the configuration.
#[derive(Debug)]
pub struct Key {
    /// Its full name: `patch.linter`.
    pub name: &'static str,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Which part of relay it changes.
    pub acts: Acts,
    /// Its name in the older flat form of the file.
    pub older: Option<&'static str>,
    /// What a project that sets it wants from the user.
    pub stake: Option<Stake>,
    /// Only the user's own file may set it: what a project says of it does nothing.
    pub own: bool,
    /// `init` writes it into a new file.
    pub written: bool,
    /// Where its value is.
    pub(super) slot: for<'a> fn(&'a mut Config) -> Slot<'a>,
}

/// What a key's value may be.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A text, by a rule.
    Text(Rule),
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Number {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
        /// `null` is allowed, and means no number.
        or_none: bool,
    },
    /// One of some names.
    Choice(&'static [Choice]),
}

/// One of the names that a key may have as its value.
#[derive(Debug)]
pub struct Choice {
    /// The name.
    pub name: &'static str,
    /// Older names of the same.
    pub older: &'static [&'static str],
}

/// What a text must be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The name of a project.
    ProjectId,
    /// A command line for the shell; empty: none.
    Command,
    /// The beginning of a branch's name; may be empty.
    BranchPrefix,
    /// Whom to ask: one friend, or several with commas between them.
    Friends,
}

/// Which part of relay a key changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acts {
    /// Every command.
    Here,
    /// `relay watch` only.
    Watch,
}

/// What a project wants from the user by setting a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stake {
    /// To run a command.
    Command,
    /// To decide who approves.
    Approval,
}

/// Where a value is kept.
pub(super) enum Slot<'a> {
    Name(&'a mut Option<String>),
    Text(&'a mut String),
    Switch(&'a mut bool),
    Number(&'a mut u64),
    Limit(&'a mut Option<u64>),
    Choice(&'a mut dyn Named),
}

/// A value that its key allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    None,
    Switch(bool),
    Number(u64),
    /// Also a choice, by its present name.
    Text(String),
}

impl Value {
    pub(super) fn json(&self) -> Json {
        match self {
            Value::None => Json::Null,
            Value::Switch(on) => Json::from(*on),
            Value::Number(number) => Json::from(*number),
            Value::Text(text) => Json::from(text.as_str()),
        }
    }
}

impl Key {
    /// Its section, and its name there: (`Some("patch")`, `linter`).
    pub fn parts(&self) -> (Option<&'static str>, &'static str) {
        match self.name.split_once('.') {
            Some((section, name)) => (Some(section), name),
            None => (None, self.name),
        }
    }

    /// Its value where nobody set it.
    pub fn default(&self) -> Json {
        self.get(&Config::default()).json()
    }

    pub(super) fn get(&self, config: &Config) -> Value {
        // A slot is for writing; a configuration is small.
        let mut config = config.clone();
        match (self.slot)(&mut config) {
            Slot::Name(name) => name.take().map_or(Value::None, Value::Text),
            Slot::Text(text) => Value::Text(std::mem::take(text)),
            Slot::Switch(on) => Value::Switch(*on),
            Slot::Number(number) => Value::Number(*number),
            Slot::Limit(limit) => limit.map_or(Value::None, Value::Number),
            Slot::Choice(choice) => Value::Text(choice.name().to_string()),
        }
    }

    /// Sets it. A value of another type than the key's changes nothing.
    pub(super) fn set(&self, config: &mut Config, value: &Value) {
        match ((self.slot)(config), value) {
            (Slot::Name(slot), Value::Text(text)) => *slot = Some(text.clone()),
            (Slot::Text(slot), Value::Text(text)) => slot.clone_from(text),
            (Slot::Switch(slot), Value::Switch(on)) => *slot = *on,
            (Slot::Number(slot), Value::Number(number)) => *slot = *number,
            (Slot::Limit(slot), Value::Number(number)) => *slot = Some(*number),
            (Slot::Limit(slot), Value::None) => *slot = None,
            (Slot::Choice(slot), Value::Text(name)) => slot.choose(name),
            _ => {}
        }
    }
}

/// The key of this full name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The sections and what they are about, in the order of the file.
pub const SECTIONS: [(&str, &str); 5] = [
    ("core", "How relay itself behaves."),
    ("watcher", "How the clipboard is watched and what the prompt asks for."),
    ("patch", "How a change is judged."),
    ("git", "What is done with git."),
    ("friends", "Whom `ask`, `review` and `do` turn to, and how long they wait."),
];

const fn choice(name: &'static str) -> Choice {
    Choice { name, older: &[] }
}

const LOG_LEVELS: &[Choice] =
    &[choice("silent"), choice("error"), choice("warn"), choice("info"), choice("debug")];

const STRATEGIES: &[Choice] = &[
    choice("auto"),
    choice("replace"),
    Choice { name: "new-unified", older: &["standard-diff"] },
    Choice { name: "multi-search-replace", older: &["search-replace"] },
];

// The older `approval` answers "may relay approve by itself?": it stands beside the number of errors up
// to which it does.
const APPROVALS: &[Choice] =
    &[Choice { name: "auto", older: &["yes"] }, Choice { name: "manual", older: &["no"] }];

const TEMPLATES: &[Choice] = &[choice("uuid"), choice("gitCommitMsg")];

/// An hour in milliseconds.
const HOUR: u64 = 3_600_000;
/// More errors than a linter is believed.
const ERRORS: u64 = 1_000_000;
/// More files than a change may have.
const CHANGED_FILES: u64 = 100_000;

/// Every key, in the order in which they are shown.
pub static KEYS: [Key; 23] = [
    Key {
        name: "projectId",
        meaning: "The project's name in prompts and answers; an answer for another project is refused.",
        kind: Kind::Text(Rule::ProjectId),
        acts: Acts::Here,
        older: None,
        stake: None,
        own: false,
        written: true,
        slot: |c| Slot::Name(&mut c.project_id),
    },
    Key {
        name: "core.logLevel",
        meaning: "How much relay says, from nothing but what was asked for to every step.",
        kind: Kind::Choice(LOG_LEVELS),
        acts: Acts::Here,
        older: None,
        stake: None,
        own: false,
        written: true,
        slot: |c| Slot::Choice(&mut c.core.log_level),
    },
    Key {
        name: "core.enableNotifications",
        meaning: "Whether a desktop notification tells of a change that came in, was applied or failed.",
        kind: Kind::Switch,
        acts: Acts::Watch,
        older: None,
        stake: None,
        own: false,
        written: true,
        slot: |c| Slot::Switch(&mut c.core.enable_notifications),
    },
    Key {
        name: "core.watchConfig",
        meaning: "Whether `relay watch` reads the configuration again when it changes.",
        kind: Kind::Switch,
        acts: Acts::Watch,
        older: None,
        stake: None,
        own: false,
        written: true,
        slot: |c| Slot::Switch(&mut c.core.watch_config),
    },
    Key {
        name: "watcher.clipboardPollInterval",
        meaning: "Milliseconds between two looks at the clipboard, where it cannot tell of changes itself.",
        kind: Kind::Number { least: 50, most: HOUR, or_none: false },
        acts: Acts::Watch,
        older: Some("clipboardPollInterval"),
        stake: None,
        own: false,
        written: true,
        slot: |c| Slot::Number(&mut c.watcher.clipboard_poll_interval),
    },
    Key {
        name: "watcher.preferredStrategy",
        meaning: "The way to write an edit that the prompt asks the model for; auto lets the model choose.",
        kind: Kind::Choice(STRATEGIES),
        acts: Acts::Here,
        older: None,
        stake: None,
        own: false,
        written: true,
        slot: |c| Slot::Choice(&mut c.watcher.preferred_strategy),
    },
    Key {
        name: "watcher.enableBulkProcessing",
        meaning: "Whether several copies are collected before they are processed together.",
        kind: Kind::Switch,
        acts: Acts::Watch,
        older: None,
        stake: None,
        own: false,
        written: false,
        slot: |c| Slot::Switch(&mut c.watcher.enable_bulk_processing),
    },
    Key {
        name: "watcher.bulkSize",
        meaning: "How many copies are collected.",
        kind: Kind::Number { least: 1, most: 1_000, or_none: false },
        acts: Acts::Watch,
        older: None,
        stake: None,
        own: false,
        written: false,
        slot: |c| Slot::Number(&mut c.watcher.bulk_size),
    },
    Key {
        name: "watcher.bulkTimeout",
        meaning: "Milliseconds after the last copy until fewer are processed, too.",
        kind: Kind::Number { least: 100, most: HOUR, or_none: false },
        acts: Acts::Watch,
        older: None,
        stake: None,
        own: false,
        written: false,
        slot: |c| Slot::Number(&mut c.watcher.bulk_timeout),
    },
    Key {
        name: "patch.approvalMode",
        meaning: "Who approves: auto asks a person only when something is off, manual asks every time.",
        kind: Kind::Choice(APPROVALS),
        acts: Acts::Here,
        older: Some("approval"),
        stake: Some(Stake::Approval),
        own: false,
        written: true,
        slot: |c| Slot::Choice(&mut c.patch.approval_mode),
    },
    Key {
        name: "patch.approvalOnErrorCount",
        meaning: "With auto, a change is kept without asking if the linter counts at most so many errors.",
        kind: Kind::Number { least: 0, most: ERRORS, or_none: false },
        acts: Acts::Here,
        older: Some("approvalOnErrorCount"),
        stake: Some(Stake::Approval),
        own: false,
        written: true,
        slot: |c| Slot::Number(&mut c.patch.approval_on_error_count),
    },
    Key {
        name: "patch.linter",
        meaning: "The command that judges the project before and after a change; empty: none, and a person decides.",
        kind: Kind::Text(Rule::Command),
        acts: Acts::Here,
        older: Some("linter"),
        stake: Some(Stake::Command),
        own: false,
        written: true,
        slot: |c| Slot::Text(&mut c.patch.linter),
    },
    Key {
        name: "patch.preCommand",
        meaning: "A command that runs before a change is applied; if it fails, nothing is applied.",
        kind: Kind::Text(Rule::Command),
        acts: Acts::Here,
        older: Some("preCommand"),
        stake: Some(Stake::Command),
        own: false,
        written: true,
        slot: |c| Slot::Text(&mut c.patch.pre_command),
    },
    Key {
        name: "patch.postCommand",
        meaning: "A command that runs after a change was applied, before the linter; if it fails, everything is put back.",
        kind: Kind::Text(Rule::Command),
        acts: Acts::Here,
        older: Some("postCommand"),
        stake: Some(Stake::Command),
        own: false,
        written: true,
        slot: |c| Slot::Text(&mut c.patch.post_command),
    },
    Key {
        name: "patch.minFileChanges",
        meaning: "A change of fewer files asks a person.",
        kind: Kind::Number { least: 0, most: CHANGED_FILES, or_none: false },
        acts: Acts::Here,
        older: None,
        stake: Some(Stake::Approval),
        own: false,
        written: false,
        slot: |c| Slot::Number(&mut c.patch.min_file_changes),
    },
    Key {
        name: "patch.maxFileChanges",
        meaning: "A change of more files asks a person; null: any number is fine.",
        kind: Kind::Number { least: 1, most: CHANGED_FILES, or_none: true },
        acts: Acts::Here,
        older: None,
        stake: Some(Stake::Approval),
        own: false,
        written: false,
        slot: |c| Slot::Limit(&mut c.patch.max_file_changes),
    },
    Key {
        name: "patch.commandTimeout",
        meaning: "Seconds that one of the commands may take before it is ended.",
        kind: Kind::Number { least: 1, most: 86_400, or_none: false },
        acts: Acts::Here,
        older: None,
        stake: None,
        own: false,
        written: false,
        slot: |c| Slot::Number(&mut c.patch.command_timeout),
    },
    Key {
        name: "git.autoGitBranch",
        meaning: "Whether every change gets a branch of its own.",
        kind: Kind::Switch,
        acts: Acts::Here,
        older: None,
        stake: None,
        own: false,
        written: true,
        slot: |c| Slot::Switch(&mut c.git.auto_git_branch),
    },
    Key {
        name: "git.gitBranchPrefix",
        meaning: "How the name of such a branch begins.",
        kind: Kind::Text(Rule::BranchPrefix),
        acts: Acts::Here,
        older: None,
        stake: None,
        own: false,
        written: true,
        slot: |c| Slot::Text(&mut c.git.git_branch_prefix),
    },
    Key {
        name: "git.gitBranchTemplate",
        meaning: "What the rest of its name is made of: the change's id, or the message for the commit.",
        kind: Kind::Choice(TEMPLATES),
        acts: Acts::Here,
        older: None,
        stake: None,
        own: false,
        written: true,
        slot: |c| Slot::Choice(&mut c.git.git_branch_template),
    },
    Key {
        name: "friends.default",
        meaning: "The friend that is asked where `--to` names none; several with commas between them.",
        kind: Kind::Text(Rule::Friends),
        acts: Acts::Here,
        older: None,
        stake: None,
        own: true,
        written: false,
        slot: |c| Slot::Text(&mut c.friends.default),
    },
    Key {
        name: "friends.timeout",
        meaning: "Seconds that a friend may take in all.",
        kind: Kind::Number { least: 1, most: 86_400, or_none: false },
        acts: Acts::Here,
        older: None,
        stake: None,
        own: true,
        written: false,
        slot: |c| Slot::Number(&mut c.friends.timeout),
    },
    Key {
        name: "friends.idleTimeout",
        meaning: "Seconds that a friend may show no sign of life.",
        kind: Kind::Number { least: 1, most: 86_400, or_none: false },
        acts: Acts::Here,
        older: None,
        stake: None,
        own: true,
        written: false,
        slot: |c| Slot::Number(&mut c.friends.idle_timeout),
    },
];
