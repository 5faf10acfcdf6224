//! What must hold after a power cut or an error: every file as before or every file as after, the record
//! there exactly if it is after, nothing left behind, and recovering twice is recovering once.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use relaycode_ledger::{LedgerError, TxId};
use relaycode_proof_crashfs::{CrashChoice, CrashFate, ModelFs, ModelSnapshot};
use rustix::io::Errno;

use super::scenario::{CrashScenario, ScenarioEnding};
use super::{ledger, recover};

/// The trees that a scenario may end with.
#[derive(Debug, Clone)]
pub(super) struct ExpectedTrees {
    pub(super) before: ModelSnapshot,
    pub(super) after: ModelSnapshot,
    /// The transaction whose record tells which of the two it is.
    pub(super) id: TxId,
    pub(super) ending: ScenarioEnding,
}

/// One case, which can be run again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CrashCase {
    /// The scenario without any harm.
    Whole { scenario: u64 },
    /// A power cut.
    Cut {
        scenario: u64,
        /// When, and what was lost.
        choice: CrashChoice,
    },
    /// A call that fails.
    Error { scenario: u64, call: u64, errno: Errno },
}

/// A case that went wrong.
#[derive(Debug, Clone)]
pub struct CrashFailure {
    /// The command that runs it again.
    pub replay: String,
    pub problem: String,
}

impl CrashFailure {
    pub(super) fn new(case: &CrashCase, problem: String) -> CrashFailure {
        CrashFailure { replay: case.to_string(), problem }
    }
}

/// Everything but relay's own directory.
pub(super) fn project(model: &ModelFs) -> ModelSnapshot {
    let mut tree = model.snapshot();
    let own = |path: &str| path == ".relaycode" || path.starts_with(".relaycode/");
    tree.files.retain(|path, _| !own(path));
    tree.dirs.retain(|path| !own(path));
    tree.dir_modes.retain(|path, _| !own(path));
    tree.links.retain(|path, _| !own(path));
    tree
}

/// What must not be left in relay's own directory: journals, and directories of transactions that are
/// neither done nor kept.
fn leftovers(model: &ModelFs) -> Vec<String> {
    let tree = model.snapshot();
    let journals = tree.files.keys().filter(|path| path.ends_with(".pending.yml"));
    let slots = tree.dirs.iter().filter(|path| {
        path.strip_prefix(".relaycode/tx/").is_some_and(|rest| !rest.contains('.') && !rest.contains('/'))
    });
    journals.chain(slots).cloned().collect()
}

impl ExpectedTrees {
    /// Problems of a run that nothing harmed.
    pub(super) fn uninjured(&self, outcome: Result<(), LedgerError>, tree: &ModelSnapshot) -> Option<String> {
        if let Err(error) = outcome {
            return Some(format!("it fails without any harm: {error}"));
        }
        let wanted = if self.ending == ScenarioEnding::Committed { &self.after } else { &self.before };
        (tree != wanted).then(|| format!("it ends with another tree:\n{}", difference(wanted, tree)))
    }

    /// Problems of a disk after recovery. `promised`: the command had reported success.
    pub(super) fn after_recovery(&self, image: ModelFs, promised: bool) -> Option<String> {
        let image = Arc::new(image);
        if let Err(error) = recover(&image) {
            return Some(format!("recovery fails: {error}"));
        }
        if let Some(problem) = self.state(&image, promised && self.ending == ScenarioEnding::Committed) {
            return Some(problem);
        }
        let once = image.snapshot();
        if let Err(error) = recover(&image) {
            return Some(format!("the second recovery fails: {error}"));
        }
        (image.snapshot() != once).then(|| {
            format!("the second recovery changes something:\n{}", difference(&once, &image.snapshot()))
        })
    }

    /// Problems of a run in which one call fails, and of the recovery after it.
    pub(super) fn with_error(
        &self,
        model: &Arc<ModelFs>,
        scenario: &CrashScenario,
        call: u64,
        errno: Errno,
    ) -> Option<String> {
        let model = Arc::new((**model).clone());
        model.fail_call(call, errno);
        let outcome = scenario.run(&model);
        model.clear_faults();
        let tree = project(&model);
        let right = match (&outcome, self.ending) {
            (Ok(()), ScenarioEnding::Committed) => tree == self.after,
            (Ok(()), ScenarioEnding::PutBack) => tree == self.before,
            // The put-back itself may have failed: then the next command continues it.
            (Err(_), _) => {
                if let Err(error) = recover(&model) {
                    return Some(format!("recovery fails: {error}"));
                }
                return self.state(&model, false);
            }
        };
        if !right {
            let wanted = if self.ending == ScenarioEnding::Committed { &self.after } else { &self.before };
            return Some(format!("success is reported for another tree:\n{}", difference(wanted, &tree)));
        }
        if let Err(error) = recover(&model) {
            return Some(format!("recovery fails: {error}"));
        }
        self.state(&model, self.ending == ScenarioEnding::Committed)
    }

