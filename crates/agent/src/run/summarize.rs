//! What was said so far becomes a summary: a model writes it if it can, relay does otherwise. Also the words of a model about a
//! branch that is left, and about work that is handed over.
//!
//! Invariant: what the model is asked is bounded by its window and made smaller when it refuses it; what it answers is only used
//! if it is shorter than what it stands for.

use relaycode_llm::message::{ToolResultMessage, UserMessage};
use relaycode_llm::request::ThinkingLevel;
use relaycode_llm::stream::StreamRestart;
use relaycode_llm::tokens::{message_tokens, text_tokens};
use relaycode_llm::{ChatRequest, FailureClass, Message, StopReason, StreamOptions};
use relaycode_session::{EntryBody, EntryRole, SessionError};
use relaycode_tools::{SummaryDecision, SummaryProposal, TouchedFiles, describe_open_edits, kept_contexts};
use serde_json::{Value, json};

use super::Agent;
use super::compaction::RoomRequest;
use crate::compaction::budget::CompactionBudget;
use crate::compaction::cut::{find_cut, split_turn};
use crate::compaction::excerpt::excerpt;
use crate::compaction::files::FileLists;
use crate::compaction::summary::{SummaryParts, compose_summary};
use crate::compaction::user_words::quote_user_words;
use crate::compaction::without_model::summarize_without_model;
use crate::compaction::{CompactionAction, CompactionReason, clip_text};
use crate::event::EndReason;
use crate::transcript::now;

const INSTRUCTIONS: &str = include_str!("../../prompts/compaction.md");
const TURN_INSTRUCTIONS: &str = include_str!("../../prompts/compaction-turn.md");
/// How often a model that refuses its input as too long gets less of it.
const MAX_SHRINKS: u32 = 5;
/// Of a window, what is left for the input beside instructions and answer: estimates are not exact.
const INPUT_PERCENT: u64 = 80;
/// Tokens that the question for a summary may take whatever the window is.
const MIN_INPUT: u64 = 200;
/// What stands around a summary in the conversation.
const FRAME_TOKENS: u64 = 40;
/// The least that a model is asked to write.
const MIN_OUTPUT: u64 = 64;
/// A summary of words of the user's alone, which are kept as they are.
const NOTHING_DONE: &str = "Nothing was done yet.";
/// Characters of what the user wants a summary to look at.
const MAX_FOCUS_CHARS: usize = 4_000;
/// Characters of the line that lists show of a summary.
const SHORT_CHARS: usize = 120;

/// What a model is asked to sum up.
pub(super) struct SummaryQuestion<'a> {
    pub(super) instructions: &'a str,
    pub(super) earlier: Option<&'a str>,
    pub(super) focus: Option<&'a str>,
    pub(super) messages: &'a [Message],
    /// Tokens that it can read.
    pub(super) window: u64,
    /// Tokens that it may write.
    pub(super) most: u64,
}

/// Why there is no summary of a model's.
pub(super) enum SummaryFailure {
    Aborted,
    Failed(String),
}

/// What is cut off, and what stands for it.
struct CutConversation {
    /// Before the turn that the cut is in.
    history: Vec<Message>,
    /// The beginning of that turn.
    turn: Vec<Message>,
    earlier: Option<String>,
    first_kept: String,
    tail: Vec<Message>,
    tail_sources: Vec<String>,
}

