//! Questions to the person at the terminal, outside the door: a line is asked for, and a signal meanwhile is a
//! failure that says so.

use relaycode_tui::input::{Answer, Terminal};
use relaycode_tui::look::Look;

use crate::failure::{Exit, Failure, State};
use crate::signals::Held;
use crate::terminal::Environment;

/// The terminal, if there is one with somebody at it.
pub(crate) fn terminal() -> Option<Terminal> {
    Terminal::open(Environment::read().dumb)
}

/// Asks, and reads one line. The end of input is an empty line: the safe answer.
pub(crate) fn ask(terminal: &Terminal, question: &str) -> Result<String, Failure> {
    answer(|look, stopped| terminal.prompt(question, look, stopped))
}

/// The same for something that nobody is to see: nothing of it appears.
pub(crate) fn secret(terminal: &Terminal, question: &str) -> Result<String, Failure> {
    answer(|look, stopped| terminal.secret(question, look, stopped))
}

fn answer(ask: impl FnOnce(&Look, &dyn Fn() -> bool) -> Answer) -> Result<String, Failure> {
    let signals = Held::begin()?;
    let look = Look { color: false, utf8: Environment::read().utf8, width: None };
    match ask(&look, &|| signals.asked()) {
        Answer::Line(line) => Ok(line),
        Answer::End => Ok(String::new()),
        Answer::Stopped => {
            Err(Failure::new(Exit::Interrupted, "interrupted", "interrupted").left(State::Unchanged))
        }
        Answer::Gone(said) => {
            let message = format!("the terminal cannot be read: {said}");
            Err(Failure::unexpected(message).left(State::Unchanged))
        }
    }
}

/// Whether an answer is a yes; anything else is not.
pub(crate) fn is_yes(answer: &str) -> bool {
    answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes")
}

/// There is no terminal to ask on.
pub(crate) fn nobody(message: &str, hint: &str) -> Failure {
    Failure::new(Exit::NobodyToAsk, "nobodyToAsk", message).hint(hint).left(State::Unchanged)
}
