//! One conversation in claude's control protocol, for one turn.
//!
//! Claude says what it works with only when it is given a prompt. So it is given one first that relay does not let
//! through to the model (claude asks relay before it takes one): what it says of itself then is looked at, and
//! only then does it hear what it is asked.
//!
//! Invariant: nothing is answered, allowed or shown before claude was seen to have what it was given and no more.

use std::time::{Duration, Instant};

use relaycode_clients::claude_stdio::{
    ClaudeControlRequest, ClaudeRequestKind, ClaudeStdio, ClaudeStdioEvent as Said,
};
use relaycode_exec::{ExecError, Job, JobInput};

use super::error::{classify_result, error_excerpt, exit_failure};
use super::events::{ClaudeTurnState, answer_too_large};
use super::permissions::{check_tool_use, is_check};
use super::recipe::ClaudeRecipe;
use super::{Claude, NAME, PROFILE, environment};
use crate::driver::{MAX_INVALID_LINES, StderrTail, TICK, TurnClock};
use crate::{AskRequest, EventSink, FriendContext, FriendEvent, FriendFailure, FriendTurn, TurnResult};

pub(super) const TRANSPORT: &str = "stdio";

/// How long claude may take to begin, and to say what it works with. It takes a second; a busy machine is slower.
const HELLO_TIMEOUT: Duration = Duration::from_secs(30);

/// The prompt that is not let through, and why.
const HANDSHAKE_PROMPT: &str = "relay asks what you work with";
const HANDSHAKE_DENIAL: &str = "relay looks first";

/// How long a turn that was broken off is waited for.
const INTERRUPT: Duration = Duration::from_millis(300);

/// How long claude may take to end by itself; what it keeps of a session is written by then.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn converse(claude: &Claude, recipe: &ClaudeRecipe, turn: &mut FriendTurn<'_>) -> TurnResult {
    let (request, world) = (turn.request, turn.world);
    let mut words = vec![claude.program.argv0()];
    words.extend(recipe.arguments());
    words.extend(["--input-format", "stream-json", "--permission-prompt-tool", "stdio"].map(Into::into));
    let mut job = Job::argv(words, &request.directory);
    job.environment = environment(world);
    job.input = JobInput::Piped;
    job.deadlines = request.limits.deadlines();
    if let Some(fence) = turn.fence {
        fence.enclose(&mut job);
    }

    let mut talk = ClaudeConversation {
        program: claude,
        claude: ClaudeStdio::start(&world.runner, &job).map_err(|source| PROFILE.exec_failure(source))?,
        recipe,
        request,
        world,
        clock: TurnClock::new(NAME, request.limits),
        state: ClaudeTurnState::new(request.access, request.schema().is_some()),
        garbage: 0,
        errors: StderrTail::default(),
    };
    let result = talk.handshake().and_then(|()| talk.send_prompt(turn.hear));
    // That it could not be watched to its end: the keeper ends it all the same.
    let _ = match &result {
        Ok(_) => talk.claude.lines.shut_down(EXIT_TIMEOUT, world.stop_requested),
        Err(_) => talk.claude.lines.end(),
    };
    result
}

struct ClaudeConversation<'a> {
    program: &'a Claude,
    claude: ClaudeStdio,
    recipe: &'a ClaudeRecipe,
    request: &'a AskRequest,
    world: &'a FriendContext<'a>,
    clock: TurnClock<'static>,
    state: ClaudeTurnState,
    garbage: usize,
    errors: StderrTail,
}

