//! What relay needs and whether it is there: one function for each thing, one list.
//!
//! Nothing here changes the project; what is tried out for real (a process under the keeper, a look at the clipboard)
//! leaves nothing behind.

mod desktop;
mod machine;
mod project;

use relaycode_project::root::RootError;
use serde::Serialize;

use crate::{CommandContext, Project};

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum CheckStatus {
    /// As it should be.
    Good,
    /// Worth knowing; relay works without it.
    Note,
    /// Something does not work until somebody sees to it.
    Bad,
}

/// What was found out about one thing.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DoctorFinding {
    /// What was looked at.
    pub(crate) name: &'static str,
    pub(crate) state: CheckStatus,
    /// How it is. It may quote foreign text.
    pub(crate) said: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

impl DoctorFinding {
    fn good(name: &'static str, said: impl Into<String>) -> DoctorFinding {
        DoctorFinding { name, state: CheckStatus::Good, said: said.into(), next: None }
    }

    fn note(name: &'static str, said: impl Into<String>) -> DoctorFinding {
        DoctorFinding { state: CheckStatus::Note, ..DoctorFinding::good(name, said) }
    }

    fn bad(name: &'static str, said: impl Into<String>) -> DoctorFinding {
        DoctorFinding { state: CheckStatus::Bad, ..DoctorFinding::good(name, said) }
    }

    fn next_step(self, next: impl Into<String>) -> DoctorFinding {
        DoctorFinding { next: Some(next.into()), ..self }
    }
}

/// Looks at everything, in this order; at the project only if it can be one.
pub(crate) fn run_checks(
    project: &Project,
    why_not: Option<&RootError>,
    ctx: &CommandContext<'_>,
) -> Vec<DoctorFinding> {
    let mut found = vec![
        machine::relay(),
        machine::home(ctx),
        machine::processes(project),
        machine::fence(),
        machine::terminal(ctx),
    ];
    found.extend(machine::programs());
    found.extend(desktop::clipboard(project));
    found.extend([desktop::paste(), desktop::notifications(project)]);
    if let Some(why_not) = why_not {
        found.push(project::no_project(why_not));
        return found;
    }
    found.push(project::root(project, ctx));
    found.extend(project::files(project));
    found.extend(project::config(project, ctx));
    found.extend(project::git(project));
    found.extend(project::ledger(project));
    found.extend(project::seal(project, ctx));
    found
}
