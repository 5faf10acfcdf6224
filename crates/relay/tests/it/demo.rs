//! The demo is the first thing a newcomer runs: a tour that checks itself, and of which nothing is left.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::fixture::keyed_project::{processes_with, wait_until};
use crate::fixture::scratch_project::{Project, Ran, run};
use crate::relay_snapshot;
use crate::terminal_questions::Session;

/// The longest time that the tour may take by itself.
const LIMIT: Duration = Duration::from_secs(15);

/// Nothing is left: no directory, no process, and nothing in the user's own directory.
fn assert_nothing_left(project: &Project) {
    let names = |directory: PathBuf| -> Vec<_> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!(names(project.path(".")), Vec::<std::ffi::OsString>::new());
    assert_eq!(names(project.home().to_path_buf()), Vec::<std::ffi::OsString>::new());
    assert_no_process(project);
}

fn assert_no_process(project: &Project) {
    let marker = project.path("").to_str().unwrap().trim_end_matches('/').to_string();
    wait_until("a process is left", || processes_with(&marker).is_empty());
}

/// The scratch project, once it is there.
fn scratch(project: &Project) -> Option<PathBuf> {
    let entry = fs::read_dir(project.path(".")).unwrap().next()?;
    Some(entry.unwrap().path().join("shop"))
}

