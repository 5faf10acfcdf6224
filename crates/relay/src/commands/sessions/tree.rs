//! `relay sessions tree`: a conversation with all its branches.

use clap::ValueEnum;
use relaycode_session::outline::{self, Line};
use relaycode_tui::sessions::tree::{self as view, Node};
use serde_json::{Value, json};

use super::place::{Place, failed};
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// Show a conversation as a tree
///
/// The way to where it goes on is marked with a bullet; only branches are indented. Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct TreeArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path; the latest if none is named
    #[arg(value_name = "SESSION")]
    session: Option<String>,

    /// What to show
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    filter: Filter,

    /// Only entries with all these words
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    search: String,
}

/// `--filter`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Filter {
    /// What was said, without settings and labels
    #[default]
    Default,
    /// The same without what tools gave back
    NoTools,
    /// What you said
    UserOnly,
    /// What has a label
    LabeledOnly,
    /// Everything
    All,
}

impl TreeArgs {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let place = Place::of(context)?;
        let info = place.find(self.session.as_deref())?;
        let session = place.read(&info)?;
        let filter = match self.filter {
            Filter::Default => outline::Filter::Default,
            Filter::NoTools => outline::Filter::NoTools,
            Filter::UserOnly => outline::Filter::UserOnly,
            Filter::LabeledOnly => outline::Filter::LabeledOnly,
            Filter::All => outline::Filter::All,
        };
        let lines = outline::outline(&session, filter, &self.search).map_err(|error| failed(&error))?;
        if context.json() {
            context.console.json(&json!({
                "ok": true, "code": Exit::Done as u8, "command": "sessions", "path": info.path.to_string_lossy(),
                "id": session.id(), "leaf": session.leaf(), "entries": entries(&lines), "total": session.len(),
            }));
            return Ok(Exit::Done);
        }
        let look = context.console.out_look();
        let nodes: Vec<Node> = lines
            .into_iter()
            .map(|line| Node {
                parent: line.parent,
                active: line.active,
                label: line.label,
                who: line.who,
                text: line.text,
            })
            .collect();
        if nodes.is_empty() {
            let said = if session.is_empty() {
                "nothing was said yet\n"
            } else {
                "nothing fits; `--filter all` shows everything\n"
            };
            context.tell(said);
        }
        context.console.out(&view::text(&nodes, &look));
        Ok(Exit::Done)
    }
}

/// The lines with the names of those that they follow instead of their places.
fn entries(lines: &[Line]) -> Vec<Value> {
    let entry = |line: &Line| {
        let parent = line.parent.and_then(|at| lines.get(at)).map(|parent| parent.id.as_str());
        json!({"id": line.id, "parentId": parent, "active": line.active, "leaf": line.leaf, "label": line.label,
            "who": line.who, "text": line.text})
    };
    lines.iter().map(entry).collect()
}
