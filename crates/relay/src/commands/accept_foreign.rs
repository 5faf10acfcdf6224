//! Changes in the log that this user's relay did not write: shown with their files and what they changed, and accepted once
//! by a person before anything is taken back at their word.

use relaycode_door::rules::ApprovalRule;
use relaycode_door::rules::foreign::ForeignChangeRule;
use relaycode_ledger::{Ledger, LedgerError, TxId};
use relaycode_tui::{DiffLayout, views};

use super::show;
use crate::{CommandContext, CommandFailure, CommandResult, LogLevel, questions};

/// What is said of a foreign change before anybody sees it.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct AcceptArgs {
    /// Say yes to this, too: foreign-change, a change that your relay did not write here
    #[arg(long, value_name = "NAME", value_parser = [ForeignChangeRule.text().name])]
    allow: Option<String>,
}

impl AcceptArgs {
    /// Changes of others may be taken back unseen.
    pub(crate) fn allows(&self) -> bool {
        self.allow.is_some()
    }
}

/// Does something with records; where that needs a person who accepts some of them, asks, and does it again.
pub(crate) fn with_accepted<T>(
    ledger: &Ledger,
    allowed: bool,
    ctx: &mut CommandContext<'_>,
    work: impl Fn() -> Result<T, LedgerError>,
) -> CommandResult<Result<T, LedgerError>> {
    match work() {
        Err(LedgerError::ForeignRecords(ids)) => {
            accept(ledger, &ids, allowed, ctx)?;
            Ok(work())
        }
        done => Ok(done),
    }
}

/// Shows the changes, and asks for a yes to all of them; it is kept.
fn accept(ledger: &Ledger, ids: &[TxId], allowed: bool, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
    // What is shown is read after its digest: one that changes in between is not the one that was accepted.
    let digests =
        ids.iter().map(|id| Ok((*id, ledger.record_digest(*id)?))).collect::<CommandResult<Vec<_>>>()?;
    let said = LedgerError::ForeignRecords(ids.to_vec()).to_string();
    let look = ctx.console.err_style();
    if allowed {
        ctx.eprint_remark(LogLevel::Warn, &said);
    } else {
        let Some(terminal) = questions::open_terminal() else {
            let failure = CommandFailure::from(LedgerError::ForeignRecords(ids.to_vec()));
            let name = ForeignChangeRule.text().name;
            let id = ids.first().map(TxId::short).unwrap_or_default();
            let look = format!("look at it with `relay show {id} --diff`");
            return Err(failure.hint(format!("{look}, then say yes at a terminal, or with `--allow {name}`")));
        };
        ctx.console.flush();
        terminal.write_text(&views::outcome::warning_line(&look, &look.safe(&said)));
        for id in ids {
            for diff in show::record_diffs(ledger, *id)? {
                terminal.write_text(&diff.text(DiffLayout::Unified, &look));
            }
        }
        questions::confirm(&terminal, "  take it back as this says? [y/N]  ", "nothing was taken back")?;
    }
    for (id, digest) in digests {
        ledger.accept_record(id, digest)?;
    }
    Ok(())
}
