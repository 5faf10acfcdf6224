//! What a person sees of hand-made plans and refusals.

mod fits_width;
mod hostile_text;

use relaycode_change::diff;
use relaycode_change::plan::{
    FileChangeKind, FilePlan, FindingKind, FittingHunk, HunkDifference, HunkReport, HunkState, NearestPlace,
    Plan, PlanFinding, PlanRefusal, RefusalEntry, RefusalReason,
};
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{ControlBlock, GitFileMode, Hunk, Proposal, ProposalNote, UnreadBlock};
use relaycode_text::escape::is_unsafe;

use crate::layout::style::OutputStyle;
use crate::views::*;

const PLAIN: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };
const ASCII: OutputStyle = OutputStyle { color: false, utf8: false, width: Some(80) };
const HOSTILE: &str = "a\x1b[2Jb\u{202e}c\nd\u{9b}31m";

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn report(state: HunkState, rung: &'static str) -> HunkReport {
    HunkReport {
        line: 1,
        state,
        rung,
        chosen_by: None,
        claimed: None,
        used: 1,
        doubt: None,
        runner_up: None,
        differences: Vec::new(),
    }
}

fn file(name: &str, before: Option<&str>, after: Option<&str>) -> FilePlan {
    let bytes = |text: Option<&str>| text.map(|t| t.as_bytes().to_vec());
    let (before, after) = (bytes(before), bytes(after));
    let side = |b: &Option<Vec<u8>>| b.clone().unwrap_or_default();
    let (added, removed) = diff::count_changed_lines(&side(&before), &side(&after));
    FilePlan {
        path: path(name),
        renamed_from: None,
        change: match (&before, &after) {
            (None, _) => FileChangeKind::Added,
            (_, None) => FileChangeKind::Deleted,
            _ if before == after => FileChangeKind::Unchanged,
            _ => FileChangeKind::Modified,
        },
        mode_before: before.is_some().then_some(GitFileMode::Regular),
        mode_after: after.is_some().then_some(GitFileMode::Regular),
        before,
        after,
        added,
        removed,
        dialect: None,
        hunks: Vec::new(),
    }
}

fn titled(title: &str) -> Proposal {
    Proposal {
        control: ControlBlock {
            present: true,
            git_commit_msg: Some(title.to_string()),
            ..ControlBlock::default()
        },
        ..Proposal::default()
    }
}

fn plan() -> Plan {
    let mut cart = file("src/cart.ts", Some("a\nsum\nc\n"), Some("a\ntotal\nc\nd\n"));
    cart.hunks = vec![
        report(HunkState::Applied, "exact"),
        report(HunkState::Applied, "near"),
        report(HunkState::Applied, "exact"),
        report(HunkState::AlreadyIn, "exact"),
    ];
    cart.hunks[1].differences.push(HunkDifference {
        line: 87,
        file: "  return total;".into(),
        answer: "  return sum;".into(),
    });
    let mut moved = file("src/legacy/old.ts", Some("x\n"), Some("x\n"));
    moved.renamed_from = Some(path("src/old.ts"));
    moved.change = FileChangeKind::Renamed;
    Plan {
        files: vec![cart, file("src/money.ts", None, Some("1\n2\n")), moved],
        findings: vec![
            PlanFinding {
                kind: FindingKind::Near,
                path: path("src/cart.ts"),
                line: Some(87),
                text: "an edit fits only nearly".into(),
            },
            PlanFinding {
                kind: FindingKind::Placeholder,
                path: path("src/money.ts"),
                line: Some(2),
                text: "`rest of the code` stands for code that was left out".into(),
            },
        ],
        notes: vec![ProposalNote {
            line: 0,
            text: "changeSummary names src/x.ts, which is not changed".into(),
        }],
    }
}

#[test]
fn a_plan_is_one_line_per_file_and_what_deserves_a_look() {
    let mut proposal = titled("feat: round totals\n\nmore");
    proposal.unread.push(UnreadBlock { line: 12, reason: "a shell command".into(), broken: false });
    let text = card::text("", &proposal, &plan(), "answer.md", &PLAIN);
    let expected = "\
▸ feat: round totals                                              3 files  +4 −1
    M  src/cart.ts                     +2 −1   2 exact, 1 near, 1 already in
    A  src/money.ts                    +2
    R  src/old.ts → src/legacy/old.ts
  ! src/cart.ts line 87 says `total`, the answer says `sum`
  ! src/money.ts line 2: `rest of the code` stands for code that was left out
    (placeholder)
  · changeSummary names src/x.ts, which is not changed
  · not read, line 12 of the answer: a shell command
";
    assert_eq!(text, expected);
}

#[test]
fn without_utf8_everything_is_ascii() {
    let text = card::text("", &titled("größer"), &plan(), "answer.md", &ASCII);
    assert!(text.is_ascii(), "{text}");
    assert!(text.starts_with("> gr\\u{f6}\\u{df}er"), "{text}");
    assert!(text.contains("src/old.ts -> src/legacy/old.ts"));
    assert!(diff::diff_plan(&plan()).len() == 3 && crate::views::diff::text(&plan(), &ASCII).is_ascii());
}

#[test]
fn what_is_all_in_says_so() {
    let plan = Plan { files: vec![file("a", Some("x\n"), Some("x\n"))], ..Plan::default() };
    let text = card::text("", &Proposal::default(), &plan, "answer.md", &PLAIN);
    assert!(text.contains("=  a   already in") || text.contains("already in\n"), "{text}");
    assert!(text.ends_with("✓ everything is already in\n"), "{text}");
}

