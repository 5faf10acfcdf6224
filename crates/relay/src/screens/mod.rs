//! Views that cover the whole terminal and leave no trace: pickers, the log, settings, long texts. A view is drawn and gets the
//! keys until it says that something is to be done; what that is, the caller does.

pub(crate) mod log_screen;
pub(crate) mod session_screen;
mod views;

use std::os::unix::net::UnixStream;

use relaycode_tui::Terminal;
use relaycode_tui::input::{KeyPress, RawGuard, ScreenEvent};
use relaycode_tui::screen::{FullScreen, ScreenTraits};
use relaycode_tui::theme::{ColorDepth, TerminalColorEnv, Theme, ThemeStyle};

use crate::terminal::environment;
use crate::{CommandContext, CommandFailure, CommandResult, SignalGuard, questions};

/// A view as the runner needs it.
pub(crate) trait ScreenView {
    type Outcome;

    /// What is to be done; nothing if the view is only to be drawn again.
    fn press(&mut self, key: KeyPress) -> Option<Self::Outcome>;

    fn insert_text(&mut self, text: &str);

    fn draw(&mut self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String>;
}

/// The terminal while views cover it. Dropping it brings back what was there.
pub(crate) struct ScreenSession<'a> {
    terminal: Terminal,
    held: &'a SignalGuard,
    pub(crate) style: ThemeStyle,
    screen: FullScreen,
    _modes: RawGuard,
    bell: UnixStream,
}

impl<'a> ScreenSession<'a> {
    /// For a conversation, with its theme.
    pub(crate) fn with_style(
        terminal: Terminal,
        held: &'a SignalGuard,
        style: ThemeStyle,
    ) -> CommandResult<ScreenSession<'a>> {
        let (ring, bell) = UnixStream::pair().map_err(CommandFailure::unexpected)?;
        held.ring_on_signal(&|| ring.try_clone()).map_err(CommandFailure::unexpected)?;
        bell.set_nonblocking(true).map_err(CommandFailure::unexpected)?;
        let (columns, rows) = terminal.size().unwrap_or((80, 24));
        let traits = ScreenTraits { columns, rows, reflows: false, utf8: style.output.utf8 };
        let mut screen = FullScreen::new(traits);
        let modes = terminal.enter_raw();
        terminal.write_bytes(screen.enter());
        Ok(ScreenSession { terminal, held, style, screen, _modes: modes, bell })
    }

    /// For a command at a terminal; `None` where lines are printed instead.
    pub(crate) fn open(
        held: &'a SignalGuard,
        ctx: &CommandContext<'_>,
    ) -> CommandResult<Option<ScreenSession<'a>>> {
        use std::io::IsTerminal;
        let is_wanted = !ctx.is_json() && !ctx.is_quiet() && std::io::stdout().is_terminal();
        let variables = TerminalColorEnv::from_lookup(environment::variable);
        let is_dumb = variables.term.as_deref().is_none_or(|term| term == "dumb");
        let Some(terminal) = questions::open_terminal().filter(|_| is_wanted && !is_dumb) else {
            return Ok(None);
        };
        let output = ctx.console.out_style();
        let depth = if output.color { variables.color_depth() } else { ColorDepth::None };
        let theme = Theme::built_in("red-claw").unwrap_or_else(Theme::plain);
        let style = ThemeStyle::new(output, theme.into(), depth);
        ScreenSession::with_style(terminal, held, style).map(Some)
    }

    /// Shows the view until something is to be done. `None`: relay is told to end, or the terminal is gone.
    pub(crate) fn show<V: ScreenView>(&mut self, view: &mut V) -> Option<V::Outcome> {
        loop {
            let (width, height) = self.screen.size();
            let lines = view.draw(&self.style, width, height);
            let bytes = self.screen.frame(&lines, None);
            self.terminal.write_bytes(bytes);
            if self.held.termination_requested() {
                return None;
            }
            match self.terminal.wait_screen_event(std::os::fd::AsFd::as_fd(&self.bell), None) {
                ScreenEvent::Key(key) => {
                    if let Some(outcome) = view.press(key) {
                        return Some(outcome);
                    }
                }
                ScreenEvent::Paste(paste) => view.insert_text(&String::from_utf8_lossy(&paste.bytes)),
                ScreenEvent::Resize { columns, rows } => self.screen.resize(columns, rows),
                ScreenEvent::Wakeup => {
                    use std::io::Read;
                    while (&self.bell).read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
                    if let Some((columns, rows)) = self.terminal.size().filter(|_| self.held.take_resized()) {
                        self.screen.resize(columns, rows);
                    }
                }
                ScreenEvent::Disconnected(_) => return None,
                ScreenEvent::Timeout | ScreenEvent::Focus(_) | ScreenEvent::Reply(_) => {}
            }
        }
    }
}

impl Drop for ScreenSession<'_> {
    fn drop(&mut self) {
        let bytes = self.screen.leave();
        self.terminal.write_bytes(bytes);
    }
}
