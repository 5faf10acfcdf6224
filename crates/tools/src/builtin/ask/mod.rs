//! `ask`: questions to the user, each with options and always with a free answer. If nobody answers in
//! time, the model is told so and goes on with what it recommends: nobody is said to have chosen it.

use relaycode_llm::request;
use relaycode_text::plural::pluralize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::card::{CardBody, ToolCard};
use crate::host::{HostAnswer, HostQuestion};
use crate::schema;
use crate::tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput};
use crate::workspace::ToolWorkspace;

/// Questions of one call.
const MAX_QUESTIONS: usize = 20;
/// Options of one question.
const MAX_OPTIONS: usize = 20;
/// Bytes of a question or an option.
const MAX_TEXT_BYTES: usize = 4_000;
/// How often an empty free answer is asked for again.
const MAX_ROUNDS: usize = 5;
/// The option that is always there.
const OTHER: &str = "Other (type your own)";

pub(crate) struct AskTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskInput {
    /// One or more.
    #[schemars(length(min = 1))]
    questions: Vec<AskQuestion>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct AskQuestion {
    /// A short name, for the answer.
    id: String,
    /// What the user reads.
    question: String,
    options: Vec<AskOption>,
    /// More than one option may be chosen.
    #[serde(default)]
    multi: bool,
    /// The option that you would take, counted from 0.
    #[serde(default)]
    recommended: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct AskOption {
    label: String,
}

/// What the user said to one question.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct QuestionResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    question: String,
    options: Vec<String>,
    multi: bool,
    selected_options: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_input: Option<String>,
    /// Nobody answered for so many seconds. What is selected is the model's recommendation.
    #[serde(rename = "unansweredSeconds", skip_serializing_if = "Option::is_none")]
    unanswered: Option<u64>,
}

impl Tool for AskTool {
    fn name(&self) -> &'static str {
        "ask"
    }

    fn definition(&self, _workspace: &ToolWorkspace) -> request::Tool {
        schema::define::<AskInput>(self.name(), include_str!("../../../prompts/ask.md"))
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Exclusive
    }

    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
        let AskInput { questions } = schema::read_input(call)?;
        check(&questions)?;
        let mut results = Vec::new();
        for question in questions {
            call.check_cancelled()?;
            results.push(question.ask(call)?);
        }
        let title = match results.as_slice() {
            [only] => format!("ask: {}", only.question),
            all => format!("ask: {}", pluralize(all.len(), "question")),
        };
        let (text, details) = match results.as_mut_slice() {
            [only] => {
                only.id = None;
                (only.sentence(), json!(only))
            }
            all => {
                let lines = all.iter().map(QuestionResult::line);
                (
                    format!("User answers:\n{}", lines.collect::<Vec<_>>().join("\n")),
                    json!({ "results": all }),
                )
            }
        };
        let summary = match results.as_slice() {
            [only] => only.words(),
            _ => "answered".to_string(),
        };
        let body = CardBody::text(text.clone());
        Ok(ToolOutput::text(text, ToolCard::new(title, summary, body)).with_details(details))
    }
}

fn check(questions: &[AskQuestion]) -> Result<(), ToolError> {
    if questions.is_empty() {
        return Err(ToolError::refused("Error: questions must not be empty"));
    }
    if questions.len() > MAX_QUESTIONS {
        return Err(ToolError::refused(format!("ask at most {MAX_QUESTIONS} questions at once")));
    }
    for question in questions {
        let labels = question.options.iter().map(|option| option.label.as_str());
        let mut texts = labels.chain([question.question.as_str(), question.id.as_str()]);
        if question.options.len() > MAX_OPTIONS {
            return Err(ToolError::refused(format!("give a question at most {MAX_OPTIONS} options")));
        }
        if texts.any(|text| text.len() > MAX_TEXT_BYTES) {
            return Err(ToolError::refused(format!("a question has at most {MAX_TEXT_BYTES} bytes")));
        }
    }
    Ok(())
}

impl AskQuestion {
    fn ask(self, call: &ToolInvocation<'_>) -> Result<QuestionResult, ToolError> {
        let AskQuestion { id, question, options, multi, recommended } = self;
        let (mut labels, mut best) = (Vec::new(), None);
        for (at, option) in options.into_iter().enumerate() {
            // It is always there, and once is enough.
            if option.label.trim().eq_ignore_ascii_case(OTHER) {
                continue;
            }
            if recommended == Some(at) {
                best = Some(labels.len());
            }
            labels.push(option.label);
        }
        let (options, recommended) = (labels, best);
        let mut result = QuestionResult {
            id: Some(id),
            question,
            options,
            multi,
            selected_options: Vec::new(),
            custom_input: None,
            unanswered: None,
        };
        for _ in 0..MAX_ROUNDS {
            let wants_text = result.choose(call, recommended)?;
            if !wants_text {
                break;
            }
            let text = result.type_in(call)?;
            if !text.is_empty() {
                result.custom_input = Some(text);
                break;
            }
        }
        Ok(result)
    }
}

