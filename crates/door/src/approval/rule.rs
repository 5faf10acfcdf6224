//! The rules by which a change is let in or a person is asked. Each has a stable name, which `--allow`
//! takes, records keep and `why` explains.

use relaycode_change::plan::{FindingKind, PlanFinding};
use relaycode_change::proposal::path::RelPath;
use serde::Serialize;

/// Files that a sentence names before it counts them.
const MAX_NAMED_PATHS: usize = 12;

/// A rule that speaks against going on without a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "rule", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum ApprovalRule {
    /// `patch.approvalMode` is `manual`.
    Manual,
    /// The project's commands and settings are not trusted, so nothing of theirs counts.
    NotTrusted,
    /// The answer does not carry the project's key: anybody could have written it.
    NoKey,
    /// The project has no linter that could judge the result.
    NoLinter,
    /// The project has no configuration.
    NoConfig,
    /// Fewer files than `patch.minFileChanges`, or more than `patch.maxFileChanges`.
    FileCount {
        /// How many.
        files: usize,
        /// The bound that it breaks.
        bound: u64,
    },
    /// A guarded file changes.
    Guarded {
        /// The file.
        path: RelPath,
        /// Why it is guarded, as the end of a sentence: "runs in CI".
        why: String,
    },
    /// relay's own checks found something.
    Found(PlanFinding),
    /// The gate's verdict is bad: more errors than before, a command that failed or could not run.
    Gate {
        /// What it said, in a sentence.
        text: String,
    },
    /// The person changed what the plan does: what they made of it is asked about again.
    Revised,
    /// Files changed after they were shown.
    ChangedMeanwhile {
        /// The files.
        paths: Vec<RelPath>,
    },
}

impl ApprovalRule {
    /// The stable name.
    pub fn name(&self) -> &'static str {
        match self {
            ApprovalRule::Manual => "manual",
            ApprovalRule::NotTrusted => "not-trusted",
            ApprovalRule::NoKey => "no-key",
            ApprovalRule::NoLinter => "no-linter",
            ApprovalRule::NoConfig => "no-config",
            ApprovalRule::FileCount { .. } => "file-count",
            ApprovalRule::Guarded { .. } => "guarded",
            ApprovalRule::Found(finding) => finding.kind.name(),
            ApprovalRule::Gate { .. } => "gate",
            ApprovalRule::Revised => "revised",
            ApprovalRule::ChangedMeanwhile { .. } => "changed-meanwhile",
        }
    }

    /// What it says, for people: it may quote foreign text.
    pub fn sentence(&self) -> String {
        match self {
            ApprovalRule::Manual => {
                "`patch.approvalMode` is `manual`: every change is asked about".to_string()
            }
            ApprovalRule::NotTrusted => {
                "the project's commands and settings are not trusted, so none of them counts".to_string()
            }
            ApprovalRule::NoKey => {
                "the answer does not carry this project's key: anybody could have written it".to_string()
            }
            ApprovalRule::NoLinter => "no linter is set that could judge the result".to_string(),
            ApprovalRule::NoConfig => "the project has no configuration".to_string(),
            ApprovalRule::FileCount { files, bound } => {
                let few = u64::try_from(*files).is_ok_and(|files| files < *bound);
                let key = if few { "minFileChanges" } else { "maxFileChanges" };
                let s = if *files == 1 { "" } else { "s" };
                format!("it changes {files} file{s}, and `patch.{key}` is {bound}")
            }
            ApprovalRule::Guarded { path, why } => format!("{path} is guarded: it {why}"),
            // What was found may itself begin with the line that it is about.
            ApprovalRule::Found(finding) => match finding.line.filter(|_| !finding.text.starts_with("line "))
            {
                Some(line) => format!("{} line {line}: {}", finding.path, finding.text),
                None => format!("{}: {}", finding.path, finding.text),
            },
            ApprovalRule::Gate { text } => text.clone(),
            ApprovalRule::Revised => {
                "you changed what it does: what you made of it is asked about".to_string()
            }
            ApprovalRule::ChangedMeanwhile { paths } => {
                let names: Vec<&str> = paths.iter().take(MAX_NAMED_PATHS).map(RelPath::as_str).collect();
                let more = match paths.len().saturating_sub(MAX_NAMED_PATHS) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("{}{more} changed after it was shown", names.join(", "))
            }
        }
    }

    /// The name under which `--allow` covers it; `None`: `-y` does.
    pub fn allowed_by(&self) -> Option<AllowOption> {
        match self {
            ApprovalRule::Guarded { .. } => Some(AllowOption::Guarded),
            ApprovalRule::Gate { .. } => Some(AllowOption::Gate),
            ApprovalRule::Found(finding) => match finding.kind {
                FindingKind::Near => Some(AllowOption::Near),
                FindingKind::Placeholder => Some(AllowOption::Placeholder),
                FindingKind::MassDeletion => Some(AllowOption::MassDeletion),
                FindingKind::Hidden => Some(AllowOption::Hidden),
                FindingKind::Syntax => Some(AllowOption::Syntax),
                FindingKind::Skipped => None,
            },
            _ => None,
        }
    }
}

/// What `--allow` can cover: everything that `-y` does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AllowOption {
    /// An edit that matched only nearly.
    Near,
    /// A guarded file.
    Guarded,
    /// Invisible characters.
    Hidden,
    /// A new syntax error.
    Syntax,
    /// Text that stands for code that was left out.
    Placeholder,
    /// Much of a file, or many files, go.
    MassDeletion,
    /// A gate that says no.
    Gate,
}

impl AllowOption {
    /// All of them.
    pub const ALL: [AllowOption; 7] = [
        AllowOption::Near,
        AllowOption::Guarded,
        AllowOption::Hidden,
        AllowOption::Syntax,
        AllowOption::Placeholder,
        AllowOption::MassDeletion,
        AllowOption::Gate,
    ];

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            AllowOption::Near => "near",
            AllowOption::Guarded => "guarded",
            AllowOption::Hidden => "hidden",
            AllowOption::Syntax => "syntax",
            AllowOption::Placeholder => "placeholder",
            AllowOption::MassDeletion => "mass-deletion",
            AllowOption::Gate => "gate",
        }
    }

    /// What it covers, in a few words.
    pub fn description(self) -> &'static str {
        match self {
            AllowOption::Near => "an edit that matched only nearly",
            AllowOption::Guarded => "files that run by themselves or hold secrets",
            AllowOption::Hidden => "invisible characters that come in",
            AllowOption::Syntax => "new syntax errors",
            AllowOption::Placeholder => "text that stands for code that was left out",
            AllowOption::MassDeletion => "much of a file, or many files, go",
            AllowOption::Gate => "a gate that says no",
        }
    }
}
