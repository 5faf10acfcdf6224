//! Questions to the person at the terminal, outside the door: a line is asked for, and a signal meanwhile is a
//! failure that says so.

use relaycode_text::escape::EscapeOptions;
use relaycode_tui::{OutputStyle, PromptAnswer, Terminal};

use crate::{CommandFailure, CommandResult, ConsoleEnv, Exit, SignalGuard};

/// The terminal, if there is one with somebody at it.
pub(crate) fn open_terminal() -> Option<Terminal> {
    Terminal::open(ConsoleEnv::from_env().dumb)
}

/// Asks, and reads one line. The end of input is an empty line: the safe answer. Names in a question are foreign text.
pub(crate) fn ask_line(terminal: &Terminal, question: &str) -> CommandResult<String> {
    let question = EscapeOptions { newlines: true, ..EscapeOptions::default() }.apply(question);
    read_answer(|look, stopped| terminal.prompt(&question, look, stopped))
}

/// The same for something that nobody is to see: nothing of it appears.
pub(crate) fn ask_secret(terminal: &Terminal, question: &str) -> CommandResult<String> {
    read_answer(|look, stopped| terminal.prompt_secret(question, look, stopped))
}

fn read_answer(ask: impl FnOnce(&OutputStyle, &dyn Fn() -> bool) -> PromptAnswer) -> CommandResult<String> {
    let signals = SignalGuard::acquire()?;
    let look = OutputStyle { color: false, utf8: ConsoleEnv::from_env().utf8, width: None };
    match ask(&look, &|| signals.stop_requested()) {
        PromptAnswer::Line(line) => Ok(line),
        PromptAnswer::EndOfInput => Ok(String::new()),
        PromptAnswer::Stopped => Err(CommandFailure::interrupted().unchanged()),
        PromptAnswer::Disconnected(said) => {
            let message = format!("the terminal cannot be read: {said}");
            Err(CommandFailure::unexpected(message).unchanged())
        }
    }
}

/// Whether an answer is a yes; anything else is not.
pub(crate) fn is_yes(answer: &str) -> bool {
    answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes")
}

/// Asks for a yes; anything else is a failure that says `otherwise`.
pub(crate) fn confirm(terminal: &Terminal, question: &str, otherwise: &str) -> CommandResult<()> {
    if is_yes(&ask_line(terminal, question)?) { Ok(()) } else { Err(CommandFailure::declined(otherwise)) }
}

/// Somebody has to say yes, and nobody can.
pub(crate) fn nobody_to_say_yes(hint: &str) -> CommandFailure {
    nobody_to_ask("this needs a yes from you, and there is no terminal to ask on", hint)
}

/// There is no terminal to ask on.
pub(crate) fn nobody_to_ask(message: &str, hint: &str) -> CommandFailure {
    CommandFailure::new(Exit::NobodyToAsk, "nobodyToAsk", message).hint(hint).unchanged()
}
