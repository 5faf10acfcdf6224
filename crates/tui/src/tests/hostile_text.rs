//! P9: whatever foreign text says, none of it reaches a terminal raw. Every function that prints gets each
//! string in every field that others fill.

use std::collections::BTreeMap;
use std::time::Duration;

use relaycode_door::gate::{Diagnostic, GateReport, GateStep, StepReport, StepResult};
use relaycode_door::git::commit_plan::CommitPlan;
use relaycode_door::{ApprovalReason, rules as door_rules};
use relaycode_ledger::error::{UnfinishedPutBack, UnrestoredFile};
use relaycode_ledger::record::{FileImage, FileRecord, Record, RecordedOperation};
use relaycode_ledger::revert::{KeptEdits, RevertPlan};
use relaycode_ledger::{Digest, RecoveredTransaction, RevertStep, TxId};
use relaycode_project::config::{ConfigError, ConfigErrorKind, ConfigRemark, LoadedConfig};
use relaycode_project::git::head::GitHead;
use relaycode_project::trust::TrustRequest;
use relaycode_testkit::hostile_text;

use super::*;
use crate::views::blame::BlameRow;
use crate::views::diff::DiffLayout;
use crate::views::log::LogRow;
use crate::views::record::{RecordView, RevertStatus};
use crate::views::setup::SetupReport;
use crate::views::{card, gate, outcome, question, refusal, rules, setup, trust};

fn setup_report(text: &str) -> SetupReport<'_> {
    let (made, place): (&[String], _) = (&[], Some(text));
    SetupReport {
        id: text,
        config: text,
        made,
        ignore_file_left: Some(text),
        linter: text,
        example: "make check",
        lost_linter: None,
        place,
    }
}

const LOOKS: [OutputStyle; 4] = [
    PLAIN,
    ASCII,
    OutputStyle { color: true, utf8: true, width: Some(40) },
    OutputStyle { color: true, utf8: true, width: None },
];

/// This many strings fill a field together, since a field is escaped as a whole. In every tenth round the
/// first of them also comes alone, so that what is cut to a width is covered, too.
const TOGETHER: u64 = 10;

#[test]
fn tongue_no_string_reaches_the_terminal_raw_by_any_way() {
    let workers = std::thread::available_parallelism().map_or(2, |count| count.get() as u64);
    let rounds = hostile_text::string_count().div_ceil(TOGETHER);
    let loaded = loaded();
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let loaded = &loaded;
            scope.spawn(move || {
                for round in (worker..rounds).step_by(workers as usize) {
                    let style = LOOKS[(round % 4) as usize];
                    let first = round * TOGETHER;
                    let all: Vec<String> =
                        (first..first + TOGETHER).map(hostile_text::hostile_string).collect();
                    check(first, &all.join(" "), loaded, &style);
                    if round % 10 == 0 {
                        check(first, &all[0], loaded, &style);
                    }
                }
            });
        }
    });
}

fn check(first: u64, hostile: &str, loaded: &LoadedConfig, style: &OutputStyle) {
    for (name, text) in printed(hostile, loaded, style) {
        let raw = hostile_text::find_unsafe_char(&text, style.color);
        assert_eq!(raw, None, "strings from {first} on, {hostile:?}, by {name}: {text:?}");
    }
}

/// Default values; its remarks are filled in later.
pub(super) fn loaded() -> LoadedConfig {
    relaycode_project::config::load(std::path::Path::new("/nonexistent"), None).unwrap()
}

/// The output of every function for a string.
pub(super) fn printed(s: &str, loaded: &LoadedConfig, style: &OutputStyle) -> Vec<(&'static str, String)> {
    let mut all = answers(s, style);
    all.extend(ledgers(s, style));
    all.extend(gates(s, style));
    all.extend(configurations(s, loaded, style));
    all.push(("stats", used(s, style)));
    all
}

