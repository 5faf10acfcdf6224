//! How git is called: never by a shell, never misdirected by the environment, with limits, and, for
//! everything but a commit, so that nothing which a repository names is run.
//!
//! What that takes was measured, and is tested on poisoned repositories: no fsmonitor, no hooks (also not
//! those of the configuration, which git has since 2.54), no attributes of the work tree, and, because
//! `.git/info/attributes` is read in spite of that, no filters; no submodules, no missing objects fetched,
//! no repository that lies among the files.

use std::ffi::{OsStr, OsString};
use std::{path::Path, time::Duration};

use relaycode_exec::{
    CaptureLimits, ExecError, ExitReason, Job, JobEnvironment, JobInput, JobOutcome, JobOutput, Runner,
};

use relaycode_text::redact::redact;

use super::{GitResult, error::GitError};

/// How long git may read.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a commit may take: hooks run whole test suites, and a signature may wait for its owner.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Bytes of what git says about a failure.
const ERROR_BYTES: usize = 16 << 10;
/// Bytes kept of the end of what hooks print.
const HOOKS: usize = 192 << 10;
/// Lines and characters of git's last words.
const LAST_LINES: usize = 6;
const LAST_CHARS: usize = 1_000;

/// Settings for every call.
const COMMON_SETTINGS: &[&str] = &["core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"];

/// Settings for every call that must not run anything.
const SAFE_SETTINGS: &str = "safe.bareRepository=explicit core.untrackedCache=false core.attributesFile=/dev/null core.pager=cat \
    core.quotePath=false diff.external= submodule.recurse=false status.submoduleSummary=false";
const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// Variables that point git at another repository, another index or other programs of its own, or that
/// change what a path means. They are there when relay runs in a hook or in an alias.
const REDIRECT_VARIABLES: &str = "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_INDEX_VERSION GIT_OBJECT_DIRECTORY \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_QUARANTINE_PATH GIT_NAMESPACE GIT_PREFIX \
    GIT_INTERNAL_SUPER_PREFIX GIT_IMPLICIT_WORK_TREE GIT_GRAFT_FILE GIT_SHALLOW_FILE \
    GIT_REPLACE_REF_BASE GIT_NO_REPLACE_OBJECTS GIT_REFLOG_ACTION GIT_EXEC_PATH GIT_TEMPLATE_DIR \
    GIT_DEFAULT_HASH GIT_DEFAULT_REF_FORMAT GIT_REF_STORAGE GIT_ATTR_SOURCE GIT_CONFIG \
    GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS \
    GIT_ICASE_PATHSPECS";
const REDIRECT_PREFIXES: &[&str] = &["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_TRACE", "GIT_TEST_"];

/// More that goes where nothing may run.
const PROGRAM_VARIABLES: &str = "GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS SSH_ASKPASS \
    GIT_PROXY_COMMAND GIT_PROTOCOL_FROM_USER GIT_NO_LAZY_FETCH";
const PROGRAM_PREFIXES: &[&str] = &["GIT_SSH", "GIT_REDIRECT_"];

/// What is set where nothing may run. Without a protocol, nothing is fetched: a repository may say that
/// an object is missing, and by which command to get it.
const SAFE_VARIABLES: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("LC_ALL", "C"),
    ("LANGUAGE", "C"),
];

/// Runs a job. There is one that does so, the project's process runner; tests have another.
pub(super) trait GitRunner {
    fn run(&self, job: &Job, stop: &dyn Fn() -> bool) -> Result<JobOutcome, ExecError>;
}

impl GitRunner for Runner {
    fn run(&self, job: &Job, stop: &dyn Fn() -> bool) -> Result<JobOutcome, ExecError> {
        Runner::run(self, job, stop, &mut |_| {})
    }
}

/// What one call may do.
#[derive(Debug, Clone, Copy)]
pub(super) enum GitCallPolicy<'a> {
    /// Nothing that the repository names is run.
    RunNothing {
        /// The tree without attributes, once it is known which one that is.
        attributes: Option<&'a str>,
        /// Settings that silence what only the repository's configuration can name.
        muted: &'a [(String, String)],
        /// git may say where the hooks are. Only for calls that change nothing.
        allow_hooks_path: bool,
    },
    /// The user's hooks, filters and signature; only for a commit in a trusted project.
    RunCommitHooks,
}

