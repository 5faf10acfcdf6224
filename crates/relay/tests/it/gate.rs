//! The project's own commands judge a change: what they let stay, what is put back, and what becomes of
//! what they change themselves. Through the real binary, with scripts as linters.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::fixture::keyed_project::{Scene, executable, processes_with};
use crate::fixture::scratch_project::{Ran, edit, whole};
use crate::relay_snapshot;

/// As `tsc` prints it: one error for every line of src/a.txt that says BAD.
const LINT: &str = r#"grep -n BAD src/a.txt | sed 's/^\([0-9]*\):\(.*\)/src\/a.txt(\1,5): error TS2322: \2/'
! grep -q BAD src/a.txt
"#;
const BEFORE: &str = "one\ntwo BAD old\nthree\nfour\n";

fn files() -> Vec<(&'static str, &'static str)> {
    vec![("src/a.txt", BEFORE), ("lint.sh", LINT)]
}

fn with(patch: &Value) -> Scene {
    Scene::trusted(&files(), patch)
}

/// With this as the script `step.sh`: a file that a command line names is guarded.
fn scripted(patch: &Value, script: &str) -> Scene {
    let scene = with(patch);
    scene.project.put("step.sh", script.as_bytes());
    scene
}

fn linted() -> Scene {
    with(&json!({"linter": "sh lint.sh", "approvalMode": "auto"}))
}

fn better() -> String {
    edit("src/a.txt", "two BAD old", "two")
}

fn worse() -> String {
    edit("src/a.txt", "four", "four BAD new")
}

