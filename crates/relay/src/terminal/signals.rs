//! SIGINT, SIGTERM and SIGHUP while something must not be cut short: they set a flag, and whoever works
//! looks at it. At any other time they end the process, as always. Several may hold them at once, one
//! within the other: the signal that the inner one saw is there for the outer one, too.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use relaycode_change::proposal::work_budget::StopFlag;
use relaycode_watch::inbox::Inbox;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::flag;
use signal_hook::low_level::pipe;

use crate::render::failure::failure_text;
use crate::sys::is_signal_ignored;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel};

/// While this lives, a signal only asks to stop.
pub(crate) struct SignalGuard {
    flags: &'static SignalFlags,
}

#[derive(Default)]
struct SignalFlags {
    /// Ctrl-C was typed.
    interrupted: Arc<AtomicBool>,
    /// relay was told to end, or the terminal went.
    terminated: Arc<AtomicBool>,
    /// The terminal has another size.
    resized: Arc<AtomicBool>,
    /// relay was stopped, and goes on.
    continued: Arc<AtomicBool>,
    /// One of both.
    stop: Arc<AtomicBool>,
    /// A signal does what it does without us.
    default_action: Arc<AtomicBool>,
    /// How many hold them.
    guard_count: AtomicUsize,
}

/// The handlers are installed once: taking one away does not bring the usual effect back.
static SIGNAL_FLAGS: OnceLock<SignalFlags> = OnceLock::new();

impl SignalGuard {
    /// From now on a signal only asks to stop.
    pub(crate) fn acquire() -> CommandResult<SignalGuard> {
        let first = SIGNAL_FLAGS.get().is_none();
        let signals = match SIGNAL_FLAGS.get() {
            Some(signals) => signals,
            None => {
                let installed = SignalFlags::install().map_err(|error| {
                    CommandFailure::unexpected(format!("signals cannot be caught: {error}"))
                })?;
                SIGNAL_FLAGS.get_or_init(|| installed)
            }
        };
        // What came while the handlers were being installed counts.
        if signals.guard_count.fetch_add(1, Ordering::SeqCst) == 0 && !first {
            signals.interrupted.store(false, Ordering::SeqCst);
            signals.terminated.store(false, Ordering::SeqCst);
            signals.stop.store(false, Ordering::SeqCst);
            signals.default_action.store(false, Ordering::SeqCst);
        }
        Ok(SignalGuard { flags: signals })
    }

    /// From now on a signal only asks to stop, until the process ends: what was done is always said.
    pub(crate) fn hold_until_exit() -> CommandResult<()> {
        std::mem::forget(SignalGuard::acquire()?);
        Ok(())
    }

    /// Whether a signal came.
    pub(crate) fn stop_requested(&self) -> bool {
        self.flags.interrupted.load(Ordering::SeqCst) || self.termination_requested()
    }

    /// Whether one came that is meant for relay whoever has the terminal: not Ctrl-C.
    pub(crate) fn termination_requested(&self) -> bool {
        self.flags.terminated.load(Ordering::SeqCst)
    }

    /// From now on a signal rings the inbox's bell, also that the terminal was resized or that relay goes on after it
    /// was stopped. Until the process ends: handlers cannot be taken away.
    pub(crate) fn wake_inbox(&self, inbox: &Inbox) -> io::Result<()> {
        self.ring_on_signal(&|| inbox.bell_writer())
    }

    /// The same for any descriptor that is read from.
    pub(crate) fn ring_on_signal(&self, bell: &dyn Fn() -> io::Result<UnixStream>) -> io::Result<()> {
        flag::register(SIGWINCH, Arc::clone(&self.flags.resized))?;
        flag::register(SIGCONT, Arc::clone(&self.flags.continued))?;
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT] {
            pipe::register(signal, bell()?)?;
        }
        Ok(())
    }

    /// Calls this from a thread of its own whenever a signal asks to stop, until the process ends.
    pub(crate) fn on_stop(&self, call: impl Fn() + Send + 'static) -> io::Result<()> {
        spawn_signal_thread(call)
    }

    /// Whether the terminal was resized since this was asked last.
    pub(crate) fn take_resized(&self) -> bool {
        self.flags.resized.swap(false, Ordering::SeqCst)
    }

    /// Whether relay was stopped and goes on since this was asked last.
    pub(crate) fn take_continued(&self) -> bool {
        self.flags.continued.swap(false, Ordering::SeqCst)
    }

    /// Forgets a Ctrl-C that was typed for a program which had the terminal.
    pub(crate) fn clear_interrupt(&self) {
        self.flags.interrupted.store(false, Ordering::SeqCst);
        self.flags.stop.store(self.termination_requested(), Ordering::SeqCst);
    }

    /// For work that looks at it while it runs: a signal came.
    pub(crate) fn stop_flag(&self) -> StopFlag {
        StopFlag::new(Arc::clone(&self.flags.stop))
    }
}