    fn state(&self, model: &Arc<ModelFs>, must_be_after: bool) -> Option<String> {
        let tree = project(model);
        let recorded = ledger(model).and_then(|ledger| ledger.record(self.id));
        let recorded = match recorded {
            Ok(_) => true,
            Err(LedgerError::UnknownTransaction { .. }) => false,
            Err(error) => return Some(format!("the record cannot be read: {error}")),
        };
        if must_be_after && !recorded {
            return Some("success was reported, and the record is gone".to_string());
        }
        let wanted = if recorded { &self.after } else { &self.before };
        if tree != *wanted {
            let which = if recorded { "recorded" } else { "not recorded" };
            return Some(format!("the tree is mixed ({which}):\n{}", difference(wanted, &tree)));
        }
        let leftovers = leftovers(model);
        (!leftovers.is_empty()).then(|| format!("left behind: {}", leftovers.join(", ")))
    }
}

/// One line per difference.
fn difference(wanted: &ModelSnapshot, found: &ModelSnapshot) -> String {
    let mut lines = Vec::new();
    for (path, file) in &wanted.files {
        match found.files.get(path) {
            None => lines.push(format!("    {path}: missing")),
            Some(other) if other.0 != file.0 => lines.push(format!(
                "    {path}: {:?} instead of {:?}",
                String::from_utf8_lossy(&other.0[..other.0.len().min(40)]),
                String::from_utf8_lossy(&file.0[..file.0.len().min(40)])
            )),
            Some(other) if other.1 != file.1 => {
                lines.push(format!("    {path}: mode {:o} instead of {:o}", other.1, file.1));
            }
            Some(_) => {}
        }
    }
    let new_files = found.files.keys().filter(|path| !wanted.files.contains_key(*path));
    lines.extend(new_files.map(|path| format!("    {path}: too much")));
    lines.extend(wanted.dirs.difference(&found.dirs).map(|path| format!("    {path}/: missing")));
    lines.extend(found.dirs.difference(&wanted.dirs).map(|path| format!("    {path}/: too much")));
    for (path, target) in &wanted.links {
        if found.links.get(path) != Some(target) {
            lines.push(format!("    {path}: {:?} instead of a link to {target}", found.links.get(path)));
        }
    }
    let new_links = found.links.keys().filter(|path| !wanted.links.contains_key(*path));
    lines.extend(new_links.map(|path| format!("    {path}: a link too much")));
    for (path, mode) in &wanted.dir_modes {
        if let Some(other) = found.dir_modes.get(path).filter(|other| *other != mode) {
            lines.push(format!("    {path}/: mode {other:o} instead of {mode:o}"));
        }
    }
    lines.join("\n")
}

impl CrashCase {
    pub fn scenario(&self) -> u64 {
        match self {
            CrashCase::Whole { scenario }
            | CrashCase::Cut { scenario, .. }
            | CrashCase::Error { scenario, .. } => *scenario,
        }
    }
}

impl fmt::Display for CrashCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CrashCase::Whole { scenario } => write!(f, "whole:{scenario}"),
            CrashCase::Error { scenario, call, errno } => {
                write!(f, "error:{scenario}:{call}:{}", errno.raw_os_error())
            }
            CrashCase::Cut { scenario, choice } => {
                write!(f, "cut:{scenario}:{}", choice.operations)?;
                for (operation, fate) in &choice.not_kept {
                    match fate {
                        CrashFate::Kept => {}
                        CrashFate::Lost => write!(f, ":{operation}L")?,
                        CrashFate::Zeroed => write!(f, ":{operation}Z")?,
                        CrashFate::Torn(bytes) => write!(f, ":{operation}T{bytes}")?,
                    }
                }
                Ok(())
            }
        }
    }
}

impl FromStr for CrashCase {
    type Err = String;

    fn from_str(text: &str) -> Result<CrashCase, String> {
        let bad = || format!("`{text}` is no case of this layer");
        let mut parts = text.split(':');
        let kind = parts.next().ok_or_else(bad)?;
        let numbers: Vec<&str> = parts.collect();
        let number = |at: usize| numbers.get(at).and_then(|text| text.parse::<u64>().ok()).ok_or_else(bad);
        let scenario = number(0)?;
        match kind {
            "whole" => Ok(CrashCase::Whole { scenario }),
            "error" => {
                let raw = i32::try_from(number(2)?).map_err(|_| bad())?;
                Ok(CrashCase::Error { scenario, call: number(1)?, errno: Errno::from_raw_os_error(raw) })
            }
            "cut" => {
                let operations = usize::try_from(number(1)?).map_err(|_| bad())?;
                let not_kept =
                    numbers[2..].iter().map(|text| fate(text).ok_or_else(bad)).collect::<Result<_, _>>()?;
                Ok(CrashCase::Cut { scenario, choice: CrashChoice { operations, not_kept } })
            }
            _ => Err(bad()),
        }
    }
}

fn fate(text: &str) -> Option<(usize, CrashFate)> {
    let letter = text.find(|c: char| c.is_ascii_uppercase())?;
    let operation = text[..letter].parse().ok()?;
    let fate = match &text[letter..=letter] {
        "L" => CrashFate::Lost,
        "Z" => CrashFate::Zeroed,
        "T" => CrashFate::Torn(text[letter + 1..].parse().ok()?),
        _ => return None,
    };
    Some((operation, fate))
}
