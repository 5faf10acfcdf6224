//! The values that are one of some names, and those names.

use super::{
    AgentEditMode, AgentInterruptMode, AgentPollWait, AgentQueueMode, AgentTitleMode, ApprovalMode,
    BranchTemplate, DoubleEscapeAction, LogLevel, PreferredStrategy, RuleContextMode, RuleInterruptMode,
    RuleRepeatMode, SymbolPresetChoice,
};
use crate::access::Access;

/// A value with a name.
pub(super) trait NamedChoice {
    fn name(&self) -> &'static str;
    /// Becomes the value of this name, if there is one.
    fn set_by_name(&mut self, name: &str);
}

trait ChoiceTable: Copy + PartialEq + 'static {
    const ALL: &'static [(&'static str, Self)];
}

impl<T: ChoiceTable> NamedChoice for T {
    fn name(&self) -> &'static str {
        T::ALL.iter().find(|(_, value)| value == self).map_or("", |(name, _)| name)
    }

    fn set_by_name(&mut self, name: &str) {
        if let Some((_, value)) = T::ALL.iter().find(|(other, _)| *other == name) {
            *self = *value;
        }
    }
}

impl ChoiceTable for LogLevel {
    const ALL: &'static [(&'static str, LogLevel)] = &[
        ("silent", LogLevel::Silent),
        ("error", LogLevel::Error),
        ("warn", LogLevel::Warn),
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
    ];
}

impl ChoiceTable for PreferredStrategy {
    const ALL: &'static [(&'static str, PreferredStrategy)] = &[
        ("auto", PreferredStrategy::Auto),
        ("replace", PreferredStrategy::Replace),
        ("new-unified", PreferredStrategy::NewUnified),
        ("multi-search-replace", PreferredStrategy::MultiSearchReplace),
    ];
}

impl ChoiceTable for ApprovalMode {
    const ALL: &'static [(&'static str, ApprovalMode)] =
        &[("auto", ApprovalMode::Auto), ("manual", ApprovalMode::Manual)];
}

impl ChoiceTable for BranchTemplate {
    const ALL: &'static [(&'static str, BranchTemplate)] =
        &[("uuid", BranchTemplate::Uuid), ("gitCommitMsg", BranchTemplate::GitCommitMsg)];
}

impl ChoiceTable for AgentQueueMode {
    const ALL: &'static [(&'static str, AgentQueueMode)] =
        &[("one-at-a-time", AgentQueueMode::OneAtATime), ("all", AgentQueueMode::All)];
}

impl ChoiceTable for AgentInterruptMode {
    const ALL: &'static [(&'static str, AgentInterruptMode)] =
        &[("immediate", AgentInterruptMode::Immediate), ("wait", AgentInterruptMode::Wait)];
}

impl ChoiceTable for RuleInterruptMode {
    const ALL: &'static [(&'static str, RuleInterruptMode)] = &[
        ("always", RuleInterruptMode::Always),
        ("prose-only", RuleInterruptMode::ProseOnly),
        ("tool-only", RuleInterruptMode::ToolOnly),
        ("never", RuleInterruptMode::Never),
    ];
}

impl RuleInterruptMode {
    /// As a rule's own `interruptMode` says it.
    pub fn from_name(name: &str) -> Option<RuleInterruptMode> {
        RuleInterruptMode::ALL.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode)
    }
}

impl ChoiceTable for RuleContextMode {
    const ALL: &'static [(&'static str, RuleContextMode)] =
        &[("discard", RuleContextMode::Discard), ("keep", RuleContextMode::Keep)];
}

impl ChoiceTable for RuleRepeatMode {
    const ALL: &'static [(&'static str, RuleRepeatMode)] =
        &[("once", RuleRepeatMode::Once), ("after-gap", RuleRepeatMode::AfterGap)];
}

impl ChoiceTable for AgentTitleMode {
    const ALL: &'static [(&'static str, AgentTitleMode)] =
        &[("auto", AgentTitleMode::Auto), ("rule", AgentTitleMode::Rule), ("off", AgentTitleMode::Off)];
}

impl ChoiceTable for AgentEditMode {
    const ALL: &'static [(&'static str, AgentEditMode)] = &[
        ("hashline", AgentEditMode::Hashline),
        ("replace", AgentEditMode::Replace),
        ("patch", AgentEditMode::Patch),
        ("apply_patch", AgentEditMode::ApplyPatch),
    ];
}

impl ChoiceTable for SymbolPresetChoice {
    const ALL: &'static [(&'static str, SymbolPresetChoice)] = &[
        ("theme", SymbolPresetChoice::Theme),
        ("unicode", SymbolPresetChoice::Unicode),
        ("nerd", SymbolPresetChoice::Nerd),
        ("ascii", SymbolPresetChoice::Ascii),
    ];
}

impl ChoiceTable for DoubleEscapeAction {
    const ALL: &'static [(&'static str, DoubleEscapeAction)] = &[
        ("tree", DoubleEscapeAction::Tree),
        ("branch", DoubleEscapeAction::Branch),
        ("none", DoubleEscapeAction::Nothing),
    ];
}

impl ChoiceTable for AgentPollWait {
    const ALL: &'static [(&'static str, AgentPollWait)] = &[
        ("5s", AgentPollWait(5)),
        ("10s", AgentPollWait(10)),
        ("30s", AgentPollWait(30)),
        ("1m", AgentPollWait(60)),
        ("5m", AgentPollWait(300)),
    ];
}

impl ChoiceTable for Access {
    const ALL: &'static [(&'static str, Access)] = &[
        ("read-only", Access::ReadOnly),
        ("ask", Access::Ask),
        ("workspace", Access::Workspace),
        ("full", Access::Full),
    ];
}

/// Their names, for whoever shows them.
macro_rules! as_str {
    ($($choice:ty),*) => {$(
        impl $choice {
            /// Its name, as in the file.
            pub fn as_str(self) -> &'static str {
                self.name()
            }
        }
    )*};
}

as_str!(LogLevel, PreferredStrategy, ApprovalMode, BranchTemplate);
