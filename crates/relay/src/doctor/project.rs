//! The project: where it is, what its file system can do, its configuration and trust, git, the ledger.

use std::ffi::OsStr;

use relaycode_ledger::JournalAuthor;
use relaycode_project::git::{Git, GitError};
use relaycode_project::root::{self, RootError, RootMarker};
use relaycode_project::seal::SealSecretStore;
use relaycode_project::trust::{TrustState, TrustStore};
use relaycode_tui::pluralize;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};

use super::{DoctorFinding, machine};
use crate::{CommandContext, CommandFailure, Project, project};

/// Where it begins, and why there.
pub(super) fn root(project: &Project, ctx: &CommandContext<'_>) -> DoctorFinding {
    let home = ctx.home.path.as_deref();
    let found = root::find(&ctx.options.directory, home, &ctx.home.ceilings);
    let why = match found.map(|root| root.marker) {
        Ok(RootMarker::Config) => "by its configuration",
        Ok(RootMarker::State) => "by .relaycode",
        Ok(RootMarker::Git) => "by its git repository",
        Ok(RootMarker::Nothing) | Err(_) => "where relay was started: nothing marks a project",
    };
    DoctorFinding::good("project", format!("{} ({why})", project.root.display()))
}

/// There is none.
pub(super) fn no_project(why_not: &RootError) -> DoctorFinding {
    let failure = CommandFailure::from(why_not);
    let finding = DoctorFinding::note("project", failure.message);
    DoctorFinding { next: failure.hint, ..finding }
}

/// What the file system can do.
pub(super) fn files(project: &Project) -> Vec<DoctorFinding> {
    const NAME: &str = "file system";
    if rustix::fs::accessat(CWD, &project.root, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS).is_err() {
        return vec![
            DoctorFinding::bad(NAME, "the project cannot be written to")
                .next_step("check its permissions, or how it is mounted"),
        ];
    }
    let mut findings = vec![match can_exchange(project) {
        Some(true) => DoctorFinding::good(NAME, "files can be exchanged in one step"),
        Some(false) => DoctorFinding::note(NAME, "files cannot be exchanged in one step here").next_step(
            "a save in the very moment of a change could be lost: docs/promises.md states the window",
        ),
        None => DoctorFinding::note(
            NAME,
            "whether files can be exchanged was not tried: there is no .relaycode yet",
        ),
    }];
    if let Ok(space) = rustix::fs::statvfs(&project.root)
        && space.f_bavail.saturating_mul(space.f_frsize) < LOW_SPACE_BYTES
    {
        findings.push(DoctorFinding::note("room", "less than 100 MB is free"));
    }
    findings
}

/// Bytes below which a disk is nearly full.
const LOW_SPACE_BYTES: u64 = 100 << 20;

/// Tries an exchange of two files in relay's own directory.
fn can_exchange(project: &Project) -> Option<bool> {
    let state = project.root.join(".relaycode");
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let state = rustix::fs::open(&state, flags, Mode::empty()).ok()?;
    let names = ["one", "two"].map(|name| format!("doctor-{}-{name}", std::process::id()));
    let make = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = names.iter().all(|n| rustix::fs::openat(&state, n, make, Mode::RUSR | Mode::WUSR).is_ok());
    let done = rustix::fs::renameat_with(&state, &names[0], &state, &names[1], RenameFlags::EXCHANGE);
    for name in &names {
        // It is relay's own directory, and the names are this process's.
        let _ = rustix::fs::unlinkat(&state, name, AtFlags::empty());
    }
    made.then_some(done.is_ok())
}