impl Agent {
    /// Sums up for a window of so many tokens. Returns what was done, the entry, and why no model did it.
    pub(super) fn sum_up(
        &mut self,
        request: RoomRequest<'_>,
        tokens_before: u64,
    ) -> Result<(CompactionAction, Option<String>, Option<String>), SessionError> {
        let RoomRequest { reason, focus, window, by_rule } = request;
        let files = self.file_lists();
        let kept = self.kept_texts(&files);
        let wanted = kept.iter().map(|(_, text)| text_tokens(text) + MIN_OUTPUT).sum::<u64>();
        let budget = CompactionBudget::new(window, self.head_tokens(), wanted, &self.settings.compaction);
        let Some(cut) = self.cut_conversation(reason, &budget) else {
            return Ok((CompactionAction::Nothing, None, Some("there is nothing to sum up yet".into())));
        };
        let user_words = self.user_words(&cut, &budget)?;
        let replaced: u64 = cut.history.iter().chain(&cut.turn).map(message_tokens).sum::<u64>()
            + cut.earlier.as_deref().map_or(0, text_tokens);
        let words = focus.map(|focus| clip_text(focus, MAX_FOCUS_CHARS));
        let proposal = SummaryProposal {
            reason: reason.name(),
            tokens_before,
            first_kept_entry_id: &cut.first_kept,
            custom_instructions: words.as_deref(),
            max_summary_tokens: most_tokens(replaced, &budget),
        };
        let mut brought = None;
        // Who was asked before the model refused the request need not be asked again.
        if !by_rule {
            match self.host.before_summary(&proposal, &self.cancel) {
                SummaryDecision::GoOn => {}
                SummaryDecision::Stopped => return Ok((CompactionAction::Aborted, None, None)),
                SummaryDecision::Cancel => {
                    let why = Some("a program was against it".to_string());
                    return Ok((CompactionAction::Cancelled, None, why));
                }
                SummaryDecision::Summary(text) => brought = Some(text.trim().to_string()),
            }
        }
        let refused = brought.as_deref().and_then(|text| check_summary(text, replaced, &budget).err());
        brought = brought.filter(|_| refused.is_none());
        let mut is_brought = brought.is_some();
        let asked = match (brought, by_rule) {
            (Some(summary), _) => Ok(summary),
            (None, true) => {
                Err(SummaryFailure::Failed("the model refused the requests before as too long".into()))
            }
            (None, false) => self.ask_summaries(&cut, focus, window, &budget),
        };
        let refused = refused.map(|why| format!("of the program's: {why}"));
        let (mut summary, mut error) = match asked {
            Ok(summary) => match check_summary(&summary, replaced, &budget) {
                Ok(()) => (Some(summary), refused),
                Err(why) => (None, Some(why)),
            },
            Err(SummaryFailure::Aborted) => return Ok((CompactionAction::Aborted, None, None)),
            Err(SummaryFailure::Failed(why)) => (None, Some(why)),
        };
        let tail_tokens: u64 = cut.tail.iter().map(message_tokens).sum();
        loop {
            let is_by_rule = summary.is_none();
            let own = summary.take().unwrap_or_else(|| {
                let messages: Vec<Message> = cut.history.iter().chain(&cut.turn).cloned().collect();
                summarize_without_model(cut.earlier.as_deref(), &messages, budget.summary)
            });
            let parts = SummaryParts { summary: &own, files: &files, kept: &kept, user_words: &user_words };
            let text = compose_summary(&parts, &budget);
            let estimated = self.head_tokens() + text_tokens(&text) + FRAME_TOKENS + tail_tokens;
            if estimated >= self.estimated_tokens() {
                if is_by_rule {
                    let why = "summing it up would save nothing".to_string();
                    return Ok((CompactionAction::Nothing, None, Some(why)));
                }
                error = Some("the summary would save nothing".to_string());
                is_brought = false;
                continue;
            }
            let mut details = files.to_details();
            details["summary"] = json!(own);
            details["reason"] = json!(reason);
            let body = EntryBody::Compaction {
                short_summary: short_summary(&own),
                summary: text,
                first_kept_entry_id: cut.first_kept.clone(),
                tokens_before,
                details: Some(details),
                preserve_data: Some(json!({ "tools": self.tool_state() })),
                from_extension: is_brought.then_some(true),
            };
            let entry_id = self.shared.transcript().change_context(body)?;
            let action =
                if is_by_rule { CompactionAction::SummarizedByRule } else { CompactionAction::Summarized };
            return Ok((action, Some(entry_id), error));
        }
    }