/// The job that calls git.
pub(super) fn git_job<S: AsRef<OsStr>>(
    directory: &Path,
    leave: GitCallPolicy<'_>,
    words: &[S],
    input: JobInput,
    most: usize,
) -> Job {
    let mut line: Vec<OsString> = vec!["git".into(), "--no-pager".into()];
    let mut settings = COMMON_SETTINGS.to_vec();
    let mut environment = JobEnvironment {
        remove: REDIRECT_VARIABLES.split(' ').map(Into::into).collect(),
        remove_prefixes: REDIRECT_PREFIXES.iter().map(ToString::to_string).collect(),
        set: Vec::new(),
    };
    match leave {
        GitCallPolicy::RunCommitHooks => {
            settings.extend(["commit.verbose=false", "i18n.commitEncoding=UTF-8"]);
        }
        GitCallPolicy::RunNothing { attributes, muted, allow_hooks_path: hooks_known } => {
            settings.extend(SAFE_SETTINGS.split(' '));
            if !hooks_known {
                settings.push(NO_HOOKS);
            }
            line.extend(attributes.map(|tree| format!("--attr-source={tree}").into()));
            environment.remove.extend(PROGRAM_VARIABLES.split(' ').map(Into::into));
            environment.remove_prefixes.extend(PROGRAM_PREFIXES.iter().map(ToString::to_string));
            environment.set.extend(SAFE_VARIABLES.iter().map(|(name, value)| (name.into(), value.into())));
            environment.set.extend(as_variables(muted));
        }
    }
    line.extend(settings.into_iter().flat_map(|setting| [OsString::from("-c"), setting.into()]));
    line.extend(words.iter().map(|word| word.as_ref().to_os_string()));
    let mut job = Job::argv(line, directory);
    job.environment = environment;
    job.input = input;
    job.deadlines.total = Some(time_limit(leave));
    let tail;
    (job.output, tail) = match leave {
        GitCallPolicy::RunNothing { .. } => (JobOutput::Separate, ERROR_BYTES),
        GitCallPolicy::RunCommitHooks => (JobOutput::Merged, HOOKS),
    };
    job.capture = CaptureLimits { head: most, tail, spill: None };
    job
}

/// Settings in the form that no name can break: a subsection may hold `=`.
fn as_variables(settings: &[(String, String)]) -> Vec<(OsString, OsString)> {
    let mut set = vec![("GIT_CONFIG_COUNT".into(), settings.len().to_string().into())];
    for (number, (key, value)) in settings.iter().enumerate() {
        set.push((format!("GIT_CONFIG_KEY_{number}").into(), key.into()));
        set.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
    }
    set
}

fn time_limit(leave: GitCallPolicy<'_>) -> Duration {
    match leave {
        GitCallPolicy::RunNothing { .. } => READ_TIMEOUT,
        GitCallPolicy::RunCommitHooks => COMMIT_TIMEOUT,
    }
}

/// A call that came to an end by itself: its exit code. `what` names the command for messages.
pub(super) fn exit_code(finished: &JobOutcome, what: &str, leave: GitCallPolicy<'_>) -> GitResult<i32> {
    match finished.reason {
        ExitReason::Exited(code) => Ok(code),
        ExitReason::DeadlinePassed | ExitReason::Idle => {
            Err(GitError::TimedOut { what: what.to_string(), seconds: time_limit(leave).as_secs() })
        }
        ExitReason::Stopped => Err(GitError::Stopped { what: what.to_string() }),
        ExitReason::Signalled(signal) => {
            Err(GitError::failed(what, format!("it was ended by signal {signal}")))
        }
        ExitReason::KeeperLost => Err(GitError::failed(what, "the process that watched it was ended")),
    }
}

/// What git said last, with secrets blacked out (hooks and helpers speak there, too): why it failed, as a
/// rule.
pub(super) fn error_tail(text: &str) -> String {
    let text = redact(text);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let words = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
    match words.char_indices().rev().nth(LAST_CHARS) {
        Some((cut, _)) => format!("…{}", &words[cut..]),
        None if words.is_empty() => "it did not say why".to_string(),
        None => words,
    }
}
