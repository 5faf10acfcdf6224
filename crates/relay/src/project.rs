//! The project that a command works on: its directory, its ledger, and what an earlier run that
//! stopped in the middle left there.

use std::path::PathBuf;
use std::sync::Arc;

use relaycode_door::Door;
use relaycode_durable::Real;
use relaycode_exec::Runner;
use relaycode_ledger::change::FileChange;
use relaycode_ledger::collect::Policy;
use relaycode_ledger::transaction::Verdict;
use relaycode_ledger::{About, Committed, Ledger, LedgerError, Recovery, Settings, Target, TxId};
use relaycode_tui as view;
use relaycode_tui::clock;
use relaycode_tui::record::Fate;

use crate::context::Context;
use crate::failure::{Exit, Failure, State};
use crate::signals::Held;
use relaycode_project::config::{self, LogLevel};
use relaycode_project::head::{self, Head};
use relaycode_project::root;

/// A project.
pub(crate) struct Project {
    /// Its directory.
    pub(crate) root: PathBuf,
    /// What was done to it.
    pub(crate) ledger: Ledger,
}

/// What became of a transaction of this ledger.
pub(crate) fn fate(ledger: &Ledger, id: TxId) -> Result<Fate, Failure> {
    /// Entries that are looked at together.
    const AT_ONCE: usize = 500;
    let mut fate = Fate::default();
    for skip in (0..).step_by(AT_ONCE) {
        let page = ledger.page(skip, AT_ONCE)?;
        for item in page.entries.iter().flat_map(|entry| &entry.members) {
            if item.id == Some(id) {
                fate.undone = item.undone;
                return Ok(fate);
            }
            if !item.undone && item.revert_of.contains(&id) {
                fate.reverted_by = item.id;
            }
        }
        if page.entries.len() < AT_ONCE {
            break;
        }
    }
    Ok(fate)
}

impl Project {
    /// The project in `directory`. Nothing is written. From here on as much is said as it wants.
    pub(crate) fn open(context: &mut Context<'_>) -> Result<Project, Failure> {
        let home = context.home.path.clone();
        let root = root::find(&context.options.directory, home.as_deref(), &context.home.ceilings)?.path;
        // A configuration that cannot be read is the matter of who needs it.
        if let Ok(loaded) = config::load(&root, home.as_deref()) {
            context.console.listen(loaded.config.core.log_level);
        }
        let settings = Settings { home, ..Settings::default() };
        let ledger = Ledger::open(Arc::new(Real::default()), &root, settings)?;
        Ok(Project { root, ledger })
    }

    /// Brings the ledger back from its copy if it was lost, and says so on stderr. A copy that cannot
    /// be used is no reason to stop.
    pub(crate) fn restore(&self, context: &mut Context<'_>) {
        let said = match self.ledger.restore() {
            Ok(0) => return,
            Ok(records) => format!(
                "the records of this project were gone from .relaycode: {} came back from your own copy",
                view::number(records, "record")
            ),
            Err(error) => format!("your own copy of the records cannot be used: {error}"),
        };
        let look = context.console.err_look();
        let text = view::outcome::remark(&look, &look.safe(&said));
        context.beside(LogLevel::Error, &text);
    }

    /// Puts right what an earlier run left in the middle, and says so on stderr.
    pub(crate) fn recover(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        self.restore(context);
        let recovered = self.ledger.recover(Recovery::Automatic)?;
        let text = view::recovery::text(&recovered, &context.console.err_look());
        // Something went wrong, if not now: also who wants to hear little hears of it.
        context.beside(LogLevel::Error, &text);
        Ok(())
    }

    /// What a name of the user's stands for.
    pub(crate) fn find(&self, name: &str) -> Result<Target, Failure> {
        match self.ledger.find(name) {
            Err(LedgerError::Unknown { .. }) if self.ledger.page(0, 1)?.total == 0 => {
                let next = "`relay apply answer.md` applies an answer";
                Err(Failure::new(Exit::Usage, "unknown", "nothing was applied here yet").hint(next))
            }
            found => Ok(found?),
        }
    }

    /// What became of a transaction later.
    pub(crate) fn fate(&self, id: TxId) -> Result<Fate, Failure> {
        fate(&self.ledger, id)
    }

    /// What git has checked out there.
    pub(crate) fn head(&self) -> Head {
        head::read(&self.root)
    }

    /// The way in, with the project's configuration.
    pub(crate) fn door(self, context: &Context<'_>) -> Result<Door, Failure> {
        Ok(Door::open(&self.root, self.ledger, context.home.path.as_deref(), runner()?)?)
    }

    /// Puts the changes on disk and records them, whole or not at all. A signal meanwhile stops it,
    /// with everything put back.
    pub(crate) fn carry_out(
        &self,
        changes: &[FileChange],
        about: About,
        decided_by: &str,
    ) -> Result<Committed, Failure> {
        Held::until_the_end()?;
        let signals = Held::begin()?;
        let open = self.ledger.begin(changes, about, &|| signals.asked())?;
        let committed =
            open.commit(Verdict { decided_by: Some(decided_by.to_string()), ..Verdict::default() })?;
        // Tidying up can wait for the next time.
        let _ = self.ledger.collect_daily(clock::seconds(), &Policy::default());
        Ok(committed)
    }
}

/// Whoever runs processes: this very program is their keeper.
pub(crate) fn runner() -> Result<Runner, Failure> {
    let own = std::env::current_exe();
    own.map(Runner::new).map_err(|error| Failure::unexpected(format!("relay cannot find itself: {error}")))
}

/// The record is there, and so is a doubt about the disk.
pub(crate) fn doubt(id: &str, said: &str) -> Failure {
    Failure::new(Exit::Doubt, "doubt", format!("{id} was committed, but then the disk said: {said}"))
        .hint(format!("look at the disk; `relay show {id} --diff` says what should be there"))
        .left(State::Committed)
}
