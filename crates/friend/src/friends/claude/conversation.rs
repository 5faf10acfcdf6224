//! The way `stdio`: one conversation in claude's control protocol, for one turn.
//!
//! Claude says what it works with only when it is given a prompt. So it is given one first that relay does not let
//! through to the model (claude asks relay before it takes one): what it says of itself then is looked at, and
//! only then does it hear what it is asked.
//!
//! Invariant: nothing is answered, allowed or shown before claude was seen to have what it was given and no more.

use std::time::{Duration, Instant};

use relaycode_clients::claude_stdio::{About, ClaudeStdio, Heard as Said, Question};
use relaycode_exec::{ExecError, Finished, Input, Job};
use serde_json::Value;

use super::environment::environment;
use super::hear::{Hear, Heard, too_much};
use super::judge::judge;
use super::recipe::Recipe;
use super::trouble::{Broken, ended_early, failure_of, last_words};
use super::{Claude, KNOWN, NAME};
use crate::answer::Answer;
use crate::clock::{Clock, TICK};
use crate::event::Event;
use crate::failure::Failure;
use crate::last_words::Tail;
use crate::program::MOST_GARBAGE;
use crate::turn::Turn;
use crate::world::World;

/// What this way is called.
pub(super) const WAY: &str = "stdio";

/// How long claude may take to begin, and to say what it works with. It takes a second; a busy machine is slower.
const HELLO: Duration = Duration::from_secs(30);

/// The prompt that is not let through, and why.
const KNOCK: &str = "relay asks what you work with";
const NOT_YET: &str = "relay looks first";

/// How long a turn that was broken off is waited for.
const INTERRUPT: Duration = Duration::from_millis(300);

/// How long claude may take to end by itself; what it keeps of a session is written by then.
const GOODBYE: Duration = Duration::from_secs(2);

/// Does the turn.
pub(super) fn attempt(
    claude: &Claude,
    recipe: &Recipe,
    turn: &Turn,
    world: &World<'_>,
    hear: &mut Hear<'_>,
) -> Result<Answer, Broken> {
    let mut talk = Talk::start(claude, recipe, turn, world)?;
    let result = talk.knock().and_then(|()| Ok(talk.ask(hear)?));
    match &result {
        Ok(_) => talk.say_goodbye(),
        Err(_) => talk.end(),
    }
    result
}

/// A conversation.
struct Talk<'a> {
    claude: ClaudeStdio,
    recipe: &'a Recipe,
    turn: &'a Turn,
    world: &'a World<'a>,
    clock: Clock<'static>,
    heard: Heard,
    garbage: usize,
    errors: Tail,
}

/// Something that claude said and that has to be looked at.
enum Next {
    Told(Value),
    Asked(Question),
    Answered(u64, Result<Value, String>),
    Over(Box<Finished>),
    /// The time that was given has passed.
    Late,
}

