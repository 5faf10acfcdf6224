//! The DevTools protocol over a pair of pipes: JSON, each message ended by a NUL.
//!
//! A thread reads; a caller that waits for an answer sorts the messages in between by page. A dialog is
//! closed as soon as it is seen, since a page with an open one answers nothing.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub(super) struct PageEvent {
    pub(super) method: String,
    pub(super) parameters: Value,
}

#[derive(Debug)]
pub(super) struct DevToolsConnection {
    input: RefCell<ChildStdin>,
    messages: Receiver<Value>,
    last: Cell<u64>,
    answers: RefCell<HashMap<u64, Value>>,
    events: RefCell<HashMap<String, Vec<PageEvent>>>,
}

/// Why a call has no answer.
#[derive(Debug)]
pub(super) struct DevToolsError(String);

impl std::fmt::Display for DevToolsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl DevToolsConnection {
    pub(super) fn new(input: ChildStdin, output: ChildStdout) -> DevToolsConnection {
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop_if(|byte| *byte == 0);
                let read = serde_json::from_slice(&message).unwrap_or(Value::Null);
                message.clear();
                if sender.send(read).is_err() {
                    return;
                }
            }
        });
        DevToolsConnection {
            input: RefCell::new(input),
            messages,
            last: Cell::new(0),
            answers: RefCell::default(),
            events: RefCell::default(),
        }
    }

    pub(super) fn call(
        &self,
        page: Option<&str>,
        method: &str,
        parameters: &Value,
        limit: Duration,
    ) -> Result<Value, DevToolsError> {
        let id = self.send(page, method, parameters)?;
        let until = Instant::now() + limit;
        loop {
            if let Some(mut answer) = self.answers.borrow_mut().remove(&id) {
                return match answer.get("error") {
                    Some(error) => Err(DevToolsError(error.to_string())),
                    None => Ok(answer["result"].take()),
                };
            }
            if !self.listen(until)? {
                return Err(DevToolsError(format!("no answer within {limit:?}")));
            }
        }
    }

    /// Processes one message; returns whether there was one.
    pub(super) fn listen(&self, until: Instant) -> Result<bool, DevToolsError> {
        match self.messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(message) => {
                self.file(message);
                Ok(true)
            }
            Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => Err(DevToolsError("the browser has ended".to_owned())),
        }
    }

    /// What happened on a page so far, in order.
    pub(super) fn events(&self, page: &str) -> Vec<PageEvent> {
        while let Ok(message) = self.messages.try_recv() {
            self.file(message);
        }
        self.events.borrow().get(page).cloned().unwrap_or_default()
    }

    fn send(&self, page: Option<&str>, method: &str, parameters: &Value) -> Result<u64, DevToolsError> {
        let id = self.last.get() + 1;
        self.last.set(id);
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(page) = page {
            message["sessionId"] = page.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.borrow_mut().write_all(&bytes).map_err(|error| DevToolsError(error.to_string()))?;
        Ok(id)
    }

    fn file(&self, mut message: Value) {
        if let Some(id) = message["id"].as_u64() {
            self.answers.borrow_mut().insert(id, message);
            return;
        }
        let page = message["sessionId"].as_str().unwrap_or_default().to_owned();
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        if method == "Page.javascriptDialogOpening" {
            let _ = self.send(Some(&page), "Page.handleJavaScriptDialog", &json!({"accept": false}));
        }
        let event = PageEvent { method, parameters: message["params"].take() };
        self.events.borrow_mut().entry(page).or_default().push(event);
    }
}