    /// Where the conversation is cut; `None`: there is nothing before the cut.
    fn cut_conversation(
        &self,
        reason: CompactionReason,
        budget: &CompactionBudget,
    ) -> Option<CutConversation> {
        let transcript = self.shared.transcript();
        let (messages, sources) = (transcript.messages(), transcript.sources());
        let details = transcript.compaction().map(|compaction| &compaction.details);
        let from = usize::from(transcript.compaction().is_some());
        let tokens: Vec<u64> = messages.iter().map(message_tokens).collect();
        let is_prompt: Vec<bool> = sources
            .iter()
            .map(|id| transcript.session().row(id).is_some_and(|row| row.role == EntryRole::User))
            .collect();
        let all = tokens.get(from..).unwrap_or_default().iter().sum::<u64>();
        // What was asked for or refused gets shorter in any case.
        let most = if reason == CompactionReason::Threshold { u64::MAX } else { all / 2 };
        let cut = find_cut(messages, &tokens, from, budget.tail.min(most), budget.last_step.min(most));
        if cut <= from {
            return None;
        }
        let turn = split_turn(&is_prompt, from, cut).unwrap_or(cut);
        let earlier = match details.and_then(|details| details.get("summary")) {
            Some(own) => own.as_str().map(str::to_string),
            // A compaction of another program's.
            None => match messages.first().filter(|_| from == 1) {
                Some(Message::User(summary)) => summary.content.iter().find_map(|piece| match piece {
                    relaycode_llm::message::UserContent::Text(text) => Some(text.text.clone()),
                    relaycode_llm::message::UserContent::Image(_) => None,
                }),
                _ => None,
            },
        };
        Some(CutConversation {
            history: messages[from..turn].to_vec(),
            turn: messages[turn..cut].to_vec(),
            earlier,
            first_kept: sources.get(cut).cloned().unwrap_or_default(),
            tail: messages[cut..].to_vec(),
            tail_sources: sources[cut..].to_vec(),
        })
    }

    /// What stands in every summary word for word: names and texts. What the agent itself has to keep is added here.
    pub(super) fn kept_texts(&self, files: &FileLists) -> Vec<(String, String)> {
        let kept = kept_contexts(&self.workspace).into_iter();
        let edits = describe_open_edits(&self.workspace, &files.modified);
        let rules = self.rules.kept_text().map(|rules| ("rules", rules));
        let kept = kept.chain(edits.map(|edits| ("open-edits", edits))).chain(rules);
        kept.map(|(name, text)| (name.to_string(), text)).collect()
    }

    /// Over all compactions.
    pub(super) fn file_lists(&self) -> FileLists {
        let transcript = self.shared.transcript();
        let details = transcript.compaction().map(|compaction| &compaction.details);
        let mut files = details.map(FileLists::from_details).unwrap_or_default();
        self.note_files(transcript.messages(), &mut files);
        files
    }

    /// What calls looked at and changed.
    pub(super) fn note_files(&self, messages: &[Message], files: &mut FileLists) {
        for message in messages {
            let Message::ToolResult(result) = message else { continue };
            let touched = self.touched_files(messages, result);
            touched.read.into_iter().for_each(|path| files.note_read(path));
            touched.changed.into_iter().for_each(|path| files.note_modified(path));
        }
    }

    /// What the user said that is not in the kept end anyway.
    fn user_words(&self, cut: &CutConversation, budget: &CompactionBudget) -> Result<String, SessionError> {
        let mut sum = 0_u64;
        let (words, more) = self.shared.transcript().user_words(&mut |words| {
            sum = sum.saturating_add(text_tokens(&words.text));
            sum > budget.words.saturating_mul(2)
        })?;
        let is_cut =
            |words: &crate::compaction::user_words::UserWords| !cut.tail_sources.contains(&words.entry_id);
        let words: Vec<_> = words.into_iter().filter(is_cut).collect();
        Ok(quote_user_words(&words, more, budget.words))
    }

