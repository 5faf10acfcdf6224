//! What a model is used for. A role is a name in `models.yml` for a selector, and itself a selector.

/// What a model is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
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

impl Role {
    /// All of them.
    pub const ALL: [Role; 8] = [
        Role::Default,
        Role::Smol,
        Role::Slow,
        Role::Vision,
        Role::Plan,
        Role::Designer,
        Role::Commit,
        Role::Task,
    ];

    /// Its name in files and selectors.
    pub fn name(self) -> &'static str {
        match self {
            Role::Default => "default",
            Role::Smol => "smol",
            Role::Slow => "slow",
            Role::Vision => "vision",
            Role::Plan => "plan",
            Role::Designer => "designer",
            Role::Commit => "commit",
            Role::Task => "task",
        }
    }

    /// The role of that name.
    pub fn from_name(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}
