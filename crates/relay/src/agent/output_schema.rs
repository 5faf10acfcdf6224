//! `--output-schema`: the last answer is one JSON value that follows a schema. A model that misses it is told once.

use relaycode_friend::prompt::schema::{AnswerSchema, extract_json};
use relaycode_llm::message::UserContent;
use serde_json::Value;

use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel};

pub(crate) struct OutputSchema {
    schema: AnswerSchema,
}

impl OutputSchema {
    pub(crate) fn new(schema: Value, ctx: &mut CommandContext<'_>) -> CommandResult<OutputSchema> {
        let schema = AnswerSchema::new(schema).map_err(|error| {
            CommandFailure::new(Exit::Usage, "schema", error).hint("nothing was sent").unchanged()
        })?;
        for remark in schema.remarks() {
            ctx.eprint_remark(LogLevel::Warn, remark);
        }
        Ok(OutputSchema { schema })
    }

    /// What goes with the prompt.
    pub(crate) fn request(&self) -> UserContent {
        UserContent::text(format!(
            "When you are done, your last answer has to be one JSON value that follows this JSON schema, and nothing else:\n{}",
            self.schema.as_json()
        ))
    }

    /// The value of an answer, or what is wrong with it.
    pub(crate) fn read(&self, answer: &str) -> Result<Value, String> {
        let value = extract_json(answer, &self.schema)?;
        self.schema.check(&value).map_err(|violation| violation.to_string())?;
        Ok(value)
    }

    /// What a model is told that missed it.
    pub(crate) fn repair_prompt(fault: &str) -> String {
        format!(
            "Your answer does not follow the JSON schema: {fault}. Answer again, with the JSON value alone. Change nothing else."
        )
    }

    pub(crate) fn failure(fault: &str) -> CommandFailure {
        let said = format!("the answer does not follow the schema: {fault}");
        CommandFailure::new(Exit::NoAnswer, "notByTheSchema", said)
    }
}
