//! What is known of an entry without reading it: one row of a table that is small enough to hold for any session.

/// An entry's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Where its line begins.
    pub offset: u64,
    /// How long the line is, without its end.
    pub len: u32,
    /// The row of the entry that it follows.
    pub parent: Option<u32>,
    /// Its name.
    pub id: Box<str>,
    /// When, in milliseconds since 1970; 0 where that is not known.
    pub timestamp: i64,
    /// What it is.
    pub kind: Kind,
    /// Whose message.
    pub role: Role,
    /// It is a message with words in it, not only tool calls or pictures.
    pub has_text: bool,
    /// It is an answer that ended with an error or was broken off.
    pub failed: bool,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `message`
    Message = 0,
    /// `model_change`
    ModelChange = 1,
    /// `thinking_level_change`
    ThinkingLevelChange = 2,
    /// `service_tier_change`
    ServiceTierChange = 3,
    /// `compaction`
    Compaction = 4,
    /// `branch_summary`
    BranchSummary = 5,
    /// `custom`
    Custom = 6,
    /// `custom_message`
    CustomMessage = 7,
    /// `label`
    Label = 8,
    /// `ttsr_injection`
    TtsrInjection = 9,
    /// `mcp_tool_selection`
    McpToolSelection = 10,
    /// `session_init`
    SessionInit = 11,
    /// `mode_change`
    ModeChange = 12,
    /// Anything else.
    Other = 13,
}

/// Whose a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// It is no message.
    None = 0,
    /// A person's.
    User = 1,
    /// A model's.
    Assistant = 2,
    /// A tool's.
    ToolResult = 3,
    /// The program's.
    Developer = 4,
    /// An agent's own kind.
    Other = 5,
}

const KINDS: [(Kind, &str); 13] = [
    (Kind::Message, "message"),
    (Kind::ModelChange, "model_change"),
    (Kind::ThinkingLevelChange, "thinking_level_change"),
    (Kind::ServiceTierChange, "service_tier_change"),
    (Kind::Compaction, "compaction"),
    (Kind::BranchSummary, "branch_summary"),
    (Kind::Custom, "custom"),
    (Kind::CustomMessage, "custom_message"),
    (Kind::Label, "label"),
    (Kind::TtsrInjection, "ttsr_injection"),
    (Kind::McpToolSelection, "mcp_tool_selection"),
    (Kind::SessionInit, "session_init"),
    (Kind::ModeChange, "mode_change"),
];

impl Kind {
    /// The kind of an entry by its `type`.
    pub fn named(name: &str) -> Kind {
        KINDS.iter().find(|(_, known)| *known == name).map_or(Kind::Other, |(kind, _)| *kind)
    }

    pub(crate) fn from_number(number: u8) -> Option<Kind> {
        match KINDS.get(usize::from(number)) {
            Some((kind, _)) => Some(*kind),
            None => (number == Kind::Other as u8).then_some(Kind::Other),
        }
    }
}

impl Role {
    /// The role of a message by its name.
    pub fn named(name: &str) -> Role {
        match name {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "toolResult" => Role::ToolResult,
            "developer" => Role::Developer,
            _ => Role::Other,
        }
    }

    pub(crate) fn from_number(number: u8) -> Option<Role> {
        const ROLES: [Role; 6] =
            [Role::None, Role::User, Role::Assistant, Role::ToolResult, Role::Developer, Role::Other];
        ROLES.get(usize::from(number)).copied()
    }
}

/// Milliseconds since 1970 of a time as it is written; 0 for what is none.
pub(crate) fn milliseconds(timestamp: &str) -> i64 {
    timestamp.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_roles_come_back_from_their_numbers() {
        for (number, (kind, name)) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!((Kind::from_number(kind as u8), Kind::named(name)), (Some(kind), kind));
        }
        assert_eq!(Kind::from_number(Kind::Other as u8), Some(Kind::Other));
        assert_eq!(Kind::from_number(99), None);
        assert_eq!(Role::from_number(Role::Other as u8), Some(Role::Other));
        assert_eq!(Role::from_number(77), None);
    }

    #[test]
    fn a_time_is_read_in_milliseconds() {
        assert_eq!(milliseconds("1970-01-01T00:00:01.250Z"), 1250);
        assert_eq!(milliseconds("yesterday"), 0);
    }
}
