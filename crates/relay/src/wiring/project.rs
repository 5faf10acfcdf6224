//! The project that a command works on: its directory, its ledger, and what an earlier run that
//! stopped in the middle left there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use relaycode_change::proposal::limits::PlanLimits;
use relaycode_door::door::configured_limits;
use relaycode_door::setup;
use relaycode_door::{Door, SetAsideRun};
use relaycode_durable::RealFs;
use relaycode_exec::Runner;
use relaycode_ledger::disk::state_dir::STATE_DIR_NAME;
use relaycode_ledger::record::collect::RetentionPolicy;
use relaycode_ledger::transaction::change::FileChange;
use relaycode_ledger::{
    CommitVerdict, CommittedTransaction, Ledger, LedgerError, LedgerSettings, LogTarget, RecoveryMode,
    RecoveryOutcome, SealKey, TransactionHeader, TxId,
};
use relaycode_project::config::{self, ConfigError, LoadedConfig};
use relaycode_project::git::Git;
use relaycode_project::notices::NoticeStore;
use relaycode_project::protected::ProtectedPaths;
use relaycode_project::root::{self, ProjectDirectory, RootError};
use relaycode_project::seal::SealSecretStore;
use relaycode_tui::views::record::RevertStatus;
use relaycode_tui::{clock, pluralize, views};

use crate::command_fence;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, ProjectState, SignalGuard};

pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) ledger: Ledger,
    /// A configuration that cannot be read is the matter of who needs it.
    pub(crate) config: Result<LoadedConfig, ConfigError>,
    /// There is a state directory that relay has not used yet: the original tool made it.
    has_original_state: bool,
}

/// What a project's directory is locked by, in its state directory.
const PROJECT_LOCK: &str = "lock";
/// The name by which it is remembered that the user was told of a linter that relay does not run.
pub(crate) const LOST_LINTER_NOTICE: &str = "lost linter";

/// What to do when git tracks relay's own directory.
pub(crate) const UNTRACK_HINT: &str = "`git rm -r --cached .relaycode` ends that; the files stay";

/// The log is empty.
pub(crate) fn nothing_applied() -> CommandFailure {
    CommandFailure::new(Exit::Usage, "unknown", "nothing has been applied here yet")
        .hint("`relay apply answer.md` applies an answer")
}