#[test]
fn a_diff_shows_lines_and_says_the_rest_in_words() {
    let mut script = file("run.sh", Some("#!\n"), Some("#!\n"));
    script.change = FileChangeKind::Modified;
    script.mode_after = Some(GitFileMode::Executable);
    let plan = Plan {
        files: vec![
            file("a.txt", Some("1\n2\n"), Some("1\ntwo")),
            file("crlf.txt", Some("x\r\ny\r\n"), Some("x\ny\n")),
            file("pic.png", Some("\0".repeat(1_500).as_str()), Some("\0\0")),
            script,
        ],
        ..Plan::default()
    };
    let expected = "
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 1
-2
+two
\\ No newline at end of file

--- a/crlf.txt
+++ b/crlf.txt
only the line endings of 2 lines change, CRLF → LF

--- a/pic.png
+++ b/pic.png
binary file, 2 kB → 2 bytes

--- a/run.sh
+++ b/run.sh
becomes executable
";
    assert_eq!(crate::views::diff::text(&plan, &PLAIN), expected);
}

fn hunk(before: &str) -> Box<Hunk> {
    Box::new(Hunk { before: before.lines().map(str::to_string).collect(), ..Hunk::default() })
}

fn stale(said: &str, real: &str) -> PlanRefusal {
    let fits = |hunk: usize, state: HunkState| FittingHunk {
        path: path("src/cart.ts"),
        hunk,
        report: report(state, "exact"),
    };
    PlanRefusal {
        refusals: vec![RefusalEntry {
            path: Some(path("src/cart.ts")),
            line: 41,
            reason: RefusalReason::NotFound {
                hunk: 2,
                of: 3,
                wanted: hunk(&format!("first\n{said}")),
                nearest: Some(NearestPlace {
                    line: 86,
                    text: vec!["first".into(), real.to_string()],
                    first_difference: 1,
                    score: 0.8,
                }),
            },
        }],
        fitting: vec![fits(1, HunkState::Applied), fits(3, HunkState::AlreadyIn)],
        notes: Vec::new(),
    }
}

#[test]
fn a_refusal_shows_what_was_looked_for_and_what_is_there() {
    let refused = stale("  return items.reduce((sum, item) => {", "  return items.reduce((total, item) => {");
    let next = Some("next: `relay preview answer.md --repair` writes a prompt for your model");
    let text = refusal::text(&refused, &[], next, &PLAIN);
    let expected = "\
✗ refused: 1 of 3 edits does not match                       nothing was changed
  src/cart.ts, edit 2 (line 41 of the answer)
    looked for   return items.reduce((sum, item) => {
    nearest      return items.reduce((total, item) => {                  line 87
  edit 1 fits; edit 3 is already in
  next: `relay preview answer.md --repair` writes a prompt for your model
";
    assert_eq!(text, expected);
}

#[test]
fn other_refusals_are_named_too() {
    let refused = PlanRefusal {
        refusals: vec![
            RefusalEntry {
                path: Some(path("a.py")),
                line: 7,
                reason: RefusalReason::Ambiguous {
                    hunk: 1,
                    of: 1,
                    wanted: hunk("\n    return None"),
                    places: vec![4, 90],
                    count: 3,
                    rung: "exact",
                },
            },
            RefusalEntry {
                path: None,
                line: 20,
                reason: RefusalReason::Unread { text: "the block is cut off".into() },
            },
        ],
        ..PlanRefusal::default()
    };
    let cut_off = UnreadBlock { line: 20, reason: "the block is cut off".into(), broken: true };
    let text = refusal::text(&refused, &[cut_off], None, &PLAIN);
    let expected = "\
✗ refused: the edit fits in several places, 1 block cannot be read
  nothing was changed
  a.py, edit 1 (line 7 of the answer)
    looked for   return None
    is there 3 times, at lines 4, 90 and 1 more; more surrounding lines would tell which
  line 20 of the answer
    the block is cut off
";
    assert_eq!(text, expected);
}

#[test]
fn hostile_text_never_reaches_a_terminal_raw() {
    let mut plan = plan();
    plan.files[0].after = Some(HOSTILE.as_bytes().to_vec());
    plan.files[0].hunks[1].differences[0].answer = HOSTILE.to_string();
    plan.findings[1].text = HOSTILE.to_string();
    plan.notes[0].text = HOSTILE.to_string();
    let mut proposal = titled(HOSTILE);
    proposal.unread.push(UnreadBlock { line: 1, reason: HOSTILE.to_string(), broken: false });
    for style in [PLAIN, ASCII] {
        let mut text = card::text("", &proposal, &plan, HOSTILE, &style);
        text += &crate::views::diff::text(&plan, &style);
        text += &refusal::text(&stale(HOSTILE, HOSTILE), &proposal.unread, Some(HOSTILE), &style);
        let raw = text.chars().find(|c| is_unsafe(*c) && *c != '\n');
        assert_eq!(raw, None, "{text:?}");
    }
}

#[test]
fn colour_never_stands_alone() {
    let style = OutputStyle { color: true, ..PLAIN };
    let painted =
        card::text("", &titled("t"), &plan(), "x", &style) + &crate::views::diff::text(&plan(), &style);
    let mut plain = String::new();
    let mut rest = painted.as_str();
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain += before;
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain += rest;
    let expected =
        card::text("", &titled("t"), &plan(), "x", &PLAIN) + &crate::views::diff::text(&plan(), &PLAIN);
    assert_eq!(plain, expected);
}
