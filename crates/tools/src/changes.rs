//! How a tool changes files: one submission to the door, with the origin `agent` and the group of the turn. Everything of a call
//! goes in or nothing does; what the door's own checks found comes back as text.

use relaycode_change::diff::{self, DiffContent};
use relaycode_change::hashline::LineSplice;
use relaycode_change::lines::text_file::TextFile;
use relaycode_change::plan::tree::{PlanTree, TreeEntry};
use relaycode_change::plan::{FileChangeKind, FilePlan, FindingKind, Plan, PlanFinding};
use relaycode_change::prompt::repair::repair_prompt;
use relaycode_change::proposal::{ExactImage, FileAction, Operation, Proposal, path::RelPath};
use relaycode_door::{
    AppliedChange, ApprovalQuestion, ApprovalReply, Approver, Consent, Digest, DoorError, DoorEvent,
    Submission, SubmissionOrigin, SubmitOutcome,
};
use relaycode_llm::CancelToken;
use relaycode_project::access::Access;

use crate::card::{CardBody, CardDiff};
use crate::tool::{ToolError, ToolInvocation};

/// Lines of one file's changes that the model reads.
const MAX_PREVIEW_LINES: usize = 200;
/// Lines shown around a change.
const PREVIEW_CONTEXT: usize = 2;

/// What became of a call's changes.
pub(crate) struct ToolChange {
    pub applied: AppliedChange,
    /// What the checks found, for the model.
    pub remarks: Vec<String>,
}

/// Puts operations on disk.
///
/// # Errors
/// Nothing was changed, and why.
pub(crate) fn submit(
    call: &ToolInvocation<'_>,
    operations: Vec<FileAction>,
    what: &str,
) -> Result<ToolChange, ToolError> {
    let workspace = call.workspace;
    workspace.check_not_planning("the project")?;
    if !workspace.access.may_write() {
        return Err(ToolError::refused("files cannot be changed in this session: its access is read-only"));
    }
    call.check_cancelled()?;
    let mut proposal = Proposal::default();
    // A group is called after its first member, so each of them after the prompt.
    proposal.control.prompt_summary = Some(workspace.title().unwrap_or_else(|| what.to_string()));
    proposal.operations = operations.into_iter().map(|action| Operation { line: 0, action }).collect();
    let submission = Submission {
        proposal: &proposal,
        answer: Digest::of(call.id.as_bytes()),
        origin: SubmissionOrigin::Agent,
        author: None,
        consent: Consent::default(),
        limits: workspace.door.limits(),
        syntax: true,
        group: workspace.group(),
        now: format!("{:.3}", jiff::Timestamp::now()),
    };
    let planned = workspace.door.plan(&submission);
    if let Ok(plan) = &planned
        && let Some(near) = plan.findings.iter().find(|finding| finding.kind == FindingKind::Near)
    {
        let said = format!(
            "nothing was changed, because the old text is not exactly there: {}: {}",
            near.path, near.text
        );
        return Err(ToolError::refused(said));
    }
    let mut outcome: Option<Result<SubmitOutcome, DoorError>> = None;
    call.host.with_approver(call.id, &mut |approver| {
        let mut approver = CallApprover { approver, cancel: call.cancel };
        if workspace.access == Access::Ask
            && let Ok(plan) = &planned
            && let Some(declined) = ask_first(&submission, plan, &mut approver)
        {
            outcome = Some(Ok(declined));
            return;
        }
        outcome = Some(workspace.door.submit_planned(&submission, planned.clone(), &mut approver));
    });
    match outcome {
        None => Err(ToolError::Fatal("the door was not asked: the host brings no approver".to_string())),
        // The ledger says in which state the project is.
        Some(Err(error)) => Err(ToolError::refused(format!("the change could not be made: {error}"))),
        Some(Ok(SubmitOutcome::Applied(applied))) => {
            let remarks = applied.plan.findings.iter().filter_map(remark).collect();
            Ok(ToolChange { applied: *applied, remarks })
        }
        Some(Ok(other)) => Err(refusal(other)),
    }
}

