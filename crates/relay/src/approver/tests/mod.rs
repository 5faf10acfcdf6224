//! The approver at a pseudo-terminal, with a person who types what a script says.

mod applying;
mod asking;
mod progress;

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use relaycode_change::diff;
use relaycode_change::plan::{FileChangeKind, FilePlan, Plan};
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{ControlBlock, GitFileMode, Proposal};
use relaycode_door::{ApprovalQuestion, ApprovalReason, ApprovalReply, rules};
use relaycode_exec::{CapturedOutput, ExecError, ExitReason, JobOutcome};
use relaycode_ledger::Digest;
use relaycode_text::escape::is_unsafe;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::*;

/// Far more than anything here takes.
const LONG: Duration = Duration::from_secs(30);

/// What the person waits for, and what they type then.
type Script = &'static [(&'static str, &'static str)];

/// A terminal, seen from relay's side.
struct Desk {
    terminal: File,
    screen: Option<Screen>,
    /// A signal came.
    stop: Rc<Cell<bool>>,
    scratch: tempfile::TempDir,
}

/// … and from the person's.
struct Screen {
    file: File,
    /// Everything that appeared.
    seen: String,
    /// How much of it was waited for.
    passed: usize,
}

impl Desk {
    fn new() -> Desk {
        Desk::sized(24, 80)
    }

    fn sized(rows: u16, columns: u16) -> Desk {
        let (master, terminal) = relaycode_testkit::screen::open_pty(columns, rows).unwrap();
        let screen = Some(Screen { file: master, seen: String::new(), passed: 0 });
        Desk { terminal, screen, stop: Rc::default(), scratch: tempfile::tempdir().unwrap() }
    }

    fn setup(&self) -> ApproverSetup {
        ApproverSetup {
            name: "answer.md".to_string(),
            clock: None,
            config: "relaycode.config.json".to_string(),
            diff: false,
            level: LogLevel::Info,
            json: false,
            style: OutputStyle { color: false, utf8: true, width: None },
            programs: UserPrograms {
                editors: vec![vec!["editor".into(), "--wait".into()], vec!["vi".into()]],
                pagers: vec![vec!["less".into(), "-FRX".into()]],
                scratch_dir: self.scratch.path().to_path_buf(),
            },
        }
    }

    /// An approver at this desk, whose programs are `run`.
    fn approver(&self, run: impl Fn(&Job) -> Result<JobOutcome, ExecError> + 'static) -> TerminalApprover {
        let terminal = self.terminal.try_clone().unwrap();
        let stop = Rc::clone(&self.stop);
        let outside = ApproverHooks {
            open: Box::new(move || Some(Terminal::from_file(terminal.try_clone().unwrap(), false))),
            on_question: Box::new(|_| {}),
            news: Box::new(|| None),
            stop: Box::new(move || stop.get()),
            run: Box::new(run),
            err: Some(self.terminal.try_clone().unwrap()),
            err_is_terminal: true,
        };
        TerminalApprover::with_hooks(self.setup(), outside)
    }

    /// A person who follows the script, and then watches until relay closes the terminal.
    fn person(&mut self, script: Script) -> JoinHandle<String> {
        let mut screen = self.screen.take().unwrap();
        thread::spawn(move || {
            for (expected, typed) in script {
                screen.wait_for(expected);
                screen.file.write_all(typed.as_bytes()).unwrap();
            }
            while screen.more() {}
            screen.seen
        })
    }

    /// What comes of a question when the person follows the script, and what they saw.
    fn ask(self, question: &ApprovalQuestion<'_>, script: Script) -> (ApprovalReply, String) {
        let approver = self.approver(|_| panic!("nothing is to be run"));
        self.ask_with(approver, question, script)
    }

    fn ask_with(
        mut self,
        mut approver: TerminalApprover,
        question: &ApprovalQuestion<'_>,
        script: Script,
    ) -> (ApprovalReply, String) {
        let person = self.person(script);
        let reply = approver.decide(question);
        drop(approver);
        let left: Vec<_> = self.scratch.path().read_dir().unwrap().collect();
        assert!(left.is_empty(), "nothing private is left behind: {left:?}");
        drop(self);
        let seen = person.join().unwrap().replace("\r\n", "\n");
        assert!(!seen.chars().any(|c| is_unsafe(c) && !"\n\r\t".contains(c)), "{seen:?}");
        (reply, seen)
    }
}