/// Every flag is there, the gate said no, and the project is as it was.
fn assert_put_back(scene: &Scene, answer: &str) -> Ran {
    let before = scene.project.tree();
    let ran = scene.apply(answer, &["-y"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert_eq!(scene.project.tree(), before, "{}", ran.err);
    scene.assert_settled();
    assert_eq!(scene.project.log().len(), 0);
    ran
}

#[test]
fn auto_with_the_key_applies_by_itself_and_why_says_so() {
    let scene = linted();
    let (code, value) = scene.json(&(better() + &scene.keyed("fix: two")), &[]);
    assert_eq!(code, 0, "{value}");
    assert_eq!(value["decidedBy"], "policy");
    assert_eq!((&value["gate"]["errorsBefore"], &value["gate"]["errorsAfter"]), (&1.into(), &0.into()));
    assert_eq!(scene.text("src/a.txt"), BEFORE.replace(" BAD old", ""));
    relay_snapshot!(scene.relay(&["why", "1"]), @"
    exit 0
    ----- stdout -----
    change-1  from file  fix: two
      admit     by policy: trusted, with its key, and nothing to look at
      accept    by policy: 1 error before, 0 after
      gate      linter before: sh lint.sh ended with code 1
      gate      linter: sh lint.sh succeeded
      gate      errors: 1 before, 0 after, 0 new
      digest    <sha256>
    ");
}

#[test]
fn without_the_key_somebody_is_asked_even_in_auto() {
    let scene = linted();
    for control in ["", "\n```yaml\nprojectId: shop\n```\n", "\n```yaml\nprojectId: shop.abcdefghij\n```\n"] {
        let (code, value) = scene.json(&(better() + control), &[]);
        assert_eq!((code, &value["error"]["kind"]), (13, &"nobodyToAsk".into()), "{value}");
        assert_eq!(value["rules"][0]["rule"], "no-key", "{value}");
    }
    assert_eq!(scene.text("src/a.txt"), BEFORE);
}

#[test]
fn more_errors_than_before_are_put_back() {
    let scene = linted();
    relay_snapshot!(assert_put_back(&scene, &(worse() + &scene.keyed("worse"))), @"
    exit 5
    ----- stdout -----
    ▸ worse                                                                    1 file  +1 −1
        M  src/a.txt  +1 −1   1 exact
    ----- stderr -----
    ✗ not kept: sh lint.sh went from 1 to 2 errors                   everything was put back
        src/a.txt:4  four BAD new
      keep it anyway: `relay apply <home>/answer.md --allow gate`
    ");
    let (code, value) = scene.json(&worse(), &["-y"]);
    assert_eq!((code, &value["error"]["kind"]), (5, &"gate".into()));
    assert_eq!(value["gate"]["newErrors"][0]["message"], "four BAD new");
    assert_eq!(value["gate"]["newErrors"][0]["line"], 4);
}

#[test]
fn an_answer_by_policy_that_the_gate_refuses_is_put_back_when_nobody_can_be_asked() {
    let scene = linted();
    let ran = scene.apply(&(worse() + &scene.keyed("worse")), &[]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert_eq!(scene.text("src/a.txt"), BEFORE);
    scene.assert_settled();
}

#[test]
fn keep_is_asked_on_the_terminal_and_a_yes_keeps() {
    let scene = linted();
    let mut session = scene.session(&(worse() + &scene.keyed("worse")), &[]);
    session.wait_for("went from 1 to 2 errors");
    session.wait_for("on disk, not kept yet");
    session.wait_for("keep? [y/N]");
    assert!(scene.text("src/a.txt").contains("four BAD new"), "it is on disk while it is asked about");
    session.type_in("w\n");
    session.wait_for("gate");
    session.wait_for("keep? [y/N]");
    session.type_in("o\n");
    session.wait_for("error TS2322: four BAD new");
    session.wait_for("keep? [y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(scene.text("src/a.txt").contains("four BAD new"));
    relay_snapshot!(scene.relay(&["why", "1"]), @"
    exit 0
    ----- stdout -----
    change-1  from file  worse
      admit     by policy: trusted, with its key, and nothing to look at
      accept    by terminal: sh lint.sh went from 1 to 2 errors
      gate      linter before: sh lint.sh ended with code 1
      gate      linter: sh lint.sh ended with code 1
      gate      errors: 1 before, 2 after, 1 new
      digest    <sha256>
    ");
}

#[test]
fn a_no_and_an_interrupt_at_keep_put_everything_back() {
    for (typed, wanted, says) in [
        ("n\n", 4, "not kept"),
        ("\n", 4, "not kept"),
        ("n because of the tests\n", 4, "of the tests"),
        ("\x03", 130, "interrupted"),
    ] {
        let scene = linted();
        let before = scene.project.tree();
        let mut session = scene.session(&(worse() + &scene.keyed("worse")), &[]);
        session.wait_for("keep? [y/N]");
        session.type_in(typed);
        let (code, seen) = session.end();
        assert_eq!(code, Some(wanted), "{typed:?}: {seen}");
        assert!(seen.contains(says) && seen.contains("everything was put back"), "{typed:?}: {seen}");
        assert_eq!(scene.project.tree(), before);
        scene.assert_settled();
    }
}

#[test]
fn allow_gate_keeps_what_the_gate_refuses() {
    let scene = linted();
    let (code, value) = scene.json(&worse(), &["-y", "--allow", "gate"]);
    assert_eq!(code, 0, "{value}");
    assert!(scene.text("src/a.txt").contains("four BAD new"));
    relay_snapshot!(scene.relay(&["why", "1"]), @"
    exit 0
    ----- stdout -----
    change-1  from file
      admit     by -y: the answer does not carry this project's key: anybody could have written it
      accept    by --allow gate: sh lint.sh went from 1 to 2 errors
      gate      linter before: sh lint.sh ended with code 1
      gate      linter: sh lint.sh ended with code 1
      gate      errors: 1 before, 2 after, 1 new
      digest    <sha256>
    ");
}

#[test]
fn the_same_number_of_errors_is_kept_and_the_new_one_is_counted() {
    let scene = linted();
    let answer = better() + &worse() + &scene.keyed("swap");
    let (code, value) = scene.json(&answer, &[]);
    assert_eq!(code, 0, "errors after are not more than before: {value}");
    let gate = &value["gate"];
    assert_eq!(
        (&gate["errorsBefore"], &gate["errorsAfter"], &gate["newCount"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!(gate["newErrors"][0]["message"], "four BAD new");
    let mut record =
        fs::read_dir(scene.project.path(".relaycode")).unwrap().flatten().map(|entry| entry.path());
    let record = record.find(|path| path.extension().is_some_and(|end| end == "yml")).unwrap();
    assert!(fs::read_to_string(record).unwrap().contains("1 before, 1 after, 1 new"));
}

#[test]
fn approval_on_error_count_allows_that_many() {
    let patch = json!({"linter": "sh lint.sh", "approvalMode": "auto", "approvalOnErrorCount": 2});
    let scene = with(&patch);
    let (code, value) = scene.json(&(worse() + &scene.keyed("worse")), &[]);
    assert_eq!((code, &value["decidedBy"]), (0, &"policy".into()), "{value}");
    let more = edit("src/a.txt", "three", "three BAD");
    assert_eq!(scene.apply(&more, &["-y"]).code, 5, "three are more than two");
    assert!(!scene.text("src/a.txt").contains("three BAD"));
}

/// A linter that is well at first and then does this, once the change is in.
fn turning(then: &str) -> String {
    format!("grep -q CHANGED src/a.txt || exit 0\n{then}\n")
}

fn change() -> String {
    edit("src/a.txt", "four", "four CHANGED")
}

#[test]
fn a_linter_that_cannot_judge_lets_nothing_stay() {
    for (linter, says) in [
        (turning("exec no-such-program-at-all"), "127"),
        (turning("kill -9 $$"), "137"),
        (turning("exec ./cannot"), "ended with code 126"),
        (turning("exit 3"), "went from 0 to 1 error"),
    ] {
        let scene = scripted(&json!({"linter": "sh step.sh"}), &linter);
        scene.project.put("cannot", b"\x7fELF no program\n");
        let ran = assert_put_back(&scene, &change());
        assert!(
            ran.err.contains("not kept") && ran.err.contains(says),
            "{says:?} is missing in\n{}",
            ran.err
        );
    }
}

#[test]
fn a_linter_that_cannot_run_at_all_lets_nothing_begin() {
    for (linter, says) in [
        ("no-such-program-at-all", "linter `no-such-program-at-all` not found in PATH"),
        ("kill -9 $$", "was ended by signal 9"),
        ("./missing.sh", "failed: command not found"),
    ] {
        let scene = with(&json!({"linter": linter}));
        let before = scene.project.tree();
        let ran = scene.apply(&change(), &["-y"]);
        assert_eq!(ran.code, 5, "{linter}: {ran:?}");
        assert!(ran.err.contains(says) && ran.err.contains("nothing was changed"), "{linter}: {}", ran.err);
        assert_eq!(scene.project.tree(), before);
        assert!(!scene.project.path(".relaycode").exists(), "nothing was begun");
    }
}

#[test]
fn allow_gate_keeps_a_change_that_no_linter_could_judge() {
    let scene = with(&json!({"linter": "no-such-program-at-all"}));
    let ran = scene.apply(&change(), &["-y", "--allow", "gate"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(scene.text("src/a.txt").contains("CHANGED"));
}

#[test]
fn a_linter_that_hangs_is_ended_with_all_it_started() {
    let linter = turning("sleep 600 & sleep 600");
    let scene = scripted(&json!({"linter": "sh step.sh", "commandTimeout": 1}), &linter);
    relay_snapshot!(assert_put_back(&scene, &change()), @"
    exit 5
    ----- stdout -----
    ▸ <home>/answer.md  1 file  +1 −1
        M  src/a.txt  +1 −1   1 exact
    ----- stderr -----
    ✗ not kept: sh step.sh took too long and was ended               everything was put back
      keep it anyway: `relay apply <home>/answer.md --allow gate`
    ");
    assert_eq!(processes_with(scene.project.home().to_str().unwrap()), [] as [u32; 0]);
}

#[test]
fn a_linter_that_prints_without_end_takes_no_memory() {
    let peak = "
pid=$$
while [ $pid -gt 1 ]; do
    [ \"$(cat /proc/$pid/comm)\" != relay ] || grep VmHWM /proc/$pid/status >> peak
    pid=$(sed 's/.*) //' /proc/$pid/stat | cut -d' ' -f2)
done
";
    // Kilobytes that relay had at most with a linter that prints so many bytes. The program itself is in it.
    let with = |bytes: usize| {
        let print = format!("yes 'src/a.txt(1,1): warning: nothing of interest' | head -c {bytes}");
        let scene = scripted(&json!({"linter": "sh step.sh"}), &(print + peak));
        let ran = scene.apply(&change(), &["-y"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let peak = scene.text("peak");
        peak.split_whitespace().filter_map(|word| word.parse::<u64>().ok()).max().unwrap()
    };
    // Without optimisation its lines are read slowly; much more than may be needed comes either way.
    let much = if cfg!(debug_assertions) { 30_000_000 } else { 300_000_000 };
    let (little, much) = (with(1_000), with(much));
    assert!(little > 1_000 && much < little + 5_000, "{little} kB, and with much output {much} kB");
}

#[test]
fn a_pre_command_that_fails_leaves_everything_as_it_is() {
    let scene = with(&json!({"preCommand": "echo not today >&2; exit 7", "linter": "sh lint.sh"}));
    let before = scene.project.tree();
    relay_snapshot!(scene.apply(&change(), &["-y"]), @"
    exit 5
    ----- stdout -----
    ▸ <home>/answer.md  1 file  +1 −1
        M  src/a.txt  +1 −1   1 exact
    ----- stderr -----
        not today
    ✗ not applied: preCommand `echo not today >&2; exit 7` ended with code 7; nothing was changed
      fix what it reports, or change the command in the configuration
    ");
    assert_eq!(scene.project.tree(), before);
    assert!(!scene.project.path(".relaycode").exists());
    let (code, value) = scene.json(&change(), &["-y", "--allow", "gate"]);
    assert_eq!(
        (code, &value["step"]["step"]),
        (5, &"preCommand".into()),
        "nothing covers a preCommand: {value}"
    );
}

#[test]
fn what_a_pre_command_changes_is_the_before_and_stays() {
    let scene = scripted(
        &json!({"preCommand": "sh step.sh", "linter": "sh lint.sh", "approvalMode": "auto"}),
        "sed -i s/one/1/ src/a.txt",
    );
    relay_snapshot!(scene.apply(&(change() + &scene.keyed("both")), &[]), @"
    exit 0
    ----- stdout -----
    ▸ both                                                                     1 file  +1 −1
        M  src/a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · checked in <duration>, 1 → 1 error · `relay undo` undoes it
    ----- stderr -----
    ! src/a.txt changed meanwhile: planned again
    ");
    let both = BEFORE.replace("one", "1").replace("four", "four CHANGED");
    assert_eq!(scene.text("src/a.txt"), both);
    assert_eq!(scene.relay(&["revert"]).code, 0);
    assert_eq!(scene.text("src/a.txt"), BEFORE.replace("one", "1"), "it is no part of the change");
}

#[test]
fn an_answer_that_no_longer_fits_after_the_pre_command_is_refused() {
    for command in ["sed -i s/four/4/ src/a.txt", "rm src/a.txt"] {
        let scene = scripted(&json!({"preCommand": "sh step.sh"}), command);
        let ran = scene.apply(&change(), &["-y"]);
        assert_eq!(ran.code, 3, "{command}: {ran:?}");
        assert!(!scene.project.path(".relaycode/tx").exists(), "nothing was begun");
        let there = scene.project.path("src/a.txt").exists();
        assert_eq!(there, command.starts_with("sed"), "what the command did stays");
        if there {
            assert_eq!(scene.text("src/a.txt"), BEFORE.replace("four", "4"));
        }
    }
}

#[test]
fn a_whole_file_that_the_pre_command_deleted_is_made_again() {
    let scene = scripted(&json!({"preCommand": "sh step.sh"}), "rm src/a.txt");
    let ran = scene.apply(&whole("src/a.txt", "new\n"), &["-y"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(scene.text("src/a.txt"), "new\n");
    assert_eq!(scene.relay(&["revert"]).code, 0);
    assert!(!scene.project.path("src/a.txt").exists(), "as the command had left it");
}

#[test]
fn a_plan_that_the_pre_command_changed_needs_a_new_yes_of_the_person_who_saw_the_old_one() {
    let scene =
        scripted(&json!({"preCommand": "sh step.sh", "approvalMode": "manual"}), "sed -i s/one/1/ src/a.txt");
    let mut session = scene.session(&change(), &[]);
    session.wait_for("apply? [y/N]");
    session.type_in("y\n");
    session.wait_for("src/a.txt changed meanwhile: planned again");
    session.wait_for("apply? [y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(scene.text("src/a.txt"), BEFORE.replace("one", "1").replace("four", "four CHANGED"));
}

#[test]
fn what_a_formatter_makes_of_it_is_recorded_and_goes_with_a_revert() {
    let scene = scripted(
        &json!({"postCommand": "sh step.sh", "linter": "sh lint.sh", "approvalMode": "auto"}),
        "sed -i 's/$/;/' src/a.txt new.txt",
    );
    let answer = change() + &whole("new.txt", "new\n") + &scene.keyed("fmt");
    let (code, value) = scene.json(&answer, &[]);
    assert_eq!(code, 0, "{value}");
    let mut formatted: Vec<&str> =
        value["gate"]["reformatted"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    formatted.sort_unstable();
    assert_eq!(formatted, ["new.txt", "src/a.txt"]);
    assert!(scene.text("src/a.txt").contains("four CHANGED;"));
    assert_eq!(scene.text("new.txt"), "new;\n");
    // The record has what is on disk.
    relay_snapshot!(scene.relay(&["show", "1", "--diff"]), @"
    exit 0
    ----- stdout -----
    change-1  fmt                                                             2 files  +5 −4
        M  src/a.txt  +4 −4
        A  new.txt    +1
      id         change-1-…
      when       <time>, now
      from       file
      yes by     policy
      checks     linter before: sh lint.sh ended with code 1
      checks     postCommand: sh step.sh succeeded
      checks     linter: sh lint.sh ended with code 1
      checks     errors: 1 before, 1 after, 1 new
      checks     changed by the commands: src/a.txt, new.txt

    --- a/src/a.txt
    +++ b/src/a.txt
    @@ -1,4 +1,4 @@
    -one
    -two BAD old
    -three
    -four
    +one;
    +two BAD old;
    +three;
    +four CHANGED;

    --- /dev/null
    +++ b/new.txt
    @@ -0,0 +1,1 @@
    +new;
    ");
    let ran = scene.relay(&["revert"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(scene.text("src/a.txt"), BEFORE);
    assert!(!scene.project.path("new.txt").exists());
}

#[test]
fn a_formatter_before_a_linter_that_says_no_leaves_nothing_behind() {
    let scene = scripted(
        &json!({"postCommand": "sh step.sh", "linter": "sh lint.sh"}),
        "sed -i 's/$/;/' src/a.txt new.txt",
    );
    relay_snapshot!(assert_put_back(&scene, &(worse() + &whole("new.txt", "new\n"))), @"
    exit 5
    ----- stdout -----
    ▸ <home>/answer.md  2 files  +2 −1
        M  src/a.txt  +1 −1   1 exact
        A  new.txt    +1
    ----- stderr -----
    ✗ not kept: sh lint.sh went from 1 to 2 errors                   everything was put back
        src/a.txt:2  two BAD old;
        src/a.txt:4  four BAD new;
      keep it anyway: `relay apply <home>/answer.md --allow gate`
    ");
}

#[test]
fn a_post_command_that_fails_is_put_back_and_the_linter_does_not_judge_it() {
    let scene = scripted(
        &json!({"postCommand": "sh step.sh", "linter": "test ! -e ran || touch twice; touch ran"}),
        "sed -i 's/$/;/' src/a.txt; echo half done; exit 9",
    );
    let ran = scene.apply(&change(), &["-y"]);
    relay_snapshot!(ran, @"
    exit 5
    ----- stdout -----
    ▸ <home>/answer.md  1 file  +1 −1
        M  src/a.txt  +1 −1   1 exact
    ----- stderr -----
    ✗ not kept: sh step.sh ended with code 9                         everything was put back
        half done
      keep it anyway: `relay apply <home>/answer.md --allow gate`
    ");
    assert_eq!(scene.text("src/a.txt"), BEFORE);
    assert!(!scene.project.path("twice").exists(), "the linter ran for its baseline only");
    scene.assert_settled();
}

#[test]
fn a_post_command_that_deletes_a_file_of_the_change_can_be_kept_and_taken_back() {
    let scene = scripted(&json!({"postCommand": "sh step.sh"}), "rm src/a.txt new.txt");
    let ran = scene.apply(&(change() + &whole("new.txt", "new\n")), &["-y"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!scene.project.path("src/a.txt").exists());
    let ran = scene.relay(&["revert"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(scene.text("src/a.txt"), BEFORE);
    assert!(!scene.project.path("new.txt").exists());
    let scene = scripted(&json!({"postCommand": "sh step.sh"}), "rm src/a.txt new.txt; exit 1");
    relay_snapshot!(assert_put_back(&scene, &(change() + &whole("new.txt", "new\n"))), @"
    exit 5
    ----- stdout -----
    ▸ <home>/answer.md  2 files  +2 −1
        M  src/a.txt  +1 −1   1 exact
        A  new.txt    +1
    ----- stderr -----
    ✗ not kept: sh step.sh ended with code 1                         everything was put back
      keep it anyway: `relay apply <home>/answer.md --allow gate`
    ");
}

#[test]
fn a_post_command_that_puts_a_link_in_the_place_of_a_file_is_never_followed() {
    for end in ["", "; exit 1"] {
        let scene = scripted(
            &json!({"postCommand": "sh step.sh"}),
            &format!("rm src/a.txt; ln -s \"$RELAY_HOME/secret\" src/a.txt{end}"),
        );
        let secret = scene.project.home().join("secret");
        fs::write(&secret, "secret\n").unwrap();
        let ran = scene.apply(&change(), &["-y"]);
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret\n", "{ran:?}");
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.err.contains("everything was put back"), "{}", ran.err);
        assert_eq!(scene.text("src/a.txt"), BEFORE);
        assert!(!scene.project.path("src/a.txt").is_symlink());
        scene.assert_settled();
        let records: String = scene.relay(&["show", "--json"]).out;
        assert!(!records.contains("secret\\n"), "{records}");
    }
}

#[test]
fn a_gate_that_writes_into_relays_own_directory_breaks_nothing() {
    for (command, ends) in [
        ("mkdir -p .relaycode/blobs && echo x > .relaycode/junk && echo x > .relaycode/blobs/junk", true),
        ("mkdir -p .relaycode && echo '{}' > .relaycode/0f8fad5b-d9cb-469f-a165-70867728950e.yml", true),
        ("rm -rf .relaycode/index .relaycode/seen", true),
        ("rm -rf .relaycode/tx", false),
        ("rm -rf .relaycode", false),
    ] {
        let scene = with(&json!({"linter": command}));
        let ran = scene.apply(&change(), &["-y"]);
        let text = scene.text("src/a.txt");
        if ends {
            assert_eq!(ran.code, 0, "{command}: {ran:?}");
            assert!(text.contains("CHANGED"), "{command}");
            assert_eq!(scene.relay(&["revert"]).code, 0, "{command}");
            assert_eq!(scene.text("src/a.txt"), BEFORE, "{command}");
        } else {
            // What was taken away cannot be promised any more, but it is said, and no file is half.
            assert!(text == BEFORE || text.contains("four CHANGED\n"), "{command}: {text}");
            assert!(ran.code == 0 || !ran.err.is_empty(), "{command}: {ran:?}");
            assert_ne!(scene.relay(&["log"]).code, 101, "{command}");
        }
    }
}

#[test]
fn a_script_that_may_not_be_executed_is_no_linter() {
    let scene = with(&json!({"linter": "./lint"}));
    scene.project.put("lint", b"#!/bin/sh\nexit 0\n");
    fs::set_permissions(scene.project.path("lint"), fs::Permissions::from_mode(0o644)).unwrap();
    let ran = scene.apply(&change(), &["-y"]);
    assert_eq!(ran.code, 5, "a linter that cannot run says nothing good: {ran:?}");
    assert_eq!(scene.text("src/a.txt"), BEFORE);
    executable(&scene.project.path("lint"));
    assert_eq!(scene.apply(&change(), &["-y"]).code, 0);
}
