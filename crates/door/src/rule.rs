//! The rules by which a change is let in or a person is asked. Each has a stable name, which `--allow`
//! takes, records keep and `why` explains.

use relaycode_change::path::RelPath;
use relaycode_change::plan::{Finding, FindingKind};
use serde::Serialize;

/// Files that a sentence names before it counts them.
const NAMED: usize = 12;

/// A rule that speaks against going on without a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "rule", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Rule {
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
    Found(Finding),
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

impl Rule {
    /// The stable name.
    pub fn name(&self) -> &'static str {
        match self {
            Rule::Manual => "manual",
            Rule::NotTrusted => "not-trusted",
            Rule::NoKey => "no-key",
            Rule::NoLinter => "no-linter",
            Rule::NoConfig => "no-config",
            Rule::FileCount { .. } => "file-count",
            Rule::Guarded { .. } => "guarded",
            Rule::Found(finding) => finding.kind.name(),
            Rule::Gate { .. } => "gate",
            Rule::Revised => "revised",
            Rule::ChangedMeanwhile { .. } => "changed-meanwhile",
        }
    }

    /// What it says, for people: it may quote foreign text.
    pub fn sentence(&self) -> String {
        match self {
            Rule::Manual => "`patch.approvalMode` is `manual`: every change is asked about".to_string(),
            Rule::NotTrusted => {
                "the project's commands and settings are not trusted, so none of them counts".to_string()
            }
            Rule::NoKey => {
                "the answer does not carry this project's key: anybody could have written it".to_string()
            }
            Rule::NoLinter => "no linter is set that could judge the result".to_string(),
            Rule::NoConfig => "the project has no configuration".to_string(),
            Rule::FileCount { files, bound } => {
                let few = u64::try_from(*files).is_ok_and(|files| files < *bound);
                let key = if few { "minFileChanges" } else { "maxFileChanges" };
                let s = if *files == 1 { "" } else { "s" };
                format!("it changes {files} file{s}, and `patch.{key}` is {bound}")
            }
            Rule::Guarded { path, why } => format!("{path} is guarded: it {why}"),
            // What was found may itself begin with the line that it is about.
            Rule::Found(finding) => match finding.line.filter(|_| !finding.text.starts_with("line ")) {
                Some(line) => format!("{} line {line}: {}", finding.path, finding.text),
                None => format!("{}: {}", finding.path, finding.text),
            },
            Rule::Gate { text } => text.clone(),
            Rule::Revised => "you changed what it does: what you made of it is asked about".to_string(),
            Rule::ChangedMeanwhile { paths } => {
                let names: Vec<&str> = paths.iter().take(NAMED).map(RelPath::as_str).collect();
                let more = match paths.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("{}{more} changed after it was shown", names.join(", "))
            }
        }
    }

    /// The name under which `--allow` covers it; `None`: `-y` does.
    pub fn allowed_by(&self) -> Option<Allow> {
        match self {
            Rule::Guarded { .. } => Some(Allow::Guarded),
            Rule::Gate { .. } => Some(Allow::Gate),
            Rule::Found(finding) => match finding.kind {
                FindingKind::Near => Some(Allow::Near),
                FindingKind::Placeholder => Some(Allow::Placeholder),
                FindingKind::MassDeletion => Some(Allow::MassDeletion),
                FindingKind::Hidden => Some(Allow::Hidden),
                FindingKind::Syntax => Some(Allow::Syntax),
                FindingKind::Skipped => None,
            },
            _ => None,
        }
    }
}

/// What `--allow` can cover: everything that `-y` does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Allow {
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

impl Allow {
    /// All of them.
    pub const ALL: [Allow; 7] = [
        Allow::Near,
        Allow::Guarded,
        Allow::Hidden,
        Allow::Syntax,
        Allow::Placeholder,
        Allow::MassDeletion,
        Allow::Gate,
    ];

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Allow::Near => "near",
            Allow::Guarded => "guarded",
            Allow::Hidden => "hidden",
            Allow::Syntax => "syntax",
            Allow::Placeholder => "placeholder",
            Allow::MassDeletion => "mass-deletion",
            Allow::Gate => "gate",
        }
    }

    /// What it covers, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Allow::Near => "an edit that matched only nearly",
            Allow::Guarded => "files that run by themselves or hold secrets",
            Allow::Hidden => "invisible characters that come in",
            Allow::Syntax => "new syntax errors",
            Allow::Placeholder => "text that stands for code that was left out",
            Allow::MassDeletion => "much of a file, or many files, go",
            Allow::Gate => "a gate that says no",
        }
    }
}