    /// One summary of the history, with what was known of it before, and one of the turn that the cut is in.
    fn ask_summaries(
        &mut self,
        cut: &CutConversation,
        focus: Option<&str>,
        window: u64,
        budget: &CompactionBudget,
    ) -> Result<String, SummaryFailure> {
        let has_both = has_answer(&cut.history) && has_answer(&cut.turn);
        let most = (if has_both { budget.summary / 2 } else { budget.summary }).max(MIN_OUTPUT);
        let earlier = cut.earlier.as_deref().filter(|text| !text.trim().is_empty());
        let mut parts = Vec::new();
        if has_answer(&cut.history) {
            let messages = &cut.history;
            let question =
                SummaryQuestion { instructions: INSTRUCTIONS, earlier, focus, messages, window, most };
            parts.push(self.ask_summary(&question)?);
        } else if let Some(earlier) = earlier {
            parts.push(earlier.to_string());
        }
        if has_answer(&cut.turn) {
            let (instructions, messages, earlier) = (TURN_INSTRUCTIONS, &cut.turn, None);
            let question = SummaryQuestion { instructions, earlier, focus, messages, window, most };
            let turn = self.ask_summary(&question)?;
            parts.push(if parts.is_empty() { turn } else { format!("## The present turn so far\n\n{turn}") });
        }
        if parts.is_empty() {
            parts.push(NOTHING_DONE.to_string());
        }
        Ok(parts.join("\n\n"))
    }

    /// Asks the present model, with less of the conversation when it is too much.
    pub(super) fn ask_summary(&mut self, question: &SummaryQuestion<'_>) -> Result<String, SummaryFailure> {
        match self.reached_limit() {
            None | Some((EndReason::TurnLimit, _)) => {}
            Some((_, message)) => return Err(SummaryFailure::Failed(message)),
        }
        let most = question.most.min(self.models.current().model.max_tokens.max(MIN_OUTPUT));
        let fixed = text_tokens(question.instructions) + most + MIN_OUTPUT;
        let mut room =
            (question.window.saturating_sub(fixed) / 100).saturating_mul(INPUT_PERCENT).max(MIN_INPUT);
        let mut shrinks = 0;
        loop {
            match self.stream_summary(question, room, most) {
                Err(failure) if failure.class == FailureClass::Aborted => {
                    return Err(SummaryFailure::Aborted);
                }
                Err(failure) if Agent::is_overflow(&failure) && shrinks < MAX_SHRINKS && room > MIN_INPUT => {
                    shrinks += 1;
                    room = (room / 2).max(MIN_INPUT);
                }
                Err(failure) => return Err(SummaryFailure::Failed(failure.message_with_wait())),
                Ok(text) => return Ok(text),
            }
        }
    }

    fn stream_summary(
        &mut self,
        question: &SummaryQuestion<'_>,
        room: u64,
        most: u64,
    ) -> Result<String, relaycode_llm::ModelFailure> {
        let chosen = self.models.current().clone();
        let request = ChatRequest {
            system: Some(question.instructions.trim_end().to_string()),
            messages: vec![Message::User(UserMessage::text(question.to_text(room), now()))],
            thinking: ThinkingLevel::Off,
            max_tokens: Some(most),
            ..ChatRequest::default()
        };
        let options = StreamOptions {
            cancel: self.cancel.clone(),
            budget: self.settings.request_budget,
            timeouts: self.settings.timeouts,
            secrets: self.secrets.clone(),
            restart: StreamRestart::Always,
            ..StreamOptions::default()
        };
        let mut stream = self.client.stream(&chosen.model, chosen.auth, request, options);
        while self.next_step(&mut stream).is_some() {}
        let (failure, message) = (stream.failure().cloned(), stream.message().clone());
        self.usage.add(&message.usage);
        match failure {
            Some(failure) => Err(failure),
            None if message.stop_reason == StopReason::Aborted => {
                Err(relaycode_llm::ModelFailure::new(FailureClass::Aborted, "stopped"))
            }
            None => Ok(message.text().trim().to_string()),
        }
    }

