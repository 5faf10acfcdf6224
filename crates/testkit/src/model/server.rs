//! The server itself: a listener on loopback, a thread per connection, and their shared state.
//!
//! Nothing outlives the [`ScriptedServer`]: dropping it closes the port and every connection, and waits for
//! the threads.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::answer::AnswerAbort;
use super::connection;
use super::request::{RecordedRequest, RequestEnd, ServedBy};
use super::route::{Route, route};
use super::script::{Script, TurnQueue};
use super::turn::{ScriptedTurn, TurnUsage};
use super::wire;
use crate::expect::expect_ok;

/// For [`ScriptedServer::wait_for`]: far more than anything that goes well takes.
const LONG: Duration = Duration::from_secs(30);

/// Connections at a time; more are closed at once.
const MAX_CONNECTIONS: usize = 1024;

/// Requests remembered; beyond, the older half is forgotten.
const MAX_REQUESTS: usize = 20_000;

pub struct ScriptedServer {
    shared: Arc<ServerShared>,
    address: SocketAddr,
    acceptor: Option<JoinHandle<()>>,
}

/// For a server that is not only for one test.
#[derive(Default)]
pub struct ServerOptions {
    /// 0 for any free one.
    pub port: u16,
    /// Gets one line of JSON per finished request.
    pub log: Option<Box<dyn Write + Send>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionCounts {
    /// Since the start.
    pub opened: u64,
    /// Now.
    pub open: u64,
}

impl ScriptedServer {
    /// On a free port of loopback.
    ///
    /// # Panics
    /// If the system has no port left.
    pub fn start(script: Script) -> ScriptedServer {
        expect_ok(
            ScriptedServer::open(script, ServerOptions::default()),
            "the scripted model server does not start",
        )
    }

    /// # Errors
    /// If the port is taken.
    pub fn open(script: Script, options: ServerOptions) -> io::Result<ScriptedServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(ServerShared::new(script, options.log));
        let for_thread = Arc::clone(&shared);
        let acceptor = thread::Builder::new()
            .name(thread_name(address))
            .spawn(move || accept(&listener, &for_thread))?;
        Ok(ScriptedServer { shared, address, acceptor: Some(acceptor) })
    }

    /// `http://127.0.0.1:PORT`, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Also those that still run.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.lock().requests.clone()
    }

    /// The requests for a turn, without lists and counts.
    pub fn turns(&self) -> Vec<RecordedRequest> {
        self.shared.lock().requests.iter().filter(|request| request.is_turn()).cloned().collect()
    }

    /// Waits until `look` accepts the requests.
    ///
    /// # Panics
    /// If it does not within half a minute; shows the requests.
    #[track_caller]
    #[expect(clippy::panic, reason = "a test that waits in vain fails")]
    pub fn wait_for(&self, look: impl FnMut(&[RecordedRequest]) -> bool) {
        if !self.wait_within(LONG, look) {
            let came: Vec<String> = self.requests().iter().map(summary).collect();
            panic!("the requests that were waited for did not come; these did:\n{}", came.join("\n"));
        }
    }

    /// Waits until `look` accepts the requests; `false` after `limit`.
    pub fn wait_within(&self, limit: Duration, mut look: impl FnMut(&[RecordedRequest]) -> bool) -> bool {
        let end = Instant::now() + limit;
        let mut state = self.shared.lock();
        loop {
            if look(&state.requests) {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.shared.wait(state, left);
        }
    }

    /// At the end of the script.
    pub fn push(&self, turn: &ScriptedTurn) {
        self.shared.lock().queue.push(turn);
    }

    pub fn turns_left(&self) -> usize {
        self.shared.lock().queue.left()
    }

    /// How many requests did not contain what their turn expected.
    pub fn expectation_misses(&self) -> u64 {
        self.shared.lock().queue.misses
    }

    pub fn connections(&self) -> ConnectionCounts {
        let state = self.shared.lock();
        ConnectionCounts { opened: state.opened, open: state.streams.len() as u64 }
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        self.shared.changed.notify_all();
        // Wakes the acceptor, which then sees that it has to stop.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let threads = {
            let mut state = self.shared.lock();
            for stream in state.streams.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
            std::mem::take(&mut state.threads)
        };
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for ScriptedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedServer").field("address", &self.address).finish_non_exhaustive()
    }
}

fn summary(request: &RecordedRequest) -> String {
    format!(
        "  {} {} -> {} {:?} {:?}",
        request.method, request.path, request.status, request.served, request.end
    )
}

/// Four characters of text are a token, whatever stands in them.
fn count_tokens(body: &Value) -> u64 {
    fn characters(value: &Value) -> u64 {
        match value {
            Value::String(text) => text.chars().count() as u64,
            Value::Array(items) => items.iter().map(characters).sum(),
            Value::Object(fields) => fields.values().map(characters).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        }
    }
    characters(body).div_ceil(4)
}

/// Short enough for the system to keep all of it.
fn thread_name(address: SocketAddr) -> String {
    format!("model {}", address.port())
}