/// Asks a person about a plan that no rule speaks against; `None`: they said yes, or a rule asks anyway.
fn ask_first(submission: &Submission<'_>, plan: &Plan, approver: &mut dyn Approver) -> Option<SubmitOutcome> {
    if plan.files.iter().all(|file| file.change == FileChangeKind::Unchanged) {
        return None;
    }
    let digest = relaycode_door::plan_digest(plan);
    let question = ApprovalQuestion::Apply { proposal: submission.proposal, plan, digest, rules: &[] };
    match approver.decide(&question) {
        ApprovalReply::Yes { digest: given } if given == digest => None,
        ApprovalReply::Stop => Some(SubmitOutcome::Interrupted { put_back: false }),
        ApprovalReply::Unavailable => {
            Some(SubmitOutcome::ApprovalRequired { plan: plan.clone(), rules: Vec::new() })
        }
        ApprovalReply::No { reason } => {
            Some(SubmitOutcome::Declined { plan: plan.clone(), reason, put_back: false, gate: None })
        }
        _ => Some(SubmitOutcome::Declined { plan: plan.clone(), reason: None, put_back: false, gate: None }),
    }
}

/// The host's approver, which also stops when the call is cancelled.
struct CallApprover<'a> {
    approver: &'a mut dyn Approver,
    cancel: &'a CancelToken,
}

impl Approver for CallApprover<'_> {
    fn name(&self) -> &'static str {
        self.approver.name()
    }

    fn decide(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalReply {
        self.approver.decide(question)
    }

    fn on_event(&mut self, event: &DoorEvent<'_>) {
        self.approver.on_event(event);
    }

    fn stop_requested(&self) -> bool {
        self.cancel.is_cancelled() || self.approver.stop_requested()
    }
}

/// What a model can act on; the other kinds are a person's business.
fn remark(finding: &PlanFinding) -> Option<String> {
    let place = match finding.line {
        Some(line) => format!("{} line {line}", finding.path),
        None => finding.path.to_string(),
    };
    (finding.kind != FindingKind::Skipped).then(|| format!("{place}: {}", finding.text))
}

/// Why a submission that was not applied was not, for the model.
fn refusal(outcome: SubmitOutcome) -> ToolError {
    let said = match outcome {
        SubmitOutcome::Interrupted { .. } => return ToolError::Aborted,
        SubmitOutcome::Applied(_) => String::new(),
        SubmitOutcome::AlreadyIn { .. } | SubmitOutcome::AlreadyProcessed { .. } => {
            "nothing was changed: the files are like that already".to_string()
        }
        SubmitOutcome::Refused(refused) => repair_prompt(&refused),
        SubmitOutcome::ApprovalRequired { rules, .. } => {
            let sentences: Vec<&str> = rules.iter().map(|rule| rule.sentence.as_str()).collect();
            let why = if sentences.is_empty() {
                "every change is asked about".to_string()
            } else {
                sentences.join("; ")
            };
            format!("nothing was changed: a person has to approve this, and nobody can be asked: {why}")
        }
        SubmitOutcome::Declined { reason, .. } => match reason.filter(|reason| !reason.trim().is_empty()) {
            Some(reason) => format!("the user declined the change: {reason}"),
            None => "the user declined the change".to_string(),
        },
        SubmitOutcome::WrongProject { named, ours } => {
            format!("nothing was changed: this is {ours}, not {named}")
        }
        SubmitOutcome::NotTrusted { .. } => {
            "nothing was changed: the project's commands are not trusted".to_string()
        }
        SubmitOutcome::PreCheckFailed { .. } | SubmitOutcome::GateFailed { .. } => {
            "the project's check failed, and everything was put back".to_string()
        }
        SubmitOutcome::FilesUnstable { paths } => {
            let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
            format!("nothing was changed: {} went on changing meanwhile; read it again", paths.join(", "))
        }
    };
    ToolError::refused(said)
}

/// A file that is to be changed as it is now; `None` if there is none.
///
/// # Errors
/// If it is none that can be changed, or a rule is against it.
pub(crate) fn current_image(
    call: &ToolInvocation<'_>,
    path: &RelPath,
) -> Result<Option<ExactImage>, ToolError> {
    call.workspace.permit_edit(call, &call.workspace.root().join(path.as_str()))?;
    let tree = call.workspace.door.tree(&call.workspace.door.limits());
    match tree.entry(path) {
        Ok(TreeEntry::Missing) => Ok(None),
        Ok(TreeEntry::File { bytes, mode }) => Ok(Some(ExactImage { bytes, mode })),
        Ok(TreeEntry::Other(what)) => Err(ToolError::refused(format!("`{path}` is {what}, not a file"))),
        Err(error) => Err(ToolError::refused(error.to_string())),
    }
}

/// Where two texts differ, as splices of the first.
pub(crate) fn splices_between(before: &[&str], after: &[&str]) -> Vec<LineSplice> {
    let (mut old, mut new) = (0, 0);
    let mut splices = Vec::new();
    let runs = relaycode_change::lines::align::equal_runs(before, after);
    let end = relaycode_change::lines::align::EqualRun { old: before.len(), new: after.len(), len: 0 };
    for run in runs.into_iter().chain([end]) {
        if old < run.old || new < run.new {
            let lines = after[new..run.new].iter().map(ToString::to_string).collect();
            splices.push(LineSplice { range: old..run.old, lines });
        }
        (old, new) = (run.old + run.len, run.new + run.len);
    }
    splices
}