impl<'a> Talk<'a> {
    fn start(
        claude: &Claude,
        recipe: &'a Recipe,
        turn: &'a Turn,
        world: &'a World<'a>,
    ) -> Result<Talk<'a>, Failure> {
        let mut words = vec![claude.program.word()];
        words.extend(recipe.arguments());
        let protocol = ["--input-format", "stream-json", "--permission-prompt-tool", "stdio"];
        words.extend(protocol.iter().map(Into::into));
        let mut job = Job::argv(words, &turn.directory);
        job.environment = environment(world);
        job.input = Input::Open;
        job.deadlines = turn.limits.deadlines();
        Ok(Talk {
            claude: ClaudeStdio::start(&world.runner, &job).map_err(|source| KNOWN.not_run(source))?,
            recipe,
            turn,
            world,
            clock: Clock::new(NAME, turn.limits),
            heard: Heard::new(turn.access, turn.schema.is_some()),
            garbage: 0,
            errors: Tail::default(),
        })
    }

    /// Learns what claude works with, before it hears anything.
    fn knock(&mut self) -> Result<(), Broken> {
        let until = Instant::now() + HELLO;
        let hello = self.claude.initialize();
        let mut seen = false;
        loop {
            match self.next(until)? {
                Next::Answered(id, Ok(_)) if id == hello => self.claude.prompt(KNOCK),
                Next::Answered(id, Err(why)) if id == hello => return Err(Broken::OtherWay(why)),
                Next::Answered(..) => {}
                Next::Asked(question) => self.claude.deny(&question, NOT_YET),
                Next::Told(told) => match told["type"].as_str().unwrap_or_default() {
                    "system" if told["subtype"] == "init" => {
                        self.recipe.check(&told, self.turn)?;
                        self.heard.began(&told);
                        seen = true;
                    }
                    "result" if told["is_error"] != false => {
                        return Err(failure_of(&told, self.recipe.session.as_deref()).into());
                    }
                    "result" if seen => return Ok(()),
                    "result" | "assistant" | "stream_event" => return Err(self.does_not_wait().into()),
                    _ => {}
                },
                Next::Over(finished) => {
                    let failure = ended_early(&finished, &self.errors, self.recipe.session.as_deref());
                    return Err(match failure {
                        Failure::Failed { said, .. } => Broken::OtherWay(said),
                        failure => Broken::Over(failure),
                    });
                }
                Next::Late => {
                    let why = format!("it did not answer within {} s", HELLO.as_secs());
                    return Err(Broken::OtherWay(why));
                }
            }
        }
    }

    /// It took a prompt that it should have asked about: it would not ask about tools either.
    fn does_not_wait(&self) -> Failure {
        let got = "no questions before it acts".to_string();
        Failure::OtherAccess { friend: NAME.to_string(), wanted: self.turn.access, got }
    }

    /// Says the prompt and hears the answer.
    fn ask(&mut self, hear: &mut Hear<'_>) -> Result<Answer, Failure> {
        hear(Event::Ready { way: WAY });
        self.clock.lives();
        self.claude.prompt(&self.recipe.prompt);
        let session = self.recipe.session.as_deref();
        loop {
            match self.next(Instant::now() + self.turn.limits.left())? {
                Next::Asked(question) => self.decide(&question, hear),
                Next::Told(told) if told["type"] == "result" => {
                    let answer = self.heard.result(&told, session, WAY, hear);
                    return answer.map_err(|failure| self.with_last_words(failure));
                }
                Next::Told(told) if told["type"] == "system" && told["subtype"] == "init" => {
                    self.recipe.check(&told, self.turn)?;
                    self.heard.began(&told);
                }
                Next::Told(told) => self.heard.note(&told, &mut self.clock, hear)?,
                Next::Answered(..) | Next::Late => {}
                Next::Over(finished) => return Err(ended_early(&finished, &self.errors, session)),
            }
        }
    }

    fn decide(&mut self, question: &Question, hear: &mut Hear<'_>) {
        self.clock.lives();
        match &question.about {
            About::Prompt => self.claude.allow(question),
            About::Tool(tool) => match judge(self.turn.access, &self.turn.directory, tool) {
                Ok(()) => self.claude.allow(question),
                Err(why) => {
                    self.heard.declines(&tool.id, &tool.name, &tool.input, hear);
                    self.claude.deny(question, &why);
                }
            },
            About::Other(_) => self.claude.deny(question, "nobody here can answer this"),
        }
    }

    fn with_last_words(&self, failure: Failure) -> Failure {
        match failure {
            Failure::NoAnswer { friend, .. } => {
                Failure::NoAnswer { friend, said: last_words(&self.errors.text()) }
            }
            failure => failure,
        }
    }

    /// What claude says next that means something; an error when it is waited for no longer.
    fn next(&mut self, until: Instant) -> Result<Next, Failure> {
        loop {
            if let Some(failure) = self.clock.over(self.world.stop, || last_words(&self.errors.text())) {
                self.break_off();
                return Err(failure);
            }
            let said = self.hear_once(TICK).map_err(|source| KNOWN.not_run(source))?;
            match said {
                Said::Told(told) => return Ok(Next::Told(told)),
                Said::Asked(question) => return Ok(Next::Asked(question)),
                Said::Answered(id, result) => return Ok(Next::Answered(id, result)),
                Said::Over(finished) => return Ok(Next::Over(finished)),
                Said::TooLong => return Err(too_much()),
                Said::Deaf => return Err(KNOWN.not_reading()),
                Said::Garbage => {
                    self.garbage += 1;
                    if self.garbage > MOST_GARBAGE {
                        return Err(KNOWN.failed("what it prints are no messages"));
                    }
                }
                Said::Nothing if Instant::now() >= until => return Ok(Next::Late),
                Said::Nothing => {}
            }
        }
    }

    fn hear_once(&mut self, most: Duration) -> Result<Said, ExecError> {
        let said = self.claude.next(&|| false, most);
        self.errors.add(&self.claude.take_errors());
        said
    }

    /// Asks claude to stop, so that it lets go of its server and writes down what it keeps.
    fn break_off(&mut self) {
        self.claude.interrupt();
        let until = Instant::now() + INTERRUPT;
        while Instant::now() < until {
            match self.hear_once(TICK) {
                Ok(Said::Told(told)) if told["type"] == "result" => return,
                Ok(Said::Over(_)) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }

    /// Lets claude end by itself, for a moment.
    fn say_goodbye(mut self) {
        self.claude.close();
        let until = Instant::now() + GOODBYE;
        while Instant::now() < until && !(self.world.stop)() {
            if matches!(self.hear_once(TICK), Ok(Said::Over(_)) | Err(_)) {
                return;
            }
        }
        self.end();
    }

    fn end(self) {
        // That it could not be watched to its end: the keeper ends it all the same.
        let _ = self.claude.end();
    }
}
