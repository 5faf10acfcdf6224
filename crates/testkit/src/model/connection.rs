//! One connection: requests one after the other, until the client disconnects, the script cuts it, or the
//! server ends.

use std::net::TcpStream;

use serde_json::{Value, json};

use super::answer::{AnswerAbort, HttpAnswer};
use super::faults::{self, BodyStep};
use super::http::{IncomingRequest, RequestError, RequestReader};
use super::lists;
use super::request::{RecordedRequest, RequestEnd, ServedBy, clip_headers, clip_path};
use super::route::Route;
use super::script::Script;
use super::server::ServerShared;
use super::turn::{ScriptedTurn, milliseconds};
use super::wire::{ScriptedWire, WireRequest};

const JSON: &str = "application/json";

/// Bytes kept of a body that is not JSON.
const KEPT_OF_TEXT: usize = 2000;

pub(super) fn serve(shared: &ServerShared, stream: &TcpStream, number: u64) {
    let mut incoming = RequestReader::new(stream);
    loop {
        let asked = match incoming.next() {
            Ok(asked) => asked,
            Err(RequestError::Closed) => return,
            Err(RequestError::Refused(status, message)) => {
                let body =
                    json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string();
                let mut answer = HttpAnswer::new(stream, shared);
                answer.last = true;
                let _ = answer.send_whole(status, JSON, &[], body.as_bytes());
                incoming.drain();
                return;
            }
        };
        let mut answer = HttpAnswer::to(stream, shared, &asked);
        let body: Option<Value> = serde_json::from_slice(&asked.body).ok();
        let path = lists::decoded(asked.path());
        let upgrade = asked.header("upgrade").eq_ignore_ascii_case("websocket");
        let route = if upgrade { Route::Upgrade } else { shared.route(&asked.method, &path) };
        let request = remembered(shared, number, &asked, body.as_ref(), &route);
        let (id, turn) = shared.record_request(request, &asked.body);
        let job = RequestJob {
            shared,
            asked: &asked,
            path: &path,
            body: body.as_ref().unwrap_or(&Value::Null),
            id,
        };
        let halt = job.answer(&route, &turn, &mut answer).err();
        let sent = answer.sent;
        let end = match halt {
            None => RequestEnd::Complete(sent),
            Some(AnswerAbort::ClientClosed) => RequestEnd::ClientClosed(sent),
            Some(AnswerAbort::Cut) => RequestEnd::Cut(sent),
            Some(AnswerAbort::Stopped) => RequestEnd::Stopped(sent),
        };
        shared.record_end(id, answer.status, end);
        if halt.is_some() || answer.last {
            return;
        }
    }
}

fn remembered(
    shared: &ServerShared,
    connection: u64,
    asked: &IncomingRequest,
    body: Option<&Value>,
    route: &Route,
) -> RecordedRequest {
    let text = || {
        let text = String::from_utf8_lossy(&asked.body);
        Value::String(text.chars().take(KEPT_OF_TEXT).collect())
    };
    let body = match body {
        Some(body) => body.clone(),
        None if asked.body.is_empty() => Value::Null,
        None => text(),
    };
    RecordedRequest {
        id: 0,
        connection,
        at: shared.began.elapsed(),
        method: asked.method.clone(),
        path: clip_path(&asked.target),
        headers: clip_headers(&asked.headers),
        body,
        wire: if let Route::Turn(wire) = route { Some(wire.id()) } else { None },
        served: if matches!(route, Route::Nothing) { ServedBy::Unrouted } else { ServedBy::Plain },
        status: 0,
        end: RequestEnd::Running,
        took: std::time::Duration::ZERO,
    }
}

/// One request that is being answered.
struct RequestJob<'a> {
    shared: &'a ServerShared,
    asked: &'a IncomingRequest,
    path: &'a str,
    body: &'a Value,
    id: u64,
}