fn used(s: &str, style: &OutputStyle) -> String {
    use crate::views::stats::{StatsGroup, StatsRow, StatsText};
    let row = |is_path, amount| StatsRow {
        label: s.to_string(),
        is_path,
        amount,
        value: "$3.20, 1.2M tokens".to_string(),
    };
    let rows = vec![row(false, 0.0), row(true, 1.5), row(false, f64::NAN)];
    let group = StatsGroup {
        title: "by project",
        rows,
        note: Some("and 3 more projects; `--json` has all".to_string()),
    };
    let sums = vec![
        ("tokens", "1.2M read, 8.4M from the cache, 210k written".to_string()),
        ("cost", "$3.20".to_string()),
    ];
    stats::text(
        &StatsText {
            title: "last 30 days: 3 sessions, 12 prompts, 40 answers".to_string(),
            sums,
            groups: vec![group],
        },
        style,
    )
}

fn odd_path(s: &str) -> RelPath {
    RelPath::parse(s).unwrap_or_else(|_| path("a.txt"))
}

fn odd_plan(s: &str) -> (Proposal, Plan) {
    let mut plan = plan();
    plan.files[0].path = odd_path(s);
    plan.files[0].after = Some(s.as_bytes().to_vec());
    plan.files[0].before = Some(format!("{s}\n{s}\nend").into_bytes());
    plan.files[0].hunks[1].differences[0] =
        HunkDifference { line: 3, file: format!("{s} x"), answer: s.to_string() };
    plan.files[1].after = Some(format!("first\n{s}").into_bytes());
    plan.files[2].renamed_from = Some(odd_path(s));
    for finding in &mut plan.findings {
        finding.text = s.to_string();
        finding.path = odd_path(s);
    }
    plan.notes =
        vec![ProposalNote { line: 3, text: s.to_string() }, ProposalNote { line: 0, text: s.to_string() }];
    let mut proposal = titled(s);
    proposal.control.prompt_summary = Some(s.to_string());
    proposal.unread.push(UnreadBlock { line: 1, reason: s.to_string(), broken: false });
    (proposal, plan)
}

fn answers(s: &str, style: &OutputStyle) -> Vec<(&'static str, String)> {
    let (proposal, plan) = odd_plan(s);
    let text = s.to_string();
    let reasons = [
        RefusalReason::Hunk { hunk: 1, of: 2, wanted: hunk(s), text: text.clone() },
        RefusalReason::Conflict { text: text.clone() },
        RefusalReason::Encoding { text: text.clone() },
        RefusalReason::Limit { text: text.clone() },
        RefusalReason::Unread { text: text.clone() },
        RefusalReason::Nothing { text },
        RefusalReason::Ambiguous {
            hunk: 1,
            of: 1,
            wanted: hunk(s),
            places: vec![1],
            count: 3,
            rung: "exact",
        },
        RefusalReason::NotFound { hunk: 1, of: 1, wanted: hunk(s), nearest: None },
    ];
    let mut refused = stale(s, s);
    refused.refusals.extend(reasons.into_iter().map(|reason| RefusalEntry {
        path: Some(odd_path(s)),
        line: 4,
        reason,
    }));
    refused.notes = plan.notes.clone();
    let diffs = diff::diff_plan(&plan);
    let files: Vec<_> = plan.files.iter().zip(&diffs).collect();
    let rules = rules(s);
    vec![
        ("card", card::text("", &proposal, &plan, s, style)),
        ("card without a title", card::text("", &Proposal::default(), &plan, s, style)),
        ("diff", crate::views::diff::text(&plan, style)),
        (
            "diff side by side",
            crate::views::diff::text_with_layout(&plan, DiffLayout::SideBySide { columns: 90 }, style),
        ),
        ("refusal", refusal::text(&refused, &proposal.unread, Some(s), style)),
        ("reasons", question::reasons(&rules, &plan, style)),
        ("planned again", question::replanned_warning(&[odd_path(s), odd_path(s)], style)),
        ("files", question::numbered_files(&files, true, style)),
        ("for the model", question::rejection_preview(s, style)),
        ("why", rules::text(&rules, rules::AskedIn::Watch, Some(Digest::of(s.as_bytes())), style)),
        ("would ask", rules::would_ask_line(&rules, style)),
        ("repair", style.block(&relaycode_change::prompt::repair::repair_prompt(&refused)).into_owned()),
    ]
}

