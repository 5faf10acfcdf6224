//! Commands in the background.

use relaycode_testkit::model::ScriptedTurn;
use serde_json::{Value, json};

use super::{ShellRun, command, is_running};

/// A model that runs a command in the background and then these turns.
fn in_background(line: &str, turns: impl IntoIterator<Item = ScriptedTurn>) -> ShellRun {
    let begin = ScriptedTurn::call("bash", json!({"command": line, "async": true}));
    ShellRun::turns([begin].into_iter().chain(turns))
}

fn job(arguments: Value) -> ScriptedTurn {
    ScriptedTurn::call("job", arguments)
}

#[test]
fn a_job_is_waited_for_and_what_it_changed_is_undone_with_the_prompt() {
    let run = in_background(
        "while [ ! -e go ]; do sleep 0.02; done; echo job > by-job.txt; echo said",
        [
            ScriptedTurn::call("write", json!({"path": "edited.txt", "content": "edited\n"})),
            ScriptedTurn::call("bash", command("echo fore > by-command.txt; touch go")),
            job(json!({"poll": "bash-1"})),
            ScriptedTurn::call("bash", command("rm go; ls")),
        ],
    );
    let before = run.project.tree();
    run.run(&[]);
    let results = run.results();
    assert_eq!(
        results[0],
        "Background job bash-1 started. Its end will be told; `job` shows, waits for or cancels it."
    );
    assert!(results[3].starts_with("## Completed (1)\n### bash-1: completed, "), "{results:?}");
    assert!(results[3].ends_with("\nsaid"), "{results:?}");
    assert_eq!(results[4], "a.txt\nby-command.txt\nby-job.txt\nedited.txt");
    let log = run.project.log();
    assert_eq!(log.len(), 1, "{log:?}");
    run.project.done(&["undo"]);
    assert_eq!(run.project.tree(), before);
}

#[test]
fn the_end_of_a_job_that_nobody_waits_for_is_told() {
    let run = in_background(
        "while [ ! -e go ]; do sleep 0.02; done; echo the end; exit 3",
        [
            // The command goes on until the job is gone, so that the end of the job is there when it ends.
            ScriptedTurn::call("bash", command("touch go; while [ -e go ]; do rm -f go; sleep 0.5; done")),
            ScriptedTurn::text("I am waiting."),
        ],
    );
    let ran = run.project.relay(&["run", "Go"]);
    let told =
        run.server.requests().iter().any(|request| {
            request.body.to_string().contains("(relay: the background job bash-1 ended: failed.")
        });
    // Whether it ends before the model is done is in nobody's hand: the model is told, or the user.
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_ne!(told, ran.err.contains("ended with the run: while"), "{ran:?}");
}

#[test]
fn jobs_are_listed_cancelled_and_ended_with_the_run() {
    let run = in_background(
        "sleep 887021",
        [
            ScriptedTurn::call("bash", json!({"command": "sleep 887022", "async": true})),
            job(json!({"list": true})),
            job(json!({"list": true, "poll": ["bash-1"]})),
            job(json!({"poll": ["nothing"]})),
            job(json!({"cancel": ["bash-1", "nothing"]})),
            job(json!({"cancel": "bash-1"})),
            job(json!({"poll": ["bash-2"], "cancel": ["bash-1"]})),
        ],
    )
    .configure("agent: {asyncPollWaitDuration: 5s}\n");
    let ran = run.run(&[]);
    let results = run.results();
    assert!(results[2].starts_with("## Still Running (2)\n- bash-1: running"), "{results:?}");
    assert!(results[3].contains("`list` goes neither with `poll` nor with `cancel`"), "{results:?}");
    assert_eq!(results[4], "No matching jobs found for IDs: nothing");
    assert!(
        results[5].starts_with("## Cancelled (2)\n- bash-1: cancelled\n- nothing: not_found"),
        "{results:?}"
    );
    assert!(results[6].contains("bash-1: already_completed"), "{results:?}");
    assert!(results[7].contains("## Still Running (1)\n- bash-2"), "{results:?}");
    assert!(ran.err.contains("ended with the run: sleep 887022 (bash-2)"), "{ran:?}");
    assert!(!is_running("887021") && !is_running("887022"));
}

#[test]
fn jobs_have_a_limit_and_can_be_switched_off() {
    let run = in_background(
        "sleep 887031",
        [ScriptedTurn::call("bash", json!({"command": "sleep 887032", "async": true}))],
    )
    .configure("agent: {asyncMaxJobs: 1}\n");
    run.run(&[]);
    assert!(
        run.results()[1].contains("1 commands run in the background already, which is the limit"),
        "{:?}",
        run.results()
    );
    let run = in_background("sleep 887033", [job(json!({}))]).configure("agent: {asyncEnabled: false}\n");
    run.run(&[]);
    let results = run.results();
    assert!(results[0].contains("commands in the background are switched off"), "{results:?}");
    assert!(results[1].contains("there is no tool `job`"), "{results:?}");
}

#[test]
fn a_command_that_takes_long_goes_on_in_the_background_where_that_is_set() {
    let run = ShellRun::turns([
        ScriptedTurn::call(
            "bash",
            command("echo x > made.txt; while [ ! -e go ]; do sleep 0.02; done; echo over"),
        ),
        ScriptedTurn::call("bash", command("touch go")),
        job(json!({"poll": ["bash-1"]})),
    ])
    .configure("agent: {bashAutoBackground: true, bashBackgroundAfter: 1000}\n");
    let before = run.project.tree();
    run.run(&[]);
    let results = run.results();
    assert!(results[0].starts_with("Background job bash-1 started"), "{results:?}");
    assert!(results[2].contains("bash-1: completed") && results[2].ends_with("over"), "{results:?}");
    run.project.done(&["undo"]);
    assert_eq!(run.project.tree(), before);
}

#[test]
fn a_rewind_waits_for_jobs_so_that_nothing_is_taken_back_twice() {
    let run = ShellRun::turns([
        ScriptedTurn::call("checkpoint", json!({"goal": "Try it"})),
        ScriptedTurn::call("write", json!({"path": "a.txt", "content": "three\n"})),
        ScriptedTurn::call(
            "bash",
            json!({"command": "while [ ! -e go ]; do sleep 0.02; done; echo job > by-job.txt; rm go", "async": true}),
        ),
        ScriptedTurn::call("rewind", json!({"report": "No."})),
        ScriptedTurn::call("bash", command("touch go")),
        job(json!({"poll": "bash-1"})),
        ScriptedTurn::call("rewind", json!({"report": "It does not work."})),
    ])
    .configure("agent: {checkpoint: true, asyncPollWaitDuration: 1m}\n");
    let before = run.project.tree();
    run.run(&[]);
    let refused = run.server.requests()[4].body.to_string();
    assert!(refused.contains("when they have ended, and bash-1 still runs"), "{refused}");
    assert_eq!(run.project.tree(), before);
    run.project.done(&["undo"]);
    assert_eq!(run.project.tree(), before);
    run.project.done(&["redo"]);
    assert_eq!(run.project.tree(), before);
}