impl QuestionResult {
    /// Lets the user choose; whether they want to say something of their own.
    fn choose(&mut self, call: &ToolInvocation<'_>, recommended: Option<usize>) -> Result<bool, ToolError> {
        if self.options.is_empty() {
            return Ok(true);
        }
        let label = |(at, option): (usize, &String)| match recommended {
            Some(best) if best == at && !self.multi => format!("{option} (Recommended)"),
            _ => option.clone(),
        };
        let asked = HostQuestion {
            call: call.id.to_string(),
            text: self.question.clone(),
            options: self.options.iter().enumerate().map(label).chain([OTHER.to_string()]).collect(),
            several: self.multi,
            default: recommended,
            // What is planned is worth waiting for.
            deadline: call.workspace.settings.ask_timeout.filter(|_| !call.workspace.is_planning()),
            ..HostQuestion::default()
        };
        let chosen = match call.host.ask(&asked) {
            HostAnswer::Options { chosen } => chosen,
            HostAnswer::TimedOut => {
                let waited = call.workspace.settings.ask_timeout.unwrap_or_default();
                self.unanswered = Some(waited.as_secs());
                recommended.into_iter().collect()
            }
            HostAnswer::Text { text } => {
                self.custom_input = Some(text);
                return Ok(false);
            }
            other => return Err(no_answer(call, &other)),
        };
        self.selected_options.clear();
        for at in &chosen {
            if let Some(option) =
                self.options.get(*at).filter(|option| !self.selected_options.contains(option))
            {
                self.selected_options.push(option.clone());
            }
        }
        Ok(chosen.contains(&self.options.len()))
    }

    /// What the user types; without a deadline, because they have begun to answer.
    fn type_in(&self, call: &ToolInvocation<'_>) -> Result<String, ToolError> {
        let asked = HostQuestion {
            call: call.id.to_string(),
            text: self.question.clone(),
            ..HostQuestion::default()
        };
        match call.host.ask(&asked) {
            HostAnswer::Text { text } => Ok(text.trim().to_string()),
            HostAnswer::TimedOut | HostAnswer::Options { .. } => Ok(String::new()),
            other => Err(no_answer(call, &other)),
        }
    }

    fn sentence(&self) -> String {
        if self.unanswered.is_some() {
            let advice = match self.selected_options.is_empty() {
                true => "Decide by yourself where a wrong guess does no harm, else end with the question.",
                false => "The user has not chosen that: say at the end that you went on with it.",
            };
            return format!("(relay: {}. {advice})", self.words());
        }
        let selected = self.selected_options.join(", ");
        match (&self.custom_input, selected.is_empty()) {
            (None, true) => "User selected nothing".to_string(),
            (None, false) => format!("User selected: {selected}"),
            (Some(text), true) => format!("User provided custom input: {text}"),
            (Some(text), false) => format!("User selected: {selected}\nUser provided custom input: {text}"),
        }
    }

    fn line(&self) -> String {
        format!("{}: {}", self.id.as_deref().unwrap_or_default(), self.words())
    }

    fn words(&self) -> String {
        if let Some(seconds) = self.unanswered {
            let going_on = match self.selected_options.first() {
                Some(option) => format!("; going on with {option}, as recommended"),
                None => String::new(),
            };
            return format!("no answer within {seconds} s{going_on}");
        }
        let custom = self.custom_input.iter().map(|text| format!("\"{text}\""));
        let all: Vec<String> = self.selected_options.iter().cloned().chain(custom).collect();
        if all.is_empty() { "nothing".to_string() } else { all.join(", ") }
    }
}

/// Nobody is there, which the model has to live with; or the user wants everything to stop.
fn no_answer(call: &ToolInvocation<'_>, answer: &HostAnswer) -> ToolError {
    if *answer == HostAnswer::Unavailable {
        return ToolError::refused(
            "Ask tool requires interactive mode: nobody can be asked. Decide by yourself where a wrong guess does no harm, and \
             say what you decided; else end with the question.",
        );
    }
    call.cancel.cancel();
    ToolError::Aborted
}

#[cfg(test)]
mod tests;
