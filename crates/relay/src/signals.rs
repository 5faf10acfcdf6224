//! SIGINT and SIGTERM while something must not be cut short: they set a flag, and whoever works looks
//! at it. At any other time they end the process, as always.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// While this lives, a signal only asks to stop.
pub(crate) struct Held {
    signals: &'static Signals,
}

struct Signals {
    /// A signal came.
    asked: Arc<AtomicBool>,
    /// A signal does what it does without us.
    usual: Arc<AtomicBool>,
}

/// The handlers are installed once: taking one away does not bring the usual effect back.
static SIGNALS: OnceLock<Signals> = OnceLock::new();

impl Held {
    /// From now on a signal only asks to stop.
    pub(crate) fn begin() -> Result<Held, Failure> {
        let signals = match SIGNALS.get() {
            Some(signals) => signals,
            None => {
                let installed = Signals::install()
                    .map_err(|error| Failure::unexpected(format!("signals cannot be caught: {error}")))?;
                SIGNALS.get_or_init(|| installed)
            }
        };
        signals.asked.store(false, Ordering::SeqCst);
        signals.usual.store(false, Ordering::SeqCst);
        Ok(Held { signals })
    }

    /// Whether a signal came.
    pub(crate) fn asked(&self) -> bool {
        self.signals.asked.load(Ordering::SeqCst)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.signals.usual.store(true, Ordering::SeqCst);
    }
}

impl Signals {
    fn install() -> io::Result<Signals> {
        let signals = Signals { asked: Arc::default(), usual: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&signals.usual))?;
            flag::register(signal, Arc::clone(&signals.asked))?;
        }
        Ok(signals)
    }
}
