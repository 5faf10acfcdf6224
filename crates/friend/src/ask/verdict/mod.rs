//! What a review comes to: ship, or iterate, by findings with a severity and a place.
//!
//! A verdict is only ever read from JSON that follows [`VERDICT_SCHEMA`]. No answer, no JSON, JSON of another form and an
//! abstention are no verdict, and no verdict is never a pass. What blocks is decided here, by the findings and by
//! what the friend said, whichever is stricter.

#[cfg(test)]
mod tests;

use std::path::{Component, Path};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub const VERSION: u64 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewVerdict {
    pub said: ReviewDecision,
    /// Why, in its words. Foreign.
    pub summary: String,
    pub findings: Vec<ReviewFinding>,
    pub remarks: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewDecision {
    Ship,
    Iterate,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewFinding {
    pub severity: FindingSeverity,
    /// In a few words. Foreign, as all text here.
    pub title: String,
    pub rationale: String,
    pub location: Option<FindingLocation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FindingSeverity {
    Blocker,
    Important,
    Nit,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FindingLocation {
    /// The file; relative to the project if it is in it.
    pub path: String,
    /// The first line, from 1.
    pub line: Option<u64>,
    /// The last line, if there are several.
    pub end_line: Option<u64>,
    pub file: FindingFileState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FindingFileState {
    Known,
    /// Nothing: the file was deleted, or the friend made it up.
    Unknown,
    Outside,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerdictError {
    #[error("it abstained: {0}")]
    Abstained(String),
    #[error("{0}")]
    Malformed(String),
}

impl ReviewVerdict {
    /// Whether the change must not go in: there is a blocker, or the friend said so.
    pub fn blocks(&self) -> bool {
        self.said == ReviewDecision::Iterate || self.has_blocker()
    }

    fn has_blocker(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == FindingSeverity::Blocker)
    }

    /// Reads a verdict from a value that was checked against [`VERDICT_SCHEMA`]; places are looked for in the project at
    /// `root`.
    pub fn from_json(value: &Value, root: &Path) -> Result<ReviewVerdict, VerdictError> {
        let written: VerdictJson = serde_json::from_value(value.clone())
            .map_err(|error| VerdictError::Malformed(error.to_string()))?;
        let version = written.schema_version;
        if version != VERSION {
            return Err(VerdictError::Malformed(format!("its version is {version}, not {VERSION}")));
        }
        let said = match written.verdict {
            VerdictJsonDecision::Ship => ReviewDecision::Ship,
            VerdictJsonDecision::Iterate => ReviewDecision::Iterate,
            VerdictJsonDecision::Abstain => return Err(VerdictError::Abstained(written.summary)),
        };
        let findings = written.findings.into_iter().map(|finding| ReviewFinding {
            severity: finding.severity,
            title: finding.title,
            rationale: finding.rationale,
            location: finding.location.map(|location| resolve_location(&location, root)),
        });
        let (summary, findings) = (written.summary, findings.collect());
        let mut verdict = ReviewVerdict { said, summary, findings, remarks: Vec::new() };
        if said == ReviewDecision::Ship && verdict.has_blocker() {
            verdict.remarks.push("it said ship and named a blocker: the blocker counts".to_string());
        }
        if said == ReviewDecision::Iterate && verdict.findings.is_empty() {
            verdict.remarks.push("it said iterate and named no finding".to_string());
        }
        Ok(verdict)
    }
}

/// The form of a verdict. Every field is required and none may be added: so it also suits those servers that hold
/// a model to a schema.
pub static VERDICT_SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["schemaVersion", "verdict", "summary", "findings"],
        "properties": {
            "schemaVersion": {"type": "integer", "enum": [VERSION]},
            "verdict": {"type": "string", "enum": ["ship", "iterate", "abstain"]},
            "summary": text,
            "findings": {"type": "array", "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["severity", "title", "rationale", "location"],
                "properties": {
                    "severity": {"type": "string", "enum": ["blocker", "important", "nit"]},
                    "title": text,
                    "rationale": text,
                    "location": {"anyOf": [{"type": "null"}, {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["path", "line", "endLine"],
                        "properties": {
                            "path": text,
                            "line": {"type": ["integer", "null"]},
                            "endLine": {"type": ["integer", "null"]}
                        }
                    }]}
                }
            }}
        }
    })
});

pub const VERDICT_REQUEST: &str = "Give a verdict on the changes. \"ship\": they can go in as they are. \"iterate\": they need \
more work first. \"abstain\": you cannot tell, for example because you could not see the changes.\n\
List what you found. \"blocker\": they must not go in like this (a bug, a security problem, lost data). \"important\": \
it should be seen to, but does not stop them. \"nit\": a matter of taste. A verdict \"ship\" has no blocker.\n\
Paths are relative to the repository, lines are those of the new file; location is null if there is none.";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct VerdictJson {
    schema_version: u64,
    verdict: VerdictJsonDecision,
    summary: String,
    findings: Vec<VerdictFindingJson>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum VerdictJsonDecision {
    Ship,
    Iterate,
    Abstain,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictFindingJson {
    severity: FindingSeverity,
    title: String,
    rationale: String,
    location: Option<VerdictLocationJson>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct VerdictLocationJson {
    path: String,
    line: Option<f64>,
    end_line: Option<f64>,
}

fn resolve_location(written: &VerdictLocationJson, root: &Path) -> FindingLocation {
    let (path, file) = resolve_path(&written.path, root);
    // From 1, and whole: 0 and -1 stand for "no line" with some.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
    let line = |line: Option<f64>| line.filter(|line| (1.0..=1e9).contains(line)).map(|line| line as u64);
    let first = line(written.line);
    let last = line(written.end_line).filter(|last| first.is_some_and(|first| first < *last));
    FindingLocation { path, line: first, end_line: last, file }
}

fn resolve_path(path: &str, root: &Path) -> (String, FindingFileState) {
    let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(path));
    let mut parts: Vec<&str> = Vec::new();
    for component in below.components() {
        match component {
            Component::Normal(part) => parts.extend(part.to_str()),
            Component::CurDir => {}
            Component::ParentDir if parts.pop().is_some() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return (path.to_string(), FindingFileState::Outside);
            }
        }
    }
    let relative = parts.join("/");
    let file = match (root.canonicalize(), root.join(&relative).canonicalize()) {
        (Ok(root), Ok(real)) if !real.starts_with(&root) => FindingFileState::Outside,
        (Ok(_), Ok(real)) if real.is_file() => FindingFileState::Known,
        _ => FindingFileState::Unknown,
    };
    (relative, file)
}
