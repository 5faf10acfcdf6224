//! Commands of `relay` that are commands of the conversation, too: `/log --file a.rs` is `relay log --file a.rs`.

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::commands::run_line;
use crate::{CommandContext, CommandResult};

pub(super) struct RelayCommand {
    name: &'static str,
    /// In front of what was typed.
    words: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    /// Words in place of nothing; `{session}` is the session's id.
    usual: &'static [&'static str],
}

pub(super) const SHOW: RelayCommand = RelayCommand {
    name: "show",
    words: &["show"],
    arguments: "[ID|N]",
    help: "one change with its diff, as `relay show --diff`",
    usual: &["--diff"],
};
pub(super) const COMMIT: RelayCommand = RelayCommand {
    name: "commit",
    words: &["git", "commit"],
    arguments: "[ID|N]",
    help: "commit exactly what a change did, as `relay git commit`",
    usual: &[],
};
pub(super) const REVIEW: RelayCommand = RelayCommand {
    name: "review",
    words: &["review"],
    arguments: "[OPTIONS]",
    help: "have another agent review, as `relay review`",
    usual: &[],
};
pub(super) const STATS: RelayCommand = RelayCommand {
    name: "stats",
    words: &["stats"],
    arguments: "[OPTIONS]",
    help: "tokens, cost and tools of your sessions, as `relay stats`",
    usual: &[],
};
pub(super) const PERMISSIONS: RelayCommand = RelayCommand {
    name: "permissions",
    words: &["permissions"],
    arguments: "[COMMAND]",
    help: "the rules for what may run, as `relay permissions`",
    usual: &[],
};
pub(super) const EXPORT: RelayCommand = RelayCommand {
    name: "export",
    words: &["sessions", "export"],
    arguments: "[OPTIONS]",
    help: "this conversation as one page, as `relay sessions export`",
    usual: &["{session}"],
};
pub(super) const DOCTOR: RelayCommand = RelayCommand {
    name: "doctor",
    words: &["doctor"],
    arguments: "",
    help: "what works here and what does not, as `relay doctor`",
    usual: &[],
};

impl SlashCommand for RelayCommand {
    fn name(&self) -> &'static str {
        self.name
    }

    fn arguments(&self) -> &'static str {
        self.arguments
    }

    fn help(&self) -> &'static str {
        self.help
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let mut words: Vec<String> = self.words.iter().map(ToString::to_string).collect();
        if call.rest.is_empty() {
            let id = conversation.open.agent.session_id();
            words.extend(self.usual.iter().map(|word| word.replace("{session}", id)));
        } else {
            words.extend(split_words(call.rest));
        }
        run_line(&words, ctx)?;
        Ok(ConversationStep::GoOn)
    }
}

/// Words as a shell would split them, quotes included; nothing else of a shell counts.
pub(super) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::split_words;

    #[test]
    fn quotes_keep_a_word_together() {
        for (text, words) in [
            ("", vec![]),
            ("  --file  a.rs ", vec!["--file", "a.rs"]),
            ("-m 'a b' \"c d\"e", vec!["-m", "a b", "c de"]),
            ("-m ''", vec!["-m", ""]),
            ("don't", vec!["dont"]),
        ] {
            assert_eq!(split_words(text), words, "{text}");
        }
    }
}