    /// What the call of a result looked at or changed, as its tool says.
    pub(super) fn touched_files(&self, messages: &[Message], result: &ToolResultMessage) -> TouchedFiles {
        let Some(tool) =
            self.tools.iter().find(|tool| tool.name() == result.tool_name).filter(|_| !result.is_error)
        else {
            return TouchedFiles::default();
        };
        let call = messages.iter().rev().find_map(|message| match message {
            Message::Assistant(answer) => answer.tool_calls().find(|call| call.id == result.tool_call_id),
            _ => None,
        });
        let details = result.details.as_ref().and_then(|details| details.get("details"));
        let nothing = serde_json::Map::new();
        let arguments = call.map_or(&nothing, |call| &call.arguments);
        tool.touched_files(arguments, details.unwrap_or(&Value::Null))
    }

    /// What tools take up again when the session goes on: the newest details of each.
    pub(super) fn tool_state(&self) -> Value {
        let transcript = self.shared.transcript();
        let mut state = serde_json::Map::new();
        for (tool, details) in transcript.tool_details() {
            if self.tools.iter().any(|known| known.name() == tool && known.keeps_state()) {
                state.insert(tool.to_string(), details.clone());
            }
        }
        Value::Object(state)
    }
}

impl SummaryQuestion<'_> {
    fn to_text(&self, room: u64) -> String {
        let mut text = String::new();
        let mut left = room;
        if let Some(earlier) = self.earlier {
            let earlier = crate::compaction::user_words::clip_middle(&earlier.replace("</", "< /"), room / 3);
            left = left.saturating_sub(text_tokens(&earlier));
            text.push_str(&format!(
                "Notes on what came before, which you bring up to date:\n<previous-summary>\n{earlier}\n</previous-summary>\n\n"
            ));
        }
        let conversation = excerpt(self.messages, left);
        text.push_str(&format!("<conversation>\n{conversation}</conversation>\n"));
        if let Some(focus) = self.focus {
            text.push_str(&format!(
                "\nThe user wants you to look at this above all: {}\n",
                clip_text(focus, MAX_FOCUS_CHARS)
            ));
        }
        text
    }
}

/// The longest summary that can stand for so many tokens.
fn most_tokens(replaced: u64, budget: &CompactionBudget) -> u64 {
    budget.summary.saturating_mul(2).max(MIN_OUTPUT).min(replaced.saturating_sub(1))
}

/// Whether a model's summary can stand for what it sums up.
fn check_summary(summary: &str, replaced: u64, budget: &CompactionBudget) -> Result<(), String> {
    let tokens = text_tokens(summary);
    if summary.is_empty() {
        return Err("the model wrote no summary".to_string());
    }
    if tokens >= replaced {
        return Err("the summary is longer than what it stands for".to_string());
    }
    if tokens > budget.summary.saturating_mul(2).max(MIN_OUTPUT) {
        return Err("the summary is too long for the window".to_string());
    }
    Ok(())
}

/// The words of the user are kept elsewhere: without an answer there is nothing to sum up.
fn has_answer(messages: &[Message]) -> bool {
    messages.iter().any(|message| !matches!(message, Message::User(_) | Message::Developer(_)))
}

/// The first line that says something.
fn short_summary(summary: &str) -> Option<String> {
    let line =
        summary.lines().map(|line| line.trim_matches(['#', '*', '-', ' '])).find(|line| !line.is_empty());
    line.map(|line| clip_text(line, SHORT_CHARS))
}