/// While this lives relay only reads, compares and shows: a signal ends it at once, whatever it is doing.
pub(crate) struct ImmediateExit {
    signals: SignalGuard,
}

/// What is said when a signal comes; `None`: whoever works looks at the flag.
static LAST_WORDS: Mutex<Option<String>> = Mutex::new(None);
static EXIT_THREAD: OnceLock<()> = OnceLock::new();

impl ImmediateExit {
    pub(crate) fn arm(ctx: &CommandContext<'_>) -> CommandResult<ImmediateExit> {
        let signals = SignalGuard::acquire().map_err(CommandFailure::unchanged)?;
        let failure = CommandFailure::interrupted().unchanged();
        let said = failure_text(&failure, &ctx.console.err_style());
        *last_words() = Some(if ctx.level() >= LogLevel::Error { said } else { String::new() });
        if EXIT_THREAD.set(()).is_ok() {
            spawn_exit_thread().map_err(|error| CommandFailure::unexpected(error).unchanged())?;
        }
        Ok(ImmediateExit { signals })
    }
}

impl Drop for ImmediateExit {
    /// A signal that came too early or too late for the thread counts.
    fn drop(&mut self) {
        let mut said = last_words();
        if let Some(said) = said.take().filter(|_| self.signals.stop_requested()) {
            exit_interrupted(&said);
        }
    }
}

fn exit_interrupted(said: &str) -> ! {
    // Not the locked stream: the work may be in the middle of a line.
    let stderr = io::stderr().as_fd().try_clone_to_owned().map(File::from);
    let _ = stderr.and_then(|mut stderr| stderr.write_all(said.as_bytes()));
    std::process::exit(i32::from(Exit::Interrupted as u8))
}

fn last_words() -> MutexGuard<'static, Option<String>> {
    LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for signals beside the work. The lock is held to the end: nothing else begins meanwhile.
fn spawn_exit_thread() -> io::Result<()> {
    spawn_signal_thread(|| {
        if let Some(said) = last_words().as_ref() {
            exit_interrupted(said);
        }
    })
}

fn spawn_signal_thread(call: impl Fn() + Send + 'static) -> io::Result<()> {
    let (mut woken, bell) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal != SIGHUP || !is_signal_ignored(signal) {
            pipe::register(signal, bell.try_clone()?)?;
        }
    }
    let wait = move || {
        while matches!(woken.read(&mut [0]), Ok(1..)) {
            call();
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    Ok(())
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        if self.flags.guard_count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.flags.default_action.store(true, Ordering::SeqCst);
        }
    }
}

impl SignalFlags {
    fn install() -> io::Result<SignalFlags> {
        let signals = SignalFlags::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // `nohup relay …` goes on when the terminal goes.
            if signal == SIGHUP && is_signal_ignored(signal) {
                continue;
            }
            // The flag first: from then on a signal is caught, and must not be lost.
            let flag = if signal == SIGINT { &signals.interrupted } else { &signals.terminated };
            flag::register(signal, Arc::clone(flag))?;
            flag::register(signal, Arc::clone(&signals.stop))?;
            flag::register_conditional_default(signal, Arc::clone(&signals.default_action))?;
        }
        Ok(signals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_holder_gives_nothing_back_before_the_outer_one_does() {
        let outer = SignalGuard::acquire().unwrap();
        let usual = || outer.flags.default_action.load(Ordering::SeqCst);
        drop(SignalGuard::acquire().unwrap());
        assert!(!usual());
        assert!(!outer.stop_requested());
        outer.flags.interrupted.store(true, Ordering::SeqCst);
        assert!(outer.stop_requested() && !outer.termination_requested());
        outer.clear_interrupt();
        assert!(!outer.stop_requested());
    }
}