impl Screen {
    /// Waits until `text` has appeared behind what was waited for before.
    fn wait_for(&mut self, text: &str) {
        let start = Instant::now();
        loop {
            if let Some(at) = self.seen[self.passed..].find(text) {
                self.passed += at + text.len();
                return;
            }
            assert!(start.elapsed() < LONG && self.more(), "{text:?} is missing in\n{}", self.seen);
        }
    }

    /// Reads what there is; `false` when nothing comes any more.
    fn more(&mut self) -> bool {
        let wait = Timespec { tv_sec: 1, tv_nsec: 0 };
        if poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&wait)).unwrap() == 0 {
            return true;
        }
        let mut bytes = [0; 4096];
        let count = self.file.read(&mut bytes).unwrap_or(0);
        self.seen += &String::from_utf8_lossy(&bytes[..count]);
        // Requests to mark pasted text are nothing that a screen shows.
        self.seen = self.seen.replace("\x1b[?2004h", "").replace("\x1b[?2004l", "");
        count > 0
    }
}

fn ended(code: i32) -> Result<JobOutcome, ExecError> {
    Ok(JobOutcome {
        reason: ExitReason::Exited(code),
        stdout: CapturedOutput::default(),
        stderr: CapturedOutput::default(),
        took: Duration::ZERO,
        left_behind: 0,
        escaped: 0,
        unprotected: Vec::new(),
    })
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn file(name: &str, before: Option<&str>, after: Option<&str>) -> FilePlan {
    let bytes = |text: Option<&str>| text.map(|t| t.as_bytes().to_vec());
    let (added, removed) = diff::count_changed_lines(
        before.unwrap_or_default().as_bytes(),
        after.unwrap_or_default().as_bytes(),
    );
    FilePlan {
        path: path(name),
        renamed_from: None,
        change: match (before, after) {
            (None, _) => FileChangeKind::Added,
            (_, None) => FileChangeKind::Deleted,
            _ if before == after => FileChangeKind::Unchanged,
            _ => FileChangeKind::Modified,
        },
        before: bytes(before),
        after: bytes(after),
        mode_before: before.map(|_| GitFileMode::Regular),
        mode_after: after.map(|_| GitFileMode::Regular),
        added,
        removed,
        dialect: None,
        hunks: Vec::new(),
    }
}

/// A file that is already in, one with three places, a new one, and one that goes.
fn plan() -> Plan {
    let lines = |changed: &[usize]| -> String {
        let line = |n: usize| if changed.contains(&n) { format!("new {n}\n") } else { format!("{n}\n") };
        (1..=60).map(line).collect()
    };
    Plan {
        files: vec![
            file("same.ts", Some("x\n"), Some("x\n")),
            file("src/cart.ts", Some(&lines(&[])), Some(&lines(&[3, 30, 57]))),
            file("src/money.ts", None, Some("one\ntwo\n")),
            file("old.ts", Some("gone\n"), None),
        ],
        ..Plan::default()
    }
}

fn proposal() -> Proposal {
    Proposal {
        control: ControlBlock {
            present: true,
            git_commit_msg: Some("feat: round totals".to_string()),
            ..ControlBlock::default()
        },
        ..Proposal::default()
    }
}

fn digest() -> Digest {
    Digest::of(b"abc")
}

fn yes() -> ApprovalReply {
    ApprovalReply::Yes { digest: digest() }
}

fn no() -> ApprovalReply {
    ApprovalReply::No { reason: None }
}

fn because(reason: &str) -> ApprovalReply {
    ApprovalReply::No { reason: Some(reason.to_string()) }
}

fn guarded() -> [ApprovalReason; 2] {
    [
        rules::project_state::MANUAL.reason(),
        rules::guarded::reason(&path(".github/workflows/ci.yml"), "runs in CI"),
    ]
}