/// The tour in the background.
fn begin(project: &Project, args: &[&str]) -> Child {
    project.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child) -> Ran {
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn the_tour_runs_by_itself_and_leaves_nothing() {
    let project = Project::new(&[]);
    let start = Instant::now();
    let ran = project.relay(&["demo", "--auto"]);
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    relay_snapshot!(ran, @r#"
    exit 0
    ----- stdout -----
    1/8  A project is set up once. What relay prints then are the instructions for your
         model: paste them into a new chat. The project's name in them carries a key, so
         that nobody else's answer passes for one of yours.

    $ relay init
    ✓ relaycode.config.json, .relaycode/ and .gitignore are in place for shop
      check: none yet. Set patch.linter to a command such as "make check", and changes that pass it go in by themselves
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)
    # Answers that change files

    My tool, relay, reads your answer and changes my files exactly as it says; an answer t…
    … 53 lines on how to write edits
    ```yaml
    projectId: shop.<key>
    uuid: (a new random uuid, version 4)
    changeSummary:
      - edit: "tools/check names.py"
      - edit: src/cart.ts
      - new: src/greet.ts
      - delete: src/old.ts
      - rename: src/util.ts -> src/text/util.ts
    promptSummary: "What I asked for, in a sentence or two."
    gitCommitMsg: "fix: take the total of an empty cart to be 0"
    ```

    2/8  The project gets a linter: relaycode.config.json now says "linter": "sh check.sh".
         What a project wants to run is shown to you first, and runs only when you have said
         yes to exactly that.

    $ relay trust -y
    this project wants to run 1 command and to say who approves
        linter   sh check.sh
      these settings decide who approves
        patch.approvalMode           auto
        patch.approvalOnErrorCount   0
    ✓ trusted, until it changes

    3/8  An answer as a model writes it: a new file and two edits. It has the key, every
         edit fits in one place, and the linter finds nothing: relay applies it and has no
         question.

    $ relay apply good.md
    ▸ feat: round totals to cents                                             2 files  +6 −1
        A  src/money.ts  +3
        M  src/cart.ts   +3 −1   2 exact
    ✓ applied 5d1c2f7e · 2 files · checked in <duration>, 0 → 0 errors · `relay undo` undoes it

    $ relay why
    5d1c2f7e  from file  feat: round totals to cents
      admit     by policy: trusted, with its key, and nothing to look at
      accept    by policy: 0 errors before, 0 after
      gate      linter before: sh check.sh succeeded
      gate      linter: sh check.sh succeeded
      gate      errors: 0 before, 0 after, 0 new
      digest    <sha256>

    4/8  This answer was written for an older version of a file. relay does not guess: it
         takes none of it, says what is there instead, and writes a prompt with which the
         model can put it right.

    $ relay apply stale.md
    ✗ refused: 1 of 2 edits does not match                               nothing was changed
      src/format.ts, edit 1 (line 2 of the answer)
        looked for   return currency + value.toFixed(2);
        nearest      return "$" + value;                                              line 2
      src/cart.ts: edit 1 fits
      next: `relay preview stale.md --repair` writes a prompt for your model

    $ relay preview stale.md --repair -q
    Your answer could not be applied, and nothing was changed. These parts of it do not wo…

    ## src/format.ts, edit 1 of 1, line 2 of your answer
    The file does not have this text. The first line that differs:
    ```
        return currency + value.toFixed(2);
    ```
    Line 2 of the file is really:
    ```
        return "$" + value;
    ```
    The nearest text of the file, with its line numbers:
    ```
    1 | export function money(value: number): string {
    2 |     return "$" + value;
    3 | }
    ```

    These fit, repeat them unchanged: src/cart.ts edit 1.

    Answer in the same format as before, with the failing parts corrected. Copy what is to…

    5/8  This one fits, but the linter finds an error in what comes out. -y says yes to
         ordinary questions, not to that: the files are as they were.

    $ relay apply logged.md -y
    ▸ feat: log what shipping costs                                               1 file  +1
        M  src/cart.ts  +1   1 exact
    ✗ not kept: sh check.sh went from 0 to 1 error                   everything was put back
        src/cart.ts:28  console.log is left
      keep it anyway: `relay apply logged.md --allow gate`

    6/8  What was applied is recorded. What was refused or put back left nothing.

    $ relay log
      1   5d1c2f7e  now  file  2 files  +6 −1  feat: round totals to cents
      2   change-1  now  init  2 files  +25    relay: set the project up

    7/8  Somebody edits src/cart.ts by hand, and then the change of step 3 is taken back, in
         all of its files. The later edit stays.

    # src/cart.ts:28 now says Math.max(total, 4)

    $ relay undo
    ✓ undone: feat: round totals to cents · src/cart.ts also has 1 later edit of yours: kept
      `relay redo` brings it back
    # src/cart.ts:26 still says Math.max(total, 4)

    8/8  relay is killed in the middle of a change, while the linter runs. The next command
         that writes first puts everything back; `relay recover` does only that.

    $ relay apply receipt.md
    # process <pid> was killed by SIGKILL, and its linter went with it
    # on disk now, but in no record: src/format.ts, changed, and src/receipt.ts, new

    $ relay recover
    ! an earlier run stopped in the middle of change-2: everything was put back
    # src/format.ts is as it was, src/receipt.ts is gone

    Next, in your own project:
      relay init              once; its prompt goes to your model
      relay watch             copy an answer, and it is in the project
      relay apply answer.md   the same from a file
      relay undo              takes the last change back; relay redo brings it back
      relay --help            the rest
    "#);
    assert_nothing_left(&project);
}

#[test]
fn the_tour_does_without_colour_and_in_ascii() {
    let project = Project::new(&[]);
    let ran = run(project.command(&["demo"]).env("LANG", "C"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)), "{}", ran.out);
    let sentences = ran.out.lines().filter(|line| line.starts_with("     ") || line.starts_with("# "));
    for line in sentences {
        assert!(line.len() <= 88, "{line:?}");
    }
}