fn accept(listener: &TcpListener, shared: &Arc<ServerShared>) {
    let name = listener.local_addr().map(thread_name).unwrap_or_default();
    loop {
        let accepted = listener.accept();
        if shared.is_stopping() {
            return;
        }
        let Ok((stream, _)) = accepted else {
            // Out of file handles, for example: it passes, or the server is dropped.
            if shared.sleep(Duration::from_millis(10)).is_err() {
                return;
            }
            continue;
        };
        let _ = stream.set_nodelay(true);
        let Ok(number) = shared.admit(&stream) else { continue };
        let for_thread = Arc::clone(shared);
        let thread = thread::Builder::new().name(name.clone()).spawn(move || {
            connection::serve(&for_thread, &stream, number);
            // Remove it from the list first: the last handle on the socket closes it.
            for_thread.forget(number);
            drop(stream);
        });
        match thread {
            Ok(thread) => shared.lock().threads.push(thread),
            Err(_) => shared.forget(number),
        }
    }
}

/// Shared by all threads.
pub(super) struct ServerShared {
    pub(super) began: Instant,
    state: Mutex<ServerState>,
    changed: Condvar,
    stopping: AtomicBool,
}

pub(super) struct ServerState {
    pub(super) queue: TurnQueue,
    pub(super) script: Script,
    pub(super) requests: Vec<RecordedRequest>,
    pub(super) came: u64,
    pub(super) opened: u64,
    pub(super) streams: HashMap<u64, TcpStream>,
    threads: Vec<JoinHandle<()>>,
    log: Option<Box<dyn Write + Send>>,
}

impl ServerShared {
    fn new(script: Script, log: Option<Box<dyn Write + Send>>) -> ServerShared {
        let state = ServerState {
            queue: TurnQueue::new(&script),
            script,
            requests: Vec::new(),
            came: 0,
            opened: 0,
            streams: HashMap::new(),
            threads: Vec::new(),
            log,
        };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        ServerShared { began: Instant::now(), state, changed, stopping: AtomicBool::new(false) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, ServerState>, limit: Duration) -> MutexGuard<'a, ServerState> {
        self.changed.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Returns early with an error if the server ends.
    pub(super) fn sleep(&self, time: Duration) -> Result<(), AnswerAbort> {
        let end = Instant::now() + time;
        let mut state = self.lock();
        loop {
            if self.is_stopping() {
                return Err(AnswerAbort::Stopped);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            state = self.wait(state, left);
        }
    }

    fn admit(&self, stream: &TcpStream) -> io::Result<u64> {
        let mut state = self.lock();
        state.threads.retain(|thread| !thread.is_finished());
        if state.streams.len() >= MAX_CONNECTIONS {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let number = state.opened;
        state.streams.insert(number, stream.try_clone()?);
        state.opened += 1;
        drop(state);
        self.changed.notify_all();
        Ok(number)
    }

    fn forget(&self, number: u64) {
        self.lock().streams.remove(&number);
        self.changed.notify_all();
    }

    pub(super) fn route(&self, method: &str, path: &str) -> Route {
        let absent = self.lock().script.absent.iter().any(|end| path.ends_with(end.as_str()));
        if absent { Route::Nothing } else { route(method, path) }
    }

    /// Remembers a request and gives it its number, and its turn if it is for a wire. Whoever sees the
    /// request in the log can rely on later ones getting later turns.
    pub(super) fn record_request(&self, mut request: RecordedRequest, body: &[u8]) -> (u64, ScriptedTurn) {
        let mut state = self.lock();
        let mut turn = ScriptedTurn::default();
        if request.is_turn() {
            let tokens = count_tokens(&request.body);
            let tools = request.body.get("tools").and_then(Value::as_array);
            let has_tools = tools.is_some_and(|tools| !tools.is_empty());
            let refusal = state.script.window.filter(|window| tokens > *window).and_then(|window| {
                let wire = wire::ALL.iter().find(|wire| Some(wire.id()) == request.wire)?;
                Some(ScriptedTurn::status(400).body(wire.too_long(tokens, window)))
            });
            (turn, request.served) = match refusal {
                Some(refusal) => (refusal, ServedBy::TooLong),
                None => state.queue.next(has_tools, &String::from_utf8_lossy(body)),
            };
            if state.script.window.is_some() && turn.usage == TurnUsage::default() {
                turn.usage.input = tokens;
            }
        }
        request.id = state.came;
        state.came += 1;
        if state.requests.len() >= MAX_REQUESTS {
            state.requests.drain(..MAX_REQUESTS / 2);
        }
        let id = request.id;
        state.requests.push(request);
        drop(state);
        self.changed.notify_all();
        (id, turn)
    }

    pub(super) fn record_end(&self, id: u64, status: u16, end: RequestEnd) {
        let now = self.began.elapsed();
        let line = self.change(id, |request| {
            request.status = status;
            request.end = end;
            request.took = now.saturating_sub(request.at);
        });
        let mut state = self.lock();
        if let (Some(log), Some(request)) = (state.log.as_mut(), line) {
            let _ = writeln!(log, "{}", request.to_json()).and_then(|()| log.flush());
        }
    }

    fn change(&self, id: u64, change: impl FnOnce(&mut RecordedRequest)) -> Option<RecordedRequest> {
        let mut state = self.lock();
        let request = state.requests.iter_mut().rev().find(|request| request.id == id)?;
        change(request);
        let copy = request.clone();
        drop(state);
        self.changed.notify_all();
        Some(copy)
    }

    /// Starts over with this script.
    pub(super) fn reset(&self, script: Script) {
        let mut state = self.lock();
        state.queue = TurnQueue::new(&script);
        state.script = script;
        state.requests.clear();
        drop(state);
        self.changed.notify_all();
    }
}
