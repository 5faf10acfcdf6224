//! What a model is used for. A role is a name in `models.yml` for a selector, and itself a selector.

/// What a model is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelRole {
    /// Anything that has no role of its own.
    Default,
    /// Small things that should be quick.
    Smol,
    /// What is worth the time.
    Slow,
    /// Reading images.
    Vision,
    /// Planning.
    Plan,
    /// How things look.
    Designer,
    /// Commit messages.
    Commit,
    /// Sub-tasks.
    Task,
}

impl ModelRole {
    /// All of them.
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

    /// Its name in files and selectors.
    pub fn name(self) -> &'static str {
        match self {
            ModelRole::Default => "default",
            ModelRole::Smol => "smol",
            ModelRole::Slow => "slow",
            ModelRole::Vision => "vision",
            ModelRole::Plan => "plan",
            ModelRole::Designer => "designer",
            ModelRole::Commit => "commit",
            ModelRole::Task => "task",
        }
    }

    /// The role of that name.
    pub fn from_name(name: &str) -> Option<ModelRole> {
        ModelRole::ALL.into_iter().find(|role| role.name() == name)
    }
}