/// What became of a transaction of this ledger.
pub(crate) fn find_revert_status(ledger: &Ledger, id: TxId) -> CommandResult<RevertStatus> {
    /// Entries that are looked at together.
    const AT_ONCE: usize = 500;
    let mut fate = RevertStatus::default();
    for skip in (0..).step_by(AT_ONCE) {
        let page = ledger.log_page(skip, AT_ONCE)?;
        for item in page.entries.iter().flat_map(|entry| &entry.members) {
            if item.id == Some(id) {
                fate.undone = item.undone;
                fate.partly_undone = item.partly_undone;
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
    pub(crate) fn open(ctx: &mut CommandContext<'_>) -> CommandResult<Project> {
        let found = root::find(&ctx.options.directory, ctx.home.path.as_deref(), &ctx.home.ceilings)?;
        Project::open_at(found, ctx)
    }

    /// The directory itself as a project, whatever lies around it. Nothing is written.
    pub(crate) fn open_here(ctx: &mut CommandContext<'_>) -> CommandResult<Project> {
        let found = root::here(&ctx.options.directory)?;
        Project::open_at(found, ctx)
    }

    /// What there is in `directory` for a command that only looks, also where no project can be; and why there can be none.
    pub(crate) fn look(ctx: &mut CommandContext<'_>) -> CommandResult<(Project, Option<RootError>)> {
        let found = root::find(&ctx.options.directory, ctx.home.path.as_deref(), &ctx.home.ceilings)?;
        let why_not = require_project(&found, ctx).err();
        Ok((Project::open_root(found.path, ctx)?, why_not))
    }

    fn open_at(found: ProjectDirectory, ctx: &mut CommandContext<'_>) -> CommandResult<Project> {
        require_project(&found, ctx)?;
        Project::open_root(found.path, ctx)
    }

    fn open_root(root: PathBuf, ctx: &mut CommandContext<'_>) -> CommandResult<Project> {
        let home = ctx.home.path.clone();
        let config = config::load(&root, home.as_deref());
        if let Ok(loaded) = &config {
            ctx.console.level = loaded.config.core.log_level;
        }
        let seal_key = seal_key(ctx, &root);
        let is_protected = |path: &str| ProtectedPaths.matching(path.as_ref()).is_some();
        let settings = LedgerSettings { home, seal_key, is_protected, ..LedgerSettings::default() };
        let ledger = Ledger::open(Arc::new(RealFs::default()), &root, settings)?;
        let state = root.join(STATE_DIR_NAME);
        let has_original_state = state.is_dir() && !state.join(PROJECT_LOCK).exists();
        Ok(Project { root, ledger, config, has_original_state })
    }

    /// Brings the ledger back from its copy if it was lost, and says so on stderr. A copy that cannot
    /// be used is no reason to stop. Whoever only looks writes nothing where git would see it.
    pub(crate) fn restore_ledger(&self, ctx: &mut CommandContext<'_>) {
        if self.ledger.has_lost_records().unwrap_or(false) && self.tracks_state() {
            let said = "your own copy has changes that .relaycode lacks; they were not brought back, because git tracks .relaycode";
            ctx.eprint_remark(LogLevel::Warn, said);
            ctx.eprint_detail(LogLevel::Warn, UNTRACK_HINT);
            return;
        }
        restore_ledger(&self.ledger, ctx);
    }

    /// Whether git has been told of something in relay's own directory. Where git cannot say, it has not.
    pub(crate) fn tracks_state(&self) -> bool {
        let Ok(runner) = process_runner() else { return false };
        Git::new(&runner, &self.root).tracks(STATE_DIR_NAME).unwrap_or(false)
    }

    /// Puts right what an earlier run left in the middle, and says so on stderr; and, once, what changed for the project
    /// when it came from the original tool.
    pub(crate) fn recover(&self, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        recover_ledger(&self.root, &self.ledger, ctx)?;
        let Some(lost) = self.lost_linter() else { return Ok(()) };
        if NoticeStore::new(ctx.home.path.as_deref()).is_new(&self.root, LOST_LINTER_NOTICE) {
            let said = format!("no linter is set here: the original tool ran `{lost}` then, relay runs none");
            ctx.eprint_remark(LogLevel::Warn, &said);
            let next = format!("to keep it, set patch.linter to \"{lost}\" in {}", self.config_name());
            ctx.eprint_detail(LogLevel::Warn, &next);
        }
        Ok(())
    }

    /// What the original tool ran here as its linter, and relay does not, because nobody names it.
    pub(crate) fn lost_linter(&self) -> Option<&'static str> {
        self.config.as_ref().ok()?.lost_linter(self.has_original_state)
    }

    /// The name of the project's configuration; the usual one if there is none.
    pub(crate) fn config_name(&self) -> String {
        let file = self.config.as_ref().ok().and_then(|loaded| loaded.file.as_ref()?.file_name());
        file.map_or_else(|| setup::CONFIG_FILE.to_string(), |name| name.to_string_lossy().into_owned())
    }

    /// What a name of the user's stands for.
    pub(crate) fn find_target(&self, name: &str) -> CommandResult<LogTarget> {
        match self.ledger.find_target(name) {
            Err(LedgerError::UnknownTransaction { .. }) if self.ledger.log_page(0, 1)?.total == 0 => {
                Err(nothing_applied())
            }
            found => Ok(found?),
        }
    }

    /// What became of a transaction later.
    pub(crate) fn revert_status(&self, id: TxId) -> CommandResult<RevertStatus> {
        find_revert_status(&self.ledger, id)
    }

    pub(crate) fn config(&self) -> CommandResult<&LoadedConfig> {
        self.config.as_ref().map_err(|error| error.clone().into())
    }

    /// How much an answer may be. A configuration that cannot be read is reported where it is needed.
    pub(crate) fn limits(&self) -> PlanLimits {
        self.config
            .as_ref()
            .map_or_else(|_| PlanLimits::default(), |loaded| configured_limits(&loaded.config))
    }

    /// The way in, with the project's configuration.
    pub(crate) fn into_door(self, ctx: &CommandContext<'_>) -> CommandResult<Door> {
        let home = ctx.home.path.clone();
        let config = self.config?;
        let gate_fence = command_fence::gate_fence(&config.config, ctx);
        let mut door = Door::new(self.root, self.ledger, config, home, process_runner()?);
        door.gate_fence = gate_fence;
        Ok(door)
    }
}

fn require_project(found: &ProjectDirectory, ctx: &CommandContext<'_>) -> Result<(), RootError> {
    root::require_project(found, ctx.home.path.as_deref(), ctx.home.user_home.as_deref())
}

/// The secret by which relay knows again what it wrote; made if the command may change the project. Without one that could be
/// used everything counts as somebody else's: `relay doctor` says why.
fn seal_key(ctx: &mut CommandContext<'_>, root: &Path) -> Option<SealKey> {
    let store = SealSecretStore::new(ctx.home.path.as_deref());
    if !ctx.may_write {
        return store.read(root).ok().flatten().map(SealKey::new);
    }
    match store.get_or_create(root) {
        Ok(secret) => Some(SealKey::new(secret)),
        Err(error) => {
            let said = format!("relay cannot mark its changes as yours, so undo will ask first: {error}");
            ctx.eprint_remark(LogLevel::Warn, &said);
            None
        }
    }
}

/// Brings the ledger back from its copy if it was lost, and says so on stderr. A copy that cannot
/// be used is no reason to stop.
fn restore_ledger(ledger: &Ledger, ctx: &mut CommandContext<'_>) {
    let said = match ledger.restore_from_copy() {
        Ok(0) => return,
        Ok(records) => {
            let changes = pluralize(records, "change");
            format!(
                "this project's history was missing from .relaycode: {changes} restored from your own copy"
            )
        }
        // What keeps the command itself from working is said once.
        Err(LedgerError::Io { path, .. }) if Path::new(&path).starts_with(STATE_DIR_NAME) => return,
        Err(error) => format!("your own copy of this project's history cannot be used: {error}"),
    };
    ctx.eprint_remark(LogLevel::Error, &said);
}

/// Puts right what an earlier run left in the middle, and says so on stderr.
pub(crate) fn recover_ledger(
    root: &Path,
    ledger: &Ledger,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    restore_ledger(ledger, ctx);
    let mut recovered = ledger.recover(RecoveryMode::Automatic)?;
    // What the original tool left stays until somebody decides about it, and is said once.
    let notices = NoticeStore::new(ctx.home.path.as_deref());
    recovered.retain(|one| match one.outcome {
        RecoveryOutcome::Original => notices.is_new(root, &format!("original {}", one.id)),
        _ => true,
    });
    let text = views::recovery::remarks(&recovered, &ctx.console.err_style());
    // Something went wrong, if not now: also who wants to hear little hears of it.
    ctx.eprint_at(LogLevel::Error, &text);
    let aside = SetAsideRun { ledger, root, now: &clock::now_utc() }.recover()?;
    let text = views::recording::set_aside_later(&aside, &ctx.console.err_style());
    ctx.eprint_at(LogLevel::Error, &text);
    Ok(())
}

/// Puts the changes on disk and records them, whole or not at all. A signal meanwhile stops it,
/// with everything put back. The user decided about them.
pub(crate) fn commit_changes(
    ledger: &Ledger,
    changes: &[FileChange<'_>],
    about: TransactionHeader,
) -> CommandResult<CommittedTransaction> {
    SignalGuard::hold_until_exit()?;
    let signals = SignalGuard::acquire()?;
    let open = ledger.begin(changes, about, &|| signals.stop_requested())?;
    let verdict = CommitVerdict { decided_by: Some("user".to_string()), ..CommitVerdict::default() };
    let committed = open.commit(verdict)?;
    // Tidying up can wait for the next time.
    let _ = ledger.collect_daily(clock::unix_seconds(), &RetentionPolicy::default());
    Ok(committed)
}

/// Whoever runs processes: this very program is their keeper.
pub(crate) fn process_runner() -> CommandResult<Runner> {
    let own = std::env::current_exe();
    own.map(Runner::new)
        .map_err(|error| CommandFailure::unexpected(format!("relay cannot find itself: {error}")))
}

/// The record is there, and so is a doubt about the disk.
pub(crate) fn disk_doubt_failure(id: &str, said: &str) -> CommandFailure {
    let message = format!("{id} was committed, but then the disk said: {said}");
    CommandFailure::new(Exit::DiskDoubt, "doubt", message)
        .hint(format!("look at the disk; `relay show {id} --diff` says what should be there"))
        .with_state(ProjectState::Committed)
}