impl RequestJob<'_> {
    fn answer(
        &self,
        route: &Route,
        turn: &ScriptedTurn,
        answer: &mut HttpAnswer<'_>,
    ) -> Result<(), AnswerAbort> {
        let path = self.path;
        match *route {
            Route::Turn(wire) => self.turn(wire, turn, answer),
            Route::Upgrade => json_answer(answer, 426, &json!({"error": {"message": "no websocket here"}})),
            Route::State => json_answer(answer, 200, &self.state()),
            Route::Requests => {
                let lines: Vec<Value> =
                    self.shared.lock().requests.iter().map(RecordedRequest::to_json).collect();
                json_answer(answer, 200, &Value::Array(lines))
            }
            Route::Reset => self.reset(answer),
            Route::List(list) => {
                let models = self.shared.lock().script.models.clone();
                let (kind, body) =
                    list(&lists::ListContext { models: &models, path, asked: self.asked, body: self.body });
                answer.send_whole(200, kind, &[], body.as_bytes())
            }
            Route::Nothing => {
                let message = format!("there is nothing at {path}");
                json_answer(answer, 404, &json!({"error": {"message": message, "type": "not_found_error"}}))
            }
        }
    }

    fn state(&self) -> Value {
        let state = self.shared.lock();
        json!({
            "i": state.queue.taken(), "left": state.queue.left(), "requests": state.came,
            "aux_requests": state.queue.aux_requests, "misses": state.queue.misses,
            "connections": {"opened": state.opened, "open": state.streams.len()},
        })
    }

    fn reset(&self, answer: &mut HttpAnswer<'_>) -> Result<(), AnswerAbort> {
        let script = match self.body {
            Value::Null => {
                let script = self.shared.lock().script.clone();
                Ok(script)
            }
            body => Script::parse(body),
        };
        match script {
            Ok(script) => {
                self.shared.reset(script);
                json_answer(answer, 200, &json!({"ok": true}))
            }
            Err(message) => json_answer(answer, 400, &json!({"error": {"message": message}})),
        }
    }

    fn turn(
        &self,
        wire: &'static dyn ScriptedWire,
        turn: &ScriptedTurn,
        answer: &mut HttpAnswer<'_>,
    ) -> Result<(), AnswerAbort> {
        if turn.close_before_headers {
            return Err(AnswerAbort::Cut);
        }
        answer.pause(milliseconds(turn.delay_ms))?;
        if let Some(wait) = turn.stall_before_headers {
            answer.pause(wait.time())?;
        }
        if let Some(seed) = turn.split {
            answer.split(seed);
        }
        let headers: Vec<(String, String)> =
            turn.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let request =
            WireRequest { path: self.path, query: self.asked.query(), body: self.body, serial: self.id };
        if turn.chunks.is_some() {
            let kind = wire.content_type(&request);
            answer.send_head(
                turn.status.unwrap_or(200),
                own_type(turn).unwrap_or(kind),
                &plain(&headers),
                None,
            )?;
            return take(faults::raw_steps(turn), answer);
        }
        if let Some(status) = turn.status.filter(|status| !(200..300).contains(status)) {
            let body = turn.body.clone().unwrap_or_else(|| wire.refusal(status));
            let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
            return answer.send_whole(
                status,
                own_type(turn).unwrap_or(JSON),
                &plain(&headers),
                text.as_bytes(),
            );
        }
        if wire.streams(&request) {
            let frames = wire.frames(turn, &request);
            answer.send_head(
                turn.status.unwrap_or(200),
                wire.content_type(&request),
                &plain(&headers),
                None,
            )?;
            return take(faults::steps(turn, wire, &request, frames), answer);
        }
        self.whole(turn, wire, &request, &plain(&headers), answer)
    }

    /// An answer without a stream: the faults that make sense there.
    fn whole(
        &self,
        turn: &ScriptedTurn,
        wire: &dyn ScriptedWire,
        request: &WireRequest<'_>,
        headers: &[(String, String)],
        answer: &mut HttpAnswer<'_>,
    ) -> Result<(), AnswerAbort> {
        if turn.stream_error.is_some() {
            return answer.send_whole(500, JSON, headers, wire.refusal(500).to_string().as_bytes());
        }
        let body = faults::bytes(turn, wire.whole(turn, request).to_string());
        let half = body.len() / 2;
        let sent = if turn.malformed { &body[..half] } else { &body[..] };
        let length = if turn.never_end { None } else { Some(sent.len()) };
        answer.send_head(turn.status.unwrap_or(200), JSON, headers, length)?;
        if let Some(wait) = turn.hang_s {
            answer.pause(wait.time())?;
        }
        if turn.disconnect_after.is_some() || turn.truncate {
            answer.send_piece(&body[..half])?;
            return Err(if turn.truncate { AnswerAbort::Cut } else { answer.cut() });
        }
        if turn.never_end {
            // White space before JSON: it never becomes wrong, and never ends.
            return take(vec![BodyStep::Forever(vec![b' '; 64], milliseconds(turn.chunk_delay_ms))], answer);
        }
        answer.send_piece(sent)
    }
}

/// Headers other than the content type, which is set once.
fn plain(headers: &[(String, String)]) -> Vec<(String, String)> {
    headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-type")).cloned().collect()
}

fn own_type(turn: &ScriptedTurn) -> Option<&str> {
    turn.headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        .map(|(_, value)| value.as_str())
}

/// Takes the steps of a body, and ends it.
fn take(steps: Vec<BodyStep>, answer: &mut HttpAnswer<'_>) -> Result<(), AnswerAbort> {
    for step in steps {
        match step {
            BodyStep::Send(bytes) => answer.send_piece(&bytes)?,
            BodyStep::Pause(time) => answer.pause(time)?,
            BodyStep::Cut => return Err(answer.cut()),
            BodyStep::Forever(bytes, between) => loop {
                answer.send_piece(&bytes)?;
                answer.pause(between)?;
            },
        }
    }
    answer.finish()
}

fn json_answer(answer: &mut HttpAnswer<'_>, status: u16, body: &Value) -> Result<(), AnswerAbort> {
    answer.send_whole(status, JSON, &[], body.to_string().as_bytes())
}