/// The configuration, and whether what it wants is trusted.
pub(super) fn config(project: &Project, ctx: &CommandContext<'_>) -> Vec<DoctorFinding> {
    const NAME: &str = "configuration";
    let home = ctx.home.path.as_deref();
    let loaded = match &project.config {
        Ok(loaded) => loaded,
        Err(error) => return vec![DoctorFinding::bad(NAME, error.to_string())],
    };
    let Some(file) = &loaded.file else {
        return vec![
            DoctorFinding::note(NAME, "none: every change is asked about")
                .next_step("`relay init` writes one"),
        ];
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let id = loaded.config.project_id.clone().unwrap_or_default();
    let mut findings = vec![match loaded.remarks.len() {
        0 => DoctorFinding::good(NAME, format!("{name}, for {id}")),
        count => DoctorFinding::note(NAME, format!("{name}, for {id}, with {}", pluralize(count, "remark")))
            .next_step("`relay config check` says which"),
    }];
    let wants = loaded.trust_request();
    findings.push(match TrustStore::new(home).state(&project.root, &wants) {
        TrustState::NothingToTrust => DoctorFinding::good("trust", "the project names no command"),
        TrustState::Trusted { .. } => {
            DoctorFinding::good("trust", format!("{} trusted", pluralize(wants.commands.len(), "command")))
        }
        TrustState::NeverAsked => {
            DoctorFinding::note("trust", "its commands are not trusted, and do not run")
                .next_step("`relay trust`")
        }
        TrustState::Changed { .. } => {
            DoctorFinding::note("trust", "its commands changed, and do not run").next_step("`relay trust`")
        }
        TrustState::Unavailable { why } => DoctorFinding::bad("trust", why),
    });
    let patch = &loaded.config.patch;
    for (key, command) in [
        ("patch.linter", &patch.linter),
        ("patch.preCommand", &patch.pre_command),
        ("patch.postCommand", &patch.post_command),
    ] {
        let Some(word) = command.split_whitespace().next() else { continue };
        // Only a plain word is looked up; anything else is for the shell to understand.
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
        if plain && !SHELL_BUILTINS.contains(&word) && machine::find_on_path(OsStr::new(word)).is_none() {
            findings.push(DoctorFinding::bad(
                "command",
                format!("{key} begins with `{word}`, which is not on this machine"),
            ));
        }
    }
    findings
}

/// Words that the shell itself understands.
const SHELL_BUILTINS: [&str; 12] =
    ["cd", "test", "true", "false", "exit", "set", "export", "if", "for", "while", "command", "exec"];

/// git, and the repository.
pub(super) fn git(project: &Project) -> Option<DoctorFinding> {
    let runner = project::process_runner().ok()?;
    let git = Git::new(&runner, &project.root);
    let version = match git.version() {
        Ok(version) => version,
        Err(GitError::NoGit) => {
            let said = "not installed: `relay git commit` does not work, everything else does";
            return Some(DoctorFinding::note("git", said));
        }
        Err(error) => return Some(DoctorFinding::bad("git", error.to_string())),
    };
    Some(match git.commands_on_commit() {
        Ok(rows) if rows.is_empty() => {
            let said = format!("{version}, and nothing of the repository's own runs on a commit");
            DoctorFinding::good("git", said)
        }
        Ok(rows) => {
            let programs = pluralize(rows.len(), "program");
            let said = format!("{version}; on a commit {programs} of the repository's own would run");
            DoctorFinding::note("git", said).next_step("`relay trust` lists them")
        }
        Err(GitError::NotARepository { .. }) => {
            DoctorFinding::good("git", format!("{version}; the project is in no repository"))
        }
        Err(error) => DoctorFinding::bad("git", error.to_string()),
    })
}

/// The ledger.
pub(super) fn ledger(project: &Project) -> Vec<DoctorFinding> {
    const NAME: &str = "ledger";
    let listed = project.ledger.list_unfinished();
    let (open, total) = match listed.and_then(|open| Ok((open, project.ledger.log_page(0, 1)?.total))) {
        Ok(counted) => counted,
        Err(error) => return vec![DoctorFinding::bad(NAME, error.to_string())],
    };
    let mut findings = vec![match open.iter().filter(|(_, author)| *author == JournalAuthor::Own).count() {
        0 => DoctorFinding::good(NAME, format!("{total} in the log, nothing left in the middle")),
        open => {
            let open = pluralize(open, "change");
            let said = format!("{total} in the log, and {open} open, or stopped in the middle");
            DoctorFinding::note(NAME, said).next_step("`relay recover` puts right what stopped in the middle")
        }
    }];
    for (id, author) in open {
        let file = format!(".relaycode/{id}.pending.yml");
        findings.extend(match author {
            JournalAuthor::Own => None,
            JournalAuthor::Original => {
                let said = format!("{file} looks like a change that the original tool left undecided");
                let next = "`relay recover --keep` keeps the files as they are and sets it aside";
                Some(DoctorFinding::note(NAME, said).next_step(next))
            }
            JournalAuthor::Foreign => {
                let said = format!("{file} was not written by your relay, so it does not act on it");
                Some(DoctorFinding::note(NAME, said).next_step("`relay recover` shows it and asks"))
            }
        });
    }
    if project.tracks_state() {
        let said = "git tracks .relaycode: whoever gets the repository gets what is yours alone";
        findings.push(DoctorFinding::bad(NAME, said).next_step(project::UNTRACK_HINT));
    }
    findings
}

/// The secret by which relay knows again what it wrote.
pub(super) fn seal(project: &Project, ctx: &CommandContext<'_>) -> Option<DoctorFinding> {
    let error = SealSecretStore::new(ctx.home.path.as_deref()).read(&project.root).err()?;
    let next = "until then your own changes cannot be told from others, and every undo asks";
    Some(DoctorFinding::bad("seal", error.to_string()).next_step(next))
}
