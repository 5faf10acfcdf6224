//! A program that reads late, or never.

use relaycode_servers::rpc::ServeEnd;
use serde_json::Value;

use crate::fixture::ServedProgram;

/// More than the agent keeps, and more than the pipes hold.
const EVENTS: usize = 60_000;

fn seq(frame: &Value) -> Option<u64> {
    (frame["type"] == "event").then(|| frame["seq"].as_u64().unwrap())
}

fn publish_many(program: &ServedProgram) {
    for at in 0..EVENTS / 2 {
        program.agent.publish_pair(format!("{at} {}", "x".repeat(100)));
    }
}

/// In kilobytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

#[test]
fn who_reads_late_is_told_how_much_is_gone_and_gets_the_rest_in_order() {
    let mut program = ServedProgram::start();
    assert_eq!(program.read().unwrap()["type"], "ready");
    publish_many(&program);
    let last = program.agent.handle.last_seq();
    assert_eq!(last, EVENTS as u64);
    let frames = program.read_until(|frame| seq(frame) == Some(last));
    let (mut next, mut missed) = (1, 0);
    for frame in &frames {
        if frame["type"] == "events_missed" {
            let (from, to) = (frame["from"].as_u64().unwrap(), frame["to"].as_u64().unwrap());
            assert_eq!((from, frame["count"].as_u64().unwrap()), (next, to - from + 1));
            (next, missed) = (to + 1, missed + to - from + 1);
        } else {
            assert_eq!(seq(frame), Some(next));
            next += 1;
        }
    }
    println!("missed {missed} of {last} events in {} frames", frames.len());
    assert!(missed > 0 && frames.len() > 10_000, "{missed} missed, {} frames", frames.len());
    program.agent.send(r#"{"id":1,"type":"get_state"}"#);
    let answer = program.read_until(|frame| frame["type"] == "response").pop().unwrap();
    assert_eq!(answer["data"]["lastSeq"], last);
    assert_eq!(program.end(), ServeEnd::ProgramLeft);
}

#[test]
fn who_never_reads_costs_little_and_ends_like_any_other() {
    let program = ServedProgram::start();
    let before = resident();
    publish_many(&program);
    let grown = resident().saturating_sub(before);
    println!("{grown} kB for a program that never reads");
    assert!(grown < 20_000, "{grown} kB: the agent's own events, and what waits for the program");
    assert_eq!(program.die(), ServeEnd::ProgramLeft);
}

#[test]
fn events_are_sent_again_from_where_the_program_wants() {
    let mut program = ServedProgram::start();
    program.read();
    for at in 0..10 {
        program.publish(&at.to_string());
    }
    program.read_until(|frame| seq(frame) == Some(10));
    program.agent.send(r#"{"id":"a","type":"replay","after":7}"#);
    let frames = program.read_until(|frame| seq(frame) == Some(10));
    assert_eq!((&frames[0]["id"], &frames[0]["data"]["lastSeq"]), (&"a".into(), &10.into()));
    assert_eq!(frames[1..].iter().filter_map(seq).collect::<Vec<_>>(), [8, 9, 10]);
    program.publish("more");
    assert_eq!(
        program.read_until(|frame| seq(frame).is_some()).iter().filter_map(seq).collect::<Vec<_>>(),
        [11]
    );
}