fn rules(s: &str) -> Vec<ApprovalReason> {
    let finding =
        |kind| PlanFinding { kind, path: odd_path(s), line: Some(1), text: format!("{s} in a finding") };
    vec![
        door_rules::project_state::MANUAL.reason(),
        door_rules::guarded::reason(&odd_path(s), s),
        door_rules::finding::PLACEHOLDER.reason(&finding(FindingKind::Placeholder)),
        door_rules::finding::HIDDEN.reason(&finding(FindingKind::Hidden)),
        door_rules::gate::reason(s.to_string()),
        door_rules::asked_again::changed_meanwhile(&[odd_path(s)]),
    ]
}

fn odd_record(s: &str) -> Record {
    let text = s.to_string();
    let some = Some(text.clone());
    Record {
        uuid: TxId::random(),
        project_id: text.clone(),
        created_at: text.clone(),
        git_commit_msg: some.clone(),
        prompt_summary: some.clone(),
        reasoning: vec![text.clone(), format!("{s}\n{s}")],
        operations: vec![RecordedOperation::Delete { path: text.clone() }],
        snapshot: BTreeMap::new(),
        approved: true,
        version: 1,
        number: 1,
        origin: text.clone(),
        group: some.clone(),
        branch: some.clone(),
        head: some.clone(),
        answer: None,
        result: vec![FileRecord {
            path: text.clone(),
            renamed_from: some.clone(),
            before: Some(FileImage::of(b"a", 0o644)),
            after: None,
            added: 1,
            removed: 1,
            ..FileRecord::default()
        }],
        made_directories: Vec::new(),
        removed_directories: Vec::new(),
        directory_modes: Vec::new(),
        omissions: Vec::new(),
        matches: vec![text.clone()],
        gate: Some(format!("{s}\n{s}")),
        decided_by: some,
        revert_of: vec![TxId::random()],
        revert_paths: vec![text.clone()],
        title: Some(text.clone()),
        notes: vec![text.clone()],
        plan: None,
        rules: vec![text, format!("admit {s}")],
        transaction: None,
    }
}

fn ledgers(s: &str, style: &OutputStyle) -> Vec<(&'static str, String)> {
    let text = s.to_string();
    let record = odd_record(s);
    let files = record.result.clone();
    let lines = [
        BlameRow { number: 7, text: s, record: Some(&record) },
        BlameRow { number: 8, text: s, record: None },
    ];
    let blame =
        crate::views::blame::text_of_all(&lines, style) + &crate::views::blame::text_of_one(&lines[0], style);
    let row = |damage: Option<String>| LogRow {
        index: 1,
        id: Some(text.clone()),
        short: 8,
        members: vec![text.clone(), text.clone()],
        edits: 2,
        created_at: text.clone(),
        origin: text.clone(),
        files: 1,
        added: 1,
        removed: 1,
        summary: text.clone(),
        undone: true,
        partly_undone: true,
        revertible: false,
        foreign: true,
        interrupted: true,
        revert_of: Vec::new(),
        damage,
    };
    let rows = [row(None), row(Some(text.clone()))];
    let left = UnrestoredFile { path: text.clone(), reason: text.clone(), kept: Some(text.clone()) };
    let unfinished = UnfinishedPutBack { id: TxId::random(), restored: vec![text.clone()], left: vec![left] };
    let outcomes = [
        relaycode_ledger::RecoveryOutcome::PutBack { restored: vec![text.clone()], kept: Some(text.clone()) },
        relaycode_ledger::RecoveryOutcome::Kept { kept: text.clone() },
        relaycode_ledger::RecoveryOutcome::SetAside { kept: text.clone() },
        relaycode_ledger::RecoveryOutcome::Foreign(relaycode_ledger::ForeignJournal {
            digest: relaycode_ledger::Digest::of(b""),
            files: vec![text.clone()],
        }),
        relaycode_ledger::RecoveryOutcome::NeedsDecision(unfinished),
    ];
    let recovered: Vec<RecoveredTransaction> =
        outcomes.into_iter().map(|outcome| RecoveredTransaction { id: TxId::random(), outcome }).collect();
    let reversal = RevertPlan {
        kept_edits: vec![KeptEdits { path: text.clone(), edits: 2 }],
        conflict_marked: vec![text.clone()],
        title: text.clone(),
        notes: vec![text.clone()],
        ..RevertPlan::default()
    };
    let reverted = crate::views::revert::RevertReport {
        step: RevertStep::Undo,
        plan: &reversal,
        id: Some(&text),
        next: Some((&text, Some(&text))),
        has_keys: false,
    };
    let why = rules::record_rules(&record, style);
    let gone = crate::views::record::no_diff(&files[0], style);
    let shown =
        RecordView { short_id: record.uuid.short(), record, revert_status: RevertStatus::default(), files };
    vec![
        ("blame", blame),
        ("log", crate::views::log::text(&rows, 9, true, style) + &crate::views::log::oneline(&rows, style)),
        ("show", crate::views::record::text(&shown, style)),
        ("no diff", gone),
        ("why of a record", why),
        ("recovery", crate::views::recovery::text(&recovered, style)),
        ("reverted", reverted.text(style) + &reverted.preview(&[], style)),
    ]
}

