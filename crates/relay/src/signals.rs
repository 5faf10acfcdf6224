//! SIGINT, SIGTERM and SIGHUP while something must not be cut short: they set a flag, and whoever works
//! looks at it. At any other time they end the process, as always. Several may hold them at once, one
//! within the other: the signal that the inner one saw is there for the outer one, too.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use relaycode_watch::inbox::Inbox;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::flag;
use signal_hook::low_level::pipe;

use crate::failure::Failure;

/// While this lives, a signal only asks to stop.
pub(crate) struct Held {
    signals: &'static Signals,
}

struct Signals {
    /// Ctrl-C was typed.
    interrupted: Arc<AtomicBool>,
    /// relay was told to end, or the terminal went.
    told: Arc<AtomicBool>,
    /// The terminal has another size.
    resized: Arc<AtomicBool>,
    /// relay was stopped, and goes on.
    continued: Arc<AtomicBool>,
    /// A signal does what it does without us.
    usual: Arc<AtomicBool>,
    /// How many hold them.
    holders: AtomicUsize,
}

/// The handlers are installed once: taking one away does not bring the usual effect back.
static SIGNALS: OnceLock<Signals> = OnceLock::new();

impl Held {
    /// From now on a signal only asks to stop.
    pub(crate) fn begin() -> Result<Held, Failure> {
        let first = SIGNALS.get().is_none();
        let signals = match SIGNALS.get() {
            Some(signals) => signals,
            None => {
                let installed = Signals::install()
                    .map_err(|error| Failure::unexpected(format!("signals cannot be caught: {error}")))?;
                SIGNALS.get_or_init(|| installed)
            }
        };
        // What came while the handlers were being installed counts.
        if signals.holders.fetch_add(1, Ordering::SeqCst) == 0 && !first {
            signals.interrupted.store(false, Ordering::SeqCst);
            signals.told.store(false, Ordering::SeqCst);
            signals.usual.store(false, Ordering::SeqCst);
        }
        Ok(Held { signals })
    }

    /// From now on a signal only asks to stop, until the process ends: what was done is always said.
    pub(crate) fn until_the_end() -> Result<(), Failure> {
        std::mem::forget(Held::begin()?);
        Ok(())
    }

    /// Whether a signal came.
    pub(crate) fn asked(&self) -> bool {
        self.signals.interrupted.load(Ordering::SeqCst) || self.told_to_end()
    }

    /// Whether one came that is meant for relay whoever has the terminal: not Ctrl-C.
    pub(crate) fn told_to_end(&self) -> bool {
        self.signals.told.load(Ordering::SeqCst)
    }

    /// From now on a signal rings the inbox's bell, also that the terminal was resized or that relay goes on after it
    /// was stopped. Until the process ends: handlers cannot be taken away.
    pub(crate) fn ring(&self, inbox: &Inbox) -> io::Result<()> {
        flag::register(SIGWINCH, Arc::clone(&self.signals.resized))?;
        flag::register(SIGCONT, Arc::clone(&self.signals.continued))?;
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT] {
            pipe::register(signal, inbox.ringer()?)?;
        }
        Ok(())
    }

    /// Whether the terminal was resized since this was asked last.
    pub(crate) fn resized(&self) -> bool {
        self.signals.resized.swap(false, Ordering::SeqCst)
    }

    /// Whether relay was stopped and goes on since this was asked last.
    pub(crate) fn continued(&self) -> bool {
        self.signals.continued.swap(false, Ordering::SeqCst)
    }

    /// Forgets a Ctrl-C that was typed for a program which had the terminal.
    pub(crate) fn forget_interrupt(&self) {
        self.signals.interrupted.store(false, Ordering::SeqCst);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.signals.holders.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.signals.usual.store(true, Ordering::SeqCst);
        }
    }
}

impl Signals {
    fn install() -> io::Result<Signals> {
        let signals = Signals {
            interrupted: Arc::default(),
            told: Arc::default(),
            resized: Arc::default(),
            continued: Arc::default(),
            usual: Arc::default(),
            holders: AtomicUsize::new(0),
        };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // `nohup relay …` goes on when the terminal goes.
            if signal == SIGHUP && is_ignored(signal) {
                continue;
            }
            // The flag first: from then on a signal is caught, and must not be lost.
            let flag = if signal == SIGINT { &signals.interrupted } else { &signals.told };
            flag::register(signal, Arc::clone(flag))?;
            flag::register_conditional_default(signal, Arc::clone(&signals.usual))?;
        }
        Ok(signals)
    }
}

/// Whether relay was started with this signal ignored, where the system tells.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_holder_gives_nothing_back_before_the_outer_one_does() {
        let outer = Held::begin().unwrap();
        let usual = || outer.signals.usual.load(Ordering::SeqCst);
        drop(Held::begin().unwrap());
        assert!(!usual());
        assert!(!outer.asked());
        outer.signals.interrupted.store(true, Ordering::SeqCst);
        assert!(outer.asked() && !outer.told_to_end());
        outer.forget_interrupt();
        assert!(!outer.asked());
    }

    #[test]
    fn what_relay_was_started_to_ignore_is_known() {
        let told = std::path::Path::new("/proc/self/status").exists();
        // Every Rust program ignores this one.
        assert_eq!(is_ignored(signal_hook::consts::SIGPIPE), told);
        assert!(!is_ignored(SIGTERM));
    }
}
