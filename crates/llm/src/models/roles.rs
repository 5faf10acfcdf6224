//! What a model is used for. A role is a name in `models.yml` for a selector, and is itself a selector.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelRole {
    /// Anything without a role.
    Default,
    /// Small, quick tasks.
    Smol,
    /// Difficult tasks.
    Slow,
    /// Reading images.
    Vision,
    Plan,
    /// Visual design.
    Designer,
    /// Commit messages.
    Commit,
    /// Sub-tasks.
    Task,
}

impl ModelRole {
    pub const ALL: [ModelRole; 8] = [
        ModelRole::Default,
        ModelRole::Smol,
        ModelRole::Slow,
        ModelRole::Vision,
        ModelRole::Plan,
        ModelRole::Designer,
        ModelRole::Commit,
        ModelRole::Task,
    ];

    /// In files and selectors; here in the order of the variants.
    pub fn name(self) -> &'static str {
        ["default", "smol", "slow", "vision", "plan", "designer", "commit", "task"][self as usize]
    }

    pub fn from_name(name: &str) -> Option<ModelRole> {
        ModelRole::ALL.into_iter().find(|role| role.name() == name)
    }
}