fn gates(s: &str, style: &OutputStyle) -> Vec<(&'static str, String)> {
    let step = |step, result| StepReport {
        step,
        command: s.to_string(),
        result,
        took: Duration::from_secs(1),
        output: format!("{s}\n{s} more\n"),
        left_behind: 2,
    };
    let report = GateReport {
        unclear: false,
        steps: vec![
            step(GateStep::PreCommand, StepResult::Exited { code: 0 }),
            step(GateStep::PostCommand, StepResult::Exited { code: 1 }),
            step(GateStep::Linter, StepResult::CannotRun { text: s.to_string() }),
        ],
        errors_before: Some(1),
        errors_after: Some(3),
        new_errors: vec![Diagnostic {
            file: s.to_string(),
            line: 3,
            code: s.to_string(),
            message: s.to_string(),
        }],
        new_count: 2,
        reformatted: vec![s.to_string()],
    };
    let silent = GateReport { new_errors: Vec::new(), new_count: 0, ..report.clone() };
    vec![
        ("gate", gate::refused_card(&report, "put back", Some(s), style)),
        ("gate without errors", gate::refused_card(&silent, "put back", None, style)),
        ("gate, waiting", gate::pending_card(&report, style)),
        ("gate, verdict", gate::verdict_text(&silent, style).unwrap_or_default()),
        ("gate, output", gate::full_output(&report, style)),
        ("gate, tail", gate::output_tail(s, style)),
        ("applied", outcome::applied("3f9c1e2a", 1, Some(&report), "u", style)),
    ]
}

fn configurations(s: &str, loaded: &LoadedConfig, style: &OutputStyle) -> Vec<(&'static str, String)> {
    let rows = || vec![(s.to_string(), s.to_string()), ("linter".to_string(), format!("{s} {s}"))];
    let wants = TrustRequest { commands: rows(), settings: rows(), git: rows() };
    let before =
        TrustRequest { commands: vec![("linter".to_string(), s.to_string())], ..TrustRequest::default() };
    let remark = |line| ConfigRemark { file: s.to_string(), line, text: s.to_string() };
    let loaded = LoadedConfig { remarks: vec![remark(0), remark(3)], file: Some(s.into()), ..loaded.clone() };
    let mut table = loaded.rows();
    table.iter_mut().for_each(|row| row.value = s.to_string());
    let head = GitHead { branch: Some(s.to_string()), commit: Some(s.to_string()) };
    let plan = CommitPlan {
        nothing_left: false,
        paths: vec![s.to_string(), "b".to_string()],
        mixed_paths: vec![s.to_string()],
        title: s.to_string(),
        message: Some(s.to_string()),
    };
    let error = ConfigError {
        kind: ConfigErrorKind::Value,
        file: s.to_string(),
        line: 3,
        column: 1,
        key: None,
        what: s.to_string(),
        hint: s.to_string(),
    };
    let config = crate::views::config::table(&loaded, &table, style)
        + &crate::views::config::check_report(&loaded, style)
        + &crate::views::config::error_report(&loaded, &[error], style);
    vec![
        ("trust", trust::text(&wants, Some(&before), style) + &trust::text(&wants, None, style)),
        ("question of trust", question::trust_prompt(&wants, Some(&before), s, style)),
        ("setup in place", setup::text(&setup_report(s), style)),
        ("setup", setup::text(&SetupReport { made: &[s.to_string()], ..setup_report(s) }, style)),
        ("config", config),
        ("commit", crate::views::commit::text(&plan, s, &head, style)),
        ("committed", crate::views::commit::committed_line("9e101c6", 2, &head, style)),
    ]
}
