//! What is known of an entry without reading it: a row of a table that is small enough to keep for any
//! session.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRow {
    /// Where its line begins.
    pub offset: u64,
    /// Length of the line, without its line end.
    pub len: u32,
    /// The parent's row.
    pub parent: Option<u32>,
    pub id: Box<str>,
    /// In milliseconds since 1970; 0 if unknown.
    pub timestamp: i64,
    pub kind: EntryType,
    /// Whose message.
    pub role: EntryRole,
    /// A message with text, not only tool calls or images.
    pub has_text: bool,
    /// An answer that failed or was aborted.
    pub failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EntryType {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EntryRole {
    /// Not a message.
    None = 0,
    User = 1,
    Assistant = 2,
    ToolResult = 3,
    /// The program's.
    Developer = 4,
    /// An agent's own role.
    Other = 5,
}

/// In the order of their numbers, with their names in a file.
const KINDS: [(EntryType, &str); 14] = [
    (EntryType::Message, "message"),
    (EntryType::ModelChange, "model_change"),
    (EntryType::ThinkingLevelChange, "thinking_level_change"),
    (EntryType::ServiceTierChange, "service_tier_change"),
    (EntryType::Compaction, "compaction"),
    (EntryType::BranchSummary, "branch_summary"),
    (EntryType::Custom, "custom"),
    (EntryType::CustomMessage, "custom_message"),
    (EntryType::Label, "label"),
    (EntryType::TtsrInjection, "ttsr_injection"),
    (EntryType::McpToolSelection, "mcp_tool_selection"),
    (EntryType::SessionInit, "session_init"),
    (EntryType::ModeChange, "mode_change"),
    (EntryType::Other, ""),
];

const ROLES: [(EntryRole, &str); 6] = [
    (EntryRole::None, ""),
    (EntryRole::User, "user"),
    (EntryRole::Assistant, "assistant"),
    (EntryRole::ToolResult, "toolResult"),
    (EntryRole::Developer, "developer"),
    (EntryRole::Other, ""),
];

fn by_name<T: Copy>(table: &[(T, &str)], name: &str, other: T) -> T {
    table.iter().find(|(_, known)| *known == name && !name.is_empty()).map_or(other, |(found, _)| *found)
}

impl EntryType {
    /// By its `type`.
    pub fn from_name(name: &str) -> EntryType {
        by_name(&KINDS, name, EntryType::Other)
    }

    pub(crate) fn from_number(number: u8) -> Option<EntryType> {
        KINDS.get(usize::from(number)).map(|(kind, _)| *kind)
    }
}

impl EntryRole {
    pub fn from_name(name: &str) -> EntryRole {
        by_name(&ROLES, name, EntryRole::Other)
    }

    pub(crate) fn from_number(number: u8) -> Option<EntryRole> {
        ROLES.get(usize::from(number)).map(|(role, _)| *role)
    }
}

/// Milliseconds since 1970; 0 if it is not a time.
pub(crate) fn parse_millis(timestamp: &str) -> i64 {
    timestamp.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_roles_come_back_from_their_numbers() {
        for (number, (kind, name)) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!((EntryType::from_number(kind as u8), EntryType::from_name(name)), (Some(kind), kind));
        }
        assert_eq!(EntryType::from_number(EntryType::Other as u8), Some(EntryType::Other));
        assert_eq!(EntryType::from_number(99), None);
        assert_eq!(EntryRole::from_number(EntryRole::Other as u8), Some(EntryRole::Other));
        assert_eq!(EntryRole::from_number(77), None);
    }

    #[test]
    fn a_time_is_read_in_milliseconds() {
        assert_eq!(parse_millis("1970-01-01T00:00:01.250Z"), 1250);
        assert_eq!(parse_millis("yesterday"), 0);
    }
}
