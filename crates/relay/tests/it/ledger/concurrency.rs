//! Several processes at once, and processes that are told to stop: whatever the moment, every file is
//! wholly as before or wholly as after, and what relay says of it is true.

use std::process::{Child, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::scratch_project::{Project, Ran, control, edit, run, whole};

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// Runs `relay` once for each list of arguments, all at the same time.
fn at_once(project: &Project, all: &[Vec<String>]) -> Vec<Ran> {
    thread::scope(|scope| {
        let started: Vec<_> = all
            .iter()
            .map(|args| {
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let mut command = project.command(&args);
                scope.spawn(move || run(&mut command))
            })
            .collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn apply(answer: &str) -> Vec<String> {
    ["apply", answer, "-y"].map(str::to_string).into()
}

#[test]
fn eight_at_once_with_files_of_their_own_all_succeed() {
    let project = Project::new(&[("shared.txt", "x\n")]);
    let mut all = Vec::new();
    for n in 0..8 {
        project.put(&format!("{n}.txt"), b"old\n");
        let answer = edit(&format!("{n}.txt"), "old", "new") + &whole(&format!("dir/{n}.txt"), "made\n");
        project.put(&format!("{n}.md"), answer.as_bytes());
        all.push(apply(&format!("{n}.md")));
    }
    for ran in at_once(&project, &all) {
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    }
    for n in 0..8 {
        assert_eq!(project.text(&format!("{n}.txt")), "new\n");
        assert_eq!(project.text(&format!("dir/{n}.txt")), "made\n");
    }
    assert_eq!(project.log().len(), 8);
    let mut numbers = Vec::new();
    for entry in project.log() {
        let text = project.text(&format!(".relaycode/{}.yml", entry["id"].as_str().unwrap()));
        numbers.extend(text.lines().find_map(|line| line.strip_prefix("number: ")?.parse::<u64>().ok()));
    }
    assert_eq!(numbers, (1..=8).rev().collect::<Vec<_>>());
    for _ in 0..8 {
        // The entry that is not a revert and not reverted comes nearer with each one.
        let open = project.log().into_iter().find(|e| e["origin"] == "file" && e["undone"] == false).unwrap();
        project.done(&["revert", open["id"].as_str().unwrap()]);
    }
    for n in 0..8 {
        assert_eq!(project.text(&format!("{n}.txt")), "old\n");
    }
    assert!(!project.path("dir").exists());
}

#[test]
fn of_eight_at_once_with_the_same_files_one_wins() {
    let project = Project::new(&[("a.txt", "old\n"), ("b.txt", "old\n")]);
    let mut all = Vec::new();
    for n in 0..8 {
        let answer = edit("a.txt", "old", &format!("new {n}")) + &edit("b.txt", "old", &format!("new {n}"));
        project.put(&format!("{n}.md"), answer.as_bytes());
        all.push(apply(&format!("{n}.md")));
    }
    let rans = at_once(&project, &all);
    let won: Vec<usize> = (0..8).filter(|n| rans[*n].code == 0).collect();
    let [winner] = won.as_slice() else { panic!("{rans:?}") };
    for ran in rans.iter().filter(|ran| ran.code != 0) {
        assert!([3, 6].contains(&ran.code), "{ran:?}");
        let said = ["nothing was changed", "everything was put back"];
        assert!(said.iter().any(|said| ran.err.contains(said)), "{ran:?}");
    }
    for path in ["a.txt", "b.txt"] {
        assert_eq!(project.text(path), format!("new {winner}\n"));
    }
    assert_eq!(project.log().len(), 1);
    project.done(&["recover"]);
}

#[test]
fn the_same_answer_at_once_is_applied_once() {
    let project = Project::new(&[("a.txt", "old\n")]);
    project.put("a.md", (edit("a.txt", "old", "new") + &control(UUID, "once")).as_bytes());
    let rans = at_once(&project, &vec![apply("a.md"); 6]);
    assert_eq!(rans.iter().filter(|ran| ran.code == 0 && ran.out.contains("applied")).count(), 1, "{rans:?}");
    for ran in rans {
        // One that comes later finds everything in already, or the id taken; one that looks between the file and the
        // record cannot know that the new text is its own, and has nobody to ask.
        assert!([0, 3, 6, 8, 13].contains(&ran.code), "{ran:?}");
    }
    assert_eq!((project.text("a.txt").as_str(), project.log().len()), ("new\n", 1));
}

#[test]
fn a_revert_and_an_apply_at_once() {
    for _ in 0..3 {
        let project = Project::new(&[("a.txt", "old\n"), ("b.txt", "old\n")]);
        let first = project.applied(&(edit("a.txt", "old", "new") + &edit("b.txt", "old", "new")));
        project.put("a.md", (edit("a.txt", "new", "newer") + &edit("b.txt", "new", "newer")).as_bytes());
        project.put("c.md", whole("c.txt", "c\n").as_bytes());
        let revert = ["revert", &first, "-y"].map(str::to_string).into();
        let rans = at_once(&project, &[apply("a.md"), revert, apply("c.md")]);
        assert_eq!(rans[2].code, 0, "{rans:?}");
        let texts = [project.text("a.txt"), project.text("b.txt")];
        assert_eq!(texts[0], texts[1], "{rans:?}");
        match (rans[0].code, rans[1].code) {
            (0, 3 | 6) => assert_eq!(texts[0], "newer\n", "{rans:?}"),
            (3 | 6, 0) => assert_eq!(texts[0], "old\n", "{rans:?}"),
            _ => panic!("{rans:?}"),
        }
        assert_eq!(project.done(&["recover"]), "✓ nothing to recover: no run stopped in the middle\n");
    }
}

const FILES: usize = 40;

fn many() -> Project {
    let project = Project::new(&[]);
    let mut answer = String::new();
    for n in 0..FILES {
        project.put(&format!("old/{n}.txt"), b"old\n");
        answer += &edit(&format!("old/{n}.txt"), "old", "new");
        answer += &whole(&format!("new/{n}.txt"), "made\n");
    }
    project.put("a.md", answer.as_bytes());
    project
}

fn start(project: &Project) -> Child {
    let mut command = project.command(&["apply", "a.md", "-y", "-q"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until `there` says yes or the process has ended.
fn wait_until(child: &mut Child, there: impl Fn() -> bool) {
    while child.try_wait().unwrap().is_none() && !there() {
        thread::yield_now();
    }
}

#[test]
fn a_signal_at_any_moment_leaves_all_or_nothing_and_says_which() {
    let mut ends = Vec::new();
    for round in 0..24_usize {
        let signal = if round % 2 == 0 { Signal::INT } else { Signal::TERM };
        let project = many();
        let before = project.tree();
        let mut child = start(&project);
        // As soon as the transaction has begun; a signal before that simply ends the process.
        let marks = [".relaycode/tx", "new", "new/1.txt", "new/39.txt"];
        let mark = project.path(marks[round % 4]);
        wait_until(&mut child, || mark.exists());
        for _ in 0..round * 400 {
            std::hint::spin_loop();
        }
        let _ = kill_process(Pid::from_child(&child), signal);
        let output = child.wait_with_output().unwrap();
        let ran = Ran::from(output);
        ends.push(ran.code);
        match ran.code {
            0 => {
                for n in 0..FILES {
                    assert_eq!(project.text(&format!("old/{n}.txt")), "new\n", "round {round}: {ran:?}");
                    assert_eq!(project.text(&format!("new/{n}.txt")), "made\n", "round {round}: {ran:?}");
                }
                assert_eq!(project.log().len(), 1, "round {round}");
            }
            130 => {
                let said = ["everything was put back", "nothing was changed"];
                assert!(said.iter().any(|said| ran.err.contains(said)), "round {round}: {ran:?}");
                assert_eq!(project.tree(), before, "round {round}");
                assert_eq!(project.log().len(), 0, "round {round}");
            }
            _ => panic!("round {round}: {ran:?}"),
        }
        assert_eq!(project.done(&["recover"]), "✓ nothing to recover: no run stopped in the middle\n");
    }
    assert!(ends.contains(&130), "no signal came in the middle: {ends:?}");
}

#[test]
fn killed_at_any_moment_the_next_command_makes_it_whole() {
    for round in 0..12_usize {
        let project = many();
        let before = project.tree();
        let mut child = start(&project);
        let marks = [".relaycode", "new", "new/20.txt"];
        let mark = project.path(marks[round % 3]);
        wait_until(&mut child, || mark.exists());
        for _ in 0..round * 1_000 {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let ran = project.relay(&["recover"]);
        assert_eq!(ran.code, 0, "round {round}: {ran:?}");
        let committed = project.log().len();
        if committed == 0 {
            assert_eq!(project.tree(), before, "round {round}");
            // The same answer goes through afterwards.
            assert_eq!(project.relay(&["apply", "a.md", "-y"]).code, 0);
        }
        for n in 0..FILES {
            assert_eq!(project.text(&format!("old/{n}.txt")), "new\n", "round {round}");
        }
        project.done(&["revert"]);
        assert_eq!(project.tree(), before, "round {round}");
    }
}