/// Notes what an edit made of the shown lines, and prints its changes with fresh anchors.
pub(crate) fn show_result(
    call: &ToolInvocation<'_>,
    file: &FilePlan,
    splices: Option<&[LineSplice]>,
) -> String {
    let workspace = call.workspace;
    let path = workspace.root().join(file.path.as_str());
    if let Some(from) = &file.renamed_from {
        workspace.shown().forget(&workspace.root().join(from.as_str()));
    }
    let (before, after) = (file.before.clone().unwrap_or_default(), file.after.clone().unwrap_or_default());
    let decode =
        |bytes: &[u8]| TextFile::decode_candidates(bytes).ok().and_then(|sources| sources.into_iter().next());
    let (Some(old), Some(new)) = (decode(&before), decode(&after)) else {
        workspace.shown().forget(&path);
        return String::new();
    };
    if file.change == FileChangeKind::Deleted {
        workspace.shown().forget(&path);
        return String::new();
    }
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let computed;
    let splices = match splices {
        Some(splices) => splices,
        None => {
            computed = splices_between(&old_lines, &new_lines);
            &computed
        }
    };
    let (text, shown) = preview(&old_lines, &new_lines, splices);
    let mut files = workspace.shown();
    files.advance(&path, &before, splices, (&after, &new_lines));
    files.show(&path, &after, &new_lines, shown);
    text
}

/// The changes with lines around them; and the lines (from 0) that it shows.
fn preview(old: &[&str], new: &[&str], splices: &[LineSplice]) -> (String, Vec<usize>) {
    use relaycode_change::hashline::format_line;
    let mut text = String::new();
    let mut shown: Vec<usize> = Vec::new();
    let mut count = 0;
    // How much further down a line stands now.
    let mut moved: isize = 0;
    let mut next = 0;
    for (at, splice) in splices.iter().enumerate() {
        let start = splice.range.start.saturating_add_signed(moved);
        let end = start + splice.lines.len();
        let after_until = splices.get(at + 1).map_or(new.len(), |next| {
            let shift = isize::try_from(splice.lines.len()).unwrap_or(0)
                - isize::try_from(splice.range.len()).unwrap_or(0);
            next.range.start.saturating_add_signed(moved + shift)
        });
        let from = start.saturating_sub(PREVIEW_CONTEXT).max(next);
        if from > next && next > 0 {
            text.push_str("...\n");
        }
        let mut line = |sign: char, index: usize, text: &mut String| {
            if let Some(content) = new.get(index)
                && count < MAX_PREVIEW_LINES
            {
                count += 1;
                text.push_str(&format!("{sign}{}\n", format_line(index + 1, content)));
                shown.push(index);
            }
        };
        (from..start).for_each(|index| line(' ', index, &mut text));
        for gone in old.get(splice.range.clone()).unwrap_or_default().iter().take(MAX_PREVIEW_LINES / 4) {
            text.push_str(&format!("-{gone}\n"));
        }
        (start..end).for_each(|index| line('+', index, &mut text));
        let until = (end + PREVIEW_CONTEXT).min(after_until).min(new.len());
        (end..until).for_each(|index| line(' ', index, &mut text));
        next = until;
        moved += isize::try_from(splice.lines.len()).unwrap_or(0)
            - isize::try_from(splice.range.len()).unwrap_or(0);
    }
    (text, shown)
}

/// The changes of a plan for people.
pub fn card_body(plan: &Plan) -> CardBody {
    let diffs = diff::diff_plan(plan);
    let files = plan.files.iter().filter(|file| file.change != FileChangeKind::Unchanged).zip(diffs);
    CardBody::Diff {
        files: files
            .map(|(file, diff)| CardDiff {
                path: file.path.to_string(),
                added: file.added,
                removed: file.removed,
                diff: unified(&diff.content),
            })
            .collect(),
    }
}

/// As a unified diff without file headers.
pub(crate) fn unified(content: &DiffContent) -> String {
    let DiffContent::Text { hunks, .. } = content else { return String::new() };
    let mut text = String::new();
    for hunk in hunks {
        text.push_str(&format!(
            "@@ -{},{} +{},{} @@\n",
            hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines
        ));
        for line in &hunk.lines {
            text.push_str(&format!("{}{}\n", line.kind.sign(), line.text));
        }
    }
    text
}
