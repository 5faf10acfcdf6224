//! `relay why`: which rules decided about a change.

use relaycode_tui::views;
use serde_json::{Value, json};

use crate::{CommandContext, CommandResult, Exit, Project};

/// Say which rules let a change in
///
/// Who or what admitted it before it was written, what the project's commands said, and who or what
/// accepted it then.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WhyArgs {
    /// A number of `relay log`, an id, or the beginning of one
    #[arg(value_name = "ID|N", default_value = "1", allow_negative_numbers = true)]
    name: String,
}

impl WhyArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        project.restore_ledger(ctx);
        let ids = project.find_target(&self.name)?.ids();
        let mut objects: Vec<Value> = Vec::new();
        for id in ids {
            let record = project.ledger.record(id)?;
            let look = ctx.style();
            if !ctx.is_json() {
                ctx.print(&views::rules::record_rules(&record, &look));
            }
            objects.push(json!({
                "id": id.to_string(), "origin": record.origin, "decidedBy": record.decided_by,
                "rules": record.rules, "gate": record.gate, "digest": record.plan.map(|digest| digest.to_string()),
            }));
        }
        let project = project.root.to_string_lossy();
        Ok(ctx.print_result(Exit::Done, json!({"project": project, "decisions": objects})))
    }
}