impl ClaudeConversation<'_> {
    /// Learns what claude works with, before it hears anything.
    fn handshake(&mut self) -> TurnResult<()> {
        let until = Instant::now() + HELLO_TIMEOUT;
        let hello = self.claude.initialize();
        let mut seen = false;
        loop {
            match self.next_message(until)? {
                Said::Response(id, Ok(_)) if id == hello => self.claude.prompt(HANDSHAKE_PROMPT),
                Said::Response(id, Err(why)) if id == hello => return Err(self.protocol_failure(&why)),
                Said::Request(question) => self.claude.deny(&question, HANDSHAKE_DENIAL),
                Said::Message(told) => match told["type"].as_str().unwrap_or_default() {
                    "system" if told["subtype"] == "init" => {
                        self.recipe.verify_init(&told, self.request)?;
                        self.state.record_init(&told);
                        seen = true;
                    }
                    "result" if told["is_error"] != false => {
                        return Err(classify_result(&told, self.recipe.session.as_deref()));
                    }
                    "result" if seen => return Ok(()),
                    "result" | "assistant" | "stream_event" => return Err(self.unguarded_failure()),
                    _ => {}
                },
                Said::Exited(finished) => {
                    let failure = exit_failure(&finished, &self.errors, self.recipe.session.as_deref());
                    return Err(match failure {
                        FriendFailure::Failed { said, .. } => self.protocol_failure(&said),
                        failure => failure,
                    });
                }
                Said::Idle => {
                    let why = format!("it did not answer within {} s", HELLO_TIMEOUT.as_secs());
                    return Err(self.protocol_failure(&why));
                }
                _ => {}
            }
        }
    }

    /// It does not speak the protocol. One that is too old fails in ways of its own: better to say what it is.
    fn protocol_failure(&self, why: &str) -> FriendFailure {
        let (program, environment) = (self.program.program.argv0(), environment(self.world));
        let known = PROFILE.check_program(program, environment, self.request, self.world);
        known.err().unwrap_or_else(|| PROFILE.failed(format!("it does not take relay's questions: {why}")))
    }

    /// It took a prompt that it should have asked about: it would not ask about tools either.
    fn unguarded_failure(&self) -> FriendFailure {
        PROFILE.access_mismatch(self.request.access, "no questions before it acts")
    }

    fn send_prompt(&mut self, hear: &mut EventSink<'_>) -> TurnResult {
        hear(FriendEvent::Ready { transport: TRANSPORT });
        self.clock.mark_alive();
        self.claude.prompt(&self.recipe.prompt);
        let session = self.recipe.session.as_deref();
        loop {
            match self.next_message(Instant::now() + self.request.limits.remaining())? {
                Said::Request(question) => self.answer_permission(&question, hear),
                Said::Message(told) if told["type"] == "result" => {
                    let answer = self.state.finish(&told, session, hear);
                    return answer.map_err(|failure| self.with_error_excerpt(failure));
                }
                Said::Message(told) if told["type"] == "system" && told["subtype"] == "init" => {
                    self.recipe.verify_init(&told, self.request)?;
                    self.state.record_init(&told);
                }
                Said::Message(told) => self.state.handle_message(&told, &mut self.clock, hear)?,
                Said::Exited(finished) => return Err(exit_failure(&finished, &self.errors, session)),
                _ => {}
            }
        }
    }

    fn answer_permission(&mut self, question: &ClaudeControlRequest, hear: &mut EventSink<'_>) {
        self.clock.mark_alive();
        match &question.kind {
            ClaudeRequestKind::Prompt => self.claude.allow(question),
            ClaudeRequestKind::Tool(tool) => {
                let AskRequest { access, directory, check, .. } = self.request;
                match check_tool_use(*access, directory, tool) {
                    _ if *access == relaycode_project::access::Access::Workspace
                        && is_check(check.as_deref(), tool) =>
                    {
                        self.claude.allow(question);
                    }
                    Ok(()) => self.claude.allow(question),
                    Err(why) => {
                        self.state.record_decline(&tool.id, &tool.name, &tool.input, hear);
                        self.claude.deny(question, &why);
                    }
                }
            }
            ClaudeRequestKind::Other(_) => self.claude.deny(question, "nobody here can answer this"),
        }
    }

    fn with_error_excerpt(&self, failure: FriendFailure) -> FriendFailure {
        match failure {
            FriendFailure::NoAnswer { friend, .. } => {
                FriendFailure::NoAnswer { friend, said: error_excerpt(&self.errors.text()) }
            }
            failure => failure,
        }
    }

    /// What claude says next that means something, or that it says nothing until then; an error when it is waited for
    /// no longer.
    fn next_message(&mut self, until: Instant) -> TurnResult<Said> {
        loop {
            let last_words = || error_excerpt(&self.errors.text());
            if let Some(failure) = self.clock.check_expired(self.world.stop_requested, last_words) {
                self.interrupt();
                return Err(failure);
            }
            match self.read_message().map_err(|source| PROFILE.exec_failure(source))? {
                Said::LineTooLong => return Err(answer_too_large()),
                Said::NotReading => return Err(PROFILE.input_stalled()),
                Said::Garbage => {
                    self.garbage += 1;
                    if self.garbage > MAX_INVALID_LINES {
                        return Err(PROFILE.failed("what it prints are no messages"));
                    }
                }
                Said::Idle if Instant::now() < until => {}
                said => return Ok(said),
            }
        }
    }

    fn read_message(&mut self) -> Result<Said, ExecError> {
        let said = self.claude.next(TICK);
        self.errors.push(&self.claude.lines.take_stderr());
        said
    }

    /// Asks claude to stop, so that it lets go of its server and writes down what it keeps.
    fn interrupt(&mut self) {
        self.claude.interrupt();
        let until = Instant::now() + INTERRUPT;
        while Instant::now() < until {
            match self.read_message() {
                Ok(Said::Message(told)) if told["type"] == "result" => return,
                Ok(Said::Exited(_)) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }
}
