//! `relay sessions tree`: a conversation with all its branches.

use clap::ValueEnum;
use relaycode_session::view::outline::{self, OutlineLine};
use relaycode_tui::views::sessions::tree as view;
use relaycode_tui::views::sessions::tree::SessionTreeNode;
use serde_json::{Value, json};

use super::locator::{SessionLocator, session_failure};
use crate::{CommandContext, CommandResult, Exit};

/// Show a conversation as a tree
///
/// The way to where it goes on is marked with a bullet; only branches are indented. Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SessionsTreeArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path; the latest if none is named
    session: Option<String>,

    /// What to show
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    filter: TreeFilterArg,

    /// Only entries with all these words
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    search: String,
}

/// `--filter`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum TreeFilterArg {
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

impl SessionsTreeArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let place = SessionLocator::open(ctx)?;
        let info = place.find(self.session.as_deref())?;
        let session = place.open_session(&info)?;
        let filter = match self.filter {
            TreeFilterArg::Default => outline::OutlineFilter::Default,
            TreeFilterArg::NoTools => outline::OutlineFilter::NoTools,
            TreeFilterArg::UserOnly => outline::OutlineFilter::UserOnly,
            TreeFilterArg::LabeledOnly => outline::OutlineFilter::LabeledOnly,
            TreeFilterArg::All => outline::OutlineFilter::All,
        };
        let lines = outline::session_outline(&session, filter, &self.search)
            .map_err(|error| session_failure(&error))?;
        if ctx.is_json() {
            return Ok(ctx.print_result(
                Exit::Done,
                json!({
                    "path": info.path.to_string_lossy(), "id": session.id(), "leaf": session.leaf(),
                    "entries": entries_json(&lines), "total": session.len(),
                }),
            ));
        }
        let look = ctx.console.out_style();
        let nodes: Vec<SessionTreeNode> = lines
            .into_iter()
            .map(|line| SessionTreeNode {
                parent: line.parent,
                active: line.active,
                label: line.label,
                speaker: line.who,
                text: line.text,
            })
            .collect();
        if nodes.is_empty() {
            ctx.print(match session.is_empty() {
                true => "nothing was said yet\n",
                false => "nothing fits; `--filter all` shows everything\n",
            });
        }
        ctx.console.print(&view::text(&nodes, &look));
        Ok(Exit::Done)
    }
}

/// The lines with the names of those that they follow instead of their places.
fn entries_json(lines: &[OutlineLine]) -> Vec<Value> {
    let entry = |line: &OutlineLine| {
        let parent = line.parent.and_then(|at| lines.get(at)).map(|parent| parent.id.as_str());
        json!({"id": line.id, "parentId": parent, "active": line.active, "leaf": line.leaf, "label": line.label,
            "who": line.who, "text": line.text})
    };
    lines.iter().map(entry).collect()
}
