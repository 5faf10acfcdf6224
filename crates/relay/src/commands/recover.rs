//! `relay recover`: what an earlier run left in the middle is put right.

use std::borrow::Cow;

use relaycode_ledger::recording::Left;
use relaycode_ledger::{Outcome, Recovered, Recovery};
use relaycode_project::config::LogLevel;
use relaycode_tui as view;
use serde::Serialize;

use crate::context::{Act, Context};
use crate::failure::{Detail, Exit, Failure};
use crate::project::Project;

/// Put right what a run that stopped in the middle left
///
/// Every command that writes does this by itself. What is left for this one are files that somebody
/// changed meanwhile: they are left alone until you say which side stays.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Stay with what is there now
    #[arg(long, conflicts_with = "restore")]
    keep: bool,

    /// Bring back what was there before; what is there now is kept in .relaycode
    #[arg(long)]
    restore: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "recover"
    }

    fn writes(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        let how = match (self.keep, self.restore) {
            (true, _) => Recovery::Keep,
            (_, true) => Recovery::Restore,
            _ => Recovery::Automatic,
        };
        let recovered = project.ledger.recover(how)?;
        let left = |one: &Recovered| matches!(one.outcome, Outcome::NeedsYou(_));
        let exit = if recovered.iter().any(left) { Exit::NeedsYou } else { Exit::Done };
        context.object(&RecoveredJson {
            ok: exit == Exit::Done,
            code: exit as u8,
            command: "recover",
            project: project.root.to_string_lossy(),
            transactions: recovered.iter().map(TransactionJson::of).collect(),
        });
        if exit == Exit::Done && context.quiet() {
            return Ok(exit);
        }
        let aside = context.json() || exit == Exit::NeedsYou;
        let look = if aside { context.console.err_look() } else { context.console.out_look() };
        let mut text = view::recovery::text(&recovered, &look);
        if recovered.is_empty() {
            text = view::outcome::done(&look, "nothing to recover: no run stopped in the middle");
        }
        let level = if exit == Exit::Done { LogLevel::Info } else { LogLevel::Error };
        if aside {
            context.beside(level, &text);
        } else {
            context.say(&text);
        }
        Ok(exit)
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct RecoveredJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    transactions: Vec<TransactionJson>,
}

#[derive(Serialize)]
struct TransactionJson {
    id: String,
    /// `committed`, `putBack`, `needsYou`, `kept`, `original` or `recorded`
    outcome: &'static str,
    /// The files that were put back.
    restored: Vec<String>,
    /// Where bytes that are nowhere else are kept.
    kept: Option<String>,
    /// The files that were left alone; of a recording, what cannot be undone.
    left: Vec<Detail>,
}

impl TransactionJson {
    fn of(recovered: &Recovered) -> TransactionJson {
        let mut json = TransactionJson {
            id: recovered.id.to_string(),
            outcome: "committed",
            restored: Vec::new(),
            kept: None,
            left: Vec::new(),
        };
        match &recovered.outcome {
            Outcome::Committed => {}
            Outcome::PutBack { restored, kept } => {
                json.outcome = "putBack";
                json.restored.clone_from(restored);
                json.kept.clone_from(kept);
            }
            Outcome::NeedsYou(unfinished) => {
                json.outcome = "needsYou";
                json.restored.clone_from(&unfinished.restored);
                json.left = unfinished.left.iter().cloned().map(Detail::from).collect();
            }
            Outcome::Kept { kept } => {
                json.outcome = "kept";
                json.kept = Some(kept.clone());
            }
            Outcome::Original => json.outcome = "original",
            Outcome::Recorded { left, .. } => {
                json.outcome = "recorded";
                let detail = |left: &Left| Detail {
                    path: left.path.clone(),
                    message: left.why.clone(),
                    ..Detail::default()
                };
                json.left = left.iter().map(detail).collect();
            }
        }
        json
    }
}
