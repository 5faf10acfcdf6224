//! `relay why`: which rules decided about a change.

use relaycode_tui as view;
use serde_json::{Value, json};

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::project::Project;

/// Say which rules let a change in
///
/// Who or what admitted it before it was written, what the project's commands said, and who or what
/// accepted it then.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// A number of `relay log`, an id, or the beginning of one
    #[arg(value_name = "ID|N", default_value = "1")]
    name: String,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "why"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        project.restore(context);
        let ids = project.find(&self.name)?.ids();
        let mut objects: Vec<Value> = Vec::new();
        for id in ids {
            let record = project.ledger.record(id)?;
            let look = context.look();
            if !context.json() {
                context.tell(&view::why::record(&record, &look));
            }
            objects.push(json!({
                "id": id.to_string(), "origin": record.origin, "decidedBy": record.decided_by,
                "rules": record.rules, "gate": record.gate, "digest": record.plan.map(|digest| digest.to_string()),
            }));
        }
        context.object(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "why", "project": project.root.to_string_lossy(),
            "decisions": objects,
        }));
        Ok(Exit::Done)
    }
}
