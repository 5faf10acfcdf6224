//! The project: where it is, what its file system can do, its configuration and trust, git, the ledger.

use std::ffi::OsStr;

use relaycode_project::config;
use relaycode_project::git::{Git, GitError};
use relaycode_project::root::{self, Marker};
use relaycode_project::trust::{State, Trust};
use relaycode_tui::number;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};

use super::{Finding, machine};
use crate::context::Context;
use crate::project::{self, Project};

/// Where it begins, and why there.
pub(super) fn root(project: &Project, context: &Context<'_>) -> Vec<Finding> {
    let home = context.home.path.as_deref();
    let found = root::find(&context.options.directory, home, &context.home.ceilings);
    let why = match found.map(|root| root.marker) {
        Ok(Marker::Config) => "by its configuration",
        Ok(Marker::State) => "by .relaycode",
        Ok(Marker::Git) => "by its git repository",
        Ok(Marker::Nothing) | Err(_) => "where relay was started: nothing marks a project",
    };
    vec![Finding::good("project", format!("{} ({why})", project.root.display()))]
}

/// What the file system can do.
pub(super) fn files(project: &Project, _: &Context<'_>) -> Vec<Finding> {
    const NAME: &str = "file system";
    if rustix::fs::accessat(CWD, &project.root, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS).is_err() {
        return vec![
            Finding::bad(NAME, "the project cannot be written to")
                .next("see to its permissions, or its mount"),
        ];
    }
    let mut findings = vec![match exchanges(project) {
        Some(true) => Finding::good(NAME, "files can be exchanged in one step"),
        Some(false) => Finding::note(NAME, "files cannot be exchanged in one step here")
            .next("a save in the very moment of a change could be lost: docs/promises.md states the window"),
        None => {
            Finding::note(NAME, "whether files can be exchanged was not tried: there is no .relaycode yet")
        }
    }];
    if let Ok(space) = rustix::fs::statvfs(&project.root)
        && space.f_bavail.saturating_mul(space.f_frsize) < LOW
    {
        findings.push(Finding::note("room", "less than 100 MB is free"));
    }
    findings
}

/// Bytes below which a disk is nearly full.
const LOW: u64 = 100 << 20;

/// Tries an exchange of two files in relay's own directory.
fn exchanges(project: &Project) -> Option<bool> {
    let state = project.root.join(".relaycode");
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let state = rustix::fs::open(&state, flags, Mode::empty()).ok()?;
    let names = ["one", "two"].map(|name| format!("doctor-{}-{name}", std::process::id()));
    let make = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made =
        names.iter().all(|name| rustix::fs::openat(&state, name, make, Mode::RUSR | Mode::WUSR).is_ok());
    let done = rustix::fs::renameat_with(&state, &names[0], &state, &names[1], RenameFlags::EXCHANGE);
    for name in &names {
        // It is relay's own directory, and the names are this process's.
        let _ = rustix::fs::unlinkat(&state, name, AtFlags::empty());
    }
    made.then_some(done.is_ok())
}

/// The configuration, and whether what it wants is trusted.
pub(super) fn config(project: &Project, context: &Context<'_>) -> Vec<Finding> {
    const NAME: &str = "configuration";
    let home = context.home.path.as_deref();
    let loaded = match config::load(&project.root, home) {
        Ok(loaded) => loaded,
        Err(error) => return vec![Finding::bad(NAME, error.to_string())],
    };
    let Some(file) = &loaded.file else {
        return vec![
            Finding::note(NAME, "none: every change is asked about").next("`relay init` writes one"),
        ];
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let id = loaded.config.project_id.clone().unwrap_or_default();
    let mut findings = vec![match loaded.remarks.len() {
        0 => Finding::good(NAME, format!("{name}, for {id}")),
        count => Finding::note(NAME, format!("{name}, for {id}, with {}", number(count, "remark")))
            .next("`relay config check` says which"),
    }];
    let wants = loaded.project_wants();
    findings.push(match Trust::new(home).state(&project.root, &wants) {
        State::NothingToTrust => Finding::good("trust", "the project names no command"),
        State::Trusted { .. } => {
            Finding::good("trust", format!("{} trusted", number(wants.commands.len(), "command")))
        }
        State::NotSeen => {
            Finding::note("trust", "its commands are not trusted, and do not run").next("`relay trust`")
        }
        State::Changed { .. } => {
            Finding::note("trust", "its commands changed, and do not run").next("`relay trust`")
        }
        State::Unavailable { why } => Finding::bad("trust", why),
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
        if plain && !BUILT_IN.contains(&word) && machine::on_path(OsStr::new(word)).is_none() {
            findings.push(Finding::bad(
                "command",
                format!("{key} begins with `{word}`, which is not on this machine"),
            ));
        }
    }
    findings
}

/// Words that the shell itself understands.
const BUILT_IN: [&str; 12] =
    ["cd", "test", "true", "false", "exit", "set", "export", "if", "for", "while", "command", "exec"];

/// git, and the repository.
pub(super) fn git(project: &Project, _: &Context<'_>) -> Vec<Finding> {
    let Ok(runner) = project::runner() else { return Vec::new() };
    let git = Git::new(&runner, &project.root);
    let version = match git.version() {
        Ok(version) => version,
        Err(GitError::NoGit) => {
            return vec![Finding::note(
                "git",
                "not installed: `relay git commit` does not work, everything else does",
            )];
        }
        Err(error) => return vec![Finding::bad("git", error.to_string())],
    };
    let found = match git.what_would_run() {
        Ok(rows) if rows.is_empty() => {
            Finding::good("git", format!("{version}, and nothing of the repository's own runs on a commit"))
        }
        Ok(rows) => {
            let said = format!(
                "{version}; on a commit {} of the repository's own would run",
                number(rows.len(), "program")
            );
            Finding::note("git", said).next("`relay trust` lists them")
        }
        Err(GitError::NotARepository { .. }) => {
            Finding::good("git", format!("{version}; the project is in no repository"))
        }
        Err(error) => Finding::bad("git", error.to_string()),
    };
    vec![found]
}

/// The ledger.
pub(super) fn ledger(project: &Project, _: &Context<'_>) -> Vec<Finding> {
    const NAME: &str = "ledger";
    let open = match project.ledger.unfinished() {
        Ok(open) => open,
        Err(error) => return vec![Finding::bad(NAME, error.to_string())],
    };
    let total = match project.ledger.page(0, 1) {
        Ok(page) => page.total,
        Err(error) => return vec![Finding::bad(NAME, error.to_string())],
    };
    if open > 0 {
        let said =
            format!("{total} in the log, and {} open, or stopped in the middle", number(open, "change"));
        return vec![Finding::note(NAME, said).next("`relay recover` sees to what stopped in the middle")];
    }
    vec![Finding::good(NAME, format!("{total} in the log, nothing left in the middle"))]
}
