//! Texts built to cost: whatever an answer says, it is planned or refused within bounds, and a signal ends it at once.
//! `cargo xtask bench --only costly` measures all of them in a release build, and searches for worse ones.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use relaycode_testkit::costly::{CostlyShape, FAMILIES, PEAK_MEMORY, PROCESSOR_TIME};
use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::scratch_project::Project;

/// A debug build is so many times slower.
const DEBUG: u32 = if cfg!(debug_assertions) { 8 } else { 1 };
/// From a signal to the end.
const STOP: Duration = Duration::from_millis(100);

fn shape(family: &str, hunks: usize, lines: usize) -> CostlyShape {
    let family = FAMILIES.iter().position(|(name, _)| *name == family).unwrap();
    CostlyShape { family, hunks, depth: 4, lines, width: 8, variety: 3 }
}

/// A project with the files that the text is about, and the text.
fn staged(shape: &CostlyShape) -> (Project, String) {
    let case = shape.case();
    let project = Project::new(&[]);
    for (path, bytes) in &case.files {
        project.put(path, bytes);
    }
    (project, case.response)
}

/// Processor time of all children so far.
fn spent() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(micros).unwrap())
}

fn previewed_within_bounds(shape: &CostlyShape) {
    runs_within_bounds(shape, &["preview", "-"], 1);
}

/// Within so many times the bounds.
fn runs_within_bounds(shape: &CostlyShape, args: &[&str], times: u32) {
    let (project, answer) = staged(shape);
    let before = spent();
    let ran = project.pipe(args, answer.as_bytes());
    let taken = spent().saturating_sub(before);
    assert!([0, 3].contains(&ran.code), "{}: {}", shape.name(), ran.err);
    assert!(taken < PROCESSOR_TIME * DEBUG * times, "{args:?} {}: {taken:?}", shape.name());
    let peak = u64::try_from(getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss()).unwrap() * 1024;
    assert!(peak < PEAK_MEMORY * u64::from(times), "{args:?} {}: {peak} bytes", shape.name());
}

#[test]
fn every_family_of_costly_texts_stays_within_its_bounds() {
    for (family, _) in FAMILIES {
        previewed_within_bounds(&shape(family, 300, 20_000));
    }
}

#[test]
fn the_worst_texts_that_are_known_stay_within_their_bounds() {
    for family in
        ["ambiguous after a creation", "ambiguous diff", "not found, similar words", "one letter differs"]
    {
        previewed_within_bounds(&CostlyShape {
            width: 1,
            depth: 1,
            variety: 2,
            ..shape(family, 1_990, 500_000)
        });
    }
}

/// An object holds the answer and every diff once more.
#[test]
fn an_object_takes_at_most_twice_as_much() {
    let shapes = ["wrong outer context", "the same search again and again"].map(|family| CostlyShape {
        depth: 200,
        width: 3,
        variety: 1_000,
        ..shape(family, 1_990, 8_000)
    });
    for shape in &shapes {
        runs_within_bounds(shape, &["preview", "-"], 1);
    }
    for shape in shapes.iter().chain([&shape("the whole file in another order", 300, 20_000)]) {
        runs_within_bounds(shape, &["preview", "-", "--json"], 2);
    }
}

#[test]
fn what_exceeds_the_work_is_refused_in_words_and_the_limit_can_be_raised() {
    let (project, answer) = staged(&CostlyShape { depth: 1, ..shape("ambiguous search", 4, 2_000) });
    let ran = project.pipe(&["preview", "-", "--limit", "work=5000"], answer.as_bytes());
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.err.contains("the limit `work`") && ran.err.contains("send fewer edits at a time"),
        "{}",
        ran.err
    );
    let ran = project.pipe(&["preview", "-", "--limit", "work=5M"], answer.as_bytes());
    assert!(ran.err.contains("could mean") || !ran.err.contains("`work`"), "{}", ran.err);
}

#[test]
fn the_answers_of_one_text_share_the_limit() {
    let lines: String = (0..2_000).map(|at| format!("line {at}\n")).collect();
    let project = Project::new(&[]);
    project.put("a.txt", lines.as_bytes());
    let answer = |at: usize| {
        let edit =
            format!("```txt // a.txt\n<<<<<<< SEARCH\nline {at}\n=======\nLINE {at}\n>>>>>>> REPLACE\n```\n");
        format!("{edit}\n```yaml\nprojectId: p\nuuid: 3f9c1e2a-5b77-4c1e-9a90-6a1f6f0b{at:04x}\n```\n\n")
    };
    let args = ["preview", "-", "--limit", "work=200000"];
    let one = project.pipe(&args, answer(1).replace("projectId: p\n", "").as_bytes());
    assert_eq!(one.code, 0, "{one:?}");
    let text: String = (1..60).map(answer).collect();
    let all = project.pipe(&args, text.replace("projectId: p\n", "").as_bytes());
    assert!(all.code == 3 && all.err.contains("the limit `work`"), "{all:?}");
}

/// Sends a signal after each of several moments, and expects the end soon after it.
fn stops_at_any_moment(args: &[&str], shape: &CostlyShape) {
    stops_with_end(args, shape, "");
}

/// The same, with `end` below the text.
fn stops_with_end(args: &[&str], shape: &CostlyShape, end: &str) {
    let (project, answer) = staged(shape);
    project.put("answer.md", (answer + end).as_bytes());
    let before = project.tree();
    let mut stopped = 0;
    for moment in [20, 60, 120, 250, 500, 900] {
        let err = project.home().join("err");
        let mut command = project.command(args);
        command.stdout(Stdio::null()).stderr(File::create(&err).unwrap());
        let mut child = command.spawn().unwrap();
        sleep(Duration::from_millis(moment));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let start = Instant::now();
        let status = child.wait().unwrap();
        let (taken, said) = (start.elapsed(), std::fs::read_to_string(err).unwrap());
        assert!(taken < STOP * DEBUG, "{args:?} after {moment} ms: {taken:?}");
        // It was done as the signal came.
        if status.success() && stopped > 1 {
            break;
        }
        // On a busy machine the signal may come before relay listens.
        if status.signal() == Some(Signal::INT.as_raw()) && said.is_empty() {
            continue;
        }
        assert_eq!(status.code(), Some(130), "{args:?} after {moment} ms: {said}");
        assert!(said.contains("interrupted") && said.contains("nothing was changed"), "{said}");
        stopped += 1;
    }
    assert!(stopped > 1, "{args:?} is over before it can be stopped");
    assert_eq!(project.tree(), before);
}

#[test]
fn ctrl_c_ends_a_preview_at_any_moment() {
    stops_at_any_moment(&["preview", "answer.md"], &shape("ambiguous diff", 1_990, 100_000));
    stops_at_any_moment(
        &["preview", "answer.md", "--json"],
        &shape("the whole file in another order", 100, 20_000),
    );
    stops_at_any_moment(&["apply", "answer.md", "--dry-run"], &shape("hostile source", 16, 10));
}

#[test]
fn ctrl_c_ends_the_planning_of_an_apply_at_any_moment() {
    stops_at_any_moment(&["apply", "answer.md", "-y"], &shape("not found, similar words", 1_990, 100_000));
    stops_at_any_moment(&["apply", "answer.md", "-y"], &shape("ambiguous diff", 1_990, 100_000));
    // What is not read at its end keeps it from being applied, and a signal from coming too late.
    let broken = "\n```txt // b.txt\nb\n";
    let shape = shape("the whole file in another order", 100, 100_000);
    stops_with_end(&["apply", "answer.md", "-y"], &shape, broken);
}
