//! The scripted model server, seen through sockets: its promises to a test must be what a client sees.

mod binary;
mod client;
mod faults;
mod http;
mod script;
mod wires;

use std::fs;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use relaycode_testkit::model::{RequestEnd, Script, ScriptedServer, ScriptedTurn, TurnDelay};
use relaycode_testkit::process::{GENEROUS_TIMEOUT, poll_until};
use serde_json::json;

use client::{Client, chat};

/// Threads of this process that belong to the server on this port.
fn threads_of(port: u16) -> usize {
    let name = format!("model {port}");
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter(|task| fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.trim() == name))
        .count()
}

#[test]
fn dropping_the_server_leaves_no_port_no_connection_and_no_thread() {
    let forever =
        ScriptedTurn::text("one two three").with(|turn| turn.hang_s = Some(TurnDelay::Forever(true)));
    let stalled =
        ScriptedTurn::text("never").with(|turn| turn.stall_before_headers = Some(TurnDelay::Forever(true)));
    let server = ScriptedServer::start(Script::any([forever, stalled]));
    let (address, port) = (server.address(), server.address().port());
    let mut hanging = Client::to(&server);
    hanging.send("POST", "/v1/chat/completions", &[], chat(true).as_bytes());
    server.wait_for(|requests| requests.len() == 1);
    let mut waiting = Client::to(&server);
    waiting.send("POST", "/v1/chat/completions", &[], chat(true).as_bytes());
    let idle = TcpStream::connect(address).unwrap();
    server.wait_for(|requests| requests.len() == 2);
    assert!(poll_until(GENEROUS_TIMEOUT, || (server.connections().open == 3).then_some(())).is_some());
    assert_eq!(threads_of(port), 4);

    let began = Instant::now();
    drop(server);
    assert!(began.elapsed() < Duration::from_secs(5));
    // Joined threads may stay in the system's list for a moment.
    assert!(poll_until(GENEROUS_TIMEOUT, || (threads_of(port) == 0).then_some(())).is_some());
    assert!(TcpStream::connect(address).is_err());
    assert!(waiting.read_rest().is_empty());
    assert!(idle.peek(&mut [0]).map_or(true, |count| count == 0));
}

#[test]
fn many_clients_at_once_each_get_their_own_turn() {
    const CLIENTS: usize = 60;
    let turns = (0..CLIENTS)
        .map(|number| ScriptedTurn::text(format!("answer {number}.")).expect(&format!("ask {number}.")));
    let server = ScriptedServer::start(Script::matching(turns));
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let server = &server;
            scope.spawn(move || {
                let body = json!({"messages": [{"content": format!("ask {number}.")}]}).to_string();
                let answer = Client::to(server).ask("POST", "/v1/chat/completions", &body);
                assert!(answer.text().contains(&format!("answer {number}.")), "{}", answer.text());
            });
        }
    });
    assert_eq!(server.connections().opened, CLIENTS as u64);
    assert_eq!((server.turns_left(), server.expectation_misses()), (0, 0));
    server.wait_for(|requests| requests.iter().all(|request| matches!(request.end, RequestEnd::Complete(_))));
    assert!(poll_until(GENEROUS_TIMEOUT, || (server.connections().open == 0).then_some(())).is_some());
}
