//! What relay asks the program: to run a tool of its own, to read or write a file of its own, whether something may happen. Each
//! request has an id and a deadline.
//!
//! Invariant: a request ends, by an answer, its deadline, the end of the run or the end of the program; after that no answer counts.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use relaycode_llm::CancelToken;

use super::error::{RpcError, RpcErrorCode};
use super::outbox::Outbox;

/// Requests that may be open at once.
const MAX_OPEN: usize = 100;
/// How soon a run that is ended is noticed.
const TICK: Duration = Duration::from_millis(50);

/// Requests whose answers are an `A`, and what comes before an answer is a `P`.
pub(crate) struct ClientRequests<A, P> {
    /// The first letter of the ids.
    letter: char,
    state: Mutex<RequestsState<A, P>>,
    bell: Condvar,
}

struct RequestsState<A, P> {
    asked: u64,
    open: HashMap<String, OpenRequest<A, P>>,
    is_closed: bool,
}

struct OpenRequest<A, P> {
    answer: Option<A>,
    /// Only the newest counts.
    progress: Option<P>,
}

/// Makes the line of a frame with this id.
type LineFn<'a> = dyn Fn(&str) -> Vec<u8> + 'a;

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestEnd {
    TimedOut,
    /// The run was ended.
    Cancelled,
    /// The program is gone, or takes nothing more.
    Closed,
    /// Too many are open.
    TooMany,
}

/// How long somebody waits.
pub(crate) struct RequestWait<'a> {
    pub(crate) most: Duration,
    /// Ends the wait, too.
    pub(crate) cancel: Option<&'a CancelToken>,
}

impl<A, P> ClientRequests<A, P> {
    pub(crate) fn new(letter: char) -> ClientRequests<A, P> {
        let state = RequestsState { asked: 0, open: HashMap::new(), is_closed: false };
        ClientRequests { letter, state: Mutex::new(state), bell: Condvar::new() }
    }

    /// Asks and waits. `frame` makes the line of the request of its id, `withdraw` what is said if nobody waits for
    /// the answer any more.
    pub(crate) fn ask(
        &self,
        outbox: &Outbox,
        wait: &RequestWait<'_>,
        frame: &LineFn<'_>,
        withdraw: Option<&LineFn<'_>>,
        on_progress: &mut dyn FnMut(P),
    ) -> Result<A, RequestEnd> {
        let until = Instant::now() + wait.most;
        let id = {
            let mut state = self.lock();
            if state.is_closed {
                return Err(RequestEnd::Closed);
            }
            if state.open.len() >= MAX_OPEN {
                return Err(RequestEnd::TooMany);
            }
            state.asked += 1;
            let id = format!("{}{}", self.letter, state.asked);
            state.open.insert(id.clone(), OpenRequest { answer: None, progress: None });
            id
        };
        let sent = outbox.push_lines(frame(&id), Some(until));
        let ended = match sent {
            Ok(()) => self.wait(&id, until, wait.cancel, on_progress),
            Err(_) => Err(RequestEnd::Closed),
        };
        self.lock().open.remove(&id);
        if let (Err(RequestEnd::TimedOut | RequestEnd::Cancelled), Some(withdraw)) = (&ended, withdraw) {
            // A program that reads nothing is not told that it need not answer.
            let _ = outbox.push_lines(withdraw(&id), Some(Instant::now() + TICK));
        }
        ended
    }

    fn wait(
        &self,
        id: &str,
        until: Instant,
        cancel: Option<&CancelToken>,
        on_progress: &mut dyn FnMut(P),
    ) -> Result<A, RequestEnd> {
        let mut state = self.lock();
        loop {
            let Some(open) = state.open.get_mut(id) else { return Err(RequestEnd::Closed) };
            if let Some(progress) = open.progress.take() {
                drop(state);
                on_progress(progress);
                state = self.lock();
                continue;
            }
            if let Some(answer) = open.answer.take() {
                return Ok(answer);
            }
            if state.is_closed {
                return Err(RequestEnd::Closed);
            }
            if cancel.is_some_and(CancelToken::is_cancelled) {
                return Err(RequestEnd::Cancelled);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(RequestEnd::TimedOut);
            }
            let left = if cancel.is_some() { left.min(TICK) } else { left };
            state = self.bell.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// # Errors
    /// If relay does not wait for this.
    pub(crate) fn answer(&self, id: &str, answer: A) -> Result<(), RpcError> {
        self.with_open(id, |open| open.answer = Some(answer))
    }

    /// # Errors
    /// If relay does not wait for this.
    pub(crate) fn progress(&self, id: &str, progress: P) -> Result<(), RpcError> {
        self.with_open(id, |open| open.progress = Some(progress))
    }

    /// The program is gone.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.bell.notify_all();
    }

    fn with_open(&self, id: &str, change: impl FnOnce(&mut OpenRequest<A, P>)) -> Result<(), RpcError> {
        let mut state = self.lock();
        let Some(open) = state.open.get_mut(id).filter(|open| open.answer.is_none()) else {
            let said =
                "relay does not wait for this: it was answered, it took too long, or it was never asked";
            return Err(RpcError::new(RpcErrorCode::UnknownRequest, said));
        };
        change(open);
        drop(state);
        self.bell.notify_all();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, RequestsState<A, P>> {
        // Each change leaves the requests consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(requests: &ClientRequests<u8, u8>, wait: &RequestWait<'_>) -> (Result<u8, RequestEnd>, Vec<u8>) {
        let (outbox, mut seen) = (Outbox::default(), Vec::new());
        let frame = |_: &str| b"{}\n".to_vec();
        let ended = requests.ask(&outbox, wait, &frame, Some(&frame), &mut |progress| seen.push(progress));
        (ended, seen)
    }

    #[test]
    fn a_request_ends_by_an_answer_its_deadline_the_run_or_the_program() {
        let requests = ClientRequests::new('h');
        let cancel = CancelToken::default();
        let long = RequestWait { most: Duration::from_secs(600), cancel: Some(&cancel) };
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| ask(&requests, &long));
            while requests.progress("h1", 1).is_err() {
                std::thread::yield_now();
            }
            while requests.lock().open["h1"].progress.is_some() {
                std::thread::yield_now();
            }
            requests.answer("h1", 7).unwrap();
            assert_eq!(asking.join().unwrap(), (Ok(7), vec![1]));
        });
        assert_eq!(requests.answer("h1", 8).unwrap_err().code, RpcErrorCode::UnknownRequest);
        let short = RequestWait { most: Duration::ZERO, cancel: None };
        assert_eq!(ask(&requests, &short).0, Err(RequestEnd::TimedOut));
        cancel.cancel();
        assert_eq!(ask(&requests, &long).0, Err(RequestEnd::Cancelled));
        requests.close();
        assert_eq!(ask(&requests, &short).0, Err(RequestEnd::Closed));
    }
}