#[test]
fn the_scratch_project_can_be_kept_with_its_key() {
    let project = Project::new(&[]);
    let ran = project.relay(&["demo", "--auto", "--keep"]);
    assert_eq!(ran.code, 0);
    let after = |start: &str| ran.out.lines().find_map(|line| line.split_once(start)).unwrap().1.to_string();
    let kept = PathBuf::from(after("the scratch project is in "));
    assert!(kept.join("src/cart.ts").exists());
    let home = after("RELAY_HOME=");
    relay_snapshot!(run(project.command(&["log", "-C", kept.to_str().unwrap()]).env("RELAY_HOME", &home)), @"
    exit 0
    ----- stdout -----
      1   change-1  now  undo  2 files  +1 −6  undoes: feat: round totals to cents
      2 ↩ 5d1c2f7e  now  file  2 files  +6 −1  feat: round totals to cents
      3   change-2  now  init  2 files  +25    relay: set the project up
    ");
    assert!(PathBuf::from(home).join("trust").exists());
    assert!(fs::read_dir(project.home()).unwrap().next().is_none());
}

#[test]
fn machines_get_the_steps_and_how_they_ended() {
    let project = Project::new(&[]);
    let ran = project.relay(&["demo", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let value = ran.json();
    assert_eq!((&value["ok"], &value["project"]), (&true.into(), &Value::Null));
    let steps = value["steps"].as_array().unwrap();
    let codes: Vec<_> = steps.iter().map(|step| step["code"].as_u64()).collect();
    assert_eq!(codes, [Some(0), Some(0), Some(0), Some(3), Some(5), Some(0), Some(0), None]);
    assert!(steps.iter().all(|step| step["ok"] == true && step["says"].is_string()), "{steps:?}");
    assert_eq!(steps[4]["command"], serde_json::json!(["apply", "logged.md", "-y"]));
    let recovered = &steps[7]["commands"][1];
    assert_eq!((&recovered["command"][0], &recovered["code"]), (&"recover".into(), &0.into()));
    assert!(recovered["said"].as_str().unwrap().contains("put back"), "{recovered}");
    assert_nothing_left(&project);
}

#[test]
fn a_step_that_goes_otherwise_ends_the_tour_with_a_failure() {
    let project = Project::new(&[]);
    // The linter cannot run there.
    let nowhere = |args: &[&str]| run(project.command(args).env("PATH", "/nonexistent"));
    let ran = nowhere(&["demo", "--auto"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    relay_snapshot!(ran.err, @"
    ✗ step 3 of the tour did not go as it says: `relay apply good.md` ended with code 5, not 0
      this should not happen: `relay doctor` says what works on this system and what does not
    ");
    assert!(!ran.out.contains("4/8"), "{}", ran.out);
    let ran = nowhere(&["demo", "--json"]);
    let value = ran.json();
    assert_eq!((ran.code, &value["ok"], &value["code"]), (1, &false.into(), &1.into()), "{value}");
    let steps = value["steps"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[2]["ok"]), (3, &false.into()), "{value}");
    assert_nothing_left(&project);
}

#[test]
fn a_signal_ends_the_tour_and_nothing_is_left() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let project = Project::new(&[]);
        let mut session = Session::start(&project, &["demo"], "");
        session.wait_for("Enter goes on");
        kill_process(session.pid(), signal).unwrap();
        let (code, seen) = session.end();
        assert_eq!(code, Some(130), "{signal:?}: {seen}");
        assert!(seen.contains("interrupted; the tour touched nothing of yours"), "{seen}");
        assert_nothing_left(&project);
    }
}

#[test]
fn a_signal_while_it_runs_by_itself_leaves_nothing() {
    for args in [["demo", "--auto"], ["demo", "--json"]] {
        let project = Project::new(&[]);
        let child = begin(&project, &args);
        wait_until("there is no scratch project", || scratch(&project).is_some());
        // The tour may be over before this comes, on a machine with much else to do.
        let _ = kill_process(Pid::from_child(&child), Signal::INT);
        let ran = end(child);
        assert!([0, 130].contains(&ran.code), "{ran:?}");
        if args[1] == "--json" {
            assert_eq!(ran.json()["code"], ran.code, "{ran:?}");
        }
        assert_nothing_left(&project);
    }
}

#[test]
fn a_signal_while_a_second_relay_runs_leaves_none_of_them() {
    let project = Project::new(&[]);
    let child = begin(&project, &["demo", "--auto"]);
    let halfway = || scratch(&project).is_some_and(|root| root.join("src/receipt.ts").exists());
    wait_until("the last step does not begin", halfway);
    // The tour may be over before this comes.
    let _ = kill_process(Pid::from_child(&child), Signal::TERM);
    let ran = end(child);
    assert!([0, 130].contains(&ran.code), "{ran:?}");
    assert_nothing_left(&project);
}

#[test]
fn a_tour_that_is_killed_leaves_no_process() {
    let project = Project::new(&[]);
    let mut child = begin(&project, &["demo", "--auto"]);
    let halfway = || scratch(&project).is_some_and(|root| root.join("src/receipt.ts").exists());
    wait_until("the last step does not begin", halfway);
    let _ = child.kill();
    child.wait().unwrap();
    assert_no_process(&project);
    assert!(fs::read_dir(project.home()).unwrap().next().is_none());
}

#[test]
fn at_a_terminal_a_key_goes_on_and_q_leaves() {
    let project = Project::new(&[]);
    let mut session = Session::start(&project, &["demo"], "   ");
    session.wait_for("1/8");
    session.wait_for("Enter goes on, q leaves");
    assert!(!session.seen().contains("2/8"), "what was typed before counts: {}", session.seen());
    session.type_in("\r");
    session.wait_for("2/8");
    session.wait_for("Enter goes on, q leaves");
    session.type_in("x");
    session.wait_for("3/8");
    session.wait_for("✓ applied 5d1c2f7e");
    session.wait_for("Enter goes on, q leaves");
    session.type_in("\x1b[200~pasted\n\x1b[201~");
    session.wait_for("Enter goes on, q leaves");
    session.type_in("q");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(!seen.contains("4/8"), "{seen}");
    assert_nothing_left(&project);
}

#[test]
fn at_a_terminal_the_whole_tour_asks_nothing_but_to_go_on() {
    let project = Project::new(&[]);
    let mut session = Session::start(&project, &["demo"], "");
    for step in 1..8 {
        session.wait_for(&format!("{step}/8"));
        session.wait_for("Enter goes on, q leaves");
        session.type_in("\r");
    }
    session.wait_for("everything was put back");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("relay watch"), "{seen}");
    assert!(!seen.contains("[y/N]"), "{seen}");
    assert_nothing_left(&project);
}

#[test]
fn an_interrupt_or_a_terminal_that_goes_leaves_nothing() {
    let project = Project::new(&[]);
    let mut session = Session::start(&project, &["demo"], "");
    session.wait_for("Enter goes on");
    session.type_in("\x03");
    let (code, seen) = session.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("interrupted"), "{seen}");
    assert_nothing_left(&project);
    let mut session = Session::start(&project, &["demo"], "");
    session.wait_for("Enter goes on");
    session.hang_up();
    assert_nothing_left(&project);
}

#[test]
fn the_tour_runs_at_twenty_columns() {
    let project = Project::new(&[]);
    let mut session = tour_at(&project, 20);
    session.wait_for("8/8");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
}

/// The tour by itself, on a terminal so wide.
fn tour_at(project: &Project, columns: usize) -> Session {
    let script = format!("stty rows 20 cols {columns}; exec \"$RELAY\" demo --auto");
    Session::start_program(project, "/bin/sh", &["-c", &script], "", &|command| {
        command.env("RELAY", env!("CARGO_BIN_EXE_relay"));
    })
}

#[test]
fn the_tour_fits_a_narrow_terminal() {
    let project = Project::new(&[]);
    let mut session = tour_at(&project, 40);
    session.wait_for("8/8");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    // What other commands print is laid out by them.
    let of_the_tour = |line: &&str| {
        line.contains("/8  ") || ["# ", "$ ", "     ", "…"].iter().any(|start| line.starts_with(start))
    };
    let lines: Vec<&str> = seen.lines().map(str::trim_end).filter(of_the_tour).collect();
    assert!(lines.len() > 40, "{seen}");
    for line in lines {
        assert!(line.chars().count() <= 40, "{line:?}");
    }
}
